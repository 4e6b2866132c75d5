"""From an alignment and the morphology of a translation to one call.

The candidates are read in the order of trust until one names somebody. This module decides whether
a word renders the entity at all, and whether it names a person; the policy decides its gender.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mtbias.language.split_texts import SplitTexts
from mtbias.reading import phrase_evidence
from mtbias.reading.both_forms import both_forms
from mtbias.reading.edits import edits
from mtbias.reading.noun_evidence import known_noun
from mtbias.reading.policy import judge
from mtbias.reading.rules import rule
from mtbias.reading.strategy import strategy
from mtbias.reading.syntax import NounPhrase, Syntax, syntax_of
from mtbias.reading.syntax.head_noun import find_head
from mtbias.reading.words import (
    NOMINAL,
    VERBAL,
    SentenceWord,
    sentence_words,
    tagged_gender,
    word_behind,
)
from mtbias.types import (
    DERIVED,
    ELIMINATION,
    Alignment,
    Analysis,
    Candidate,
    Evidence,
    Gender,
    GenderCall,
    Reason,
    Span,
    Strategy,
    Trust,
    frozen,
)

_NOBODY = (Reason.UNALIGNED, Reason.NO_PERSON)
_SURE = ("links", "links+lexicon")
"""Bases of an alignment that is believed even where the tagger sees no noun."""


def decide(alignment: Alignment, analysis: Analysis, texts: SplitTexts) -> GenderCall:
    """The call on the entity's gender in one translation.

    Args:
        alignment: where the entity is in the translation.
        analysis: the translation's morphology.
        texts: splits the translation; its language decides.

    Raises:
        PluginError: the language names no family (`syntax_of`).
    """
    syntax = syntax_of(texts.language)
    words = sentence_words(analysis, texts) if alignment.target else []
    call = _first_call(alignment, words, analysis.text, syntax)
    call = _within_compound(call, alignment, analysis, syntax)
    # A thing renders the person: es "el motor" for *mover*, "la dirección" for *director*.
    is_thing = call.reason is Reason.NO_PERSON and call.target[0] in alignment.translations
    if is_thing or call.reason not in _NOBODY:
        does = strategy(call, words, analysis.text, texts.language)
    elif alignment.with_trust(Trust.PERSON_LEFT) or alignment.with_trust(Trust.ONLY_PERSON):
        does = Strategy.UNALIGNED
    else:
        does = Strategy.OMITTED
    return replace(call, does=does, edits=edits(call, words, alignment, syntax))


# The candidates


@frozen
class Rendering:
    """Words that are taken to render the entity."""

    candidate: Candidate
    first: Candidate
    """The candidate on which it rests: the aligned words, or the only person."""
    words: Sequence[SentenceWord]
    """The words of the translation."""
    head: int
    """Index of the word that renders the entity's head."""

    @property
    def sure(self) -> bool:
        """It is believed even where the tagger sees no noun."""
        return self.candidate is self.first and self.first.basis in _SURE

    @property
    def word(self) -> SentenceWord:
        """The head."""
        return self.words[self.head]

    @property
    def is_first(self) -> bool:
        """The head is the best word of the candidate on which it rests."""
        return self.word.span == self.first.target[0]


def _first_call(
    alignment: Alignment, words: Sequence[SentenceWord], text: str, syntax: Syntax
) -> GenderCall:
    """The call at the aligned words, or at the translation's only person where they name nobody."""
    call = GenderCall(alignment.id, None, Reason.UNALIGNED)
    if not alignment.target:
        return call
    for aligned in alignment.with_trust(Trust.ALIGNED):
        words = _as_meant(words, aligned, syntax)
        call = read_at(aligned, alignment, words, text, syntax)
        if call.reason not in _NOBODY:
            return call
    person = only_person(alignment, words, syntax)
    return call if person is None else read_at(person, alignment, words, text, syntax)


