"""The batch plan: what may share a batch, in which order, and that it depends on nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtbias.errors import UsageError
from mtbias.translate.seq2seq.batches import (
    Budget,
    cpu_budget,
    cpu_concurrency,
    gpu_budget,
    make_plan,
)
from mtbias.translate.seq2seq.decoding import PRESETS, Decoding, get_preset
from mtbias.translate.text_language import is_repetitive
from mtbias.translate.text_system import TextSystem
from mtbias.types import SourceSentence

from .endpoint_runs import Corpus

LENGTHS = st.lists(st.integers(1, 300), max_size=60)
DECODINGS = st.builds(
    Decoding, beams=st.integers(1, 6), max_length=st.integers(3, 300), from_source=st.booleans()
)
BUDGETS = st.builds(Budget, rows=st.integers(1, 100), tokens=st.integers(1, 5000))


@given(LENGTHS, DECODINGS, BUDGETS)
def test_every_sentence_is_in_one_batch_within_the_budget(
    lengths: list[int], decoding: Decoding, budget: Budget
) -> None:
    plan = make_plan(lengths, decoding, budget)
    assert sorted(n for batch in plan for n in batch.rows) == list(range(len(lengths)))
    assert [batch.index for batch in plan] == list(range(len(plan)))
    for batch in plan:
        assert {decoding.limit(lengths[n]) for n in batch.rows} == {batch.limit}
        rows = len(batch.rows) * decoding.beams
        longest = max(lengths[n] for n in batch.rows)
        expected = min(batch.limit, longest + 20)
        tokens = len(batch.rows) * (longest + decoding.beams * expected)
        assert len(batch.rows) == 1 or (rows <= budget.rows and tokens <= budget.tokens)


def test_room_is_kept_for_what_is_expected_and_not_for_the_most_tokens() -> None:
    # Sources of 30 tokens at beam 5: 30 + 5 × (30 + 20) = 280 for each sentence, whose source all
    # beams share; 199 new tokens would need 1,025.
    decoding = Decoding()
    assert [len(b.rows) for b in make_plan([30] * 12, decoding, Budget(400, 1120))] == [4, 4, 4]
    assert [len(b.rows) for b in make_plan([30] * 12, decoding, Budget(400, 1119))] == [3, 3, 3, 3]
    assert decoding.expected(30) == 50
    assert decoding.expected(300) == 199
    assert Decoding(max_length=40).expected(30) == 39
    assert decoding.first_stop(30) == 65
    assert decoding.first_stop(31) == 66


def test_longest_first_and_ties_in_the_order_of_the_corpus() -> None:
    # 80 rows at beam 5 are 16 sentences; at beam 40 two.
    plan = make_plan([3, 9, 9, 5, 9], Decoding(beams=40), cpu_budget())
    assert [batch.rows for batch in plan] == [(1, 2), (4, 3), (0,)]
    assert len(make_plan([7] * 33, Decoding(), cpu_budget())) == 3


def test_the_key_tells_systems_sentences_and_divisions_apart() -> None:
    def key(texts: str, *, name: str = "a", part_size: int = 2) -> str:
        corpus = Corpus([SourceSentence(text, row, text) for row, text in enumerate(texts)])
        return TextSystem({"model": name}, list, part_size).plan(corpus, {}).key

    assert len({key("xyz"), key("xzy"), key("xyz", name="b"), key("xyz", part_size=3)}) == 4
    assert key("xyz") == key("xyz")


def test_limits_follow_the_source_only_where_asked_for() -> None:
    # max_length counts the decoder's start token, the limit does not.
    assert Decoding().limit(5) == Decoding().limit(500) == 199
    short = Decoding(from_source=True)
    assert short.limit(17) == short.limit(24) == 2 * 24 + 20
    assert short.limit(25) == 2 * 32 + 20
    assert short.limit(500) == 199


def test_presets_are_those_of_the_paper_and_a_fast_one() -> None:
    paper = get_preset("paper").decoding
    assert (paper.beams, paper.length_penalty, paper.max_length, paper.from_source) == (
        5,
        1.0,
        200,
        False,
    )
    assert get_preset("paper").dtype("cuda", "float16") == "float32"
    assert get_preset("fast").dtype("cuda:1", "float16") == "float16"
    assert get_preset("fast").dtype("cuda") == "bfloat16"
    assert get_preset("fast").dtype("cpu", "float16") == "float32"
    assert paper.signature == "beam5,penalty1,max200,early"
    assert PRESETS["fast"].decoding.signature == "beam5,penalty1,max200,max2x+20,early"
    with pytest.raises(UsageError, match="expected paper or fast, got 'best'"):
        get_preset("best")
    with pytest.raises(UsageError, match="--beams: expected a whole number of at least 1, got 0"):
        Decoding(beams=0)


def test_a_gpu_gets_thousands_of_rows_in_eighths() -> None:
    # M2M100-418M: 12 decoder layers, 1024 wide, 128,112 tokens; 100 GiB free, 2 bytes a value.
    # A row's scores: 7 × 4 × 128,112 bytes = 3.6 MB; 0.3 × 0.5 × 100 GiB / 3.6 MB = 4,489 → 4,096
    # rows. A token: 2 × (12 + 1) × 1024 × 2 bytes = 53,248; 0.7 × 0.5 × 100 GiB / 53,248 = 705,772,
    # between 2^19 = 524,288 and 2^20 in steps of 65,536 → 524,288 + 2 × 65,536 = 655,360 tokens.
    config = {"decoder_layers": 12, "d_model": 1024, "vocab_size": 128_112}
    budget = gpu_budget(config, 100 * 1024**3, bytes_per_value=2, beams=5)
    assert budget == Budget(4096, 655_360)
    assert gpu_budget(config, 101 * 1024**3, bytes_per_value=2, beams=5) == budget
    # With 50 GiB: 2,244 rows in steps of 256 → 2,048; 352,886 tokens in steps of 32,768 → 327,680.
    half = gpu_budget(config, 50 * 1024**3, bytes_per_value=2, beams=5)
    assert half == Budget(2048, 327_680)
    assert gpu_budget(config, 0, bytes_per_value=2, beams=5) == Budget(5, 5)


@pytest.mark.parametrize(
    ("text", "stuck"),
    [
        ("sehr sehr sehr sehr gut", True),
        ("sehr sehr sehr gut", False),
        ("Die Katze, die Katze, die Katze, die Katze", True),
        ("die Katze und die Katze und die Katze", False),
        ("a b c d e f g h " * 4, True),
        ("a b c d e f g h i " * 4, False),  # nine words: longer than what is looked for
        ("", False),
        ("כן כן כן כן", True),
    ],
)
def test_repetition(text: str, stuck: bool) -> None:
    assert is_repetitive(text) is stuck


@pytest.mark.parametrize(
    ("threads", "memory", "concurrency"),
    [(8, 9e9, 4), (3, 9e9, 3), (8, 2e9, 2), (8, 1e9, 1), (8, -1, 1)],
)
def test_concurrent_batches_have_room_beside_each_other(
    threads: int, memory: float, concurrency: int
) -> None:
    # Opus-MT: a row has 7 × 58,101 × 4 bytes of scores and 256 tokens of 2 × 7 × 512 × 4 bytes; 80
    # rows are 0.717 GB, and four fifths of 2 GB hold two of them.
    config = {"decoder_layers": 6, "d_model": 512, "vocab_size": 58_101}
    assert cpu_concurrency(config, threads=threads, memory=int(memory)) == concurrency
