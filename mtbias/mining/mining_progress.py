"""How far mining is, on standard error: a bar on a terminal, and in a log a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

from mtbias.machine.stage_progress import duration, log_seconds
from mtbias.mining.counts import PARSED, READ, Counts

if TYPE_CHECKING:
    from tqdm import tqdm


class MiningProgress:
    """Shows bytes of the input that were read, passages and sentences parsed a second, and the time that is left.

    On a terminal there is a bar; elsewhere a line is written every `log_seconds`::

        mine 42 %: 1,204,113 passages read (2,310/s), 31,005 sentences parsed (57/s), 8 min 20 s left

    The rates are those since the beginning of this command.
    """

    def __init__(
        self,
        total: int,
        *,
        interval: float | None = None,
        file: TextIO | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`total` bytes are to be read; by default standard error is written to, as it is at that time."""
        self._total, self._given, self._clock = total, file, clock
        self._interval = log_seconds() if interval is None else interval
        self._began = self._last = clock()
        self._bar: tqdm[Any] | None = None
        self._before: int | None = None
        """Bytes that an earlier command had read."""

    def __call__(self, done: int, counts: Counts) -> None:
        """Show that `done` bytes are read, and what this command counted in them."""
        file = self._given or sys.stderr
        if self._before is None:
            self._before = done
            return
        if file is None:  # the caller closed it
            return
        if file.isatty():
            self._draw(file, done, counts)
            return
        now = self._clock()
        if now - self._last >= self._interval:
            self._last = now
            file.write(f"{self._line(done, counts, now - self._began)}\n")
            file.flush()

    def _draw(self, file: TextIO, done: int, counts: Counts) -> None:
        from tqdm import tqdm

        if self._bar is None:
            self._bar = tqdm(total=self._total, desc="mine", unit="B", unit_scale=True, file=file, leave=False)
        self._bar.update(done - self._bar.n)
        seconds = max(self._clock() - self._began, 1e-9)
        self._bar.set_postfix_str(f"{counts.stages[PARSED] / seconds:.0f} sentences parsed/s")
        if done >= self._total:
            self._bar.close()

    def _line(self, done: int, counts: Counts, seconds: float) -> str:
        read, parsed = counts.stages[READ], counts.stages[PARSED]
        left = (self._total - done) * seconds / max(done - (self._before or 0), 1)
        return (
            f"mine {100 * done // max(self._total, 1)} %: {read:,} passages read ({read / seconds:,.0f}/s), "
            f"{parsed:,} sentences parsed ({parsed / seconds:,.0f}/s), {duration(left)} left"
        )
