"""Publishing with permuted sensitive values: what may be asked, and where the groups come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.delivery import Views
from discreet.errors import InputError
from discreet.frequency.subject_rows import rows_for_subjects
from discreet.lattice.evaluate import lattice_of
from discreet.model.class_recoding import SUPPRESSED
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.permutation import GroupRequirement
from discreet.model.permuted_release import ReleaseForm
from discreet.model.release_address import ReleaseAddress
from discreet.permutation.near_groups import coordinates_of
from discreet.permutation.partitions import PartitionStrategy, partition
from discreet.permutation.recoding_groups import classes_of_node, classes_of_recoding
from discreet.permutation.row_types import row_types_of_rows
from discreet.permutation.sensitive import some_rows
from discreet.queries.views import companion_views, view_statements
from discreet.release.held import HeldRows
from discreet.release.permuted import Chosen, PermutedPlan, publish_permuted
from discreet.release.publish import refuse_class_test
from discreet.workbench.publication import ReleaseResult
from discreet.workbench.recodings import RecodingResult
from discreet.workbench.reporting import Reporter
from discreet.workbench.requests import Levels

if TYPE_CHECKING:
    from discreet.workbench.table import Table

_NUMBER = "a number such as 500 or 2.5"


@dataclass(frozen=True)
class PermutationOptions:
    """What may be asked of a permuted release.

    ``e`` is the least range of a group, ``sensitive`` the attribute to permute (needed where there are
    several), ``partition`` a strategy, ``form`` ``one-table`` or ``two-tables``, ``level`` the levels that
    quasi-identifiers are shown at, ``first_group`` the k and e of the group of the smallest value.
    ``recoding`` names the model whose classes are the groups, or is a recoding that was made before; classes
    that fail are joined into groups that do not where ``merge_failing``. ``near`` are the quasi-identifiers
    that ``qi-aware`` cuts along, by default all: those that questions will be asked of.
    """

    e: int | float | str | Decimal = 0
    sensitive: str | None = None
    partition: str = str(PartitionStrategy.MIN_SUM)
    form: str = str(ReleaseForm.ONE_TABLE)
    level: Levels | None = None
    first_group: tuple[int, int | float | str | Decimal] | None = None
    recoding: str | RecodingResult | None = None
    merge_failing: bool = False
    near: Sequence[str] | None = None


def publish_permutation(
    table: Table,
    reporter: Reporter,
    output: Path | ReleaseAddress,
    *,
    k: int | None,
    l: int | Mapping[str, int] | None = None,
    max_suppressed: str | int | None = None,
    overwrite: bool = False,
    options: Mapping[str, Any] | None = None,
) -> ReleaseResult:
    """Publish a table with a sensitive attribute permuted within groups (see ``Table.publish``).

    ``InputError`` for what may not be asked, and where a subject has several rows: a group of k values might
    then hold fewer than k persons. ``NoSolution`` where no partition meets k and e.
    """
    asked, own = _options(options or {})
    attribute = _sensitive(table, asked.sensitive)
    strategy = _strategy(asked)
    requirement = GroupRequirement(_whole(k), exact_decimal("e", asked.e))
    counted = rows_for_subjects(table.frequency_set)
    plan = PermutedPlan(
        attribute,
        requirement,
        _node(counted, asked.level),
        _form(asked.form),
        row_types=strategy in (PartitionStrategy.QI_AWARE, PartitionStrategy.RECODING),
    )
    groups = _Groups(
        table=table,
        reporter=reporter,
        counted=counted,
        plan=plan,
        strategy=strategy,
        first=_first(asked.first_group, requirement),
        merge_failing=asked.merge_failing,
        near=_near(asked, strategy, [hierarchy.attribute for hierarchy in counted.hierarchies]),
        recoding=_recoding(table, reporter, asked, strategy, attribute, k, l, max_suppressed, own),
    )
    with table.engine("Permuting, writing and auditing") as engine:
        release = publish_permuted(
            engine,
            table.spec,
            counted,
            plan,
            groups.choose,
            output,
            overwrite=overwrite,
            settings=table.settings,
            views=Views(view_statements, companion_views),
        )
    return ReleaseResult(release)


@dataclass(frozen=True, eq=False)
class _Groups:
    """How groups are found, once the rows are held."""

    table: Table
    reporter: Reporter
    counted: FrequencySet
    plan: PermutedPlan
    strategy: PartitionStrategy
    first: GroupRequirement | None
    merge_failing: bool
    near: list[int]
    recoding: RecodingResult | None

    def choose(self, held: HeldRows) -> Chosen:
        """The groups of held rows."""
        column, rows, classes, codes = held.sensitive, None, None, None
        if self.strategy is PartitionStrategy.RECODING:
            classes = self._classes(held)
            if (classes == SUPPRESSED).any():
                rows = np.flatnonzero(classes != SUPPRESSED)
                column, classes = some_rows(column, rows), classes[rows]
        elif self.strategy is PartitionStrategy.QI_AWARE:
            codes = coordinates_of(held.hierarchies, held.codes())[:, self.near]
        found = partition(
            column,
            self.plan.requirement,
            self.strategy,
            first=self.first,
            quasi_identifiers=codes,
            classes=classes,
            merge_failing=self.merge_failing,
            notice=self.reporter.notice,
        )
        return Chosen(found, rows)

    def _classes(self, held: HeldRows) -> NDArray[np.int64]:
        """The class of each row: of the recoding, or of the levels that quasi-identifiers are shown at."""
        codes = held.codes()
        if self.recoding is None:
            return classes_of_node(held.hierarchies, self.plan.node, codes)
        row_types = row_types_of_rows(self.counted, codes)
        return classes_of_recoding(self.recoding.recoding, row_types)


def _options(given: Mapping[str, Any]) -> tuple[PermutationOptions, dict[str, Any]]:
    """The options of a permuted release, and those of a recoding's own."""
    known = {field.name for field in fields(PermutationOptions)}
    named = {name: value for name, value in given.items() if value is not None and name in known}
    own = {name: value for name, value in given.items() if value is not None and name not in known}
    asked = PermutationOptions(**named)
    if own and not isinstance(asked.recoding, str):
        raise InputError(
            f"'{next(iter(own)).replace('_', '-')}' does not apply to the permutation model",
            allowed=", ".join(sorted(name.replace("_", "-") for name in known)),
        )
    return asked, own


