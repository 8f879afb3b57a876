"""The options of a recoding guided by patterns, as they are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.model.class_test import ClassTest
from discreet.model.pattern import OutlierPolicy, Pattern, PatternConstraints, Predicate, Tie

METHODS = ("greedy", "exact", "fixed-parameter", "matching")
"""How rows are assigned to patterns: ``workbench.pattern_methods`` holds each."""

_CONSTRAINTS = ("max_stars", "never", "together", "at_most_one", "required", "custom", "cells")


@dataclass(frozen=True)
class PatternOptions:
    """What may be asked of patterns; None where it was not.

    ``pattern`` are vectors, which stand instead of constraints. ``cells`` says what patterns made of
    constraints may show: ``stars`` alone or every one of the ``levels``. ``patterns`` is a file of the same
    keys, and what is given beside it wins. ``weights`` are by attribute; the spec's where left out.
    """

    pattern: Sequence[str | Pattern | Sequence[int]] | None = None
    max_stars: int | None = None
    never: Sequence[str] | None = None
    together: Sequence[Sequence[str]] | None = None
    at_most_one: Sequence[Sequence[str]] | None = None
    required: Sequence[str] | None = None
    custom: Predicate | None = None
    cells: str | None = None
    cost: str | None = None
    outliers: str | None = None
    tie: str | None = None
    method: str | None = None
    time_limit: float | None = None
    weights: Mapping[str, float] | None = None
    class_test: ClassTest | None = None
    patterns: str | Path | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> PatternOptions:
        """From what was given, a file's keys included; ``InputError`` for an option not known."""
        known = {field.name for field in fields(cls)}
        chosen = {name: value for name, value in given.items() if value is not None}
        for name in chosen:
            if name not in known:
                raise InputError(
                    f"'{name.replace('_', '-')}' does not apply to patterns",
                    allowed=", ".join(sorted(name.replace("_", "-") for name in known)),
                )
        if "patterns" in chosen:
            from discreet.spec.patterns import load_patterns

            chosen = {**load_patterns(Path(chosen["patterns"])), **chosen}
        options = cls(**chosen)
        options.check()
        return options

    def check(self) -> None:
        """Raise ``InputError`` for vectors beside constraints, and for words that are none of the choices."""
        beside = [name for name in _CONSTRAINTS if getattr(self, name) is not None]
        if self.pattern is not None and beside:
            raise InputError(
                f"pattern vectors beside '{beside[0].replace('_', '-')}'",
                allowed="vectors, or constraints",
                advice="Give one of the two.",
            )
        _check_choice("cells", self.cells, ("stars", "levels"))
        _check_choice("method", self.method, METHODS)
        _check_choice("tie", self.tie, tuple(Tie))
        _check_choice("outliers", self.outliers, tuple(OutlierPolicy))
        exact_only = self.method != "exact" and self.time_limit is not None
        if exact_only or (self.method not in (None, "greedy") and self.tie is not None):
            name = "time-limit" if exact_only else "tie"
            raise InputError(f"'{name}' does not apply to the method '{self.method or 'greedy'}'")

    def constraints(self) -> PatternConstraints:
        """The constraints alone."""
        return PatternConstraints(
            max_stars=self.max_stars,
            never=tuple(self.never or ()),
            together=tuple(tuple(group) for group in self.together or ()),
            at_most_one=tuple(tuple(group) for group in self.at_most_one or ()),
            required=tuple(self.required or ()),
            custom=self.custom,
            levels=self.cells == "levels",
        )


def _check_choice(name: str, value: str | None, allowed: Sequence[str]) -> None:
    if value is not None and value not in allowed:
        raise InputError(f"{name} '{value}' of patterns", allowed=", ".join(allowed))
