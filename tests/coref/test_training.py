"""Documents as Stanza's trainer takes them, and a small model trained, run and scored for real."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.coref.documents import read_conll
from mtbias.coref.gap_data import write_instances
from mtbias.coref.training import TrainingSettings, configuration, train
from mtbias.coref.training_documents import in_segments, training_data, with_short_sentences
from mtbias.errors import DataError, SettingError
from mtbias.files.reading import parse_toml, read_text
from scripts import toy_coref
from tests.built import built
from tests.coref.small_corpora import (
    PRO_SENTENCES,
    conll,
    gap_instance,
    write_winobias,
    write_winogender,
)


def test_documents_of_the_trainer_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "x.conll"
    path.write_text(conll(PRO_SENTENCES[2:], "x"), encoding="utf-8")
    data = training_data(read_conll(path).documents)
    (document,) = data.documents
    # The nanny (4, 5), she (7), her (9); the trainer's ends are excluded.
    assert document["span_clusters"] == [[[4, 6], [7, 8], [9, 10]]]
    assert document["word_clusters"] == [[5, 7, 9]]
    assert document["head2span"] == [[5, 4, 6], [7, 7, 8], [9, 9, 10]]
    assert document["cased_words"][:3] == ("The", "night", "guard")
    assert document["sent_id"] == [0] * 12
    assert (data.mentions, data.across) == (3, 0)


def test_mentions_across_sentences_are_left_out_and_counted(tmp_path: Path) -> None:
    lines = [
        "#begin document (x); part 000",
        "x 0 0 A (0",
        "",
        "x 0 0 b 0)|(1)",
        "x 0 1 c (1)",
        "#end document",
    ]
    path = tmp_path / "x.conll"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    data = training_data(read_conll(path).documents)
    assert (data.mentions, data.across) == (2, 1)
    assert data.documents[0]["span_clusters"] == [[[1, 2], [2, 3]]]
    assert not data.alone


def test_the_configuration_is_toml(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        configuration(TrainingSettings(encoder='a "b"', epochs=7), tmp_path, alone=False),
        encoding="utf-8",
    )
    read = parse_toml(read_text(path))
    assert read["DEFAULT"]["bert_model"] == 'a "b"'
    assert read["DEFAULT"]["train_epochs"] == 7
    assert read["mtbias"] == {}


def test_nothing_to_train_on_and_a_folder_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "x.conll"
    path.write_text(conll(PRO_SENTENCES, "x"), encoding="utf-8")
    some, nothing = training_data(read_conll(path).documents), training_data([])
    with pytest.raises(DataError, match="expected documents with clusters to dev on, got none"):
        train(some, nothing, TrainingSettings(encoder="x"), tmp_path / "new")
    with pytest.raises(DataError, match="expected a new folder"):
        train(some, some, TrainingSettings(encoder="x"), tmp_path)
    with pytest.raises(DataError, match="none: expected a folder with an encoder, got none"):
        train(some, some, TrainingSettings(encoder=str(tmp_path / "none")), tmp_path / "new")
    with pytest.raises(SettingError, match="device: expected cpu, cuda"):
        train(some, some, TrainingSettings(encoder="x", device="gpu"), tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("epochs", 0, "epochs: expected a whole number of at least 1, got 0"),
        ("learning_rate", -0.1, "learning_rate: expected a number of at least 0, got -0.1"),
        ("dropout", 2.0, "dropout: expected a number of at most 1, got 2.0"),
    ],
)
def test_settings_of_the_training_are_checked(name: str, value: float, expected: str) -> None:
    with pytest.raises(SettingError, match=re.escape(expected)):
        TrainingSettings(encoder="x", **{name: value})  # type: ignore[arg-type]


def test_what_a_user_sets_goes_before_the_preset_and_that_before_the_default() -> None:
    settings = TrainingSettings(preset="spanbert-large", encoder="x", window=64)
    assert (settings.encoder, settings.window) == ("x", 64)
    assert (settings.learning_rate, settings.segments) == (3e-4, 3)
    assert (settings.hidden_size, settings.candidates) == (1024, 50)
    assert TrainingSettings(encoder="x").segments is None
    with pytest.raises(SettingError, match="preset: did you mean bert-base"):
        TrainingSettings(preset="bert-bas")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="encoder: expected a folder or a name on the Hub, or a"):
        TrainingSettings().chosen_encoder()


def test_an_encoder_without_a_learning_rate_stays_as_it_is(tmp_path: Path) -> None:
    for rate, trained in ((0, False), (1e-5, True)):
        settings = TrainingSettings(encoder="x", encoder_learning_rate=rate)
        written = configuration(settings, tmp_path, alone=False)
        assert f"bert_finetune = {str(trained).lower()}\n" in written


def test_long_documents_are_cut_between_sentences(tmp_path: Path) -> None:
    """Three sentences of 2, 2 and 3 words of one piece each; a part has room for 2 × (4 − 2)."""
    columns = ["A (0)", "b (1)", "", "c (0)", "d -", "", "e (0)|(1", "f 1)", "g (0)"]
    lines = [f"x 0 0 {line}" if line else "" for line in columns]
    path = tmp_path / "x.conll"
    text = "\n".join(["#begin document (x); part 000", *lines, "#end document"])
    path.write_text(f"{text}\n", encoding="utf-8")
    whole = training_data(read_conll(path).documents)
    assert in_segments(whole, len, 4, 4) == whole
    first, second = in_segments(whole, len, 2, 4).documents
    assert (first["cased_words"], second["cased_words"]) == (("A", "b", "c", "d"), ("e", "f", "g"))
    assert second["sent_id"] == [0, 0, 0]
    # Entity 0 has two mentions in each part; entity 1 is alone in each, which says nothing of it.
    assert (first["span_clusters"], first["word_clusters"]) == ([[[0, 1], [2, 3]]], [[0, 2]])
    assert (second["span_clusters"], second["word_clusters"]) == ([[[0, 1], [2, 3]]], [[0, 2]])
    assert first["head2span"] == [[0, 0, 1], [2, 2, 3]]
    assert second["is_zero"] == [0, 0]
    assert in_segments(whole, len, 2, 4).mentions == 4
    assert first["document_id"] != second["document_id"]


def test_sentences_of_more_than_two_windows_are_cut(tmp_path: Path) -> None:
    """A window has room for 3 pieces; a piece is a letter."""
    words = ["a", "bb", "c", "d", "ee", "", "a", "bb", "c", "dd"]
    lines = [f"x 0 0 {word} {'(0)' if word == 'a' else '-'}" if word else "" for word in words]
    path = tmp_path / "x.conll"
    text = "\n".join(["#begin document (x); part 000", *lines, "#end document"])
    path.write_text(f"{text}\n", encoding="utf-8")
    data = training_data(read_conll(path).documents)
    # 7 pieces are more than 6: a bb, c d, ee; the second sentence has 6.
    (cut,) = with_short_sentences(data, len, 5).documents
    assert cut["sent_id"] == [0, 0, 1, 1, 2, 3, 3, 3, 3]
    assert cut["span_clusters"] == data.documents[0]["span_clusters"]
    # A mention stays whole.
    whole = text.replace("bb -", "bb (0", 1).replace("d -", "d 0)", 1)
    path.write_text(f"{whole}\n", encoding="utf-8")
    (kept,) = with_short_sentences(training_data(read_conll(path).documents), len, 5).documents
    assert kept["sent_id"] == [0, 0, 0, 0, 1, 2, 2, 2, 2]
    assert with_short_sentences(data, len, 6).documents[0]["sent_id"] == [0] * 5 + [1] * 4


@pytest.mark.parametrize(
    ("content", "got"), [(b"", "a file that ends too early"), (b"no model", "")]
)
def test_weights_that_are_no_model_are_said_before_a_folder_is_made(
    tmp_path: Path, content: bytes, got: str
) -> None:
    """With the folder there, the same command would be refused once its weights are right."""
    pytest.importorskip("peft")
    (tmp_path / "encoder").mkdir()
    weights, out = tmp_path / "model.pt", tmp_path / "new"
    weights.write_bytes(content)
    (tmp_path / "x.conll").write_text(conll(PRO_SENTENCES, "x"), encoding="utf-8")
    data = training_data(read_conll(tmp_path / "x.conll").documents)
    settings = TrainingSettings(encoder=str(tmp_path / "encoder"))
    with pytest.raises(DataError, match=f"expected a model of `mtbias coref train`, got: {got}"):
        train(data, data, settings, out, weights)
    assert not out.exists()


def test_the_signature_names_every_setting_and_the_weights_by_their_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("mtbias.coref.training.train", lambda *_: tmp_path / "model.pt")
    data, encoder, weights = tmp_path / "x.conll", tmp_path / "encoder", tmp_path / "model.pt"
    data.write_text(conll(PRO_SENTENCES, "x"), encoding="utf-8")
    encoder.mkdir()
    (encoder / "config.json").write_bytes(b"abc")
    weights.write_bytes(b"abc")
    words = [
        "coref",
        "train",
        "--data",
        str(data),
        "--dev",
        str(data),
        "--out",
        str(tmp_path / "new"),
    ]
    words += ["--encoder", str(encoder), "--learning-rate", "0.5", "--json"]
    assert main([*words, "--weights", str(weights)]) == 0
    signature = json.loads(capsys.readouterr().out)["signature"]
    # SHA-256 of "abc", from FIPS 180-2. Every model's file is called model.pt, so a name would say
    # nothing.
    of_encoder = sha256(f"config.json {sha256(b'abc').hexdigest()}\n".encode()).hexdigest()[:12]
    for part in (
        "weights:ba7816bf8f01",
        f"encoder:encoder@{of_encoder}",
        "learning-rate:0.5",
        "dropout:0.3",
    ):
        assert f"|{part}|" in signature
    assert str(tmp_path) not in signature
    assert main(words) == 0
    assert "|weights:none|" in json.loads(capsys.readouterr().out)["signature"]


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that Stanza's trainer made of the toy's documents, through the command, once for all
    test processes."""
    pytest.importorskip("peft")
    return built(tmp_path_factory, "toy-coref", _train_toy) / "made" / "model.pt"


