"""What a publisher should know before handing a release over."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.model.audit_report import AuditReport
from discreet.model.coded_warning import (
    FEW_PEOPLE,
    INSENSITIVE_PUBLISHED,
    UNLISTED_PUBLISHED,
    CodedWarning,
    not_told,
    public,
)
from discreet.model.group_warnings import in_order
from discreet.model.recoding import FullDomainRecoding
from discreet.model.requirement import Requirement
from discreet.model.table_spec import AttributeRole, TableSpec, UnlistedPolicy
from discreet.recoding.stored_classes import Recoding

HIGH_SUPPRESSION_PERCENT = 10


def release_warnings(
    spec: TableSpec,
    recoding: Recoding,
    derived: Sequence[str],
    roles: dict[str, AttributeRole],
    *,
    rows: int,
    suppressed: int,
    audit: AuditReport,
) -> tuple[CodedWarning, ...]:
    """The warnings that stand in the manifest; none names a value of the data.

    What there is to say of a criterion's value it says itself (``Criterion.warnings``).

    ``derived`` are the attributes that show generalized values derived from the data, ``roles`` those of the
    published columns, ``rows`` the rows before suppression.
    """
    return (
        *_of_requirement(spec, recoding.requirement, audit),
        *hierarchy_warnings(spec, derived),
        *_of_recoding(recoding),
        *column_warnings(spec, roles),
        *identifier_warnings(spec),
        *row_warnings(rows, suppressed),
    )


def with_observed(
    warnings: Sequence[CodedWarning], audit: AuditReport, *, rows_are_people: bool
) -> tuple[CodedWarning, ...]:
    """Add the coded warnings of the audit of what was written, where no warning has their code or text.

    The audit counts pseudonyms as people, unless the spec says that ``rows_are_people``.
    """
    observed = public(warning for warning in audit.warnings if isinstance(warning, CodedWarning))
    if rows_are_people:
        observed = tuple(warning for warning in observed if warning.code != FEW_PEOPLE)
    return in_order((*warnings, *(w for w in observed if w in not_told(observed, warnings))))


def left_out(spec: TableSpec, columns: Sequence[str]) -> tuple[CodedWarning, ...]:
    """What of the spec is not used, and columns that it does not list and that are not published.

    For the publisher alone.
    """
    notes = tuple(CodedWarning("not-used", note) for note in spec.notes)
    if spec.source.unlisted is not UnlistedPolicy.DROP:
        return notes
    listed = {attribute.name for attribute in spec.attributes} | {spec.source.subject}
    names = [name for name in columns if name not in listed]
    if not names:
        return notes
    told = CodedWarning("unlisted-left-out", f"Not listed in the spec, so left out: {in_words(names)}.")
    return (*notes, told)


def _of_requirement(spec: TableSpec, requirement: Requirement, audit: AuditReport) -> list[CodedWarning]:
    if requirement.is_empty:
        return [CodedWarning("no-requirement", "No criterion was required: the release was not tested.")]
    warnings = []
    if requirement.k is None:
        warnings.append(CodedWarning("no-k", "No k was required: a class may be a single person."))
    warnings += [CodedWarning(*told) for criterion in requirement.criteria for told in criterion.warnings()]
    names = tuple(attribute.name for attribute in spec.sensitive)
    promising = {one.place for one in requirement.bound(names) if one.criterion.promises}
    # Where everybody in a group has the same value, the audit says so, and more than this.
    several = [name for name in names if audit.l.get(name, 0) > 1]
    bare = [name for place, name in enumerate(names) if place not in promising and name in several]
    if bare:
        warnings.append(
            CodedWarning("no-l", f"No l of at least 2 was required of the sensitive {in_words(bare)}.")
        )
    return warnings


def _of_recoding(recoding: Recoding) -> list[CodedWarning]:
    """What the search itself warns of."""
    if isinstance(recoding, FullDomainRecoding):
        return []
    return [CodedWarning("recoding", text) for text in recoding.warnings]


def hierarchy_warnings(spec: TableSpec, derived: Sequence[str]) -> list[CodedWarning]:
    """Of generalized values that were derived from the data, and of quasi-identifiers without a hierarchy."""
    flat = [attribute.name for attribute in spec.quasi_identifiers if attribute.hierarchy is None]
    warnings = []
    if derived:
        warnings.append(
            CodedWarning(
                "derived-hierarchy",
                f"The generalized values of {in_words(derived)} were derived from the data and say something "
                "of it.",
            )
        )
    if flat:
        warnings.append(
            CodedWarning(
                "no-hierarchy", f"No hierarchy was given for {in_words(flat)}: each value, or * for all."
            )
        )
    return warnings


def identifier_warnings(spec: TableSpec) -> list[CodedWarning]:
    """Of identifiers that are published in another form, and of dates that are shifted."""
    ways = spec.source.ways
    joining = [name for name, way in ways.items() if way.joins_rows and way.keeps_apart]
    masked = [name for name, way in ways.items() if not way.keeps_apart]
    warnings = []
    if joining:
        warnings.append(
            CodedWarning(
                "rows-can-be-linked",
                f"By {in_words(joining)} rows of one person can be linked. Classes are counted one by one: "
                "who knows several rows of a person may find them where each row alone hides in its class.",
            )
        )
    if masked:
        warnings.append(
            CodedWarning(
                "identifier-shown-in-part",
                f"Characters of {in_words(masked)} are published, and no criterion counts them.",
            )
        )
    if spec.source.shifts:
        names = list(spec.source.shifts)
        warnings.append(
            CodedWarning(
                "dates-shifted",
                f"{in_words(names)}: the dates of each person are moved by a secret number of days. "
                "Intervals between them stay, and may be known.",
            )
        )
    return warnings


def moved_weights(column: str, lost: float, name: str, moved: float) -> CodedWarning:
    """That suppressed rows of a survey took a share of its people with them."""
    return CodedWarning(
        "weights-not-recalibrated",
        f"The weights '{column}' are not recalibrated: suppressed rows stood for {_percent(lost)} % of the "
        f"people, and the weighted share of a value of '{name}' moves by {_percent(moved)} points.",
    )


def unknown_weights(column: str) -> CodedWarning:
    """That nobody can tell what suppressed rows of a survey took with them."""
    return CodedWarning(
        "weights-not-recalibrated",
        f"The weights '{column}' are not recalibrated: what suppressed rows stood for is missing in sums.",
    )


def _percent(share: float) -> str:
    """A share in percent, with a decimal, never rounded down to nothing."""
    return f"{max(100 * share, 0.1):.1f}"


def column_warnings(spec: TableSpec, roles: dict[str, AttributeRole]) -> list[CodedWarning]:
    """Of columns that are published as they are."""
    listed = {attribute.name for attribute in spec.attributes}
    insensitive = [name for name, role in roles.items() if role is AttributeRole.INSENSITIVE]
    unlisted = [name for name in insensitive if name not in listed]
    named = [name for name in insensitive if name in listed]
    warnings = []
    if named:
        warnings.append(
            CodedWarning(
                INSENSITIVE_PUBLISHED, f"Published as they are, outside every check: {in_words(named)}."
            )
        )
    if unlisted:
        warnings.append(
            CodedWarning(
                UNLISTED_PUBLISHED,
                "Not listed in the spec, yet published as they are, outside every check: "
                f"{in_words(unlisted)}.",
            )
        )
    return warnings


def row_warnings(rows: int, suppressed: int) -> list[CodedWarning]:
    """Of many suppressed rows."""
    if suppressed * 100 > HIGH_SUPPRESSION_PERCENT * rows:
        text = (
            f"{suppressed} of {rows} rows are suppressed, more than {HIGH_SUPPRESSION_PERCENT} %: "
            "what is left may misrepresent the whole."
        )
        return [CodedWarning("high-suppression", text)]
    return []


def in_words(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return ", ".join(f"'{name}'" for name in names)
