"""The game between mechanisms and priors: the least worst regret, by exchange.

minimise over private m   max_k [ L_k(m) − r_k ]   =   maximise over weights λ   min over m  Σ_k λ_k (L_k(m) − r_k).
For weights λ on the priors the best m is a plain design under the mixture prior Σ λ_k π_k (answers). The mixtures of the
mechanisms found so far form a small program whose multipliers are the next λ. Quick answers lead to the right λ; there the
bound is proved, and where that shows the way to better actions the exchange goes on. A mixture of private mechanisms on
the same states is private.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.certify.robust import mixture
from discreet.design.certified import certified
from discreet.design.comparison.plain_noise import noise_on_the_statistic
from discreet.design.program.listed import (
    exact_kernel,
    first_tolerance,
    solvable,
    standing,
    truncated,
)
from discreet.design.program.real import needed
from discreet.design.program.sections import Ground, Recommendation, Section, ground, losses, recommendations
from discreet.design.program.thin_witness import SPARED, dual_witness
from discreet.design.proposal import Proposal
from discreet.design.questions.best_replies_to_priors import Answers, LineReply, ListedAnswers, RealAnswers
from discreet.design.reports import AsPayoffs
from discreet.design.result import Design
from discreet.model.certificate import Certificate
from discreet.model.mechanism import Mechanism
from discreet.model.priors import Prior
from discreet.model.problem import Problem, believed
from discreet.model.record import Step
from discreet.watch import Watch

ROUNDS = 60
COARSE = 3e-3
"""Relative gap of the first answers; later ones are as fine as what is left of the game asks for."""
SHARES = 10**6
"""Weights on priors are multiples of one in a million, so that the mixture prior is a short exact number."""
GRID = 240


@dataclass(frozen=True, eq=False)
class _Column:
    """A private kernel on the shared states with its loss under each prior."""

    kernel: np.ndarray
    actions: list[Recommendation]
    losses: np.ndarray


class Exchange:
    """Mechanisms found so far and the game between their mixture and the priors.

    `references` are the best mechanisms for each prior alone: they begin the game, with plain noise, which no prior can surprise.
    """

    def __init__(self, problem: Problem, priors: Sequence[Prior], references: Sequence[Design], gap: float, watch: Watch) -> None:
        self.problem, self.priors, self.gap, self.watch = problem, priors, gap, watch
        self.best = np.array([float(r.loss) for r in references])
        self.epsilon = solvable(problem.epsilon)
        self.scale = float(np.abs(self.best).max()) or 1.0
        self.rounds = 0
        even = tuple(Fraction(1, len(priors)) for _ in priors)
        base = ground(mixture(problem, priors, even))
        self.grounds = [_believing(base, replace(problem, prior=p)) for p in priors]
        actions = None if problem.real_actions else recommendations(problem)
        table = self._table(base, actions)
        self.section = truncated(base, table, first_tolerance(base, table, gap / (4 * len(priors))))
        hears = AsPayoffs.of(problem, watch)
        known = [a for r in references for o in r.mechanism.outputs if (a := o.action) is not None]
        self.answers: Answers = (
            RealAnswers(problem, known, float(self.epsilon), hears)
            if actions is None
            else ListedAnswers(actions, table, float(self.epsilon), hears)
        )
        noise = noise_on_the_statistic(problem)
        known_well = [*(r.mechanism for r in references), *([] if noise is None else [noise])]
        self.columns = [self._of(mechanism) for mechanism in known_well]
        self.hoped: dict[tuple[Fraction, ...], LineReply] = {}
        self.proofs: dict[tuple[Fraction, ...], LineReply] = {}

    def settled(self) -> tuple[np.ndarray, tuple[Fraction, ...], str]:
        """Shares of the columns, the weights with the best proved bound, and how it ended."""
        level = max(self.gap / 4, COARSE)
        enough = self.gap * self.scale
        while True:
            self.rounds += 1
            shares, weights, worst = _game(np.stack([c.losses for c in self.columns]) - self.best)
            least, proving = self._highest(self.proofs)
            self.watch.report(stage=f"robust, round {self.rounds}", value=-worst, bound=-least)
            if worst - least <= enough:
                return shares, proving, "optimal"
            if self.watch.cancelled() or self.rounds >= ROUNDS:
                return shares, proving, "cancelled" if self.watch.cancelled() else "round limit"
            hope, promising = self._highest({**self.hoped, **self.proofs})
            if worst - hope <= enough / 2 or weights in self.hoped:
                at = promising if promising in self.hoped else weights
                self._learn(at, self.answers.proved(self._under(at), self.gap / 4))
            else:
                level = max(self.gap / 8, min(level, 0.1 * (worst - hope) / self.scale))
                self._learn(weights, self.answers.quick(self._under(weights), level))

    def _learn(self, weights: tuple[Fraction, ...], answer: LineReply) -> None:
        """A new column; a new bound, which outdates what was only hoped with fewer actions."""
        self.columns.append(self._column(answer.kernel, answer.actions))
        if answer.proof is None:
            self.hoped[weights] = answer
            return
        self.hoped.clear()
        known = self.proofs.get(weights)
        if known is None or answer.bound > known.bound:
            self.proofs[weights] = answer

    def _highest(self, answers: dict[tuple[Fraction, ...], LineReply]) -> tuple[float, tuple[Fraction, ...]]:
        """The best bound on the worst regret, which is never negative."""
        least, best = 0.0, tuple(Fraction(int(k == 0)) for k in range(len(self.priors)))
        for weights, answer in answers.items():
            bound = answer.bound - float(np.array([float(w) for w in weights]) @ self.best)
            if bound > least:
                least, best = bound, weights
        return least, best

    def rounded(self, shares: np.ndarray, weights: tuple[Fraction, ...]) -> tuple[Mechanism, Certificate]:
        """The mixture of the columns as an exact mechanism for the mixture prior, proved."""
        kernel, actions = _mixed(self.columns, shares)
        mixed = [float(w) for w in weights]
        cost = sum(w * self._upper(g, actions) for w, g in zip(mixed, self.grounds, strict=True))
        exact = exact_kernel(self.section, kernel, actions, np.asarray(cost), self.epsilon)
        answer = self.proofs.get(weights)
        nodes, flows = self._nothing() if answer is None or answer.proof is None else answer.proof
        flows, chord = standing(flows, self.problem.epsilon), self.problem.real_actions
        witness = dual_witness(self.section, nodes, flows, float(self.epsilon), SPARED * self.gap * self.scale, chord=chord)
        proposal = Proposal(self.section.summary, exact, witness, "robust program", "optimal")
        words = f"least worst regret over {len(self.priors)} priors; the bound stands under their mixture"
        step = Step("robust program", True, "minimax duality", words)
        return certified(mixture(self.problem, self.priors, weights), proposal, step)

    def _nothing(self) -> tuple[list[Recommendation], np.ndarray]:
        """Multipliers of zero, which prove that nobody does better than to know the truth."""
        problem = self.problem
        nodes: list[Recommendation] = [*needed(problem)] if problem.real_actions else recommendations(problem)
        return nodes, np.zeros((len(nodes), 2 * len(self.section.space.edges)))

    def _under(self, weights: tuple[Fraction, ...]) -> Section:
        """The shared states under a mixture of the priors."""
        masses = sum(float(w) * g.masses for w, g in zip(weights, self.grounds, strict=True))
        return replace(self.section, ground=replace(self.section.ground, masses=np.asarray(masses)))

    def _of(self, mechanism: Mechanism) -> _Column:
        """A known mechanism on the shared states: reading a state through its own summary keeps it private."""
        kernel = mechanism.probabilities[:, mechanism.states_of(np.asarray(self.section.space.vectors))]
        return self._column(kernel, [o.action for o in mechanism.outputs if o.action is not None])

    def _column(self, kernel: np.ndarray, actions: list[Recommendation]) -> _Column:
        each = np.array([float((self._upper(g, actions) * kernel).sum()) for g in self.grounds])
        return _Column(kernel, actions, each)

    def _upper(self, base: Ground, actions: list[Recommendation]) -> np.ndarray:
        return replace(self.section, ground=base).upper(self._table(base, actions))

    def _table(self, base: Ground, actions: list[Recommendation] | None) -> np.ndarray:
        """Losses [action, ω]; without actions those that choose the box."""
        problem = self.problem
        if not problem.real_actions:
            return losses(problem, actions or [], base.exact_omegas)
        values = np.array([float(w) for w in base.exact_omegas])
        low, high = map(float, needed(problem))
        numbers = np.linspace(low, high, GRID) if actions is None else np.array([float(a) for a in actions])  # type: ignore[arg-type]
        return float(problem.decision.weight) * problem.decision.loss.table(numbers, values)


def _believing(base: Ground, problem: Problem) -> Ground:
    return replace(base, problem=problem, masses=believed(problem, base.space).weights.floats())


def _game(regrets: np.ndarray) -> tuple[np.ndarray, tuple[Fraction, ...], float]:
    """Shares of the columns [column, prior] with the least worst regret, the weights that hold it up, and its value."""
    from scipy.optimize import linprog

    columns, priors = regrets.shape
    scale = float(np.abs(regrets).max()) or 1.0  # regrets of 1e30, or of 1e-24, are beyond the tolerances of linear programs
    upper = np.hstack([regrets.T / scale, -np.ones((priors, 1))])
    found = linprog(
        np.append(np.zeros(columns), 1.0),
        A_ub=upper,
        b_ub=np.zeros(priors),
        A_eq=np.append(np.ones(columns), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * columns + [(None, None)],
        method="highs",
    )
    shares = np.maximum(found.x[:columns], 0)
    duals = np.maximum(-found.ineqlin.marginals, 0)
    whole = np.floor(duals / duals.sum() * SHARES).astype(np.int64)
    whole[int(np.argmax(whole))] += SHARES - int(whole.sum())
    return shares / shares.sum(), tuple(Fraction(int(w), SHARES) for w in whole), scale * float(found.fun)


def _mixed(columns: Sequence[_Column], shares: np.ndarray) -> tuple[np.ndarray, list[Recommendation]]:
    """One kernel out of several on the same states, outputs with the same action merged."""
    held: dict[Recommendation, np.ndarray] = {}
    for share, column in zip(shares.tolist(), columns[: len(shares)], strict=True):
        if share <= 1e-12:
            continue
        for action, row in zip(column.actions, column.kernel, strict=True):
            held[action] = held.get(action, np.zeros(len(row))) + share * row
    actions = sorted(held, key=lambda a: (isinstance(a, str), a)) if all(not isinstance(a, tuple) for a in held) else list(held)
    return np.stack([held[a] for a in actions]), actions
