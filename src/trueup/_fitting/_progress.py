"""Showing a fit as it goes on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from trueup._model import RoundRecord
from trueup._runtime import Progress, shown_progress

__all__ = ["RoundProgress", "shown_rounds"]


class RoundProgress:
    """Tells a progress bar of rounds and their losses."""

    def __init__(self, progress: Progress, max_rounds: int) -> None:
        self._progress = progress
        self._max_rounds = max_rounds

    def round_finished(self, record: RoundRecord) -> None:
        """A round was grown and validated."""
        loss = f"train {record.train_loss:.5f}"
        if record.validation_loss == record.validation_loss:
            loss += f"  validation {record.validation_loss:.5f}"
        after = f"growing round {record.number + 1}" if record.number < self._max_rounds else "the last"
        self._progress.now(f"round {record.number}: {loss}, {after}")

    def refit_started(self, n_rounds: int) -> None:
        """The number of rounds is chosen, and they are fitted on all rows now."""
        self._progress.now(f"fitting {n_rounds} rounds on all rows", done=0, total=n_rounds)

    def refit_round_finished(self, number: int, n_rounds: int) -> None:
        """A round of the fit on all rows was grown."""
        self._progress.now(f"fitting on all rows: round {number} of {n_rounds}", done=number, total=n_rounds)


@contextlib.contextmanager
def shown_rounds(verbose: int, max_rounds: int) -> Iterator[RoundProgress]:
    """Show rounds and losses on a terminal; anywhere else nothing."""
    with shown_progress(verbose, "round 1") as progress:
        yield RoundProgress(progress, max_rounds)
