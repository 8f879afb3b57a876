"""What may stand in the place of a direct identifier: a file per way."""
