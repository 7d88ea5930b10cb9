"""Names of populations and units as people read them: a second budget must not hide behind a letter that looks like another.

`folded` takes away what readers do not heed: letter case, spacing, ways of writing a character. `likeness` also takes away what
they do not see (zero-width characters, accents, punctuation) and maps letters of other alphabets that are drawn like Latin
ones, and the digits 0 and 1, to one letter. The table is a choice from the confusables of Unicode Technical Standard 39 for
Greek, Cyrillic, Armenian and Cherokee; it is no proof that two names can be told apart, and people are asked to look too.
"""

from __future__ import annotations

import unicodedata

ALIKE = {
    "a": "аαɑ", "b": "ьвβᏴ", "c": "сϲᏟ", "d": "ԁᏧ", "e": "еεҽᎬ", "f": "ϝ", "g": "ɡցᏀ", "h": "һհнᎻ", "j": "јϳᎫ", "k": "кκᏦ",
    "l": "iіιӏɩı1ᎥᏞ", "m": "мμᎷ", "n": "ոηп", "o": "оοօσ0", "p": "рρᏢ", "q": "ԛգ", "r": "гᎡᏒ", "s": "ѕᏚ", "t": "тτᎢ",
    "u": "υսц", "v": "νѵᏙ", "w": "ԝѡωᎳ", "x": "хχ", "y": "уγүᎽ", "z": "ζᏃ",
}  # fmt: skip
"""For each Latin letter those that are drawn like it, in small or capital form; their capitals count too."""
_LATIN = {ord(each): letter for letter, others in ALIKE.items() for other in others for each in {other, other.casefold()}}
_ACCENTS = range(0x300, 0x370)


def folded(name: str) -> str:
    """A name without differences of case, spacing and encoding."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def likeness(name: str) -> str:
    """What a name looks like at a glance: equal for names that people cannot tell apart."""
    text = unicodedata.normalize("NFKD", folded(name))
    seen = (letter for letter in text if unicodedata.category(letter)[0] != "C" and ord(letter) not in _ACCENTS)
    latin = "".join(seen).casefold().translate(_LATIN)
    spaced = "".join(letter if letter.isalnum() or unicodedata.combining(letter) else " " for letter in latin)
    return " ".join(spaced.split()) or folded(name)
