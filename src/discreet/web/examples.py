"""Problems to begin with: what an agency, an operator or a clinic might publish. The numbers are made up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """A problem with a name, a question, and the TOML text."""

    name: str
    title: str
    question: str
    text: str


def _text(
    name: str, about: str, respondents: int, values: str, prior: str, statistic: str, decision: str, epsilon: str, unit: str
) -> str:
    return (
        f'# {about}\nname = "{name}"\n\n'
        f"[data]\nrespondents = {respondents}\nvalues = [{values}]\n\n[prior]\n{prior}\n\n[statistic]\n{statistic}\n\n"
        f'[decision]\n{decision}\n\n[privacy]\nepsilon = {epsilon}\nunit = "{unit}"\n'
    )


EXAMPLES = {
    example.name: example
    for example in (
        Example(
            "school-places",
            "School places",
            "How many school places will a block of forty households need?",
            _text(
                "School places",
                "How many school places does each block need?",
                40,
                "0, 1, 2",
                'kind = "iid"\nprobabilities = [0.89, 0.09, 0.02]',
                'kind = "sum"',
                'kind = "squared-error"\nactions = "real"',
                "1",
                "household",
            ),
        ),
        Example(
            "buses",
            "Buses",
            "How many seats should the morning bus have? Too few is worse than too many.",
            _text(
                "Buses",
                "How many seats does the morning bus need?",
                50,
                "0, 1",
                'kind = "reference"\ncounts = [640, 160]\nsource = "last year\'s public survey (made up)"',
                'kind = "count"\nof = [1]',
                'kind = "pinball"\nquantile = 0.9\nactions = "integer"',
                "0.5",
                "passenger",
            ),
        ),
        Example(
            "disease-count",
            "Disease count",
            "How many of a hundred patients had the infection?",
            _text(
                "Disease count",
                "How many patients had the infection?",
                100,
                "0, 1",
                'kind = "exchangeable"\nconcentration = [9, 1]',
                'kind = "sum"',
                'kind = "absolute-error"\nactions = "integer"',
                "1",
                "patient",
            ),
        ),
        Example(
            "income-brackets",
            "Income brackets",
            "What is the average income bracket of thirty families?",
            _text(
                "Income brackets",
                "What is the average income bracket?",
                30,
                "1, 2, 3, 4",
                'kind = "iid"\nprobabilities = [0.3, 0.4, 0.2, 0.1]',
                'kind = "mean"',
                'kind = "squared-error"\nactions = "real"',
                "1",
                "family",
            ),
        ),
        Example(
            "threshold-decision",
            "Threshold decision",
            "Should a clinic open? It pays when eight or more of sixty people need it.",
            _text(
                "Threshold decision",
                "Should a clinic open here?",
                60,
                "0, 1",
                'kind = "iid"\nprobabilities = [0.88, 0.12]',
                'kind = "sum"',
                'kind = "expression"\nactions = [0, 1]\npayoff = "a*(omega - 8)"',
                "1",
                "person",
            ),
        ),
    )
}
"""By name, in the order in which they are shown."""
