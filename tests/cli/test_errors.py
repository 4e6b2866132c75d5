"""What is missing or wrong is one line on standard error that names the next step, and exit code 1
(2 for usage)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mtbias.cli import main

from .machine import Machine

Fails = Callable[..., str]


@pytest.fixture
def fails(capsys: pytest.CaptureFixture[str]) -> Fails:
    """Run a command that must fail with `code`; its one line, without the program's name."""

    def run(*arguments: str | Path, code: int = 1) -> str:
        capsys.readouterr()
        assert main([str(a) for a in arguments]) == code
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("mtbias: ")
        assert err.endswith("\n")
        assert err.count("\n") == 1, err
        return err.removeprefix("mtbias: ").rstrip("\n")

    return run


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """One sentence of one's own."""
    path = tmp_path / "own.tsv"
    path.write_text(
        "id\tsource\tgender\tentity\na\tThe cook left.\tfemale\tcook\n", encoding="utf-8"
    )
    return path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Its translation."""
    path = tmp_path / "own.de.txt"
    path.write_text("The cook left. ||| Die Köchin ging.\n", encoding="utf-8")
    return path


def test_an_unknown_language_lists_the_installed_ones(fails: Fails, target: Path) -> None:
    said = fails("score", "--translations", target, "--lang", "tlh", code=2)
    assert said.startswith("no language 'tlh' is installed; there are ")
    listed = said.partition("there are ")[2].partition(";")[0].split(", ")
    assert {"ar", "cs", "de", "es", "fr", "he", "it", "ru", "uk"} <= set(listed)


def test_a_corpus_that_is_not_here_names_the_command_that_fetches_it(
    fails: Fails, target: Path, bare: Machine
) -> None:
    for dataset in ("winomt", "bug", "bug-balanced", "bug-gold", "bug-gold-paper"):
        said = fails(
            "score",
            "--translations",
            target,
            "--lang",
            "de",
            "--dataset",
            dataset,
            "--cache-dir",
            bare.cache,
        )
        assert said.startswith(f"{dataset} is not in the cache ({bare.cache}")
        assert said.endswith(f"run: mtbias fetch --dataset {dataset}")


def test_models_that_are_not_here_name_the_command_that_fetches_them(
    fails: Fails, corpus: Path, target: Path, bare: Machine
) -> None:
    own = ("--dataset", "custom", "--data", corpus, "--cache-dir", bare.cache)
    said = fails(
        "score",
        "--translations",
        target,
        "--lang",
        "de",
        *own,
        "--stanza-dir",
        bare.folder / "none",
    )
    assert said.startswith(f"no Stanza resources at {bare.folder / 'none'}")
    assert "`mtbias fetch --lang de`" in said


def test_a_model_file_that_is_not_here_is_named(
    fails: Fails, corpus: Path, target: Path, bare: Machine, stanza_dir: Path
) -> None:
    partial = bare.folder / "stanza"
    partial.mkdir()
    (partial / "resources.json").write_bytes((stanza_dir / "resources.json").read_bytes())
    own = ("--dataset", "custom", "--data", corpus, "--cache-dir", bare.cache)
    said = fails("score", "--translations", target, "--lang", "de", *own, "--stanza-dir", partial)
    assert f"({partial}/de/tokenize/" in said
    assert "`mtbias fetch --lang de`" in said


def test_models_that_cannot_be_loaded_are_one_line(
    corpus: Path, target: Path, stanza_dir: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "stanza"
    (broken / "de").mkdir(parents=True)
    (broken / "resources.json").write_bytes((stanza_dir / "resources.json").read_bytes())
    for model in (stanza_dir / "de").rglob("*.pt"):
        copy = broken / model.relative_to(stanza_dir)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(b"no model")
    command = (
        "score",
        "--translations",
        target,
        "--lang",
        "de",
        "--dataset",
        "custom",
        "--data",
        corpus,
    )
    # A process of its own that imports Stanza itself: that logs to the standard error it finds
    # then.
    done = Machine(tmp_path, broken).run(*command, PYTHONWARNINGS="")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"mtbias: Stanza cannot load its models for 'de' from {broken}: ")
    assert done.stderr.count("\n") == 1, done.stderr
    told = Machine(tmp_path, broken).run(*command, "--debug").stderr
    assert "Traceback (most recent call last):" in told
    assert told.splitlines()[-1] == done.stderr.rstrip()


def test_an_unknown_dataset_and_a_custom_one_without_a_file_are_wrong_usage(
    fails: Fails, target: Path
) -> None:
    options = ("--translations", target, "--lang", "de", "--dataset")
    said = fails("score", *options, "wino", code=2)
    assert said == (
        "unknown dataset 'wino'; did you mean winomt? there are winomt, bug, bug-balanced, bug-gold, "
        "bug-gold-paper, mt-geneval, mt-geneval-entities, mt-geneval-context, gest, demo, custom"
    )
    assert "--data PATH" in fails("score", *options, "custom", code=2)
    said = fails("fetch", "--dataset", "wino", code=2)
    assert said == "no data set 'wino' to fetch; did you mean winomt or winobias?"
    assert "there are winomt, bug, bug-balanced" in fails("fetch", "--dataset", "zzz", code=2)


def test_an_unknown_aligner_is_wrong_usage(fails: Fails, target: Path) -> None:
    said = fails("score", "--translations", target, "--lang", "de", "--aligner", "magic", code=2)
    assert said.startswith(
        'Invalid value "magic" for --aligner. Choose from: "statistical", "neural", "statistical+neural", "eflomal"'
    )


def test_translations_that_are_not_there(fails: Fails, corpus: Path, tmp_path: Path) -> None:
    own = ("--lang", "de", "--dataset", "custom", "--data", corpus)
    absent = tmp_path / "absent.txt"
    assert (
        fails("score", "--translations", absent, *own)
        == f"{absent}: there is no such file; check the path"
    )
    assert fails("score", "--translations", tmp_path, *own).startswith(f"{tmp_path}: ")


def test_the_translations_of_another_corpus_are_refused(
    fails: Fails, corpus: Path, german: Path
) -> None:
    said = fails(
        "score", "--translations", german, "--lang", "de", "--dataset", "custom", "--data", corpus
    )
    assert said.startswith(
        f"{german}: expected translations of 95 % of the corpus's 1 instances, got 0"
    )
    assert "'The cook left.' (a)" in said
    assert said.endswith("Another corpus? Check --dataset and --data")


def test_a_damaged_line_is_named_with_its_file(fails: Fails, target: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "bad.tsv"
    corpus.write_text(
        "source\tgender\tentity\nThe cook left.\tfemale\tcook\nThe cook left.\tqueen\tcook\n"
    )
    said = fails(
        "score", "--translations", target, "--lang", "de", "--dataset", "custom", "--data", corpus
    )
    assert said.startswith(f"{corpus}:3: ")
    assert "'queen'" in said


def test_a_damaged_file_in_the_cache_is_noticed(
    fails: Fails, target: Path, bare: Machine, winomt: Path
) -> None:
    folder = bare.cache / "datasets" / "winomt"
    folder.mkdir(parents=True)
    for name in ("en.txt", "en_pro.txt", "en_anti.txt"):
        (folder / name).write_bytes((winomt / name).read_bytes())
    with (folder / "en.txt").open("ab") as file:
        file.write(b"male\t1\tThe cook left.\tcook\n")
    said = fails("score", "--translations", target, "--lang", "de", "--cache-dir", bare.cache)
    assert said.startswith(
        f"{folder / 'en.txt'}: the file in the cache is damaged: expected SHA-256 "
    )
    assert said.endswith("run: mtbias fetch --dataset winomt")


def test_a_folder_that_cannot_be_used_for_a_run(
    fails: Fails, prepared: Machine, small: Path, german: Path, tmp_path: Path
) -> None:
    score = ("score", "--translations", german, "--lang", "de", "--data", small, "--out")
    file = tmp_path / "file"
    file.touch()
    assert fails(*score, file) == f"{file}: expected a folder, got a file; choose another path"
    assert fails(*score, tmp_path).startswith(
        f"{tmp_path}: expected an empty folder or one with manifest.json"
    )
    assert fails(*score, file / "run").startswith(
        f"{file / 'run'}: cannot use it as the folder of a run"
    )


def test_labels_without_a_usable_row(fails: Fails, tmp_path: Path) -> None:
    gold = tmp_path / "labels.tsv"
    gold.write_text("lang\tsource\n")
    assert fails("validate", "--lang", "de", "--gold", gold).startswith(f"{gold}:1: ")
    gold.write_text(
        "lang\tsystem\tsource\ttarget\tlabel\tusable\tannotator\twinomt_index\tentity\tword_index\n"
        "ru\tS\tThe cook left.\tПовар ушёл.\tm\t1\t1\t0\tcook\t1\n"
    )
    said = fails("validate", "--lang", "de", "--gold", gold)
    assert said == f"{gold}: no rows of language 'de'; the file has ru"
