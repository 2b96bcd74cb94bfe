"""Server of incident_triage."""
