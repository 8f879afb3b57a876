"""Audit reports, and releases with their reports.

The independent count of a published file, what it found of each criterion, the strictest values that a
release meets, and SQL that checks a guarantee without this program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.errors import InputError, InternalError
from discreet.model.class_recoding import RecodingModel
from discreet.model.criteria.base import Criterion, changed_parameters, fixed_parameters, parameter_text
from discreet.model.option import OptionKind
from discreet.model.release_address import ReleaseAddress
from discreet.model.release_kind import (
    CLASS_RELEASE,
    GROUP_RELEASE,
    GroupCounts,
    PermutedRelease,
    ReleaseKind,
)


@dataclass(frozen=True)
class CheckStatement:
    """One guarantee, and the SQL that counts it.

    ``guarantee`` says what must be so. ``sql`` is a query of one row, of which the column ``failing`` must be
    0; None where the release alone cannot tell it, and ``guarantee`` then says why. ``has_sensitive_values``
    says that cells of sensitive attributes stand in it.
    """

    guarantee: str
    sql: str | None
    holds_values: bool = False


NEVER_MET = "no value is weak enough"
"""What is told where a class, or the release, fails whatever is asked."""


@dataclass(frozen=True)
class StrictestValue:
    """A kind of criterion with all its fixed ``parts``, and the strictest ``value`` that a release meets.

    ``value`` is None where there is a ``reason``. ``publisher`` says, of a criterion that compares classes
    with the whole table, whether that was the publisher's; else it was the published rows.
    """

    criterion: type[Criterion]
    attribute: str | None
    parts: Mapping[str, Any]
    value: Any = None
    reason: str | None = None
    publisher: bool | None = None

    @classmethod
    def of(cls, instance: Criterion, score: int | None, *, publisher: bool | None = None) -> StrictestValue:
        """Of the smallest score, None where a class has none; what ``asked`` has for a value does not count.

        A score may be worse than any value allows, so the value is asked of its own threshold again.
        """
        kind = type(instance)
        value = None if score is None else _strictest_met(instance, score)
        parts = {part.name: getattr(instance, part.name) for part in fixed_parameters(kind)}
        reason = NEVER_MET if value is None else None
        return cls(kind, instance.attribute, parts, value, reason, publisher)

    @property
    def parts_text(self) -> str:
        """The fixed parts in a few words: ``distance equal``."""
        return ", ".join(f"{name} {format_exact(value)}" for name, value in self.parts.items())

    @property
    def value_text(self) -> str:
        """The value with all its digits, so that it can be asked; ``none`` where there is a reason."""
        return "none" if self.reason else format_exact(self.value)

    def as_json(self) -> dict[str, Any]:
        """The entry in the ``strictest`` of ``discreet audit --strictest --json``."""
        compared = {None: None, True: "publisher", False: "release"}[self.publisher]
        return {
            "name": self.criterion.name,
            "title": self.criterion.title,
            "attribute": self.attribute,
            "with": dict(self.parts),
            "value": self.value,
            "reason": self.reason,
            "compared_with": compared,
        }


def format_exact(value: Any) -> str:
    """A number with all digits that tell it from others, a whole one without a point.

    >>> format_exact(0.333333334), format_exact(2.0)
    ('0.333333334', '2')
    """
    return repr(value).removesuffix(".0") if isinstance(value, float) else f"{value}"


def parameter_variants(kind: type[Criterion]) -> Iterator[dict[str, Any]]:
    """The fixed parts of a criterion as it proposes them, and with each other choice of one of them."""
    proposed = {part.name: part.default for part in fixed_parameters(kind)}
    yield proposed
    for part in fixed_parameters(kind):
        if part.kind is OptionKind.CHOICE:
            yield from (proposed | {part.name: each} for each in part.choices if each != part.default)


def _strictest_met(instance: Criterion, score: int) -> Any:
    """The strictest value whose threshold is not above a score; None where no value has one."""
    parameter = instance.parameter
    value = min(max(instance.value_of(score), parameter.least), parameter.most)
    try:
        found = replace(instance, value=value)
    except InputError:
        return None
    return found.value if found.threshold <= score else None


@dataclass(frozen=True)
class FailingClass:
    """An equivalence class below the requirement, by its published values."""

    values: Mapping[str, str | None]
    rows: int


@dataclass(frozen=True)
class CriterionFinding:
    """A criterion beside k and l as it was asked, and what the audit found of it.

    ``found`` is the value that the worst class meets, or the release as a whole; None where there is no
    class, or one without a score. ``failing_classes`` counts the classes that fail this criterion; ``met`` is
    False where it is one of the whole release, which fails it.
    """

    criterion: Criterion
    found: Any
    failing_classes: int
    met: bool = True

    @property
    def passed(self) -> bool:
        """Whether every class meets it, or the whole release."""
        return self.met and self.failing_classes == 0

    @property
    def asked(self) -> str:
        """What was asked, further fields with it where they are not as the criterion proposes."""
        further = (
            f", {name} {parameter_text(value)}" for name, value in changed_parameters(self.criterion).items()
        )
        return f"{parameter_text(self.criterion.value)}{''.join(further)}"

    @property
    def value_text(self) -> str:
        """What was found, as a criterion is told: ``share(s)=0.75``."""
        return f"{self.criterion.label}={'none' if self.found is None else parameter_text(self.found)}"

    def as_json(self) -> dict[str, Any]:
        """The entry in the ``criteria`` of ``discreet audit --json``; further fields only where asked."""
        criterion, further = self.criterion, changed_parameters(self.criterion)
        return {
            "name": criterion.name,
            "title": criterion.title,
            "attribute": criterion.attribute,
            "required": criterion.value,
            **({"with": further} if further else {}),
            "found": self.found,
            "failing_classes": self.failing_classes,
            **({"passed": self.met} if criterion.of_release else {}),
        }


@dataclass(frozen=True)
class AuditReport:
    """The independent count of a published file.

    ``rows`` leaves ``starred`` rows out; ``k`` is the smallest class (0 where there is no class), ``l`` the
    smallest number of distinct values per sensitive attribute in any class. ``class_sizes`` maps a size to
    the number of classes of that size. ``failing`` lists at most a hundred classes; ``failing_classes``
    counts all. Of a permuted release the classes are its groups, which ``permutation`` says more of.
    ``suppressed`` rows are those that the manifest says were left out, else the ``starred`` ones. Where k
    counts subjects, ``class_row_counts`` is as ``class_sizes``, but in rows. ``required_k`` is the k that was
    asked of the release, None where there was none; ``required_l`` the l of each sensitive attribute that had
    one. ``remove_isolated`` rows have a star or NULL in every quasi-identifier and are in no class, though k,
    l and all tests hold for them, too; a file with its manifest has none. ``criteria`` tells of each
    criterion beside k and l that was asked, once for each sensitive attribute that it speaks of;
    ``strictest`` of every one that there is, where that was asked; ``sha256`` is that of the rows, whatever
    their order, likewise.
    """

    passed: bool
    rows: int
    classes: int
    k: int
    l: Mapping[str, int]
    starred: int
    failing: tuple[FailingClass, ...]
    failing_classes: int
    class_sizes: Mapping[int, int]
    warnings: tuple[str, ...] = ()
    permutation: GroupCounts | None = None
    suppressed: int = 0
    class_rows: Mapping[int, int] | None = None
    required_k: int | None = None
    required_l: Mapping[str, int] = field(default_factory=dict)
    criteria: tuple[CriterionFinding, ...] = ()
    strictest: tuple[StrictestValue, ...] = ()
    sha256: str | None = None
    set_apart: int = 0

    @property
    def kind(self) -> ReleaseKind:
        """What its rows are counted by."""
        return CLASS_RELEASE if self.permutation is None else GROUP_RELEASE

    def as_json(self) -> dict[str, Any]:
        """The contract's document of ``discreet audit --json``."""
        permuted = {} if self.permutation is None else {"permutation": self.permutation.as_json()}
        further = {"criteria": [found.as_json() for found in self.criteria]} if self.criteria else {}
        if self.strictest:
            further["strictest"] = [each.as_json() for each in self.strictest]
        return {
            "passed": self.passed,
            "rows": self.rows,
            "classes": self.classes,
            "k": self.k,
            "l": dict(self.l),
            "starred": self.starred,
            "suppressed": self.suppressed,
            **({"set_apart": self.set_apart} if self.set_apart else {}),
            "failing": [{"values": dict(f.values), "rows": f.rows} for f in self.failing],
            "failing_classes": self.failing_classes,
            "class_sizes": {str(size): number for size, number in self.class_sizes.items()},
            "warnings": list(self.warnings),
            **further,
            **permuted,
        }


