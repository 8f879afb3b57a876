"""Middleware that orders writes: one at a time, numbered by each page, refused if based on old data.

A workspace has four parts (table, request, choice, saved answers), each with a tag: a digest of its content.
A page sends headers with a write: ``Discreet-Tab`` names the tab and ``Discreet-Page`` the loaded page,
``Discreet-Number`` ascends with each write of the tab, ``Discreet-Base`` contains the tags of the parts that
the page shows. A write

* whose number is below the last one of its tab is refused as ``outdated``;
* whose number is the last one of its tab gets the stored answer, if it is of the same page;
* that depends on a part which changed elsewhere is refused as ``changed-elsewhere``.

The answer's ``Discreet-Parts`` contains the new tags. Writes without these headers (scripts) only wait for
their turn. Addresses in ``QUESTIONS`` change nothing and are not ordered; every other one that is not a read
is a write.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.errors import DiscreetError
from discreet.web.error_responses import Conflict, error_response
from discreet.web.negotiation_forms import last_request
from discreet.web.server_state import ServerState, UserSession
from discreet.web.workspace import Workspace

TABLE_PART, REQUEST_PART, CHOICE_PART, SAVED_PART = "table", "request", "choice", "saved"
WORK_PARTS = (TABLE_PART, REQUEST_PART, CHOICE_PART, SAVED_PART)
"""The parts: the table with its roles and hierarchies, the request, the chosen node, the saved answers."""

PART_NAMES = {
    TABLE_PART: "the table, a role or a hierarchy",
    REQUEST_PART: "the request",
    CHOICE_PART: "the chosen node",
    SAVED_PART: "a saved answer",
}
_REQUIRED_PARTS = (
    ("/api/load/", (TABLE_PART,)),
    ("/api/columns", (TABLE_PART,)),
    ("/api/hierarchies", (TABLE_PART,)),
    ("/api/negotiate/choice", (TABLE_PART, REQUEST_PART, CHOICE_PART)),
    ("/api/negotiate/", (TABLE_PART, REQUEST_PART)),
    ("/api/compare/saved", (TABLE_PART, SAVED_PART)),
    ("/api/publish/jobs", (TABLE_PART, REQUEST_PART, CHOICE_PART)),
    ("/api/publish/releases", ()),
    ("/api/workspace/spec", (TABLE_PART,)),
    ("/api/workspace/", ()),
)

Tags = Mapping[str, str]


def part_tags(workspace: Workspace) -> dict[str, str]:
    """Return the current tag of each part of a workspace's work."""
    with workspace.edit_lock:
        return {
            TABLE_PART: _table_tag(workspace),
            REQUEST_PART: _request_tag(workspace),
            CHOICE_PART: _digest(workspace.state("choice")),
            SAVED_PART: _digest(workspace.state("saved")),
        }


def required_parts(path: str) -> tuple[str, ...]:
    """Return the parts that a write to an address depends on.

    For an unknown address these are all parts except the saved answers.
    """
    return next(
        (parts for begin, parts in _REQUIRED_PARTS if path.startswith(begin)),
        (TABLE_PART, REQUEST_PART, CHOICE_PART),
    )


def format_tags(tags: Tags) -> str:
    """Format tags as the value of a header."""
    return ", ".join(f"{part}={tag}" for part, tag in tags.items())


def parse_tags(text: str) -> dict[str, str]:
    """Parse tags from the value of a header; ignore entries in another form."""
    pairs = (each.strip().partition("=") for each in text.split(","))
    return {part: tag for part, equals, tag in pairs if equals and part in WORK_PARTS}


def _table_tag(workspace: Workspace) -> str:
    with suppress(DiscreetError, OSError):
        return workspace.table_digest() if workspace.has_spec else ""
    return workspace.spec_version


def _request_tag(workspace: Workspace) -> str:
    with suppress(DiscreetError, OSError):
        if workspace.has_spec:
            return _digest(last_request(workspace).model_dump())
    return _digest(workspace.state("request"))


def _digest(value: Any) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


