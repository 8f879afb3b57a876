"""Several tables at once: what ``publish`` and ``audit`` do with a relational spec and with its release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from discreet.cli import options, output
from discreet.cli.progress import TerminalReporter
from discreet.errors import InputError

FAILED = 1


def is_relational(spec: Path) -> bool:
    """Whether a spec speaks of several tables."""
    from discreet.spec.relations import is_relational

    return is_relational(spec)


def is_folder_of_tables(release: str) -> bool:
    """Whether a release is a folder of tables that were published together."""
    from discreet.model.relations import MANIFEST_NAME

    return (Path(release) / MANIFEST_NAME).is_file()


def publish(
    spec: Path,
    folder: Path | None,
    given: Mapping[str, object],
    *,
    overwrite: bool,
    json: bool,
    limits: tuple[str | None, str | None],
) -> int:
    """Publish the tables of a relational spec into a folder; ``given`` are options of single tables."""
    from discreet.verbs.related_tables import open_tables

    _refuse(given, "a relational spec, whose tables say it in their own specs")
    if folder is None:
        raise InputError("no folder was named for the tables", allowed="--output FOLDER, a new one")
    tables = open_tables(spec, settings=options.settings_of(*limits), reporter=TerminalReporter())
    result = tables.publish(folder, overwrite=overwrite)
    if json:
        output.print_json(result.as_json())
        return 0
    output.show(result.document())
    output.show_commands("To check it again:", f"discreet audit {output.quoted(folder)}")
    return 0


def audit(
    release: str, given: Mapping[str, object], *, json: bool, limits: tuple[str | None, str | None]
) -> int:
    """Audit tables that were published together; ``given`` are options of single tables."""
    from discreet.verbs.related_tables import audit_tables

    _refuse(given, "tables that were published together; audit one of them by its file")
    found = audit_tables(release, settings=options.settings_of(*limits), reporter=TerminalReporter())
    if json:
        output.print_json(found.as_json())
    else:
        output.show(found.document())
    return 0 if found.passed else FAILED


def _refuse(given: Mapping[str, object], beside: str) -> None:
    """Raise where an option of single tables stands beside several."""
    for name, value in given.items():
        if value:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} beside {beside}", advice=f"Leave out {option}.")
