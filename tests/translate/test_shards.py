"""Parts of a plan: every batch in exactly one, translations the same however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtbias.errors import UsageError
from mtbias.translate.seq2seq.batch_plan import Batch, Budget, make_plan
from mtbias.translate.seq2seq.checkpoints import Checkpoint
from mtbias.translate.seq2seq.decoding import Decoding
from mtbias.translate.seq2seq.generation import Memory, Output
from mtbias.translate.seq2seq.shards import Shard, batches_of
from mtbias.translate.seq2seq.translator import Settings, Translator

from .checkpoints import sentences

SOURCES = sentences()[0][:40]


def test_a_shard_is_written_and_read() -> None:
    assert Shard.parse("2/8") == Shard(2, 8)
    assert str(Shard(2, 8)) == "2/8"


@pytest.mark.parametrize("text", ["", "2", "0/8", "9/8", "2/0", "-1/8", "2 / 8", "2/8/9", "a/b", "02/8", "٢/٨"])
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(UsageError, match=r"shard"):
        Shard.parse(text)


@given(batches=st.integers(0, 60), of=st.integers(1, 20))
def test_every_batch_is_in_exactly_one_shard(batches: int, of: int) -> None:
    plan = [Batch(n, (n,), 20) for n in range(batches)]
    parts = [batches_of(plan, Shard(k, of)) for k in range(1, of + 1)]
    assert sorted(batch.index for part in parts for batch in part) == list(range(batches))
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    for k, part in enumerate(parts, start=1):
        assert all(Shard(k, of).has(batch.index) for batch in part)


@given(lengths=st.lists(st.integers(1, 120), min_size=60, max_size=200), of=st.integers(2, 6))
def test_shards_have_like_work(lengths: list[int], of: int) -> None:
    # The plan goes from long to short and shards take turns, so shard k's n-th batch has longer sentences than shard
    # 1's n+1-th: the sums of the longest lengths differ by at most the longest of all.
    plan = make_plan(lengths, Decoding(beams=1), Budget(4, 10**6))
    work = [
        sum(max(lengths[n] for n in batch.rows) for batch in batches_of(plan, Shard(k, of))) for k in range(1, of + 1)
    ]
    assert max(work) - min(work) <= max(lengths)


class _Dictionary:
    """A store in memory."""

    def __init__(self) -> None:
        self.kept: dict[int, list[Output]] = {}

    def get(self, index: int) -> Sequence[Output] | None:
        return self.kept.get(index)

    def put(self, index: int, outputs: Sequence[Output]) -> None:
        assert index not in self.kept
        self.kept[index] = list(outputs)


@pytest.fixture(scope="module")
def translator(m2m100: Path, tmp_path_factory: pytest.TempPathFactory) -> Translator:
    settings = Settings(beams=2, max_length=20, device="cpu", batch_rows=8)
    return Translator(Checkpoint("tiny", "0", m2m100), "de", settings, cache=tmp_path_factory.mktemp("cache"))


@pytest.mark.parametrize("of", [1, 2, 3, 7, 50])
def test_translations_do_not_depend_on_the_number_of_shards(translator: Translator, of: int) -> None:
    prepared = translator.prepare([*SOURCES, SOURCES[0]])  # one sentence twice
    whole, tally = translator.translate(prepared, Memory(), lambda done, total: None)
    assert tally.generated == len(set(SOURCES))
    store = _Dictionary()
    for k in range(of, 0, -1):
        part = batches_of(prepared.plan, Shard(k, of))
        seen: list[tuple[int, int]] = []
        tally = translator.translate_part(prepared, part, store, lambda done, total: seen.append((done, total)))  # noqa: B023 - called at once
        sentences_of_part = sum(len(batch.rows) for batch in part)
        assert tally.generated == sentences_of_part
        assert seen[-1] == (sentences_of_part, sentences_of_part)
    joined, tally = translator.translate(prepared, store, lambda done, total: None)
    assert tally.generated == 0
    assert joined == whole


def test_the_budget_of_a_run_that_was_begun_is_taken_over(m2m100: Path, tmp_path: Path) -> None:
    begun = Budget(10, 40960)
    free = Translator(Checkpoint("tiny", "0", m2m100), "de", Settings(device="cpu"), cache=tmp_path)
    assert free.budget() != begun
    free.use_budget(begun)
    assert free.budget() == free.prepare(SOURCES).budget == begun
    asked = Translator(Checkpoint("tiny", "0", m2m100), "de", Settings(device="cpu", batch_rows=20), cache=tmp_path)
    asked.use_budget(begun)
    assert asked.budget().rows == 20  # what the user says comes first
