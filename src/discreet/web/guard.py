"""The guard: every request and socket passes it before anything else sees them.

It checks Host and Origin, finds the session, limits bodies, sets the security headers of every answer, turns
whatever goes wrong into an answer without a value of the data, and writes the access log: method, route
template, status and time, never a path or a query string as it was sent.
"""

from __future__ import annotations

import logging
import time
from collections.abc import MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.errors import DiscreetError, InputError
from discreet.web.passwords import check_user_name
from discreet.web.problems import NotAllowed, SignedOut, TooLarge, as_discreet_error, error_response
from discreet.web.server_state import ServerState
from discreet.web.session import Session
from discreet.web.traces import place_of
from discreet.web.visits import Visit, refusal, visit_of

POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}
_PUBLIC = ("/static/", "/start", "/login", "/api/health", "/favicon.ico")
_PAGES = ("/", "/api-docs")
_UPLOADS = ("/api/workspace/uploads/", "/api/attacker/outside", "/api/load/upload")
_POLICY_VIOLATION = 1008

_access = logging.getLogger("discreet.web.access")
_log = logging.getLogger("discreet.web")


class _BodyTooLarge(Exception):
    """A body that went over its limit while it was read."""


class Guard:
    """The outermost layer of the application."""

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
            answer = self._turned_away(scope)
            if answer is None:
                await self._app(scope, exchange.receive, exchange.send)
            else:
                await exchange.answer(answer)
        except _BodyTooLarge:
            await exchange.answer(error_response(_too_large(exchange.limit)))
        except Exception as error:
            if as_discreet_error(error) is not error:
                _log.error("a request failed: %s", place_of(error))
            await exchange.answer(error_response(error))
        finally:
            _write_access(scope, exchange.status, time.perf_counter() - started)

    def _turned_away(self, scope: Scope) -> Response | None:
        """The answer to a visit that may not pass; the session of one that may goes into the scope."""
        visit = visit_of(scope, self._state.config)
        reason = "a header stands twice" if visit is None else refusal(visit, self._state.config)
        if visit is None or reason is not None:
            return error_response(NotAllowed(f"this request is refused: {reason}"))
        scope["discreet.visit"] = visit
        scope["discreet.session"] = session = self._session(scope, visit)
        if session is not None or _is_public(visit):
            return None
        if visit.path in _PAGES and visit.method in ("GET", "HEAD"):
            return RedirectResponse("/login", status_code=303)
        return error_response(SignedOut("nobody is signed in", advice="Open the start link, or sign in."))

    def _session(self, scope: Scope, visit: Visit) -> Session | None:
        if visit.user is not None:
            return self._proxied(visit.user)
        token = session_token(scope, visit, self._state)
        return None if token is None else self._state.sessions.find(token)

    def _proxied(self, user: str) -> Session | None:
        """The session of somebody whom the proxy signed in; only users of the password file are let in."""
        try:
            check_user_name(user)
        except InputError:
            return None
        passwords = self._state.passwords
        known = passwords is not None and user in passwords.users()
        return Session(user, "proxy") if known else None

    def _limit(self, scope: Scope) -> int:
        upload = str(scope["path"]).startswith(_UPLOADS)
        return self._state.config.max_upload if upload else self._state.config.max_body


class _Exchange:
    """One exchange: the body counted as it comes, the headers added as the answer goes."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self.limit = limit
        self._taken = 0
        self.status: int | None = None
        self._overrun = False

    async def receive(self) -> Message:
        """The next message, unless the body has grown over the limit."""
        if self._taken == 0 and _announced(self._scope) > self.limit:
            self._overrun = True
            raise _BodyTooLarge
        message = await self._receive()
        if message["type"] == "http.request":
            self._taken += len(message.get("body", b""))
            if self._taken > self.limit:
                self._overrun = True
                raise _BodyTooLarge
        return message

    async def send(self, message: Message) -> None:
        """Pass a message on, with the security headers on the one that starts the answer."""
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
        """Answer in place of the application, where nothing was answered yet."""
        self._overrun = False
        if self._scope["type"] == "websocket":
            if self.status in (None, 101):
                await self.send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        elif self.status is None:
            response.headers["Connection"] = "close"
            await response(self._scope, self._receive, self.send)


def _announced(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else 0
    return 0


def _add_headers(message: MutableMapping[str, Any], scope: Scope) -> None:
    headers = MutableHeaders(scope=message)
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
    visit = scope.get("discreet.visit")
    if visit is not None and visit.is_secure:
        headers.setdefault("Strict-Transport-Security", "max-age=31536000")


def _is_public(visit: Visit) -> bool:
    if visit.path == "/api/session":
        return visit.method == "POST"
    return visit.path.startswith("/static/") or visit.path in _PUBLIC


def _too_large(limit: int) -> DiscreetError:
    return TooLarge("the body is too large", allowed=f"{limit:,} bytes")


def cookie_name(visit: Visit, state: ServerState) -> str:
    """The session cookie's name: bound to the host under TLS; else with the port, which cookies disregard."""
    return "__Host-discreet" if visit.is_secure else f"discreet_{state.config.port}"


def session_token(scope: Scope, visit: Visit, state: ServerState) -> str | None:
    """The token in the session cookie, None where there is none, or more than one."""
    values = [value.decode("latin-1") for name, value in scope["headers"] if name == b"cookie"]
    found = []
    for text in values:
        try:
            cookie = SimpleCookie(text).get(cookie_name(visit, state))
        except CookieError:
            continue
        if cookie is not None:
            found.append(cookie.value)
    return found[0] if len(found) == 1 else None


def set_session_cookie(response: Response, visit: Visit, state: ServerState, token: str) -> None:
    """Hand a session's token to the browser, in a cookie that scripts and other sites cannot use."""
    response.set_cookie(
        cookie_name(visit, state), token, path="/", httponly=True, samesite="strict", secure=visit.is_secure
    )


def _write_access(scope: Scope, status: int | None, seconds: float) -> None:
    template = getattr(scope.get("route"), "path", None) or "-"
    method = "SOCKET" if scope["type"] == "websocket" else scope["method"]
    if not method.isalpha():
        method = "-"
    _access.info("%s %s %s %.0f ms", method[:10], template, status or "-", seconds * 1000)
