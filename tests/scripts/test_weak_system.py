"""Apertium's translations of a few sentences of WinoMT, scored end to end."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.settings import EvaluatorSettings
from scripts import weak_system

MANAGER = 28
"""A row whose manager Apertium makes a woman in all three languages."""


@pytest.mark.apertium
@pytest.mark.parametrize("lang", weak_system.SYSTEMS)
def test_the_weak_system_is_scored(
    lang: str, winomt: Path, stanza_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = (winomt / "en.txt").read_text(encoding="utf-8").splitlines()
    part = tmp_path / "part.txt"
    part.write_text(f"{rows[MANAGER]}\n", encoding="utf-8")
    evaluator = EvaluatorSettings(stanza_dir=stanza_dir, cache_dir=tmp_path / "cache")
    status = weak_system.main(lang=[lang], women=True, data=part, evaluator=evaluator)
    out, err = capsys.readouterr()
    if "apt-get install" in err:
        pytest.skip(err.strip())
    assert status == 0
    line, call, _, evidence = out.splitlines()
    assert line.startswith(f"{lang}  called 100.0 %  1 of 1 calls are women  accuracy ")
    assert call.startswith("winomt-00001 The manager told the hairdresser")
    assert "female" in evidence
