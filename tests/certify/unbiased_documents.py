"""Mechanism documents that promise unbiased values, and near-misses that only a reader who checks everything refuses."""

from __future__ import annotations

import copy
from contextlib import suppress
from fractions import Fraction
from itertools import combinations
from math import factorial, prod
from typing import Any

import random_worlds as worlds

from discreet.design.routes.nearby import _solved
from discreet.errors import InputError
from discreet.files.mechanism import mechanism_document
from discreet.model.kernel import GeometricKernel, Output, StaircaseKernel, TableKernel
from discreet.model.neighbours import AddRemoveOne, Neighbours, ReplaceOne
from discreet.model.states import state_space
from discreet.model.summary import Clamp, DatabaseSummary, HistogramSummary, LinearSummary, Summary
from discreet.model.universe import Universe

Document = dict[str, Any]
WHOLE, APART = 1024, 16
SUM, MEAN, COUNT, OTHER = {"kind": "sum"}, {"kind": "mean"}, {"kind": "count", "of": [1]}, {"kind": "maximum"}


def table(universe: Universe, neighbours: Neighbours, summary: Summary, errors: list[Fraction] | None = None) -> Document:
    """An output for every state, likely there, read so that its mean is the sum plus the given errors."""
    problem = worlds.problem_of(universe, neighbours, Fraction(10))
    states = state_space(universe, neighbours, summary).labels
    count = len(states)
    rows = tuple(tuple(WHOLE - (count - 1) * APART if i == j else APART for j in range(count)) for i in range(count))
    kernel = TableKernel(states, tuple(Output(f"s{i}") for i in range(count)), rows, WHOLE)
    document: Document = mechanism_document(worlds.mechanism_on(problem, summary, kernel))
    targets = [statistic(universe, summary, state) for state in states]
    return read_as(document, [t + e for t, e in zip(targets, errors or [Fraction(0)] * count, strict=True)])


def statistic(universe: Universe, summary: Summary, state: str) -> Fraction:
    """The sum at a state; of a total, when the total is the sum up to a unit and an origin."""
    numbers = [int(part) for part in state.split(",")]
    if isinstance(summary, HistogramSummary):
        return sum((v * n for v, n in zip(universe.values, numbers, strict=True)), Fraction(0))
    if isinstance(summary, LinearSummary):
        (first, low), *_, (last, high) = sorted(zip(summary.weights, universe.values, strict=True))
        unit = (high - low) / (last - first) if last > first else Fraction(0)
        return unit * numbers[0] + (low - unit * first) * universe.smallest
    return sum((universe.values[t] for t in numbers), Fraction(0))


def read_as(document: Document, targets: list[Fraction]) -> Document:
    """Outputs of a table by `table` read so that their means are the targets."""
    part = Fraction(APART, WHOLE)
    share = part * sum(targets)
    for output, target in zip(document["kernel"]["outputs"], targets, strict=True):
        output["action"] = {"number": str((target - share) / (1 - len(targets) * part))}
    return document


def asked(document: Document, how: str | None, of: Document = SUM, **changes: Any) -> Document:
    """A copy whose problem asks for unbiased values of a statistic; other parts of the problem by name."""
    found = copy.deepcopy(document)
    found["problem"]["decision"][0].update({} if how is None else {"unbiased": how})
    found["problem"]["statistic"] = of
    found["problem"].update(changes)
    return found


def moved(document: Document, by: Fraction) -> Document:
    """A copy whose first output is read a little higher."""
    found = copy.deepcopy(document)
    action = found["kernel"]["outputs"][0]["action"]
    action["number"] = str(Fraction(action["number"]) + by)
    return found


def geometric(universe: Universe, neighbours: Neighbours, summary: LinearSummary, low: int, high: int) -> Document:
    """Geometric noise on a total, each output read as the total it stands for, the ends as far out as their tails."""
    ratio = Fraction(1, 3)
    kernel = GeometricKernel(low, high, max(1, summary.step(neighbours)), ratio)
    problem = worlds.problem_of(universe, neighbours, Fraction(10))
    found: Document = mechanism_document(worlds.mechanism_on(problem, summary, kernel))
    past = ratio / (1 - ratio)
    places = [low - past, *map(Fraction, range(low + 1, high)), high + past]
    origin = statistic(universe, summary, "0")
    unit = statistic(universe, summary, "1") - origin
    found["kernel"]["actions"] = [{"number": str(origin + unit * x)} for x in places]
    return found


