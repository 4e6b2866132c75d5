"""The words that belong to a noun: determiners, titles and adjectives before and behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mtbias.reading.rules import rule
from mtbias.reading.words import VERBAL, SentenceWord, compound_end, word_before, word_behind

if TYPE_CHECKING:
    from mtbias.reading.syntax.base import Syntax


def attributes_before(syntax: Syntax, words: Sequence[SentenceWord], head: int) -> list[int]:
    """Indices of the determiners, titles and adjectives right before `head`, nearest first.

    Before its determiner a phrase has no adjective: in it *ha pagato l'autista* the participle is
    not the driver's. A contraction opens its phrase (it *impara molto dall'insegnante*). An adverb
    grades the adjective behind it and is passed over (it *il più pulito*).
    """
    places: list[int] = []
    determined = False
    if preposition_written_on(words[head]):
        return places
    for n in range(head - 1, -1, -1):
        word, following = words[n], words[n + 1]
        if not following.joined or ends_adverbial(syntax, words, n):
            break
        if preposition_like_article(syntax, words, n):
            break
        determiner = syntax.is_determiner(word)
        if determiner and determined and syntax.opens_another(word, following):
            break
        if determiner and determiner_of_plural(syntax, word, words[head]):
            break
        attribute = not determined and syntax.is_attribute_before(words, n, head)
        if determiner or word.form in syntax.language.names or attribute:
            places.append(n)
            determined = determined or determiner
            if "ADP" in word.tags:
                break
        elif determined or not is_grading_adverb(word):
            break
    return syntax.own_attributes(words, head, places, determined=determined)


_MAX_BEFORE_PREPOSITION = 4
"""Words from a preposition back to the word that takes it: pt *passou de simples assistente a*."""


@rule()
def ends_adverbial(syntax: Syntax, words: Sequence[SentenceWord], n: int) -> bool:
    """The article of an adverbial is none of the noun's behind it: fr *Il fut à la longue juge*, es
    *era a la vez juez*.
    """
    for forms in syntax.language.adverbial_forms.get(words[n].form, ()):
        first = n + 1 - len(forms)
        together = all(words[k].joined for k in range(first + 1, n + 1)) if first >= 0 else False
        if together and [word.form for word in words[first : n + 1]] == list(forms):
            return True
    return False


@rule()
def preposition_like_article(syntax: Syntax, words: Sequence[SentenceWord], n: int) -> bool:
    """A form that is an article and a preposition is the latter where the tagger says so behind
    anything but a verb (pt *levou a chefe* has an object), and behind a word that takes it, also
    with a phrase between that *de* opens: *promovido a gerente*, *passou de assistente a gerente*.
    """
    takers = syntax.language.prepositions_like_articles.get(words[n].form)
    if takers is None:
        return False
    before = word_before(words, n)
    behind_verb = before is not None and bool(before.tags & VERBAL) and not _is_masculine(before)
    if words[n].tags == {"ADP"} and not behind_verb:
        return True
    first = n
    while first > 0 and words[first].joined and n - first < _MAX_BEFORE_PREPOSITION:
        first -= 1
        if words[first].form.startswith(tuple(takers)):
            return _has_own_subject(words, first)
        # Nothing but an adverb, or a preposition and its noun, comes between.
        if words[first].tags & {"VERB", "PUNCT", "SCONJ", "CCONJ"}:
            return False
    return False


def _is_masculine(word: SentenceWord) -> bool:
    """By its ending it agrees with a man, and so has no woman behind it for a subject."""
    return {agreement.gender for agreement in word.facts.adjective} == {"m"}


def _has_own_subject(words: Sequence[SentenceWord], n: int) -> bool:
    """The word that takes the preposition is a noun or masculine, or something that may be its
    subject comes before it: pt *Ela foi promovida a gerente*; but *Ontem chegou a gerente* "the
    manager came".
    """
    if "NOUN" in words[n].tags or _is_masculine(words[n]):
        return True
    while n > 0 and words[n].joined:
        n -= 1
        if words[n].tags & {"NOUN", "PROPN", "PRON"}:
            return True
    return False


@rule()
def preposition_written_on(word: SentenceWord) -> bool:
    """A preposition that is written onto the noun opens its phrase: he *נתנה את זה לרועה* "gave it
    to the shepherd".
    """
    return len(word.tagged) > 1 and word.tagged[0].upos == "ADP"


@rule()
def is_grading_adverb(word: SentenceWord) -> bool:
    """An adverb that may grade the adjective behind it (it *il più pulito* "the cleaner")."""
    return "ADV" in word.tags and not word.tags & {"VERB", "AUX", "ADP"}


@rule()
def determiner_of_plural(syntax: Syntax, word: SentenceWord, noun: SentenceWord) -> bool:
    """A determiner of plurals before a singular is none of it, where the tagger alone tells the
    number: ar *لم يساعد أحد الممرضة* "nobody helped the nurse", but *إحدى الممرضات* "one of the
    nurses".
    """
    tells = any(agreement.number != "*" for agreement in noun.agreements)
    if not noun.readings or tells or not noun.is_singular:
        return False
    return all(a.number == "pl" for a in syntax.language.determiners[word.form])


def attributes_after(syntax: Syntax, words: Sequence[SentenceWord], head: int) -> list[int]:
    """Indices of the adjectives right after `head`, and of the determiners, where the language has
    them there.

    An adjective that agrees with a noun behind it is not among them: cs *Rozhodčí minulou sobotu
    zrušil zápas*.
    """
    places: list[int] = []
    if not syntax.attributes_follow:
        return places
    for n in range(compound_end(words, head) + 1, len(words)):
        word = words[n]
        if not word.joined or syntax.is_predicate_form(word):
            break
        if places and syntax.joins_attributes(word):
            continue
        if places and places[-1] < n - 1 and not _continues_row(words, n):
            break
        if not syntax.may_be_attribute_of(words[head], word):
            break
        own = syntax.is_determiner_behind(words, n, head)
        if own is None:
            own = syntax.is_attribute_behind(words, n, head)
        if not own:
            break
        places.append(n)
    while places and syntax.belongs_to_following(words, places[-1]):
        places.pop()
    return places


def _continues_row(words: Sequence[SentenceWord], n: int) -> bool:
    """The word behind "and" is another adjective, and neither a noun nor before one."""
    following = word_behind(words, n)
    noun = bool(words[n].readings) or (following is not None and following.is_noun)
    return words[n].is_adjective and not noun
