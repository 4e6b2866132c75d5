"""Shards of a plan: every part in exactly one, translations the same however many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtbias.errors import UsageError
from mtbias.settings import TranslationSettings
from mtbias.translate.outputs import Shard
from mtbias.translate.seq2seq.batches import Budget, make_plan
from mtbias.translate.seq2seq.checkpoint_system import CheckpointPlan, CheckpointSystem
from mtbias.translate.seq2seq.checkpoints import Checkpoint
from mtbias.translate.seq2seq.decoding import Decoding
from mtbias.translate.system import Begun, MemoryStore, Translated
from mtbias.types import SourceSentence

from .checkpoints import sentences

SOURCES = sentences()[0][:40]


def test_a_shard_is_written_and_read() -> None:
    assert Shard.parse("2/8") == Shard(2, 8)
    assert str(Shard(2, 8)) == "2/8"


@pytest.mark.parametrize(
    "text", ["", "2", "0/8", "9/8", "2/0", "-1/8", "2 / 8", "2/8/9", "a/b", "02/8", "٢/٨"]
)
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(UsageError, match=r"shard"):
        Shard.parse(text)


@given(parts=st.integers(0, 60), of=st.integers(1, 20))
def test_every_part_is_in_exactly_one_shard(parts: int, of: int) -> None:
    shards = [Shard(k, of).parts(parts) for k in range(1, of + 1)]
    assert sorted(part for shard in shards for part in shard) == list(range(parts))
    sizes = [len(shard) for shard in shards]
    assert max(sizes) - min(sizes) <= 1


@given(lengths=st.lists(st.integers(1, 120), min_size=60, max_size=200), of=st.integers(2, 6))
def test_shards_have_like_work(lengths: list[int], of: int) -> None:
    # The plan goes from long to short and shards take turns, so shard k's n-th batch has longer
    # sentences than shard 1's n+1-th: the sums of the longest lengths differ by at most the longest
    # of all.
    plan = make_plan(lengths, Decoding(beams=1), Budget(4, 10**6))
    longest = [max(lengths[n] for n in batch.rows) for batch in plan]
    work = [sum(longest[part] for part in Shard(k, of).parts(len(plan))) for k in range(1, of + 1)]
    assert max(work) - min(work) <= max(lengths)


@dataclass(frozen=True)
class Corpus:
    """Sentences, one of them twice."""

    instances: tuple[SourceSentence, ...] = tuple(
        SourceSentence(f"s{n}", n, source) for n, source in enumerate([*SOURCES, SOURCES[0]])
    )
    rows: int = len(SOURCES) + 1


class _Once(MemoryStore):
    """A store that takes each part once."""

    def put(self, part: int, records: Sequence[Mapping[str, Any]]) -> None:
        assert self.get(part) is None
        super().put(part, records)


@pytest.fixture(scope="module")
def system(m2m100: Path, tmp_path_factory: pytest.TempPathFactory) -> CheckpointSystem:
    settings = TranslationSettings(beams=2, max_length=20, batch_rows=8)
    cache = tmp_path_factory.mktemp("cache")
    return CheckpointSystem(
        Checkpoint("tiny", "0", m2m100), "de", settings, cache=cache, device="cpu"
    )


@pytest.fixture(scope="module")
def alone(system: CheckpointSystem) -> MemoryStore:
    """What one process makes of all sources."""
    plan, store = system.plan(Corpus(), {}), MemoryStore()
    tally = plan.translate(store, range(len(plan.sizes)), lambda _done, _total: None)
    assert tally.generated == len(set(SOURCES))
    return store


@pytest.mark.parametrize("of", [1, 2, 7, 50])
def test_translations_do_not_depend_on_the_number_of_shards(
    system: CheckpointSystem, alone: MemoryStore, of: int
) -> None:
    plan = system.plan(Corpus(), {})
    everything, shared = range(len(plan.sizes)), _Once()
    for k in range(of, 0, -1):
        parts = Shard(k, of).parts(len(plan.sizes))
        seen: list[tuple[int, int]] = []
        tally = plan.translate(shared, parts, lambda done, total: seen.append((done, total)))  # noqa: B023 - called at once
        sentences_of_shard = sum(plan.sizes[n] for n in parts)
        assert tally.generated == sentences_of_shard
        assert seen[-1] == (sentences_of_shard, sentences_of_shard)
    tally = plan.translate(shared, everything, lambda _done, _total: None)
    assert (tally.generated, tally.resumed) == (0, len(set(SOURCES)))
    joined = plan.collect(shared)
    assert isinstance(joined, Translated)
    assert joined == plan.collect(alone)
    assert joined.translations[0].text == joined.translations[-1].text


def test_what_a_store_lacks_is_counted_and_what_is_damaged_dropped(
    system: CheckpointSystem,
) -> None:
    plan = system.plan(Corpus(), {})
    store = MemoryStore()
    plan.translate(store, range(len(plan.sizes)), lambda _done, _total: None)
    store.drop(1)
    store.put(2, [])
    assert plan.collect(store) == 2
    assert store.get(2) is None


def test_what_was_kept_is_not_translated_again(system: CheckpointSystem) -> None:
    plan, store, calls = system.plan(Corpus(), {}), MemoryStore(), list[tuple[int, int]]()
    n, every = sum(plan.sizes), range(len(plan.sizes))
    first = plan.translate(store, every, lambda _done, _total: None)
    assert (first.resumed, first.generated) == (0, n)
    whole = plan.collect(store)
    store.drop(1)
    made = list[str]()
    again = plan.translate(store, every, lambda *call: calls.append(call), made.extend)
    assert (again.resumed, again.generated) == (n - plan.sizes[1], plan.sizes[1])
    assert plan.collect(store) == whole
    assert calls[0] == (0, n)
    assert calls[-2:] == [(n - plan.sizes[1], n), (n, n)]
    assert len(made) == n  # shown to the analyser, those too that were there
    assert (
        "attention" not in plan.translate(store, every, lambda _done, _total: None).execution
    )  # nothing is loaded


def test_the_budget_of_a_run_that_was_begun_is_taken_over(m2m100: Path, tmp_path: Path) -> None:
    def plan(settings: TranslationSettings, begun: Begun) -> CheckpointPlan:
        checkpoint = Checkpoint("tiny", "0", m2m100)
        return CheckpointSystem(checkpoint, "de", settings, cache=tmp_path, device="cpu").plan(
            Corpus(), begun
        )

    free = plan(TranslationSettings(), {})
    begun = plan(TranslationSettings(), {"budget": [10, 40960]})
    assert free.settings != begun.settings == {"budget": [10, 40960]}
    assert max(begun.sizes) == 2  # 10 rows, 5 beams
    asked = plan(TranslationSettings(batch_rows=20), {"budget": [10, 40960]})
    assert asked.budget.rows == 20  # what the user says comes first
