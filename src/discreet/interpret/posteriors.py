"""Posteriors after one or many published values: about the statistic, the database, or one respondent.

π(x | s_1 … s_k) = π(x) Π_j m_j(s_j | x) / p(s_1 … s_k),   p(s_1 … s_k) = Σ_x π(x) Π_j m_j(s_j | x).

Exact for finite mechanisms under any prior of `model`. Floating point works with logarithms, so improbable outputs do
not underflow; with `exact=True` every probability is a rational. Several values count as independent given the
database.

References: SY section 2 (posteriors), BG eq. (9). Implements the formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp

import numpy as np

from discreet.errors import InputError
from discreet.interpret.beliefs import Beliefs, beliefs
from discreet.interpret.channel import exact_likelihood, log_likelihood, position_of
from discreet.interpret.regions import (
    CredibleSet,
    equal_tailed,
    exact_quantile,
    highest_density,
    quantile_positions,
)
from discreet.model.mechanism import Mechanism
from discreet.model.priors import IndependentPrior, Prior, TablePrior
from discreet.model.statistic import TableStatistic
from discreet.model.universe import ListedUniverse, Universe
from discreet.numerics.arrays import Floats
from discreet.numerics.logspace import log_sum_exp

Release = tuple[Mechanism, str | int | Fraction]


@dataclass(frozen=True, eq=False)
class Posterior:
    """Probabilities of labelled possibilities; `values` are their numbers when they have an order.

    `probability` is that of the published values under the prior; `exact` holds rationals when they were asked for.
    """

    about: str
    labels: tuple[str, ...]
    values: tuple[Fraction, ...] | None
    probabilities: Floats
    log_probability: float
    exact: tuple[Fraction, ...] | None = None
    exact_probability: Fraction | None = None

    @property
    def probability(self) -> float:
        """P(published values) under the prior."""
        return exp(self.log_probability)

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        """The values, refused for possibilities that are no numbers."""
        if self.values is None:
            raise InputError(
                f"A posterior about the {self.about} has no order",
                found=self.about,
                allowed="the statistic",
                remedy="ask for the posterior about the statistic",
            )
        return self.values

    def mean(self) -> float:
        """E[ω | s]."""
        return float(np.dot(self.probabilities, [float(v) for v in self.numbers]))

    def exact_mean(self) -> Fraction:
        """E[ω | s] as a rational."""
        return sum((p * v for p, v in zip(self._exact(), self.numbers, strict=True)), Fraction(0))

    def variance(self) -> float:
        """Var(ω | s)."""
        centred = np.array([float(v) for v in self.numbers]) - self.mean()
        return float(np.dot(self.probabilities, centred**2))

    def quantile(self, q: float | Fraction) -> Fraction:
        """The smallest value with cumulative probability at least q, decided exactly when the posterior is exact."""
        if not 0 <= q <= 1:
            raise InputError("A quantile needs a probability", found=str(q), allowed="0 to 1", remedy="correct it")
        if self.exact is not None:
            return self.numbers[exact_quantile(self.exact, Fraction(q))]
        return self.numbers[int(quantile_positions(self.probabilities, float(q)))]

    def interval(self, level: float = 0.9) -> tuple[Fraction, Fraction]:
        """The equal-tailed credible interval."""
        found = self.credible_set(level)
        return self.numbers[found.first], self.numbers[found.last]

    def credible_set(self, level: float = 0.9, kind: str = "equal-tailed") -> CredibleSet:
        """A credible set, `equal-tailed` or `highest-density` (the latter also without order)."""
        if kind == "highest-density":
            return highest_density(self.probabilities, level)
        if kind != "equal-tailed":
            raise InputError(
                "This kind of credible set is not known",
                found=kind,
                allowed=["equal-tailed", "highest-density"],
                remedy="choose one of these",
            )
        assert self.numbers
        return equal_tailed(self.probabilities, level)

    def mode(self) -> str:
        """The label of the most probable possibility, the first among equals."""
        return self.labels[int(np.argmax(self.probabilities))]

    def _exact(self) -> tuple[Fraction, ...]:
        if self.exact is None:
            raise InputError(
                "This posterior was computed in floating point",
                found="exact=False",
                allowed="exact=True",
                remedy="compute it with exact=True",
            )
        return self.exact


def posterior(
    mechanism: Mechanism,
    output: str | int | Fraction,
    prior: Prior | None = None,
    *,
    about: str = "statistic",
    respondent: int = 0,
    exact: bool = False,
) -> Posterior:
    """The posterior after one published value; `about` is `statistic`, `database` or `respondent`."""
    return posterior_after([(mechanism, output)], prior, about=about, respondent=respondent, exact=exact)


def posterior_after(
    releases: Sequence[Release],
    prior: Prior | None = None,
    *,
    about: str = "statistic",
    respondent: int = 0,
    exact: bool = False,
) -> Posterior:
    """The posterior after several values published about the same database."""
    if about not in ("statistic", "database", "respondent"):
        raise InputError(
            "A posterior is about something else",
            found=about,
            allowed=["statistic", "database", "respondent"],
            remedy="choose one of these",
        )
    if not releases:
        raise InputError(
            "There are no published values",
            found="an empty list",
            allowed="at least one",
            remedy="give a value",
        )
    mechanisms = [m for m, _ in releases]
    places = [position_of(m, s) for m, s in releases]
    prior = mechanisms[0].problem.prior if prior is None else prior
    if about == "respondent":
        return _about_respondent(mechanisms, places, prior, respondent, exact)
    held = beliefs(mechanisms, prior, exact=exact)
    logs, evidence = _atoms(held, mechanisms, places)
    rationals, chance = _exact_atoms(held, mechanisms, places) if exact else (None, None)
    if about == "database":
        return Posterior(held.kind, held.labels, None, np.exp(logs), evidence, rationals, chance)
    gathering = np.bincount(held.omega, weights=np.exp(logs), minlength=len(held.values))
    probabilities = np.asarray(gathering, dtype=np.float64)
    gathered = None
    if rationals is not None:
        sums = [Fraction(0)] * len(held.values)
        for place, p in zip(held.omega.tolist(), rationals, strict=True):
            sums[place] += p
        gathered = tuple(sums)
    labels = tuple(str(v) for v in held.values)
    return Posterior("statistic", labels, held.values, probabilities, evidence, gathered, chance)


def _atoms(held: Beliefs, mechanisms: Sequence[Mechanism], places: Sequence[int]) -> tuple[Floats, float]:
    """Log posterior of each atom and log evidence."""
    logs = held.log_weights.copy()
    for mechanism, place in zip(mechanisms, places, strict=True):
        logs = logs + log_likelihood(mechanism, place, held.vectors, held.kind)
    evidence = float(log_sum_exp(logs))
    if evidence == -np.inf:
        raise impossible()
    return logs - evidence, evidence


def _exact_atoms(held: Beliefs, mechanisms: Sequence[Mechanism], places: Sequence[int]) -> tuple[tuple[Fraction, ...], Fraction]:
    assert held.exact is not None
    joint = [held.exact[i] for i in range(len(held))]
    for mechanism, place in zip(mechanisms, places, strict=True):
        chances = exact_likelihood(mechanism, place, held.vectors, held.kind)
        joint = [a * b for a, b in zip(joint, chances, strict=True)]
    evidence = sum(joint, Fraction(0))
    if evidence == 0:
        raise impossible()
    return tuple(p / evidence for p in joint), evidence


def impossible() -> InputError:
    """The prior gives no probability to what was published."""
    return InputError(
        "Under this prior the published values could not have come about",
        found="probability 0",
        allowed="a prior that gives some probability to a database which can produce them",
        remedy="check the value, or use a prior without zeros",
    )


def _about_respondent(
    mechanisms: Sequence[Mechanism], places: Sequence[int], prior: Prior, respondent: int, exact: bool
) -> Posterior:
    """P(θ_i = t | s). For exchangeable priors any respondent, drawn at random when their number varies."""
    universe = mechanisms[0].problem.universe
    if isinstance(universe, ListedUniverse):
        raise InputError(
            "Databases listed by name have no respondents",
            found="a listed universe",
            allowed="respondents and types",
            remedy="ask about the database",
        )
    prior.check(universe)
    if not 0 <= respondent < universe.largest:
        raise InputError(
            "There is no such respondent",
            found=str(respondent),
            allowed=f"0 to {universe.largest - 1}",
            remedy="respondents are numbered from 0",
        )
    if isinstance(prior, IndependentPrior) and not prior.identical:
        return _independent_respondent(mechanisms, places, prior, respondent, exact, universe)
    ordered = isinstance(prior, TablePrior) and not prior.exchangeable(universe)
    statistic = _ordered_statistic(universe) if ordered else mechanisms[0].problem.statistic
    held = beliefs(mechanisms, prior, exact=exact, statistic=statistic)
    if held.kind == "total":
        raise InputError(
            "The posterior about one respondent needs the histograms listed",
            found=f"{universe.largest} respondents",
            allowed="fewer respondents or types",
            remedy="ask about the statistic",
        )
    logs, evidence = _atoms(held, mechanisms, places)
    if held.kind == "database":
        shares = [[Fraction(int(row[respondent] == t)) for t in range(universe.types)] for row in held.vectors]
    else:
        shares = [[Fraction(int(c), max(int(h.sum()), 1)) for c in h] for h in held.vectors]
    types = np.exp(logs) @ np.array([[float(s) for s in row] for row in shares])
    labels = tuple(str(t) for t in range(universe.types))
    found = Posterior("respondent", labels, None, types / types.sum(), evidence)
    if not exact:
        return found
    rationals, chance = _exact_atoms(held, mechanisms, places)
    columns = [sum((p * row[t] for p, row in zip(rationals, shares, strict=True)), Fraction(0)) for t in range(universe.types)]
    total = sum(columns, Fraction(0))
    return replace(found, exact=tuple(c / total for c in columns), exact_probability=chance)


def _ordered_statistic(universe: Universe) -> TableStatistic:
    """A statistic that looks at the order, so that whole databases are listed."""
    universe.must_list(universe.database_count, "databases", 100_000)
    return TableStatistic(tuple((",".join(map(str, d)), Fraction(0)) for d in universe.databases()), by="database")


def _independent_respondent(
    mechanisms: Sequence[Mechanism],
    places: Sequence[int],
    prior: IndependentPrior,
    i: int,
    exact: bool,
    universe: Universe,
) -> Posterior:
    """Bayes' rule for one respondent: p_it · P(s | θ_i = t), the others as the prior says."""
    joint: list[Fraction] = []
    logs: list[float] = []
    for t, chance in enumerate(prior.rows[i]):
        if chance == 0:
            joint.append(Fraction(0))
            logs.append(-np.inf)
            continue
        sure = tuple(Fraction(int(k == t)) for k in range(universe.types))
        held = beliefs(mechanisms, IndependentPrior((*prior.rows[:i], sure, *prior.rows[i + 1 :])), exact=exact)
        try:
            logs.append(float(np.log(float(chance))) + _atoms(held, mechanisms, places)[1])
            joint.append(chance * _exact_atoms(held, mechanisms, places)[1] if exact else Fraction(0))
        except InputError:
            logs.append(-np.inf)
            joint.append(Fraction(0))
    evidence = float(log_sum_exp(np.array(logs)))
    if evidence == -np.inf:
        raise impossible()
    labels = tuple(str(t) for t in range(universe.types))
    found = Posterior("respondent", labels, None, np.exp(np.array(logs) - evidence), evidence)
    if not exact:
        return found
    total = sum(joint, Fraction(0))
    return replace(found, exact=tuple(j / total for j in joint), exact_probability=total)
