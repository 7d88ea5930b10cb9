"""A release in the fields of the public registry of deployments (OpenDP's), so that it can be registered: `metadata.json`.

The record follows the registry's schema as of July 2026: `url_slug`, `status`, `tier`, and a `deployment` with the parts `basic`,
`dp_variant`, `privacy_loss`, `deployment_model`, `accounting`, `implementation` and `administrative`. It is a function of what was
committed and of the ledger, so that a verifier can write it again byte for byte. What only the publisher knows (who, where, what
for) is marked as not stated; `completed` puts it in. Numbers are JSON numbers there, rounded up; the exact ones stand in words
beside them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.errors import InputError
from discreet.numerics.digits import number_at_most
from discreet.numerics.exact import exact
from discreet.publish.bundle import Bundle

VARIANTS = {"pure": "Pure DP", "approximate": "Approximate DP", "zcdp": "Zero-concentrated DP"}
PARAMETERS = {"pure": ("epsilon",), "approximate": ("epsilon", "delta"), "zcdp": ("rho",)}
SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
UNSTATED = "Not stated by the release; to be completed before registration."
MADE_WITH = re.compile(r"discreet [0-9][0-9A-Za-z.+-]{0,30}")
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def metadata(facts: Mapping[str, Any], bundle: Bundle, ledger: Mapping[str, Any]) -> dict[str, Any]:
    """The registry's record of a release, from its facts, its bundle and its ledger entries."""
    return {
        "url_slug": _slug(f"{facts['dataset']} {facts['commitment'][:8]}"),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": _basic(facts, bundle, ledger),
            "dp_variant": {
                "variant_name": VARIANTS[facts["promise"]],
                "data_domain": _domain(bundle),
                "unprotected_quantities": "; ".join(facts["unprotected_quantities"]),
            },
            "privacy_loss": _loss(facts),
            "deployment_model": _model(facts),
            "accounting": _accounting(facts),
            "implementation": _implementation(facts, bundle),
            "administrative": {
                "notes": f"Written by {facts['implementation']['software']}. Commitment {facts['commitment']}.",
                "registry_authors": [UNSTATED],
            },
        },
    }


def metadata_bytes(record: Mapping[str, Any]) -> bytes:
    """The record as it is written: JSON, which is YAML too."""
    return (json.dumps(record, ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False) + "\n").encode()


def completed(
    record: Mapping[str, Any],
    *,
    curators: list[str],
    region: str,
    use: str = "",
    sector: str = "",
    authors: list[str] | None = None,
    slug: str = "",
) -> dict[str, Any]:
    """The record with what only the publisher knows."""
    if not [c for c in curators if c.strip()] or not region.strip():
        raise InputError(
            "A registered deployment names its curators and its region",
            found=f"{len(curators)} curators, region {region!r}",
            allowed="at least one curator and a region",
            remedy="give both",
        )
    if sector and sector not in SECTORS:
        raise InputError("This sector is not one of the registry's", found=sector, allowed=SECTORS, remedy="choose one, or none")
    deployment = {key: dict(value) for key, value in record["deployment"].items()}
    deployment["basic"] |= {"data_curators": list(curators), "data_product_region": region}
    deployment["basic"] |= {"intended_use": use} if use else {}
    deployment["basic"] |= {"data_product_sector": sector} if sector else {}
    deployment["administrative"]["registry_authors"] = list(authors or curators)
    return {**record, "url_slug": _slug(slug) if slug else record["url_slug"], "deployment": deployment}


def _basic(facts: Mapping[str, Any], bundle: Bundle, ledger: Mapping[str, Any]) -> dict[str, Any]:
    keys, decisions = ", ".join(bundle.plan.keys), " and ".join(facts["decision"])
    return {
        "name": facts["dataset"],
        "data_curators": [UNSTATED],
        "intended_use": "A prior for a later release."
        if bundle.asked is not None
        else f"A decision with {decisions} payoff about the {facts['statistic']} of each cell.",
        "data_product_type": "Summary statistics",
        "data_product_region": UNSTATED,
        "description": f"The {facts['statistic']} of {facts['cells']} cells by {keys}, by a mechanism made for that decision.",
        "publication_date": _day(ledger),
    }


