"""A real MariaDB server for tests, from the system's programs.

Root can start it, although the server runs as another user. It listens on a socket in its own temporary
folder and on 127.0.0.1. As for PostgreSQL, its parent is a shell that reads from a pipe of this process: when
the process ends, in any way, the server ends, too.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.waiting import wait_for

NOBODY = "nobody"
PASSWORD_USER, PASSWORD = "sealed", "open, sesame"
_KEEPER = """
folder=$1; shift
"$@" & server=$!
read -r word
kill -TERM "$server" 2>/dev/null
wait "$server"
[ "$word" = stop ] || rm -rf "$folder"
"""


@dataclass
class MariadbServer:
    """A running server, its folder, and addresses of its databases."""

    folder: Path
    port: int
    _databases: int = 0

    @property
    def socket(self) -> Path:
        """The server's socket."""
        return self.folder / "socket"

    def url(self, database: str, user: str = "root") -> str:
        """Return the address of a database by the server's socket, for any user."""
        return f"mariadb://{user}@/{database}?unix_socket={quote(str(self.socket), safe='')}"

    def network_url(self, database: str, user: str, password: str = "") -> str:
        """Return the address of a database by the network."""
        secret = f":{quote(password, safe='')}" if password else ""
        return f"mariadb://{user}{secret}@127.0.0.1:{self.port}/{database}"

    def connect(self, database: str | None = None) -> Any:
        """Connect as the owner of everything."""
        import pymysql

        return pymysql.connect(
            unix_socket=str(self.socket), user="root", database=database, charset="utf8mb4", autocommit=True
        )

    def run(self, *statements: str, database: str | None = None) -> None:
        """Run statements as the owner of everything, each separately."""
        with self.connect(database) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def fetch(self, query: str, database: str | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of a query of the owner of everything."""
        with self.connect(database) as connection, connection.cursor() as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())

    def create_database(self) -> str:
        """Create an empty database and return its name."""
        self._databases += 1
        name = f"database_{self._databases}"
        self.run(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        return name

    def answers(self) -> bool:
        """Test whether the server accepts sessions."""
        import pymysql

        if not self.socket.exists():
            return False
        try:
            self.connect().close()
        except pymysql.Error:
            return False
        return True


@contextmanager
def running_mariadb() -> Iterator[MariadbServer]:
    """Start a server; ``RuntimeError`` with the reason if that is impossible."""
    programs = [shutil.which(name) for name in ("mariadb-install-db", "mariadbd")]
    if None in programs:
        raise RuntimeError("MariaDB's programs are missing: apt install mariadb-server")
    account: dict[str, Any] = {}
    folder = Path(tempfile.mkdtemp(prefix="discreet-maria-", dir="/tmp"))
    try:
        if os.geteuid() == 0:
            account = {"user": NOBODY, "group": "nogroup", "extra_groups": []}
            shutil.chown(folder, NOBODY, "nogroup")
        data = folder / "data"
        made = subprocess.run(
            [
                *(str(programs[0]), "--no-defaults", f"--datadir={data}"),
                *("--auth-root-authentication-method=normal", "--skip-test-db"),
            ],
            capture_output=True,
            text=True,
            cwd="/",
            **account,
        )
        if made.returncode:
            raise RuntimeError(f"mariadb-install-db failed: {made.stderr[-1000:]}")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            server = MariadbServer(folder, int(probe.getsockname()[1]))
        command = [str(programs[1]), "--no-defaults", f"--datadir={data}", f"--socket={server.socket}"]
        command += [f"--port={server.port}", "--bind-address=127.0.0.1", "--innodb-buffer-pool-size=64M"]
        command += ["--innodb-flush-log-at-trx-commit=0", "--skip-name-resolve"]
        with (folder / "log").open("wb") as log:
            keeper = subprocess.Popen(
                ["/bin/sh", "-c", _KEEPER, "keeper", str(folder), *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
                **account,
            )
        try:
            wait_for(server.answers, "the server answers")
            yield server
        finally:
            assert keeper.stdin is not None
            keeper.stdin.write(b"stop\n")
            keeper.stdin.close()
            keeper.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[MariadbServer]:
    """Provide a server of this process only, stopped and removed after the tests."""
    pytest.importorskip("pymysql", reason="PyMySQL is missing: pip install 'discreet[mariadb]'")
    with ExitStack() as stack:
        try:
            server = stack.enter_context(running_mariadb())
        except RuntimeError as reason:
            pytest.skip(str(reason))
        server.run(
            f"CREATE USER {PASSWORD_USER} IDENTIFIED BY '{PASSWORD}'", f"GRANT ALL ON *.* TO {PASSWORD_USER}"
        )
        yield server
