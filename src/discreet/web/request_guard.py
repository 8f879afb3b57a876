"""Middleware that checks host, origin and session of each request, and the dependencies that routes declare.

It limits bodies, sets the security headers of every answer, turns exceptions into answers without values of
the data, and writes the access log: method, route template, status and time, but not the path or query string
of the request.
"""

from __future__ import annotations

import ipaddress
import logging
import time
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Annotated, Any

from fastapi import Depends
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.errors import DiscreetError, InputError
from discreet.web.error_responses import (
    NotAllowed,
    PayloadTooLarge,
    SignedOut,
    error_response,
    exception_location,
    wrap_error,
)
from discreet.web.job_queue import JobQueue
from discreet.web.server_config import USER_HEADER, ServerConfig, check_user_name
from discreet.web.server_state import ServerState, UserSession
from discreet.web.workspace import Workspace

_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class ClientRequest:
    """The trusted facts of one request or socket; forwarded headers count only from a trusted proxy."""

    method: str
    path: str
    scheme: str
    host: str
    address: str
    proxied: bool
    user: str | None
    origin: str | None
    site: str | None
    mode: str | None
    is_socket: bool

    @property
    def is_secure(self) -> bool:
        """True if the browser's connection is encrypted."""
        return self.scheme == "https"


def read_client_request(scope: Mapping[str, Any], config: ServerConfig) -> ClientRequest | None:
    """Read the request of an ASGI scope; return None if ``Host`` or ``Origin`` occurs twice."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name = raw_name.decode("latin-1").lower()
        if name in headers and name in ("host", "origin"):
            return None
        headers[name] = raw_value.decode("latin-1")
    client = scope.get("client")
    peer = None if config.unix_socket is not None or not client else str(client[0])
    proxied = config.proxy is not None and config.proxy.trusts(peer, headers)
    scheme = "https" if config.tls is not None or config.unix_socket is not None else "http"
    host, address, user = headers.get("host", ""), peer or "unix", None
    if proxied:
        scheme = headers.get("x-forwarded-proto", "https").strip().lower()
        host = headers.get("x-forwarded-host", host).strip()
        address = headers.get("x-forwarded-for", address).rpartition(",")[2].strip()
        user = headers.get(USER_HEADER)
    return ClientRequest(
        method=str(scope.get("method", "GET")),
        path=str(scope["path"]),
        scheme=scheme,
        host=host.lower(),
        address=address,
        proxied=proxied,
        user=user,
        origin=headers.get("origin"),
        site=headers.get("sec-fetch-site"),
        mode=headers.get("sec-fetch-mode"),
        is_socket=scope["type"] == "websocket",
    )


def refusal_reason(client_request: ClientRequest, config: ServerConfig) -> str | None:
    """Return the reason why a request is refused for any sender, or None if it is accepted."""
    if client_request.scheme not in _DEFAULT_PORTS or (
        client_request.proxied and not client_request.is_secure
    ):
        return "the proxy's own connection is not encrypted"
    if not _is_own_host(client_request, config):
        return "the Host is not this server's"
    if (
        client_request.origin is not None
        and client_request.origin.lower()
        != f"{client_request.scheme}://{_host_without_default_port(client_request)}"
    ):
        return "the Origin is not this server's"
    changes = client_request.is_socket or client_request.method not in _SAFE_METHODS
    if changes and client_request.origin is None:
        return "the Origin is missing"
    if client_request.site not in (None, "same-origin", "none") and not _is_navigation(client_request):
        return "the request comes from another site"
    return None


def _is_navigation(client_request: ClientRequest) -> bool:
    """Return True if the browser follows a link to a page; links on other sites are allowed."""
    pages = ("/", "/start", "/login", "/api-docs")
    return (
        client_request.mode == "navigate"
        and client_request.method in ("GET", "HEAD")
        and client_request.path in pages
    )


def _is_own_host(client_request: ClientRequest, config: ServerConfig) -> bool:
    found = split_host(client_request.host)
    if found is None:
        return False
    name, port = found[0], found[1] or _DEFAULT_PORTS[client_request.scheme]
    for text in config.public_names:
        public = split_host(text.lower())
        if public is not None and name == public[0]:
            direct = not client_request.proxied and config.unix_socket is None
            if port == (public[1] or (config.port if direct else _DEFAULT_PORTS[client_request.scheme])):
                return True
    if client_request.proxied or config.unix_socket is not None or config.is_wildcard:
        return False
    names = {"127.0.0.1", "localhost", "::1"} if config.is_loopback else {config.host.lower()}
    return name in names and port == config.port


def split_host(text: str) -> tuple[str, int | None] | None:
    """Split a Host header into name and port; return None if it is malformed."""
    if text.startswith("["):
        inner, bracket, rest = text[1:].partition("]")
        try:
            name = str(ipaddress.IPv6Address(inner))
        except ValueError:
            return None
        if not bracket or (rest and not rest.startswith(":")):
            return None
        rest = rest[1:]
    else:
        name, _, rest = text.partition(":")
        if not name or not all(c.isalnum() or c in "-._" for c in name):
            return None
    if rest and not (rest.isdecimal() and rest.isascii() and 0 < int(rest) < 65536):
        return None
    return name, int(rest) if rest else None


def _host_without_default_port(client_request: ClientRequest) -> str:
    """Return the Host in the form of an Origin: without the scheme's default port."""
    return client_request.host.removesuffix(f":{_DEFAULT_PORTS[client_request.scheme]}")


