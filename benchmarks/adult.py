"""Adult for the benchmarks: a spec of the nine attributes that have hierarchies in ``hierarchies_arx``."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT
from discreet.engines.connection import connect
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.frequency_set import FrequencySet
from discreet.settings import Settings
from discreet.spec.spec_reader import spec_from_mapping

QUASI_IDENTIFIERS = (
    *("sex", "age", "race", "marital_status", "education", "native_country"),
    *("work_class", "occupation", "salary_class"),
)


def data_folder() -> Path:
    """Return the folder of real data (``DISCREET_DATA``, default ``../shared/data``); exit without it."""
    folder = Path(os.environ.get("DISCREET_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "adult" / "adult_30162.csv").is_file():
        sys.exit(f"this benchmark needs Adult, which is not in {folder}: set DISCREET_DATA")
    return folder.resolve()


def document(*sensitive: str) -> Mapping[str, Any]:
    """Return the spec of the nine quasi-identifiers and the given sensitive attributes, paths absolute."""
    home = data_folder() / "adult"
    attributes: dict[str, dict[str, str]] = {
        name: {"role": "quasi-identifier", "hierarchy": str(home / "hierarchies_arx" / f"{name}.csv")}
        for name in QUASI_IDENTIFIERS
    }
    attributes |= {name: {"role": "sensitive"} for name in sensitive}
    return {"source": {"path": str(home / "adult_30162.csv")}, "attributes": attributes}


def write_spec(folder: Path, *sensitive: str) -> Path:
    """Write the same spec as a TOML file."""
    parts = document(*sensitive)
    lines = ["[source]", f'path = "{parts["source"]["path"]}"']
    for name, attribute in parts["attributes"].items():
        lines += [f"[attributes.{name}]", *(f'{key} = "{value}"' for key, value in attribute.items())]
    path = folder / "discreet.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def frequency_set(settings: Settings, *sensitive: str) -> FrequencySet:
    """Return Adult's frequency set, counted by the engine."""
    spec = spec_from_mapping(document(*sensitive), base=data_folder(), label="the Adult benchmark")
    with connect(settings) as engine:
        return count_frequency_set(engine, spec, settings)
