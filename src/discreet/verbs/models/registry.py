"""The models there are, and a model from what a user wrote: its name, and its options by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.errors import InputError
from discreet.model.option import OptionKind, spelt
from discreet.model.registry import Registry
from discreet.verbs.addresses import Place
from discreet.verbs.models.base import Asked, Model
from discreet.verbs.opened_table import OpenedTable

if TYPE_CHECKING:
    from discreet.results.publication import ReleaseResult
    from discreet.verbs.reporting import Reporter


def _own() -> Iterable[type[Model]]:
    """Ours, in the order of forms and pages."""
    from discreet.verbs.models.full_domain import FullDomain
    from discreet.verbs.models.local import Local
    from discreet.verbs.models.mondrian import Mondrian, RelaxedMondrian
    from discreet.verbs.models.ordered_single import OrderedSingle
    from discreet.verbs.models.patterns import Patterns
    from discreet.verbs.models.permutation import Permutation
    from discreet.verbs.models.taxonomy import (
        AttributeSuppression,
        CellSuppression,
        FullSubgraph,
        FullSubtree,
        UnrestrictedMulti,
        UnrestrictedSingle,
    )

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


MODELS: Registry[type[Model]] = Registry("model", "discreet.models", Model, _own, lambda model: model.aliases)
"""Every recoding model by its name, and by its shorter one."""


def title_of(name: str) -> str:
    """What a release's model is called; the name itself of a model that is not installed here."""
    return MODELS.named(name).title if name in MODELS else name


def model_of(model: Model | str, given: Mapping[str, object] | None = None) -> Model:
    """A model from its name and its options by name, None being not given; a value stays what it is.

    A model that it names as an option is looked up too, and takes the options that the first does not have.
    ``InputError`` for a name that no model has, and for an option that the model does not know.
    """
    if isinstance(model, Model):
        inner = model.option_of(OptionKind.MODEL)
        named = None if inner is None else getattr(model, inner.name)
        return replace(model, **{inner.name: model_of(named)}) if inner and isinstance(named, str) else model
    kind = MODELS.named(model)
    known = {each.name for each in kind.options()}
    values = {name: value for name, value in (given or {}).items() if value is not None}
    others = {name: values.pop(name) for name in tuple(values) if name not in known}
    inner = kind.option_of(OptionKind.MODEL)
    if inner is not None and isinstance(values.get(inner.name), str):
        values[inner.name] = model_of(str(values[inner.name]), others)
    elif others:
        raise InputError(
            f"'{next(iter(others)).replace('_', '-')}' does not apply to the {kind.name} model",
            allowed=spelt(each.name for each in kind.options()),
        )
    return kind(**values)


def publish_model(
    table: OpenedTable, reporter: Reporter, model: Model | str, asked: Asked, place: Place
) -> ReleaseResult:
    """Search a recoding under a model and publish it (see ``Table.recode`` and ``Table.publish``).

    What can be refused is refused before any row is counted. ``LimitReached`` where the frequency set
    exceeds the memory limit and the model cannot leave the rows in their engine.
    """
    from discreet.results.publication import policy_of
    from discreet.verbs.publishing import check_target

    chosen = model_of(model)
    policy_of(place.suppressed)
    chosen.refuse_class_tests()
    if place.after and chosen.permuted:
        raise InputError(
            f"the {chosen.name} model beside an earlier release: its groups have no classes to lay together",
            advice="Choose a model that generalizes.",
        )
    check_target(table, place, permuted=chosen.permuted, kept=chosen.kept_files)
    return chosen.publish(table, asked, place, reporter)
