"""Whether a saved answer or a release meets the request that is asked now, and why it does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.errors import DiscreetError
from discreet.model.request import Request
from discreet.results.published_classes import published_classes_meet
from discreet.verbs.auditing import audit
from discreet.verbs.opened_table import OpenedTable
from discreet.verbs.releases import ReleaseFacts
from discreet.web.request_words import requirement_words
from discreet.web.saved_answers import SavedAnswer
from discreet.web.workspace import Workspace


@dataclass(frozen=True)
class Meeting:
    """Whether a contender meets the present request; None where that cannot be told. ``why`` it does not."""

    meets: bool | None
    why: str | None = None


def meeting_of(
    workspace: Workspace, table: OpenedTable, each: SavedAnswer | ReleaseFacts, request: Request
) -> Meeting:
    """Compare a contender with a request: its levels, its suppressed rows, and its classes."""
    levels: Mapping[str, int] = each.levels if isinstance(each, SavedAnswer) else each.manifest.levels
    bounds = {*dict(request.max_level), *dict(request.min_level)}
    if not bounds <= set(levels):
        return Meeting(None, "its levels are not known")
    if any(levels[name] > most for name, most in request.max_level) or any(
        levels[name] < least for name, least in request.min_level
    ):
        return Meeting(False, "its levels are not those allowed")
    out = each.suppressed if isinstance(each, SavedAnswer) else each.manifest.suppressed
    limit = request.max_suppressed.of(table.frequency_set.rows)
    if out is None or out > limit:
        what = "an unknown number of rows" if out is None else f"{out:,} rows"
        return Meeting(None if out is None else False, f"{what} suppressed, {limit:,} allowed")
    try:
        met = (
            _answer_meets(table, each, request)
            if isinstance(each, SavedAnswer)
            else _release_meets(workspace, each, request)
        )
    except DiscreetError as error:
        return Meeting(None, error.message)
    if met is None:
        return Meeting(None, "its groups cannot be compared with the population")
    words = requirement_words(request.requirement)
    return Meeting(met, None if met else f"its groups do not all meet {words}")


def _answer_meets(table: OpenedTable, each: SavedAnswer, request: Request) -> bool | None:
    counted = table.frequency_set
    node = tuple(each.levels[name] for name in counted.attributes)
    return published_classes_meet(counted, node, each.request.request().requirement, request.requirement)


def _release_meets(workspace: Workspace, each: ReleaseFacts, request: Request) -> bool:
    requirement = request.requirement
    if dict(each.manifest.requirement) == requirement.as_json():
        return True
    found = audit(
        each.address,
        spec=workspace.spec(),
        k=requirement.k,
        l=requirement.l_as_json(),
        criteria=requirement.others,
        settings=workspace.settings,
    )
    return found.passed
