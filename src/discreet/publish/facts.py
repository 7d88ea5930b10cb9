"""What a release promises and how it was made, as one document of exact text: `facts.json` of a release folder.

`metadata` says the same in the fields of the public registry of deployments.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet import __version__
from discreet.ledger.budget import Cost
from discreet.numerics.exact import format_exact
from discreet.publish.bundle import Bundle

ATTESTED_COUNTS = "attested, made elsewhere"
"""Histograms that were handed over: nobody here saw whether each unit was held to its limit."""


def release_facts(bundle: Bundle, ledger: Mapping[str, Any], attested_counts: bool) -> dict[str, Any]:
    """The facts of a release."""
    plan = bundle.plan
    exposure = plan.exposure
    cost = bundle.cost
    problem = next(iter(bundle.used.values())).problem
    public = [f"{name} (declared public membership)" for name in plan.public_membership]
    return {
        "format": "discreet-facts/1",
        "dataset": plan.dataset,
        "promise": promise_kind(bundle),
        "privacy_loss": {
            "privacy_unit": plan.unit.name,
            "protects": str(exposure),
            "rows_per_unit": exposure.rows,
            "cells_per_unit": exposure.cells,
            "per_cell": _per_cell(bundle),
            **{key: format_exact(number) for key, number in cost_numbers(cost).items()},
        },
        "unprotected_quantities": ["the key set and the size of each cell", *public],
        "accounting": {
            "composition": "parallel over the cells of one partition, sequential in the ledger",
            "currency": str(ledger["currency"]),
            "population": plan.population,
            **_batch(ledger),
        },
        "implementation": {
            "software": f"discreet {__version__}",
            "randomness": "operating system",
            "histograms": ATTESTED_COUNTS if attested_counts else "counted by discreet",
        },
        "statistic": problem.statistic.kind,
        "decision": [d.loss.kind for d in problem.decisions],
        "prior": problem.prior.kind,
        "cells": len(bundle.cells),
        **_learning(bundle),
        "commitment": str(ledger["commitment"]),
    }


def _learning(bundle: Bundle) -> dict[str, Any]:
    """What a learning release is, and what a learned prior follows from."""
    if bundle.plan.learning is not None:
        return {"learning": {"strata": list(bundle.plan.learning.strata), "cells_asked": len(bundle.key_set)}}
    return {} if bundle.learned is None else {"learned_from": bundle.learned.digest}


def first_facts(bundle: Bundle, ledger: Mapping[str, Any], attested_counts: bool) -> dict[str, Any]:
    """What `metadata.json` held before releases had a `facts.json`; they are still verified."""
    facts = release_facts(bundle, ledger, attested_counts)
    facts.pop("promise")
    loss = facts["privacy_loss"]
    loss |= {"epsilon_per_cell": loss.pop("per_cell")["epsilon"]}
    loss.pop("rho", None)
    flavor = "approximate differential privacy" if bundle.cost.delta else "pure differential privacy"
    return facts | {"format": "discreet-metadata/1", "dp_flavor": flavor}


def promise_kind(bundle: Bundle) -> str:
    """The kind of promise of the release: that of its mechanisms, the weakest kind when they differ."""
    kinds = {m.guarantee.promise.kind for m in bundle.used.values()}
    return next(kind for kind in ("approximate", "zcdp", "pure") if kind in kinds)


def cost_numbers(cost: Cost) -> dict[str, Fraction]:
    """ε and δ where there is a proved ε, ρ where one is known."""
    numbers = {} if cost.epsilon is None else {"epsilon": cost.epsilon, "delta": cost.delta}
    return numbers | ({} if cost.rho is None else {"rho": cost.rho})


def _per_cell(bundle: Bundle) -> dict[str, str]:
    """What each cell's mechanisms promise at most, by letter."""
    found: dict[str, Fraction] = {}
    for mechanism in bundle.used.values():
        for key, number in mechanism.guarantee.promise.numbers.items():
            found[key] = max(number, found.get(key, number))
    return {key: format_exact(number) for key, number in sorted(found.items())}


def _batch(ledger: Mapping[str, Any]) -> dict[str, Any]:
    """The batch that the release belongs to, and what all of it costs; nothing outside batches."""
    event: Mapping[str, Any] = next((e["event"] for e in ledger["entries"] if e["hash"] == ledger["commitment"]), {})
    if "members" not in event:
        return {}
    stated = {"name": event["batch"], "plans": len(event["members"]), "rule": event["rule"], "cost": dict(event["cost"])}
    return {"batch": stated}
