"""``scripts/labels.py``: a command for each folder of labels."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts import labels
from scripts.labelled import ROOT


def folders_of_labels() -> set[str]:
    """The folders of ``tests`` that have a file of rows for each of several languages."""
    files = [
        path for path in (ROOT / "tests").glob("*/*.tsv") if re.fullmatch("[a-z]{2}", path.stem)
    ]
    return {path.parent.name for path in files}


def test_every_folder_of_labels_has_a_command() -> None:
    commands = {name.replace("-", "_") for name in labels.app if not name.startswith("-")}
    assert folders_of_labels() <= commands
    assert commands - folders_of_labels() == {"agreement", "policy", "policy_tables"}


def test_a_command_ends_with_the_status_of_its_languages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for lang, message in (("xx", "no sentences for 'xx'; there are ar"), ("de", "mtbias fetch")):
        with pytest.raises(SystemExit) as ended:
            labels.app(["independent", "--stanza-dir", str(tmp_path), "--lang", lang])
        assert ended.value.code == 1
        assert message in capsys.readouterr().err
