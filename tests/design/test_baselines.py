"""Each baseline against its definition, by brute force on the whole universe of small problems."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from math import exp

import numpy as np
import pytest
from design_worlds import Document, World, document, loss_table, optimum, problem, school, world
from scipy.integrate import quad

from discreet.design import design
from discreet.design.program.sections import ground, losses
from discreet.design.routes.oblivious import best_oblivious

DOCS = {
    "sum": document(3, range(3), epsilon="1"),
    "spread values": document(2, (0, 1, 5), epsilon="1/2"),
    "fractions": document(
        2, ("-1/2", "1/3", "2"), epsilon="2", decision={"kind": "absolute-error", "actions": ["-1", "0", "1", "3"]}
    ),
    "ordered": document(
        2, range(3), {"kind": "independent", "probabilities": [["1/2", "1/4", "1/4"], ["1/10", "1/10", "8/10"]]}
    ),
    "table": document(
        2, range(3), decision={
            "kind": "table", "actions": ["x", "y"], "payoff": [["3", "1", "0", "-1", "0"], ["-1", "0", "2", "0", "1"]]
        },
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=DOCS, ids=list(DOCS))
def case(request: pytest.FixtureRequest) -> tuple[Document, World, np.ndarray, dict]:
    doc = DOCS[request.param]
    listed = world(doc)
    return doc, listed, loss_table(doc, listed.omegas), dict(design(problem(doc)).baselines)


def reply(losses: np.ndarray, joint: np.ndarray) -> float:
    """Σ over outputs of the least loss; `joint` is [output, state]."""
    return float((joint @ losses.T).min(axis=1).sum())


def lattice(listed: World) -> tuple[np.ndarray, int]:
    """ω in units of its finest step from the lowest, and how many units one replacement can move it."""
    omegas = listed.omegas
    scale = np.lcm.reduce([w.denominator for w in omegas])
    whole = np.array([int(w * scale) for w in omegas])
    step = int(np.gcd.reduce(whole - whole.min())) or 1
    places = (whole - whole.min()) // step
    return places, max(abs(int(places[i] - places[j])) for i, j in listed.edges)


def noised(listed: World, losses: np.ndarray, pmf: object, reach: int = 4000) -> float:
    """Noise on the lattice, far beyond the range on both sides, then the best reply."""
    places, _ = lattice(listed)
    outputs = np.arange(-reach, reach + places.max() + 1)
    return reply(losses, pmf(outputs[:, None] - places[None, :]) * listed.prior)  # type: ignore[operator]


def epsilon_of(doc: Document) -> float:
    return float(Fraction(doc["privacy"]["epsilon"]))


def test_geometric(case: tuple) -> None:
    doc, listed, losses, found = case
    r = exp(-epsilon_of(doc) / lattice(listed)[1])
    value = noised(listed, losses, lambda j: (1 - r) / (1 + r) * r ** np.abs(j).astype(float))
    assert found["geometric"].loss == pytest.approx(value, rel=1e-9, abs=1e-12)


def test_staircase(case: tuple) -> None:
    """The best plateau is searched here by the variance of the noise."""
    doc, listed, losses, found = case
    width, r = lattice(listed)[1], exp(-epsilon_of(doc))
    reach = np.arange(-4000, 4001)

    def pmf(plateau: int, j: np.ndarray) -> np.ndarray:
        unit = 1 / ((2 * plateau - 1) + 2 * width * r / (1 - r))
        return unit * r ** ((np.abs(j) + width - plateau) // width).astype(float)

    best = min(range(1, width + 1), key=lambda plateau: (pmf(plateau, reach) * reach**2).sum())
    assert pmf(best, reach).sum() == pytest.approx(1.0)
    value = noised(listed, losses, lambda j: pmf(best, j))
    assert found["staircase"].loss == pytest.approx(value, rel=1e-9, abs=1e-12)


def test_laplace(case: tuple) -> None:
    """Numeric integration of the least posterior loss over the real output, kinks split at the lattice."""
    doc, listed, losses, found = case
    places, moved = lattice(listed)
    rate = epsilon_of(doc) / moved

    def density(x: float) -> float:
        joint = rate / 2 * np.exp(-rate * np.abs(x - places)) * listed.prior
        return float((losses @ joint).min())

    ends = [-60 / rate, *range(int(places.max()) + 1), places.max() + 60 / rate]
    value = sum(quad(density, a, b, limit=200)[0] for a, b in pairwise(ends))
    assert found["laplace"].loss == pytest.approx(value, rel=1e-4, abs=1e-5)


def test_inverse_sensitivity(case: tuple) -> None:
    """∝ e^(−ε·d/2), d the least number of replacements that could bridge the distance."""
    doc, listed, losses, found = case
    places, moved = lattice(listed)
    values = np.unique(places)
    far = -(-np.abs(values[:, None] - places[None, :]) // moved)
    kernel = np.exp(-epsilon_of(doc) * far / 2)
    assert found["inverse sensitivity"].loss == pytest.approx(reply(losses, kernel / kernel.sum(axis=0) * listed.prior))


def test_no_and_full_information(case: tuple) -> None:
    _, listed, losses, found = case
    assert found["no information"].loss == pytest.approx((losses @ listed.prior).min())
    full = sum(
        (losses[:, at] @ listed.prior[at]).min()
        for w in set(listed.omegas)
        if len(at := [i for i, o in enumerate(listed.omegas) if o == w])
    )
    assert found["full information"].loss == pytest.approx(full, abs=1e-12)


def test_best_oblivious(case: tuple) -> None:
    """The program on values of ω, joined when some pair of neighbours has them."""
    doc, listed, losses, found = case
    values = sorted(set(listed.omegas))
    at = {w: k for k, w in enumerate(values)}
    edges = {tuple(sorted((at[listed.omegas[i]], at[listed.omegas[j]]))) for i, j in listed.edges}
    mass = np.zeros(len(values))
    np.add.at(mass, [at[w] for w in listed.omegas], listed.prior)
    table = np.stack([losses[:, listed.omegas.index(w)] for w in values], axis=1)
    small = World([(k,) for k in range(len(values))], mass, values, [e for e in edges if e[0] != e[1]])
    assert found["best oblivious"].loss == pytest.approx(optimum(small, table, epsilon_of(doc)), rel=1e-4, abs=1e-6)


def test_truncated_geometric_at_face_value() -> None:
    doc = DOCS["sum"]
    listed = world(doc)
    r, top = exp(-1 / 2), 6
    shown = np.arange(-200, 200)
    total = 0.0
    for chance, omega in zip(listed.prior, listed.omegas, strict=True):
        noise = (1 - r) / (1 + r) * r ** np.abs(shown)
        total += chance * float((noise * (np.clip(float(omega) + shown, 0, top) - float(omega)) ** 2).sum())
    assert design(problem(doc)).baselines["truncated geometric"].loss == pytest.approx(total, rel=1e-9)


def test_noisy_histogram() -> None:
    """Noise of ratio e^(−ε/2) on each count but the first, read exactly."""
    doc = DOCS["sum"]
    listed = world(doc)
    losses, r, reach = loss_table(doc, listed.omegas), exp(-1 / 2), 40
    noise = {j: (1 - r) / (1 + r) * r ** abs(j) for j in range(-2 * reach, 2 * reach)}
    outputs = list(product(range(-reach, reach), repeat=2))
    counts = [(d.count(1), d.count(2)) for d in listed.states]
    kernel = np.array([[noise[a - x] * noise[b - y] for x, y in counts] for a, b in outputs])
    assert design(problem(doc)).baselines["noisy histogram"].loss == pytest.approx(reply(losses, kernel * listed.prior), rel=1e-6)


def test_a_baseline_that_does_not_fit_says_why() -> None:
    found = design(problem(DOCS["table"])).baselines["truncated geometric"]
    assert found.value is None and found.loss is None and "not computed" in found.words


def test_a_search_that_takes_all_its_time_leaves_the_baselines() -> None:
    """Time that runs out is no wish to stop: what people do today is shown beside whatever was reached."""
    found = design(problem(school(12, actions="real")), seconds=0.0)
    assert found.status == "cancelled" and found.baselines["geometric"].loss is not None


def test_clipping_the_statistic_costs_less_than_the_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    """The best oblivious mechanism on the likely values beside the one on all that may occur; its losses count every value."""
    base = ground(problem(school(30)))
    clipped = best_oblivious(base, 1e-5)
    monkeypatch.setattr("discreet.design.routes.oblivious.CLIPPED", 0.0)
    whole = best_oblivious(base, 1e-5)
    assert len(clipped.section.space) < len(whole.section.space) == 61
    assert clipped.loss == pytest.approx(whole.loss, rel=2e-5)
    worst = clipped.section.upper(losses(base.problem, clipped.actions, base.exact_omegas))
    assert float((worst * clipped.kernel).sum()) == pytest.approx(clipped.loss, rel=1e-6)
