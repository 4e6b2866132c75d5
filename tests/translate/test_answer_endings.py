"""Where the answers of decoders end: at their tokens, their line, their limit, or in a loop; and
that nothing of it depends on what shares their batch."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer

from mtbias.translate.language_models.decoder_system import AnswerLimit
from mtbias.translate.language_models.decoder_tokenizer import DecoderTokenizer, as_plain_text
from mtbias.translate.language_models.greedy_search import (
    Answering,
    EndRules,
    GreedySearch,
    Question,
    loops,
)
from mtbias.translate.system import MemoryStore
from mtbias.types import SourceSentence

from .chain_decoder import make_chain
from .decoder_runs import continued, plan, run
from .endpoint_runs import Corpus

ENDLESS = {f"w{n}": f"w{n + 1}" for n in range(120)}
"""Words that go on and on, none twice."""
CHAIN = {
    **ENDLESS,
    "nurse": "die",
    "die": "Pflegerin",
    "Pflegerin": "kam",
    "cook": "der",
    "der": "Koch",
    "Koch": "schlief",
    "schlief": "\n",
    "\n": "English:",
    "singer": "de",
    "de": "la",
    "la": "manera",
    "manera": "de",
    "writer": "w0",
}
"""The nurse's answer ends, the cook's has a further line, the singer's repeats itself, the writer's
goes on."""
OPEN = "{% for message in messages %}{{ message.content }}{% endfor %}"
"""A chat template that leaves the sentence at the end of the prompt."""
PROMPT = """
name = "bare"
version = "1"
[[messages]]
role = "user"
content = "{source}"
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base model."""
    return make_chain(tmp_path_factory.mktemp("own") / "base", CHAIN)


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chat model."""
    return make_chain(tmp_path_factory.mktemp("chat"), CHAIN, template=OPEN)


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """A prompt that is the sentence alone."""
    path = tmp_path / "bare.toml"
    path.write_text(PROMPT, encoding="utf-8")
    return str(path)


def corpus(*sources: str) -> Corpus:
    return Corpus([SourceSentence(f"s{n}", n, source) for n, source in enumerate(sources)])


@pytest.mark.parametrize(
    ("ids", "looping"),
    [
        ([1, 2, 3, 4] * 8, True),  # 32 tokens
        ([1, 2, 3, 4] * 7, False),  # 28 tokens
        ([9, *[1, 2, 3, 4] * 8], True),
        ([4, *[1, 2, 3, 4] * 8], True),
        ([*[1, 2, 3, 4] * 8, 5], False),  # it has ended
        (list(range(10)) * 4, True),
        (list(range(12)) * 3, False),  # three times
        ([*range(11), *range(12), *range(12), *range(12)], False),
        ([7] * 31, False),
        ([7] * 32, True),
        ([1, 2, 2] * 11, True),
        (list(range(100)), False),
        ([], False),
    ],
)
def test_a_loop_is_a_run_of_tokens_four_times_in_a_row_at_the_end(
    ids: list[int], looping: bool
) -> None:
    assert loops(ids) is looping


def test_an_answer_ends_for_the_first_reason_that_there_is() -> None:
    def ended(tokens: Sequence[int], limit: int) -> tuple[str | None, int]:
        answer, rules = Answering(Question([5], limit)), EndRules({1}, lambda ids: ids[-1] == 3)
        for token in tokens:
            rules.take(answer, token)
            if answer.finish is not None:
                break
        return answer.finish, len(answer.ids)

    assert ended([4, 5, 1, 4], 9) == ("stop", 2)
    assert ended([4, 5, 3, 4], 9) == ("stop", 3)
    assert ended([4, 5, 6, 4], 3) == ("length", 3)
    assert ended([4, 5, 6, 1], 4) == ("stop", 3)
    assert ended([4] * 50, 50) == ("loop", 32)
    assert ended([9, *[4] * 50], 50) == ("loop", 40)  # it is looked at every eight tokens


def test_the_limit_follows_the_source_unless_a_number_is_asked_for() -> None:
    assert [
        AnswerLimit(1024, from_source=True).for_source(n) for n in (0, 10, 159, 160, 161, 900)
    ] == [
        *(64, 124, 1018),
        *(1024, 1024, 1024),
    ]
    assert AnswerLimit(1024, from_source=True).signature == "1024,6x+64"
    assert [AnswerLimit(90, from_source=False).for_source(n) for n in (1, 500)] == [90, 90]
    assert AnswerLimit(90, from_source=False).signature == 90


