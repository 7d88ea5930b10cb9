"""The guarantee of a mechanism in every currency of privacy, viewed. Every number is rounded outward."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from discreet.currencies.attack import advantage, bayes_success, success_at
from discreet.currencies.bracket import Bracket
from discreet.currencies.channel import LossChannel
from discreet.currencies.divergences import relative_entropy, renyi_curve
from discreet.currencies.groups import group
from discreet.currencies.information import mutual_information
from discreet.currencies.near import near_table, outward
from discreet.currencies.profiles import profile
from discreet.currencies.repeated import compose
from discreet.currencies.tradeoffs import tradeoff
from discreet.currencies.zcdp import rho
from discreet.model.kernel import GaussianKernel
from discreet.model.mechanism import Mechanism
from discreet.model.summary import LinearSummary
from discreet.numerics.brackets import float_up
from discreet.numerics.digits import at_least, at_most
from discreet.views.view import BREAK, Block, Fact, Mood, Sentence, View
from discreet.watch import SILENT, Watch

MOST_POINTS = 8
"""Points of a curve that are told."""


def profile_view(
    mechanism: Mechanism,
    *,
    epsilons: Sequence[str] = (),
    deltas: Sequence[str] = (),
    size: int = 1,
    times: int = 1,
    alpha: str = "0.05",
    watch: Watch = SILENT,
) -> View:
    """Every currency, for groups of `size` respondents; δ at each of `epsilons`, ε at each of `deltas`."""
    watch.report(stage="every edge")
    near = not mechanism.kernel.rational
    channel = group(near_table(mechanism), size)
    seen = profile(channel)
    watch.report(stage="the tight ε")
    tight = seen.epsilon
    watch.report(stage="zCDP")
    concentrated = rho(channel)
    watch.report(stage="mutual information")
    information = mutual_information(channel)
    watch.report(stage="attacks")
    risk, attack, guess = advantage(seen), success_at(seen, alpha), bayes_success(seen)
    ends = _outward if near else _ends
    proved_rho = _with_formula(mechanism, size, ends(concentrated.bracket))
    watch.report(stage="δ(ε), Rényi and the trade-off")
    facts: dict[str, Any] = {
        "guarantee": str(mechanism.guarantee),
        "group": size,
        "epsilon": ends(tight.bracket)[1],
        "epsilon_bracket": ends(tight.bracket),
        "ratio": None if near else tight.ratio,
        "delta": [[ends(Bracket(e, e))[1], ends(Bracket(d, d))[1]] if near else [e, d] for e, d in seen.breakpoints],
        "kl": ends(relative_entropy(channel).bracket),
        "rho": proved_rho[1],
        "rho_bracket": proved_rho,
        "renyi": [[order, ends(found.bracket)[1]] for order, found in renyi_curve(channel)],
        "tradeoff": [[ends(Bracket(x, x))[0] if near else x for x in corner] for corner in tradeoff(seen).corners],
        "advantage": ends(risk.bracket),
        "attack": {"alpha": alpha, "success": ends(attack.bracket), "even_guess": ends(guess.bracket)},
        "mi": ends(information.bracket),
        "witness": {
            "epsilon": {"edge": tight.edge, "output": tight.output},
            "rho": {"edge": concentrated.edge},
            "advantage": {"edge": risk.edge},
            "mi": {"states": information.states, "inputs": [float(p) for p in information.inputs]},
        },
        "delta_for_epsilon": [[at, *ends(seen.delta_for_epsilon(at).bracket)] for at in epsilons],
        "epsilon_for_delta": [[at, *ends(seen.epsilon_for_delta(at).bracket)] for at in deltas],
    }
    if times > 1:
        facts["composition"] = _composed(channel, times, epsilons, ends)
    return View(facts, tuple(_told(facts)))


def _composed(channel: LossChannel, times: int, epsilons: Sequence[str], ends: Callable[[Bracket], list[float]]) -> dict[str, Any]:
    return {
        "releases": times,
        "assumes": "The same database each time, fresh randomness, parameters fixed in advance.",
        "delta_for_epsilon": [[at, *ends(compose(channel, times, at).bracket)] for at in epsilons],
    }


def _ends(found: Bracket) -> list[float]:
    return [found.lower, found.upper]


def _with_formula(mechanism: Mechanism, size: int, found: list[float]) -> list[float]:
    """What a search over orders says of ρ, and for discrete Gaussian noise what its formula proves: Δ²/2σ²."""
    kernel, summary = mechanism.kernel, mechanism.summary
    if not isinstance(kernel, GaussianKernel) or not isinstance(summary, LinearSummary):
        return found
    proved = float_up(kernel.rho(size * summary.step(mechanism.problem.neighbours)))
    return [min(found[0], proved), min(found[1], proved)]


def _outward(found: Bracket) -> list[float]:
    return list(outward(found.lower, found.upper))


def _told(facts: dict[str, Any]) -> Iterator[Block]:
    who = "" if facts["group"] == 1 else f" for groups of {facts['group']} respondents"
    yield Sentence(facts["guarantee"], "Promised:", Mood.STRONG)
    yield Sentence(f"over every edge{who}, rounded outward:", "Computed", Mood.STRONG)
    attack, witness = facts["attack"], facts["witness"]["epsilon"]
    edge = witness["edge"]
    where = f"between states {edge[0]} and {edge[1]}, output {witness['output']}" if edge else ""
    for name, number, words in (
        ("tight ε", facts["epsilon"], where),
        ("zCDP ρ", facts["rho"], "largest D_α/α over all orders"),
        ("relative entropy", facts["kl"][1], "nats"),
        ("mutual information", facts["mi"][1], "nats about one respondent, all others known"),
        ("advantage", facts["advantage"][1], "hits minus false alarms of the best attacker"),
        ("attack success", attack["success"][1], f"TPR at FPR {attack['alpha']}"),
        ("even guess", attack["even_guess"][1], "chance of telling two neighbours apart"),
    ):
        yield Fact(name, f"{at_most(number, 9):<12} {words}".rstrip())
    yield BREAK
    curve = "  ".join(f"({at_most(e, 4)}, {at_most(d, 4)})" for e, d in _some(facts["delta"]))
    yield Sentence(curve, "δ(ε)", Mood.STRONG)
    yield Sentence("  ".join(f"D_{a:g} ≤ {at_most(d, 9)}" for a, d in facts["renyi"]), "Rényi", Mood.STRONG)
    corners = [(a, b) for a, b in facts["tradeoff"] if b > 0]
    errors = "  ".join(f"({at_least(a, 4)}, {at_least(b, 4)})" for a, b in _some(corners))
    yield Sentence(errors, "FPR, FNR", Mood.STRONG)
    for at, low, high in facts["delta_for_epsilon"]:
        yield Sentence(f"At ε = {at}: δ from {at_least(low, 9)} to {at_most(high, 9)}.")
    for at, low, high in facts["epsilon_for_delta"]:
        yield Sentence(f"At δ = {at}: ε from {at_least(low, 9)} to {at_most(high, 9)}.")
    composed = facts.get("composition")
    if composed:
        yield Sentence(f"{composed['releases']} releases. {composed['assumes']}")
        for at, low, high in composed["delta_for_epsilon"]:
            yield Fact("", f"At ε = {at}: δ from {at_least(low, 9)} to {at_most(high, 9)}.")


def _some(points: Sequence[Any]) -> Sequence[Any]:
    """At most a line of points, the ends among them."""
    if len(points) <= MOST_POINTS:
        return points
    return [points[round(k * (len(points) - 1) / (MOST_POINTS - 1))] for k in range(MOST_POINTS)]
