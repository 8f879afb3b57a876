"""``discreet report``: the evidence of a release as one offline HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, output
from discreet.cli.attack_options import REPORT_OPTIONS, options_of_texts
from discreet.cli.progress import TerminalReporter

FAILED = 1

ReleasePath = Annotated[
    str,
    typer.Argument(metavar="RELEASE", help="A release with its manifest: a path, or a database's address."),
]
SpecOption = Annotated[
    Path | None,
    typer.Option("--spec", metavar="SPEC", help="The spec of the original: utility, and risks before."),
]
Output = Annotated[
    Path | None, typer.Option("--output", metavar="PATH", help="The file to write. [RELEASE.report.html]")
]
About = Annotated[
    Path | None,
    typer.Option("--about", metavar="FILE", help="Your own words in TOML: title, purpose, recipient, …"),
]
Purpose = Annotated[str | None, typer.Option("--purpose", metavar="TEXT", help="What the release is for.")]
Recipient = Annotated[str | None, typer.Option("--recipient", metavar="TEXT", help="Who gets it.")]
ThreatModel = Annotated[
    str | None, typer.Option("--threat-model", metavar="TEXT", help="Who might attack, knowing what.")
]
Threshold = Annotated[
    str, typer.Option("--threshold", metavar="P", help="The chance above which a row counts as at risk.")
]
Checks = Annotated[
    str | None,
    typer.Option("--checks", metavar="NAME", help="Put what a preset asks of people before those who sign."),
]

Language = Annotated[
    str | None, typer.Option("--language", metavar="CODE", help="The report's language, such as de. [en]")
]


def report(
    context: typer.Context,
    release: ReleasePath,
    table: options.ReleaseTable = None,
    spec: SpecOption = None,
    output_path: Output = None,
    about: About = None,
    purpose: Purpose = None,
    recipient: Recipient = None,
    threat_model: ThreatModel = None,
    threshold: Threshold = "0.05",
    checks: Checks = None,
    language: Language = None,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Write the evidence of a release as one offline HTML file.

    The release is audited anew; the exit status is 1 where that fails. Attacks are told what they need by
    their options (discreet attack). What is not said of purpose, recipient
    and threat model is left blank, to be filled in by hand.
    """
    from discreet.report import report as page
    from discreet.verbs.addresses import address_of

    result = page.report(
        address_of(release, table),
        output=output_path,
        table=None if spec is None else options.opened(spec, threads, memory_limit),
        about=about,
        threshold=threshold,
        overwrite=overwrite,
        settings=options.settings_of(threads, memory_limit),
        reporter=TerminalReporter(),
        purpose=purpose,
        recipient=recipient,
        threat_model=threat_model,
        checks=checks,
        language=language,
        options=options_of_texts(REPORT_OPTIONS.given(context)),
    )
    if json:
        output.print_json(result.as_json())
    else:
        output.show(result.document())
    return 0 if result.passed else FAILED
