"""Progress: lines in a log, a bar on a terminal."""

from __future__ import annotations

import io
import math
import os
import termios

import pytest

from mtbias.errors import UsageError
from mtbias.machine.stage_progress import ProgressLine, RunsProgress, draws_bars


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_log_has_a_line_every_thirty_seconds() -> None:
    log, clock = io.StringIO(), Clock()
    show = ProgressLine(file=log, clock=clock, interval=30)
    # seconds since the beginning, sentences done
    for seconds, done in ((0, 0), (10, 100), (31, 310), (40, 400), (62, 1024), (300, 3888)):
        clock.now = 100.0 + seconds
        show("translate", done, 3888)
    assert (
        log.getvalue().splitlines()
        == [
            "translate 310 of 3,888 (8 %), 10.00 sentences/s, 05:57 left",  # 310 in 31 s; 3,578 / 10 = 357.8 s
            "translate 1,024 of 3,888 (26 %), 16.52 sentences/s, 02:53 left",  # 1,024 in 62 s; 2,864 / 16.52 = 173.4 s
            "translate 3,888 of 3,888 (100 %), 12.96 sentences/s, 00:00 left",
        ]
    )


def test_no_half_minute_is_silent_however_short_the_stages_are() -> None:
    log, clock = io.StringIO(), Clock()
    show = ProgressLine(file=log, clock=clock, interval=30)
    for stage, seconds, done in (
        ("align", 0, 0), ("align", 29, 50), ("analyse", 29, 0), ("analyse", 58, 20), ("analyse", 60, 25),
        ("decide", 60, 0), ("decide", 61, 50),
    ):  # fmt: skip
        clock.now = 100.0 + seconds
        show(stage, done, 50)
    # The first line is 58 s after the beginning: 20 in 29 s, 30 / 0.69 = 43.5 s.
    assert log.getvalue().splitlines() == ["analyse 20 of 50 (40 %),  0.69 sentences/s, 00:43 left"]


def test_each_of_several_runs_has_a_line_and_its_stages_its_name() -> None:
    log, clock = io.StringIO(), Clock()
    line = ProgressLine(file=log, clock=clock, interval=30)
    show = RunsProgress(["google-es", "bing-es", "opus-es"], line=line, file=log, clock=clock)
    for stage, seconds, done in (("align", 0, 0), ("align", 40, 25), ("analyse", 60, 50)):
        clock.now = 100.0 + seconds
        show(stage, done, 50)
    show.end_run("accuracy 51.3")  # 60 s for one, so 120 s for two
    clock.now += 20
    show.end_run("accuracy 45.3")  # 80 s for two, so 40 s for one
    show("align", 0, 50)
    clock.now += 20
    show.end_run("accuracy 60.0")
    assert log.getvalue().splitlines() == [
        "google-es, 1 of 3: align 25 of 50 (50 %),  0.62 sentences/s, 00:40 left",
        "google-es: accuracy 51.3, 1 of 3, about 2 min left",
        "bing-es: accuracy 45.3, 2 of 3, about 40 s left",
        "opus-es, 3 of 3: align 0 of 50 (0 %), ? sentences/s, ? left",
        "opus-es: accuracy 60.0, 3 of 3",
    ]


def test_who_wants_no_lines_gets_none_of_runs_either() -> None:
    log = io.StringIO()
    show = RunsProgress(["google-es"], line=ProgressLine(file=log, interval=math.inf), file=log)
    show("align", 50, 50)
    show.end_run("accuracy 51.3")
    assert log.getvalue() == ""


def test_a_note_stands_at_the_end_of_the_line() -> None:
    log, clock = io.StringIO(), Clock()
    show = ProgressLine(unit="steps", file=log, clock=clock, interval=30)
    show("tune", 0, 900)
    clock.now += 45
    show.note = "loss 0.412"
    show("tune", 90, 900)  # 90 in 45 s; 810 / 2 = 405 s
    assert log.getvalue() == "tune 90 of 900 (10 %),  2.00 steps/s, 06:45 left, loss 0.412\n"


def test_what_was_done_before_is_no_rate_and_hours_are_hours() -> None:
    log, clock = io.StringIO(), Clock()
    show = ProgressLine(file=log, clock=clock, interval=30)
    for seconds, done in ((0, 500), (30, 500), (60, 560)):
        clock.now = 100.0 + seconds
        show("translate", done, 10_000)
    assert log.getvalue().splitlines() == [
        "translate 500 of 10,000 (5 %), ? sentences/s, ? left",
        "translate 560 of 10,000 (6 %),  1.00 sentences/s, 2:37:20 left",  # 9,440 s = 157 min 20 s
    ]


def test_nothing_is_written_of_an_empty_stage_or_where_standard_error_is_closed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    show = ProgressLine(interval=0)
    show("align", 0, 0)
    show("align", 0, 0)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("sys.stderr", None)
    show("align", 0, 10)
    show("align", 10, 10)


@pytest.mark.parametrize(
    ("columns", "shown"), [(0, "translate 50 of 50 (100 %), "), (40, "translate:   0%|")]
)
def test_a_terminal_without_columns_has_the_lines_of_a_log(columns: int, shown: str) -> None:
    terminal, its_end = os.openpty()
    termios.tcsetwinsize(its_end, (0, columns))
    with os.fdopen(its_end, "w", encoding="utf-8") as file:
        assert draws_bars(file) == (columns > 0)
        show = ProgressLine(file=file, interval=0, clock=lambda: 1.0)
        for done in (0, 50):
            show("translate", done, 50)
        assert shown in os.read(terminal, 65536).decode()
    os.close(terminal)
    assert not draws_bars(None)


def test_a_terminal_has_a_bar() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    show = ProgressLine(file=terminal, interval=0)
    for done in (0, 20, 50):
        show("translate", done, 50)
    show("analyse", 0, 10)
    show("analyse", 10, 10)
    assert "translate:   0%|" in terminal.getvalue()
    assert "0/50" in terminal.getvalue()
    assert "analyse:   0%|" in terminal.getvalue()
    assert "\n" not in terminal.getvalue()


@pytest.mark.parametrize(("seconds", "lines"), [("0.001", 2), ("0", 0), ("", 0)])
def test_the_environment_sets_the_seconds(
    monkeypatch: pytest.MonkeyPatch, seconds: str, lines: int
) -> None:
    monkeypatch.setenv("MTBIAS_LOG_SECONDS", seconds)
    told, times = io.StringIO(), iter((0.0, 1.0, 2.0))
    progress = ProgressLine(file=told, clock=lambda: next(times))
    for done in (0, 1, 2):
        progress("translate", done, 2)
    assert len(told.getvalue().splitlines()) == lines


@pytest.mark.parametrize("seconds", ["x", "-1", "nan"])
def test_seconds_that_are_none_are_refused(monkeypatch: pytest.MonkeyPatch, seconds: str) -> None:
    monkeypatch.setenv("MTBIAS_LOG_SECONDS", seconds)
    with pytest.raises(
        UsageError, match=f"^MTBIAS_LOG_SECONDS: expected seconds .* got '{seconds}'$"
    ):
        ProgressLine()
