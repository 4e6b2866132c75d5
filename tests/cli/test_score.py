"""`mtbias score` from files to numbers: forms of input, outputs, repetition, and folders of
runs."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import termios
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mtbias.cli import main
from tests.text_damage import DAMAGE

from .machine import Machine

FILES = ("calls.jsonl", "metrics.json")


def _score(*arguments: str | Path) -> list[str]:
    return ["score", "--lang", "de", *map(str, arguments)]


def _calls(folder: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for line in (folder / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def test_the_table_goes_to_standard_output_and_the_files_to_the_folder(
    prepared: Machine, small: Path, german: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "deep" / "run"
    done = prepared.run(*_score("--translations", german, "--data", small, "--out", folder))
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
        words = [sys.executable, "-m", "mtbias", *_score("--data", small, *options)]
        return subprocess.run(
            words, input=content, env=prepared.environment(), capture_output=True, check=False
        )

    done = run(german.read_bytes(), "--translations", "-", "--out", tmp_path / "piped")
    assert (done.returncode, done.stderr) == (0, b"")
    assert main(_score("--translations", german, "--data", small, "--out", tmp_path / "named")) == 0
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
    assert main(_score("--translations", german, "--data", small, "--out", tmp_path / "run")) == 0
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_bytes())
    calls = _calls(tmp_path / "run")
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
    arguments = _score(
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
    assert main(_score("--translations", german, "--data", small, "--json")) == 0
    alone = json.loads(capsysbinary.readouterr().out)
    assert (
        main(_score("--translations", german, "--data", small, "--json", "--out", tmp_path / "run"))
        == 0
    )
    kept = json.loads(capsysbinary.readouterr().out)
    assert kept.pop("files").keys() == {"calls.jsonl", "translations.jsonl"}
    del kept["sha256"]  # a file's
    assert alone == kept


@pytest.mark.slow
def test_the_table_survives_a_locale_without_its_letters(
    prepared: Machine, small: Path, german: Path
) -> None:
    done = prepared.run(
        *_score("--translations", german, "--data", small), PYTHONIOENCODING="ascii"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "ΔG" in done.stdout


@pytest.mark.slow
def test_two_runs_give_the_same_bytes(
    prepared: Machine, small: Path, german: Path, stanza_dir: Path, tmp_path: Path
) -> None:
    # One with analyses from the cache, one that makes them again; Python's hashes differ, so sets
    # have other orders.
    fresh = Machine(tmp_path / "fresh", stanza_dir)
    for machine, seed in ((prepared, "1"), (fresh, "2")):
        done = machine.run(
            *_score("--translations", german, "--data", small, "--out", tmp_path / seed),
            PYTHONHASHSEED=seed,
        )
        assert (done.returncode, done.stderr) == (0, "")
    for name in FILES:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_a_complete_folder_is_read_and_left_alone(
    prepared: Machine, small: Path, german: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = _score("--translations", german, "--data", small, "--out", tmp_path / "run")
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
    arguments = _score("--translations", german, "--data", small, "--out", tmp_path / "run")
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
    arguments = _score("--translations", german, "--data", small, "--out", tmp_path / "run")
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
            main(_score("--translations", german, "--data", small, "--json", "--seed", seed)) == 0
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
    arguments = _score("--translations", german, "--data", small, "--out")
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
    calls = {name: _calls(tmp_path / name) for name in ("tables", "stanza")}
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


@pytest.mark.slow
def test_two_processes_may_share_a_cache(
    prepared: Machine, small: Path, german: Path, stanza_dir: Path, tmp_path: Path
) -> None:
    machine = Machine(tmp_path, stanza_dir)
    arguments = _score("--translations", german, "--data", small, "--out")
    both = [machine.start(*arguments, tmp_path / name) for name in ("a", "b")]
    for process in both:
        _, err = process.communicate()
        assert (process.returncode, err) == (0, b"")
    assert prepared.run(*arguments, tmp_path / "c").returncode == 0
    for name in FILES:
        assert len({(tmp_path / run / name).read_bytes() for run in "abc"}) == 1


NO_NETWORK = """
import sys

