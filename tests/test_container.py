"""Tests of the Containerfile: copied files exist, the user is not root, nothing listens."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def steps() -> list[tuple[str, str]]:
    """Return each instruction and its words; continued lines are joined."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def of(name: str) -> list[str]:
    return [rest for word, rest in steps() if word == name]


def test_images_have_plain_names_and_a_supported_python() -> None:
    least = tuple(map(int, PROJECT["project"]["requires-python"].removeprefix(">=").split(".")))
    for image in of("FROM"):
        found = re.fullmatch(r"python:(\d+)\.(\d+)-slim( AS build)?", image)
        assert found is not None
        assert (int(found[1]), int(found[2])) >= least


def test_copied_files_exist_and_are_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in ignored
    copied = {name for rest in of("COPY") if "--from" not in rest for name in rest.split()[:-1]}
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert {f"!{name}" for name in copied} == {line for line in ignored if line.startswith("!")}
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {PROJECT["project"]["readme"], *PROJECT["project"]["license-files"], *wheel["shared-data"]}
    assert needed <= copied
    assert all(package.split("/")[0] in copied for package in wheel["packages"])


def test_installed_extras_exist() -> None:
    (build, user) = of("RUN")
    extras = re.search(r'"\.\[([a-z,]+)\]"', build)
    assert extras is not None
    assert set(extras[1].split(",")) <= set(PROJECT["project"]["optional-dependencies"])
    assert "--constraint constraints.txt" in build
    assert json.loads(of("ENTRYPOINT")[0])[0] in PROJECT["project"]["scripts"]
    assert "useradd" in user


def test_user_is_not_root_and_no_port_is_exposed() -> None:
    words = [word for word, _ in steps()]
    assert int(of("USER")[0]) > 0
    assert words.index("USER") > max(place for place, word in enumerate(words) if word in ("RUN", "COPY"))
    assert "EXPOSE" not in words
    assert json.loads(of("CMD")[0]) == ["--help"]
    assert not re.search(r"0\.0\.0\.0|https?://", " ".join(rest for _, rest in steps()))
