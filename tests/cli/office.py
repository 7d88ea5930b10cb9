"""A statistics office in a folder: everything that the examples of the help name, for blocks of six households.

Three states of it are kept: `planned` (problems, mechanisms, plan, data, ledger and key), `committed`, and `released`.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

PROBLEM = """\
[data]
respondents = {respondents}
values = {values}
[prior]
kind = "iid"
probabilities = {prior}
[statistic]
{statistic}
[decision]
kind = "{decision}"
actions = "integer"
[privacy]
epsilon = {epsilon}
unit = "household"
"""

PLAN = """\
dataset = "children by block"
mechanism = "places.mechanism.json"
[source]
kind = "csv"
path = "households.csv"
[cells]
keys = ["block"]
key_set = "blocks.csv"
padding = true
[recoding]
column = "children"
kind = "values"
values = [["0"], ["1"], ["2"]]
missing = 0
outside = 2
absent = 0
[unit]
name = "household"
protects = "values"
[budget]
population = "households 2026"
ledger = "ledger.db"
"""

STREETS = 24
"""Streets of four households, enough to learn a prior for three types from."""

BLOCKS = ("010000", "002100", "000000")


def problem_text(
    respondents: int,
    *,
    values: str = "[0, 1, 2]",
    prior: str = "[0.89, 0.09, 0.02]",
    statistic: str = 'kind = "sum"',
    decision: str = "squared-error",
    epsilon: str = "1.0",
) -> str:
    """A problem file of the school-planning family."""
    return PROBLEM.format(
        respondents=respondents, values=values, prior=prior, statistic=statistic, decision=decision, epsilon=epsilon
    )


def shell(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `discreet` in a folder, without a terminal and without anybody to answer questions.

    In this process, which costs a tenth of what a new one does; a command that must prove itself from a cold start is a `process`.
    """
    from discreet.cli.main import run

    told = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    with ExitStack() as during, Path(os.devnull).open(encoding="utf-8") as nobody:
        for change in (chdir(folder), redirect_stdout(told[0]), redirect_stderr(told[1])):
            during.enter_context(change)
        during.enter_context(patch.object(sys, "stdin", nobody))
        during.enter_context(patch.dict(os.environ, environment))
        code = run(list(words))
    out, err = (one.buffer.getvalue().decode() for one in told)  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(words, code, out, err)


def process(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The same in a process of its own."""
    command = [sys.executable, "-c", "from discreet.cli.main import main; main()", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600, stdin=subprocess.DEVNULL)


def succeed(folder: Path, *words: str) -> str:
    """Run `discreet` and hand back what it printed; anything but success is a failure."""
    done = shell(folder, *words)
    assert done.returncode == 0, (words, done.stderr)
    return str(done.stdout)


def plan_an_office(folder: Path) -> None:
    """Write the files of the state `planned`."""
    from discreet import design, files

    folder.mkdir(parents=True)
    counted = 'kind = "count"\nof = [1, 2]'
    (folder / "places.toml").write_text(problem_text(6), encoding="utf-8")
    (folder / "buses.toml").write_text(problem_text(6, statistic=counted, decision="absolute-error"), encoding="utf-8")
    (folder / "mine.toml").write_text('[prior]\nkind = "iid"\nprobabilities = [0.8, 0.15, 0.05]\n', encoding="utf-8")
    problem = files.read_problem(folder / "places.toml")
    for name, within in (("places", None), ("usual", "oblivious")):
        found = design.design(problem, within=within, compare=False)
        place = folder / f"{name}.mechanism.json"
        files.write_mechanism(place, found.mechanism)
        files.write_certificate(files.certificate_path(place), found.certificate)
    (folder / "table.csv").write_text("state,0,1,2\n0,3/4,1/8,1/8\n1,3/8,1/4,3/8\n2,1/8,1/8,3/4\n", encoding="utf-8")
    rows = ["i;j;p;v;p_int_ub", "0;0;1;0;1", "1;0;0.5;-1;0.5", "1;1;0.2;0;0.7", "1;2;0.1;1;0.8", "1;3;0.2;2;1",
            "2;0;0.1;-2;0.1", "2;1;0.2;-1;0.3", "2;2;0.4;0;0.7", "2;3;0.2;1;0.9", "2;4;0.1;2;1"]  # fmt: skip
    (folder / "d5v3.txt").write_text("\n".join([*rows, ""]), encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    plan_levels(folder)
    rows = [f"b{i},{children}" for i, block in enumerate(BLOCKS) for children in block]
    (folder / "households.csv").write_text("\n".join(["block,children", *rows, ""]), encoding="utf-8")
    sizes = [f"b{i},{len(block)}" for i, block in enumerate(BLOCKS)]
    (folder / "blocks.csv").write_text("\n".join(["block,size", *sizes, ""]), encoding="utf-8")
    streets = PLAN.replace("children by block", "children by street").replace('"block"', '"street"')
    streets = streets.replace("households.csv", "streets-households.csv").replace("blocks.csv", "streets.csv")
    (folder / "streets.toml").write_text(streets, encoding="utf-8")
    rows = [f"s{i},{(i * j) % 3 if i % 4 == 0 else 0}" for i in range(STREETS) for j in range(4)]
    (folder / "streets-households.csv").write_text("\n".join(["street,children", *rows, ""]), encoding="utf-8")
    sizes = [f"s{i},4" for i in range(STREETS)]
    (folder / "streets.csv").write_text("\n".join(["street,size", *sizes, ""]), encoding="utf-8")
    text = problem_text(4)
    asked = text[: text.index("[prior]")] + text[text.index("[statistic]") :]
    (folder / "question.toml").write_text(asked, encoding="utf-8")
    succeed(
        folder, "ledger", "init", "ledger.db", "--population", "households 2026", "--unit", "household", "--budget", "4",
        "--key", "publisher.pem",
    )  # fmt: skip


COUNTIES = ("north", "south", "east")


def plan_levels(folder: Path) -> None:
    """A plan by county and block, with its rows and cells, and a ledger of its own."""
    rows = [f"{COUNTIES[i]},b{i},{children}" for i, block in enumerate(BLOCKS) for children in block]
    (folder / "people.csv").write_text("\n".join(["county,block,children", *rows, ""]), encoding="utf-8")
    sizes = [f"{COUNTIES[i]},b{i},{len(block)}" for i, block in enumerate(BLOCKS)]
    (folder / "counties.csv").write_text("\n".join(["county,block,size", *sizes, ""]), encoding="utf-8")
    plan = PLAN.replace("households.csv", "people.csv").replace('["block"]', '["county", "block"]')
    plan = plan.replace("blocks.csv", "counties.csv").replace("ledger.db", "levels.db")
    (folder / "counties.toml").write_text(plan, encoding="utf-8")


def publish_levels(folder: Path) -> None:
    """The releases by-block and by-county."""
    from fractions import Fraction

    from discreet.ledger import open_ledger
    from discreet.publish import commit_batch, gather, publish
    from discreet.publish.levels import level_plans

    plan = folder / "counties.toml"
    above = level_plans(plan, [(["county"], str(folder / "usual.mechanism.json"))], folder / "levels")
    bundles = [gather(place) for place in (plan, *above)]
    with open_ledger(str(folder / "levels.db"), create=True) as book:
        book.init("pure", None)
        book.declare("households 2026", "household", Fraction(4), Fraction(0))
        commit_batch(bundles, book, None, name="levels")
        for bundle, name in zip(bundles, ("by-block", "by-county"), strict=True):
            publish(bundle, folder / name, book)
