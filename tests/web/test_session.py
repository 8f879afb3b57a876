"""Start links, cookies and sessions."""

from __future__ import annotations

from discreet.web import server_state
from discreet.web.server_state import SessionStore, StartTokens
from tests.web.conftest import Client, MakeClient


def start(client: Client, token: str):  # type: ignore[no-untyped-def]
    return client.get("/start", params={"token": token}, follow_redirects=False)


def test_start_token_works_once(make_client: MakeClient) -> None:
    client = make_client(signed_in=False)
    assert client.get("/api/workspace").status_code == 401
    token = client.app.state.server.start_tokens.issue()
    first = start(client, token)
    assert (first.status_code, first.headers["location"]) == (303, "/")
    assert first.headers["referrer-policy"] == "no-referrer"
    assert client.get("/api/workspace").status_code == 200
    client.cookies.clear()
    for used_or_wrong in (token, "", "x", "ä" * 50):
        second = start(client, used_or_wrong)
        assert second.headers["location"] == "/login"
        assert "set-cookie" not in second.headers
    assert client.get("/api/workspace").status_code == 401


def test_token_survives_a_head_request_and_gives_a_strict_cookie(make_client: MakeClient) -> None:
    client = make_client(signed_in=False)
    token = client.app.state.server.start_tokens.issue()
    client.head("/start", params={"token": token}, follow_redirects=False)
    cookie = start(client, token).headers["set-cookie"]
    name, *flags = [part.strip().lower() for part in cookie.split(";")]
    assert name.startswith("discreet_8765=")
    assert set(flags) == {"httponly", "path=/", "samesite=strict"}


def test_signed_out_requests_are_redirected_or_refused(make_client: MakeClient) -> None:
    client = make_client(signed_in=False)
    for path in ("/", "/api-docs"):
        answer = client.get(path, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    for path in ("/openapi.json", "/api/session", "/api/jobs", "/api/nothing", "/api/workspace/spec"):
        answer = client.get(path)
        assert answer.status_code == 401
        assert answer.json()["error"]["kind"] == "signed-out"
    assert "start link" in client.get("/login").text
    assert client.get("/api/health").json() == {"status": "ok"}


def test_sign_out_ends_the_session(client: Client) -> None:
    token = client.cookies["discreet_8765"]
    assert client.get("/api/session").json()["user"] == "local"
    assert client.delete("/api/session").status_code == 204
    client.cookies.set("discreet_8765", token)
    assert client.get("/api/workspace").status_code == 401


def test_two_cookies_count_as_none(client: Client) -> None:
    token = client.cookies["discreet_8765"]
    client.cookies.clear()
    sent = [("cookie", f"discreet_8765={token}"), ("cookie", "discreet_8765=other")]
    assert client.get("/api/workspace", headers=sent[:1]).status_code == 200
    assert client.get("/api/workspace", headers=sent).status_code == 401


def test_sessions_end_when_idle_old_or_too_many() -> None:
    now = 0.0
    sessions = SessionStore(lambda: now)
    token = sessions.open("anna", "password")
    assert sessions.find(token) is not None
    now += server_state.IDLE_SECONDS - 1
    assert sessions.find(token) is not None
    now += server_state.IDLE_SECONDS + 1
    assert sessions.find(token) is None
    token = sessions.open("anna", "password")
    for _ in range(20):
        now += server_state.IDLE_SECONDS - 1
        alive = sessions.find(token) is not None
    assert not alive
    first = sessions.open("anna", "password")
    for _ in range(server_state._MAX_SESSIONS):
        now += 0.001
        last = sessions.open("eve", "password")
    assert sessions.find(first) is None
    assert sessions.find(last) is not None
    sessions.close_all("eve")
    assert sessions.find(last) is None


def test_server_stores_only_digests_of_tokens() -> None:
    tokens, sessions = StartTokens(), SessionStore()
    start_token, token = tokens.issue(), sessions.open("anna", "token")
    assert start_token.encode() not in tokens._digests
    assert token.encode() not in sessions._open
    assert len(token) >= 43
