"""The generation loop on a real small checkpoint: alone, in any batch, short of memory, resumed:
the same text."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mtbias.corpora import load_corpus
from mtbias.errors import ModelError, UsageError
from mtbias.settings import EngineName, TranslationSettings
from mtbias.translate.seq2seq.batches import Budget, cpu_budget, make_plan
from mtbias.translate.seq2seq.checkpoint_system import CheckpointSystem
from mtbias.translate.seq2seq.checkpoints import Checkpoint
from mtbias.translate.seq2seq.codec import Codec, Encoded
from mtbias.translate.seq2seq.decoding import Decoding
from mtbias.translate.seq2seq.engine import Bounds, Engine, Generated, OutOfMemory, is_out_of_memory
from mtbias.translate.seq2seq.engine_choice import check_settings
from mtbias.translate.seq2seq.generation import Generation
from mtbias.translate.seq2seq.transformers_engine import Abandoned, TransformersEngine
from mtbias.translate.system import MemoryStore
from tests.built import built

from .checkpoints import sentences
from .generating import run

SOURCES = sentences()[0][:24]
DECODING = Decoding(beams=3, max_length=40)


@dataclass(frozen=True)
class Ready:
    """A checkpoint with its tokenizer, its weights, and what it makes of every source by itself."""

    folder: Path
    codec: Codec
    engine: TransformersEngine
    encoded: list[Encoded]
    alone: list[str]


def _one_at_a_time(folder: Path) -> list[str]:
    """Translations by a plain ``generate()`` loop as transformers' documentation has it."""
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float32)
    tokenizer.src_lang = "en"
    alone = []
    for source in SOURCES:
        found = model.generate(
            **tokenizer(source, return_tensors="pt"),
            forced_bos_token_id=tokenizer.get_lang_id("de"),
            num_beams=3,
            max_length=40,
            length_penalty=1.0,
            early_stopping=True,
        )
        alone.append(tokenizer.batch_decode(found, skip_special_tokens=True)[0].strip())
    return alone


@pytest.fixture(scope="module")
def ready(m2m100: Path, tmp_path_factory: pytest.TempPathFactory) -> Ready:
    def make(path: Path) -> None:
        path.write_text(json.dumps(_one_at_a_time(m2m100)), encoding="utf-8")

    alone = json.loads(
        built(tmp_path_factory, "m2m100-alone.json", make).read_text(encoding="utf-8")
    )
    codec = Codec(m2m100, "de")
    return Ready(m2m100, codec, TransformersEngine(m2m100), codec.encode(SOURCES), alone)


def _run(
    ready: Ready, order: Sequence[int], budget: Budget, engine: Engine | None = None
) -> tuple[list[str], Generation]:
    """Translations of the sources in the order of `SOURCES`, though they were handed over in
    another."""
    encoded = [ready.encoded[n] for n in order]
    generation = Generation(ready.codec, lambda: engine or ready.engine, DECODING)
    outputs = run(generation, encoded, make_plan([len(e.ids) for e in encoded], DECODING, budget))
    back = dict(zip(order, outputs, strict=True))
    return [back[n].text for n in range(len(order))], generation


def test_the_sources_are_of_many_lengths_and_their_translations_differ(ready: Ready) -> None:
    assert len({len(e.ids) for e in ready.encoded}) > 5
    assert len(set(ready.alone)) > 15


@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 10_000), rows=st.integers(3, 200))
def test_in_fp32_neither_order_nor_batch_changes_a_translation(
    ready: Ready, seed: int, rows: int
) -> None:
    order = random.Random(seed).sample(range(len(SOURCES)), len(SOURCES))
    assert _run(ready, order, cpu_budget(rows))[0] == ready.alone