def unbiased_documents() -> list[Document]:
    """Everything at once: what holds, what fails by a part in 10^12, what is not checked here."""
    two, far = (Fraction(0), Fraction(1)), (Fraction(1), Fraction(3))
    pair, higher = Universe.of(2, two), Universe.of(2, far)
    some = Universe(two, 1, 2)
    replace, add = ReplaceOne(), AddRemoveOne()
    tables = [
        table(pair, replace, HistogramSummary()), table(higher, replace, HistogramSummary()),
        table(Universe.of(1, (*two, Fraction(5, 2))), replace, HistogramSummary()),
        table(some, add, HistogramSummary()), table(pair, replace, DatabaseSummary()),
        table(pair, replace, LinearSummary((0, 1))), table(higher, replace, LinearSummary((0, 1))),
        table(higher, replace, LinearSummary((3, 1))), table(some, add, LinearSummary((0, 1))),
        table(Universe(far, 1, 2), add, LinearSummary((0, 1))), table(Universe(far, 1, 2), add, LinearSummary((1, 3))),
        table(pair, replace, LinearSummary((0, 1), 1, 2)), table(pair, replace, LinearSummary((0, 1), 0, 2)),
        table(pair, replace, LinearSummary((0, 1), None, 1)),
        table(Universe.of(1, (*two, Fraction(2))), replace, LinearSummary((0, 1, 1))),
        table(Universe.of(2, (Fraction(1), Fraction(1))), replace, LinearSummary((0, 0))),
        table(Universe.of(2, two), replace, LinearSummary((0, 0))),
    ]  # fmt: skip
    both = ("everywhere", "nearby")
    found = [asked(moved(t, by), how) for t in tables for by in (Fraction(0), Fraction(1, 10**12)) for how in both]
    found += [asked(t, "everywhere", of) for t in tables for of in (MEAN, COUNT, OTHER)]
    for t in tables[:2]:
        halved = copy.deepcopy(t)
        for output in halved["kernel"]["outputs"]:
            output["action"]["number"] = str(Fraction(output["action"]["number"]) / 2)
        found += [asked(halved, how, MEAN) for how in ("everywhere", "nearby", None)]
    clamped = asked(tables[0], "everywhere")
    clamped["summary"]["clamp"] = {"high": [2, 2]}
    found += [clamped, *nearby_documents(), *closed_documents()]
    return found


def nearby_documents() -> list[Document]:
    """Errors without mean and covariance under the prior, errors with a little of either, and priors not checked here."""
    pair = Universe.of(2, (Fraction(0), Fraction(1)))
    found = []
    for errors in ((-1, 1, -1), (1, -1, 1), (-1, 1, 0), (0, 1, -1), (-1, 2, -1), (1, 1, 1), (0, 0, 0)):
        for tiny in (Fraction(0), Fraction(1, 10**12)):
            document = table(pair, ReplaceOne(), HistogramSummary(), [Fraction(e, 4) + tiny for e in errors])
            found += [asked(document, how) for how in ("everywhere", "nearby")]
    good = table(pair, ReplaceOne(), HistogramSummary(), [Fraction(e, 4) for e in (-1, 1, -1)])
    found.append(asked(good, "nearby", prior={"kind": "exchangeable", "concentration": ["1", "1"]}))
    found.append(asked(good, "nearby", prior={"kind": "iid", "probabilities": ["0.4", "0.6"]}))
    total = table(pair, ReplaceOne(), LinearSummary((0, 1)), [Fraction(e, 4) for e in (-1, 1, -1)])
    some = Universe((Fraction(0), Fraction(1)), 1, 2)
    several = table(some, AddRemoveOne(), HistogramSummary(), [Fraction(1, 4)] * 5)
    found += [asked(good, "nearby", prior={"kind": "iid", "probabilities": p}) for p in (["1/2"], ["3/2", "-1/2"], ["1/4", "1/4"])]
    never = table(pair, ReplaceOne(), HistogramSummary(), [Fraction(0), Fraction(1, 4), Fraction(1, 4)])
    found.append(asked(never, "nearby", prior={"kind": "iid", "probabilities": ["1", "0"]}))
    return [*found, asked(total, "nearby"), asked(several, "nearby"), *clamped_documents()]


