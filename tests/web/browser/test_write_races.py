"""Writes of the pages while the server answers late, answers get lost, and other tabs write first."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from discreet.settings import Settings
from discreet.web import write_order
from discreet.web.routes import negotiate as negotiate_routes
from discreet.web.server_config import ServerConfig
from discreet.web.write_order import QUESTIONS, PageWrite, WriteOrder
from tests.waiting import wait_for
from tests.web.browser.conftest import OpenPage
from tests.web.browser.test_accessibility import violations
from tests.web.browser.workflow import LONG, choose, go_to, opened, ready
from tests.web.negotiation import write_philosophers
from tests.web.running import RunningWorkbench, running

LATE = """questions => {
  // The first writes take longest on their way. Every third answer is lost: the server has done it.
  const real = window.fetch;
  let writes = 0;
  window.fetch = async (path, given = {}) => {
    if (!given.method || given.method === "GET" || questions.includes(String(path))) return real(path, given);
    writes += 1;
    const mine = writes;
    await new Promise((done) => setTimeout(done, [240, 0, 120][mine % 3]));
    const answer = await real(path, given);
    if (mine % 3 === 0) throw new TypeError("the answer is lost");
    return answer;
  };
}"""
HELD = """() => {
  // Writes stay on their way until they are let go.
  const real = window.fetch;
  const held = [];
  window.writesHeld = 0;
  window.fetch = async (path, given = {}) => {
    if (given.headers?.["discreet-base"] === undefined) return real(path, given);
    if (held !== null && window.letGo !== null) {
      window.writesHeld += 1;
      await new Promise((done) => held.push(done));
    }
    return real(path, given);
  };
  window.letGo = () => {
    window.letGo = null;
    for (const each of held) each();
  };
}"""
SEND = """async (writes) => {
  const { post, put, remove } = await import("/static/api.js");
  const by = { POST: post, PUT: put, DELETE: remove };
  const send = ([method, path, body]) => by[method](path, body ?? undefined);
  const answers = await Promise.allSettled(writes.map(send));
  const outcome = ({ status, reason }) => (status === "fulfilled" ? "done" : reason.kind ?? String(reason));
  return answers.map(outcome);
}"""


@pytest.fixture
def philosophers(tmp_path: Path, settings: Settings) -> Iterator[RunningWorkbench]:
    config = ServerConfig(
        workspace=tmp_path / "workspace", settings=settings, root=tmp_path, spec=write_philosophers(tmp_path)
    )
    with running(config) as found:
        yield found


@pytest.fixture
def page(open_page: OpenPage, philosophers: RunningWorkbench) -> Page:
    return opened(open_page, philosophers)


@pytest.fixture
def handled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """Return the numbers and addresses of the writes that the server performed, in order."""
    found: list[tuple[int, str]] = []
    begin = WriteOrder.begin

    def noted(self: WriteOrder, write: PageWrite, tags: write_order.Tags) -> Any:
        answered = begin(self, write, tags)
        if answered is None:
            found.append((write.number, write.path))
        return answered

    monkeypatch.setattr(WriteOrder, "begin", noted)
    return found


def request_body(k: int, **more: Any) -> dict[str, Any]:
    return {"request": {"k": k, "max_suppressed": "30%", **more}}


ROLE = {"changes": [{"name": "education", "role": "identifier"}]}
WRITES: list[tuple[str, str, Any]] = [
    *(("POST", "/api/negotiate/requests", request_body(k)) for k in (4, 3)),
    ("POST", "/api/negotiate/spec", request_body(4)),
    (
        "PUT",
        "/api/negotiate/choice",
        {"levels": {"age": 3, "work_class": 2, "education": 2}, **request_body(3)},
    ),
    ("DELETE", "/api/negotiate/choice", None),
    ("POST", "/api/publish/jobs", {"model": "mondrian", "name": "a.csv", "k": 2}),
    *(("POST", "/api/versions/undo", {}),) * 3,
    ("POST", "/api/versions/redo", {}),
    ("PUT", "/api/columns", ROLE),
    ("PUT", "/api/hierarchies", {"attribute": "age", "kind": "intervals", "typed": {"widths": "4, 8"}}),
    ("PUT", "/api/load/source", {"path": "philosophers.csv", "null_policy": "drop"}),
    ("POST", "/api/load/open", {"path": "philosophers.csv"}),
]
"""Contradicting writes; the server need not accept them."""


def test_writes_are_done_once_and_in_order_although_answers_are_lost(
    page: Page, philosophers: RunningWorkbench, handled: list[tuple[int, str]]
) -> None:
    go_to(page, "negotiate")
    page.wait_for_selector("[data-move]", timeout=LONG)
    page.evaluate(LATE, sorted(QUESTIONS))
    sent: list[dict[str, Any]] = []
    page.on("request", lambda each: "discreet-base" in each.headers and sent.append(recorded(each)))
    before = len(handled)
    jobs = philosophers.server.state.jobs_of("local")
    answers = page.evaluate(SEND, WRITES)
    wait_for(lambda: all(job.has_ended for job in jobs.all()), "the table is open")
    assert len(answers) == len(WRITES)
    assert not {"outdated", "changed-elsewhere"} & set(answers)
    assert answers.count("done") > len(WRITES) / 2
    done = handled[before:]
    assert [path for _, path in done] == [path for _, path, _ in WRITES], "in their order, and each once"
    assert [number for number, _ in done] == sorted({number for number, _ in done})
    assert len(sent) > len(done), "those whose answer was lost were sent again"
    # Resending in any order is refused or returns the first answer.
    workspace = philosophers.workspace
    state = write_order.part_tags(workspace), workspace.history.current
    random.Random(3).shuffle(sent)
    for each in sent:
        page.request.fetch(each["url"], method=each["method"], headers=each["headers"], data=each["data"])
    assert (write_order.part_tags(workspace), workspace.history.current) == state
    assert handled[before:] == done
    numbers = json.loads((philosophers.folder / "state" / "writes.json").read_text())
    assert all(re.fullmatch("[0-9a-f]{24}", tab) and isinstance(n, int) for tab, n in numbers.items())


def recorded(request: Any) -> dict[str, Any]:
    headers = {name: value for name, value in request.headers.items() if not name.startswith(":")}
    origin = re.match(r"https?://[^/]+", request.url)
    assert origin
    return {
        "url": request.url,
        "method": request.method,
        "headers": {**headers, "origin": origin[0]},
        "data": request.post_data,
    }


def in_sight(page: Page) -> tuple[str, str, str]:
    """Return k, the suppression limit and the verdict's sentence from the page."""
    k, limit = page.get_by_label("k, as a number"), page.get_by_label("Maximum suppression in percent")
    return k.input_value(), limit.input_value(), page.locator(".verdict .sentence").inner_text()


