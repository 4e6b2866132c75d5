"""Sentences with their dependencies: what Stanza gives, at true places, for those that are wanted
alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.morphology import english_parser
from mtbias.morphology.english_parser import EnglishParser
from mtbias.morphology.stanza_models import PARSER, StanzaPackage, find_package

PASSAGES = [
    "The doctor didn't call. She told the nurse that he was gonna leave.",
    "  Odd\u2028breaks, and\ta tab:  the writer's dog saw himself.  ",
    "Nothing here.",
]


@pytest.fixture(scope="module")
def package(stanza_dir: Path) -> StanzaPackage:
    return find_package("en", stanza_dir, PARSER)


def test_places_are_true_to_the_passage(parser: EnglishParser) -> None:
    parses = parser.parse(PASSAGES, lambda _: True)
    assert parses.sentences == len(parses.parsed) >= 4
    for sentence in parses.parsed:
        passage = PASSAGES[sentence.passage]
        assert passage[sentence.offset :].startswith(sentence.parsed.text)
        for node in sentence.parsed.nodes:
            written = sentence.parsed.text[slice(*node.span)]
            assert node.form in {written, "did", "n't", "gon", "na", "going", "to", "writer", "'s"}


def test_only_sentences_that_are_wanted_are_parsed(parser: EnglishParser) -> None:
    parses = parser.parse(PASSAGES, lambda text: "nurse" in text)
    assert [(sentence.passage, sentence.offset) for sentence in parses.parsed] == [
        (0, 24)
    ]  # behind "The doctor didn't call. "
    assert parses.sentences >= 4


def test_a_sentence_that_is_too_long_is_counted(
    parser: EnglishParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(english_parser, "MOST_TOKENS", 5)
    parses = parser.parse(["The nurse left.", "The nurse left the house with him."], lambda _: True)
    assert (len(parses.parsed), parses.too_long) == (1, 1)


def test_nothing_is_loaded_for_nothing(package: StanzaPackage) -> None:
    parser = EnglishParser(package, "no such device")
    assert parser.parse([], lambda _: True).parsed == ()


def test_the_trees_are_those_of_stanzas_pipeline(parser: EnglishParser, stanza_dir: Path) -> None:
    import stanza

    pipeline = stanza.Pipeline(
        "en",
        dir=str(stanza_dir),
        processors=",".join(PARSER),
        download_method=None,
        verbose=False,
        use_gpu=False,
    )
    text = "The teacher who had met the nurse said she would write his letter herself. He didn't know the singer."
    own = [
        [(w.text, w.lemma, w.upos, w.xpos, w.head - 1, w.deprel) for w in sentence.words]
        for sentence in pipeline(text).sentences
    ]
    found = parser.parse([text], lambda _: True).parsed
    assert [
        [(n.form, n.lemma, n.upos, n.xpos, n.head, n.deprel) for n in f.parsed.nodes] for f in found
    ] == own
