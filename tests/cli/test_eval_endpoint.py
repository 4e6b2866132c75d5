"""`mtbias eval --model openai:NAME` as a process of its own, against a server on this machine."""

from __future__ import annotations

import html
import itertools
import json
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mtbias.demo import demo_file, reference_file
from mtbias.files.text_repair import repair
from tests.translate.endpoint_server import Reply, Server, refused, said, serving
from tests.translate.key_disguises import EACH, wide
from tests.translate.key_disguises import KEY as DISGUISED_KEY

from .machine import Machine

KEY = "sk-a-very-secret-key"
CORPUS, ROWS = "corpus.tsv", 64
"""The first rows of the demo's 512."""
Answer = Callable[[str, int], Reply]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """With the first rows of the demo's corpus."""
    folder = tmp_path_factory.mktemp("endpoint")
    rows = demo_file().read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / CORPUS).write_text("".join(rows[: 1 + ROWS]), encoding="utf-8")
    return Machine(folder)


@pytest.fixture(scope="module")
def demo(machine: Machine) -> Path:
    """What the servers below say, scored: the correct translations, but in each third row of the
    other gender."""
    head, *rows = reference_file("de").read_text(encoding="utf-8").splitlines()
    texts = [row.split("\t")[1] for row in rows[:ROWS]]
    said_of = [texts[n ^ 1 if n % 3 == 0 else n] for n in range(ROWS)]
    given = machine.folder / "given.tsv"
    given.write_text(
        "\n".join([head, *(f"demo-{n:04}\t{text}" for n, text in enumerate(said_of, 1))]) + "\n"
    )
    folder = machine.folder / "demo"
    done = machine.run("score", "--translations", given, *scored_as(machine), "--out", folder)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().split("\n") if line]


@pytest.fixture(scope="module")
def known(demo: Path) -> dict[str, str]:
    """Translations by source."""
    return {line["source"]: line["translation"] for line in lines(demo / "calls.jsonl")}


def scored_as(machine: Machine) -> tuple[str | Path, ...]:
    return (
        "--dataset",
        "demo",
        "--data",
        machine.folder / CORPUS,
        "--lang",
        "de",
        "--stanza-dir",
        "mtbias:demo",
    )


def command(
    machine: Machine, server: Server, out: Path, *more: str | Path
) -> tuple[str | Path, ...]:
    asked = ("eval", "--model", "openai:small", "--base-url", server.url, "--offline")
    return (*asked, *scored_as(machine), "--out", out, *more)


def test_the_numbers_are_those_of_the_translations(
    machine: Machine, demo: Path, known: dict[str, str], tmp_path: Path
) -> None:
    with serving(lambda source, _: said(f'"{known[source]}"')) as server:
        done = machine.run(*command(machine, server, tmp_path / "run"))
        assert (done.returncode, done.stderr) == (0, "")
        assert Counter(server.asked) == dict.fromkeys(known, 1)
        again = machine.run(*command(machine, server, tmp_path / "run"))
        assert (again.returncode, again.stdout) == (0, done.stdout)
        full = machine.run(*command(machine, server, tmp_path / "run", "--full"))
        assert len(server.asked) == len(known)  # a finished run asks nothing
    found, expected = (
        json.loads((folder / "metrics.json").read_text()) for folder in (tmp_path / "run", demo)
    )
    assert found["overall"] == expected["overall"]
    n = found["n"]
    assert found["translations"]["cleaned"] == {"quotes": n}
    assert found["translations"]["untranslated"] == {}
    assert "quotation marks around the translation" in full.stdout
    first = lines(tmp_path / "run" / "translations.jsonl")[0]
    assert first["raw"] == f'"{first["target"]}"'
    identity = json.loads((tmp_path / "run" / "manifest.json").read_text())["identity"]
    assert (
        f"|server:127.0.0.1|prompt:plain/1#{identity['prompt'][-8:]}|temp:0|max:1024|date:20"
        in found["signature"]
    )
    scored = machine.run(
        *(
            "score",
            "--translations",
            tmp_path / "run" / "translations.jsonl",
            *scored_as(machine),
            "--json",
        )
    )
    assert scored.returncode == 0, scored.stderr
    assert json.loads(scored.stdout)["overall"] == found["overall"]


