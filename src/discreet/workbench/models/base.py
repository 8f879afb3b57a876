"""Recoding a table under any model of the taxonomy: which models there are, and what each may be told.

A model has the taxonomy's name, and some have a shorter one. An option that a model does not know is refused,
never ignored, and so are limits of levels where the model has no levels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError
from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.permuted_release import PERMUTATION
from discreet.model.request import Request, bounds_of
from discreet.workbench.recodings import RecodingResult
from discreet.workbench.reporting import Reporter
from discreet.workbench.requests import Levels, request_of

if TYPE_CHECKING:
    from discreet.mondrian.options import MondrianOptions
    from discreet.workbench.table import Table

ALIASES = {
    "mondrian": RecodingModel.ORDERED_MULTI,
    "relaxed-mondrian": RecodingModel.RELAXED_MULTI,
    "local": RecodingModel.CELL_GENERALIZATION,
}
PATTERNS = "patterns"
MONDRIAN = {RecodingModel.ORDERED_MULTI, RecodingModel.RELAXED_MULTI}
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "cut": ("median", "best"),
    "categorical": ("order", "hierarchy"),
    "tie": ("fewest-values", "first"),
    "method": ("greedy", "optimal"),
    "cost": ("c-dm", "c-avg"),
}


@dataclass(frozen=True)
class Found:
    """What a search found: the recoding, how its classes are shown, and what it tells of its work."""

    recoding: ClassRecoding
    summary: str | None = None
    work: tuple[tuple[str, str], ...] = ()
    evidence: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Search:
    """How a model's recoding is searched, the options that it knows, and the summaries that it can show."""

    run: Callable[[Table, Request, Mapping[str, Any], Reporter], Found]
    options: tuple[str, ...] = ()
    summaries: tuple[str, ...] = ()
    takes_levels: bool = False


def model_of(name: str) -> RecodingModel:
    """A model by the taxonomy's name or its shorter one; ``InputError`` for another."""
    if name in ALIASES:
        return ALIASES[name]
    if name not in tuple(RecodingModel):
        known = [*RecodingModel, *ALIASES, PATTERNS]
        raise InputError(
            f"model '{name}'",
            allowed=", ".join(known),
            advice="Permutation recodes nothing: it is published at once." if name == PERMUTATION else None,
        )
    return RecodingModel(name)


def recode_model(table: Table, reporter: Reporter, name: str, **asked: Any) -> RecodingResult:
    """A recoding under a model by its name, or guided by patterns; ``asked`` as in ``recode_table``."""
    if name == PATTERNS:
        from discreet.workbench.patterning import recode_by_patterns

        return recode_by_patterns(table, reporter, **asked)
    return recode_table(table, reporter, model_of(name), **asked)


def recode_table(
    table: Table,
    reporter: Reporter,
    model: RecodingModel,
    *,
    k: int | None = None,
    l: int | Mapping[str, int] | None = None,
    max_suppressed: str | int | None = None,
    max_level: Levels | None = None,
    min_level: Levels | None = None,
    options: Mapping[str, Any] | None = None,
) -> RecodingResult:
    """A recoding of a table under a model (see ``Table.recode``)."""
    search = search_of(model)
    given = given_options(model, options)
    request = request_of(
        table.spec, k=k, l=l, max_suppressed=max_suppressed, max_level=max_level, min_level=min_level
    )
    _check_levels(table, model, search, request, max_level, reporter)
    frequency_set = table.frequency_set
    found = search.run(table, request, given, reporter)
    return RecodingResult.of(
        frequency_set, found.recoding, found.summary, found.work, table.spec.numeric, found.evidence
    )


def search_of(model: RecodingModel) -> Search:
    """The search of a model."""
    if model in MONDRIAN:
        known = (
            ("cut", "categorical", "tie", "workload")
            if model is RecodingModel.ORDERED_MULTI
            else ("categorical", "tie")
        )
        return Search(_mondrian(model), known, ("ranges", "means", "sets", "lca"))
    if model is RecodingModel.CELL_GENERALIZATION:
        return Search(_local, ("effort", "seed", "time_budget"), ("lca", "ranges", "sets"), takes_levels=True)
    if model is RecodingModel.FULL_DOMAIN:
        return Search(_full_domain, takes_levels=True)
    if model is RecodingModel.ORDERED_SINGLE:
        return Search(_ordered_single, ("method", "cost", "time_limit"))
    return Search(_taxonomy(model))


