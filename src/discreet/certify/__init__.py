"""The small trusted checker. It proves claims or returns counterexamples, and trusts no one who made them.

`privacy(mechanism)` decides ε exactly; `optimality(mechanism, claim)` checks value, bound and witness. Nothing here
imports a solver.
"""

from discreet.certify.edges.privacy import privacy
from discreet.certify.optimality import optimality

__all__ = ["optimality", "privacy"]
