"""What the search over transformers' models keeps, writes and compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from mtbias.translate.seq2seq.beam_pool import _Head
from mtbias.translate.seq2seq.decoding import Decoding
from mtbias.translate.seq2seq.engine import Bounds
from mtbias.translate.seq2seq.torch_search import best_of_rows, places_of_staying
from mtbias.translate.seq2seq.transformers_engine import TransformersEngine
from scripts.bench.families import SHAPES, make_checkpoint

from .test_search import ids_of


class _Steps:
    """The self-attention's keys of the first layer after each step of a decoder."""

    def __init__(self, engine: TransformersEngine) -> None:
        self.keys: list[Any] = []
        self.shapes: list[tuple[int, ...]] = []
        self.places: list[int] = []
        self.slots: list[int] = []
        engine._model.get_decoder().register_forward_hook(self.seen, with_kwargs=True)

    def seen(self, _: Any, __: Any, given: Mapping[str, Any], made: Any) -> None:
        cache = made.past_key_values
        own, across = cache.self_attention_cache.layers[0], cache.cross_attention_cache.layers[0]
        slots = given["attention_mask"].shape[-1]
        self.keys.append(own.keys[:, :, :slots].clone())
        self.slots.append(slots)
        self.places.append(across.keys.data_ptr())
        self.shapes.append(tuple(given["input_ids"].shape))


def test_keys_and_values_are_written_once_and_stay(m2m100: Path) -> None:
    codec, sources = ids_of(m2m100, "de", 6)
    engine = TransformersEngine(m2m100)
    steps = _Steps(engine)
    # Within four tokens no sentence is done: none leaves.
    engine.generate(sources, Bounds(Decoding(beams=5), 4, codec.forced))
    # One row a sentence, then one of each beam; one slot of a sentence, then five a step.
    assert steps.shapes == [(6, 1), (30, 1), (30, 1), (30, 1)]
    assert steps.slots == [1, 6, 11, 16]
    for before, after in zip(steps.keys, steps.keys[1:], strict=False):
        assert torch.equal(after[:, :, : before.shape[2]], before)
    assert len(set(steps.places)) == 1  # the source's are neither repeated nor copied
    assert engine.row_steps == 6 + 30 + 30 + 30


@pytest.mark.parametrize("size", [7, 130, 2000, 5000])
def test_the_best_of_rows(size: int) -> None:
    scores = torch.randn(6, size, generator=torch.Generator().manual_seed(size))
    scores[1, size // 2 :] = -torch.inf
    scores[2, : size // 3] = scores[2, size - 1]
    scores[3, 2] = torch.nan
    best, places = best_of_rows(scores, 10)
    expected = torch.topk(scores, min(10, size)).values
    assert torch.equal(best.nan_to_num(99.0), expected.nan_to_num(99.0))
    assert torch.equal(scores.gather(1, places).nan_to_num(99.0), best.nan_to_num(99.0))
    assert best[3, 0].isnan()


@pytest.mark.parametrize(
    ("leaving", "expected"),
    [("01010", [0, 4, 2]), ("11100", [4, 3]), ("00011", [0, 1, 2]), ("00", [0, 1]), ("11", [])],
)
def test_few_move_when_sentences_leave(leaving: str, expected: Sequence[int]) -> None:
    found = places_of_staying(torch.tensor([mark == "1" for mark in leaving])).tolist()
    assert sorted(found) == sorted(expected)
    stay_in_front = [place for place in expected if place < len(expected)]
    assert [found[place] for place in stay_in_front] == stay_in_front


@pytest.mark.parametrize("half", [torch.float16, torch.bfloat16])
def test_scores_from_weights_of_16_bits_have_32(half: torch.dtype) -> None:
    # 256 + 1 needs nine bits, bf16 has eight: rounded to it the two tokens' scores would be equal.
    # fp16 has eleven: 2,048 + 1 needs twelve.
    large = 256.0 if half is torch.bfloat16 else 2048.0
    with FakeTensorMode():  # as on a GPU, of which only types and shapes can be seen here
        weight = torch.empty(9, 4, dtype=half, device="cuda")
        model = SimpleNamespace(
            get_output_embeddings=lambda: SimpleNamespace(weight=weight),
            config=None,
        )
        scores = _Head(model, 3)(torch.empty(3, 4, dtype=half, device="cuda"))
        assert (scores.dtype, scores.shape) == (torch.float32, (3, 9))
    weight = torch.tensor([[large, 0.0], [large, 1.0]], dtype=half)
    model = SimpleNamespace(
        get_output_embeddings=lambda: SimpleNamespace(weight=weight), config=None
    )
    scores = _Head(model, 1)(torch.ones(1, 2, dtype=half))
    assert scores.dtype == torch.float32
    assert (scores[0, 1] - scores[0, 0]).item() == 1.0


TIE = 1e-3
"""Logits that are so close are a tie: sums of 32 bits depend on a processor's order of them."""


def _tie(model: Any, source: list[int], ids: list[int], expected: list[int]) -> float:
    """How far apart the logits of the first two token ids that differ are, given what is before."""
    first = next(k for k, (a, b) in enumerate(zip(ids, expected, strict=False)) if a != b)
    start = model.generation_config.decoder_start_token_id
    prefix = torch.tensor([[start, *ids[:first]]])
    with torch.no_grad():
        output = model(input_ids=torch.tensor([source]), decoder_input_ids=prefix)
    logits = output.logits[0, -1]
    return abs(float(logits[ids[first]] - logits[expected[first]]))


@pytest.mark.parametrize("layout", list(SHAPES))
@pytest.mark.parametrize("beams", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_the_layouts_of_the_papers_models(layout: str, beams: int, tmp_path: Path) -> None:
    """As many layers and heads as the published models have, narrower, with random weights large
    enough that translations depend on the sources."""
    from transformers import AutoModelForSeq2SeqLM

    shape = replace(SHAPES[layout], vocabulary=2_001, size=128, inner=256)
    make_checkpoint(shape, tmp_path / "made", tokenizer=False)
    model = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "made").eval()
    drawn = torch.Generator().manual_seed(3)
    for name, weights in model.named_parameters():
        if name.endswith("proj.weight") or "fc" in name:
            weights.data.normal_(0.0, 0.4, generator=drawn)
    model.save_pretrained(tmp_path / "drawn")
    # Marian's positions are no weights: they are made when it is loaded.
    model = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "drawn").eval()
    rows = torch.randint(3, 1900, (7, 30), generator=drawn).tolist()
    lengths = [5, 11, 30, 18, 7, 25, 30]
    end = model.generation_config.eos_token_id
    sources = [[*row[:length], end] for row, length in zip(rows, lengths, strict=True)]
    bounds = Bounds(Decoding(beams=beams), 24, shape.language)
    found = TransformersEngine(tmp_path / "drawn").generate(sources, bounds)
    fixed = TransformersEngine(tmp_path / "drawn", recorded=True)
    assert fixed.generate(sources, bounds) == found
    for ids, one in zip(sources, found, strict=True):
        expected = model.generate(
            input_ids=torch.tensor([ids]),
            do_sample=False,
            num_beams=beams,
            early_stopping=beams > 1,
            length_penalty=1.0,
            max_new_tokens=24,
            forced_bos_token_id=shape.language,
        )[0, 1:].tolist()
        if list(one.ids) != expected[: len(one.ids)]:
            assert beams == 1
            assert _tie(model, ids, list(one.ids), expected) < TIE
        assert len(one.ids) == len(expected) or one.ids[-1] == end
    assert len({one.ids for one in found}) > 4
