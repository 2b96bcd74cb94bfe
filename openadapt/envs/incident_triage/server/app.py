"""Serves incident_triage over HTTP and WebSocket: `uvicorn server.app:app`, run in the package's folder."""
import argparse

import uvicorn
from openenv.core.env_server.http_server import create_app

from openadapt.env import InvestigationAction, InvestigationObservation, InvestigationState

from .environment import IncidentTriageEnvironment, pool

pool()     # a jail that cannot start is told now, not to the first client
app = create_app(IncidentTriageEnvironment, InvestigationAction, InvestigationObservation, env_name="incident_triage",
                 max_concurrent_envs=64, state_cls=InvestigationState)


def main():
    parser = argparse.ArgumentParser(description="Serve incident_triage.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    args = parser.parse_args()
    uvicorn.run(app, host=args.host, port=args.port)


if __name__ == "__main__":
    main()
