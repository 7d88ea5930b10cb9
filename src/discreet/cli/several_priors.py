"""`discreet design --priors`: one mechanism with the least worst regret over several priors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.design.questions.robust import Robust
    from discreet.model.problem import Problem
    from discreet.watch import Watch


def run(
    problem: Problem, priors: Path, output: Path | None, figure: Path | None, watch: Watch, **settings: Any
) -> dict[str, Any]:
    """Design for the problem's prior and those of the file, write and draw what is asked for, and return the facts."""
    from discreet import files
    from discreet.design.questions.robust import robust_design
    from discreet.files.priors import read_priors
    from discreet.files.robust import RobustFile, write_robust

    every = dict.fromkeys((problem.prior, *read_priors(priors, problem)))
    found = robust_design(problem, list(every), watch, **settings)
    result = facts(found)
    if output is not None:
        files.write_mechanism(output, found.mechanism)
        files.write_certificate(files.certificate_path(output), found.certificate)
        proof = output.with_name(output.name.removesuffix(".json").removesuffix(".mechanism") + ".robust.json")
        references = tuple((r.mechanism, r.certificate) for r in found.references)
        write_robust(proof, RobustFile(found.mechanism, found.certificate, found.weights, references))
        result |= {"mechanism": output, "certificate": files.certificate_path(output), "proof": proof}
    if figure is not None:
        from discreet.present import priors_figure

        drawn = priors_figure(found)
        result |= {"figure": drawn.write(figure), "alt": drawn.alt}
    return result


def facts(found: Robust) -> dict[str, Any]:
    """The robust design as one mapping."""
    rows = []
    for prior, weight, loss, best, plain in zip(
        found.priors, found.weights, found.proof.losses, found.proof.best, found.plain, strict=True
    ):
        chances = getattr(prior, "probabilities", None)
        rows.append({
            "kind": prior.kind,
            "probabilities": [float(p) for p in chances] if isinstance(chances, tuple) else None,
            "weight": float(weight), "loss": float(loss), "best": [float(side) for side in best], "plain": plain,
            "regret": float(loss - best[0]),
        })
    return {
        "priors": rows,
        "worst_regret": float(found.proof.worst),
        "least_worst_regret": float(found.proof.least),
        "price": found.price,
        "rounds": found.rounds,
        "status": found.status,
    }


def tell(result: dict[str, Any], console: Console) -> None:
    """The three losses at each prior, then both sides of the worst regret."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("if this prior is true", "robust", "plain", "best there", "regret"):
        table.add_column(title, justify="left" if title.startswith("if") else "right", overflow="fold")
    for row in result["priors"]:
        table.add_row(
            _named(row), f"{row['loss']:.6g}", f"{row['plain']:.6g}", f"{row['best'][1]:.6g}", f"{row['regret']:.6g}"
        )
    console.print(table)
    console.print(
        "Expected losses: of this mechanism (robust), of the one designed for the first prior alone (plain), and of the best "
        "mechanism for each prior. Regret is what robust loses beyond the best."
    )
    console.print(
        f"Proved: the worst regret is at most {result['worst_regret']:.6g}, and no private mechanism has less than "
        f"{result['least_worst_regret']:.6g}."
    )
    for row in result["priors"][1:]:
        change = row["plain"] - row["loss"]
        words = f"saves {change:.4g}" if change >= 0 else f"costs {-change:.4g}"
        console.print(f"Against the plain design it {words} if {_named(row)} is true.")
    console.print(f"It costs {result['price']:.4g} if {_named(result['priors'][0])} is true, for which the plain design is best.")
    if result["status"] == "cancelled":
        console.print(
            "[yellow]Mind:[/yellow] stopped before both sides met; what is printed is proved. --seconds allows more time."
        )
    if "mechanism" in result:
        console.print(
            f"Written: {result['mechanism']}, {result['certificate']} and {result['proof']}", soft_wrap=True
        )
    if "figure" in result:
        console.print(f"Drawn: {result['figure']}", soft_wrap=True)


def _named(row: dict[str, Any]) -> str:
    chances = row["probabilities"]
    return str(row["kind"]) if chances is None else "(" + ", ".join(f"{p:.3g}" for p in chances) + ")"
