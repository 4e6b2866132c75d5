"""Messages: one line, not too long, nothing in it that a terminal obeys; names of files that are
not UTF-8."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.errors import MESSAGE_LENGTH, DataError, SettingError, escaped, one_line
from mtbias.runs.manifest import RunManifest
from tests.cli.machine import run_here


def test_escapes() -> None:
    assert escaped("a\x1b[31mb\x9b\u202e\udce4\ud800 ü é") == r"a\x1b[31mb\x9b\u202e\xe4\ud800 ü é"


def test_a_message_is_one_line_that_keeps_its_beginning_and_its_end() -> None:
    assert one_line("a\r\nb\u2028c\td") == r"a b c\x09d"
    assert one_line("x" * MESSAGE_LENGTH) == "x" * MESSAGE_LENGTH
    long = one_line(f"a.csv:3: expected a number, got {'9' * 10**6}; correct it")
    assert len(long) == MESSAGE_LENGTH
    assert long.startswith("a.csv:3: expected a number, got 999")
    assert long.endswith("999; correct it")


@pytest.mark.parametrize(
    "error",
    [DataError("\x1b[2J" + "v" * 10**6, path="p", line=1), SettingError("seed", "\x1b" * 900)],
)
def test_errors_are_such_messages(error: Exception) -> None:
    assert len(str(error)) == MESSAGE_LENGTH
    assert str(error).isprintable()
    assert len(error.args[0]) > MESSAGE_LENGTH


def test_what_a_file_holds_does_not_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(
        f"source\tgender\tentity\nThe cook left.\t\x1b[31m{'m' * 10**5}\tcook\n", encoding="utf-8"
    )
    told = [
        "score",
        "--translations",
        str(path),
        "--lang",
        "de",
        "--dataset",
        "custom",
        "--data",
        str(path),
    ]
    assert main(told) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"mtbias: {path}:2: gender: expected male, female, neutral")
    assert err.rstrip("\n").isprintable()
    assert len(err) < MESSAGE_LENGTH + 20


def test_a_manifest_holds_a_name_that_is_not_utf8_as_its_escape() -> None:
    manifest = RunManifest({"system": "\udce4", "é": ["\ud800\\"]}, {"host": "\udcff"})
    assert manifest.identity == {"system": r"\xe4", "é": ["\\ud800\\"]}
    assert manifest.execution == {"host": r"\xff"}
    assert (
        RunManifest.from_json(json.loads(json.dumps(manifest.to_json()))).fingerprint
        == manifest.fingerprint
    )


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are Unicode")
def test_files_whose_names_are_not_utf8(tmp_path: Path) -> None:
    def run(*arguments: object) -> subprocess.CompletedProcess[bytes]:
        command = [os.fsencode(a) for a in (sys.executable, "-m", "mtbias", *map(str, arguments))]
        done = subprocess.run(command, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        return done

    data, given, out = (tmp_path / name for name in ("s\udce4.tsv", "g\udce4.txt", "run\udce4"))
    data.write_text(
        "id\tsource\tgender\tentity\na\tThe cook left.\tfemale\tcook\n", encoding="utf-8"
    )
    given.write_text("Die Köchin ging.\n", encoding="utf-8")
    told = ["score", "--translations", given, "--lang", "de", "--dataset", "custom", "--data", data]
    told += ["--stanza-dir", "mtbias:demo", "--resamples", 0]
    assert rb"run\xe4/report.html" in run(*told, "--out", out).stdout
    assert json.loads((out / "manifest.json").read_bytes())["identity"]["system"] == r"g\xe4"
    for code, words in (
        (1, ("compare", out, out)),
        (0, ("report", out, "--out", tmp_path / "page\udce4.html", "--name", "n\udce4")),
        (0, ("report", out, "--format", "csv", "--name", "n\udce4")),
    ):
        done = run_here(*map(str, words))
        assert done.returncode == code, done.stderr
    data.write_text("id\tsource\n", encoding="utf-8")
    done = run_here(*map(str, told))
    assert (done.returncode, r"s\xe4.tsv:1: " in done.stderr) == (1, True)
