"""Number of files of the package that each journey runs through, on a generated census as CSV.

Every journey runs in a fresh process, through the Python API or, with ``--commands``, through the command
line. A file counts if one of its functions is entered, in any thread; functions that run only because a
module is imported do not count. A room is a folder or top-level file of the package. The loaded modules are
those of the package when the journey ends, whether or not they run. The move of a slider is one message to
the running workbench: only what runs until its answer is counted, but all modules of the server are loaded.

Not counted: kernels that only other compiled kernels call, and classes of which only generated methods run.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from importlib.util import find_spec
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

from benchmarks.harness import Benchmark, in_child, parser

PACKAGE = "discreet"
ROWS = 2000
QUERY = "SELECT COUNT(*) FROM census WHERE age BETWEEN 30 AND 40"
SPEC, RELEASE = "discreet.toml", "release.csv"
ORIGIN = "http://127.0.0.1:8765"
PATIENCE = 120.0
"""Seconds after which the workbench will not have evaluated the lattice any more."""


@dataclass
class FileTracer:
    """Names of the files below ``folder`` of which a function is entered while ``counting``."""

    folder: Path
    entered: set[str] = field(default_factory=set)
    _is_counting: bool = False

    def __post_init__(self) -> None:
        self._prefix = f"{self.folder}{os.sep}"

    def install(self) -> None:
        """Receive the calls of this thread, and of each thread that is started from now on."""
        threading.setprofile(self._receive)
        sys.setprofile(self._receive)

    def remove(self) -> None:
        """Receive no more calls of this thread, nor of new ones."""
        sys.setprofile(None)
        threading.setprofile(None)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count the calls of all threads during the context."""
        self._is_counting = True
        try:
            yield
        finally:
            self._is_counting = False

    def files(self) -> tuple[str, ...]:
        """Return the entered files, relative to the folder, in alphabetical order."""
        return tuple(sorted(Path(name).relative_to(self.folder).as_posix() for name in self.entered))

    def _receive(self, frame: FrameType, event: str, _argument: object) -> None:
        if event != "call" or not self._is_counting:
            return
        code = frame.f_code
        if not code.co_filename.startswith(self._prefix):
            return
        self._add(code, frame)
        if code.co_name == "__call__":
            # Compiled code is not a call to the interpreter: its wrapper refers to the function.
            wrapped = getattr(frame.f_locals.get("self"), "__wrapped__", None)
            if isinstance(wrapped, FunctionType):
                self._add(wrapped.__code__, frame)

    def _add(self, code: CodeType, frame: FrameType) -> None:
        name = code.co_filename
        if name in self.entered or not name.startswith(self._prefix):
            return
        # The bodies of modules and classes are code, too, but not optimized.
        if code.co_flags & CO_OPTIMIZED and not self._is_importing(frame):
            self.entered.add(name)

    def _is_importing(self, frame: FrameType) -> bool:
        """Return whether a frame was called, directly or not, by the body of a module of the folder."""
        caller = frame.f_back
        while caller is not None:
            code = caller.f_code
            if code.co_name == "<module>" and code.co_filename.startswith(self._prefix):
                return True
            caller = caller.f_back
        return False


@dataclass(frozen=True)
class Passage:
    """Result of one journey: the entered files, relative to the package, and the loaded modules."""

    files: tuple[str, ...]
    modules: tuple[str, ...]

    @property
    def rooms(self) -> tuple[str, ...]:
        """The rooms of the entered files; the room of the package's own file is the package."""
        names = {name.split("/")[0].removesuffix(".py") for name in self.files}
        return tuple(sorted(PACKAGE if name == "__init__" else name for name in names))

    def as_json(self) -> dict[str, list[str]]:
        """Return the names as one document."""
        return {"files": list(self.files), "rooms": list(self.rooms), "modules": list(self.modules)}


def package_folder() -> Path:
    """Return the folder of the package without importing it."""
    found = find_spec(PACKAGE)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


def prepare(folder: Path, rows: int) -> None:
    """Write a census as CSV with its spec, and a release of it."""
    import discreet
    from discreet.sample.census import census_spec, write_census
    from discreet.spec.toml_writer import format_spec

    write_census(folder / "census.csv", rows)
    document = {name: part for name, part in census_spec("census.csv").items() if name != "request"}
    (folder / SPEC).write_text(format_spec(document), encoding="utf-8")
    discreet.open(folder / SPEC).publish("full-domain", folder / RELEASE, k=10, max_suppressed="1%")


def publish(folder: Path) -> object:
    """Publish the census by full-domain recoding."""
    import discreet

    table = discreet.open(folder / SPEC)
    return table.publish("full-domain", folder / "published.csv", k=10, max_suppressed="1%")


def negotiate(folder: Path) -> object:
    """Negotiate the census."""
    import discreet

    return discreet.open(folder / SPEC).negotiate(k=10, max_suppressed="1%")


def audit(folder: Path) -> object:
    """Audit the release."""
    import discreet

    return discreet.audit(folder / RELEASE)


def query(folder: Path) -> object:
    """Query the generalized release."""
    import discreet

    return discreet.query(folder / RELEASE, QUERY)


CALLS: dict[str, Callable[[Path], object]] = {
    "publish": publish,
    "negotiate": negotiate,
    "audit": audit,
    "query": query,
}


