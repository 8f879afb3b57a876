"""Publishing an answer, levels, what a request is answered with, or a recoding by classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import LimitReached
from discreet.lattice.evaluate import lattice_of
from discreet.model.recoding import FullDomainRecoding, SuppressionPolicy
from discreet.model.release_address import ReleaseAddress
from discreet.model.request import Request
from discreet.model.table_spec import TableSpec
from discreet.places.kept_files import KeptFile
from discreet.release.deliveries import check_table_target
from discreet.release.publish import publish
from discreet.results.answers import AnswerResult
from discreet.results.lattice import TableLattice
from discreet.results.publication import (
    ReleaseResult,
    accepted_answer,
    answer_within_limit,
    node_of_levels,
    policy_of,
    relaxation_of,
    require_rows_left,
    suppressed_rows,
)
from discreet.results.requests import Levels
from discreet.search.fact_table import is_counted_there
from discreet.verbs.addresses import Place, ReleasePlace
from discreet.verbs.class_warnings import TOO_LARGE, ClassParts, publish_warnings
from discreet.verbs.earlier_releases import EarlierReleases
from discreet.verbs.opened_table import OpenedTable
from discreet.verbs.outputs import check_release
from discreet.verbs.registered import beside_registered, beside_untold
from discreet.verbs.stored_levels import stored_levels
from discreet.verbs.survey_shares import untold_weights, weight_warnings

if TYPE_CHECKING:
    from discreet.results.recodings import RecodingResult


@dataclass(frozen=True)
class _Way:
    """How a release is written: where, its suppressed rows, and its spec with the order asked."""

    output: Path | ReleaseAddress
    policy: SuppressionPolicy
    spec: TableSpec
    overwrite: bool

    @classmethod
    def of(cls, table: OpenedTable, place: Place) -> _Way:
        """Of what was asked; ``InputError`` for what there is not."""
        spec = table.spec.with_order(place.order)
        return cls(place.output, policy_of(place.suppressed), spec, place.overwrite)


def check_target(
    table: OpenedTable, place: Place, *, permuted: bool = False, kept: Sequence[KeptFile] = ()
) -> None:
    """Check where a release goes before any row is counted, as key files are written while rows are read.

    Args:
        permuted: whether help tables belong to the release.
        kept: files of the model's options.

    Raises:
        InputError: a release that would replace a file of the publisher, or that may not become a table of
            the database. Formats of files are checked where they are written, as they depend on the model.
    """
    output = place.output
    check_release(table.spec, table.settings, place, permuted=permuted, kept=kept)
    if isinstance(output, ReleaseAddress) and output.in_database:
        with table.engine("Checking the target") as engine:
            check_table_target(engine, table.spec, output, overwrite=place.overwrite)


def publish_answer(
    table: OpenedTable,
    answer: AnswerResult | None,
    place: Place,
) -> ReleaseResult:
    """Publish one answer of a negotiation; ``NoSolution`` where there is none or where it leaves no row."""
    way = _Way.of(table, place)
    check_target(table, place)
    found = require_rows_left(answer)
    return _write(table, found, way, _beside(table, place.after, found))


def publish_levels(
    table: OpenedTable,
    levels: Levels,
    request: Request,
    place: Place,
) -> ReleaseResult:
    """Publish at given levels; the request says k, l, the limit and the least levels.

    Where the frequency set exceeds the memory limit, the table stays in its engine, or ``LimitReached`` is
    raised where the engine does not count all that is asked. ``NoSolution`` where the
    levels suppress more rows than the limit.
    """
    way = _Way.of(table, place)
    check_target(table, place)
    requirement = request.requirement
    try:
        frequency_set = table.counted_for(requirement)
    except LimitReached:
        if place.after or not is_counted_there(requirement):
            raise
        return _publish_stored(table, levels, request, way)
    lattice = lattice_of(frequency_set)
    node = node_of_levels(lattice, levels, request.min_level)
    number = suppressed_rows(frequency_set, node, requirement)
    answer = require_rows_left(answer_within_limit(lattice, node, request, number, frequency_set.rows))
    return _write(table, answer, way, _beside(table, place.after, answer))


def publish_request(
    table: OpenedTable,
    request: Request,
    place: Place,
    *,
    accept: str | None = None,
) -> ReleaseResult:
    """Publish a request's exact answer, or else the relaxation that ``accept`` names.

    ``NoSolution`` where there is neither; nothing is written then. With earlier releases (``after``) it is
    the lowest node within the request that is safe beside them, too.
    """
    way = _Way.of(table, place)
    relaxation = relaxation_of(accept, request.requirement)
    check_target(table, place)
    table.count_values()
    lattice = table.negotiable_lattice_for(request.requirement)
    answer = require_rows_left(accepted_answer(lattice.answer(request), relaxation))
    earlier = EarlierReleases.of(table, place.after, request.requirement)
    if earlier is not None:
        if relaxation is None and isinstance(lattice, TableLattice):
            answer = earlier.lowest(lattice, request)
        _require_safe(earlier, answer)
    return _write(table, answer, way, earlier)


def publish_recoding(
    table: OpenedTable,
    result: RecodingResult,
    place: Place,
) -> ReleaseResult:
    """Publish a recoding by classes; ``InputError`` where the output may not be written.

    ``InternalError`` where a class is counted to fail as it is applied: nothing is written then.
    """
    way = _Way.of(table, place)
    recoding = replace(result.recoding, suppression=way.policy)
    check_target(table, place)
    earlier = EarlierReleases.of(table, place.after, recoding.requirement)
    frequency_set = table.counted_for(recoding.requirement)
    if earlier is not None:
        earlier.require_safe(earlier.classes_of(recoding), recoding.requirement)
    beside = beside_registered(
        table, frequency_set, way.output, recoding.requirement, lambda one: one.classes_of(recoding)
    )
    weights = weight_warnings(table, frequency_set, lambda one: one.classes_of(recoding))
    parts = ClassParts.of_recoding(frequency_set, recoding)
    people = publish_warnings(table, parts, recoding.requirement)
    with table.engine("Writing and auditing") as engine:
        release = publish(
            engine,
            way.spec,
            frequency_set,
            recoding,
            way.output,
            overwrite=way.overwrite,
            settings=table.settings,
            summary=result.facts.summary,
            usefulness=result.facts.usefulness,
            after=() if earlier is None else earlier.digests,
            further=(*people, *weights),
        )
    return ReleaseResult(release, recoding=result.facts, beside=beside)


def _publish_stored(
    table: OpenedTable,
    levels: Levels,
    request: Request,
    way: _Way,
) -> ReleaseResult:
    """Publish at given levels from a star schema in the engine."""
    with stored_levels(table, levels, request) as stored:
        answer = stored.answer
        release = publish(
            stored.engine,
            way.spec,
            stored.facts,
            _recoding_of(answer, way.policy),
            way.output,
            overwrite=way.overwrite,
            settings=table.settings,
            expected_suppressed=answer.suppressed,
            further=(*publish_warnings(table, None, request.requirement, TOO_LARGE), *untold_weights(table)),
        )
    return ReleaseResult(release, answer, beside=beside_untold(table, way.output))


def _beside(
    table: OpenedTable, after: Sequence[ReleasePlace], answer: AnswerResult
) -> EarlierReleases | None:
    """The earlier releases, beside which the answer is safe; ``RequirementNotMet`` where it is not."""
    earlier = EarlierReleases.of(table, after, answer.answer.requirement)
    if earlier is not None:
        _require_safe(earlier, answer)
    return earlier


def _require_safe(earlier: EarlierReleases, answer: AnswerResult) -> None:
    asked = answer.answer.requirement
    earlier.require_safe(earlier.classes_at(answer.answer.node, asked), asked)


def _recoding_of(answer: AnswerResult, policy: SuppressionPolicy) -> FullDomainRecoding:
    return FullDomainRecoding(
        answer.lattice.attributes, answer.answer.node, answer.answer.requirement, policy
    )


def _write(
    table: OpenedTable,
    answer: AnswerResult,
    way: _Way,
    earlier: EarlierReleases | None,
) -> ReleaseResult:
    recoding = _recoding_of(answer, way.policy)
    asked = recoding.requirement
    frequency_set = table.counted_for(asked)
    beside = beside_registered(
        table, frequency_set, way.output, asked, lambda one: one.classes_at(recoding.node, asked)
    )
    weights = weight_warnings(table, frequency_set, lambda one: one.classes_at(recoding.node, asked))
    people = publish_warnings(table, ClassParts.at_node(frequency_set, recoding.node, asked), asked)
    with table.engine("Writing and auditing") as engine:
        release = publish(
            engine,
            way.spec,
            frequency_set,
            recoding,
            way.output,
            overwrite=way.overwrite,
            settings=table.settings,
            expected_suppressed=answer.suppressed,
            after=() if earlier is None else earlier.digests,
            further=(*people, *weights),
        )
    return ReleaseResult(release, answer, beside=beside)
