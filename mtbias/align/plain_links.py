"""What plain links between words say about the entity of every pair: for aligners that give links, no probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from mtbias.align.entity_scores import MAX_SHARE, EntityScores, prior_links
from mtbias.align.link_model import counted, distinct_keys, prior_counts
from mtbias.align.sentence_pairs import IndexedPairs
from mtbias.language.definition import Language

# Of an encoder's or a sampler's links some in ten are wrong, of the tables' translations some in a thousand: the only
# known translation is the entity's, although a link gives it to another word (`entity_words.SURELY_EXPLAINED`).
BELIEVED = 0.9
"""How surely a word is explained by a link to another source word."""

Links = AbstractSet[tuple[int, int]]
"""Links of one pair: (source word, target word), counted from 0."""


def scores_of_links(
    pairs: IndexedPairs, links: Sequence[tuple[Links, Links]], language: Language
) -> Iterator[EntityScores | None]:
    """Scores of every pair in order; None where a side is empty or the entity is no word.

    A link of both directions is 1, of one direction one half. The lexicon is the Dice coefficient of the links of both
    directions over the corpus, to which what the tables, a common spelling and cognates know is added a priori, as for
    the statistical model (`prior_links`).

    Args:
        pairs: the sentence pairs.
        links: of each pair, from source to target and back.
        language: that of the translations.
    """
    source, target = pairs.source, pairs.target
    width = len(target.types)
    starts = list(zip(source.offsets.tolist(), target.offsets.tolist(), strict=True))
    source_ids, target_ids = source.ids.tolist(), target.ids.tolist()
    mutual = [
        source_ids[s + i] * width + target_ids[t + j]
        for (s, t), (forward, backward) in zip(starts[:-1], links, strict=True)
        for i, j in forward & backward
    ]
    keys = distinct_keys(source, target)
    counts = prior_counts(keys, prior_links(pairs, language))
    counts += np.bincount(np.searchsorted(keys, np.array(mutual, np.int64)), minlength=len(keys))
    table = counted(keys, counts, source, target)
    common = np.bincount(target.ids, minlength=width) > MAX_SHARE * len(target.lengths)
    for (first, head), qualifier, (s, t), (_, end), (forward, backward) in zip(
        pairs.heads, pairs.from_qualifier, starts, starts[1:], links, strict=False
    ):
        if head < 0 or end == t:
            yield None
            continue
        word, types = source_ids[s + head], target.ids[t:end]
        others = {j for i, j in forward | backward if not qualifier <= i <= head}
        members = {j for i, j in forward | backward if first <= i <= head}
        places = range(end - t)
        yield EntityScores(
            np.array([0.5 * ((head, j) in forward) + 0.5 * ((head, j) in backward) for j in places]),
            np.array([float(j in members) for j in places]),
            table.dice(table.rows(word * width + types), word, types),
            np.array([BELIEVED * (j in others) for j in places]),
            ~common[types],
        )
