"""Exchange: other people's mechanisms, tools and forms, to check, to improve and to hand over.

| room | what it exchanges |
|---|---|
| `finite_mechanism`, `finite_files` | anyone's finite mechanism, from an array, a CSV or a NumPy file |
| `judgement` | its promises in ε, (ε, δ) and ρ, proved or refuted with the edge |
| `usefulness` | whether it could be best for anybody, and by how much it is beaten for one decision |
| `cell_keys` | perturbation tables of statistical offices |
| `accounting` | dp_accounting: dominating pairs and privacy loss distributions out, events in |
| `opendp_measurements`, `opendp_claims` | certified mechanisms as OpenDP measurements, OpenDP's mechanisms as tables |

Each peer's library is imported only where it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.exchange.accounting import Dominating, dominating, from_accounting, to_accounting
    from discreet.exchange.finite_files import read_finite, write_finite
    from discreet.exchange.finite_mechanism import FiniteMechanism, finite, finite_of, repeated
    from discreet.exchange.judgement import Judgement, judge
    from discreet.exchange.opendp_claims import Claimed, from_opendp
    from discreet.exchange.opendp_measurements import to_opendp
    from discreet.exchange.usefulness import beaten, could_be_best

__all__ = [
    "Claimed",
    "Dominating",
    "FiniteMechanism",
    "Judgement",
    "beaten",
    "could_be_best",
    "dominating",
    "finite",
    "finite_of",
    "from_accounting",
    "from_opendp",
    "judge",
    "read_finite",
    "repeated",
    "to_accounting",
    "to_opendp",
    "write_finite",
]

_ROOMS = {
    "Claimed": "opendp_claims",
    "Dominating": "accounting",
    "FiniteMechanism": "finite_mechanism",
    "Judgement": "judgement",
    "beaten": "usefulness",
    "could_be_best": "usefulness",
    "dominating": "accounting",
    "finite": "finite_mechanism",
    "finite_of": "finite_mechanism",
    "from_accounting": "accounting",
    "from_opendp": "opendp_claims",
    "judge": "judgement",
    "read_finite": "finite_files",
    "repeated": "finite_mechanism",
    "to_accounting": "accounting",
    "to_opendp": "opendp_measurements",
    "write_finite": "finite_files",
}

__getattr__ = on_demand(__name__, _ROOMS)
