"""What an audit of a published file found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.model.criteria.base import Criterion, as_text
from discreet.model.criteria.fixed_parts import given_parts
from discreet.model.permuted_parts import GroupCounts
from discreet.model.release_kind import CLASSES, GROUPS, ReleaseKind
from discreet.model.strictest_value import StrictestValue


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
        further = (f", {name} {as_text(value)}" for name, value in given_parts(self.criterion).items())
        return f"{as_text(self.criterion.value)}{''.join(further)}"

    @property
    def told(self) -> str:
        """What was found, as a criterion is told: ``share(s)=0.75``."""
        return f"{self.criterion.label}={'none' if self.found is None else as_text(self.found)}"

    def as_json(self) -> dict[str, Any]:
        """The entry in the ``criteria`` of ``discreet audit --json``; further fields only where asked."""
        criterion, further = self.criterion, given_parts(self.criterion)
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
    counts subjects, ``class_rows`` is as ``class_sizes``, but in rows. ``required_k`` is the k that was asked
    of the release, None where there was none; ``required_l`` the l of each sensitive attribute that had one.
    ``set_apart`` rows have a star or NULL in every quasi-identifier and are in no class, though k, l and all
    tests hold for them, too; a file with its manifest has none.
    ``criteria`` tells of each criterion beside k and l that was asked, once for each sensitive attribute that
    it speaks of; ``strictest`` of every one that there is, where that was asked; ``sha256`` is that of the
    rows, whatever their order, likewise.
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
        return CLASSES if self.permutation is None else GROUPS

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
