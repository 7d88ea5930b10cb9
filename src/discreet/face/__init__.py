"""The Python face: problems, designs, families and releases as objects that know what can be done with them, from one import.

    import discreet
    places = discreet.problem(respondents=40, values=[0, 1, 2], probabilities=[0.89, 0.09, 0.02], epsilon=1)
    best = places.design()
    best.read(5)

Each object wraps a typed result of the packages below (`.problem`, `.found`, `.folder`), shows itself in a notebook and prints
as text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.on_demand import on_demand

if TYPE_CHECKING:
    from discreet.face.asked import AskedProblem, problem
    from discreet.face.designed import DesignedFamily, DesignedMechanism
    from discreet.face.published import HeldBudget, PublishedRelease, budget, release
    from discreet.face.shown import Answer

__all__ = [
    "Answer",
    "AskedProblem",
    "DesignedFamily",
    "DesignedMechanism",
    "HeldBudget",
    "PublishedRelease",
    "budget",
    "problem",
    "release",
]

_PLACES = {
    "Answer": "shown",
    "AskedProblem": "asked",
    "DesignedFamily": "designed",
    "DesignedMechanism": "designed",
    "HeldBudget": "published",
    "PublishedRelease": "published",
    "budget": "published",
    "problem": "asked",
    "release": "published",
}

__getattr__ = on_demand(__name__, _PLACES)
