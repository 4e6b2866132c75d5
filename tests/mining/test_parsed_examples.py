"""The patterns' examples as plain text: parsed by Stanza, and found again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from mtbias.english.dependencies import ParsedSentence
from mtbias.mining.patterns import Pattern, find, read_patterns
from mtbias.morphology.english_parser import parsed_sentence
from tests.mining.small_trees import examples, tree

PATTERNS = read_patterns()
EXAMPLES = examples()
NOT_FOUND = {"10", "10-longer", "13-name"}
"""The small tagger takes a trade at the beginning of a sentence and before a name for a part of the
name (NNP)."""


@pytest.fixture(scope="module")
def parsed(stanza_dir: Path) -> Mapping[str, ParsedSentence]:
    """The parse of each example, with a full stop, by the text of the example."""
    import stanza

    pipeline = stanza.Pipeline(
        "en", dir=str(stanza_dir), processors="tokenize,pos,lemma,depparse", package=None, verbose=False,
        tokenize_pretokenized=True, download_method=None, use_gpu=False,
    )  # fmt: skip
    texts = [tree(example["tree"]).text for each in EXAMPLES.values() for example in each]
    sentences = pipeline([[*text.split(), "."] for text in texts]).sentences
    return {
        text: parsed_sentence(f"{text} .", each)
        for text, each in zip(texts, sentences, strict=True)
    }


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_the_parsed_example_is_found_by_a_pattern_of_its_number(
    parsed: Mapping[str, ParsedSentence], pattern: Pattern
) -> None:
    for example in EXAMPLES[pattern.name]:
        sentence = parsed[tree(example["tree"]).text]
        finds = find(sentence, PATTERNS, {example["profession"].lower()})
        pairs = {(sentence.nodes[f.profession].form, sentence.nodes[f.pronoun].form) for f in finds}
        assert pairs == (
            set() if pattern.name in NOT_FOUND else {(example["profession"], example["pronoun"])}
        )
        assert not pairs or any(each.number == pattern.number for each in finds)
