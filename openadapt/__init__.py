"""Modules:

- `openadapt.envs.incident_triage.client`: Client of a incident_triage server.
- `openadapt.jail.worker`: The jailed process: locks itself down, reports what it could still do, then answers calls on one mechanism. Standard library only.
- `openadapt.templates.package.client`: Client of a __NAME__ server.
- `openadapt.training.train_grpo`: GRPO for a number of episodes: `python -m openadapt.training.train_grpo --episodes 40 --output artifacts/training_metrics.jsonl`."""

from importlib.metadata import version

__version__ = version("openadapt")
