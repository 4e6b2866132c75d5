"""`mtbias score` where translations or its cache are damaged: no number changes, or an alarm says so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mtbias.cli import main
from tests.text_damage import DAMAGE

from .machine import Machine
from .score_commands import FILES, score_command


@pytest.mark.parametrize("damage", ["noise", "empty", "cut"])
def test_a_damaged_cache_of_analyses_costs_only_time(
    prepared: Machine,
    small: Path,
    german: Path,
    tmp_path: Path,
    damage: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    machine = Machine(tmp_path / "machine")
    (kept,) = (prepared.cache / "analyses").glob("de-*.sqlite")
    content = kept.read_bytes()
    hurt = machine.cache / "analyses" / kept.name
    hurt.parent.mkdir(parents=True)
    hurt.write_bytes(
        {"noise": b"\x17" * len(content), "empty": b"", "cut": content[: len(content) // 2]}[damage]
    )
    command = [
        str(word) for word in score_command("--translations", german, "--data", small, "--out")
    ]
    capsys.readouterr()
    assert main([*command, str(tmp_path / "run"), "--cache-dir", str(machine.cache)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("41 sentences, ")
    # Standard error has at most one line, that a file was set aside.
    assert err == "" or (err.count("\n") == 1 and "is damaged" in err)
    assert main([*command, str(tmp_path / "whole"), "--cache-dir", str(prepared.cache)]) == 0
    for name in FILES:
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize(
    ("damage", "kind"),
    [("windows-1252", "encoding"), ("references", "entities"), ("nfd", "composed")],
)
def test_damaged_characters_change_no_number_and_are_counted(
    damage: str, kind: str, prepared: Machine, small: Path, german: Path, tmp_path: Path
) -> None:
    sound = german.read_text(encoding="utf-8")
    damaged = tmp_path / german.name
    damaged.write_text(
        "".join(f"{DAMAGE[damage](line)}\n" for line in sound.splitlines()), encoding="utf-8"
    )
    assert (
        main(score_command("--translations", german, "--data", small, "--out", tmp_path / "a")) == 0
    )
    assert (
        main(score_command("--translations", damaged, "--data", small, "--out", tmp_path / "b"))
        == 0
    )
    assert (tmp_path / "a" / "calls.jsonl").read_bytes() == (
        tmp_path / "b" / "calls.jsonl"
    ).read_bytes()
    kept = [
        json.loads(line)
        for line in (tmp_path / "b" / "translations.jsonl").read_text("utf-8").splitlines()
    ]
    changed = {
        line["id"]: raw
        for line in kept
        if (raw := DAMAGE[damage](line["target"])) != line["target"]
    }
    assert {line["id"]: line["raw"] for line in kept if "raw" in line} == changed
    assert (
        json.loads((tmp_path / "b" / "metrics.json").read_bytes())["translations"][kind]
        == len(changed)
        > 0
    )


def test_damage_that_cannot_be_undone_is_an_alarm(
    prepared: Machine, small: Path, german: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = tmp_path / german.name
    text = "".join(
        "\ufffd" if "ß" <= char <= "ü" else char for char in german.read_text(encoding="utf-8")
    )
    lost.write_text(text, encoding="utf-8")
    assert main(score_command("--translations", lost, "--data", small)) == 0
    first = " ".join(capsys.readouterr().out.split())
    warned = (
        r"WARNING: \d+ of 41 translations show characters that were damaged, or that no good text"
    )
    assert re.match(warned, first)
