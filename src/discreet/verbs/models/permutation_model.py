"""Permutation: quasi-identifiers stay exact, sensitive values are permuted within groups.

Zhang, Koudas, Srivastava and Yu (2007): every group has k distinct values whose range is e or more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from discreet.errors import InputError, InternalError
from discreet.model.criteria.base import Criterion
from discreet.model.option import OptionKind, option
from discreet.model.release_kind import GROUP_RELEASE, PERMUTATION, ReleaseForm
from discreet.model.search_result import SuppressionPolicy
from discreet.permutation.partition_strategies import PartitionStrategy
from discreet.results.recoding_result import RecodingResult
from discreet.results.request_defaults import LevelsByAttribute
from discreet.verbs.locations import PublishTarget
from discreet.verbs.models.recoding_model import TABLE_FILE_FORMATS, Model, RequestOptions
from discreet.verbs.table_context import TableContext

if TYPE_CHECKING:
    from discreet.model.frequency_set import FrequencySet
    from discreet.model.lattice import LatticeNode
    from discreet.model.release_kind import GroupRequirement
    from discreet.results.publish_result import ReleaseResult
    from discreet.verbs.run_context import Reporter

DecimalLike = int | float | str | Decimal
_ALLOWED_NUMBER = "a number such as 500 or 2.5"


def parse_first_group(option_name: str, text: str) -> tuple[int, str]:
    """Parse ``K,E``; raise ``InputError`` for another form."""
    match = re.fullmatch(r"\s*(\d{1,18})\s*,\s*([^,]+)", text, re.ASCII)
    if match is None:
        raise InputError(f"{option_name} {text}", allowed="K,E, such as 10,500")
    return int(match.group(1)), match.group(2)


@dataclass(frozen=True, kw_only=True)
class Permutation(Model):
    """Permutation: rows are divided into groups, and a sensitive attribute's values are permuted within each.

    Zhang, Koudas, Srivastava and Yu (2007): (k,e)-anonymity.

    ``e`` is the least range of a group's values, in the attribute's unit; the request's k is its least number
    of distinct values. With the partition ``recoding`` groups are the classes of a ``recoding``: a model, a
    model's name, or an existing recoding; without one, the classes of the published ``level``. ``near`` are
    the quasi-identifiers that ``qi-aware`` cuts along, best those of the expected queries. ``first_group`` is
    the k and e of the group with the smallest value.

    >>> table.publish(models.Permutation(e=500), "release.csv", k=10)  # doctest: +SKIP
    """

    name = PERMUTATION
    title = "Permutation"
    text = (
        "Quasi-identifiers stay exact; the sensitive values change places within groups. k counts distinct "
        "values."
    )
    main = True
    release_kind = GROUP_RELEASE
    takes_suppression = False
    takes_l = False
    formats = (*TABLE_FILE_FORMATS, ".duckdb")

    sensitive: str | None = option(
        None,
        kind=OptionKind.SENSITIVE,
        metavar="ATTR",
        help="the attribute to permute, where there are several",
        label="Attribute to permute",
    )
    e: DecimalLike = option(
        0,
        metavar="WIDTH",
        help="each group's values range over WIDTH or more",
        label="Least range of a group (e)",
        hint="in the attribute's unit",
    )
    partition: str = option(
        str(PartitionStrategy.MIN_SUM),
        choices=PartitionStrategy,
        help="how groups are found",
        label="Groups are found by",
    )
    cut_along: Sequence[str] | None = option(
        None,
        kind=OptionKind.QUASI_IDENTIFIERS,
        commas=False,
        repeatable=True,
        metavar="ATTR",
        shown="all",
        help="with the partition qi-aware, cut along ATTR, an attribute of the expected queries",
        label="Cut along",
        hint="attributes of the expected queries; all if none is given",
    )
    form: str = option(
        str(ReleaseForm.ONE_TABLE),
        choices=ReleaseForm,
        help="sensitive values with the other columns, or in a separate table",
        label="Written as",
    )
    level: LevelsByAttribute | None = option(
        None,
        kind=OptionKind.LEVELS,
        repeatable=True,
        metavar="ATTR=N",
        shown="0",
        help="the level that ATTR is shown at",
        label="Levels shown",
        hint="one per line, such as age=1; 0 where empty",
    )
    first_group: tuple[int, DecimalLike] | None = option(
        None,
        reads=parse_first_group,
        metavar="K,E",
        help="k and e of the group with the smallest value",
        label="First group",
        hint="of the group with the smallest value, such as 10,500",
    )
    recoding: Model | RecodingResult | str | None = option(
        None,
        kind=OptionKind.MODEL,
        metavar="MODEL",
        shown="--level's",
        help="with the partition recoding, the model whose classes are the groups",
        label="Classes of the model",
        hint="with the partition recoding; empty: of the levels shown",
    )
    merge_failing: bool = option(
        False,
        kind=OptionKind.FLAG,
        help="join classes that do not meet k and e into groups",
        label="Join classes that fail",
    )

    def __post_init__(self) -> None:
        """Raise ``InputError`` for a recoding or ``near`` with a partition that does not use it."""
        super().__post_init__()
        parse_exact_decimal("e", self.e)
        strategy = PartitionStrategy(self.partition)
        if self.recoding is not None and strategy is not PartitionStrategy.RECODING:
            raise InputError(
                f"a recoding cannot be combined with the partition '{strategy}'",
                allowed="a recoding with the partition 'recoding'",
            )
        if self.cut_along is not None and strategy is not PartitionStrategy.QI_AWARE:
            raise InputError(
                f"near cannot be combined with the partition '{strategy}'",
                allowed="with --partition qi-aware",
            )

    def publish(
        self, table: TableContext, request_options: RequestOptions, target: PublishTarget, reporter: Reporter
    ) -> ReleaseResult:
        """Partition, permute, write and audit; level bounds and stars do not apply.

        If subjects have several rows, k counts people with different values. Raises ``InputError`` for
        invalid options, such as a partition that cannot count people; ``NoSolution`` if no partition meets k
        and e.
        """
        from discreet.engines.delivery import ReleaseViews
        from discreet.model.frequency_set import drop_unneeded_subjects
        from discreet.model.release_kind import GroupRequirement
        from discreet.model.requirement import Requirement
        from discreet.queries.permuted_views import build_companion_views, build_view_statements
        from discreet.release.permuted_publication import PermutedPlan, publish_permuted
        from discreet.results.publish_result import ReleaseResult
        from discreet.verbs.class_warnings import group_warnings
        from discreet.verbs.models.permutation_groups import GroupSelection

        self._refuse(request_options, target)
        _refuse_criteria((*request_options.criteria, *table.spec.request.criteria))
        attribute, strategy = self._attribute(table), PartitionStrategy(self.partition)
        requirement = GroupRequirement(_check_k(request_options.k), parse_exact_decimal("e", self.e))
        # Values are read with the staged rows; only the classes of a recoding need them before.
        by_classes = strategy is PartitionStrategy.RECODING
        counted = drop_unneeded_subjects(
            table.frequency_set if by_classes else table.counted_for(Requirement())
        )
        plan = PermutedPlan(
            attribute,
            requirement,
            self._node(counted, table.spec.request.min_level),
            ReleaseForm(self.form),
            row_types=strategy in (PartitionStrategy.QI_AWARE, PartitionStrategy.RECODING),
            people=counted.subjects is not None,
        )
        found = self._recoded(table, request_options, attribute, reporter)
        groups = GroupSelection(
            counted=counted,
            plan=plan,
            strategy=strategy,
            first=self._first(requirement),
            merge_failing=self.merge_failing,
            cut_along=self._near([hierarchy.attribute for hierarchy in counted.hierarchies]),
            recoding=None if found is None else found.recoding,
            reporter=reporter,
        )
        spec = table.spec.with_order(target.row_order)
        person, further = group_warnings(table)
        with table.engine("Permuting, writing and auditing") as engine:
            release = publish_permuted(
                engine,
                spec,
                counted,
                plan,
                groups.choose,
                target.output,
                overwrite=target.overwrite,
                settings=table.settings,
                views=ReleaseViews(build_view_statements, build_companion_views),
                further=further,
                person=person,
            )
        return ReleaseResult(release)

    def _refuse(self, options: RequestOptions, target: PublishTarget) -> None:
        """Raise ``InputError`` for options without effect on a permuted release, before rows are counted."""
        refused = {"max-level": options.max_level, "min-level": options.min_level}
        name = next((name for name, value in refused.items() if value), None)
        if name is not None or target.suppressed_rows != SuppressionPolicy.DROP:
            raise InputError(
                f"{name or 'starred rows'} does not apply to the permutation model",
                allowed="levels to show, by level",
            )
        if self.partition != PartitionStrategy.RECODING and (
            options.l is not None or options.max_suppressed is not None
        ):
            name = "l" if options.l is not None else "max-suppressed"
            raise InputError(
                f"{name} cannot be combined with the partition '{self.partition}'",
                allowed="with --partition recoding",
            )

    def _recoded(
        self, table: TableContext, options: RequestOptions, attribute: str, reporter: Reporter
    ) -> RecodingResult | None:
        """Return the recoding whose classes are the groups; by default l of the attribute is k."""
        from discreet.release.publication import refuse_class_test

        result = self.recoding
        if isinstance(result, str):
            raise InternalError(f"the model '{result}' was not looked up")
        if isinstance(result, Model):
            l = {attribute: options.k} if options.l is None and options.k is not None else options.l
            result = result.recode(table, RequestOptions(options.k, l, options.max_suppressed), reporter)
        if result is not None:
            refuse_class_test(result.recoding.class_test)
        return result

    def _attribute(self, table: TableContext) -> str:
        """Return the attribute to permute: the named one, or the only sensitive one."""
        names = [attribute.name for attribute in table.spec.sensitive]
        if not names:
            raise InputError(
                f"{table.spec.label} has no sensitive attribute, so no column can be permuted",
                advice='Give an attribute role = "sensitive".',
            )
        if self.sensitive is None and len(names) > 1:
            raise InputError(
                "the model permutes one sensitive attribute, but the spec has several",
                allowed=", ".join(names),
                advice="Choose the one to permute; the release does not contain the others.",
            )
        if self.sensitive is not None and self.sensitive not in names:
            raise InputError(f"'{self.sensitive}' is not a sensitive attribute", allowed=", ".join(names))
        return self.sensitive or names[0]

    def _node(self, counted: FrequencySet, min_level: LevelsByAttribute) -> LatticeNode:
        """Return the levels to publish: the named ones, else the lowest ones of the spec."""
        from discreet.lattice.evaluation import build_lattice
        from discreet.results.publish_result import resolve_node

        return resolve_node(build_lattice(counted), self.level or {}, min_level)

    def _near(self, names: list[str]) -> list[int]:
        """Return the indexes of the quasi-identifiers that groups are cut along."""
        if self.cut_along is None:
            return list(range(len(names)))
        unknown = [name for name in self.cut_along if name not in names]
        if unknown or not self.cut_along:
            fact = (
                f"'{unknown[0]}' is not a quasi-identifier"
                if unknown
                else "near contains a name that is not a quasi-identifier"
            )
            raise InputError(fact, allowed=", ".join(names))
        return sorted({names.index(name) for name in self.cut_along})

    def _first(self, requirement: GroupRequirement) -> GroupRequirement | None:
        """Return the requirement of the first group; it must be at least the requirement of all groups."""
        from discreet.model.release_kind import GroupRequirement

        if self.first_group is None:
            return None
        first = GroupRequirement(_check_k(self.first_group[0]), parse_exact_decimal("e", self.first_group[1]))
        if first.k < requirement.k or first.e < requirement.e:
            raise InputError(
                f"the first group ({first}) has a weaker requirement than the others ({requirement})",
                allowed="a k and an e that are at least those of the others",
            )
        return first


def parse_exact_decimal(name: str, value: object) -> Decimal:
    """Parse a number of at least 0 as an exact decimal; raise ``InputError`` otherwise.

    A float is read by its shortest text.
    """
    if isinstance(value, int | float | str | Decimal) and not isinstance(value, bool):
        try:
            number = Decimal(str(value).strip())
        except ArithmeticError:
            number = Decimal("NaN")
        if number.is_finite() and number >= 0 and -18 <= int(number.as_tuple().exponent) <= 18:
            return number
    raise InputError(f"{name} = {value}", allowed=_ALLOWED_NUMBER)


def _refuse_criteria(criteria: Sequence[Criterion]) -> None:
    """Raise ``InputError`` for criteria of classes: groups are audited only for k and e."""
    if criteria:
        raise InputError(
            f"{criteria[0]} does not apply to a permuted release, whose groups have only k and e",
            allowed="k and e",
            advice="Leave it out, or choose another model.",
        )


def _check_k(k: int | None) -> int:
    if k is None or isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InputError(
            "no k was given" if k is None else f"k = {k}",
            allowed="a whole number: the least distinct values of a group",
        )
    return k
