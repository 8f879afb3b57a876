"""Specs of tests, loaded from a text."""

from __future__ import annotations

from pathlib import Path

from discreet.model.table_spec import TableSpec
from discreet.spec.spec_reader import load_spec

SOURCE = '[source]\npath = "a.csv"\n'


def load_text(folder: Path, text: str | bytes) -> TableSpec:
    """Write a spec file and load it."""
    path = folder / "discreet.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return load_spec(path)
