"""Releases and ledgers that lie in the served folder: verified, listed, read cell by cell, added up. Nothing of them is changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from discreet.errors import InputError
from discreet.interpret.totals import total as total_of
from discreet.ledger import open_ledger
from discreet.present import release_figure
from discreet.present.figures.release import release_rows
from discreet.publish.cells import published_cells
from discreet.publish.verification import fingerprint_of, verified
from discreet.views.bookkeeping import history_view, remaining_view
from discreet.views.reading import cell_view, reading_view
from discreet.views.subject import subject_of
from discreet.views.total import AskedTotal, total_view
from discreet.views.verification import verification_view
from discreet.views.view import BREAK, Heading, View, told
from discreet.web.questions import Reply, Setting, drawn
from discreet.web.typed import chance

MOST_CHOSEN = 2_000


def _at(setting: Setting, place: str) -> Path:
    return setting.home.parent / place


def release(setting: Setting, place: str, stamp: str, key: str | None = None) -> Reply:
    """What holds of a release, under the four headings."""
    where = _at(setting, place)
    view = told({"release": place}) + verification_view(verified(where, fingerprint_of(key)))
    return Reply(view, drawn(lambda: release_figure(where)) if view.holds else ())


def table(setting: Setting, place: str, stamp: str) -> Reply:
    """Every cell of a release, as its table lists them."""
    keys, rows = release_rows(_at(setting, place))
    return Reply(View({"keys": keys, "cells": rows}, ()))


def cell(setting: Setting, place: str, stamp: str, where: Sequence[str], level: str = "0.9") -> Reply:
    """What was published about one cell, and what it means."""
    held = subject_of(_at(setting, place), None, list(where))
    if held.code is None:
        raise InputError("One cell is looked up by its keys", found=", ".join(where), allowed="KEY=VALUE", remedy="follow a link")
    view = reading_view(held.mechanism, [held.code], level=chance(level, "level"))
    return Reply(cell_view(held) + view)


def total(setting: Setting, place: str, stamp: str, chosen: Sequence[int], level: str = "0.9") -> Reply:
    """The total over chosen cells, by their place in the table, with its interval."""
    cells = published_cells(_at(setting, place))
    positions = sorted(set(chosen))
    if not positions or len(positions) > MOST_CHOSEN or not all(0 <= p < len(cells) for p in positions):
        raise InputError(
            "Cells are chosen by their place in the table",
            found=f"{len(positions)} places",
            allowed=f"1 to {MOST_CHOSEN:,} cells",
            remedy="choose them on the page of the release",
        )
    names = tuple(" ".join(cells.cells[p]) for p in positions[:3])
    words = (*names, f"and {len(positions) - 3} more") if len(positions) > 3 else names
    found = total_of(cells.beliefs, np.array(positions, dtype=np.int64), None)
    return Reply(total_view(AskedTotal(found, words, (), chance(level, "level")), None, []))


def ledger(setting: Setting, place: str | None = None, stamp: str = "", address: str | None = None) -> Reply:
    """What is left of each budget, and every entry, of a file in the folder or of a database; opened to be read alone."""
    with open_ledger(address or str(_at(setting, place or "")), read_only=True) as book:
        left, entries = remaining_view(book.state), history_view(book.history())
    view = View({**left.facts, **entries.facts}, (*left.told, BREAK, Heading("Entries"), *entries.told))
    return Reply(view)
