"""A sweep of coreference: what its file may say, its tasks, the documents that it writes, and runs
of it with the toy's encoder and with a real one."""

from __future__ import annotations

import csv
import itertools
import json
import re
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.cluster.coref_sweep_file import read_coref_sweep
from mtbias.cluster.coref_tasks import tasks_of
from mtbias.coref.documents import read_conll
from mtbias.errors import DataError, DependencyError
from scripts import toy_coref
from scripts.real_encoder import write_minilm
from tests.coref.small_corpora import write_winobias

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "coref_sweep.toml"
SWEEP = """
out = "out"
limit = 60
resamples = 200

[training]
encoder = "encoder"
epochs = 2
learning_rate = 0.001
encoder_learning_rate = 0.0003
hidden_size = 64
dropout = 0.1
window = 128
candidates = 15

[data]
bug = "gold.csv"

[documents]
train = [{ data = "train.conll" }]
dev = [{ data = "dev.conll" }]
anti = [{ dataset = "bug", data = "bug.csv", stereotype = "anti", limit = 40 }]

[systems.base]

[systems.swapped]
copies = "words"

[systems.tuned]
documents = "anti"
weights = "base"
"""


def write_sweep(folder: Path, text: str = SWEEP) -> Path:
    path = folder / "sweep.toml"
    path.write_text(text, encoding="utf-8")
    return path


def write_toy(folder: Path) -> None:
    # Mostly stereotypical, as text is, so that copies with the genders swapped change something.
    for name, n, seed in (("train", 120, 0), ("dev", 20, 1)):
        toy_coref.write_documents(folder / f"{name}.conll", toy_coref.sentences(n, seed))
    anti, pro = toy_coref.sentences(100, 2, stereotypical=False), toy_coref.sentences(50, 3)
    toy_coref.write_bug(folder / "bug.csv", anti + pro)
    anti, pro = toy_coref.sentences(60, 4, stereotypical=False), toy_coref.sentences(60, 5)
    toy_coref.write_bug(folder / "gold.csv", anti + pro)


def test_tasks_and_what_each_needs(tmp_path: Path) -> None:
    sweep = read_coref_sweep(write_sweep(tmp_path))
    assert sweep.training.encoder == "encoder"  # no folder there: a name on the Hub
    assert sweep.documents["anti"][0].data == tmp_path / "bug.csv"
    assert {task.id: task.needs for task in tasks_of(sweep)} == {
        "documents": (),
        "train:base": ("documents",),
        "train:swapped": ("documents",),
        "train:tuned": ("documents", "train:base"),
        "eval:base": ("train:base",),
        "eval:swapped": ("train:swapped",),
        "eval:tuned": ("train:tuned",),
        "table": ("eval:base", "eval:swapped", "eval:tuned"),
    }


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ('weights = "base"', 'weights = "bose"', "systems.tuned.weights: expected a system above it, did you mean base?"),
        ('documents = "anti"', 'documents = "ante"', "systems.tuned.documents: expected some of [documents], did you mean"),
        ("dev = [", "def = [", "documents: expected dev among them, got none"),
        ('dataset = "bug", ', "", "dataset: expected it with part, stereotype, placed and limit"),
        ('encoder = "encoder"', "", "encoder: expected a folder or a name on the Hub, or a preset"),
        ("epochs = 2", "epoch = 2", "training.epoch"),
        ("[systems.base]", "[systems.'a/b']\n[systems.base]", "systems: expected names of up to 100"),
    ],
)  # fmt: skip
def test_what_a_file_may_not_say(tmp_path: Path, before: str, after: str, expected: str) -> None:
    assert before in SWEEP
    with pytest.raises(DataError, match=re.escape(expected)):
        read_coref_sweep(write_sweep(tmp_path, SWEEP.replace(before, after)))


@pytest.mark.parametrize("command", ["submit", "status"])
def test_only_the_sweep_itself_takes_it(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(write_sweep(tmp_path))]) == 1
    assert "expected a sweep of translation, got one of coreference" in capsys.readouterr().err


