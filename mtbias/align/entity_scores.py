"""How surely each word of a translation renders the entity: from the probabilities of the link
model, or from the plain links of an aligner that gives no probabilities.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from mtbias.align.link_model import (
    LAMBDA,
    Cells,
    FloatArray,
    LinkCounts,
    TokenPairs,
    counted,
    distinct_keys,
    posteriors,
    prior_counts,
    train,
)
from mtbias.align.sentence_pairs import IndexedPairs, IntArray
from mtbias.english.words import hyphenated_parts, singulars
from mtbias.language.definition import Language
from mtbias.language.source import ENGLISH
from mtbias.reading.spelling import MIN_LETTERS, likeness, romanised, skeleton, source_letters
from mtbias.reading.target_words import EntityScores

GLOSSARY_LINKS = 1.0
"""Links added a priori to a pair of types that the plugin's nouns know as translations: one sure
link, on which a small corpus rests."""
# A word left in English is linked with itself: de "dem Cleaner", uk "допоміг CEO" would otherwise
# be unaligned.
SAME_SPELLING_LINKS = 1.0
"""Links added a priori to a pair of types of one spelling."""
ALIKE_LINKS = 0.5
"""Links added a priori to a pair of types that are spelt alike, times the share of letters that
they share."""
MAX_SHARE = 0.05
"""Share of the sentences: function words are in more, entities in fewer (WinoMT's occupations in up
to 4.6 %)."""


def model_scores(pairs: IndexedPairs, language: Language) -> Iterator[EntityScores | None]:
    """Scores of every pair in order by mtbias's own model; None where a side is empty or the entity
    is not a word.
    """
    tokens = TokenPairs(pairs.source, pairs.target)
    counts, null = train(tokens, prior_links(pairs, language))
    for first, last, cells in tokens.chunks():
        yield from _chunk_scores(pairs, counts, null, first, last, cells)


def prior_links(pairs: IndexedPairs, language: Language) -> tuple[IntArray, FloatArray]:
    """Keys of type pairs that the plugin's nouns or a common spelling know as translations, with
    their prior links.
    """
    width = len(pairs.target.types)
    numbers = {form: n for n, form in enumerate(pairs.target.types)}
    by_base: dict[str, set[int]] = {}
    for form, key in pairs.target_forms.items():
        for _, base in language.bases(form):
            by_base.setdefault(base, set()).add(numbers[key])
    alike, transliterated = _by_beginning(pairs), _by_consonants(language, by_base)
    glossary = _heads(language)
    types = {form: n for n, form in enumerate(pairs.source.types)}

    links: dict[int, float] = {}
    for form, key in pairs.source_forms.items():
        prior: dict[int, float] = defaultdict(float)
        if pairs.spoken is ENGLISH:
            translations = _translations(form, glossary)
        else:
            nouns = pairs.spoken.nouns(form)
            translations = set[str]().union(*(language.glossary.get(noun, ()) for noun in nouns))
        for translation in translations:
            prior |= dict.fromkeys(by_base.get(translation, ()), GLOSSARY_LINKS)
        # Words of two letters are spelt alike by chance (de "in", "am", "so").
        for target in by_base.get(form, ()) if len(form) > 2 else ():
            prior[target] += SAME_SPELLING_LINKS
        letters = source_letters(form, pairs.spoken)
        # A shorter word is no beginning of `alike`. One that is spelt the same has
        # `SAME_SPELLING_LINKS`.
        for target, other in alike.get(letters[:MIN_LETTERS], ()):
            ratio = likeness(letters, other)
            if ratio and form != pairs.target.types[target]:
                prior[target] += ALIKE_LINKS * ratio
        for target in transliterated.get(skeleton(letters), ()):
            prior[target] += ALIKE_LINKS

        for target, worth in prior.items():
            place = types[key] * width + target
            links[place] = max(worth, links.get(place, 0.0))
    keys = np.array(sorted(links), np.int64)
    return keys, np.array([links[int(k)] for k in keys])


def _heads(language: Language) -> dict[str, set[str]]:
    """Head of an English noun of the table → the forms that translate it.

    The model sees single words: "construction worker" helps "worker". The whole phrase counts in
    `align_entity`.
    """
    heads: dict[str, set[str]] = {}
    for english, forms in language.glossary.items():
        # "head of state": the head stands before the preposition.
        heads.setdefault(english.split(" of ")[0].split(" ")[-1], set()).update(forms)
    return heads


def _by_beginning(pairs: IndexedPairs) -> dict[str, list[tuple[int, str]]]:
    """Target types with their Latin letters by the first `MIN_LETTERS` of these, for words that
    begin alike (*president*, *presidente*).
    """
    types: dict[str, list[tuple[int, str]]] = {}
    for target, form in enumerate(pairs.target.types):
        letters = romanised(form)
        if len(letters) >= MIN_LETTERS:
            types.setdefault(letters[:MIN_LETTERS], []).append((target, letters))
    return types


def _by_consonants(
    language: Language, by_base: Mapping[str, AbstractSet[int]]
) -> dict[str, set[int]]:
    """Target types by their consonants, in scripts that `romanised` does not read (*senator*,
    سناتورة), with and without their endings.
    """
    types: dict[str, set[int]] = {}
    for base, targets in by_base.items():
        if romanised(base):
            continue
        for form in (base, language.stem(base)):
            consonants = skeleton(form)
            if len(consonants) >= MIN_LETTERS:
                types.setdefault(consonants, set()).update(targets)
    return types


def _translations(word: str, heads: Mapping[str, AbstractSet[str]]) -> set[str]:
    """Folded forms that the plugin knows as translations of an English word, or of a phrase with
    that head; of a hyphenated word that is unknown ("mine-owner", "groom-to-be") those of its head.
    """
    translations = set[str]().union(*(heads.get(noun, ()) for noun in singulars(word)))
    if translations or "-" not in word:
        return translations
    return _translations(hyphenated_parts(word)[1], heads)


def _chunk_scores(
    pairs: IndexedPairs,
    counts: LinkCounts,
    null: tuple[FloatArray, FloatArray],
    first: int,
    last: int,
    cells: Cells,
) -> Iterator[EntityScores | None]:
    source, target = pairs.source, pairs.target
    if not len(cells.pair):
        yield from [None] * (last - first)
        return
    forward, backward = posteriors(cells, counts, null, LAMBDA)
    link = np.sqrt(forward * backward)
    # `null` has shares of all words, `MAX_SHARE` is one of the sentences.
    common = MAX_SHARE * len(target.lengths) / max(len(target.ids), 1)
    lexicon = counts.dice(cells.pair, cells.source_type, cells.target_type)
    start = 0
    lengths = source.lengths[first:last].tolist(), target.lengths[first:last].tolist()
    for k, (rows, columns) in enumerate(zip(*lengths, strict=True), first):
        block = slice(start, start + rows * columns)
        start = block.stop
        begin, head = pairs.heads[k]
        if head < 0 or not columns:
            yield None
            continue
        at = slice(block.start + head * columns, block.start + (head + 1) * columns)
        entity = forward[block].reshape(rows, columns)[begin : head + 1].sum(axis=0)
        others = link[block].reshape(rows, columns).copy()
        others[pairs.from_qualifier[k] : head + 1] = 0.0
        types = target.ids[target.offsets[k] : target.offsets[k + 1]]
        yield EntityScores(
            link[at], entity, lexicon[at], others.max(axis=0), null[1][types] <= common
        )


# Of an encoder's or a sampler's links some in ten are wrong, of the tables' translations some in a
# thousand: the only known translation is the entity's, although a link gives it to another word
# (`mtbias.reading.candidates.SURELY_EXPLAINED`).
BELIEVED = 0.9
"""How surely a word is explained by a link to another source word."""

Links = AbstractSet[tuple[int, int]]
"""Links of one pair: (source word, target word), counted from 0."""


def scores_of_links(
    pairs: IndexedPairs, links: Sequence[tuple[Links, Links]], language: Language
) -> Iterator[EntityScores | None]:
    """Scores of every pair in order; None where a side is empty or the entity is not a word.

    A link of both directions is 1, of one direction one half. The lexicon is the Dice coefficient
    of the links of both directions over the corpus, with the prior links of the statistical model
    added (`prior_links`: tables, a common spelling and cognates).

    Args:
        pairs: the sentence pairs.
        links: of each pair, from source to target and back.
        language: that of the translations.
    """
    source, target = pairs.source, pairs.target
    width = len(target.types)
    starts = list(zip(source.offsets.tolist(), target.offsets.tolist(), strict=True))
    source_ids, target_ids = source.ids.tolist(), target.ids.tolist()
    mutual = []
    for (s, t), (forward, backward) in zip(starts[:-1], links, strict=True):
        for i, j in forward & backward:
            mutual.append(source_ids[s + i] * width + target_ids[t + j])
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
        link, belongs, explained = np.zeros((3, end - t))
        for direction in (forward, backward):
            for i, j in direction:
                link[j] += 0.5 * (i == head)
                if first <= i <= head:
                    belongs[j] = 1.0
                if not qualifier <= i <= head:
                    explained[j] = BELIEVED
        lexicon = table.dice(table.rows(word * width + types), word, types)
        yield EntityScores(link, belongs, lexicon, explained, ~common[types])
