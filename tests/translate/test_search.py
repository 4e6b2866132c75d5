"""The search over transformers' models: what `generate` finds, with sentences leaving the batch,
and in two stages."""

from __future__ import annotations

import gc
import json
import shutil
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from mtbias.translate.outputs import Output
from mtbias.translate.seq2seq.batches import cpu_budget, make_plan
from mtbias.translate.seq2seq.codec import Codec
from mtbias.translate.seq2seq.ct2_engine import CTranslate2Engine
from mtbias.translate.seq2seq.decoding import Decoding
from mtbias.translate.seq2seq.engine import Bounds, Engine, Generated
from mtbias.translate.seq2seq.generation import Generation
from mtbias.translate.seq2seq.transformers_engine import TransformersEngine
from tests.draws import crossed

from .checkpoints import sentences
from .conftest import Checkpoint
from .generating import run

MANY = 40
FAMILIES = ("marian", "marian-multi", "m2m100", "mbart50", "nllb", "madlad")


def ids_of(folder: Path, lang: str, count: int = MANY) -> tuple[Codec, list[tuple[int, ...]]]:
    codec = Codec(folder, lang)
    return codec, [one.ids for one in codec.encode(list(sentences(count, seed=5)[0]))]


def plainly(
    folder: Path, sources: Sequence[Sequence[int]], **settings: Any
) -> list[tuple[int, ...]]:
    """New token ids by ``model.generate``, one sentence at a time, up to the first end token."""
    from transformers import AutoModelForSeq2SeqLM

    model = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float32).eval()
    end = model.generation_config.eos_token_id
    found = []
    for ids in sources:
        made = model.generate(input_ids=torch.tensor([ids]), do_sample=False, **settings)[
            0
        ].tolist()[1:]
        found.append(tuple(made[: made.index(end) + 1] if end in made else made))
    return found


DECODINGS = {
    "beams": (Decoding(beams=5), 60),
    "cut": (Decoding(beams=5), 12),
    "greedy": (Decoding(beams=1), 60),
    "late": (Decoding(beams=3, early_stopping=False), 60),
    "no-penalty": (Decoding(beams=4, length_penalty=0.0), 40),
    "penalty": (Decoding(beams=2, length_penalty=2.0, early_stopping=False), 40),
}


@pytest.mark.parametrize(("name", "how"), crossed(FAMILIES, list(DECODINGS)))
def test_it_finds_what_generate_finds(checkpoint: Checkpoint, name: str, how: str) -> None:
    decoding, limit = DECODINGS[how]
    codec, sources = ids_of(checkpoint(name), "ar" if name == "marian-multi" else "de", 8)
    engine = TransformersEngine(checkpoint(name))
    found = engine.generate(sources, Bounds(decoding, limit, codec.forced))
    expected = plainly(
        checkpoint(name),
        sources,
        max_new_tokens=limit,
        num_beams=decoding.beams,
        length_penalty=decoding.length_penalty,
        early_stopping=decoding.early_stopping and decoding.beams > 1,
        forced_bos_token_id=codec.forced,
    )
    assert [one.ids for one in found] == expected
    assert [one.cut for one in found] == [len(ids) >= limit for ids in expected]


def with_settings(folder: Path, target: Path, **settings: Any) -> Path:
    """A copy of a checkpoint with other generation settings."""
    shutil.copytree(folder, target)
    path = target / "generation_config.json"
    path.write_text(
        json.dumps(json.loads(path.read_text(encoding="utf-8")) | settings), encoding="utf-8"
    )
    return target


