"""Publishing under a lock: the same decision every month, or a refusal that says what fails."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from pathlib import Path

from discreet.errors import InputError, NoSolution, RequirementNotMet
from discreet.lattice.evaluate import lattice_of
from discreet.model.criteria.registry import criteria_from
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import Given
from discreet.model.lattice import Lattice
from discreet.model.own_version import own_version
from discreet.model.release_address import ReleaseAddress
from discreet.model.request import Request
from discreet.places.kept_files import KeptFile, TargetFile
from discreet.printing.document import count, share
from discreet.release.evidence import given_of
from discreet.release.lock import MODEL, TOP, Lock, columns_of, read_lock, reading_of
from discreet.results.answers import AnswerResult
from discreet.results.publication import (
    ReleaseResult,
    accepted_answer,
    answer_within_limit,
    node_of_levels,
    relaxation_of,
    require_rows_left,
    suppressed_rows,
)
from discreet.results.requests import Levels
from discreet.verbs.addresses import Place
from discreet.verbs.files import check_new_file, write_text
from discreet.verbs.opened_table import OpenedTable
from discreet.verbs.outputs import check_release
from discreet.verbs.publishing import publish_answer


def publish_and_lock(
    table: OpenedTable,
    request: Request,
    place: Place,
    lock: Path,
    *,
    levels: Levels | None = None,
    accept: str | None = None,
) -> ReleaseResult:
    """Publish levels, or what a request is answered with, and write the decision into a new file ``lock``.

    ``InputError`` before anything is written where the file exists or the decision cannot be locked: a level
    between the lowest and the top of a hierarchy that is made of the data means another thing next month.
    ``NoSolution`` as without a lock.
    """
    relaxation = relaxation_of(accept, request.requirement)
    check_new_file(lock, overwrite=False)
    check_lock(table, place, lock)
    if levels:
        answer = _answer_at(table, levels, request)
    else:
        lattice = table.negotiable_lattice_for(request.requirement)
        answer = require_rows_left(accepted_answer(lattice.answer(request), relaxation))
    made = lock_of(table, answer, request, place.suppressed, place.order)
    release = publish_answer(table, answer, place)
    write_text(lock, made.text(), overwrite=False)
    return release


def publish_locked(
    table: OpenedTable, lock: Path, output: Path | ReleaseAddress, *, overwrite: bool = False
) -> ReleaseResult:
    """Publish these rows by the decision in ``lock``, at exactly its levels.

    ``InputError`` where the spec says something else of a column or the rows than it did; ``NoSolution``
    where the levels suppress more rows than were allowed, with the nearest relaxations of these rows;
    ``RequirementNotMet`` where the audit fails. Nothing is written then, the lock never.
    """
    check_lock(table, Place(output), lock)
    locked = read_lock(lock)
    request = _request_of(locked)
    place = Place(output, locked.suppressed, overwrite, locked.order, kept=(KeptFile("the lock", lock),))
    frequency_set = table.counted_for(request.requirement)
    _require_same_spec(locked, _lock(table, frequency_set, locked, request), lock)
    levels = _levels_now(locked, lattice_of(frequency_set))
    try:
        answer = _answer_at(table, levels, request)
    except NoSolution as error:
        raise _refusal(table, request, levels, frequency_set, lock) from error
    try:
        return publish_answer(table, answer, place)
    except RequirementNotMet as error:
        raise RequirementNotMet(f"the decision of {lock} does not hold of these rows: {error}") from error


def check_lock(table: OpenedTable, place: Place, lock: Path) -> None:
    """Raise ``InputError`` where a lock, or the release, is another file of the publisher."""
    check_release(table.spec, table.settings, place, further=(TargetFile("the lock", lock),))


def lock_of(
    table: OpenedTable, answer: AnswerResult, request: Request, suppressed: str, order: str | None
) -> Lock:
    """The lock of an answer; ``InputError`` where a level means nothing beyond these rows."""
    requirement = answer.answer.requirement
    frequency_set = table.counted_for(requirement)
    levels: dict[str, int | str] = {}
    sources = {a.name: a.hierarchy for a in table.spec.quasi_identifiers}
    for (name, level), top in zip(answer.levels.items(), answer.lattice.heights, strict=True):
        levels[name] = level
        if given_of(sources[name]) is Given.NOTHING and level > 0:
            if level < top:
                raise InputError(
                    f"level {level} of '{name}' cannot be locked: its hierarchy is made of the data",
                    allowed=f"a hierarchy that is given, or level 0 or {top} of '{name}'",
                    advice=f"Give '{name}' a hierarchy in the spec (docs/hierarchies.md). "
                    "Nothing was written.",
                )
            levels[name] = TOP
    limit = request.max_suppressed
    most = f"{limit}" if answer.suppressed <= limit.of(answer.rows) else _share_above(answer)
    return Lock(
        requirement.as_json(),
        most,
        suppressed,
        str(table.spec.with_order(order).request.order),
        levels,
        columns_of(table.spec, frequency_set.hierarchies),
        reading_of(table.spec),
        own_version(),
    )


def _share_above(answer: AnswerResult) -> str:
    """The suppressed share as a limit, rounded up to hundredths of a percent."""
    return f"{ceil(Fraction(10_000 * answer.suppressed, answer.rows)) / 100}%"


def _request_of(lock: Lock) -> Request:
    asked = dict(lock.requirement)
    k, l = asked.pop("k", None), asked.pop("l", None)
    criteria = criteria_from({name: value for name, value in asked.items() if value})
    return Request.of(k=k, l=l, max_suppressed=lock.max_suppressed, criteria=criteria)


def _lock(table: OpenedTable, frequency_set: FrequencySet, locked: Lock, request: Request) -> Lock:
    """The same decision with what the spec says now."""
    columns = columns_of(table.spec, frequency_set.hierarchies)
    told = (request.requirement.as_json(), locked.max_suppressed, locked.suppressed, locked.order)
    return Lock(*told, locked.levels, columns, reading_of(table.spec), locked.program)


def _require_same_spec(then: Lock, now: Lock, path: Path) -> None:
    differences = then.differences(now)
    if differences:
        raise InputError(
            f"{path} was written under another spec: {'; '.join(differences)}",
            allowed="the columns, roles and hierarchies that were decided on",
            advice="Restore the spec, or decide anew into a new lock. Nothing was written.",
        )


def _levels_now(lock: Lock, lattice: Lattice) -> dict[str, int]:
    """The levels of these rows' lattice; ``InputError`` for a quasi-identifier that the lock has not."""
    if set(lock.levels) != set(lattice.attributes):
        raise InputError("the lock's levels are not those of the spec's quasi-identifiers")
    tops = dict(zip(lattice.attributes, lattice.heights, strict=True))
    return {name: tops[name] if level == TOP else int(level) for name, level in lock.levels.items()}


