"""Decoders through transformers: answers are those of one prompt after the other, whatever shares
their batch."""

from __future__ import annotations

import json
import shutil
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch

from mtbias.errors import ModelError, SettingError, UsageError
from mtbias.translate.language_models.decoder_system import DecoderEngine
from mtbias.translate.language_models.decoder_tokenizer import DecoderTokenizer
from mtbias.translate.seq2seq.checkpoints import is_decoder
from mtbias.translate.seq2seq.engine import OutOfMemory
from mtbias.translate.system import MemoryStore
from mtbias.types import Instance, SourceSentence, Span, Stereotype
from tests.built import built

from .conftest import Checkpoint
from .decoder_runs import continued, plan, run
from .endpoint_runs import Corpus
from .reference import change
from .small_decoder import PAIRS, as_said, demo_pairs, make_decoder


@pytest.fixture(scope="module")
def pairs() -> list[tuple[str, str]]:
    return demo_pairs()


@pytest.fixture(scope="module")
def decoder(pairs: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "small", lambda folder: make_decoder(folder, pairs))


@pytest.fixture
def corpus(pairs: list[tuple[str, str]]) -> Corpus:
    rows = [SourceSentence(f"s{n}", n, source) for n, (source, _) in enumerate(pairs)]
    return Corpus([*rows, SourceSentence("again", len(rows), pairs[0][0])])


def one_by_one(folder: Path, sources: list[str], limit: int) -> list[str]:
    """The answers to the prompt ``plain`` by the plain loop (`continued`)."""
    asked = "Translate the following sentence from English into German. Answer with the translation only.\n\n"
    prompts = [f"<|user|>{asked}{source}<|end|><|assistant|>" for source in sources]
    return continued(folder, prompts, limit)


