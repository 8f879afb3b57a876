"""The order of writes on the server: late writes, repeated ones, and those that another tab has overtaken."""

from __future__ import annotations

import random
import re
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute

from discreet.web import write_order
from discreet.web.write_order import QUESTIONS
from tests.web.conftest import Client, MakeClient, sign_in
from tests.web.negotiation import evaluated, write_philosophers

STATIC = Path(__file__).resolve().parents[2] / "src" / "discreet" / "web" / "static"


@pytest.fixture
def client(make_client: MakeClient, tmp_path: Path) -> Client:
    return evaluated(make_client(spec=write_philosophers(tmp_path)))


class Page:
    """A page of the workbench, with the headers that it sends with its writes."""

    def __init__(self, client: Client, tab: str = "a tab", page: str = "a page", number: int = 0) -> None:
        self.client, self.tab, self.page, self.number = client, tab, page, number
        self.base: dict[str, str] = {}

    def headers(self, number: int) -> dict[str, str]:
        return {"discreet-tab": self.tab, "discreet-page": self.page, "discreet-number": str(number)}

    def begin(self) -> Page:
        """Load the page, which then shows the current state of the work."""
        self.number += 1
        self.base = self.client.get("/api/workspace/parts", headers=self.headers(self.number)).json()
        return self

    def prepared(self, method: str, path: str, body: Any = None, number: int | None = None) -> dict[str, Any]:
        """Return a write as the page would send it now."""
        if number is None:
            self.number += 1
        base = {"discreet-base": write_order.format_tags(self.base)} if self.base else {}
        headers = self.headers(self.number if number is None else number) | base
        return {"method": method, "url": path, "json": body, "headers": headers}

    def send(self, prepared: dict[str, Any]) -> Any:
        answer = self.client.request(**prepared)
        self.base |= write_order.parse_tags(answer.headers.get("discreet-parts", ""))
        return answer

    def negotiate(self, k: int) -> Any:
        return self.send(self.prepared("POST", "/api/negotiate/requests", request_body(k)))


def request_body(k: int) -> dict[str, Any]:
    return {"request": {"k": k, "max_suppressed": "30%"}}


def kept(client: Client) -> int:
    return int(client.get("/api/negotiate").json()["request"]["k"])


def refusal(answer: Any) -> str:
    return str(answer.json()["error"]["kind"]) if answer.status_code == 409 else str(answer.status_code)


def test_writes_in_any_order_leave_the_last_one(client: Client) -> None:
    for order in permutations(range(3)):
        page = Page(client, f"tab {order}")
        writes = [page.prepared("POST", "/api/negotiate/requests", request_body(k)) for k in (6, 12, 9)]
        before = len(client.get("/api/negotiate/requests").json()["requests"])
        answers = [page.send(writes[place]) for place in order]
        assert kept(client) == 9
        newest = -1
        for place, answer in zip(order, answers, strict=True):
            assert refusal(answer) == ("201" if place > newest else "outdated")
            newest = max(newest, place)
        history = client.get("/api/negotiate/requests", params={"last": 1000}).json()["requests"]
        assert len(history) - before <= sum(answer.status_code == 201 for answer in answers)


def test_repeated_write_is_done_once(client: Client) -> None:
    page = Page(client).begin()
    write = page.prepared("POST", "/api/negotiate/requests", request_body(4))
    first = page.send(write)
    again = page.send(write)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["discreet-parts"] == first.headers["discreet-parts"]
    assert len(client.get("/api/negotiate/requests").json()["requests"]) == 1
    undo = page.prepared("POST", "/api/versions/undo")
    assert page.send(undo).json() == page.send(undo).json(), "two steps back would be one too many"
    wrong = page.prepared("POST", "/api/negotiate/requests", {"request": {"k": 0}})
    assert page.send(wrong).status_code == page.send(wrong).status_code == 422
    copy = Page(client, page.tab, "another page", page.number - 1)
    copied = copy.prepared("POST", "/api/negotiate/requests", request_body(7))
    assert refusal(copy.send(copied)) == "outdated", "a copy of the tab is not answered in its place"


def test_late_write_is_refused_also_on_an_equal_state(client: Client) -> None:
    page = Page(client).begin()
    assert page.negotiate(5).status_code == 201
    late = page.prepared("POST", "/api/negotiate/requests", request_body(2))
    assert page.negotiate(8).status_code == 201
    assert page.negotiate(5).status_code == 201
    assert refusal(client.request(**late)) == "outdated"
    reloaded = Page(client, page.tab, "after a reload", page.number)
    late = page.prepared("POST", "/api/negotiate/requests", request_body(2))
    reloaded.number += 1
    reloaded.begin()
    assert refusal(client.request(**late)) == "outdated", "what the page before a reload sent is late"
    assert reloaded.negotiate(6).status_code == 201
    assert kept(client) == 6


def test_write_on_a_change_of_another_tab_is_refused(client: Client) -> None:
    first, second = Page(client, "one").begin(), Page(client, "two").begin()
    assert first.negotiate(9).status_code == 201
    assert refusal(second.negotiate(2)) == "changed-elsewhere"
    body = {"model": "mondrian", "name": "stale.csv", "k": 2}
    assert refusal(second.send(second.prepared("POST", "/api/publish/jobs", body))) == "changed-elsewhere"
    assert client.get("/api/publish/releases").json() == []
    role = {"changes": [{"name": "education", "role": "identifier"}]}
    change = second.prepared("PUT", "/api/columns", role)
    assert second.send(change).status_code == 200, "the table is as this tab shows it"
    refused = first.send(first.prepared("PUT", "/api/negotiate/choice", {**request_body(9), "levels": {}}))
    assert refusal(refused) == "changed-elsewhere"
    assert "the table, a role or a hierarchy" in refused.json()["error"]["message"]
    assert refusal(second.negotiate(2)) == "changed-elsewhere", (
        "what changed before its own write stays unknown to it"
    )
    assert kept(client) == 9
    second.begin()
    evaluated(client)
    assert second.negotiate(2).status_code == 201


