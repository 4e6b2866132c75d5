"""The words of a translation, and what each of them may render: the entity, by the tables, by its
spelling or as the English noun itself; another mention of its noun; another word of the source; or
nothing that is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from mtbias.language.definition import Language
from mtbias.language.source import ENGLISH, SourceLanguage
from mtbias.language.split_texts import SurfaceWord
from mtbias.reading.known_translations import KnownTranslations, words_of_entity
from mtbias.reading.sentence_pair import Pair
from mtbias.reading.spelling import (
    MIN_LETTERS,
    likeness,
    romanised,
    skeleton,
    source_letters,
)
from mtbias.types import (
    Span,
    frozen,
)

FloatArray = NDArray[np.float64]
MIN_SCORE = 0.10
"""Least score (0 to 2) at which a target word counts as the entity's; below it the entity is
unaligned. With half of it other people are taken (it *operaio* "worker" for *attendant*), with half
as much again true renderings are lost (es *operadora* for *attendant*)."""
MAX_EXPLAINED = 0.3
"""A target word with a surer link than this to another source word is not left over: uk *Інвестори
повірили CEO* is not about the investors."""
SURELY_EXPLAINED = 0.95
"""A known translation with a surer link than this to another source word is that word's: de *bat
sie um Hilfe*, where *help* is surely *Hilfe*, which the table has for *assistant* too."""
MAX_SHIFT = 0.3
"""Distance, as a share of the sentence, at which the only unclaimed noun for people may be from the
entity's place: with half of it de *Rat* (advice) at its end is the person for *dietitian* at its
beginning."""
MIN_SPELT = 6
"""Letters before its ending that a misspelt word has at least: with five, fr *argent* "money" would
be *agent*."""
MIN_LIKENESS = 0.75
"""Share of letters in common from which a word counts as a translation of an entity that has none
in the table (it *esperantista*)."""


@frozen
class EntityScores:
    """The scores of a link model for one pair's entity: arrays over the target words."""

    link: FloatArray
    """Geometric mean of P(head | target) and P(target | head)."""
    belongs: FloatArray
    """P(any word of the entity | target)."""
    lexicon: FloatArray
    """Association of the types over the corpus, 0 to 1."""
    explained: FloatArray
    """The surest link of each target word to any word but the entity, 0 to 1."""
    rare: NDArray[np.bool_]
    """Target words whose type is in few of the sentences: no function words."""


@frozen
class TargetWords:
    """The words of a translation, with masks over them for what each may render."""

    pair: Pair
    words: Sequence[SurfaceWord]
    scores: EntityScores
    translations: KnownTranslations
    entity_forms: AbstractSet[str]
    """Folded forms that translate the entity."""
    known: NDArray[np.bool_]
    """Words that are known to translate the entity, here."""
    other_mentions: NDArray[np.bool_]
    """Words that could translate the entity but render somebody else."""
    elsewhere: NDArray[np.bool_]
    """Words that render another word of the source."""
    free: NDArray[np.bool_]
    """Words that no other word of the source explains."""
    people: NDArray[np.bool_]
    """The free nouns for people; if there is none, the free words that end like one."""
    misspelt: tuple[int, str] | None
    """A word that is one letter off a translation of the entity, and that translation."""


def target_words(
    pair: Pair, words: Sequence[SurfaceWord], scores: EntityScores, translations: KnownTranslations
) -> TargetWords:
    """What each of the words may render; arguments as those of `align_entity`."""
    known, entity_forms = _known(pair, words, translations)
    taken = _taken(pair, words, translations)
    # it *segretario* for *secretary* is not a clerk, though the table has it for both.
    others = known & taken & (scores.explained >= SURELY_EXPLAINED) & (scores.link < MIN_SCORE)
    others |= _other_mentions(pair, words, known, translations.source)
    known &= ~others
    elsewhere = _copies(pair, words, translations.source) | others | (taken & ~known)
    free = (scores.explained < MAX_EXPLAINED) & ~elsewhere
    misspelt = None
    if not known.any():
        misspelt = _misspelt(words, entity_forms, free, translations.language)
    if misspelt is not None:
        known[misspelt[0]] = True
    people = np.array([w.facts.names_person for w in words], bool) & free
    if not people.any():
        people = np.array([w.facts.ends_like_person for w in words], bool) & free
    return TargetWords(
        pair=pair,
        words=words,
        scores=scores,
        translations=translations,
        entity_forms=entity_forms,
        known=known,
        other_mentions=others,
        elsewhere=elsewhere,
        free=free,
        people=people,
        misspelt=misspelt,
    )


def _known(
    pair: Pair, words: Sequence[SurfaceWord], translations: KnownTranslations
) -> tuple[NDArray[np.bool_], AbstractSet[str]]:
    """The words that are known to translate the entity, and the folded forms that do: by the
    tables, by a phrase with the entity, or as the English noun itself.
    """
    forms = translations.forms(pair.entity) | translations.phrase_forms(pair)
    known = _with_form(words, forms)
    if known.any():
        return known, forms
    phrase_forms = translations.wider_forms(pair)
    known = _with_form(words, phrase_forms)
    for n in np.flatnonzero(known).tolist():
        known[n] = not translations.claimed(pair, words[n])
    if known.any():
        return known, phrase_forms
    loans = np.array(_loans(pair, words, translations), bool)
    return loans & ~_copies(pair, words, translations.source), forms


