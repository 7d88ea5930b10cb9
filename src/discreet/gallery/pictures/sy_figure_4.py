"""SY Fig. 4: Projecting K loses nothing here.

Left: K (blue) with the triangle of beliefs about ω (brown). Right: the projection of K is exactly K_Ω, since the prior is
symmetric and the data have two types (SY Thm 2): every private posterior about ω can be induced by noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.gallery import tetrahedron
from discreet.gallery.papers import NEARLY_E, figures_setting
from discreet.gallery.picture import Number
from discreet.gallery.pictures.sy_figure_2 import triangle
from discreet.geometry.labellings import extreme_points
from discreet.geometry.noise import by_transport, is_noise_optimal
from discreet.geometry.of_problem import K_of, K_Omega_of
from discreet.present.figure import Figure
from discreet.present.figures.simplex import hull, same, simplex_figure
from discreet.present.panels import beside
from discreet.present.theme import COLOURS


def draw() -> Figure:
    """The tetrahedron beside the triangle."""
    setting = figures_setting()
    corners = tetrahedron.region([float(p) for p in setting.prior], setting.edges, 1.0)
    brown = COLOURS[8]
    fill: dict[str, Any] = {"fill": brown, "fillOpacity": 0.18, "interpolate": "linear-closed"}
    layers = [
        *tetrahedron.frame(),
        tetrahedron.outline(triangle(), brown, 1.4, key="triangle", **fill),
        *tetrahedron.body(corners),
    ]
    words = f"A tetrahedron with the body K, {len(corners)} corners, cut by the triangle of beliefs about ω."
    left = Figure("K and beliefs about ω", words, tetrahedron.drawn(layers), "blue: K; brown: Δ(Ω)")
    return beside("What is left of K about the statistic", [left, simplex_figure(setting)])


def numbers() -> list[Number]:
    """The hull of the projected corners against K_Ω, and both answers about noise."""
    setting = figures_setting()
    K, K_omega = K_of(setting), K_Omega_of(setting)
    projected = np.array([[float(p) for p in setting.project(point.belief(K.prior, NEARLY_E))] for point in extreme_points(K)])
    direct = np.array([[float(p) for p in point.belief(K_omega.prior, NEARLY_E)] for point in extreme_points(K_omega)])
    return [
        Number("PK and K_Ω have the same corners", same(hull(projected), hull(direct)), True, "projected labellings"),
        Number("adding noise is optimal", is_noise_optimal(setting.problem).optimal, True, "SY Thm 2"),
        Number("the same by couplings", by_transport(setting).optimal, True, "couplings along neighbouring databases"),
    ]
