"""What a spec says is public before the data: the domain of an attribute, and the budget of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from discreet.errors import InputError
from discreet.hierarchy.messages import shown
from discreet.model.hierarchy import Given, HierarchySource
from discreet.model.privacy_loss import PrivacyLoss, delta_of, epsilon_of
from discreet.model.public_domain import PublicDomain
from discreet.model.table_spec import PrivacyBudget
from discreet.spec.problems import KeyPath, StrictTable, key_text, validated, value_text

OF_HIERARCHY = "hierarchy"
_MOST_VALUES = 1_000_000


class BudgetTable(StrictTable):
    """``[privacy_budget]``."""

    epsilon: Any = Field(
        description="a number above 0, such as 1.0",
        title="The ε that all differentially private releases of the table may spend together.",
        examples=["1.0"],
    )
    delta: Any = Field(
        0,
        description="a number of at least 0 and below 1, such as 0.000001",
        title="The δ that they may spend together; 0 where left out.",
        examples=["0.000001"],
    )
    table: str | None = Field(
        None,
        min_length=1,
        description="a name in quotes",
        title="The table's name in the ledger, where it lies in memory or is read from several places.",
        examples=['"census-2026"'],
    )


class _Range(StrictTable):
    """``domain = {least = 17, most = 90}``."""

    least: int
    most: int


def read_domain(
    value: object, hierarchy: HierarchySource | None, *, label: str, key: KeyPath
) -> PublicDomain | None:
    """The domain of an attribute that has a hierarchy, or None; ``InputError`` for what is none."""
    if value is None:
        return None
    if value == OF_HIERARCHY:
        if hierarchy is None or getattr(hierarchy, "given", Given.NOTHING) is not Given.HIERARCHY:
            raise InputError(
                f"{label}: {key_text(key)} = {shown(OF_HIERARCHY)}, but the attribute has no hierarchy whose "
                "values were there before the data",
                allowed="a hierarchy that lists its leaves: a file, levels, a taxonomy",
                advice='List the values, domain = ["…"], or whole numbers, domain = {least = 0, most = 99}.',
            )
        return PublicDomain()
    if isinstance(value, Mapping):
        return PublicDomain(_numbers(value, label, key))
    if isinstance(value, list | tuple) and value:
        return PublicDomain(_texts(value, label, key))
    raise _wrong(value, label, key)


def read_budget(content: object, label: str) -> PrivacyBudget | None:
    """The budget of ``[privacy_budget]``; None where the spec has none."""
    if content is None:
        return None
    key = ("privacy_budget",)
    table = validated(BudgetTable, content, label=label, key=key)
    total = PrivacyLoss(
        epsilon_of(f"{label}: privacy_budget.epsilon", table.epsilon),
        delta_of(f"{label}: privacy_budget.delta", table.delta),
    )
    return PrivacyBudget(total, table.table)


def _numbers(value: Mapping[Any, Any], label: str, key: KeyPath) -> tuple[str, ...]:
    if set(value) != {"least", "most"}:
        raise _wrong(value, label, key)
    ends = validated(_Range, value, label=label, key=key)
    if not 0 <= ends.most - ends.least < _MOST_VALUES:
        raise InputError(
            f"{label}: {key_text(key)} = {{least = {ends.least}, most = {ends.most}}}",
            allowed=f"a least number that is not above the most, and at most {_MOST_VALUES:,} numbers",
        )
    return tuple(str(number) for number in range(ends.least, ends.most + 1))


def _texts(value: list[Any] | tuple[Any, ...], label: str, key: KeyPath) -> tuple[str, ...]:
    texts = []
    for place, one in enumerate(value):
        if isinstance(one, bool) or not isinstance(one, str | int):
            raise _wrong(one, label, (*key, place))
        texts.append(str(one))
    twice = [text for text, times in Counter(texts).items() if times > 1]
    if twice:
        raise InputError(f"{label}: {key_text(key)}: {shown(twice[0])} is listed twice", allowed="each once")
    return tuple(texts)


def _wrong(value: object, label: str, key: KeyPath) -> InputError:
    return InputError(
        f"{label}: {key_text(key)} = {value_text(value)}",
        allowed=f'"{OF_HIERARCHY}", a list of texts, or whole numbers such as {{least = 17, most = 90}}',
    )
