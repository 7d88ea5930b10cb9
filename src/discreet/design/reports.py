"""What whoever watches a design hears: payoffs, though solvers speak of losses."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.watch import Watch


@dataclass(frozen=True)
class AsPayoffs:
    """Solvers report losses from above and below; whoever watches a design hears payoffs."""

    inner: Watch

    def report(
        self,
        *,
        stage: str,
        value: float | None = None,
        bound: float | None = None,
        seconds: float | None = None,
        message: str | None = None,
    ) -> None:
        """Pass the report on with its signs turned."""
        self.inner.report(
            stage=stage,
            value=None if value is None else -value,
            bound=None if bound is None else -bound,
            seconds=seconds,
            message=message,
        )

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