def _with_form(words: Sequence[SurfaceWord], forms: AbstractSet[str]) -> NDArray[np.bool_]:
    """The words whose dictionary form is one of the folded `forms`."""
    return np.array([not forms.isdisjoint(w.facts.dictionary_forms) for w in words], bool)


def _taken(
    pair: Pair, words: Sequence[SurfaceWord], translations: KnownTranslations
) -> NDArray[np.bool_]:
    """The words that other words of the source need: those known as their translations, where there
    are not more of them than mentions in the source (de "dessen jüngere Brüder" for *the latter's
    younger brothers*).
    """
    taken = np.zeros(len(words), bool)
    source = translations.source.words(pair.source)
    own = words_of_entity(pair, source)
    bases = translations.source.bases
    # "Injured people" may be one noun: es "los heridos".
    others = [w for n, w in enumerate(source) if n not in own and n + 1 not in own]
    for other in others:
        forms = translations.word_forms(other)
        if forms:
            renderings = _with_form(words, forms)
            own_bases = bases(other.form)
            mentions = sum(not own_bases.isdisjoint(bases(w.form)) for w in others)
            if renderings.sum() <= mentions:
                taken |= renderings
    return taken


def _copies(pair: Pair, words: Sequence[SurfaceWord], spoken: SourceLanguage) -> NDArray[np.bool_]:
    """The words that are in the source as they are, and not as the entity: names, mostly (*Lord
    Lieutenant of Hertfordshire*). They render nobody else.
    """
    source = spoken.words(pair.source)
    entity = {w.form for w in source if pair.head and w.span.overlaps(pair.head)}
    others = {w.text for w in source if w.text[:1].isupper() and w.form not in entity}
    return np.array([w.facts.text in others and not w.facts.readings for w in words], bool)


def _misspelt(
    words: Sequence[SurfaceWord],
    translations: AbstractSet[str],
    free: NDArray[np.bool_],
    language: Language,
) -> tuple[int, str] | None:
    """The first word of no table that is one letter off a translation of the entity, which no other
    source word explains, and that translation (uk *компаньоном* for *компаньйоном*).
    """
    for n, word in enumerate(words):
        form = word.facts.form
        if not free[n] or word.facts.readings:
            continue
        for translation in sorted(translations):
            # Lengths first, for stems take time.
            near = abs(len(form) - len(translation)) == 1
            if near and _one_letter_off(form, translation, language):
                return n, translation
    return None


def _one_letter_off(form: str, other: str, language: Language) -> bool:
    """Whether one of the words has one letter more before their common ending, not at the
    beginning. Of the last two letters there it is only one that occurs twice: others make another
    noun (cs *tlumočníčka*, *tlumočníka*).
    """
    one, two = language.stem(form), language.stem(other)
    shorter, longer = sorted((one, two), key=len)
    same_ending = form.removeprefix(one) == other.removeprefix(two)
    places = (n for n in range(1, len(longer)) if n < len(longer) - 2 or longer[n] == longer[n - 1])
    near = any(longer[:n] + longer[n + 1 :] == shorter for n in places)
    return same_ending and near and len(shorter) >= MIN_SPELT


def _loans(pair: Pair, words: Sequence[SurfaceWord], translations: KnownTranslations) -> list[bool]:
    """Which words are the source's noun itself, by their letters or, in a script without vowels, by
    their consonants.
    """
    noun, language = pair.entity.rpartition(" ")[2], translations.language
    if translations.source is not ENGLISH and pair.head is not None:
        noun = source_letters(pair.source[slice(*pair.head)].lower(), translations.source)
    consonants = skeleton(noun)
    loans = []
    for word in words:
        letters = romanised(word.facts.form)
        if letters or len(consonants) < MIN_LETTERS:
            loans.append(likeness(noun, letters) >= MIN_LIKENESS)
        else:
            bases = word.facts.bases
            forms = (*bases, *map(language.stem, bases))
            loans.append(consonants in map(skeleton, forms))
    return loans


def _other_mentions(
    pair: Pair, words: Sequence[SurfaceWord], known: NDArray[np.bool_], spoken: SourceLanguage
) -> NDArray[np.bool_]:
    """The `known` words that render an earlier mention of the entity's noun, where the source
    mentions it more often than the translation: they are nearer to that mention, and farther from
    this one than `MAX_SHIFT` (it "la studentessa … quella" for *the student … the student*).
    """
    mentions, others = mentions_of_noun(pair, spoken), np.zeros(len(words), bool)
    if not known.any() or pair.head is None or len(mentions) <= known.sum():
        return others
    place = pair.head.start / len(pair.source)
    earlier = [m.start / len(pair.source) for m in mentions if m.end <= pair.head.start]
    for n in np.flatnonzero(known).tolist():
        here = words[n].span.start / len(pair.text)
        shifts = [max(MAX_SHIFT, abs(here - mention)) for mention in earlier]
        others[n] = abs(here - place) > min(shifts, default=1)
    return others


def mentions_of_noun(pair: Pair, spoken: SourceLanguage) -> list[Span]:
    """Where the source mentions the entity's noun."""
    if pair.head is None:
        return []
    source = [(w.span, spoken.bases(w.form.replace("-", ""))) for w in spoken.words(pair.source)]
    head_bases = [bases for span, bases in source if span.overlaps(pair.head)]
    head = frozenset(chain.from_iterable(head_bases))
    return [span for span, bases in source if not head.isdisjoint(bases)]
