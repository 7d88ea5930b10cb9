"""A record with something in every place."""

from __future__ import annotations

from discreet.model.record import Baseline, Behaviour, Reached, Record, Step

RECORD = Record(
    (Step("histogram program", True, "SY Prop. 5", "the prior is exchangeable"), Step("geometric", False, "", "three types")),
    {"geometric": Baseline("geometric", -1.25, "noise"), "laplace": Baseline("laplace", None, "not computed")},
    {"solve": 0.1}, "optimal", "oblivious", 0.5, ("rounded",), (Reached("clipped sum", 2.5, 2.0, 1.0),),
    mechanism="5f3c", behaviour=Behaviour(0.6, 0.0, 1.5, 3.0, None),
)  # fmt: skip