def clamped_documents() -> list[Document]:
    """Mechanisms that read clamped histograms: errors whose moments vanish over all histograms, and near-misses."""
    found = []
    for types, size, clamp in (
        (2, 3, Clamp((0, 0), (9, 2), 0)), (2, 3, Clamp((0, 0), (9, 9), 0, (1, 2))), (2, 3, Clamp((1, 0), (2, 9), 1)),
        (2, 4, Clamp((0, 1), (0, 3), 0)), (3, 3, Clamp((0, 0, 0), (9, 1, 9), 0)), (3, 3, Clamp((0, 0, 0), (9, 2, 2), 0, (1, 2))),
        (3, 2, Clamp((0, 0, 0), (1, 1, 9), 2, (0, 1))),
    ):  # fmt: skip
        universe, summary = Universe.of(size, tuple(map(Fraction, range(types)))), HistogramSummary(clamp)
        states = [tuple(map(int, label.split(","))) for label in state_space(universe, ReplaceOne(), summary).labels]
        errors = _vanishing(universe, summary, states)
        for changed in (errors, [e + Fraction(1, 10**12) * (i == 0) for i, e in enumerate(errors)], [0 * e for e in errors]):
            document = table(universe, ReplaceOne(), summary, changed)
            found += [asked(document, how) for how in ("nearby", "everywhere")]
    return found


def _vanishing(universe: Universe, summary: HistogramSummary, states: list[tuple[int, ...]]) -> list[Fraction]:
    """Errors at clamped states, zero at all but as many as there are types, with E[(mean − ω)·n_t] = 0 under a uniform prior."""
    types, size = universe.types, universe.largest
    rows: dict[tuple[int, ...], list[int]] = {state: [0] * types for state in states}
    wanted = [Fraction(0)] * types
    for histogram in universe.histograms().tolist():
        ways = factorial(size) // prod(map(factorial, histogram))
        state = summary.of_histogram(tuple(histogram))
        missing = sum(t * (n - m) for t, (n, m) in enumerate(zip(histogram, state, strict=True)))
        for t, n in enumerate(histogram):
            rows[state][t] += ways * n
            wanted[t] += ways * n * missing
    for chosen in combinations(range(len(states)), types):
        with suppress(InputError):
            solved = _solved([[Fraction(rows[states[i]][t]) for i in chosen] for t in range(types)], wanted)
            return [solved[chosen.index(i)] if i in chosen else Fraction(0) for i in range(len(states))]
    raise AssertionError("states that tell the counts apart")


def closed_documents() -> list[Document]:
    """Geometric noise whose ends are read as their tails, and readings that are wrong in one place."""
    pair, some = Universe.of(2, (Fraction(0), Fraction(1))), Universe((Fraction(0), Fraction(1)), 1, 2)
    alike = Universe.of(2, (Fraction(1), Fraction(1)))
    right = [
        geometric(pair, ReplaceOne(), LinearSummary((0, 1)), 0, 2), geometric(pair, ReplaceOne(), LinearSummary((0, 1)), -2, 5),
        geometric(some, AddRemoveOne(), LinearSummary((0, 1)), 0, 2), geometric(pair, ReplaceOne(), LinearSummary((1, 0)), 0, 2),
        geometric(alike, ReplaceOne(), LinearSummary((0, 0)), 0, 1),
        geometric(pair, ReplaceOne(), LinearSummary((0, 1), 0, 1), 0, 2),
    ]  # fmt: skip
    found = [asked(document, how) for document in right for how in ("everywhere", "nearby")]
    for place in (0, 1, -1):
        wrong = asked(right[0], "everywhere")
        action = wrong["kernel"]["actions"][place]
        action["number"] = str(Fraction(action["number"]) + Fraction(1, 10**12))
        found.append(wrong)
    single = asked(right[4], "everywhere")
    single["kernel"].update({"to": 0, "actions": single["kernel"]["actions"][:1]})
    stairs = mechanism_document(worlds.mechanism_on(
        worlds.problem_of(pair, ReplaceOne(), Fraction(10)), LinearSummary((0, 1)), StaircaseKernel(0, 2, 1, 1, Fraction(1, 3))
    ))  # fmt: skip
    stairs["kernel"]["actions"] = right[0]["kernel"]["actions"]
    return [*found, single, asked(stairs, "everywhere"), asked(stairs, None)]
