"""Whence a request comes: its peer, the host and scheme it was sent to, whether a proxy vouches for it."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.web.config import ServerConfig
from discreet.web.proxy import USER_HEADER

_SAFE = {"GET", "HEAD", "OPTIONS"}
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Visit:
    """One request or socket, as far as its sender may be believed."""

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
        """Whether the browser's connection is encrypted."""
        return self.scheme == "https"


def visit_of(scope: Mapping[str, Any], config: ServerConfig) -> Visit | None:
    """The visit of an ASGI scope; None where a header that must stand once stands twice."""
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
    return Visit(
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


def refusal(visit: Visit, config: ServerConfig) -> str | None:
    """Why a visit is turned away whoever sends it, None where it is not."""
    if visit.scheme not in _DEFAULT_PORTS or (visit.proxied and not visit.is_secure):
        return "the proxy's own connection is not encrypted"
    if not _is_ours(visit, config):
        return "the Host is not this server's"
    if visit.origin is not None and visit.origin.lower() != f"{visit.scheme}://{_without_default(visit)}":
        return "the Origin is not this server's"
    changes = visit.is_socket or visit.method not in _SAFE
    if changes and visit.origin is None:
        return "the Origin is missing"
    if visit.site not in (None, "same-origin", "none") and not _is_navigation(visit):
        return "another site sent this"
    return None


def _is_navigation(visit: Visit) -> bool:
    """Whether somebody follows a link to a page, which other sites may have."""
    pages = ("/", "/start", "/login", "/api-docs")
    return visit.mode == "navigate" and visit.method in ("GET", "HEAD") and visit.path in pages


def _is_ours(visit: Visit, config: ServerConfig) -> bool:
    found = split_host(visit.host)
    if found is None:
        return False
    name, port = found[0], found[1] or _DEFAULT_PORTS[visit.scheme]
    for text in config.public_names:
        public = split_host(text.lower())
        if public is not None and name == public[0]:
            direct = not visit.proxied and config.unix_socket is None
            if port == (public[1] or (config.port if direct else _DEFAULT_PORTS[visit.scheme])):
                return True
    if visit.proxied or config.unix_socket is not None or config.is_wildcard:
        return False
    names = {"127.0.0.1", "localhost", "::1"} if config.is_loopback else {config.host.lower()}
    return name in names and port == config.port


def split_host(text: str) -> tuple[str, int | None] | None:
    """The name and the port of a Host header, None where it is none."""
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


def _without_default(visit: Visit) -> str:
    """The Host as an Origin has it: without the scheme's own port."""
    return visit.host.removesuffix(f":{_DEFAULT_PORTS[visit.scheme]}")