def _as_meant(
    words: Sequence[SentenceWord], candidate: Candidate, syntax: Syntax
) -> Sequence[SentenceWord]:
    """The words, with the readings of the intended word where one is misspelt."""
    if candidate.meant is None:
        return words
    readings = syntax.language.noun(candidate.meant)
    misspelt = candidate.target[0]
    return [w._replace(readings=readings) if w.span == misspelt else w for w in words]


@rule(otherwise=None)
def only_person(
    alignment: Alignment, words: Sequence[SentenceWord], syntax: Syntax
) -> Candidate | None:
    """The one noun for a person that the tables know as a translation of no other word of the
    source, in its number, renders the entity, if what was aligned names nobody: ru *хозяина
    фабрики* "the factory's owner" for *industrialist*, with a sure link at *фабрики*.
    """
    unclaimed = {each.target[0]: each for each in alignment.with_trust(Trust.ONLY_PERSON)}
    people = [
        word
        for n, word in enumerate(words)
        if word.span in unclaimed and _may_be_person(words, n, syntax)
    ]
    if len({word.form for word in people}) != 1 or people[0].span == alignment.target[0]:
        return None
    person, number = people[0], alignment.source.number
    if number == "sg" and person.numbers == {"Plur"}:
        return None
    if number not in (None, "sg") and person.is_singular:
        return None
    return unclaimed[person.span]


def _may_be_person(words: Sequence[SentenceWord], n: int, syntax: Syntax) -> bool:
    """A noun for a person alone, or one of no table."""
    word = words[n]
    if not (word.tags & NOMINAL or syntax.stands_for_noun(words, n)):
        return False
    if word.compound or word.form in syntax.language.names:
        return False
    if word.may_be_thing and not syntax.trusts_translations:
        return False
    return bool(word.readings) or "NOUN" in word.tags


def _within_compound(
    call: GenderCall, alignment: Alignment, analysis: Analysis, syntax: Syntax
) -> GenderCall:
    """The call on the noun with which a compound begins (de *Frauenrechte* for *women's rights*),
    where `call` names nobody or was made at the compound itself; elsewhere `call`.

    The noun's form alone counts: article and adjectives are those of the compound.
    """
    for candidate in alignment.with_trust(Trust.IN_COMPOUND):
        part = candidate.target[0]
        if call.reason in _NOBODY or part.overlaps(call.target[0]):
            form = analysis.text[slice(*part)]
            noun, _ = known_noun(form, part, syntax.language.noun(form))
            reason = None if noun.gender else Reason.NO_MORPHOLOGY
            return _call_at(candidate, call.id, (part,), noun.gender, reason, (noun,))
    return call


# One candidate


def read_at(
    first: Candidate,
    alignment: Alignment,
    words: Sequence[SentenceWord],
    text: str,
    syntax: Syntax,
) -> GenderCall:
    """The call at the words of a candidate, or at those that are left over where the aligned word
    is not a noun.
    """
    source, id_ = alignment.source, alignment.id
    nobody = GenderCall(id_, None, Reason.UNALIGNED)
    if source.quantifier and first.basis in _SURE and stands_alone(words, first.target[0]):
        return _call_at(first, id_, first.target[:1], None, Reason.NO_MORPHOLOGY)

    words = syntax.without_compound(words, first.target[0], alignment.translations)
    rendering = _rendering(first, alignment, words, syntax)
    if rendering is None or not renders_entity(rendering):
        return nobody
    candidate, head, word = rendering.candidate, rendering.head, rendering.word
    target = (word.span, *(span for span in sorted(candidate.target) if span != word.span))

    both = both_forms(words, head, text, syntax.language, alignment.translations)
    if both is not None:
        return _call_at(candidate, id_, target, Gender.NEUTRAL, None, (both,))
    doubt = _doubt(rendering, alignment.translations)
    if doubt is not None:
        silent = Evidence(doubt, "noun", word.text, word.span, None, "alignment")
        return replace(nobody, evidence=(silent,))

    phrase = syntax.phrase(words, head, source.number)
    doubtful = syntax.doubtful_attributes(phrase, candidate.target, source)
    phrase = replace(phrase, doubtful=doubtful)
    copied = first.copied and rendering.is_first and not word.names_thing
    foreign = is_foreign(word, syntax) or copied
    thing = _thing(rendering, phrase, alignment, foreign=foreign)
    if thing is not None:
        silent = Evidence(thing, "noun", word.text, word.span, None, "lexicon")
        return _call_at(candidate, id_, target, None, Reason.NO_PERSON, (silent,))
    decision = judge(phrase, foreign=foreign, alone=not source.qualified)
    return _call_at(candidate, id_, target, decision.gender, decision.reason, decision.evidence)


