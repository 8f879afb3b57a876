"""The lattices of a table that were evaluated, each kept for whatever it can answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from discreet.errors import InputError, LimitReached
from discreet.lattice.evaluate import evaluate_lattice
from discreet.lattice.preload import preload_kernels
from discreet.model.criteria.base import Criterion, Score
from discreet.model.criteria.distinct_diversity import DistinctDiversity
from discreet.model.criteria.k_anonymity import KAnonymity
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.results.lattice import TableLattice
from discreet.settings import Settings
from discreet.verbs.reporting import Reporter

if TYPE_CHECKING:
    from discreet.results.partial import TablePartialLattice


@dataclass(frozen=True)
class KeptLattices:
    """Evaluates lattices, whole and partial, and keeps them by the scores that they were counted for.

    ``counted_for`` counts the table for a requirement: with sensitive values where it speaks of them.
    """

    spec: TableSpec
    settings: Settings
    reporter: Reporter
    counted_for: Callable[[Requirement], FrequencySet]
    whole: list[TableLattice] = field(default_factory=list)
    partial: list[TablePartialLattice] = field(default_factory=list)

    def lattice(self, sensitive: Sequence[str] | None, criteria: Sequence[Criterion]) -> TableLattice:
        """The kept lattice of the fewest scores that can be asked for all this, or a new one.

        ``sensitive`` are the attributes whose l can be asked (None: all).
        """
        asked = self._asking(sensitive, criteria)
        found = self._fitting(asked)
        if found is None:
            found = self._evaluated(asked)
            self.whole.append(found)
        return found

    def known(self, requirement: Requirement) -> TableLattice | None:
        """The kept lattice of the fewest scores that tells of a requirement; None where none does."""
        return self._fitting(self._asking(self.sensitive_in(requirement), requirement.others))

    def affordable(self, requirement: Requirement) -> TableLattice | TablePartialLattice:
        """The lattice for a requirement, or a partial one where it would not fit the memory limit."""
        names, criteria = self.sensitive_in(requirement), requirement.others
        asked = self._asking(names, criteria)
        for known in self.partial:
            if self._scores(asked) <= {*known.scores}:
                return known
        # Counted first: a limit reached there is no reason for a partial lattice, which counts the same rows.
        preload_kernels()
        counted = self.counted_for(requirement)
        try:
            return self.lattice(names, criteria)
        except LimitReached as limit:
            self.reporter.notice(f"{limit.message}. A partial lattice answers instead.")
        from discreet.negotiation.partial import prepare_affordable
        from discreet.results.partial import TablePartialLattice

        with self.reporter.stage("Counting the most important nodes") as advance:
            partial = prepare_affordable(
                self._narrowed(counted, asked), self.settings, criteria=criteria, progress=advance
            )
        found = TablePartialLattice(partial, counted, self.spec, self.settings, descends=True)
        self.partial.append(found)
        return found

    def most_important(
        self,
        counted: FrequencySet,
        percent: str,
        metric: str,
        sensitive: Sequence[str] | None,
        criteria: Sequence[Criterion],
        *,
        runtime: bool,
    ) -> TablePartialLattice:
        """A partial lattice of the most important ``percent`` of the nodes of each height; it is not kept."""
        from discreet.negotiation.partial import prepare_partial_lattice
        from discreet.results.partial import TablePartialLattice

        asked = self._asking(sensitive, criteria)
        with self.reporter.stage("Counting the most important nodes") as advance:
            partial = prepare_partial_lattice(
                self._narrowed(counted, asked),
                percent,
                metric,
                criteria=criteria,
                settings=self.settings,
                progress=advance,
            )
        return TablePartialLattice(partial, counted, self.spec, self.settings, runtime=runtime)

    def sensitive_in(self, requirement: Requirement) -> tuple[str, ...]:
        """The sensitive attributes that a requirement speaks of."""
        bound = requirement.bound(self._names)
        if any(one.criterion.of_every_attribute for one in bound):
            return self._names
        places = {one.place for one in bound}
        return tuple(name for place, name in enumerate(self._names) if place in places)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.spec.sensitive)

    def _asking(self, sensitive: Sequence[str] | None, criteria: Sequence[Criterion]) -> Requirement:
        """What asks for every score that is wanted; ``InputError`` for an attribute that is not sensitive."""
        names = self._names
        unknown = [name for name in sensitive or () if name not in names]
        if unknown:
            raise InputError(
                f"'{unknown[0]}' is not a sensitive attribute",
                allowed=", ".join(names) or "none: no attribute is sensitive",
            )
        asked = [DistinctDiversity(1, name) for name in names if sensitive is None or name in sensitive]
        return Requirement(criteria=(KAnonymity(1), *asked, *criteria))

    def _fitting(self, asked: Requirement) -> TableLattice | None:
        needed = self._scores(asked)
        fitting = [known for known in self.whole if needed <= {*known.scores}]
        return min(fitting, key=lambda known: len(known.scores), default=None)

    def _scores(self, asked: Requirement) -> frozenset[Score]:
        return frozenset(each.criterion.counted for each in asked.bound(self._names))

    def _narrowed(self, counted: FrequencySet, asked: Requirement) -> FrequencySet:
        """A frequency set with the values of those sensitive attributes alone that are asked for."""
        names = self.sensitive_in(asked)
        kept = tuple(v for v in counted.sensitive if v.attribute in names)
        return replace(counted, sensitive=kept, whole=len(kept) == len(self._names))

    def _evaluated(self, asked: Requirement) -> TableLattice:
        preload_kernels()
        counted = self._narrowed(self.counted_for(asked), asked)
        with self.reporter.stage("Evaluating the lattice") as advance:
            evaluated = evaluate_lattice(
                counted,
                self.settings,
                diversity=asked.l is not None,
                criteria=asked.others,
                progress=advance,
                notice=self.reporter.notice,
            )
        return TableLattice(evaluated, counted, self.spec, self.settings)
