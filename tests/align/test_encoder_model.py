"""Subwords, vectors and windows of an encoder, and what a checkpoint may lack."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mtbias.align.neural_aligner import Encoder, check_encoder, cut_windows
from mtbias.errors import ModelError, SettingError
from tests.translate.reference import change

from .encoders import LAYERS, POSITIONS, SIZE, parallel


@pytest.fixture
def copied(bert: Path, tmp_path: Path) -> Path:
    """A copy of the encoder that may be damaged."""
    return Path(shutil.copytree(bert, tmp_path / "copy"))


def plain_states(folder: Path, texts: Sequence[str], layer: int) -> Iterator[Any]:
    """The embeddings of each text's subwords, as transformers alone gives them: the whole model,
    one text."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    for text in texts:
        with torch.inference_mode():
            read = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)
        yield torch.nn.functional.normalize(read.hidden_states[layer][0][1:-1], dim=-1)


@pytest.mark.slow
@pytest.mark.parametrize("layer", range(LAYERS + 1))
@pytest.mark.parametrize("name", ["bert", "xlmr"])
def test_vectors_are_the_hidden_states_of_the_layer(
    name: str, layer: int, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(name)
    texts = [text for pair in parallel(6, seed=3) for text in pair]
    encoder = Encoder(folder, layer=layer, device="cpu")
    found = encoder.vectors(encoder.subwords(texts))
    for each, expected in zip(found, plain_states(folder, texts, layer), strict=True):
        torch.testing.assert_close(each, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", ["bert", "xlmr"])
def test_subwords_say_which_characters_they_stand_for(
    name: str, request: pytest.FixtureRequest
) -> None:
    encoder = Encoder(request.getfixturevalue(name), layer=1, device="cpu")
    text = "Die Sängerin sah,  gestern!"
    (read,) = encoder.subwords([text])
    covered = {at for span in read.spans for at in range(*span)}
    assert {at for at, letter in enumerate(text) if letter.isalpha()} <= covered
    assert all(0 <= span.start <= span.end <= len(text) for span in read.spans)
    assert len(read.ids) == len(read.spans)


def test_nothing_has_no_vectors(bert: Path) -> None:
    encoder = Encoder(bert, layer=1, device="cpu")
    assert encoder.subwords([]) == []
    assert encoder.vectors([]) == []
    shapes = [len(each) for each in encoder.vectors(encoder.subwords(["", " ", "the cook", ""]))]
    assert shapes[0] == shapes[1] == shapes[3] == 0
    assert shapes[2] > 0


def test_a_batch_does_not_change_vectors(bert: Path) -> None:
    texts = [text for pair in parallel(30, seed=4) for text in pair]
    encoder = Encoder(bert, layer=2, device="cpu")
    read = encoder.subwords(texts)
    together = encoder.vectors(read)
    for text, whole in zip(read, together, strict=True):
        torch.testing.assert_close(encoder.vectors([text])[0], whole, atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", ["bert", "xlmr"])
def test_a_text_longer_than_the_encoder_reads_has_a_vector_for_every_subword(
    name: str, request: pytest.FixtureRequest
) -> None:
    encoder = Encoder(request.getfixturevalue(name), layer=1, device="cpu")
    text = " ".join(english for english, _ in parallel(20, seed=2))
    (read,) = encoder.subwords([text])
    assert len(read.ids) > 4 * POSITIONS
    (found,) = encoder.vectors([read])
    assert found.shape == (len(read.ids), SIZE)
    # The first window is the text's own beginning: what is kept of it is as if it were read alone.
    room = POSITIONS - 2
    (alone,) = encoder.vectors([type(read)(read.ids[:room], read.spans[:room])])
    kept = cut_windows(len(read.ids), room)[0][3]
    torch.testing.assert_close(found[:kept], alone[:kept], atol=1e-5, rtol=0)


# 10 subwords in windows of 4: they begin every 2; of the two that hold subword 3 (0 to 4 and 2 to
# 6), the second keeps it, since the cut is in the middle of what they share (2 to 4).
def test_windows_by_hand() -> None:
    assert cut_windows(10, 4) == [(0, 4, 0, 3), (2, 6, 3, 5), (4, 8, 5, 7), (6, 10, 7, 10)]
    assert cut_windows(4, 4) == [(0, 4, 0, 4)]
    assert cut_windows(5, 4) == [(0, 4, 0, 2), (1, 5, 2, 5)]
    assert cut_windows(0, 4) == []


@given(st.integers(0, 2000), st.integers(2, 600))
def test_windows_keep_every_subword_once(count: int, most: int) -> None:
    windows = cut_windows(count, most)
    kept = [at for _, _, first, last in windows for at in range(first, last)]
    assert kept == list(range(count))
    assert all(0 <= start <= first <= last <= end <= count for start, end, first, last in windows)
    assert all(end - start <= most for start, end, _, _ in windows)


# ----- memory


def test_a_batch_that_does_not_fit_is_halved(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [text for pair in parallel(20, seed=6) for text in pair]
    encoder = Encoder(bert, layer=2, device="cpu")
    read = encoder.subwords(texts)
    whole = encoder.vectors(read)
    real, room, failed = encoder.model.forward, 200, list[int]()

    def small(*args: Any, **kwargs: Any) -> Any:
        if kwargs["input_ids"].numel() > room:
            failed.append(len(kwargs["input_ids"]))
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return real(*args, **kwargs)

    monkeypatch.setattr(encoder.model, "forward", small)
    for found, expected in zip(encoder.vectors(read), whole, strict=True):
        torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)
    assert failed[:3] == [40, 20, 10]
    times = len(failed)
    encoder.vectors(read)
    assert len(failed) == times  # later batches are small from the start


def test_a_single_text_that_does_not_fit(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Encoder(bert, layer=1, device="cpu")

    def none(*_: Any, **__: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(encoder.model, "forward", none)
    read = encoder.subwords(["The cook slept.", "The singer saw the cook."])
    with pytest.raises(
        ModelError,
        match=r"^\d+ subwords do not fit into memory \(.*\); use --device cpu, or a smaller",
    ):
        encoder.vectors(read)


def test_another_failure_is_one_line(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Encoder(bert, layer=1, device="cpu")

    def broken(*_: Any, **__: Any) -> Any:
        raise ValueError("shapes do not fit\nsecond line")

    monkeypatch.setattr(encoder.model, "forward", broken)
    with pytest.raises(
        ModelError, match=r"bert: encoding failed: ValueError: shapes do not fit; download"
    ):
        encoder.vectors(encoder.subwords(["The cook slept."]))


# ----- checkpoints


def test_the_layer_is_two_thirds_up(bert: Path, copied: Path) -> None:
    assert check_encoder(bert, None) == 2
    assert check_encoder(bert, 0) == 0
    for layers, expected in ((12, 8), (24, 16), (6, 4), (1, 1)):
        change(copied / "config.json", num_hidden_layers=layers)
        assert check_encoder(copied, None) == expected
    with pytest.raises(
        SettingError, match="aligner_layer: expected a layer of bert, 0 to 3, got 4"
    ):
        check_encoder(bert, 4)


@pytest.mark.parametrize(
    "values", [{"is_encoder_decoder": True}, {"num_hidden_layers": None}, {"num_hidden_layers": 0}]
)
def test_what_is_no_encoder(copied: Path, values: dict[str, Any]) -> None:
    change(copied / "config.json", **values)
    with pytest.raises(
        ModelError, match=r"expected a multilingual encoder such as BERT or XLM-R, got .* 'bert'; "
    ):
        check_encoder(copied, None)


def test_weights_that_lack_something_are_refused(copied: Path) -> None:
    from safetensors.torch import load_file, save_file

    path = copied / "model.safetensors"
    weights = load_file(path)
    gone = "bert.encoder.layer.1.output.dense.weight"
    save_file(
        {name: value for name, value in weights.items() if name != gone}, path, {"format": "pt"}
    )
    with pytest.raises(
        ModelError,
        match=r"the weights lack encoder.layer.1.output.dense.weight; the checkpoint is not",
    ):
        Encoder(copied, layer=2, device="cpu")
    Encoder(copied, layer=1, device="cpu")  # the layer is not needed
    save_file({**weights, gone: weights[gone] * float("nan")}, path, {"format": "pt"})
    with pytest.raises(ModelError, match="infinite or not a number in float32"):
        Encoder(copied, layer=2, device="cpu")


def test_a_config_or_tokenizer_that_does_not_fit_is_refused(copied: Path) -> None:
    change(copied / "config.json", vocab_size=20)
    with pytest.raises(ModelError, match=r"loading the weights with transformers failed"):
        Encoder(copied, layer=1, device="cpu")
    (copied / "tokenizer.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelError, match=r"loading the tokenizer with transformers failed"):
        Encoder(copied, layer=1, device="cpu")


def test_a_tokenizer_with_more_words_than_the_model_is_refused(copied: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(copied)
    known = len(tokenizer)
    tokenizer.add_tokens(["zebra"])
    tokenizer.save_pretrained(copied)
    encoder = Encoder(copied, layer=1, device="cpu")
    assert len(encoder.subwords(["The cook slept."])) == 1
    with pytest.raises(
        ModelError,
        match=rf"the tokenizer has the id {known}, the model {known} ids; its tokenizer's",
    ):
        encoder.subwords(["The cook slept.", "The zebra slept."])


def test_a_pickle_with_something_else_than_weights_is_refused(copied: Path) -> None:
    (copied / "model.safetensors").unlink()
    torch.save({"no tensor": copied}, copied / "pytorch_model.bin")
    with pytest.raises(
        ModelError, match="expected weights, got a pickle with something else in it"
    ):
        Encoder(copied, layer=1, device="cpu")
