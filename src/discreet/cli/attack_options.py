"""Options of named attacks on the command line: flags, help and values, all from what the attacks declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.cli.declared import Declarations, Flag, Section, option_row
from discreet.errors import InputError
from discreet.model.option import Option, OptionKind


def options_of_texts(given: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """The values of what was given, by name; ``InputError`` for a text that is none of its kind."""
    return {
        each.name: each.read(given[each.name], each.flag or each.name)
        for each in _each()
        if each.name in given
    }


def _each() -> list[Option]:
    """Each option once; ``InputError`` where two attacks declare one differently."""
    from discreet.attacks.registry import ATTACKS

    found: dict[str, Option] = {}
    for attack in ATTACKS:
        for each in attack.options():
            if found.setdefault(each.name, each) != each:
                raise InputError(
                    f"two attacks declare '{each.name}' differently", advice="Rename the one of a package."
                )
    return list(found.values())


def _flags() -> list[Flag]:
    return [
        Flag(each.name, each.flag, each.kind is OptionKind.FLAG) for each in _each() if each.flag is not None
    ]


def _sections(taken: frozenset[str]) -> list[Section]:
    """The attacks with what each does, then the options of each."""
    from discreet.attacks.registry import ATTACKS

    listed = [("--by", [(attack.name, attack.text) for attack in ATTACKS])]
    return [*listed, *((f"--by {name}", rows) for name, rows in _rows(taken))]


def _reported(taken: frozenset[str]) -> list[Section]:
    """The options of each attack that a report tries."""
    return [(f"Attack {name}", rows) for name, rows in _rows(taken, reported=True)]


def _rows(taken: frozenset[str], *, reported: bool = False) -> list[Section]:
    """The options of each attack that has some, once each."""
    from discreet.attacks.registry import ATTACKS

    found: list[Section] = []
    shown = set(taken)
    for attack in ATTACKS:
        if reported and not attack.in_report:
            continue
        options = [each for each in attack.options() if each.flag and each.flag not in shown]
        shown |= {each.flag for each in options if each.flag and reported}
        if options:
            found.append((attack.name, [option_row(each) for each in options]))
    return found


ATTACK_OPTIONS = Declarations("attack_options", _flags, _sections)
"""Every attack's options, beside the verb's own."""

REPORT_OPTIONS = Declarations("attack_options", _flags, _reported)
"""The same, beside those of the verb that tries all attacks of a report."""
