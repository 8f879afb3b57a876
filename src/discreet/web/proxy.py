"""A reverse proxy in front of the server: when its headers count.

They count only where the connection comes from a named address and the request carries the shared secret in
``X-Discreet-Proxy-Secret``. From anyone else they are as if they were not there.
"""

from __future__ import annotations

import hmac
import ipaddress
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from discreet.errors import InputError

SECRET_HEADER = "x-discreet-proxy-secret"
USER_HEADER = "x-forwarded-user"
UNIX = "unix"
_SHORTEST_SECRET = 16

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class TrustedProxy:
    """Addresses whose forwarded headers count, with the secret that proves them."""

    networks: tuple[Network, ...]
    unix: bool
    secret: str = field(repr=False)

    def trusts(self, peer: str | None, headers: Mapping[str, str]) -> bool:
        """Whether a request of ``peer`` (None: a Unix socket) comes from the proxy."""
        given = headers.get(SECRET_HEADER)
        if given is None or not self._names(peer):
            return False
        return hmac.compare_digest(given.encode(), self.secret.encode())

    def _names(self, peer: str | None) -> bool:
        if peer is None:
            return self.unix
        try:
            address = ipaddress.ip_address(peer)
        except ValueError:
            return False
        return any(address in network for network in self.networks)


def trusted_proxy(addresses: tuple[str, ...], secret_file: Path | None) -> TrustedProxy | None:
    """The proxy of the command line's options, None where no address is named.

    ``addresses`` are IP addresses, networks such as ``10.0.0.0/24``, or ``unix``. ``InputError`` for others,
    and for a secret that is missing, too short, or readable by others than its owner.
    """
    if not addresses:
        if secret_file is not None:
            raise InputError("a proxy's secret, and no proxy's address", advice="Give --proxy ADDRESS.")
        return None
    if secret_file is None:
        raise InputError(
            "a proxy without a shared secret",
            advice="Write a long random text into an owner-only file: --proxy-secret-file FILE.",
        )
    networks = tuple(_network(text) for text in addresses if text != UNIX)
    return TrustedProxy(networks, UNIX in addresses, _secret(secret_file))


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        raise InputError(
            f"--proxy {text} is no address", allowed="an IP address, a network such as 10.0.0.0/24, or unix"
        ) from None


def _secret(path: Path) -> str:
    check_owner_only(path)
    try:
        secret = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise InputError(f"the secret in {path} cannot be read") from None
    if len(secret) < _SHORTEST_SECRET:
        raise InputError(
            f"the secret in {path} is short",
            allowed=f"at least {_SHORTEST_SECRET} characters, drawn at random",
        )
    return secret


def check_owner_only(path: Path) -> None:
    """Raise ``InputError`` unless a file is there and only its owner may read or write it."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from None
    if not stat.S_ISREG(mode):
        raise InputError(f"{path} is no file")
    if mode & 0o077 and hasattr(stat, "S_IRWXG") and _has_modes():
        raise InputError(
            f"{path} may be read or written by others than its owner", advice=f"chmod 600 {path}"
        )


def _has_modes() -> bool:
    import os

    return os.name == "posix"
