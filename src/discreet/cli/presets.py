"""``discreet presets``: the requirements of rules, with their sources."""

from __future__ import annotations

from discreet.cli import options, output


def presets(json: options.Json = False) -> int:
    """List what rules ask of a release, each with its source and how it is read.

    A preset asks for the numbers that the rule names; what people must see to, a report puts before those who
    sign (--preset of report). None says that a release meets the rule.
    """
    from discreet.results.preset_list import PresetList
    from discreet.spec.preset import load_presets

    found = PresetList(tuple(load_presets().values()))
    output.print_json(found.as_json()) if json else output.print_document(found.document())
    return 0
