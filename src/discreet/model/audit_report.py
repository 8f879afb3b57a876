"""Audit reports, and releases with their reports.

They contain the independent count of a published file, the result of each criterion, the strictest values
that a release meets, and SQL that checks a guarantee without this program.
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
    ClassCounts,
    GroupCounts,
    PermutedRelease,
    ReleaseKind,
)


@dataclass(frozen=True)
class CheckStatement:
    """A guarantee, and the SQL that checks it.

    ``guarantee`` states the condition. ``sql`` is a query of one row whose column ``failing`` must be 0; it
    is None if the release is not sufficient to check the guarantee, and ``guarantee`` then states why.
    ``holds_values`` marks SQL that contains cells of sensitive attributes.
    """

    guarantee: str
    sql: str | None
    holds_values: bool = False


NEVER_MET = "no value is weak enough"
"""Reason if a class, or the release, fails for every value."""


@dataclass(frozen=True)
class StrictestValue:
    """The strictest ``value`` of a criterion, with all its fixed ``parts``, that a release meets.

    ``value`` is None if there is a ``reason``. For a criterion that compares classes with the whole table,
    ``publisher`` is true if that was the publisher's table, and false if it was the published rows.
    """

    criterion: type[Criterion]
    attribute: str | None
    parts: Mapping[str, Any]
    value: Any = None
    reason: str | None = None
    publisher: bool | None = None

    @classmethod
    def of(cls, instance: Criterion, score: int | None, *, publisher: bool | None = None) -> StrictestValue:
        """Build from the smallest score, None if a class has no score; the value of ``instance`` is ignored.

        A score may be worse than any value allows, so the value found is checked against the score again.
        """
        kind = type(instance)
        value = None if score is None else _strictest_met(instance, score)
        parts = {part.name: getattr(instance, part.name) for part in fixed_parameters(kind)}
        reason = NEVER_MET if value is None else None
        return cls(kind, instance.attribute, parts, value, reason, publisher)

    @property
    def parts_text(self) -> str:
        """Fixed parameters in a few words: ``distance equal``."""
        return ", ".join(f"{name} {format_exact(value)}" for name, value in self.parts.items())

    @property
    def value_text(self) -> str:
        """Value with all its digits, so that it can be requested; ``none`` if there is a reason."""
        return "none" if self.reason else format_exact(self.value)

    def as_json(self) -> dict[str, Any]:
        """Return the entry in ``strictest`` of ``discreet audit --strictest --json``."""
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
    """Format a number with all digits that distinguish it from others, an integral float without a point.

    >>> format_exact(0.333333334), format_exact(2.0)
    ('0.333333334', '2')
    """
    return repr(value).removesuffix(".0") if isinstance(value, float) else f"{value}"


def parameter_variants(kind: type[Criterion]) -> Iterator[dict[str, Any]]:
    """Yield the default fixed parameters of a criterion, then each alternative of one choice."""
    proposed = {part.name: part.default for part in fixed_parameters(kind)}
    yield proposed
    for part in fixed_parameters(kind):
        if part.kind is OptionKind.CHOICE:
            yield from (proposed | {part.name: each} for each in part.choices if each != part.default)


def _strictest_met(instance: Criterion, score: int) -> Any:
    """Return the strictest value whose threshold is at most a score; None if there is none."""
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
    """A requested criterion other than k and l, and the audit's finding.

    ``found`` is the value that the worst class meets, or the release as a whole; None if there is no class,
    or one without a score. ``failing_classes`` counts the classes that fail this criterion; ``met`` is False
    for a criterion of the whole release that the release fails.
    """

    criterion: Criterion
    found: Any
    failing_classes: int
    met: bool = True

    @property
    def passed(self) -> bool:
        """True if every class meets it, or the whole release."""
        return self.met and self.failing_classes == 0

    @property
    def required(self) -> str:
        """Requested value, with the additional fields that differ from the criterion's defaults."""
        further = (
            f", {name} {parameter_text(value)}" for name, value in changed_parameters(self.criterion).items()
        )
        return f"{parameter_text(self.criterion.value)}{''.join(further)}"

    @property
    def value_text(self) -> str:
        """Value found, in the form of a criterion: ``share(s)=0.75``."""
        return f"{self.criterion.label}={'none' if self.found is None else parameter_text(self.found)}"

    def as_json(self) -> dict[str, Any]:
        """Return the entry in ``criteria`` of ``discreet audit --json``.

        Additional fields are included only if requested.
        """
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

    ``rows`` excludes ``starred`` rows; ``k`` is the smallest class (0 without classes), ``l`` the smallest
    number of distinct values per sensitive attribute in any class. ``class_sizes`` maps a size to the number
    of classes of that size. ``failing`` lists at most a hundred classes; ``failing_classes`` counts all. The
    classes of a permuted release are its groups; ``permutation`` describes them further. ``suppressed`` rows
    are those that the manifest reports as suppressed, else the ``starred`` ones. If k counts subjects,
    ``class_rows`` is like ``class_sizes``, but in rows. ``required_k`` is the k requested for the release,
    None if there was none; ``required_l`` the l of each sensitive attribute that had one. ``set_apart`` rows
    have a star or NULL in every quasi-identifier and are in no class, although k, l and all tests also hold
    for them; a file with its manifest has none. ``criteria`` contains each requested criterion other than k
    and l, once per sensitive attribute. If requested, ``strictest`` contains every criterion, and ``sha256``
    is the digest of the rows, which does not depend on their order.
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
        """Kind of release, which determines how its rows are counted."""
        return (self.permutation or ClassCounts()).kind

    def kind_part(self) -> dict[str, Any]:
        """Return the part of JSON documents about the counts of this kind of release; empty for classes."""
        return (self.permutation or ClassCounts()).part()

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet audit --json``."""
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
            **self.kind_part(),
        }


@dataclass(frozen=True)
class Release:
    """The address of a release, the operations that produced it, and its audit.

    ``rows`` counts the table's rows after the NULL policy, including the ``suppressed`` ones. ``model`` is
    the name of the recoding model; ``levels`` is empty if its classes have no level in common.
    ``permutation`` describes a permuted release, including its additional files.
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
    def kind(self) -> ReleaseKind:
        """Kind of the release."""
        return self.permutation or CLASS_RELEASE

    @property
    def path(self) -> Path:
        """Published file or folder; ``InternalError`` if the release is a table."""
        return _require_path(self.address)

    @property
    def manifest_path(self) -> Path:
        """File of the manifest; ``InternalError`` if the release is a table."""
        return _require_path(self.manifest_address)

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet publish --json``."""
        return {
            **_address_entry(self.address),
            "manifest": next(iter(_address_entry(self.manifest_address).values())),
            "rows": self.rows,
            "suppressed": self.suppressed,
            "model": self.model,
            "levels": dict(self.levels),
            "audit": self.audit.as_json(),
            "warnings": list(self.warnings),
            **self.kind.part(),
        }


def _address_entry(address: ReleaseAddress) -> dict[str, str]:
    return {"table": str(address.table)} if address.path is None else {"path": str(address.path)}


def _require_path(address: ReleaseAddress) -> Path:
    if address.path is None:
        raise InternalError(f"{address.label} is not a file")
    return address.path
