"""A user's script under ``mypy --strict``: right keywords pass, wrong ones of verbs and models are errors."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from mypy import api

import discreet
from discreet import extending, models
from discreet.models import Model, named, names

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """\
import discreet
from discreet import models

table = discreet.open("discreet.toml")
lattice = table.lattice(sensitive=["disease"])
wish = table.negotiate(k=10, l={"disease": 2}, max_suppressed="1%", max_level={"age": 2})
answer = wish.exact or wish.relaxation("height")
found = table.recode(models.Mondrian(summary="sets", workload="queries.sql"), k=10)
table.recode("full-subtree", k=5, min_level={"age": 1})
release = table.publish(answer, "release.csv", suppressed_rows="star")
table.publish(found, "release.parquet", overwrite=True)
table.publish({"age": 1}, table="out.people", k=10)
table.publish(models.Permutation(e="2.5", recoding=models.Local(effort=4)), "p.csv", k=3)
table.publish(models.Patterns(keep=["sex"], custom=lambda pattern: not pattern.starred[0]), "q.csv", k=3)
classes: int = found.classes
held: discreet.ReleasedTable = table.publish(answer, suppressed_rows="star")
frame, arrow, polar = held.to_pandas(), held.to_arrow("help"), table.publish(found).to_polars()
counted: int = held.manifest["audit"]["k"]
audit = discreet.audit("release.csv", k=10)
attack = discreet.attack("release.csv", table=table)
discreet.report("release.csv", purpose="research")
"""
VERBS = {
    "table.negotiate": "k=1",
    "table.negotiate_local": "k=1",
    "table.recode": "'local', k=1",
    "table.publish": "None, 'r.csv'",
    "table.search": "'optimal', k=1",
    "table.compare": "'r.csv'",
    "table.lattice": "",
    "table.partial_lattice": "'5%'",
    "discreet.open": "'people.csv'",
    "discreet.init": "'people.csv'",
    "discreet.audit": "'r.csv'",
    "discreet.attack": "'r.csv'",
    "discreet.query": "'r.csv', 'SELECT 1'",
    "discreet.report": "'r.csv'",
}
WRONG_TYPES = (
    "table.recode(3, k=10)",
    "table.recode('local', k='ten')",
    "models.Mondrian(summary=3)",
    "models.Local(seed='one')",
    "models.Patterns(max_stars='two')",
    "models.Permutation(near=5)",
    "models.Mondrian().cut.day",
    "table.publish(answer, 'r.csv').to_pandas()",
    "table.publish(answer, table='out.people').to_arrow()",
    "held.to_pandas(3)",
    "held.to_numpy()",
)


def own() -> list[type[Model]]:
    """Return the classes of ``discreet.models``."""
    return [model for name in names() if (model := named(name)).__name__ in models.__all__]


@pytest.fixture(scope="module")
def errors_by_line(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return mypy's errors by line, for a right script followed by wrong lines; right lines have no entry."""
    folder = tmp_path_factory.mktemp("user")
    wrong = [f"{verb}({', '.join(filter(None, [given, 'colour=3']))})" for verb, given in VERBS.items()]
    wrong += [f"models.{model.__name__}(colour=3)" for model in own()]
    lines = [*SCRIPT.splitlines(), *wrong, *WRONG_TYPES]
    script = folder / "script.py"
    script.write_text("\n".join(lines) + "\n", encoding="utf-8")
    # The project's options are strict, so its cache serves here too.
    options = ["--strict", "--config-file", str(ROOT / "pyproject.toml"), "--no-error-summary"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MYPYPATH", str(ROOT / "src"))
        out, err, _ = api.run([*options, "--cache-dir", str(ROOT / ".mypy_cache"), str(script)])
    assert err == ""
    found: dict[str, str] = {}
    for number, text in re.findall(r"^[^:]+:(\d+): error: (.*)$", out, re.MULTILINE):
        line = lines[int(number) - 1]
        found[line] = f"{found.get(line, '')}{text}\n"
    return found


def test_correct_keywords_have_no_type_error(errors_by_line: dict[str, str]) -> None:
    assert {line: text for line, text in errors_by_line.items() if line in SCRIPT.splitlines()} == {}


@pytest.mark.parametrize("verb", VERBS)
def test_wrong_keyword_of_a_verb_is_a_type_error(verb: str, errors_by_line: dict[str, str]) -> None:
    (text,) = [
        text for line, text in errors_by_line.items() if line.startswith(f"{verb}(") and "colour" in line
    ]
    assert 'Unexpected keyword argument "colour"' in text or "No overload variant" in text


@pytest.mark.parametrize("model", own(), ids=lambda model: model.__name__)
def test_wrong_keyword_of_a_model_is_a_type_error(model: type[Model], errors_by_line: dict[str, str]) -> None:
    assert 'Unexpected keyword argument "colour"' in errors_by_line[f"models.{model.__name__}(colour=3)"]


@pytest.mark.parametrize("line", WRONG_TYPES)
def test_wrong_type_of_an_argument_is_a_type_error(line: str, errors_by_line: dict[str, str]) -> None:
    assert line in errors_by_line


def test_no_verb_has_unnamed_keywords() -> None:
    public = [*(vars(extending)[name] for name in extending.__all__), *own()]
    public += [getattr(discreet, name) for name in discreet.__all__]
    methods = [member for kind in public if inspect.isclass(kind) for _, member in inspect.getmembers(kind)]
    for each in (*public, *methods):
        if inspect.isfunction(each) and each.__module__.startswith("discreet"):
            kinds = {parameter.kind for parameter in inspect.signature(each).parameters.values()}
            assert inspect.Parameter.VAR_KEYWORD not in kinds, each


def test_package_contains_py_typed() -> None:
    assert (Path(discreet.__file__).parent / "py.typed").is_file()
