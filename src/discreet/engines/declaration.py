"""Engine declarations: one value per engine, by which the rest of the program knows it.

A declaration has the name, sources, connection, dialect and capabilities of an engine; no other code compares
engine names. Also defines the identities of tables, including those that a view's statement names, for the
ledger of privacy budgets. Loaded at every start, so it imports no driver.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from discreet.errors import InternalError
from discreet.sql.dialect import Dialect

if TYPE_CHECKING:
    from discreet.engines.base import Engine
    from discreet.engines.delivery import Delivery
    from discreet.model.release_address import ReleaseAddress
    from discreet.model.table_spec import SourceSpec, TableSpec
    from discreet.settings import Settings


@dataclass(frozen=True)
class DatabaseAddresses:
    """Format of the addresses of an engine's databases; an address may contain a user and a password.

    ``what`` names such a database in messages (``a PostgreSQL database``), ``form`` is the format of its
    address (``postgresql://USER@HOST:PORT/DATABASE``), ``short`` a short form for lists, and ``example`` an
    example. ``listing`` is a query that returns the schema and the name of each table and view that the user
    may read. ``matches`` returns True for an address in any spelling. ``read`` normalizes an address for the
    engine's library; its ``InputError`` never shows the address. ``password`` describes where a password can
    be given outside the address.
    """

    what: str
    form: str
    short: str
    example: str
    matches: Callable[[str], bool]
    read: Callable[[str], str]
    password: str
    listing: str


class CheckTable(Protocol):
    """Check that raises ``InputError`` if a release cannot become a table, or would replace another one."""

    def __call__(
        self, engine: Engine, spec: TableSpec, address: ReleaseAddress, *, overwrite: bool
    ) -> object:
        """Check only rights and names."""


class DeliverTables(Protocol):
    """Delivery of a release as tables in the source's database, checked when the context is entered."""

    def __call__(
        self,
        engine: Engine,
        spec: TableSpec,
        address: ReleaseAddress,
        *,
        overwrite: bool,
        purposes: Sequence[str] = (),
    ) -> AbstractContextManager[Delivery]:
        """Return a delivery to ``address``; ``purposes`` are the companion tables other than the manifest."""


@dataclass(frozen=True)
class TableTarget:
    """Publication of releases as tables by an engine; ``engines.delivery`` has the common parts."""

    check: CheckTable
    deliver: DeliverTables


def catalog_tables() -> TableTarget:
    """Return how an engine publishes tables that it writes under temporary names and renames."""
    from discreet.engines.delivery import catalog_delivery, check_catalog_target

    return TableTarget(check_catalog_target, catalog_delivery)


Identities: TypeAlias = "Callable[[Engine, SourceSpec], tuple[tuple[str, str], ...]]"
"""Function that returns the identities of a source's table (``engines.identity``)."""


def _no_identity(engine: Engine, source: SourceSpec) -> tuple[tuple[str, str], ...]:
    del engine, source
    return ()


def _holds_nothing(data: object) -> bool:
    del data
    return False


@dataclass(frozen=True)
class EngineDeclaration:
    """Declaration of an engine: its name, its sources, how to connect, and its capabilities.

    Capabilities that an engine does not have keep their defaults (False or None).

    ``name`` is the engine's name in specs and for ``--sql``, ``title`` its name in messages. ``connect``
    creates an engine within settings, for a source; it imports the driver and, if that is missing, names the
    ``extra`` of the package to install. ``dialect`` is the engine's column of ``sql.dialect``; ``reader`` is
    the dialect for running SQL there without discreet, if it differs.

    An engine's sources are those at an address of its ``databases``; paths after its ``scheme``
    (``spark:FOLDER``, where ``behind`` is FOLDER); tables of its ``catalog``, which the scheme without a path
    names; in-memory tables for which ``holds`` returns True; and, if ``on_request``, sources whose spec has
    ``engine = NAME``. ``embedded`` means that the engine works in this process on local files: it audits the
    files that it writes, and values of its sources may be shown here.

    ``queried`` means that queries of releases can be written in its SQL. ``folders`` means that it writes
    folders of Parquet files (``delivery.FolderWriter``). ``tables`` returns how it publishes tables.
    ``identities`` returns the identities of a table of its databases or catalog under every name
    (``engines.identity``). ``tables_where`` describes, in messages, the source that publishing tables
    requires.
    """

    name: str
    title: str
    connect: Callable[[Settings, SourceSpec | None], Engine]
    dialect: Dialect
    reader: Dialect | None = None
    extra: str | None = None
    embedded: bool = False
    databases: DatabaseAddresses | None = None
    scheme: str | None = None
    behind: str = "FILE"
    catalog: str | None = None
    holds: Callable[[object], bool] = _holds_nothing
    on_request: bool = False
    queried: bool = True
    folders: bool = False
    tables: Callable[[], TableTarget] | None = None
    identities: Identities = _no_identity
    tables_where: str = ""

    def __post_init__(self) -> None:
        """Reject invalid schemes: a one-letter scheme would be a Windows drive."""
        if self.scheme is not None and (len(self.scheme) < 3 or not self.scheme.endswith(":")):
            raise InternalError(f"the scheme '{self.scheme}' of the engine '{self.name}' is invalid")
        if self.catalog is not None and self.scheme is None:
            raise InternalError(f"the catalog of the engine '{self.name}' has no scheme that names it")

    @property
    def read_as(self) -> Dialect:
        """SQL dialect for statements that users run there without discreet."""
        return self.dialect if self.reader is None else self.reader


Identity: TypeAlias = tuple[str, str]
"""Kind and text, such as ``("path", "/data/people.sqlite\\npeople")``."""

_WORD = re.compile(r"\"((?:[^\"]|\"\")*)\"|`([^`]*)`|\[([^\]]*)\]|([\w$]+)")


def view_dependencies(name: str, tables: Iterable[str], views: Mapping[str, str]) -> tuple[str, ...]:
    """Return a table or view, and every table and view whose name its statement contains, through views.

    ``views`` maps names to statements. A name in a comment and a column's name count as well: treating two
    sources as one is safer than treating one source as two.

    >>> view_dependencies("v", ["people", "other"], {"v": 'CREATE VIEW v AS SELECT * FROM "People"'})
    ('v', 'people')
    """
    known = {each.casefold(): each for each in (*tables, *views)}
    statements = {view.casefold(): text for view, text in views.items()}
    found, waiting = dict[str, None](), [name]
    while waiting:
        each = waiting.pop()
        if each in found:
            continue
        found[each] = None
        statement = statements.get(each.casefold(), "")
        words = {next(filter(None, word.groups()), "").casefold() for word in _WORD.finditer(statement)}
        waiting += [known[word] for word in words & known.keys()]
    return tuple(sorted(found, key=lambda each: (each != name, each)))


def database_identities(server: Sequence[str], tables: Iterable[str]) -> tuple[Identity, ...]:
    """Return the identities of a database's tables, for each name of its server."""
    return tuple(("table", f"{each}\n{table}") for each in server for table in tables)
