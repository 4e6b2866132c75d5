"""Tuning an encoder without alignments: the loss by hand, what is written, and what is refused."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from math import exp, log
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from mtbias import __version__
from mtbias.align.encoder_tuning import (
    RECORD,
    TunedEncoder,
    TuningPairs,
    TuningSettings,
    alignment_loss,
    read_tuning_pairs,
    tune,
)
from mtbias.align.neural_aligner import Encoder, NeuralAligner, locate_encoder
from mtbias.cli import main
from mtbias.corpora import load_corpus
from mtbias.demo import reference_file
from mtbias.errors import DependencyError, ModelError, SettingError
from mtbias.language.definition import Language
from mtbias.language.split_texts import SplitTexts
from mtbias.translate.bitext import read_bitext
from scripts.real_encoder import write_encoder
from tests.built import built

from .encoders import parallel
from .test_neural_aligner import BY_HAND, heads, pair

TEN_STEPS = TuningSettings(steps=10, learning_rate=1e-3, device="cpu")
PAIRS = TuningPairs.distinct(parallel(120, seed=3))


def tuned(
    folder: Path, out: Path, settings: TuningSettings = TEN_STEPS, pairs: TuningPairs = PAIRS
) -> TunedEncoder:
    return tune(locate_encoder(str(folder), "de", cache=out.parent), pairs, out, settings)


def loss_of(folder: Path, layer: int, pairs: Sequence[tuple[str, str]]) -> float:
    """The loss of an encoder on pairs, each by itself, without dropout."""
    encoder = Encoder(folder, layer=layer, device="cpu")
    losses: list[float] = []
    for source, target in pairs:
        left, right = encoder.vectors(encoder.subwords([source, target]))
        masks = [torch.ones(1, len(side), dtype=torch.bool) for side in (left, right)]
        losses.append(float(alignment_loss(left[None], right[None], *masks)))
    return sum(losses) / len(losses)


def hashes(folder: Path) -> dict[str, str]:
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


# ----- the loss


def on_circle(cosine: float) -> list[float]:
    """A vector of length 1 with this cosine to (1, 0)."""
    return [cosine, (1 - cosine**2) ** 0.5]


def loss_by_cosines(*cosines: float, padding: int = 0) -> float:
    """The loss of a sentence of one subword whose translation's subwords have these cosines to
    it."""
    target = torch.tensor([[*map(on_circle, cosines), *[[1.0, 0.0]] * padding]])
    mask = torch.tensor([[True] * len(cosines) + [False] * padding])
    source = torch.tensor([[[1.0, 0.0]]])
    return float(alignment_loss(source, target, torch.tensor([[True]]), mask))


def test_the_loss_of_one_link() -> None:
    """Cosines 0.95 and 0.9 differ by 1 when divided by 0.05: p(j|i) = 1 / (1 + 1/e) = 0.73 for the
    first, 0.27 for the second, which is below 0.3; there is one source subword, so p(i|j) = 1."""
    assert loss_by_cosines(0.95, 0.9) == pytest.approx(log(1 + exp(-1)) / 2, rel=1e-4)


def test_the_loss_of_two_links() -> None:
    """Cosines that differ by 0.025: 0.62 and 0.38, and both are links."""
    first, second = log(1 + exp(-0.5)), log(1 + exp(0.5))
    assert loss_by_cosines(0.95, 0.925) == pytest.approx((first + second) / 4, rel=1e-4)


def test_padding_counts_for_nothing() -> None:
    assert loss_by_cosines(0.95, 0.9, padding=3) == loss_by_cosines(0.95, 0.9)


def test_each_pair_counts_as_much_as_another() -> None:
    """A pair of one link and a pair of two."""
    source = torch.tensor([[[1.0, 0.0]]] * 2)
    target = torch.tensor([[on_circle(0.95), on_circle(c)] for c in (0.9, 0.925)])
    masks = torch.ones(2, 1, dtype=torch.bool), torch.ones(2, 2, dtype=torch.bool)
    expected = (loss_by_cosines(0.95, 0.9) + loss_by_cosines(0.95, 0.925)) / 2
    assert float(alignment_loss(source, target, *masks)) == pytest.approx(expected, rel=1e-5)


# ----- the result


def test_ten_steps_lower_the_loss_on_sentences_that_were_not_among_them(
    bert: Path, xlmr: Path, tmp_path: Path
) -> None:
    others = [each for each in parallel(60, seed=9) if each not in PAIRS.pairs]
    assert len(others) > 40
    for folder in (bert, xlmr):
        result = tuned(folder, tmp_path / folder.name)
        before, after = loss_of(folder, 2, others), loss_of(result.checkpoint.folder, 2, others)
        assert after < before, f"{folder.name}: {before} to {after}"


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(
    bert: Path, tmp_path: Path
) -> None:
    first = tuned(bert, tmp_path / "a" / "tuned")
    again = tuned(bert, tmp_path / "b" / "tuned")
    other = tuned(bert, tmp_path / "c" / "tuned", replace(TEN_STEPS, seed=1))
    assert hashes(first.checkpoint.folder) == hashes(again.checkpoint.folder)
    assert first.checkpoint.revision == again.checkpoint.revision
    assert first.checkpoint.revision != other.checkpoint.revision


def test_only_the_layers_up_to_the_tuned_one_change(bert: Path, tmp_path: Path) -> None:
    result = tuned(bert, tmp_path / "tuned", replace(TEN_STEPS, layer=1))
    before = load_file(bert / "model.safetensors")
    after = load_file(result.checkpoint.folder / "model.safetensors")
    changed = {name for name in after if not torch.equal(after[name], before[f"bert.{name}"])}
    assert any(name.startswith("encoder.layer.0.") for name in changed)
    assert not any(name.startswith(("encoder.layer.1.", "encoder.layer.2.")) for name in changed)
    assert "embeddings.word_embeddings.weight" not in changed
    assert {tensor.dtype for tensor in after.values()} == {torch.float16}  # as it was stored


def test_the_record_says_what_the_encoder_was_made_of(bert: Path, tmp_path: Path) -> None:
    result = tuned(bert, tmp_path / "tuned")
    record: Any = json.loads((tmp_path / "tuned" / RECORD).read_text(encoding="utf-8"))
    assert record == result.record
    original = locate_encoder(str(bert), "de", cache=tmp_path)
    assert record["encoder"] == {"name": "bert", "revision": original.revision}
    text = "".join(f"{source}\t{target}\n" for source, target in PAIRS.pairs)
    assert record["pairs"]["number"] == record["pairs"]["used"] == len(PAIRS.pairs)
    assert record["pairs"]["sha256"] == sha256(text.encode()).hexdigest()
    assert (record["layer"], record["steps"], record["seed"]) == (2, 10, 0)
    assert (record["mtbias"], record["torch"]) == (__version__, torch.__version__)


def test_the_record_has_the_mean_loss_of_the_first_steps_and_of_the_last(
    xlmr: Path, tmp_path: Path
) -> None:
    told: list[float] = []
    found = locate_encoder(str(xlmr), "de", cache=tmp_path)
    settings = replace(TEN_STEPS, steps=4)
    result = tune(found, PAIRS, tmp_path / "tuned", settings, lambda *step: told.append(step[2]))
    # What is told after step n is the mean of n losses.
    sums = [mean * (n + 1) for n, mean in enumerate(told)]
    loss: Any = result.record["loss"]
    assert loss["first"] == pytest.approx(sums[1] / 2)
    assert loss["last"] == pytest.approx((sums[3] - sums[1]) / 2)
    assert loss["last"] < loss["first"]


def test_the_aligner_takes_the_result_at_its_layer_and_the_record_names_it(
    bert: Path, tmp_path: Path
) -> None:
    result = tuned(bert, tmp_path / "tuned", replace(TEN_STEPS, layer=3))
    aligner = NeuralAligner(
        locate_encoder(str(tmp_path / "tuned"), "de", cache=tmp_path), device="cpu"
    )
    assert aligner.signature == f"neural(tuned@{result.record['revision']},3)"
    given = [
        pair(n, source, entity, target) for n, ((source, target), entity, _) in enumerate(BY_HAND)
    ]
    texts = SplitTexts(Language(code="xx", name="German without any table"))
    assert heads(given, aligner.align(given, texts)) == [row[2] for row in BY_HAND]


def test_an_interrupted_tuning_leaves_nothing(bert: Path, tmp_path: Path) -> None:
    def stop(done: int, steps: int, loss: float) -> None:
        if done == 3:
            raise KeyboardInterrupt

    found = locate_encoder(str(bert), "de", cache=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        tune(found, PAIRS, tmp_path / "tuned", TEN_STEPS, stop)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_while_the_result_is_written_leaves_nothing(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mtbias.align.encoder_tuning.write_json", full)
    with pytest.raises(OSError, match="No space left"):
        tuned(bert, tmp_path / "tuned")
    assert list(tmp_path.iterdir()) == []


def test_progress_tells_the_loss_of_each_step(bert: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    found = locate_encoder(str(bert), "de", cache=tmp_path)
    losses: list[float] = []

    def note(done: int, steps: int, loss: float) -> None:
        told.append((done, steps))
        losses.append(loss)

    tune(found, PAIRS, tmp_path / "tuned", TEN_STEPS, note)
    assert told == [(n, 10) for n in range(1, 11)]


# ----- pairs


def test_the_same_pairs_from_lines_and_tables(tmp_path: Path) -> None:
    some = parallel(5, seed=4)
    (tmp_path / "a.txt").write_text("".join(f"{s} ||| {t}\n" for s, t in some), "utf-8")
    rows = [{"source": s, "translation": t, "lang": "de"} for s, t in some]
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    table = "".join(f"{s}\t{t}\n" for s, t in [("source", "target"), *some])
    (tmp_path / "a.tsv").write_text(table, "utf-8")
    for name in ("a.txt", "a.jsonl", "a.tsv"):
        found = read_tuning_pairs([tmp_path / name])
        assert found.pairs == tuple(some)
        assert found.files == {name: sha256((tmp_path / name).read_bytes()).hexdigest()}
    together = read_tuning_pairs([tmp_path / "a.txt", tmp_path / "a.tsv"])
    assert together.pairs == tuple(some)  # each once
    assert list(together.files) == ["a.txt", "a.tsv"]


def test_the_command_takes_translations_of_a_data_set(
    bert: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--encoder", str(bert), "--dataset", "demo", "--out", str(tmp_path / "tuned")]
    words += ["--translations", str(reference_file("de")), str(reference_file("es"))]
    assert main(["align", "tune", *words, "--steps", "1", "--device", "cpu", "--json"]) == 0
    said: Any = json.loads(capsys.readouterr().out)
    assert list(said["pairs"]["files"]) == ["de.tsv", "es.tsv"]
    instances = len(load_corpus("demo", None).instances)
    assert instances < said["pairs"]["number"] <= 2 * instances


def test_translations_of_a_data_set_are_pairs() -> None:
    corpus = load_corpus("demo", None)
    found = read_tuning_pairs([], [reference_file("de")], corpus)
    sources = {instance.source for instance in corpus.instances}
    assert {source for source, _ in found.pairs} == sources
    assert all(source != target for source, target in found.pairs)


def test_pairs_that_are_too_long_are_left_out(bert: Path, tmp_path: Path) -> None:
    long = ("The cook smiled. " * 30, "Der Koch lächelte.")
    pairs = TuningPairs.distinct([*PAIRS.pairs, long, ("\u200b", "Der Koch.")])
    record: Any = tuned(bert, tmp_path / "tuned", pairs=pairs).record
    assert record["pairs"]["number"] == len(PAIRS.pairs) + 2
    assert record["pairs"]["used"] == len(PAIRS.pairs)


# ----- what is refused


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.txt"
    path.write_text("".join(f"{s} ||| {t}\n" for s, t in parallel(20)), encoding="utf-8")
    return path


def refused(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    """What the command says, in one line, when it fails."""
    assert main(["align", "tune", *map(str, words)]) in {1, 2}
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err.removeprefix("mtbias: ").strip()


def test_refusals_name_what_is_wrong(
    bert: Path, lines: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "tuned"
    encoder, to = ("--encoder", bert), ("--out", out)
    given = ("--pairs", lines)

    def said(*words: str | Path) -> str:
        return refused(capsys, *words)

    assert said(*encoder, *to) == (
        "--pairs: expected --pairs or --translations to tune on, got neither"
    )
    assert said(*encoder, *to, *given, "--dataset", "demo") == (
        "--translations: expected a data set and its translations, got one only"
    )
    missing = tmp_path / "missing.txt"
    assert said(*encoder, *to, "--pairs", missing) == (
        f"{missing}: there is no such file; check the path"
    )
    lines.write_text("The cook ||| Der Koch\nThe singer\n", encoding="utf-8")
    assert said(*encoder, *to, *given).startswith(
        f"{lines}:2: expected 'source ||| target', got 'The singer'"
    )
    table = tmp_path / "pairs.tsv"
    table.write_text("id\ttarget\n1\tDer Koch\n", encoding="utf-8")
    assert said(*encoder, *to, "--pairs", table) == (
        f"{table}:1: expected the column 'source', and one of 'target', 'translation', 'hypothesis', "
        "'translation_text', 'tgt_text' and 'mt'; got 'id', 'target'"
    )
    lines.write_text("The cook ||| \n", encoding="utf-8")
    assert said(*encoder, *to, *given) == (
        f"{lines}: expected sentences with their translations, got none"
    )
    lines.write_text("The cook smiled. ||| Der Koch lächelte.\n", encoding="utf-8")
    assert said("--encoder", tmp_path, *to, *given).startswith(
        f"{tmp_path}: expected a checkpoint in Hugging Face's layout, got no config.json"
    )
    assert said("--encoder", "nothing", *to, *given).startswith(
        "--encoder: expected a hub id (OWNER/NAME) or a folder with an encoder, got 'nothing'"
    )
    assert said(*encoder, *to, *given, "--layer", "4") == (
        "--layer: expected a layer of bert, 0 to 3, got 4"
    )
    assert "--layer: expected a whole number of at least 1, got 0" in said(
        *encoder, *to, *given, "--layer", "0"
    )
    assert said(*encoder, *to, *given, "--most-subwords", "1").startswith(
        "expected sentence pairs of 1 to 1 subwords on either side to tune on, got none among 1"
    )
    assert said(*encoder, *to, *given, "--device", "tpu").startswith("--device: expected cpu, cuda")
    assert not out.exists()
    out.mkdir()
    (out / "notes.txt").touch()
    assert said(*encoder, *to, *given) == (f"--out: expected a new or an empty folder, got '{out}'")
    assert [path.name for path in out.iterdir()] == ["notes.txt"]


def test_a_translation_model_cannot_be_tuned(tmp_path: Path) -> None:
    demo = locate_encoder("demo", "de", cache=tmp_path)
    with pytest.raises(ModelError, match="expected a multilingual encoder such as BERT or XLM-R"):
        tune(demo, PAIRS, tmp_path / "tuned")


def test_a_loss_that_is_not_a_number_ends_it(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mtbias.align.encoder_tuning.TEMPERATURE", 0.0)
    with pytest.raises(ModelError, match=r"loss of step 1 is not a number; use a lower --learning"):
        tuned(bert, tmp_path / "tuned")
    assert list(tmp_path.iterdir()) == []


def test_weights_that_do_not_fit_into_their_type_are_not_written(
    bert: Path, tmp_path: Path
) -> None:
    """The first step of AdamW moves a weight by the learning rate: 100,000 is more than 65,504,
    the largest number of fp16."""
    found = locate_encoder(str(bert), "de", cache=tmp_path)
    settings = replace(TEN_STEPS, steps=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mtbias.align.encoder_tuning._learning_rate", lambda *_: 1e5)
        with pytest.raises(
            ModelError, match="weights do not fit into float16; use a lower --learn"
        ):
            tune(found, PAIRS, tmp_path / "tuned", settings)
    assert list(tmp_path.iterdir()) == []


def test_settings_refuse_what_cannot_be() -> None:
    with pytest.raises(SettingError, match="steps: expected a whole number of at least 1, got 0"):
        TuningSettings(steps=0)


def test_the_command_writes_an_encoder_and_signs_it(
    bert: Path, lines: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "tuned"
    words = ["--encoder", str(bert), "--pairs", str(lines), "--out", str(out), "--device", "cpu"]
    assert main(["align", "tune", *words, "--steps", "2", "--layer", "1", "--json"]) == 0
    said: Any = json.loads(capsys.readouterr().out)
    record: Any = json.loads((out / RECORD).read_text(encoding="utf-8"))
    digest = sha256(lines.read_bytes()).hexdigest()
    assert record["pairs"]["files"] == {"pairs.txt": digest}
    assert said["signature"] == (
        f"align:tune|pairs:{digest[:12]}|layer:1|steps:2|batch-pairs:16|learning-rate:3e-05"
        f"|most-subwords:64|seed:0|device:cpu|encoder:bert@{record['encoder']['revision']}"
        f"|model:tuned@{record['revision']}|mtbias:{__version__}"
    )
    assert (said["layer"], said["loss"]) == (1, record["loss"])


# ----- a real encoder

GOOGLE = Path(os.environ.get("MTBIAS_SHARED", "../shared")) / "data/winomt/translations/google"


@pytest.fixture(scope="session")
def real_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """multilingual-e5-small: the folder that MTBIAS_REAL_ENCODER names, else made of its
    packages."""
    if given := os.environ.get("MTBIAS_REAL_ENCODER"):
        return Path(given)
    try:
        return built(tmp_path_factory, "e5-small", write_encoder)
    except DependencyError as error:
        pytest.skip(f"no real encoder: {error}")


@pytest.mark.slow
@pytest.mark.skipif(not GOOGLE.is_dir(), reason="needs WinoMT's translations: set MTBIAS_SHARED")
def test_a_real_encoder_aligns_other_sentences_better_for_it(
    real_encoder: Path, tmp_path: Path
) -> None:
    """Twelve steps on German and Arabic lower the loss on other sentences of both, and on Russian,
    which is not among the pairs."""
    some = {lang: read_bitext(GOOGLE / f"en-{lang}.txt")[::20] for lang in ("ar", "de", "ru")}
    pairs = TuningPairs.distinct([*some["ar"][:90], *some["de"][:90]])
    settings = TuningSettings(steps=12, batch_pairs=8, device="cpu")
    result = tuned(real_encoder, tmp_path / "tuned", settings, pairs)
    for lang, of_lang in some.items():
        before = loss_of(real_encoder, 8, of_lang[100:120])
        after = loss_of(result.checkpoint.folder, 8, of_lang[100:120])
        assert after < before, f"{lang}: {before} to {after}"