def _strategy(asked: PermutationOptions) -> PartitionStrategy:
    name = asked.partition
    if name not in tuple(PartitionStrategy):
        raise InputError(f"partition '{name}'", allowed=", ".join(PartitionStrategy))
    found = PartitionStrategy(name)
    if asked.recoding is not None and found is not PartitionStrategy.RECODING:
        raise InputError(
            f"a recoding beside the partition '{name}'", allowed="a recoding with the partition 'recoding'"
        )
    return found


def _near(asked: PermutationOptions, strategy: PartitionStrategy, names: list[str]) -> list[int]:
    """The places of the quasi-identifiers that groups are cut along."""
    if asked.near is None:
        return list(range(len(names)))
    if strategy is not PartitionStrategy.QI_AWARE:
        raise InputError(f"near beside the partition '{strategy}'", allowed="with --partition qi-aware")
    unknown = [name for name in asked.near if name not in names]
    if unknown or not asked.near:
        fact = f"'{unknown[0]}' is not a quasi-identifier" if unknown else "near names no quasi-identifier"
        raise InputError(fact, allowed=", ".join(names))
    return sorted({names.index(name) for name in asked.near})


def _recoding(
    table: Table,
    reporter: Reporter,
    asked: PermutationOptions,
    strategy: PartitionStrategy,
    attribute: str,
    k: int | None,
    l: int | Mapping[str, int] | None,
    max_suppressed: str | int | None,
    own: Mapping[str, Any],
) -> RecodingResult | None:
    """The recoding whose classes are the groups; by default k values of the attribute in every class."""
    if strategy is not PartitionStrategy.RECODING:
        if l is not None or max_suppressed is not None:
            name = "l" if l is not None else "max-suppressed"
            raise InputError(f"{name} beside the partition '{strategy}'", allowed="with --partition recoding")
        return None
    if isinstance(asked.recoding, RecodingResult):
        refuse_class_test(asked.recoding.recoding.class_test)
        return asked.recoding
    if asked.recoding is None:
        return None
    from discreet.workbench.modeling import recode_model

    return recode_model(
        table,
        reporter,
        asked.recoding,
        k=k,
        l={attribute: k} if l is None and k is not None else l,
        max_suppressed=max_suppressed,
        options=own,
    )


def _sensitive(table: Table, name: str | None) -> str:
    """The attribute to permute: the one that is named, or the only one there is."""
    names = [attribute.name for attribute in table.spec.sensitive]
    if not names:
        raise InputError(
            f"{table.spec.label} names no sensitive attribute, so there is nothing to permute",
            advice='Give an attribute role = "sensitive".',
        )
    if name is None and len(names) > 1:
        raise InputError(
            "one sensitive attribute is permuted, and the spec has several",
            allowed=", ".join(names),
            advice="Name it by --sensitive; the others are left out of the release.",
        )
    if name is not None and name not in names:
        raise InputError(f"'{name}' is not a sensitive attribute", allowed=", ".join(names))
    return name or names[0]


def _node(counted: FrequencySet, levels: Levels | None) -> LatticeNode:
    lattice = lattice_of(counted)
    return lattice.bottom if levels is None else lattice.node_of(levels, lattice.bottom)


def _form(name: str) -> ReleaseForm:
    if name not in tuple(ReleaseForm):
        raise InputError(f"form '{name}'", allowed=", ".join(ReleaseForm))
    return ReleaseForm(name)


def _whole(k: int | None) -> int:
    if k is None or isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InputError(
            "no k was asked" if k is None else f"k = {k}",
            allowed="a whole number: the least distinct values of a group",
        )
    return k


def _first(
    given: tuple[int, int | float | str | Decimal] | None, requirement: GroupRequirement
) -> GroupRequirement | None:
    """What is asked of the first group: no less than of the others, as every group must meet k and e."""
    if given is None:
        return None
    first = GroupRequirement(_whole(given[0]), exact_decimal("e", given[1]))
    if first.k < requirement.k or first.e < requirement.e:
        raise InputError(
            f"the first group is asked {first}, less than the others ({requirement})",
            allowed="a k and an e that are at least those of the others",
        )
    return first


def exact_decimal(name: str, value: object) -> Decimal:
    """A number of at least 0 as an exact decimal, a float by its shortest text; else ``InputError``."""
    if isinstance(value, int | float | str | Decimal) and not isinstance(value, bool):
        try:
            number = Decimal(str(value).strip())
        except ArithmeticError:
            number = Decimal("NaN")
        if number.is_finite() and number >= 0 and -18 <= int(number.as_tuple().exponent) <= 18:
            return number
    raise InputError(f"{name} = {value}", allowed=_NUMBER)
