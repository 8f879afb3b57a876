"""The order of writes: one at a time, numbered by each page, and none on what changed elsewhere.

A page sends headers with a write: ``Discreet-Tab`` names the tab and ``Discreet-Page`` the page that is
loaded in it, ``Discreet-Number`` ascends with each write of the tab, ``Discreet-Base`` has the tags of the
parts that the page shows (``web.parts``). A write

* whose number is below the last one of its tab is refused as ``outdated``: it was delayed on its way;
* whose number is the last one of its tab gets the answer of then, if it is of the same page, which did not
  receive the answer and sends it again;
* that rests on a part which changed elsewhere is refused as ``changed-elsewhere``.

The answer's ``Discreet-Parts`` has the new tags of the parts that the page knew. A write without these
headers, as scripts send it, is neither numbered nor compared, but waits for its turn, too. A tab's last
number outlives a restart of the server.

Questions, which change nothing, pass by; every other address that is not read is a write, so that a new one
is ordered without a word here.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.web import parts
from discreet.web.problems import Conflict, error_response
from discreet.web.server_state import ServerState
from discreet.web.session import Session
from discreet.web.workspace import Workspace

PARTS_PATH = "/api/workspace/parts"
QUESTIONS = frozenset(
    {
        "/api/analyst/jobs",
        "/api/analyst/query",
        "/api/attacker/jobs",
        "/api/attacker/outside",
        "/api/columns/uniqueness",
        "/api/columns/worst",
        "/api/compare/jobs",
        "/api/compare/nodes",
        "/api/compare/rows",
        "/api/hierarchies/check",
        "/api/hierarchies/files",
        "/api/hierarchies/preview",
        "/api/load/sheets",
        "/api/load/study",
        "/api/load/tables",
        "/api/load/view",
        "/api/negotiate/answer",
        "/api/negotiate/attributes",
        "/api/negotiate/comparison",
        "/api/negotiate/evaluation",
        "/api/negotiate/frontier",
        "/api/negotiate/left-out",
        "/api/negotiate/node",
        "/api/negotiate/nodes",
        "/api/negotiate/offers",
        "/api/negotiate/rows",
        "/api/scripts/attack",
        "/api/scripts/query",
        "/api/scripts/release",
        "/api/scripts/request",
    }
)
"""Addresses of ``POST`` that answer from what there is and change nothing of the work."""

_UNORDERED = ("/api/session", "/api/jobs/", "/api/workspace/uploads/")
"""Writes that change nothing of the work: their numbers count, and they wait for nobody."""

_READS = ("GET", "HEAD", "OPTIONS")
_STATE = "writes"
_MOST_TABS = 64
_MOST_BYTES = 2**22


class Outdated(Conflict):
    """A write that a later one of the same page has overtaken."""

    kind: ClassVar[str] = "outdated"


class ChangedElsewhere(Conflict):
    """A write that rests on what was changed in another tab or by another program."""

    kind: ClassVar[str] = "changed-elsewhere"


@dataclass(frozen=True)
class Write:
    """A write as its headers describe it; without them ``tab`` is empty."""

    path: str
    tab: str
    page: str
    number: int
    base: Mapping[str, str]

    @property
    def lane(self) -> str:
        """The writes that it is numbered among."""
        return next((each for each in _UNORDERED if self.path.startswith(each)), "work")


@dataclass
class _Answered:
    """The last write of a tab, and its answer where that is known."""

    number: int
    page: str = ""
    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""


class WriteOrder:
    """The order of one workspace's writes. ``turn`` is held while one is handled."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._last: OrderedDict[tuple[str, str], _Answered] = OrderedDict()
        for tab, number in dict(workspace.state(_STATE) or {}).items():
            self._last[tab, "work"] = _Answered(int(number))

    @cached_property
    def turn(self) -> asyncio.Lock:
        """Held while a write is handled; of the server's event loop."""
        return asyncio.Lock()

    def begin(self, write: Write, tags: parts.Tags) -> _Answered | None:
        """Note a write, or return the answer that it had before.

        ``Outdated`` and ``ChangedElsewhere`` for one that must not be done.
        """
        key = (write.tab, write.lane)
        last = self._last.get(key)
        if last is not None and write.number < last.number:
            raise Outdated("a later change of this page is saved already")
        if last is not None and write.number == last.number:
            if last.status == 0 or last.page != write.page:
                raise Outdated("this change was handled already", advice="Look at what is there now.")
            return last
        self._note(key, _Answered(write.number, write.page))  # what is refused now must not be done later
        changed = [
            part
            for part in parts.rests_on(write.path)
            if part in write.base and write.base[part] != tags.get(part)
        ]
        if changed:
            words = " and ".join(parts.WORDS[part] for part in changed)
            raise ChangedElsewhere(
                f"{words} was changed in another tab or by another program",
                advice="Look at it first, and change it again.",
            )
        return None

    def overtake(self, tab: str, number: int) -> None:
        """Note that a tab has begun anew at a number: what it sent before is late."""
        last = self._last.get((tab, "work"))
        if last is None or last.number < number:
            self._note((tab, "work"), _Answered(number))

    def end(self, write: Write, answered: _Answered) -> None:
        """Keep the answer of a write, and its number where that must outlive the server."""
        self._note((write.tab, write.lane), answered)
        if write.lane == "work":
            numbers = {tab: each.number for (tab, lane), each in self._last.items() if lane == "work"}
            self.workspace.set_state(_STATE, numbers)

    def _note(self, key: tuple[str, str], answered: _Answered) -> None:
        self._last[key] = answered
        self._last.move_to_end(key)
        while len(self._last) > _MOST_TABS:
            self._last.popitem(last=False)