def wait_for(server: Server, requests: int) -> None:
    deadline = time.monotonic() + 600
    while len(server.asked) < requests and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(server.asked) >= requests


def begin_and_stop(
    machine: Machine, words: tuple[str | Path, ...], server: Server, how: int
) -> int:
    with machine.start(*words) as process:
        wait_for(server, 20)
        process.send_signal(how)
        process.communicate(timeout=600)
    return process.returncode


@pytest.mark.slow
@pytest.mark.parametrize(("how", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, 143)])
def test_a_run_that_was_killed_asks_only_for_the_rest(
    how: int, code: int, machine: Machine, demo: Path, known: dict[str, str], tmp_path: Path
) -> None:
    def answer(source: str, _: int) -> Reply:
        time.sleep(0.02)
        return said(known[source])

    with serving(answer) as server:
        words = command(machine, server, tmp_path / "run", "--concurrency", "4")
        assert begin_and_stop(machine, words, server, how) == code
        kept = len(list((tmp_path / "run" / "translations.parts").glob("0*.jsonl")))
        time.sleep(0.2)  # the server ends what it was doing
        asked = len(server.asked)
        # Of what was asked, at most what was on its way was lost, and where the process had time to
        # end, nothing.
        assert asked - 4 <= kept <= asked
        assert how == signal.SIGKILL or kept == asked
        server.asked.clear()
        done = machine.run(*words)
        assert (done.returncode, done.stderr) == (0, "")
        assert len(server.asked) == len(set(server.asked)) == len(known) - kept
    found, expected = (lines(folder / "translations.jsonl") for folder in (tmp_path / "run", demo))
    assert [(line["id"], line["target"]) for line in found] == [
        (line["id"], line["target"]) for line in expected
    ]


@pytest.mark.parametrize("pause", [3600.0, pytest.param(0.5, marks=pytest.mark.slow)])
def test_a_server_that_does_not_come_to_an_end_is_waited_for_no_longer_than_said(
    pause: float, machine: Machine, tmp_path: Path
) -> None:
    with (
        serving(lambda *_: Reply(b"x" * 100_000, pause=pause)) as server,
        machine.start(*command(machine, server, tmp_path / "run", "--timeout", "3")) as process,
    ):
        wait_for(server, 1)
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=600)
    assert (process.returncode, error) == (
        143,
        b"mtbias: stopped by SIGTERM; the same command resumes\n",
    )


@pytest.mark.slow
def test_a_second_signal_waits_for_nothing(machine: Machine, tmp_path: Path) -> None:
    with (
        serving(lambda *_: Reply(b"", pause=3600)) as server,
        machine.start(*command(machine, server, tmp_path / "run", "--timeout", "3600")) as process,
    ):
        wait_for(server, 1)
        for seconds in (2, 30, 30):  # two at once are one
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
                break
        _, error = process.communicate(timeout=600)
    assert (process.returncode, error) == (130, b"mtbias: interrupted; the same command resumes\n")


@pytest.mark.slow
def test_shards_and_budgets_share_one_run(
    machine: Machine, demo: Path, known: dict[str, str], tmp_path: Path
) -> None:
    with serving(lambda source, _: said(known[source])) as server:
        words = command(machine, server, tmp_path / "run")
        done = machine.run(*words, "--shard", "1/2")
        assert (done.returncode, done.stderr) == (0, "")
        half = len(server.asked)
        assert abs(half - len(known) / 2) <= 1
        stopped = machine.run(*words, "--max-requests", "10")
        assert stopped.returncode == 1
        assert "--max-requests 10 is reached" in stopped.stderr
        dry = machine.run(*words, "--dry-run", "--json")
        assert dry.returncode == 0, dry.stderr
        estimate = json.loads(dry.stdout)
        left = len(known) - half - 10
        assert (estimate["requests"], estimate["kept"]) == (left, half + 10)
        # A prompt is its source and a sentence before it; an answer has a token for two characters
        # of its source.
        assert estimate["prompt_tokens"] > estimate["answer_tokens"] > 10 * left
        assert len(server.asked) == half + 10  # a dry run asks nothing
        done = machine.run(*words)
        assert (done.returncode, done.stderr) == (0, "")
        assert Counter(server.asked) == dict.fromkeys(known, 1)
    metrics = [
        json.loads((folder / "metrics.json").read_text()) for folder in (tmp_path / "run", demo)
    ]
    assert metrics[0]["overall"] == metrics[1]["overall"]


