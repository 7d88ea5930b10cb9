"""Exchange: other people's mechanisms, tools and forms, to check, to improve and to hand over.

| room | what it exchanges |
|---|---|
| `finite_mechanism`, `finite_files` | anyone's finite mechanism, from an array, a CSV or a NumPy file |
| `judgement` | its promises in ε, (ε, δ) and ρ, proved or refuted with the edge |
| `usefulness` | whether it could be best for anybody, and by how much it is beaten for one decision |

Each peer's library is imported only where it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.exchange.finite_files import read_finite, write_finite
    from discreet.exchange.finite_mechanism import FiniteMechanism, finite
    from discreet.exchange.judgement import Judgement, judge
    from discreet.exchange.usefulness import beaten, could_be_best

__all__ = [
    "FiniteMechanism",
    "Judgement",
    "beaten",
    "could_be_best",
    "finite",
    "judge",
    "read_finite",
    "write_finite",
]

_ROOMS = {
    "FiniteMechanism": "finite_mechanism",
    "Judgement": "judgement",
    "beaten": "usefulness",
    "could_be_best": "usefulness",
    "finite": "finite_mechanism",
    "judge": "judgement",
    "read_finite": "finite_files",
    "write_finite": "finite_files",
}

__getattr__ = on_demand(__name__, _ROOMS)
