"""`discreet certify FILE [CERTIFICATE]`: the checker's verdict on every claim of a file, printed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, show

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.certify.verdict import FamilyVerdict, MechanismVerdict, RobustVerdict, Verdict


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A mechanism, family or robust file, told by its format.")],
    certificate: Annotated[
        Path | None,
        typer.Argument(
            metavar="CERTIFICATE", help="A mechanism's certificate; by default the file beside it, if any."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Prove every claim of a file again, or show what refutes it.

    Privacy is decided in integers, for every output at every pair of adjacent states; value and bound are computed again
    from the certificate's witness. What the file states without a proof is named. Ends with 1 when a claim is false.

    Example: discreet certify places.mechanism.json
    """
    result = check(file, certificate)
    show(result, as_json=as_json, person=lambda console: tell(result, console))
    if not result["proved"]:
        raise typer.Exit(1)


def check(file: Path, certificate: Path | None = None) -> dict[str, Any]:
    """The verdict on a file as one mapping."""
    from discreet import files
    from discreet.certify import verdict
    from discreet.cli.progress import progress

    with progress() as watch:
        found = verdict.of_file(file, certificate, watch)
    beside = files.certificate_path(file) if certificate is None else certificate
    if isinstance(found, verdict.FamilyVerdict):
        return {"family": file, **_family(found)}
    if isinstance(found, verdict.RobustVerdict):
        return {"robust": file, **_robust(found)}
    assert isinstance(found, verdict.MechanismVerdict)
    proof = {"certificate": beside} if certificate is not None or beside.exists() else {}
    return {"mechanism": file, **proof, **_mechanism(found)}


def _common(found: Verdict) -> dict[str, Any]:
    facts: dict[str, Any] = {"hash": found.hash, "guarantee": str(found.guarantee), "proved": found.proved}
    if found.counterexample is not None:
        facts["counterexample"] = found.counterexample
    return facts | {"not_proved": list(found.not_proved)}


def _mechanism(found: MechanismVerdict) -> dict[str, Any]:
    from discreet.model.certificate import TheoremWitness

    facts, shown, claim = _common(found), found.privacy, found.optimality
    if shown is not None:
        facts |= {
            **shown.promise.numbers, f"tight_{shown.promise.keys[-1]}": [shown.tight_low, shown.tight_high],
            "edge": shown.edge, "output": shown.output, "edges": shown.edges, "outputs": shown.outputs, "witness": shown.witness,
        }
    if claim is not None:
        witness = claim.witness
        facts |= {
            "value": claim.value, "bound": claim.bound, "relative_gap": claim.relative_gap,
            "optimality_witness": witness.theorem if isinstance(witness, TheoremWitness) else witness.kind,
        }
        if found.guarantee.promise != found.problem.promise:
            facts["asked"] = str(found.problem.promise)
        if all(decision.is_loss for decision in found.problem.decisions):
            facts |= {"loss": -claim.value, "lower_bound": -claim.bound}
    return facts


def _family(found: FamilyVerdict) -> dict[str, Any]:
    members = [
        {
            "from": member.low, "to": member.high, **_common(member), "values": dict(member.values),
            "relative_gap": None if member.mechanism.optimality is None else member.mechanism.optimality.relative_gap,
        }
        for member in found.members
    ]
    return _common(found) | {"sizes": found.sizes, "members": members}


def _robust(found: RobustVerdict) -> dict[str, Any]:
    facts = _common(found) | {"priors": len(found.references)}
    if found.regret is not None:
        sides = found.regret
        facts |= {"worst_regret": sides.worst, "least_worst_regret": sides.least, "losses": list(sides.losses)}
    return facts


def tell(result: dict[str, Any], console: Console) -> None:
    """The outcome for a person."""
    from discreet.numerics.digits import at_least, at_most

    if not result["proved"]:
        wrong = [m for m in result.get("members", ()) if not m["proved"]]
        for m in wrong or [result]:
            _tell_refuted(m["counterexample"], f"sizes {m['from']} to {m['to']}: " if wrong else "", console)
        return
    if "members" in result:
        _tell_family(result, console)
    else:
        console.print(f"[bold green]Proved:[/bold green] {result['guarantee']}.")
    if "witness" in result:
        _tell_mechanism(result, console)
    if "worst_regret" in result:
        console.print(
            f"[bold green]Proved:[/bold green] over {result['priors']} priors the worst regret is at most "
            f"{at_most(result['worst_regret'])}, and no private mechanism has less than "
            f"{at_least(result['least_worst_regret'])}."
        )
    if result["not_proved"]:
        named = ", ".join(result["not_proved"])
        console.print(f"  [yellow]not proved[/yellow]: stated without anything that proves it: {named}")
    console.print(f"  hash     {result['hash']}", soft_wrap=True)


def _tell_refuted(found: Any, where: str, console: Console) -> None:
    console.print(f"[bold red]Refuted:[/bold red] {where}{found.words}.")
    if found.found is not None:
        console.print(f"  found    {found.found}")
    if found.allowed is not None:
        console.print(f"  allowed  {found.allowed}")


def _tell_mechanism(result: dict[str, Any], console: Console) -> None:
    from discreet.model.promises import LETTERS
    from discreet.numerics.digits import at_least, at_most, between

    for key, letter in LETTERS.items():
        if f"tight_{key}" in result:
            low, high = result[f"tight_{key}"]
            console.print(f"  tight {letter}  {between(low, high, 15)}")
    if result["edge"] is not None:
        at = "" if result["output"] is None else f", output {result['output']}"
        console.print(f"  attained at states {result['edge'][0]} and {result['edge'][1]}{at}")
    console.print(
        f"  checked  {result['edges']:,} edges × {result['outputs']:,} outputs ({result['witness']})"
    )
    if "loss" in result:
        loss, lower = at_most(result["loss"], 9), at_least(result["lower_bound"], 9)
        console.print(f"  loss     {loss}, and no private mechanism loses less than {lower}")
    elif "value" in result:
        value, bound = at_least(result["value"], 9), at_most(result["bound"], 9)
        console.print(f"  value    {value}, and no private mechanism is worth more than {bound}")
    if "value" in result:
        console.print(f"  gap      {at_most(result['relative_gap'], 2)} ({result['optimality_witness']})")
    if "asked" in result:
        console.print(f"  among    mechanisms with the same promise; the problem would allow {result['asked']}")


def _tell_family(result: dict[str, Any], console: Console) -> None:
    from discreet.numerics.digits import at_most

    members = result["members"]
    console.print(
        f"[bold green]Proved:[/bold green] {len(members)} mechanisms for sizes {result['sizes']}, each {result['guarantee']}."
    )
    gaps = [m["relative_gap"] for m in members if m["relative_gap"] is not None]
    if gaps:
        console.print(f"  gap      at most {at_most(max(gaps), 2)} for every member with a witness")