def given_options(model: RecodingModel, options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options that are given; ``InputError`` for what the model does not know."""
    given = {name: value for name, value in (options or {}).items() if value is not None}
    _check_options(model, search_of(model), given)
    return given


def _check_options(model: RecodingModel, search: Search, given: Mapping[str, Any]) -> None:
    """Raise ``InputError`` for an option that the model does not know, or a value that the option has not."""
    known = (*search.options, *(("summary",) if search.summaries else ()))
    for name, value in given.items():
        if name not in known:
            raise InputError(
                f"'{_spelt(name)}' does not apply to the {model} model",
                allowed=", ".join(map(_spelt, known)) or "no option of its own",
            )
        choices = search.summaries if name == "summary" else _CHOICES.get(name)
        if choices is not None and value not in choices:
            raise InputError(f"{_spelt(name)} '{value}' of the {model} model", allowed=", ".join(choices))


def _check_levels(
    table: Table,
    model: RecodingModel,
    search: Search,
    request: Request,
    max_level: Levels | None,
    reporter: Reporter,
) -> None:
    """Raise ``InputError`` where levels are limited and the model has none."""
    if search.takes_levels:
        return
    raised = [name for name, level in request.min_level if level > 0]
    if raised or max_level:
        which = f"the least level of '{raised[0]}'" if raised else "a highest level"
        raise InputError(
            f"{which} is asked, but the {model} model has no levels in common",
            allowed="level limits with the full-domain and cell-generalization models",
            advice="Leave the limit out, or the values of the hierarchy that the limit is to forbid.",
        )
    if table.spec.request.max_level:
        reporter.notice(f"The highest levels in the spec's [request] do not bind the {model} model.")


def _spelt(name: str) -> str:
    return name.replace("_", "-")


def _mondrian(model: RecodingModel) -> Callable[[Table, Request, Mapping[str, Any], Reporter], Found]:
    def run(table: Table, request: Request, given: Mapping[str, Any], reporter: Reporter) -> Found:
        from discreet.mondrian.partition import partition

        options = mondrian_options(model, given)
        if "workload" in given:
            return _for_workload(table, request, Path(given["workload"]), options, reporter)
        with reporter.stage("Partitioning") as advance:
            recoding = partition(
                table.frequency_set,
                request.requirement,
                table.settings,
                options=options,
                notice=reporter.notice,
                progress=advance,
            )
        return Found(recoding, str(options.summary))

    return run


def mondrian_options(model: RecodingModel, given: Mapping[str, Any]) -> MondrianOptions:
    """What a Mondrian partition is told, of the options that its models know; a workload is no part of it."""
    from discreet.mondrian.options import MondrianOptions

    how = {name: value for name, value in given.items() if name != "workload"}
    return MondrianOptions(relaxed=model is RecodingModel.RELAXED_MULTI, **how)


def _for_workload(
    table: Table, request: Request, path: Path, options: MondrianOptions, reporter: Reporter
) -> Found:
    """Cuts at the ends of a workload's predicates first (``workload.partition``)."""
    from discreet.workbench.workloads import load_workload
    from discreet.workload.partition import partition_for

    queries, frequency_set = load_workload(path, table), table.frequency_set
    with reporter.stage("Partitioning for the workload") as advance:
        recoding = partition_for(
            queries, frequency_set, request.requirement, table.settings, options, progress=advance
        )
    return Found(recoding, str(options.summary), (("queries", f"{len(queries):,}"),))


def _local(table: Table, request: Request, given: Mapping[str, Any], reporter: Reporter) -> Found:
    from discreet.lattice.evaluate import lattice_of
    from discreet.local.recode import recode

    frequency_set = table.frequency_set
    lattice = lattice_of(frequency_set)
    how = {name: value for name, value in given.items() if name != "summary"}
    shown = given.get("summary", "lca")
    with reporter.stage("Recoding locally") as advance:
        found = recode(
            frequency_set,
            request.requirement,
            table.settings,
            min_node=lattice.node_of(request.min_level, lattice.bottom),
            max_node=lattice.node_of(request.max_level, lattice.top),
            limit=request.max_suppressed.of(frequency_set.rows),
            shown=shown,
            weights={a.name: a.weight for a in table.spec.quasi_identifiers},
            progress=advance,
            notice=reporter.notice,
            **how,
        )
    return Found(found.recoding, shown, (("rounds of improvement", f"{found.rounds:,}"),))


def _taxonomy(model: RecodingModel) -> Callable[[Table, Request, Mapping[str, Any], Reporter], Found]:
    def run(table: Table, request: Request, given: Mapping[str, Any], reporter: Reporter) -> Found:
        from discreet.taxonomy.searches import search

        del given
        frequency_set = table.frequency_set
        with reporter.stage(f"Recoding ({model})"):
            recoding = search(
                model,
                frequency_set,
                request.requirement,
                table.settings,
                limit=request.max_suppressed.of(frequency_set.rows),
                weights={a.name: a.weight for a in table.spec.quasi_identifiers},
            )
        return Found(recoding)

    return run


def least_loss_levels(table: Table, request: Request, reporter: Reporter) -> dict[str, int]:
    """The levels of the full-domain recoding of least loss within a request, or ``NoSolution``."""
    from discreet.lattice.evaluate import lattice_of
    from discreet.taxonomy.class_counts import ClassCounts
    from discreet.taxonomy.full_domain import least_loss_node

    frequency_set = table.frequency_set
    lattice = lattice_of(frequency_set)
    with reporter.stage("Looking for the node of least loss"):
        node = least_loss_node(
            frequency_set,
            ClassCounts(frequency_set, request.requirement),
            request.max_suppressed.of(frequency_set.rows),
            table.settings,
            {a.name: a.weight for a in table.spec.quasi_identifiers},
            bounds_of(lattice, request),
        )
    return lattice.levels_of(node)


def _full_domain(table: Table, request: Request, given: Mapping[str, Any], reporter: Reporter) -> Found:
    from discreet.lattice.evaluate import lattice_of
    from discreet.taxonomy.class_counts import ClassCounts
    from discreet.taxonomy.full_domain import full_domain

    del given
    frequency_set = table.frequency_set
    with reporter.stage("Recoding (full-domain)"):
        recoding = full_domain(
            frequency_set,
            ClassCounts(frequency_set, request.requirement),
            request.max_suppressed.of(frequency_set.rows),
            table.settings,
            {a.name: a.weight for a in table.spec.quasi_identifiers},
            bounds_of(lattice_of(frequency_set), request),
        )
    return Found(recoding)


def _ordered_single(table: Table, request: Request, given: Mapping[str, Any], reporter: Reporter) -> Found:
    """By the greedy of least loss, or at the least C_DM or C_AVG."""
    if given.get("method", "greedy") == "greedy":
        beside = next((name for name in ("cost", "time_limit") if name in given), None)
        if beside is not None:
            raise InputError(
                f"'{_spelt(beside)}' does not apply to the method 'greedy', which looks for the least loss",
                advice="Ask for the method 'optimal'.",
            )
        return _taxonomy(RecodingModel.ORDERED_SINGLE)(table, request, {}, reporter)
    from discreet.taxonomy.class_costs import ClassCost
    from discreet.taxonomy.optimal_single import TIME_LIMIT, Budget, optimal_single

    frequency_set = table.frequency_set
    with reporter.stage("Dividing at least cost") as advance:
        found = optimal_single(
            frequency_set,
            request.requirement,
            limit=request.max_suppressed.of(frequency_set.rows),
            cost=ClassCost(given.get("cost", ClassCost.C_DM)),
            budget=Budget(seconds=given.get("time_limit", TIME_LIMIT)),
            progress=advance,
            notice=reporter.notice,
        )
    name = {ClassCost.C_DM: "C_DM", ClassCost.C_AVG: "C_AVG"}[found.cost]
    work = (
        ("method", "optimal"),
        ("status", found.status),
        (name, f"{found.value:,.10g}"),
        ("no recoding of the model has less than", f"{found.bound:,.10g}"),
        ("nodes visited", f"{found.nodes:,}"),
    )
    return Found(found.recoding, None, work, found.as_json())
