"""Write docs/criteria/where.md: run ``python docs/criteria_page.py``.

Generate a table of people, with a population, weights, numbers and a hierarchy of illnesses. Run each search
under each criterion; publish and audit with each model. The page lists every refusal with its reason. An act
that neither succeeds nor is refused with a known reason ends this script, and the test that calls it.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import discreet
from discreet.criteria import Criterion
from discreet.errors import InputError, NoSolution
from discreet.model.criteria.registry import CRITERIA, KEYWORD_CRITERIA, criteria_from
from discreet.models import Permutation
from discreet.search.algorithms import ALGORITHMS
from discreet.verbs.models.model_registry import MODELS
from discreet.verbs.table import Table

PAGE = Path(__file__).parent / "criteria" / "where.md"
ASKED: dict[str, object] = {
    "k": 4,
    "l": {"ill": 2},
    "entropy_l": {"ill": 1.5},
    "recursive_c": {"ill": 5},
    "alpha": {"ill": 0.8},
    "beta": {"ill": 4},
    "delta_disclosure": {"ill": 4},
    "t": {"ill": 0.6},
    "p_sensitive": [{"value": 2, "attribute": "ill", "level": 1}],
    "range_e": {"wage": 1},
    "epsilon_m": {"wage": 1.5},
    "weighted_k": {"weight": 6},
    "k_map": 6,
    "delta_presence": 0.9,
    "attack_gain": 0.4,
    "highest_risk": 0.3,
    "average_risk": 0.3,
    "records_at_risk": 0.2,
    "sample_uniques": 0.1,
    "population_uniques": 0.5,
    "lkc": 4,
}
"""Each criterion with a value that some release of the table has."""

LIMIT, K = "60%", 2
_SPEC = """[source]
path = "people.csv"

[population]
path = "register.csv"