class _Small(Engine):
    """An engine on a device that holds so many sentences and no more."""

    def __init__(self, engine: TransformersEngine, most: int, concurrency: int = 1) -> None:
        self.engine, self.most, self.concurrency, self.failures = engine, most, concurrency, 0
        self.alone = threading.Lock()

    def generate(self, batch: Sequence[Sequence[int]], bounds: Bounds) -> list[Generated]:
        with self.alone:
            if len(batch) > self.most:
                self.failures += 1
                raise OutOfMemory("CUDA out of memory")
            return self.engine.generate(batch, bounds)

    def abandon(self) -> AbstractContextManager[None]:
        return nullcontext()

    def exact(self) -> Engine:
        return self.engine


@pytest.mark.slow
@pytest.mark.parametrize("concurrency", [1, 4])
def test_out_of_memory_at_every_batch_still_translates_every_sentence(
    ready: Ready, concurrency: int
) -> None:
    small = _Small(ready.engine, 1, concurrency)
    texts, generation = _run(
        ready, range(24), cpu_budget(24), small
    )  # eight sentences a batch at beam 3
    assert texts == ready.alone[:24]
    assert generation.halving.halved == small.failures > 0


def test_what_ran_out_of_memory_once_is_not_tried_again(ready: Ready) -> None:
    # Batches of 12; the first fails with 12 sentences and fits with 6. A later one is tried whole
    # only if its sentences × tokens are fewer than what failed: it may fail itself, but never with
    # an area as large as one before.
    areas: list[int] = []

    class _Recording(_Small):
        def generate(self, batch: Sequence[Sequence[int]], bounds: Bounds) -> list[Generated]:
            if len(batch) > self.most:
                areas.append(len(batch) * (max(map(len, batch)) + bounds.limit))
            return super().generate(batch, bounds)

    _run(ready, range(len(SOURCES)), cpu_budget(36), _Recording(ready.engine, 6))
    assert areas == sorted(areas, reverse=True)
    assert len(set(areas)) == len(areas)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_sentence_that_does_not_fit_alone_is_an_error_that_says_what_to_do(
    ready: Ready, concurrency: int
) -> None:
    with pytest.raises(
        ModelError, match=r"one sentence of \d+ tokens with 3 beams does not fit into memory"
    ):
        _run(ready, range(len(SOURCES)), cpu_budget(48), _Small(ready.engine, 0, concurrency))


@pytest.fixture
def three(ready: Ready, monkeypatch: pytest.MonkeyPatch) -> Iterator[TransformersEngine]:
    """The engine with three concurrent batches, as a larger model has on a processor with three
    cores."""
    monkeypatch.setattr("mtbias.translate.seq2seq.transformers_engine._SMALL", 0)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield TransformersEngine(ready.folder)
    torch.set_num_threads(before)


def test_side_by_side_transformers_makes_the_same(ready: Ready, three: TransformersEngine) -> None:
    assert (ready.engine.concurrency, three.concurrency) == (1, 3)
    for seed in range(2):
        order = random.Random(seed).sample(range(len(SOURCES)), len(SOURCES))
        assert _run(ready, order, cpu_budget(9), three)[0] == ready.alone
    assert torch.get_num_threads() == 3  # as before, once no batch is generated


def test_what_nobody_waits_for_ends_at_its_next_step(
    ready: Ready, three: TransformersEngine
) -> None:
    ids = [ready.encoded[0].ids]
    with ThreadPoolExecutor(1) as thread:
        with three.abandon():
            left = thread.submit(three.generate, ids, Bounds(DECODING, 40, ready.codec.forced))
            assert isinstance(left.exception(), Abandoned)
        assert thread.submit(three.generate, ids, Bounds(DECODING, 40, ready.codec.forced)).result()


