"""The policy: the noun phrase decides; a predicate that agrees with the entity only where it is
silent; a pronoun never.

The order of the questions, each answered with evidence:

1. the head noun's form: the plugin's nouns for people, then gender-marking endings, and for other
   words the tagger;
2. the article, contraction, title or attributive adjective that agrees with it;
3. the predicate whose subject it surely is.

A masculine form that is also used of women (``generic``) yields to feminine agreement, a masculine
noun to the title of a woman. A noun of fixed grammatical gender is never evidence. Evidence that
contradicts itself is ambiguous; none is no call. There is no default. ``docs/policy.md`` has the
call for every kind of noun and evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mtbias.language.grammar import NounKind, NounReading
from mtbias.reading import phrase_evidence
from mtbias.reading.rules import rule
from mtbias.reading.syntax import NounPhrase
from mtbias.reading.words import tagged_gender
from mtbias.types import Evidence, Gender, Reason, Span

Judgement = tuple[Gender | None, Reason | None, list[Evidence]]
_TELLING = (NounKind.MASCULINE, NounKind.FEMININE)


def judge(phrase: NounPhrase, *, foreign: bool, alone: bool) -> Judgement:
    """The decision on one phrase.

    Args:
        phrase: that of the entity.
        foreign: its noun was not translated: it says nothing by itself, whatever the tagger makes
            of it (de *den Chief*, *dem Cleaner*).
        alone: the entity stands alone in the source, or behind a determiner; otherwise a noun
            before it may share its article.
    """
    noun, kind = _noun(phrase, foreign=foreign)
    meant = phrase_evidence.sex_adjectives(phrase)
    if kind is NounKind.INCLUSIVE:
        return noun.gender, None, [noun]
    if meant:
        return _by_meaning(noun, meant)
    if kind is NounKind.FIXED:
        return _fixed(noun, phrase)
    articles = phrase_evidence.determiners(phrase, noun.gender if kind in _TELLING else None)
    articles += phrase_evidence.names(phrase)
    adjectives = phrase_evidence.adjectives(phrase)
    # A title is the person's own, the noun's form and the article between are those of the office.
    title = [] if kind is NounKind.FEMININE else phrase_evidence.woman_by_title(phrase)
    if title and any(piece.gender is Gender.MALE for piece in (noun, *articles)):
        return Gender.FEMALE, None, [*title, noun]
    if kind is NounKind.GENERIC:
        return _generic(noun, articles, adjectives, phrase)
    if kind in _TELLING:
        return _telling(noun, articles, adjectives)
    if not articles and not alone:
        articles = phrase_evidence.shared_determiner(phrase)
    return _silent(noun, [*articles, *adjectives], phrase)


def _by_meaning(noun: Evidence, adjectives: list[Evidence]) -> Judgement:
    """A noun with a word that means female or male: it says what the noun leaves open (de
    *männliche Lehrkraft*) and overrules its form, of men and women alike (*die weiblichen
    Entwickler*,
    *männliche Krankenschwestern*).
    """
    genders = {piece.gender for piece in adjectives}
    if len(genders) > 1:
        return None, Reason.AMBIGUOUS, [noun, *adjectives]
    return genders.pop(), None, [*adjectives, noun]


def _fixed(noun: Evidence, phrase: NounPhrase) -> Judgement:
    """A noun of fixed gender: what agrees with it says nothing (*die Person*, cs *hvězda
    poděkovala* of men too), what does not is the person's.
    """
    against = phrase_evidence.against_grammar(phrase)
    if against:
        return against[0].gender, None, [*against, noun]
    return None, Reason.NO_MORPHOLOGY, [noun]


def _telling(noun: Evidence, articles: list[Evidence], adjectives: list[Evidence]) -> Judgement:
    """A man's or a woman's noun. An article that contradicts it is ambiguous: nobody can say which
    of de *dem Sekretärin* the system meant. Neuter (*das Bibliothekar*) is a slip of grammar and no
    other gender. Adjectives are not held against the noun: where they differ they mostly are
    another's.
    """
    evidence = [noun, *articles, *adjectives]
    if any(piece.gender not in (None, Gender.NEUTRAL, noun.gender) for piece in articles):
        return None, Reason.AMBIGUOUS, evidence
    return noun.gender, None, evidence


def _silent(noun: Evidence, agreeing: list[Evidence], phrase: NounPhrase) -> Judgement:
    """A noun of common gender, or one that only the tagger knows: agreement decides before the
    tagger's guess, an ending before the tagger's reading of another word (es *al sheriff
    haciéndole*, where it reads an adjective).
    """
    telling = [piece for piece in agreeing if piece.gender is not None]
    firm = [piece for piece in telling if piece.source != "tagger"] or telling
    genders = {piece.gender for piece in firm}
    silent = [piece for piece in (noun, *agreeing) if piece not in firm]
    if len(genders) > 1:
        return None, Reason.AMBIGUOUS, [*firm, *silent]
    if genders:
        return genders.pop(), None, [*firm, *silent]
    # Only now the tagger's guess: it reads de "Die Ernährungsdiejenige" as masculine.
    if noun.gender is not None:
        return noun.gender, None, [noun, *agreeing]
    for own in phrase_evidence.noun_ending(phrase):
        return own.gender, None, [own, *silent]
    verb = phrase.syntax.predicate(phrase)
    if verb is not None:
        return verb.gender, None, [verb, *silent]
    doubted = any(piece.kind == "adjective" for piece in silent)
    return None, Reason.AMBIGUOUS if doubted else Reason.NO_MORPHOLOGY, silent


def _generic(
    noun: Evidence, articles: list[Evidence], adjectives: list[Evidence], phrase: NounPhrase
) -> Judgement:
    """A masculine form used of women too: feminine agreement overrules it.

    Its article or title has the last word (it *Il meccanico saluta* is a man, though the tagger
    reads a feminine verb). A masculine adjective has not: ru *Новый инженер объяснила* is a woman
    by her verb. The tagger's adjectives do not count: ru *в своей речи фельдшера* would be a woman
    by "speech".
    """
    evidence = [noun, *articles, *adjectives]
    if phrase.syntax.is_predicate_before(phrase):
        adjectives = [piece for piece in adjectives if piece.gender is not Gender.FEMALE]
        evidence = [noun, *articles, *adjectives]
    firm_articles = [piece for piece in articles if piece.gender]
    firm_adjectives = [p for p in adjectives if p.gender and p.source != "tagger"]
    for firm in (firm_articles, firm_adjectives):
        genders = {piece.gender for piece in firm} - {Gender.NEUTRAL}
        if len(genders) > 1:
            return None, Reason.AMBIGUOUS, [*firm, noun]
        if genders == {Gender.FEMALE}:
            return Gender.FEMALE, None, [*firm, noun]
        if genders and firm[0] in articles:
            return Gender.MALE, None, evidence
    verb = phrase.syntax.predicate(phrase)
    if verb is not None and verb.gender is Gender.FEMALE:
        return Gender.FEMALE, None, [verb, *evidence]
    return Gender.MALE, None, evidence


# The noun


def _noun(phrase: NounPhrase, *, foreign: bool) -> tuple[Evidence, NounKind | None]:
    """What the head's own form says, and the kind of noun it is where the plugin knows it.

    An ending goes before the tagger: it reads cs *skláře*, a man's accusative, as a feminine, and
    gives he *מרכב* "chassis" for *mover* the gender that the endings' table knows to be fixed.
    """
    word = phrase.words[phrase.head]
    if word.readings:
        return known_noun(word.text, word.span, phrase_evidence.fitting_readings(phrase))
    if foreign:
        return _evidence("foreign_word", word.text, word.span, None, "form"), NounKind.COMMON
    if word.facts.ending and (word.tags & {"NOUN", "PROPN", "ADJ", "VERB"} or not word.tags):
        ending, kind = word.facts.ending
        name, shows = RULE_OF_KIND[kind], f"-{ending}"
        return _evidence(name, word.text, word.span, kind.gender, "form", shows), kind
    nouns = [w for w in word.content if w.upos in ("NOUN", "PROPN", "ADJ")]
    gender, feature = tagged_gender(nouns or word.content)
    shows = feature or "no gender"
    return _evidence("noun_by_tagger", word.text, word.span, gender, "tagger", shows), None


def known_noun(form: str, span: Span, readings: Sequence[NounReading]) -> tuple[Evidence, NounKind]:
    """What the plugin's readings of the form amount to. A form with several is silent unless they
    say the same.
    """
    kind = _one_kind(frozenset(reading.kind for reading in readings))
    lemmas = ", ".join(sorted({reading.lemma for reading in readings}))
    name = RULE_OF_KIND[kind]
    return _evidence(name, form, span, kind.gender, "lexicon", lemmas), kind


def _one_kind(kinds: frozenset[NounKind]) -> NounKind:
    telling = frozenset(kind for kind in kinds if kind.is_personal)
    telling = telling or kinds - {NounKind.THING}
    if form_of_two_nouns(telling):
        return NounKind.GENERIC
    return min(telling) if len(telling) == 1 else NounKind.COMMON


@rule()
def form_of_two_nouns(kinds: frozenset[NounKind]) -> bool:
    """A form of two nouns, one of which is a man's alone, is one that is used of women, too (he
    *בעלים* "owner"): feminine agreement may still overrule it.
    """
    return kinds == {NounKind.GENERIC, NounKind.MASCULINE}


def _evidence(
    name: str, word: str, span: Span, gender: Gender | None, source: str, shows: str = ""
) -> Evidence:
    return Evidence(name, "noun", word, span, gender, source, shows)


RULE_OF_KIND: Mapping[NounKind, str] = {
    NounKind.MASCULINE: "masculine_noun",
    NounKind.FEMININE: "feminine_noun",
    NounKind.COMMON: "common_noun",
    NounKind.GENERIC: "generic_masculine",
    NounKind.FIXED: "fixed_gender_noun",
    NounKind.THING: "noun_for_thing",
    NounKind.INCLUSIVE: "spelling_for_both",
}
"""Kind of noun → what its evidence rests on."""