[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", widths = [10, 20]}

[attributes.city]
role = "quasi-identifier"

[attributes.ill]
role = "sensitive"
hierarchy = "ill.csv"

[attributes.wage]
role = "sensitive"

[attributes.weight]
role = "sensitive"
"""
_PERSON = '\n[attributes.person]\nrole = "identifier"\n'
_ILL = ("flu;lungs;*", "asthma;lungs;*", "ulcer;stomach;*", "gastritis;stomach;*")


def table_in(folder: Path, *, of_subjects: bool = False) -> Table:
    """Return the table: one row per person, or two with ``of_subjects``."""
    chance = random.Random(5)
    people = [(chance.randrange(20, 60), chance.choice("ABC")) for _ in range(300)]
    names = [line.split(";", 1)[0] for line in _ILL]
    rows = [
        (f"p{i}", age, city, chance.choice(names), chance.randrange(10, 90), chance.choice((1, 2.5, 4)))
        for i, (age, city) in enumerate(people[:150])
    ]
    rows += rows if of_subjects else []
    _write(folder / "people.csv", "person,age,city,ill,wage,weight", rows)
    _write(folder / "register.csv", "age,city", people)
    (folder / "ill.csv").write_text("\n".join(_ILL) + "\n", encoding="utf-8")
    text = _SPEC + _PERSON
    if of_subjects:
        text = text.replace("[source]\n", '[source]\nsubject = "person"\n').replace(_PERSON, "")
        text = text.replace('[population]\npath = "register.csv"\n', "")
    (folder / "spec.toml").write_text(text, encoding="utf-8")
    return discreet.open(folder / "spec.toml")


def _write(path: Path, head: str, rows: list[tuple[object, ...]]) -> None:
    path.write_text("\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n", encoding="utf-8")


def asked() -> Iterator[Criterion]:
    """Yield every criterion of this package, k and l first; a new one needs a line in ``ASKED``."""
    for kind in CRITERIA.all():
        if kind.__module__.startswith("discreet."):
            yield from criteria_from({kind.name: ASKED[kind.name]})


def cell(act: Callable[[str], None]) -> str:
    """Return "yes" if an act succeeds, "0 rows" if it does without suppression, or the reason's letter."""
    try:
        act(LIMIT)
    except InputError as error:
        reason = _letter(str(error))
    else:
        return "yes"
    try:
        act("0")
    except InputError:
        return reason
    except NoSolution:
        pass  # a correct answer: without suppression there may be no solution
    return "0 rows"


def _letter(message: str) -> str:
    plain = " ".join(message.split())
    for letter, (sign, _) in REASONS.items():
        if sign in plain:
            return letter
    raise RuntimeError(f"a refusal that no reason here explains: {plain}")


def _options(criterion: Criterion, limit: str) -> dict[str, Any]:
    """Return the keywords of a request; k has its own."""
    asked: dict[str, Any] = {"max_suppressed": limit, "k": K, "criteria": [criterion]}
    if criterion.name == "k":
        asked |= {"k": criterion.value, "criteria": []}
    return asked


def negotiated(table: Table, criterion: Criterion, limit: str) -> None:
    """Negotiate and require an exact answer."""
    if table.negotiate(**_options(criterion, limit)).exact is None:
        raise RuntimeError(f"no exact answer under {criterion}")


def searched(table: Table, criterion: Criterion, name: str, limit: str) -> None:
    """Search and require a solution if rows may be suppressed."""
    if not table.search(name, **_options(criterion, limit)).result.solutions and limit == LIMIT:
        raise RuntimeError(f"{name} finds nothing under {criterion}")


def published(table: Table, criterion: Criterion, model: str | None, folder: Path, limit: str) -> None:
    """Publish, and require an audit, and a report of a negotiated answer, that name the criterion."""
    path, asked = folder / "out.csv", _options(criterion, limit)
    answer: Any = model or table.negotiate(**asked).exact
    if model == "permutation":
        del asked["max_suppressed"]
        answer = Permutation(sensitive="ill")
    if answer is None:
        raise RuntimeError(f"no exact answer under {criterion}")
    release = table.publish(answer, path, overwrite=True, **(asked if model else {}))
    names = [found.criterion.name for found in release.audit.report.criteria]
    if not release.audit.passed or criterion.name not in (*names, *KEYWORD_CRITERIA):
        raise RuntimeError(f"the audit of {model} does not name {criterion}")
    if model is None:
        page = discreet.report(path, table=table, overwrite=True).path.read_text(encoding="utf-8")
        if criterion.title not in page and criterion.name not in KEYWORD_CRITERIA:
            raise RuntimeError(f"the report does not name {criterion}")


def line(table: Table, subjects: Table, criterion: Criterion, folder: Path) -> list[str]:
    """Return the cells of one criterion: negotiation, release, subjects, searches, models."""
    cells = [
        cell(partial(negotiated, table, criterion)),
        cell(partial(published, table, criterion, None, folder)),
    ]
    cells.append(cell(partial(negotiated, subjects, criterion)))
    cells += [cell(partial(searched, table, criterion, name)) for name in ALGORITHMS]
    return cells + [cell(partial(published, table, criterion, model.name, folder)) for model in MODELS.all()]


def page() -> str:
    """Return the page's text; takes some twenty seconds."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        table, subjects = table_in(Path(folder)), table_in(Path(other), of_subjects=True)
        lines = {c.name: line(table, subjects, c, Path(folder)) for c in asked()}
    first = _table(
        ("negotiated", "published, audited, reported", "people with several rows", *ALGORITHMS), lines, 0
    )
    second = _table([model.name for model in MODELS.all()], lines, 3 + len(ALGORITHMS))
    reasons = "".join(f"- **{letter}**: {text}\n" for letter, (_, text) in REASONS.items())
    return f"{_BEGIN}\n{first}\n{_MODELS}\n{second}\n{_REASONS}\n{reasons}"


def _table(columns: Sequence[str], lines: dict[str, list[str]], begin: int) -> str:
    rows = [["criterion", *columns], ["---"] * (1 + len(columns))]
    rows += [[f"`{name}`", *cells[begin : begin + len(columns)]] for name, cells in lines.items()]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


REASONS = {
    "A": (
        "rows of a class that fails join a class",
        "it may fail if rows of a failing class join a class that meets it. Algorithms that assume the "
        "opposite are refused if rows may be suppressed, and models if they form classes one by one.",
    ),
    "B": (
        "two classes that meet it are merged",
        "the union of two classes that meet it may fail, so algorithms and models that merge classes are "
        "refused.",
    ),
    "C": (
        "classes of a release",
        "it is judged on all classes of a release together, and these algorithms and models judge one class "
        "at a time.",
    ),
    "D": (
        "relaxed Mondrian assigns equal rows",
        "relaxed Mondrian assigns equal rows to classes at random when the recoding is applied.",
    ),
    "E": (
        "counts the people who match a class",
        "it counts the people who match a class, which only classes by levels determine.",
    ),
    "F": (
        "but here subjects are counted",
        "it counts rows or their values, which are undefined if a person has several rows.",
    ),
    "G": (
        "needs the population, and the spec names none",
        "it needs a population, which requires a table with one row for each person.",
    ),
    "H": (
        "to a permuted release",
        "a permuted release has no classes, but groups with permuted values: only k and e apply.",
    ),
}
"""By letter: words that identify a refusal, and the text of the page."""

_BEGIN = """# Where each criterion works

Each criterion, run with every search and model on a generated table of 150 people. A test runs
`python docs/criteria_page.py` and compares.

- **yes**: the answer is correct, and a release passes its audit.
- **0 rows**: works only if no row may be suppressed.
- **a letter**: refused, for the [reason](#why-something-is-refused) below.

## Levels: negotiation, publishing, searches
"""
_MODELS = "## Recoding models: published and audited\n"
_REASONS = "## Why something is refused\n"

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
