"""Random forgeries of mechanism, family and robust files, and which are believed: `forger` makes them, `oracle` knows the truth.

python tests/certify/forged_files.py family 7000 [SEED]
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter

from forger import Document, forged, honest
from oracle import judged, lies

from discreet.errors import DiscreetError


def campaign(kind: str, count: int, seed: int, folder: str) -> tuple[Counter[str], list[tuple[list[str], Document]]]:
    """Outcomes of so many forgeries, and the false acceptances."""
    rng = random.Random(seed)
    documents = [json.loads(text) for text in honest(kind, folder)]
    outcomes: Counter[str] = Counter()
    believed_lies = []
    while sum(outcomes.values()) < count:
        document = forged(rng.choice(documents), rng)
        if document in documents:
            continue
        try:
            found = judged(kind, document)
        except DiscreetError as error:
            outcomes["refuted" if error.exit_code == 1 else "refused"] += 1
            continue
        if not found.proved:
            outcomes["refuted"] += 1
            continue
        wrong = lies(kind, document, found)
        outcomes["false acceptance" if wrong else "true, or named as not proved"] += 1
        if wrong:
            believed_lies.append((wrong, document))
    return outcomes, believed_lies


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        result, accepted = campaign(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1, place)
    print(dict(result))  # noqa: T201
    for words, text in accepted[:20]:
        print(words, json.dumps(text)[:2000])  # noqa: T201
    sys.exit(bool(accepted))
