"""Releases on their way: what was committed, and what was or would be published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from shlex import quote
from typing import Any

from discreet.ledger.budget import Cost
from discreet.numerics.digits import at_least
from discreet.publish.sources import private_list
from discreet.views.view import Block, Fact, Mood, Sentence, View


def registered_view(record: Mapping[str, Any], output: Path) -> View:
    """A release's record for the public registry, completed and written."""
    facts = {"written": output, "url_slug": record["url_slug"], "tier": record["tier"], "status": record["status"]}
    return View(facts, (Sentence(f"{output} ({record['url_slug']}, tier {record['tier']})", "Written:", whole=True),))


def commitment_view(result: Mapping[str, Any], plans: Sequence[Path], key: str | None) -> View:
    """What was committed, what it will cost, and the next step."""
    cost = Cost.from_document(result["cost"]).brief(result["currency"])
    left = at_least(result["remaining"])
    told: list[Block] = [
        Sentence(f"Committed: {result['commitment']}", whole=True),
        Fact("promise", result["promise"]),
        Fact("cells", f"{result['cells']:,}"),
    ]
    if "batch" in result:
        batch = result["batch"]
        told += [
            Fact("batch", f"{batch['name']}: {len(batch['plans'])} plans, each drawn once"),
            Fact("cost", f"{cost} for all, when the first is published ({_rule(batch)})"),
            Fact("left", f"{left} remains now"),
        ]
    else:
        told.append(Fact("cost", f"{cost} when published; {left} remains now"))
    told.append(Fact("signed", "yes" if result["signed"] else "no (give --key to sign)"))
    if result["frozen"]:
        names = ", ".join(str(private_list(plan)) for plan in plans)
        told.append(Fact("frozen", f"sizes and hashes of the source are in {names}: keep it, and keep it private"))
    signing = "" if key is None else f" --key {quote(key)}"
    told += [Sentence(f"Next: discreet publish {plan} -o RELEASE{signing}", whole=True) for plan in plans]
    return View(result, tuple(told))


def _rule(batch: Mapping[str, Any]) -> str:
    """How the cost of a batch came about."""
    if batch["rule"] == "sum":
        return "the sum of its plans"
    alone = Cost(sum((Cost.from_document(one["cost"]).pure for one in batch["plans"]), Fraction(0)))
    return f"by {batch['rule']}; {alone.brief('pure')} as a sum"


def publication_view(result: Mapping[str, Any]) -> View:
    """What was published, or what would be."""
    told: list[Block] = [] if "release" in result else [Sentence("Nothing was opened or spent. Publishing would:")]
    told += [Fact("promise", result["promise"]), Fact("cells", f"{result['cells']:,}")]
    told += _batch(result) if "batch" in result else [Fact("cost", Cost.from_document(result["cost"]).brief(result["currency"]))]
    told.append(Fact("remaining", at_least(result["remaining"])))
    if "against" in result:
        told.append(Fact("compared", f"the ledger holds {result['against']} heads kept elsewhere"))
    if result.get("granted") is False:
        told.append(Sentence("It would be refused now.", mood=Mood.MIND))
    if "release" in result:
        told.append(Sentence(f"Published: {result['release']}", whole=True))
        told.append(Sentence(f"Next: discreet verify {result['release']}", whole=True))
        told.append(Sentence(f"To add up cells, use: discreet total {result['release']}", whole=True))
    return View(result, tuple(told))


def _batch(result: Mapping[str, Any]) -> list[Block]:
    batch = result["batch"]
    cost = Cost.from_document(batch["cost"]).brief(result["currency"])
    if batch["reserved"]:
        words = f"nothing more: the whole batch ({cost}) is reserved"
    else:
        words = f"{cost} for the whole batch, reserved with this first plan"
    told: list[Block] = [
        Fact("batch", f"plan {batch['member']} of {batch['plans']} in the batch {batch['name']}"), Fact("cost", words),
    ]  # fmt: skip
    if batch["drawn"] is not None and "release" not in result:
        told.append(Fact("mind", f"this plan was {batch['drawn']} already: a member of a batch is drawn once", Mood.MIND))
    return told
