"""Journeys of other releases: related tables, noisy counts, and samples of rows with a privacy budget."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import ceil, comb, exp, floor
from pathlib import Path
from random import Random
from shutil import copyfile
from typing import Any

import discreet
from tests.fuzz.files import read_texts
from tests.fuzz.publishing import Notes, Workplace
from tests.fuzz.recount import demand
from tests.verbs import related

_FAR = 60
"""Number of scales beyond which noise has a probability below 1e-20."""


def related_tables(place: Workplace, notes: Notes) -> None:
    """Publish patients, visits and tests together; keys fit, and people are counted in each table."""
    tables = related.clinic(place.given, place.trial.seed, people=12 + place.trial.seed % 8)
    together = place.trial.seed % 3 == 0
    tables.more = "together = 2" if together else ""
    spec, out = tables.written(), place.out / "related"
    settings = place.settings
    found = discreet.open_tables(spec, settings=settings).publish(out)
    notes.releases += 1
    patients, visits, lab = related.kept_rows(tables, {row["patient"] for row in tables.patients})
    lists = {name: related.pseudonyms(place.given, name) for name in ("patients", "visits")}
    shown = {name: related.rows_of(out / f"{name}.csv") for name in ("patients", "visits", "lab")}
    if together:
        demand(
            found.joint_anonymity.fewest >= 2,
            "two people look alike in all tables",
            found.joint_anonymity.fewest,
        )
    else:
        _check_related_rows(shown, (patients, visits, lab), lists)
    _check_related_owners(shown)
    _check_related_shifts(tables, shown, lists)
    fewest = min(map(len, related.people_by_view(out).values()))
    demand(found.joint_anonymity.fewest == fewest, "how many people look alike in all tables", fewest)
    for path in out.iterdir():
        text = path.read_text(encoding="utf-8")
        keys = [row["patient"] for row in tables.patients] + [row["visit"] for row in tables.visits]
        leaked = [key for key in keys if key in text.replace('"', ",").split(",") or f"{key}\n" in text]
        demand(not leaked, "no key of a row is written", path.name, leaked[:2])
    demand(discreet.audit_tables(out, settings=settings).passed, "the audit of related tables")
    notes.audits += 1
    _check_broken_key(out, settings)
    notes.mutated += 1


def _check_related_rows(
    shown: Mapping[str, related.Rows], kept: tuple[related.Rows, ...], lists: Mapping[str, Mapping[str, str]]
) -> None:
    """Require that each table contains the rows of its classes of two people, under their pseudonyms."""
    people, visits = lists["patients"], lists["visits"]
    expected = (
        Counter((people[row["patient"]], row["age"], row["sex"]) for row in kept[0]),
        Counter((visits[row["visit"]], people[row["patient"]], row["ward"]) for row in kept[1]),
        Counter((visits[row["visit"]], row["kind"]) for row in kept[2]),
    )
    found = (
        Counter((row["patient"], row["age"], row["sex"]) for row in shown["patients"]),
        Counter((row["visit"], row["patient"], row["ward"]) for row in shown["visits"]),
        Counter((row["visit"], row["kind"]) for row in shown["lab"]),
    )
    demand(found == expected, "the rows of related tables", found, expected)


def _check_related_owners(shown: Mapping[str, related.Rows]) -> None:
    """Require that every key has its row in the parent table, and that child rows name its person."""
    people = {row["patient"] for row in shown["patients"]}
    owner = {row["visit"]: row["patient"] for row in shown["visits"]}
    demand(people >= set(owner.values()), "a key without its row", set(owner.values()) - people)
    wrong = [row for row in shown["lab"] if owner.get(row["visit"]) != row["patient"]]
    demand(not wrong, "a row below names the person of the row above", wrong[:1])


def _check_related_shifts(
    tables: related.Clinic, shown: Mapping[str, related.Rows], lists: Mapping[str, Mapping[str, str]]
) -> None:
    days: dict[str, set[int]] = defaultdict(set)
    before = {lists["visits"].get(row["visit"]): row for row in tables.visits}
    for row in shown["visits"]:
        original = before[row["visit"]]
        moved = date.fromisoformat(row["admitted"]) - date.fromisoformat(original["admitted"])
        days[original["patient"]].add(moved.days)
    demand(all(len(found) == 1 for found in days.values()), "one shift for each person", dict(days))
    every = [next(iter(found)) for found in days.values()]
    demand(len(every) < 5 or len(set(every)) > 1, "people have shifts of their own", every)
    demand(all(1 <= abs(moved) <= 30 for moved in every), "a shift within its bounds", every)


def _check_broken_key(out: Path, settings: Any) -> None:
    """Require that a visit of a person outside of the release fails the audit."""
    path = out / "visits.csv"
    text = path.read_text(encoding="utf-8")
    rows = related.rows_of(path)
    if rows:
        path.write_text(text.replace(rows[0]["patient"], "0" * len(rows[0]["patient"])), encoding="utf-8")
        try:
            passed = discreet.audit_tables(out, settings=settings).passed
        except discreet.DiscreetError:
            passed = False
        demand(not passed, "an audit of related tables finds a key without its row")
        path.write_text(text, encoding="utf-8")


def _private_spec(place: Workplace, epsilon: str) -> tuple[Path, list[tuple[str | None, str, str]]]:
    """Build a table with public domains and a budget; return its rows."""
    random = Random(place.trial.seed)
    number = random.choice((20, 60, 200))
    rows = [
        (
            None if random.random() < 0.1 else str(random.choice((20, 24, 31, 58, 77))),
            random.choice("FM"),
            "flu",
        )
        for _ in range(number)
    ]
    lines = ["age,sex,disease", *(f"{age or ''},{sex},{ill}" for age, sex, ill in rows)]
    (place.given / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = f"""[source]