@dataclass(frozen=True)
class Release:
    """Where a release lies, what was done to make it, and what its audit found.

    ``rows`` are the table's rows after the NULL policy, the ``suppressed`` ones included. ``model`` names the
    recoding model; ``levels`` are empty where its classes have no level in common. ``permutation`` tells of a
    permuted release, its further files too.
    """

    address: ReleaseAddress
    manifest_address: ReleaseAddress
    rows: int
    suppressed: int
    levels: Mapping[str, int]
    audit: AuditReport
    warnings: tuple[str, ...] = ()
    model: str = str(RecodingModel.FULL_DOMAIN)
    permutation: PermutedRelease | None = None

    @property
    def path(self) -> Path:
        """The published file or folder; ``InternalError`` where the release is a table."""
        return _require_path(self.address)

    @property
    def manifest_path(self) -> Path:
        """Its manifest, likewise."""
        return _require_path(self.manifest_address)

    def as_json(self) -> dict[str, Any]:
        """The document of ``discreet publish --json``."""
        return {
            **_address_entry(self.address),
            "manifest": next(iter(_address_entry(self.manifest_address).values())),
            "rows": self.rows,
            "suppressed": self.suppressed,
            "model": self.model,
            "levels": dict(self.levels),
            "audit": self.audit.as_json(),
            "warnings": list(self.warnings),
            **(self.permutation or CLASS_RELEASE).part(),
        }


def _address_entry(address: ReleaseAddress) -> dict[str, str]:
    return {"table": str(address.table)} if address.path is None else {"path": str(address.path)}


def _require_path(address: ReleaseAddress) -> Path:
    if address.path is None:
        raise InternalError(f"{address.label} is no file")
    return address.path
