"""Middleware: Host, Origin, headers, limits, errors and the log."""

from __future__ import annotations

import logging

import pytest
from starlette.websockets import WebSocket, WebSocketDisconnect

from tests.web.conftest import Client, MakeClient

HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
)
SECRET_CELL = "Divorced-and-HIV-positive"
HOSTS = ("evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:9999", "")
HOSTS += ("127.0.0.1.evil.example:8765", "localhost.evil.example:8765", "[::2]:8765", "127.0.0.1:8765:8765")
ORIGINS = (
    "null",
    "http://evil.example",
    "https://127.0.0.1:8765",
    "http://127.0.0.1:9999",
    "http://127.0.0.1",
)
ORIGINS += ("http://localhost:8765", "http://127.0.0.1:8765.evil.example", "file://", "")


def test_other_hosts_are_refused_and_own_names_accepted(client: Client) -> None:
    for host in HOSTS:
        for path in ("/api/workspace", "/", "/static/app.js", "/start?token=x", "/api/health", "/login"):
            answer = client.get(path, headers={"host": host}, follow_redirects=False)
            assert (answer.status_code, answer.json()["error"]["kind"]) == (403, "not-allowed"), (host, path)
    for host in ("127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765", "[::1]:8765"):
        answer = client.get("/api/health", headers={"host": host, "origin": f"http://{host.lower()}"})
        assert answer.status_code == 200
    twice = [("host", "127.0.0.1:8765"), ("host", "127.0.0.1:8765")]
    assert client.get("/api/workspace", headers=twice).status_code == 403


def test_other_origins_are_refused(client: Client) -> None:
    for origin in ORIGINS:
        for method in ("GET", "POST", "PUT", "DELETE"):
            answer = client.request(method, "/api/workspace/requests", headers={"origin": origin})
            assert answer.status_code == 403, (origin, method)
    del client.headers["origin"]
    assert client.get("/api/workspace").status_code == 200
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert client.request(method, "/api/workspace/requests").status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_sites_may_only_link_to_pages(client: Client, site: str) -> None:
    del client.headers["origin"]
    link = {"sec-fetch-site": site, "sec-fetch-mode": "navigate"}
    assert client.get("/", headers=link).status_code == 200
    assert client.get("/api/workspace", headers=link).status_code == 403
    assert client.get("/api/workspace", headers={**link, "sec-fetch-mode": "no-cors"}).status_code == 403
    assert client.get("/static/app.js", headers={**link, "sec-fetch-mode": "no-cors"}).status_code == 403


def test_every_answer_has_the_security_headers(make_client: MakeClient) -> None:
    client = make_client()
    client.app.add_api_route("/api/failing", lambda: 1 // 0)
    signed_out = make_client(signed_in=False)
    paths = ("/", "/api/workspace", "/static/app.js", "/api/none", "/none", "/static/none.js", "/api/failing")
    answers = [client.get(path) for path in (*paths, "/api/workspace/files?folder=/etc", "/start")]
    answers += [client.put("/api/workspace/spec"), client.get("/api/workspace", headers={"host": "evil"})]
    answers += [client.put("/api/workspace/spec", content=b"x" * 5_000_000)]
    answers += [signed_out.get(path, follow_redirects=False) for path in ("/", "/login", "/api/workspace")]
    assert {answer.status_code for answer in answers} >= {200, 303, 401, 403, 404, 413, 422, 500}
    for answer in answers:
        assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        assert "server" not in answer.headers


def test_bug_is_answered_and_logged_without_its_text(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise ValueError(SECRET_CELL)

    async def fail_later(body: dict[str, str]) -> None:
        raise OSError(5, SECRET_CELL, SECRET_CELL)

    client.app.add_api_route("/api/failing", fail)  # type: ignore[attr-defined]
    client.app.add_api_route("/api/failing/later", fail_later, methods=["POST"])  # type: ignore[attr-defined]
    with caplog.at_level(logging.DEBUG):
        first = client.get("/api/failing", params={"value": SECRET_CELL})
        second = client.post("/api/failing/later", json={SECRET_CELL: SECRET_CELL})
        client.get(f"/api/workspace/uploads/{SECRET_CELL}")
        client.get(f"/api/{SECRET_CELL}")
        client.put("/api/workspace/spec", json={"text": f'[attributes.a]\nrole = "{SECRET_CELL}"'})
    for answer in (first, second):
        assert answer.status_code == 500
        assert answer.json()["error"]["kind"] == "internal"
        assert SECRET_CELL not in answer.text
    assert SECRET_CELL not in caplog.text.replace("httpx", "") or all(
        SECRET_CELL not in record.getMessage() for record in caplog.records if record.name != "httpx"
    )
    assert "ValueError at test_guard.py" in caplog.text


def test_access_log_names_routes_and_no_values(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("discreet.web.access")
    log.addHandler(caplog.handler)
    try:
        with caplog.at_level(logging.INFO, logger="discreet.web.access"):
            client.get("/api/jobs/abc", params={"q": SECRET_CELL})
            client.get(f"/{SECRET_CELL}")
    finally:
        log.removeHandler(caplog.handler)
    lines = [r.getMessage() for r in caplog.records if r.name == "discreet.web.access"]
    assert any(line.startswith("GET /api/jobs/{job_id} 404") for line in lines)
    assert any(line.startswith("GET - 404") for line in lines)
    assert not any(SECRET_CELL in line for line in lines)


def test_bodies_are_limited(make_client: MakeClient) -> None:
    client = make_client(max_body=1000, max_upload=5000)
    assert client.put("/api/workspace/spec", json={"text": "x" * 2000}).status_code == 413
    chunks = client.put("/api/workspace/spec", content=iter([b" " * 600, b" " * 600]))
    assert chunks.status_code == 413
    assert chunks.json()["error"]["kind"] == "too-large"


def echo(client: Client) -> None:
    async def socket(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text("hello")
        await socket.close()

    client.app.add_api_websocket_route("/api/echo", socket)  # type: ignore[attr-defined]


def test_socket_of_another_origin_is_refused(client: Client) -> None:
    echo(client)
    del client.headers["origin"]
    for origin in (*ORIGINS, None):
        headers = {} if origin is None else {"origin": origin}
        with pytest.raises(WebSocketDisconnect), client.websocket_connect("/api/echo", headers=headers):
            pass


def test_socket_of_another_host_or_without_a_session_is_refused(make_client: MakeClient) -> None:
    client, signed_out = make_client(), make_client(signed_in=False)
    echo(client)
    echo(signed_out)
    evil = {"host": "evil.example:8765", "origin": "http://evil.example:8765"}
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/api/echo", headers=evil):
        pass
    with pytest.raises(WebSocketDisconnect), signed_out.websocket_connect("/api/echo"):
        pass
