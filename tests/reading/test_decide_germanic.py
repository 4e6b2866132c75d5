"""The noun phrase in a language with case: articles that are ambiguous each by itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtbias.language.split_texts import SplitTexts
from mtbias.plugin import Language, NounKind, NounReading, parse_agreements
from mtbias.reading import decide
from mtbias.types import (
    DERIVED,
    ELIMINATION,
    Alignment,
    Analysis,
    Candidate,
    Gender,
    GenderCall,
    Reason,
    SourceFacts,
    Span,
    Trust,
)

Call = Callable[..., GenderCall]
M, F, N = Gender.MALE, Gender.FEMALE, Gender.NEUTRAL
SILENT, AMBIGUOUS, UNALIGNED = Reason.NO_MORPHOLOGY, Reason.AMBIGUOUS, Reason.UNALIGNED


def noun(lemma: str, kind: NounKind, agreements: str = "-") -> tuple[NounReading, ...]:
    return (NounReading(lemma, kind, parse_agreements(agreements, where="test")),)


LANGUAGE = Language(
    code="de",
    name="Toy German",
    family="germanic",
    case=True,
    compounds=True,
    inclusive=r"[a-zäöü](?:[*:_/](?:in|innen)|In|Innen)$",
    determiners={
        form: parse_agreements(text, where="test")
        for form, text in {
            "der": "m.nom.sg f.gen.sg f.dat.sg *.gen.pl",
            "die": "f.nom.sg f.acc.sg *.nom.pl *.acc.pl",
            "das": "n.nom.sg n.acc.sg",
            "den": "m.acc.sg *.dat.pl",
            "dem": "m.dat.sg n.dat.sg",
            "des": "m.gen.sg n.gen.sg",
            "ein": "m.nom.sg n.nom.sg n.acc.sg",
            "zum": "m.dat.sg n.dat.sg",
            "zur": "f.dat.sg",
        }.items()
    },
    adjective_endings={
        "e": parse_agreements(
            "m.nom.sg n.nom.sg n.acc.sg f.nom.sg f.acc.sg *.nom.pl *.acc.pl", where="test"
        ),
        "er": parse_agreements("m.nom.sg f.gen.sg f.dat.sg *.gen.pl", where="test"),
        "en": parse_agreements("m.gen.sg m.dat.sg m.acc.sg f.gen.sg f.dat.sg *.*.pl", where="test"),
    },
    noun_endings={
        "in": NounKind.FEMININE,
        "innen": NounKind.FEMININE,
        "ologe": NounKind.MASCULINE,
        "drucker": None,
    },
    noun_endings_except={"termin": None, "cousin": NounKind.MASCULINE},
    agent_endings=("er", "ers"),
    names={"frau": "f", "herr": "m"},
    sex_adjectives={"weibliche": "f", "weiblichen": "f", "männliche": "m"},
    prepositions={
        "mit": frozenset(("dat",)),
        "für": frozenset(("acc",)),
        "in": frozenset(("dat", "acc")),
    },
    nouns={
        "lehrer": noun("Lehrer", NounKind.MASCULINE),
        "lehrerin": noun("Lehrerin", NounKind.FEMININE),
        "arbeiter": noun("Arbeiter", NounKind.MASCULINE),
        "kraft": noun("Kraft", NounKind.FIXED),
        "person": noun("Person", NounKind.FIXED),
        "gast": noun("Gast", NounKind.FIXED),
        "motor": noun("Motor", NounKind.THING),
        "coach": noun("Coach", NounKind.COMMON),
        "mädchen": noun("Mädchen", NounKind.FEMININE, "n.*.*"),
        "angestellte": noun("Angestellte", NounKind.COMMON, "m.nom.sg f.nom.sg f.acc.sg"),
        "angestellten": noun(
            "Angestellte", NounKind.COMMON, "m.gen.sg m.dat.sg m.acc.sg f.gen.sg f.dat.sg *.*.pl"
        ),
        "angestellter": noun("Angestellte", NounKind.COMMON, "m.nom.sg"),
    },
)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        # The noun itself tells, in whatever case its article stands.
        ("Der|DET *Lehrer|NOUN kam|VERB", M),
        ("Sie|PRON half|VERB der|DET *Lehrerin|NOUN", F),
        # "der" with "Angestellte" is masculine nominative only; with "Angestellten" feminine
        # genitive or dative, or a plural genitive, which the number of the source excludes.
        ("Der|DET *Angestellte|NOUN kam|VERB", M),
        ("Die|DET *Angestellte|NOUN kam|VERB", F),
        ("Sie|PRON half|VERB der|DET *Angestellten|NOUN", F),
        ("Sie|PRON half|VERB dem|DET *Angestellten|NOUN", M),
        ("Sie|PRON sah|VERB den|DET *Angestellten|NOUN", M),
        ("Das|DET Auto|NOUN|Case=Nom des|DET *Angestellten|NOUN", M),
        ("Ein|DET *Angestellter|NOUN kam|VERB", M),
        # contractions
        ("Sie|PRON ging|VERB zum|ADP+DET *Angestellten|NOUN", M),
        ("Sie|PRON ging|VERB zur|ADP+DET *Angestellten|NOUN", F),
        # An uninflected noun leaves it to the article and, where that is ambiguous, to the
        # preposition: after "mit" (dative) "der" is feminine, after "für" (accusative) "den" is
        # masculine.
        ("Sie|PRON sprach|VERB mit|ADP der|DET *Coach|NOUN", F),
        ("Ein|DET Brief|NOUN für|ADP den|DET *Coach|NOUN", M),
        ("Die|DET *Coach|NOUN kam|VERB", F),
        # Right behind another noun the phrase is a genitive: "der" is feminine there.
        ("Das|DET Auto|NOUN der|DET *Coach|NOUN", F),
        # First in the sentence nothing speaks against a nominative.
        ("Der|DET *Coach|NOUN kam|VERB", M),
        # After a verb that has its subject "der" is no nominative.
        ("Sie|PRON|Case=Nom half|VERB der|DET *Coach|NOUN", F),
        # An adjective between article and noun narrows the article: "-e" excludes the dative of
        # "der".
        ("Dann|ADV half|VERB der|DET junge|ADJ *Coach|NOUN", M),
        ("Dann|ADV half|VERB der|DET jungen|ADJ *Coach|NOUN", F),
        # Neuter is a gender of its own only where nothing else is left.
        ("Das|DET *Coach|NOUN kam|VERB", N),
        # A relative pronoun before the article is no part of the phrase: "bei" does not govern it.
        ("Firmen|NOUN bei|ADP der|PRON der|DET|Case=Nom *Coach|NOUN war|VERB", M),
        ("Firmen|NOUN mit|ADP der|PRON das|DET *Mädchen|NOUN kam|VERB", F),
        # A neuter noun for a woman agrees with neuter articles, whatever man's they could be.
        ("Sie|PRON half|VERB dem|DET *Mädchen|NOUN", F),
        ("Sie|PRON ging|VERB zum|ADP+DET *Mädchen|NOUN", F),
        # Titles.
        ("Sie|PRON sah|VERB Frau|NOUN *Coach|NOUN", F),
        ("Sie|PRON sah|VERB Herr|NOUN *Coach|NOUN", M),
    ],
)
def test_article_case_and_noun(call: Call, sentence: str, expected: Gender) -> None:
    found = call(LANGUAGE, sentence)
    assert found.gender is expected
    assert expected in [e.gender for e in found.evidence]


@pytest.mark.parametrize(
    ("sentence", "number", "expected"),
    [
        # "die Coach" of women and men in the plural is silent; of one person it is a woman. The
        # English tells which.
        ("Die|DET *Coach|NOUN kamen|VERB", "pl", None),
        ("Die|DET *Coach|NOUN kam|VERB", "sg", F),
        ("Sie|PRON half|VERB den|DET *Angestellten|NOUN", "pl", None),
        ("Sie|PRON half|VERB den|DET *Angestellten|NOUN", "sg", M),
        # Without the English number all plurals stay possible.
        ("Sie|PRON half|VERB den|DET *Angestellten|NOUN", None, None),
        # The noun's own form still tells, and "den" is a plural beside it.
        ("Sie|PRON half|VERB den|DET *Lehrerinnen|NOUN", "pl", F),
        ("Die|DET *Lehrerinnen|NOUN kamen|VERB", "pl", F),
    ],
)
def test_the_number_of_the_source(
    call: Call, sentence: str, number: str | None, expected: Gender | None
) -> None:
    found = call(LANGUAGE, sentence, number=number)
    assert found.gender is expected
    assert found.reason is (SILENT if expected is None else None)


@pytest.mark.parametrize(
    ("word", "expected", "source"),
    [
        ("Lehrer|NOUN|Gender=Fem", M, "lexicon"),  # the table is believed, not the tagger
        ("Programmiererin|NOUN|Gender=Masc", F, "form"),  # the ending -in
        ("Psychologe|NOUN", M, "form"),  # the ending -ologe
        ("Cousin|NOUN|Gender=Fem", M, "form"),  # an exception that tells
        # an exception that does not: the tagger is left, where its animacy says that it names a
        # person
        ("Termin|NOUN|Animacy=Anim,Gender=Masc", M, "tagger"),
        ("Gärtner|NOUN|Animacy=Anim,Gender=Masc", M, "tagger"),
        (
            "Bauarbeiter|NOUN|Gender=Fem",
            M,
            "lexicon",
        ),  # an unknown compound is read by its last part
    ],
)
def test_the_noun_by_table_by_ending_by_tagger(
    call: Call, word: str, expected: Gender, source: str
) -> None:
    found = call(LANGUAGE, f"Gestern|ADV kam|VERB *{word}")
    assert found.gender is expected
    assert [(e.kind, e.gender, e.source) for e in found.evidence] == [("noun", expected, source)]


def test_a_name_is_not_called_for_being_animate(call: Call) -> None:
    # Otherwise ru "лесничей Сноудона" would be a man: *Forester of Snowdon*.
    found = call(LANGUAGE, "Gestern|ADV kam|VERB *Gärtner|PROPN|Animacy=Anim,Gender=Masc")
    assert (found.gender, found.reason) == (None, Reason.NO_PERSON)


@pytest.mark.parametrize(
    ("word", "basis", "expected"),
    [
        ("Gärtner|NOUN|Gender=Masc", "links", M),
        ("Gärtners|NOUN|Gender=Masc", "links+lexicon", M),
        # not surely aligned, no masculine, another ending, an ending that says nothing
        ("Gärtner|NOUN|Gender=Masc", "lexicon", None),
        ("Leiter|NOUN|Gender=Fem", "links", None),
        ("Vertrag|NOUN|Gender=Masc", "links", None),
        ("Farbdrucker|NOUN|Gender=Masc", "links", None),
    ],
)
def test_an_ending_of_persons_and_things_counts_on_a_surely_aligned_masculine(
    call: Call, word: str, basis: str, expected: Gender | None
) -> None:
    assert call(LANGUAGE, f"Gestern|ADV kam|VERB der|DET *{word}", basis=basis).gender is expected


@pytest.mark.parametrize(
    ("sentence", "expected", "reason"),
    [
        # what the noun leaves open, whatever its article agrees with
        ("Die|DET männliche|ADJ *Lehrkraft|NOUN|Gender=Fem kam|VERB", M, None),
        ("Die|DET weibliche|ADJ *Person|NOUN|Gender=Fem kam|VERB", F, None),
        # it overrules a masculine noun, and a feminine one in the same way
        ("Sie|PRON sah|VERB die|DET weiblichen|ADJ *Lehrer|NOUN", F, None),
        ("Die|DET männliche|ADJ *Lehrerin|NOUN kam|VERB", M, None),
        ("Die|DET männliche|ADJ weibliche|ADJ *Person|NOUN kam|VERB", None, AMBIGUOUS),
        # the adjective of another noun
        ("Die|DET *Person|NOUN sah|VERB die|DET weibliche|ADJ Figur|NOUN", None, SILENT),
    ],
)
def test_an_adjective_that_means_male_or_female(
    call: Call, sentence: str, expected: Gender | None, reason: Reason | None
) -> None:
    found = call(LANGUAGE, sentence)
    assert (found.gender, found.reason) == (expected, reason)


@pytest.mark.parametrize("word", ["Termin|NOUN|Gender=Masc", "Vertrag|NOUN|Gender=Masc"])
def test_the_taggers_gender_of_an_unknown_noun_is_no_call(call: Call, word: str) -> None:
    # Every noun has a grammatical gender, things too (der Termin "the appointment"): without a sign
    # that it names a person it is none of a person's.
    found = call(LANGUAGE, f"Gestern|ADV kam|VERB der|DET *{word}")
    assert (found.gender, found.reason) == (None, Reason.NO_PERSON)
    assert [(e.kind, e.gender) for e in found.evidence] == [("noun", None)]


@pytest.mark.parametrize(
    "sentence",
    [
        "Die|DET *Lehrer*innen|NOUN kamen|VERB",
        "Die|DET *Lehrer:innen|NOUN kamen|VERB",
        "Die|DET *LehrerInnen|NOUN kamen|VERB",
        "Die|DET *Lehrer/innen|NOUN kamen|VERB",
    ],
)
def test_forms_that_mean_both_genders_are_neutral(call: Call, sentence: str) -> None:
    found = call(LANGUAGE, sentence)
    assert (found.gender, found.reason) == (Gender.NEUTRAL, None)
    assert found.evidence[0].rule == "spelling_for_both"


def test_a_written_ending_shows_both_forms_that_the_table_has(call: Call) -> None:
    # Lehrer and Lehrerin are both in the table: it is asked before the pattern of such spellings.
    found = call(LANGUAGE, "*Lehrer/in|NOUN kam|VERB")
    assert (found.gender, found.evidence[0].word) == (Gender.NEUTRAL, "Lehrer/in")
    assert (found.evidence[0].rule, found.evidence[0].span) == ("ending_written_on", (0, 9))


@pytest.mark.parametrize(
    "sentence",
    [
        "Die|DET *Person|NOUN|Gender=Fem kam|VERB",
        "Der|DET *Gast|NOUN|Gender=Masc kam|VERB",
        "Die|DET *Lehrkraft|NOUN|Gender=Fem kam|VERB",  # a compound of a noun of fixed gender
        "*Coach|NOUN kam|VERB",  # common, without an article
        "*Wesen|NOUN|Animacy=Anim kam|VERB",  # unknown, without a gender
        "*Wesen|NOUN|Animacy=Anim,Gender=Fem@Masc kam|VERB",  # a reading that is no gender
    ],
)
def test_nothing_that_tells_is_no_call(call: Call, sentence: str) -> None:
    found = call(LANGUAGE, sentence)
    assert (found.gender, found.reason) == (None, SILENT)
    assert found.evidence
    assert all(e.gender is None for e in found.evidence)


@pytest.mark.parametrize("mark", ["…", "”", "‘", "—", ";", "،", "!?»", ")"])
def test_punctuation_written_onto_the_noun_does_not_hide_it(call: Call, mark: str) -> None:
    found = call(LANGUAGE, f"Da|ADV kam|VERB der|DET *Lehrer|NOUN ~{mark}|PUNCT")
    assert (found.evidence[0].gender, found.evidence[0].source) == (M, "lexicon")


def test_an_article_that_contradicts_its_noun_is_ambiguous(call: Call) -> None:
    found = call(LANGUAGE, "Sie|PRON ging|VERB zur|ADP+DET *Lehrer|NOUN")
    assert (found.gender, found.reason) == (None, AMBIGUOUS)
    assert {e.gender for e in found.evidence} == {M, F}


def test_an_article_that_also_allows_the_nouns_gender_does_not_contradict_it(call: Call) -> None:
    # "den Lehrerinnen" is a dative plural; "den" alone would be a masculine accusative.
    found = call(LANGUAGE, "Sie|PRON sah|VERB den|DET *Lehrerin|NOUN", number=None)
    assert found.gender is F


@pytest.mark.parametrize(
    "sentence",
    [
        "Sie|PRON sah|VERB Frau|NOUN *Lehrer|NOUN",  # as in "Frau Doktor", "Frau Minister"
        "Die|DET Frau|NOUN *Lehrer|NOUN kam|VERB",
        "Er|PRON half|VERB der|DET Frau|NOUN *Lehrer|NOUN",
    ],
)
def test_a_feminine_title_wins_over_a_masculine_noun(call: Call, sentence: str) -> None:
    found = call(LANGUAGE, sentence)
    assert found.gender is F
    assert found.evidence[0].kind == "title"


@pytest.mark.parametrize(
    "sentence",
    [
        "Sie|PRON sah|VERB Herr|NOUN *Lehrerin|NOUN",
        "Sie|PRON ging|VERB mit|ADP dem|DET Frau|NOUN *Lehrer|NOUN",
    ],
)
def test_a_masculine_title_or_an_article_against_the_title_is_ambiguous(
    call: Call, sentence: str
) -> None:
    assert call(LANGUAGE, sentence).reason is AMBIGUOUS


def test_the_head_is_the_noun_not_its_article_or_adjective(call: Call) -> None:
    # The aligner may hit the article, the adjective or all of them: the noun behind them is the
    # head.
    for marked in (
        "*Der|DET junge|ADJ Lehrer|NOUN",
        "Der|DET *junge|ADJ Lehrer|NOUN",
        "*Der|DET *junge|ADJ *Lehrer|NOUN",
    ):
        found = call(LANGUAGE, f"{marked} kam|VERB")
        assert found.gender is M
        assert found.target[0] == (10, 16)  # "Der junge Lehrer": letters 10 to 15


@pytest.mark.parametrize("basis", ["lexicon", "elimination"])
def test_an_unsure_alignment_counts_only_on_a_noun_for_people(call: Call, basis: str) -> None:
    sentence = "Sie|PRON {}|{} den|DET Brief|NOUN|Gender=Masc"
    assert call(LANGUAGE, sentence.format("*schrieb", "VERB"), basis=basis).reason is UNALIGNED
    doubt = call(LANGUAGE, "Sie|PRON sah|VERB den|DET *Brief|NOUN|Gender=Masc", basis=basis)
    assert (doubt.gender, doubt.reason, doubt.evidence[0].source) == (None, UNALIGNED, "alignment")
    assert call(LANGUAGE, "Sie|PRON sah|VERB den|DET *Lehrer|NOUN", basis=basis).gender is M


@pytest.mark.parametrize(
    "sentence", ["Der|DET *Motor|NOUN|Gender=Masc lief|VERB", "Herr|NOUN *Motor|NOUN lief|VERB"]
)
def test_what_the_table_knows_as_a_thing_is_no_person(call: Call, sentence: str) -> None:
    found = call(LANGUAGE, sentence)
    assert (found.gender, found.reason, found.evidence[0].source) == (
        None,
        Reason.NO_PERSON,
        "lexicon",
    )


def test_a_noun_of_fixed_gender_is_a_person_whose_gender_it_does_not_show(call: Call) -> None:
    assert call(LANGUAGE, "Die|DET *Person|NOUN|Gender=Fem kam|VERB").reason is SILENT


def test_no_alignment_is_unaligned(call: Call) -> None:
    found = call(LANGUAGE, "Der|DET Lehrer|NOUN kam|VERB")
    assert (found.gender, found.reason, found.evidence, found.target) == (None, UNALIGNED, (), ())


@pytest.mark.parametrize("pronoun", ["sie|PRON|Gender=Fem", "er|PRON|Gender=Masc"])
def test_a_pronoun_never_decides(call: Call, pronoun: str) -> None:
    after = f"weil|SCONJ {pronoun} schlief|VERB"
    assert call(LANGUAGE, f"Der|DET *Lehrer|NOUN kam|VERB {after}").gender is M
    assert call(LANGUAGE, f"Die|DET *Person|NOUN kam|VERB {after}").reason is SILENT
    assert call(LANGUAGE, f"*Coach|NOUN kam|VERB {after}").reason is SILENT


def test_a_foreign_word_says_nothing_by_itself(call: Call) -> None:
    # The English word left as it is: neither the tagger's gender nor the ending -in of "Cabin" is
    # believed; an article is.
    found = call(LANGUAGE, "*officer|NOUN|Gender=Masc kam|VERB", copied=True)
    assert (found.gender, found.reason) == (None, SILENT)
    assert found.evidence[0].rule == "foreign_word"
    assert call(LANGUAGE, "*cabin|NOUN|Gender=Fem kam|VERB", copied=True).reason is SILENT
    assert call(LANGUAGE, "Die|DET *officer|NOUN kam|VERB", copied=True).gender is F


def _aligned(*candidates: Candidate) -> Alignment:
    """An alignment of one person."""
    return Alignment("x", candidates, source=SourceFacts("sg"))


def test_where_the_aligned_word_is_no_noun_a_free_noun_for_people_is_taken(
    analyse: Callable[[str], Analysis],
) -> None:
    analysis = analyse("Die|DET Chefin|NOUN lobte|VERB den|DET Arbeiter|NOUN")
    at = {t.text: t.span for t in analysis.tokens}
    verb = Candidate((at["lobte"],), "links")
    worker = Candidate((at["Arbeiter"],), ELIMINATION, Trust.PERSON_LEFT)
    found = decide(_aligned(verb, worker), analysis, SplitTexts(LANGUAGE))
    # The verb that was aligned is dropped: only the noun is the entity's.
    assert (found.gender, found.target) == (M, (at["Arbeiter"],))
    # Without one the verb renders nobody.
    alone = decide(_aligned(verb), analysis, SplitTexts(LANGUAGE))
    assert (alone.gender, alone.reason) == (None, UNALIGNED)
    # A function word is not even aligned, however sure its links are.
    article = decide(
        _aligned(Candidate((at["den"],), "links")),
        analyse("kam|VERB den|DET"),
        SplitTexts(LANGUAGE),
    )
    assert article.gender is None


def test_a_word_that_only_derives_from_the_name_of_a_person_says_nothing(
    analyse: Callable[[str], Analysis],
) -> None:
    analysis = analyse("Die|DET ärztliche|ADJ|Gender=Fem Hilfe|NOUN|Gender=Fem kam|VERB")
    span = analysis.tokens[1].span
    found = decide(_aligned(Candidate((span,), DERIVED)), analysis, SplitTexts(LANGUAGE))
    assert (found.gender, found.reason, found.target) == (None, UNALIGNED, ())


@pytest.mark.parametrize(
    ("basis", "expected"),
    # The ending -in counts where the word is aligned by its links or its form, not where it is only
    # left over: then neither ending nor article may make it a person.
    [("links", F), ("lexicon", F), (DERIVED, F), (ELIMINATION, None)],
)
def test_a_left_over_word_that_the_table_does_not_know_is_never_called(
    call: Call, basis: str, expected: Gender | None
) -> None:
    found = call(LANGUAGE, "Die|DET *Programmiererin|NOUN|Gender=Fem kam|VERB", basis=basis)
    assert found.gender is expected


def test_a_compound_written_apart_has_its_head_at_the_end(call: Call) -> None:
    # "General" is a man's, too; it is the compound's first part.
    assert call(LANGUAGE, "Die|DET *Arbeiter|NOUN *Lehrerin|NOUN kam|VERB").gender is F
    # Not aligned, the second noun is somebody else.
    assert (
        call(LANGUAGE, "Dann|ADV half|VERB der|DET *Arbeiter|NOUN Lehrerin|NOUN Meier|PROPN").gender
        is M
    )


def test_a_noun_that_only_begins_a_compound_tells_by_its_form(
    analyse: Callable[[str], Analysis],
) -> None:
    text = "Sie|PRON kennt|VERB die|DET Lehrerinrolle|NOUN|Gender=Fem"
    texts = SplitTexts(LANGUAGE)
    beginning = Candidate((Span(14, 22),), "lexicon", Trust.IN_COMPOUND)
    assert decide(_aligned(beginning), analyse(text), texts).gender is F
    article = Candidate((Span(10, 13),), "links")
    found = decide(_aligned(article, beginning), analyse(text), texts)
    assert (found.gender, found.target) == (F, (Span(14, 22),))
    assert (found.basis, found.trust) == ("lexicon", Trust.IN_COMPOUND)
    # Whatever the compound's own gender is.
    text = "Sie|PRON kennt|VERB die|DET Lehrerwoche|NOUN|Gender=Fem"
    week = Candidate((Span(14, 25),), "links")
    beginning = Candidate((Span(14, 20),), "lexicon", Trust.IN_COMPOUND)
    assert decide(_aligned(week, beginning), analyse(text), texts).gender is M


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("Die|DET *beiden|DET kamen|VERB", SILENT),
        ("Dann|ADV kamen|VERB *zwei|NUM ~.|PUNCT", SILENT),
        ("Dann|ADV kamen|VERB *andere|ADJ", SILENT),
        ("Dann|ADV *kamen|VERB andere|ADJ", UNALIGNED),
        ("Die|DET *beiden|DET jungen|ADJ Lehrer|NOUN kamen|VERB", None),
    ],
)
def test_numerals_and_others_without_a_noun_have_no_gender(
    call: Call, sentence: str, reason: Reason | None
) -> None:
    assert call(LANGUAGE, sentence, number="pl", quantifier=True).reason is reason


def test_what_ends_like_a_person_is_believed_where_the_tagger_sees_an_adjective(call: Call) -> None:
    assert call(LANGUAGE, "Der|DET *Heliologe|ADJ kam|VERB", basis="lexicon").gender is M
    # Without such an ending, and without certainty, it is nothing.
    assert (
        call(LANGUAGE, "Der|DET *Heliologische|ADJ kam|VERB", basis="lexicon").reason is UNALIGNED
    )
