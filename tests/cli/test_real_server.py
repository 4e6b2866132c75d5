"""`mtbias eval` against `transformers serve`, a real server, with a small model that translates
(`make test-slow`)."""

from __future__ import annotations

import csv
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mtbias.demo import demo_file
from tests.built import built
from tests.translate.small_decoder import PAIRS, demo_pairs, make_decoder

from .machine import Machine

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Served:
    """A server, its model, and a corpus that the model knows."""

    url: str
    model: Path
    corpus: Path
    machine: Machine

    def command(self, model: str, *more: str | Path) -> tuple[str | Path, ...]:
        corpus = (
            "--dataset",
            "custom",
            "--data",
            self.corpus,
            "--lang",
            "de",
            "--stanza-dir",
            "mtbias:demo",
        )
        return ("eval", "--model", model, *corpus, *more)

    def ask(self, *more: str | Path) -> tuple[str | Path, ...]:
        return self.command(f"openai:{self.model}", "--base-url", self.url, "--offline", *more)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until the server answers: it takes a minute or two to import all that it has."""
    deadline = time.monotonic() + 400
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        with suppress(OSError), urllib.request.urlopen(f"{url}/health", timeout=5):
            return
        time.sleep(0.5)
    pytest.fail(f"no server after 400 s: {log.read_text()}")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("served")
    pairs = demo_pairs()
    model = built(tmp_path_factory, "small", lambda folder: make_decoder(folder, pairs))
    with demo_file().open(encoding="utf-8", newline="") as file:
        rows = {row["source"]: row for row in csv.DictReader(file, delimiter="\t")}
    columns = ("id", "source", "gender", "entity", "entity_start", "entity_end", "stereotype")
    chosen = [[rows[source][column] for column in columns] for source, _ in pairs]
    corpus = home / "corpus.tsv"
    corpus.write_text("".join("\t".join(row) + "\n" for row in (columns, *chosen)))
    (home / "hub").mkdir()
    own = {
        "HF_HUB_CACHE": str(home / "hub"),
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONWARNINGS": "",
    }
    base, log = f"http://127.0.0.1:{_free_port()}", home / "serve.log"
    words = [
        str(Path(sys.executable).with_name("transformers")),
        "serve",
        "--host",
        "127.0.0.1",
        "--port",
        base[17:],
    ]
    with (
        log.open("wb") as out,
        subprocess.Popen(words, env={**os.environ, **own}, stdout=out, stderr=out) as process,
    ):
        try:
            _wait(base, process, log)
            yield Served(f"{base}/v1", model, corpus, Machine(home))
        finally:
            process.kill()


@pytest.fixture(scope="module")
def run(served: Served) -> Path:
    """The corpus translated by the server."""
    folder = served.machine.folder / "run"
    done = served.machine.run(*served.ask("--out", folder))
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_numbers_are_those_of_a_plain_loop_of_requests(served: Served, run: Path) -> None:
    table = []
    for row in lines(run / "calls.jsonl"):
        asked = "Translate the following sentence from English into German. Answer with the translation only."
        body = {
            "model": str(served.model),
            "messages": [{"role": "user", "content": f"{asked}\n\n{row['source']}"}],
            "temperature": 0,
            "max_tokens": 1024,
        }
        request = urllib.request.Request(
            f"{served.url}/chat/completions", json.dumps(body).encode()
        )
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=60) as response:
            said = json.load(response)["choices"][0]["message"]["content"]
        table.append(
            (row["id"], said.removeprefix("Sure! Here is the translation:").strip().strip('"'))
        )
    given = served.machine.folder / "given.tsv"
    given.write_text("id\ttarget\n" + "".join(f"{id_}\t{target}\n" for id_, target in table))
    scored = served.machine.run(
        *(
            "score",
            "--translations",
            given,
            "--dataset",
            "custom",
            "--data",
            served.corpus,
            "--lang",
            "de",
        ),
        *("--stanza-dir", "mtbias:demo", "--json"),
    )
    assert scored.returncode == 0, scored.stderr
    expected, metrics = json.loads(scored.stdout), json.loads((run / "metrics.json").read_text())
    assert metrics["overall"] == expected["overall"]
    assert metrics["by_entity"] == expected["by_entity"]
    assert metrics["overall"]["delta_g"] is not None
    assert metrics["translations"]["cleaned"] == {"introduction": PAIRS // 4, "quotes": PAIRS // 4}


@pytest.mark.exhaustive
def test_a_killed_run_asks_the_server_only_for_the_rest(served: Served, run: Path) -> None:
    folder = served.machine.folder / "killed"
    parts = folder / "translations.parts"
    with served.machine.start(*served.ask("--out", folder, "--concurrency", "2")) as process:
        deadline = time.monotonic() + 120
        while len(list(parts.glob("0*.jsonl"))) < 8 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.kill()
        process.communicate()
    kept = len(list(parts.glob("0*.jsonl")))
    assert 8 <= kept < PAIRS
    done = served.machine.run(*served.ask("--out", folder))
    assert (done.returncode, done.stderr) == (0, "")
    execution = json.loads((folder / "manifest.json").read_text())["execution"]
    assert (execution["requests"], execution["sentences_resumed"]) == (PAIRS - kept, kept)
    assert (folder / "translations.jsonl").read_bytes() == (run / "translations.jsonl").read_bytes()


def test_the_checkpoint_itself_gives_the_same_as_the_server(served: Served, run: Path) -> None:
    folder = served.machine.folder / "direct"
    done = served.machine.run(*served.command(str(served.model), "--out", folder, "--offline"))
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "translations.jsonl").read_bytes() == (run / "translations.jsonl").read_bytes()
    assert (folder / "calls.jsonl").read_bytes() == (run / "calls.jsonl").read_bytes()


@pytest.mark.exhaustive
def test_three_times_the_same_change_nothing(served: Served) -> None:
    folder = served.machine.folder / "repeated"
    done = served.machine.run(*served.ask("--out", folder, "--repeat", "3"))
    assert (done.returncode, done.stderr) == (0, "")
    repeats = json.loads((folder / "metrics.json").read_text())["repeats"]
    assert (
        repeats["translations_changed"] == repeats["calls_changed"] == {"count": 0, "percent": 0.0}
    )
    assert all(
        number["spread"] == 0
        for number in repeats["numbers"].values()
        if number["spread"] is not None
    )


def test_a_model_that_the_server_does_not_have_is_said(served: Served) -> None:
    # This server says HTTP 500 then, or closes the connection, as if another try could help.
    more = (
        "--base-url",
        served.url,
        "--offline",
        "--out",
        served.machine.folder / "absent",
        "--max-requests",
        "3",
    )
    done = served.machine.run(*served.command("openai:nobody/nothing", *more, "--concurrency", "1"))
    assert done.returncode == 1
    *noticed, last = done.stderr.splitlines()
    assert last.startswith("mtbias: --max-requests 3 is reached: 3 requests were sent")
    assert noticed
    assert all(line.startswith("mtbias: 127.0.0.1: ") for line in noticed)


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_requests_go_to_the_server_and_nowhere_else(served: Served) -> None:
    trace = served.machine.folder / "trace"
    words = [
        str(word)
        for word in served.ask("--out", served.machine.folder / "traced")
        if word != "--offline"
    ]
    done = subprocess.run(
        [
            "strace",
            "-f",
            "-qq",
            "-e",
            "trace=connect,sendto,sendmsg",
            "-o",
            trace,
            sys.executable,
            "-m",
            "mtbias",
            *words,
        ],
        env={**served.machine.environment(), "HF_HUB_OFFLINE": "0"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    port = served.url.split(":")[2].removesuffix("/v1")
    out = [line for line in trace.read_text().splitlines() if "AF_INET" in line]
    assert out
    assert all(f"htons({port})" in line and '"127.0.0.1"' in line for line in out)
