"""Criteria other than k and l in the browser: which are offered for a spec, and what the others need."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from discreet.settings import Settings
from discreet.web.server_config import ServerConfig
from tests.extending.test_toy_criterion import spec
from tests.web.browser.conftest import OpenPage
from tests.web.running import running

__all__ = ["spec"]


def test_what_needs_a_population_is_not_offered_without_one(
    open_page: OpenPage, spec: Path, tmp_path: Path, settings: Settings
) -> None:
    config = ServerConfig(workspace=tmp_path / "workspace", settings=settings, spec=spec)
    with running(config) as workbench:
        page = open_page(workbench.start_link)
        page.goto(f"{workbench.url}/#/negotiate")
        page.wait_for_selector("[data-move]", timeout=180_000)
        ask = page.get_by_label("Ask for another criterion")
        offered = ask.locator("option").evaluate_all("all => all.map((each) => each.value)")
        assert "lkc" in offered
        assert not {"k_map", "delta_presence"} & {*offered}
        lacking = page.locator(".criteria .hint").last
        expect(lacking).to_have_text(
            "k-map and δ-presence ask who else there is: a table of more people, or a part of this one that "
            "is published. Neither is named yet."
        )
        ask.select_option("lkc")
        expect(page.get_by_label("LKC-privacy, as a number")).to_have_value("2")
        page.get_by_label("confidence of LKC-privacy").fill("0.9")
        page.get_by_label("confidence of LKC-privacy").blur()
        expect(page.locator(".answer-words")).to_contain_text("LKC-privacy 2 (confidence 0.9) holds")
        with spec.open("a", encoding="utf-8") as file:
            file.write('\n[population]\npath = "people.csv"\n')
        page.reload()
        page.wait_for_selector("[data-move]", timeout=180_000)
        expect(ask.locator('option[value="k_map"]')).to_be_attached()
        expect(lacking).to_be_hidden()
