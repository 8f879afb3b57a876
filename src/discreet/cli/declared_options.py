"""Options declared by criteria, costs, models and attacks: flags, help sections, and their values.

A flag that several owners declare alike is one flag. Registries are loaded when a verb uses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.command import DeclaredFlag, DeclaredOptions, HelpSection, help_row
from discreet.errors import InputError
from discreet.model.criteria.base import Criterion, fixed_parameters
from discreet.model.option import Option, OptionKind
from discreet.printing.document import capitalize

if TYPE_CHECKING:
    from discreet.model.table_spec import TableSpec
    from discreet.verbs.models.recoding_model import Model
    from discreet.verbs.table_search import NamedCost


_PRESET_NAME = "preset"
_PartsByAttribute = dict[str | None, dict[str, Any]]
"""Fixed parts by attribute; None applies to all attributes of the criterion."""


def parse_criteria() -> tuple[Criterion, ...]:
    """Parse the criteria of the command line; ``InputError`` for an invalid value."""
    arguments = CRITERION_OPTIONS.arguments()
    if not arguments:
        return ()
    found = [one for kind in _criterion_kinds() for one in _read_criteria(kind, arguments)]
    return (*found, *(one for name in arguments.get(_PRESET_NAME, []) for one in _preset_criteria(name)))


def _preset_criteria(name: str) -> tuple[Criterion, ...]:
    """Return the criteria of a preset; ``InputError`` if it has none and so would require nothing."""
    from discreet.spec.preset import preset

    found = preset(name)
    if not found.criteria:
        raise InputError(
            f"--preset {name} has no numeric criterion: {found.note}",
            advice=f"Give k or another criterion, and give the report --checks {name}.",
        )
    return found.criteria


def _read_criteria(kind: type[Criterion], arguments: Mapping[str, list[str]]) -> Iterator[Criterion]:
    values = _read_values(kind, arguments.get(_criterion_name(kind), []))
    parts: _PartsByAttribute = {}
    for part in fixed_parameters(kind):
        texts = arguments.get(_part_name(kind, part), [])
        if texts and not values:
            raise InputError(f"{part.flag} without {kind.flag()}", advice=f"Give {kind.flag()}, too.")
        for attribute, value in _read_part(kind, part, texts, list(values)):
            parts.setdefault(attribute, {})[part.name] = value
    for attribute, value in values.items():
        yield kind(value, attribute, **parts.get(None, {}) | (parts.get(attribute, {}) if attribute else {}))


def _read_values(kind: type[Criterion], texts: Sequence[str]) -> dict[str | None, int | float]:
    """Return the values by attribute; the key None holds a value without an attribute."""
    flag, parameter = kind.flag(), kind.parameter
    if not any("=" in text for text in texts):
        if len(texts) > 1:
            several = f", or {flag} ATTR=VALUE once or more" if kind.of_attribute else ""
            raise InputError(f"{flag} {f' {flag} '.join(texts)}", allowed=f"one {flag} VALUE{several}")
        return {None: parameter.read(flag, texts[0])} if texts else {}
    result: dict[str | None, int | float] = {}
    for text in texts:
        attribute, _, number = text.rpartition("=")
        if not attribute or not kind.of_attribute:
            raise InputError(f"{flag} {text}", allowed=f"ATTR=VALUE, VALUE {parameter.allowed}")
        if attribute in result:
            raise InputError(f"{flag} names '{attribute}' twice", allowed="one value of each")
        result[attribute] = parameter.read(f"{flag} {attribute}", number)
    return result


def _read_part(
    kind: type[Criterion], part: Option, texts: Sequence[str], attributes: Sequence[str | None]
) -> Iterator[tuple[str | None, Any]]:
    """Yield the values of a fixed part by attribute; a switch applies to all attributes."""
    flag = str(part.flag)
    seen: list[str | None] = []
    for text in texts:
        before, sign, rest = text.rpartition("=")
        attribute = before if sign and (before in attributes or part.kind is not OptionKind.TEXT) else None
        if attribute is not None and attribute not in attributes:
            named = ", ".join(f"{name}" for name in attributes if name is not None)
            only = f", or ATTR=VALUE of {named}" if named else f"; {kind.flag()} is not given per attribute"
            raise InputError(f"{flag} {text}", allowed=f"{part.allowed}{only}")
        if seen and (None in (attribute, *seen) or attribute in seen):
            raise InputError(f"{flag} {f' {flag} '.join(texts)}", allowed="one VALUE, or ATTR=VALUE of each")
        seen.append(attribute)
        said = flag if attribute is None else f"{flag} {attribute}"
        yield attribute, part.read([text if attribute is None else rest], said)


def _criterion_flags() -> list[DeclaredFlag]:
    """Return each flag once; ``InputError`` if two criteria declare the same flag."""
    result = [
        DeclaredFlag(_PRESET_NAME, "--preset"),
        *(DeclaredFlag(_criterion_name(kind), kind.flag()) for kind in _criterion_kinds()),
    ]
    for kind in _criterion_kinds():
        for part in fixed_parameters(kind):
            switch = part.kind is OptionKind.FLAG
            result.append(DeclaredFlag(_part_name(kind, part), str(part.flag), switch))
    words = [each.flag for each in result]
    twice = next((word for word in words if words.count(word) > 1), None)
    if twice is not None:
        raise InputError(f"two criteria declare '{twice}'", advice="Rename the one of a package.")
    return result


def _criterion_sections(reserved_flags: frozenset[str]) -> list[HelpSection]:
    rows = [
        row
        for kind in _criterion_kinds()
        if kind.flag() not in reserved_flags
        for row in _criterion_rows(kind)
    ]
    rows.append(
        (
            "--preset NAME",
            "The numeric requirements of a rule, read strictly; discreet list presets lists them.",
        )
    )
    return [("Further criteria", rows)] if rows else []


def _criterion_rows(kind: type[Criterion]) -> Iterator[tuple[str, str]]:
    value = "VALUE|ATTR=VALUE" if kind.of_attribute else "VALUE"
    repeats = "; repeatable" if kind.of_attribute else ""
    text = f"{kind.title}: {kind.parameter.hint}, {kind.parameter.allowed}{repeats}."
    yield f"{kind.flag()} {value}", capitalize(text)
    for part in fixed_parameters(kind):
        yield help_row(part)


def _criterion_kinds() -> list[type[Criterion]]:
    from discreet.model.criteria.registry import CRITERIA

    return [kind for kind in CRITERIA if not kind.has_keyword]


def _criterion_name(kind: type[Criterion]) -> str:
    return f"criterion_{kind.name}".replace("-", "_")


def _part_name(kind: type[Criterion], part: Option) -> str:
    return f"{_criterion_name(kind)}__{part.name}"


CRITERION_OPTIONS = DeclaredOptions("criteria", _criterion_flags, _criterion_sections)


CostOption = Annotated[
    str | None,
    typer.Option(
        "--cost",
        metavar="NAME",
        help="Cost of each solution, which optimal and anytime minimize: one of those below.",
    ),
]


def parse_cost(name: str | None, spec: TableSpec) -> NamedCost | None:
    """Return the named cost with its options, or the spec's cost with these options if no name is given.

    None without a name and options. Raises ``InputError`` for options that the cost does not have.
    """
    arguments = COST_OPTIONS.arguments()
    if name is None and not arguments:
        return None
    from discreet.results.request_defaults import choose_cost
    from discreet.verbs.table_search import COSTS

    cost = choose_cost(spec, name)
    if cost is None:
        flag = next(str(each.flag) for each in _cost_declarations() if each.name in arguments)
        raise InputError(f"{flag} was given without --cost", allowed=", ".join(COSTS.names()))
    declared = {each.name: each for each in cost.options()}
    values: dict[str, object] = dict(arguments)
    for option in declared.values():
        if option.name in arguments:
            values[option.name] = option.read(arguments[option.name], str(option.flag))
    return cost.having(values)


def _unique_flags(owners: str, options: Iterable[Option]) -> list[DeclaredFlag]:
    """Return the flag of each option once; ``InputError`` if two owners declare it differently."""
    found: dict[str, DeclaredFlag] = {}
    for each in options:
        if each.flag is not None:
            flag = DeclaredFlag(each.name, each.flag, each.kind is OptionKind.FLAG)
            if found.setdefault(each.name, flag) != flag:
                raise _different_declarations(owners, each.name)
    return list(found.values())


def _different_declarations(owners: str, name: str) -> InputError:
    return InputError(f"two {owners} declare '{name}' differently", advice="Rename the one of a package.")


def _options_by_owners(options: Mapping[str, Iterable[Option]]) -> dict[tuple[str, ...], list[Option]]:
    """Return the options that have a flag, by the names of the owners that declare them identically."""
    owners: dict[Option, list[str]] = {}
    for name, declared in options.items():
        for each in declared:
            if each.flag is not None:
                owners.setdefault(each, []).append(name)
    result: dict[tuple[str, ...], list[Option]] = {}
    for each, names in owners.items():
        result.setdefault(tuple(names), []).append(each)
    return result


def _cost_flags() -> list[DeclaredFlag]:
    return _unique_flags("costs", _cost_declarations())


def _cost_sections(reserved_flags: frozenset[str]) -> list[HelpSection]:
    """Return a section of all costs, then sections of options, grouped by the costs that declare them."""
    from discreet.verbs.table_search import COSTS

    found: list[HelpSection] = [("--cost", [(cost.name, cost.meaning) for cost in COSTS])]
    for costs, options in _options_by_owners({cost.name: cost.options() for cost in COSTS}).items():
        rows = [help_row(each) for each in options if each.flag not in reserved_flags]
        found += [(f"--cost {', '.join(costs)}", rows)] if rows else []
    return found


def _cost_declarations() -> list[Option]:
    from discreet.verbs.table_search import COSTS

    return [each for cost in COSTS for each in cost.options() if each.flag is not None]


COST_OPTIONS = DeclaredOptions("costs", _cost_flags, _cost_sections)
"""Names of ``--cost`` and the options of all costs, including those of other packages."""


def parse_model(name: str, texts: Mapping[str, list[str]]) -> Model:
    """Build a model from its name and the texts of its options; ``InputError`` for an unknown option.

    If the model takes another model as an option, options that it does not declare belong to that one.
    """
    from discreet.verbs.models.model_registry import MODELS, resolve_model

    kind = MODELS.named(name)
    declared = {each.name: each for each in kind.options()}
    inner = kind.option_of(OptionKind.MODEL)
    if inner is not None and inner.name in texts:
        declared = {each.name: each for each in MODELS.named(texts[inner.name][-1]).options()} | declared
    values: dict[str, Any] = dict(texts)
    for each in declared.values():
        if each.name in texts:
            values[each.name] = each.read(texts[each.name], each.flag or each.name)
    return resolve_model(name, values)


def model_declares(model: str, name: str) -> bool:
    """Return whether a model has an option of that name; ``InputError`` for an unknown model."""
    from discreet.verbs.models.model_registry import MODELS

    return any(each.name == name for each in MODELS.named(model).options())


def _model_flags() -> list[DeclaredFlag]:
    from discreet.verbs.models.model_registry import MODELS

    return _unique_flags("models", (each for model in MODELS for each in model.options()))


def _model_sections(reserved_flags: frozenset[str]) -> list[HelpSection]:
    """Return the options model by model, then the models without any."""
    from discreet.verbs.models.model_registry import MODELS

    found = []
    for models, options in _options_by_owners({m.called(): m.options() for m in MODELS}).items():
        rows = [help_row(each) for each in options if each.flag not in reserved_flags]
        if rows:
            found.append((f"--model {', '.join(models)}", rows))
    without = [(model.called(), model.text) for model in MODELS if not model.options()]
    return [*found, ("Models without options of their own", without)]


MODEL_OPTIONS = DeclaredOptions("model_options", _model_flags, _model_sections)
"""Options of all models; ``--level`` is one of them but remains an option of the verb."""


def parse_attack_options(arguments: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """Return the values of the given options by name; ``InputError`` for an invalid text."""
    return {
        each.name: each.read(arguments[each.name], each.flag or each.name)
        for each in _attack_declarations()
        if each.name in arguments
    }


def _attack_declarations() -> list[Option]:
    """Return each option once; ``InputError`` if two attacks declare it differently."""
    from discreet.attacks.registry import ATTACKS

    found: dict[str, Option] = {}
    for attack in ATTACKS:
        for each in attack.options():
            if found.setdefault(each.name, each) != each:
                raise _different_declarations("attacks", each.name)
    return list(found.values())


def _attack_flags() -> list[DeclaredFlag]:
    return _unique_flags("attacks", _attack_declarations())


def _attack_sections(reserved_flags: frozenset[str]) -> list[HelpSection]:
    """Return the attacks with their descriptions, then the options of each."""
    from discreet.attacks.registry import ATTACKS

    listed = [("--by", [(attack.name, attack.text) for attack in ATTACKS])]
    return [*listed, *((f"--by {name}", rows) for name, rows in _attack_rows(reserved_flags))]


def _report_sections(reserved_flags: frozenset[str]) -> list[HelpSection]:
    """Return the options of each attack that a report runs."""
    return [(f"Attack {name}", rows) for name, rows in _attack_rows(reserved_flags, reported=True)]


def _attack_rows(reserved_flags: frozenset[str], *, reported: bool = False) -> list[HelpSection]:
    """Return the options of each attack that has some.

    With ``reported`` only attacks of the report are listed, and an option appears once.
    """
    from discreet.attacks.registry import ATTACKS

    result: list[HelpSection] = []
    shown_flags = set(reserved_flags)
    for attack in ATTACKS:
        if reported and not attack.in_report:
            continue
        options = [each for each in attack.options() if each.flag and each.flag not in shown_flags]
        shown_flags |= {each.flag for each in options if each.flag and reported}
        if options:
            result.append((attack.name, [help_row(each) for each in options]))
    return result


ATTACK_OPTIONS = DeclaredOptions("attack_options", _attack_flags, _attack_sections)
"""Options of all attacks, for a verb that names one attack."""

REPORT_OPTIONS = DeclaredOptions("attack_options", _attack_flags, _report_sections)
"""Options of all attacks, for the verb that runs all attacks of a report."""
