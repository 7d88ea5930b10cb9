"""The attacker's view of one mechanism in sentences, from its own profile: for whatever it promises, pure or not."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from discreet.interpret.sentences import attacker_sentence
from discreet.model.mechanism import Mechanism
from discreet.numerics.digits import percent_at_most, percent_given
from discreet.views.view import Fact, View


def attacker_view(mechanism: Mechanism, profile: Mapping[str, Any], sure: float) -> View:
    """What the best attacker can do with one published value; `profile` holds the facts of `profile_view`."""
    attack, unit = profile["attack"], mechanism.problem.unit
    alpha = float(attack["alpha"])
    sentences = [
        f"With false alarms at {percent_given(alpha)}, no test notices a difference of one {unit} more than "
        f"{percent_at_most(attack['success'][1])} of the time.",
        f"Of two databases that differ in one {unit} and are equally likely beforehand, the best attacker names the true one "
        f"at most {percent_at_most(attack['even_guess'][1])} of the time.",
    ]
    shift = profile["epsilon"]
    if isfinite(shift):
        neighbours = mechanism.problem.neighbours.name
        sentences.insert(0, attacker_sentence(sure, shift, neighbours=neighbours))
    else:
        sentences.append("Some values, however rare, may make an attacker certain: no largest shift of the odds is promised.")
    return View({"sure": sure, "log_odds": shift, "sentences": sentences}, tuple(Fact("", text) for text in sentences))
