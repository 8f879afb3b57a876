"""The history of requests: one JSON document per line, appended, never rewritten but to be cleared."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from discreet.model.json_text import json_of


class History:
    """Requests in the order in which they were made, in an owner-only file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()

    def append(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Add an entry, which gets the time under ``at``, and return it."""
        full = {"at": datetime.now(UTC).isoformat(timespec="seconds"), **entry}
        line = json.dumps(full, ensure_ascii=False, allow_nan=False) + "\n"
        with self._lock:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                file.write(line)
        return full

    def entries(self, last: int = 200) -> list[dict[str, Any]]:
        """The last entries, the oldest first; a line that a crash cut off is passed over."""
        with self._lock:
            try:
                with self.path.open(encoding="utf-8", errors="replace") as file:
                    lines = deque(file, maxlen=last)
            except FileNotFoundError:
                return []
        found = []
        for line in lines:
            with suppress(ValueError):
                entry = json_of(line)
                if isinstance(entry, dict):
                    found.append(entry)
        return found

    def __len__(self) -> int:
        try:
            with self._lock, self.path.open("rb") as file:
                return sum(1 for _ in file)
        except FileNotFoundError:
            return 0

    def clear(self) -> None:
        """Forget every entry."""
        with self._lock:
            self.path.unlink(missing_ok=True)
