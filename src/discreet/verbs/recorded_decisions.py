"""Publication of new rows by a recorded decision: the levels of a manifest (``apply``) or of a lock file.

Both refuse if the spec's columns or hierarchies differ from those of the decision, since the levels would
then have another meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.audit.manifest_claims import read_requirement
from discreet.errors import InputError, NoSolution, RequirementNotMet
from discreet.lattice.evaluation import build_lattice
from discreet.model.criteria.registry import criteria_from
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import PublicPart
from discreet.model.json_documents import program_version
from discreet.model.lattice import Lattice
from discreet.model.release_address import ReleaseAddress
from discreet.model.release_kind import ReleaseUse
from discreet.model.request import Request
from discreet.model.table_spec import Attribute, TableSpec
from discreet.places.address import parse_path
from discreet.places.protected_files import ProtectedFile, TargetFile
from discreet.printing.document import format_quantity, format_share
from discreet.release.lock import LOCK_MODEL, TOP_LEVEL, Lock, describe_columns, describe_reading, read_lock
from discreet.release.manifest import Manifest, ManifestAttribute
from discreet.release.publication_evidence import compute_public_digest, find_label_form, find_public_part
from discreet.release.release_target import list_protected_files, list_release_files
from discreet.results.answers import AnswerResult
from discreet.results.publish_result import (
    ReleaseResult,
    choose_answer,
    count_suppressed_rows,
    parse_relaxation,
    require_rows_left,
    require_within_limit,
    resolve_node,
)
from discreet.results.request_defaults import LevelsByAttribute
from discreet.settings import Settings
from discreet.spec.spec_reader import load_spec
from discreet.verbs.locations import PublishTarget, ReleaseLocation, address_of, check_output_file, write_text
from discreet.verbs.output_checks import check_release_files
from discreet.verbs.release_facts import read_manifest_if_present
from discreet.verbs.release_publication import check_publish_target, publish_answer, publish_levels
from discreet.verbs.run_context import SILENT, Reporter
from discreet.verbs.table_context import TableContext

if TYPE_CHECKING:
    from discreet.model.hierarchy import GeneralizationHierarchy


_QUASI_IDENTIFIER = "quasi-identifier"


def apply(
    release: ReleaseLocation,
    data: str | Path,
    output: str | Path,
    *,
    spec: str | Path | TableSpec,
    max_suppressed: str | int | None = None,
    overwrite: bool = False,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
) -> ReleaseResult:
    """Publish other rows at the levels of a release, for the same requirement, and audit them.

    ``data`` is a file that is read like the source of ``spec``, the publisher's spec, with its hierarchies.
    Only the classes of the new rows are checked: failing classes are suppressed, at most ``max_suppressed``
    rows (default: the spec's limit, else 0).

    Raises ``InputError`` if the manifest does not record the recoding (a model other than full-domain, or
    levels or labels derived from the data), if the hierarchies of the spec differ from those of the release,
    and for a value without a leaf; otherwise as ``Table.publish``.

    >>> discreet.apply("may.csv", "june-rows.csv", "june.csv", spec="discreet.toml")  # doctest: +SKIP
    """
    limits = settings or Settings.from_environment()
    address = address_of(release)
    manifest = read_manifest_if_present(address, limits)
    if manifest is None:
        raise InputError(f"{address.label} has no manifest, which records the levels")
    known = spec if isinstance(spec, TableSpec) else load_spec(parse_path(spec, "the path of a spec"), limits)
    levels = read_recorded_levels(manifest, address.label, known)
    table = TableContext(_replace_source(known, parse_path(data)), limits, reporter)
    protected = (
        *list_protected_files(known, limits),
        *list_release_files(address, "the release that is applied"),
    )
    target = PublishTarget(
        parse_path(output, "the path of the output"), manifest.suppression, overwrite, protected=protected
    )
    check_publish_target(table, target)
    requirement = read_requirement(manifest.as_json())
    built = table.counted_for(requirement).hierarchies
    _require_same_hierarchies(manifest, known, {hierarchy.attribute: hierarchy for hierarchy in built})
    limit = next((value for value in (max_suppressed, known.request.max_suppressed) if value is not None), 0)
    request = Request.of(max_suppressed=limit, criteria=requirement.criteria)
    return publish_levels(table, levels, request, target)


def read_recorded_levels(manifest: Manifest, label: str, spec: TableSpec) -> dict[str, int]:
    """Return each quasi-identifier's level; raise ``InputError`` if levels are missing or do not fit."""
    manifest.kind.require_support(ReleaseUse.APPLY, label)
    if not manifest.has_levels:
        raise InputError(
            f"the {manifest.model} recoding of {label} is not recorded: bounds of its classes were derived "
            "from its rows, and a manifest contains no values of rows",
            allowed="a release by levels (full-domain)",
            advice="Publish the new rows separately.",
        )
    listed = [a for a in manifest.attributes if a.published and a.role == _QUASI_IDENTIFIER]
    mine = [attribute.name for attribute in spec.quasi_identifiers]
    if sorted(mine) != sorted(entry.name for entry in listed):
        raise InputError(
            f"{spec.label} has other quasi-identifiers than {label}",
            allowed=", ".join(entry.name for entry in listed),
        )
    result = {}
    for entry in listed:
        if entry.level is None or _is_from_data(entry):
            raise InputError(
                f"the values that {label} shows of '{entry.name}' were derived from its data and are not "
                "recorded",
                advice="Give the column a hierarchy that does not depend on the data, and publish both "
                "with it.",
            )
        result[entry.name] = entry.level
    return result


def _is_from_data(entry: ManifestAttribute) -> bool:
    """Return True if the release shows generalized values derived from its data."""
    return bool(entry.hierarchy_from_data) and entry.level not in (0, entry.height)


def _replace_source(spec: TableSpec, data: Path) -> TableSpec:
    """Return the spec with the rows of another file, which is read like the spec's file."""
    if spec.source.path is None or spec.source.table is not None:
        raise InputError(
            f"the source of {spec.label} is not a file: the spec does not say how to read the new file",
            allowed="a spec whose source is a file",
        )
    same = spec.source.path.suffix == data.suffix
    form = spec.source.format if same else None
    return replace(
        spec, source=replace(spec.source, path=data, format=form, data=None, version=None, subset=None)
    )


def _require_same_hierarchies(
    manifest: Manifest, spec: TableSpec, built: Mapping[str, GeneralizationHierarchy]
) -> None:
    """Raise ``InputError`` if a hierarchy differs from that of the release."""
    entries = {entry.name: entry for entry in manifest.attributes}
    for attribute in spec.quasi_identifiers:
        entry, hierarchy = entries[attribute.name], built[attribute.name]
        if entry.level != 0 and not _is_same_hierarchy(entry, attribute, hierarchy):
            raise InputError(
                f"the hierarchy of '{attribute.name}' is not the hierarchy of the release",
                advice="Use the spec and hierarchies of that release.",
            )


def _is_same_hierarchy(
    entry: ManifestAttribute, attribute: Attribute, hierarchy: GeneralizationHierarchy
) -> bool:
    """Compare hierarchies by digest if the manifest has it, else by height and the form of the labels."""
    if entry.hierarchy_sha256 is not None:
        return compute_public_digest(attribute.hierarchy, hierarchy) == entry.hierarchy_sha256
    return hierarchy.height == entry.height and find_label_form(attribute.hierarchy) == entry.label_form


def publish_and_lock(
    table: TableContext,
    request: Request,
    target: PublishTarget,
    lock: Path,
    *,
    levels: LevelsByAttribute | None = None,
    accept_relaxation: str | None = None,
) -> ReleaseResult:
    """Publish given levels, or the answer to a request, and write the decision to a new file ``lock``.

    Raises ``InputError`` before anything is written if the file exists or the decision cannot be locked: in a
    hierarchy derived from the data, a level strictly between the bottom and the top has another meaning for
    other rows. Raises ``NoSolution`` as without a lock.
    """
    relaxation = parse_relaxation(accept_relaxation, request.requirement)
    check_output_file(lock, overwrite=False)
    check_lock(table, target, lock)
    if levels:
        answer = _answer_at_levels(table, levels, request)
    else:
        lattice = table.negotiable_lattice_for(request.requirement)
        answer = require_rows_left(choose_answer(lattice.answer(request), relaxation))
    # Before the publication, so that a decision that cannot be locked is not published.
    made = make_lock(table, answer, request, target.suppressed_rows, target.row_order)
    release = publish_answer(table, answer, target)
    # The lock is written last: it exists only if its release does.
    write_text(lock, made.text(), overwrite=False)
    return release


def publish_locked(
    table: TableContext, lock: Path, output: Path | ReleaseAddress, *, overwrite: bool = False
) -> ReleaseResult:
    """Publish these rows by the decision in ``lock``, at exactly its levels.

    Raises ``InputError`` if the spec of a column or of the rows has changed; ``NoSolution`` if the levels
    suppress more rows than allowed, with the nearest relaxations for these rows; ``RequirementNotMet`` if the
    audit fails. Nothing is written in these cases, and the lock is never written.
    """
    check_lock(table, PublishTarget(output), lock)
    locked = read_lock(lock)
    request = _request_from_lock(locked)
    target = PublishTarget(
        output,
        locked.suppressed_rows,
        overwrite,
        locked.row_order,
        protected=(ProtectedFile("the lock", lock),),
    )
    frequency_set = table.counted_for(request.requirement)
    current = replace(
        locked,
        requirement=request.requirement.as_json(),
        columns=describe_columns(table.spec, frequency_set.hierarchies),
        reading=describe_reading(table.spec),
    )
    _require_same_spec(locked, current, lock)
    levels = _current_levels(locked, build_lattice(frequency_set))
    try:
        answer = _answer_at_levels(table, levels, request)
    except NoSolution as error:
        raise _make_refusal(table, request, levels, frequency_set, lock) from error
    try:
        return publish_answer(table, answer, target)
    except RequirementNotMet as error:
        raise RequirementNotMet(f"the decision of {lock} is not met by these rows: {error}") from error


def check_lock(table: TableContext, target: PublishTarget, lock: Path) -> None:
    """Raise ``InputError`` if a lock, or the release, is another file of the publisher."""
    check_release_files(table.spec, table.settings, target, further=(TargetFile("the lock", lock),))


def make_lock(
    table: TableContext, answer: AnswerResult, request: Request, suppressed: str, row_order: str | None
) -> Lock:
    """Build the lock of an answer; raise ``InputError`` if a level depends on these rows."""
    requirement = answer.answer.requirement
    frequency_set = table.counted_for(requirement)
    levels: dict[str, int | str] = {}
    sources = {a.name: a.hierarchy for a in table.spec.quasi_identifiers}
    for (name, level), top in zip(answer.levels.items(), answer.lattice.heights, strict=True):
        levels[name] = level
        if find_public_part(sources[name]) is PublicPart.NOTHING and level > 0:
            if level < top:
                raise InputError(
                    f"level {level} of '{name}' cannot be locked: its hierarchy is derived from the data",
                    allowed=f"a hierarchy in the spec, or level 0 or {top} of '{name}'",
                    advice=f"Give '{name}' a hierarchy in the spec (docs/hierarchies.md). "
                    "Nothing was written.",
                )
            levels[name] = TOP_LEVEL
    limit = request.max_suppressed
    most = f"{limit}" if answer.suppressed <= limit.of(answer.rows) else _rounded_up_share(answer)
    return Lock(
        requirement.as_json(),
        most,
        suppressed,
        str(table.spec.with_order(row_order).request.row_order),
        levels,
        describe_columns(table.spec, frequency_set.hierarchies),
        describe_reading(table.spec),
        program_version(),
    )


def _rounded_up_share(answer: AnswerResult) -> str:
    """Return the suppressed share as a limit, rounded up to hundredths of a percent."""
    return f"{ceil(Fraction(10_000 * answer.suppressed, answer.rows)) / 100}%"


def _request_from_lock(lock: Lock) -> Request:
    required = dict(lock.requirement)
    k, l = required.pop("k", None), required.pop("l", None)
    criteria = criteria_from({name: value for name, value in required.items() if value})
    return Request.of(k=k, l=l, max_suppressed=lock.max_suppressed, criteria=criteria)


def _require_same_spec(then: Lock, now: Lock, path: Path) -> None:
    differences = then.differences(now)
    if differences:
        raise InputError(
            f"{path} was written under another spec: {'; '.join(differences)}",
            allowed="the columns, roles and hierarchies of the lock",
            advice="Restore the spec, or publish with a new lock. Nothing was written.",
        )


def _current_levels(lock: Lock, lattice: Lattice) -> dict[str, int]:
    """Return the locked levels; raise ``InputError`` if quasi-identifiers are missing.

    The symbolic top level becomes the height of the current hierarchy.
    """
    if set(lock.levels) != set(lattice.attributes):
        raise InputError("the lock's levels are not those of the spec's quasi-identifiers")
    tops = dict(zip(lattice.attributes, lattice.heights, strict=True))
    return {name: tops[name] if level == TOP_LEVEL else int(level) for name, level in lock.levels.items()}


def _answer_at_levels(table: TableContext, levels: LevelsByAttribute, request: Request) -> AnswerResult:
    frequency_set = table.counted_for(request.requirement)
    lattice = build_lattice(frequency_set)
    node = resolve_node(lattice, levels, request.min_level)
    number = count_suppressed_rows(frequency_set, node, request.requirement)
    return require_within_limit(lattice, node, request, number, frequency_set.rows)


def _make_refusal(
    table: TableContext, request: Request, levels: dict[str, int], frequency_set: FrequencySet, path: Path
) -> NoSolution:
    """Build the error for locked levels that fail, with the relaxations nearest to them."""
    lattice = build_lattice(frequency_set)
    node = lattice.node_of(levels, lattice.bottom)
    number, rows = count_suppressed_rows(frequency_set, node, request.requirement), frequency_set.rows
    wish = Request(request.requirement, request.max_suppressed, max_level=tuple(levels.items()))
    answers = table.negotiable_lattice_for(request.requirement).answer(wish).answers
    ways = "; ".join(_describe_relaxation(answer, levels) for answer in answers) or "none"
    return NoSolution(
        f"the decision of {path} ({LOCK_MODEL}) suppresses {number:,} of {rows:,} rows "
        f"({format_share(number, rows)}) for {request.requirement}",
        allowed=f"at most {format_quantity(request.max_suppressed.of(rows), 'row')} "
        f"({request.max_suppressed})",
        advice=f"Nothing was written. Nearest: {ways}. To take one, publish with a new lock.",
    )


def _describe_relaxation(answer: AnswerResult, levels: dict[str, int]) -> str:
    moved = [f"{name} {level}" for name, level in answer.levels.items() if level != levels[name]]
    where = f" at {', '.join(moved)}" if moved else " at the same levels"
    part = answer.relaxed or "exact"
    return f"{part}: {answer.answer.requirement}{where}, {answer.suppressed:,} rows suppressed"