def test_change_by_another_program_is_noticed(client: Client) -> None:
    page = Page(client).begin()
    workspace = client.app.state.server.workspace_of("local")  # type: ignore[attr-defined]
    text = workspace.spec_path.read_text()
    workspace.spec_path.write_text(text.replace("widths = [5, 10, 20]", "widths = [4, 8]"))
    assert refusal(page.negotiate(4)) == "changed-elsewhere"
    workspace.spec_path.write_text("no spec [")
    assert refusal(page.negotiate(4)) == "changed-elsewhere", "also where it cannot be read"
    workspace.spec_path.write_text(text)
    assert page.negotiate(4).status_code == 201
    data = workspace.spec_path.with_name("philosophers.csv")
    data.write_text(data.read_text() + "Zeno,35,Private,HS-grad,40\n")
    assert refusal(page.negotiate(5)) == "changed-elsewhere"


def test_numbers_survive_a_restart(make_client: MakeClient, tmp_path: Path) -> None:
    spec, folder = write_philosophers(tmp_path), tmp_path / "kept"
    before = evaluated(make_client(spec=spec, workspace=folder))
    page = Page(before).begin()
    assert page.negotiate(7).status_code == 201
    assert page.negotiate(8).status_code == 201
    before.app.state.server.close()  # type: ignore[attr-defined]
    after = evaluated(sign_in(make_client(spec=spec, workspace=folder, signed_in=False)))
    late = Page(after, page.tab, page.page, page.number - 2)
    assert refusal(late.negotiate(2)) == "outdated"
    assert refusal(late.negotiate(2)) == "outdated", "what was handled before is not done again"
    assert kept(after) == 8
    page.client = after
    assert page.negotiate(3).status_code == 201, "the page continues"


def test_writes_without_numbers_are_accepted(client: Client) -> None:
    for k in (6, 2):
        assert client.post("/api/negotiate/requests", json=request_body(k)).status_code == 201
        assert kept(client) == k
    page = Page(client).begin()
    assert client.post("/api/negotiate/requests", json=request_body(3)).status_code == 201
    assert refusal(page.negotiate(5)) == "changed-elsewhere"


def test_random_writes_of_two_tabs_follow_a_plain_model(client: Client) -> None:
    """Two tabs write, lose answers and resend, and writes arrive late; a plain model gives the state."""
    chance = random.Random(11)
    pages = [Page(client, f"tab {i}").begin() for i in range(2)]
    now, late = kept(client), []
    seen = [now, now]
    for _ in range(60):
        which = chance.randrange(2)
        page, action = pages[which], chance.random()
        if action < 0.2:
            page.begin()
            seen[which] = now
        elif action < 0.7:
            k = chance.randrange(2, 7)
            write = page.prepared("POST", "/api/negotiate/requests", request_body(k))
            answer = page.send(write)
            assert refusal(answer) == ("201" if seen[which] == now else "changed-elsewhere")
            if answer.status_code == 201:
                now = seen[which] = k
            late.append((which, page.number, write))
        elif late:
            owner, number, write = chance.choice(late)
            is_last = number == pages[owner].number
            answers = ("201", "changed-elsewhere") if is_last else ("outdated",)
            assert refusal(client.request(**write)) in answers
        assert kept(client) == now


def routes(client: Client) -> list[APIRoute]:
    return [route for route in client.app.routes if isinstance(route, APIRoute)]  # type: ignore[attr-defined]


def test_questions_are_posts_that_change_nothing(client: Client) -> None:
    """Every other route that is not a read is a write, so new routes are ordered by default."""
    posts = {route.path for route in routes(client) if "POST" in route.methods}
    assert posts >= QUESTIONS
    workspace = client.app.state.server.workspace_of("local")  # type: ignore[attr-defined]
    before = write_order.part_tags(workspace), workspace.history.current
    bodies = [
        {},
        {**request_body(3), "levels": {}},
        {**request_body(3), "nodes": [{}]},
        request_body(3),
        {"columns": ["age"]},
    ]
    answered = {
        path for path in QUESTIONS if any(client.post(path, json=body).status_code < 300 for body in bodies)
    }
    assert len(answered) >= 12
    assert (write_order.part_tags(workspace), workspace.history.current) == before


def test_pages_send_writes_through_the_queue_only() -> None:
    """Only the queue's module, and those of the pages before it, send requests directly."""
    outside = {"api.js", "login.js", "signed-in.js", "connection.js", "api-docs.js", "lattice/frame.js"}
    senders = re.compile(r"\bfetch\(|XMLHttpRequest|sendBeacon|new WebSocket|\.submit\(")
    found = {
        str(path.relative_to(STATIC))
        for path in STATIC.rglob("*.js")
        if senders.search(path.read_text(encoding="utf-8"))
    }
    assert found <= outside
    query_call = re.compile(r"\bquery\(\s*[`\"]([^`\"]+)")
    for path in STATIC.rglob("*.js"):
        for address in query_call.findall(path.read_text(encoding="utf-8")):
            pattern = re.compile(re.sub(r"\\\$\\\{.*?\\\}", "[^/]+", re.escape(address)))
            assert any(pattern.fullmatch(each) for each in QUESTIONS), (
                f"{path.name} queries {address}, a write"
            )
