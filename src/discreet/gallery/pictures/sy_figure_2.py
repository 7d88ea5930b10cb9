"""SY Fig. 2: From beliefs about the database to beliefs about the statistic.

The projection P adds up the probabilities of databases with the same ω. Beliefs about ω are drawn inside the tetrahedron as the
triangle in which (0,1) and (1,0) are equally likely; a posterior beside the triangle is carried onto it.
"""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np

from discreet.gallery import tetrahedron
from discreet.gallery.papers import NEARLY_E, figures_setting
from discreet.gallery.picture import Number
from discreet.geometry.labellings import extreme_points
from discreet.geometry.of_problem import K_of
from discreet.present.figure import Figure
from discreet.present.theme import COLOURS

LABELS = (1, 2, 0, 1)
"""The extreme point of K that is drawn: (0,1) as likely as privacy allows against the others."""


def embedded(about: np.ndarray) -> np.ndarray:
    """A belief about ω as one about databases: both with ω = 1 get half."""
    return np.array([about[0], about[1] / 2, about[1] / 2, about[2]])


def posterior() -> tuple[np.ndarray, np.ndarray]:
    """The extreme point and its projection."""
    K = K_of(figures_setting())
    point = next(p for p in extreme_points(K) if p.exponents == LABELS).belief(K.prior, NEARLY_E)
    return np.array([float(p) for p in point]), np.array([float(p) for p in figures_setting().project(point)])


def triangle() -> np.ndarray:
    """The corners of Δ(Ω) in the tetrahedron, closed."""
    return np.array([embedded(row) for row in np.eye(3)[[0, 1, 2, 0]]])


def draw() -> Figure:
    """A tetrahedron, the triangle in it, and one posterior with its image."""
    point, about = posterior()
    image = embedded(about)
    brown = COLOURS[8]
    fill: dict[str, Any] = {"fill": brown, "fillOpacity": 0.15, "interpolate": "linear-closed"}
    layers = [
        *tetrahedron.frame(),
        tetrahedron.outline(triangle(), brown, 1.4, key="triangle", **fill),
        tetrahedron.outline(np.array([point, image]), COLOURS[0], 1.4, dash=(3, 3), key="projection"),
        *tetrahedron.dots(np.array([point]), COLOURS[1], words=["π"], dx=-10),
        *tetrahedron.dots(np.array([image]), COLOURS[2], "square", words=["Pπ"], dy=14),
    ]
    told = ", ".join(f"{p:.3f}" for p in point)
    alt = (
        f"A tetrahedron of beliefs about four databases with the triangle of beliefs about ω inside. The posterior π = ({told}) is "
        f"carried along a dashed line to Pπ = ({', '.join(f'{p:.3f}' for p in about)}) about ω = 0, 1, 2."
    )
    return Figure("A posterior and its projection", alt, tetrahedron.drawn(layers), "brown: beliefs about ω = θ1 + θ2")


def numbers() -> list[Number]:
    """The projection by its formula."""
    point, about = posterior()
    total = exp(2) + 4 * exp(1) + 1
    return [
        Number("probability of ω = 1 after π", about[1], (exp(2) + 1) / total, "(e² + 1)/(e² + 4e + 1)"),
        Number("the same as a sum", about[1], point[1] + point[2], "π(0,1) + π(1,0)"),
        Number("odds of (0,1) against (1,0)", point[1] / point[2], exp(2), "e²: two steps of ε apart", 1e-8),
    ]
