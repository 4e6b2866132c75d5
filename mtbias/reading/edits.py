"""The words of a translation that show the person's gender and would stand there otherwise in the
other one: what a post-editor changes at least where it is wrong.

A word is counted where its form, by the language's tables, cannot stand in the other gender with
the same case and number: articles, adjectives, titles, the noun (one form for both, or a masculine
that is used of women, costs nothing), the predicate, and pronouns of the third person in that
gender.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from mtbias.language.grammar import Agreement, NounKind, meet
from mtbias.reading.agreement import reading_agreements
from mtbias.reading.syntax import NounPhrase, Syntax
from mtbias.reading.syntax.predicate import further_predicates, is_pronoun
from mtbias.reading.words import SentenceWord, numbers, tagged_gender
from mtbias.types import Alignment, Evidence, Gender, GenderCall, GenderedWord

_LETTERS = {Gender.MALE: ("m", "f"), Gender.FEMALE: ("f", "m")}
"""Gender → its letter in the tables, and that of the other one."""


def edits(
    call: GenderCall, words: Sequence[SentenceWord], alignment: Alignment, syntax: Syntax
) -> tuple[GenderedWord, ...]:
    """The words that show the gender of `call`, in the order of the translation; none where it has
    none.

    A word whose other form no table tells is counted as well, and marked.
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
    found = {
        **_pronouns(phrase, gender),
        **_behind_mark(phrase, gender),
        **_of_predicates(phrase, gender),
        **_of_phrase(phrase, places, gender, call.evidence),
    }
    return tuple(GenderedWord(words[n].text, words[n].span, found[n]) for n in sorted(found))


def _of_phrase(
    phrase: NounPhrase, places: Sequence[int], gender: Gender, evidence: Sequence[Evidence]
) -> dict[int, bool]:
    """Of the head and the other words of the phrase at `places`, those that show the gender, and
    whether by a table.
    """
    words, language = phrase.words, phrase.language
    own, other = _LETTERS[gender]
    allowed = {n: _allowed(phrase, n) for n in places}
    stands = [Agreement(own, "*", phrase.number or "*")]
    for agreements in allowed.values():
        stands = meet(stands, agreements) or stands
    instead = [Agreement(other, a.case, a.number) for a in stands]
    found = {
        n: True
        for n, agreements in allowed.items()
        if meet(agreements, stands) and not meet(agreements, instead)
    }
    told = next((e for e in evidence if e.kind == "noun"), None)
    if not words[phrase.head].readings and told and told.gender is gender:
        found[phrase.head] = told.source == "form"
    for n in places[1:]:
        table = language.names.get(words[n].form) or language.sex_adjectives.get(words[n].form)
        if table == own:
            found[n] = True
        elif (
            not allowed[n]
            and words[n].is_adjective
            and tagged_gender(words[n].content)[0] is gender
        ):
            found[n] = False
    return found


def _allowed(phrase: NounPhrase, n: int) -> Sequence[Agreement]:
    """What the form of a word of the phrase allows by the tables; empty where they do not say."""
    word, language = phrase.words[n], phrase.language
    if n == phrase.head:
        readings = [r for r in word.readings if r.kind.is_personal]
        stays = any(
            r.kind is NounKind.GENERIC and r.lemma not in language.with_feminine for r in readings
        )
        told = [
            r._replace(kind=NounKind.MASCULINE) if r.kind is NounKind.GENERIC else r
            for r in readings
        ]
        return () if stays else list(chain.from_iterable(map(reading_agreements, told)))
    if word.form in language.names or word.form in language.sex_adjectives:
        return ()
    following = phrase.words[n + 1].form[:1] if n + 1 < len(phrase.words) else ""
    if (
        following.isalpha()
        and following not in language.vowels
        and word.form in language.determiners_before_consonant
    ):
        return language.determiners_before_consonant[word.form]
    return language.determiners.get(word.form) or word.facts.adjective


def _of_predicates(phrase: NounPhrase, gender: Gender) -> dict[int, bool]:
    """The predicates that agree with the person, or may do so."""
    words, verb = phrase.words, phrase.syntax.predicate(phrase)
    found = {n: piece.source == "form" for n, piece in further_predicates(phrase, gender)}
    if verb is not None and verb.gender is gender:
        place = next(n for n, word in enumerate(words) if word.span == verb.span)
        found[place] = verb.source == "form"
    return found


def _pronouns(phrase: NounPhrase, gender: Gender) -> dict[int, bool]:
    """Pronouns of the third person singular, possessives of such an owner, and the relative pronoun
    right behind by the tagger.
    """
    words, behind = phrase.words, phrase.last + 1
    # de *ihre* is "their", too, where there are several, and *Ihre* "your".
    owners, own = {} if phrase.number == "pl" else phrase.language.possessors, _LETTERS[gender][0]
    found = [n for n, word in enumerate(words) if is_pronoun(word, gender)]
    found += [
        n
        for n, word in enumerate(words)
        if word.tags & {"DET", "PRON"}
        and owners.get(word.form) == own
        and not (n and word.text[:1].isupper())
    ]
    if behind < len(words) and not words[behind].joined and words[behind].tags == {"PRON"}:
        found += [behind] if tagged_gender(words[behind].tagged)[0] is gender else []
    return dict.fromkeys(found, True)


def _behind_mark(phrase: NounPhrase, gender: Gender) -> dict[int, bool]:
    """The relative pronoun behind the phrase, and the adjective or participle behind a mark, which
    its form tells.
    """
    pieces = phrase.syntax.behind_mark(phrase)
    spans = {piece.span for piece in pieces if piece.gender is gender}
    return {n: True for n, word in enumerate(phrase.words) if word.span in spans}
