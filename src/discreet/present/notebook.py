"""Notebooks: problems, designs, certificates, posteriors, verdicts and releases as small pieces of HTML.

The nouns know nothing of pictures, so a notebook is told about them: `enable()` registers a renderer for each class with
IPython's own formatter, by name, without importing anything early. `%load_ext discreet.present.notebook` does the same.
`html(thing)` is what a notebook would show. A release is a folder: `Release(folder)` stands for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import DiscreetError, InputError
from discreet.numerics.digits import about, at_least, at_most, between, percent_about
from discreet.present import blocks

if TYPE_CHECKING:
    from discreet.design.result import Design
    from discreet.exchange.opendp_claims import Claimed
    from discreet.interpret.posteriors import Posterior
    from discreet.model.certificate import Certificate
    from discreet.model.mechanism import Mechanism
    from discreet.model.problem import Problem
    from discreet.publish.verdict import ReleaseVerdict

MOST_ROWS = 20
LEAST = 5e-4


@dataclass(frozen=True)
class Release:
    """A release folder, to be looked at."""

    folder: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(self.folder))
        if not (self.folder / "release.csv").is_file():
            raise InputError(
                "This folder is no release",
                found=str(self.folder),
                allowed="a folder that publish wrote",
                remedy="give the release's folder",
            )

    def _repr_html_(self) -> str:
        return release_html(self)


def enable(shell: Any = None) -> tuple[str, ...]:
    """Let the notebook show our things; returns the names of the classes. `shell` is the running IPython by default."""
    running = shell if shell is not None else _running_shell()
    formatter = running.display_formatter.formatters["text/html"]
    for (module, name), render in RENDERERS.items():
        formatter.for_type_by_name(module, name, render)
    return tuple(name for _, name in RENDERERS)


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext discreet.present.notebook` calls."""
    enable(shell)


def html(thing: object) -> str:
    """The HTML of one of our things."""
    kind = type(thing)
    render = RENDERERS.get((kind.__module__, kind.__name__))
    if render is None:
        raise InputError(
            "There is no HTML for this",
            found=kind.__name__,
            allowed=[name for _, name in RENDERERS],
            remedy="print it instead",
        )
    return render(thing)


def problem_html(problem: Problem) -> str:
    """The problem in words, with its privacy level."""
    from discreet.views.words import problem_words

    rows = [
        ("privacy", str(problem.guarantee)),
        ("prior", problem.prior.kind),
        *(("note", note) for note in problem.notes),
    ]
    return _card(problem.name or "Problem", f"<p>{escape(problem_words(problem))}</p>{_facts(rows)}")


def design_html(design: Design) -> str:
    """The design's view."""
    from discreet.views.design import design_view

    return _card("Design", blocks.html(design_view(design).told))


def mechanism_html(mechanism: Mechanism) -> str:
    """What is read, what comes out, what is promised."""
    from discreet.views.words import guarantee_words

    rows = [("reads", mechanism.summary.kind), ("kernel", mechanism.kernel.family), ("promise", str(mechanism.guarantee))]
    return _card("Mechanism", f"<p>{escape(guarantee_words(mechanism.guarantee))}</p>{_facts(rows)}")


def certificate_html(certificate: Certificate) -> str:
    """Each claim with its witness."""
    proof, optimal = certificate.privacy, certificate.optimality
    rows = [
        ("privacy", f"{proof.promise} holds; tight {between(proof.tight_low, proof.tight_high, 9)} "
                    f"({proof.edges:,} edges × {proof.outputs:,} outputs, {proof.witness})"),
    ]  # fmt: skip
    if proof.edge is not None:
        rows.append(("tightest", f"between {proof.edge[0]} and {proof.edge[1]}, output {proof.output}"))
    if optimal is not None:
        witness = getattr(optimal.witness, "kind", None) or getattr(optimal.witness, "theorem", "")
        rows.append(
            (
                "optimality",
                f"expected payoff at least {at_least(optimal.value, 9)}, none above {at_most(optimal.bound, 9)} ({witness})",
            )
        )
    rows.append(("mechanism", certificate.mechanism))
    return _card("Certificate", _facts(rows))


def posterior_html(posterior: Posterior) -> str:
    """Mean and interval where there is an order, and bars of the likeliest possibilities."""
    rows = [("probability of what was published", about(posterior.probability))]
    if posterior.values is not None:
        low, high = posterior.interval()
        rows = [("mean", about(posterior.mean(), 6)), ("at least 90 %", between(low, high, 12)), *rows]
    chances = [float(p) for p in posterior.probabilities]
    likely = sorted(range(len(chances)), key=lambda i: -chances[i])[:MOST_ROWS]
    top = max(chances)
    bars = "".join(
        f"<tr><td>{escape(posterior.labels[i])}</td><td style='text-align:right'>{percent_about(chances[i])}</td>"
        "<td style='width:12em'>"
        f"<div style='background:#0072b2;height:.8em;width:{round(100 * chances[i] / top, 1)}%'></div></td></tr>"
        for i in sorted(likely)
        if chances[i] >= LEAST
    )
    left = 1 - sum(chances[i] for i in likely if chances[i] >= LEAST)
    rest = f"<p>others: {percent_about(left)}</p>" if left > LEAST else ""
    head = f"<tr><th scope='col'>{escape(posterior.about)}</th><th scope='col'>probability</th><td></td></tr>"
    return _card("Posterior", f"{_facts(rows)}<table><thead>{head}</thead><tbody>{bars}</tbody></table>{rest}")