def _train_toy(folder: Path) -> None:
    toy_coref.write_encoder(folder / "encoder")
    for name, n, seed in (("train", 120, 0), ("dev", 20, 1)):
        toy_coref.write_documents(folder / f"{name}.conll", toy_coref.sentences(n, seed))
    words = ["coref", "train", "--data", str(folder / "train.conll")]
    words += ["--dev", str(folder / "dev.conll"), "--out", str(folder / "made")]
    for name, value in asdict(toy_coref.settings(folder / "encoder")).items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    assert main(words) == 0


@pytest.mark.slow
def test_a_trained_model_is_run_and_scored(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_winobias(tmp_path)
    words = ["--dataset", "winobias", "--data", str(tmp_path), "--model", str(trained)]
    found = tmp_path / "found.jsonl"
    assert main(["coref", "run", "--system", "stanza", *words, "--out", str(found)]) == 0
    capsys.readouterr()
    score = [
        "coref",
        "score",
        "winobias",
        "--data",
        str(tmp_path),
        "--predictions",
        str(found),
        "--spans",
        "included",
    ]
    assert main([*score, "--json"]) == 0
    scored = json.loads(capsys.readouterr().out)
    links = {row.split()[-1]: counts for row, counts in scored["systems"][0]["counts"].items()}
    # Counted by hand from the file: the pronoun (6, in the third sentence 7) is linked to a mention
    # that ends with a person's last word, the plumber's 1 or the florist's 4, the guard's 2 or the
    # nanny's 5.
    answers = {
        json.loads(line)["id"]: json.loads(line)["clusters"]
        for line in found.read_text().splitlines()
    }
    people = {
        "pro//0": (1, 4),
        "pro//1": (4, 1),
        "pro//2": (5, 2),
        "anti//0": (1, 4),
        "anti//1": (4, 1),
        "anti//2": (5, 2),
    }
    counted = {
        condition: dict.fromkeys(("right", "wrong", "both", "none"), 0)
        for condition in ("pro", "anti")
    }
    for name, (meant, other) in people.items():
        pronoun = 7 if name.endswith("2") else 6
        cluster: list[list[int]] = next(
            (c for c in answers[f"nw/{name}"] if [pronoun, pronoun] in c), []
        )
        linked = [any(end == person for _, end in cluster) for person in (meant, other)]
        outcome = {(1, 0): "right", (0, 1): "wrong", (1, 1): "both", (0, 0): "none"}[
            linked[0], linked[1]
        ]
        counted[name.partition("//")[0]][outcome] += 1
    assert links == counted
    # The toy follows the stereotype, which fits in the first and not in the second.
    assert links["pro"]["right"] > links["anti"]["right"]


@pytest.mark.slow
def test_a_killed_run_resumes(trained: Path, tmp_path: Path) -> None:
    def command(out: Path) -> list[str]:
        words = [
            "coref",
            "run",
            "--system",
            "stanza",
            "--dataset",
            "sowinobias",
            "--data",
            str(vocabulary),
        ]
        return [*words, "--model", str(trained), "--out", str(out)]

    vocabulary = tmp_path / "words.toml"
    lists = {"male_occupations": toy_coref.MEN, "female_occupations": toy_coref.WOMEN,
             "positive_adjectives": ["kind", "new"], "negative_adjectives": ["late"]}  # fmt: skip
    vocabulary.write_text(
        "".join(f"{name} = {json.dumps(of)}\n" for name, of in lists.items()), encoding="utf-8"
    )
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    assert main(command(whole)) == 0
    part = out.with_name("out.jsonl.part")
    process = subprocess.Popen([sys.executable, "-m", "mtbias", *command(out)])
    ends = time.monotonic() + 300
    while time.monotonic() < ends and not (part.is_file() and part.read_bytes().count(b"\n") > 20):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not out.exists()
    assert part.read_bytes().count(b"\n") > 20
    assert main(command(out)) == 0
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.slow
def test_long_sentences_and_words_without_pieces_are_resolved(
    trained: Path, tmp_path: Path
) -> None:
    # Two sentences; the second has some 400 word pieces, since the toy's tokenizer knows letters,
    # and windows have 126: Stanza alone never ends with it, and refuses the word of a character for
    # private use.
    text = f"Kim met Lee. Then \uf04a he left {'quietly and ' * 20}alone."
    instance = gap_instance(
        "t-1", text, "he", text.index("he left"), "Kim", 0, True, "Lee", 8, False
    )
    (tmp_path / "gap-test.tsv").write_text(write_instances([instance]), encoding="utf-8")
    out = tmp_path / "found.jsonl"
    words = [
        "coref",
        "run",
        "--system",
        "stanza",
        "--model",
        str(trained),
        "--dataset",
        "gap",
        "--data",
        str(tmp_path),
    ]
    assert main([*words, "--out", str(out)]) == 0
    (found,) = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    assert found["tokens"][4:8] == ["Then", "\uf04a", "he", "left"]
    assert all(
        0 <= start <= end < len(found["tokens"])
        for cluster in found["clusters"]
        for start, end in cluster
    )


@pytest.mark.slow
def test_a_killed_evaluation_resumes(trained: Path, tmp_path: Path) -> None:
    (tmp_path / "winogender").mkdir()
    write_winogender(tmp_path / "winogender")
    toy_coref.write_bug(tmp_path / "bug.csv", toy_coref.sentences(150, 3))

    def command(out: Path) -> list[str]:
        words = [
            "coref",
            "eval",
            "--system",
            "stanza",
            "--model",
            str(trained),
            "--resamples",
            "200",
            "--out",
            str(out),
        ]
        words += [
            "--data",
            f"winogender={tmp_path / 'winogender'}",
            "--data",
            f"bug={tmp_path / 'bug.csv'}",
        ]
        return words

    whole, out = tmp_path / "whole", tmp_path / "out"
    assert main(command(whole)) == 0
    part = out / "bug.jsonl.new.part"
    process = subprocess.Popen(
        [sys.executable, "-m", "mtbias", *command(out)], stdout=subprocess.DEVNULL
    )
    ends = time.monotonic() + 300
    while time.monotonic() < ends and not (part.is_file() and part.read_bytes().count(b"\n") > 20):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    first = (out / "winogender.jsonl").stat()
    assert not (out / "bug.jsonl").exists()
    assert main(command(out)) == 0
    assert (out / "winogender.jsonl").stat().st_mtime_ns == first.st_mtime_ns  # it was finished
    for name in ("winogender.jsonl", "bug.jsonl", "metrics.json"):
        assert (out / name).read_bytes() == (whole / name).read_bytes()
