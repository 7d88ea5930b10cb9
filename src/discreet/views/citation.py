"""How to cite a mechanism and the results that it rests on."""

from __future__ import annotations

from discreet import __version__
from discreet.files.mechanism_document import mechanism_hash
from discreet.model.mechanism import Mechanism
from discreet.views.view import Fact, Sentence, View

SOURCES = {
    "SY": "Schmutte, I. M. and Yoder, N. (2024). Information Design for Differential Privacy.",
    "GRS": "Ghosh, A., Roughgarden, T. and Sundararajan, M. (2012). Universally utility-maximizing privacy mechanisms. "
    "SIAM Journal on Computing 41(6).",
    "GV": "Geng, Q. and Viswanath, P. (2015). The optimal noise-adding mechanism in differential privacy. IEEE Transactions on "
    "Information Theory 62(2).",
    "DMNS": "Dwork, C., McSherry, F., Nissim, K. and Smith, A. (2006). Calibrating noise to sensitivity in private "
    "data analysis. TCC.",
}


def citation_view(mechanism: Mechanism, family: str | None = None) -> View:
    """The citation as text to paste; of a whole family by its hash, when one member speaks for all."""
    theorem = mechanism.provenance.get("theorem", "")
    keys = [*(["SY"] if theorem.startswith("SY") else []), "DMNS"]
    keys += {"geometric": ["GRS"], "staircase": ["GV"]}.get(mechanism.kernel.family, [])
    prior = mechanism.problem.prior
    facts = {
        "mechanism": family or mechanism_hash(mechanism),
        "guarantee": str(mechanism.guarantee),
        "made_by": mechanism.provenance.get("made by", f"discreet {__version__}"),
        "theorem": theorem,
        "sources": {key: SOURCES[key] for key in keys},
        "prior": getattr(prior, "source", f"{prior.kind}, as stated in the problem file"),
    }
    kind = "Mechanism" if family is None else "Family of mechanisms"
    named = f"{kind} sha256:{facts['mechanism']}, {facts['guarantee']}, made with {facts['made_by']}."
    rests = [Sentence(f"Optimality rests on {theorem}.")] if theorem else []
    told = (Sentence(named, whole=True), *rests, Sentence(f"Prior: {facts['prior']}."))
    return View(facts, (*told, *(Fact("", SOURCES[key]) for key in keys)))
