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
from fastapi.routing import APIRoute
from playwright.sync_api import Locator, Page, expect

from discreet.settings import Settings
from discreet.web import write_order
from discreet.web.routes import negotiate as negotiate_routes
from discreet.web.server_config import ServerConfig
from discreet.web.write_order import QUESTIONS, PageWrite, WriteOrder
from tests.waiting import wait_for
from tests.web.browser.conftest import OpenPage
from tests.web.browser.test_accessibility import violations
from tests.web.browser.test_nothing_is_lost import negotiate, opened
from tests.web.browser.whole_way import LONG, choose, go_to, ready
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
  const said = ({ status, reason }) => (status === "fulfilled" ? "done" : reason.kind ?? String(reason));
  return answers.map(said);
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


def asked(k: int, **more: Any) -> dict[str, Any]:
    return {"request": {"k": k, "max_suppressed": "30%", **more}}


ROLE = {"changes": [{"name": "education", "role": "identifier"}]}
BACK = {"changes": [{"name": "education", "role": "quasi-identifier"}]}
TREE = "age,level1\n" + "".join(f"{age},*\n" for age in range(17, 60))
OTHER = TREE.replace("level1", "level 1")


def edit(labels: list[str], name: str) -> dict[str, Any]:
    return {"attribute": "education", "change": "group", "level": 1, "labels": labels, "name": name}


def built(widths: str) -> dict[str, Any]:
    return {"attribute": "age", "kind": "intervals", "typed": {"widths": widths}}


def saved(name: str, k: int) -> dict[str, Any]:
    return {"name": name, "levels": {"age": 3, "work_class": 1}, **asked(k)}


def source(nulls: str) -> dict[str, Any]:
    return {"path": "philosophers.csv", "nulls": nulls}


EXAMPLES: dict[str, list[tuple[str, Any]]] = {
    "POST /api/negotiate/requests": [
        ("/api/negotiate/requests", asked(4)),
        ("/api/negotiate/requests", asked(3)),
    ],
    "POST /api/negotiate/spec": [("/api/negotiate/spec", asked(4)), ("/api/negotiate/spec", asked(2))],
    "PUT /api/negotiate/choice": [
        ("/api/negotiate/choice", {"levels": {"age": 3, "work_class": 2, "education": 2}, **asked(k)})
        for k in (3, 2)
    ],
    "DELETE /api/negotiate/choice": [("/api/negotiate/choice", None)],
    "POST /api/compare/saved": [("/api/compare/saved", saved(name, 2)) for name in ("one", "two", "one")],
    "DELETE /api/compare/saved/{name}": [("/api/compare/saved/two", None)],
    "POST /api/publish/jobs": [
        ("/api/publish/jobs", {"model": "mondrian", "name": f"{name}.csv", "k": 2}) for name in ("a", "b")
    ],
    "POST /api/publish/releases/{name}/report": [("/api/publish/releases/a.csv/report", {})],
    "DELETE /api/publish/releases/{name}": [("/api/publish/releases/b.csv", None)],
    "POST /api/versions/undo": [("/api/versions/undo", {})] * 3,
    "POST /api/versions/redo": [("/api/versions/redo", {})] * 2,
    "POST /api/versions/{number}": [("/api/versions/2", {}), ("/api/versions/1", {})],
    "PUT /api/columns": [("/api/columns", ROLE), ("/api/columns", BACK)],
    "PUT /api/hierarchies": [("/api/hierarchies", built(widths)) for widths in ("5, 10", "4, 8")],
    "POST /api/hierarchies/edit": [
        ("/api/hierarchies/edit", edit(["11th", "HS-grad"], n)) for n in ("low", "no")
    ],
    "PUT /api/hierarchies/file": [
        ("/api/hierarchies/file", {"attribute": "age", "text": text}) for text in (TREE, OTHER)
    ],
    "PUT /api/hierarchies/files": [
        ("/api/hierarchies/files", {"files": [{"name": "age.csv", "text": TREE}], "use": {"age": "age.csv"}})
    ],
    "PUT /api/load/source": [("/api/load/source", source(nulls)) for nulls in ("drop", "value")],
    "PUT /api/load/written": [("/api/load/written", {"column": "age", "written": {}})],
    "POST /api/load/spec": [("/api/load/spec", {"path": "discreet.toml"})],
    "POST /api/load/open": [("/api/load/open", source("value"))],
    "POST /api/load/sample": [("/api/load/sample", {})],
}
"""Contradicting writes of each kind; the server need not accept them."""

NOT_OF_PAGES = {
    "PUT /api/workspace/spec",  # sent by scripts
    "DELETE /api/workspace/requests",
    "DELETE /api/workspace/uploads/{name}",
    "POST /api/session",  # sent before a page is loaded
    "DELETE /api/session",
    "DELETE /api/jobs/{job_id}",  # stops a job, does not change the work
    "PUT /api/workspace/uploads/{name}",  # a raw file in a separate queue, see the tests of uploads
}


