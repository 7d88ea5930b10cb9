"""What a ledger holds: its history, what is left of each budget, and whether it stands up to being checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from discreet.errors import DiscreetError
from discreet.ledger.budget import Cost
from discreet.ledger.chain import Entry
from discreet.ledger.keys import fingerprint
from discreet.ledger.state import State
from discreet.numerics.digits import at_least, at_most
from discreet.publish.evidence import LedgerVerdict
from discreet.views.view import Fact, Mood, Sentence, View

LONGEST_NAME = 60


def history_view(entries: Iterable[Entry]) -> View:
    """Every entry, a line each."""
    listed = list(entries)
    currency = next((str(entry.event["currency"]) for entry in listed if "currency" in entry.event), "pure")
    names = {entry.hash: str(entry.event["batch"]) for entry in listed if "batch" in entry.event}
    lines = [
        Sentence(
            f"{entry.sequence:>5}  {entry.time[:19]}  {entry.event.get('kind')!s:<9} {_detail(entry.event, names, currency)}",
            whole=True,
        )
        for entry in listed
    ]
    return View({"entries": [entry.document() for entry in listed]}, tuple(lines))


def _detail(event: Mapping[str, Any], names: Mapping[str, str], currency: str) -> str:
    """What an event is about, in a few words; an event that says nothing sensible is shown as it is."""
    population = str(event.get("population", ""))[:LONGEST_NAME]
    try:
        if event["kind"] == "budget":
            delta = f", δ = {event['delta']}" if "delta" in event else ""
            return f"{population} ({event['unit']}): {event['cap']}{delta}"
        if event["kind"] == "commit":
            batch = f", batch {event['batch']}, {len(event['members'])} plans" if "members" in event else ""
            return f"{population}: {Cost.from_document(event['cost']).brief(currency)}{batch}"
        if event["kind"] == "key":
            return f"names {fingerprint(str(event['public']))}"
        if "member" in event:
            return f"plan {event['member'] + 1} of batch {names.get(event['commitment'], event['commitment'][:16])}"
    except (DiscreetError, KeyError, TypeError, ValueError, AttributeError):
        return "an event that cannot be read"
    about = ("currency", "reservation", "commitment", "entry", "fingerprint", "heads", "format")
    return next((str(event[name])[:LONGEST_NAME] for name in about if name in event), "")


def remaining_view(state: State) -> View:
    """What is left of each budget, and which still wait for approval."""
    rows: list[dict[str, Any]] = [
        {
            "population": account[0],
            "unit": account[1],
            "currency": budget.currency,
            "cap": budget.cap,
            "remaining": budget.remaining(state.spent[account]),
        }
        | ({"remaining_delta": budget.remaining_delta(state.spent[account])} if budget.delta else {})
        for account, budget in state.budgets.items()
    ]
    waiting: list[dict[str, Any]] = [
        {"entry": name, "kind": str(entry.event["kind"]), "signed": sorted(signed), "needed": state.trust.approvals}
        for name, (entry, signed) in state.trust.pending.items()
    ]
    told = [
        Sentence(
            f"{row['population']} ({row['unit']}): {at_least(row['remaining'])} of {at_most(row['cap'])} left, {row['currency']}"
            + (f", δ = {at_least(row['remaining_delta'])} left" if "remaining_delta" in row else ""),
            whole=True,
        )
        for row in rows
    ]
    for each in waiting:
        words = f"{each['kind']} {each['entry']}: {len(each['signed'])} of {each['needed']} have signed"
        told.append(Sentence(words, "Waits:", Mood.MIND, whole=True))
    return View({"budgets": rows} | ({"waiting": waiting} if waiting else {}), tuple(told))


def ledger_verdict_view(verdict: LedgerVerdict) -> View:
    """Whether the ledger holds, and against what it was held."""
    wrong, stamps = verdict.wrong, verdict.stamps
    facts: dict[str, Any] = {
        "holds": wrong is None, "entries": verdict.entries, "heads": verdict.heads, "counterexample": wrong,
    }  # fmt: skip
    if stamps:
        facts["stamps"] = [{"head": name, "time": time.isoformat()} for name, time in stamps]
    if wrong is not None:
        found = [Fact("found", wrong.found)] if wrong.found else []
        return View(facts, (Sentence(f"{wrong.words}.", "Refuted:", Mood.BAD), *found), holds=False)
    told = [Sentence(f"{verdict.entries} entries, {verdict.heads} heads kept elsewhere.", "Holds:", Mood.GOOD)]
    told += [Sentence(f"{name}, at {time.isoformat()}.", "Stamped:", Mood.GOOD) for name, time in stamps]
    return View(facts, tuple(told))
