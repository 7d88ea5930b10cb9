"""What no private mechanism can exceed: one file per kind of witness, and the names of those that carry no multipliers."""

FULL = "full information"
CHAIN = "chain"
GROWING = "growing chain"
CONCENTRATED = "concentrated chain"
GEOMETRIC = "SY Thm 3"
