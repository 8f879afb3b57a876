"""Local recoding: cell generalization with hierarchies."""
