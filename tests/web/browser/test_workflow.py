"""From a dropped Adult file to an audited release and its report, in a real browser."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from playwright.sync_api import Page, expect

from discreet.cli.main import main
from tests.drawing import NEW
from tests.web.browser.workflow import LONG, choose, go_to, prepare, publish, ready
from tests.web.running import RunningWorkbench


def after_move(page: Page, field: str, value: str) -> None:
    """Fill a field of the request and wait for the answer."""
    before = page.locator("[data-move]").get_attribute("data-move")
    control = page.get_by_label(field, exact=True)
    control.fill(value)
    control.press("Tab")
    page.wait_for_function(
        "before => document.querySelector('[data-move]').dataset.move !== before", arg=before
    )


def negotiate_with_a_relaxation(page: Page) -> None:
    """Request an unsatisfiable combination, apply a relaxation and choose its node."""
    go_to(page, "negotiate")
    page.wait_for_selector("[data-move]", timeout=LONG)
    after_move(page, "k, as a number", "20")
    after_move(page, "Maximum suppression in rows", "10")
    after_move(page, "Greatest level of age, as a number", "0")
    answer = page.locator(".answer-words")
    expect(answer).to_contain_text("No answer within these limits", use_inner_text=True)
    expect(page.locator(".relaxation").nth(1)).to_be_visible()
    page.locator(".relaxation[data-relaxed=max_suppressed]").get_by_role("button", name="Apply").click()
    answer.get_by_text("Exact answer").wait_for()
    choose(page)


def test_dropped_file_becomes_a_release_with_a_report(
    page: Page, workbench: RunningWorkbench, data_dir: Path
) -> None:
    ready(page, "load")
    prepare(page, data_dir / "adult" / "adult_30162.csv", rows=None if NEW else 2000)
    go_to(page, "hierarchies")
    negotiate_with_a_relaxation(page)
    publish(page, "adult-release")
    expect(
        page.get_by_role("region", name="Audit of adult-release").get_by_text("Audit passed: ")
    ).to_be_visible()

    with page.expect_download() as download:
        page.get_by_role("button", name="Data", exact=True).click()
    downloaded = list(csv.reader(download.value.path().read_text().splitlines()))
    with page.expect_download() as download:
        page.get_by_role("button", name="Manifest", exact=True).click()
    manifest = json.loads(download.value.path().read_text())
    assert downloaded[0] == ["age", "education", "marital_status", "race", "sex", "salary_class"]
    assert len(downloaded) - 1 == manifest["data"]["rows"]

    page.get_by_role("button", name="Write the report…").click()
    page.get_by_label("Purpose of the release").fill("A study of salaries")
    page.get_by_label("Language").select_option("Deutsch")
    page.get_by_role("dialog").get_by_role("button", name="Write the report").click()
    link = page.get_by_role("link", name="Read the report")
    link.wait_for(timeout=LONG)
    with page.context.expect_page() as opened:
        link.click()
    report = opened.value
    report.wait_for_load_state()
    assert "A study of salaries" in report.inner_text("body")
    assert "Zweck und Empfänger" in report.inner_text("body")
    report.close()

    for screen in ("analyst", "attacker"):
        go_to(page, screen)
        expect(page.locator("#main")).to_contain_text("adult-release", use_inner_text=True)

    # The command line agrees: same spec, same release.
    (release,) = workbench.workspace.releases.rglob("adult-release.csv")
    assert main(["audit", str(release), "--k", "20"]) == 0
    assert main(["inspect", str(workbench.workspace.spec_path), "--json"]) == 0
