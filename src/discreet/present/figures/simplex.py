"""Beliefs in a triangle: which posteriors about a statistic with three values are private, and which noise can induce.

A point is a belief (μ(ω1), μ(ω2), μ(ω3)); a corner is certainty. PK holds what some private mechanism can induce, the hull of
the projected extreme points of K; K_Ω what mechanisms reading only ω can. Adding noise loses nothing exactly when the two agree
(SY Thm 1, Figs 1-5). Hypers show what given mechanisms induce, a larger mark for a likelier posterior.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.geometry.hyper import Hyper
from discreet.geometry.labellings import beliefs_of_labels, extreme_labels
from discreet.geometry.of_problem import K_of, K_Omega_of, StatedProblem, stated
from discreet.geometry.private_beliefs import PrivateBeliefs
from discreet.model.problem import Problem
from discreet.numerics.digits import about, given
from discreet.numerics.exact import format_exact
from discreet.present.figure import Figure
from discreet.present.theme import COLOURS, SHAPES

SIDE = 420
PK, K_OMEGA = "PK: any private mechanism", "K_Ω: private noise on ω"
POINTS, NOISE_POINTS, PRIOR = "extreme points of K, projected", "extreme points of K_Ω", "prior"


def simplex_figure(problem: Problem | StatedProblem, hypers: Mapping[str, Hyper] | None = None, *, bounds: bool = False) -> Figure:
    """PK and K_Ω with their extreme points and the prior; `hypers` adds the posteriors of named mechanisms about ω.

    `bounds` adds the two lines of each privacy bound between adjacent values, whose intersection K_Ω is (SY Fig. 3).
    """
    listed = stated(problem) if isinstance(problem, Problem) else problem
    if len(listed.omegas) != 3:
        raise InputError(
            "A triangle shows beliefs about a statistic with three values",
            found=f"{len(listed.omegas)} values",
            allowed="3",
            remedy="draw posteriors or relative risks instead",
        )
    epsilon = float(listed.problem.epsilon)
    K, K_omega = K_of(listed), K_Omega_of(listed)
    member = np.zeros((len(K), 3))
    member[np.arange(len(K)), listed.fibre_of] = 1.0
    lifted = beliefs_of_labels(extreme_labels(K), K.prior, epsilon) @ member
    projected = np.unique(np.round(lifted, 12), axis=0)
    noise = np.unique(np.round(beliefs_of_labels(extreme_labels(K_omega), K_omega.prior, epsilon), 12), axis=0)
    outer, inner = hull(projected), hull(noise)
    prior = np.array([[float(p) for p in listed.statistic_prior]])
    names = [format_exact(omega) for omega in listed.omegas]
    groups: list[tuple[str, np.ndarray, Sequence[float]]] = [(POINTS, projected, ()), (NOISE_POINTS, inner, ()), (PRIOR, prior, ())]
    for name, hyper in (hypers or {}).items():
        groups.append((name, _beliefs(hyper), [float(w) for w in hyper.weights]))
    body: dict[str, Any] = {
        "width": SIDE,
        "height": round(SIDE * 1.074 / 1.24),
        "layer": [*_frame(names), *(_bounds(K_omega) if bounds else ()), *_regions(outer, inner), *_marks(groups, names)],
        "resolve": {"scale": dict.fromkeys(("color", "shape", "strokeDash"), "independent")},
    }
    alt = _alt(listed, len(lifted), outer, inner, groups, names)
    verdict = "the two differ: noise cannot induce what lies between"
    if same(outer, inner):
        verdict = "the two agree to nine digits: adding noise loses nothing"
    return Figure(f"What may be believed at ε = {given(epsilon)}", alt, body, verdict)


def hull(points: np.ndarray) -> np.ndarray:
    """The corners of the convex hull of beliefs [belief, 3], anticlockwise; a point or a segment is its own hull."""
    flat = np.array([_place(p) for p in points])
    order = np.lexsort((flat[:, 1], flat[:, 0]))
    if len(points) < 3:
        return points
    halves: list[list[int]] = []
    for run in (order, order[::-1]):
        chain: list[int] = []
        for i in run:
            while len(chain) > 1 and _turn(flat[chain[-2]], flat[chain[-1]], flat[i]) <= 1e-12:
                chain.pop()
            chain.append(int(i))
        halves.append(chain[:-1])
    return np.asarray(points[[*halves[0], *halves[1]]])


def same(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two hulls have the same corners, to the precision of drawing."""
    near = np.abs(first[:, None, :] - second[None, :, :]).max(axis=2) < 1e-9
    return bool(near.any(axis=1).all() and near.any(axis=0).all())


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _place(belief: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Where a belief lies: the first value at the left, the second on top, the third at the right."""
    return float(belief[2] + belief[1] / 2), float(belief[1] * sqrt(3) / 2)


def _axis(field: str, low: float, high: float) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "axis": None, "scale": {"domain": [low, high], "nice": False}}


X, Y = _axis("x", -0.12, 1.12), _axis("y", -0.14, 0.934)


def _at(belief: Sequence[float] | np.ndarray, **more: Any) -> dict[str, Any]:
    x, y = _place(belief)
    return {"x": x, "y": y, **more}


def _frame(names: Sequence[str]) -> list[dict[str, Any]]:
    """The triangle, lines of equal probability, and words at its corners and sides."""
    corners = np.eye(3)
    lines, ticks = [], []
    for k in range(3):
        a, b = (k + 1) % 3, (k + 2) % 3
        for share in (0.25, 0.5, 0.75):
            ends = [share * corners[k] + (1 - share) * corners[other] for other in (a, b)]
            (x, y), (x2, y2) = _place(ends[0]), _place(ends[1])
            lines.append({"x": x, "y": y, "x2": x2, "y2": y2})
            ticks.append({**_at(share * corners[k] + (1 - share) * corners[a]), "words": given(share), "side": k})
    edge = [_at(corners[k], turn=i) for i, k in enumerate((0, 1, 2, 0))]
    spots = ((0, "center", 20), (1, "center", -12), (2, "center", 20))
    order = {"field": "turn", "type": "quantitative"}
    shifts = {0: (-14, 0), 1: (14, -2), 2: (0, 14)}
    return [
        {
            "data": {"values": lines},
            "mark": {"type": "rule", "color": "#dddddd"},
            "encoding": {"x": X, "y": Y, "x2": {"field": "x2"}, "y2": {"field": "y2"}},
        },
        {
            "data": {"values": edge},
            "mark": {"type": "line", "color": "#444444", "strokeWidth": 1.4},
            "encoding": {"x": X, "y": Y, "order": order},
        },
        *(
            {
                "data": {"values": [_at(corners[k], words=f"surely ω = {names[k]}")]},
                "mark": {"type": "text", "align": align, "dy": dy, "fontSize": 13, "fontWeight": "bold"},
                "encoding": {"x": X, "y": Y, "text": {"field": "words"}},
            }
            for k, align, dy in spots
        ),
        *(
            {
                "data": {"values": [t for t in ticks if t["side"] == k]},
                "mark": {"type": "text", "fontSize": 11, "color": "#555555", "dx": shifts[k][0], "dy": shifts[k][1]},
                "encoding": {"x": X, "y": Y, "text": {"field": "words"}},
            }
            for k in range(3)
        ),
        *(
            {
                "data": {"values": [{"x": x, "y": y, "words": f"probability of ω = {names[k]}"}]},
                "mark": {"type": "text", "fontSize": 12, "color": "#333333", "angle": angle},
                "encoding": {"x": X, "y": Y, "text": {"field": "words"}},
            }
            for k, (x, y, angle) in enumerate(((0.13, 0.50, -60), (0.87, 0.50, 60), (0.5, -0.105, 0)))
        ),
    ]


def _bounds(beliefs: PrivateBeliefs) -> list[dict[str, Any]]:
    """Along each line the odds of two adjacent values are those of the prior times e^ε or e^−ε; it ends in the third corner."""
    rows = []
    for i, j in beliefs.edges:
        words = f"odds of {beliefs.labels[i]} and {beliefs.labels[j]} move by ε"
        for shift in (float(beliefs.epsilon), -float(beliefs.epsilon)):
            end = np.zeros(3)
            end[i], end[j] = float(beliefs.prior[i]) * np.exp(shift), float(beliefs.prior[j])
            (x, y), (x2, y2) = _place(end / end.sum()), _place(np.eye(3)[3 - i - j])
            rows.append({"x": x, "y": y, "x2": x2, "y2": y2, "bound": words})
    names = list(dict.fromkeys(row["bound"] for row in rows))
    scale = {"domain": names, "range": [COLOURS[3 + i] for i in range(len(names))]}
    dashes = {"domain": names, "range": [[2, 3], [6, 3], [1, 5]][: len(names)]}
    legend = {"title": "privacy bounds", "symbolType": "stroke", "symbolSize": 900, "orient": "right"}
    told = {"field": "bound", "type": "nominal", "legend": legend}
    return [
        {
            "data": {"values": rows},
            "mark": {"type": "rule", "strokeWidth": 1.8},
            "encoding": {
                "x": X, "y": Y, "x2": {"field": "x2"}, "y2": {"field": "y2"},
                "color": {**told, "scale": scale}, "strokeDash": {**told, "scale": dashes},
            },
        }
    ]  # fmt: skip


def _regions(outer: np.ndarray, inner: np.ndarray) -> list[dict[str, Any]]:
    """Both hulls as closed outlines, the outer one filled, and a legend made of their strokes."""
    rows = [
        _at(p, region=name, turn=i)
        for name, corners in ((PK, outer), (K_OMEGA, inner))
        for i, p in enumerate([*corners, corners[0]])
    ]
    legend = {"title": "private beliefs", "symbolType": "stroke", "symbolSize": 900, "orient": "right"}
    shared = {"x": X, "y": Y, "order": {"field": "turn", "type": "quantitative"}}
    dashes = {"domain": [PK, K_OMEGA], "range": [[1, 0], [7, 4]]}
    colours = {"domain": [PK, K_OMEGA], "range": [COLOURS[1], COLOURS[2]]}
    return [
        {
            "data": {"values": [r for r in rows if r["region"] == PK]},
            "mark": {"type": "line", "fill": COLOURS[1], "fillOpacity": 0.12, "strokeWidth": 0, "interpolate": "linear-closed"},
            "encoding": shared,
        },
        {
            "data": {"values": rows},
            "mark": {"type": "line", "strokeWidth": 2.4},
            "encoding": {
                **shared,
                "color": {"field": "region", "type": "nominal", "scale": colours, "legend": legend},
                "strokeDash": {"field": "region", "type": "nominal", "scale": dashes, "legend": legend},
            },
        },
    ]


def _marks(groups: Sequence[tuple[str, np.ndarray, Sequence[float]]], names: Sequence[str]) -> list[dict[str, Any]]:
    """Points of every kind; those of a hyper are larger for likelier posteriors."""
    kinds = [name for name, _, _ in groups]
    looks = {POINTS: ("circle", COLOURS[1]), NOISE_POINTS: ("square", COLOURS[2]), PRIOR: ("cross", COLOURS[0])}
    others = [name for name in kinds if name not in looks]
    for i, name in enumerate(others):
        looks[name] = (SHAPES[2 + i % (len(SHAPES) - 2)], COLOURS[(3 + i) % len(COLOURS)])
    rows = []
    for name, beliefs, weights in groups:
        sizes = [60 + 500 * w for w in weights] or [130 if name == PRIOR else 34] * len(beliefs)
        for j, belief in enumerate(beliefs):
            words = ", ".join(f"ω = {o}: {about(float(p))}" for o, p in zip(names, belief, strict=True))
            rows.append(_at(belief, kind=name, size=sizes[j], words=words))
    legend = {"title": "points", "orient": "right"}
    return [
        {
            "data": {"values": rows},
            "mark": {"type": "point", "filled": False, "opacity": 1, "strokeWidth": 1.8},
            "encoding": {
                "x": X,
                "y": Y,
                "size": {"field": "size", "type": "quantitative", "scale": None},
                "color": {
                    "field": "kind",
                    "type": "nominal",
                    "legend": legend,
                    "scale": {"domain": kinds, "range": [looks[k][1] for k in kinds]},
                },
                "shape": {
                    "field": "kind",
                    "type": "nominal",
                    "legend": legend,
                    "scale": {"domain": kinds, "range": [looks[k][0] for k in kinds]},
                },
                "tooltip": [{"field": "kind", "type": "nominal"}, {"field": "words", "type": "nominal", "title": "belief"}],
            },
        }
    ]


def _beliefs(hyper: Hyper) -> np.ndarray:
    if len(hyper.states) != 3:
        raise InputError(
            "A hyper in the triangle is about the statistic",
            found=f"{len(hyper.states)} states",
            allowed="3",
            remedy="project it with statistic_hyper first",
        )
    return np.array([[float(p) for p in posterior] for posterior in hyper.posteriors])


def _alt(
    listed: StatedProblem,
    lifted: int,
    outer: np.ndarray,
    inner: np.ndarray,
    groups: Sequence[tuple[str, np.ndarray, Sequence[float]]],
    names: Sequence[str],
) -> str:
    prior = ", ".join(about(p, 3) for p in listed.statistic_prior)
    words = [
        f"Triangle of beliefs about ω = {names[0]}, {names[1]} and {names[2]} around the prior ({prior}).",
        f"K has {lifted} extreme points; their projection PK has {len(outer)} corners and K_Ω has {len(inner)}.",
        "PK and K_Ω are the same." if same(outer, inner) else "PK reaches beyond K_Ω.",
    ]
    for name, beliefs, weights in groups[3:]:
        told = "; ".join(
            f"({', '.join(about(float(x), 3) for x in b)}) with probability {about(float(w), 3)}"
            for b, w in zip(beliefs, weights, strict=True)
        )
        words.append(f"{name} induces {told}.")
    return " ".join(words)
