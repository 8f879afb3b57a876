"""Releases of every recoding model: the file, checked against plain counts, its manifest, its audit."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from discreet.audit.release_audit import audit_release
from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.errors import LimitReached, NoSolution, RequirementNotMet
from discreet.model.class_recoding import RecodingModel
from discreet.models import Mondrian, named
from discreet.release.manifest import read_manifest
from discreet.settings import Settings
from discreet.verbs.table import Table
from tests.drawing import some_of
from tests.oracle.patients import PATIENTS, patients
from tests.oracle.plain_release import PlainTable, read_csv, write_csv
from tests.release.test_published_rows import tables

NUMBER = count()
MODELS = list(RecodingModel)
NOT_FULL_DOMAIN = [model for model in RecodingModel if model is not RecodingModel.FULL_DOMAIN]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Settings, Path]]:
    folder = tmp_path_factory.mktemp("models")
    found = Settings(memory_limit=10**9, threads=2, private_log=folder / "private" / "log.jsonl")
    with connect(found) as engine:
        yield engine, found, folder


def check_release(table: PlainTable, data: st.DataObject, place: tuple[Engine, Settings, Path]) -> None:
    """Publish a random table by a random model; count the file's classes with a dictionary."""
    engine, settings, folder = place
    if not table.kept:
        return
    source = folder / f"in{next(NUMBER)}.csv"
    write_csv(source, table.rows, table.columns)
    subject = Table(table.spec(source), settings)
    model = data.draw(st.sampled_from(MODELS))
    k = data.draw(st.integers(1, 5))
    l = data.draw(st.none() | st.integers(1, 3)) if table.sensitive else None
    limit = data.draw(st.sampled_from([0, 0, 3]))
    summaries = next((o.choices for o in named(model).options() if o.name == "summary"), ())
    options = {"summary": data.draw(st.sampled_from(summaries))} if summaries else {}
    star = data.draw(st.booleans())
    output = source.with_suffix(".release.csv")
    try:
        recoding = subject.recode(named(model)(**options), k=k, l=l, max_suppressed=limit)
        release = subject.publish(recoding, output, suppressed_rows="star" if star else "drop")
    except (NoSolution, RequirementNotMet):
        assert not list(folder.glob(f"*{output.name}*"))
        return
    header, rows = read_csv(output)
    assert header == table.shown
    classes: dict[tuple[str | None, ...], list[tuple[str | None, ...]]] = defaultdict(list)
    starred = 0
    for row in rows:
        if star and set(row) == {"*"} and starred < release.suppressed:
            starred += 1
            continue
        cells = dict(zip(table.shown, row, strict=True))
        classes[tuple(cells[name] for name in table.hierarchies)].append(row)
    assert len(rows) == len(table.kept) - (0 if star else release.suppressed)
    assert release.suppressed <= limit
    assert min(map(len, classes.values()), default=k) >= k
    for name in table.sensitive if l is not None else ():
        place_of = table.shown.index(name)
        fewest = min(len({row[place_of] for row in c} - {None}) for c in classes.values())
        assert fewest >= (l or 0)
    if not star:
        others = [i for i, name in enumerate(table.shown) if name not in table.hierarchies]
        found = Counter(tuple(row[i] for i in others) for row in rows)
        expected = Counter(tuple(row[table.shown[i]] for i in others) for row in table.kept)
        assert found <= expected
    audit = audit_release(engine, output)
    assert audit.passed
    assert audit.as_json() == release.release.audit.as_json()
    manifest = read_manifest(output)
    assert (manifest.model, manifest.levels) == (str(model), {})


RELAXED = hypothesis_settings(
    max_examples=some_of(20), deadline=None, suppress_health_check=list(HealthCheck)
)


@RELAXED
@given(table=tables(), data=st.data())
def test_every_model_publishes_classes_that_pass(
    table: PlainTable, data: st.DataObject, place: tuple[Engine, Settings, Path]
) -> None:
    check_release(table, data, place)


@pytest.mark.parametrize("model", NOT_FULL_DOMAIN)
def test_manifest_and_log_name_the_model(
    model: RecodingModel, settings: Settings, tmp_path: Path, out: Path
) -> None:
    table = Table(patients(tmp_path), settings)
    release = table.publish(table.recode(model, k=3), out / "r.csv")
    assert release.model == model
    assert release.audit.k >= 3
    document = json.loads((out / "r.csv.manifest.json").read_text())
    assert document["recoding"]["model"] == model
    assert document["recoding"]["summary"] in (None, "ranges", "lca")
    age = next(a for a in document["attributes"] if a["name"] == "age")
    assert "level" not in age
    assert age["height"] == 2
    assert age["hierarchy"]["sha256"] is not None
    entry = json.loads(settings.private_log.read_text())
    assert (entry["model"], entry["levels"]) == (model, {})
    text = (out / "r.csv.manifest.json").read_text()
    values = {cell for line in PATIENTS.splitlines()[1:] for cell in line.split(",") if not cell.isdigit()}
    assert not any(value in text for value in (*values, "30s"))
    assert release.as_json()["recoding"]["classes"] >= release.audit.classes


