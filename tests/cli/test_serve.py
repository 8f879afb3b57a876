"""The verb ``serve``: refusals before it listens, users, and messages about missing packages.

``tests/web/test_server.py`` tests a running server.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--host", "0.0.0.0"], "without TLS"),
        (["--host", "192.0.2.1", "--tls-cert", "a"], "one of --tls-cert and --tls-key"),
        (["--unix-socket", "socket"], "without a password file"),
        (["--proxy", "10.0.0.1"], "without a shared secret"),
        (["--port", "70000"], "--port 70000"),
        (["--port", "x"], "--port"),
        (["--max-upload", "many"], "no memory size"),
        (["missing.toml"], "does not exist"),
        (["--add-user", "anna"], "without a password file"),
        (["--root", "missing"], "does not exist"),
        (["--tls-cert", "a", "--tls-key", "b"], "not a certificate"),
    ],
)
def test_serve_refuses_unsafe_options(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    found = run("serve", "--no-browser", *options)
    assert (found.status, found.out) == (2, "")
    assert message in found.err.replace("\n", " ")


def test_user_is_added_with_a_hashed_password(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "users"
    monkeypatch.setattr(sys, "stdin", io.StringIO("correct horse battery\n"))
    found = run("serve", "--add-user", "anna", "--password-file", str(path), "--json")
    assert json.loads(found.out) == {"user": "anna", "password_file": str(path)}
    assert path.read_text().startswith("anna:scrypt$")
    assert "correct" not in path.read_text() + found.out + found.err
    monkeypatch.setattr(sys, "stdin", io.StringIO("short\n"))
    assert run("serve", "--add-user", "ben", "--password-file", str(path)).status == 2
    monkeypatch.setattr(sys, "stdin", io.StringIO("correct horse battery\n"))
    assert run("serve", "--add-user", "../ben", "--password-file", str(path)).status == 2
    assert "ben" not in path.read_text()


def test_missing_packages_are_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("discreet.web", "fastapi"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    found = run("serve", "--no-browser")
    assert found.status == 2
    assert "fastapi" in found.err
    assert "discreet[web]" in found.err.replace("\n", " ")