def command(name: str, folder: Path) -> list[str]:
    """Return the arguments of the command that does the same as a call of ``CALLS``."""
    spec, release = str(folder / SPEC), str(folder / RELEASE)
    request = ["--k", "10", "--max-suppressed", "1%"]
    return {
        "publish": ["publish", spec, *request, "--output", str(folder / "commanded.csv")],
        "negotiate": ["negotiate", spec, *request],
        "audit": ["audit", release],
        "query": ["query", release, QUERY],
    }[name]


def run_command(arguments: list[str]) -> None:
    """Run one command in this process; raise ``RuntimeError`` unless it succeeds."""
    from discreet.cli.main import main as run_discreet

    with redirect_stdout(io.StringIO()):
        status = run_discreet(arguments)
    if status:
        raise RuntimeError(f"discreet {arguments[0]} ended with status {status}")


def move_slider(folder: Path, tracer: FileTracer) -> None:
    """Serve the census, evaluate its lattice, and count one move of the slider of k."""
    from discreet.web.server import create_app
    from discreet.web.server_config import ServerConfig

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # starlette recommends a successor of httpx
        from starlette.testclient import TestClient
    app = create_app(ServerConfig(workspace=folder / "workspace", spec=folder / SPEC, port=8765))
    with TestClient(app, base_url=ORIGIN) as client:
        client.headers["origin"] = ORIGIN
        token = app.state.server.start_tokens.issue()
        client.get("/start", params={"token": token}, follow_redirects=False)
        _evaluate(client)
        with client.websocket_connect(f"ws{ORIGIN.removeprefix('http')}/api/negotiate/socket") as socket:
            _move(socket, 1, k=10)  # the screen's own request when it opens
            with tracer.counting():
                _move(socket, 2, k=11)


def _evaluate(client: Any) -> None:
    """Evaluate the lattice and wait for the job."""
    job = client.post("/api/negotiate/evaluation").json()["job"]
    end = time.monotonic() + PATIENCE
    while job is not None and (state := client.get(f"/api/jobs/{job}").json()["state"]) != "done":
        if state not in ("queued", "running") or time.monotonic() > end:
            raise RuntimeError(f"the lattice was not evaluated: the job is {state}")
        time.sleep(0.02)


def _move(socket: Any, number: int, *, k: int) -> None:
    """Send one move as the screen does, and wait for its frame; raise ``RuntimeError`` for an error."""
    request = {"k": k, "max_suppressed": "1%"}
    looks = {"together": None, "question": None}
    socket.send_text(json.dumps({"id": number, "request": request, "looks": looks, "frontier": False}))
    frame = socket.receive_bytes()
    header = json.loads(frame[4 : 4 + int.from_bytes(frame[:4], "little")])
    if "error" in header:
        raise RuntimeError(f"the workbench refused the move: {header['error']}")


SLIDER = "slider move"
JOURNEYS = (*CALLS, SLIDER)


def follow(name: str, folder: Path, by_command: bool = False) -> Passage:
    """Run one journey in this process, which should be a fresh one, and return what it ran through."""
    tracer = FileTracer(package_folder())
    tracer.install()
    try:
        if name == SLIDER:
            move_slider(folder, tracer)
        else:
            with tracer.counting():
                if by_command:
                    run_command(command(name, folder))
                else:
                    CALLS[name](folder)
    finally:
        tracer.remove()
    loaded = (module for module in sys.modules if module.split(".")[0] == PACKAGE)
    return Passage(tracer.files(), tuple(sorted(loaded)))


def follow_all(rows: int = ROWS, *, by_command: bool = False) -> dict[str, Passage]:
    """Return the passage of every journey, each run in a fresh process on the same files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        os.environ["DISCREET_LOG"] = str(folder / "private.jsonl")
        os.environ["DISCREET_COMPILE"] = "wait"  # so that each run calls the same kernels
        in_child(prepare, folder, rows)
        return {each: in_child(follow, each, folder, by_command).result for each in JOURNEYS}


def report_passages(bench: Benchmark, found: Mapping[str, Passage]) -> None:
    """Add the three numbers of each journey to a benchmark."""
    for name, passage in found.items():
        bench.state(f"{name}: files", len(passage.files))
        bench.state(f"{name}: rooms", len(passage.rooms))
        bench.state(f"{name}: modules loaded", len(passage.modules))


def main() -> None:
    """Follow every journey and report the numbers, with the names if ``--list`` is given."""
    options = parser(__doc__)
    options.add_argument("--commands", action="store_true", help="run commands instead of the Python API")
    options.add_argument("--list", action="store_true", help="the names of the entered files, by journey")
    options.add_argument("--rows", type=int, default=ROWS, help=f"rows (default {ROWS:,})")
    chosen = options.parse_args()
    found = follow_all(chosen.rows, by_command=chosen.commands)
    way = "commands" if chosen.commands else "the Python API"
    bench = Benchmark(
        "journeys", f"files that a journey runs through: {way}", " --commands" if chosen.commands else ""
    )
    bench.fact("rows", chosen.rows)
    report_passages(bench, found)
    for name, passage in found.items():
        if chosen.json:
            bench.lists |= {f"{name}: {kind}": names for kind, names in passage.as_json().items()}
        elif chosen.list:
            bench.lists[f"{name}: files"] = passage.files
    bench.report(chosen)


if __name__ == "__main__":
    main()
