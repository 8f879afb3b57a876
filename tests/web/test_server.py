"""A real server: sockets, TLS, a Unix socket, shutdown."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import httpx
import pytest

from discreet.errors import InputError
from discreet.settings import Settings
from discreet.verbs.run_context import Reporter
from discreet.web.job_queue import JobState
from discreet.web.server import WorkbenchServer
from discreet.web.server_config import ServerConfig, TlsFiles, add_user, read_trusted_proxy
from tests.waiting import PATIENCE, ctrl_c_arrives
from tests.web.running import RunningWorkbench, running

PASSWORD = "correct horse battery"


@pytest.fixture
def workbench(tmp_path: Path, settings: Settings) -> Iterator[RunningWorkbench]:
    with running(ServerConfig(workspace=tmp_path / "workspace", settings=settings)) as found:
        yield found


@contextmanager
def signed_in(workbench: RunningWorkbench) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=workbench.url, follow_redirects=True, timeout=PATIENCE) as client:
        assert client.get(workbench.start_link).status_code == 200
        yield client


def test_server_listens_on_loopback_only(workbench: RunningWorkbench) -> None:
    address, port = workbench.server._socket.getsockname()
    assert address == "127.0.0.1"
    assert workbench.url == f"http://127.0.0.1:{port}"


def test_taken_port_is_refused_or_replaced(tmp_path: Path, settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        config = ServerConfig(workspace=tmp_path / "w", settings=settings, port=port)
        with pytest.raises(InputError, match="in use"):
            WorkbenchServer(config)
        from dataclasses import replace

        other = WorkbenchServer(replace(config, port_may_differ=True))
        assert other.config.port not in (0, port)
        other.state.close()
        other.close()


@pytest.fixture(scope="module")
def tls() -> Iterator[TlsFiles]:
    with tempfile.TemporaryDirectory() as folder:
        files = TlsFiles(Path(folder) / "cert.pem", Path(folder) / "key.pem")
        command = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "2",
        ]
        command += ["-subj", "/CN=workbench", "-addext", "subjectAltName=IP:127.0.0.1"]
        try:
            subprocess.run(
                [*command, "-keyout", str(files.key), "-out", str(files.certificate)],
                check=True,
                capture_output=True,
            )
        except FileNotFoundError:
            pytest.skip("openssl is not installed")
        yield files


def test_tls_encrypts_and_sets_a_host_cookie(tmp_path: Path, settings: Settings, tls: TlsFiles) -> None:
    config = ServerConfig(workspace=tmp_path / "w", settings=settings, tls=tls)
    with running(config) as found:
        assert found.url.startswith("https://")
        context = ssl.create_default_context(cafile=str(tls.certificate))
        with httpx.Client(verify=context, base_url=found.url, timeout=PATIENCE) as client:
            answer = client.get(found.start_link)
            cookie = answer.headers["set-cookie"].lower()
            assert cookie.startswith("__host-discreet=")
            assert "; secure" in cookie
            assert client.get("/api/workspace").status_code == 200
            assert "max-age" in client.get("/").headers["strict-transport-security"]
            assert client.get("/", headers={"origin": found.url.replace("https", "http")}).status_code == 403
        with pytest.raises(httpx.HTTPError):
            httpx.get(found.url.replace("https", "http"), timeout=PATIENCE)


def test_certificate_without_its_key_is_refused(tmp_path: Path, settings: Settings, tls: TlsFiles) -> None:
    config = ServerConfig(
        workspace=tmp_path / "w", settings=settings, tls=TlsFiles(tls.certificate, tls.certificate)
    )
    with pytest.raises(InputError, match="not a certificate"):
        WorkbenchServer(config)


def test_unix_socket_serves_a_proxy(tmp_path: Path, settings: Settings) -> None:
    users, secret = tmp_path / "users", tmp_path / "secret"
    add_user(users, "anna", PASSWORD)
    secret.write_text("0123456789abcdef")
    secret.chmod(0o600)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "socket"
        config = ServerConfig(
            workspace=tmp_path / "w",
            settings=settings,
            unix_socket=path,
            public_names=("workbench.example.org",),
            password_file=users,
            proxy=read_trusted_proxy(("unix",), secret),
        )
        with running(config):
            assert stat.S_IMODE(path.stat().st_mode) == 0o660
            base = "http://workbench.example.org"
            with httpx.Client(
                transport=httpx.HTTPTransport(uds=str(path)), base_url=base, timeout=PATIENCE
            ) as client:
                assert client.get("/api/health").status_code == 200
                assert client.get("/api/health", headers={"host": "evil.example"}).status_code == 403
                origin = {"origin": "https://workbench.example.org"}
                body = {"user": "anna", "password": PASSWORD}
                assert client.post("/api/session", json=body).status_code == 403
                answer = client.post("/api/session", json=body, headers=origin)
                assert "secure" in answer.headers["set-cookie"].lower()
                named = {"x-forwarded-user": "anna"}
                assert client.get("/api/session", headers=named).status_code == 401
                named |= {"x-discreet-proxy-secret": "0123456789abcdef", "x-forwarded-proto": "https"}
                assert client.get("/api/session", headers=named).json()["login"] == "proxy"
            with pytest.raises(InputError):
                WorkbenchServer(config)
        assert not path.exists()


def test_browser_is_opened_without_the_token_on_its_command_line(
    workbench: RunningWorkbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, addresses = Event(), []
    monkeypatch.setattr("webbrowser.open", lambda address: addresses.append(address) or opened.set())
    workbench.server.open_browser()
    assert opened.wait(PATIENCE)
    page = workbench.folder / "open-workbench.html"
    assert addresses == [page.as_uri()]
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert f"{workbench.url}/start?token=" in page.read_text()


def test_stop_cancels_jobs(tmp_path: Path, settings: Settings) -> None:
    started = Event()

    def work(reporter: Reporter) -> None:
        with reporter.stage("Counting") as advance:
            started.set()
            while True:
                advance(1, 10)

    with running(ServerConfig(workspace=tmp_path / "w", settings=settings)) as found:
        job = found.server.state.jobs_of("local").start("Count", work)
        assert started.wait(PATIENCE)
        with signed_in(found) as client, client.stream("GET", f"/api/jobs/{job}/events") as events:
            assert "running" in next(events.iter_text())
            found.server.stop()
    assert found.server.state.jobs_of("local").find(job).state is JobState.CANCELLED


@contextmanager
def serving(folder: Path) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """Run ``serve`` in a subprocess; yield it with its JSON output once it accepts connections."""
    script = "import sys; from discreet.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", script, "serve", "--json", "--no-browser", "--port", "0"]
    command += ["--workspace", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            text = ""
            while not text.endswith("}\n"):
                line = process.stdout.readline()
                assert line, f"it ended with {process.wait()}"
                text += line
            yield process, json.loads(text)
        finally:
            process.kill()


def ended(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str, str]:
    """Send a signal; return the exit status and the rest of both streams."""
    process.send_signal(number)
    rest, errors = process.communicate(timeout=PATIENCE)
    return process.returncode, rest, errors


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_ends_the_verb_cleanly(tmp_path: Path) -> None:
    with ctrl_c_arrives(), serving(tmp_path / "w") as (process, _):
        assert ended(process, signal.SIGINT) == (0, "", "")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_background_job_of_a_shell_ignores_ctrl_c(tmp_path: Path) -> None:
    """The job ignores SIGINT from its start and must keep ignoring it; SIGTERM ends it."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with serving(tmp_path / "w") as (process, facts):
            process.send_signal(signal.SIGINT)
            with httpx.Client(follow_redirects=True, timeout=PATIENCE) as client:
                assert client.get(facts["start_link"]).status_code == 200
                assert client.get(f"{facts['url']}/api/workspace").json()["user"] == "local"
            ignored = Path(f"/proc/{process.pid}/status")
            if ignored.exists():
                (mask,) = re.findall(r"^SigIgn:\s*(\w+)$", ignored.read_text(), re.MULTILINE)
                assert int(mask, 16) >> (signal.SIGINT - 1) & 1
            assert ended(process, signal.SIGTERM) == (0, "", "")
    finally:
        signal.signal(signal.SIGINT, before)