def _call_at(
    candidate: Candidate,
    id_: str,
    target: tuple[Span, ...],
    gender: Gender | None,
    reason: Reason | None,
    evidence: tuple[Evidence, ...] = (),
) -> GenderCall:
    """A call that reads the words of this candidate."""
    basis, trust = candidate.basis, candidate.trust
    return GenderCall(id_, gender, reason, target, evidence, basis=basis, trust=trust)


def _thing(
    rendering: Rendering, phrase: NounPhrase, alignment: Alignment, *, foreign: bool
) -> str | None:
    """The rule by which the word names nobody, or None."""
    word, first = rendering.word, rendering.first
    either = word.may_be_thing and not phrase.syntax.trusts_translations
    if either and word.span not in alignment.translations:
        return "thing_too"
    if foreign or (first.basis in _SURE and agent_noun(word, phrase.syntax)):
        return None
    if first.loan and rendering.is_first and word.tags & {"NOUN", "ADJ"}:
        return None
    named = rendering.sure and alignment.source.before_name
    if phrase_evidence.names_person(phrase, named=named):
        return None
    return "known_thing" if word.readings else "no_sign_of_person"


def _rendering(
    first: Candidate, alignment: Alignment, words: Sequence[SentenceWord], syntax: Syntax
) -> Rendering | None:
    """The candidate with the head among its words, or another that is left over; None where there
    is not a head.
    """
    if first.copied:
        # uk "сказав Cleaner гарною новиною": the English word itself is there, whatever noun
        # follows it.
        spans = [word.span for word in words]
        if first.target[0] not in spans:
            return None
        return Rendering(first, first, words, spans.index(first.target[0]))
    head = find_head(
        syntax,
        words,
        first.target,
        sure=first.basis in _SURE,
        qualified=alignment.source.qualified,
        translations=alignment.translations,
    )
    rendering = None if head is None else Rendering(first, first, words, head)
    if first.trust is not Trust.ALIGNED:
        return rendering

    people = alignment.with_trust(Trust.PERSON_LEFT)
    if people and person_left_over(rendering):
        head = find_head(syntax, words, people[0].target, sure=False)
        rendering = None if head is None else Rendering(people[0], first, words, head)
    if rendering is None or first.loan or may_name_person(rendering.word):
        return rendering
    for candidate in alignment.with_trust(Trust.WORD_LEFT):
        head = find_head(syntax, words, candidate.target, sure=False)
        if head is not None and words[head].is_noun:
            return Rendering(candidate, first, words, head)
    return rendering


@rule()
def person_left_over(rendering: Rendering | None) -> bool:
    """Where links are at no noun, the noun for people that is left without one renders the entity:
    de *antwortete dem Abgeordneten*, he *הרתך שרף…*, with links at the verb.
    """
    return rendering is None or not rendering.word.is_noun