class OrderedWrites:
    """The layer of the application that hands writes on in their order; the guard is around it."""

    def __init__(self, app: ASGIApp, state: ServerState) -> None:
        self._app = app
        self._state = state
        self._orders: dict[str, WriteOrder] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand an exchange on; a write of a signed-in user when it is its turn."""
        session = scope.get("discreet.session")
        path = str(scope.get("path", ""))
        if scope["type"] != "http" or not isinstance(session, Session) or not _is_ordered(scope):
            await self._app(scope, receive, send)
            return
        order = await run_in_threadpool(self._order_of, session.user)
        write = _write_of(scope)
        if path == PARTS_PATH:
            async with order.turn:
                order.overtake(write.tab, write.number)
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
        self, order: WriteOrder, write: Write, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if not write.tab:
            await self._app(scope, receive, send)
            return
        before = await run_in_threadpool(parts.tags_of, order.workspace) if write.base else {}
        answer = _Recorded(order.workspace, write, before, send)
        try:
            known = order.begin(write, before)
        except Outdated as error:
            await error_response(error)(scope, receive, send)
            return
        except ChangedElsewhere as error:
            await error_response(error)(scope, receive, answer.send)
        else:
            if known is not None:
                await _again(known)(scope, receive, send)
                return
            await self._app(scope, receive, answer.send)
        await run_in_threadpool(order.end, write, answer.answered)


class _Recorded:
    """The answer to a write on its way: it gets the new tags, and is kept for a write that is sent again."""

    def __init__(self, workspace: Workspace, write: Write, before: parts.Tags, send: Send) -> None:
        self._workspace = workspace
        self._write = write
        self._before = before
        self._send = send
        self.answered = _Answered(write.number, write.page)

    async def send(self, message: Message) -> None:
        """Pass a message on."""
        if message["type"] == "http.response.start":
            if message["status"] < 300 and self._write.base:
                await self._tell_tags(message)
            self.answered.status = message["status"]
            self.answered.headers = list(message["headers"])
        elif message["type"] == "http.response.body":
            self.answered.body += message.get("body", b"")
            if len(self.answered.body) > _MOST_BYTES:
                self.answered = _Answered(self._write.number, self._write.page)
        await self._send(message)

    async def _tell_tags(self, message: MutableMapping[str, Any]) -> None:
        """Add the tags of the parts that the page knew; what another page changed stays unknown to it."""
        after = await run_in_threadpool(parts.tags_of, self._workspace)
        known = {
            part: tag for part, tag in after.items() if self._write.base.get(part) == self._before.get(part)
        }
        MutableHeaders(scope=message)["Discreet-Parts"] = parts.written(known)


def _again(answered: _Answered) -> Response:
    response = Response(answered.body, status_code=answered.status)
    kept = [(name, value) for name, value in answered.headers if name != b"content-length"]
    response.raw_headers = [*kept, (b"content-length", str(len(answered.body)).encode())]
    return response


def _is_ordered(scope: Scope) -> bool:
    path = str(scope["path"])
    if scope["method"] in _READS:
        return path == PARTS_PATH and _write_of(scope).tab != ""
    is_question = scope["method"] == "POST" and path in QUESTIONS
    return path.startswith("/api/") and not is_question


def _write_of(scope: Scope) -> Write:
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    path, number = str(scope["path"]), headers.get(b"discreet-number", "")
    tab, page = (headers.get(name, "")[:64] for name in (b"discreet-tab", b"discreet-page"))
    if not (tab and number.isdecimal() and number.isascii() and len(number) < 16):
        return Write(path, "", "", 0, {})
    return Write(path, tab, page, int(number), parts.read(headers.get(b"discreet-base", "")))
