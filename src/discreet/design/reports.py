"""What whoever watches a design hears: payoffs, though solvers speak of losses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.watch import Watch


@dataclass(frozen=True)
class AsPayoffs:
    """Solvers report losses from above and below; whoever watches a design hears payoffs."""

    inner: Watch

    def report(self, **told: Any) -> None:
        """Pass the report on with its signs turned."""
        turned = {name: -told[name] for name in ("value", "bound") if told.get(name) is not None}
        self.inner.report(**told | turned)

    def cancelled(self) -> bool:
        """Whether the one who watches wants to stop."""
        return self.inner.cancelled()


@dataclass(frozen=True)
class Quiet:
    """Passes on only the wish to stop: what a part reports about itself would mislead whoever watches the whole."""

    inner: Watch

    def report(self, **told: object) -> None:
        """Say nothing."""

    def cancelled(self) -> bool:
        return self.inner.cancelled()
