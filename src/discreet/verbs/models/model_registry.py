"""Registry of the recoding models, and models built from what a user wrote: a name, and options by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.errors import InputError
from discreet.model.option import OptionKind, option_names
from discreet.model.registry import Registry
from discreet.model.release_kind import ReleaseUse
from discreet.verbs.locations import PublishTarget
from discreet.verbs.run_context import Reporter
from discreet.verbs.table_context import TableContext

if TYPE_CHECKING:
    from discreet.results.publish_result import ReleaseResult
from discreet.verbs.models.recoding_model import Model, RequestOptions


def _builtin_models() -> Iterable[type[Model]]:
    """Return the built-in models, in the order of forms and pages."""
    from discreet.verbs.models.generalization_models import (
        AttributeSuppression,
        CellSuppression,
        FullDomain,
        FullSubgraph,
        FullSubtree,
        Local,
        Mondrian,
        OrderedSingle,
        RelaxedMondrian,
        UnrestrictedMulti,
        UnrestrictedSingle,
    )
    from discreet.verbs.models.pattern_model import Patterns
    from discreet.verbs.models.permutation_model import Permutation

    return (
        FullDomain,
        Mondrian,
        RelaxedMondrian,
        Local,
        Patterns,
        Permutation,
        AttributeSuppression,
        FullSubtree,
        OrderedSingle,
        UnrestrictedSingle,
        FullSubgraph,
        UnrestrictedMulti,
        CellSuppression,
    )


MODELS: Registry[type[Model]] = Registry(
    "model", "discreet.models", Model, _builtin_models, lambda model: model.aliases
)
"""Registry of recoding models by name and by shorter name."""


def model_title(name: str) -> str:
    """Return the title of a release's model; the name if the model is not installed."""
    return MODELS.named(name).title if name in MODELS else name


def resolve_model(model: Model | str, options: Mapping[str, object] | None = None) -> Model:
    """Build a model from its name and its options by name (None: not given); return a model unchanged.

    An inner model that is given by name is resolved too, and gets the options that the outer model does not
    have. Raises ``InputError`` for an unknown name, and for an unknown option of the model.
    """
    if isinstance(model, Model):
        inner = model.option_of(OptionKind.MODEL)
        named = None if inner is None else getattr(model, inner.name)
        return (
            replace(model, **{inner.name: resolve_model(named)})
            if inner and isinstance(named, str)
            else model
        )
    kind = MODELS.named(model)
    known = {each.name for each in kind.options()}
    values = {name: value for name, value in (options or {}).items() if value is not None}
    others = {name: values.pop(name) for name in tuple(values) if name not in known}
    inner = kind.option_of(OptionKind.MODEL)
    if inner is not None and isinstance(values.get(inner.name), str):
        values[inner.name] = resolve_model(str(values[inner.name]), others)
    elif others:
        raise InputError(
            f"'{next(iter(others)).replace('_', '-')}' does not apply to the {kind.name} model",
            allowed=option_names(each.name for each in kind.options()),
        )
    return kind(**values)


def publish_model(
    table: TableContext,
    reporter: Reporter,
    model: Model | str,
    request_options: RequestOptions,
    target: PublishTarget,
) -> ReleaseResult:
    """Search a recoding under a model and publish it (see ``Table.recode`` and ``Table.publish``).

    Invalid requests are refused before any row is counted. Raises ``LimitReached`` if the frequency set
    exceeds the memory limit and the model cannot run in the engine.
    """
    from discreet.results.publish_result import parse_suppression_policy
    from discreet.verbs.release_publication import check_publish_target

    chosen = resolve_model(model)
    parse_suppression_policy(target.suppressed_rows)
    chosen.refuse_class_tests()
    if target.previous_releases:
        chosen.release_kind.require_support(ReleaseUse.COMBINE, chosen.name)
    check_publish_target(table, target, kind=chosen.release_kind, protected=chosen.kept_files)
    return chosen.publish(table, request_options, target, reporter)