PARTS_PATH = "/api/workspace/parts"
QUESTIONS = frozenset(
    f"/api/{screen}/{name}"
    for screen, names in {
        "analyst": "jobs query",
        "attacker": "jobs outside",
        "columns": "uniqueness worst",
        "compare": "jobs nodes rows",
        "hierarchies": "check files preview",
        "load": "sheets study tables view",
        "negotiate": "answer attributes comparison evaluation frontier left-out node nodes offers rows",
        "scripts": "attack query release request",
    }.items()
    for name in names.split()
)
"""Addresses of ``POST`` that compute an answer and change nothing of the work."""

_UNORDERED = ("/api/session", "/api/jobs/", "/api/workspace/uploads/")
"""Writes that change nothing of the work: they are numbered but wait for no other write."""

_READ_METHODS = ("GET", "HEAD", "OPTIONS")
_STATE_KEY = "writes"
_MAX_TABS = 64
_MAX_BYTES = 2**22


class Outdated(Conflict):
    """Refusal of a write that a later write of the same page has overtaken."""

    kind: ClassVar[str] = "outdated"


class ChangedElsewhere(Conflict):
    """Refusal of a write that depends on a part which another tab or program changed."""

    kind: ClassVar[str] = "changed-elsewhere"


@dataclass(frozen=True)
class PageWrite:
    """One write as its headers describe it; ``tab`` is empty if they are missing."""

    path: str
    tab: str
    page: str
    number: int
    base: Mapping[str, str]

    @property
    def lane(self) -> str:
        """The sequence in which the write is numbered."""
        return next((each for each in _UNORDERED if self.path.startswith(each)), "work")


@dataclass
class _StoredAnswer:
    """The last write of a tab, with its answer if that is known."""

    number: int
    page: str = ""
    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""


class WriteOrder:
    """The order of one workspace's writes. A write holds ``turn`` while it is handled."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._last: OrderedDict[tuple[str, str], _StoredAnswer] = OrderedDict()
        for tab, number in dict(workspace.state(_STATE_KEY) or {}).items():
            self._last[tab, "work"] = _StoredAnswer(int(number))

    @cached_property
    def turn(self) -> asyncio.Lock:
        """The lock held while a write is handled; it belongs to the server's event loop."""
        return asyncio.Lock()

    def begin(self, write: PageWrite, tags: Tags) -> _StoredAnswer | None:
        """Record a write, or return the stored answer of a repeated one.

        Raises ``Outdated`` or ``ChangedElsewhere`` for a write that must not be done.
        """
        key = (write.tab, write.lane)
        last = self._last.get(key)
        if last is not None and write.number < last.number:
            raise Outdated("a later change of this page is saved already")
        if last is not None and write.number == last.number:
            if last.status == 0 or last.page != write.page:
                raise Outdated("this change was handled already", advice="Check the current state.")
            return last
        # Recorded before the check: a write that is refused now must not be done when it is sent again.
        self._note(key, _StoredAnswer(write.number, write.page))
        changed = [
            part
            for part in required_parts(write.path)
            if part in write.base and write.base[part] != tags.get(part)
        ]
        if changed:
            words = " and ".join(PART_NAMES[part] for part in changed)
            raise ChangedElsewhere(
                f"{words} was changed in another tab or by another program",
                advice="Check it, and repeat the change.",
            )
        return None

    def restart(self, tab: str, number: int) -> None:
        """Record that a tab starts again at a number: writes that it sent before count as late."""
        last = self._last.get((tab, "work"))
        if last is None or last.number < number:
            self._note((tab, "work"), _StoredAnswer(number))

    def end(self, write: PageWrite, answered: _StoredAnswer) -> None:
        """Store the answer of a write, and its number if that must outlive the server."""
        self._note((write.tab, write.lane), answered)
        if write.lane == "work":
            numbers = {tab: each.number for (tab, lane), each in self._last.items() if lane == "work"}
            self.workspace.set_state(_STATE_KEY, numbers)

    def _note(self, key: tuple[str, str], answered: _StoredAnswer) -> None:
        self._last[key] = answered
        self._last.move_to_end(key)
        while len(self._last) > _MAX_TABS:
            self._last.popitem(last=False)


