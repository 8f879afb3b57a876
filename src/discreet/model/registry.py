"""A registry: what there is of one kind, by name or alias, of our own and of other packages.

One for each thing that is added by a single declaration: models, metrics, costs, engines, criteria. Our own
are listed by a function that runs at the first look-up, so that a registry may lie below what it holds.
Others come by ``register``, or from installed packages by an entry point: its group is the registry's, and
its object is the declaration, or the module that registers it. Entry points are loaded where a name is not
known without them and where everything is listed, never on import.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from discreet.errors import InputError
from discreet.model.closest import closest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class Named(Protocol):
    """What can be registered has a name."""

    @property
    def name(self) -> str:
        """The name that a user types."""
        ...


T = TypeVar("T", bound=Named)


class Registry(Generic[T]):
    """Declarations of one kind by name, in the order of registration, our own first.

    ``what`` begins the error for a name that none has (``the metric``), ``group`` is the group of entry
    points, ``kind`` the type of a declaration (which is such a value, or a class of such), ``own`` lists
    ours, ``aliases`` tells a declaration's other names, and ``check`` raises ``InputError`` for one that
    cannot be taken. Safe to use from several threads.
    """

    def __init__(
        self,
        what: str,
        group: str,
        kind: type[Any],
        own: Callable[[], Iterable[T]] = tuple,
        aliases: Callable[[T], Iterable[str]] = lambda _: (),
        check: Callable[[T], None] | None = None,
    ) -> None:
        self.what = what
        self.group = group
        self._kind = kind  # type[T], which no type checker takes where T is a class itself
        self._own = own
        self._aliases = aliases
        self._check = check
        self._found: dict[str, T] = {}
        self._names: dict[str, str] = {}  # every name and alias -> the name
        self._own_are_in = False
        self._packages_are_in = False
        self._lock = RLock()

    def register(self, declaration: T) -> T:
        """Add a declaration and return it; the same one twice is one.

        ``InputError`` where another has its name or one of its aliases, or where it is none of this kind.
        """
        with self._lock:
            self._load_own()
            self._add(declaration)
        return declaration

    def remove(self, name: str) -> None:
        """Take a declaration out again, as a test does after itself; ``InputError`` where there is none."""
        with self._lock:
            found = self.named(name)
            del self._found[found.name]
            self._names = {word: of for word, of in self._names.items() if of != found.name}

    def named(self, name: str) -> T:
        """The declaration of a name or alias; ``InputError`` lists the allowed ones."""
        found = self.get(name)
        if found is None:
            words = self.words()
            raise InputError(f"{self.what} '{name}'", allowed=", ".join(words), advice=closest(name, words))
        return found

    def get(self, name: str) -> T | None:
        """The declaration of a name or alias, or None; ``InputError`` for a package that cannot be loaded."""
        with self._lock:
            self._load_own()
            if name not in self._names:
                self._load_packages()
            return self._found[self._names[name]] if name in self._names else None

    def all(self) -> tuple[T, ...]:
        """Every declaration; ``InputError`` for a package that cannot be loaded."""
        with self._lock:
            self._load_own()
            self._load_packages()
            return tuple(self._found.values())

    def names(self) -> tuple[str, ...]:
        """The name of every declaration."""
        return tuple(declaration.name for declaration in self.all())

    def words(self) -> tuple[str, ...]:
        """Every name, then every alias."""
        names = self.names()
        return (*names, *(word for word in self._names if word not in names))

    def __iter__(self) -> Iterator[T]:
        return iter(self.all())

    def __len__(self) -> int:
        return len(self.all())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def _load_own(self) -> None:
        if not self._own_are_in:
            self._own_are_in = True  # before the call: what is imported by it may look things up
            for declaration in self._own():
                self._add(declaration)

    def _load_packages(self) -> None:
        if self._packages_are_in:
            return
        from importlib.metadata import entry_points

        for entry in entry_points(group=self.group):
            self._load(entry)
        self._packages_are_in = True  # after the loop: a broken package is told of each time, never skipped

    def _load(self, entry: EntryPoint) -> None:
        package = f"the package {entry.dist.name}" if entry.dist else "a package"
        label = f"{self.what} '{entry.name}' of {package}"
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
                f"what is registered as {self.what} is a {type(declaration).__name__}",
                allowed=f"a {self._kind.__name__}",
            )
        if self._found.get(declaration.name) is declaration:
            return
        words = (declaration.name, *self._aliases(declaration))
        for word in words:
            if word in self._names:
                raise InputError(f"{self.what} '{word}' is registered already", advice="Choose another name.")
        self._found[declaration.name] = declaration
        self._names.update(dict.fromkeys(words, declaration.name))
