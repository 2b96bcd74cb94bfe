"""The OpenEnv environment __NAME__: a client for its server, and the environment itself."""
from .client import __CLASS__Env
from .models import InvestigationAction, InvestigationObservation, InvestigationState
from .server.environment import __CLASS__Environment

__all__ = ["__CLASS__Env", "__CLASS__Environment", "InvestigationAction", "InvestigationObservation", "InvestigationState"]