def test_every_kind_of_write_is_done_once_and_in_order(
    page: Page, philosophers: RunningWorkbench, handled: list[tuple[int, str]]
) -> None:
    """A kind of write without an entry in ``EXAMPLES`` fails."""
    app = philosophers.server.app
    kinds = {
        f"{method} {route.path}"
        for route in app.routes
        if isinstance(route, APIRoute)
        for method in route.methods - {"GET", "HEAD"}
        if not (method == "POST" and route.path in QUESTIONS)
    }
    assert kinds - NOT_OF_PAGES == set(EXAMPLES)
    negotiate(page)
    page.evaluate(LATE, sorted(QUESTIONS))
    sent: list[dict[str, Any]] = []
    page.on("request", lambda each: "discreet-base" in each.headers and sent.append(recorded(each)))
    writes = [[kind.split()[0], path, body] for kind, each in EXAMPLES.items() for path, body in each]
    before = len(handled)
    jobs = philosophers.server.state.jobs_of("local")
    answers = page.evaluate(SEND, writes[:-1])
    wait_for(lambda: all(job.has_ended for job in jobs.all()), "the table is open")
    page.evaluate("async () => (await import('/static/api.js')).beginAnew()")
    answers += page.evaluate(SEND, writes[-1:])
    wait_for(lambda: all(job.has_ended for job in jobs.all()), "the sample is there")
    assert len(answers) == len(writes)
    assert not {"outdated", "changed-elsewhere"} & set(answers)
    assert answers.count("done") > len(writes) / 2
    done = handled[before:]
    assert [path for _, path in done] == [path for _, path, _ in writes], "in their order, and each once"
    assert [number for number, _ in done] == sorted({number for number, _ in done})
    assert len(sent) > len(done), "those whose answer was lost were sent again"
    # Resending in any order is refused or returns the first answer.
    workspace = philosophers.workspace
    state = write_order.part_tags(workspace), workspace.timeline.current
    random.Random(3).shuffle(sent)
    for each in sent:
        page.request.fetch(each["url"], method=each["method"], headers=each["headers"], data=each["data"])
    assert (write_order.part_tags(workspace), workspace.timeline.current) == state
    assert handled[before:] == done


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


def test_what_is_in_sight_is_what_is_kept_however_late_the_server_is(
    page: Page, philosophers: RunningWorkbench
) -> None:
    negotiate(page)
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


def test_reload_in_the_middle_of_a_write_keeps_the_last_move(
    page: Page, philosophers: RunningWorkbench
) -> None:
    negotiate(page)
    page.evaluate(HELD)
    k = page.get_by_label("k, as a number")
    page.get_by_label("Maximum suppression in percent").fill("30")
    k.fill("4")
    wait_for(lambda: page.evaluate("() => window.writesHeld") == 1, "a request is on its way")
    k.fill("3")
    page.reload()
    page.wait_for_selector("[data-move]", timeout=LONG)
    expect(k).to_have_value("3")
    wait_for(lambda: is_kept(page, philosophers), "the last move is kept")


def publish_button(page: Page) -> Locator:
    return page.locator(".tray .publish")


def test_old_answer_is_marked_while_the_new_one_is_awaited(
    page: Page, philosophers: RunningWorkbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    negotiate(page)
    page.get_by_label("Maximum suppression in percent").fill("40")
    wait_for(lambda: is_kept(page, philosophers), "the answer is there, and its request kept")
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


def test_signed_out_page_says_so_publishes_nothing_and_goes_on_when_signed_in(
    page: Page, philosophers: RunningWorkbench
) -> None:
    negotiate(page)
    page.get_by_label("Maximum suppression in percent").fill("40")
    wait_for(lambda: is_kept(page, philosophers), "it is kept")
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


@pytest.mark.parametrize("hears", [True, False], ids=["channel", "server alone"])
def test_other_tab_says_that_the_request_changed_and_publishes_no_stale_one(
    page: Page, philosophers: RunningWorkbench, hears: bool
) -> None:
    negotiate(page)
    page.get_by_label("Maximum suppression in percent").fill("40")
    wait_for(lambda: is_kept(page, philosophers), "it is kept")
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
    told = other.get_by_text("Changed in another tab or program: the request.")
    if hears:
        expect(told).to_be_visible()
        expect(send).to_be_disabled()
    else:
        send.click()
        expect(told).to_be_visible()
    assert list(philosophers.workspace.releases.iterdir()) == []
    other.get_by_role("button", name="Show it").click()
    expect(told).to_be_hidden()
    ready(other, "publish")
    other.get_by_label("Model", exact=True).select_option("mondrian")
    expect(other.get_by_label("k", exact=True)).to_have_value("3")
    expect(send).to_be_enabled()


def test_tab_whose_table_or_request_changed_shows_it_or_keeps_its_own(
    page: Page, philosophers: RunningWorkbench
) -> None:
    negotiate(page)
    page.get_by_label("Maximum suppression in percent").fill("40")
    wait_for(lambda: is_kept(page, philosophers), "it is kept")
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
    told = page.get_by_text("Changed in another tab or program: the table, a role or a hierarchy.")
    expect(told).to_be_visible()
    assert page.get_by_role("button", name="Keep mine").count() == 0
    page.get_by_role("button", name="Show it").click()
    page.wait_for_selector("[data-move]", timeout=LONG)
    expect(told).to_be_hidden()
    expect(page.locator(".level-ranges")).not_to_contain_text("education")


def test_undo_leaves_the_request_in_sight_that_is_kept(page: Page, philosophers: RunningWorkbench) -> None:
    negotiate(page)
    page.get_by_label("Maximum suppression in percent").fill("40")
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


def test_roles_that_are_changed_quickly_end_as_they_are_shown(
    page: Page, philosophers: RunningWorkbench
) -> None:
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


def test_stored_numbers_hold_nothing_but_numbers(page: Page, philosophers: RunningWorkbench) -> None:
    negotiate(page)
    page.get_by_label("Maximum suppression in percent").fill("40")
    wait_for(lambda: is_kept(page, philosophers), "it is kept")
    numbers = json.loads((philosophers.folder / "state" / "writes.json").read_text())
    assert all(re.fullmatch("[0-9a-f]{24}", tab) and isinstance(n, int) for tab, n in numbers.items())
