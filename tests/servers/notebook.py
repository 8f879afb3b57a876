"""A Jupyter kernel as a notebook starts it, and the output of its cells."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).resolve().parents[2] / "src"
_LAUNCH = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
_WITHIN = 120
"""Most seconds of a start, or of a cell, on a busy machine."""


@dataclass
class Cell:
    """The output of one cell: its result in both forms, printed and displayed output, its error."""

    html: str = ""
    text: str = ""
    printed: str = ""
    displayed: int = 0
    error: str = ""

    def take(self, message: dict[str, Any]) -> None:
        """Store one message of the kernel."""
        kind, content = message["msg_type"], message["content"]
        if kind == "execute_result":
            self.html = content["data"].get("text/html", "")
            self.text = content["data"].get("text/plain", "")
        elif kind == "stream":
            self.printed += content["text"]
        elif kind == "display_data":
            self.displayed += 1
        elif kind == "error":
            self.error = f"{content['ename']}: {content['evalue']}"


@dataclass
class Kernel:
    """A running kernel; ``cells`` are those that were run."""

    client: Any
    cells: list[Cell] = field(default_factory=list)

    def run(self, code: str) -> Cell:
        """Run a cell and return its output, including its error."""
        cell = Cell()
        self.client.execute_interactive(code, output_hook=cell.take, timeout=_WITHIN, stop_on_error=False)
        self.cells.append(cell)
        return cell


@contextmanager
def kernel(folder: Path) -> Iterator[Kernel]:
    """Start a kernel with ``folder`` as its working folder and the location of all Jupyter files."""
    from jupyter_client import KernelManager
    from jupyter_client.kernelspec import KernelSpec

    manager = KernelManager(connection_file=str(folder / "k.json"), transport="ipc")
    manager._kernel_spec = KernelSpec(
        argv=_LAUNCH, display_name="Python", language="python"
    )  # none is installed
    manager.start_kernel(cwd=str(folder), env=environment(folder))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=_WITHIN)
        yield Kernel(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


def environment(folder: Path) -> dict[str, str]:
    """Return this environment, with all files of IPython and Jupyter in ``folder``."""
    return {
        **os.environ,
        "PYTHONPATH": str(SOURCES),
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(folder / "jupyter"),
    }
