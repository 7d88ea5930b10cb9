"""The problem file of a small count, which many tests write with a number or two of their own."""

from __future__ import annotations


def small_count(
    respondents: int,
    *,
    probabilities: str = "0.7, 0.3",
    decision: str = 'kind = "squared-error"\nactions = "integer"',
    privacy: str = "epsilon = 1",
) -> str:
    """The sum of zeros and ones of so many respondents; `decision` and `privacy` are the lines of these sections."""
    return f"""\
[data]
respondents = {respondents}
values = [0, 1]
[prior]
kind = "iid"
probabilities = [{probabilities}]
[statistic]
kind = "sum"
[decision]
{decision}
[privacy]
{privacy}
"""


ANY_NUMBER = 'kind = "squared-error"\nactions = "real"'
"""The decision whose actions are all real numbers."""
