"""The words of a translation that agree with one person, whatever renders that person there: a noun
phrase and its predicate, a name's predicate, pronouns.

`mtbias.reading.decide` reads the entity's phrase; this module reads the further words on which the
gender of a whole person rests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mtbias.language.definition import Language
from mtbias.language.grammar import ANY
from mtbias.reading.agreement import GENDER_OF_LETTER, PERSONAL
from mtbias.reading.rules import rule
from mtbias.reading.spelling import romanised, skeleton
from mtbias.reading.syntax import NounPhrase, Syntax
from mtbias.reading.syntax.behind_mark import behind_mark
from mtbias.reading.syntax.predicate import find_predicate
from mtbias.reading.words import (
    VERBAL,
    SentenceWord,
    evidence,
    feature_values,
    numbers,
    word_behind,
)
from mtbias.types import Alignment, Evidence, Gender, GenderCall, Reason, Span

_LEAST_CONSONANTS = 2
"""Consonants of a name, at least, for it to be recognised by them."""
_NAME = frozenset(("PROPN", "X", "NOUN"))
"""Parts of speech that taggers give to names."""


GENERIC = "generic_masculine"
"""The rule of a masculine noun that is used of women, too."""
NOUN_BY_TAGGER = "noun_by_tagger"
"""The rule of a noun that neither a table nor an ending covers."""
PREDICATE_BY_TAGGER = "predicate_by_tagger"
"""The rule of an adjective or participle that no ending covers."""


def words_of_noun(
    call: GenderCall, alignment: Alignment, words: Sequence[SentenceWord], syntax: Syntax
) -> tuple[Evidence, ...]:
    """The evidence of a noun and of what agrees with it elsewhere: the evidence for the gender of
    its call, or all of it where it contradicts itself; its predicate; what follows a mark.

    A masculine noun that is also used of women shows neither gender (ru *врач*), but what agrees
    with it may (it *il medico*). Empty where the call has no gender and no contradiction.
    """
    pieces = [piece for piece in call.evidence if piece.gender in PERSONAL]
    if call.reason is Reason.AMBIGUOUS:
        return tuple(pieces)
    if call.gender not in PERSONAL:
        return ()
    pieces = [piece for piece in pieces if piece.gender is call.gender]
    if any(piece.rule == GENERIC for piece in pieces):
        pieces = [piece for piece in pieces if syntax.tells_beside_generic(piece)]
    head = next((n for n, word in enumerate(words) if word.span == call.target[0]), None)
    if head is None:
        return tuple(pieces)
    if is_group(alignment, words[head]):
        return ()
    if words[head].tags == {"PROPN"}:  # the tagger's gender of a name is nobody's
        pieces = [piece for piece in pieces if piece.rule != NOUN_BY_TAGGER]
    number = "sg" if numbers(words[head]) == {"sg"} else alignment.source.number
    phrase = replace(syntax.phrase(words, head, alignment.source.number), number=number)
    return (*pieces, *_agreeing(phrase))


@rule()
def is_group(alignment: Alignment, word: SentenceWord) -> bool:
    """A plural by the table for one person of the source names several (ar *المرضى* "the patients"
    for *the patient*).
    """
    known = {agreement.number for agreement in word.agreements}
    return alignment.source.number == "sg" and known == {"pl"}


def words_of_name(
    name: str, target: Sequence[Span], words: Sequence[SentenceWord], syntax: Syntax
) -> tuple[Sequence[Span], tuple[Evidence, ...]]:
    """Where a name is in the translation, and what agrees with it as its subject: participles
    and adjectives of the predicate, verbs that show a gender, and what follows a mark.

    Args:
        name: the word of the source.
        target: the aligned words, the surest first.
        words: those of the translation.
        syntax: that of its language.
    """
    places = [n for n in range(len(words)) if is_same_name(name, words[n])]
    if not places:
        aligned = [n for n, word in enumerate(words) if target and word.span == target[0]]
        places = [n for n in aligned if _may_be_name(words[n])]
    pieces: dict[Evidence, None] = {}
    for place in places:
        pieces |= dict.fromkeys(_agreeing(_name_around(words, place, syntax)))
    return [words[n].span for n in places], tuple(pieces)


@rule()
def is_same_name(name: str, word: SentenceWord) -> bool:
    """A word with a capital renders a name that is spelt the same, or in another script has its
    consonants, of which case endings may add one (ru *Ванакера* for *Vanacker*).
    """
    if not _may_be_name(word):
        return False
    letters = romanised(word.form)
    if letters == word.form:
        return word.text == name
    own, other = skeleton(name.lower()), skeleton(letters or word.form)
    if len(own) < _LEAST_CONSONANTS:
        return False
    return own == other or (other.startswith(own) and len(other) == len(own) + 1)


def _name_around(words: Sequence[SentenceWord], n: int, syntax: Syntax) -> NounPhrase:
    """The name that the word at `n` is part of."""
    first = last = n
    while first > 0 and words[first].joined and _is_name(words[first - 1]):
        first -= 1
    while last + 1 < len(words) and words[last + 1].joined and _is_name(words[last + 1]):
        last += 1
    return NounPhrase(words, first, (), tuple(range(first + 1, last + 1)), [ANY], syntax, "sg")


def words_of_pronouns(
    words: Sequence[SentenceWord], syntax: Syntax, aligned: Sequence[Span], *, rivals: bool
) -> tuple[Evidence, ...]:
    """The evidence of the pronouns of the third person singular, and of what agrees with each.

    Args:
        words: those of the translation.
        syntax: that of its language.
        aligned: where the pronoun of the source is rendered.
        rivals: pronouns of the source may stand for a thing or for several people: then only what
            is aligned counts, and no plural.
    """
    pieces: list[Evidence] = []
    for n, word in enumerate(words):
        gender = gender_of_pronoun(words, n, syntax.language)
        sure = any(map(word.span.overlaps, aligned))
        plural = rivals and feature_values(word.tagged, "Number") == {"Plur"}
        if gender is None or plural or not (sure or not (rivals or syntax.doubts_pronoun(word))):
            continue
        pieces.append(evidence("pronoun_of_person", "pronoun", [word], gender, "form"))
        if _may_be_subject(word, syntax):
            pieces += _agreeing(NounPhrase(words, n, (), (), [ANY], syntax, "sg"))
    return tuple(pieces)


def _may_be_subject(pronoun: SentenceWord, syntax: Syntax) -> bool:
    """A personal pronoun in the nominative, by the tagger where the language has case; where it has
    none, one that is not an article.
    """
    language = syntax.language
    if pronoun.form not in language.pronouns:
        return False
    cases = feature_values(pronoun.tagged, "Case")
    return "Nom" in cases if syntax.case else pronoun.form not in language.determiners


@rule(otherwise=None)
def gender_of_pronoun(words: Sequence[SentenceWord], n: int, language: Language) -> Gender | None:
    """A pronoun of the third person singular, or the possessive of such an owner: de *er*, *ihre*,
    ru *она*; no article (es *la*). With a capital within a sentence it speaks to somebody (de
    *Sie*, *Ihre*).
    """
    word = words[n]
    article = word.form in language.determiners and word.tags != {"PRON"}
    letter = None if article else language.pronouns.get(word.form)
    if letter is None and word.tags & {"DET", "PRON"}:
        letter = language.possessors.get(word.form)
    if letter is None:
        return None
    polite = word.text[:1].isupper() and n > 0 and word.joined
    return None if polite else GENDER_OF_LETTER[letter]


def _may_be_name(word: SentenceWord) -> bool:
    """A capital, and nothing that the table knows in another meaning."""
    return word.text[:1].isupper() and bool(word.tags & _NAME) and not word.readings


def _is_name(word: SentenceWord) -> bool:
    return word.tags == {"PROPN"} and _may_be_name(word)


def _agreeing(phrase: NounPhrase) -> Iterator[Evidence]:
    """The words outside the phrase that agree with it and show a person's gender."""
    pieces = behind_mark(phrase)
    predicate = find_predicate(phrase)
    if predicate is not None:
        pieces.append(predicate)
    for piece in pieces:
        place = next(n for n, word in enumerate(phrase.words) if word.span == piece.span)
        guessed = piece.rule == PREDICATE_BY_TAGGER
        if piece.gender in PERSONAL and not (guessed or is_no_predicate(phrase.words, place)):
            yield piece


@rule()
def is_no_predicate(words: Sequence[SentenceWord], n: int) -> bool:
    """What stands where the predicate does and agrees with nobody: a participle before an
    infinitive (fr *s'est fait connaître*), an adverb or adjective right before a noun (es *fue
    primero programadora*). A noun for people is read as such.
    """
    word, following = words[n], word_behind(words, n)
    if word.readings and not word.facts.adjective:
        return True
    if following is None:
        return False
    participle = "Part" in feature_values(word.tagged, "VerbForm")
    if participle and "Inf" in feature_values(following.tagged, "VerbForm"):
        return True
    return following.is_noun and not word.tags & VERBAL
