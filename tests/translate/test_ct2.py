"""The engine of CTranslate2 against that of transformers, which it must equal in fp32."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from mtbias.errors import ModelError, UsageError
from mtbias.settings import DTYPES
from mtbias.translate.outputs import Output
from mtbias.translate.seq2seq.batches import cpu_budget, make_plan
from mtbias.translate.seq2seq.codec import Codec
from mtbias.translate.seq2seq.ct2_engine import CTranslate2Engine, most_sentences
from mtbias.translate.seq2seq.decoding import Decoding
from mtbias.translate.seq2seq.engine import Bounds, Engine, Generated
from mtbias.translate.seq2seq.generation import Generation
from mtbias.translate.seq2seq.transformers_engine import TransformersEngine
from tests.draws import crossed

from .checkpoints import sentences
from .conftest import Checkpoint
from .generating import run

pytest.importorskip("ctranslate2")

MANY = 30
NEAR = 1e-3
"""Difference of two hypotheses' scores (mean log probability of a token) within which either may
win."""


@dataclass
class Pair:
    """Both engines on one checkpoint, with encoded sentences."""

    folder: Path
    codec: Codec
    reference: TransformersEngine
    engine: CTranslate2Engine
    sources: list[tuple[int, ...]]

    def generate(
        self, engine: Engine, decoding: Decoding, limit: int, *, batch: int = MANY
    ) -> list[Generated]:
        """All sentences in batches of that many."""
        found: list[Generated] = []
        for n in range(0, len(self.sources), batch):
            found += engine.generate(
                self.sources[n : n + batch], Bounds(decoding, limit, self.codec.forced)
            )
        return found

    def score(
        self, source: Sequence[int], said: Sequence[int], limit: int, penalty: float
    ) -> float:
        """The score of a hypothesis by transformers' model, position by position, without any
        search.

        The sum of log probabilities over length ** penalty; forced tokens add nothing; Opus-MT's
        padding, which is never generated, is left out of the softmax.
        """
        model = self.reference._model
        settings = model.generation_config
        with torch.inference_mode():
            made = model(
                input_ids=torch.tensor([list(source)]),
                decoder_input_ids=torch.tensor([[settings.decoder_start_token_id, *said[:-1]]]),
            )
        scores = made.logits[0].clone()  # a tensor that may be written to
        if self.codec.config["model_type"] == "marian":
            scores[:, model.config.pad_token_id] = -torch.inf
        each = scores.log_softmax(-1)[range(len(said)), list(said)].tolist()
        if self.codec.forced is not None:
            each[0] = 0.0
        if settings.forced_eos_token_id is not None and len(said) == limit:
            each[-1] = 0.0
        return float(sum(each) / len(said) ** penalty)

    def assert_equal(self, decoding: Decoding, limit: int) -> None:
        """Equal translations and flags; two that differ must have the same score, and at most two
        in a hundred may."""
        expected = self.generate(self.reference, decoding, limit)
        found = self.generate(
            self.engine, decoding, limit, batch=23
        )  # other batches: in fp32 they do not matter
        apart = []
        for source, a, b in zip(self.sources, expected, found, strict=True):
            if a.ids == b.ids:
                assert a == b
            else:
                scores = [
                    self.score(source, one.ids, limit, decoding.length_penalty) for one in (a, b)
                ]
                apart.append((abs(scores[0] - scores[1]), a.ids, b.ids))
        assert all(difference < NEAR for difference, *_ in apart), max(apart)
        assert len(apart) <= len(found) * 0.02


def pair_of(
    folder: Path, cache: Path, *, lang: str = "de", texts: Sequence[str] | None = None
) -> Pair:
    """Both engines on `folder`; other sentences of the grammar than those that the checkpoints have
    learnt from."""
    codec = Codec(folder, lang)
    encoded = codec.encode(list(texts or sentences(MANY, seed=7)[0]))
    engine = CTranslate2Engine(folder, cache=cache, threads=1)
    return Pair(folder, codec, TransformersEngine(folder), engine, [one.ids for one in encoded])


def with_settings(folder: Path, target: Path, **settings: Any) -> Path:
    """A copy of a checkpoint with other generation settings."""
    shutil.copytree(folder, target)
    path = target / "generation_config.json"
    path.write_text(
        json.dumps({**json.loads(path.read_text(encoding="utf-8")), **settings}), encoding="utf-8"
    )
    return target


@pytest.fixture(scope="module")
def pairs(
    checkpoint: Checkpoint, ct2_cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Pair]:
    """Both engines on every family.

    For Opus-MT, transformers is told to renormalise its scores once the padding has been taken
    away, see `test_padding_of_opus_mt`.
    """
    found = {
        name: pair_of(checkpoint(name), ct2_cache)
        for name in ("m2m100", "mbart50", "nllb", "madlad")
    }
    home = tmp_path_factory.mktemp("renormalised")
    for name, lang in (("marian", "de"), ("marian-multi", "ar")):
        folder = with_settings(checkpoint(name), home / name, renormalize_logits=True)
        found[name] = pair_of(folder, ct2_cache, lang=lang)
    return found


FAMILIES = ("marian", "marian-multi", "m2m100", "mbart50", "nllb", "madlad")


@pytest.mark.parametrize(
    ("name", "search"), crossed(FAMILIES, [(5, 199), (1, 199), (1, 15), (5, 15), (5, 26), (2, 30)])
)
def test_fp32_equals_transformers(
    pairs: dict[str, Pair], name: str, search: tuple[int, int]
) -> None:
    beams, limit = search
    pairs[name].assert_equal(Decoding(beams=beams), limit)


@pytest.mark.parametrize(
    ("name", "penalty"), crossed(["marian", "m2m100", "mbart50"], [0.6, 0.0, 2.0])
)
def test_length_penalties(pairs: dict[str, Pair], name: str, penalty: float) -> None:
    pairs[name].assert_equal(Decoding(length_penalty=penalty), 40)


@pytest.mark.parametrize("name", FAMILIES)
def test_cut_at_the_limit(pairs: dict[str, Pair], name: str) -> None:
    # A limit of 15 new tokens, the language token and the end token included, is too short for
    # nearly every sentence.
    pair = pairs[name]
    found = pair.generate(pair.engine, Decoding(), 15)
    cut = [one for one in found if one.cut]
    assert len(cut) > MANY / 3
    assert all(one.cut == (len(one.ids) == 15) and len(one.ids) <= 15 for one in found)
    end = pair.reference._model.generation_config.eos_token_id
    forced = name in {
        "marian",
        "marian-multi",
        "mbart50",
    }  # their generation_config.json has forced_eos_token_id
    assert all((one.ids[-1] == end) or not forced for one in cut)
    if pair.codec.forced is not None:
        assert {one.ids[0] for one in found} == {pair.codec.forced}
    texts = pair.codec.decode([one.ids for one in found])
    assert all(
        "</s>" not in text and not text.startswith(("__", "de_DE", "deu_Latn", ">>"))
        for text in texts
    )


def test_padding_of_opus_mt(checkpoint: Checkpoint, ct2_cache: Path, tmp_path: Path) -> None:
    # Padding has an embedding of zeros and so a score of 0, which takes a little of the softmax.
    # The converted checkpoint has no padding at all; transformers takes it away after the softmax,
    # unless told to renormalise. So a close call can go the other way: the two agree wholly only
    # with that, and nearly without. Neither generates it.
    pair = pair_of(checkpoint("marian"), ct2_cache)
    pad = pair.reference._model.config.pad_token_id
    assert pair.reference._model.generation_config.bad_words_ids == [[pad]]
    expected = pair.generate(pair.reference, Decoding(), 60)
    found = pair.generate(pair.engine, Decoding(), 60)
    assert all(pad not in one.ids for one in [*expected, *found])
    assert sum(a == b for a, b in zip(expected, found, strict=True)) >= 0.9 * MANY


def test_tokens_that_are_never_generated(m2m100: Path, ct2_cache: Path, tmp_path: Path) -> None:
    plain = pair_of(m2m100, ct2_cache)
    (often,) = plain.codec._tokenizer.convert_tokens_to_ids(["▁hat"])
    limited = pair_of(
        with_settings(m2m100, tmp_path / "limited", bad_words_ids=[[often]]), ct2_cache
    )
    assert sum(often in one.ids for one in plain.generate(plain.engine, Decoding(), 30)) > MANY / 2
    for engine in (limited.engine, limited.reference):
        assert not any(often in one.ids for one in limited.generate(engine, Decoding(), 30))


def test_nothing_but_an_end_token_gives_nothing(marian: Path, ct2_cache: Path) -> None:
    engine = CTranslate2Engine(marian, cache=ct2_cache)
    assert engine.generate([[0]], Bounds(Decoding(), 20, None)) == [Generated(())]


def test_batches_with_more_scores_than_ctranslate2_can_number_are_divided(
    m2m100: Path, ct2_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Rows × vocabulary stay below 2^31: 1,717 × 5 × 250,056 = 2,146,730,760 of mBART50's 250,054
    # filled up to a multiple of eight, 3,352 × 5 × 128,112 of M2M100's, 7,391 × 5 × 58,104 of
    # Opus-MT's.
    assert [most_sentences(5, size) for size in (250_054, 128_112, 58_101)] == [1717, 3352, 7391]
    assert most_sentences(9, 2**31) == 1
    pair = pair_of(m2m100, ct2_cache)
    expected = pair.generate(pair.engine, Decoding(), 40)
    sizes: list[int] = []
    whole = CTranslate2Engine._search

    def counted(self: CTranslate2Engine, batch: Any, *args: Any, **options: Any) -> list[Any]:
        sizes.append(len(batch))
        return whole(self, batch, *args, **options)

    monkeypatch.setattr(CTranslate2Engine, "_search", counted)
    monkeypatch.setattr("mtbias.translate.seq2seq.ct2_engine.most_sentences", lambda *_: 7)
    assert pair.generate(pair.engine, Decoding(), 40) == expected
    assert sizes[0] == MANY
    assert max(sizes[1:]) == 7


def test_more_tokens_than_positions(m2m100: Path, ct2_cache: Path) -> None:
    engine = CTranslate2Engine(m2m100, cache=ct2_cache)
    with pytest.raises(
        ModelError,
        match=r"has 256 positions, and 257 new tokens are allowed; .* --max-length 257 or less",
    ):
        engine.generate([[4, 2]], Bounds(Decoding(max_length=258), 257, 5))


def winomt_sentences(folder: Path, count: int) -> list[str]:
    """Sentences spread over WinoMT."""
    with (folder / "en.txt").open(encoding="utf-8", newline="") as file:
        rows = list(
            dict.fromkeys(
                row[2] for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            )
        )
    return rows[:: len(rows) // count][:count]


@pytest.fixture(scope="module")
def trained(mini: Path, winomt: Path, ct2_cache: Path) -> Pair:
    """Both engines on a small trained checkpoint and 120 sentences of WinoMT."""
    return pair_of(mini, ct2_cache, texts=winomt_sentences(winomt, 120))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("decoding", "limit", "count"),
    [
        (Decoding(), 199, 120),
        (Decoding(), 12, 100),
        (Decoding(beams=1), 199, 100),
        (Decoding(early_stopping=False), 199, 100),
    ],
    ids=["beams", "cut", "greedy", "late"],
)
def test_a_trained_checkpoint_gives_the_same(
    trained: Pair, decoding: Decoding, limit: int, count: int
) -> None:
    # All equal, not only nearly: a trained model knows its mind. Its weights are in half precision
    # on disk, so this is also the test that the conversion computes in fp32. Without early stopping
    # the engines' rules differ (PATIENCE).
    some = replace(trained, sources=trained.sources[:count])
    expected = some.generate(some.reference, decoding, limit, batch=16)
    assert len(expected) == count
    assert some.generate(some.engine, decoding, limit, batch=50) == expected


@pytest.mark.slow
def test_int8(trained: Pair, mini: Path, ct2_cache: Path) -> None:
    trained = replace(trained, sources=trained.sources[:100])
    small = CTranslate2Engine(mini, dtype="int8", cache=ct2_cache, threads=1)
    assert (small.dtype, trained.engine.dtype) == ("int8", "float32")
    found = trained.generate(small, Decoding(), 199)
    expected = trained.generate(trained.engine, Decoding(), 199)
    same = sum(a == b for a, b in zip(found, expected, strict=True))
    assert (
        0.5 * len(found) < same < len(found)
    )  # the weights are rounded: most come out the same, not all
    assert all(one.finite and not one.cut for one in found)
    exact = small.exact()
    assert exact is small.exact()
    assert exact.exact() is exact
    assert exact.dtype == "float32"
    assert trained.generate(exact, Decoding(), 199) == expected


def _through_the_loop(
    codec: Codec, engine: Engine, decoding: Decoding, texts: Sequence[str]
) -> list[Output]:
    encoded = codec.encode(texts)
    plan = make_plan([len(one.ids) for one in encoded], decoding, cpu_budget(24))
    assert len(plan) > 5
    return run(Generation(codec, lambda: engine, decoding), encoded, plan)


@pytest.mark.parametrize("threads", [1, 3])
def test_through_the_loop(m2m100: Path, ct2_cache: Path, threads: int) -> None:
    texts = list(sentences(40, seed=8)[0])
    codec, decoding = Codec(m2m100, "de"), Decoding(from_source=True)
    engine = CTranslate2Engine(m2m100, cache=ct2_cache, threads=threads)
    assert engine.concurrency == threads
    engines: list[Engine] = [TransformersEngine(m2m100), engine]
    expected, found = (_through_the_loop(codec, engine, decoding, texts) for engine in engines)
    assert found == expected


@pytest.mark.slow
def test_batches_side_by_side_are_the_same_in_int8(
    mini: Path, ct2_cache: Path, winomt: Path
) -> None:
    texts = [
        line.split("\t")[2] for line in (winomt / "en.txt").read_text("utf-8").splitlines()[:96]
    ]
    codec, decoding = Codec(mini, "de"), Decoding()
    one, some = (
        CTranslate2Engine(mini, dtype="int8", cache=ct2_cache, threads=threads)
        for threads in (1, 4)
    )
    expected, found = (_through_the_loop(codec, engine, decoding, texts) for engine in (one, some))
    assert found == expected


@pytest.mark.parametrize(
    ("asked", "variable", "concurrency", "threads"),
    [(None, "3", 3, 1), (2, "5", 2, 1), (11, "", 4, 2), (None, "4,2", 4, 1)],
)
def test_a_thread_generates_a_batch(  # with eight or more each of the four batches has several
    m2m100: Path,
    ct2_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    asked: int | None,
    variable: str,
    concurrency: int,
    threads: int,
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", variable)
    engine = CTranslate2Engine(m2m100, cache=ct2_cache, threads=asked)
    assert (engine.concurrency, engine._translator.num_translators) == (concurrency, concurrency)
    assert engine._threads // engine.concurrency == threads


def test_dtypes_of_this_device(m2m100: Path, ct2_cache: Path) -> None:
    import ctranslate2

    able = [
        name for name in DTYPES["ct2"] if name in ctranslate2.get_supported_compute_types("cpu")
    ]
    assert {"float32", "int8"} <= set(able)
    for dtype in [
        *(name for name in DTYPES["ct2"] if name not in able),
        "float64",
        "auto",
        "default",
    ]:
        with pytest.raises(
            UsageError,
            match=f"--dtype: the engine ct2 has {', '.join(able)} on this device, not '{dtype}'",
        ):
            CTranslate2Engine(m2m100, dtype=dtype, cache=ct2_cache)
    for dtype in able:
        engine = CTranslate2Engine(m2m100, dtype=dtype, cache=ct2_cache)
        assert engine.generate([[4, 5, 2]], Bounds(Decoding(), 9, 6))[0].ids[0] == 6


@pytest.mark.parametrize("device", ["tpu", "cuda:x", "cuda:99", ""])
def test_devices_that_are_not_here(m2m100: Path, ct2_cache: Path, device: str) -> None:
    with pytest.raises(UsageError, match="--device"):
        CTranslate2Engine(m2m100, device=device, cache=ct2_cache)


@pytest.mark.slow
def test_out_of_memory_is_said(m2m100: Path, ct2_cache: Path) -> None:
    # Another process, because its memory is limited to 300 MB more than it has with everything
    # loaded; 3,000 long sentences with 50 beams need more than that for the scores of one step
    # alone: 3,000 × 50 × 500 tokens × 4 bytes.
    CTranslate2Engine(m2m100, cache=ct2_cache)
    program = f"""
        import resource
        from pathlib import Path
        from mtbias.translate.seq2seq.ct2_engine import CTranslate2Engine, most_sentences
        from mtbias.translate.seq2seq.decoding import Decoding
        from mtbias.translate.seq2seq.engine import Bounds, OutOfMemory
        engine = CTranslate2Engine(Path({str(m2m100)!r}), cache=Path({str(ct2_cache)!r}), threads=1)
        source = [*range(10, 60), 2]
        decoding = Decoding(beams=50)
        assert engine.generate([source], Bounds(decoding, 9, 5))[0].ids
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 300_000_000,) * 2)
        try:
            engine.generate([source] * 3000, Bounds(decoding, 9, 5))
        except OutOfMemory as error:
            print("out of memory:", error)
        assert engine.generate([source], Bounds(decoding, 9, 5))[0].ids  # a smaller batch still works
    """
    if sys.platform != "linux":
        pytest.skip("needs Linux to limit a process's memory")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("out of memory:")