@pytest.mark.slow
def test_repeats_measure_what_changes(
    machine: Machine, known: dict[str, str], tmp_path: Path
) -> None:
    # The second time ten sentences have no translation, the third time five of them and another.
    sources = list(known)
    silent = {1: set(sources[:10]), 2: {*sources[:5], sources[20]}}
    times: Counter[str] = Counter()

    def answer(source: str, _: int) -> Reply:
        time = times[source]
        times[source] += 1
        return said("" if source in silent.get(time, set()) else known[source])

    with serving(answer) as server:
        # One at a time, so that the times come one after the other.
        done = machine.run(
            *command(machine, server, tmp_path / "run", "--repeat", "3", "--concurrency", "1")
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert Counter(server.asked) == dict.fromkeys(known, 3)
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    repeats, n = metrics["repeats"], metrics["n"]
    rows = lines(tmp_path / "run" / "calls.jsonl")
    changed = [row for row in rows if row["source"] in {*sources[:10], sources[20]}]
    assert repeats["times"] == 3
    assert repeats["translations_changed"] == {
        "count": len(changed),
        "percent": round(100 * len(changed) / n, 6),
    }
    assert repeats["calls_changed"]["count"] >= sum(row["gender"] is not None for row in changed)
    for again in (2, 3):
        scored = machine.run(
            *("score", "--translations", tmp_path / "run" / f"translations.{again}.jsonl"),
            *(*scored_as(machine), "--json"),
        )
        assert scored.returncode == 0, scored.stderr
        overall = json.loads(scored.stdout)["overall"]
        for key, number in repeats["numbers"].items():
            assert number["values"][again - 1] == overall[key]
            assert number["values"][0] == metrics["overall"][key]
            assert number["spread"] == pytest.approx(
                max(number["values"]) - min(number["values"]), abs=2e-6
            )
    assert set(repeats["numbers"]) == {"accuracy", "delta_g", "delta_s"}
    assert f"Translated 3 times: {len(changed):,} of {n:,} translations changed" in done.stdout
    assert "Translated 3 times: " in (tmp_path / "run" / "report.html").read_text()


@pytest.mark.slow
def test_two_prompts_of_one_model_are_compared_by_name(
    machine: Machine, known: dict[str, str], tmp_path: Path
) -> None:
    runs = [tmp_path / prompt for prompt in ("plain", "tower")]
    with serving(lambda source, _: said(known[source])) as server:
        done = machine.run(*command(machine, server, runs[0]))
        assert (done.returncode, done.stderr) == (0, "")
        server.answer = lambda _, __: said(
            known[server.bodies[-1]["messages"][-1]["content"].splitlines()[1][9:]]
        )
        done = machine.run(
            *command(machine, server, runs[1], "--prompt", "tower", "--concurrency", "1")
        )
        assert (done.returncode, done.stderr) == (0, "")
    compared = machine.run("compare", *runs)
    assert compared.returncode == 0, compared.stderr
    assert "openai:small (plain)" in compared.stdout
    assert "openai:small (tower)" in compared.stdout


@pytest.mark.slow
def test_the_key_is_in_no_file_and_on_no_screen(
    machine: Machine, known: dict[str, str], tmp_path: Path
) -> None:
    def answer(source: str, before: int) -> Reply:
        reply = (
            said(f"{known[source]}\n\n(Key: {KEY})", model=KEY, finish=KEY)
            if before
            else refused(500, f"with {KEY}")
        )
        return replace(reply, headers={"X-Request-Id": KEY})

    with serving(answer) as server:
        words = command(machine, server, tmp_path / "run", "--api-key-env", "MY_KEY")
        done = machine.run(*words, "--debug", MY_KEY=KEY, OPENAI_LOG="debug")
        assert done.returncode == 0, done.stderr
        server.answer = lambda *_: refused(401, f"Incorrect API key provided: {KEY}")
        wrong = machine.run(
            *command(machine, server, tmp_path / "other", "--api-key-env", "MY_KEY"),
            "--debug",
            MY_KEY=KEY,
        )
        assert wrong.returncode == 1
        assert "127.0.0.1 refuses the key (HTTP 401); set MY_KEY" in wrong.stderr
    assert all(head["authorization"] == f"Bearer {KEY}" for head in server.headers)
    shown = [done.stdout, done.stderr, wrong.stdout, wrong.stderr]
    files = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 5
    assert not any(KEY in text for text in [*shown, *files])


def texts_in(path: Path) -> Iterator[str]:
    """The texts of a run's file: lines, those of JSON by their values, at whatever depth."""
    for line in path.read_text(encoding="utf-8").split("\n"):
        yield line
        yield html.unescape(line)
        left = [json.loads(line)] if path.suffix == ".jsonl" and line else []
        while left:
            value = left.pop()
            if isinstance(value, str):
                yield value
            elif isinstance(value, (dict, list)):
                left += value.values() if isinstance(value, dict) else value


def test_a_key_in_disguise_is_in_no_file_and_on_no_screen(
    machine: Machine, known: dict[str, str], tmp_path: Path
) -> None:
    """Each sentence is answered with the key in another disguise."""
    disguises = dict(zip(known, itertools.cycle(disguise for _, disguise in EACH), strict=False))

    def answer(source: str, before: int) -> Reply:
        disguised = disguises[source](DISGUISED_KEY)
        if not before:
            return refused(500, f"with {disguised}")
        return said(
            f"{known[source][:-1]} {disguised}.", model=wide(DISGUISED_KEY), finish=disguised
        )

    with serving(answer) as server:
        words = command(machine, server, tmp_path / "run", "--api-key-env", "MY_KEY", "--full")
        done = machine.run(*words, MY_KEY=DISGUISED_KEY)
        assert done.returncode == 0, done.stderr
    assert len(known) >= len(EACH)
    shown = [
        text for path in (tmp_path / "run").iterdir() if path.is_file() for text in texts_in(path)
    ]
    shown += [done.stdout, done.stderr]
    assert [
        text for text in shown if DISGUISED_KEY in text or DISGUISED_KEY in repair(text).text
    ] == []
    hidden = ["[key]" in line["raw"] for line in lines(tmp_path / "run" / "translations.jsonl")]
    assert 2 * sum(hidden) > len(hidden)  # the others are disguised so that no repair shows the key


LOCAL = ("--model", "openai:small", "--base-url", "http://127.0.0.1:1/v1")


@pytest.mark.parametrize(
    ("words", "said_in"),
    [
        (
            (*LOCAL, "--beams", "3"),
            "--beams: changes nothing for openai:small",
        ),
        (
            ("--model", "openai:small", "--temperature", "3"),
            "--temperature: expected a number of at most 2, got 3",
        ),
        (
            ("--model", "openai:", "--base-url", "http://127.0.0.1:1/v1"),
            "--model: expected openai:NAME",
        ),
        (("--model", "openai:small", "--prompt", "nope"), "nope"),
        (
            ("--model", "openai:small", "--base-url", "here"),
            "--base-url: expected an address such as",
        ),
        (("--model", "openai:small"), "the endpoint api.openai.com is on another machine"),
        (
            ("--model", "deepl:quality_optimized", "--max-requests", "2"),
            "--max-requests: changes nothing for deepl:",
        ),
        (
            ("--model", "deepl:quality_optimized"),
            "DeepL is on another machine, and the network may not be used",
        ),
        (
            ("--model", "deepl:best"),
            "--model: expected deepl:quality_optimized or deepl:latency_optimized, got",
        ),
        (("--model", "demo", "--repeat", "2"), "--repeat: changes nothing for demo"),
        (("--model", "demo", "--dry-run"), "--dry-run: expected an endpoint"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(
    words: tuple[str, ...], said_in: str, machine: Machine
) -> None:
    done = machine.run(
        "eval",
        *words,
        "--lang",
        "de",
        "--dataset",
        "demo",
        "--stanza-dir",
        "mtbias:demo",
        "--offline",
    )
    assert done.returncode in {1, 2}
    assert said_in in done.stderr
    assert done.stderr.count("\n") == 1