@pytest.mark.parametrize(
    "settings",
    [
        {"bad_words_ids": [[40], [41, 42], [2]]},
        {"renormalize_logits": True, "bad_words_ids": [[43]]},
    ],
    ids=["words", "renormalised"],
)
def test_what_is_taken_from_a_checkpoint(
    m2m100: Path, tmp_path: Path, settings: Mapping[str, Any]
) -> None:
    # Token 2 is the end: a checkpoint that forbids it means padding, and transformers passes over
    # it.
    folder = with_settings(m2m100, tmp_path / "changed", forced_eos_token_id=2, **settings)
    codec, sources = ids_of(folder, "de", 12)
    found = TransformersEngine(folder).generate(sources, Bounds(Decoding(), 14, codec.forced))
    common = {
        "max_new_tokens": 14,
        "num_beams": 5,
        "early_stopping": True,
        "forced_bos_token_id": codec.forced,
    }
    assert [one.ids for one in found] == plainly(folder, sources, **common)
    assert {one.ids[-1] for one in found} == {2}
    assert [one.ids for one in found] != plainly(
        m2m100, sources, **common
    )  # the settings do change something


@pytest.mark.parametrize(
    "setting",
    [
        {"min_new_tokens": 30},
        {"max_time": 1e-9},
        {"encoder_repetition_penalty": 2.5},
        {"exponential_decay_length_penalty": [3, 2.0]},
        {"num_beam_groups": 5, "diversity_penalty": 1.0},
        {"stop_strings": ["e"]},
        {"return_dict_in_generate": True, "output_scores": True},
        {"suppress_tokens": [40, 41, 42]},
        {
            "no_repeat_ngram_size": 1,
            "repetition_penalty": 3.0,
            "min_length": 30,
            "num_return_sequences": 3,
        },
        {
            "do_sample": True,
            "temperature": 9.0,
            "length_penalty": -3.0,
            "num_beams": 2,
            "max_length": 5,
        },
    ],
    ids=lambda setting: next(iter(setting)),
)
@pytest.mark.parametrize("which", ["transformers", "ct2"])
def test_nothing_else_is(
    m2m100: Path, tmp_path: Path, ct2_cache: Path, setting: Mapping[str, Any], which: str
) -> None:
    folder = with_settings(m2m100, tmp_path / "changed", **setting)

    def made(place: Path) -> list[Generated]:
        codec, sources = ids_of(place, "de", 8)
        engine: Engine = TransformersEngine(place)
        if which == "ct2":
            engine = pytest.importorskip("ctranslate2") and CTranslate2Engine(
                place, cache=ct2_cache, threads=1
            )
        return engine.generate(sources, Bounds(Decoding(), 40, codec.forced))

    assert made(folder) == made(m2m100)


def test_sentences_that_are_done_leave_the_batch(m2m100: Path) -> None:
    # Greedy, each sentence takes as many steps as it has tokens, the end among them; the batch as
    # many as the longest.
    _, sources = ids_of(m2m100, "de")
    engine = TransformersEngine(m2m100)
    lengths = [
        len(one.ids) for one in engine.generate(sources, Bounds(Decoding(beams=1), 99, None))
    ]
    assert len(set(lengths)) > 3
    assert (engine.steps, engine.row_steps) == (max(lengths), sum(lengths))


@pytest.mark.parametrize(("name", "beams"), crossed(FAMILIES, [5, 1]))
@pytest.mark.parametrize("which", ["transformers", "ct2"])
def test_what_is_done_before_the_stop_is_what_it_would_be(
    checkpoint: Checkpoint, ct2_cache: Path, name: str, which: str, beams: int
) -> None:
    codec, sources = ids_of(checkpoint(name), "ar" if name == "marian-multi" else "de", 20)
    engine: Engine = TransformersEngine(checkpoint(name))
    if which == "ct2":
        pytest.importorskip("ctranslate2")
        engine = CTranslate2Engine(checkpoint(name), cache=ct2_cache, threads=1)
    decoding = Decoding(beams=beams, early_stopping=codec.family.early_stopping)
    whole = engine.generate(sources, Bounds(decoding, 40, codec.forced))
    lengths = sorted(len(one.ids) for one in whole)
    counts = []
    for stop in (lengths[3] - 1, lengths[16] + 1):
        first = engine.generate(sources, Bounds(decoding, 40, codec.forced, stop))
        done = [n for n, one in enumerate(first) if one.done]
        assert [first[n] for n in done] == [whole[n] for n in done]
        assert all(len(whole[n].ids) <= stop for n in done)
        counts.append(len(done))
    assert counts[0] < len(sources)
    waits = (
        which == "ct2" and beams > 1 and not decoding.early_stopping
    )  # for twice as many to finish
    assert counts[1] > 0 or waits