def refuse(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}:
        raise SystemExit(f"{event} {arguments}")

sys.addaudithook(refuse)
"""


@pytest.mark.slow
def test_nothing_reaches_for_the_network(
    small: Path, german: Path, stanza_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(NO_NETWORK, encoding="utf-8")
    machine = Machine(tmp_path, stanza_dir)
    more = {"PYTHONPATH": str(tmp_path / "site"), "HF_HUB_OFFLINE": "0"}
    done = machine.run(
        *_score("--translations", german, "--data", small, "--out", tmp_path / "run"), **more
    )
    assert (done.returncode, done.stderr) == (0, "")
    # The guard works: fetching runs into it.
    done = machine.run("fetch", "--dataset", "winomt", **more)
    assert done.returncode != 0
    assert "socket." in done.stderr


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
    command = [str(word) for word in _score("--translations", german, "--data", small, "--out")]
    capsys.readouterr()
    assert main([*command, str(tmp_path / "run"), "--cache-dir", str(machine.cache)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("41 sentences, ")
    # Standard error has at most one line, that a file was set aside.
    assert err == "" or (err.count("\n") == 1 and "is damaged" in err)
    assert main([*command, str(tmp_path / "whole"), "--cache-dir", str(prepared.cache)]) == 0
    for name in FILES:
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


# Other corpora and forms. The translations are ours; the expected genders are those of their
# articles and nouns.

OWN = [
    (
        "a",
        "The cook thanked the guard because she was kind.",
        "female",
        "cook",
        "Die Köchin dankte der Wache.",
    ),
    (
        "b",
        "The doctor left because he was tired.",
        "male",
        "doctor",
        "Der Arzt ging, weil er müde war.",
    ),
    (
        "c",
        "The teacher left because she was tired.",
        "female",
        "teacher",
        "Der Lehrer ging, weil sie müde war.",
    ),
]


def _table(path: Path, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Path:
    if path.suffix == ".jsonl":
        lines = [
            json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) for row in rows
        ]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path
    with path.open("w", encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            csv.writer(file).writerows([columns, *rows])
        else:
            file.writelines("\t".join(row) + "\n" for row in [columns, *rows])
    return path


@pytest.mark.parametrize("form", ["tsv", "csv", "jsonl"])
def test_sentences_of_ones_own(form: str, stanza_dir: Path, tmp_path: Path) -> None:
    data = _table(
        tmp_path / f"own.{form}", ("id", "source", "gender", "entity"), [row[:4] for row in OWN]
    )
    given = _table(tmp_path / f"mine.{form}", ("id", "target"), [(row[0], row[4]) for row in OWN])
    own = ("--dataset", "custom", "--data", data, "--translations", given)
    folders = (
        "--stanza-dir",
        stanza_dir,
        "--cache-dir",
        tmp_path / "cache",
        "--out",
        tmp_path / "run",
    )
    assert main(_score(*own, *folders)) == 0
    calls = _calls(tmp_path / "run")
    assert [(c["id"], c["gender"], c["target"][0]) for c in calls] == [
        ("a", "female", "Köchin"),
        ("b", "male", "Arzt"),
        ("c", "male", "Lehrer"),
    ]
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_bytes())
    assert metrics["overall"]["accuracy"] == pytest.approx(200 / 3, abs=1e-6)  # c is wrong
    assert "|system:mine|" in metrics["signature"]


def _the_five_alone(options: list[str | Path], out: Path) -> None:
    assert main(_score(*options[:-1], out, "--part")) == 0
    metrics = json.loads((out / "metrics.json").read_bytes())
    of = metrics["signature"].partition("dataset:")[2].partition("|")[0]
    assert re.fullmatch(r"bug-gold-paper-5-of-17\d\d-[0-9a-f]{8}", of), of
    overall = metrics["overall"]
    # Of the men (1 and 2) and women (1 and 1) three are right; the words of four stereotypes and
    # one without.
    assert (metrics["n"], metrics["decided"], overall["accuracy"]) == (5, 5, 60.0)
    assert main(_score(*options[:-1], out, "--part", "--allow-missing")) == 2


def test_a_slice_of_bug(shared: Path, stanza_dir: Path, tmp_path: Path) -> None:
    # Five of the 1,720 rows of the paper's Gold BUG, with translations made up here. Gold and
    # stereotype stand in the file: Female -1, Male 1, Male -1, Female 1, Male 1. The third and the
    # fourth translation are wrong.
    given = [
        ("bug-gold-paper-000784", "Die Sängerin sagte mehr dazu."),
        ("bug-gold-paper-001372", "Sobald der Sänger heimkommt, will er bleiben."),
        ("bug-gold-paper-000294", "Er fragt die Krankenschwester danach."),
        ("bug-gold-paper-000703", "Der Lehrer erlaubte es ihrer Klasse."),
        ("bug-gold-paper-001025", "Der Doktor beschließt, dass er sie entfernt."),
    ]
    path = _table(tmp_path / "mine.jsonl", ("id", "target"), given)
    options: list[str | Path] = [
        "--dataset",
        "bug-gold-paper",
        "--data",
        shared / "data" / "bug",
        "--translations",
        path,
    ]
    options += [
        "--stanza-dir",
        stanza_dir,
        "--cache-dir",
        tmp_path / "cache",
        "--out",
        tmp_path / "run",
    ]
    assert main(_score(*options)) == 1  # 5 of 1,720 are not 95 %
    _the_five_alone(options, tmp_path / "part")
    assert main(_score(*options, "--allow-missing")) == 0
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_bytes())
    n = metrics["n"]
    assert n + metrics["corpus"]["skipped"] == 1720
    assert metrics["decided"] == 5
    assert metrics["reasons"] == {"untranslated": n - 5}
    assert metrics["overall"]["accuracy"] == pytest.approx(300 / n, abs=1e-6)
    assert metrics["overall"]["accuracy_bounds"][1] == pytest.approx(
        60.0
    )  # failures left out: 3 of 5
    denominators = metrics["overall"]["denominators"]
    assert (denominators["called_male"], denominators["called_female"]) == (3, 2)
    found = {
        c["id"]: (c["gender"], c["gold"], c["stereotype"])
        for c in _calls(tmp_path / "run")
        if c["gender"]
    }
    assert [found[ident] for ident, _ in given] == [
        ("female", "female", "anti"),
        ("male", "male", "pro"),
        ("female", "male", "anti"),
        ("male", "female", "pro"),
        ("male", "male", "pro"),
    ]


def test_the_translations_of_a_run_can_be_scored_again(
    prepared: Machine, small: Path, german: Path, tmp_path: Path
) -> None:
    assert main(_score("--translations", german, "--data", small, "--out", tmp_path / "a")) == 0
    again = tmp_path / "a" / "translations.jsonl"
    assert main(_score("--translations", again, "--data", small, "--out", tmp_path / "b")) == 0
    assert (tmp_path / "a" / "calls.jsonl").read_bytes() == (
        tmp_path / "b" / "calls.jsonl"
    ).read_bytes()


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
    assert main(_score("--translations", german, "--data", small, "--out", tmp_path / "a")) == 0
    assert main(_score("--translations", damaged, "--data", small, "--out", tmp_path / "b")) == 0
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
    assert main(_score("--translations", lost, "--data", small)) == 0
    first = " ".join(capsys.readouterr().out.split())
    warned = (
        r"WARNING: \d+ of 41 translations show characters that were damaged, or that no good text"
    )
    assert re.match(warned, first)


@pytest.mark.slow
def test_progress_is_shown_on_a_terminal_only(prepared: Machine, small: Path, german: Path) -> None:
    terminal, its_end = pty.openpty()
    termios.tcsetwinsize(its_end, (24, 80))
    command = [sys.executable, "-m", "mtbias", *_score("--translations", german, "--data", small)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=its_end, env=prepared.environment(TERM="xterm")
    ) as process:
        os.close(its_end)
        out, _ = process.communicate()
    shown = b""
    with suppress(OSError):  # what Linux says when the other end of a terminal is closed
        while chunk := os.read(terminal, 65536):
            shown += chunk
    os.close(terminal)
    assert process.returncode == 0
    assert out.startswith(b"41 sentences, ")
    for stage in ("align", "analyse", "decide"):
        assert f"{stage}: ".encode() in shown
    assert shown.count(b"\n") == 0  # bars go away: nothing is left in the terminal


@pytest.fixture(scope="module")
def both(german: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems' German in folders of their own, under one file name."""
    folder = tmp_path_factory.mktemp("both")
    for name in ("google", "bing"):
        (folder / name).mkdir()
        shutil.copy(german.parent.parent / name / "en-de.txt", folder / name / "en-de.txt")
    return folder


