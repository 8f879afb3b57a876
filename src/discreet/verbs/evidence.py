"""What a report rests on: a release's manifest, its audit done anew, attacks, and a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.attacks.registry import REPORTED
from discreet.engines.connect import connect
from discreet.errors import InputError, without_secrets
from discreet.model.about import About
from discreet.model.own_version import own_version
from discreet.model.release_address import ReleaseAddress
from discreet.release.manifest import Manifest, read_manifest
from discreet.results.attack_result import AttackResult
from discreet.results.audit_result import AuditResult
from discreet.results.check_statements import CheckStatements
from discreet.settings import Settings
from discreet.spec.about import load_about
from discreet.verbs.addresses import ReleasePlace, address_of
from discreet.verbs.attacking import attack
from discreet.verbs.auditing import audit, statements_to_show
from discreet.verbs.comparing import ReleaseComparison
from discreet.verbs.reporting import SILENT, Reporter

if TYPE_CHECKING:
    from discreet.verbs.table import Table


@dataclass(frozen=True)
class ReleaseEvidence:
    """Everything that is known of a release.

    ``audit`` was made now, from the written file. ``comparison`` is there where the original is,
    ``unmeasured`` says why it is not. ``statements`` check the release without this program, and hold no cell
    of it; None where there are none. ``date`` is the day of the audit, in UTC; ``discreet`` the version that
    made it.
    """

    path: Path
    manifest: Manifest
    audit: AuditResult
    attack: AttackResult
    comparison: ReleaseComparison | None
    unmeasured: str | None
    statements: CheckStatements | None
    about: About
    date: str
    discreet: str


def gather_evidence(
    release: ReleasePlace,
    *,
    table: Table | None = None,
    about: About | None = None,
    threshold: str | float = "0.05",
    options: Mapping[str, object] | None = None,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
) -> ReleaseEvidence:
    """Audit a release anew, attack it, and compare it with its original where ``table`` is that.

    ``options`` are those of the attacks that a report tries, by name.

    ``InputError`` where the release has no manifest, or where the table is not the one it was made of.
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
        by=REPORTED,
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
        path=address.shown_path,
        manifest=manifest,
        audit=counted,
        attack=attacked,
        comparison=comparison,
        unmeasured=unmeasured,
        statements=_statements(address, settings),
        about=about or About(),
        date=datetime.now(UTC).date().isoformat(),
        discreet=own_version(),
    )


def about_of(table: Table | None, path: str | Path | None, given: Mapping[str, str | None]) -> About:
    """The words of the table's spec; those of a file go before them, and those that are given before both."""
    read = About() if path is None else load_about(Path(path))
    known = {name: text for each in (asdict(read), given) for name, text in each.items() if text}
    found = replace(About() if table is None else table.spec.about, **known)
    return replace(found, **{k: without_secrets(v) for k, v in asdict(found).items() if isinstance(v, str)})


def _statements(address: ReleaseAddress, settings: Settings | None) -> CheckStatements | None:
    """None where nothing is required, or no statement reads the form; the error would name the path."""
    try:
        return statements_to_show(address, settings=settings)
    except InputError:
        return None