def verdict_html(verdict: ReleaseVerdict) -> str:
    """Every check by class."""
    from discreet.views.verification import verification_view

    return _card("Holds" if verdict.holds else "Fails", blocks.html(verification_view(verdict).told))


def release_html(release: Release) -> str:
    """What was published under which promise, and the picture of it."""
    import json

    from discreet.present.figures.release import release_figure, release_rows

    _, cells = release_rows(release.folder)
    rows = [("cells", f"{len(cells):,}")]
    place = release.folder / "facts.json"
    place = place if place.is_file() else release.folder / "metadata.json"
    if place.is_file():
        facts = json.loads(place.read_text(encoding="utf-8"))
        loss = facts["privacy_loss"]
        level = f"ε = {loss['epsilon']}" if "epsilon" in loss else f"ρ = {loss['rho']}"
        rows += [("data", str(facts["dataset"])), ("promise", f"{level}: {loss['protects']}")]
    rows.append(("check it", f"discreet verify {release.folder}"))
    try:
        figure = release_figure(release.folder)
        picture = f"<figure>{figure.svg()}<figcaption>{escape(figure.alt)}</figcaption></figure>"
    except DiscreetError as error:
        picture = f"<p>{escape(str(error))}</p>"
    return _card("Release", _facts(rows) + picture)


def _viewed(title: str, module: str, function: str) -> Callable[[Any], str]:
    """A card of the view that the shells show, loaded when it is needed."""

    def render(thing: Any) -> str:
        view = getattr(import_module(f"discreet.views.{module}"), function)
        return _card(title, blocks.html(view(thing).told))

    return render


def claimed_html(claimed: Claimed) -> str:
    """A peer's promise, judged."""
    from discreet.views.judgement import judgement_view

    return _card("A peer's promise", blocks.html(judgement_view(claimed.judged()).told))


RENDERERS: dict[tuple[str, str], Callable[[Any], str]] = {
    ("discreet.model.problem", "Problem"): problem_html,
    ("discreet.design.result", "Design"): design_html,
    ("discreet.model.mechanism", "Mechanism"): mechanism_html,
    ("discreet.model.certificate", "Certificate"): certificate_html,
    ("discreet.interpret.posteriors", "Posterior"): posterior_html,
    ("discreet.publish.verdict", "ReleaseVerdict"): verdict_html,
    ("discreet.present.notebook", "Release"): release_html,
    ("discreet.design.questions.family", "FamilyDesign"): _viewed("Family", "family", "family_view"),
    ("discreet.design.questions.frontier", "Frontier"): _viewed("Frontier", "frontier", "frontier_view"),
    ("discreet.design.questions.robust", "Robust"): _viewed("Robust design", "robust", "robust_view"),
    ("discreet.design.questions.reliance", "Reliance"): _viewed("Reliance on the prior", "reliance", "reliance_view"),
    ("discreet.design.questions.allocation", "Allocation"): _viewed("Allocation", "allocation", "allocation_view"),
    ("discreet.interpret.choosing", "Choices"): _viewed("Choices of ε", "choice", "choice_view"),
    ("discreet.certify.verdict", "MechanismVerdict"): _viewed("Verdict", "verdict", "verdict_view"),
    ("discreet.certify.verdict", "FamilyVerdict"): _viewed("Verdict", "verdict", "verdict_view"),
    ("discreet.certify.verdict", "RobustVerdict"): _viewed("Verdict", "verdict", "verdict_view"),
    ("discreet.exchange.judgement", "Judgement"): _viewed("Judgement", "judgement", "judgement_view"),
    ("discreet.exchange.opendp_claims", "Claimed"): claimed_html,
    ("discreet.exchange.cell_keys.designing", "TableDesign"): _viewed("Table", "cell_keys", "design_view"),
    ("discreet.exchange.cell_keys.designing", "Improvement"): _viewed("Improvement", "cell_keys", "improvement_view"),
    ("discreet.exchange.cell_keys.designing", "LeastEpsilon"): _viewed("Least ε", "cell_keys", "least_epsilon_view"),
}


def _running_shell() -> Any:
    try:
        from IPython import get_ipython  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        get_ipython = lambda: None  # noqa: E731
    shell = get_ipython()
    if shell is None:
        raise InputError(
            "No notebook is running here",
            found="plain Python",
            allowed="IPython or Jupyter",
            remedy="call enable() inside a notebook, or html(thing) for the text",
        )
    return shell


def _card(title: str, body: str) -> str:
    return f"<div class='discreet'><h4>{escape(title)}</h4>{body}</div>"


def _facts(rows: Sequence[tuple[str, str]]) -> str:
    lines = "".join(f"<tr><th scope='row' style='text-align:left'>{escape(a)}</th><td style='text-align:left'>{escape(b)}</td></tr>"
                    for a, b in rows)  # fmt: skip
    return f"<table><tbody>{lines}</tbody></table>"
