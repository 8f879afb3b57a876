"""Adult with nine quasi-identifiers and ARX's hierarchies."""

from __future__ import annotations

from pathlib import Path

from discreet.engines.connection import connect
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.frequency_set import FrequencySet
from discreet.settings import Settings
from discreet.spec.spec_reader import spec_from_mapping

NINE = (
    *("sex", "age", "race", "marital_status", "education", "native_country"),
    *("work_class", "occupation", "salary_class"),
)


def count_adult(data_dir: Path, folder: Path, sensitive: str | None = None) -> FrequencySet:
    """Return the frequency set of Adult, with a sensitive attribute if one is given."""
    home = data_dir / "adult"
    attributes: dict[str, dict[str, str]] = {
        name: {"role": "quasi-identifier", "hierarchy": str(home / "hierarchies_arx" / f"{name}.csv")}
        for name in NINE
    }
    if sensitive is not None:
        attributes[sensitive] = {"role": "sensitive"}
    document = {"source": {"path": str(home / "adult_30162.csv")}, "attributes": attributes}
    settings = Settings(10**9, 2, folder / "log.jsonl")
    with connect(settings) as engine:
        return count_frequency_set(engine, spec_from_mapping(document, base=home, label="the test"), settings)
