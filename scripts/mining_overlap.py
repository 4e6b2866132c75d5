"""What is mined from a treebank's own trees and from our parses of its text: how far the two agree.

    python scripts/mining_overlap.py --conllu en_gum-ud-test.conllu --occupations inc_occ_gender.csv --stanza-dir DIR

`--conllu` takes several files, gzipped ones too. Sentences and words are the treebank's; tags, lemmas and dependencies
are parsed again. A find is a profession and a pronoun, whichever pattern ties them, before any filter.

Limits: from plain text the two agree less, for errors in sentences and words come in. Which finds are right is not
asked. The models of Stanza must not have been trained on the file: those of ``stanza_resources/en`` were on EWT.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT)]

from mtbias.errors import MtbiasError  # noqa: E402 - the paths above come first
from mtbias.mining.conllu_trees import read_trees  # noqa: E402
from mtbias.mining.matcher import find  # noqa: E402
from mtbias.mining.occupations import read_occupations  # noqa: E402
from mtbias.mining.parsed_sentence import ParsedSentence  # noqa: E402
from mtbias.mining.patterns import Pattern, read_patterns  # noqa: E402
from mtbias.mining.word_filter import WordFilter  # noqa: E402
from mtbias.morphology.analysis_cache import parse_feats  # noqa: E402
from mtbias.morphology.stanza_models import PARSER, find_package  # noqa: E402
from mtbias.stats.resampling import wilson_percent  # noqa: E402


def overlap(
    pairs: Iterable[tuple[ParsedSentence, ParsedSentence]], patterns: Sequence[Pattern], listed: frozenset[str]
) -> Counter[str]:
    """How many finds are in both trees of a sentence, the treebank's and ours, or in one alone."""
    counts: Counter[str] = Counter()
    for gold, parsed in pairs:
        given, ours = (
            {(each.profession, each.pronoun) for each in find(tree, patterns, listed)} for tree in (gold, parsed)
        )
        counts.update({"both": len(given & ours), "treebank alone": len(given - ours), "ours alone": len(ours - given)})
    return counts


def share_of_both(both: int, alone: int) -> str:
    """The share of one side's finds that the other has too, with Wilson's 95 % interval."""
    interval = wilson_percent(both, both + alone)
    if interval is None:
        return "no finds"
    return f"{100 * both / (both + alone):.1f} % are in both (95 % interval {interval[0]:.1f} to {interval[1]:.1f})"


def parsed_again(sentences: Sequence[ParsedSentence], stanza_dir: Path) -> list[ParsedSentence]:
    """The sentences with the tags and dependencies that Stanza finds for their words.

    Raises:
        MissingResourceError: models are missing in `stanza_dir`.
    """
    import stanza

    find_package("en", stanza_dir, PARSER)
    if not sentences:
        return []
    pipeline: Any = stanza.Pipeline(
        "en", dir=str(stanza_dir), processors="tokenize,pos,lemma,depparse", package=None, verbose=False,
        tokenize_pretokenized=True, download_method=None, use_gpu=False,
    )  # fmt: skip
    document = pipeline([[node.form for node in sentence.nodes] for sentence in sentences])
    again = []
    for sentence, found in zip(sentences, document.sentences, strict=True):
        nodes = (
            replace(
                node,
                upos=word.upos,
                xpos=word.xpos,
                deprel=word.deprel,
                head=word.head - 1,
                lemma=word.lemma,
                feats=parse_feats(word.feats),
            )
            for node, word in zip(sentence.nodes, found.words, strict=True)
        )
        again.append(replace(sentence, nodes=tuple(nodes)))
    return again


def main(*, conllu: list[Path], occupations: Path, stanza_dir: Path, patterns: Path | None = None) -> None:
    """Print the numbers; see the head of this file."""
    table, chosen = read_occupations(occupations), read_patterns(patterns)
    words = WordFilter(table.words, (word for pattern in chosen for word in pattern.pronouns))
    trees = [tree for path in conllu for _, tree in read_trees(path)]
    kept = [tree for tree in trees if words(tree.text)]
    counts = overlap(zip(kept, parsed_again(kept, stanza_dir), strict=True), chosen, table.words)
    print(f"{len(trees)} sentences, {len(kept)} with a listed noun and a pronoun")
    for name in ("both", "treebank alone", "ours alone"):
        print(f"{name:<16}{counts[name]:>6}")
    for whose, alone in (("the treebank's", "treebank alone"), ("ours", "ours alone")):
        print(f"of {whose}: {share_of_both(counts['both'], counts[alone])}")


if __name__ == "__main__":
    try:
        cyclopts.run(main)
    except MtbiasError as error:
        sys.exit(f"error: {error}")
