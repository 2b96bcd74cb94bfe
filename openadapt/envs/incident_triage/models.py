"""What travels between agent and environment. Every OpenAdapt environment speaks these types."""
from openadapt.env import InvestigationAction, InvestigationObservation, InvestigationState

__all__ = ["InvestigationAction", "InvestigationObservation", "InvestigationState"]
