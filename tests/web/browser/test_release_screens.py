"""Analyst, Attacker and Publish screens: a permuted release, an auxiliary file, pseudonymization keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from discreet.screens.option_forms import model_form
from discreet.settings import Settings
from discreet.web.server_config import ServerConfig
from tests.attacks.test_linkage import PATIENTS, table_of
from tests.web.browser.conftest import OpenPage
from tests.web.browser.workflow import LONG, go_to, ready
from tests.web.running import RunningWorkbench, running

DOTS = "() => [...document.querySelectorAll('.interval .band')].map((e) => e.getBoundingClientRect().width)"
_SLOW = """() => { const real = window.fetch;
  window.fetch = async (...given) => {
    await new Promise(done => setTimeout(done, 400));
    return real(...given); }; }"""


@pytest.fixture
def small(tmp_path: Path, settings: Settings) -> Iterator[RunningWorkbench]:
    """Yield a server with the spec of nine patients."""
    data = tmp_path / "data"
    data.mkdir()
    table_of(data, [*PATIENTS, {"name": "odd", "age": "27", "city": "Trier", "disease": "b"}])
    config = ServerConfig(
        workspace=tmp_path / "workspace", settings=settings, root=tmp_path, spec=data / "discreet.toml"
    )
    with running(config) as found:
        yield found


@pytest.fixture
def page(open_page: OpenPage, small: RunningWorkbench) -> Page:
    """Return a signed-in page on the Publish screen."""
    found = open_page(small.start_link)
    found.wait_for_selector("body[data-ready]", timeout=LONG)
    go_to(found, "publish")
    return found


def publish(page: Page, model: str, **fields: str) -> None:
    page.get_by_label("Model", exact=True).select_option(model)
    for label, value in fields.items():
        page.get_by_label(label, exact=False).first.fill(value)
    least = page.locator("[data-field=l] input")
    if least.is_visible():
        expect(least).to_have_value("2")
        least.fill("")
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_role("heading", name="Published: ").wait_for(timeout=LONG)


def test_permuted_release_shows_its_caution_on_every_screen(page: Page) -> None:
    publish(page, "permutation", k="2")
    warning = "Identity and membership are not protected"
    expect(page.get_by_text(warning).first).to_be_visible()
    page.get_by_role("button", name="Help table").wait_for()
    for screen in ("attacker", "analyst"):
        go_to(page, screen)
        expect(page.get_by_text(warning).first).to_be_visible()
    page.get_by_role("heading", name="Utility of the release").wait_for(timeout=LONG)
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator("#query-answer table").wait_for()
    go_to(page, "publish")
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_text("Nothing is published yet.").wait_for()


def test_attacker_shows_risks_links_a_file_and_tries_an_attack(page: Page, small: RunningWorkbench) -> None:
    publish(page, "mondrian", k="2")
    expect(page.locator("#audit .sentence.headline")).to_contain_text("Audit passed: ")
    go_to(page, "attacker")
    headline = page.locator("#attack-results .sentence.headline")
    expect(headline).to_contain_text("The mean risk is")
    query, result = page.locator(".composed > .query-side").bounding_box(), headline.bounding_box()
    assert query is not None
    assert result is not None
    assert query["x"] + query["width"] < result["x"], "the result is to the right of the query"
    link_a_file(page, small)
    try_by_name(page)


def link_a_file(page: Page, small: RunningWorkbench) -> None:
    """Run the linkage attack with a chosen file."""
    page.get_by_role("heading", name="Sample uniques").wait_for(timeout=LONG)
    marketer = page.get_by_role("row", name="marketer risk").get_by_role("cell").all_inner_texts()
    assert [text[-1] for text in marketer] == ["%", "%"]
    page.locator("#outside-file").set_input_files(small.workspace.spec_path.parent / "people.csv")
    page.get_by_label("Key of the file").select_option("name")
    expect(page.get_by_label("Key in the original")).to_have_value("name")
    page.get_by_role("button", name="Link", exact=True).click()
    page.get_by_text("correct links after").wait_for(timeout=LONG)
    row = page.get_by_role("row", name="correct links expected")
    before, after = (float(cell) for cell in row.get_by_role("cell").all_inner_texts())
    assert before > after > 0
    page.get_by_role("button", name="Another file").click()
    page.get_by_text("Drop a file that an attacker might have").wait_for()


def try_by_name(page: Page) -> None:
    """Run an attack by name; it shows individuals only after a click."""
    page.get_by_role("heading", name="Further attacks").wait_for(timeout=LONG)
    page.get_by_label("Attack to try").select_option("suda2")
    page.get_by_label("Sampling fraction").fill("0.1")
    page.get_by_role("button", name="Try", exact=True).click()
    page.get_by_role("row", name="minimal sets").first.wait_for(timeout=LONG)
    persons = page.get_by_text("with the highest scores").first
    expect(persons).not_to_be_visible()
    page.get_by_role("button", name="Show individual persons").click()
    page.get_by_role("region", name="Rows of the original with the highest scores").wait_for(timeout=LONG)


def test_earlier_releases_are_chosen_for_publishing_and_attacking(page: Page) -> None:
    """Earlier releases are check boxes, the attack compares them, and a column identifies households."""
    expect(page.get_by_text("Safe together with")).not_to_be_visible()
    publish(page, "mondrian", k="3", Name="first")
    page.get_by_label("Name", exact=False).first.fill("second")
    page.get_by_label("first.csv", exact=True).check()
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_role("heading", name="Published: second.csv").wait_for(timeout=LONG)
    go_to(page, "attacker")
    page.get_by_role("heading", name="Further attacks").wait_for(timeout=LONG)
    page.get_by_label("Attack to try").select_option("intersection")
    box = page.get_by_label("first.csv", exact=True)
    expect(box).to_be_checked()
    box.uncheck()
    page.get_by_role("button", name="Try", exact=True).click()
    expect(page.get_by_text("Select a release.")).to_be_visible()
    box.check()
    page.get_by_role("button", name="Try", exact=True).click()
    page.get_by_role("row", name="all releases together").wait_for(timeout=LONG)


def test_answer_is_drawn_and_a_reload_restores_query_and_scroll(page: Page) -> None:
    """Bounds, estimate and truth of each group are drawn; a reload and back restore query and scroll."""
    publish(page, "mondrian", k="3")
    go_to(page, "analyst")
    page.get_by_role("heading", name="Distributions before and after").wait_for(timeout=LONG)
    expect(page.locator("#query-answer .sentence.headline")).to_contain_text(
        re.compile(r"answers?\b|between|true answer")
    )
    query = page.get_by_label("Query", exact=True)
    query.fill("SELECT COUNT(*) FROM release WHERE age < 21 GROUP BY city")
    query.press("Control+Enter")
    expect(page.locator("#query-answer thead")).to_contain_text("city")
    widths = page.evaluate(DOTS)
    assert max(widths) > 5
    expect(page.locator(".interval .dot")).to_have_count(len(widths))
    query.fill("SELECT COUNT(*) FROM release WHERE disease <> 'a' GROUP BY disease")
    query.press("Control+Enter")
    expect(page.locator("#query-answer tbody th").first).to_have_text(re.compile("^[b-z]$"))
    page.evaluate("window.scrollTo(0, 200)")
    page.wait_for_function("() => history.state && history.state.scroll === 200")
    page.reload()
    page.wait_for_function("() => Math.abs(window.scrollY - 200) < 2", timeout=LONG)
    expect(query).to_have_value(re.compile("GROUP BY disease$"))
    query.fill("DELETE FROM release")
    query.press("Control+Enter")
    page.locator("[data-field=sql] .field-error:not([hidden])").wait_for()


def test_back_restores_the_scroll_position_of_a_slow_screen(page: Page) -> None:
    """Leaving a scrolled screen empties and scrolls the page, which must not change the saved position."""
    publish(page, "mondrian", k="3")
    go_to(page, "analyst")
    page.get_by_role("heading", name="Distributions before and after").wait_for(timeout=LONG)
    page.evaluate("window.scrollTo(0, 200)")
    page.wait_for_function("() => history.state && history.state.scroll === 200")
    go_to(page, "attacker")
    page.evaluate("window.scrollTo(0, 90)")
    page.wait_for_function("() => history.state && history.state.scroll === 90")
    page.evaluate(_SLOW)
    page.go_back()
    ready(page, "analyst")
    page.wait_for_function("() => Math.abs(window.scrollY - 200) < 2")


def test_errors_are_shown_at_their_field_or_above_the_button(page: Page) -> None:
    page.get_by_label("Model", exact=True).select_option("mondrian")
    page.get_by_label("k", exact=True).fill("1000")
    send = page.get_by_role("button", name="Publish", exact=True)
    send.click()
    expect(page.locator("form .form-error")).to_contain_text("does not meet k=1000")
    expect(page.locator("#publish-work")).to_be_empty()
    expect(page.locator("#audit")).to_be_empty()
    expect(send).to_be_focused()
    publish(page, "mondrian", k="2", Name="first")
    expect(page.locator("form .form-error")).to_be_empty()
    name = page.get_by_label("Name", exact=False).first
    name.fill("first")
    page.get_by_role("button", name="Publish", exact=True).click()
    page.locator("[data-field=name] .field-error:not([hidden])").wait_for()
    expect(page.locator("[data-field=name] .field-error")).to_contain_text(
        "exists already", use_inner_text=True
    )
    page.get_by_label("Replace a release of this name").check()
    page.locator("[data-field=l] input").fill("")
    page.get_by_label("k", exact=True).fill("3")
    page.keyboard.press("Enter")
    page.get_by_text("the smallest of 3").or_(page.get_by_text("the smallest of 4")).first.wait_for(
        timeout=LONG
    )
    expect(page.locator("table tbody tr .release-name")).to_have_count(1)
    expect(page.get_by_role("table").get_by_text("Mondrian", exact=True)).to_be_visible()


MODELS = ("permutation", "ordered-single-dimension", "local", "patterns", "mondrian")


def test_form_has_every_option_of_its_model(page: Page) -> None:
    for model in MODELS:
        page.get_by_label("Model", exact=True).select_option(model)
        for each in model_form(model).fields:
            expect(page.get_by_label(each.label, exact=True)).to_be_visible()
    page.get_by_label("Model", exact=True).select_option("patterns")
    page.get_by_label("Never starred", exact=True).select_option("age")
    page.get_by_label("At most one starred", exact=True).fill("age,city")
    page.get_by_label("Weights", exact=True).fill("age=2\ncity=1.5")
    page.get_by_label("Suppressed at most").fill("20%")
    publish(page, "patterns", k="2")
    page.get_by_label("Model", exact=True).select_option("permutation")
    page.get_by_label("Groups are found by", exact=True).select_option("recoding")
    page.get_by_label("Join classes that fail", exact=True).check()
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_role("heading", name="Published: release-2.csv").wait_for(timeout=LONG)
