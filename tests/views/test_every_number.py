"""Every number in a sentence goes back to an exact number and a direction: it lies on that side, and its words say which."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from discreet.currencies.statements import statement
from discreet.interpret.bounds import PosteriorBounds
from discreet.interpret.power import power_bound
from discreet.interpret.sentences import attacker_sentence, limit_sentence, power_sentence
from discreet.numerics import digits
from discreet.numerics.digits import Side
from discreet.numerics.exact import exact
from discreet.views.conversion import conversion_view
from discreet.views.words import proof_words, tight_words

CLAIMS = {r"at most (?:ε = )?": Side.ABOVE, r"(?<!no )more than ": Side.ABOVE, r"below ": Side.BELOW}
TEXTS = [
    *(
        lambda e=e, k=k: attacker_sentence(Fraction(1, 10), e * k, together=k)
        for e in (Fraction(1, 3), Fraction(1), Fraction(8)) for k in (1, 4)
    ),
    *(lambda e=e, d=d: power_sentence(power_bound(0.05, e, d)) for e in (Fraction(1, 7), Fraction(1), Fraction(8)) for d in (1, 3)),
    *(lambda e=e: limit_sentence(PosteriorBounds(e, 3), 0.5) for e in (Fraction(1, 9), Fraction(1))),
    lambda: proof_words(Fraction(10, 3), Fraction(3)), lambda: tight_words(Fraction(1, 3), Fraction(2, 3)),
    *(
        lambda k=k: " ".join(getattr(b, "text", "") for b in conversion_view(statement("epsilon", epsilon="1/3"), k).told[:2])
        for k in ("kl", "tv", "tradeoff")
    ),
]  # fmt: skip


@pytest.mark.parametrize("say", TEXTS)
def test_every_number_lies_on_the_side_that_its_words_say(say, monkeypatch) -> None:
    said: list[tuple[str, Fraction, Side]] = []
    original = digits.written

    def written(x, side, places, *, percent=False):
        text = original(x, side, places, percent=percent)
        said.append((text, exact(x), side))
        return text

    monkeypatch.setattr(digits, "written", written)
    sentence = say()
    assert said and all(text in sentence for text, _, _ in said)
    for text, x, side in said:
        shown = exact(text.removesuffix(" %")) / (100 if text.endswith("%") else 1)
        assert {Side.ABOVE: shown >= x, Side.BELOW: shown <= x, Side.SAME: shown == x, Side.NEAR: True}[side], (text, side)
        for words, wanted in CLAIMS.items():
            if re.search(words + re.escape(text) + r"(?![\d.])", sentence):
                assert side in (wanted, Side.SAME), (sentence, text)
