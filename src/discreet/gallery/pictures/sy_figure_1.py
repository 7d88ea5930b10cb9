"""SY Fig. 1: The posteriors that privacy allows.

Two respondents of two types; beliefs about the four databases fill a tetrahedron, and each pair of neighbours cuts a wedge from
it. Left: what may be learned about the second respondent when the first has type 0 is bounded. Middle: the same for the first,
whose wedge is drawn in green, and both together in blue. Right: all four pairs of neighbours leave K. It reaches further along
(0,0) and (1,1), which are no neighbours, than along the others.
"""

from __future__ import annotations

from math import exp

import numpy as np

from discreet.gallery import tetrahedron
from discreet.gallery.papers import NEARLY_E, figures_setting
from discreet.gallery.picture import Number
from discreet.geometry.labellings import extreme_points
from discreet.geometry.of_problem import K_of
from discreet.present.figure import Figure
from discreet.present.theme import COLOURS

FIRST, SECOND = (0, 2), (0, 1)
"""Who changes when the other has type 0: databases are numbered (0,0), (0,1), (1,0), (1,1)."""


def region(*pairs: tuple[int, int]) -> np.ndarray:
    """Beliefs whose odds between these pairs move by at most ε = 1."""
    return tetrahedron.region([float(p) for p in figures_setting().prior], pairs, 1.0)


def draw() -> Figure:
    """Three tetrahedra."""
    prior = tetrahedron.dots(np.array([[float(p) for p in figures_setting().prior]]), COLOURS[0], "cross")
    wedge = [
        tetrahedron.outline(ring, COLOURS[3], 1.6, key=f"wedge {i}") for i, ring in enumerate(tetrahedron.faces(region(FIRST)))
    ]
    panels = {
        "the second respondent, θ1 = 0": tetrahedron.body(region(SECOND)),
        "and the first, θ2 = 0": [*tetrahedron.body(region(FIRST, SECOND)), *wedge],
        "K: all neighbours": tetrahedron.body(region(*figures_setting().edges)),
    }
    shown = [
        {"title": {"text": title, "fontSize": 13}, **tetrahedron.drawn([*tetrahedron.frame(), *layers, *prior])}
        for title, layers in panels.items()
    ]
    alt = (
        "Three tetrahedra of beliefs about (0,0), (0,1), (1,0) and (1,1). One bound leaves a wedge with 4 corners, two bounds a "
        "body with 5, and all four bounds leave K with 6 corners around the prior, none of them certain of anything."
    )
    return Figure("What may be believed about the database at ε = 1", alt, {"hconcat": shown, "spacing": 8}, "cross: the prior")


def numbers() -> list[Number]:
    """Corners by half-spaces, by hand and by labellings."""
    K = K_of(figures_setting())
    labelled = np.array(sorted([float(p) for p in point.belief(K.prior, NEARLY_E)] for point in extreme_points(K)))
    corners = region(*K.edges)
    least = 1 / (exp(2) + exp(1) + 1)
    return [
        Number("corners of the wedge", len(region(SECOND)), 4, "two corners of the tetrahedron, two points on a side"),
        Number("corners under two bounds", len(region(FIRST, SECOND)), 5, "one corner of the tetrahedron, four points on a face"),
        Number("corners of K", len(corners), len(labelled), "labellings of the square, discreet.geometry.extreme_points"),
        Number("distance between both lists", float(np.abs(corners - labelled).max()), 0, "the same points", 1e-8),
        Number("the least probability in K", float(corners[:, [0, 3]].min()), least, "1/(e² + e + 1)"),
    ]
