"""Commit: bind plan, key set and mechanism in the ledger before any source is opened.

The commitment holds their hashes, the cost, a nonce that decides which surplus rows are cut, what is attested about the prior,
and the publisher's signature. Code that opens data demands the commitment's entry.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any

from discreet.errors import InputError
from discreet.files.canonical import document_hash
from discreet.files.problem_document import problem_document
from discreet.ledger.book import Ledger
from discreet.ledger.chain import Entry
from discreet.ledger.keys import Signer
from discreet.publish.bundle import Bundle

ATTESTED = "The prior and the plan were chosen from public data or earlier releases only."


def commit(bundle: Bundle, ledger: Ledger, signer: Signer | None = None) -> Entry:
    """Prove every mechanism, then record the commitment; its entry's hash is what `publish` asks for."""
    bundle.prove()
    hashes = bundle.hashes | {"nonce": secrets.token_hex(32)}
    attested = _provenance(bundle) | ({} if signer is None else {"statement": ATTESTED})
    return ledger.commit(bundle.plan.population, bundle.plan.unit.name, bundle.cost, hashes, signer, attested)


def find_commitment(bundle: Bundle, ledger: Ledger, wanted: str | None = None) -> tuple[str, Mapping[str, Any]]:
    """The newest commitment that binds exactly this bundle (or the one asked for)."""
    matching = [
        (name, event)
        for name, event in ledger.state.commitments.items()
        if {key: digest for key, digest in event["hashes"].items() if key != "nonce"} == bundle.hashes
        and (event["population"], event["unit"]) == (bundle.plan.population, bundle.plan.unit.name)
        and event["cost"] == bundle.cost.document()
        and (wanted is None or name == wanted)
    ]
    if not matching:
        raise InputError(
            "This plan, with this key set and mechanism, was not committed in this ledger",
            found="no commitment with these hashes",
            allowed="exactly what was committed",
            remedy="run: discreet commit PLAN; after any change commit again",
        )
    return matching[-1]


def row_key(event: Mapping[str, Any]) -> bytes:
    """The key of the hash that decides which surplus rows are cut, fixed by the commitment."""
    return hashlib.sha256(bytes.fromhex(str(event["hashes"]["nonce"]))).digest()


def _provenance(bundle: Bundle) -> dict[str, str]:
    """Where the prior comes from, as the problem says it, and the hash of every prior in use."""
    prior = next(iter(bundle.used.values())).problem.prior
    source = getattr(prior, "source", "")
    stated = [problem_document(mechanism.problem)["prior"] for mechanism in bundle.used.values()]
    return {
        "prior": f"{prior.kind}: {source}" if source else f"{prior.kind}, as stated in the problem",
        "prior_sha256": document_hash(stated),
    }
