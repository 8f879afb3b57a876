"""Registry of engines: built-in, registered by a program, and from entry points of installed packages.

Looks up the engine of a source, of an address, or of a dialect's name. Loaded by ``--help``, so it must
import neither numpy nor an engine's driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from discreet.engines.declaration import EngineDeclaration
from discreet.engines.duckdb.declaration import EMBEDDED_ENGINE
from discreet.engines.mariadb.declaration import MARIADB_ENGINE
from discreet.engines.postgres.declaration import POSTGRES_ENGINE
from discreet.engines.spark.declaration import SPARK_ENGINE
from discreet.errors import InputError
from discreet.model.registry import Registry
from discreet.places.address import ENVIRONMENT_PREFIX, is_variable, resolve_address

if TYPE_CHECKING:
    from discreet.model.table_spec import SourceSpec
    from discreet.sql.dialect import Dialect

BUILT_IN_ENGINES = (EMBEDDED_ENGINE, POSTGRES_ENGINE, MARIADB_ENGINE, SPARK_ENGINE)

ENGINES: Registry[EngineDeclaration] = Registry(
    "the engine", "discreet.engines", EngineDeclaration, lambda: BUILT_IN_ENGINES
)


def engine_of(source: SourceSpec | None) -> EngineDeclaration:
    """Return the engine that reads a source: by its spec, else by its location, else the embedded engine.

    Raises ``InputError`` for an unknown engine, and for an address that belongs to no engine.
    """
    if source is None:
        return EMBEDDED_ENGINE
    if source.url is not None:
        return engine_at(source.url)
    if source.engine is not None:
        return ENGINES.named(source.engine)
    return (
        EMBEDDED_ENGINE
        if source.data is None
        else unique_engine(lambda e: e.holds(source.data)) or EMBEDDED_ENGINE
    )


def engine_at(url: str) -> EngineDeclaration:
    """Return the engine of a database's address.

    Raises ``InputError``, without the address, if no engine has such addresses.
    """
    address = resolve_address(url)
    result = unique_engine(lambda e: e.databases is not None and e.databases.matches(address))
    if result is None:
        every = [engine.databases for engine in ENGINES if engine.databases is not None]
        databases_text = " or ".join(databases.what for databases in every)
        raise InputError(
            f"{_address_description(url)} not an address of {databases_text}",
            allowed=" or ".join(f"{databases.form}, as in {databases.example}" for databases in every),
        )
    return result


def _address_description(url: str) -> str:
    if is_variable(url):
        return f"the environment variable {url.removeprefix(ENVIRONMENT_PREFIX)} is"
    return "this is"


def unique_engine(is_its: Callable[[EngineDeclaration], bool]) -> EngineDeclaration | None:
    """Return the only engine that satisfies a predicate, None without one; ``InputError`` for several."""
    found = [engine for engine in ENGINES if is_its(engine)]
    if len(found) > 1:
        names = ", ".join(engine.name for engine in found)
        raise InputError(f"several engines claim the same source: {names}", advice="Remove one of them.")
    return found[0] if found else None


def dialect_named(name: str | None) -> Dialect:
    """Return the SQL dialect of that name for readers of a release; without a name the embedded engine's.

    Raises ``InputError`` for an unknown name, and for an engine whose SQL cannot express queries of releases.
    """
    if name is None:
        return EMBEDDED_ENGINE.read_as
    engine = ENGINES.get(name)
    if engine is not None and engine.queried:
        return engine.read_as
    dialects = query_dialects(ENGINES.all())
    if name not in dialects:
        raise InputError(
            f"dialect '{name}'" if engine is None else f"a query of a release in {engine.title}",
            allowed=", ".join(dialects),
            advice=None if engine is None else "Export the release to a file and query that.",
        )
    return dialects[name]


def query_dialects(engines: Iterable[EngineDeclaration]) -> dict[str, Dialect]:
    """Map names to the dialects for queries of releases: the engines' SQL, then that of other databases."""
    from discreet.sql.warehouses import WITHOUT_ENGINE

    found = {engine.name: engine.read_as for engine in engines if engine.queried}
    without_engine = {dialect.name: dialect for dialect in WITHOUT_ENGINE if dialect.name not in found}
    return found | without_engine


def known_engines() -> tuple[EngineDeclaration, ...]:
    """Return every engine, or only the built-in ones if an installed package cannot be loaded.

    For help and advice, which must not fail because of a broken package; looking up that engine raises the
    error.
    """
    try:
        return ENGINES.all()
    except InputError:
        return BUILT_IN_ENGINES


def register_engine(engine: EngineDeclaration) -> EngineDeclaration:
    """Add an engine for this process and return it; raises ``InputError`` if its name is taken."""
    return ENGINES.register(engine)