@pytest.mark.parametrize("which", ["transformers", "ct2"])
@pytest.mark.parametrize(("name", "pooled"), crossed(["m2m100", "marian"], [3, 1]))
def test_two_stages_give_the_same(
    checkpoint: Checkpoint,
    ct2_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    which: str,
    pooled: int,
) -> None:
    # With a stop that few sentences reach before they are done, both stages have much to do.
    monkeypatch.setattr(Decoding, "first_stop", staticmethod(lambda tokens: tokens))
    codec = Codec(checkpoint(name), "de")
    encoded = codec.encode(list(sentences(20, seed=6)[0]))
    engine: Engine = TransformersEngine(checkpoint(name))
    if which == "ct2":
        pytest.importorskip("ctranslate2")
        engine = CTranslate2Engine(checkpoint(name), cache=ct2_cache, threads=1)
    decoding = Decoding(max_length=40, early_stopping=codec.family.early_stopping)
    plan = make_plan([len(one.ids) for one in encoded], decoding, cpu_budget(14))
    assert len(plan) > 6

    def outputs(stages: int) -> tuple[list[Output], Generation]:
        generation = Generation(codec, lambda: engine, decoding, pooled=stages)
        return run(generation, encoded, plan), generation

    expected, plain = outputs(0)
    found, staged = outputs(pooled)
    assert found == expected
    assert plain.in_second_stage == 0
    some = staged.in_second_stage
    assert 0 < some <= len(encoded)
    assert some < len(encoded) or (which, name) == (
        "ct2",
        "marian",
    )  # which waits for twice as many to finish


class _Failing:
    """Fails as a GPU does that is full, at one step of the first search; says what of that is alive
    later on."""

    def __init__(self, engine: TransformersEngine, step: int) -> None:
        self.calls, self.step = 0, step
        self.failed: list[weakref.ref[Any]] = []
        self.alive_later: list[int] = []
        self.hook = engine._model.get_decoder().register_forward_hook(self.seen, with_kwargs=True)
        self.encoder = engine._model.get_encoder().register_forward_pre_hook(self.begun)

    def begun(self, *_: Any) -> None:
        if self.calls >= self.step:
            self.alive_later.append(sum(one() is not None for one in self.failed))

    def seen(self, _: Any, __: Any, given: Mapping[str, Any], made: Any) -> None:
        self.calls += 1
        if self.calls == self.step:
            cache = made.past_key_values
            held = [made.last_hidden_state, given["encoder_hidden_states"], cache]
            held += [layer.keys for layer in cache.self_attention_cache.layers]
            self.failed = [weakref.ref(one) for one in held]
            raise torch.OutOfMemoryError("CUDA out of memory")

    def end(self) -> None:
        self.hook.remove()
        self.encoder.remove()


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Without Python's collector of cycles, which might come by chance."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.usefixtures("no_collector")
def test_when_halves_begin_nothing_is_left_of_what_ran_out_of_memory(
    m2m100: Path, monkeypatch: pytest.MonkeyPatch, concurrency: int
) -> None:
    codec, _ = ids_of(m2m100, "de", 1)
    encoded = codec.encode(list(sentences(24, seed=5)[0]))
    decoding = Decoding(beams=3, max_length=40)
    engine = TransformersEngine(m2m100)
    engine.concurrency = concurrency
    plan = make_plan([len(one.ids) for one in encoded], decoding, cpu_budget(72))
    assert len(plan) == 1
    expected = run(Generation(codec, lambda: engine, decoding), encoded, plan)
    failing = _Failing(engine, step=10)
    generation = Generation(codec, lambda: engine, decoding)
    assert run(generation, encoded, plan) == expected
    failing.end()
    assert generation.halving.halved == 1
    assert failing.failed
    assert failing.alive_later == [0, 0]  # at the beginning of either half