def test_each_answer_of_a_base_model_ends_for_its_own_reason(
    base: Path, bare: str, caplog: pytest.LogCaptureFixture
) -> None:
    sources = ("the nurse", "the cook", "the singer", "here the writer", "the writer")
    made, store = plan(base, corpus(*sources), prompt=bare), MemoryStore()
    with caplog.at_level(logging.WARNING):
        tally = made.translate(store, range(len(made.sizes)), lambda *_: None)
    found = made.collect(store)
    assert not isinstance(found, int)
    nurse, cook, singer, here, writer = found.translations
    assert (nurse.text, cook.text) == ("die Pflegerin kam", "der Koch schlief")
    assert (cook.raw or "").split() == ["der", "Koch", "schlief"]  # not a word of the next line
    assert (singer.text, singer.reason) == (None, "loop")
    assert (singer.raw or "").split() == ["de", "la", "manera"] * 10 + ["de", "la"]
    assert (writer.text, writer.reason) == (None, "truncated")
    # Two words in the source, and three: 6 × 2 + 64 and 6 × 3 + 64.
    assert [len((each.raw or "").split()) for each in (writer, here)] == [76, 82]
    assert found.noticed["untranslated"] == {"truncated": 2, "loop": 1}
    assert tally.execution["answers_given_up"] == {"loop": 1, "length": 2}
    orders, given_up = (record.getMessage() for record in caplog.records)
    assert orders.startswith("base has no chat template: such a model continues a text")
    assert given_up == (
        "3 of the first 5 answers were given up: 1 repeat themselves, 2 reached their most tokens"
    )


@pytest.mark.parametrize(("prompt", "warned"), [("plain", 1), ("few-shot", 0), ("tower", 0)])
def test_a_base_model_that_is_given_an_order_is_warned_of(
    base: Path, prompt: str, warned: int, caplog: pytest.LogCaptureFixture
) -> None:
    plan(base, corpus("nurse"), prompt=prompt)
    assert len(caplog.records) == warned
    assert all("--prompt few-shot" in record.getMessage() for record in caplog.records)


def test_a_chat_model_ends_its_answers_itself(
    chat: Path, bare: str, caplog: pytest.LogCaptureFixture
) -> None:
    nurse, cook = run(plan(chat, corpus("nurse", "cook"), prompt=bare)).translations
    assert (nurse.text, cook.text) == ("die Pflegerin kam", "der Koch schlief")
    assert (cook.raw or "").split() == ["der", "Koch", "schlief", "English:"]
    assert not caplog.records


@pytest.mark.parametrize("rows", [1, 2, 5, 16])
def test_answers_do_not_depend_on_what_shares_their_batch(rows: int, base: Path, bare: str) -> None:
    words = ["nurse", "cook", "singer", "writer"]
    sources = [" ".join(["the"] * (n % 5) + [words[n % 4]]) for n in range(20)]
    expected = {
        each: run(plan(base, corpus(each), prompt=bare)).translations[0].raw for each in sources
    }
    for order in (sources, sources[::-1]):
        found = run(plan(base, corpus(*order), prompt=bare, batch_rows=rows))
        raw = [translation.raw for translation in found.translations]
        assert raw == [expected[each] for each in order]


def test_answers_that_have_ended_leave_the_batch(base: Path) -> None:
    tokenizer = DecoderTokenizer.load(base)
    model = plan(base, corpus("nurse")).system.engine._model
    search = GreedySearch(model, pad=1, watch=lambda _: None)
    short, long = tokenizer.encode([{"role": "user", "content": "nurse"}]), None
    long = tokenizer.encode([{"role": "user", "content": "writer"}])
    questions = [Question(short, 80)] * 15 + [Question(long, 80)]
    answers = search.run(questions, EndRules(tokenizer.ends))
    assert [(each.finish, len(each.ids)) for each in answers] == [("stop", 3)] * 15 + [
        ("length", 80)
    ]
    # All 16 for three words and the end; then one alone, to its 80th token.
    assert search.row_steps == 16 * 4 + 76


