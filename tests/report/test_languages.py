"""Reports in other languages: every sentence has a translation, and no translation is unused."""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from discreet.attacks.registry import ATTACKS
from discreet.errors import InputError
from discreet.measures.metrics import METRICS
from discreet.model.criteria.registry import CRITERIA
from discreet.model.identifiers.methods import known_methods
from discreet.models import named
from discreet.report.report import report
from discreet.report.translation import ReportLanguage, Translator, language_of, languages
from discreet.spec.preset import load_presets
from tests.attacks.test_linkage import PATIENTS, table_of

PAGE = importlib.import_module("discreet.report.report")
ROOT = Path(str(PAGE.__file__)).parents[1]
OTHERS = [code for code in languages() if code != "en"]
COUNTED = {"{} row", "{} rows"}
"""Units that ``count`` puts into sentences."""
PART = re.compile(r"\{[^{}]*\}")


def shape(text: str) -> str:
    """Replace the variable parts of a text by ``{}``."""
    return PART.sub("{}", text)


def texts_of(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield shape(node.value)
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                each.value if isinstance(each, ast.Constant) else "{}"  # type: ignore[misc]
                for each in node.values
            )


@cache
def texts_in(folder: str) -> frozenset[str]:
    """Return all texts in the code and the presets of a folder."""
    files = sorted((ROOT / folder).rglob("*.py"))
    found = {text for file in files for text in texts_of(ast.parse(file.read_text("utf-8")))}
    for file in (ROOT / "spec" / "presets").glob("*.toml"):
        document = tomllib.loads(file.read_text("utf-8"))
        found |= {document["title"], document["note"], *document["checks"]}
    return frozenset(found)


def looked_up() -> set[str]:
    """Return the texts that the report's code looks up by a literal."""
    found = set()
    for file in sorted((ROOT / "report").glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "translator":
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    found.add(str(first.value))
    return found


@pytest.mark.parametrize("code", OTHERS)
def test_catalogue_has_every_sentence_and_no_other(code: str) -> None:
    own = language_of(code).own
    assert looked_up() - own.keys() == set()
    known = texts_in("report") | {text for text in texts_in(".") if " " not in text}
    assert {key for key in own if shape(key) not in known} == set()
    for key, text in own.items():
        assert sorted(PART.findall(key)) == sorted(PART.findall(text)), key


@pytest.mark.parametrize("code", OTHERS)
def test_external_texts_of_the_catalogue_occur_in_the_code(code: str) -> None:
    language = language_of(code)
    for key, text in {**language.external, **language.cells}.items():
        assert shape(key) in texts_in(".") | COUNTED, key
        assert sorted(PART.findall(key)) == sorted(PART.findall(text)), key


@pytest.mark.parametrize("code", OTHERS)
def test_declared_texts_have_a_translation(code: str) -> None:
    declared = {text for kind in ATTACKS for text in (kind.title, kind.text)}
    declared |= {text for kind in CRITERIA for text in (kind.title, kind.parameter.hint)}
    declared |= {text for metric in METRICS for text in (metric.title, metric.unit)}
    declared |= {way.title for way in known_methods().values()}
    declared |= {text for each in load_presets().values() for text in (each.title, each.note, *each.checks)}
    words = Translator(language_of(code))
    for text in declared:
        words.external(text)
    assert words.untranslated == set()


class Kept(Translator):
    """A translator that records its latest instance in ``last``."""

    last: Translator

    def __init__(self, language: ReportLanguage) -> None:
        super().__init__(language)
        Kept.last = self


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("model", ["full-domain", "patterns", "permutation"])
def test_report_is_translated_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, model: str
) -> None:
    monkeypatch.setattr(PAGE, "Translator", Kept)
    table = table_of(tmp_path, PATIENTS * 2)
    limit = None if model == "permutation" else "60%"
    first, second = tmp_path / "first.csv", tmp_path / "out.csv"
    table.publish(named(model)(), first, k=2, max_suppressed=limit)
    table.publish(named(model)(), second, k=2, max_suppressed=limit)
    options: dict[str, object] = {"people": 100, "household": "name", "control": tmp_path / "people.csv"}
    if model == "full-domain":
        options["earlier"] = [str(first)]
    found = report(second, table=table, checks="wp216", options=options, language=code)
    assert Kept.last.untranslated == set()
    text = found.path.read_text(encoding="utf-8")
    assert f'<html lang="{code}">' in text
    assert Kept.last("Achieved guarantees") in text


def test_names_are_unchanged_and_numbers_have_the_marks_of_the_language() -> None:
    words = Translator(language_of("de"))
    assert words.cell("rows") == "rows"
    assert words.cell("weight, households") == "weight, households"
    assert words.external("unique rows, release") == "einzigartige Zeilen, Veröffentlichung"
    assert words.cell("1,234.5") == "1.234,5"


def test_language_comes_from_the_file_or_the_option(tmp_path: Path) -> None:
    table = table_of(tmp_path, PATIENTS)
    table.publish({"age": 1}, tmp_path / "out.csv", k=2, max_suppressed="60%")
    about = tmp_path / "about.toml"
    about.write_text('language = "de"\npurpose = "rows"\n', "utf-8")
    text = report(tmp_path / "out.csv", about=about).path.read_text("utf-8")
    assert "<h2" in text
    assert "Zweck und Empfänger" in text
    assert "<p>rows</p>" in text
    again = report(tmp_path / "out.csv", about=about, language="en", overwrite=True)
    assert "Purpose and recipients" in again.path.read_text("utf-8")
    with pytest.raises(InputError, match="unknown report language"):
        report(tmp_path / "out.csv", language="xx", overwrite=True)
