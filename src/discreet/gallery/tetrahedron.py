"""Beliefs about four databases, drawn as points of a tetrahedron seen from one side (SY Figs 1, 2 and 4).

A belief is a point with barycentric coordinates; the corner of a database is certainty about it. A region is the polytope
{ π ≥ 0 : π(i)/π0(i) ≤ e^ε π(j)/π0(j) for the given pairs }; its corners come from the half-spaces alone, another road than the
labellings of `geometry`. Faces that look away are drawn first.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, exp, pi, sin, sqrt
from typing import Any

import numpy as np

from discreet.present.theme import COLOURS

CORNERS = np.array([[-sqrt(2), 0.0, -1.0], [0.0, sqrt(2), 1.0], [0.0, -sqrt(2), 1.0], [sqrt(2), 0.0, -1.0]])
"""Where (0,0), (0,1), (1,0) and (1,1) stand: the first and the last below, the others above."""
ACROSS, ABOVE = 0.31 * pi, 0.08 * pi
VIEW = np.array(
    [
        [sin(ACROSS), -cos(ACROSS), 0.0],
        [sin(ABOVE) * cos(ACROSS), sin(ABOVE) * sin(ACROSS), cos(ABOVE)],
    ]
)
TOWARDS = np.cross(VIEW[0], VIEW[1])
"""The direction of the eye, seen from the middle."""
SIDE = 250
NAMES = ("(0,0)", "(0,1)", "(1,0)", "(1,1)")
Pairs = Sequence[tuple[int, int]]
Layer = dict[str, Any]


def region(prior: Sequence[float], pairs: Pairs, epsilon: float) -> np.ndarray:
    """The corners of a region [corner, 4]: the prior lies inside, so the half-spaces are intersected around it."""
    from scipy.spatial import HalfspaceIntersection

    before = np.asarray(prior, dtype=np.float64)
    rows = [-np.eye(4)[i] for i in range(4)]
    for i, j in [*pairs, *((j, i) for i, j in pairs)]:
        row = np.zeros(4)
        row[i], row[j] = 1 / before[i], -exp(epsilon) / before[j]
        rows.append(row)
    # π(3) = 1 − the others: a row a·π ≤ 0 becomes (a − a3)·π + a3 ≤ 0 in three coordinates.
    reduced = np.array([[*(row[:3] - row[3]), row[3]] for row in rows])
    found = HalfspaceIntersection(reduced, before[:3]).intersections
    corners = np.unique(np.round(np.column_stack([found, 1 - found.sum(axis=1)]), 10), axis=0)
    return np.asarray(corners)


def faces(corners: np.ndarray) -> list[np.ndarray]:
    """The faces of the hull of beliefs as closed rings of beliefs, those that look away first."""
    from scipy.spatial import ConvexHull

    places = corners @ CORNERS
    hull = ConvexHull(places)
    rings: dict[tuple[float, ...], list[int]] = {}
    for plane, simplex in zip(hull.equations, hull.simplices, strict=True):
        rings.setdefault(tuple(np.round(plane, 6)), []).extend(int(k) for k in simplex)
    ordered = []
    for plane, members in rings.items():
        normal = np.array(plane[:3])
        points = sorted(set(members))
        centre = places[points].mean(axis=0)
        across = places[points[0]] - centre
        up = np.cross(normal, across)
        angles = [np.arctan2((places[k] - centre) @ up, (places[k] - centre) @ across) for k in points]
        ring = [points[i] for i in np.argsort(angles)]
        ordered.append((float(normal @ TOWARDS), corners[[*ring, ring[0]]]))
    return [ring for _, ring in sorted(ordered, key=lambda pair: pair[0])]


def frame() -> list[Layer]:
    """The tetrahedron's edges, the hidden one dashed, and the names of its corners."""
    edges = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    hidden = _hidden_edge()
    lines = [
        outline(np.eye(4)[[i, j]], "#999999", 1.2, dash=(4, 4) if (i, j) == hidden else None, key=f"edge {i}{j}") for i, j in edges
    ]
    centre = _place(np.full(4, 0.25))
    names = []
    for k, name in enumerate(NAMES):
        x, y = _place(np.eye(4)[k])
        out = np.array([x, y]) - centre
        out = out / np.linalg.norm(out) * 0.17
        names.append({"x": x + out[0], "y": y + out[1], "words": name})
    return [*lines, _layer({"type": "text", "fontSize": 12}, names, text={"field": "words"})]


def body(corners: np.ndarray, colour: str = COLOURS[1], opacity: float = 0.16) -> list[Layer]:
    """A region, face by face."""
    fill: dict[str, Any] = {"fill": colour, "fillOpacity": opacity, "interpolate": "linear-closed"}
    return [outline(ring, colour, 1.3, key=f"face {i}", **fill) for i, ring in enumerate(faces(corners))]


def outline(
    points: np.ndarray, colour: str, width: float, dash: tuple[int, int] | None = None, key: str = "", **more: Any
) -> Layer:
    """A line through beliefs."""
    mark = {
        "type": "line",
        "color": colour,
        "strokeWidth": width,
        "strokeJoin": "round",
        **({"strokeDash": list(dash)} if dash else {}),
        **more,
    }
    rows = [{**_at(p), "turn": i, "key": key} for i, p in enumerate(points)]
    return _layer(mark, rows, order={"field": "turn", "type": "quantitative"})


def dots(
    points: np.ndarray, colour: str, shape: str = "circle", words: Sequence[str] = (), dx: int = 10, dy: int = -10
) -> list[Layer]:
    """Marked beliefs, with words beside them."""
    mark = {"type": "point", "filled": True, "opacity": 1, "size": 60, "color": colour, "shape": shape}
    layers = [_layer(mark, [_at(p) for p in points])]
    if words:
        told = [{**_at(p), "words": w} for p, w in zip(points, words, strict=True)]
        layers.append(
            _layer(
                {"type": "text", "fontSize": 13, "dx": dx, "dy": dy, "align": "left" if dx > 0 else "right"},
                told,
                text={"field": "words"},
            )
        )
    return layers


def drawn(layers: Sequence[Layer]) -> dict[str, Any]:
    """A panel of a picture."""
    return {"width": SIDE, "height": SIDE, "layer": list(layers)}


def _place(belief: np.ndarray) -> np.ndarray:
    return np.asarray(VIEW @ (belief @ CORNERS))


def _at(belief: np.ndarray) -> dict[str, float]:
    x, y = _place(belief)
    return {"x": float(x), "y": float(y)}


def _hidden_edge() -> tuple[int, int]:
    """The edge between the two faces that look away."""
    away = []
    for k in range(4):
        others = [i for i in range(4) if i != k]
        a, b, c = CORNERS[others]
        normal = np.cross(b - a, c - a)
        normal = normal if normal @ (a - CORNERS[k]) > 0 else -normal
        if normal @ TOWARDS < 0:
            away.append(set(others))
    shared = sorted(set.intersection(*away)) if len(away) == 2 else [-1, -1]
    return shared[0], shared[1]


def _layer(mark: dict[str, Any], rows: list[dict[str, Any]], **encoding: Any) -> Layer:
    scale = {"domain": [-1.85, 1.85], "nice": False}
    x = {"field": "x", "type": "quantitative", "axis": None, "scale": scale}
    y = {"field": "y", "type": "quantitative", "axis": None, "scale": scale}
    return {"data": {"values": rows}, "mark": mark, "encoding": {"x": x, "y": y, **encoding}}
