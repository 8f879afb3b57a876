"""A real kernel, with and without ipywidgets, and a console: every verb works and shows its result."""

from __future__ import annotations

import html
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.notebook import Kernel, environment, kernel

WITHOUT_WIDGETS = """
import sys
class Missing:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "ipywidgets":
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
sys.meta_path.insert(0, Missing)
"""
BAR = """
import duckdb
duckdb.connect().execute("SELECT current_setting('enable_progress_bar')").fetchone()[0]
"""
BEGIN = """
import pandas, discreet
people = pandas.DataFrame({
    "age": [20 + i % 7 for i in range(60)],
    "city": [["Bonn", "Köln"][i % 2] for i in range(60)],
    "disease": [["flu", "cold", "asthma"][i % 3] for i in range(60)],
})
proposal = discreet.init(people)
"""
VERBS = {
    "proposal": "quasi-identifier",
    "table = discreet.open(people, proposal.mapping)\ntable": "disease",
    "table.inspect()": "<td",
    "wish = table.negotiate(k=5)\nwish": "<td",
    "table.publish(wish.exact, 'release.csv', overwrite=True)": "Published release.csv",
    "discreet.audit('release.csv')": "<td",
    "discreet.attack('release.csv', table=table)": "<td",
    "discreet.query('release.csv', 'SELECT count(*) FROM r')": "60",
}


@pytest.fixture(scope="module", params=["with ipywidgets", pytest.param("without", marks=pytest.mark.slow)])
def notebook(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """Yield a kernel with discreet imported and a profiled table.

    Every verb shows the progress bar without ``ipywidgets``; longer workflows run in one kernel only.
    """
    with kernel(tmp_path_factory.mktemp("k")) as found:
        if request.param == "without":
            assert found.run(WITHOUT_WIDGETS).error == ""
        bar = found.run(BAR)
        assert bar.text == str(request.param != "without"), bar
        assert found.run(BEGIN).error == ""
        yield found


def test_every_verb_shows_only_its_result(notebook: Kernel) -> None:
    for code, shown in VERBS.items():
        cell = notebook.run(code)
        assert cell.error == "", code
        assert shown in cell.html, (code, cell.html)
        assert cell.text
        assert cell.displayed == 0, f"a progress bar in {code}"


JOURNEY = """
import pandas, discreet
from discreet.models import Permutation
table = discreet.open(people, discreet.init(people).mapping)
wish = table.negotiate(k=5, max_suppressed="1%")
release = table.publish(wish.exact or wish.relaxation("height"))
"""
STEPS = {
    "release": "The first 5 of 60 released rows",
    "release.to_pandas()": "<td>",
    "len(release.to_pandas()), release.manifest['audit']['k'] >= 5": "(60, True)",
    "discreet.open(people, proposal.mapping).publish('local', k=5)": "Published in memory for k=5",
    "table.publish(Permutation(), k=3)": "by permutation",
    "release.path": "InputError: the release is in memory: it has no path",
}


@pytest.mark.parametrize("notebook", ["with ipywidgets"], indirect=True)
def test_frame_is_released_in_a_notebook(notebook: Kernel) -> None:
    assert notebook.run(JOURNEY).error == ""
    for code, shown in STEPS.items():
        cell = notebook.run(code)
        assert shown in cell.html + cell.text + cell.error, (code, cell)
        assert cell.displayed == 0


MESSY = """
import random, pandas
draw = random.Random(5)
towns = ["Bonn", "Köln", "Aachen", "n/a"]
people = pandas.DataFrame({
    "Patient No": [f"P{i:05d}" for i in range(400)],
    "Born": pandas.to_datetime([f"{1935 + i % 70}-03-{draw.randrange(1, 29):02}" for i in range(400)]),
    "Sex": [draw.choice(["f", "m", "F ", "m "]) for _ in range(400)],
    "Town": pandas.Categorical([draw.choice(towns) for _ in range(400)]),
    "Cost": [f"{draw.randrange(1, 90)}.{draw.randrange(1000):03},50 €" for _ in range(400)],
    "Visits": [draw.choice([1, 2, 3, None]) for _ in range(400)],
    "Diagnosis": [draw.choice(["I21", "E11", "C50"]) for _ in range(400)],
}, index=pandas.Index(range(1000, 1400), name="row"))
"""
MESSY_STEPS = {
    "proposal = discreet.init(people)\nproposal": "thousands by '.', with or without €",
    "table = discreet.open(people, proposal.mapping)\ntable.inspect()": "Identifiers, dropped: Patient No",
    "wish = table.negotiate(k=5, l=2, max_suppressed='2%')\nwish": "Exact answer",
    "release = table.publish(wish.exact)\nrelease": "Audit passed",
    "frame = release.to_pandas()\nframe": "[0, 10000[",
    "'Patient No' in frame, int(frame.groupby(list(frame)[:5]).size().min()) >= 5": "(False, True)",
    "discreet.attack(release, table=table)": "InputError: the release is in memory: it has no path",
    "written = table.publish(wish.exact, 'messy.csv')\ndiscreet.attack(written, table=table)": "messy.csv",
}


@pytest.mark.parametrize("notebook", ["with ipywidgets"], indirect=True)
def test_messy_frame_is_released_in_a_notebook(notebook: Kernel) -> None:
    assert notebook.run(MESSY).error == ""
    for code, shown in MESSY_STEPS.items():
        cell = notebook.run(code)
        assert shown in html.unescape(cell.html) + cell.text + cell.error, (code, cell)
        assert cell.displayed == 0


def test_ipython_console_prints_text(tmp_path: Path) -> None:
    code = BEGIN + "discreet.open(people, proposal.mapping).inspect()"
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "-c", code],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Error" not in done.stdout + done.stderr
    assert "60 rows" in done.stdout