@rule()
def stands_alone(words: Sequence[SentenceWord], span: Span) -> bool:
    """A numeral, pronoun or determiner without a noun behind it has no gender of its own, like a
    word for someone (de *die beiden*, *andere*).
    """
    first = next(n for n, word in enumerate(words) if word.span.overlaps(span))
    for n in range(first, len(words)):
        if n > first and (not words[n].joined or words[n].is_noun):
            return not (words[n].joined and words[n].is_noun)
        if words[n].is_noun or not words[n].tags & {"NUM", "DET", "PRON", "ADJ"}:
            return n > first
    return True


def renders_entity(rendering: Rendering) -> bool:
    """A conjunction, preposition or article renders nobody, however it was aligned; nor does what
    is only left over and no noun (uk *сказав* "said" for *cook*). What derives from the entity's
    name (uk *перукарське волосся* "hairdresser's hair") shows where it is, and tells no more.
    """
    word = rendering.word
    if word.tagged and not word.readings and not word.content:
        return False
    return rendering.sure or rendering.first.basis == DERIVED or may_name_person(word)


@rule()
def may_name_person(word: SentenceWord) -> bool:
    """A noun, or what ends like one for people, although the tagger sees an adjective (it *un'avida
    esperantista*).
    """
    return word.is_noun or (word.is_adjective and word.facts.ends_like_person)


def _doubt(rendering: Rendering, translations: Sequence[Span]) -> str | None:
    """The rule by which the aligned word is not believed to render the entity, or None.

    A word that the table does not know must be aligned for certain, or, if its alignment rests on
    its form or on the corpus's lexicon, be a noun whose ending is one of people. What is only left
    over is none in any case.
    """
    word, basis = rendering.word, rendering.first.basis
    if word.readings and word.span in translations:
        return None
    if adjective_of_thing(rendering):
        return "adjective_of_thing"
    # uk "не хоче мати аеропорт" is not a mother, nor he "צייר לה תרשים" a painter; but taggers read
    # he רואה חשבון so, too.
    noun = not word.tags or not word.tags <= VERBAL or word.is_declined
    if word.readings and (basis in _SURE or noun):
        return None
    person = basis != ELIMINATION and may_name_person(word) and word.facts.ending is not None
    if basis not in _SURE and not person:
        return "unsure_alignment"
    # ru "а не разрушителя", which the tagger takes for a verb.
    return "bare_verb" if bare_verb(rendering) and not word.facts.ends_like_person else None


@rule()
def adjective_of_thing(rendering: Rendering) -> bool:
    """An adjective that agrees with the thing right behind it renders nobody: uk *сприйняв хворий
    хліб*, a sick loaf, although *хворий* alone would be a man.
    """
    word, noun = rendering.word, word_behind(rendering.words, rendering.head)
    if noun is None or not (noun.is_thing and word.is_adjective and word.is_declined):
        return False
    return word.has_case_of(noun) and word.agrees_with(noun)


@rule()
def bare_verb(rendering: Rendering) -> bool:
    """A verb without an article before it renders nobody, however surely it is aligned. Behind an
    article it is a name that the tagger does not know: he *עם המונבר* "with the mover".
    """
    words, head = rendering.words, rendering.head
    content = {tagged.upos for tagged in words[head].content}
    article = head > 0 and words[head].joined and words[head - 1].tags & {"DET", "ADP"}
    return bool(content) and content <= VERBAL and not article


@rule()
def is_foreign(word: SentenceWord, syntax: Syntax) -> bool:
    """A word in Latin letters in a language that is not written in them, whatever is written onto
    it (he *ה-CEO*), was not translated.
    """
    if syntax.language.latin:
        return False
    rests = [base.strip("-") for base in word.facts.bases]
    return any(rest.isascii() and rest.isalpha() for rest in rests)


@rule()
def agent_noun(word: SentenceWord, syntax: Syntax) -> bool:
    """A noun of no table that ends like a man's, is surely aligned and read as masculine names a
    man (de *Kesselflicker*).
    """
    if word.readings or word.tags != {"NOUN"} or not syntax.language.may_be_agent(word.form):
        return False
    return tagged_gender(word.content)[0] is Gender.MALE
