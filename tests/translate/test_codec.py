"""From sentences to token ids and back, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mtbias.errors import ModelError
from mtbias.translate.seq2seq.codec import Codec
from mtbias.translate.seq2seq.decoding import Decoding
from mtbias.translate.seq2seq.engine import Bounds
from mtbias.translate.seq2seq.families import Direction
from mtbias.translate.seq2seq.transformers_engine import TransformersEngine

from .conftest import Checkpoint
from .reference import SOURCES, change

DECODING = Decoding(beams=3)


@pytest.mark.parametrize(
    ("name", "lang", "direction", "first", "generated"),
    [
        ("marian-multi", "ar", Direction(None, None, ">>ara<< "), ">>ara<<", None),
        ("m2m100", "de", Direction("en", "__de__", ""), "__en__", "__de__"),
        ("mbart50", "de", Direction("en_XX", "de_DE", ""), "en_XX", "de_DE"),
        ("nllb", "de", Direction("eng_Latn", "deu_Latn", ""), "eng_Latn", "deu_Latn"),
        ("madlad", "de", Direction(None, None, "<2de> "), "<2de>", None),
    ],
)
def test_every_family_there_and_back(
    checkpoint: Checkpoint,
    name: str,
    lang: str,
    direction: Direction,
    first: str,
    generated: str | None,
) -> None:
    codec = Codec(checkpoint(name), lang)
    assert codec.direction == direction
    encoded = codec.encode(SOURCES)
    for one in encoded:
        tokens = codec._tokenizer.convert_ids_to_tokens(one.ids)
        assert (tokens[0], tokens[-1]) == (first, "</s>")
        assert not {first, "</s>", "<unk>"} & set(tokens[1:-1])
        assert not one.cut
    engine = TransformersEngine(checkpoint(name))
    made = engine.generate([e.ids for e in encoded], Bounds(DECODING, 40, codec.forced))
    if generated is not None:
        assert {codec._tokenizer.convert_ids_to_tokens(one.ids)[0] for one in made} == {generated}
    texts = codec.decode([one.ids for one in made])
    assert all(texts)
    assert not [text for text in texts if text.startswith(("<", ">", "__", "de_DE", "deu_Latn"))]
    assert texts == [text.strip() for text in texts]
    # Language tokens are taken out wherever they stand.
    (language,) = codec._tokenizer.convert_tokens_to_ids([generated or first])
    assert codec.decode([[language, *one.ids, language] for one in made]) == texts


@pytest.mark.parametrize("name", ["marian", "m2m100", "mbart50", "nllb"])
def test_a_text_that_is_too_long_is_cut_and_marked(checkpoint: Checkpoint, name: str) -> None:
    codec = Codec(checkpoint(name), "de")
    short, long = codec.encode([SOURCES[0], " ".join(SOURCES * 8)])
    assert (short.cut, long.cut) == (False, True)
    assert len(long.ids) == codec.most_tokens == 256  # the positions of these checkpoints
    assert codec._tokenizer.convert_ids_to_tokens(long.ids)[-1] == "</s>"
    assert long.ids[:1] == short.ids[:1] or name == "marian"  # the source language is still there
    assert codec.encode([]) == []


@pytest.mark.parametrize(
    ("name", "lang", "token", "piece"),
    [("marian-multi", "ar", ">>ara<<", "▁>>ara<<"), ("m2m100", "de", "__de__", "__de__")],
)
def test_a_language_token_that_is_taken_for_text_is_an_error(
    copied: Callable[[str], Path], name: str, lang: str, token: str, piece: str
) -> None:
    # The vocabulary has it once more, as an ordinary piece: the tokenizer does not know what that
    # is.
    folder = copied(name)
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    number = vocabulary.pop(
        next(known for known in vocabulary if known.startswith("▁") and len(known) > 2)
    )
    (folder / "vocab.json").write_text(json.dumps(vocabulary | {piece: number}), encoding="utf-8")
    codec = Codec(folder, lang)
    with pytest.raises(
        ModelError,
        match=f"a translation begins with a language token: '{token}.*does not know its own",
    ):
        codec.decode([[number, *codec.encode(SOURCES)[0].ids[1:]]])


def test_a_prefix_that_is_split_is_an_error(copied: Callable[[str], Path]) -> None:
    # The pieces are in the vocabulary, but nothing says that they are one token: "<2de>" is read as
    # a word, "▁<2de>".
    folder = copied("madlad")
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["added_tokens"] = [
        entry for entry in content["added_tokens"] if not entry["content"].startswith("<2")
    ]
    path.write_text(json.dumps(content), encoding="utf-8")
    change(folder / "tokenizer_config.json", extra_special_tokens=[])
    with pytest.raises(
        ModelError, match="the tokenizer splits '<2de>' instead of reading it as one token"
    ):
        Codec(folder, "de").encode(SOURCES)
