"""The words of a translation that show the person's gender and would have another form in the other
gender: those that a post-editor must change where the gender is wrong.

A word counts where its form, by the language's tables, cannot be in the other gender with the
same case and number: articles, adjectives, titles, the noun (unless it has one form for both, or is
a masculine that is used of women), the predicate, and pronouns of the third person in that gender.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mtbias.language.definition import Language
from mtbias.language.grammar import Agreement, NounKind, NounReading, meet
from mtbias.reading.agreement import reading_agreements
from mtbias.reading.syntax import NounPhrase, Syntax
from mtbias.reading.syntax.behind_mark import behind_mark
from mtbias.reading.syntax.predicate import find_predicate, further_predicates, is_pronoun
from mtbias.reading.words import SentenceWord, numbers, tagged_gender
from mtbias.types import Alignment, Evidence, Gender, GenderCall, GenderedWord

_LETTERS = {Gender.MALE: ("m", "f"), Gender.FEMALE: ("f", "m")}
"""Gender → its letter in the tables, and that of the other one."""


def edits(
    call: GenderCall, words: Sequence[SentenceWord], alignment: Alignment, syntax: Syntax
) -> tuple[GenderedWord, ...]:
    """The words that show the gender of `call`, in the order of the translation; none where it has
    none.

    A word whose other form is in no table counts as well, and is marked.
    """
    gender = call.gender
    if gender is None or gender not in _LETTERS:
        return ()
    head = next((n for n, word in enumerate(words) if word.span == call.target[0]), None)
    if head is None:  # de *Frauen* of *Frauenrechte*
        return (GenderedWord(call.evidence[0].word, call.target[0], known=False),)
    # Of "one of the players" the translation may make *die Spielerin*.
    source = alignment.source
    number = "sg" if numbers(words[head]) == {"sg"} else source.number
    phrase = replace(syntax.phrase(words, head, source.number), number=number)
    doubted = syntax.doubtful_attributes(phrase, call.target, source)
    places = [n for n in (head, *phrase.left, *phrase.right) if n not in doubted]
    known = {
        **_pronouns(phrase, gender),
        **_behind_mark(phrase, gender),
        **_predicates(phrase, gender),
        **_phrase_words(phrase, places, gender, call.evidence),
    }
    return tuple(GenderedWord(words[n].text, words[n].span, known[n]) for n in sorted(known))


# Each of these gives places of words that show the gender → whether a table tells their other form.


def _phrase_words(
    phrase: NounPhrase, places: Sequence[int], gender: Gender, evidence: Sequence[Evidence]
) -> dict[int, bool]:
    """The head and the other words of the phrase, those at `places`."""
    words, language = phrase.words, phrase.language
    own, other = _LETTERS[gender]
    allowed = {n: _allowed(phrase, n) for n in places}
    now = [Agreement(own, "*", phrase.number or "*")]
    for agreements in allowed.values():
        now = meet(now, agreements) or now
    instead = [Agreement(other, a.case, a.number) for a in now]
    known = {}
    for n, agreements in allowed.items():
        if meet(agreements, now) and not meet(agreements, instead):
            known[n] = True

    noun = next((piece for piece in evidence if piece.kind == "noun"), None)
    if not words[phrase.head].readings and noun and noun.gender is gender:
        known[phrase.head] = noun.source == "form"
    for n in places[1:]:
        word = words[n]
        letter = language.names.get(word.form) or language.sex_adjectives.get(word.form)
        if letter == own:
            known[n] = True
        elif not allowed[n] and word.is_adjective and tagged_gender(word.content)[0] is gender:
            known[n] = False
    return known


def _allowed(phrase: NounPhrase, n: int) -> Sequence[Agreement]:
    """The agreements that the tables allow a word of the phrase; empty where they have none."""
    word, language = phrase.words[n], phrase.language
    if n == phrase.head:
        return _allowed_by_noun(word.readings, language)
    if word.form in language.names or word.form in language.sex_adjectives:
        return ()
    following = phrase.words[n + 1].form[:1] if n + 1 < len(phrase.words) else ""
    if following.isalpha() and following not in language.vowels:
        before_consonant = language.determiners_before_consonant.get(word.form)
        if before_consonant is not None:
            return before_consonant
    return language.determiners.get(word.form) or word.facts.adjective


def _allowed_by_noun(readings: Sequence[NounReading], language: Language) -> Sequence[Agreement]:
    """The same of the head. A masculine that is used of women is a man's where the language has a
    feminine for it; where it has none, it stays.
    """
    allowed: list[Agreement] = []
    for reading in readings:
        if not reading.kind.is_personal:
            continue
        generic = reading.kind is NounKind.GENERIC
        if generic and reading.lemma not in language.with_feminine:
            return ()
        as_mans = reading._replace(kind=NounKind.MASCULINE)
        allowed += reading_agreements(as_mans if generic else reading)
    return allowed


def _predicates(phrase: NounPhrase, gender: Gender) -> dict[int, bool]:
    """The predicates that agree with the person, or may do so."""
    words, verb = phrase.words, find_predicate(phrase)
    known = {n: piece.source == "form" for n, piece in further_predicates(phrase, gender)}
    if verb is not None and verb.gender is gender:
        place = next(n for n, word in enumerate(words) if word.span == verb.span)
        known[place] = verb.source == "form"
    return known


def _pronouns(phrase: NounPhrase, gender: Gender) -> dict[int, bool]:
    """Pronouns of the third person singular, possessives of such an owner, and the relative pronoun
    right behind by the tagger.
    """
    words, behind = phrase.words, phrase.last + 1
    # de *ihre* is "their", too, where there are several, and *Ihre* "your".
    possessors = {} if phrase.number == "pl" else phrase.language.possessors
    places = []
    for n, word in enumerate(words):
        owner = possessors.get(word.form) if word.tags & {"DET", "PRON"} else None
        polite = n > 0 and word.text[:1].isupper()
        possessive = owner == _LETTERS[gender][0] and not polite
        if possessive or is_pronoun(word, gender):
            places.append(n)
    if behind < len(words) and not words[behind].joined and words[behind].tags == {"PRON"}:
        places += [behind] if tagged_gender(words[behind].tagged)[0] is gender else []
    return dict.fromkeys(places, True)


def _behind_mark(phrase: NounPhrase, gender: Gender) -> dict[int, bool]:
    """The relative pronoun behind the phrase, and the adjective or participle behind a mark, which
    its form tells.
    """
    pieces = behind_mark(phrase)
    spans = {piece.span for piece in pieces if piece.gender is gender}
    return {n: True for n, word in enumerate(phrase.words) if word.span in spans}
