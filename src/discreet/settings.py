"""Limits and defaults from the environment: memory, threads, statement timeouts, the private log."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import InputError

_BYTE_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_BYTE_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
MAX_THREADS = 4096
"""Upper limit, above the number of cores of any machine; the engine does not accept arbitrary numbers."""


@dataclass(frozen=True)
class Settings:
    """Resource limits of a run.

    ``memory_limit`` is in bytes; it bounds the arrays of the search and, separately, the engine's own
    buffers. ``threads`` is the number of worker threads of the engine and of the lattice evaluation.
    """

    memory_limit: int
    threads: int
    private_log: Path

    @classmethod
    def from_environment(cls, *, memory_limit: str | None = None, threads: int | None = None) -> Settings:
        """Read the settings from ``DISCREET_MEMORY_LIMIT``, ``DISCREET_THREADS`` and ``DISCREET_LOG``.

        Arguments take precedence over the environment. Raises ``InputError`` for a text that is not a memory
        size and for a number of threads below 1 or above ``MAX_THREADS``.
        """
        text = memory_limit or os.environ.get("DISCREET_MEMORY_LIMIT")
        limit = parse_bytes(text) if text else physical_memory() // 2
        number = threads if threads is not None else int_from_environment("DISCREET_THREADS")
        if number is None:
            number = available_threads()
        if not 1 <= number <= MAX_THREADS:
            raise InputError(
                f"{number} threads", allowed=f"1 to {MAX_THREADS}", advice="Leave it out to use every core."
            )
        return cls(memory_limit=limit, threads=number, private_log=private_log_path())


def parse_bytes(text: str) -> int:
    """Return the bytes of a size such as ``4GB``, ``512MiB`` or ``1000000``."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    if match is None or match.group(2).lower() not in _BYTE_UNITS:
        raise InputError(
            f"'{text}' is no memory size", allowed="a number with B, KB, MB, GB, KiB, MiB or GiB, such as 4GB"
        )
    size = int(float(match.group(1)) * _BYTE_UNITS[match.group(2).lower()])
    if size < 1:
        raise InputError("a memory limit of 0 bytes", allowed="a size above 0, such as 4GB")
    return size


def format_memory(number: int) -> str:
    """Format an amount of memory in GB or MB: ``3.2 GB``, ``85 MB``."""
    return f"{number / 1e9:,.1f} GB" if number >= 10**9 else f"{number / 1e6:,.0f} MB"


def physical_memory() -> int:
    """Return the bytes of physical memory, or 8 GiB where the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 8 * 2**30


def available_threads() -> int:
    """Return the number of cores that this process may run on."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def int_from_environment(name: str) -> int | None:
    """Return the integer in an environment variable, or None if it is not set."""
    text = os.environ.get(name)
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{name}='{text}' is no whole number", allowed="1, 2, 3, …") from None


def compile_policy() -> str:
    """Return the policy for compiling kernels (``DISCREET_COMPILE``): ``background``, ``wait`` or ``never``.

    The default is ``background``.
    """
    policy = os.environ.get("DISCREET_COMPILE", "background")
    if policy not in ("background", "wait", "never"):
        raise InputError(f"DISCREET_COMPILE='{policy}'", allowed="background, wait, never")
    return policy


_TIME_UNITS = {"": 1.0, "ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}


def statement_timeout() -> float | None:
    """Return the time limit of a database statement in seconds, or None for no limit.

    Reads ``DISCREET_STATEMENT_TIMEOUT``.
    """
    text = os.environ.get("DISCREET_STATEMENT_TIMEOUT", "").strip()
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|min|h|)", text)
    if text and (match is None or not 0.001 <= float(match.group(1)) * _TIME_UNITS[match.group(2)] <= 2e6):
        raise InputError(
            f"DISCREET_STATEMENT_TIMEOUT='{text}'", allowed="seconds, or a time such as 500ms, 90s, 5min, 2h"
        )
    return float(match.group(1)) * _TIME_UNITS[match.group(2)] if match else None


def private_log_path() -> Path:
    """Return the path of the owner-only log of publications.

    Reads ``DISCREET_LOG``; the default is in the user's state folder.
    """
    explicit = os.environ.get("DISCREET_LOG")
    if explicit:
        return Path(explicit)
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "discreet" / "log.jsonl"