CONTENT_SECURITY_POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
)
_SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}
_PUBLIC_PATHS = ("/static/", "/start", "/login", "/api/health", "/favicon.ico")
_PAGE_PATHS = ("/", "/api-docs")
_UPLOAD_PATHS = ("/api/workspace/uploads/", "/api/attacker/outside", "/api/load/upload")
_POLICY_VIOLATION = 1008

_access_log = logging.getLogger("discreet.web.access")
_log = logging.getLogger("discreet.web")


class _BodyTooLarge(Exception):
    """Signal that a body exceeded its limit while it was read."""


class RequestGuard:
    """The outermost middleware of the application."""

    def __init__(self, app: ASGIApp, state: ServerState) -> None:
        self._app = app
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or socket."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        exchange = _Exchange(scope, receive, send, self._limit(scope))
        try:
            answer = self._refuse(scope)
            if answer is None:
                await self._app(scope, exchange.receive, exchange.send)
            else:
                await exchange.answer(answer)
        except _BodyTooLarge:
            await exchange.answer(error_response(_body_too_large(exchange.limit)))
        except Exception as error:
            if wrap_error(error) is not error:
                _log.error("a request failed: %s", exception_location(error))
            await exchange.answer(error_response(error))
        finally:
            _log_access(scope, exchange.status, time.perf_counter() - started)

    def _refuse(self, scope: Scope) -> Response | None:
        """Return the answer to a request that is refused, else None; store its session in the scope."""
        client_request = read_client_request(scope, self._state.config)
        reason = (
            "a header occurs twice"
            if client_request is None
            else refusal_reason(client_request, self._state.config)
        )
        if client_request is None or reason is not None:
            return error_response(NotAllowed(f"this request is refused: {reason}"))
        scope["discreet.visit"] = client_request
        scope["discreet.session"] = session = self._session(scope, client_request)
        if session is not None or _is_public(client_request):
            return None
        if client_request.path in _PAGE_PATHS and client_request.method in ("GET", "HEAD"):
            return RedirectResponse("/login", status_code=303)
        return error_response(SignedOut("you are not signed in", advice="Open the start link, or sign in."))

    def _session(self, scope: Scope, client_request: ClientRequest) -> UserSession | None:
        if client_request.user is not None:
            return self._proxied(client_request.user)
        token = session_token(scope, client_request, self._state)
        return None if token is None else self._state.sessions.find(token)

    def _proxied(self, user: str) -> UserSession | None:
        """Return the session of a user signed in by the proxy; only users of the password file may."""
        try:
            check_user_name(user)
        except InputError:
            return None
        passwords = self._state.passwords
        known = passwords is not None and user in passwords.users()
        return UserSession(user, "proxy") if known else None

    def _limit(self, scope: Scope) -> int:
        upload = str(scope["path"]).startswith(_UPLOAD_PATHS)
        return self._state.config.max_upload if upload else self._state.config.max_body


class _Exchange:
    """One exchange: counts the bytes of the body and adds the security headers to the answer."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self.limit = limit
        self._received = 0
        self.status: int | None = None
        self._overrun = False

    async def receive(self) -> Message:
        """Return the next message; raise ``_BodyTooLarge`` once the body exceeds the limit."""
        # Refuse by the announced length first, then count: a client may announce less or send chunks.
        if self._received == 0 and _content_length(self._scope) > self.limit:
            self._overrun = True
            raise _BodyTooLarge
        message = await self._receive()
        if message["type"] == "http.request":
            self._received += len(message.get("body", b""))
            if self._received > self.limit:
                self._overrun = True
                raise _BodyTooLarge
        return message

    async def send(self, message: Message) -> None:
        """Pass a message on, with the security headers on the one that starts the answer."""
        # FastAPI catches ``_BodyTooLarge`` and answers itself: raise it again, so that the guard answers.
        if message["type"] == "http.response.start" and self._overrun and self.status is None:
            raise _BodyTooLarge
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            self.status = message["status"]
            _add_headers(message, self._scope)
        if message["type"] == "websocket.accept":
            self.status = 101
        if message["type"] == "websocket.close" and self.status is None:
            self.status = 403
        await self._send(message)

    async def answer(self, response: Response) -> None:
        """Send a response instead of the application's, unless an answer has started."""
        self._overrun = False
        if self._scope["type"] == "websocket":
            if self.status in (None, 101):
                await self.send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        elif self.status is None:
            response.headers["Connection"] = "close"
            await response(self._scope, self._receive, self.send)


