"""Appendix A of a report: the SQL by which its readers count the guarantees themselves."""

from __future__ import annotations

from discreet.report.markup import listing, paragraph, section
from discreet.verbs.evidence import ReleaseEvidence


def checked_without(evidence: ReleaseEvidence) -> str:
    """The statements, which name the release's files without folders, or that there are none."""
    return section("A", "Checked without discreet", *_parts(evidence))


def _parts(evidence: ReleaseEvidence) -> tuple[str, ...]:
    found = evidence.statements
    if found is None:
        return (
            paragraph(
                "There are no statements for this release: nothing was required of it, or no SQL that is "
                "written for people reads its form."
            ),
        )
    return (
        paragraph(
            f"Whoever has the release can count again what is said of it in section 6, with {found.reader} "
            "and without the program that wrote this report: each query stands alone, and must find "
            "failing = 0. Files are named without the folder in which they lie. A comment without a query "
            "says what the release alone does not tell, or what a report does not print."
        ),
        listing(found.script),
    )
