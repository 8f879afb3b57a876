"""``publish`` and ``audit`` of related tables, by a relational spec.

Two verbs share this module, and neither loads the options of the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from discreet.cli import options, output
from discreet.cli.output import TerminalReporter
from discreet.errors import InputError

_FAILED = 1


def names_related_tables(spec: Path) -> bool:
    """Return whether a spec describes several tables."""
    from discreet.spec.relational_spec import is_relational_spec

    return is_relational_spec(spec)


def is_relational_release(release: str) -> bool:
    """Return whether a release is a folder of tables that were published together."""
    from discreet.model.relational_schema import TABLES_MANIFEST_NAME

    return (Path(release) / TABLES_MANIFEST_NAME).is_file()


def publish_related(
    spec: Path, folder: Path | None, arguments: Mapping[str, object], *, overwrite: bool
) -> int:
    """Publish the tables of a relational spec into a folder; ``arguments`` are options of single tables."""
    from discreet.verbs.relational import open_tables

    _refuse(arguments, "a relational spec, whose tables have it in their own specs")
    if folder is None:
        raise InputError("no folder was given for the tables", allowed="--output FOLDER, a new one")
    tables = open_tables(spec, settings=options.parse_settings(), reporter=TerminalReporter())
    output.print_result(tables.publish(folder, overwrite=overwrite))
    output.print_commands("To check it again:", f"discreet audit {output.quote_for_shell(folder)}")
    return 0


def audit_related(release: str, arguments: Mapping[str, object]) -> int:
    """Audit tables that were published together; ``arguments`` are options of single tables."""
    from discreet.verbs.relational import audit_tables

    _refuse(arguments, "tables that were published together; audit one of them by its file")
    found = audit_tables(release, settings=options.parse_settings(), reporter=TerminalReporter())
    return output.print_result(found, 0 if found.passed else _FAILED)


def _refuse(arguments: Mapping[str, object], subject: str) -> None:
    """Raise if an option of a single table is given for several."""
    options.refuse_given(arguments, f"{{}} cannot be combined with {subject}", advice="Leave out {}.")