def test_several_systems_have_a_run_each_and_one_comparison(
    prepared: Machine, small: Path, both: Path, tmp_path: Path
) -> None:
    files = [both / name / "en-{lang}.txt" for name in ("google", "bing")]
    done = prepared.run(
        *_score("--translations", *files, "--data", small, "--out", tmp_path / "all")
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == [
        "bing-de",
        "google-de",
        "report.html",
    ]
    for name in ("google", "bing"):
        alone = tmp_path / "alone" / name
        file = both / name / "en-de.txt"
        assert (
            main(_score("--translations", file, "--system", name, "--data", small, "--out", alone))
            == 0
        )
        for written in FILES:
            assert (tmp_path / "all" / f"{name}-de" / written).read_bytes() == (
                alone / written
            ).read_bytes()
    compared = prepared.run("compare", tmp_path / "all/google-de", tmp_path / "all/bing-de")
    assert done.stdout.startswith(compared.stdout)
    assert done.stdout.splitlines()[-2:] == [
        f"Runs: {tmp_path}/all/google-de, {tmp_path}/all/bing-de",
        f"Report: {tmp_path}/all/report.html",
    ]
    before = (tmp_path / "all/google-de/manifest.json").read_bytes()
    again = prepared.run(
        *_score(
            "--translations",
            f"google={files[0]}",
            f"bing={files[1]}",
            "--data",
            small,
            "--out",
            tmp_path / "all",
        ),
        "--json",
        MTBIAS_LOG_SECONDS="30",
    )
    lines = (
        r"google-de: accuracy [\d.]+, 1 of 2(, about .+ left)?\nbing-de: accuracy [\d.]+, 2 of 2\n"
    )
    assert re.fullmatch(lines, again.stderr)
    assert (tmp_path / "all/google-de/manifest.json").read_bytes() == before  # what is done is read
    found = json.loads(again.stdout)
    assert [Path(run).name for run in found["runs"]] == ["google-de", "bing-de"]
    assert found["comparison"] == json.loads(
        prepared.run(
            "compare", tmp_path / "all/google-de", tmp_path / "all/bing-de", "--json"
        ).stdout
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a=en-de.txt", "b=en-de.txt"), "expected --out FOLDER with several systems or languages"),
        (
            ("a=en-de.txt", "a=other.txt", "--out", "runs"),
            "expected a name for each system, NAME=FILE; got two for a",
        ),
        (
            ("a=en-de.txt", "b=x.txt", "--out", "runs", "--system", "c"),
            "expected no --system with several",
        ),
        (
            ("a=en-de.txt", "--lang", "es", "--out", "runs"),
            "expected {lang} in the path where there are several",
        ),
        (
            ("../a=en-de.txt", "b=en-de.txt", "--out", "runs"),
            "expected a system's name that a folder can have",
        ),
        (("a=en-{lang}.txt", "b=none.txt", "--out", "runs"), "en-de.txt: there is no such file"),
    ],
)
def test_several_systems_that_cannot_be_told_apart(
    words: Sequence[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(_score("--translations", *words)) in {1, 2}
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