def _domain(bundle: Bundle) -> str:
    sizes = sorted(set(bundle.key_set.sizes))
    size = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(sizes[0])
    held = "each held at its declared size" if bundle.plan.padding else "whose membership is public"
    types = bundle.plan.recoding.types
    if bundle.asked is not None:
        return (
            f"{len(bundle.cells)} numbers, each pooled over other cells of a table of {len(bundle.key_set)} cells of {size} "
            f"rows, {held}; "
            f"every row has one of {bundle.plan.recoding.types} types, and moves one of the numbers by at most 1."
        )
    return f"Tables of {len(bundle.key_set)} cells of {size} rows, {held}; every row has one of {types} types."


def _loss(facts: Mapping[str, Any]) -> dict[str, Any]:
    loss = facts["privacy_loss"]
    exactly = ", ".join(f"{letter} = {loss[letter]}" for letter in ("epsilon", "delta", "rho") if letter in loss)
    per_cell = ", ".join(f"{letter} = {number}" for letter, number in loss["per_cell"].items())
    limits = f"at most {loss['rows_per_unit']} rows in each of {loss['cells_per_unit']} cells"
    return {
        "privacy_unit": loss["privacy_unit"],
        "privacy_unit_details": f"Protected are {loss['protects']}. A unit has {limits}.",
        "privacy_parameters": {letter: _number(exact(loss[letter])) for letter in PARAMETERS[facts["promise"]] if letter in loss},
        "privacy_parameters_details": f"Exactly: {exactly} for one unit; {per_cell} for one row in one cell. "
        "Proved edge by edge in exact arithmetic.",
    }


def _model(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "model_name": "Central",
        "actors": "The publisher sees the data, counts and draws, and is trusted with both. Readers see the release folder "
        "alone and need trust nobody for what it proves. Who else can see the data is not stated.",
        "release_type": "One release",
        "release_type_details": f"Charged to a ledger of all that is published about {facts['accounting']['population']}.",
        "data_source_type": "Static",
        "access_type": "Non-interactive",
    }


def _accounting(facts: Mapping[str, Any]) -> dict[str, Any]:
    accounting = facts["accounting"]
    rule, batch = str(accounting["composition"]), accounting.get("batch")
    words = f"{rule[:1].upper()}{rule[1:]}; the ledger's currency is {accounting['currency']}."
    if batch is not None:
        words += f" Committed together with others as {batch['name']}: {batch['plans']} plans, by the rule: {batch['rule']}."
    return {
        "post_processing": "Recommended actions, posterior means and intervals are functions of the published value, the "
        "mechanism and the stated prior.",
        "composition": words,
    }


def _implementation(facts: Mapping[str, Any], bundle: Bundle) -> dict[str, Any]:
    families = ", ".join(sorted({m.kernel.family for m in bundle.used.values()}))
    rational = all(m.kernel.rational for m in bundle.used.values())
    law, drawn = ("exact rational probabilities", "bit for bit") if rational else ("probabilities by formula", "with the very law")
    return {
        "preprocessing_and_hyperparameter_tuning": "Types are recoded by a rule fixed before the data was opened. "
        f"Histograms: {facts['implementation']['histograms']}. The mechanism follows from the problem and a prior of kind "
        f"{facts['prior']}; {_origin(facts)}.",
        "mechanisms": f"Finite mechanisms of {law} ({families}), drawn {drawn} as proved, on "
        "randomness of the operating system; no floating-point noise. Mechanism, certificates and a verifier that needs "
        "Python alone are in the release.",
        "justification": "The mechanism is meant for the stated decision and prior; what is proved about it stands in the "
        "certificates of the release.",
    }


def _origin(facts: Mapping[str, Any]) -> str:
    if "learned_from" in facts:
        source = f"the learning release {facts['learned_from']}"
        return f"that prior follows from {source}, which is in this release: anyone can compute it again"
    if "learning" in facts:
        return "it publishes numbers that a prior is learned from"
    return "where that prior comes from is attested by the publisher"


def _number(value: Fraction) -> float | int:
    return int(value) if value.denominator == 1 else number_at_most(value)


def _day(ledger: Mapping[str, Any]) -> str:
    """The day of the reservation that the draws were charged to, from the ledger."""
    for wanted in (ledger["reservation"], ledger["commitment"]):
        for entry in ledger["entries"]:
            if entry["hash"] == wanted and DAY.match(str(entry["time"])):
                return str(entry["time"])[:10]
    return "1970-01-01"


def _slug(text: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")
    return words[-80:].strip("-") or "release"
