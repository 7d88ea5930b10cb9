"""A county to learn about: two towns of 14 streets, a plan, a question without a prior, a ledger and a key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from pathlib import Path

import towns

from discreet.engines import Engine
from discreet.face.learned import LearnedRelease, chosen, learn
from discreet.ledger import Ledger, Signer, open_ledger
from discreet.watch import SILENT, Watch

CHANGED = {
    'mechanism = "yes.mechanism.json"\n': "",
    '["street"]': '["town", "street"]',
    "padding = true\n": "",
    '"the town"': '"the towns"',
}
PLAN = reduce(lambda text, change: text.replace(*change), CHANGED.items(), towns.PLAN.format(protects="moves"))
QUESTION = """\
[data]
values = [0, 1]
[statistic]
kind = "sum"
[decision]
kind = "squared-error"
actions = "integer"
[privacy]
epsilon = 1
unit = "person"
"""


@dataclass(frozen=True)
class County:
    """Two towns of 14 streets of 4 or 5 people, in a folder."""

    folder: Path

    @property
    def signer(self) -> Signer:
        return Signer.read(self.folder / "key.pem")

    def ledger(self) -> Ledger:
        return open_ledger(str(self.folder / "ledger.db"))

    def learn(
        self,
        *,
        until: str = "publish",
        strata: tuple[str, ...] = (),
        step: Callable[[str], None] | None = None,
        share: str = "0.2",
        watch: Watch = SILENT,
        hedged: bool = False,
        kinds: bool = False,
        gap: float = 0.01,
        engine: Engine | None = None,
    ) -> LearnedRelease:
        files = (self.folder / name for name in ("plan.toml", "question.toml", "out"))
        choices = chosen(*files, share=share, strata=strata, hedged=hedged, kinds=kinds)
        told = {"step": step, "watch": watch, "gap": gap, "engine": engine}
        with self.ledger() as ledger:
            return learn(choices, ledger, signer=self.signer, until=until, workers=1, seconds=1e6, **told)  # type: ignore[arg-type]


def make(folder: Path, budget: Fraction | int = 4, currency: str = "pure", question: str = QUESTION, full: int = 0) -> County:
    """With `full` so many streets of 20 instead, of which every third is full of ones and the others have next to none."""
    folder.mkdir(parents=True)
    streets = [(f"town {i % 2}", f"street {i}", 4 + i % 2) for i in range(28)]
    rows = [f"{town},{street},{int((i * j) % 3 == 1)}" for i, (town, street, n) in enumerate(streets) for j in range(n)]
    if full:
        streets = [(f"town {i % 2}", f"street {i}", 20) for i in range(full)]
        ones = [9 + i % 4 if i % 3 == 0 else i % 2 for i in range(full)]
        rows = [f"{town},{street},{int(j < ones[i])}" for i, (town, street, n) in enumerate(streets) for j in range(n)]
    (folder / "people.csv").write_text("\n".join(["town,street,answer", *rows, ""]), encoding="utf-8")
    listed = [f"{town},{street},{n}" for town, street, n in streets]
    (folder / "streets.csv").write_text("\n".join(["town,street,size", *listed, ""]), encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    (folder / "question.toml").write_text(question, encoding="utf-8")
    signer = Signer.create(folder / "key.pem")
    with open_ledger(str(folder / "ledger.db"), create=True) as ledger:
        ledger.init(currency, signer)
        ledger.declare("the towns", "person", Fraction(budget), Fraction(0), signer)
    return County(folder)
