"""``discreet publish``: recode, write, audit, and only then deliver."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from discreet.cli import declared_options, options, output, relational
from discreet.cli.declared_options import MODEL_OPTIONS
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.model.criteria.base import Criterion
    from discreet.model.release_address import ReleaseAddress
    from discreet.model.request import Request
    from discreet.results.publish_result import ReleaseResult
    from discreet.verbs.table import Table

_Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        metavar="PATH",
        help="The release: .csv, .parquet, .sqlite, .sav, .zsav, .dta, .xpt "
        "(permutation: .csv, .parquet, .duckdb{folder_targets}).",
    ),
]
_IntoTable = Annotated[
    str | None,
    typer.Option(
        "--table",
        metavar="SCHEMA.NAME",
        help="Or a new table of the database that has the source: {table_targets}.",
    ),
]
_Level = Annotated[
    list[str] | None,
    typer.Option(
        "--level",
        metavar="ATTR=N",
        help="Publish at this level of ATTR (0 if not given) without negotiation; repeatable.",
    ),
]
_Accept = Annotated[
    str | None,
    typer.Option(
        "--accept",
        metavar="max_suppressed|height|CRITERION",
        help="Publish this relaxation if there is no exact answer: of the limit, of the height, or of a "
        "required criterion, by its name (k, l, t, …).",
    ),
]
_Suppressed = Annotated[
    str | None,
    typer.Option(
        "--suppressed", metavar="drop|star", help="Drop suppressed rows, or star every cell. [drop]"
    ),
]
_Order = Annotated[
    str | None,
    typer.Option(
        "--order",
        metavar="sorted|random",
        help="Rows sorted by their released cells, or in random order. [sorted]",
    ),
]

_After = Annotated[
    list[str] | None,
    typer.Option(
        "--after",
        metavar="RELEASE",
        help="An earlier release of the same rows: k and l also hold together with it; repeatable.",
    ),
]

_LockFile = Annotated[
    Path | None,
    typer.Option(
        "--lock",
        metavar="FILE",
        help="The decision: written if FILE is new, else read from it for any rows.",
    ),
]


def _complete_model(typed: str) -> list[str]:
    """Return the models that complete a word, for the shell."""
    from discreet.verbs.models.model_registry import MODELS

    return [name for name in MODELS.words() if name.startswith(typed)]


_Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        autocompletion=_complete_model,
        help="Model to search: each is named below, with its own options. [levels of least height, "
        "negotiated]",
    ),
]


def publish(
    context: typer.Context,
    spec: options.SpecPath,
    output_path: _Output = None,
    into_table: _IntoTable = None,
    level: _Level = None,
    k: options.KOption = None,
    l: options.LOption = None,
    max_suppressed: options.MaxSuppressed = None,
    max_level: options.MaxLevel = None,
    min_level: options.MinLevel = None,
    scope: options.ScopeOption = None,
    accept: _Accept = None,
    suppressed: _Suppressed = None,
    order: _Order = None,
    model: _Model = None,
    after: _After = None,
    lock: _LockFile = None,
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
    own_options, criteria = MODEL_OPTIONS.arguments(context), declared_options.parse_criteria(context)
    request_texts = _RequestTexts(k, l, max_suppressed, max_level, min_level, criteria)
    chosen = _ModelOptions(model, level, scope, accept)
    if relational.names_related_tables(spec):
        further = {
            "table": into_table,
            "suppressed": suppressed,
            "order": order,
            "after": after,
            "lock": lock,
        }
        arguments = {**own_options, **request_texts._asdict(), **chosen._asdict(), **further}
        limits = (threads, memory_limit)
        return relational.publish_related(
            spec, output_path, arguments, overwrite=overwrite, json=json, limits=limits
        )
    write_options = {
        "suppressed": suppressed or "drop",
        "order": order,
        "overwrite": overwrite,
        "after": tuple(after or ()),
    }
    wish = _PublishTexts(
        request_texts, chosen, own_options, _parse_target(output_path, into_table), write_options
    )
    table = options.open_table_of_spec(spec, threads, memory_limit)
    result = _publish_by_model(table, wish) if lock is None else _publish_by_lock(table, lock, wish)
    _print_release(result, spec, wish.target, json=json)
    return 0


def _parse_target(output_path: Path | None, into_table: str | None) -> Path | ReleaseAddress:
    """Return the target of the release; exactly one of a file and a table is required."""
    from discreet.verbs.locations import parse_target

    return parse_target(output_path, into_table)


class _ModelOptions(NamedTuple):
    """Model by name (None: negotiated), and the options of a negotiation, as texts."""

    model: str | None
    level: list[str] | None
    scope: str | None
    accept: str | None


class _RequestTexts(NamedTuple):
    """Texts of a request's options, and the criteria in addition to k and l."""

    k: str | None
    l: list[str] | None
    max_suppressed: str | None
    max_level: list[str] | None
    min_level: list[str] | None
    criteria: tuple[Criterion, ...]

    def arguments(self) -> dict[str, Any]:
        """Return the parsed values."""
        return {
            "k": options.parse_k(self.k),
            "l": options.parse_l(self.l),
            "max_suppressed": self.max_suppressed,
            "max_level": options.parse_level_options("--max-level", self.max_level),
            "min_level": options.parse_level_options("--min-level", self.min_level),
            "criteria": self.criteria,
        }


