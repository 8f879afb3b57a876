"""``discreet presets``: the requirements of rules, with their sources."""

from __future__ import annotations

from discreet.cli import options, output


def presets(json: options.Json = False) -> int:
    """List the requirements of rules, each with its source and reading.

    A preset requires the numbers that the rule names; a report lists the points that people must check before
    they sign (--preset of report). No preset states that a release meets the rule.
    """
    from discreet.results.preset_list import PresetList
    from discreet.spec.preset import load_presets

    found = PresetList(tuple(load_presets().values()))
    output.print_json(found.as_json()) if json else output.print_document(found.document())
    return 0
