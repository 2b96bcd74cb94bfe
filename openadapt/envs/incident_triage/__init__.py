"""The OpenEnv environment incident_triage: a client for its server, and the environment itself."""
from .client import IncidentTriageEnv
from .models import InvestigationAction, InvestigationObservation, InvestigationState
from .server.environment import IncidentTriageEnvironment

__all__ = ["IncidentTriageEnv", "IncidentTriageEnvironment", "InvestigationAction", "InvestigationObservation", "InvestigationState"]
