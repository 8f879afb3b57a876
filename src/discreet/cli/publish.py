"""``discreet publish``: recode, write, audit, and only then hand over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from discreet.cli import criterion_options, model_options, options, output, related_tables
from discreet.cli.model_options import MODEL_OPTIONS
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.model.criteria.base import Criterion
    from discreet.model.release_address import ReleaseAddress
    from discreet.model.request import Request
    from discreet.results.publication import ReleaseResult
    from discreet.verbs.table import Table

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        metavar="PATH",
        help="The release: .csv, .parquet, .sqlite, .sav, .zsav, .dta, .xpt "
        "(permutation: .csv, .parquet, .duckdb{folder_targets}).",
    ),
]
IntoTable = Annotated[
    str | None,
    typer.Option(
        "--table",
        metavar="SCHEMA.NAME",
        help="Or a new table of the database that has the source: {table_targets}.",
    ),
]
Level = Annotated[
    list[str] | None,
    typer.Option(
        "--level",
        metavar="ATTR=N",
        help="Publish at this level of ATTR (0 where not named) and negotiate nothing; repeatable.",
    ),
]
Accept = Annotated[
    str | None,
    typer.Option(
        "--accept",
        metavar="max_suppressed|height|CRITERION",
        help="Publish this relaxation where there is no exact answer: of the limit, of the height, or of a "
        "criterion that was required, by its name (k, l, t, …).",
    ),
]
Suppressed = Annotated[
    str | None,
    typer.Option(
        "--suppressed", metavar="drop|star", help="Leave suppressed rows out, or star every cell. [drop]"
    ),
]
Order = Annotated[
    str | None,
    typer.Option(
        "--order",
        metavar="sorted|random",
        help="Rows by what they show, or in an order that is drawn. [sorted]",
    ),
]

After = Annotated[
    list[str] | None,
    typer.Option(
        "--after",
        metavar="RELEASE",
        help="An earlier release of the same rows: k and l hold beside it, too; repeatable.",
    ),
]

LockFile = Annotated[
    Path | None,
    typer.Option(
        "--lock",
        metavar="FILE",
        help="The decision: written where FILE is new, else taken from it, whatever the rows are.",
    ),
]


def _models(typed: str) -> list[str]:
    """The models that a shell may complete what is typed to."""
    from discreet.verbs.models.registry import MODELS

    return [name for name in MODELS.words() if name.startswith(typed)]


Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        autocompletion=_models,
        help="Model to search: each is named below, with its own options. [levels of least height, "
        "negotiated]",
    ),
]


def publish(
    context: typer.Context,
    spec: options.SpecPath,
    output_path: Output = None,
    into_table: IntoTable = None,
    level: Level = None,
    k: options.K = None,
    l: options.L = None,
    max_suppressed: options.MaxSuppressed = None,
    max_level: options.MaxLevel = None,
    min_level: options.MinLevel = None,
    scope: options.Scope = None,
    accept: Accept = None,
    suppressed: Suppressed = None,
    order: Order = None,
    model: Model = None,
    after: After = None,
    lock: LockFile = None,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Recode, write, audit, and only then hand over.

    Either levels (--level) or a request; only its exact answer is published unless --accept names a
    relaxation. Options that are left out come from the spec's [request]. Where nothing meets the request,
    nothing is written and the exit status is 3. With --model another recoding is searched and published.
    With --lock later rows are published by the same decision, or not at all. A relational spec (tables, keys)
    is published into a folder.
    """
    own, criteria = MODEL_OPTIONS.given(context), criterion_options.asked(context)
    asked = _Asked(k, l, max_suppressed, max_level, min_level, criteria)
    chosen = _Chosen(model, level, scope, accept)
    if related_tables.is_relational(spec):
        further = {
            "table": into_table,
            "suppressed": suppressed,
            "order": order,
            "after": after,
            "lock": lock,
        }
        given = {**own, **asked._asdict(), **chosen._asdict(), **further}
        limits = (threads, memory_limit)
        return related_tables.publish(spec, output_path, given, overwrite=overwrite, json=json, limits=limits)
    how = {
        "suppressed": suppressed or "drop",
        "order": order,
        "overwrite": overwrite,
        "after": tuple(after or ()),
    }
    wish = _Wish(asked, chosen, own, _target(output_path, into_table), how)
    table = options.opened(spec, threads, memory_limit)
    result = _published(table, wish) if lock is None else _by_lock(table, lock, wish)
    _show(result, spec, wish.target, json=json)
    return 0


def _target(output_path: Path | None, into_table: str | None) -> Path | ReleaseAddress:
    """Where the release goes; exactly one of a file and a table."""
    from discreet.verbs.addresses import target_of

    return target_of(output_path, into_table)


class _Chosen(NamedTuple):
    """The model by its name (None: negotiated), and what a negotiation is told of levels, as texts."""

    model: str | None
    level: list[str] | None
    scope: str | None
    accept: str | None