path = "people.csv"
[attributes.age]
role = "quasi-identifier"
hierarchy = {{kind = "intervals", widths = [10, 20]}}
domain = {{least = 20, most = 59}}
[attributes.sex]
role = "quasi-identifier"
domain = ["F", "M"]
[attributes.disease]
role = "sensitive"
[privacy_budget]
epsilon = {epsilon}
delta = 0.1
"""
    path = place.given / "discreet.toml"
    path.write_text(text, encoding="utf-8")
    return path, rows


def _label(age: str | None, level: int) -> str:
    if age is None or not 20 <= int(age) <= 59:
        return "(other)"
    width = (1, 10, 20)[level]
    low = int(age) // width * width
    return age if level == 0 else f"{low}-{low + width - 1}"


def tabulated(place: Workplace, notes: Notes) -> None:
    """Release noisy counts until the budget is spent.

    Each count is near its true count, and the ledger adds up.
    """
    spec, rows = _private_spec(place, "2.0")
    ledger = place.given / "discreet.budget.json"
    spent = Decimal(0)
    for place_of, loss in enumerate(("0.5", "1.25", "0.5")):
        table = discreet.open(spec, settings=place.settings)
        path = place.out / f"counts{place_of}.csv"
        before = ledger.read_bytes() if ledger.exists() else b""
        try:
            table.tabulate([{"age": 1, "sex": 0}, {"sex": 0}], path, epsilon=loss)
        except discreet.LimitReached:
            demand(spent + Decimal(loss) > 2, "a budget refuses what it allows", str(spent), loss)
            demand(ledger.read_bytes() == before and not path.exists(), "a refusal spends nothing")
            continue
        spent += Decimal(loss)
        notes.releases += 1
        demand(spent <= 2, "a budget is not spent twice", str(spent))
        _check_counts(path, rows, scale=2 / float(loss))
        _check_ledger(ledger, spent)
    _check_copies(place, spec)


def _check_counts(path: Path, rows: list[tuple[str | None, str, str]], scale: float) -> None:
    found = read_texts(path)
    ages = ("20-29", "30-39", "40-49", "50-59", "(other)")
    true: Counter[tuple[str, str, str]] = Counter()
    for age, sex, _ in rows:
        true["1", _label(age, 1), sex] += 1
        true["2", "", sex] += 1
    cells = {
        (str(row["marginal"]), row["age"] or "", row["sex"] or ""): int(row["noisy_count"]) for row in found
    }
    whole = {("1", age, sex) for age in ages for sex in ("F", "M", "(other)")}
    whole |= {("2", "", sex) for sex in ("F", "M", "(other)")}
    demand(set(cells) == whole, "every cell of the public domains is shown", sorted(set(cells) ^ whole)[:4])
    far = [cell for cell, number in cells.items() if abs(number - true[cell]) > _FAR * scale]
    demand(not far, "a noisy count near its own", far[:2])
    noise = [cells[cell] - true[cell] for cell in whole]
    demand(any(noise), "counts have noise", noise)


def _check_ledger(ledger: Path, spent: Decimal) -> None:
    entries = json.loads(ledger.read_text(encoding="utf-8"))["entries"]
    total = sum((Decimal(entry["epsilon"]) for entry in entries), Decimal(0))
    demand(total == spent, "the ledger holds what was spent", str(total), str(spent))


def _check_copies(place: Workplace, spec: Path) -> None:
    """Require that a copied file, and a changed file that replaces it, have the budget of the first."""
    copyfile(place.given / "people.csv", place.given / "copy.csv")
    text = spec.read_text(encoding="utf-8")
    other = place.given / "copy.toml"
    other.write_text(text.replace('"people.csv"', '"copy.csv"'), encoding="utf-8")
    with (place.given / "people.csv").open("a", encoding="utf-8") as file:
        file.write("31,F,flu\n")
    for again in (other, spec):
        try:
            discreet.open(again, settings=place.settings).tabulate(
                [{"sex": 0}], place.out / f"{again.stem}.csv", epsilon="1.5"
            )
        except discreet.LimitReached:
            continue
        demand(False, "a copied or changed table shares its budget", again.name)


def sampled(place: Workplace, notes: Notes) -> None:
    """Release a sample of rows: each class has the theorem's k, and no more rows than the table."""
    spec, rows = _private_spec(place, "3.0")
    path = place.out / "sample.csv"
    epsilon, delta, levels = "2", "0.1", {"age": 2, "sex": place.trial.seed % 2}
    discreet.open(spec, settings=place.settings).safepub(levels, path, epsilon=epsilon, delta=delta)
    notes.releases += 1
    shown = Counter((row["age"], row["sex"]) for row in read_texts(path))
    true = Counter((_label(age, 2), sex if levels["sex"] == 0 else "*") for age, sex, _ in rows)
    least = _sample_k(float(epsilon), Fraction(delta))
    few = {cells: number for cells, number in shown.items() if number < least}
    demand(not few, "a class of a sample has k rows", few, least)
    many = {cells: number for cells, number in shown.items() if number > true[cells]}
    demand(not many, "a sample has no more rows than the table", many)
    demand(shown.total() < len(rows) or len(rows) <= 20, "a sample leaves rows out", shown.total())
    _check_ledger(place.given / "discreet.budget.json", Decimal(epsilon))
    try:
        discreet.open(spec, settings=place.settings).safepub(
            levels, place.out / "more.csv", epsilon="2", delta="0.01"
        )
    except discreet.LimitReached:
        return
    demand(False, "a budget is not spent twice")


def _sample_k(epsilon: float, delta: Fraction) -> int:
    """Return the least k whose tail is at most δ, over all relevant class sizes (Li, Qardaji and Su 2012)."""
    beta = 1 - exp(-epsilon)
    gamma = 1 - (1 - beta) * exp(-epsilon)

    def tail(size: int) -> float:
        first = floor(gamma * size) + 1
        return sum(comb(size, j) * beta**j * (1 - beta) ** (size - j) for j in range(first, size + 1))

    k = 1
    while max(tail(size) for size in range(ceil(k / gamma - 1), ceil(k / gamma - 1) + 60)) > delta:
        k += 1
    return k
