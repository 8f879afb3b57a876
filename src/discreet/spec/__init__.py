"""The spec file: TOML validated with pydantic, turned into model values."""
