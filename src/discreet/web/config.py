"""How the workbench is served: addresses, files, limits; and which combinations are safe."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path

from discreet.errors import InputError
from discreet.settings import Settings
from discreet.web.proxy import TrustedProxy

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
    """What one server serves, to whom, and within which limits.

    ``workspace`` is the folder that it keeps; ``spec`` a spec file in place of the workspace's own; ``root``
    the folder below which paths typed by users must lie (None: only the workspace itself). ``public_names``
    are the host names, each with an optional port, by which browsers reach it apart from its own address. A
    ``port`` of 0 is any free one; where ``port_may_differ``, one that is taken gives way to a free one.
    Sizes are in bytes.
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
                "a spec beside a password file: every user has a spec of their own",
                advice="Leave out the spec, or the password file.",
            )
        if (self.unix_socket is not None or self.proxy is not None) and not self.public_names:
            raise InputError(
                "a proxy, and no name by which browsers reach it", advice="Give --public-name HOST."
            )
        if self.is_wildcard and not self.public_names:
            raise InputError(
                f"--host {self.host}, and no name by which browsers reach it",
                advice="Give --public-name HOST, or a --host that names one address.",
            )
        for name, folder in (("--workspace", self.workspace), ("--root", self.root)):
            if folder is not None and folder.exists() and not folder.is_dir():
                raise InputError(f"{name} {folder} is no folder")
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
        """Whether the address is reached from this machine alone."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def is_wildcard(self) -> bool:
        """Whether the address stands for every address of this machine."""
        try:
            return self.unix_socket is None and ipaddress.ip_address(self.host).is_unspecified
        except ValueError:
            return False

    @property
    def by_password(self) -> bool:
        """Whether users sign in with passwords, and not with the start link."""
        return self.password_file is not None
