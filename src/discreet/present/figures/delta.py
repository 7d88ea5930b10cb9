"""The privacy profile: the smallest δ with which a mechanism keeps each (ε, δ), beside what pure ε-DP alone promises.

For ε′ ≤ ε a pure ε promise allows δ(ε′) = 1 − (e^ε′ + 1)/(e^ε + 1), attained by randomised response (CY). The curve of a
mechanism lies on it or below; where it touches zero is its tight ε.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, isfinite, tanh
from typing import Any

import numpy as np

from discreet.currencies.profiles import Profile
from discreet.errors import InputError
from discreet.numerics.digits import at_most, given
from discreet.present.figure import Figure
from discreet.present.legends import line_legend
from discreet.present.theme import HEIGHT, WIDTH, series_scales

OWN = "this mechanism"
PROMISE = "all that ε-DP allows"
POINTS = 160
X_TITLE = "privacy loss ε (nats)"
Y_TITLE = "slack δ (probability)"


def delta_figure(profiles: Profile | Mapping[str, Profile], promised: float | None = None) -> Figure:
    """δ(ε) of one mechanism or of several by name; `promised` is the ε whose worst case is drawn beside them."""
    named = named_profiles(profiles)
    ends = [p.epsilon.upper for p in named.values() if isfinite(p.epsilon.upper)]
    top = max([*ends, *([promised] if promised else []), 1e-6]) if ends or promised else 5.0
    grid = np.linspace(0.0, top, POINTS)
    curves: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for name, profile in named.items():
        epsilons = np.unique(np.append(grid, min(profile.epsilon.upper, top)))
        curves[name] = epsilons, profile.deltas(epsilons)
    if promised:
        worst = np.maximum(1 - (np.exp(grid) + 1) / (exp(promised) + 1), 0.0)
        curves[PROMISE] = grid, worst
    rows = [
        {"epsilon": float(e), "delta": float(d), "way": name}
        for name, (epsilons, deltas) in curves.items()
        for e, d in zip(epsilons, deltas, strict=True)
    ]
    scales = series_scales(list(curves))
    legend = line_legend(orient="top", columns=2)
    body: dict[str, Any] = {
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": rows},
        "mark": {"type": "line", "strokeWidth": 2.2},
        "encoding": {
            "x": {"field": "epsilon", "type": "quantitative", "title": X_TITLE},
            "y": {"field": "delta", "type": "quantitative", "title": Y_TITLE},
            "color": {"field": "way", "type": "nominal", "scale": scales["color"], "legend": legend},
            "strokeDash": {"field": "way", "type": "nominal", "scale": scales["strokeDash"], "legend": legend},
        },
    }
    subtitle = "a release is (ε, δ)-private for every point on or above its curve"
    return Figure("How much privacy, how surely", alt_text(named, promised), body, subtitle)


def named_profiles(profiles: Profile | Mapping[str, Profile]) -> Mapping[str, Profile]:
    """One profile under its usual name, or those given."""
    named = {OWN: profiles} if isinstance(profiles, Profile) else dict(profiles)
    if not named:
        raise InputError("There is no mechanism to draw", found="no profile", allowed="one or more", remedy="give a profile")
    return named


def alt_text(named: Mapping[str, Profile], promised: float | None) -> str:
    """The curves in words: δ at ε = 0 and where each reaches zero."""
    words = []
    for name, profile in named.items():
        start, tight = profile.delta_for_epsilon(0).upper, profile.epsilon.upper
        end = f"reaches 0 at ε = {at_most(tight, 4)}" if isfinite(tight) else "never reaches 0"
        words.append(f"{name} starts at δ = {at_most(start, 4)} and {end}")
    if promised:
        words.append(f"the worst that ε = {given(promised)} allows starts at δ = {at_most(tanh(promised / 2), 4)}")
    return f"Falling curves of δ against ε: {'; '.join(words)}."
