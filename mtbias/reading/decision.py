"""From an alignment and the morphology of a translation to one call.

The candidates are read in the order of trust until one names somebody: whether the word renders the
entity at all, and whether it names a person, is asked here; what its gender is, the policy says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from mtbias.language.split_texts import SplitTexts
from mtbias.reading import phrase_evidence
from mtbias.reading.both_forms import both_forms
from mtbias.reading.edits import edits
from mtbias.reading.noun_evidence import known_noun
from mtbias.reading.policy import judge
from mtbias.reading.rules import rule
from mtbias.reading.strategy import strategy
from mtbias.reading.syntax import NounPhrase, Syntax, syntax_of
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
    """The gender in which the entity stands in one translation.

    Args:
        alignment: where the entity is in the translation.
        analysis: the translation's morphology.
        texts: splits the translation; its language decides.

    Raises:
        PluginError: the language names no family (`syntax_of`).
    """
    syntax = syntax_of(texts.language)
    words = sentence_words(analysis, texts) if alignment.target else []
    call = _within_compound(
        _read(alignment, words, analysis.text, syntax), alignment, analysis, syntax
    )
    # A thing renders the person: es "el motor" for *mover*, "la dirección" for *director*.
    thing = call.reason is Reason.NO_PERSON and call.target[0] in alignment.translations
    if thing or call.reason not in _NOBODY:
        does = strategy(call, words, analysis.text, texts.language)
    elif alignment.of(Trust.PERSON_LEFT) or alignment.of(Trust.ONLY_PERSON):
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
    head: int

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
        """The head is the word that was found first."""
        return self.word.span == self.first.target[0]


def _read(
    alignment: Alignment, words: Sequence[SentenceWord], text: str, syntax: Syntax
) -> GenderCall:
    call = GenderCall(alignment.id, None, Reason.UNALIGNED)
    for aligned in alignment.of(Trust.ALIGNED):
        words = _as_meant(words, aligned, syntax)
    for first in _readable(alignment, words, syntax):
        call = read_at(first, alignment, words, text, syntax)
        if call.reason not in _NOBODY:
            break
    return call


def _readable(
    alignment: Alignment, words: Sequence[SentenceWord], syntax: Syntax
) -> Iterator[Candidate]:
    """The candidates that stand by themselves, in the order of trust."""
    yield from alignment.of(Trust.ALIGNED)
    person = only_person(alignment, words, syntax) if alignment.target else None
    if person is not None:
        yield person


def _as_meant(
    words: Sequence[SentenceWord], candidate: Candidate, syntax: Syntax
) -> Sequence[SentenceWord]:
    """The words, of which a misspelt one is read as what it was meant to be."""
    if candidate.meant is None:
        return words
    readings = syntax.language.noun(candidate.meant)
    first = candidate.target[0]
    return [w._replace(readings=readings) if w.span == first else w for w in words]


@rule(otherwise=None)
def only_person(
    alignment: Alignment, words: Sequence[SentenceWord], syntax: Syntax
) -> Candidate | None:
    """The one noun for a person that the tables know as a translation of no other word of the
    source, in its number, renders the entity, if what was aligned names nobody: ru *хозяина
    фабрики* "the factory's owner" for *industrialist*, with a sure link at *фабрики*.
    """
    unclaimed = {each.target[0]: each for each in alignment.of(Trust.ONLY_PERSON)}
    people = [
        word
        for n, word in enumerate(words)
        if word.span in unclaimed and _may_be_person(words, n, syntax)
    ]
    if len({word.form for word in people}) != 1 or people[0].span == alignment.target[0]:
        return None
    person = people[0]
    plural, number = person.numbers == {"Plur"}, alignment.source.number
    fits = not plural if number == "sg" else number is None or not person.is_singular
    return unclaimed[person.span] if fits else None


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
    """The call; where nothing names somebody, or the compound itself was aligned, that of the noun
    with which a compound begins, by its form alone: article and adjectives are those of the
    compound (de *Frauenrechte* for *women's rights*).
    """
    for candidate in alignment.of(Trust.IN_COMPOUND):
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
    """The gender in which the words of a candidate stand, or of those that are left over where what
    was aligned is no noun.
    """
    source, language = alignment.source, syntax.language
    nobody = GenderCall(alignment.id, None, Reason.UNALIGNED)
    if source.quantifier and first.basis in _SURE and stands_alone(words, first.target[0]):
        return _call_at(first, alignment.id, first.target[:1], None, Reason.NO_MORPHOLOGY)
    words = syntax.without_compound(words, first.target[0], alignment.translations)
    rendering = _rendering(first, alignment, words, syntax)
    if rendering is None or not renders_entity(rendering):
        return nobody
    head, word, target = rendering.head, rendering.word, rendering.candidate.target
    spans = (word.span, *(span for span in sorted(target) if span != word.span))
    call_at = partial(_call_at, rendering.candidate, alignment.id, spans)
    both = both_forms(words, head, text, language, alignment.translations)
    if both is not None:
        return call_at(Gender.NEUTRAL, None, (both,))
    doubt = _doubt(rendering, alignment.translations)
    if doubt is not None:
        silent = Evidence(doubt, "noun", word.text, word.span, None, "alignment")
        return replace(nobody, evidence=(silent,))
    phrase = syntax.phrase(words, head, source.number)
    phrase = replace(phrase, doubtful=syntax.doubtful_attributes(phrase, target, source))
    foreign = is_foreign(word, syntax) or _is_copied(rendering)
    thing = _thing(rendering, phrase, alignment, foreign=foreign)
    if thing is not None:
        silent = Evidence(thing, "noun", word.text, word.span, None, "lexicon")
        return call_at(None, Reason.NO_PERSON, (silent,))
    decided = judge(phrase, foreign=foreign, alone=not source.qualified)
    return call_at(decided.gender, decided.reason, decided.evidence)


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
    word = rendering.word
    either = word.may_be_thing and not phrase.syntax.trusts_translations
    if either and word.span not in alignment.translations:
        return "thing_too"
    before_name = alignment.source.before_name
    if foreign or _names_person(rendering, phrase, before_name=before_name):
        return None
    return "known_thing" if word.readings else "no_sign_of_person"


def _rendering(
    first: Candidate, alignment: Alignment, words: Sequence[SentenceWord], syntax: Syntax
) -> Rendering | None:
    """The candidate with the head among its words; or one that is left over. None where it has no
    word.
    """
    if first.copied:
        # uk "сказав Cleaner гарною новиною": the English word itself is there, whatever noun
        # stands behind it.
        places = (n for n, word in enumerate(words) if word.span == first.target[0])
        copy = next(places, None)
        return None if copy is None else Rendering(first, first, words, copy)
    head = syntax.head(
        words,
        first.target,
        sure=first.basis in _SURE,
        qualified=alignment.source.qualified,
        translations=alignment.translations,
    )
    found = None if head is None else Rendering(first, first, words, head)
    if first.trust is not Trust.ALIGNED:
        return found
    people = alignment.of(Trust.PERSON_LEFT)
    if people and person_left_over(found):
        found = _at_left_over(people[0], first, words, syntax)
    if found is None or first.loan or may_name_person(found.word):
        return found
    for candidate in alignment.of(Trust.WORD_LEFT):
        other = _at_left_over(candidate, first, words, syntax)
        if other is not None and other.word.is_noun:
            return other
    return found


def _at_left_over(
    candidate: Candidate, first: Candidate, words: Sequence[SentenceWord], syntax: Syntax
) -> Rendering | None:
    head = syntax.head(words, candidate.target, sure=False)
    return None if head is None else Rendering(candidate, first, words, head)


@rule()
def person_left_over(found: Rendering | None) -> bool:
    """Where links are at no noun, the noun for people that is left without one renders the entity:
    de
    *antwortete dem Abgeordneten*, he *הרתך שרף…*, with links at the verb.
    """
    return found is None or not found.word.is_noun


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
    name (uk *перукарське волосся* "hairdresser's hair") shows where it stands, and tells no more.
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
    # uk "не хоче мати аеропорт" is no mother, he "צייר לה תרשים" no painter; but taggers read he
    # רואה חשבון so, too.
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


def _is_copied(rendering: Rendering) -> bool:
    return rendering.first.copied and rendering.is_first and not rendering.word.names_thing


def _names_person(rendering: Rendering, phrase: NounPhrase, *, before_name: bool) -> bool:
    word = rendering.word
    if rendering.first.basis in _SURE and agent_noun(word, phrase.syntax):
        return True
    if rendering.first.loan and rendering.is_first and word.tags & {"NOUN", "ADJ"}:
        return True
    return phrase_evidence.names_person(phrase, named=rendering.sure and before_name)


@rule()
def agent_noun(word: SentenceWord, syntax: Syntax) -> bool:
    """A noun of no table that ends like a man's, is surely aligned and read as masculine names a
    man (de *Kesselflicker*).
    """
    if word.readings or word.tags != {"NOUN"} or not syntax.language.may_be_agent(word.form):
        return False
    return tagged_gender(word.content)[0] is Gender.MALE
