"""Server of __NAME__."""
