"""Criteria other than k and l in the browser: sliders, fixed parts, requirements, and a late answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from discreet.settings import Settings
from discreet.web.server_config import ServerConfig
from tests.extending.registered import toy_criterion
from tests.extending.test_toy_criterion import spec
from tests.web.browser.conftest import OpenPage
from tests.web.browser.workflow import negotiate
from tests.web.running import RunningWorkbench, running

__all__ = ["spec", "toy_criterion"]

TITLE = "homogeneity of a sensitive value"
BOTH = f"{TITLE} 0.9 (disease), {TITLE} 0.9 (wage)"


@pytest.fixture
def patients(spec: Path, tmp_path: Path, settings: Settings) -> Iterator[RunningWorkbench]:
    """Yield a server with the spec of two sensitive attributes."""
    config = ServerConfig(workspace=tmp_path / "workspace", settings=settings, spec=spec)
    with running(config) as found:
        yield found


def expect_answer(page: Page, requirement: str) -> None:
    """Wait until the answer's text contains the requirement."""
    expect(page.locator(".answer-words")).to_contain_text(requirement)


def test_criterion_of_a_population_is_offered_with_a_population_only(
    open_page: OpenPage, patients: RunningWorkbench, spec: Path
) -> None:
    page = negotiate(open_page, patients)
    add, hint = page.get_by_label("Add a criterion"), page.locator(".criteria .hint").last
    offered = add.locator("option").evaluate_all("all => all.map((each) => each.value)")
    assert "lkc" in offered
    assert not {"k_map", "delta_presence"} & {*offered}
    expect(hint).to_contain_text("k-map and δ-presence need a population")
    add.select_option("lkc")
    expect(page.get_by_label("LKC-privacy, as a number")).to_have_value("2")
    page.get_by_label("confidence of LKC-privacy").fill("0.9")
    page.get_by_label("confidence of LKC-privacy").blur()
    expect_answer(page, "LKC-privacy 2 (confidence 0.9) holds")
    with spec.open("a", encoding="utf-8") as file:
        file.write('\n[population]\npath = "people.csv"\n')
    page.reload()
    page.wait_for_selector("[data-move]", timeout=180_000)
    expect(add.locator('option[value="k_map"]')).to_be_attached()
    expect(hint).to_be_hidden()


@pytest.mark.usefixtures("toy_criterion")
def test_criterion_of_one_file_has_a_slider_and_fixed_parts(
    open_page: OpenPage, patients: RunningWorkbench
) -> None:
    page = negotiate(open_page, patients)
    add, disease = page.get_by_label("Add a criterion"), page.get_by_label(f"{TITLE} of disease, as a number")
    add.select_option("homogeneity")
    expect(disease).to_have_value("0.9")
    assert "homogeneity" not in add.locator("option").evaluate_all("all => all.map((each) => each.value)")
    expect_answer(page, BOTH)
    page.get_by_role("button", name=f"Remove {TITLE} of wage").click()
    base = page.get_by_label(f"base of {TITLE} of disease")
    base.select_option("values")
    expect_answer(page, f"{TITLE} 0.9 (disease, base values)")
    page.get_by_role("slider", name=f"{TITLE} of disease").press("Home")
    expect(disease).to_have_value("0.2")
    card = page.locator('.relaxation[data-relaxed="homogeneity"]')
    expect(card).to_contain_text(f"Raise {TITLE}")
    card.get_by_role("button", name="Apply").click()
    expect_answer(page, "Exact answer")
    expect(disease).not_to_have_value("0.2")
    page.get_by_role("button", name="Save for the command line").click()
    page.locator("#toasts").get_by_text("the command line now uses").wait_for()
    (stored,) = patients.workspace.document()["request"]["homogeneity"]
    assert (stored["attribute"], stored["base"]) == ("disease", "values")
    page.goto(f"{patients.url}/#/publish")
    page.get_by_label("Model", exact=True).select_option("mondrian")
    expect(disease).to_be_visible()
    expect(base).to_have_value("values")


SLOW_ANSWERS = """
const listen = WebSocket.prototype.addEventListener;
WebSocket.prototype.addEventListener = function (kind, receive, ...rest) {
  const later = kind === "message" ? (event) => setTimeout(() => receive(event), 1500) : receive;
  return listen.call(this, kind, later, ...rest);
};
"""  # each event arrives after the request has settled


@pytest.mark.usefixtures("toy_criterion")
def test_request_that_settles_before_its_answer_is_no_error(
    open_page: OpenPage, patients: RunningWorkbench
) -> None:
    page = open_page(patients.start_link)
    page.add_init_script(SLOW_ANSWERS)
    page.goto(f"{patients.url}/#/negotiate")
    page.reload()
    page.wait_for_selector("[data-move]", timeout=180_000)
    with page.expect_response("**/api/negotiate/requests") as first:
        page.get_by_label("Add a criterion").select_option("homogeneity")
    assert first.value.status == 409
    with page.expect_response("**/api/negotiate/requests") as second:
        expect_answer(page, BOTH)
    assert second.value.ok
    expect(page.locator("#toasts .toast")).to_have_count(0)
