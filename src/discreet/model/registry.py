"""Registries of declarations by name or alias, and suggestions for misspelt names.

Models, metrics, costs, engines, attacks and criteria each have one registry. A function lists the built-in
declarations at the first look-up; other packages register theirs or have an entry point, which is loaded only
if a name is otherwise unknown, or to list all declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from discreet.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def suggest_name(word: object, known: Iterable[str]) -> str | None:
    """Return advice that names the known word most similar to ``word``, ignoring case, or None.

    >>> suggest_name("mondrain", ["full-domain", "mondrian"])
    "Did you mean 'mondrian'?"
    """
    by_folded = {name.casefold().strip(): name for name in known}
    near = get_close_matches(str(word).casefold().strip(), by_folded, n=1)
    return f"Did you mean '{by_folded[near[0]]}'?" if near else None


class Named(Protocol):
    """An object with a name, which can be registered."""

    @property
    def name(self) -> str:
        """Name that a user types."""
        ...


T = TypeVar("T", bound=Named)


class Registry(Generic[T]):
    """Declarations of one kind by name, in the order of registration, built-in ones first.

    ``noun`` begins the error for an unknown name (``the metric``), ``group`` is the group of entry points,
    ``kind`` the type of a declaration (an instance or a subclass of it), ``built_in`` lists the built-in
    declarations, ``aliases`` returns a declaration's other names, and ``check`` raises ``InputError`` for an
    invalid declaration. Safe to use from several threads.
    """

    def __init__(
        self,
        noun: str,
        group: str,
        kind: type[Any],
        built_in: Callable[[], Iterable[T]] = tuple,
        aliases: Callable[[T], Iterable[str]] = lambda _: (),
        check: Callable[[T], None] | None = None,
    ) -> None:
        self.noun = noun
        self.group = group
        self._kind = kind  # type[T], which type checkers reject if T is a class itself
        self._built_in = built_in
        self._aliases = aliases
        self._check = check
        self._found: dict[str, T] = {}
        self._names: dict[str, str] = {}  # every name and alias -> the name
        self._built_in_loaded = False
        self._packages_loaded = False
        self._lock = RLock()

    def register(self, declaration: T) -> T:
        """Add a declaration and return it; adding the same declaration again has no effect.

        Raises ``InputError`` if another declaration has its name or one of its aliases, and for an object of
        another kind.
        """
        with self._lock:
            self._load_built_in()
            self._add(declaration)
        return declaration

    def remove(self, name: str) -> None:
        """Remove a declaration, for example at the end of a test; raise ``InputError`` if there is none."""
        with self._lock:
            found = self.named(name)
            del self._found[found.name]
            self._names = {word: of for word, of in self._names.items() if of != found.name}

    def named(self, name: str) -> T:
        """Return the declaration of a name or alias; ``InputError`` lists the allowed ones."""
        result = self.get(name)
        if result is None:
            words = self.words()
            raise InputError(
                f"{self.noun} '{name}'", allowed=", ".join(words), advice=suggest_name(name, words)
            )
        return result

    def get(self, name: str) -> T | None:
        """Return the declaration of a name or alias, or None.

        Raises ``InputError`` for a package that cannot be loaded.
        """
        with self._lock:
            self._load_built_in()
            if name not in self._names:
                self._load_packages()
            return self._found[self._names[name]] if name in self._names else None

    def all(self) -> tuple[T, ...]:
        """Return every declaration; raise ``InputError`` for a package that cannot be loaded."""
        with self._lock:
            self._load_built_in()
            self._load_packages()
            return tuple(self._found.values())

    def names(self) -> tuple[str, ...]:
        """Return the name of every declaration."""
        return tuple(declaration.name for declaration in self.all())

    def words(self) -> tuple[str, ...]:
        """Return every name, then every alias."""
        names = self.names()
        return (*names, *(word for word in self._names if word not in names))

    def __iter__(self) -> Iterator[T]:
        return iter(self.all())

    def __len__(self) -> int:
        return len(self.all())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def _load_built_in(self) -> None:
        if not self._built_in_loaded:
            self._built_in_loaded = True  # before the call: modules that it imports may look up names
            for declaration in self._built_in():
                self._add(declaration)

    def _load_packages(self) -> None:
        if self._packages_loaded:
            return
        from importlib.metadata import entry_points

        for entry in entry_points(group=self.group):
            self._load(entry)
        self._packages_loaded = True  # after the loop: a broken package is reported each time, never skipped

    def _load(self, entry: EntryPoint) -> None:
        package = f"the package {entry.dist.name}" if entry.dist else "a package"
        label = f"{self.noun} '{entry.name}' of {package}"
        advice = "Repair the package, or uninstall it."
        try:
            loaded = entry.load()
            if not isinstance(loaded, ModuleType):
                self._add(loaded)
        except InputError as error:
            raise InputError(f"{label}: {error.message}", allowed=error.allowed, advice=advice) from error
        except Exception as error:
            raise InputError(
                f"{label} cannot be loaded from {entry.value}: {type(error).__name__}: {error}",
                advice=advice,
            ) from error

    def _add(self, declaration: T) -> None:
        if self._check is not None:
            self._check(declaration)
        is_class = isinstance(declaration, type) and issubclass(declaration, self._kind)
        if not is_class and not isinstance(declaration, self._kind):
            raise InputError(
                f"the object registered as {self.noun} is a {type(declaration).__name__}",
                allowed=f"a {self._kind.__name__}",
            )
        if self._found.get(declaration.name) is declaration:
            return
        words = (declaration.name, *self._aliases(declaration))
        for word in words:
            if word in self._names:
                raise InputError(f"{self.noun} '{word}' is registered already", advice="Choose another name.")
        self._found[declaration.name] = declaration
        self._names.update(dict.fromkeys(words, declaration.name))
