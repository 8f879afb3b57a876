"""From the sample to a release in Firefox, a second browser engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.web.browser.firefox import FIREFOX, firefox
from tests.web.running import RunningWorkbench

_WIDE = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
_COLOURS = """(() => {
  const canvas = document.querySelector("canvas");
  if (!canvas || !canvas.width) return 0;
  const cells = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const seen = new Set();
  for (let at = 0; at < cells.length; at += 4)
    if (cells[at + 3]) seen.add(cells[at] * 65536 + cells[at + 1] * 256 + cells[at + 2]);
  return seen.size;
})()"""


@pytest.mark.slow
@pytest.mark.skipif(not FIREFOX.exists(), reason="the system package firefox-esr is not installed")
def test_sample_is_negotiated_and_published_in_firefox(workbench: RunningWorkbench, tmp_path: Path) -> None:
    with firefox(tmp_path / "firefox") as page:
        page.size(1280, 800)
        page.goto(workbench.start_link)
        page.until("document.body.dataset.ready === 'load'")
        page.press("button", "Open the sample")
        page.until("document.body.dataset.ready === 'columns' && document.querySelector('tbody tr')")
        page.press("#steps a[href='#/negotiate']")
        page.until("document.body.dataset.ready === 'negotiate' && document.querySelector('[data-move]')")
        sentence = "document.querySelector('.verdict').innerText"
        before = page.until(sentence)
        assert "fewer than" in before
        assert page.until(_COLOURS) > 5
        page.until("(document.querySelector('input[type=range]').focus(), true)")
        page.key("\ue014")  # right arrow: a larger k
        after = page.until(f"{sentence} !== {before!r} && {sentence}")
        assert "fewer than" in after
        assert page.until(_WIDE)
        page.press(".tray .publish")
        page.until("document.body.dataset.ready === 'publish'")
        page.press("button[type=submit]", "Publish")
        page.until(
            "[...document.querySelectorAll('h2')].some((each) => each.innerText.startsWith('Published:'))"
        )
        assert "Audit passed" in page.until("document.querySelector('#audit').innerText")
        for width, height in ((1280, 800), (390, 844)):
            page.size(width, height)
            for screen in ("load", "columns", "hierarchies", "negotiate", "analyst", "attacker", "publish"):
                page.until(f"(location.hash = '#/{screen}', document.body.dataset.ready === '{screen}')")
                assert page.until(_WIDE), screen
        # A socket that was still connecting when its screen closed is not an error of the page.
        assert [each for each in page.errors if "/api/negotiate/socket" not in each] == []
