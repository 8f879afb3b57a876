"""What was asked as words of the command line: the inverse of how a verb's options are read.

Requests, criteria and models declare their options once (``model.option``); from the same declarations come
the words here, so that ``discreet`` reads back the value that was written.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import InputError
from discreet.model.criteria.fixed_parts import fixed_parts
from discreet.model.option import Option, OptionKind, given_options
from discreet.model.request import NO_SUPPRESSION, Request, Scope

if TYPE_CHECKING:
    from discreet.attacks.declaration import Attack
    from discreet.model.criteria.base import Criterion
    from discreet.verbs.models.base import Model


def command(*words: str | Path) -> str:
    """Words as one line that a shell reads back as these words."""
    return shlex.join(["discreet", *map(str, words)])


def request_options(request: Request) -> str:
    """A request as options of the command line, with a blank before each."""
    return "".join(f" {shlex.quote(word)}" for word in request_words(request))


def request_words(request: Request) -> list[str]:
    """A request as options; what every request begins with is left out."""
    words = criteria_words(request.requirement.criteria)
    if request.max_suppressed != NO_SUPPRESSION:
        words += ["--max-suppressed", f"{request.max_suppressed}"]
    words += level_words("--max-level", dict(request.max_level))
    words += level_words("--min-level", dict(request.min_level))
    if request.scope is not Scope.ABOVE:
        words += ["--scope", f"{request.scope}"]
    return words


def criteria_words(criteria: Iterable[Criterion]) -> list[str]:
    """Criteria as options, each with the fixed parts that are not as it proposes."""
    words: list[str] = []
    for criterion in criteria:
        place = "" if criterion.attribute is None else f"{criterion.attribute}="
        words += [criterion.flag(), f"{place}{criterion.value}"]
        for part in fixed_parts(type(criterion)):
            value = getattr(criterion, part.name)
            if value != part.default:
                words += [str(part.flag)] + ([] if part.kind is OptionKind.FLAG else [f"{place}{value}"])
    return words


def level_words(option: str, levels: Mapping[str, int]) -> list[str]:
    """Levels by attribute as an option that is repeated."""
    return [word for name, level in levels.items() for word in (option, f"{name}={level}")]


def option_words(owner: Model | Attack) -> list[str]:
    """Options of a model or an attack that are not as it proposes, those of a model that it names among them.

    ``InputError`` for a value that no word says: an object that Python alone can give, and a name with a
    comma where commas stand between names.
    """
    from discreet.verbs.models.base import Model

    declared = {each.name: each for each in type(owner).options()}
    words: list[str] = []
    for name, value in given_options(owner).items():
        option = declared[name]
        if option.flag is None:
            raise InputError(f"'{option.spelt}' has no word on the command line", advice="Copy it as Python.")
        if isinstance(value, Model):
            words += [option.flag, value.called(), *option_words(value)]
        else:
            words += _words(option, value)
    return words


def _words(option: Option, value: object) -> list[str]:
    """The flag of an option with each text that makes its value."""
    flag = str(option.flag)
    if option.kind is OptionKind.FLAG:
        return [flag] if value else []
    return [word for text in _texts(option, value) for word in (flag, text)]


def _texts(option: Option, value: object) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{name}={number}" for name, number in value.items()]
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [str(value)]
    if option.reads is not None:
        return [",".join(map(str, value))]
    if option.kind is OptionKind.GROUPS:
        return [",".join(_without_commas(group)) for group in value]
    if option.kind is OptionKind.QUASI_IDENTIFIERS and option.commas:
        return _without_commas(value)
    return [str(each) for each in value]


def _without_commas(names: Iterable[object]) -> list[str]:
    found = [str(name) for name in names]
    wrong = next((name for name in found if "," in name or name != name.strip()), None)
    if wrong is not None:
        raise InputError(f"'{wrong}' cannot stand in a list on the command line", advice="Copy it as Python.")
    return found
