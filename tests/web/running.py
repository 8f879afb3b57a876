"""A real server in a thread of this process, for tests of sockets, TLS and browsers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from discreet.web.server import WorkbenchServer
from discreet.web.server_config import ServerConfig
from discreet.web.server_state import LOCAL_USER
from discreet.web.workspace import Workspace
from tests.waiting import PATIENCE

_HERE = {"127.0.0.1", "::1", "localhost"}
_elsewhere: list[str] = []


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    """Record every connection and name look-up of this process that goes to another machine."""
    if event == "socket.connect":
        address = arguments[1]
        if isinstance(address, tuple) and str(address[0]) not in _HERE:
            _elsewhere.append(f"{event} {address}")
    elif event == "socket.getaddrinfo" and arguments[0] not in _HERE:
        _elsewhere.append(f"{event} {arguments[0]!r}")


sys.addaudithook(_watch)


class RunningWorkbench:
    """A running server, with the parts that tests use."""

    def __init__(self, server: WorkbenchServer) -> None:
        self.server = server

    @property
    def url(self) -> str:
        """``http://127.0.0.1:PORT``."""
        return self.server.url

    @property
    def start_link(self) -> str:
        """Return a new start link."""
        return self.server.start_link()

    @property
    def folder(self) -> Path:
        """The folder of the workspace."""
        return self.server.config.workspace

    @property
    def workspace(self) -> Workspace:
        """The local user's workspace."""
        return self.server.state.workspace_of(LOCAL_USER)


@contextmanager
def running(config: ServerConfig) -> Iterator[RunningWorkbench]:
    """Run a server during the block and check that the process makes no connection to other machines."""
    _elsewhere.clear()
    server = WorkbenchServer(config)
    started = Event()
    thread = Thread(target=server.run, args=(started.set,), daemon=True)
    thread.start()
    try:
        assert started.wait(PATIENCE)
        yield RunningWorkbench(server)
    finally:
        server.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()
        assert _elsewhere == []
