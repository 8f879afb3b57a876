"""Server configuration: addresses, TLS files, limits, trusted proxy, password file.

Unsafe combinations are refused. Forwarded headers of a proxy count only if the connection comes from a listed
address and the request contains the shared secret in ``X-Discreet-Proxy-Secret``. The password file has a
line per user, hashed with scrypt::

    anna:scrypt$32768$8$1$<salt>$<hash>

Only its owner may read it. Verifying an unknown user takes as much time as a known one.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import re
import stat
from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import scrypt
from pathlib import Path
from secrets import token_bytes, token_hex
from threading import Lock

from discreet.errors import InputError
from discreet.settings import Settings

SECRET_HEADER = "x-discreet-proxy-secret"
USER_HEADER = "x-forwarded-user"
UNIX_PEER = "unix"
_SHORTEST_SECRET = 16

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class TrustedProxy:
    """Addresses whose forwarded headers count, with the secret that proves them."""

    networks: tuple[Network, ...]
    unix: bool
    secret: str = field(repr=False)

    def trusts(self, peer: str | None, headers: Mapping[str, str]) -> bool:
        """Return True if a request of ``peer`` (None for a Unix socket) comes from the proxy."""
        secret = headers.get(SECRET_HEADER)
        if secret is None or not self._names(peer):
            return False
        return hmac.compare_digest(secret.encode(), self.secret.encode())

    def _names(self, peer: str | None) -> bool:
        if peer is None:
            return self.unix
        try:
            address = ipaddress.ip_address(peer)
        except ValueError:
            return False
        return any(address in network for network in self.networks)


def read_trusted_proxy(addresses: tuple[str, ...], secret_file: Path | None) -> TrustedProxy | None:
    """Read the proxy from the command line's options; return None if no address is given.

    ``addresses`` are IP addresses, networks such as ``10.0.0.0/24``, or ``unix``. Raises ``InputError`` for
    others, and for a secret that is missing, too short, or readable by others than its owner.
    """
    if not addresses:
        if secret_file is not None:
            raise InputError("a secret of a proxy without its address", advice="Give --proxy ADDRESS.")
        return None
    if secret_file is None:
        raise InputError(
            "a proxy without a shared secret",
            advice="Write a long random text into an owner-only file: --proxy-secret-file FILE.",
        )
    networks = tuple(_parse_network(text) for text in addresses if text != UNIX_PEER)
    return TrustedProxy(networks, UNIX_PEER in addresses, _read_secret(secret_file))


def _parse_network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        raise InputError(
            f"--proxy {text} is not an address",
            allowed="an IP address, a network such as 10.0.0.0/24, or unix",
        ) from None


def _read_secret(path: Path) -> str:
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
    """Raise ``InputError`` unless a file exists and only its owner may read or write it."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from None
    if not stat.S_ISREG(mode):
        raise InputError(f"{path} is not a file")
    if os.name == "posix" and mode & 0o077:
        raise InputError(
            f"{path} may be read or written by others than its owner", advice=f"chmod 600 {path}"
        )


MAX_UPLOAD = 4 * 2**30
MAX_BODY = 4 * 2**20
MAX_MESSAGE = 2**20


@dataclass(frozen=True)
class TlsFiles:
    """The certificate chain and its private key, in PEM files."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class ServerConfig:
    """Configuration of one server: its files, addresses, users and limits.

    ``workspace`` is the folder that it keeps; ``spec`` a spec file that replaces the workspace's own;
    ``root`` the folder below which paths typed by users must be (None: only the workspace itself).
    ``public_names`` are the host names, each with an optional port, by which browsers reach it in addition to
    its own address. A ``port`` of 0 is any free one; with ``port_may_differ``, a free port replaces one that
    is in use. Sizes are in bytes.
    """

    workspace: Path
    settings: Settings = field(default_factory=Settings.from_environment)
    spec: Path | None = None
    root: Path | None = None
    host: str = "127.0.0.1"
    port: int = 0
    port_may_differ: bool = False
    tls: TlsFiles | None = None
    unix_socket: Path | None = None
    public_names: tuple[str, ...] = ()
    password_file: Path | None = None
    proxy: TrustedProxy | None = None
    max_upload: int = MAX_UPLOAD
    max_body: int = MAX_BODY

    def check(self) -> None:
        """Raise ``InputError`` for a combination that would expose data."""
        self._check_address()
        if self.proxy is not None and self.password_file is None:
            raise InputError("a proxy without a password file", advice="Give --password-file FILE.")
        if self.spec is not None and self.password_file is not None:
            raise InputError(
                "a spec together with a password file: every user has a separate spec",
                advice="Leave out the spec, or the password file.",
            )
        if (self.unix_socket is not None or self.proxy is not None) and not self.public_names:
            raise InputError(
                "a proxy without the public name of the server", advice="Give --public-name HOST."
            )
        if self.is_wildcard and not self.public_names:
            raise InputError(
                f"--host {self.host} without the public name of the server",
                advice="Give --public-name HOST, or a --host that names one address.",
            )
        for name, folder in (("--workspace", self.workspace), ("--root", self.root)):
            if folder is not None and folder.exists() and not folder.is_dir():
                raise InputError(f"{name} {folder} is not a folder")
        if self.root is not None and not self.root.is_dir():
            raise InputError(f"--root {self.root} does not exist")

    def _check_address(self) -> None:
        if self.unix_socket is not None:
            if self.tls is not None:
                raise InputError("TLS on a Unix socket", advice="Let the proxy do TLS.")
            if self.password_file is None:
                raise InputError("a Unix socket without a password file", advice="Give --password-file FILE.")
            return
        if self.is_loopback:
            return
        if self.tls is None:
            raise InputError(
                f"--host {self.host} without TLS would send personal data in the clear",
                allowed="127.0.0.1, localhost, ::1; elsewhere --tls-cert and --tls-key, or --unix-socket",
                advice="Give --tls-cert FILE --tls-key FILE, or --unix-socket PATH behind a proxy.",
            )
        if self.password_file is None:
            raise InputError(
                f"--host {self.host} without a password file",
                advice="Make one with discreet serve --add-user NAME --password-file FILE.",
            )

    @property
    def is_loopback(self) -> bool:
        """True if the address can be reached only from this machine."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def is_wildcard(self) -> bool:
        """True if the address means every address of this machine."""
        try:
            return self.unix_socket is None and ipaddress.ip_address(self.host).is_unspecified
        except ValueError:
            return False

    @property
    def uses_passwords(self) -> bool:
        """True if users sign in with passwords instead of the start link."""
        return self.password_file is not None