def test_batches_give_what_one_prompt_after_the_other_gives(
    decoder: Path, corpus: Corpus, pairs: list[tuple[str, str]]
) -> None:
    found = run(plan(decoder, corpus))
    raw = [translation.raw for translation in found.translations]
    assert raw[:8] == one_by_one(decoder, [source for source, _ in pairs[:8]], 1024)
    assert raw[:-1] == [
        as_said(n, target) for n, (_, target) in enumerate(pairs)
    ]  # it is a model that translates
    assert [t.text for t in found.translations[:-1]] == [target for _, target in pairs]
    assert raw[-1] == raw[0]
    assert found.noticed["cleaned"] == {"introduction": PAIRS // 4, "quotes": PAIRS // 4}


def test_search_is_greedy_whatever_the_checkpoint_says(
    decoder: Path, corpus: Corpus, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(decoder, tmp_path / "penalties"))
    change(
        folder / "generation_config.json",
        num_beams=3,
        repetition_penalty=1.8,
        no_repeat_ngram_size=2,
    )
    assert [t.raw for t in run(plan(folder, corpus)).translations] == [
        t.raw for t in run(plan(decoder, corpus)).translations
    ]


def test_a_template_that_asks_for_the_date_is_given_one_date(
    decoder: Path, corpus: Corpus, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(decoder, tmp_path / "dated"))
    template = folder / "chat_template.jinja"
    template.write_text("\nToday: {{ strftime_now('%d %b %Y') }}\n" + template.read_text())
    made = plan(folder, corpus)
    assert made.identity["template"] == "chat, 26 Jul 2024"
    first = made.system.tokenizer.decode(made.encoded[0])
    assert first == "\nToday: 26 Jul 2024\n" + plan(decoder, corpus).system.tokenizer.decode(
        plan(decoder, corpus).encoded[0]
    )


@pytest.mark.parametrize("rows", [1, 3, PAIRS])
def test_batches_of_any_size_give_the_same(rows: int, decoder: Path, corpus: Corpus) -> None:
    made = plan(decoder, corpus, batch_rows=rows)
    assert max(made.sizes) == rows
    assert sum(made.sizes) == PAIRS
    assert run(made).translations == run(plan(decoder, corpus)).translations


def test_what_does_not_fit_is_halved(
    decoder: Path, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = run(plan(decoder, corpus))
    made, sizes, answer = plan(decoder, corpus), list[int](), DecoderEngine.answer

    def small(self: DecoderEngine, questions: Any, **more: Any) -> Any:
        sizes.append(len(questions))
        if len(questions) > 5:
            raise OutOfMemory("no room")
        return answer(self, questions, **more)

    monkeypatch.setattr(DecoderEngine, "answer", small)
    store = MemoryStore()
    tally = made.translate(store, range(len(made.sizes)), lambda *_: None)
    assert made.collect(store) == expected
    assert tally.execution["batches_halved"] == sizes.count(16) + sizes.count(8)
    assert sizes.count(16) < len(made.sizes)  # what was too many once is not tried again

    monkeypatch.setattr(
        DecoderEngine, "answer", lambda *_, **__: (_ for _ in ()).throw(OutOfMemory("no room"))
    )
    with pytest.raises(
        ModelError, match=r"one prompt of \d+ tokens with an answer of up to 300 does not fit"
    ):
        run(plan(decoder, corpus, answer_tokens=300))


def test_when_halves_begin_nothing_is_left_of_what_ran_out_of_memory(
    decoder: Path, corpus: Corpus
) -> None:
    made = plan(decoder, corpus, batch_rows=PAIRS)
    expected = run(plan(decoder, corpus))
    failed: list[weakref.ref[Any]] = []
    alive_later: list[int] = []
    calls = 0

    def seen(_: Any, __: Any, found: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 5:
            failed.extend(map(weakref.ref, (found.logits, found.past_key_values)))
            raise torch.OutOfMemoryError("CUDA out of memory")
        alive_later.append(sum(one() is not None for one in failed))

    hook = made.system.engine._model.register_forward_hook(seen)
    found = run(made)
    hook.remove()
    assert found == expected
    assert len(failed) == 2
    assert set(alive_later) == {0}


def test_a_run_that_was_killed_answers_only_the_rest(decoder: Path, corpus: Corpus) -> None:
    made, store = plan(decoder, corpus), MemoryStore()
    first = made.translate(store, [0], lambda *_: None)
    assert (first.resumed, first.generated) == (0, 16)
    assert made.collect(store) == 1
    again = plan(decoder, corpus)
    assert again.key == made.key
    rest = again.translate(store, range(2), lambda *_: None)
    assert (rest.resumed, rest.generated) == (16, PAIRS - 16)
    assert again.collect(store) == run(plan(decoder, corpus))


def test_an_answer_at_the_limit_is_cut_off(decoder: Path, corpus: Corpus) -> None:
    found = run(plan(decoder, corpus, answer_tokens=4))
    assert found.noticed["untranslated"]["truncated"] > PAIRS * 0.8
    assert all(t.text is None for t in found.translations if t.reason == "truncated")


def test_sources_that_the_tokenizer_reads_with_a_hole_are_counted(
    decoder: Path, corpus: Corpus, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(decoder, tmp_path / "holes"))
    assert run(plan(folder, corpus, answer_tokens=2)).noticed["source_unknown"] == 0
    # A tokenizer with an unknown token, and without a piece for Q.
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["model"]["vocab"]["Q"]
    content["model"]["unk_token"] = "<|system|>"
    path.write_text(json.dumps(content), encoding="utf-8")
    change(folder / "tokenizer_config.json", unk_token="<|system|>")
    source = "The pilot Q saw the Queen."
    people = [
        (name, Span(source.index(name), source.index(name) + 5)) for name in ("pilot", "Queen")
    ]
    rows = [
        Instance(name, n, source, at, name, None, Stereotype.NONE, "own", 0)
        for n, (name, at) in enumerate(people)
    ]
    noticed = run(plan(folder, Corpus([*corpus.instances, *rows]), answer_tokens=2)).noticed
    assert (noticed["source_unknown"], noticed["examples"]["source_unknown"]) == (
        2,
        ["pilot", "Queen"],
    )
    assert (noticed["entity_unknown"], noticed["examples"]["entity_unknown"]) == (1, ["Queen"])


def test_the_identity_names_all_that_answers_depend_on(decoder: Path, corpus: Corpus) -> None:
    identity = plan(decoder, corpus).identity
    assert identity["model"] == "small"
    assert str(identity["revision"]).startswith("sha256:")
    assert identity["template"] == "chat"
    assert str(identity["prompt"]).startswith("plain/1#")
    assert (
        plan(decoder, corpus, batch_rows=3).identity == identity
    )  # in fp32 batches change nothing
    for other in ({"prompt": "tower"}, {"answer_tokens": 9}, {"dtype": "bfloat16"}):
        assert plan(decoder, corpus, **other).identity != identity
        assert plan(decoder, corpus, **other).key != plan(decoder, corpus).key


def test_a_base_model_without_a_chat_template_is_given_the_plain_text(
    decoder: Path, corpus: Corpus, tmp_path: Path
) -> None:
    folder = shutil.copytree(decoder, tmp_path / "base")
    (folder / "chat_template.jinja").unlink()
    made = plan(folder, corpus, prompt="tower")
    assert made.identity["template"] == "plain"
    text = made.system.tokenizer.decode(made.encoded[0])
    assert (
        text
        == f"Translate the following text from English into German.\nEnglish: {corpus.instances[0].source}\nGerman:"
    )


def test_a_template_that_refuses_the_prompt_says_so(
    decoder: Path, corpus: Corpus, tmp_path: Path
) -> None:
    folder = shutil.copytree(decoder, tmp_path / "strict")
    (folder / "chat_template.jinja").write_text("{{ raise_exception('no such role') }}")
    with pytest.raises(
        ModelError,
        match=r"filling in the chat template failed: TemplateError: no such role; choose",
    ):
        run(plan(folder, corpus))


def test_weights_that_are_no_numbers_are_refused(
    decoder: Path, corpus: Corpus, tmp_path: Path
) -> None:
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(decoder, tmp_path / "damaged")
    weights = load_file(folder / "model.safetensors")
    weights["model.norm.weight"][3] = torch.nan
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(
        ModelError, match=r"the weights model.norm.weight have values that are infinite"
    ):
        run(plan(folder, corpus))


def test_what_is_a_decoder(decoder: Path, checkpoint: Checkpoint, tmp_path: Path) -> None:
    assert is_decoder(decoder)
    assert not is_decoder(checkpoint("m2m100"))
    assert not is_decoder(tmp_path)
    # A Marian model's decoder alone has a class of its own, and its config says that it belongs to
    # an encoder.
    config = {"architectures": ["MarianForCausalLM"], "is_encoder_decoder": True}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert not is_decoder(tmp_path)
    for content in ("[]", "{", '{"architectures": null}', '{"architectures": []}'):
        (tmp_path / "config.json").write_text(content)
        assert not is_decoder(tmp_path)


@pytest.mark.parametrize("kind", ["gemma3", "gpt2"])
def test_decoders_of_other_names_give_what_one_prompt_after_the_other_gives(
    kind: str, decoder: Path, corpus: Corpus, tmp_path: Path
) -> None:
    """A model that reads pictures too, and an old one. They are untrained: what they say is
    noise."""
    from transformers import (
        Gemma3Config,
        Gemma3ForConditionalGeneration,
        GPT2Config,
        GPT2LMHeadModel,
    )

    folder = shutil.copytree(decoder, tmp_path / kind)
    tokens = {"vocab_size": 900, "pad_token_id": 0, "eos_token_id": 1, "bos_token_id": None}
    sizes = {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
    }
    torch.manual_seed(0)
    if kind == "gemma3":
        text = {
            **tokens,
            **sizes,
            "num_key_value_heads": 2,
            "head_dim": 8,
            "initializer_range": 0.3,
        }
        vision = {**sizes, "image_size": 28, "patch_size": 14}
        config = Gemma3Config(
            text_config=text, vision_config=vision, mm_tokens_per_image=4, initializer_range=0.3
        )
        Gemma3ForConditionalGeneration(config).save_pretrained(folder)
    else:
        GPT2LMHeadModel(GPT2Config(**tokens, n_embd=32, n_layer=2, n_head=4)).save_pretrained(
            folder
        )
    assert is_decoder(folder)
    few = Corpus(corpus.instances[:7])
    found = run(plan(folder, few, answer_tokens=12))
    assert [t.raw for t in found.translations] == one_by_one(
        folder, [i.source for i in few.instances], 12
    )
    assert len({t.raw for t in found.translations}) > 1


def test_a_prompt_that_is_not_there_is_refused_before_anything_is_loaded(
    decoder: Path, corpus: Corpus
) -> None:
    with pytest.raises(UsageError, match="nope"):
        plan(decoder, corpus, prompt="nope")
    with pytest.raises(
        SettingError, match="dtype: expected float32, bfloat16, float16 for small, a language model"
    ):
        plan(decoder, corpus, engine="ct2", dtype="int8")


def test_a_tokenizer_that_drops_merges_at_random_is_refused(decoder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(decoder, tmp_path / "decoder"))
    content = json.loads((folder / "tokenizer.json").read_bytes())
    content["model"]["dropout"] = 0.1
    (folder / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ModelError, match=r"tokenizer\.json: dropout: expected none, got 0\.1"):
        DecoderTokenizer.load(folder)
