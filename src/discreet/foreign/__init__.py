"""What other tools call roles, hierarchies and requests, read as a spec's mapping."""
