"""Progress of a run on standard error: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from mtbias.errors import UsageError

if TYPE_CHECKING:
    from tqdm import tqdm

INTERVAL = 30.0
"""Seconds between two lines of a log."""
_LINE = "{desc} {n:,} of {total:,} ({percentage:.0f} %), {rate_noinv_fmt}, {remaining} left"


def draws_bars(file: TextIO | None) -> bool:
    """Whether `file` is a terminal with room for a bar; that of a container or a CI may have no
    columns.
    """
    if file is None or not file.isatty():
        return False
    try:
        return os.get_terminal_size(file.fileno()).columns > 0
    except OSError:  # nobody knows how wide it is
        return True


class ProgressLine:
    """Shows the stages of a run; called as ``progress(stage, done, total)``
    (`mtbias.types.Progress`).

    On a terminal each stage has a bar (`draws_bars`). Elsewhere, as in the log of a job, a line is
    written every `interval` seconds or more::

        translate 1,024 of 3,888 (26 %), 14.20 sentences/s, 03:20 left
    """

    def __init__(
        self,
        *,
        unit: str = "sentences",
        interval: float | None = None,
        file: TextIO | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Nothing is shown before the first stage.

        Args:
            unit: of what is counted.
            interval: seconds between two lines; by default what ``MTBIAS_LOG_SECONDS`` has (0: no
                lines), else 30.
            file: where to write; by default standard error as it is at that time.
            clock: seconds since some moment.
        """
        self._interval = log_seconds() if interval is None else interval
        self._unit, self._output, self._clock = unit, file, clock
        self._bar: tqdm[Any] | None = None
        self._stage: str | None = None
        self._began = self._last = 0.0
        self._before = 0
        """How many were done when the stage began."""
        self.note = ""
        """The end of bar and line: ``loss 0.412``."""
        self.run = ""
        """Shown before the stage: ``google-es, 3 of 6``."""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show `done` of `total` of `stage`."""
        file = self._output or sys.stderr
        if file is None or not total:  # None where the caller closed it
            return
        stage = f"{self.run}: {stage}" if self.run else stage
        if draws_bars(file):
            self._draw(file, stage, done, total)
        else:
            self._write(file, stage, done, total)

    @property
    def writes(self) -> bool:
        """Whether anything is shown: a log may have no lines."""
        file = self._output or sys.stderr
        return file is not None and (draws_bars(file) or math.isfinite(self._interval))

    def _draw(self, file: TextIO, stage: str, done: int, total: int) -> None:
        from tqdm import tqdm

        if self._bar is not None and self._bar.desc != stage:
            self._bar.close()
            self._bar = None
        if self._bar is None:
            self._bar = tqdm(total=total, desc=stage, unit=self._unit[:4], file=file, leave=False)
        self._bar.set_postfix_str(self.note, refresh=False)
        self._bar.update(done - self._bar.n)
        if done >= total:
            self._bar.close()
            self._bar = None

    def _write(self, file: TextIO, stage: str, done: int, total: int) -> None:
        now = self._clock()
        if self._stage is None:
            self._stage, self._began, self._last, self._before = stage, now, now, done
            return
        if stage != self._stage:
            self._stage, self._began, self._before = stage, now, done
        if now - self._last >= self._interval:
            from tqdm import tqdm

            self._last = now
            about: Any = {
                "initial": self._before,
                "unit": f" {self._unit}",
                "prefix": stage,
                "bar_format": _LINE,
            }
            line = tqdm.format_meter(done, total, now - self._began, **about)
            print(", ".join(filter(None, (line, self.note))), file=file, flush=True)


class RunsProgress:
    """Shows the stages of several runs, one after the other.

    A line is written for each run that has ended::

    google-es: accuracy 51.3, 1 of 6, about 2 min left
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        line: ProgressLine | None = None,
        file: TextIO | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """The runs of these names are to come, in their order; `line` shows their stages.

        `file` and `clock` are as in `ProgressLine`.
        """
        self._names, self._output, self._clock = names, file, clock
        self._line = line or ProgressLine(file=file, clock=clock)
        self._ended = 0
        self._began = clock()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show a stage of the run that is next."""
        if self._ended < len(self._names):
            name = self._names[self._ended]
            self._line.run = f"{name}, {self._ended + 1} of {len(self._names)}"
        self._line(stage, done, total)

    def end_run(self, result: str) -> None:
        """Say that the run has ended, with its most important number."""
        name, count = self._names[self._ended], len(self._names)
        self._ended += 1
        if not self._line.writes:
            return
        left = (self._clock() - self._began) / self._ended * (count - self._ended)
        parts = [f"{name}: {result}", f"{self._ended} of {count}"]
        if left >= 1:
            parts.append(f"about {_duration(left)} left")
        print(", ".join(parts), file=self._output or sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:.0f} min"


def log_seconds() -> float:
    """Seconds between two lines of a log, by ``MTBIAS_LOG_SECONDS``; infinite for no lines.

    Raises:
        UsageError: the variable is not a number.
    """
    setting = os.environ.get("MTBIAS_LOG_SECONDS", "")
    try:
        seconds = float(setting or INTERVAL)
    except ValueError:
        seconds = math.nan
    if not seconds >= 0:  # not a number either
        raise UsageError(
            "MTBIAS_LOG_SECONDS: expected seconds between two lines of a log (0: no lines), "
            f"got {setting!r}"
        )
    return seconds or math.inf
