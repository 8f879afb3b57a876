"""Scripts equivalent to a session in the browser: one shell command, and a Python program.

Options are written from the declarations that the command line also reads. The address of a database is never
written, as it may contain a password: scripts read it from the environment variable ``DATABASE``.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError
from discreet.model.criteria.base import fixed_parameters
from discreet.model.criteria.registry import plain_values
from discreet.model.option import Option, OptionKind, changed_options
from discreet.model.release_address import ReleaseAddress
from discreet.model.request import NO_SUPPRESSION, RelaxationScope, Request
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.results.request_defaults import build_request

if TYPE_CHECKING:
    from discreet.attacks.declaration import Attack
    from discreet.model.criteria.base import Criterion
    from discreet.verbs.models.recoding_model import Model, RequestOptions


def command_line(*words: str | Path) -> str:
    """Join words to a command line that a shell splits into the same words."""
    return shlex.join(["discreet", *map(str, words)])


def request_option_text(request: Request) -> str:
    """Return a request as command-line options, each after a blank."""
    return "".join(f" {shlex.quote(word)}" for word in request_arguments(request))


def request_arguments(request: Request) -> list[str]:
    """Return a request as options, without default values."""
    words = criteria_arguments(request.requirement.criteria)
    if request.max_suppressed != NO_SUPPRESSION:
        words += ["--max-suppressed", f"{request.max_suppressed}"]
    words += level_arguments("--max-level", dict(request.max_level))
    words += level_arguments("--min-level", dict(request.min_level))
    if request.scope is not RelaxationScope.ABOVE:
        words += ["--scope", f"{request.scope}"]
    return words


def criteria_arguments(criteria: Iterable[Criterion]) -> list[str]:
    """Return criteria as options, with the fixed parameters that differ from their defaults."""
    words: list[str] = []
    for criterion in criteria:
        prefix = "" if criterion.attribute is None else f"{criterion.attribute}="
        words += [criterion.flag(), f"{prefix}{criterion.value}"]
        for part in fixed_parameters(type(criterion)):
            value = getattr(criterion, part.name)
            if value != part.default:
                words += [str(part.flag)] + ([] if part.kind is OptionKind.FLAG else [f"{prefix}{value}"])
    return words


def level_arguments(option: str, levels: Mapping[str, int]) -> list[str]:
    """Return levels by attribute as a repeated option."""
    return [word for name, level in levels.items() for word in (option, f"{name}={level}")]


def option_arguments(owner: Model | Attack) -> list[str]:
    """Return the non-default options of a model or an attack, including those of an inner model.

    Raises ``InputError`` for a value that has no text: a Python object, or a name with a comma in a
    comma-separated list.
    """
    from discreet.verbs.models.recoding_model import Model

    declared = {each.name: each for each in type(owner).options()}
    words: list[str] = []
    for name, value in changed_options(owner).items():
        option = declared[name]
        if option.flag is None:
            raise InputError(f"'{option.spelt}' has no command-line form", advice="Copy it as Python.")
        if isinstance(value, Model):
            words += [option.flag, value.called(), *option_arguments(value)]
        else:
            words += _flag_arguments(option, value)
    return words


def _flag_arguments(option: Option, value: object) -> list[str]:
    """Return the flag of an option with each text of its value."""
    flag = str(option.flag)
    if option.kind is OptionKind.FLAG:
        return [flag] if value else []
    return [word for text in _value_texts(option, value) for word in (flag, text)]


def _value_texts(option: Option, value: object) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{name}={number}" for name, number in value.items()]
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [str(value)]
    if option.reads is not None:
        return [",".join(map(str, value))]
    if option.kind is OptionKind.GROUPS:
        return [",".join(_refuse_commas(group)) for group in value]
    if option.kind is OptionKind.QUASI_IDENTIFIERS and option.commas:
        return _refuse_commas(value)
    return [str(each) for each in value]


def _refuse_commas(names: Iterable[object]) -> list[str]:
    result = [str(name) for name in names]
    wrong = next((name for name in result if "," in name or name != name.strip()), None)
    if wrong is not None:
        raise InputError(f"'{wrong}' cannot be in a list on the command line", advice="Copy it as Python.")
    return result


_DATABASE = "env:DATABASE"


@dataclass(frozen=True)
class Script:
    """Script for a shell and for Python.

    ``command`` is None if no command line exists; ``advice`` then gives the reason and an alternative.
    """

    command: str | None
    python: str
    advice: str | None = None


def make_negotiate_script(path: Path, spec: TableSpec, request: Request, tops: Mapping[str, int]) -> Script:
    """Script the negotiation of a request, independent of the spec's own ``[request]``.

    ``tops`` are the highest levels by quasi-identifier; they lift a limit that only the spec has. Raises
    ``InputError`` if the spec has a criterion that the request lacks, since the script would apply it again.
    """
    explicit = _explicit_request(spec, request, tops)
    words = request_arguments(explicit)
    # Explicit defaults: otherwise the spec's ``[request]`` would apply to them.
    if "--max-suppressed" not in words:
        words += ["--max-suppressed", "0"]
    if spec.request.scope is not None and "--scope" not in words:
        words += ["--scope", f"{request.scope}"]
    keywords = {
        "k": explicit.requirement.k,
        "l": explicit.requirement.l_as_json(),
        "max_suppressed": str(explicit.max_suppressed),
        "max_level": dict(explicit.max_level),
        "min_level": dict(explicit.min_level),
        "scope": f"{explicit.scope}",
        "criteria": explicit.requirement.others,
    }
    lines = [f"table = discreet.open({str(path)!r})", f"answer = table.negotiate({_keyword_text(keywords)})"]
    return Script(command_line("negotiate", path, *words), _python_program(lines, "answer"))


def make_publish_script(
    path: Path,
    answer: Mapping[str, int] | Model,
    request_options: RequestOptions,
    *,
    output: str | None = None,
    table: str | None = None,
    suppressed_rows: str = "drop",
    row_order: str | None = None,
    overwrite: bool = False,
    previous_releases: Sequence[str] = (),
) -> Script:
    """Script a publication of levels or of a model, to a file or a table of the source's database.

    ``after`` are the paths of earlier releases that the new one must be safe together with.
    """
    target_words = ["--output", str(output)] if table is None else ["--table", table]
    words = _request_arguments(request_options)
    words += ["--suppressed-rows", suppressed_rows] if suppressed_rows != "drop" else []
    words += ["--row-order", row_order] if row_order is not None else []
    words += ["--overwrite"] if overwrite else []
    words += [word for path in previous_releases for word in ("--previous-release", path)]
    keywords = {
        "output" if table is None else "table": output if table is None else table,
        **vars(request_options),
        "suppressed_rows": None if suppressed_rows == "drop" else suppressed_rows,
        "row_order": row_order,
        "overwrite": overwrite or None,
        "previous_releases": list(previous_releases),
    }
    answer_text = repr(dict(answer)) if isinstance(answer, Mapping) else _model_expression(answer)
    lines = [
        f"table = discreet.open({str(path)!r})",
        f"release = table.publish({answer_text}, {_keyword_text(keywords)})",
    ]
    program = _python_program(lines, "release")
    try:
        return Script(
            command_line("publish", path, *_answer_arguments(answer), *words, *target_words), program
        )
    except InputError as error:
        return Script(None, program, f"{error.message}. {error.advice}")


def make_query_script(address: ReleaseAddress, sql: str, spec: Path | None) -> Script:
    """Script a query of a release, with the hierarchies of a spec if there is one."""
    location, words, keywords = _release_argument(address)
    spec_words = [] if spec is None else ["--spec", str(spec)]
    keywords |= {"spec": None if spec is None else str(spec)}
    lines = [f"answer = discreet.query({location!r}, {sql!r}{_further_keyword_text(keywords)})"]
    return Script(command_line("query", location, sql, *words, *spec_words), _python_program(lines, "answer"))


def make_attack_script(
    address: ReleaseAddress,
    spec: Path | None,
    *,
    outside: Path | None = None,
    population: Path | None = None,
    match: Mapping[str, str] | None = None,
    key: str | None = None,
    threshold: str = "0.05",
    dominance: str = "0.8",
    by: Attack | None = None,
    persons: bool = False,
) -> Script:
    """Script an attack on a release, with the attacker's files and ``by``; ``spec`` is the original's."""
    location, words, keywords = _release_argument(address)
    entries = {"spec": spec, "outside": outside, "population": population, "key": key}
    entries |= {"threshold": threshold, "dominance": dominance}
    words += [
        word for name, value in entries.items() if value is not None for word in (f"--{name}", str(value))
    ]
    words += [word for pair in (match or {}).items() for word in ("--match", "=".join(pair))]
    words += [] if by is None else ["--by", by.name, *option_arguments(by)]
    words += ["--persons"] if persons else []
    arguments: dict[str, Any] = {"outside": outside, "population": population, "match": match, "key": key}
    arguments |= {"threshold": threshold, "dominance": dominance}
    if by is not None:
        arguments |= {"by": by.name, "options": dict(changed_options(by)), "persons": persons or None}
    option_text = _further_keyword_text(
        {name: str(v) if isinstance(v, Path) else v for name, v in arguments.items()}
    )
    original = "" if spec is None else f", table=discreet.open({str(spec)!r})"
    release = f"address_of({location!r}{_further_keyword_text(keywords)})" if keywords else repr(location)
    lines = [f"result = discreet.attack({release}{original}{option_text})"]
    return Script(command_line("attack", location, *words), _python_program(lines, "result"))


def _release_argument(address: ReleaseAddress) -> tuple[str, list[str], dict[str, Any]]:
    """Return a release as an argument, with additional words and keywords."""
    if address.path is not None:
        return str(address.path), [], {}
    return _DATABASE, ["--table", str(address.table)], {"table": address.table}


def _explicit_request(spec: TableSpec, request: Request, tops: Mapping[str, int]) -> Request:
    """Return the request with an explicit value for each default of the spec that it lacks."""
    defaults, requirement = spec.request, request.requirement
    k = requirement.k if requirement.k is not None or defaults.k is None else 1
    l = requirement.l_as_json()
    if defaults.l is not None:
        named = l if isinstance(l, Mapping) else {}
        each = {a.name: named.get(a.name, 1) for a in spec.sensitive}
        l = l if isinstance(l, int) else each
    explicit = Request.of(
        k=k,
        l=l,
        max_suppressed=str(request.max_suppressed),
        max_level={**{name: tops[name] for name in defaults.max_level}, **dict(request.max_level)},
        min_level={**dict.fromkeys(defaults.min_level, 0), **dict(request.min_level)},
        scope=f"{request.scope}",
        criteria=requirement.others,
    )
    l = explicit.requirement.l_as_json()
    merged = build_request(spec, k=explicit.requirement.k, l=l, criteria=requirement.others)
    if set(merged.requirement.others) != set(requirement.others):
        more = set(merged.requirement.others) - set(requirement.others)
        raise InputError(
            f"the spec has further criteria: {', '.join(sorted(map(str, more)))}",
            advice="Save this request for the command line first; then copy it.",
        )
    return explicit


def _answer_arguments(answer: Mapping[str, int] | Model) -> list[str]:
    if isinstance(answer, Mapping):
        return level_arguments("--level", answer)
    return ["--model", answer.called(), *option_arguments(answer)]


def _request_arguments(request_options: RequestOptions) -> list[str]:
    requirement = Requirement.of(request_options.k, request_options.l, tuple(request_options.criteria))
    words = criteria_arguments(requirement.criteria)
    if request_options.max_suppressed is not None:
        words += ["--max-suppressed", str(request_options.max_suppressed)]
    words += level_arguments("--max-level", dict(request_options.max_level or {}))
    return words + level_arguments("--min-level", dict(request_options.min_level or {}))


def _model_expression(model: Model) -> str:
    entries = [f"{name}={_value_expression(value)}" for name, value in changed_options(model).items()]
    return f"models.named({model.name!r})({', '.join(entries)})"


def _value_expression(value: object) -> str:
    from discreet.verbs.models.recoding_model import Model

    return _model_expression(value) if isinstance(value, Model) else repr(value)


def _keyword_text(entries: Mapping[str, Any]) -> str:
    """Return keywords of a call, without empty values."""
    texts = []
    for name, value in entries.items():
        if value is None or (not isinstance(value, int | float | str) and not value):
            continue
        if name == "criteria":
            texts.append(f"criteria=criteria_from({plain_values(tuple(entries[name]))!r})")
        else:
            texts.append(f"{name}={dict(value) if isinstance(value, Mapping) else value!r}")
    return ", ".join(texts)


def _further_keyword_text(entries: Mapping[str, Any]) -> str:
    keyword_text = _keyword_text(entries)
    return f", {keyword_text}" if keyword_text else ""


_IMPORTS = {
    "models.named(": "from discreet import models",
    "criteria_from(": "from discreet.criteria import criteria_from",
    "address_of(": "from discreet.verbs.locations import address_of",
}
"""Imports of a program by the calls that need them."""


def _python_program(lines: Sequence[str], variable: str) -> str:
    """Return a program that runs the lines and prints a variable."""
    imports = [line for call, line in _IMPORTS.items() if any(call in each for each in lines)]
    return "\n".join(["import discreet", *imports, "", *lines, f"print({variable})", ""])
