"""The server: bind an address, build the application with its routes and middleware, serve until stopped.

The OpenAPI description is served without external resources.
"""

from __future__ import annotations

import errno
import html
import logging
import os
import signal
import socket
import stat
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread, current_thread, main_thread

import uvicorn
from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from discreet.errors import InputError
from discreet.model.json_documents import program_version
from discreet.web import error_responses
from discreet.web.request_guard import RequestGuard
from discreet.web.routes import (
    analyst,
    attacker,
    columns,
    compare,
    hierarchies,
    load,
    negotiate,
    publish,
    releases,
    scripts,
    sign_in,
    workspace,
)
from discreet.web.server_config import MAX_MESSAGE, ServerConfig, write_owner_only
from discreet.web.server_state import ServerState
from discreet.web.write_order import WriteOrderMiddleware

_DESCRIPTION = (
    "All data of the workbench's pages, as JSON. Requests carry the session's cookie; those"
    " that change something carry an `Origin` header with the server's own address, as browsers send it. An"
    ' answer with a status of 400 or more is `{"error": {"kind", "message", "allowed", "advice", "field"}}`.'
)
_TAGS = [
    {"name": "session", "description": "Signing in and out."},
    {"name": "workspace", "description": "The user's folder: spec, uploads, history."},
    {"name": "versions", "description": "Versions of the work: undo, redo, restore."},
    {"name": "jobs", "description": "Long-running jobs: progress, results, cancelling."},
    {"name": "load", "description": "Screen 1: the table, its preview, how NULL is read."},
    {"name": "columns", "description": "Screen 2: roles, proposals and uniqueness."},
    {"name": "hierarchies", "description": "Screen 3: hierarchies, their builders and checks."},
    {"name": "negotiate", "description": "Screen 4: the lattice, answers, relaxations, the frontier."},
    {"name": "compare", "description": "Comparison of answers, releases and models."},
    {"name": "analyst", "description": "Screen 5: queries and utility of a release."},
    {"name": "attacker", "description": "Screen 6: disclosure risk of a release."},
    {"name": "publish", "description": "Screen 7: releases, their audits and reports."},
    {"name": "scripts", "description": "Actions as shell commands and Python."},
]


_ROUTERS = (
    sign_in.router,
    workspace.router,
    workspace.versions_router,
    workspace.jobs_router,
    load.router,
    columns.router,
    hierarchies.router,
    negotiate.router,
    compare.router,
    analyst.router,
    attacker.router,
    publish.router,
    releases.router,
    scripts.router,
)


def create_app(config: ServerConfig) -> FastAPI:
    """Create the workbench's application.

    ``app.state.server`` is its ``ServerState``, which is closed when the application ends. Raises
    ``InputError`` if the configuration is unsafe or its folder is in use.
    """
    state = ServerState(config)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await run_in_threadpool(state.close)

    # Pass the routes themselves: FastAPI copies an included router for each application, which delays the
    # first requests by 0.2 s in all. Static files are first, because a page loads a hundred of them.
    files = Mount("/static", StaticFiles(directory=sign_in.STATIC), name="static")
    app = FastAPI(
        title="discreet workbench",
        version=program_version(),
        description=_DESCRIPTION,
        openapi_tags=_TAGS,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        swagger_ui_oauth2_redirect_url=None,
        routes=[files, *(route for router in _ROUTERS for route in router.routes)],
    )
    app.state.server = state
    error_responses.install_error_handlers(app)
    app.add_middleware(WriteOrderMiddleware, state=state)  # the guard wraps it and finds the session
    app.add_middleware(RequestGuard, state=state)
    return app


DEFAULT_PORT = 8765
_SHUTDOWN_SECONDS = 2
_SOCKET_MODE = 0o660
_START_PAGE = "open-workbench.html"
_START_HTML = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>discreet workbench</title>'
    '<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={link}">'
    '<p><a href="{link}">Open the workbench</a></p></html>\n'
)