def is_kept(page: Page, philosophers: RunningWorkbench) -> bool:
    request = philosophers.workspace.state("request") or {}
    k, limit, _ = in_sight(page)
    return (str(request.get("k")), str(request.get("max_suppressed"))) == (k, f"{limit}%")


def test_shown_request_is_stored_with_a_late_server(page: Page, philosophers: RunningWorkbench) -> None:
    begin(page, philosophers)
    page.evaluate(HELD)
    k, limit = page.get_by_label("k, as a number"), page.get_by_label("Maximum suppression in percent")
    limit.fill("30")
    wait_for(lambda: page.evaluate("() => window.writesHeld") == 1, "the first request is on its way")
    for value in ("4", "2", "5", "3"):
        k.fill(value)
        page.wait_for_timeout(300 if value != "2" else 1000)  # one value rests long enough to be sent
    limit.fill("40")
    assert page.evaluate("() => window.writesHeld") == 1, "one at a time"
    page.evaluate("() => window.letGo()")
    wait_for(lambda: is_kept(page, philosophers), "the last request is kept")
    assert in_sight(page)[:2] == ("3", "40")
    before = in_sight(page)
    page.reload()
    page.wait_for_selector("[data-move]", timeout=LONG)
    assert in_sight(page) == before
    assert is_kept(page, philosophers)
    page.evaluate(HELD)
    k.fill("4")
    wait_for(lambda: page.evaluate("() => window.writesHeld") == 1, "a request is being sent")
    k.fill("2")
    page.reload()  # in the middle of a write
    page.wait_for_selector("[data-move]", timeout=LONG)
    expect(k).to_have_value("2")
    wait_for(lambda: is_kept(page, philosophers), "the last move is kept")


