"""`mtbias sweep` on the demo: the same bytes as `mtbias eval`, whatever fails on the way; what is
done stays done."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from scipy.stats import binomtest

from mtbias.cli import main
from mtbias.cluster.sweep_file import read_sweep
from mtbias.cluster.sweep_tasks import make_plan
from mtbias.cluster.task_runs import log_file, recorded
from mtbias.demo import reference_file

from .machine import Machine
from .shard_processes import small_corpus

FILES = ("translations.jsonl", "calls.jsonl", "metrics.json")


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(tmp_path_factory.mktemp("sweep"))


def _write(folder: Path, more: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "paper.toml"
    path.write_text(
        f"out = 'runs'\nmodels = ['demo']\ndatasets = ['demo']\n{more}", encoding="utf-8"
    )
    return path


def _status(machine: Machine, file: Path) -> dict[str, int]:
    found: dict[str, int] = json.loads(machine.run("status", file, "--json").stdout)["tasks"]
    return found


def test_the_plan_comes_first_and_a_dry_run_stops_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _write(tmp_path / "planned", "languages = ['de', 'es']\nshards = 2\n")
    assert main(["sweep", str(file), "--dry-run"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert (lines[0].split(), err) == (["sentences", "shards"], "")
    assert [line.split()[:3] for line in lines[1:3]] == [
        ["demo/demo/de", "512", "2"],
        ["demo/demo/es", "512", "2"],
    ]
    assert lines[3].startswith("2 cells           1,024       4")
    assert lines[5] == "7 tasks"
    assert not (file.parent / "runs").exists()
    assert main(["sweep", str(file), "--tasks"]) == 0
    tasks = capsys.readouterr().out.splitlines()
    assert tasks[0] == "translate:demo/demo/de:1/2"
    assert tasks[-3:] == ["score:de", "score:es", "table"]


def test_translations_that_are_there_are_scored_beside_the_models(machine: Machine) -> None:
    folder = machine.folder / "given"
    folder.mkdir()
    for lang in ("de", "es"):
        shutil.copy(reference_file(lang), folder / f"right-{lang}.tsv")
    corpus = small_corpus(machine.folder, every=8)
    tables = f"[data]\ndemo = '{corpus}'\n[systems]\nright = 'right-{{lang}}.tsv'\n"
    file = _write(folder, f"languages = ['de', 'es']\nstanza_dir = 'mtbias:demo'\n{tables}")
    planned = machine.run("sweep", file, "--dry-run", "--set", "systems.demo='right-{lang}.tsv'")
    assert (
        planned.stderr
        == "mtbias: systems: demo would share the folder of a model; give it another name\n"
    )
    file.write_text(file.read_text().replace("models = ['demo']\n", ""))
    assert machine.run("sweep", file, "--tasks").stdout.split() == ["score:de", "score:es", "table"]
    done = machine.run("sweep", file)
    assert (done.returncode, done.stderr) == (0, "")
    alone, given = (
        folder / "alone",
        ("--translations", folder / "right-es.tsv", "--system", "right", "--lang", "es"),
    )
    own = ("--dataset", "demo", "--data", corpus)
    scored = machine.run("score", *given, *own, "--stanza-dir", "mtbias:demo", "--out", alone)
    assert (scored.returncode, scored.stderr) == (0, "")
    for name in FILES:
        assert (folder / "runs/demo/right/es" / name).read_bytes() == (alone / name).read_bytes()
    assert "right" in (folder / "runs/table.txt").read_text(encoding="utf-8")


@pytest.mark.slow
def test_faults_on_the_way_cost_only_what_they_hit_and_change_nothing(machine: Machine) -> None:
    corpus = small_corpus(machine.folder, every=8)  # 64 sentences, 16 a batch
    data = f"stanza_dir = 'mtbias:demo'\n[data]\ndemo = '{corpus}'\n"
    file = _write(machine.folder / "faults", f"languages = ['de', 'es']\nshards = 2\n{data}")
    out = file.parent / "runs"
    spanish = out / "demo" / "demo" / "es"
    spanish.parent.mkdir(parents=True)
    spanish.write_text("in the way")
    done = machine.run("sweep", file)
    assert done.returncode == 1
    assert done.stderr.startswith(
        "mtbias: 4 of 7 tasks failed; correct what is wrong and run the same command again"
    )
    assert f"translate:demo/demo/es:1/2: {spanish}: expected a folder, got a file" in done.stdout
    assert "table: not begun, since score:es failed" in done.stdout
    assert _status(machine, file) == {"done": 3, "running": 0, "queued": 0, "failed": 3, "left": 1}
    german = {name: (out / "demo" / "demo" / "de" / name).stat().st_mtime_ns for name in FILES}

    spanish.unlink()
    for shard in ("1/2", "2/2"):  # the tasks as plain commands
        assert (
            machine.run("sweep", file, "--task", f"translate:demo/demo/es:{shard}").returncode == 0
        )
    again = machine.run("sweep", file, "--task", "translate:demo/demo/es:1/2")
    assert again.stdout == "translate:demo/demo/es:1/2: done already\n"
    part = spanish / "translations.parts" / "000003.jsonl"
    content = bytearray(part.read_bytes())
    content[-5] ^= 1
    part.write_bytes(content)
    done = machine.run("sweep", file)
    assert done.returncode == 1
    assert "parts of the translations are missing" in done.stdout
    done = machine.run("sweep", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line for line in done.stdout.splitlines() if line.endswith(": begins")] == [
        "translate:demo/demo/es:2/2: begins",  # the damaged batch, 3, is one of shard 2/2
        "score:es: begins",
        "table: begins",
    ]
    assert german == {
        name: (out / "demo" / "demo" / "de" / name).stat().st_mtime_ns for name in FILES
    }
    assert _status(machine, file) == {"done": 7, "running": 0, "queued": 0, "failed": 0, "left": 0}

    for lang in ("de", "es"):
        alone = machine.folder / f"alone-{lang}"
        words = (
            "--model",
            "demo",
            "--lang",
            lang,
            "--dataset",
            "demo",
            "--data",
            corpus,
            "--out",
            alone,
        )
        assert machine.run("eval", *words, "--stanza-dir", "mtbias:demo").returncode == 0
        for name in FILES:
            assert (out / "demo" / "demo" / lang / name).read_bytes() == (
                alone / name
            ).read_bytes(), (lang, name)
    _check_tables(out, machine.folder / "alone-de")
    _check_growth(machine, file, data)


def _check_tables(out: Path, german: Path) -> None:
    overall = json.loads((german / "metrics.json").read_text())["overall"]
    assert f"{overall['accuracy']:.1f} [" in (out / "table.txt").read_text()
    header, first, second = (out / "table.csv").read_text().splitlines()
    row = dict(zip(header.split(","), first.split(","), strict=False))
    assert (row["lang"], row["n"], float(row["delta_g"])) == ("de", "64", overall["delta_g"])
    assert second.split(",")[:3] == ["demo", "es", "demo"]
    right = round(overall["accuracy"] * 64 / 100)
    wilson = binomtest(right, 64).proportion_ci(
        method="wilson"
    )  # scipy's, not ours: a derivation of its own
    cell = f"{overall['accuracy']:.1f} [{100 * wilson.low:.1f}, {100 * wilson.high:.1f}]"
    assert f"| demo | {cell} |" in (out / "table.md").read_text()
    assert "\\toprule" in (out / "table.tex").read_text()


def _check_growth(machine: Machine, file: Path, data: str) -> None:
    """A sweep that gets a preset more does what is new."""
    _write(file.parent, f"languages = ['de']\npresets = ['paper', 'fast']\n{data}")
    done = machine.run("sweep", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line for line in done.stdout.splitlines() if line.endswith(": begins")] == [
        "translate:demo/demo-fast/de:1/1: begins",
        "score:de: begins",
        "table: begins",
    ]
    page = (file.parent / "runs" / "demo" / "report-de.html").read_text(encoding="utf-8")
    assert (
        "<h1>demo and demo-fast: gender in translations from English into German (de) on " in page
    )
    assert "demo-fast  " in done.stdout


def test_changes_go_before_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = _write(tmp_path / "changed", "languages = ['de']\nshards = 2\n")
    changes = ("--set", "languages=es,de", "--set", "shards=3", "--set", "slurm.partition=gpu")
    assert main(["sweep", str(file), *changes, "--dry-run"]) == 0
    assert "demo/demo/es        512       3" in capsys.readouterr().out
    assert main(["sweep", str(file), *changes, "--tasks"]) == 0
    assert capsys.readouterr().out.splitlines()[5] == "translate:demo/demo/de:3/3"
    assert not (file.parent / "runs").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--set", "modls=demo"), "--set modls: unknown key; did you mean models?\n"),
        (
            ("--set", "slurm.gpu=1"),
            "--set slurm.gpu: unknown key; did you mean gpus? there are account, ",
        ),
        (
            ("--set", "models"),
            "--set: expected KEY=VALUE, such as models=opus-mt,m2m100 or seed=1, got 'models'",
        ),
        (("--set", "seed=x"), "--set seed: expected a whole number, got 'x'"),
        (("--gpus", "99"), "--gpus: asked for 99, torch sees"),
        (
            ("--device", "tpu"),
            'Invalid value "tpu" for --device. Choose from: "auto", "cpu", "cuda"',
        ),
        (("--task", "score:fr"), "--task: this sweep has no task 'score:fr'"),
    ],
)
def test_what_is_wrong_with_an_option_is_named(
    options: tuple[str, str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _write(tmp_path / "wrong", "languages = ['de']\n")
    assert main(["sweep", str(file), *options]) == 2
    assert said in capsys.readouterr().err


def test_a_sweep_as_it_was_changed_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STANZA_RESOURCES_DIR", raising=False)
    (tmp_path / "few.tsv").write_text("source\tgender\tentity\nThe doctor slept.\tfemale\tdoctor\n")
    file = _write(tmp_path / "folder", "languages = ['es']\ncache_dir = 'cache'\n")
    changes = (
        "languages=de",
        "data.custom=few.tsv",
        "datasets=custom",
        "out=else where",
        "slurm.setup=['a \"b\"']",
    )
    assert (
        main(["sweep", str(file), *(word for change in changes for word in ("--set", change))]) == 1
    )
    written = tmp_path / "else where" / "sweep.toml"  # paths count from the current folder
    assert f"`mtbias fetch --sweep {written}` downloads what is missing" in capsys.readouterr().err
    assert not (file.parent / "runs").exists()
    sweep = read_sweep(written)
    assert sweep == read_sweep(file, changes)
    assert (sweep.name, sweep.out, sweep.cache_dir) == (
        "paper",
        written.parent,
        file.parent / "cache",
    )
    assert (sweep.data, sweep.slurm.setup) == ({"custom": tmp_path / "few.tsv"}, ('a "b"',))


def test_what_is_missing_stops_a_sweep_before_it_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STANZA_RESOURCES_DIR", raising=False)
    file = tmp_path / "s.toml"
    text = "out = 'runs'\nmodels = ['demo']\nlanguages = ['de']\ndatasets = ['winomt']\ncache_dir = 'cache'\n"
    file.write_text(text, encoding="utf-8")
    assert main(["sweep", str(file)]) == 1
    err = capsys.readouterr().err
    assert (
        "2 of this sweep's models and data are not usable here, the first: winomt is not in the cache"
        in err
    )
    assert f"`mtbias fetch --sweep {file}` downloads what is missing" in err
    assert main(["doctor", "--sweep", str(file)]) == 1
    out, err = capsys.readouterr()
    assert "! data winomt" in out
    assert "! stanza de  " in out
    assert "2 things are missing or wrong, the first: data winomt" in err


def test_a_sweep_of_the_demo_needs_nothing_fetched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(_write(tmp_path / "nothing", "languages = ['de', 'he']\n"))
    assert main(["fetch", "--sweep", file]) == 0
    out, err = capsys.readouterr()
    assert ([line.split(":")[0] for line in out.splitlines()], err) == (
        ["model demo", "data demo", "stanza de", "stanza he"],
        "",
    )
    assert all(": here, " in line for line in out.splitlines())
    assert main(["fetch", "--sweep", file, "--lang", "de"]) == 2
    assert "--lang: with --sweep the sweep's file says" in capsys.readouterr().err


def test_submitting_needs_a_cluster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    file = str(_write(tmp_path / "no cluster", "languages = ['de']\n"))
    assert main(["submit", file, "--dry-run"]) == 0
    out, err = capsys.readouterr()
    submitted = [line for line in out.splitlines() if line.startswith("would submit")]
    assert submitted == [
        "would submit 1 × translate (1 GPUs, 4 CPUs, 64G memory, 480 minutes)",
        "would submit 1 × score (4 CPUs, 16G memory, 480 minutes)",
        "would submit 1 × table (4 CPUs, 16G memory, 480 minutes)",
    ]
    assert "  mtbias sweep FILE --task translate:demo/demo/de:1/1" in out.splitlines()
    assert (err, "Not usable here" in out) == ("", False)
    assert main(["submit", file]) == 1
    assert (
        "Slurm's sbatch is not on this machine: run mtbias submit on a login node"
        in capsys.readouterr().err
    )


@pytest.mark.slow
def test_interrupted_it_ends_its_tasks(machine: Machine) -> None:
    folder = machine.folder / "interrupted"
    file = _write(folder, "languages = ['de', 'es']\n")
    plan = make_plan(read_sweep(file))
    listening = (  # a background job of a shell ignores SIGINT
        "import runpy, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "sys.argv[0] = 'mtbias'; runpy.run_module('mtbias', run_name='__main__')"
    )
    command = [sys.executable, "-c", listening, "sweep", str(file)]
    with (
        recorded(plan, plan.tasks[0], ""),  # by another process, that is
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=machine.environment(),
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        begun = next(line for line in process.stdout if line.endswith(": begins\n"))
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=600)
    assert (process.returncode, begun, out) == (130, "translate:demo/demo/es:1/1: begins\n", "")
    assert not _holders(log_file(plan, plan.tasks[1]))
    assert _status(machine, file) == {"done": 0, "running": 0, "queued": 0, "failed": 0, "left": 5}


def _holders(log: Path) -> list[str]:
    """Processes that have a file open."""
    found = []
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if link.resolve() == log.resolve():
                found.append(link.parts[2])
        except OSError:
            continue
    return found