class WorkbenchServer:
    """One server. ``run`` serves until ``stop`` is called or the process is interrupted.

    Raises ``InputError`` if the configuration is unsafe, the address is taken or the workspace is in use.
    """

    def __init__(self, config: ServerConfig) -> None:
        config.check()
        self._socket = _bind(config)
        port = 0 if config.unix_socket is not None else int(self._socket.getsockname()[1])
        self.config = replace(config, port=port)
        try:
            self.app = create_app(self.config)
        except BaseException:
            self.close()
            raise
        self.state: ServerState = self.app.state.server
        self._server = _UvicornServer(_uvicorn_config(self))

    @property
    def url(self) -> str:
        """The address at which browsers find the server; behind a proxy the first public name."""
        config = self.config
        if config.public_names and (config.unix_socket or config.proxy or config.is_wildcard):
            name = config.public_names[0]
            direct = config.is_wildcard and ":" not in name and config.port != 443
            return f"https://{name}:{config.port}" if direct else f"https://{name}"
        host = f"[{config.host}]" if ":" in config.host else config.host
        return f"{'https' if config.tls else 'http'}://{host}:{config.port}"

    def start_link(self) -> str:
        """Return a new link that signs in once; with passwords the address of the login page."""
        if self.config.uses_passwords:
            return f"{self.url}/login"
        return f"{self.url}/start?token={self.state.start_tokens.issue()}"

    def run(self, on_start: Callable[[], None] = lambda: None) -> None:
        """Serve until stopped; call ``on_start`` when connections are accepted. An interrupt is handled."""
        self._server.on_start = on_start
        try:
            with suppress(KeyboardInterrupt):
                self._server.run(sockets=[self._socket])
        finally:
            self.close()
        if not self._server.started:
            raise InputError("the server could not start", advice="See the log above.")

    def open_browser(self) -> None:
        """Open the browser at a start link.

        The link is in an owner-only page instead of on the browser's command line, which every user of this
        machine could read. The page is deleted when the server ends.
        """
        page = self.config.workspace / _START_PAGE
        link = html.escape(self.start_link(), quote=True)
        write_owner_only(page, _START_HTML.format(link=link))
        address = page.resolve().as_uri()
        Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    def stop(self) -> None:
        """Stop the server from another thread: jobs are cancelled, connections closed."""
        self._server.should_exit = True

    def close(self) -> None:
        """Release the address and delete the start page."""
        self._socket.close()
        for path in (self.config.unix_socket, self.config.workspace / _START_PAGE):
            if path is not None:
                with suppress(OSError):
                    path.unlink()


class _UvicornServer(uvicorn.Server):
    """A uvicorn server that calls ``on_start`` when it has started."""

    on_start: Callable[[], None] = staticmethod(lambda: None)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals while the server runs, but not a SIGINT that was ignored from the start.

        SIGINT is ignored in a shell's background job, which an interrupt of the foreground job must not end.
        """
        before = signal.getsignal(signal.SIGINT)
        with super().capture_signals():
            if before is signal.SIG_IGN and current_thread() is main_thread():
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then call ``on_start``."""
        await super().startup(sockets=sockets)
        if self.started:
            self.on_start()


def _uvicorn_config(server: WorkbenchServer) -> uvicorn.Config:
    tls = server.config.tls
    return uvicorn.Config(
        server.app,
        lifespan="on",
        http="h11",
        ws="websockets-sansio",
        ws_max_size=MAX_MESSAGE,
        ws_per_message_deflate=False,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        timeout_keep_alive=30,
        limit_concurrency=500,
        ssl_certfile=None if tls is None else tls.certificate,
        ssl_keyfile=None if tls is None else tls.key,
    )


def _bind(config: ServerConfig) -> socket.socket:
    if config.tls is not None:
        _check_tls(config)
    if config.unix_socket is not None:
        return _bind_unix(config.unix_socket)
    try:
        return _listen(config.host, config.port)
    except OSError as error:
        if config.port_may_differ and error.errno == errno.EADDRINUSE:
            return _listen(config.host, 0)
        raise InputError(
            f"--host {config.host} --port {config.port}: {(error.strerror or 'error').lower()}",
            advice="Give another --port, or leave it out.",
        ) from None


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    result = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            result.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        result.bind(address)
        result.listen()
    except OSError:
        result.close()
        raise
    return result


def _bind_unix(path: Path) -> socket.socket:
    """Bind a socket that its owner and group may open; replace a leftover of a server that ended."""
    if not hasattr(socket, "AF_UNIX"):
        raise InputError("this system has no Unix sockets")
    if path.exists() and not stat.S_ISSOCK(path.stat().st_mode):
        raise InputError(f"{path} exists already and is not a socket")
    result = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.exists() and result.connect_ex(str(path)) == 0:
            raise InputError(f"another server listens on {path}")
        path.unlink(missing_ok=True)
        # The umask sets the mode at creation: a later chmod would leave the socket open for a moment.
        before = os.umask(0o777 & ~_SOCKET_MODE)
        try:
            result.close()
            result = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            result.bind(str(path))
            result.listen()
        finally:
            os.umask(before)
    except OSError as error:
        result.close()
        raise InputError(f"{path}: {(error.strerror or 'cannot be created').lower()}") from None
    except InputError:
        result.close()
        raise
    return result


def _check_tls(config: ServerConfig) -> None:
    import ssl

    assert config.tls is not None
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(config.tls.certificate, config.tls.key)
    except (OSError, ssl.SSLError):
        raise InputError(
            f"{config.tls.certificate} and {config.tls.key} are not a certificate and its key",
            allowed="two PEM files",
        ) from None


def configure_logging(handler: logging.Handler, *, access: bool) -> None:
    """Log failures, and on request each request's method, route and status; never a value of the data."""
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    for name, level in (
        ("uvicorn", logging.ERROR),
        ("discreet.web", logging.WARNING),
        ("discreet.web.access", logging.INFO if access else logging.CRITICAL),
    ):
        logging.getLogger(name).setLevel(level)
    for name in ("uvicorn", "discreet.web"):
        log = logging.getLogger(name)
        log.handlers = [handler]
        log.propagate = False
