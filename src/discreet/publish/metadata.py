"""What a release promises, in fields that public registries of deployments use. Every number is exact text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet import __version__
from discreet.numerics.exact import format_exact
from discreet.publish.bundle import Bundle

ATTESTED_COUNTS = "attested, made elsewhere"
"""Histograms that were handed over: nobody here saw whether each unit was held to its limit."""


def metadata(bundle: Bundle, ledger: Mapping[str, Any], attested_counts: bool) -> dict[str, Any]:
    """The metadata document of a release."""
    plan = bundle.plan
    exposure = plan.exposure
    cost = bundle.cost
    per_cell = max(m.guarantee.epsilon for m in bundle.used.values())
    problem = next(iter(bundle.used.values())).problem
    public = [f"{name} (declared public membership)" for name in plan.public_membership]
    return {
        "format": "discreet-metadata/1",
        "dataset": plan.dataset,
        "dp_flavor": "pure differential privacy" if not cost.delta else "approximate differential privacy",
        "privacy_loss": {
            "privacy_unit": plan.unit.name,
            "protects": str(exposure),
            "rows_per_unit": exposure.rows,
            "cells_per_unit": exposure.cells,
            "epsilon_per_cell": format_exact(per_cell),
            "epsilon": format_exact(cost.pure),
            "delta": format_exact(cost.delta),
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
        "cells": len(bundle.key_set),
        "commitment": str(ledger["commitment"]),
    }


def _batch(ledger: Mapping[str, Any]) -> dict[str, Any]:
    """The batch that the release belongs to, and what all of it costs; nothing outside batches."""
    event: Mapping[str, Any] = next((e["event"] for e in ledger["entries"] if e["hash"] == ledger["commitment"]), {})
    if "members" not in event:
        return {}
    stated = {"name": event["batch"], "plans": len(event["members"]), "rule": event["rule"], "cost": dict(event["cost"])}
    return {"batch": stated}
