"""A toy language, pairs of sentences by hand with their scores, and the words that `align_entity` takes for
the entity."""

from __future__ import annotations

import dataclasses

import numpy as np

from mtbias.align import Pair
from mtbias.language.split_texts import SplitTexts
from mtbias.plugin import Language, NounKind, NounReading
from mtbias.reading.candidates import align_entity
from mtbias.reading.known_translations import KnownTranslations
from mtbias.reading.target_words import EntityScores
from mtbias.types import Alignment, Candidate, Span, Strategy, Trust

LANGUAGE = Language(
    code="de",
    name="Toy",
    nouns={
        **{
            f: (NounReading(f, NounKind.MASCULINE, ()),)
            for f in ("arzt", "ärzte", "maurer", "wirt")
        },
        "person": (NounReading("person", NounKind.FIXED, ()),),
    },
    neutral_nouns={"person": Strategy.COMPOUND},
    glossary={
        "doctor": frozenset(("arzt", "ärzte")),
        "construction worker": frozenset(("maurer",)),
        "landlady": frozenset(("wirt",)),
    },
)


def pair(source: str, entity: str, text: str, word: str | None = None) -> Pair:
    """`entity` in `source`; its head is its last word, or `word` where that is inflected."""
    head = word or entity.rsplit(maxsplit=1)[-1]
    at = source.lower().index(head)
    return Pair("x", source, text, Span(at, at + len(head)), entity)


def scores(
    *link: float,
    belongs: tuple[float, ...] = (),
    lexicon: tuple[float, ...] = (),
    explained: tuple[float, ...] = (),
    rare: tuple[bool, ...] = (),
) -> EntityScores:
    """EntityScores by target word; what is left out is 0, or rare."""

    def padded(values: tuple[float, ...]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array([*values, *[0.0] * (len(link) - len(values))])

    return EntityScores(
        link=np.array(link),
        belongs=padded(belongs),
        lexicon=padded(lexicon),
        explained=padded(explained),
        rare=np.array(rare or (True,) * len(link)),
    )


def alignment_of(case: Pair, word_scores: EntityScores | None) -> Alignment:
    """What `align_entity` makes of a pair in the toy language."""
    return align_entity(
        case, SplitTexts(LANGUAGE).words(case.text), word_scores, KnownTranslations(LANGUAGE)
    )


def aligned_candidate(alignment: Alignment) -> Candidate:
    """The words that the aligner found."""
    (candidate,) = alignment.with_trust(Trust.ALIGNED)
    return candidate


def spans(alignment: Alignment, trust: Trust) -> list[Span]:
    """Where the candidates with this reason stand, a word each."""
    return [span for each in alignment.with_trust(trust) for span in each.target]


def words_and_basis(case: Pair, word_scores: EntityScores | None) -> tuple[list[str], str | None]:
    """The words taken for the entity, the head first, and what they were chosen by."""
    alignment = alignment_of(case, word_scores)
    return [case.text[slice(*s)] for s in alignment.target], alignment.basis


def glossed(**known: str) -> Language:
    """`LANGUAGE`, whose glossary has the words of each value as the translations of its key (blanks
    for _)."""
    more = {english.replace("_", " "): frozenset(words.split()) for english, words in known.items()}
    return dataclasses.replace(LANGUAGE, glossary={**LANGUAGE.glossary, **more})


def heads(language: Language, source: str, entity: str, text: str, *link: float) -> list[str]:
    """The words of `text` that are taken for `entity`."""
    case = pair(source, entity, text)
    words = SplitTexts(language).words(text)
    word_scores = scores(*(link or (0.1,) * len(words)))
    return [
        text[slice(*s)]
        for s in align_entity(case, words, word_scores, KnownTranslations(language)).target
    ]
