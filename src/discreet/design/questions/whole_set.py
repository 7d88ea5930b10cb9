"""A mechanism for a prior that is known to lie in a set: the least worst regret over the whole set, from both sides.

minimise over private m   max over priors π of the set [ L_π(m) − r(π) ],   r(π) the least loss under π.

Cutting planes: the game over finitely many priors of the set (`robust`) proves how little any mechanism could lose, and proposes
one. Over the cells of the set `certify.whole_set` proves how much that mechanism loses at most. Where the largest regret is at a
prior that the game has not met, the prior joins the game; where it is only that a cell is too large to say, the cell is cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.certify.whole_set import Covered, Ends, Largest, below, best_below, largest_regret, masses_below, must_be_whole, risks
from discreet.design.best_mechanism import design
from discreet.design.questions.hedge import claim_of, restated, telling
from discreet.design.questions.robust import Robust, robust_design
from discreet.model.certificate import Certificate
from discreet.model.mechanism import Mechanism
from discreet.model.prior_set import PriorCell, PriorSet, WholeRegret, prior_at
from discreet.model.priors import Prior
from discreet.model.problem import Problem
from discreet.numerics.digits import at_least, at_most
from discreet.watch import SILENT, Deadline, Watch

GAP = Fraction(1, 50)
"""What may be left between the two sides of the worst regret, as a share of the largest best loss in the set."""
ROUNDS = 60
COARSE = 2
"""Cells are first cut until so many gaps are lost of their laws, then where the regret is largest."""
MOST_CELLS = 400


@dataclass(frozen=True, eq=False)
class WholeSet:
    """The mechanism under the problem's own prior, its regret over the set, and the cells with what proves it."""

    mechanism: Mechanism
    certificate: Certificate
    regret: WholeRegret
    covered: tuple[Covered, ...]
    met: tuple[Prior, ...]


def hedged_over(
    mechanism: Mechanism,
    certificate: Certificate,
    priors: PriorSet,
    watch: Watch = SILENT,
    *,
    gap: Fraction = GAP,
    seconds: float = 300.0,
    workers: int | None = 1,
) -> WholeSet:
    """The mechanism with the least worst regret over a whole set of priors, in place of one that was designed for one prior.

    Cancelling, or the end of the time, returns what is proved so far.
    """
    problem = mechanism.problem
    must_be_whole(problem)
    claim = claim_of(certificate)
    limited = Deadline(seconds, watch)
    search = _Search(problem, priors, gap, limited, workers)
    finished = search.settled()
    unhedged = max(one.upper for one in search.over(mechanism, search.pieces))
    stated, proof = restated(search.robust.mechanism, claim, mechanism.provenance, problem.prior)
    assert proof.optimality is not None
    worst = max(one.upper for one in search.regrets)
    regret = WholeRegret(worst, search.robust.proof.least, unhedged, claim.value - proof.optimality.value, finished)
    told = telling(stated, proof, _words(regret))
    return WholeSet(*told, regret, tuple(piece.covered for piece in search.pieces), tuple(search.met))


def _words(regret: WholeRegret) -> dict[str, str]:
    """The regret in the words that go with the mechanism: both sides were proved here, and are not by what goes with it."""
    return {
        "hedge": "every prior of the set that was learned with confidence",
        "hedge, worst regret": f"{at_most(regret.worst)} at most; no mechanism has less than {at_least(regret.least)}",
        "hedge, regret of the design alone": f"{at_most(regret.unhedged)} at most",
        "hedge, price": f"{at_most(regret.price)} at most if the prior is right",
    }


@dataclass(frozen=True, eq=False)
class _Piece:
    """A cell with the best loss in it from below, and what of the laws is lost there."""

    covered: Covered
    least: Ends
    lost: Fraction


class _Search:
    """Priors met so far, cells that cover the set, and the regret over each of them."""

    def __init__(self, problem: Problem, priors: PriorSet, gap: Fraction, watch: Watch, workers: int | None) -> None:
        self.problem, self.gap, self.watch, self.workers = problem, gap, watch, workers
        self.met: list[Prior] = list(dict.fromkeys(prior_at(*corner) for corner in priors.corners))
        self.pieces = [self._piece(cell) for cell in self._fine(list(priors.cells()))]
        self.robust: Robust
        self.regrets: list[Largest]

    @property
    def enough(self) -> Fraction:
        """What may be left between both sides."""
        return self.gap * max(high for _, high in self.robust.proof.best)

    def settled(self) -> bool:
        """Play and cut until both sides are within the gap; whether they are."""
        self._play()
        for _ in range(ROUNDS):
            worst = max(range(len(self.regrets)), key=lambda i: self.regrets[i].upper)
            found, piece = self.regrets[worst], self.pieces[worst]
            left = found.upper - self.robust.proof.least
            self.watch.report(stage="over the whole set", value=-float(found.upper), bound=-float(self.robust.proof.least))
            if left <= self.enough:
                return True
            if self.watch.cancelled():
                return False
            there = prior_at(*found.at)
            new = found.seen > self.robust.proof.worst + self.enough / 8 and there not in self.met
            if new and piece.lost * 8 <= self.gap:
                self.met.append(there)
                self._play()
            else:
                halves = [self._piece(half) for half in self._halves(piece.covered.cell)]
                self.pieces[worst : worst + 1] = halves
                self.regrets[worst : worst + 1] = self.over(self.robust.mechanism, halves)
        return False

    def _play(self) -> None:
        self.robust = robust_design(self.problem, self.met, self.watch, gap=float(self.gap) / 8, workers=self.workers)
        self.regrets = self.over(self.robust.mechanism, self.pieces)

    def over(self, mechanism: Mechanism, pieces: Sequence[_Piece]) -> list[Largest]:
        """The regret of a mechanism over each piece."""
        at = risks(replace(mechanism, problem=self.problem))
        return [largest_regret(self.problem, at, one.least, one.covered.cell, self.enough / 8) for one in pieces]

    def _fine(self, cells: list[PriorCell]) -> list[PriorCell]:
        """Cells cut until what is lost of their laws matters little."""
        found: list[PriorCell] = []
        while cells:
            cell = cells.pop()
            if self.watch.cancelled() or self._lost(cell) <= COARSE * self.gap or len(cells) + len(found) >= MOST_CELLS:
                found.append(cell)
            else:
                cells += self._halves(cell)
        return found

    def _halves(self, cell: PriorCell) -> tuple[PriorCell, PriorCell]:
        """The cell in two, the way that loses less."""
        ways = [cell.halves(across) for across in ((False, True) if cell.correlations[0] < cell.correlations[1] else (False,))]
        return min(ways, key=lambda halves: sum(map(self._lost, halves)))

    def _lost(self, cell: PriorCell) -> Fraction:
        return 1 - min(masses_below(self.problem, cell))

    def _piece(self, cell: PriorCell) -> _Piece:
        """A cell with the bound of the best design at each of its corners; with none where time is over or nothing is in common."""
        lost = self._lost(cell)
        witnesses = []
        if lost < 1 and not self.watch.cancelled():
            for there, _ in below(self.problem, cell):
                claim = design(there, gap=float(self.gap) / 8, compare=False).certificate.optimality
                assert claim is not None
                witnesses.append(claim.witness)
        covered = Covered(cell, tuple(witnesses))
        return _Piece(covered, best_below(self.problem, covered), lost)
