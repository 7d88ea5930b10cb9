"""A mechanism in a world that need not be its prior's: what following it loses, and how biased it is, in floats.

A *truth* changes the prior by a factor g for each respondent of a type (p′_t ∝ p_t·g_t), or by a factor for each value of ω.
Exponential factors g_t = e^(θ·v_t) move the mean of ω and nothing else that is not forced (least relative entropy).

Two roads. `ListedWorld` reweighs the finest states of the problem; any prior, any payoff. `SummedWorld` needs no list: a mechanism
that reads S = Σ_i w(θ_i) sees the law of S with the moments of ω given S (`mixtures`), so that
    E (a−ω)² = Σ_y q(y)·a_y² − 2·Σ_y r(y)·a_y + E ω²,      q = Σ_s P(s)·K(y|s),  r = Σ_s P(s)·E[ω|s]·K(y|s),
for any number of types and thousands of respondents. Other losses take the law of ω after y as a normal law with its mean and
variance there, and cells under a Dirichlet prior are drawn; such numbers are estimates and say so (`exact` is False).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from discreet.certify.value.laws import Listed, law_of
from discreet.design.comparison.evaluation import MOST_IN_WORLDS, Seen, recommended, seen, why_not_listed
from discreet.design.comparison.mixtures import Mixture, mean_of, variance_of_parts
from discreet.design.comparison.normal_laws import averaged, normal_replies
from discreet.design.comparison.outcome import Outcome
from discreet.design.concentrated.gaussian_sums import through
from discreet.design.ladder.mechanisms.noise import to_outputs
from discreet.errors import InputError
from discreet.mechanisms.integer_noise import IntegerNoise
from discreet.model.actions import Action
from discreet.model.decision import Decision
from discreet.model.iid_sum import why_not_iid_sum
from discreet.model.kernel import ClosedKernel, CountedKernel, GaussianKernel, TableKernel
from discreet.model.losses import SquaredLoss
from discreet.model.mechanism import Mechanism
from discreet.model.progression import Progression
from discreet.model.replies import best_replies, loss_table
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe
from discreet.on_demand import when_called

MOST_COUNTED = 20_000
"""Totals that tell a sum and a count, up to which their law is formed again for every truth."""
MOST_KEPT = 4_000_000
"""Entries of a kernel that is kept whole."""
NEGLIGIBLE = 1e-14


Replies = list[Action] | list[tuple[Action, ...]]
"""What each output recommends: an action, or one for each decision maker."""


def side_by_side(each: list[list[Action]]) -> Replies:
    """The replies of every decision maker to each output."""
    return each[0] if len(each) == 1 else list(zip(*each, strict=True))


def world(mechanism: Mechanism, beside: ListedWorld | SummedWorld | None = None) -> ListedWorld | SummedWorld:
    """The road for a mechanism: by sums where that is exact, else listed, else by sums; refused in words when none serves.

    Laws that were computed for another mechanism of the same problem, seen `beside` it, are kept.
    """
    found = _road(mechanism)
    if isinstance(found, SummedWorld) and isinstance(beside, SummedWorld):
        found.mixture = beside.mixture
    return found


def _road(mechanism: Mechanism) -> ListedWorld | SummedWorld:
    problem, summed = mechanism.problem, why_not_summed(mechanism) is None
    if summed and why_not_iid_sum(problem) is None and all(isinstance(d.loss, SquaredLoss) for d in problem.decisions):
        return SummedWorld(mechanism)
    if why_not_listed(mechanism) is None:
        return ListedWorld(mechanism)
    if summed:
        return SummedWorld(mechanism)
    if (reason := why_not_known(mechanism)) is None:
        return when_called("discreet.design.comparison.counted_world", "CountedWorld")(mechanism)
    raise InputError(
        "What happens under a wrong prior cannot be computed for this mechanism",
        found=reason,
        allowed="a problem whose states can be listed, or a mechanism that reads a weighted sum",
        remedy="try fewer respondents or types, or a prior that is iid or has a concentration",
    )


def why_not_known(mechanism: Mechanism) -> str | None:
    """Why neither road serves a mechanism; None when one does."""
    listed = why_not_listed(mechanism)
    summed = why_not_summed(mechanism) if listed else None
    counted = summed and when_called("discreet.design.comparison.counted_world", "is_counted")(mechanism)
    return f"{listed}; {summed}" if summed and not counted else None


def why_not_summed(mechanism: Mechanism) -> str | None:
    """Why the law of a weighted sum does not serve; None when it does."""
    problem = mechanism.problem
    if not isinstance(mechanism.summary, LinearSummary):
        return "the mechanism does not read a weighted sum"
    if not isinstance(problem.universe, Universe) or problem.statistic.weights(problem.universe) is None:
        return "the statistic is not a sum, mean or count"
    totals = problem.people.largest * max(mechanism.summary.weights)
    if isinstance(mechanism.kernel, CountedKernel) and totals > MOST_COUNTED:
        return f"the sum and the count together have {totals:,} totals"
    return "histograms with probabilities of their own are not a sum" if isinstance(law_of(problem), Listed) else None


def _numbers(actions: Sequence[Action]) -> np.ndarray | None:
    """Actions as numbers; None where they are names."""
    if isinstance(actions, Progression):
        return actions.floats()
    return np.array([float(a) for a in actions]) if not any(isinstance(a, str) for a in actions) else None


class ListedWorld:
    """Every finest state with its mass; truths multiply the masses."""

    exact = True

    def __init__(self, mechanism: Mechanism, view: Seen | None = None) -> None:
        self.mechanism, self.problem = mechanism, mechanism.problem
        self.view: Seen = seen(mechanism) if view is None else view
        self.kernel = self.view.kernel
        self.actions = _numbers(recommended(mechanism))
        self.risk = sum(
            (float(d.weight) * self._risk(d, i) for i, d in enumerate(self.problem.decisions)),
            np.zeros(self.kernel.shape[1]),
        )

    def reading(self, mechanism: Mechanism) -> ListedWorld:
        """The same world for the same draws with other recommendations."""
        return ListedWorld(mechanism, self.view)

    def _risk(self, decision: Decision, maker: int) -> np.ndarray:
        """Expected loss of one decision maker at each state."""
        actions = recommended(self.mechanism, maker)
        table = loss_table(decision, actions, self.view.values)
        return np.asarray((self.kernel * table.take(self.view.column, axis=1)).sum(axis=0))

    @cached_property
    def counts(self) -> np.ndarray | None:
        """Counts of types [state, type]; None where databases are only named."""
        universe = self.problem.universe
        if not isinstance(universe, Universe):
            return None
        vectors = np.asarray(self.problem.finest().vectors)
        if self.problem.exchangeable:
            return vectors
        return universe.histograms_of(vectors)

    def by_type(self, factors: np.ndarray) -> Outcome:
        """The truth in which each respondent of type t is `factors[t]` times as likely, of the same size of cell."""
        counts = self.counts
        assert counts is not None
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = (
                counts @ np.log(factors) if factors.min() > 0 else np.where(counts > 0, counts * np.log(factors), 0.0).sum(axis=1)
            )
        return self._outcome(self._within_sizes(logs))

    @cached_property
    def _sizes(self) -> list[np.ndarray]:
        """The states that may occur, of each size of cell."""
        sizes = np.zeros(len(self.view.masses)) if self.counts is None else self.counts.sum(axis=1)
        likely = np.flatnonzero(self.view.masses > 0)
        return [likely[sizes[likely] == n] for n in np.unique(sizes[likely])]

    @cached_property
    def _values(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """The values of ω with their masses and the mean risk and bias at each, of each size of cell."""
        found = []
        for at in self._sizes:
            which, masses = self.view.column[at], self.view.masses[at]
            sums = [np.bincount(which, weights) for weights in (masses, masses * self.risk[at], masses * self._biases[at])]
            held = np.flatnonzero(sums[0])
            total, risk, bias = (each[held] for each in sums)
            values = np.array([float(self.view.values[k]) for k in held.tolist()])
            found.append((values, total, risk / total, bias / total))
        return found

    @cached_property
    def _biases(self) -> np.ndarray:
        """The bias of the first decision's action at each state; nothing where actions are names."""
        return np.zeros(len(self.risk)) if self.actions is None else self.actions @ self.kernel - self.view.omegas

    def _within_sizes(self, logs: np.ndarray) -> np.ndarray:
        """Masses times factors, with every size of cell as likely as before."""
        if len(self._sizes) == 1 and len(self._sizes[0]) == len(logs):
            return _raised(self.view.masses, logs)
        raised = np.zeros(len(logs))
        for at in self._sizes:
            raised[at] = _raised(self.view.masses[at], logs[at])
        return raised

    def tilted(self, theta: float) -> Outcome:
        """The truth with weights e^(θ·ω): nothing but ω matters for how likely a state is."""
        parts = [(part, *each) for part, each in self._at_values(theta)]
        total = sum(float(part.sum()) for part, *_ in parts)
        mean, loss, bias = (sum(float(part @ each[k]) for part, *each in parts) / total for k in (0, 2, 3))
        return Outcome(mean, loss, None if self.actions is None else bias)

    def mean_at(self, theta: float) -> float:
        """The mean of ω in that truth."""
        parts = [(part, each[0]) for part, each in self._at_values(theta)]
        return float(sum(part @ values for part, values in parts) / sum(part.sum() for part, _ in parts))

    def _at_values(self, theta: float) -> list[tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]]:
        """How likely the values of ω are in that truth, with all that is known of each."""
        return [(_raised(each[1], theta * each[0]), each) for each in self._values]

    @cached_property
    def variance(self) -> float:
        """Of ω under the prior."""
        mean = self.view.masses @ self.view.omegas
        return float(self.view.masses @ (self.view.omegas - mean) ** 2)

    def _tilt(self, theta: float) -> np.ndarray:
        centre = float(self.view.masses @ self.view.omegas)
        return self._within_sizes(theta * (self.view.omegas - centre))

    def replies(self, thetas: list[float]) -> Replies:
        """The best replies to each output when every tilt is as likely as the others."""
        masses = np.mean([self._tilt(theta) for theta in thetas], axis=0)
        values = self.view.values
        onto = np.zeros((len(masses), len(values)))
        onto[np.arange(len(masses)), self.view.column] = masses
        return side_by_side([best_replies(d, self.kernel @ onto, values).actions for d in self.problem.decisions])

    def chances(self, thetas: list[float]) -> np.ndarray:
        """The probability of each output when every tilt is as likely as the others."""
        return np.asarray(self.kernel @ np.mean([self._tilt(theta) for theta in thetas], axis=0))

    def _outcome(self, masses: np.ndarray) -> Outcome:
        masses = masses / masses.sum()
        mean = float(masses @ self.view.omegas)
        bias = None if self.actions is None else float(masses @ self._biases)
        return Outcome(mean, float(masses @ self.risk), bias)


