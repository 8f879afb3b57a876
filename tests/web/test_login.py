"""Passwords, the password file, and the limit on attempts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.web import server_config, server_state
from discreet.web.error_responses import TooMany
from discreet.web.server_config import PasswordFile, add_user, hash_password, verify_password
from discreet.web.server_state import LoginThrottle
from tests.waiting import PATIENCE
from tests.web.conftest import Client, MakeClient

PASSWORD = "correct horse battery"
REAL = server_config._N


@pytest.fixture
def password_file(tmp_path: Path) -> Path:
    path = tmp_path / "users"
    add_user(path, "anna", PASSWORD)
    add_user(path, "ben", PASSWORD + "!")
    return path


def sign_in(client: Client, user: str, password: str = PASSWORD):  # type: ignore[no-untyped-def]
    return client.post("/api/session", json={"user": user, "password": password})


@pytest.fixture
def real_cost(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Restore the production cost of hashes, including that for unknown users."""
    monkeypatch.setattr(server_config, "_N", REAL)
    server_config._dummy_hash.cache_clear()
    yield
    server_config._dummy_hash.cache_clear()


@pytest.mark.usefixtures("real_cost")
def test_passwords_are_stored_as_salted_scrypt(password_file: Path) -> None:
    text = password_file.read_text()
    assert PASSWORD not in text
    assert password_file.stat().st_mode & 0o777 == 0o600
    first, second = hash_password(PASSWORD), hash_password(PASSWORD)
    assert first.startswith("scrypt$32768$8$1$")
    assert first != second
    assert verify_password(PASSWORD, first)
    assert not verify_password(PASSWORD + " ", first)
    assert not verify_password(PASSWORD, "scrypt$x$8$1$a$b")
    assert not verify_password(PASSWORD, "nothing")


@pytest.mark.usefixtures("real_cost")
def test_unknown_user_costs_a_hash_too(password_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, hashed = PasswordFile(password_file), []
    monkeypatch.setattr(server_config, "_scrypt", lambda *given: hashed.append(given) or b"")
    assert not found.verify("anna", "wrong")
    assert not found.verify("nobody", "wrong")
    assert [given[2:] for given in hashed][:2] == [(32768, 8, 1)] * 2


def test_readable_password_file_is_refused(password_file: Path) -> None:
    password_file.chmod(0o640)
    with pytest.raises(InputError, match="others than its owner"):
        PasswordFile(password_file)


@pytest.mark.parametrize("line", ["anna", "anna:x", "../x:scrypt$1$2$3$4$5", "Anna:scrypt$1$2$3$4$5"])
def test_malformed_password_file_is_refused_with_the_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "users"
    path.write_text(f"# users\n{line}\n")
    path.chmod(0o600)
    with pytest.raises(InputError, match="line 2") as caught:
        PasswordFile(path)
    assert line not in str(caught.value)


@pytest.mark.parametrize("name", ["", "..", "a/b", "a b", "-a", "A", "ä", "a" * 33, ".hidden", "a\n"])
def test_invalid_user_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        add_user(tmp_path / "users", name, PASSWORD)


def test_short_password_is_refused_and_a_new_one_replaces(password_file: Path) -> None:
    with pytest.raises(InputError):
        add_user(password_file, "anna", "short")
    found = PasswordFile(password_file)
    add_user(password_file, "anna", "another password")
    assert found.verify("anna", "another password")
    assert not found.verify("anna", PASSWORD)
    assert found.verify("ben", PASSWORD + "!")


def test_sign_in_and_out(make_client: MakeClient, password_file: Path) -> None:
    client = make_client(signed_in=False, password_file=password_file)
    assert "Password" in client.get("/login").text
    assert (
        client.get("/start", params={"token": client.app.state.server.start_tokens.issue()}).url.path
        == "/login"
    )
    for origin in ({"origin": "http://evil.example"}, {"origin": ""}):
        body = {"user": "anna", "password": PASSWORD}
        assert client.post("/api/session", json=body, headers=origin).status_code == 403
    wrong = sign_in(client, "anna", "wrong")
    assert (wrong.status_code, wrong.json()["error"]["field"]) == (400, "password")
    unknown = sign_in(client, "nobody", "wrong")
    assert unknown.json() == wrong.json()
    assert "set-cookie" not in unknown.headers
    answer = sign_in(client, "anna")
    assert answer.json()["user"] == "anna"
    assert "httponly" in answer.headers["set-cookie"].lower()
    assert client.get("/api/session").json()["login"] == "password"
    assert client.delete("/api/session", params={"everywhere": True}).status_code == 204
    assert client.get("/api/session").status_code == 401


def test_failed_attempts_are_throttled(
    make_client: MakeClient, password_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_config, "_scrypt", lambda *_: b"no")
    client = make_client(signed_in=False, password_file=password_file)
    for _ in range(server_state.FREE_FAILURES):
        assert sign_in(client, "anna", "wrong").status_code == 400
    answer = sign_in(client, "anna")
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) >= 1
    assert sign_in(client, "ben").status_code == 429


def test_waits_double_up_to_a_limit() -> None:
    now = 0.0
    login_throttle = LoginThrottle(lambda: now)
    waits = []
    for _ in range(20):
        login_throttle.check("192.0.2.1", "anna")
        login_throttle.failed("192.0.2.1", "anna")
        try:
            login_throttle.check("192.0.2.1", "anna")
            waits.append(0)
        except TooMany as error:
            waits.append(error.seconds)
            now += error.seconds
    assert waits[:8] == [0, 0, 0, 0, 1, 2, 4, 8]
    assert max(waits) == waits[-1] == 900
    login_throttle.check("192.0.2.2", "ben")
    login_throttle.succeeded("192.0.2.1", "anna")
    login_throttle.failed("192.0.2.1", "anna")
    login_throttle.check("192.0.2.1", "anna")


def test_users_have_separate_workspaces(make_client: MakeClient, password_file: Path, tmp_path: Path) -> None:
    client = make_client(signed_in=False, password_file=password_file)
    sign_in(client, "anna")
    anna = dict(client.cookies)
    client.put("/api/workspace/uploads/secret.csv", content=b"a\n1\n")
    client.put("/api/workspace/spec", json={"text": '[source]\npath = "uploads/secret.csv"\n'})
    job = client.app.state.server.jobs_of("anna").start("work", lambda _: {"found": 1})  # type: ignore[attr-defined]
    client.app.state.server.jobs_of("anna").wait(job, PATIENCE)  # type: ignore[attr-defined]
    assert client.get(f"/api/jobs/{job}").json()["result"] == {"found": 1}
    client.cookies.clear()
    sign_in(client, "ben", PASSWORD + "!")
    assert client.get("/api/workspace").json()["uploads"] == []
    assert client.get("/api/workspace/spec").status_code == 404
    assert client.get(f"/api/jobs/{job}").status_code == 404
    assert client.delete(f"/api/jobs/{job}").status_code == 404
    assert client.delete("/api/workspace/uploads/secret.csv").status_code == 404
    for path in ("../anna/uploads/secret.csv", "/etc/passwd", "../../users"):
        stolen = client.put("/api/workspace/spec", json={"text": f'[source]\npath = "{path}"\n'})
        assert stolen.status_code == 400
    client.cookies.clear()
    client.cookies.update(anna)
    assert [u["name"] for u in client.get("/api/workspace").json()["uploads"]] == ["secret.csv"]
    folder = tmp_path / "workspace1" / "users"
    assert {p.name: p.stat().st_mode & 0o777 for p in folder.iterdir()} == {"anna": 0o700, "ben": 0o700}