@pytest.mark.parametrize(
    ("template", "prompt", "limit"),
    [
        (OPEN, "", "1024,6x+64"),
        (f"{OPEN}<think>", "", 1024),
        (f"{OPEN}{{# </think> is cut from earlier turns #}}", "", 1024),
        (OPEN, '[answer]\nbetween = ["<a>", "</a>"]', 1024),
        (OPEN, '[answer]\nlines = "alternatives"', 1024),
        (None, "", "1024,6x+64"),
    ],
)
def test_where_an_answer_may_think_its_limit_does_not_follow_the_source(
    template: str | None, prompt: str, limit: object, tmp_path: Path
) -> None:
    path = tmp_path / "own.toml"
    path.write_text(PROMPT + prompt, encoding="utf-8")
    folder = make_chain(tmp_path / "model", {"writer": "w0"}, template=template)
    identity = plan(folder, corpus("writer"), prompt=str(path)).identity
    assert identity["answer_tokens"] == limit
    asked_for = plan(folder, corpus("writer"), prompt=str(path), answer_tokens=7)
    assert asked_for.identity["answer_tokens"] == 7
    line = ",line" if template is None else ""
    assert identity["decoding"] == f"greedy,noloop{line}"


def test_a_sentence_with_the_name_of_a_special_token_is_read_with_a_hole(
    chat: Path, bare: str, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(chat, tmp_path / "turns"))
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    # As the marks between turns in Gemma's: special, but without a role in the tokenizer's config.
    mark = {"id": content["model"]["vocab"]["w7"], "content": "<turn>", "special": True}
    content["added_tokens"].append({**content["added_tokens"][0], **mark})
    content["model"]["vocab"]["<turn>"] = content["model"]["vocab"].pop("w7")
    path.write_text(json.dumps(content), encoding="utf-8")
    assert "<turn>" not in AutoTokenizer.from_pretrained(folder).all_special_tokens
    sources = ("the nurse", "a <turn> nurse", "nurse <turn>")
    noticed = run(plan(folder, corpus(*sources), prompt=bare)).noticed
    assert noticed["examples"]["source_unknown"] == ["s0", "s1", "s2"]
    tokenizer = DecoderTokenizer.load(folder)
    holes = [[text[slice(*at)] for at in tokenizer.unknown_places(text)] for text in sources]
    assert holes == [["the"], ["a", "<turn>"], ["<turn>"]]


def test_turns_for_a_model_without_a_template_stand_behind_each_other() -> None:
    def turns(*contents: str) -> list[dict[str, str]]:
        roles = ["user", "assistant"] * len(contents)
        return [
            {"role": role, "content": content}
            for role, content in zip(roles, contents, strict=False)
        ]

    assert as_plain_text(turns("German:", "Ja.", "German:")) == "German: Ja.\n\nGerman:"
    assert as_plain_text(turns("German: ", "Ja.", "German: ")) == "German: Ja.\n\nGerman: "
    assert as_plain_text(turns("Translate.\n\nYes.", "Ja.", "No.")) == (
        "Translate.\n\nYes.\n\nJa.\n\nNo."
    )


@pytest.mark.parametrize("kind", ["window", "state"])
def test_models_with_other_caches_give_what_one_prompt_after_the_other_gives(
    kind: str, base: Path, bare: str, tmp_path: Path
) -> None:
    """One that sees only the last tokens, and one whose state no row can leave. They are untrained:
    what they say is noise."""
    from transformers import (
        Gemma3ForCausalLM,
        Gemma3TextConfig,
        MambaConfig,
        MambaForCausalLM,
    )

    tokenizer = AutoTokenizer.from_pretrained(base)
    tokens: dict[str, Any] = {"vocab_size": len(tokenizer), "pad_token_id": 1, "eos_token_id": 1}
    tokens |= {"bos_token_id": None, "hidden_size": 32, "num_hidden_layers": 2}
    torch.manual_seed(0)
    model: Any
    if kind == "window":
        sizes = {"intermediate_size": 48, "num_attention_heads": 4, "num_key_value_heads": 2}
        windows = {"head_dim": 8, "sliding_window": 6, "initializer_range": 0.3}
        layers = ["sliding_attention", "full_attention"]
        model = Gemma3ForCausalLM(
            Gemma3TextConfig(**tokens, **sizes, **windows, layer_types=layers)
        )
    else:
        model = MambaForCausalLM(MambaConfig(**tokens, state_size=4, initializer_range=0.3))
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    sources = ["the nurse", "the the the the the cook", "singer", "a writer the", "w5 w9 w8 w7"]
    found = run(plan(tmp_path / "model", corpus(*sources), prompt=bare, answer_tokens=24))
    raw = [translation.raw for translation in found.translations]
    lines = [text.split("\n")[0] for text in continued(tmp_path / "model", sources, 24)]
    assert [(text or "").split("\n")[0] for text in raw] == lines
    assert len(set(lines)) > 1
