"""What was clicked as a script: the command that does the same, and the same in Python.

Both are made of one value: the request, the release, the query or the attack as the verbs take it. A path is
written as it is given; the address of a database never is, as it may hold a password: it is read from the
environment variable ``DATABASE``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError
from discreet.model.criteria.plain import plain
from discreet.model.option import given_options
from discreet.model.release_address import ReleaseAddress
from discreet.model.request import Request
from discreet.model.table_spec import TableSpec
from discreet.results.requests import request_of
from discreet.verbs.command_texts import command, criteria_words, level_words, option_words, request_words

if TYPE_CHECKING:
    from discreet.attacks.declaration import Attack
    from discreet.verbs.models.base import Asked, Model

_DATABASE = "env:DATABASE"


@dataclass(frozen=True)
class Script:
    """The same work as one line of a shell and as a program.

    ``command`` is None where no line says it; ``advice`` then says why, and what does.
    """

    command: str | None
    python: str
    advice: str | None = None


def script_of_request(path: Path, spec: TableSpec, request: Request, tops: Mapping[str, int]) -> Script:
    """The negotiation of a request, whatever the spec's own ``[request]`` says beside it.

    ``tops`` are the highest levels by quasi-identifier, which lift a limit that the spec alone has.
    ``InputError`` where the spec asks for a criterion that the request has not: it would be asked again.
    """
    explicit = _beside(spec, request, tops)
    words = request_words(explicit)
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
    lines = [f"table = discreet.open({str(path)!r})", f"answer = table.negotiate({_keywords(keywords)})"]
    return Script(command("negotiate", path, *words), _program(lines, "answer", explicit.requirement.others))


def script_of_publication(
    path: Path,
    answer: Mapping[str, int] | Model,
    asked: Asked,
    *,
    output: str | None = None,
    table: str | None = None,
    suppressed: str = "drop",
    order: str | None = None,
    overwrite: bool = False,
    after: Sequence[str] = (),
) -> Script:
    """A publication of levels or of a model, into a file or a table of the source's database.

    ``after`` are the paths of earlier releases that it must be safe beside.
    """
    place = ["--output", str(output)] if table is None else ["--table", table]
    words = _asked_words(asked)
    words += ["--suppressed", suppressed] if suppressed != "drop" else []
    words += ["--order", order] if order is not None else []
    words += ["--overwrite"] if overwrite else []
    words += [word for path in after for word in ("--after", path)]
    keywords = {
        "output" if table is None else "table": output if table is None else table,
        "k": asked.k,
        "l": asked.l,
        "max_suppressed": asked.max_suppressed,
        "max_level": dict(asked.max_level or {}),
        "min_level": dict(asked.min_level or {}),
        "criteria": tuple(asked.criteria),
        "suppressed": None if suppressed == "drop" else suppressed,
        "order": order,
        "overwrite": overwrite or None,
        "after": list(after),
    }
    told = repr(dict(answer)) if isinstance(answer, Mapping) else _model(answer)
    lines = [
        f"table = discreet.open({str(path)!r})",
        f"release = table.publish({told}, {_keywords(keywords)})",
    ]
    uses_models = not isinstance(answer, Mapping)
    program = _program(lines, "release", asked.criteria, models=uses_models)
    try:
        return Script(command("publish", path, *_answer_words(answer), *words, *place), program)
    except InputError as error:
        return Script(None, program, f"{error.message}. {error.advice}")


def script_of_query(address: ReleaseAddress, sql: str, spec: Path | None) -> Script:
    """A query of a release, whose labels mean what a spec's hierarchies say, where there is one."""
    place, words, keywords = _place(address)
    beside = [] if spec is None else ["--spec", str(spec)]
    keywords |= {"spec": None if spec is None else str(spec)}
    lines = [f"answer = discreet.query({place!r}, {sql!r}{_further(keywords)})"]
    return Script(command("query", place, sql, *words, *beside), _program(lines, "answer"))


