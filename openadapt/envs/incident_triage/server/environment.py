"""The environment incident_triage. Its mechanism is a stranger's code: it runs in the jail and nowhere else."""
from functools import cache
from pathlib import Path

from openadapt.eci import Pool
from openadapt.env import InvestigationEnvironment
from openadapt.sandbox import JailedMechanism


@cache
def pool() -> Pool:
    "Prepared worlds, shared by all sessions of this process."
    return Pool(JailedMechanism((Path(__file__).parents[1] / "mechanism.py").read_text(encoding="utf-8")))


class IncidentTriageEnvironment(InvestigationEnvironment):
    def __init__(self, split: str = "train"):
        super().__init__(pool(), split)
