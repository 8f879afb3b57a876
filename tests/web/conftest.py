"""A workbench without a browser: an app in this process and a signed-in client."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from discreet.settings import Settings
from discreet.web import server_config
from discreet.web.server import create_app
from discreet.web.server_config import ServerConfig
from tests.engines.clinic import clinic

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # starlette recommends httpx's successor
    from starlette.testclient import TestClient

__all__ = ["clinic"]

ORIGIN = "http://127.0.0.1:8765"


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> Iterator[None]:
    """Hash passwords at a thousandth of the deliberate cost; ``test_login`` tests the real cost."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server_config, "_N", 2**5)
        yield


class Client(TestClient):
    """A client whose sockets use the base address and cookies of its requests."""

    def websocket_connect(self, url: str, *arguments: Any, **options: Any) -> Any:
        """Open a socket at a path."""
        base = str(self.base_url).rstrip("/").replace("http", "ws", 1)
        return super().websocket_connect(base + url, *arguments, **options)


MakeClient = Callable[..., Client]


def sign_in(client: Client) -> Client:
    """Sign in through a start link."""
    token = client.app.state.server.start_tokens.issue()  # type: ignore[attr-defined]
    answer = client.get("/start", params={"token": token}, follow_redirects=False)
    assert answer.status_code == 303
    return client


@pytest.fixture
def make_client(tmp_path: Path, settings: Settings) -> Iterator[MakeClient]:
    """Yield a function that starts a server and returns its client.

    Keywords change the configuration; ``signed_in`` and ``base_url`` apply to the client.
    """
    with ExitStack() as stack:
        made = 0

        def make(*, signed_in: bool = True, base_url: str = ORIGIN, **changes: Any) -> Client:
            nonlocal made
            made += 1
            given = {"workspace": tmp_path / f"workspace{made}", "settings": settings, "port": 8765}
            app = create_app(ServerConfig(**{**given, **changes}))
            client = stack.enter_context(Client(app, base_url=base_url))
            client.headers["origin"] = base_url
            return sign_in(client) if signed_in else client

        yield make


@pytest.fixture
def client(make_client: MakeClient) -> Client:
    """Return a signed-in client of a server with a new workspace."""
    return make_client()