def script_of_attack(
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
    """An attack on a release, with the attacker's files, and one ``by`` name; ``spec`` is the original's."""
    place, words, keywords = _place(address)
    given = {"spec": spec, "outside": outside, "population": population, "key": key}
    given |= {"threshold": threshold, "dominance": dominance}
    words += [
        word for name, value in given.items() if value is not None for word in (f"--{name}", str(value))
    ]
    words += [word for pair in (match or {}).items() for word in ("--match", "=".join(pair))]
    words += [] if by is None else ["--by", by.name, *option_words(by)]
    words += ["--persons"] if persons else []
    arguments: dict[str, Any] = {"outside": outside, "population": population, "match": match, "key": key}
    arguments |= {"threshold": threshold, "dominance": dominance}
    if by is not None:
        arguments |= {"by": by.name, "options": dict(given_options(by)), "persons": persons or None}
    told = _further({name: str(v) if isinstance(v, Path) else v for name, v in arguments.items()})
    original = "" if spec is None else f", table=discreet.open({str(spec)!r})"
    release = repr(place)
    imports: Sequence[str] = ()
    if keywords:
        release, imports = (
            f"address_of({place!r}{_further(keywords)})",
            ("discreet.verbs.addresses", "address_of"),
        )
    lines = [f"result = discreet.attack({release}{original}{told})"]
    return Script(command("attack", place, *words), _program(lines, "result", imported=imports))


def _place(address: ReleaseAddress) -> tuple[str, list[str], dict[str, Any]]:
    """A release as an argument, its further words, and its further keywords."""
    if address.path is not None:
        return str(address.path), [], {}
    return _DATABASE, ["--table", str(address.table)], {"table": address.table}


def _beside(spec: TableSpec, request: Request, tops: Mapping[str, int]) -> Request:
    """The request with a word for each default of the spec that it does not have."""
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
    merged = request_of(spec, k=explicit.requirement.k, l=l, criteria=requirement.others)
    if set(merged.requirement.others) != set(requirement.others):
        more = set(merged.requirement.others) - set(requirement.others)
        raise InputError(
            f"the settings of the table ask for more: {', '.join(sorted(map(str, more)))}",
            advice="Save this request for the command line first; then copy it.",
        )
    return explicit


def _answer_words(answer: Mapping[str, int] | Model) -> list[str]:
    if isinstance(answer, Mapping):
        return level_words("--level", answer)
    return ["--model", answer.called(), *option_words(answer)]


def _asked_words(asked: Asked) -> list[str]:
    words = [] if asked.k is None else ["--k", str(asked.k)]
    if isinstance(asked.l, Mapping):
        words += level_words("--l", asked.l)
    elif asked.l is not None:
        words += ["--l", str(asked.l)]
    words += criteria_words(asked.criteria)
    if asked.max_suppressed is not None:
        words += ["--max-suppressed", str(asked.max_suppressed)]
    words += level_words("--max-level", dict(asked.max_level or {}))
    return words + level_words("--min-level", dict(asked.min_level or {}))


def _model(model: Model) -> str:
    """A model as an expression of Python."""
    given = [f"{name}={_value(value)}" for name, value in given_options(model).items()]
    return f"models.named({model.name!r})({', '.join(given)})"


def _value(value: object) -> str:
    from discreet.verbs.models.base import Model

    return _model(value) if isinstance(value, Model) else repr(value)


def _keywords(given: Mapping[str, Any]) -> str:
    """Keywords as they stand in a call; what says nothing is left out."""
    told = []
    for name, value in given.items():
        if value is None or (not isinstance(value, int | float | str) and not value):
            continue
        if name == "criteria":
            told.append(f"criteria=criteria_from({plain(tuple(given[name]))!r})")
        else:
            told.append(f"{name}={dict(value) if isinstance(value, Mapping) else value!r}")
    return ", ".join(told)


def _further(given: Mapping[str, Any]) -> str:
    told = _keywords(given)
    return f", {told}" if told else ""


def _program(
    lines: Sequence[str],
    shown: str,
    criteria: Sequence[object] = (),
    *,
    models: bool = False,
    imported: Sequence[str] = (),
) -> str:
    """A program that does what the lines say and prints what came of it."""
    head = ["import discreet"]
    head += ["from discreet import models"] if models else []
    head += ["from discreet.criteria import criteria_from"] if criteria else []
    head += ["from {} import {}".format(*imported)] if imported else []
    return "\n".join([*head, "", *lines, f"print({shown})", ""])
