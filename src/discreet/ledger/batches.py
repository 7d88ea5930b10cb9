"""Batches: several plans about one population and unit, committed together before any source is opened.

Every mechanism is fixed before the first draw, so what they cost together may be computed by rules that an adaptive ledger
cannot use. In the currency `approximate` a batch costs (ε, δ) with δ chosen at the commitment and ε the least of

    sum                          Σ ε_i
    kairouz-oh-viswanath         what k releases of which only ε_i is known prove together, optimal
    privacy loss distributions   the same with a pair that dominates each member's mechanism, where that helps

each proved (`currencies.joint`). In the other currencies it costs Σ ε_i or Σ ρ_i. Everything that the composed cost follows
from stands in the commitment's event, so whoever reads the event can compute it again; that a member's entry is true of its
mechanism is checked when it is published, and by `verify` in its release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from discreet.currencies.joint import Part, joint_epsilon
from discreet.currencies.pair import Pair
from discreet.errors import InputError
from discreet.ledger.budget import Cost
from discreet.numerics.exact import exact, format_exact

SUM, KNOWN_EPSILON, KNOWN_LOSS = "sum", "kairouz-oh-viswanath", "privacy loss distributions"
RULES = (SUM, KNOWN_EPSILON, KNOWN_LOSS)
WORTHWHILE = Fraction(1, 1000)
"""By how much, relatively, a rule that spends δ or writes more down must be better than a simpler one."""


@dataclass(frozen=True)
class BatchMember:
    """One plan of a batch: what it binds, what it costs alone, and what composition may use of it."""

    hashes: Mapping[str, str]
    cost: Cost
    part: Part
    attested: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.cost.delta:
            raise InputError(
                "A batch takes only releases that are purely ε-private",
                found=str(self.cost),
                allowed="δ = 0",
                remedy="commit this plan alone",
            )


@dataclass(frozen=True)
class Batch:
    """The members, what they cost together, and the rule that proves it."""

    name: str
    members: tuple[BatchMember, ...]
    cost: Cost
    rule: str

    def document(self) -> dict[str, Any]:
        """What a commitment's event says of the batch; equal pairs are written once."""
        pairs: list[Pair] = []
        listed = []
        for member in self.members:
            entry: dict[str, Any] = {
                "hashes": dict(member.hashes),
                "cost": member.cost.document(),
                "part": {"epsilon": format_exact(member.part.epsilon), "times": member.part.times},
                "attested": dict(member.attested),
            }
            if member.part.pair is not None and self.rule == KNOWN_LOSS:
                if member.part.pair not in pairs:
                    pairs.append(member.part.pair)
                entry["part"]["pair"] = pairs.index(member.part.pair)
            listed.append(entry)
        found = {"batch": self.name, "members": listed, "rule": self.rule}
        return found | ({"pairs": [_pair_document(pair) for pair in pairs]} if pairs else {})

    @classmethod
    def from_event(cls, event: Mapping[str, Any]) -> Batch:
        """The batch in a commitment's event."""
        try:
            return cls._read(event)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                "The ledger holds a batch that cannot be read",
                found=type(error).__name__,
                allowed="a name, a rule, a cost and members with hashes, cost and part",
                remedy="run: discreet ledger verify LEDGER",
            ) from None

    @classmethod
    def _read(cls, event: Mapping[str, Any]) -> Batch:
        pairs = [_pair_from(document) for document in event.get("pairs", [])]
        members = tuple(
            BatchMember(
                dict(entry["hashes"]),
                Cost.from_document(entry["cost"]),
                Part(
                    exact(entry["part"]["epsilon"], "epsilon"),
                    pairs[int(entry["part"]["pair"])] if "pair" in entry["part"] else None,
                    int(entry["part"]["times"]),
                ),
                dict(entry["attested"]),
            )
            for entry in event["members"]
        )
        return cls(str(event["batch"]), members, Cost.from_document(event["cost"]), str(event["rule"]))

    def shortfall(self) -> str | None:
        """None when the stated cost follows from the members by the stated rule; else what would."""
        if self.rule not in RULES or not self.members:
            return f"an unknown rule: {self.rule}"
        needed = _composed(self.members, self.rule, self.cost.delta)
        if self.cost.covers(needed):
            return None
        return f"{self.cost} is stated, {needed} follows from the members"


def compose_batch(name: str, members: Sequence[BatchMember], currency: str, delta: Fraction) -> Batch:
    """The batch with the least cost that is proved in a currency, δ being spent only where it helps."""
    if not name.strip() or len(members) < 2:
        raise InputError(
            "A batch is two or more plans under one name",
            found=f"{len(members)} plans, name {name!r}",
            allowed="a name and at least two plans",
            remedy="commit one plan alone without a batch",
        )
    seen = [without_nonce(member.hashes) for member in members]
    if any(hashes in seen[:i] for i, hashes in enumerate(seen)):
        raise InputError(
            "A batch lists a plan twice",
            found="equal plan, key set and mechanism",
            allowed="each plan once: a member is drawn once",
            remedy="write another plan for another draw",
        )
    best, rule = _composed(members, SUM, Fraction(0)), SUM
    tried = [KNOWN_EPSILON] if currency == "approximate" and delta and best.epsilon is not None else []
    if tried and any(member.part.pair is not None for member in members):
        tried.append(KNOWN_LOSS)
    for other in tried:
        found = _composed(members, other, delta)
        if found.pure < (1 - WORTHWHILE) * best.pure:
            best, rule = found, other
    return Batch(name, tuple(members), best, rule)


def without_nonce(hashes: Mapping[str, str]) -> dict[str, str]:
    """What is bound, without the nonce that makes each commitment different."""
    return {key: digest for key, digest in hashes.items() if key != "nonce"}


def _composed(members: Sequence[BatchMember], rule: str, delta: Fraction) -> Cost:
    rho = sum((member.cost.zcdp for member in members), Fraction(0))
    levels = [member.cost.epsilon for member in members if member.cost.epsilon is not None]
    if rule == SUM and len(levels) < len(members):
        return Cost(None, Fraction(0), rho)
    total = sum((member.cost.pure for member in members), Fraction(0))
    if rule == SUM:
        return Cost(total, Fraction(0), rho)
    parts = [member.part for member in members]
    if rule == KNOWN_EPSILON:
        parts = [Part(part.epsilon, None, part.times) for part in parts]
    return Cost(min(joint_epsilon(parts, delta), total), delta, rho)


def _pair_document(pair: Pair) -> dict[str, Any]:
    weights = ([str(weight) for weight in side] for side in (pair.first, pair.second))
    return dict(zip(("first", "second"), weights, strict=True)) | {"denominator": str(pair.denominator)}


def _pair_from(document: Mapping[str, Any]) -> Pair:
    first, second = (tuple(int(weight) for weight in document[side]) for side in ("first", "second"))
    return Pair(first, second, int(document["denominator"]))
