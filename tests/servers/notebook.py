"""A kernel as a notebook starts it, and what its cells show."""

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
"""Seconds that a start, or a cell, may take on a busy machine."""


@dataclass
class Cell:
    """What one cell showed: its result in both forms, what was printed or displayed beside, its error."""

    html: str = ""
    text: str = ""
    printed: str = ""
    displayed: int = 0
    error: str = ""

    def take(self, message: dict[str, Any]) -> None:
        """Keep one message of the kernel's."""
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
    """A living kernel; ``cells`` are those that were run."""

    client: Any
    cells: list[Cell] = field(default_factory=list)

    def run(self, code: str) -> Cell:
        """What a cell shows, its error too."""
        cell = Cell()
        self.client.execute_interactive(code, output_hook=cell.take, timeout=_WITHIN, stop_on_error=False)
        self.cells.append(cell)
        return cell


@contextmanager
def kernel(folder: Path) -> Iterator[Kernel]:
    """A kernel with ``folder`` as its working folder and as the place of all that Jupyter keeps."""
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
    """This environment, with everything that IPython and Jupyter write in ``folder``."""
    return {
        **os.environ,
        "PYTHONPATH": str(SOURCES),
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(folder / "jupyter"),
    }
