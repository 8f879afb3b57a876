"""What ``publish --help`` says of an option that several models know is what the models take."""

from __future__ import annotations

import re

from typer.testing import CliRunner

from discreet.cli.main import app
from discreet.model.pattern import Tie as PatternTie
from discreet.mondrian.options import Tie as MondrianTie


def test_the_help_names_every_tie_of_every_model() -> None:
    text = CliRunner().invoke(app, ["publish", "--help"], env={"COLUMNS": "100"}).output
    # A narrow terminal breaks lines at the hyphens of names, too.
    found = re.search(r"--tie NAME(.*?)--cells", re.sub(r"\s+", " ", re.sub(r"(?<=\w)-\s+", "-", text)))
    assert found is not None
    patterns, mondrian = found.group(1).split("mondrian:")
    assert all(tie in patterns for tie in PatternTie)
    assert all(tie in mondrian for tie in MondrianTie)
