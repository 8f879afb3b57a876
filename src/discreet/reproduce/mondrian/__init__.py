"""The Mondrian paper's examples and experiments again."""
