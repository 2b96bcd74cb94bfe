"""Client of a incident_triage server.

    with IncidentTriageEnv(base_url="http://127.0.0.1:8000").sync() as env:
        seen = env.reset(seed=7, eci=1)
        print(seen.observation.text)
"""
from openenv.core import EnvClient
from openenv.core.client_types import StepResult

from .models import InvestigationAction, InvestigationObservation, InvestigationState


class IncidentTriageEnv(EnvClient[InvestigationAction, InvestigationObservation, InvestigationState]):
    "One session on the server. An episode lives as long as its socket: after a lost connection, reset."

    def _step_payload(self, action: InvestigationAction) -> dict:
        return action.model_dump()

    def _parse_result(self, payload: dict) -> StepResult[InvestigationObservation]:
        "OpenEnv sends reward and done beside the observation, and metadata (reward_breakdown, solve_rate_signal) beside or inside it."
        seen, reward, done = payload["observation"], payload["reward"], payload["done"]
        metadata = payload.get("metadata") or seen.get("metadata") or {}
        observation = InvestigationObservation(**seen | {"reward": reward, "done": done, "metadata": metadata})
        return StepResult(observation=observation, reward=reward, done=done, metadata=metadata)

    def _parse_state(self, payload: dict) -> InvestigationState:
        return InvestigationState(**payload)
