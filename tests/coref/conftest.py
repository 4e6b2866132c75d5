"""The commands of `mtbias coref`, run in this process."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtbias.cli import make_app


@pytest.fixture
def coref(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """``coref("gap", "--data", path)``: what the command prints; an error is raised as it is."""

    def run(*arguments: object) -> str:
        make_app()(["coref", *map(str, arguments)])
        return capsys.readouterr().out

    return run