def test_ranges_are_derived_from_the_data_and_hierarchy_values_are_not(
    settings: Settings, tmp_path: Path, out: Path
) -> None:
    table = Table(patients(tmp_path), settings)
    codes = {}
    for model in ("ordered-single-dimension", "full-subgraph"):
        release = table.publish(table.recode(model, k=3), out / "r.csv", overwrite=True)
        document = json.loads(release.manifest_path.read_text())
        codes[model] = {warning["code"] for warning in document["warnings"]}
    assert "derived-hierarchy" in codes["ordered-single-dimension"]
    assert "derived-hierarchy" not in codes["full-subgraph"]


@pytest.mark.parametrize("model", ["mondrian", "local", "patterns"])
def test_people_of_several_rows_are_counted(
    model: str, settings: Settings, tmp_path: Path, out: Path
) -> None:
    """Rows 3 to 6 of ten are one person's, so classes of three rows may contain a single person."""
    text = patients(tmp_path).source.path.read_text()  # type: ignore[union-attr]
    header, *rows = text.splitlines()
    rows = [f"Anna,{row.split(',', 1)[1]}" if 2 <= i < 6 else row for i, row in enumerate(rows)]
    table = Table(patients(tmp_path, "\n".join([header, *rows, ""]), subject="name"), settings)
    release = table.publish(table.recode(model, k=3, max_suppressed="100%"), out / "r.csv")
    assert json.loads(release.manifest_path.read_text())["counted"] == "subjects"
    assert (release.audit.k or 0) >= 3


@pytest.mark.parametrize("summary", ["ranges", "sets", "means", "lca"])
def test_table_larger_than_memory_is_cut_in_the_engine(
    summary: str, settings: Settings, tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table larger than memory is cut in the engine, with the same rows as from memory.

    The engine keeps its own memory limit here.
    """
    rows = [f"n{i},{30 + i * i % 23 + i % 7},{'Kiel' if i % 3 else ''},d{i % 5}" for i in range(200)]
    spec = patients(tmp_path, "\n".join(["name,age,town,diagnosis", *rows, ""]))
    whole = Table(spec, settings).publish(Mondrian(summary=summary), out / "whole.csv", k=4, l=2)
    with_memory = "discreet.verbs.table_context.connect"
    monkeypatch.setattr(with_memory, lambda _settings, *_source: connect(settings))
    table = Table(spec, replace(settings, memory_limit=12_500))
    with pytest.raises(LimitReached):
        table.recode("mondrian", k=4, l=2)
    with pytest.raises(LimitReached):
        table.publish("full-subgraph", out / "stored.csv", k=4, l=2)
    stored = table.publish(Mondrian(summary=summary), out / "stored.csv", k=4, l=2)
    assert sorted(map(repr, read_csv(out / "stored.csv")[1])) == sorted(
        map(repr, read_csv(out / "whole.csv")[1])
    )
    assert stored.audit.report == whole.audit.report
    found, expected = stored.as_json()["recoding"], whole.as_json()["recoding"]
    assert found == {**expected, "granularity": None, "usefulness": None}
    assert read_manifest(out / "stored.csv").summary == summary


def test_workload_with_a_table_larger_than_memory_is_a_limit(
    settings: Settings, tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A workload with a table larger than memory raises a limit error.

    The engine then cuts the table, and it supports no workload; for k only, the table fits.
    """
    rows = [f"n{i},{30 + i * i % 23 + i % 7},{'Kiel' if i % 3 else ''},d{i % 5}" for i in range(200)]
    spec = patients(tmp_path, "\n".join(["name,age,town,diagnosis", *rows, ""]))
    queries = tmp_path / "w.sql"
    queries.write_text("SELECT COUNT(*) FROM t WHERE age < 40;\n")
    assert Table(spec, settings).publish(Mondrian(workload=queries), out / "r.csv", k=4).audit.k >= 4
    with_memory = "discreet.verbs.table_context.connect"
    monkeypatch.setattr(with_memory, lambda _settings, *_source: connect(settings))
    table = Table(spec, replace(settings, memory_limit=12_500))
    with pytest.raises(LimitReached, match="a workload does not apply to a table that is cut in the engine"):
        table.publish(Mondrian(workload=queries), out / "s.csv", k=4, l=2)
    assert not (out / "s.csv").exists()
    assert table.publish(Mondrian(workload=queries), out / "s.csv", k=4).audit.k >= 4
