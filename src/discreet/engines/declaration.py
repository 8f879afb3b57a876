"""Engine declarations: the one value by which the rest of the program knows an engine.

Name, sources, connection, dialect and abilities; no other code asks which engine it has. Table identities,
with the tables that a view's statement names, for the ledger of privacy budgets. Loaded at every start:
imports no driver.
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
    """How the addresses of an engine's databases are written; they may hold a user and a password.

    ``what`` is such a database in messages (``a PostgreSQL database``), ``form`` what its address consists of
    (``postgresql://USER@HOST:PORT/DATABASE``), ``short`` the same in a list, ``example`` one of them.
    ``listing`` is a query of the schema and the name of each table and view that the user may read.
    ``matches`` tells whether a text is one, however it is spelled. ``read`` gives it as the engine's library
    reads it; its ``InputError`` never shows the address. ``password`` says where one may stand instead.
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
    """Raises ``InputError`` where a release may not or cannot become a table, or would replace another."""

    def __call__(
        self, engine: Engine, spec: TableSpec, address: ReleaseAddress, *, overwrite: bool
    ) -> object:
        """Look at rights and names, and at nothing else."""


class DeliverTables(Protocol):
    """Delivers a release as tables where the source lies; it is checked as the context is entered."""

    def __call__(
        self,
        engine: Engine,
        spec: TableSpec,
        address: ReleaseAddress,
        *,
        overwrite: bool,
        purposes: Sequence[str] = (),
    ) -> AbstractContextManager[Delivery]:
        """A delivery to ``address``; ``purposes`` are the companions of the data beside the manifest."""


@dataclass(frozen=True)
class TableTarget:
    """How an engine publishes a release as tables; ``engines.delivery`` is what such have in common."""

    check: CheckTable
    deliver: DeliverTables


Identities: TypeAlias = "Callable[[Engine, SourceSpec], tuple[tuple[str, str], ...]]"
"""Returns the identities of a source's table (``engines.identity``)."""


def _no_identity(engine: Engine, source: SourceSpec) -> tuple[tuple[str, str], ...]:
    del engine, source
    return ()


def _holds_nothing(data: object) -> bool:
    del data
    return False


@dataclass(frozen=True)
class EngineDeclaration:
    """An engine: its name, which sources are its, how to connect, and what it can do.

    What an engine cannot do is left out here, and is then False or None.

    ``name`` is what a spec and ``--sql`` call it, ``title`` what messages do. ``connect`` makes an engine
    within settings, for a source; it imports what it needs, and says which ``extra`` of the package to
    install where that is missing. ``dialect`` is its column of ``sql.dialect``, ``reader`` that of those who
    run SQL there by themselves, where it is another one.

    Its sources are those that lie at one of its ``databases``' addresses; paths written behind its ``scheme``
    (``spark:FOLDER``, where ``behind`` is FOLDER); tables of its ``catalog``, which is named by the scheme
    alone; tables in memory that it ``holds``; and where ``on_request`` those whose spec says
    ``engine = NAME``. ``embedded`` says that it works in this process on this machine's files: it audits the
    files that it writes, and values of its sources may be looked at here.

    ``queried`` says that queries of releases are asked and written in its SQL.
    ``folders`` says that it writes folders of Parquet files (``table_writer.FolderWriter``). ``tables``
    gives how it publishes tables, ``identities`` by what it knows a table of its databases or catalog under
    every name (``engines.identity``), and ``tables_where`` is the source that this asks for, in messages.
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
        """Refuse what could not work; an address of one letter is a drive of Windows."""
        if self.scheme is not None and (len(self.scheme) < 3 or not self.scheme.endswith(":")):
            raise InternalError(f"the scheme '{self.scheme}' of the engine '{self.name}' is none")
        if self.catalog is not None and self.scheme is None:
            raise InternalError(f"the catalog of the engine '{self.name}' has no scheme that names it")

    @property
    def read_as(self) -> Dialect:
        """The SQL that is run there without discreet."""
        return self.dialect if self.reader is None else self.reader


Identity: TypeAlias = tuple[str, str]
"""A kind and a text, such as ``("path", "/data/people.sqlite\\npeople")``."""

_WORD = re.compile(r"\"((?:[^\"]|\"\")*)\"|`([^`]*)`|\[([^\]]*)\]|([\w$]+)")


def view_dependencies(name: str, tables: Iterable[str], views: Mapping[str, str]) -> tuple[str, ...]:
    """Return a table or view and every table and view whose name its statement contains, through views.

    ``views`` are statements by name. A name in a comment or of a column counts as well: two sources are
    rather taken for one than for two.

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
    """Return the identities of tables of a database, by each name of its server."""
    return tuple(("table", f"{each}\n{table}") for each in server for table in tables)
