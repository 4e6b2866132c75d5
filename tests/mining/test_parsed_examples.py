"""The patterns' examples as plain text: parsed by Stanza, and found again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from mtbias.mining.conllu_trees import read_trees
from mtbias.mining.matcher import find
from mtbias.mining.parsed_sentence import ParsedSentence
from mtbias.mining.patterns import Pattern, read_patterns

PATTERNS = read_patterns()
NOT_FOUND = {"10", "10-longer", "13-name"}
"""The small tagger takes a trade at the beginning of a sentence and before a name for a part of the name (NNP)."""


@pytest.fixture(scope="module")
def parsed(stanza_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, ParsedSentence]:
    """The parse of each example, with a full stop, by the text of the example."""
    import stanza

    pipeline = stanza.Pipeline(
        "en", dir=str(stanza_dir), processors="tokenize,pos,lemma,depparse", package=None, verbose=False,
        tokenize_pretokenized=True, download_method=None, use_gpu=False,
    )  # fmt: skip
    texts = [example.sentence().text for pattern in PATTERNS for example in pattern.examples]
    path = tmp_path_factory.mktemp("examples") / "examples.conllu"
    document = pipeline([[*text.split(), "."] for text in texts])
    path.write_text(f"{document:C}\n\n", encoding="utf-8")
    return dict(zip(texts, (sentence for _, sentence in read_trees(path)), strict=True))


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_the_parsed_example_is_found_by_a_pattern_of_its_number(
    parsed: Mapping[str, ParsedSentence], pattern: Pattern
) -> None:
    for example in pattern.examples:
        sentence = parsed[example.sentence().text]
        finds = find(sentence, PATTERNS, {example.profession.lower()})
        pairs = {(sentence.nodes[f.profession].form, sentence.nodes[f.pronoun].form) for f in finds}
        assert pairs == (set() if pattern.name in NOT_FOUND else {(example.profession, example.pronoun)})
        assert not pairs or any(each.number == pattern.number for each in finds)
