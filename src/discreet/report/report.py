"""``discreet.report``: a release's evidence, written as one offline HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.printing.document import Document, Line, Tone, count
from discreet.printing.printed import Printed
from discreet.report.page import report_page
from discreet.report.words import ENGLISH, language_of
from discreet.settings import Settings
from discreet.spec.preset import preset
from discreet.verbs.addresses import ReleasePlace, address_of
from discreet.verbs.evidence import ReleaseEvidence, about_of, gather_evidence
from discreet.verbs.files import check_new_file, write_text
from discreet.verbs.outputs import kept_by_spec, kept_options, kept_releases
from discreet.verbs.reporting import SILENT, Reporter

if TYPE_CHECKING:
    from discreet.verbs.table import Table

SUFFIX = ".report.html"


@dataclass(frozen=True, repr=False)
class ReportResult(Printed):
    """A report in place, and the evidence that it shows."""

    path: Path
    evidence: ReleaseEvidence

    @property
    def passed(self) -> bool:
        """Whether the audit passed that was made for the report."""
        return self.evidence.audit.passed

    def as_json(self) -> dict[str, Any]:
        """The document of ``discreet report --json``."""
        found = self.evidence
        return {
            "path": str(self.path),
            "release": str(found.path),
            "date": found.date,
            "audit": found.audit.as_json(),
            "attack": found.attack.as_json(),
            "comparison": None if found.comparison is None else found.comparison.as_json(),
            "statements": None if found.statements is None else found.statements.as_json(),
        }

    def document(self) -> Document:
        """Where the report lies and whether the audit passed."""
        audit = self.evidence.audit
        verdict = "passed" if audit.passed else "failed"
        kind = self.evidence.manifest.kind
        units = count(audit.classes, kind.unit, kind.units)
        return (
            Line(f"Wrote {self.path}.", Tone.GOOD),
            Line(
                f"Audit {verdict}: {count(audit.rows, 'row')} in {units}.",
                Tone.GOOD if audit.passed else Tone.BAD,
            ),
            *audit.criteria_lines(),
        )


def report(
    release: ReleasePlace,
    *,
    output: str | Path | None = None,
    table: Table | None = None,
    about: str | Path | None = None,
    threshold: str | float = "0.05",
    overwrite: bool = False,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
    title: str | None = None,
    purpose: str | None = None,
    recipient: str | None = None,
    threat_model: str | None = None,
    population: str | None = None,
    controls: str | None = None,
    prepared_by: str | None = None,
    valid_until: str | None = None,
    checks: str | None = None,
    language: str | None = None,
    options: Mapping[str, object] | None = None,
) -> ReportResult:
    """Write the report of a release: its manifest, its audit made anew, attacks, utility, limits, signatures.

    ``release`` is a path or a ``ReleaseAddress``; ``output`` is ``PATH.report.html`` where it is not given;
    ``table`` the original (``discreet.open``), which utility is measured against. ``about`` is a TOML file of
    the publisher's own words, which go before those of the table's spec; the texts here (``purpose``,
    ``recipient``, ``threat_model``, …) go before both, and what nobody says is left blank to be filled in by
    hand. ``checks`` is a preset by its name (``discreet presets``), whose points stand before the signatures.
    ``language`` is the code of one of ``languages()``, English where nobody says so. ``options`` are those of
    attacks, by name.
    A release whose audit fails gets its report too, which says so. ``InputError`` for a release without a
    manifest, or where the output may not be written.
    """
    texts = {
        "title": title,
        "purpose": purpose,
        "recipient": recipient,
        "threat_model": threat_model,
        "population": population,
        "controls": controls,
        "prepared_by": prepared_by,
        "valid_until": valid_until,
        "language": language,
    }
    words = about_of(table, about, texts)
    spoken = language_of(words.language or ENGLISH)
    rule = None if checks is None else preset(checks)
    address = address_of(release)
    shown = address.shown_path
    target = shown.with_name(shown.name + SUFFIX) if output is None else Path(output)
    known = settings or Settings.from_environment()
    kept = (
        *kept_releases([address], "the release"),
        *kept_by_spec(None if table is None else table.spec, known),
        *kept_options({"about": about, **(options or {})}),
    )
    check_new_file(target, overwrite=overwrite, name="a report", kept=kept)
    evidence = gather_evidence(
        address,
        table=table,
        about=words,
        threshold=threshold,
        options=options,
        settings=settings,
        reporter=reporter,
    )
    with reporter.stage("Writing the report"):
        write_text(target, report_page(evidence, spoken, rule), overwrite=overwrite, owner_only=True)
    return ReportResult(target, evidence)
