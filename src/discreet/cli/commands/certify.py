"""`discreet certify MECHANISM [CERTIFICATE]`: every claim of a mechanism file proved again, or refuted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, show

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.model.certificate import Certificate, Counterexample
    from discreet.model.mechanism import Mechanism


def command(
    mechanism: Annotated[Path, typer.Argument(metavar="MECHANISM", help="A mechanism, family or robust file.")],
    certificate: Annotated[
        Path | None,
        typer.Argument(
            metavar="CERTIFICATE", help="Its certificate; by default the file beside it, if any."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Prove every claim of a mechanism again, or show what refutes it.

    Privacy is decided in integers, for every output at every pair of adjacent states; value and bound are computed again
    from the certificate's witness. Ends with 1 when a claim is false.

    Example: discreet certify places.mechanism.json
    """
    from discreet.cli import many_sizes, several_priors

    kinds = {".family.json": many_sizes, ".robust.json": several_priors}
    other = next((room for ending, room in kinds.items() if mechanism.name.endswith(ending)), None)
    if other is None:
        result = check(mechanism, certificate)
        show(result, as_json=as_json, person=lambda console: tell(result, console))
    else:
        result = other.check(mechanism)
        show(result, as_json=as_json, person=lambda console: other.tell_check(result, console))
    if not result["proved"]:
        raise typer.Exit(1)


def check(mechanism: Path, certificate: Path | None = None) -> dict[str, Any]:
    """What holds for a mechanism file and for the certificate beside it."""
    from discreet import certify, files

    read = files.read_mechanism(mechanism)
    proof = certify.privacy(read)
    result: dict[str, Any] = {
        "mechanism": mechanism,
        "hash": files.mechanism_hash(read),
        "guarantee": str(read.guarantee),
        **privacy_facts(proof),
    }
    beside = files.certificate_path(mechanism) if certificate is None else certificate
    if certificate is not None or beside.exists():
        result["certificate"] = beside
        if result["proved"]:
            result |= certificate_facts(files.read_certificate(beside), read, proof, result["hash"])
    if "value" in result and all(d.is_loss for d in read.problem.decisions):
        result |= {"loss": -result["value"], "lower_bound": -result["bound"]}
    if result["proved"]:
        made = {"value": read.claims.value, "bound": read.claims.bound}
        result["without_witness"] = [key for key, claim in made.items() if claim is not None and key not in result]
    return result


def privacy_facts(proof: Certificate | Counterexample) -> dict[str, Any]:
    """The outcome of the privacy check as a mapping."""
    from discreet.model.certificate import Certificate

    if not isinstance(proof, Certificate):
        return {"proved": False, "counterexample": proof}
    shown = proof.privacy
    return {
        "proved": True,
        "epsilon": shown.epsilon,
        "tight_epsilon": [shown.tight_low, shown.tight_high],
        "edge": shown.edge,
        "output": shown.output,
        "edges": shown.edges,
        "outputs": shown.outputs,
        "witness": shown.witness,
    }


def certificate_facts(claimed: Certificate, mechanism: Mechanism, proof: Any, digest: str) -> dict[str, Any]:
    """Whether a certificate speaks of this mechanism, says of its privacy what was proved, and its witness holds."""
    from discreet import certify
    from discreet.model.certificate import Counterexample, TheoremWitness

    if claimed.mechanism != digest:
        return _refuted(
            Counterexample(
                "certificate",
                "The certificate belongs to another mechanism",
                found=claimed.mechanism,
                allowed=digest,
            )
        )
    stated, shown = claimed.privacy, proof.privacy
    if (
        stated.epsilon < shown.epsilon
        or stated.tight_high < shown.tight_low
        or stated.tight_low > shown.tight_high
    ):
        return _refuted(
            Counterexample(
                "certificate",
                "The certificate claims another ε than the mechanism has",
                found=f"ε = {stated.epsilon}, tight ε from {stated.tight_low} to {stated.tight_high}",
                allowed=f"ε = {shown.epsilon}, tight ε from {shown.tight_low} to {shown.tight_high}",
            )
        )
    if claimed.optimality is None:
        return {}
    found = certify.optimality(mechanism, claimed.optimality)
    if isinstance(found, Counterexample):
        return _refuted(found)
    witness = found.witness
    return {
        "value": found.value,
        "bound": found.bound,
        "relative_gap": found.relative_gap,
        "optimality_witness": witness.theorem if isinstance(witness, TheoremWitness) else witness.kind,
    }


def _refuted(counterexample: Counterexample) -> dict[str, Any]:
    return {"proved": False, "counterexample": counterexample}


def tell(result: dict[str, Any], console: Console) -> None:
    """The outcome for a person."""
    if not result["proved"]:
        found = result["counterexample"]
        console.print(f"[bold red]Refuted:[/bold red] {found.words}.")
        if found.found is not None:
            console.print(f"  found    {found.found}")
        if found.allowed is not None:
            console.print(f"  allowed  {found.allowed}")
        return
    low, high = result["tight_epsilon"]
    console.print(f"[bold green]Proved:[/bold green] {result['guarantee']}.")
    console.print(f"  tight ε  between {decimal(low)} and {decimal(high, up=True)}")
    if result["edge"] is not None:
        console.print(
            f"  attained at states {result['edge'][0]} and {result['edge'][1]}, output {result['output']}"
        )
    console.print(
        f"  checked  {result['edges']:,} edges × {result['outputs']:,} outputs ({result['witness']})"
    )
    if "loss" in result:
        loss, lower = (float(result[key]) for key in ("loss", "lower_bound"))
        console.print(f"  loss     {loss:.9g}, and no private mechanism loses less than {lower:.9g}")
    elif "value" in result:
        value, bound = (float(result[key]) for key in ("value", "bound"))
        console.print(f"  value    {value:.9g}, and no private mechanism is worth more than {bound:.9g}")
    if "value" in result:
        console.print(f"  gap      {result['relative_gap']:.2g} ({result['optimality_witness']})")
    if result["without_witness"]:
        named = " and ".join(result["without_witness"])
        console.print(f"  [yellow]not proved[/yellow]: the file claims a {named} and no certificate proves it")
    console.print(f"  hash     {result['hash']}", soft_wrap=True)


def decimal(number: Any, *, up: bool = False, digits: int = 15) -> str:
    """A rational as a decimal of so many digits, rounded outward: down, or up."""
    scale = 10**digits
    whole = (
        -(-number.numerator * scale // number.denominator)
        if up
        else number.numerator * scale // number.denominator
    )
    return f"{whole // scale}.{whole % scale:0{digits}d}"
