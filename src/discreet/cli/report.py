"""``discreet report``: the evidence of a release as one offline HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, output
from discreet.cli.declared_options import REPORT_OPTIONS, parse_attack_options
from discreet.cli.output import TerminalReporter

_FAILED = 1

_ReleasePath = Annotated[
    str,
    typer.Argument(metavar="RELEASE", help="A release with its manifest: a path, or a database's address."),
]
_SpecOption = Annotated[
    Path | None,
    typer.Option("--spec", metavar="SPEC", help="The spec of the original: utility, and risks before."),
]
_Output = Annotated[
    Path | None, typer.Option("--output", metavar="PATH", help="The file to write. [RELEASE.report.html]")
]
_About = Annotated[
    Path | None,
    typer.Option("--about", metavar="FILE", help="Your own words in TOML: title, purpose, recipient, …"),
]
_Purpose = Annotated[str | None, typer.Option("--purpose", metavar="TEXT", help="Purpose of the release.")]
_Recipient = Annotated[
    str | None, typer.Option("--recipient", metavar="TEXT", help="Recipient of the release.")
]
_ThreatModel = Annotated[
    str | None, typer.Option("--threat-model", metavar="TEXT", help="Possible attackers and their knowledge.")
]
_Threshold = Annotated[
    str, typer.Option("--threshold", metavar="P", help="The chance above which a row counts as at risk.")
]
_Checks = Annotated[
    str | None,
    typer.Option("--checks", metavar="NAME", help="Add the manual checks of a preset."),
]

_Language = Annotated[
    str | None, typer.Option("--language", metavar="CODE", help="The report's language, such as de. [en]")
]


def report(
    release: _ReleasePath,
    table: options.ReleaseTable = None,
    spec: _SpecOption = None,
    output_path: _Output = None,
    about: _About = None,
    purpose: _Purpose = None,
    recipient: _Recipient = None,
    threat_model: _ThreatModel = None,
    threshold: _Threshold = "0.05",
    checks: _Checks = None,
    language: _Language = None,
    overwrite: options.Overwrite = False,
) -> int:
    """Write the evidence of a release as one offline HTML file.

    The release is audited again; the exit status is 1 if that fails. Options of attacks give their input
    (discreet attack). Purpose, recipient and threat model are left blank if they are not given, to be filled
    in by hand.
    """
    from discreet.report import report as page
    from discreet.verbs.locations import address_of

    result = page.report(
        address_of(release, table),
        output=output_path,
        table=None if spec is None else options.open_table_of_spec(spec),
        about=about,
        threshold=threshold,
        overwrite=overwrite,
        settings=options.parse_settings(),
        reporter=TerminalReporter(),
        purpose=purpose,
        recipient=recipient,
        threat_model=threat_model,
        checks=checks,
        language=language,
        options=parse_attack_options(REPORT_OPTIONS.arguments()),
    )
    return output.print_result(result, 0 if result.passed else _FAILED)
