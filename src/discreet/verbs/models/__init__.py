"""Recoding models: one module per family; each model declares its options as fields."""
