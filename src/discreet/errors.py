"""Errors that say what was wrong, what was found, what is allowed and what to do.

Every error a caller can cause derives from `DiscreetError`, which carries the exit code of the command line:
2 for a question that could not be asked (`InputError`, `TooLarge`, `MissingExtra`), 1 for a question that was
answered with no (`Refuted`, `BudgetExceeded`). Messages are plain words and never hold a record or an exact
aggregate of private data: `found` is for what a person wrote (a key, a number in a problem file, a path).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "BudgetExceeded",
    "DiscreetError",
    "InputError",
    "MissingExtra",
    "Refuted",
    "TooLarge",
    "UnreadableRows",
    "legible",
    "stopped",
    "suggest",
]

LONGEST_FOUND = 200
"""Characters of a found value that a message repeats before it is cut."""


class DiscreetError(Exception):
    """An error with words for a person and an exit code for a shell."""

    exit_code = 2

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only constructors do not survive the default pickling, and errors cross process boundaries.
        return (_rebuild, (type(self), self.args, self.__dict__.copy()))


class InputError(DiscreetError):
    """Something given was not acceptable: what was wrong, what was found, what is allowed, what to do."""

    exit_code = 2

    def __init__(self, wrong: str, *, found: object = None, allowed: object = None, remedy: str | None = None) -> None:
        self.wrong = wrong
        self.found = found
        self.allowed = allowed
        self.remedy = remedy
        sentences = [_sentence(wrong)]
        if found is not None:
            sentences.append(_sentence(f"Found: {_shown(found)}"))
        if allowed is not None:
            sentences.append(_sentence(f"Allowed: {_listed(allowed)}"))
        if remedy is not None:
            sentences.append(_sentence(remedy))
        super().__init__(" ".join(sentences))


class UnreadableRows(InputError):
    """A source that opened well broke off while its rows were read, which a single row can bring about."""

    def __init__(self) -> None:
        super().__init__(
            "The source could not be read to its end",
            allowed="a whole file or table that this user may read",
            remedy="check that it is complete and keeps to its own format",
        )


class TooLarge(DiscreetError):
    """The work asked for does not fit: `size` was asked for, `fits` would be accepted."""

    exit_code = 2

    def __init__(self, what: str, *, size: object, fits: object, remedy: str | None = None) -> None:
        self.what = what
        self.size = size
        self.fits = fits
        self.remedy = remedy
        sentences = [
            _sentence(f"Too large: {what}"),
            _sentence(f"Asked for: {_shown(size)}"),
            _sentence(f"Would fit: {_shown(fits)}"),
        ]
        if remedy is not None:
            sentences.append(_sentence(remedy))
        super().__init__(" ".join(sentences))


class MissingExtra(DiscreetError):
    """An optional part of the installation is needed; the message holds the command that installs it."""

    exit_code = 2

    def __init__(self, extra: str, *, needed_for: str) -> None:
        self.extra = extra
        self.needed_for = needed_for
        self.command = f'pip install "discreet[{extra}]"'
        super().__init__(
            f"The optional part {extra!r} is not installed; it is needed for {needed_for}. Install it with: {self.command}"
        )


class Refuted(DiscreetError):
    """A claim was checked and is false; `counterexample` is the evidence."""

    exit_code = 1

    def __init__(self, message: str, counterexample: object) -> None:
        self.counterexample = counterexample
        super().__init__(f"{_sentence('Refuted: ' + message)} Counterexample: {_shown(counterexample)}")


class BudgetExceeded(DiscreetError):
    """More privacy budget was asked for than remains; carries both amounts."""

    exit_code = 1

    def __init__(self, requested: object, remaining: object) -> None:
        self.requested = requested
        self.remaining = remaining
        super().__init__(
            f"The privacy budget does not allow this: {_shown(requested)} was requested and "
            f"{_shown(remaining)} remains. Nothing was spent. Ask for at most {_shown(remaining)}."
        )


def legible(words: str) -> str:
    """Words of strangers as one line that only shows: line ends, terminal codes and the like are written out as escapes."""
    return words if words.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in words)


def stopped(text: str) -> str:
    """A text with a full stop, unless it ends with one."""
    return text if text.endswith((".", "!", "?")) else text + "."


def suggest(word: str, allowed: Iterable[str]) -> str | None:
    """The allowed word nearest to a misspelt one, or None when nothing is near.

    Case, hyphens and underscores are ignored first (`Squared_Error` is `squared-error`); then the closest
    word by matching characters, at a similarity of at least 0.6, is taken.
    """
    words = list(allowed)
    plain = {_plain(candidate): candidate for candidate in words}
    near = difflib.get_close_matches(_plain(word), list(plain), n=1, cutoff=0.6)
    return plain[near[0]] if near else None


def _plain(word: str) -> str:
    return word[:LONGEST_FOUND].casefold().replace("_", "-").strip()


def _rebuild(kind: type[DiscreetError], args: tuple[object, ...], state: dict[str, object]) -> DiscreetError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


def _sentence(text: str) -> str:
    text = text.strip()
    return stopped(text[:1].upper() + text[1:])


def _listed(allowed: object) -> str:
    if isinstance(allowed, (set, frozenset)):
        return _listed(sorted(map(str, allowed)))
    if isinstance(allowed, (list, tuple)):
        return ", ".join(map(str, allowed)) or "nothing"
    return str(allowed)


def _shown(found: object) -> str:
    text = found if isinstance(found, str) else _text(found)
    if len(text) > LONGEST_FOUND:
        return f"{legible(text[:LONGEST_FOUND])}… ({len(text)} characters)"
    return legible(text) or "nothing"


def _text(found: object) -> str:
    try:
        return str(found)
    except (ValueError, RecursionError):
        # An integer of more than 4,300 digits, or a structure nested too deep to print.
        return f"a {type(found).__name__} too long to show"
