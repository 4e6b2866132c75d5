"""The count of attacks behind the tests, which with several processes no test can print."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many attacks ran, and of how many."""
    from .test_attack import TABLE, test_what_is_bad_is_refused

    name = f"::{test_what_is_bad_is_refused.__name__}["
    ran = dict.fromkeys(("passed", "failed", "skipped"), 0)
    for outcome in ran:
        ran[outcome] = sum(
            name in report.nodeid for report in terminalreporter.stats.get(outcome, ())
        )
    if any(ran.values()):
        refused = sum(row.code != 0 for row in TABLE)
        told = ", ".join(f"{count} {outcome}" for outcome, count in ran.items())
        terminalreporter.write_line(
            f"{len(TABLE)} attacks, {refused} to be refused, {len(TABLE) - refused} acceptable with a reason: {told}"
        )
