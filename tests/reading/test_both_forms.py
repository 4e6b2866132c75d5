"""Phrases that show both genders, and those that only look so: two persons are no pair."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtbias.language.split_texts import SplitTexts
from mtbias.plugin import Language, NounKind, NounReading, parse_agreements
from mtbias.reading.both_forms import both_forms
from mtbias.reading.words import sentence_words
from mtbias.types import Analysis, Evidence, Gender, GenderCall
from mtbias_languages.french import FRENCH

Call = Callable[..., GenderCall]
M, F, N = Gender.MALE, Gender.FEMALE, Gender.NEUTRAL


def nouns(text: str) -> dict[str, tuple[NounReading, ...]]:
    """``"médico generic, médica f"``: form and kind."""
    entries = (entry.split() for entry in text.split(","))
    return {form: (NounReading(form, NounKind(kind), ()),) for form, kind in entries}


LANGUAGE = Language(
    code="es",
    name="Toy",
    family="romance",
    inclusive="",
    determiners={
        form: parse_agreements(text, where="test")
        for form, text in {
            "el": "m.sg",
            "del": "m.sg",
            "la": "f.sg",
            "los": "m.pl",
            "las": "f.pl",
            "der": "m.nom.sg f.dat.sg",
            "die": "f.nom.sg f.acc.sg *.nom.pl",
            "dem": "m.dat.sg",
            "su": "*.sg",
        }.items()
    },
    neutral_endings={
        "@s": frozenset(("os", "as")),
        "e": frozenset(("o", "a")),
        "es": frozenset(("os", "as")),
        "*": frozenset(("o", "a", "e")),
    },
    nouns=nouns(
        "médico generic,médica f,médicos generic,médicas f,niño m,niña f,niños m,niñas f,jefe generic,jefa f,"
        "hermano m,hermana f,docentes common,monje m,monja f,direttore generic,direttrice f,arzt m,ärztin f,"
        "krankenschwester f,könig m,königin f,schauspielerin f,schauspieler m,soldador m,soldadora f,étudiant m,"
        "étudiante f,учитель m,учительница f,rey m,rea f,المعلم m,والمعلمة f,ragazza f,ragazzo m,"
        "soldadores m,soldadoras f,docente common,vittima fixed,cliente common,clienta f,juez common,jueza f"
    ),
)
DOCTORS = (
    *(
        "médico",
        "médica",
        "médicos",
        "médicas",
        "jefe",
        "jefa",
        "arzt",
        "ärztin",
        "المعلم",
        "والمعلمة",
    ),
    *("cliente", "clienta", "juez", "jueza"),
)
"""What translates the entity where nothing else is said."""


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("Los|DET *médicos|NOUN y|CCONJ médicas|NOUN llegaron|VERB", "médicos / médicas"),
        # whichever the aligner found
        ("Los|DET médicos|NOUN y|CCONJ *médicas|NOUN llegaron|VERB", "médicos / médicas"),
        ("El|DET *jefe|NOUN o|CCONJ la|DET jefa|NOUN llegó|VERB", "jefe / jefa"),
        ("El|DET *jefe|NOUN ~/|PUNCT ~jefa|NOUN llegó|VERB", "jefe / jefa"),
        # a form for both beside a feminine of its own
        ("El|DET *cliente|NOUN o|CCONJ la|DET clienta|NOUN llegó|VERB", "cliente / clienta"),
        ("El|DET *jefe|NOUN ~(|PUNCT ~la|DET jefa|NOUN ~)|PUNCT llegó|VERB", "jefe / jefa"),
        # the conjunction is written onto the second, from either side
        ("*المعلم|NOUN والمعلمة|CCONJ+NOUN", "المعلم / والمعلمة"),
        ("المعلم|NOUN *والمعلمة|CCONJ+NOUN", "المعلم / والمعلمة"),
        # Of two doctors of the source, too: that both are doctors is all that the translation
        # shows.
        ("Llegó|VERB *médico|NOUN y|CCONJ médica|NOUN", "médico / médica"),
    ],
)
def test_both_nouns_of_one_entity_are_neutral(call: Call, sentence: str, word: str) -> None:
    found = call(LANGUAGE, sentence, translations=DOCTORS)
    assert (found.gender, found.reason) == (N, None)
    assert [(e.rule, e.word) for e in found.evidence] == [("both_nouns", word)]


@pytest.mark.parametrize(
    ("sentence", "translations", "expected"),
    [
        # two persons: the nurse does not translate *doctor*
        (
            "Der|DET *Arzt|NOUN und|CCONJ die|DET Krankenschwester|NOUN kamen|VERB",
            ("arzt", "ärztin"),
            M,
        ),
        # Alike in spelling and of one stem, but *king* is no queen, and *brother* no sister …
        ("Der|DET *König|NOUN und|CCONJ die|DET Königin|NOUN kamen|VERB", ("könig",), M),
        ("El|DET *hermano|NOUN y|CCONJ la|DET hermana|NOUN llegaron|VERB", ("hermano",), M),
        # … while *sibling* is either.
        ("El|DET *hermano|NOUN o|CCONJ la|DET hermana|NOUN llegó|VERB", ("hermano", "hermana"), N),
        # A form for both beside another noun's feminine: two persons.
        ("El|DET *cliente|NOUN y|CCONJ la|DET jueza|NOUN llegaron|VERB", DOCTORS, M),
        # no conjunction: a list, an apposition
        ("Llegó|VERB *médico|NOUN médica|NOUN", DOCTORS, M),
        # another sentence
        (
            "Llegó|VERB el|DET *médico|NOUN ~.|PUNCT Y|CCONJ la|DET médica|NOUN llegó|VERB",
            DOCTORS,
            M,
        ),
        # a verb, or somebody else, between them
        ("Llegó|VERB el|DET *médico|NOUN durmió|VERB y|CCONJ médica|NOUN", DOCTORS, M),
        ("El|DET *médico|NOUN y|CCONJ niña|NOUN y|CCONJ médica|NOUN", DOCTORS, M),
        # another word for the same: "Trainer und Lehrerin" may be two persons
        ("El|DET *jefe|NOUN y|CCONJ la|DET médica|NOUN llegaron|VERB", DOCTORS, M),
        # the same gender twice
        ("El|DET *médico|NOUN y|CCONJ los|DET médicos|NOUN llegaron|VERB", DOCTORS, M),
        # the written-on conjunction of the first joins nothing: "and the teacher, the teacher"
        ("*والمعلمة|CCONJ+NOUN المعلم|NOUN", DOCTORS, F),
    ],
)
def test_two_persons_are_no_pair(
    call: Call, sentence: str, translations: tuple[str, ...], expected: Gender
) -> None:
    assert call(LANGUAGE, sentence, translations=translations).gender is expected


def test_articles_on_either_side_of_a_comma_are_of_two_clauses(call: Call) -> None:
    joined = call(LANGUAGE, "Los|DET y|CCONJ las|DET *docentes|NOUN llegaron|VERB")
    assert [(e.word, e.gender) for e in joined.evidence] == [("Los y las", N)]
    apart = call(LANGUAGE, "Limpio|VERB la|DET ~,|PUNCT y|CCONJ el|DET *docente|NOUN duerme|VERB")
    assert apart.gender is M


@pytest.mark.parametrize(
    ("text", "word", "written"),
    [
        ("El soldador/a llegó", "soldador", "/a"),
        ("Schauspieler/-in kam", "Schauspieler", "/-in"),
        ("Schauspieler(in) kam", "Schauspieler", "(in)"),
        ("Schauspieler-(in) kam", "Schauspieler", "-(in)"),
        ("El médico(a) llegó", "médico", "(a)"),
        ("El médico/a llegó", "médico", "/a"),  # the ending replaces another
        ("Il direttore/trice", "direttore", "/trice"),  # four letters: diret-tore, diret-trice
        ("учитель/ница", "учитель", "/ница"),
        ("étudiant·e", "étudiant", "·e"),
        ("étudiant·e·s", "étudiant", "·e·s"),
        ("étudiant•e", "étudiant", "•e"),
        ("étudiant(e)s", "étudiant", "(e)s"),
        ("étudiant.e", "étudiant", ".e"),
        ("soldador*a", "soldador", "*a"),
        ("La médica/o", "médica", "/o"),  # the woman's form first
    ],
)
def test_an_ending_written_on_shows_both(text: str, word: str, written: str) -> None:
    found = _evidence(text, word)
    assert found is not None
    assert (found.rule, found.word, found.gender) == ("ending_written_on", word + written, N)
    assert text[slice(*found.span)] == word + written


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Schauspieler.In Wien", "Schauspieler"),  # a blank is missing, the sentence ends
        ("El médico/abogado llegó", "médico"),  # another noun
        ("El hermano/médica", "hermano"),  # another word of the table, not his ending
        ("El soldador/o llegó", "soldador"),  # no such noun
        ("El médico (a veces) llegó", "médico"),  # a bracket of its own
        ("El médico: a las dos", "médico"),
        ("El rey/a", "rey"),  # two letters are no stem: "re" + "a" is another noun
    ],
)
def test_what_is_no_ending_shows_nothing(text: str, word: str) -> None:
    assert _evidence(text, word) is None


@pytest.mark.parametrize(
    ("text", "word", "written"),
    [
        ("Los niñ@s llegaron", "niñ", "niñ@s"),
        ("Les niñes llegaron", "niñes", "niñes"),
        ("Le niñe llegó", "niñe", "niñe"),
        ("Ragazz* cercasi", "Ragazz", "Ragazz*"),
        ("Soldador@s cercasi", "Soldador", "Soldador@s"),  # the man's form is the stem alone
        (
            "Direttor* cercasi",
            "Direttor",
            "Direttor*",
        ),  # the woman's has another ending (direttrice)
        ("Docent* cercasi", "Docent", "Docent*"),  # one form for both
    ],
)
def test_an_ending_for_both_genders(text: str, word: str, written: str) -> None:
    found = _evidence(text, word)
    assert found is not None
    assert (found.rule, found.word, found.gender) == ("neutral_ending", written, N)
    assert text[slice(*found.span)] == written


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("El monje llegó", "monje"),  # in the table, though "monj-a" is, too
        ("El hombre llegó", "hombre"),  # neither "hombro" nor "hombra" is a noun for people
        ("Las médicas* llegaron", "médicas"),  # a footnote
        ("El soldador* llegó", "soldador"),
        ("Vittim* cercasi", "Vittim"),  # of fixed gender
    ],
)
def test_what_is_no_ending_for_both_genders(text: str, word: str) -> None:
    assert _evidence(text, word) is None


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("Los|DET y|CCONJ las|DET *docentes|NOUN llegaron|VERB", "Los y las"),
        ("Los|DET y|CCONJ las|DET nuevos|ADJ *docentes|NOUN llegaron|VERB", "Los y las"),
        ("Los|DET ~/|PUNCT ~las|DET *docentes|NOUN llegaron|VERB", "Los/las"),
        ("Der|DET ~/|PUNCT ~die|DET *docentes|NOUN kam|VERB", "Der/die"),
        ("El|DET ~·|PUNCT ~la|DET *docentes|NOUN llegó|VERB", "El·la"),
        ("El|DET ~.|PUNCT ~la|DET *docentes|NOUN llegó|VERB", "El.la"),
        ("El|DET (|PUNCT ~la|DET ~)|PUNCT *docentes|NOUN llegó|VERB", "El (la)"),
        ("(|PUNCT ~El|DET ~/|PUNCT ~la|DET ~)|PUNCT *docentes|NOUN llegó|VERB", "El/la"),
        ("Die|DET ~:|PUNCT ~der|DET *docentes|NOUN kam|VERB", "Die:der"),
        # contractions, of which one language writes the woman's as two words
        ("Habló|VERB del|ADP+DET ~/|PUNCT ~la|DET *docente|NOUN", "del/la"),
        ("Habló|VERB del|ADP+DET ~/|PUNCT ~de|ADP la|DET *docente|NOUN", "del/de la"),
        ("Habló|VERB del|VERB ~/|PUNCT ~de|NOUN la|DET *docente|NOUN", "del/de la"),  # so Stanza
        ("Habló|VERB del|ADP+DET o|CCONJ de|ADP la|DET *docente|NOUN", "del o de la"),
    ],
)
def test_articles_of_both_genders(call: Call, sentence: str, word: str) -> None:
    found = call(LANGUAGE, sentence, translations=DOCTORS)
    assert (found.gender, [e.word for e in found.evidence]) == (N, [word])


def test_articles_with_a_star() -> None:
    found = _evidence("Der*die docente kam", "docente")
    assert found is not None
    assert (found.rule, found.word, found.gender) == ("both_articles", "Der*die", N)
    assert found.span == (0, 7)


@pytest.mark.parametrize(
    "sentence",
    [
        "Los|DET *docentes|NOUN llegaron|VERB",
        # somebody else's articles
        "El|DET y|CCONJ la|DET jefa|NOUN con|ADP su|DET *médico|NOUN llegaron|VERB",
        # other cases: a woman's dative beside a man's
        "Dem|DET ~/|PUNCT ~die|DET *médico|NOUN",
        "El|DET y|CCONJ su|DET *médico|NOUN llegaron|VERB",
        # nothing stands before the article
        "la|DET *médico|NOUN",
        # a bracket of its own
        "Vio|VERB el|DET (|PUNCT ~la|DET *docente|NOUN ~)|PUNCT",
        # one and somebody else: no contraction
        "Vio|VERB el|DET y|CCONJ de|ADP la|DET *docente|NOUN",
        # a sentence's end
        "Lo|PRON cree|VERB el|DET ~.|PUNCT La|DET *docente|NOUN llegó|VERB",
    ],
)
def test_other_articles_are_no_pair(call: Call, sentence: str) -> None:
    assert call(LANGUAGE, sentence, translations=DOCTORS).gender is not N


@pytest.mark.parametrize(
    ("text", "word", "written"),
    [
        ("Un(e) journaliste dort", "journaliste", "Un(e)"),
        ("Un·e journaliste dort", "journaliste", "Un·e"),
        ("Aucun/e journaliste ne dort", "journaliste", "Aucun/e"),
        ("Tous/toutes les journalistes dorment", "journalistes", "Tous/toutes"),
    ],
)
def test_an_article_with_the_other_genders_ending(text: str, word: str, written: str) -> None:
    found = _evidence(text, word, FRENCH)
    assert found is not None
    assert (found.rule, found.word, found.gender) == ("both_articles", written, N)
    assert text[slice(*found.span)] == written


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Un (et un seul) journaliste dort", "journaliste"),
        ("Chaque/s journaliste dort", "journaliste"),  # one form for both
        ("Un(e) autre dort, le journaliste dort", "journaliste"),  # somebody else's
    ],
)
def test_what_is_no_ending_on_the_persons_article(text: str, word: str) -> None:
    assert _evidence(text, word, FRENCH) is None


@pytest.mark.parametrize(
    ("text", "word", "written"),
    [
        ("L'étudiant·e dort", "étudiant", "étudiant·e"),
        ("Les étudiant·e·s dorment", "étudiant", "étudiant·e·s"),
        ("Les étudiant(e)s dorment", "étudiant", "étudiant(e)s"),
        ("L'étudiant.e dort", "étudiant", "étudiant.e"),
        ("L'instituteurice dort", "instituteurice", "instituteurice"),
        ("Les instituteurices dorment", "instituteurices", "instituteurices"),
    ],
)
def test_french(text: str, word: str, written: str) -> None:
    found = _evidence(text, word, FRENCH)
    assert found is not None
    assert (found.word, found.gender) == (written, N)


def _evidence(text: str, word: str, language: Language = LANGUAGE) -> Evidence | None:
    """The evidence on `word` of a text that no tagger has read."""
    words = sentence_words(Analysis(text, ()), SplitTexts(language))
    head = next(n for n, w in enumerate(words) if w.text == word)
    return both_forms(words, head, text, language, ())