class _PublishTexts(NamedTuple):
    """Everything that a publication needs: request, model with its own options, target, and write options."""

    request_texts: _RequestTexts
    chosen: _ModelOptions
    own_options: dict[str, list[str]]
    target: Path | ReleaseAddress
    write_options: dict[str, Any]


def _publish_by_lock(table: Table, lock: Path, wish: _PublishTexts) -> ReleaseResult:
    """Publish by the decision of an existing lock, or decide and write the lock."""
    from discreet.verbs.locations import PublishTarget
    from discreet.verbs.recorded_decisions import check_lock, publish_and_lock, publish_locked

    request_texts, chosen, own_options, target, write_options = wish
    check_lock(table, PublishTarget(target, **write_options), lock)
    if lock.exists():
        arguments = {
            **own_options,
            **request_texts._asdict(),
            **chosen._asdict(),
            "order": write_options["order"],
            "after": write_options["after"],
        }
        arguments["suppressed"] = write_options["suppressed"] != "drop"
        _refuse_beside_lock(lock, arguments)
        return publish_locked(table, lock, target, overwrite=write_options["overwrite"])
    _refuse_options(
        "a lock contains levels, and other models search each table again", model=chosen.model, **own_options
    )
    levels, request = _levels_and_request(table, wish)
    return publish_and_lock(
        table, request, PublishTarget(target, **write_options), lock, levels=levels, accept=chosen.accept
    )


def _refuse_beside_lock(lock: Path, arguments: dict[str, Any]) -> None:
    """Raise if an option would change the decision of the lock."""
    for name, value in arguments.items():
        if value:
            option = f"--{name.replace('_', '-')}"
            raise InputError(
                f"{option} cannot change the decision of {lock}",
                allowed="--output or --table, and --overwrite",
                advice=f"Leave out {option}, or give a new lock.",
            )


def _publish_by_model(table: Table, wish: _PublishTexts) -> ReleaseResult:
    """Publish by a model; ``InputError`` for an option that does not apply to it."""
    request_texts, chosen, own_options, target, write_options = wish
    model, level, scope, accept = chosen
    if model is None:
        _refuse_options("applies to a --model, and none is given", **own_options)
        return _publish_node(table, wish)
    if level and declared_options.model_declares(model, "level"):
        own_options, level = {**own_options, "level": level}, None
    _refuse_options(f"--model {model} does not negotiate", level=level, accept=accept, scope=scope)
    target_arguments = {"output": target} if isinstance(target, Path) else {"table": target.table}
    made = declared_options.parse_model(model, own_options)
    release: ReleaseResult = table.publish(
        made, **target_arguments, **request_texts.arguments(), **write_options
    )
    return release


def _print_release(result: ReleaseResult, spec: Path, target: Path | ReleaseAddress, *, json: bool) -> None:
    """Print the release, and the command that audits it; the address of a database is never printed."""
    if json:
        output.print_json(result.as_json())
        return
    output.print_document(result.document())
    again = f"env:DATABASE --table {output.quote_for_shell(str(result.address.table))}"
    command = output.quote_for_shell(target) if isinstance(target, Path) else again
    spec_option = f" --spec {output.quote_for_shell(spec)}" if result.asks_original else ""
    output.print_commands("To check it again:", f"discreet audit {command}{spec_option}")


def _publish_node(table: Table, wish: _PublishTexts) -> ReleaseResult:
    """Publish the given levels, or else the answer to the request."""
    from discreet.verbs.locations import PublishTarget
    from discreet.verbs.release_publication import publish_levels, publish_request

    levels, request = _levels_and_request(table, wish)
    publish_target = PublishTarget(wish.target, **wish.write_options)
    if levels:
        return publish_levels(table, levels, request, publish_target)
    return publish_request(table, request, publish_target, accept=wish.chosen.accept)


def _levels_and_request(table: Table, wish: _PublishTexts) -> tuple[dict[str, int], Request]:
    """Return the given levels, and the request; levels exclude the options of a negotiation."""
    request_texts, (_, level, scope, accept) = wish.request_texts, wish.chosen
    levels = options.parse_level_options("--level", level)
    if levels:
        _refuse_beside_levels(
            accept=accept, max_level=request_texts.max_level, min_level=request_texts.min_level, scope=scope
        )
    return levels, options.parse_request(table, *request_texts, scope)


def _refuse_options(reason: str, **arguments: object) -> None:
    """Raise if an option is given that does not apply to the model."""
    for name, value in arguments.items():
        if value is not None and value != []:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option}: {reason}", advice=f"Leave out {option}, or choose another --model.")


def _refuse_beside_levels(**arguments: object) -> None:
    """Raise if an option of a negotiation is given together with --level."""
    for name, value in arguments.items():
        if value:
            option = f"--{name.replace('_', '-')}"
            raise InputError(
                f"{option} cannot be combined with --level",
                allowed="levels by --level, or a request with --max-level, --min-level, --scope and --accept",
                advice=f"Leave out --level or {option}.",
            )
