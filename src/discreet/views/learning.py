"""What was learned, with what share of ε or ρ and why, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.design.questions.family import FamilyDesign
from discreet.learning.fit import Learned
from discreet.learning.split import Considered, LearningShare
from discreet.model.promises import Promise
from discreet.numerics.digits import (
    about,
    at_least,
    at_most,
    given,
    number_at_least,
    number_at_most,
    percent_about,
    percent_given,
)
from discreet.publish.agreement import Agreement
from discreet.publish.verdict import ReleaseVerdict
from discreet.views.agreement import agreement_view
from discreet.views.view import BREAK, Block, Fact, Grid, Mood, Sentence, View, mind

SHOWN = 12
"""Strata of which a table shows the prior."""


def split_view(halves: LearningShare, total: Promise) -> View:
    """The share of the promise for learning and everything that was considered."""
    chosen, letter = halves.chosen, total.letter
    considered = [_considered(one) for one in halves.considered]
    facts = {
        **total.numbers,
        "share": halves.share,
        "share_chosen_by": "rule" if halves.auto else "publisher",
        "considered": considered,
    }
    how = "chosen by rule" if halves.auto else "as asked"
    told: list[Block] = [
        Fact("share", f"{percent_given(halves.share)} of {letter} = {given(total.level)} is spent on learning ({how})"),
        Fact(
            "expected",
            f"less {letter} costs {percent_about(chosen.less_epsilon)} of the loss, a prior that is still uncertain "
            f"{percent_about(chosen.uncertainty)}: averages over possible truths, nothing being known yet",
        ),
        Fact(
            "against",
            f"noise at face value with the whole {letter}: on average {percent_about(chosen.against_noise)} of its loss, "
            f"{percent_about(chosen.worst)} at the worst of these truths",
        ),
    ]
    if halves.auto:
        rows = [
            (
                percent_given(one.share),
                percent_about(one.less_epsilon),
                percent_about(one.uncertainty),
                percent_about(one.cost),
            )
            for one in halves.considered
        ]
        told += [BREAK, Grid(("share", f"less {letter}", "uncertain prior", "together"), rows, 0), BREAK]
    if chosen.worst > 1:
        told.append(
            mind(
                f"Learning may lose up to {percent_about(chosen.worst - 1)} more than noise at face value with the whole {letter}."
            )
        )
    return View(facts, tuple(told))


def _considered(one: Considered) -> dict[str, Any]:
    return {
        "share": one.share, "less_epsilon": one.less_epsilon, "uncertainty": one.uncertainty,
        "against_noise": one.against_noise, "worst_against_noise": one.worst,
    }  # fmt: skip


def learned_view(found: Mapping[tuple[str, ...], Learned], learned: Path) -> View:
    """The prior of each stratum with its uncertainty."""
    strata = [
        {
            "stratum": list(s), "probabilities": list(one.probabilities), "deviations": list(one.deviations),
            "correlation": one.correlation, "correlations": list(one.correlations), "concentration": one.concentration,
            "kinds": None if one.kinds is None else asdict(one.kinds),
        }
        for s, one in found.items()
    ]  # fmt: skip
    told: list[Block] = [
        Fact(
            "learned",
            f"{learned} (a release like any other: it can be verified, and is named by every prior)",
        )
    ]
    rows = [
        (
            " / ".join(s) or "all cells",
            ", ".join(f"{about(float(p), 3)} ± {about(d, 1)}" for p, d in zip(one.probabilities, one.deviations, strict=True)),
            _cells(one),
        )
        for s, one in list(found.items())[:SHOWN]
    ]
    told += [BREAK, Grid(("stratum", "probability of each type", "cells"), rows, 3)]
    if len(found) > SHOWN:
        told.append(Sentence(f"The first {SHOWN} of {len(found)} strata.", mood=Mood.SOFT))
    return View({"learned": learned, "strata": strata}, tuple(told))


def _cells(one: Learned) -> str:
    """Whether cells are alike, differ, or are of several kinds."""
    if one.kinds is not None:
        found = zip(one.kinds.weights, one.kinds.shares, one.kinds.deviations, strict=True)
        told = "; ".join(
            f"{percent_about(w)} ± {percent_about(dw)} with a share of {about(q, 3)} ± {about(dq, 1)}" for w, q, (dw, dq) in found
        )
        return f"of {len(one.kinds.weights)} kinds: {told}"
    return "alike" if one.concentration is None else f"differ: concentration {about(float(one.concentration), 3)}"


def unread_view(learned: Path) -> View:
    """A learning release from which nothing was computed yet."""
    return View({"learned": learned}, (Fact("learned", str(learned), whole=True),))


def used_view(release: Path, verdict: ReleaseVerdict, looked: Agreement) -> View:
    """The release with the learned prior: whether it verifies, whether its cells look as the prior said, and what to do next."""
    words = "its prior follows from the learning release: enforced" if verdict.holds else "this release fails"
    agreed = agreement_view(looked, release)
    return View(
        {"release": release, "holds": verdict.holds, "looks_right": agreed.facts["looks_right"]},
        (
            Fact("release", f"{release}; verified: {words}"), BREAK, *agreed.told,
            Sentence(f"Next: discreet verify {release} · discreet report {release}", whole=True),
        ),
    )  # fmt: skip


def designed_view(designs: Mapping[tuple[str, ...], FamilyDesign]) -> View:
    """How many mechanisms there are, and what they are expected to lose under what was learned."""
    members = [made for family in designs.values() for made in family.made]
    cells = sum(sum(family.cells.values()) for family in designs.values())
    loss = sum(family.loss_per_cell * sum(family.cells.values()) for family in designs.values()) / cells
    gap = max(made.relative_gap for made in members)
    facts = {
        "members": len(members),
        "loss": loss,
        "gap": gap,
        "cached": sum(made.cached for made in members),
    }
    words = f"{len(members)} mechanisms, expected loss {about(loss)} per cell if the prior is right, "
    words += f"proved within {percent_about(gap)} of the best"
    return View(facts, (BREAK, Fact("designs", words))) + _hedged_view(designs)


def _hedged_view(designs: Mapping[tuple[str, ...], FamilyDesign]) -> View:
    """What designs that were hedged over the whole confidence set lose more than the best, per cell, at most."""
    held = [(family.cells.get(made.low, 0), made.regret) for family in designs.values() for made in family.made]
    known = [(count, regret) for count, regret in held if regret is not None]
    if not known:
        return View({}, ())
    cells = sum(count for count, _ in known)
    worst, least, unhedged, price = (
        sum((count * getattr(regret, name) for count, regret in known), Fraction(0)) / cells
        for name in ("worst", "least", "unhedged", "price")
    )
    unfinished = sum(not regret.finished for _, regret in known)
    facts = {
        "hedged": {
            "worst_regret": number_at_most(worst), "least_worst_regret": number_at_least(least),
            "unhedged": number_at_most(unhedged), "price": number_at_most(price), "unfinished": unfinished,
        }
    }  # fmt: skip
    words = f"at every prior in the confidence set at most {at_most(worst)} per cell more than the best mechanism for that prior "
    words += f"(the design alone: {at_most(unhedged)}); no mechanism has less than {at_least(least)}; "
    words += f"costs {at_most(price)} if the prior is right"
    blocks: list[Block] = [Fact("hedged", words)]
    if unfinished:
        blocks.append(mind(f"For {unfinished} sizes both sides are not near each other yet: allow more time with --seconds."))
    return View(facts, tuple(blocks))
