"""Comparison of a benchmark between an earlier commit and these sources, alternating on one machine.

Times of two machines, or of one on two days, are not comparable. Therefore the earlier commit is checked out
(``git worktree``), and its own benchmark of that name runs there, with this environment's libraries.

``python -m benchmarks.since 31842e9 lattice --turns 3``; ``--options="--repeats 3"`` is passed to the
benchmark. A case with another name then is given by ``--same "optimal, loss=Adult: optimal, loss"``.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.adult import data_folder
from benchmarks.harness import ROOT, Benchmark, parser

Medians = dict[str, float]
"""The median of each case of one run, in seconds."""


@contextmanager
def checked_out(commit: str, repository: Path = ROOT) -> Iterator[Path]:
    """Check out a commit in a folder for the context; ``CalledProcessError`` for an unknown one."""
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder) / "then"
        git = ["git", "-C", str(repository), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(there), commit], check=True)
        try:
            yield there
        finally:
            subprocess.run([*git, "remove", "--force", str(there)], check=True)


def run(tree: Path, name: str, arguments: Sequence[str] = ()) -> Medians:
    """Return the medians of a tree's own benchmark."""
    folders = os.pathsep.join([str(tree / "src"), str(tree)])
    command = [sys.executable, "-m", f"benchmarks.{name}", "--json", *arguments]
    environment = {**os.environ, "PYTHONPATH": folders, "DISCREET_COMPILE": "wait"}
    done = subprocess.run(command, cwd=tree, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return {case: times["median"] for case, times in json.loads(done.stdout)["seconds"].items()}


def pairs(then: Sequence[str], now: Sequence[str], same: Mapping[str, str]) -> dict[str, str]:
    """Pair the cases of both by their present name: those of one name, and those listed as the ``same``."""
    renamed = {new: old for old, new in same.items()}
    return {new: renamed.get(new, new) for new in now if renamed.get(new, new) in then}


def renamed(text: str) -> tuple[str, str]:
    """Parse a case's old and new name from ``THEN=NOW``."""
    then, equal, now = text.partition("=")
    if not equal:
        raise argparse.ArgumentTypeError(f"'{text}' is no THEN=NOW")
    return then, now


def main() -> None:
    """Run both in turn and report."""
    options = parser(__doc__)
    options.add_argument("commit", help="an earlier commit")
    options.add_argument("benchmark", help="a benchmark that both have")
    options.add_argument("--turns", type=int, default=3, help="runs of each (default 3)")
    options.add_argument(
        "--same", nargs="+", type=renamed, default=[], metavar="THEN=NOW", help="cases of two names"
    )
    options.add_argument("--options", default="", help="options of the benchmark, in one text")
    chosen = options.parse_args()
    os.environ["DISCREET_DATA"] = str(data_folder())  # of both, wherever they lie
    runs: dict[str, list[Medians]] = {"then": [], "now": []}
    with checked_out(chosen.commit) as there:
        for _ in range(chosen.turns):
            for side, tree in (("then", there), ("now", ROOT)):
                runs[side].append(run(tree, chosen.benchmark, shlex.split(chosen.options)))
                print(f"  {side}: run", file=sys.stderr, flush=True)
    arguments = f" {chosen.commit} {chosen.benchmark}"
    bench = Benchmark("since", f"{chosen.benchmark}, then ({chosen.commit}) and now", arguments)
    for new, old in pairs(list(runs["then"][0]), list(runs["now"][0]), dict(chosen.same)).items():
        for side, case in (("then", old), ("now", new)):
            bench.record(f"{new}, {side}", [each[case] for each in runs[side]])
        bench.ratio(f"{new}, now", f"{new}, then")
    bench.report(chosen)


if __name__ == "__main__":
    main()