class _Asked(NamedTuple):
    """The texts of a request's options, and the criteria beside k and l."""

    k: str | None
    l: list[str] | None
    max_suppressed: str | None
    max_level: list[str] | None
    min_level: list[str] | None
    criteria: tuple[Criterion, ...]

    def given(self) -> dict[str, Any]:
        """Their values."""
        return {
            "k": options.k_of(self.k),
            "l": options.l_of(self.l),
            "max_suppressed": self.max_suppressed,
            "max_level": options.levels_of("--max-level", self.max_level),
            "min_level": options.levels_of("--min-level", self.min_level),
            "criteria": self.criteria,
        }


class _Wish(NamedTuple):
    """What is to be published: the request, the model with its own options, where it goes, and how."""

    asked: _Asked
    chosen: _Chosen
    own: dict[str, list[str]]
    target: Path | ReleaseAddress
    how: dict[str, Any]


def _by_lock(table: Table, lock: Path, wish: _Wish) -> ReleaseResult:
    """Publish by the decision of a lock that is there, or decide and write it."""
    from discreet.verbs.addresses import Place
    from discreet.verbs.locking import check_lock, publish_and_lock, publish_locked

    asked, chosen, own, target, how = wish
    check_lock(table, Place(target, **how), lock)
    if lock.exists():
        given = {**own, **asked._asdict(), **chosen._asdict(), "order": how["order"], "after": how["after"]}
        given["suppressed"] = how["suppressed"] != "drop"
        _refuse_locked(lock, given)
        return publish_locked(table, lock, target, overwrite=how["overwrite"])
    _refuse("a lock holds levels, and other models decide anew for each table", model=chosen.model, **own)
    levels, request = _levels_and_request(table, wish)
    return publish_and_lock(table, request, Place(target, **how), lock, levels=levels, accept=chosen.accept)


def _refuse_locked(lock: Path, given: dict[str, Any]) -> None:
    """Raise where an option asks what the lock has decided."""
    for name, value in given.items():
        if value:
            option = f"--{name.replace('_', '-')}"
            raise InputError(
                f"{option} beside {lock}, which has decided",
                allowed="--output or --table, and --overwrite",
                advice=f"Leave out {option}, or name a new lock.",
            )


def _published(table: Table, wish: _Wish) -> ReleaseResult:
    """Publish under a model; an option that does not go with it is refused."""
    asked, chosen, own, target, how = wish
    model, level, scope, accept = chosen
    if model is None:
        _refuse("goes with a --model, and none is named", **own)
        return _publish_node(table, wish)
    if level and model_options.declares(model, "level"):
        own, level = {**own, "level": level}, None
    _refuse(f"--model {model} negotiates nothing", level=level, accept=accept, scope=scope)
    place = {"output": target} if isinstance(target, Path) else {"table": target.table}
    made = model_options.model_of_texts(model, own)
    release: ReleaseResult = table.publish(made, **place, **asked.given(), **how)
    return release


def _show(result: ReleaseResult, spec: Path, target: Path | ReleaseAddress, *, json: bool) -> None:
    """Print the release, and the command that audits it; a database's address is never printed."""
    if json:
        output.print_json(result.as_json())
        return
    output.show(result.document())
    again = f"env:DATABASE --table {output.quoted(str(result.address.table))}"
    command = output.quoted(target) if isinstance(target, Path) else again
    beside = f" --spec {output.quoted(spec)}" if result.asks_original else ""
    output.show_commands("To check it again:", f"discreet audit {command}{beside}")


def _publish_node(table: Table, wish: _Wish) -> ReleaseResult:
    """Publish the levels that are given, or else what the request is answered with."""
    from discreet.verbs.addresses import Place
    from discreet.verbs.publishing import publish_levels, publish_request

    levels, request = _levels_and_request(table, wish)
    place = Place(wish.target, **wish.how)
    if levels:
        return publish_levels(table, levels, request, place)
    return publish_request(table, request, place, accept=wish.chosen.accept)


def _levels_and_request(table: Table, wish: _Wish) -> tuple[dict[str, int], Request]:
    """The levels that are given, and the request; with levels nothing of a negotiation is taken."""
    asked, (_, level, scope, accept) = wish.asked, wish.chosen
    levels = options.levels_of("--level", level)
    if levels:
        _refuse_beside_levels(
            accept=accept, max_level=asked.max_level, min_level=asked.min_level, scope=scope
        )
    return levels, options.request_for(table, *asked, scope)


def _refuse(why: str, **given: object) -> None:
    """Raise where an option was given that does not go with the model."""
    for name, value in given.items():
        if value is not None and value != []:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option}: {why}", advice=f"Leave out {option}, or choose another --model.")


def _refuse_beside_levels(**given: object) -> None:
    """Raise where an option of a request stands beside --level, which negotiates nothing."""
    for name, value in given.items():
        if value:
            option = f"--{name.replace('_', '-')}"
            raise InputError(
                f"{option} beside --level",
                allowed="levels by --level, or a request with --max-level, --min-level, --scope and --accept",
                advice=f"Leave out --level or {option}.",
            )
