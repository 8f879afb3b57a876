"""``discreet publish``: recode, write, audit, and only then deliver."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from discreet.cli import declared_options, options, output, relational
from discreet.cli.declared_options import MODEL_OPTIONS
from discreet.cli.output import TerminalReporter

if TYPE_CHECKING:
    from discreet.model.request import Request
    from discreet.results.publish_result import ReleaseResult
    from discreet.verbs.locations import PublishTarget
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
        "--accept-relaxation",
        metavar="max_suppressed|height|CRITERION",
        help="Publish this relaxation if there is no exact answer: of the limit, of the height, or of a "
        "required criterion, by its name (k, l, t, …).",
    ),
]
_Suppressed = Annotated[
    str | None,
    typer.Option(
        "--suppressed-rows", metavar="drop|star", help="Drop suppressed rows, or star every cell. [drop]"
    ),
]
_Order = Annotated[
    str | None,
    typer.Option(
        "--row-order",
        metavar="sorted|random",
        help="Rows sorted by their released cells, or in random order. [sorted]",
    ),
]

_After = Annotated[
    list[str] | None,
    typer.Option(
        "--previous-release",
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
    spec: options.SpecPath,
    *,
    output_path: _Output = None,
    into_table: _IntoTable = None,
    level: _Level = None,
    texts: options.RequestTexts,
    scope: options.ScopeOption = None,
    accept_relaxation: _Accept = None,
    suppressed_rows: _Suppressed = None,
    row_order: _Order = None,
    model: _Model = None,
    previous_releases: _After = None,
    lock: _LockFile = None,
    overwrite: options.Overwrite = False,
) -> int:
    """Recode, write, audit, and only then hand over.

    Either levels (--level) or a request; only its exact answer is published unless --accept-relaxation
    names a relaxation. Options that are left out come from the spec's [request]. Where nothing meets the
    request, nothing is written and the exit status is 3. With --model another recoding is searched and
    published. With --lock later rows are published by the same decision, or not at all. A relational spec
    (tables, keys) is published into a folder.
    """
    own_options, chosen = MODEL_OPTIONS.arguments(), _ModelOptions(model, level, scope, accept_relaxation)
    if relational.names_related_tables(spec):
        further: dict[str, Any] = {
            "table": into_table,
            "suppressed_rows": suppressed_rows,
            "row_order": row_order,
        }
        further |= {"previous_releases": previous_releases, "lock": lock}
        return relational.publish_related(
            spec, output_path, own_options | _given(texts, chosen) | further, overwrite=overwrite
        )
    from discreet.verbs.locations import PublishTarget, parse_target

    target = PublishTarget(
        parse_target(output_path, into_table),
        suppressed_rows or "drop",
        overwrite,
        row_order,
        tuple(previous_releases or ()),
    )
    wish = _PublishTexts(texts, chosen, own_options, target)
    table = options.open_table_of_spec(spec)
    result = _publish_by_model(table, wish) if lock is None else _publish_by_lock(table, lock, wish)
    _print_release(result, spec)
    return 0


class _ModelOptions(NamedTuple):
    """Model by name (None: negotiated), and the options of a negotiation, as texts."""

    model: str | None
    level: list[str] | None
    scope: str | None
    accept_relaxation: str | None


def _given(texts: options.RequestTexts, chosen: _ModelOptions) -> dict[str, Any]:
    """Return the options of the request and of the model by name."""
    return {**texts._asdict(), "criteria": declared_options.parse_criteria(), **chosen._asdict()}


class _PublishTexts(NamedTuple):
    """Everything that a publication needs: request, model with its own options, and target."""

    texts: options.RequestTexts
    chosen: _ModelOptions
    own_options: dict[str, list[str]]
    target: PublishTarget


def _publish_by_lock(table: Table, lock: Path, wish: _PublishTexts) -> ReleaseResult:
    """Publish by the decision of an existing lock, or decide and write the lock."""
    from discreet.verbs.recorded_decisions import check_lock, publish_and_lock, publish_locked

    texts, chosen, own_options, target = wish
    check_lock(table, target, lock)
    if lock.exists():
        further = {
            "row_order": target.row_order,
            "previous_releases": target.previous_releases,
            "suppressed_rows": target.suppressed_rows != "drop",
        }
        options.refuse_given(
            own_options | _given(texts, chosen) | further,
            f"{{}} cannot change the decision of {lock}",
            allowed="--output or --table, and --overwrite",
            advice="Leave out {}, or give a new lock.",
        )
        return publish_locked(table, lock, target.output, overwrite=target.overwrite)
    _refuse_options(
        "a lock contains levels, and other models search each table again",
        {"model": chosen.model, **own_options},
    )
    levels, request = _levels_and_request(table, wish)
    return publish_and_lock(
        table, request, target, lock, levels=levels, accept_relaxation=chosen.accept_relaxation
    )


def _publish_by_model(table: Table, wish: _PublishTexts) -> ReleaseResult:
    """Publish by a model, or by levels without one; ``InputError`` for an option that does not apply."""
    texts, (model, level, scope, accept), own_options, target = wish
    if model is None:
        from discreet.verbs.release_publication import publish_levels, publish_request

        _refuse_options("applies to a --model, and none is given", own_options)
        levels, request = _levels_and_request(table, wish)
        if levels:
            return publish_levels(table, levels, request, target)
        return publish_request(table, request, target, accept_relaxation=accept)
    if level and declared_options.model_declares(model, "level"):
        own_options, level = {**own_options, "level": level}, None
    refused = {"level": level, "accept_relaxation": accept, "scope": scope}
    _refuse_options(f"--model {model} does not negotiate", refused)
    from discreet.verbs.models.model_registry import publish_model
    from discreet.verbs.models.recoding_model import RequestOptions

    made = declared_options.parse_model(model, own_options)
    return publish_model(table, TerminalReporter(), made, RequestOptions(**texts.keywords()), target)


def _print_release(result: ReleaseResult, spec: Path) -> None:
    """Print the release, and the command that audits it; the address of a database is never printed."""
    output.print_result(result)
    address = result.address
    command = f"env:DATABASE --table {output.quote_for_shell(str(address.table))}"
    if address.path is not None:
        command = output.quote_for_shell(address.path)
    spec_option = f" --spec {output.quote_for_shell(spec)}" if result.needs_original else ""
    output.print_commands("To check it again:", f"discreet audit {command}{spec_option}")


def _levels_and_request(table: Table, wish: _PublishTexts) -> tuple[dict[str, int], Request]:
    """Return the given levels, and the request; levels exclude the options of a negotiation."""
    texts, (_, level, scope, accept) = wish.texts, wish.chosen
    levels = options.parse_level_options("--level", level)
    if levels:
        options.refuse_given(
            {
                "accept_relaxation": accept,
                "max_level": texts.max_level,
                "min_level": texts.min_level,
                "scope": scope,
            },
            "{} cannot be combined with --level",
            allowed="levels by --level, or a request with --max-level, --min-level, --scope and "
            "--accept-relaxation",
            advice="Leave out --level or {}.",
        )
    return levels, options.parse_request(table, texts, scope)


def _refuse_options(reason: str, arguments: Mapping[str, object]) -> None:
    """Raise if an option is given that does not apply to the model."""
    options.refuse_given(arguments, f"{{}}: {reason}", advice="Leave out {}, or choose another --model.")
