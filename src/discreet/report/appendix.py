"""Appendix A of a report: the SQL by which its readers count the guarantees themselves."""

from __future__ import annotations

from discreet.report.markup import listing, paragraph, section
from discreet.report.words import Words
from discreet.verbs.evidence import ReleaseEvidence


def checked_without(evidence: ReleaseEvidence, words: Words) -> str:
    """Appendix A: who has the release can count again; or why there are no statements to do so."""
    return section("A", words("Checked without discreet"), *_parts(evidence, words))


def _parts(evidence: ReleaseEvidence, words: Words) -> tuple[str, ...]:
    found = evidence.statements
    if found is None:
        return (
            paragraph(
                words(
                    "There are no statements for this release: nothing was required of it, or no SQL that is "
                    "written for people reads its form."
                )
            ),
        )
    return (
        paragraph(
            words(
                "Whoever has the release can count again what is said of it in section 6, with {program} and "
                "without the program that wrote this report: each query stands alone, and must find failing "
                "= 0. Files are named without the folder in which they lie. A comment without a query says "
                "what the release alone does not tell, or what a report does not print.",
                program=found.reader,
            )
        ),
        listing(found.script),
    )