@pytest.mark.parametrize("concurrency", [1, 4])
def test_every_batch_is_kept_and_can_be_made_by_itself(ready: Ready, concurrency: int) -> None:
    plan = make_plan([len(e.ids) for e in ready.encoded], DECODING, cpu_budget(48))
    store, engine = MemoryStore(), _Small(ready.engine, 99, concurrency)
    outputs = run(Generation(ready.codec, lambda: engine, DECODING), ready.encoded, plan, store)
    assert [output.text for output in outputs] == ready.alone
    assert sorted(store.parts) == [batch.index for batch in plan]
    kept = store.parts.pop(1)
    again = Generation(ready.codec, lambda: engine, DECODING).batches(
        ready.encoded, [plan[1]], store
    )
    assert list(again) == [(1, [outputs[row] for row in plan[1].rows])]
    assert store.parts[1] == kept


@pytest.mark.parametrize("concurrency", [1, 4])
def test_an_error_while_a_batch_is_kept_is_not_lost(ready: Ready, concurrency: int) -> None:
    class _Full(MemoryStore):
        def put(self, part: int, records: Sequence[Mapping[str, Any]]) -> None:
            raise OSError(28, "No space left on device")

    plan = make_plan([len(e.ids) for e in ready.encoded], DECODING, cpu_budget(48))
    engine = _Small(ready.engine, 99, concurrency)
    with pytest.raises(OSError, match="No space left"):
        run(Generation(ready.codec, lambda: engine, DECODING), ready.encoded, plan, _Full())


def test_a_batch_is_kept_while_the_next_one_is_generated(ready: Ready) -> None:
    next_one_is_generated = threading.Event()
    kept_meanwhile: list[bool] = []

    class _Noticing(_Small):
        calls = 0

        def generate(self, batch: Sequence[Sequence[int]], bounds: Bounds) -> list[Generated]:
            self.calls += 1
            if self.calls == 2:
                next_one_is_generated.set()
            return super().generate(batch, bounds)

    class _Waiting(MemoryStore):
        def put(self, part: int, records: Sequence[Mapping[str, Any]]) -> None:
            if part == 0:
                kept_meanwhile.append(next_one_is_generated.wait(timeout=60))
            super().put(part, records)

    plan = make_plan([len(e.ids) for e in ready.encoded], DECODING, cpu_budget(48))
    engine = _Noticing(ready.engine, 99, 1)
    outputs = run(
        Generation(ready.codec, lambda: engine, DECODING), ready.encoded, plan, _Waiting()
    )
    assert kept_meanwhile == [True]
    assert [output.text for output in outputs] == ready.alone


def test_stopped_it_keeps_what_is_being_generated_and_begins_nothing_more(ready: Ready) -> None:
    # 16 batches of one sentence, three at a time. The first one's end stops us; what has begun by
    # then waits for that.
    begun, meanwhile, stopped = [], threading.Barrier(3), threading.Event()

    class _Waiting(_Small):
        def generate(self, batch: Sequence[Sequence[int]], bounds: Bounds) -> list[Generated]:
            begun.append(batch)
            if len(begun) <= 3:
                meanwhile.wait()
            else:
                stopped.wait()
            return super().generate(batch, bounds)

        def abandon(self) -> AbstractContextManager[None]:
            stopped.set()
            return super().abandon()

    class _Stopped(Exception):  # noqa: N818
        pass

    plan = make_plan([len(e.ids) for e in ready.encoded[:16]], DECODING, cpu_budget(3))
    store = MemoryStore()
    engine = _Waiting(ready.engine, 99, concurrency=3)
    generation = Generation(ready.codec, lambda: engine, DECODING)
    assert len(plan) == 16

    def stop(_: object) -> None:
        raise _Stopped

    with pytest.raises(_Stopped):
        run(generation, ready.encoded[:16], plan, store, stop)
    assert len(store.parts) == len(begun)
    assert 3 <= len(begun) < len(plan)
    for index, outputs in store.parts.items():
        assert [output["text"] for output in outputs] == [ready.alone[n] for n in plan[index].rows]


