"""The evidence of a report: manifest, new audit, attacks, comparison with the original, metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.attacks.registry import REPORT_ATTACKS
from discreet.engines.connection import connect
from discreet.errors import InputError, redact_secrets
from discreet.model.json_documents import program_version
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import ReportMetadata
from discreet.release.manifest import Manifest, read_manifest
from discreet.results.attack_result import AttackResult
from discreet.results.audit_result import AuditResult, CheckStatements
from discreet.settings import Settings
from discreet.spec.spec_reader import load_report_metadata
from discreet.verbs.audits import audit, publishable_statements
from discreet.verbs.locations import ReleaseLocation, address_of
from discreet.verbs.original_comparison import ReleaseComparison
from discreet.verbs.release_attack import attack
from discreet.verbs.run_context import SILENT, Reporter

if TYPE_CHECKING:
    from discreet.verbs.table import Table


@dataclass(frozen=True)
class ReleaseEvidence:
    """Evidence about a release for its report.

    ``audit`` is a new audit of the written file. ``comparison`` is None without the original; ``unmeasured``
    is the reason. ``statements`` check the release without this program and contain no cell of it; None if
    there are none. ``date`` is the day of the audit in UTC; ``discreet`` is the version of the program.
    """

    path: Path
    manifest: Manifest
    audit: AuditResult
    attack: AttackResult
    comparison: ReleaseComparison | None
    unmeasured: str | None
    statements: CheckStatements | None
    about: ReportMetadata
    date: str
    discreet: str


def gather_evidence(
    release: ReleaseLocation,
    *,
    table: Table | None = None,
    about: ReportMetadata | None = None,
    threshold: str | float = "0.05",
    options: Mapping[str, object] | None = None,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
) -> ReleaseEvidence:
    """Audit a release again, attack it, and compare it with its original if ``table`` is given.

    ``options`` are those of the report's attacks, by name. Raises ``InputError`` if the release has no
    manifest, or if the table is not its original.
    """
    address = address_of(release)
    with connect(settings or Settings.from_environment(), address.source()) as engine:
        manifest = read_manifest(address, engine)
    spec = None if table is None else table.spec
    counted = audit(address, spec=spec, settings=settings, reporter=reporter)
    attacked = attack(
        address,
        table=table,
        threshold=threshold,
        by=REPORT_ATTACKS,
        options=options,
        settings=settings,
        reporter=reporter,
    )
    comparison, unmeasured = None, None
    if table is None:
        unmeasured = "Utility is measured against the original: give the report its spec."
    elif address.path is not None and manifest.kind.data_table:
        unmeasured = "Metrics compare files of rows; this release is a database."
    else:
        comparison = table.compare(address)
    return ReleaseEvidence(
        path=address.display_path,
        manifest=manifest,
        audit=counted,
        attack=attacked,
        comparison=comparison,
        unmeasured=unmeasured,
        statements=_find_statements(address, settings),
        about=about or ReportMetadata(),
        date=datetime.now(UTC).date().isoformat(),
        discreet=program_version(),
    )


def merge_report_metadata(
    table: Table | None, path: str | Path | None, overrides: Mapping[str, str | None]
) -> ReportMetadata:
    """Merge a report's metadata: ``overrides`` first, then the file at ``path``, then the table's spec."""
    read = ReportMetadata() if path is None else load_report_metadata(Path(path))
    known = {name: text for each in (asdict(read), overrides) for name, text in each.items() if text}
    found = replace(ReportMetadata() if table is None else table.spec.about, **known)
    return replace(found, **{k: redact_secrets(v) for k, v in asdict(found).items() if isinstance(v, str)})


def _find_statements(address: ReleaseAddress, settings: Settings | None) -> CheckStatements | None:
    """Return the check statements; None without a requirement or for an unsupported format.

    The error is dropped, since its text would name the path.
    """
    try:
        return publishable_statements(address, settings=settings)
    except InputError:
        return None
