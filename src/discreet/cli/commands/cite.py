"""`discreet cite FILE`: which results a design or mechanism rests on, and how to cite them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.output import Json, beside, show

if TYPE_CHECKING:
    from rich.console import Console

SOURCES = {
    "SY": "Schmutte, I. M. and Yoder, N. (2024). Information Design for Differential Privacy.",
    "GRS": "Ghosh, A., Roughgarden, T. and Sundararajan, M. (2012). Universally utility-maximizing privacy mechanisms. "
    "SIAM Journal on Computing 41(6).",
    "GV": "Geng, Q. and Viswanath, P. (2015). The optimal noise-adding mechanism in differential privacy. IEEE Transactions on "
    "Information Theory 62(2).",
    "DMNS": "Dwork, C., McSherry, F., Nissim, K. and Smith, A. (2006). Calibrating noise to sensitivity in private "
    "data analysis. TCC.",
}


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A mechanism file.")], as_json: Json = False
) -> None:
    """Say how to cite a mechanism and the results it rests on.

    Example: discreet cite places.mechanism.json
    """
    result = citation(file)
    show(result, as_json=as_json, person=lambda console: tell(result, console))


def citation(file: Path) -> dict[str, Any]:
    """The citation as a mapping."""
    from discreet import __version__, files

    mechanism = files.read_mechanism(file)
    theorem = mechanism.provenance.get("theorem", "")
    keys = ["DMNS"]
    if theorem.startswith("SY"):
        keys.insert(0, "SY")
    keys += {"geometric": ["GRS"], "staircase": ["GV"]}.get(mechanism.kernel.family, [])
    return {
        "mechanism": files.mechanism_hash(mechanism),
        "guarantee": str(mechanism.guarantee),
        "made_by": mechanism.provenance.get("made by", f"discreet {__version__}"),
        "theorem": theorem,
        "sources": {key: SOURCES[key] for key in keys},
        "prior": _prior_source(mechanism),
    }


def _prior_source(mechanism: Any) -> str:
    prior = mechanism.problem.prior
    return getattr(prior, "source", f"{prior.kind}, as stated in the problem file")


def tell(result: dict[str, Any], console: Console) -> None:
    """The citation as text to paste."""
    console.print(
        f"Mechanism sha256:{result['mechanism']}, {result['guarantee']}, made with {result['made_by']}.",
        soft_wrap=True,
    )
    if result["theorem"]:
        console.print(f"Optimality rests on {result['theorem']}.")
    console.print(f"Prior: {result['prior']}.")
    for source in result["sources"].values():
        beside(console, "  ", source)