def test_scores_that_are_not_numbers_in_half_precision_are_redone_in_fp32(
    ready: Ready, tmp_path: Path
) -> None:
    # Half precision ends at 65,504: these weights of the decoder are so large that scores overflow
    # there, not in fp32. (In the encoder transformers would clamp them.)
    from transformers import AutoModelForSeq2SeqLM

    model = AutoModelForSeq2SeqLM.from_pretrained(ready.folder, dtype=torch.float32)
    with torch.no_grad():
        model.model.decoder.layers[0].fc1.weight *= 3000
        model.model.decoder.layers[0].fc2.weight *= 3000
    for path in ready.folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    model.save_pretrained(tmp_path)
    codec, half, full = (
        Codec(tmp_path, "de"),
        TransformersEngine(tmp_path, dtype="float16"),
        TransformersEngine(tmp_path),
    )
    encoded = codec.encode(SOURCES[:6])
    plan = make_plan([len(e.ids) for e in encoded], DECODING, cpu_budget(18))
    redone = run(Generation(codec, lambda: half, DECODING), encoded, plan)
    exact = run(Generation(codec, lambda: full, DECODING), encoded, plan)
    assert [o.text for o in redone] == [o.text for o in exact]
    assert [o.redone for o in redone] == [True] * 6
    assert not any(o.redone for o in exact)


def test_what_is_cut_is_counted(ready: Ready) -> None:
    tiny = Decoding(beams=3, max_length=4)
    plan = make_plan([len(e.ids) for e in ready.encoded], tiny, cpu_budget())
    outputs = run(Generation(ready.codec, lambda: ready.engine, tiny), ready.encoded, plan)
    assert [o.cut for o in outputs] == [True] * len(
        SOURCES
    )  # language token, two more: none of the sentences is so short
    long = ready.codec.encode([" ".join(SOURCES)])
    assert long[0].cut
    assert len(long[0].ids) == ready.codec.most_tokens == 256


def _system(
    ready: Ready, cache: Path, engine: EngineName = "transformers", dtype: str | None = None
) -> CheckpointSystem:
    settings = TranslationSettings(engine=engine, dtype=dtype)
    return CheckpointSystem(
        Checkpoint("tiny", "sha256:0", ready.folder), "de", settings, cache=cache, device="cpu"
    )


def test_a_checkpoint_says_what_its_translations_depend_on(ready: Ready, tmp_path: Path) -> None:
    corpus = load_corpus("demo", None)
    assert _system(ready, tmp_path).plan(corpus, {}).identity == {
        "model": "tiny",
        "revision": "sha256:0",
        "family": "M2M100",
        "direction": "en>__de__",
        "engine": f"transformers/{version('transformers')}",
        "dtype": "float32",
        "decoding": "beam5,penalty1,max200,early",
    }
    by_hand = TranslationSettings(beams=2, length_penalty=0.5, max_length=50)
    system = CheckpointSystem(
        Checkpoint("tiny", "sha256:0", ready.folder), "de", by_hand, cache=tmp_path, device="cpu"
    )
    assert system.decoding == Decoding(2, 0.5, 50)
    half = _system(ready, tmp_path, dtype="bfloat16").plan(corpus, {}).identity
    assert half["batch"] == [80, 80 * 4096]  # there the batch matters,
    assert half["search"] == "pool"  # and in which order a search adds up
    with pytest.raises(UsageError, match="expected transformers or ct2, got 'vllm'"):
        check_settings(TranslationSettings(engine="vllm"))  # type: ignore[arg-type]
    with pytest.raises(
        UsageError, match="float32, bfloat16, float16 with the engine transformers, got 'int8'"
    ):
        _ = _system(ready, tmp_path, dtype="int8").engine


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), True),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"), True),
        (MemoryError(), True),
        (torch.OutOfMemoryError("x"), True),
        (RuntimeError("CUDA error: device-side assert triggered"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_which_errors_are_a_lack_of_memory(error: Exception, expected: bool) -> None:
    assert is_out_of_memory(error) is expected
