"""Model values to SQL text; connects to nothing."""
