"""Pure ε and ρ beside each other, viewed: the least loss under either promise at equal ρ, and at equal ε for a small δ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from discreet.design.questions.frontier import Point
from discreet.design.questions.two_promises import TwoPromises
from discreet.model.promises import LETTERS
from discreet.numerics.digits import about, at_most, number_at_least, number_at_most
from discreet.views.view import BREAK, Block, Grid, Sentence, View


def two_promises_view(found: TwoPromises) -> View:
    """A row for each level: what it implies, and both sides of the least loss under each promise."""
    own, other = (side.problem.promise for side in (found.own, found.other))
    facts = {
        "beside": {
            "promise": own.kind,
            "other": other.kind,
            "delta": found.delta,
            "levels": [
                {
                    own.keys[0]: equal.level,
                    "implied_rho": number_at_most(equal.rho),
                    "implied_epsilon": number_at_most(equal.epsilon),
                    "own": _sides(here, own.keys[0]),
                    "same_rho": _sides(by_rho, other.keys[0]),
                    "same_epsilon": _sides(by_epsilon, other.keys[0]),
                }
                for equal, here, by_rho, by_epsilon in found.rows
            ],
        }
    }
    return View(facts, tuple(_told(found, facts["beside"])))


def _sides(point: Point, key: str) -> dict[str, Any]:
    return {key: point.level, "loss": number_at_most(-point.value), "lower_bound": number_at_least(-point.bound)}


def _told(found: TwoPromises, facts: dict[str, Any]) -> Iterator[Block]:
    own, other = (LETTERS[side.problem.promise.keys[0]] for side in (found.own, found.other))
    small = f"{float(found.delta):g}"
    yield BREAK
    yield Grid(
        (own, "loss", f"same ρ: {other}", "loss", f"same ε at {small}: {other}", "loss"),
        [
            (
                *(about(here.level), at_most(-here.value, 4)),
                *(about(by_rho.level), at_most(-by_rho.value, 4)),
                *(about(by_epsilon.level), at_most(-by_epsilon.value, 4)),
            )
            for _, here, by_rho, by_epsilon in found.rows
        ],
        left=0,
    )
    yield Sentence(
        f"Both promises beside each other. A promise of ε implies ρ = ε·tanh(ε/2), and both imply an ε at δ = {small}: beside each "
        f"{own} stands the {other} that implies the same, and what the best certified mechanism loses there at most."
    )
    words = [w for kind in ("same_rho", "same_epsilon") if (w := _verdict(facts, kind, small))]
    yield from (Sentence(w) for w in words)


def _verdict(facts: dict[str, Any], kind: str, small: str) -> str:
    """Which promise is proved to allow less loss at equal terms, at how many levels."""
    names = {"pure": "pure ε", "zcdp": "ρ"}
    own, other = names[facts["promise"]], names[facts["other"]]
    levels = facts["levels"]
    ahead = sum(row["own"]["loss"] < row[kind]["lower_bound"] for row in levels)
    behind = sum(row[kind]["loss"] < row["own"]["lower_bound"] for row in levels)
    terms = "At equal ρ" if kind == "same_rho" else f"At equal (ε, δ = {small})"
    said = [f"{name} allows less loss at {n} of {len(levels)} levels" for name, n in ((own, ahead), (other, behind)) if n]
    return f"{terms}, proved: {' and '.join(said)}." if said else f"{terms} neither promise is proved to allow less loss."