SHORTEST_PASSWORD = 10
_N, _R, _P = 2**15, 8, 1
_SCRYPT_MEMORY = 64 * 2**20
_USER_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")


def check_user_name(name: str) -> str:
    """Return the name, which is also a folder's name; raise ``InputError`` if it is not allowed."""
    if not _USER_NAME.fullmatch(name) or name.startswith("."):
        raise InputError(
            "invalid user name",
            allowed="1 to 32 of a-z, 0-9, dot, hyphen and underscore, beginning with a letter or digit",
        )
    return name


def hash_password(password: str, *, salt: bytes | None = None) -> str:
    """Hash a password as ``scrypt$N$r$p$salt$hash``."""
    used = salt or token_bytes(16)
    found = _scrypt(password, used, _N, _R, _P)
    return f"scrypt${_N}${_R}${_P}${b64encode(used).decode()}${b64encode(found).decode()}"


def verify_password(password: str, text: str) -> bool:
    """Return True if a password has this hash; the comparison takes constant time."""
    try:
        _, n, r, p, salt, expected = text.split("$")
        found = _scrypt(password, b64decode(salt), int(n), int(r), int(p))
        return hmac.compare_digest(found, b64decode(expected))
    except ValueError:
        return False


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    return scrypt(
        password.encode("utf-8", "replace"), salt=salt, n=n, r=r, p=p, maxmem=_SCRYPT_MEMORY, dklen=32
    )


@cache
def _dummy_hash() -> str:
    return hash_password("", salt=b"nobody has this.")


class PasswordFile:
    """The users of a password file, read again when it changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._read: tuple[tuple[int, int], dict[str, str]] | None = None
        self.users()

    def users(self) -> dict[str, str]:
        """Return hashes by user; raise ``InputError`` if the file is not owner-only or has another form."""
        check_owner_only(self.path)
        found = self.path.stat()
        stamp = (found.st_mtime_ns, found.st_ino)
        if self._read is None or self._read[0] != stamp:
            self._read = (stamp, _parse_users(self.path))
        return self._read[1]

    def verify(self, user: str, password: str) -> bool:
        """Return True if the password is the user's.

        One check runs at a time, and each takes equally long: an unknown user is checked against a dummy
        hash.
        """
        with self._lock:
            text = self.users().get(user)
            fits = verify_password(password, _dummy_hash() if text is None else text)
            return fits and text is not None


def add_user(path: Path, user: str, password: str) -> None:
    """Add a user to the file or change their password; create the file if there is none."""
    check_user_name(user)
    if len(password) < SHORTEST_PASSWORD:
        raise InputError("the password is short", allowed=f"at least {SHORTEST_PASSWORD} characters")
    users = PasswordFile(path).users() if path.exists() else {}
    lines = [f"{name}:{text}" for name, text in {**users, user: hash_password(password)}.items()]
    write_owner_only(path, "\n".join(lines) + "\n")


def write_owner_only(path: Path, text: str) -> None:
    """Write a text completely or not at all, into a file that only its owner may read."""
    partial = path.with_name(f".{path.name}.{token_hex(4)}.partial")
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {(error.strerror or 'error').lower()}") from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _parse_users(path: Path) -> dict[str, str]:
    users: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        name, colon, text = line.partition(":")
        if not line.strip() or line.startswith("#"):
            continue
        if not colon or not _USER_NAME.fullmatch(name) or text.count("$") != 5 or name in users:
            raise InputError(
                f"{path}, line {number}: no user and hash",
                advice="Lines are made by discreet serve --add-user NAME --password-file FILE.",
            )
        users[name] = text
    return users
