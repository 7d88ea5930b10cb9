"""A mechanism for a prior that may be wrong: the least worst-case regret over a finite set of priors.

minimise over private m   max_k [ L_k(m) − r_k ],   r_k the least loss under prior k (or 0: worst-case loss).
This is the linear program of a design with one more variable, solved by exchange: for weights λ on the priors the best m
is a plain design under the mixture prior Σ λ_k π_k; the mixtures of the mechanisms found so far form a small program whose
multipliers are the next λ. Any λ proves a bound (certify.robust), so the exchange stops when both sides meet. A mixture of
private mechanisms on the same states is private; it is rounded and proved like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.certify.robust import RobustProof, mixture, robust_proof
from discreet.design.continuous import reaching, real_loss
from discreet.design.front import AsPayoffs, certified, design
from discreet.design.ground import Ground, Recommendation, Section, ground, losses, recommendations
from discreet.design.programmed import (
    Proposal,
    dual_witness,
    exact_kernel,
    first_tolerance,
    solvable,
    standing,
    truncated,
)
from discreet.design.regret import under
from discreet.design.result import Design, Step
from discreet.design.side_by_side import side_by_side
from discreet.design.solver.pricing import solve_priced
from discreet.design.solver.program import Program
from discreet.design.solver.real import solve_real
from discreet.design.solver.repair import repair
from discreet.errors import InputError
from discreet.model.actions import RealActions
from discreet.model.certificate import Certificate, DualWitness
from discreet.model.mechanism import Mechanism
from discreet.model.priors import Prior
from discreet.model.problem import Problem, believed
from discreet.model.replies import best_replies, loss_table
from discreet.watch import SILENT, Deadline, Watch

ROUNDS = 40
COARSE = 3e-3
"""Relative gap of the first answers; later ones are as fine as what is left of the game asks for."""
SHARES = 10**6
"""Weights on priors are multiples of one in a million, so that the mixture prior is a short exact number."""
GRID = 240


@dataclass(frozen=True, eq=False)
class Robust:
    """The robust mechanism with its certificate under the mixture, the proof of its worst regret, and what it is compared to.

    `plain` holds, for each prior, the loss of following the mechanism designed for the first prior alone.
    """

    mechanism: Mechanism
    certificate: Certificate
    priors: tuple[Prior, ...]
    weights: tuple[Fraction, ...]
    references: tuple[Design, ...]
    proof: RobustProof
    plain: tuple[float, ...]
    rounds: int
    status: str

    @property
    def price(self) -> float:
        """What robustness costs when the first prior is true."""
        return float(self.proof.losses[0] - self.references[0].loss)


@dataclass(frozen=True, eq=False)
class _Column:
    """A private kernel on the shared states with its loss under each prior."""

    kernel: np.ndarray
    actions: list[Recommendation]
    losses: np.ndarray


@dataclass(frozen=True, eq=False)
class _Answer:
    """The best mechanism for one mixture, the bound it proves and the multipliers that prove it."""

    column: _Column
    bound: float
    nodes: list[Recommendation]
    multipliers: np.ndarray
    level: float


def robust_design(
    problem: Problem,
    priors: Sequence[Prior],
    watch: Watch = SILENT,
    *,
    gap: float = 1e-4,
    seconds: float = 120.0,
    workers: int | None = None,
) -> Robust:
    """The mechanism with the least worst regret over `priors` (the first is the designer's own), with its proof.

    `gap` bounds what is left between the two sides of the worst regret, as a share of the largest best loss.
    """
    if len(priors) < 2 or len(set(priors)) != len(priors):
        raise InputError(
            "A robust design needs several different priors", found=f"{len(set(priors))}", allowed="two or more",
            remedy="add an alternative prior",
        )
    limited = Deadline(seconds, watch)
    tasks = [(replace(problem, prior=p), gap / 4, seconds) for p in priors]
    found = side_by_side(reference_design, tasks, limited, workers, "reference")
    references = [r if r is not None else reference_design(t, limited) for r, t in zip(found, tasks, strict=True)]
    exchange = _Exchange(problem, priors, np.array([float(r.loss) for r in references]), gap, limited)
    shares, weights, status = exchange.settled()
    mechanism, certificate = exchange.rounded(shares, weights)
    proof = robust_proof(
        mechanism, certificate, priors, weights, [(r.mechanism, r.certificate) for r in references]
    )
    plain = tuple(under(references[0].mechanism, replace(problem, prior=p)).followed for p in priors)
    return Robust(
        mechanism, certificate, tuple(priors), weights, tuple(references), proof, plain, exchange.rounds, status
    )


def reference_design(task: tuple[Problem, float, float], watch: Watch) -> Design:
    """The best mechanism under one prior."""
    problem, gap, seconds = task
    return design(problem, watch, gap=gap, seconds=seconds, compare=False)


class _Exchange:
    """Mechanisms found so far and the game between their mixture and the priors."""

    def __init__(
        self, problem: Problem, priors: Sequence[Prior], best: np.ndarray, gap: float, watch: Watch
    ) -> None:
        self.problem, self.priors, self.best, self.gap, self.watch = problem, priors, best, gap, watch
        self.hears = AsPayoffs(watch)
        self.epsilon = solvable(problem.epsilon)
        self.scale = max(float(np.abs(best).max()), 1e-12)
        self.rounds = 0
        even = tuple(Fraction(1, len(priors)) for _ in priors)
        base = ground(mixture(problem, priors, even))
        self.grounds = [_believing(base, replace(problem, prior=p)) for p in priors]
        self.actions = None if problem.real_actions else recommendations(problem)
        self.table = self._table(base)
        tolerance = first_tolerance(base, self.table, gap / (4 * len(priors)))
        self.section = truncated(base, self.table, tolerance)
        self.columns: list[_Column] = []
        self.answers: dict[tuple[Fraction, ...], _Answer] = {}

    def settled(self) -> tuple[np.ndarray, tuple[Fraction, ...], str]:
        """Shares of the columns and the weights with the best bound."""
        count = len(self.priors)
        finest = self.gap / 4
        level = max(finest, COARSE)
        for k in range(count):
            self._answer(tuple(Fraction(int(k == j)) for j in range(count)), level)
        least, proving = -np.inf, next(iter(self.answers))
        while True:
            self.rounds += 1
            shares, weights, worst = _game(np.stack([c.losses for c in self.columns]) - self.best)
            known = self.answers.get(weights)
            if known is not None and known.level <= level:
                level = finest
            if known is None or known.level > level:
                self._answer(weights, level)
            for tried, answer in self.answers.items():
                bound = answer.bound - float(np.array([float(w) for w in tried]) @ self.best)
                if bound > least:
                    least, proving = bound, tried
            self.watch.report(stage="robust", value=-worst, bound=-least)
            level = max(finest, min(level, 0.1 * (worst - least) / self.scale))
            if worst - least <= self.gap * self.scale:
                return shares, proving, "optimal"
            if self.watch.cancelled() or self.rounds >= ROUNDS:
                return shares, proving, "cancelled" if self.watch.cancelled() else "round limit"

    def rounded(self, shares: np.ndarray, weights: tuple[Fraction, ...]) -> tuple[Mechanism, Certificate]:
        """The mixture of the columns as an exact mechanism for the mixture prior, proved."""
        kernel, actions = _mixed(self.columns, shares)
        mixed = [float(w) for w in weights]
        cost = sum(w * self._upper(g, actions) for w, g in zip(mixed, self.grounds, strict=True))
        exact = exact_kernel(self.section, kernel, actions, np.asarray(cost), self.epsilon)
        answer = self.answers[weights]
        witness: DualWitness = dual_witness(
            self.section, answer.nodes, standing(answer.multipliers, self.problem.epsilon),
            chord=self.problem.real_actions,
        )
        proposal = Proposal(
            self.section.summary, exact, witness, "robust program", len(self.section.space), "optimal"
        )
        words = f"least worst regret over {len(self.priors)} priors; the bound stands under their mixture"
        step = Step("robust program", True, "minimax duality", words)
        return certified(mixture(self.problem, self.priors, weights), proposal, [step], None)

    def _answer(self, weights: tuple[Fraction, ...], level: float) -> None:
        """The best mechanism under the mixture, as a new column and a new bound."""
        masses = sum(float(w) * g.masses for w, g in zip(weights, self.grounds, strict=True))
        base = replace(self.section.ground, masses=np.asarray(masses))
        section = replace(self.section, ground=base)
        answer = self._real(section, level) if self.actions is None else self._listed(section, self.actions, level)
        self.answers[weights] = answer
        self.columns.append(answer.column)

    def _listed(self, section: Section, actions: list[Recommendation], level: float) -> _Answer:
        lower, rest = section.lower(self.table)
        program = Program(lower, section.space.edges, float(self.epsilon))
        found = solve_priced(program, level, self.hears)
        column = self._column(repair(found.kernel, program), actions)
        return _Answer(column, found.bound + rest, actions, found.multipliers, level)

    def _real(self, section: Section, level: float) -> _Answer:
        base, problem = section.ground, self.problem
        loss = real_loss(problem.decision, base.masses[section.inside], base.omegas[section.inside])
        found = solve_real(loss, section.space.edges, float(self.epsilon), level, self.hears)
        program = Program(loss.cost(found.actions), section.space.edges, float(self.epsilon))
        kernel = repair(found.kernel, program)
        joint = np.zeros((len(section.space), len(base.exact_omegas)))
        np.add.at(joint, (section.image, base.column), base.masses)
        replies = best_replies(problem.decision, kernel @ joint, base.exact_omegas).actions
        nodes, flows = reaching(found, problem.omega_range)
        return _Answer(self._column(kernel, list(replies)), found.bound, list(nodes), flows, level)

    def _column(self, kernel: np.ndarray, actions: list[Recommendation]) -> _Column:
        each = np.array([float((self._upper(g, actions) * kernel).sum()) for g in self.grounds])
        return _Column(kernel, actions, each)

    def _upper(self, base: Ground, actions: list[Recommendation]) -> np.ndarray:
        return replace(self.section, ground=base).upper(self._table(base, actions))

    def _table(self, base: Ground, actions: list[Recommendation] | None = None) -> np.ndarray:
        """Losses [action, ω]; without actions those that choose the box."""
        problem = self.problem
        if not problem.real_actions:
            return losses(problem, actions or self.actions or [], base.exact_omegas)
        assert isinstance(problem.decision.actions, RealActions)
        values = np.array([float(w) for w in base.exact_omegas])
        numbers = (
            np.linspace(values[0], values[-1], GRID) if actions is None else np.array([float(a) for a in actions])  # type: ignore[arg-type]
        )
        return float(problem.decision.weight) * loss_table(problem.decision, numbers, values)


def _believing(base: Ground, problem: Problem) -> Ground:
    return replace(base, problem=problem, masses=believed(problem, base.space).weights.floats())


def _game(regrets: np.ndarray) -> tuple[np.ndarray, tuple[Fraction, ...], float]:
    """Shares of the columns [column, prior] with the least worst regret, the weights that hold it up, and its value."""
    from scipy.optimize import linprog

    columns, priors = regrets.shape
    upper = np.hstack([regrets.T, -np.ones((priors, 1))])
    found = linprog(
        np.append(np.zeros(columns), 1.0), A_ub=upper, b_ub=np.zeros(priors),
        A_eq=np.append(np.ones(columns), 0.0)[None, :], b_eq=[1.0],
        bounds=[(0, None)] * columns + [(None, None)], method="highs",
    )
    shares = np.maximum(found.x[:columns], 0)
    duals = np.maximum(-found.ineqlin.marginals, 0)
    whole = np.floor(duals / duals.sum() * SHARES).astype(np.int64)
    whole[int(np.argmax(whole))] += SHARES - int(whole.sum())
    return shares / shares.sum(), tuple(Fraction(int(w), SHARES) for w in whole), float(found.fun)


def _mixed(columns: Sequence[_Column], shares: np.ndarray) -> tuple[np.ndarray, list[Recommendation]]:
    """One kernel out of several on the same states, outputs with the same action merged."""
    held: dict[Recommendation, np.ndarray] = {}
    for share, column in zip(shares.tolist(), columns[: len(shares)], strict=True):
        if share <= 1e-12:
            continue
        for action, row in zip(column.actions, column.kernel, strict=True):
            held[action] = held.get(action, np.zeros(len(row))) + share * row
    actions = sorted(held, key=lambda a: (isinstance(a, str), a)) if all(
        not isinstance(a, tuple) for a in held
    ) else list(held)
    return np.stack([held[a] for a in actions]), actions
