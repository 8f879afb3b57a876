"""Privacy models of ARX by the words in which its projects tell them, as criteria of a request.

A project tells each model as a line of text; what a model was configured with beside that (a population, a
subset, a hierarchy) it keeps as Java objects, which are never read. So a model is carried over only where its
line says all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import log
from typing import Any

_NUMBER = r"(\d{1,9}(?:\.\d{1,18})?(?:E-?\d{1,2})?)"
_OF = r" for attribute '(.*)'"
_LONGER = re.DOTALL

Asked = dict[str, Any]
"""A criterion's entry of a request: its value, its attribute, its further parts."""


@dataclass(frozen=True)
class CarriedModel:
    """What a line became: ``entries`` by the criterion's name, and what to say of it."""

    entries: tuple[tuple[str, Asked], ...]
    note: str | None = None


@dataclass(frozen=True)
class _Form:
    """How a model is told; ``made`` gets the groups of the pattern, the attribute last where there is one."""

    pattern: re.Pattern[str]
    made: Callable[..., CarriedModel]
    of_attribute: bool = True


def carried_over(line: str, sensitive: Collection[str]) -> CarriedModel | None:
    """The criteria of a line; None where it does not say all, or speaks of a column that is not sensitive."""
    for form in _FORMS:
        found = form.pattern.fullmatch(line)
        if found is None or (form.of_attribute and found[found.re.groups] not in sensitive):
            continue
        return form.made(*found.groups())
    return None


def as_request(entries: Mapping[str, list[Asked]]) -> dict[str, Any]:
    """What a spec holds: a number where that is all, else tables, each once."""
    found: dict[str, Any] = {}
    for name, tables in entries.items():
        once = [table for i, table in enumerate(tables) if table not in tables[:i]]
        alone = len(once) == 1 and set(once[0]) == {"value"}
        found[name] = once[0]["value"] if alone else once
    return found


def _entropy(estimator: str | None, l: str, attribute: str) -> CarriedModel:
    parts = {"estimator": estimator.lower()} if estimator else {}
    return CarriedModel((("entropy_l", {"value": float(l), "attribute": attribute, **parts}),))


def _recursive(c: str, l: str, attribute: str) -> CarriedModel:
    return CarriedModel((("recursive_c", {"value": float(c), "attribute": attribute, "l": int(l)}),))


def _close(t: str, distance: str, attribute: str) -> CarriedModel:
    return CarriedModel((("t", {"value": float(t), "attribute": attribute, "distance": distance}),))


def _like(variant: str, beta: str, attribute: str) -> CarriedModel:
    return CarriedModel((("beta", {"value": float(beta), "attribute": attribute, "variant": variant}),))


def _disclosing(delta: str, attribute: str) -> CarriedModel:
    natural = round(float(delta) * log(2), 9)
    return CarriedModel(
        (("delta_disclosure", {"value": natural, "attribute": attribute}),),
        f"the δ of δ-disclosure privacy, {delta} by logarithms of base 2, is {natural} here by natural ones; "
        "a class that lacks a value of the table fails here, and passes there",
    )


def _average(risk: str) -> CarriedModel:
    return CarriedModel((("average_risk", {"value": float(risk)}),))


def _mixed(average: str, highest: str, share: str) -> CarriedModel | None:
    """Records at the highest risk count as at risk in ARX, and not here: so the next class size is named."""
    if not float(highest):
        return None
    above = 1 / (int(1 / float(highest)) + 1)
    return CarriedModel(
        (
            ("average_risk", {"value": float(average)}),
            ("records_at_risk", {"value": float(share), "above": above}),
        )
    )


def _unique(share: str) -> CarriedModel:
    return CarriedModel((("sample_uniques", {"value": float(share)}),))


def _form(pattern: str, made: Callable[..., Any], *, of_attribute: bool = True) -> _Form:
    ending = _OF if of_attribute else ""
    return _Form(re.compile(pattern + ending, _LONGER), made, of_attribute)


_FORMS = (
    _form(rf"(?:(shannon|grassberger)-)?entropy-{_NUMBER}-diversity", _entropy),
    _form(rf"recursive-\({_NUMBER}, ?(\d{{1,9}})\)-diversity", _recursive),
    _form(rf"{_NUMBER}-closeness with (equal|ordered)(?: ground)?[- ]distance", _close),
    _form(rf"(basic|enhanced)-{_NUMBER}-likeness", _like),
    _form(rf"{_NUMBER}-disclosure privacy", _disclosing),
    _form(rf"\({_NUMBER}\)-avg-reidentification-risk", _average, of_attribute=False),
    _form(rf"\({_NUMBER}, ?{_NUMBER}, ?{_NUMBER}\)-avg-reidentification-risk", _mixed, of_attribute=False),
    _form(rf"\({_NUMBER}\)-sample-uniqueness", _unique, of_attribute=False),
)
