"""A reverse proxy: its headers count only with the secret, and only from its address."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from discreet.errors import InputError
from discreet.web.server_config import TrustedProxy, add_user, read_trusted_proxy
from tests.web.conftest import Client, MakeClient

SECRET = "0123456789abcdef-drawn-at-random"
PUBLIC = "workbench.example.org"
FORWARDED = {
    "x-discreet-proxy-secret": SECRET,
    "x-forwarded-host": PUBLIC,
    "x-forwarded-proto": "https",
    "x-forwarded-for": "203.0.113.9, 192.0.2.7",
    "x-forwarded-user": "anna",
    "origin": f"https://{PUBLIC}",
}


def secret_file(folder: Path, text: str = SECRET) -> Path:
    path = folder / "secret"
    path.write_text(text + "\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def make_proxied(make_client: MakeClient, tmp_path: Path) -> Any:
    def make(*addresses: str) -> Client:
        users = tmp_path / "users"
        add_user(users, "anna", "correct horse battery")
        proxy = read_trusted_proxy(addresses, secret_file(tmp_path))
        return make_client(signed_in=False, password_file=users, proxy=proxy, public_names=(PUBLIC,))

    return make


def test_proxy_sets_user_and_host(make_proxied: Any) -> None:
    client = make_proxied("unix", "192.0.2.0/24")
    answer = Client(client.app, base_url="http://127.0.0.1:8765", client=("192.0.2.5", 1)).get(
        "/api/session", headers=FORWARDED
    )
    assert answer.json() == {"user": "anna", "login": "proxy", "workbench": answer.json()["workbench"]}
    assert "strict-transport-security" in answer.headers


def test_invalid_forwarded_header_is_refused(make_proxied: Any) -> None:
    client = make_proxied("192.0.2.5")
    visitor = Client(client.app, base_url="http://127.0.0.1:8765", client=("192.0.2.5", 1))
    for name, text in (
        *(("x-discreet-proxy-secret", wrong) for wrong in ("wrong", SECRET[:-1], "ä", None)),
        *(("x-forwarded-user", wrong) for wrong in ("nobody", "../anna")),
        *(("x-forwarded-proto", wrong) for wrong in ("http", "gopher")),
        ("x-forwarded-host", "evil.example"),
        *(("origin", wrong) for wrong in ("https://evil.example", f"http://{PUBLIC}")),
    ):
        headers = {key: value for key, value in {**FORWARDED, name: text}.items() if value is not None}
        raw = [(key.encode(), value.encode()) for key, value in headers.items()]
        assert visitor.get("/api/session", headers=raw).status_code in (401, 403), (name, text)


def test_forwarded_headers_of_other_peers_are_ignored(make_proxied: Any) -> None:
    client = make_proxied("192.0.2.5")
    for peer in ("192.0.2.6", "127.0.0.1", "::1", "testclient"):
        visitor = Client(client.app, base_url="http://127.0.0.1:8765", client=(peer, 1))
        assert visitor.get("/api/session", headers=FORWARDED).status_code == 403
        assert visitor.get("/api/session", headers={"x-forwarded-user": "anna"}).status_code == 401


def test_sign_in_behind_a_proxy_has_a_secure_cookie_and_a_throttle_by_address(make_proxied: Any) -> None:
    client = make_proxied("192.0.2.5")
    headers = {name: text for name, text in FORWARDED.items() if name != "x-forwarded-user"}
    visitor = Client(client.app, base_url="http://127.0.0.1:8765", client=("192.0.2.5", 1))
    body = {"user": "anna", "password": "correct horse battery"}
    cookie = visitor.post("/api/session", json=body, headers=headers).headers["set-cookie"]
    name, *flags = [part.strip().lower() for part in cookie.split(";")]
    assert name.startswith("__host-discreet=")
    assert set(flags) == {"httponly", "path=/", "samesite=strict", "secure"}
    visitor.post("/api/session", json={"user": "eve", "password": "x"}, headers=headers)
    assert ("address", "192.0.2.7") in client.app.state.server.login_throttle._failures


def test_invalid_address_or_secret_is_refused(tmp_path: Path) -> None:
    good = secret_file(tmp_path)
    assert read_trusted_proxy((), None) is None
    for addresses, path in ((("nowhere",), good), (("10.0.0.1",), None), ((), good)):
        with pytest.raises(InputError):
            read_trusted_proxy(addresses, path)
    with pytest.raises(InputError, match="short"):
        read_trusted_proxy(("unix",), secret_file(tmp_path, "short"))
    secret_file(tmp_path).chmod(0o644)
    with pytest.raises(InputError, match="others than its owner"):
        read_trusted_proxy(("unix",), good)
    with pytest.raises(InputError):
        read_trusted_proxy(("unix",), tmp_path / "missing")


def test_unix_socket_is_trusted_by_name() -> None:
    named, unnamed = TrustedProxy((), True, SECRET), TrustedProxy((), False, SECRET)
    headers = {"x-discreet-proxy-secret": SECRET}
    assert named.trusts(None, headers)
    assert not unnamed.trusts(None, headers)
    assert not named.trusts("127.0.0.1", headers)
    assert SECRET not in repr(named)