def _answer_at(table: OpenedTable, levels: Levels, request: Request) -> AnswerResult:
    frequency_set = table.counted_for(request.requirement)
    lattice = lattice_of(frequency_set)
    node = node_of_levels(lattice, levels, request.min_level)
    number = suppressed_rows(frequency_set, node, request.requirement)
    return answer_within_limit(lattice, node, request, number, frequency_set.rows)


def _refusal(
    table: OpenedTable, request: Request, levels: dict[str, int], frequency_set: FrequencySet, path: Path
) -> NoSolution:
    """What fails of these rows, and the relaxations that are nearest to the locked levels."""
    lattice = lattice_of(frequency_set)
    node = lattice.node_of(levels, lattice.bottom)
    number, rows = suppressed_rows(frequency_set, node, request.requirement), frequency_set.rows
    wish = Request(request.requirement, request.max_suppressed, max_level=tuple(levels.items()))
    answers = table.negotiable_lattice_for(request.requirement).answer(wish).answers
    ways = "; ".join(_way(answer, levels) for answer in answers) or "none"
    return NoSolution(
        f"the decision of {path} ({MODEL}) suppresses {number:,} of {rows:,} rows ({share(number, rows)}) "
        f"for {request.requirement}",
        allowed=f"at most {count(request.max_suppressed.of(rows), 'row')} ({request.max_suppressed})",
        advice=f"Nothing was written. Nearest: {ways}. To take one, decide anew into a new lock.",
    )


def _way(answer: AnswerResult, levels: dict[str, int]) -> str:
    moved = [f"{name} {level}" for name, level in answer.levels.items() if level != levels[name]]
    where = f" at {', '.join(moved)}" if moved else " at the same levels"
    part = answer.relaxed or "exact"
    return f"{part}: {answer.answer.requirement}{where}, {answer.suppressed:,} rows suppressed"
