"""The demo's data: generated households in blocks of about 40, and the two questions a school district has about them."""

from __future__ import annotations

from pathlib import Path

from discreet.views.view import Sentence, View, told

TITLE = "A county of generated households"
BLOCKS, AVERAGE, SPREAD = 400, 40, 4

BUSES = """\
# How many buses does a block need? It depends on how many households have any child.
[data]
respondents = 40
values = [0, 1, 2]              # children in a household

[prior]
kind = "iid"
probabilities = [0.89, 0.09, 0.02]

[statistic]
kind = "count"
of = [1, 2]                     # households with any child

[decision]
kind = "expression"
payoff = "-omega/a - 0.1*a"     # households per bus route, and what buses cost
actions = { from = 0.05, to = 60 }

[privacy]
epsilon = 1
unit = "household"
"""


def run(folder: Path) -> View:
    """Write households.parquet, blocks.csv, plan.toml and the problem files places.toml and buses.toml."""
    from discreet.gallery.schools import schools, write_schools

    plan = write_schools(folder, BLOCKS, AVERAGE, SPREAD)
    places = (folder / "places.toml").read_text(encoding="utf-8")
    (folder / "places.toml").write_text(places.replace('actions = "real"', 'actions = "integer"'), encoding="utf-8")
    (folder / "buses.toml").write_text(BUSES, encoding="utf-8")
    table = schools(BLOCKS, AVERAGE, SPREAD)
    sizes = sorted(set(table.sizes.tolist()))
    households = int(table.sizes.sum())
    facts = {"plan": plan, "households": households, "blocks": BLOCKS, "sizes": sizes, "children": int(table.children.sum())}
    words = (
        f"{households:,} households in {BLOCKS} blocks of {sizes[0]} to {sizes[-1]}. Nobody in them is real. Two questions: "
        "places.toml (how many school places?) and buses.toml (how many buses?)."
    )
    return told(facts, Sentence(words))
