"""The audit of a table in memory: a frame of any library that ``discreet.open`` takes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias

from discreet.audit.release import audit_rows, read_claims
from discreet.engines.connect import connect
from discreet.errors import InputError
from discreet.model.audit_report import AuditReport
from discreet.model.file_form import FileForm
from discreet.model.release_address import IN_MEMORY, ReleaseAddress
from discreet.model.requirement import Requirement
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.settings import Settings
from discreet.verbs.addresses import ReleasePlace
from discreet.verbs.interruption import interruptible
from discreet.verbs.original import original_beside, spec_of
from discreet.verbs.reporting import Reporter

Audited: TypeAlias = ReleasePlace | object
"""A release's path or address, or a table in memory: pandas, polars, Arrow, Spark, a stream of batches."""

_TABLES = ("__arrow_c_stream__", "to_arrow", "schema", "columns")


def is_table(release: object) -> bool:
    """Whether something is a table in memory, and no path, address or release in a file.

    >>> is_table("release.csv"), is_table({"age": 3})
    (False, False)
    """
    if isinstance(release, str | os.PathLike | ReleaseAddress):
        return False
    return any(hasattr(type(release), name) or hasattr(release, name) for name in _TABLES)


def audit_frame(
    data: Any,
    form: FileForm,
    requirement: Requirement | None,
    *,
    table: str | None,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    spec: str | Path | TableSpec | None,
    strictest: bool,
    settings: Settings,
    reporter: Reporter,
) -> AuditReport:
    """Count the classes of a table in memory and judge a requirement.

    A frame has no manifest, so its quasi-identifiers are named; a release that ``publish`` keeps in memory
    brings its own. ``InputError`` where nothing names quasi-identifiers, and for a ``table`` or for what
    concerns files.
    """
    if table is not None or form != FileForm(null_values=form.null_values):
        raise InputError(
            f"{IN_MEMORY} with {'a table name' if table is not None else 'a form of a file'}",
            allowed="quasi_identifiers, sensitive, null_values and what is required",
        )
    manifest = getattr(data, "manifest", None)
    document: dict[str, Any] = {}
    claims = None
    if isinstance(manifest, Mapping) and callable(getattr(data, "to_arrow", None)):
        document = dict(manifest)
        claims = read_claims(ReleaseAddress(held=True), document)
        data = data.to_arrow()
        requirement = requirement or claims.requirement
    if not quasi_identifiers and claims is None:
        raise InputError(
            f"{IN_MEMORY} has no manifest, and no quasi-identifier was named",
            advice="Name the columns that an attacker may know: quasi_identifiers=[…].",
        )
    wanted = requirement or Requirement()
    source = SourceSpec(data=data, null_values=form.null_values)
    with connect(settings, source) as engine, interruptible(engine), ExitStack() as stack:
        original = stack.enter_context(
            original_beside(
                spec, wanted.criteria, ReleaseAddress(held=True), settings, reporter, all_known=strictest
            )
        )
        stack.enter_context(reporter.stage("Auditing"))
        return audit_rows(
            engine,
            source,
            claims,
            document,
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            requirement=wanted,
            population=original.people,
            known=original.known,
            strictest=strictest,
            real_values={} if spec is None else spec_of(spec).real_values,
        )
