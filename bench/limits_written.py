"""Problems for `bench/limits.py` that somebody could write down: cells that differ, values far apart, several decision makers.

Three types under a Dirichlet of a hundred to a thousand respondents can be listed, just so, and no program on them ends in time.
"""

from __future__ import annotations

from collections.abc import Iterator

from zoo import ABSOLUTE, MATCH, PINBALL, SQUARED, THREE, WHOLE, Document, falling, problem, threshold

Case = tuple[str, Document, list[str], float]
RARE = {"kind": "exchangeable", "concentration": ["16", "2", "0.1"]}
RARER = {"kind": "exchangeable", "concentration": ["16", "0.3", "0.1"]}


def written(seconds: float) -> Iterator[Case]:
    """Name, problem, arguments, and how many searches they are."""

    def asked(name: str, document: Document, *more: str, searches: float = 1.0) -> Case:
        return name, document, ["design", "PROBLEM", "--seconds", str(seconds), *more], searches

    cells = problem(181, (0, 1, 5), RARE)
    two = [{**SQUARED, "weight": "1"}, {**PINBALL, "weight": "10"}]
    steps = [{**threshold(k), "weight": f"1/{k}"} for k in (20, 40, 80)]
    kinds = [{"weight": "1/8", "concentration": [f"{k + 1}/7", "1/5", "2", "1/9", "1/30"]} for k in range(8)]
    wide = {"kind": "mixture", "components": kinds}
    brackets = (0, 1, 10, 1000, 10**6)
    between = {"kind": "squared-error", "actions": {"from": 300, "to": 310}}
    yield asked("cells that differ 0,1,5 N=181", cells)
    yield asked("cells that differ 0,4,5 N=164 at 2", problem(164, (0, 4, 5), RARER, epsilon=2))
    yield asked("cells that differ 0,1,100 N=200", problem(200, (0, 1, 100), RARE))
    yield asked("cells that differ 0,1,100 N=1000 absolute", problem(1000, (0, 1, 100), RARE, ABSOLUTE, epsilon="1/10"))
    yield asked("cells that differ whole N=400 at 4", problem(400, (0, 1, 5), RARE, WHOLE, epsilon=4))
    yield asked("cells that differ pinball N=100", problem(100, (0, 1, 5), RARE, PINBALL, epsilon="1/10"))
    yield asked("cells that differ two makers N=300", problem(300, (0, 1, 5), RARE, two))
    yield asked("two makers 0,1,300 N=600", problem(600, (0, 1, 300), THREE, two))
    yield asked("cells that differ two makers 0,1,300 N=600", problem(600, (0, 1, 300), RARE, two))
    yield asked("cells that differ rho N=181 wide", {**problem(181, (0, 1, 100), RARE), "privacy": {"rho": "1/4"}})
    yield asked("cells that differ hedged N=181", cells, "--hedge", "50%")
    yield asked("cells that differ oblivious N=150", problem(150, (0, 1, 5), RARE), "--within", "oblivious")
    yield asked("cells that differ guesses N=240", problem(240, (0, 1, 5), RARE, MATCH, epsilon=4))
    yield asked("eight kinds of cell, values to 10^6", problem(500, brackets, wide))
    yield asked("eight kinds of cell, two makers", problem(100, brackets, wide, two))
    yield asked("three thresholds N=150", problem(150, (0, 1, 5), RARE, steps))
    yield asked("one decision of many T=40 N=60", problem(60, range(41), falling(41), threshold(120)))
    yield asked("actions from 300 to 310 T=5 N=400", problem(400, range(6), falling(6), between))
    yield asked("means over odd values N=365", problem(365, ("1/3", "7/11", "2.718"), RARE, statistic={"kind": "mean"}))
    yield asked(
        "count of three T=50 N=200",
        problem(
            200, range(51), {"kind": "exchangeable", "concentration": ["1/5"] * 51}, statistic={"kind": "count", "of": [3, 7, 49]}
        ),
    )
    sized = {**RARE, "size": ["1/301"] * 301}
    yield asked("unbounded 0..300 0,1,100", problem({"from": 0, "to": 300}, (0, 1, 100), sized, neighbours="add-remove-one"))
    yield asked(
        "unbounded 0..300 0,1,5 threshold",
        problem({"from": 0, "to": 300}, (0, 1, 5), sized, threshold(60), neighbours="add-remove-one"),
    )
    rows = [[f"{k + 1}/90", "9/90", f"{80 - k}/90"] for k in range(80)]
    yield asked(
        "laws of their own 0,1,100 N=80", problem(80, (0, 1, 100), {"kind": "independent", "probabilities": rows}, ABSOLUTE)
    )
    yield asked("radius cells that differ", cells, "--radius", "0.05", "--workers", "1", searches=2)
    eighths = {"kind": "squared-error", "actions": {"from": 0, "to": 7, "step": "1/8"}}
    yield asked("mean of 2,000 in eighths", problem(2000, (0, 1, 7), RARE, eighths, statistic={"kind": "mean"}))
    rare = {"kind": "count", "of": [6]}
    yield asked("guesses of a count T=6 N=100,000", problem(10**5, range(7), falling(7), MATCH, statistic=rare))
    steep = {"kind": "expression", "actions": {"from": 0, "to": 300, "step": 3}, "payoff": "-abs(omega - a)*(1 + a/100)"}
    yield asked("steep errors 0,1,50 N=900", problem(900, (0, 1, 50), RARE, steep))
    others = [RARER, {"kind": "iid", "probabilities": [".8", ".15", ".05"]}]
    yield asked("priors of rare types N=181", {**cells, "priors": others}, "--priors", "PRIORS", searches=3)
    within = ["--workers", "1", "--limit", str(seconds), "--sizes"]
    yield asked("family of cells that differ", cells, *within, "50, 120, 181, 240")
    levels = ["frontier", "PROBLEM", "--workers", "1", "--points", "3", "--against", "none", "--seconds", str(seconds)]
    yield "frontier of cells that differ", cells, levels, 3
