"""SQL text built from model values; no module connects to a database."""
