"""One mechanism for several priors, viewed: its losses beside the plain design's, and both sides of the worst regret."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from discreet.design.questions.robust import KNOWN, Robust
from discreet.numerics.digits import about, at_least, at_most, between, number_at_least, number_at_most
from discreet.views.view import Block, Grid, Sentence, View, mind, proved

HEADS = ("if this prior is true", "robust", "plain", "best there", "regret at most")


def robust_view(found: Robust) -> View:
    """The three losses at each prior, then what is proved."""
    rows: list[dict[str, Any]] = []
    for prior, weight, loss, best, plain in zip(
        found.priors, found.weights, found.proof.losses, found.proof.best, found.plain, strict=True
    ):
        chances = getattr(prior, "probabilities", None)
        rows.append(
            {
                "kind": prior.kind,
                "probabilities": [float(p) for p in chances] if isinstance(chances, tuple) else None,
                "weight": float(weight),
                "loss": number_at_most(loss),
                "best": [number_at_least(best[0]), number_at_most(best[1])],
                "plain": plain,
                "regret": number_at_most(loss - best[0]),
            }
        )
    facts = {
        "priors": rows,
        "worst_regret": number_at_most(found.proof.worst),
        "least_worst_regret": number_at_least(found.proof.least),
        "price": found.price,
        "rounds": found.rounds,
        "status": found.status,
    }
    return View(facts, tuple(_told(found, rows)))


def _told(found: Robust, rows: list[dict[str, Any]]) -> Iterator[Block]:
    yield Grid(
        HEADS,
        [
            (_named(r), at_most(r["loss"]), about(r["plain"], 6), between(*r["best"], words="{} to {}"), at_most(r["regret"]))
            for r in rows
        ],
    )
    yield Sentence(
        "Expected losses: of this mechanism (robust), of the one designed for the first prior alone (plain), and of the best "
        "mechanism for each prior. Regret is what robust loses beyond the best, if its recommendations are followed."
    )
    yield proved(
        f"if recommendations are followed, the worst regret is at most {at_most(found.proof.worst)}, and no "
        f"{found.mechanism.guarantee.promise.adjective} mechanism has less than {at_least(found.proof.least)}. Readers who know "
        "which prior is true and reply to it themselves lose no more."
    )
    for row in rows[1:]:
        change = row["plain"] - row["loss"]
        words = f"saves {about(change)}" if change >= 0 else f"costs {about(-change)}"
        yield Sentence(f"Against the plain design it {words} if {_named(row)} is true.")
    if found.price >= 0:
        yield Sentence(f"It costs {about(found.price)} if {_named(rows[0])} is true, for which the plain design was made.")
    else:
        yield Sentence(f"It saves {about(-found.price)} even if {_named(rows[0])} is true, for which the plain design was made.")
    if found.status == KNOWN:
        yield mind(
            "no mechanisms were mixed: there are too many states to prove that in the time, several decide, or respondents differ. "
            "Of the best for each prior alone and plain noise, the one with the least worst regret is published as it is."
        )
    if found.status == "cancelled":
        yield mind("stopped before both sides met; what is printed is proved. More seconds allow for more.")


def _named(row: dict[str, Any]) -> str:
    chances = row["probabilities"]
    return str(row["kind"]) if chances is None else "(" + ", ".join(about(p, 3) for p in chances) + ")"
