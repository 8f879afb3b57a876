"""Attacks in section 7: all declared ones in order, and no information on individuals."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from discreet.attacks.declaration import Attack, AttackInput
from discreet.attacks.finding import Finding, FoundTable, columns, count
from discreet.attacks.registry import ATTACKS, select_attacks
from discreet.report.report import report
from tests.attacks.test_linkage import PATIENTS, table_of


class Looks(Attack):
    """An attack that counts, and always has a table of individuals."""

    name: ClassVar[str] = "looks"
    title: ClassVar[str] = "Looks at people"
    text: ClassVar[str] = "An attacker looks."
    source: ClassVar[str] = "this test"

    def run(self, attack_input: AttackInput) -> Finding:
        persons = FoundTable("Who it is", columns("who"), (("Someone in Bonn",),), persons=True)
        return self.build_finding(
            attack_input, (count("seen", "rows seen", attack_input.release.total),), (persons,)
        )


class Stays(Looks):
    """An attack that reports run only on request."""

    name: ClassVar[str] = "stays"
    title: ClassVar[str] = "Stays out"
    in_report: ClassVar[bool] = False


@pytest.fixture
def two_more() -> Iterator[None]:
    for kind in (Stays, Looks):
        ATTACKS.register(kind)
    yield
    for kind in (Stays, Looks):
        ATTACKS.remove(kind.name)


@pytest.mark.usefixtures("two_more")
@pytest.mark.parametrize("original", [True, False])
def test_attacks_are_in_the_declared_order_without_persons(tmp_path: Path, *, original: bool) -> None:
    table = table_of(tmp_path, PATIENTS)
    table.publish({"age": 1, "city": 1}, tmp_path / "out.csv", k=2, max_suppressed="60%")
    found = report(tmp_path / "out.csv", table=table if original else None)
    text = found.path.read_text(encoding="utf-8")
    section = text.partition('id="section-7"')[2].partition("</section>")[0]
    declared = {kind.title.replace("'", "&#x27;"): kind.name for kind in ATTACKS}
    shown = [declared[title] for title in re.findall("<h3>(.*?)</h3>", section) if title in declared]
    left_out = [name for title, name in declared.items() if f"<li>{title}: " in section]
    assert shown == [name for name in declared.values() if name not in {*left_out, "stays"}]
    assert {"suda2", "skewness", "background-knowledge", "column-sets", "looks"} <= set(shown)
    assert "rows seen" in section
    document = json.dumps(found.as_json()["attack"])
    for hidden in ("Stays out", "Who it is", "Someone"):
        assert hidden not in text + document


@pytest.mark.usefixtures("two_more")
def test_selection_of_several_attacks() -> None:
    names = [each.name for each in select_attacks("reported")[0]]
    assert names == [kind.name for kind in ATTACKS if kind.name != "stays"]
    assert not select_attacks("reported")[1]
    assert "stays" in [each.name for each in select_attacks(["all"])[0]]
    assert select_attacks("stays")[1]