def _content_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else 0
    return 0


def _add_headers(message: MutableMapping[str, Any], scope: Scope) -> None:
    headers = MutableHeaders(scope=message)
    for name, value in _SECURITY_HEADERS.items():
        headers.setdefault(name, value)
    client_request = scope.get("discreet.visit")
    if client_request is not None and client_request.is_secure:
        headers.setdefault("Strict-Transport-Security", "max-age=31536000")


def _is_public(client_request: ClientRequest) -> bool:
    if client_request.path == "/api/session":
        return client_request.method == "POST"
    return client_request.path.startswith("/static/") or client_request.path in _PUBLIC_PATHS


def _body_too_large(limit: int) -> DiscreetError:
    return PayloadTooLarge("the body is too large", allowed=f"{limit:,} bytes")


def cookie_name(client_request: ClientRequest, state: ServerState) -> str:
    """Return the session cookie's name.

    Under TLS it is bound to the host; otherwise it contains the port, because cookies ignore ports.
    """
    return "__Host-discreet" if client_request.is_secure else f"discreet_{state.config.port}"


def session_token(scope: Scope, client_request: ClientRequest, state: ServerState) -> str | None:
    """Return the token in the session cookie, None if there is none or more than one."""
    values = [value.decode("latin-1") for name, value in scope["headers"] if name == b"cookie"]
    found = []
    for text in values:
        try:
            cookie = SimpleCookie(text).get(cookie_name(client_request, state))
        except CookieError:
            continue
        if cookie is not None:
            found.append(cookie.value)
    return found[0] if len(found) == 1 else None


def set_session_cookie(
    response: Response, client_request: ClientRequest, state: ServerState, token: str
) -> None:
    """Store a session's token in a cookie that scripts and other sites cannot use."""
    response.set_cookie(
        cookie_name(client_request, state),
        token,
        path="/",
        httponly=True,
        samesite="strict",
        secure=client_request.is_secure,
    )


def _log_access(scope: Scope, status: int | None, seconds: float) -> None:
    template = getattr(scope.get("route"), "path", None) or "-"
    method = "SOCKET" if scope["type"] == "websocket" else scope["method"]
    if not method.isalpha():
        method = "-"
    _access_log.info("%s %s %s %.0f ms", method[:10], template, status or "-", seconds * 1000)


def current_server(connection: HTTPConnection) -> ServerState:
    """Return the server's state."""
    state: ServerState = connection.app.state.server
    return state


def current_client_request(connection: HTTPConnection) -> ClientRequest:
    """Return the facts of the current request."""
    client_request: ClientRequest = connection.scope["discreet.visit"]
    return client_request


def current_session(connection: HTTPConnection) -> UserSession:
    """Return the session that the guard found; raise ``SignedOut`` if there is none."""
    session = connection.scope.get("discreet.session")
    if not isinstance(session, UserSession):
        raise SignedOut("you are not signed in", advice="Open the start link, or sign in.")
    return session


def current_workspace(
    server: Annotated[ServerState, Depends(current_server)],
    session: Annotated[UserSession, Depends(current_session)],
) -> Workspace:
    """Return the workspace of the signed-in user."""
    return server.workspace_of(session.user)


def current_jobs(
    server: Annotated[ServerState, Depends(current_server)],
    session: Annotated[UserSession, Depends(current_session)],
) -> JobQueue:
    """Return the jobs of the signed-in user."""
    return server.jobs_of(session.user)


CurrentServer = Annotated[ServerState, Depends(current_server)]
CurrentClientRequest = Annotated[ClientRequest, Depends(current_client_request)]
CurrentSession = Annotated[UserSession, Depends(current_session)]
CurrentWorkspace = Annotated[Workspace, Depends(current_workspace)]
CurrentJobs = Annotated[JobQueue, Depends(current_jobs)]
