"""Combinations of options that the server accepts or refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from discreet.errors import InputError
from discreet.settings import Settings
from discreet.web.server_config import ServerConfig, TlsFiles, TrustedProxy

TLS = TlsFiles(Path("cert.pem"), Path("key.pem"))
PROXY = TrustedProxy((), True, "0123456789abcdef")
USERS = Path("users")
UNSAFE: list[dict[str, Any]] = [
    {"host": "0.0.0.0"},
    {"host": "192.0.2.1"},
    {"host": "::"},
    {"host": "example.org"},
    {"host": "192.0.2.1", "tls": TLS},
    {"host": "192.0.2.1", "password_file": USERS},
    {"host": "0.0.0.0", "tls": TLS, "password_file": USERS},
    {"unix_socket": Path("socket")},
    {"unix_socket": Path("socket"), "password_file": USERS},
    {"unix_socket": Path("socket"), "password_file": USERS, "public_names": ("a",), "tls": TLS},
    {"proxy": PROXY},
    {"proxy": PROXY, "password_file": USERS},
    {"password_file": USERS, "spec": Path("discreet.toml")},
    {"root": Path("missing folder")},
    {"workspace": Path(__file__)},
]
SAFE: list[dict[str, Any]] = [
    {},
    {"host": "localhost"},
    {"host": "::1"},
    {"host": "127.0.0.2"},
    {"host": "192.0.2.1", "tls": TLS, "password_file": USERS},
    {"host": "0.0.0.0", "tls": TLS, "password_file": USERS, "public_names": ("example.org",)},
    {"unix_socket": Path("socket"), "password_file": USERS, "public_names": ("example.org",)},
    {"unix_socket": Path("s"), "password_file": USERS, "public_names": ("example.org",), "proxy": PROXY},
]


def of(tmp_path: Path, settings: Settings, changes: dict[str, Any]) -> ServerConfig:
    return ServerConfig(**{"workspace": tmp_path / "workspace", "settings": settings, **changes})


@pytest.mark.parametrize("changes", UNSAFE, ids=str)
def test_unsafe_configuration_is_refused(tmp_path: Path, settings: Settings, changes: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        of(tmp_path, settings, changes).check()
    assert caught.value.message
    assert not (tmp_path / "workspace").exists()


@pytest.mark.parametrize("changes", SAFE, ids=str)
def test_safe_configuration_is_accepted(tmp_path: Path, settings: Settings, changes: dict[str, Any]) -> None:
    of(tmp_path, settings, changes).check()