class WriteOrderMiddleware:
    """Middleware that passes writes on in their order; it runs inside the ``RequestGuard``."""

    def __init__(self, app: ASGIApp, state: ServerState) -> None:
        self._app = app
        self._state = state
        self._orders: dict[str, WriteOrder] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an exchange; a write of a signed-in user waits for its turn."""
        session = scope.get("discreet.session")
        path = str(scope.get("path", ""))
        if scope["type"] != "http" or not isinstance(session, UserSession) or not _is_ordered(scope):
            await self._app(scope, receive, send)
            return
        order = await run_in_threadpool(self._order_of, session.user)
        write = _read_write(scope)
        if path == PARTS_PATH:
            async with order.turn:
                order.restart(write.tab, write.number)
                await self._app(scope, receive, send)
        elif write.lane != "work":
            await self._handle(order, write, scope, receive, send)
        else:
            async with order.turn:
                await self._handle(order, write, scope, receive, send)

    def _order_of(self, user: str) -> WriteOrder:
        if user not in self._orders:
            self._orders.setdefault(user, WriteOrder(self._state.workspace_of(user)))
        return self._orders[user]

    async def _handle(
        self, order: WriteOrder, write: PageWrite, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if not write.tab:
            await self._app(scope, receive, send)
            return
        before = await run_in_threadpool(part_tags, order.workspace) if write.base else {}
        answer = _AnswerRecorder(order.workspace, write, before, send)
        try:
            known = order.begin(write, before)
        except Outdated as error:
            await error_response(error)(scope, receive, send)
            return
        except ChangedElsewhere as error:
            await error_response(error)(scope, receive, answer.send)
        else:
            if known is not None:
                await _repeat_answer(known)(scope, receive, send)
                return
            await self._app(scope, receive, answer.send)
        await run_in_threadpool(order.end, write, answer.answered)


class _AnswerRecorder:
    """Recorder of the answer to a write: adds the new tags and keeps the answer for a repeated write."""

    def __init__(self, workspace: Workspace, write: PageWrite, before: Tags, send: Send) -> None:
        self._workspace = workspace
        self._write = write
        self._before = before
        self._send = send
        self.answered = _StoredAnswer(write.number, write.page)

    async def send(self, message: Message) -> None:
        """Record a message of the answer and pass it on."""
        if message["type"] == "http.response.start":
            if message["status"] < 300 and self._write.base:
                await self._add_tags(message)
            self.answered.status = message["status"]
            self.answered.headers = list(message["headers"])
        elif message["type"] == "http.response.body":
            self.answered.body += message.get("body", b"")
            if len(self.answered.body) > _MAX_BYTES:
                self.answered = _StoredAnswer(self._write.number, self._write.page)
        await self._send(message)

    async def _add_tags(self, message: MutableMapping[str, Any]) -> None:
        """Add the new tags of the parts that the page knew; parts that another page changed are left out."""
        after = await run_in_threadpool(part_tags, self._workspace)
        known = {
            part: tag for part, tag in after.items() if self._write.base.get(part) == self._before.get(part)
        }
        MutableHeaders(scope=message)["Discreet-Parts"] = format_tags(known)


def _repeat_answer(answered: _StoredAnswer) -> Response:
    response = Response(answered.body, status_code=answered.status)
    headers = [(name, value) for name, value in answered.headers if name != b"content-length"]
    response.raw_headers = [*headers, (b"content-length", str(len(answered.body)).encode())]
    return response


def _is_ordered(scope: Scope) -> bool:
    path = str(scope["path"])
    if scope["method"] in _READ_METHODS:
        return path == PARTS_PATH and _read_write(scope).tab != ""
    is_question = scope["method"] == "POST" and path in QUESTIONS
    return path.startswith("/api/") and not is_question


def _read_write(scope: Scope) -> PageWrite:
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    path, number = str(scope["path"]), headers.get(b"discreet-number", "")
    tab, page = (headers.get(name, "")[:64] for name in (b"discreet-tab", b"discreet-page"))
    if not (tab and number.isdecimal() and number.isascii() and len(number) < 16):
        return PageWrite(path, "", "", 0, {})
    return PageWrite(path, tab, page, int(number), parse_tags(headers.get(b"discreet-base", "")))
