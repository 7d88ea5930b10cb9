"""What a certified design costs as cells and types grow: CPU seconds against N and T, with the slope of each line.

`python bench/scale.py [--quick] [--figure FILE]`. School planning (SY Example 1 and its relatives with more types), squared error,
whole-number actions, ε = 1, to a gap of 1e-6; every point is a fresh process on one core. Counted is the design with its proofs,
without imports. Slopes are those of a straight line through the logarithms: cost ∝ N^slope. `--figure` draws the picture.
"""

from __future__ import annotations

import argparse
from math import comb, log
from pathlib import Path
from statistics import linear_regression

from design import in_a_fresh_process

SIZES = {2: (10, 20, 40, 80, 120, 160, 200), 3: (5, 10, 15, 20, 30)}
"""N for each T whose cost is followed."""
TYPES, RESPONDENTS = (1, 2, 3, 4), 10
"""T at one N."""
FROM = {2: 40, 3: 10}
"""Slopes are taken from here on: smaller cells cost what any design costs."""
QUICK = {2: 40, 3: 10}


def cost(respondents: int, types: int) -> tuple[float, float]:
    """CPU seconds of one design, and its gap."""
    task = {"work": "ours", "respondents": respondents, "kind": str(types), "actions": "integer", "seconds": 600}
    found = in_a_fresh_process(task)
    if "failed" in found:
        raise SystemExit(f"N={respondents}, T={types}: {found['failed']}")
    return float(found["designing"]), float(found["gap"])  # type: ignore[arg-type]


def slope(points: list[tuple[int, float]]) -> float:
    """Of log seconds against log size."""
    return linear_regression([log(x) for x, _ in points], [log(y) for _, y in points]).slope


def drawn(lines: dict[int, list[tuple[int, float]]], slopes: dict[int, float], types: list[tuple[int, float]], place: Path) -> None:
    """Two panels on logarithmic axes: cost against N with a line for each T, and against T."""
    from discreet.present.figure import Figure
    from discreet.present.theme import series_scales
    from discreet.present.ticks import label_expression, log_ticks

    names = {t: f"{t} values above 0: N^{slopes[t]:.1f}" for t in lines}
    rows = [{"size": n, "seconds": s, "line": names[t]} for t, points in lines.items() for n, s in points]
    seconds = [s for points in (*lines.values(), types) for _, s in points]
    respondents = [n for points in lines.values() for n, _ in points]
    ticks, sizes = log_ticks(min(seconds), max(seconds)), log_ticks(min(respondents), max(respondents))

    def axis(field: str, title: str, at: list[float]) -> dict[str, object]:
        return {
            "field": field, "type": "quantitative", "title": title, "scale": {"type": "log", "domain": [at[0], at[-1]]},
            "axis": {"values": at, "labelExpr": label_expression(at)},
        }  # fmt: skip

    scales = series_scales(list(names.values()))
    legend = {"title": None, "orient": "bottom", "direction": "vertical"}
    y = axis("seconds", "CPU seconds", ticks)
    mark = {"type": "line", "point": {"size": 45, "filled": True}, "strokeWidth": 1.8}
    against_size = {
        "data": {"values": rows},
        "width": 330,
        "height": 260,
        "mark": mark,
        "encoding": {
            "x": axis("size", "respondents N", sizes),
            "y": y,
            "color": {"field": "line", "type": "nominal", "scale": scales["color"], "legend": legend},
            "strokeDash": {"field": "line", "type": "nominal", "scale": scales["strokeDash"], "legend": legend},
        },
    }
    against_types = {
        "data": {"values": [{"types": t, "seconds": s} for t, s in types]},
        "width": 200,
        "height": 260,
        "mark": {**mark, "color": "#000000", "point": {"size": 45, "filled": True, "color": "#000000"}},
        "encoding": {
            "x": {"field": "types", "type": "ordinal", "title": f"values above 0 (N = {RESPONDENTS})", "axis": {"labelAngle": 0}},
            "y": y,
        },
    }
    told = "; ".join(f"with {t} values above 0 it grows as N^{slopes[t]:.1f}" for t in lines)
    most = max(types)
    alt = f"CPU seconds of a certified design, both axes logarithmic: {told}; with {most[0]} at N={RESPONDENTS} {most[1]:.2g} s."
    Figure("What a design costs", alt, {"hconcat": [against_size, against_types]}).write(place)


def main() -> None:
    """Print both tables, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small cells only")
    parser.add_argument("--figure", type=Path, help="where to draw, for instance docs/pictures/scale.svg")
    chosen = parser.parse_args()
    print(f"{'N':>5}{'T':>4}{'histograms':>12}{'CPU s':>9}{'gap':>10}")
    lines: dict[int, list[tuple[int, float]]] = {}
    slopes: dict[int, float] = {}
    for t, sizes in SIZES.items():
        lines[t] = []
        for n in sizes:
            if chosen.quick and n > QUICK[t]:
                continue
            seconds, gap = cost(n, t)
            lines[t].append((n, seconds))
            print(f"{n:>5}{t:>4}{comb(n + t, t):>12,}{seconds:>9.2f}{gap:>10.1e}", flush=True)
        late = [point for point in lines[t] if point[0] >= FROM[t]]
        slopes[t] = slope(late if len(late) > 1 else lines[t][-2:])
        print(f"      T={t}: CPU seconds ∝ N^{slopes[t]:.2f} from N={(late if len(late) > 1 else lines[t][-2:])[0][0]} on")
    types: list[tuple[int, float]] = []
    for t in TYPES[: 3 if chosen.quick else None]:
        seconds, gap = cost(RESPONDENTS, t)
        types.append((t, seconds))
        print(f"{RESPONDENTS:>5}{t:>4}{comb(RESPONDENTS + t, t):>12,}{seconds:>9.2f}{gap:>10.1e}", flush=True)
    states = [(comb(RESPONDENTS + t, t), s) for t, s in types if t > 1]
    print(f"      N={RESPONDENTS}: CPU seconds ∝ histograms^{slope(states):.2f} from T=2 on")
    if chosen.figure:
        drawn(lines, slopes, types, chosen.figure)
        print(f"Drawn: {chosen.figure}")


if __name__ == "__main__":
    main()