def begin(page: Page, philosophers: RunningWorkbench) -> None:
    """Open Negotiate, move the suppression limit, and wait until the request is stored."""
    go_to(page, "negotiate")
    page.wait_for_selector("[data-move]", timeout=LONG)
    page.get_by_label("Maximum suppression in percent").fill("40")
    wait_for(lambda: is_kept(page, philosophers), "the request is stored")


def publish_button(page: Page) -> Locator:
    return page.locator(".tray .publish")


def test_old_answer_is_marked_until_the_new_one_arrives(
    page: Page, philosophers: RunningWorkbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(page, philosophers)
    expect(page.locator(".verdict .tag")).to_contain_text("Exact answer")
    answers = Event()
    frame = negotiate_routes._answer_move

    def late(*arguments: Any) -> Any:
        assert answers.wait(60)
        return frame(*arguments)

    monkeypatch.setattr(negotiate_routes, "_answer_move", late)
    before = page.locator(".verdict .sentence").inner_text()
    page.get_by_label("k, as a number").fill("3")
    expect(page.locator(".verdict .tag")).to_have_text("This is the answer before your last move")
    expect(page.locator(".screen.outdated")).to_have_count(1)
    expect(publish_button(page)).to_have_attribute("aria-disabled", "true")
    assert page.locator(".verdict .sentence").inner_text() == before
    assert violations(page) == []
    publish_button(page).click(force=True)
    page.get_by_role("button", name="Save this answer").click()
    expect(page.locator("#live")).to_have_text("This is the answer before your last move.")
    assert page.get_by_role("dialog").count() == 0
    assert philosophers.workspace.state("choice") is None
    answers.set()
    expect(page.locator(".verdict .tag")).to_contain_text("Exact answer")
    expect(publish_button(page)).to_have_attribute("aria-disabled", "false")
    expect(page.locator(".screen.outdated")).to_have_count(0)


def test_signed_out_page_publishes_nothing_until_signed_in(
    page: Page, philosophers: RunningWorkbench
) -> None:
    begin(page, philosophers)
    philosophers.server.state.sessions.close_all("local")
    page.get_by_label("k, as a number").fill("3")
    expect(page.get_by_text("Signed out. Open the start link again")).to_be_visible()
    expect(page.locator(".verdict .tag")).to_contain_text("Signed out.")
    expect(publish_button(page)).to_have_attribute("aria-disabled", "true")
    assert (philosophers.workspace.state("request") or {})["k"] != 3
    other = page.context.new_page()
    other.goto(philosophers.start_link)
    expect(page.locator("#line")).to_be_hidden()
    wait_for(lambda: is_kept(page, philosophers), "what was typed meanwhile is kept")
    expect(publish_button(page)).to_have_attribute("aria-disabled", "false")


@pytest.mark.parametrize("hears", [True, False], ids=["channel", "server only"])
def test_other_tab_publishes_no_stale_request(
    page: Page, philosophers: RunningWorkbench, hears: bool
) -> None:
    begin(page, philosophers)
    choose(page)
    other = page.context.new_page()
    if not hears:
        other.add_init_script("delete window.BroadcastChannel")
    other.goto(f"{philosophers.url}/#/publish")
    ready(other, "publish")
    send = other.get_by_role("button", name="Publish", exact=True)
    expect(send).to_be_enabled()
    page.get_by_label("k, as a number").fill("3")
    wait_for(lambda: is_kept(page, philosophers), "it is kept")
    notice = other.get_by_text("Changed in another tab or program: the request.")
    if hears:
        expect(notice).to_be_visible()
        expect(send).to_be_disabled()
    else:
        send.click()
        expect(notice).to_be_visible()
    assert list(philosophers.workspace.releases.iterdir()) == []
    other.get_by_role("button", name="Show it").click()
    expect(notice).to_be_hidden()
    ready(other, "publish")
    other.get_by_label("Model", exact=True).select_option("mondrian")
    expect(other.get_by_label("k", exact=True)).to_have_value("3")
    expect(send).to_be_enabled()


def test_tab_shows_a_change_of_another_tab_or_keeps_its_own(
    page: Page, philosophers: RunningWorkbench
) -> None:
    begin(page, philosophers)
    other = page.context.new_page()
    other.goto(f"{philosophers.url}/#/negotiate")
    other.wait_for_selector("[data-move]", timeout=LONG)
    other.get_by_label("k, as a number").fill("3")
    expect(page.get_by_text("Changed in another tab or program: the request.")).to_be_visible()
    expect(page.locator(".verdict .tag")).to_have_text(
        "Changed in another tab: this answer may be out of date"
    )
    expect(publish_button(page)).to_have_attribute("aria-disabled", "true")
    page.get_by_label("k, as a number").fill("2")
    page.wait_for_timeout(1200)
    assert (philosophers.workspace.state("request") or {})["k"] == 3, (
        "its move does not overwrite the other tab's"
    )
    page.get_by_role("button", name="Keep mine").click()
    wait_for(lambda: is_kept(page, philosophers), "now it does")
    expect(page.locator("#changed")).to_be_hidden()
    expect(publish_button(page)).to_have_attribute("aria-disabled", "false")
    expect(other.get_by_text("Changed in another tab or program: the request.")).to_be_visible()
    other.get_by_role("button", name="Show it").click()
    expect(other.get_by_label("k, as a number")).to_have_value("2")
    go_to(other, "columns")
    other.get_by_label("Role of education").select_option("identifier")
    notice = page.get_by_text("Changed in another tab or program: the table, a role or a hierarchy.")
    expect(notice).to_be_visible()
    assert page.get_by_role("button", name="Keep mine").count() == 0
    page.get_by_role("button", name="Show it").click()
    page.wait_for_selector("[data-move]", timeout=LONG)
    expect(notice).to_be_hidden()
    expect(page.locator(".level-ranges")).not_to_contain_text("education")


def test_undo_shows_the_stored_request(page: Page, philosophers: RunningWorkbench) -> None:
    begin(page, philosophers)
    k = page.get_by_label("k, as a number")
    for value in ("2", "3", "4"):
        k.fill(value)
        wait_for(lambda: is_kept(page, philosophers), "it is kept")
    page.evaluate(LATE, sorted(QUESTIONS))
    undo, redo = page.get_by_role("button", name="Undo"), page.get_by_role("button", name="Redo")
    for button in (undo, undo, redo, undo):
        button.click()
    k.fill("5")
    page.wait_for_timeout(1500)
    wait_for(lambda: page.locator(".screen.outdated").count() == 0, "it is answered")
    wait_for(lambda: is_kept(page, philosophers), "what is in sight is kept")
    expect(page.locator(".verdict .tag")).not_to_contain_text("before your last move")
    go_to(page, "columns")
    page.get_by_label("Role of education").select_option("identifier")
    go_to(page, "negotiate")
    page.wait_for_selector("[data-move]", timeout=LONG)
    for _ in range(2):
        page.keyboard.press("Control+z")
        page.keyboard.press("Control+Shift+z")
    page.keyboard.press("Control+z")
    wait_for(lambda: len(philosophers.workspace.spec().quasi_identifiers) == 3, "the role is taken back")
    expect(page.locator(".level-ranges")).to_contain_text("education")
    expect(page.locator(".verdict .tag")).to_contain_text(re.compile("answer", re.IGNORECASE))
    wait_for(lambda: is_kept(page, philosophers), "what is in sight is kept")


def test_quick_changes_of_roles_are_all_stored(page: Page, philosophers: RunningWorkbench) -> None:
    go_to(page, "columns")
    page.evaluate(LATE, sorted(QUESTIONS))
    shown = {}
    for name, roles in (("education", ("identifier", "sensitive")), ("age", ("sensitive", "identifier"))):
        for role in roles:
            page.get_by_label(f"Role of {name}").select_option(role)
            shown[name] = role
    spec = philosophers.workspace

    def stored() -> dict[str, str]:
        return {a.name: str(a.role) for a in spec.spec().attributes if a.name in shown}

    wait_for(lambda: stored() == shown, "the last roles are kept")
    page.wait_for_timeout(500)
    assert stored() == shown
    page.reload()
    for name, role in shown.items():
        expect(page.get_by_label(f"Role of {name}")).to_have_value(role)
