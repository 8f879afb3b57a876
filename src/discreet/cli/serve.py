"""``discreet serve``: the workbench in the browser."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options, output
from discreet.errors import InputError
from discreet.places.address import looks_like_address, parse_path
from discreet.places.protected_files import TargetFile, check_outputs, protected_files
from discreet.settings import parse_bytes

if TYPE_CHECKING:
    from discreet.web.server import WorkbenchServer
    from discreet.web.server_config import ServerConfig

DEFAULT_WORKSPACE = "discreet-workspace"
_PACKAGES = {"fastapi", "starlette", "uvicorn", "websockets", "pydantic"}

_Spec = Annotated[
    Path | None,
    typer.Argument(metavar="[SPEC]", help="The spec to work on. [discreet.toml in the workspace]"),
]
_Workspace = Annotated[
    Path | None,
    typer.Option(
        "--workspace", metavar="DIR", help=f"Folder that stores work. [{DEFAULT_WORKSPACE}, next to SPEC]"
    ),
]
_Root = Annotated[
    Path | None,
    typer.Option(
        "--root",
        metavar="DIR",
        help="Paths typed into pages must be below DIR. [SPEC's folder, or this one]",
    ),
]
_Port = Annotated[str | None, typer.Option("--port", metavar="N", help="The port. [8765, or a free one]")]
_Host = Annotated[
    str, typer.Option("--host", metavar="H", help="The address; others than this machine's need TLS.")
]
_PublicName = Annotated[
    list[str] | None,
    typer.Option("--public-name", metavar="HOST[:PORT]", help="A name that browsers use for it; repeatable."),
]
_TlsCertificate = Annotated[
    Path | None, typer.Option("--tls-cert", metavar="FILE", help="The certificate chain, PEM.")
]
_TlsKey = Annotated[Path | None, typer.Option("--tls-key", metavar="FILE", help="Its private key, PEM.")]
_UnixSocket = Annotated[
    Path | None, typer.Option("--unix-socket", metavar="PATH", help="A Unix socket, for a proxy in front.")
]
_PasswordFile = Annotated[
    Path | None,
    typer.Option("--password-file", metavar="FILE", help="Users sign in; each has a workspace of their own."),
]
_AddUser = Annotated[
    str | None,
    typer.Option("--add-user", metavar="NAME", help="Read NAME's password, write --password-file, and exit."),
]
_Proxy = Annotated[
    list[str] | None,
    typer.Option(
        "--proxy", metavar="ADDR|NET|unix", help="A proxy whose forwarded headers count; repeatable."
    ),
]
_ProxySecret = Annotated[
    Path | None,
    typer.Option("--proxy-secret-file", metavar="FILE", help="The secret that the proxy sends with each."),
]
_MaxUpload = Annotated[
    str, typer.Option("--max-upload", metavar="SIZE", help="Size limit of an uploaded file.")
]
_NoBrowser = Annotated[
    bool, typer.Option("--no-browser", help="Print the start link without opening a browser.")
]
_AccessLog = Annotated[
    bool, typer.Option("--access-log", help="Log each request's method, route and status.")
]


def serve(
    spec: _Spec = None,
    workspace: _Workspace = None,
    root: _Root = None,
    port: _Port = None,
    host: _Host = "127.0.0.1",
    public_name: _PublicName = None,
    tls_cert: _TlsCertificate = None,
    tls_key: _TlsKey = None,
    unix_socket: _UnixSocket = None,
    password_file: _PasswordFile = None,
    add_user: _AddUser = None,
    proxy: _Proxy = None,
    proxy_secret_file: _ProxySecret = None,
    max_upload: _MaxUpload = "4GiB",
    no_browser: _NoBrowser = False,
    access_log: _AccessLog = False,
) -> int:
    """Open the workbench in the browser.

    It binds to this machine and prints a link that signs in once. Work is stored in the workspace;
    Ctrl-C ends it. Nothing is loaded from or sent to anywhere else.
    """
    _require_packages()
    if add_user is not None:
        protected = (spec, tls_cert, tls_key, proxy_secret_file)
        return _add_user(add_user, password_file, [path for path in protected if path is not None])
    from discreet.web.server import DEFAULT_PORT
    from discreet.web.server_config import ServerConfig, read_trusted_proxy

    for option, name in (("--host", host), *(("--public-name", name) for name in public_name or ())):
        if looks_like_address(name):
            raise InputError(f"{option} with an address of another kind", allowed="the name of a host")
    number = options.parse_whole_option("--port", port)
    config = ServerConfig(
        workspace=workspace or _spec_folder(spec) / DEFAULT_WORKSPACE,
        settings=options.parse_settings(),
        spec=_require_spec(spec),
        root=root or (None if password_file is not None else _spec_folder(spec)),
        host=host,
        port=_check_port(number) if number is not None else DEFAULT_PORT,
        port_may_differ=number is None,
        tls=_tls_files(tls_cert, tls_key),
        unix_socket=unix_socket,
        public_names=tuple(public_name or ()),
        password_file=password_file,
        proxy=read_trusted_proxy(tuple(proxy or ()), proxy_secret_file),
        max_upload=parse_bytes(max_upload),
    )
    _run_server(config, opens=not no_browser, access_log=access_log)
    return 0


def _run_server(config: ServerConfig, *, opens: bool, access_log: bool) -> None:
    import logging

    from discreet.web.server import WorkbenchServer, configure_logging

    configure_logging(logging.StreamHandler(sys.stderr), access=access_log)
    server = WorkbenchServer(config)
    facts = {
        "url": server.url,
        "start_link": server.start_link(),
        "workspace": str(config.workspace.resolve()),
        "unix_socket": None if config.unix_socket is None else str(config.unix_socket),
    }

    def started() -> None:
        _print_start_link(facts)
        if opens and config.unix_socket is None:
            server.open_browser()
        if not output.prints_json() and sys.stdin.isatty() and not config.uses_passwords:
            Thread(target=_print_more_links, args=(server,), daemon=True).start()

    server.run(started)
    if not output.prints_json():
        output.print_line("The workbench has ended; the workspace keeps everything.")


def _print_start_link(facts: dict[str, Any]) -> None:
    if output.prints_json():
        output.print_json(facts)
    else:
        where = f"Unix socket {facts['unix_socket']}, as " if facts["unix_socket"] else ""
        output.print_line(f"The workbench listens on {where}{facts['url']}; Ctrl-C ends it.")
        once = "Sign in:" if facts["start_link"].endswith("/login") else "This link signs in once:"
        output.print_commands(f"Workspace: {facts['workspace']}. {once}", facts["start_link"])
        if sys.stdin.isatty() and "token=" in facts["start_link"]:
            output.print_line("Press Enter for another link.")
    sys.stdout.flush()


def _print_more_links(server: WorkbenchServer) -> None:
    """Print another start link at each Enter."""
    for _ in sys.stdin:
        output.print_commands("This link signs in once:", server.start_link())
        sys.stdout.flush()


def _require_packages() -> None:
    """Import the packages of the workbench; the ``InputError`` for a missing one has the install command."""
    try:
        import_module("discreet.web.server")
        import_module("websockets")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in _PACKAGES:
            raise
        raise InputError(
            f"the workbench needs the package {error.name.split('.')[0]}, which is not installed",
            advice="Install discreet[web], such as with pip install 'discreet[web]'.",
        ) from None


def _add_user(name: str, password_file: Path | None, protected: list[Path]) -> int:
    from discreet.web.server_config import add_user, check_user_name

    if password_file is None:
        raise InputError("--add-user without a password file", advice="Give --password-file FILE.")
    check_user_name(name)
    check_outputs(
        [TargetFile("a password file", password_file)],
        protected_files("a file that the workbench reads", protected),
    )
    if sys.stdin.isatty():
        password = typer.prompt(f"Password of {name}", hide_input=True, confirmation_prompt=True, err=True)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    add_user(password_file, name, str(password))
    if output.prints_json():
        output.print_json({"user": name, "password_file": str(password_file)})
    else:
        output.print_line(f"{name} may sign in with the password file {password_file}.")
    return 0


def _spec_folder(spec: Path | None) -> Path:
    return Path() if spec is None else spec.parent


def _require_spec(spec: Path | None) -> Path | None:
    if spec is not None and not parse_path(spec, "the path of a spec").is_file():
        raise InputError(
            f"the spec {spec} does not exist",
            advice="Leave it out to begin with a new one, or write one by discreet init DATA.",
        )
    return spec


def _check_port(number: int) -> int:
    if not 0 <= number <= 65535:
        raise InputError(f"--port {number}", allowed="1 to 65535, or 0 for any free one")
    return number


def _tls_files(certificate: Path | None, key: Path | None) -> Any:
    from discreet.web.server_config import TlsFiles

    if (certificate is None) != (key is None):
        raise InputError("one of --tls-cert and --tls-key", advice="Give both.")
    return None if certificate is None or key is None else TlsFiles(certificate, key)