def test_documents_are_those_of_files_and_of_data_sets(tmp_path: Path) -> None:
    write_toy(tmp_path)
    path = write_sweep(tmp_path)
    assert main(["sweep", str(path), "--task", "documents"]) == 0
    written = {
        file.stem: read_conll(file).documents for file in (tmp_path / "out/documents").iterdir()
    }
    counts = {name: len(documents) for name, documents in written.items()}
    assert counts == {"train": 120, "dev": 20, "anti": 40, "train+words": 240}
    # Every second row or less of the 100 that are against the stereotype, which come first.
    with (tmp_path / "bug.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for document in written["anti"]:
        assert rows[int(document.id)]["stereotype"] == "-1"
    assert [int(document.id) for document in written["anti"][:3]] == [0, 2, 5]  # n × 100 / 40


def test_another_sweep_in_the_same_folder_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_toy(tmp_path)
    assert main(["sweep", str(write_sweep(tmp_path)), "--task", "documents"]) == 0
    other = write_sweep(tmp_path, SWEEP.replace("limit = 60", "limit = 61"))
    assert main(["sweep", str(other), "--task", "documents"]) == 1
    assert "this folder is of a sweep with other settings" in capsys.readouterr().err


def test_documents_that_have_changed_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else the models of the documents before would stand in the table."""
    write_toy(tmp_path)
    path = write_sweep(tmp_path)
    assert main(["sweep", str(path), "--task", "documents"]) == 0
    assert main(["sweep", str(path), "--task", "documents"]) == 0
    toy_coref.write_documents(tmp_path / "train.conll", toy_coref.sentences(120, 7))
    assert main(["sweep", str(path), "--task", "train:base"]) == 1
    said = capsys.readouterr().err
    assert f"{tmp_path / 'train.conll'}: expected the file that this sweep began with" in said


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('"gold.csv"', '"gone.csv"', "gone.csv: there is no such file"),
        ('bug = "gold.csv"', 'sowinobias = "gold.csv"', "gold.csv"),
    ],
)
def test_data_that_cannot_be_scored_are_said_before_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], before: str, after: str, message: str
) -> None:
    write_toy(tmp_path)
    path = write_sweep(tmp_path, SWEEP.replace(before, after))
    assert main(["sweep", str(path)]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_documents_of_winobias_by_stereotype(tmp_path: Path) -> None:
    (tmp_path / "wino").mkdir()
    write_winobias(tmp_path / "wino")
    write_toy(tmp_path)
    sources = '[{ dataset = "winobias", data = "wino", stereotype = "pro" }]'
    path = write_sweep(tmp_path, SWEEP.replace('[{ data = "train.conll" }]', sources))
    assert main(["sweep", str(path), "--task", "documents"]) == 0
    ids = [one.id for one in read_conll(tmp_path / "out/documents/train.conll").documents]
    assert len(ids) == 3
    assert all("/pro/" in id_ for id_ in ids)


@pytest.mark.slow
def test_the_toy_is_trained_evaluated_and_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("peft")
    write_toy(tmp_path)
    toy_coref.write_encoder(tmp_path / "encoder")
    path = write_sweep(tmp_path)
    assert main(["sweep", str(path)]) == 0
    out = tmp_path / "out"
    printed = capsys.readouterr().out
    assert (out / "table.txt").read_text(encoding="utf-8") in printed
    with (out / "table.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    numbers = {(row["system"], row["key"]): float(row["value"]) for row in rows if not row["minus"]}
    for name in ("base", "swapped", "tuned"):
        # Each from what was found: a row is right where one cluster has both words.
        clusters = (out / "runs" / name / "bug.jsonl").read_text(encoding="utf-8")
        found = [json.loads(line) for line in clusters.splitlines()]
        with (tmp_path / "gold.csv").open(encoding="utf-8") as file:
            gold = list(csv.DictReader(file))
        right = 0
        for line in found:
            row = gold[int(line["id"])]
            places = {int(row["profession_first_index"]), int(row["g_first_index"])}
            of_words = [{n for a, b in c for n in range(a, b + 1)} for c in line["clusters"]]
            right += any(places <= words for words in of_words)
        assert len(found) == 60
        assert numbers[name, "accuracy"] == pytest.approx(100 * right / 60)
    differences = [row for row in rows if row["minus"]]
    assert {(row["system"], row["minus"]) for row in differences} == {
        ("base", "swapped"),
        ("base", "tuned"),
    }
    assert all(row["p"] for row in differences)
    # The second time nothing is left to do but the table.
    assert main(["sweep", str(path)]) == 0
    again = capsys.readouterr().out
    assert "train:tuned: done already" in again
    assert "train:base: begins" not in again


@pytest.mark.slow
def test_the_example_is_trained_and_compared_in_small_with_a_real_encoder(
    shared: Path, tmp_path: Path
) -> None:
    """The file of the documentation, with MiniLM and the published data, on a few documents."""
    pytest.importorskip("peft")
    for name, place in {
        "gap": "data/coref/gap",
        "winobias": "data/coref/winobias",
        "counter-gap": "data/coref/countergap",
        "bug": "data/bug",
        "stanza": "stanza_resources",
    }.items():
        if not (shared / place).is_dir():
            pytest.skip(f"no {place}")
        (tmp_path / name).symlink_to(shared / place)
    try:
        write_minilm(tmp_path / "encoder")
    except DependencyError as error:
        pytest.skip(str(error))
    text = EXAMPLE.read_text(encoding="utf-8")
    text = re.sub(r"limit = \d+", "limit = 8", text).replace("epochs = 4", "epochs = 1")
    assert main(["sweep", str(write_sweep(tmp_path, text)), "--set", "resamples=200"]) == 0
    with (tmp_path / "coref_runs" / "table.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    datasets = ["gap", "winobias", "counter-gap", "bug"]
    compared = {(row["dataset"], row["minus"]) for row in rows}
    systems = ["", "a-cda", "n-cda", "fine-tuned"]
    assert compared == set(itertools.product(datasets, systems))
    copies = tmp_path / "coref_runs" / "documents" / "train+anonymised.conll"
    assert re.search(r"\tE1\t", copies.read_text(encoding="utf-8"))