def _raised(masses: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Masses times e^logs, with the same sum as before."""
    part = masses * np.exp(logs - logs.max())
    return np.asarray(part * (masses.sum() / part.sum()))


class SummedWorld:
    """Respondents seen through a weighted sum; truths change the probabilities of types."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, self.problem = mechanism, mechanism.problem
        problem = self.problem
        weights, law = problem.statistic.weights(problem.people), law_of(problem)
        assert weights is not None and law is not None
        self.values = np.array([float(v) for v in weights])
        self.mixture = Mixture(law, self.values)
        self.likely = np.array([law.mean(t) > 0 for t in range(len(weights))])
        each = [recommended(mechanism, i) for i in range(len(problem.decisions))]
        self._recommended = [(actions, _numbers(actions)) for actions in each]
        self.actions = self._recommended[0][1]
        self._kept: dict[bytes, tuple[float, int, np.ndarray, np.ndarray]] = {}
        self._rows_kept: list[np.ndarray] = []

    def reading(self, mechanism: Mechanism) -> SummedWorld:
        """The same world for the same draws with other recommendations: laws that were computed are kept."""
        other = SummedWorld(mechanism)
        other._kept, other._rows_kept, other.mixture = self._kept, self._rows_kept, self.mixture
        return other

    @property
    def _width(self) -> int:
        return self.mechanism.kernel.width

    @property
    def exact(self) -> bool:
        return self.mixture.exact and all(isinstance(d.loss, SquaredLoss) for d in self.problem.decisions)

    @cached_property
    def variance(self) -> float:
        """Of ω under the prior."""
        return variance_of_parts(self.mixture.own, self.values)

    def mean_at(self, theta: float) -> float:
        """The mean of ω in the tilted truth, without reading the mechanism."""
        return mean_of(self.mixture.truth(self._factors(theta)), self.values)

    def by_type(self, factors: np.ndarray) -> Outcome:
        """The truth in which each respondent of type t is `factors[t]` times as likely."""
        return self._read(*self._seen(factors))

    def tilted(self, theta: float) -> Outcome:
        """The truth with probabilities p_t·e^(θ·v_t)."""
        return self.by_type(self._factors(theta))

    def _factors(self, theta: float) -> np.ndarray:
        logs = theta * self.values
        return np.exp(np.minimum(logs - logs[self.likely].max(), 0.0))

    def replies(self, thetas: list[float]) -> Replies:
        """The best replies to each output when every tilt is as likely as the others, from the mean and deviation of ω there."""
        q, r, t = 0.0, 0.0, 0.0
        for theta in thetas:
            mean, _, _, (one, two, three) = self._seen(self._factors(theta))
            q, r, t = q + one, r + mean * one + two, t + mean**2 * one + 2 * mean * two + three
        safe = np.maximum(q, np.finfo(float).tiny)
        lowest, highest = (float(w) for w in self.problem.omega_range)
        centre = np.clip(r / safe, lowest, highest)
        variance = np.maximum(t / safe - centre**2, 0.0)
        return side_by_side([normal_replies(self.problem, d, centre, variance) for d in self.problem.decisions])

    def chances(self, thetas: list[float]) -> np.ndarray:
        """The probability of each output when every tilt is as likely as the others."""
        return np.asarray(np.mean([self._seen(self._factors(theta))[3][0] for theta in thetas], axis=0))

    def after_outputs(self) -> tuple[float, np.ndarray, np.ndarray, float]:
        """Under the prior: E ω, the probability of each output, E[(ω − E ω)·1(output)], and Var ω."""
        mean, _, _, (q, r, t) = self._seen(np.ones(len(self.values)))
        return mean, q, r, float(t.sum())

    def _seen(self, factors: np.ndarray) -> tuple[float, int, np.ndarray, np.ndarray]:
        """The mean of ω in a truth, the first total, moments of ω − mean at each total, and after each output."""
        key = factors.tobytes()
        if key not in self._kept:
            mean, first, moments = self.mixture.moments(factors, self.mechanism.weighted_sum.weights)
            self._kept[key] = mean, first, moments, self._after(first, moments)
        return self._kept[key]

    def _read(self, mean: float, first: int, moments: np.ndarray, after: np.ndarray) -> Outcome:
        """From the moments of ω − mean after each output to the loss."""
        q, r, t = after
        loss = 0.0
        for i, decision in enumerate(self.problem.decisions):
            actions, numbers = self._recommended[i]
            if isinstance(decision.loss, SquaredLoss) and numbers is not None:
                b = numbers - mean
                part = float(b**2 @ q - 2 * (b @ r) + t.sum())
            else:
                part = self._estimated(decision, actions, mean, first, moments)
            loss += float(decision.weight) * part
        bias = None if self.actions is None else float((self.actions - mean) @ q - r.sum())
        return Outcome(mean, loss, bias, self.exact)

    def _after(self, first: int, moments: np.ndarray, clips: bool = True) -> np.ndarray:
        """Each moment [·, output] = Σ_s moment(s)·K(output|s); of totals that are clipped already, none is moved."""
        kernel, summary = self.mechanism.kernel, self.mechanism.weighted_sum
        totals = np.arange(first, first + moments.shape[1])
        if isinstance(kernel, TableKernel):
            place = {total: i for i, total in enumerate(self.mechanism.space.vectors[:, 0].tolist())}
            held = [(i, place[summary.clip(s)]) for i, s in enumerate(totals.tolist()) if summary.clip(s) in place]
            came, at = np.array([i for i, _ in held]), np.array([k for _, k in held])
            onto = np.stack([np.bincount(at, row[came], len(place)) for row in moments])
            return np.asarray(onto @ self.mechanism.probabilities.T)
        low, placed = int(totals[0]), moments
        if clips:
            low = summary.clip(low)
            clipped = np.array([summary.clip(s) for s in totals.tolist()]) - low
            placed = np.stack([np.bincount(clipped, row) for row in moments]).astype(np.float64)
        match kernel:
            case CountedKernel():
                return kernel.after(placed, low)
            case GaussianKernel():
                return through(kernel, placed, low)
            case ClosedKernel():
                return to_outputs(placed, low, IntegerNoise.of(kernel), kernel.low, kernel.high)

    def _rows(self, first: int, count: int) -> np.ndarray:
        """K(output|s) [total, output] for so many totals from the first; the kernel's own rows are kept for other truths."""
        kernel, summary = self.mechanism.kernel, self.mechanism.weighted_sum
        if isinstance(kernel, CountedKernel):
            return np.exp(kernel.logs_at(np.arange(kernel.width), kernel.capped(np.arange(first, first + count)))).T
        if kernel.by_state or kernel.width**2 > MOST_KEPT:
            return self._after(first, np.eye(count))
        low = kernel.first_place
        if not self._rows_kept:
            self._rows_kept.append(self._after(low, np.eye(kernel.width), clips=False))
        return self._rows_kept[0][[summary.clip(s) - low for s in range(first, first + count)]]

    def _estimated(self, decision: Decision, actions: Sequence[Action], mean: float, first: int, moments: np.ndarray) -> float:
        """Another loss, with ω at each total (at each output, where pairs are too many) as a normal law."""
        width = self._width
        if moments.shape[1] * width <= MOST_IN_WORLDS:
            held = np.flatnonzero(moments[0] > 0)
            kernel = self._rows(first, moments.shape[1])[held]
            q, r, t = moments[:, held]
            return float(q @ (kernel * averaged(self.problem, decision, actions, mean + r / q, t / q - (r / q) ** 2)).sum(axis=1))
        q, r, t = self._after(first, moments)
        held = np.flatnonzero(q > NEGLIGIBLE * q.sum())
        q, r, t = q[held], r[held], t[held]
        chosen = [actions[i] for i in held.tolist()]
        each = [
            averaged(self.problem, decision, [a], np.array([m]), np.array([v]))[0, 0]
            for a, m, v in zip(chosen, (mean + r / q).tolist(), (t / q - (r / q) ** 2).tolist(), strict=True)
        ]
        return float(q @ np.array(each))
