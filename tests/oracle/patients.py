"""Example table of twelve patients: small enough to read, with a class to suppress."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.engines.base import Engine
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.audit_report import Release
from discreet.model.requirement import Requirement
from discreet.model.search_result import FullDomainRecoding, SuppressionPolicy
from discreet.model.table_spec import TableSpec
from discreet.release.publication import publish_release
from discreet.settings import Settings
from discreet.spec.spec_reader import spec_from_mapping

PATIENTS = """name,age,town,diagnosis,ward
Anna,31,Kiel,flu,1
Bert,32,Kiel,flu,2
Carl,33,Kiel,cold,3
Dora,34,Kiel,gout,4
Emil,41,Bonn,flu,5
Fred,42,Bonn,cold,6
Gina,43,Bonn,cold,7
Hugo,44,Bonn,flu,8
Ines,51,Bonn,gout,9
Jens,52,Kiel,lupus,10
Kurt,35,Kiel,flu,11
Lena,45,Bonn,gout,12
"""
"""At age level 1 (tens): 5 in Kiel, 5 in Bonn; Ines and Jens are each unique."""

AGES = "".join(f"{age};{age // 10}0s;*\n" for age in range(30, 60))

DOCUMENT: dict[str, Any] = {
    "source": {"path": "patients.csv"},
    "attributes": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi-identifier", "hierarchy": "age.csv"},
        "town": {"role": "quasi-identifier"},
        "diagnosis": {"role": "sensitive"},
    },
}


def patients(folder: Path, text: str = PATIENTS, **source: object) -> TableSpec:
    """Write the table and its hierarchy into a folder; return its spec, with entries of ``[source]``."""
    (folder / "patients.csv").write_text(text, encoding="utf-8")
    (folder / "age.csv").write_text(AGES, encoding="utf-8")
    document = {**DOCUMENT, "source": {**DOCUMENT["source"], **source}}
    return spec_from_mapping(document, base=folder, label="the patients")


def publish_patients(
    engine: Engine,
    settings: Settings,
    spec: TableSpec,
    output: Path,
    *,
    node: tuple[int, ...] = (1, 0),
    k: int | None = 3,
    l: int | None = None,
    star: bool = False,
    overwrite: bool = False,
    expected_suppressed: int | None = None,
) -> Release:
    """Publish a spec's table at a node; by default two of the twelve patients are suppressed."""
    policy = SuppressionPolicy.STAR if star else SuppressionPolicy.DROP
    frequency_set = count_frequency_set(engine, spec, settings)
    recoding = FullDomainRecoding(frequency_set.attributes, node, Requirement(k, l), policy)
    return publish_release(
        engine,
        spec,
        frequency_set,
        recoding,
        output,
        overwrite=overwrite,
        settings=settings,
        expected_suppressed=expected_suppressed,
    )
