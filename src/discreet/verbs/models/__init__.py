"""The recoding models: one file each, which ends with the model's declaration."""
