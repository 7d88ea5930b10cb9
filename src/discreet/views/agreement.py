"""Whether published cells look as their prior said."""

from __future__ import annotations

from pathlib import Path

from discreet.numerics.digits import about, percent_about
from discreet.publish.agreement import ALARM, Agreement
from discreet.views.view import Fact, Mood, Sentence, View, mind


def agreement_view(found: Agreement, release: Path) -> View:
    """Level, spread and coverage of the published cells against the prior, and what follows."""
    facts = {
        "release": release, "cells": found.cells, "looks_right": found.holds,
        "level": found.level, "shift": found.shift, "spread": found.spread, "variance_ratio": found.ratio,
        "coverage": found.coverage, "covered": found.covered, "promised": found.promised, "alarm": ALARM,
    }  # fmt: skip
    told = [
        Fact("cells", f"{found.cells:,}"),
        Fact(
            "level",
            f"published cells lie {about(found.shift, 3)} deviations from the prior's mean on average ({_far(found.level)})",
        ),
        Fact(
            "spread",
            f"they vary {about(found.ratio, 3)} times as much as the prior says ({_far(found.spread)})",
        ),
        Fact(
            "coverage",
            f"{percent_about(found.covered)} lie where the prior put {percent_about(found.promised)} ({_far(found.coverage)})",
        ),
    ]
    if found.holds:
        words = "Nothing in the published values contradicts the prior."
        return View(facts, (*told, Sentence(words, "Looks right:", Mood.GOOD)))
    words = f"The cells do not look as the prior said: beyond {ALARM} deviations in one of these. {_remedy(found)}"
    return View(facts, (*told, mind(words)))


def _far(deviations: float) -> str:
    return f"{about(deviations, 2)} deviations"


def _remedy(found: Agreement) -> str:
    if found.spread > ALARM:
        return "Cells differ more than was believed: intervals are too short; learn the prior, or lower its concentration."
    if abs(found.level) > ALARM:
        return "The prior's mean is off: recommended values are pulled the wrong way; learn the prior."
    return "Read the mechanism under a prior of your own."
