"""The best mechanism that reads only the statistic, beside the best of all: what the restriction costs.

Plain noise and publishing nothing read no more than the statistic, so a search that ends too early is never worse than these.
"""

from __future__ import annotations

from dataclasses import replace

from discreet.design.certified import Proofs
from discreet.design.comparison.information import NoInformation
from discreet.design.comparison.large import large_proposal
from discreet.design.comparison.noise import FaceValue
from discreet.design.result import Design
from discreet.design.routes.oblivious import Oblivious
from discreet.design.routes.route import Asked
from discreet.design.schedule import DEFAULT_SECONDS, Until, now
from discreet.design.units import Units
from discreet.model.record import Step


def restricted(best: Design, gap: float, watch: Until) -> Design:
    """The best mechanism that reads only the statistic, and what that costs against the best of all."""
    problem = best.mechanism.problem
    begun = now()
    route, units = Oblivious(), Units.of(problem)
    proposal = units.restored(route.propose(units.inner, Asked(gap, DEFAULT_SECONDS, watch)))
    solved = now()
    step = route.taken(problem, proposal)
    proofs = Proofs(problem)
    proofs.keep(*proofs.proved(replace(proposal, witness=best.claim.witness), step))
    _nothing_worse_than_noise(proofs, best, units)
    mechanism, certificate = proofs.settled()
    took = {"solve": solved - begun, "certify": now() - solved}
    assert proofs.best is not None
    price = float(best.value - (certificate.optimality.value if certificate.optimality else 0))
    steps = (proofs.best.step, *(replace(s, applied=False, reason=f"not asked for ({s.reason})") for s in best.steps))
    proved = replace(best, mechanism=mechanism, certificate=certificate)
    return replace(proved, steps=steps, seconds=took, within="oblivious", price=price)


def _nothing_worse_than_noise(proofs: Proofs, best: Design, units: Units) -> None:
    """Publish plain noise on the statistic, or nothing, where a restricted search ended before it came so far."""
    for name in (FaceValue.name, NoInformation.name):
        shown = best.baselines.get(name)
        if shown is None or shown.value is None or proofs.best is None or shown.value <= float(proofs.best.value):
            continue
        proposal = large_proposal(units.inner, name)
        if proposal is not None:
            words = f"the search found nothing better in the time: {proposal.words}"
            proofs.keep(*proofs.proved(units.restored(proposal), Step(f"baseline {name}", True, "", words)))
