"""`mtbias score` from files to numbers: forms of input, outputs, repetition, and folders of
runs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from mtbias.cli import main

from .machine import Machine
from .score_commands import calls_in, score_command


def test_the_table_goes_to_standard_output_and_the_files_to_the_folder(
    prepared: Machine, small: Path, german: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "deep" / "run"
    done = prepared.run(*score_command("--translations", german, "--data", small, "--out", folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("41 sentences, ")
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    assert f"Signature: {metrics['signature']}\n" in done.stdout
    assert done.stdout.rstrip().splitlines()[-1] == f"Report: {folder}/report.html"
    assert sorted(p.name for p in folder.iterdir() if not p.name.startswith(".")) == [
        "calls.jsonl",
        "manifest.json",
        "metrics.json",
        "report.html",
        "translations.jsonl",
    ]


def test_a_hyphen_is_standard_input(
    prepared: Machine, small: Path, german: Path, tmp_path: Path
) -> None:
    def run(content: bytes, *options: str | Path) -> subprocess.CompletedProcess[bytes]:
        words = [sys.executable, "-m", "mtbias", *score_command("--data", small, *options)]
        return subprocess.run(
            words, input=content, env=prepared.environment(), capture_output=True, check=False
        )

    done = run(german.read_bytes(), "--translations", "-", "--out", tmp_path / "piped")
    assert (done.returncode, done.stderr) == (0, b"")
    assert (
        main(score_command("--translations", german, "--data", small, "--out", tmp_path / "named"))
        == 0
    )
    assert (tmp_path / "piped/calls.jsonl").read_bytes() == (
        tmp_path / "named/calls.jsonl"
    ).read_bytes()
    assert '"stdin"' in (tmp_path / "piped/manifest.json").read_text(encoding="utf-8")
    failed = run(b"one\n", "--translations=-")
    assert failed.stderr.startswith(
        b"mtbias: standard input: expected one target a line, so 41 lines"
    )


def test_the_calls_stand_in_the_corpus_order_and_add_up(
    prepared: Machine, small: Path, german: Path, tmp_path: Path
) -> None:
    assert (
        main(score_command("--translations", german, "--data", small, "--out", tmp_path / "run"))
        == 0
    )
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_bytes())
    calls = calls_in(tmp_path / "run")
    rows = [
        line.split("\t") for line in (small / "en.txt").read_text(encoding="utf-8").splitlines()
    ]
    assert [(c["row"], c["source"], c["gold"]) for c in calls] == [
        (n, r[2], r[0]) for n, r in enumerate(rows)
    ]
    given: dict[str, list[str]] = {}
    for line in german.read_text(encoding="utf-8").splitlines():
        source, _, target = line.partition(" ||| ")
        given.setdefault(source, []).append(target)
    assert all(c["translation"] in given[c["source"]] for c in calls)
    # The numbers again, from the calls: a call without a gender is wrong.
    decided = [c for c in calls if c["gender"] is not None]
    assert (metrics["n"], metrics["decided"]) == (41, len(decided))
    assert metrics["reasons"] == Counter(c["reason"] for c in calls if c["reason"])
    accuracy = 100 * sum(c["gender"] == c["gold"] for c in decided) / 41
    assert metrics["overall"]["accuracy"] == pytest.approx(accuracy, abs=1e-6)
    by = {
        which: [c["gender"] == c["gold"] for c in calls if c["stereotype"] == which]
        for which in ("pro", "anti", "none")
    }
    assert [len(by[which]) for which in ("pro", "anti", "none")] == [
        16,
        17,
        8,
    ]  # counted with grep in the files
    delta_s = 100 * (sum(by["pro"]) / 16 - sum(by["anti"]) / 17)
    assert metrics["overall"]["delta_s"] == pytest.approx(delta_s, abs=1e-6)


def test_json_alone_is_the_file_byte_for_byte(
    prepared: Machine, small: Path, german: Path, tmp_path: Path
) -> None:
    arguments = score_command(
        "--translations", german, "--data", small, "--out", tmp_path / "run", "--json"
    )
    done = prepared.run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.encode() == (tmp_path / "run" / "metrics.json").read_bytes()
    assert json.loads(done.stdout)["schema"] == 1


def test_json_without_a_folder_says_the_same(
    prepared: Machine,
    small: Path,
    german: Path,
    tmp_path: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    assert main(score_command("--translations", german, "--data", small, "--json")) == 0
    alone = json.loads(capsysbinary.readouterr().out)
    assert (
        main(
            score_command(
                "--translations", german, "--data", small, "--json", "--out", tmp_path / "run"
            )
        )
        == 0
    )
    kept = json.loads(capsysbinary.readouterr().out)
    assert kept.pop("files").keys() == {"calls.jsonl", "translations.jsonl"}
    del kept["sha256"]  # a file's
    assert alone == kept


def test_a_complete_folder_is_read_and_left_alone(
    prepared: Machine, small: Path, german: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = score_command("--translations", german, "--data", small, "--out", tmp_path / "run")
    assert main(arguments) == 0
    first = capsys.readouterr().out
    before = {
        p.name: (p.stat().st_mtime_ns, p.stat().st_ino) for p in (tmp_path / "run").glob("[!.]*")
    }
    assert main(arguments) == 0
    assert capsys.readouterr() == (first, "")
    assert {
        p.name: (p.stat().st_mtime_ns, p.stat().st_ino) for p in (tmp_path / "run").glob("[!.]*")
    } == before


def test_a_changed_file_of_a_run_is_made_again(
    prepared: Machine, small: Path, german: Path, tmp_path: Path
) -> None:
    arguments = score_command("--translations", german, "--data", small, "--out", tmp_path / "run")
    assert main(arguments) == 0
    content = (tmp_path / "run" / "calls.jsonl").read_bytes()
    (tmp_path / "run" / "calls.jsonl").write_bytes(
        content.replace(b'"gender": "male"', b'"gender": "female"')
    )
    assert main(arguments) == 0
    assert (tmp_path / "run" / "calls.jsonl").read_bytes() == content


def test_the_folder_of_another_run_is_refused_with_every_difference(
    prepared: Machine, small: Path, german: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = score_command("--translations", german, "--data", small, "--out", tmp_path / "run")
    assert main(arguments) == 0
    before = {p.name: p.read_bytes() for p in (tmp_path / "run").glob("[!.]*")}
    capsys.readouterr()
    assert main([*arguments, "--seed", "7", "--system", "mine"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(
        f"mtbias: {tmp_path / 'run'}: belongs to another run: seed: 0 here, 7 asked for; system: "
    )
    assert err.count("\n") == 1
    assert {p.name: p.read_bytes() for p in (tmp_path / "run").glob("[!.]*")} == before


def test_the_seed_moves_the_intervals_and_nothing_else(
    prepared: Machine, small: Path, german: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for seed in ("0", "1"):
        assert (
            main(score_command("--translations", german, "--data", small, "--json", "--seed", seed))
            == 0
        )
        found.append(json.loads(capsys.readouterr().out))
    for key in ("ci", "ci_entities"):
        (ci_0, ci_1) = (metrics["overall"].pop(key) for metrics in found)
        assert ci_0 != ci_1
    assert found[0]["overall"] == found[1]["overall"]
    assert found[0]["fingerprint"] != found[1]["fingerprint"]


def test_the_second_reader_has_a_name_and_numbers_of_its_own(
    prepared: Machine, small: Path, german: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = score_command("--translations", german, "--data", small, "--out")
    for name in ("tables", "stanza"):
        assert main([*arguments, str(tmp_path / name), "--evidence", name]) == 0
    first, second = (
        json.loads((tmp_path / name / "metrics.json").read_bytes()) for name in ("tables", "stanza")
    )
    assert "|evidence:stanza/1|" in second["signature"]
    assert "evidence" not in first["signature"]
    assert main([*arguments, str(tmp_path / "default")]) == 0
    assert (tmp_path / "default/metrics.json").read_bytes() == (
        tmp_path / "tables/metrics.json"
    ).read_bytes()
    calls = {name: calls_in(tmp_path / name) for name in ("tables", "stanza")}
    assert {
        piece["source"] for call in calls["stanza"] if call["gender"] for piece in call["evidence"]
    } == {"stanza"}
    assert [c["target"] for c in calls["tables"]] == [c["target"] for c in calls["stanza"]]
    counted = Counter(c["gender"] for c in calls["stanza"])
    classes = second["evidence_classes"]["Stanza's Gender features alone"]
    assert classes == {"male": counted["male"], "female": counted["female"], "neutral": 0}
    assert second["alarms"]["shares"]["outside_tables"]["n"] == 0
    assert first["overall"]["confusion"] != second["overall"]["confusion"]
    # What the first run says of the second reader is what the second run says itself.
    both = [(a["gender"], b["gender"]) for a, b in zip(*calls.values(), strict=True)]
    assert [c["stanza_gender"] for c in calls["tables"]] == [gender for _, gender in both]
    for gender in ("male", "female"):
        called = [stanza for tables, stanza in both if tables == gender]
        known = [stanza for stanza in called if stanza is not None]
        counts = first["readers"][gender]
        assert (counts["calls"], counts["of"], counts["n"]) == (
            len(called),
            len(known),
            known.count(gender),
        )
    assert sum(word["n"] for word in first["readers"]["words"]) == sum(
        None not in pair and pair[0] != pair[1] for pair in both
    )
    assert second["readers"]["male"]["of"] == 0
    capsys.readouterr()
    assert main([*arguments, str(tmp_path / "tables"), "--full"]) == 0
    assert "Stanza's features agree: men " in capsys.readouterr().out
    page = (tmp_path / "tables/report.html").read_text(encoding="utf-8")
    assert "calls that Stanza&#39;s features alone make too" in page
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "tables"), str(tmp_path / "stanza")]) == 1
    assert "got evidence None in" in capsys.readouterr().err
    assert main([*arguments, str(tmp_path / "tables"), "--evidence", "stanza"]) == 1
    assert "evidence: (absent) here" in capsys.readouterr().err
