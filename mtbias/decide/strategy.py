"""What a translation does with the person's gender: one gender, both with the sign that joins them,
or a neutral word; and the words that show it, which a post-editor changes at least where it is
wrong.

The first follows from the call: the evidence of one that names both genders has the sign, and the
head of one that shows no gender is looked up in the language's ``[neutral_nouns]``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from mtbias.decide.noun_phrase import NounPhrase, numbers
from mtbias.decide.predicate import further_predicates, is_pronoun, predicate_gender
from mtbias.decide.sentence_words import (
    SentenceWord,
    feature_values,
    reading_agreements,
    tagged_gender,
)
from mtbias.language.definition import Language
from mtbias.language.grammar import Agreement, NounKind, meet
from mtbias.types import (
    BOTH_FORMS,
    NEUTRAL_ENDING,
    WRITTEN_FOR_BOTH,
    Alignment,
    Evidence,
    Gender,
    GenderCall,
    GenderedWord,
    Reason,
    Strategy,
)

FIXED_GENDER = "fixed grammatical gender"
"""What the evidence of a noun of fixed gender says, before its lemma."""
FOREIGN_WORD = "a foreign word"
"""What the evidence of a word says that was not translated."""
_SIGNS = {
    "/": Strategy.SLASH,
    "(": Strategy.BRACKETS,
    "*": Strategy.STAR,
    ":": Strategy.COLON,
    "_": Strategy.GAP,
    **dict.fromkeys("·•.-", Strategy.POINT),
}
_SIGN = re.compile(r"(?<=\w)[\s-]*?([/(*:_·•.]|-(?=\w))[\s-]*(?=\w)")
_COMPLEMENT = frozenset(("ADJ", "ADP", "NOUN"))


def strategy(
    call: GenderCall, words: Sequence[SentenceWord], text: str, language: Language
) -> Strategy | None:
    """What the translation does, by the call on it, which found a word that renders the person.

    Args:
        call: that of the policy.
        words: those of the translation.
        text: the translation.
        language: its tables.
    """
    if call.gender is Gender.NEUTRAL:
        return _for_both(call, text)
    if call.gender is not None:
        return Strategy(call.gender)
    if call.reason is Reason.AMBIGUOUS or any(e.detail == FOREIGN_WORD for e in call.evidence):
        return None
    form = language.fold(text[slice(*call.target[0])])
    ending, found = language.neutral_noun(form)
    if (
        call.reason is Reason.NO_PERSON
    ):  # an office in the person's place, or something that is none
        return found if found is Strategy.COLLECTIVE else None
    # By itself such a word says nothing of an occupation: *Lehrperson*, *persona encargada*, but
    # *persona*.
    alone = found is Strategy.COMPOUND and any(base == ending for _, base in language.bases(form))
    # No participle is of fixed gender, and every collective: es *agente* ends like *gente*.
    fixed = any(e.detail.startswith(FIXED_GENDER) for e in call.evidence)
    other = found is (Strategy.PARTICIPLE if fixed else Strategy.COLLECTIVE)
    return Strategy.EPICENE if other or (alone and not _has_complement(call, words)) else found


def _for_both(call: GenderCall, text: str) -> Strategy:
    """The strategy of a neutral call: the sign in the word, or how the two forms are written."""
    said = next(e for e in call.evidence if e.gender is Gender.NEUTRAL)
    if said.detail == NEUTRAL_ENDING:
        return Strategy.ENDING
    if not call.both_forms:  # de "das Vorsitzende"
        return Strategy.EPICENE
    if said.detail == BOTH_FORMS:
        return Strategy.PAIR
    spelling = WRITTEN_FOR_BOTH in said.detail
    # The table's expression may reach beyond the word as `Language.tokens` cuts it (he עובד/ת).
    sign = _SIGN.search(
        text[call.target[0].start :].split(maxsplit=1)[0] if spelling else said.word
    )
    return _SIGNS[sign[1]] if sign else Strategy.CAPITAL if spelling else Strategy.PAIR


def _has_complement(call: GenderCall, words: Sequence[SentenceWord]) -> bool:
    """An adjective, participle, noun, preposition or relative clause stands right behind the head,
    or before it an adjective that renders the entity with it (ru *должностное лицо* for
    *official*).
    """
    head = next((n for n, w in enumerate(words) if w.span == call.target[0]), None)
    if head is None:
        return False
    if head and "ADJ" in words[head - 1].tags and words[head - 1].span in call.target:
        return True
    behind = words[head + 1] if head + 1 < len(words) else None
    if behind is None:
        return False
    relative = any("Rel" in value for value in feature_values(behind.tagged, "PronType"))
    participle = "Part" in feature_values(behind.content, "VerbForm")
    return relative or (behind.joined and (participle or not _COMPLEMENT.isdisjoint(behind.tags)))


# The words of a translation that show the person's gender and would stand there otherwise in the
# other one.
#
# A word is counted where its form, by the language's tables, cannot stand in the other gender with
# the same case and number: articles, adjectives, titles, the noun (one form for both, or a
# masculine that is used of women, costs nothing), the predicate, and pronouns of the third person
# in that gender.

_LETTERS = {Gender.MALE: ("m", "f"), Gender.FEMALE: ("f", "m")}
"""Gender → its letter in the tables, and that of the other one."""


def edits(
    call: GenderCall, words: Sequence[SentenceWord], alignment: Alignment, language: Language
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
    number = "sg" if numbers(words[head]) == {"sg"} else alignment.number
    phrase = replace(NounPhrase.around(words, head, language, alignment.number), number=number)
    doubted = phrase.others_attributes(call.target, alignment)
    places = [n for n in (head, *phrase.left, *phrase.right) if n not in doubted]
    found = {
        **_pronouns(phrase, gender),
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
        return () if stays else [a for r in told for a in reading_agreements(r)]
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
    words, verb = phrase.words, predicate_gender(phrase)
    found = {n: piece.source == "form" for n, piece in further_predicates(phrase, gender)}
    if verb is not None and verb.gender is gender:
        places = [
            n
            for n, w in enumerate(words)
            if w.text == verb.word and not phrase.first <= n <= phrase.last
        ]
        found |= dict.fromkeys(
            sorted(places, key=lambda n: abs(n - phrase.head))[:1], verb.source == "form"
        )
    return found


def _pronouns(phrase: NounPhrase, gender: Gender) -> dict[int, bool]:
    """Pronouns of the third person singular, possessives of such an owner, and the relative pronoun
    right behind.
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
