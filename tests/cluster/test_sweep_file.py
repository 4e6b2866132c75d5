"""A sweep's file is read strictly: what is wrong is named with file and key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mtbias.cluster.sweep_file import read_sweep, to_toml
from mtbias.errors import DataError

LEAST = "out = 'runs'\nmodels = ['demo']\nlanguages = ['de']\ndatasets = ['demo']\n"


def _file(folder: Path, text: str) -> Path:
    path = folder / "paper.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_not_said_has_a_default(tmp_path: Path) -> None:
    sweep = read_sweep(_file(tmp_path, LEAST))
    assert (sweep.name, sweep.presets, sweep.engine, sweep.device) == (
        "paper",
        ("paper",),
        "transformers",
        "auto",
    )
    assert (sweep.shards, sweep.sentences_per_shard, sweep.seed, sweep.resamples) == (
        None,
        20_000,
        0,
        2000,
    )


def test_the_processes_of_a_score_task(tmp_path: Path) -> None:
    assert read_sweep(_file(tmp_path, LEAST)).processes is None
    assert read_sweep(_file(tmp_path, f"{LEAST}processes = 4\n")).processes == 4


def test_paths_count_from_the_folder_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").mkdir()
    text = (
        "out = '../runs'\nmodels = ['demo', 'checkpoint', 'owner/name']\nlanguages = ['de']\ndatasets = ['custom']\n"
        "stanza_dir = 'stanza'\ncache_dir = '/cache'\nprompt = 'own.toml'\n[data]\ncustom = 'own.tsv'\n"
    )
    sweep = read_sweep(_file(tmp_path, text))
    assert sweep.prompt == str(tmp_path / "own.toml")
    assert read_sweep(_file(tmp_path, text.replace("own.toml", "tower"))).prompt == "tower"
    checkpoint = str(tmp_path / "checkpoint")
    assert sweep.out == tmp_path.parent / "runs"
    assert sweep.models == ("demo", checkpoint, "owner/name")
    assert sweep.data == {"custom": tmp_path / "own.tsv"}
    assert (sweep.stanza_dir, sweep.cache_dir) == (tmp_path / "stanza", Path("/cache"))


def test_the_demos_stanza_models_keep_their_name(tmp_path: Path) -> None:
    assert read_sweep(_file(tmp_path, f"{LEAST}stanza_dir = 'mtbias:demo'\n")).stanza_dir == Path(
        "mtbias:demo"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("models = [", "expected TOML, got something else: "),
        (
            "out = 'x'\nmodels = ['demo']\nlanguages = ['de']\n",
            "datasets: expected this key, it is not there",
        ),
        (LEAST.replace("models", "model"), "model: unknown key; did you mean models?"),
        (
            f"{LEAST}colour = 1\n",
            "colour: unknown key; there are aligner, aligner_layer, aligner_model",
        ),
        (f"{LEAST}beams = '5'\n", "beams: expected a whole number, got '5'"),
        (f"{LEAST}beams = true\n", "beams: expected a whole number, got True"),
        (f"{LEAST}beams = 0\n", "beams: expected a whole number of at least 1, got 0"),
        (f"{LEAST}seed = -1\n", "seed: expected a whole number of at least 0, got -1"),
        (f"{LEAST}length_penalty = 'x'\n", "length_penalty: expected a number, got 'x'"),
        (f"{LEAST}engine = ''\n", "engine: expected transformers or ct2, got ''"),
        (f"{LEAST}device = 'tpu'\n", "device: expected auto, cpu or cuda, got 'tpu'"),
        (LEAST.replace("['de']", "'de'"), "languages: expected a list, got 'de'"),
        (
            LEAST.replace("['de']", "[]"),
            "languages: expected a list of texts, at least one, got []",
        ),
        (LEAST.replace("['de']", "['de', 3]"), "languages.1: expected text, got 3"),
        (
            LEAST.replace("['de']", "['de', 'de']"),
            "languages: expected each value once, got 'de' twice",
        ),
        (f"{LEAST}[data]\nbug = 'x'\n", "data.bug: expected one of this sweep's datasets: demo"),
        (
            f"{LEAST}[systems]\n'a/b' = 'x.txt'\n",
            "systems: expected names of up to 100 letters (a to z), digits",
        ),
        (
            LEAST.replace("['de']", "['de', 'es']") + "[systems]\na = 'x.txt'\n",
            "systems.a: expected {lang} in the path where there are several languages, got ",
        ),
        (
            f"{LEAST}[slurm]\nmem = '16'\n",
            "slurm.mem: expected an amount such as 16G or 8000M, got '16'",
        ),
        (
            f"{LEAST}[slurm]\nspeed = 1\n",
            "slurm.speed: unknown key; there are account, cpus, extra, gpus",
        ),
        (
            f"{LEAST}[slurm.score]\npartition = 'x'\n",
            "slurm.score.partition: unknown key; there are cpus, gpus, mem",
        ),
        (
            f"{LEAST}[slurm.extra]\nqos = ['x']\n",
            "slurm.extra.qos: expected text or a whole number or true or false, got ['x']",
        ),
        (f"slurm = 1\n{LEAST}", "slurm: expected a table, got 1"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_key(tmp_path: Path, text: str, expected: str) -> None:
    path = _file(tmp_path, text)
    with pytest.raises(DataError) as error:
        read_sweep(path)
    where, _, said = str(error.value).partition(": ")
    assert re.fullmatch(rf"{re.escape(str(path))}(:\d+)?", where)
    assert said.startswith(expected)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{LEAST}beams = 0\n", 5),
        (f"beams = 'x'\n{LEAST}", 1),
        (f"{LEAST}\n[slurm]\n\ngpus = -1\n", 8),
        (f"{LEAST}\n[slurm.score]\n'gpus' = 1.5\n", 7),
        (f"{LEAST}[data]\nbug = 'x'\n", 6),
        (LEAST.replace("languages", "languages = ['de']\nlangs"), 4),
    ],
)
def test_the_line_is_named(tmp_path: Path, text: str, line: int) -> None:
    path = _file(tmp_path, text)
    with pytest.raises(DataError) as error:
        read_sweep(path)
    assert (error.value.path, error.value.line) == (str(path), line)


@pytest.mark.parametrize(
    "name", ["a b", "../a", "--wrap=x", "a\\u001b[31m", "a\\nb", "ä", "x" * 101, "."]
)
def test_a_name_that_is_none_of_a_job_is_refused(tmp_path: Path, name: str) -> None:
    path = _file(tmp_path, f'{LEAST}name = "{name}"\n')
    with pytest.raises(
        DataError,
        match=r":5: name: expected up to 100 letters \(a to z\), digits, '\.', '_' and '-', got ",
    ):
        read_sweep(path)


def test_a_name_made_of_the_files_is_that_of_a_job(tmp_path: Path) -> None:
    for stem, name in {
        "my paper": "my_paper",
        "paper-2.1": "paper-2.1",
        "--wrap": "sweep--wrap",
        "é\n": "sweep__",
    }.items():
        path = tmp_path / f"{stem}.toml"
        path.write_text(LEAST, encoding="utf-8")
        assert read_sweep(path).name == name


def test_what_becomes_a_line_of_a_jobs_script_is_one(tmp_path: Path) -> None:
    for key in ("partition", "account", "extra.qos"):
        path = _file(tmp_path, f'{LEAST}[slurm]\n{key} = "a\\nb"\n')
        with pytest.raises(DataError, match="expected text in one line without control characters"):
            read_sweep(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file; check the path"):
        read_sweep(tmp_path / "none.toml")
    with pytest.raises(DataError, match="expected a file, got a folder; name the file in it"):
        read_sweep(tmp_path)


def test_a_sweep_that_is_written_is_read_again_as_it_was(tmp_path: Path) -> None:
    text = (
        'out = "runs with \\"quotes\\" and ü"\nmodels = ["demo", "owner/name"]\nlanguages = ["de", "he"]\n'
        'datasets = ["demo", "custom"]\npresets = ["paper", "fast"]\nshards = 3\nbeams = 2\nlength_penalty = 1.5\n'
        'dtype = "int8"\nengine = "ct2"\nstanza_dir = "s"\n[data]\ncustom = "c.tsv"\n'
        '[slurm]\nmem = "1G"\nsetup = ["module load \\"x\\""]\n'
        '[slurm.extra]\nqos = "long"\n'
    )
    sweep = read_sweep(_file(tmp_path, text))
    (tmp_path / "elsewhere").mkdir()
    again = tmp_path / "elsewhere" / "sweep.toml"
    again.write_text(to_toml(sweep), encoding="utf-8")
    assert read_sweep(again) == sweep
