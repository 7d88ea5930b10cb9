"""Commit: bind plan, key set and mechanism in the ledger before any source is opened, one plan or several as a batch.

The commitment holds their hashes, the cost, a nonce that decides which surplus rows are cut, what is attested about the prior,
and the publisher's signature. Code that opens data demands the commitment's entry.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import InputError, Refuted
from discreet.files.canonical import document_hash
from discreet.files.problem_document import problem_document
from discreet.ledger.batches import Batch, BatchMember, compose_batch, without_nonce
from discreet.ledger.book import Ledger
from discreet.ledger.budget import Cost, must_charge
from discreet.ledger.chain import Entry
from discreet.ledger.keys import Signer
from discreet.numerics.exact import format_exact
from discreet.publish.bundle import Bundle
from discreet.publish.costs import part_holds, part_of
from discreet.publish.learned import does_not_follow
from discreet.publish.sources import attested_files, freeze, private_list

ATTESTED = "The prior and the plan were chosen from public data or earlier releases only."


@dataclass(frozen=True)
class Commitment:
    """What the ledger holds of one plan: a commitment of its own, or one member of a batch."""

    name: str
    event: Mapping[str, Any]
    member: int | None = None
    publisher: str | None = None
    """The public key that signed it."""

    @property
    def entry(self) -> Mapping[str, Any]:
        """Hashes, cost and attestations of this plan."""
        return self.event if self.member is None else self.event["members"][self.member]

    @property
    def hashes(self) -> Mapping[str, str]:
        """What is bound, without the nonce."""
        return without_nonce(self.entry["hashes"])

    @property
    def attested(self) -> Mapping[str, str]:
        """What the publisher attests."""
        return dict(self.event.get("attested", {})) | dict(self.entry.get("attested", {}))

    @property
    def batch(self) -> Batch | None:
        """The batch that the plan belongs to."""
        return None if self.member is None else Batch.from_event(self.event)

    @property
    def row_key(self) -> bytes:
        """The key of the hash that decides which surplus rows are cut, fixed by the commitment."""
        return hashlib.sha256(bytes.fromhex(str(self.entry["hashes"]["nonce"]))).digest()

    def binds(self, bundle: Bundle) -> bool:
        """Whether exactly this bundle was committed, on its own account."""
        account = (self.event["population"], self.event["unit"]) == (bundle.plan.population, bundle.plan.unit.name)
        return account and self.hashes == bundle.hashes

    def shortfall(self, bundle: Bundle) -> str | None:
        """None when what is stated of this plan covers what its mechanisms cost; else what is wrong with it."""
        stated = Cost.from_document(self.entry["cost"])
        if not stated.covers(bundle.least_cost):
            return f"{stated} is stated, {bundle.cost} follows from the mechanisms"
        batch = self.batch
        if batch is None or self.member is None:
            return None
        if part_holds(batch.members[self.member].part, bundle.plan.exposure, bundle.used.values()):
            return None
        return "what the batch says of this member does not hold for its mechanisms"


def commit(bundle: Bundle, ledger: Ledger, signer: Signer | None = None, *, freeze: bool = False) -> Entry:
    """Prove every mechanism, then record the commitment; its entry's hash is what `publish` asks for.

    `freeze` seals sizes and hashes of the source's files in the commitment: publishing refuses a source that changed.
    """
    bundle.prove()
    must_charge(ledger.state.currency, bundle.cost)
    _must_be_learned_here(bundle, ledger)
    attested = _provenance(bundle) | _frozen(bundle, freeze) | _statement(signer)
    return ledger.commit(bundle.plan.population, bundle.plan.unit.name, bundle.cost, _bound(bundle), signer, attested)


def commit_batch(
    bundles: Sequence[Bundle],
    ledger: Ledger,
    signer: Signer | None = None,
    *,
    name: str = "batch",
    delta: Fraction | None = None,
    freeze: bool = False,
) -> Entry:
    """Prove every mechanism of every plan, then record all of them at one composed cost.

    `delta` is how much δ the batch may spend in the currency `approximate`; by default half of what is left.
    """
    accounts = {(bundle.plan.population, bundle.plan.unit.name) for bundle in bundles}
    if len(accounts) != 1:
        raise InputError(
            "The plans of a batch are about different populations or units",
            found="; ".join(f"{population} ({unit})" for population, unit in sorted(accounts)) or "no plan",
            allowed="one population and one privacy unit",
            remedy="commit a batch for each",
        )
    for bundle in bundles:
        bundle.prove()
        _must_be_learned_here(bundle, ledger)
    state = ledger.state
    account = state.account(*accounts.pop())
    approximate = state.currency == "approximate"
    left = state.budgets[account].remaining_delta(state.spent[account])
    share = left / 2 if delta is None else delta
    if not 0 <= share <= left:
        raise InputError(
            "This batch would spend more δ than is left",
            found=f"δ = {format_exact(share)}",
            allowed=f"0 to {format_exact(left)}",
            remedy="give a smaller --delta" if approximate else "only the currency 'approximate' has a δ",
        )
    members = [
        BatchMember(
            _bound(bundle),
            bundle.cost,
            part_of(bundle.plan.exposure, bundle.used.values(), with_pair=approximate and share > 0),
            _provenance(bundle) | _frozen(bundle, freeze),
        )
        for bundle in bundles
    ]
    batch = compose_batch(name, members, str(state.currency), share)
    return ledger.commit_batch(*account, batch, signer, _statement(signer))


def find_commitment(bundle: Bundle, ledger: Ledger, wanted: str | None = None) -> Commitment:
    """The newest commitment that binds exactly this bundle (or the one asked for), alone or in a batch.

    Refuses one whose cost does not cover what is published.
    """
    found = None
    state = ledger.state
    for name, event in state.commitments.items():
        for member in range(len(event["members"])) if "members" in event else (None,):
            candidate = Commitment(name, event, member, state.publishers.get(name))
            if (wanted is None or name == wanted) and candidate.binds(bundle):
                found = candidate
    if found is None:
        raise InputError(
            "This plan, with this key set and mechanism, was not committed in this ledger",
            found="no commitment with these hashes",
            allowed="exactly what was committed",
            remedy="run: discreet commit PLAN; after any change commit again",
        )
    batch = found.batch
    short = found.shortfall(bundle) or (None if batch is None else batch.shortfall())
    if short is not None:
        raise InputError(
            "The commitment of this plan states too small a cost",
            found=short,
            allowed="what the mechanisms cost",
            remedy="commit again with: discreet commit PLAN",
        )
    return found


def _provenance(bundle: Bundle) -> dict[str, str]:
    """Where the prior comes from, as the problem says it, and the hash of every prior in use."""
    prior = next(iter(bundle.used.values())).problem.prior
    source = getattr(prior, "source", "") or str(getattr(prior, "origin", None) or "")
    stated = [problem_document(mechanism.problem)["prior"] for mechanism in bundle.used.values()]
    return {
        "prior": f"{prior.kind}: {source}" if source else f"{prior.kind}, as stated in the problem",
        "prior_sha256": document_hash(stated),
    } | attested_files(bundle.plan.source)


def _must_be_learned_here(bundle: Bundle, ledger: Ledger) -> None:
    """A learned prior follows from its release, which was charged to this ledger (unless it says how much may have changed)."""
    wrong = does_not_follow(bundle, ledger.state.trust.ledger)
    if wrong is not None:
        raise Refuted("the prior does not follow from the release that it names", wrong)


def _frozen(bundle: Bundle, wanted: bool) -> dict[str, str]:
    """The seal of the source's files, where asked for."""
    if not wanted:
        return {}
    if bundle.path is None:
        raise InputError(
            "A plan without a file cannot be frozen",
            found="a bundle made in memory",
            allowed="a bundle gathered from a file",
            remedy="write the plan to a file and gather it",
        )
    return freeze(bundle.plan.source, private_list(bundle.path))


def _bound(bundle: Bundle) -> dict[str, str]:
    """What is bound, with a nonce of its own."""
    return bundle.hashes | {"nonce": secrets.token_hex(32)}


def _statement(signer: Signer | None) -> dict[str, str]:
    return {} if signer is None else {"statement": ATTESTED}
