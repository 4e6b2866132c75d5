"""Which of the aligned words is judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from mtbias.align import Pair
from mtbias.language.installed import get_language
from mtbias.language.source import ENGLISH
from mtbias.language.split_texts import SplitTexts
from mtbias.plugin import Language, NounKind, NounReading
from mtbias.reading import decide
from mtbias.reading.sentence_pair import source_facts
from mtbias.types import (
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
from tests.reading.conftest import analysis_of

LANGUAGE = Language(
    code="es",
    name="Toy",
    family="romance",
    nouns={"autora": (NounReading("autora", NounKind.FEMININE, ()),)},
)


def _call(analysis: Analysis, target: str, *others: str) -> GenderCall:
    """The call where `target` is aligned and `others` are words that are left over."""
    at = {token.text: token.span for token in analysis.tokens}
    aligned = Candidate((at[target],), "links")
    left = (Candidate((at[word],), ELIMINATION, Trust.WORD_LEFT) for word in others)
    alignment = Alignment("x", (aligned, *left), source=SourceFacts("sg"))
    return decide(alignment, analysis, SplitTexts(LANGUAGE))


def test_a_verb_or_numeral_gives_way_to_the_likeliest_noun(
    analyse: Callable[[str], Analysis],
) -> None:
    text = analyse("Fue|AUX saludada|VERB por|ADP dos|NUM autora|NOUN futura|ADJ")
    for word in ("saludada", "dos", "futura"):
        found = _call(text, word, "por", "autora")
        assert (found.gender, text.text[slice(*found.target[0])]) == (Gender.FEMALE, "autora")


def test_a_noun_gives_way_to_none(analyse: Callable[[str], Analysis]) -> None:
    text = analyse("La|DET casa|NOUN de|ADP la|DET autora|NOUN")
    found = _call(text, "casa", "autora")
    assert (found.reason, text.text[slice(*found.target[0])]) == (Reason.NO_PERSON, "casa")


def test_a_verb_does_not_give_way_to_another(analyse: Callable[[str], Analysis]) -> None:
    text = analyse("Fue|AUX saludada|VERB y|CCONJ vino|VERB")
    assert _call(text, "saludada", "vino").gender is None


def test_an_adjective_that_the_tagger_reads_as_the_noun_before_it(
    call: Callable[..., GenderCall],
) -> None:
    # es "a beautiful boy" against "the mechanic economy terms", where *mecánica* renders nobody.
    spanish = get_language("es")
    boy = "un|DET|Gender=Masc,Number=Sing bello|NOUN|Gender=Masc,Number=Sing *chico|ADJ|Gender=Masc,Number=Sing"
    economy = "la|DET|Gender=Fem,Number=Sing economía|NOUN|Gender=Fem,Number=Sing *mecánica|ADJ|Gender=Fem,Number=Sing"
    titles = "títulos|NOUN|Gender=Masc,Number=Plur nacionales|ADJ|Number=Plur *australianos|ADJ|Gender=Masc,Number=Plur"
    assert call(spanish, boy, qualified=True, translations={"chico"}).gender is Gender.MALE
    assert call(spanish, economy).reason is Reason.UNALIGNED
    assert call(spanish, titles, qualified=True).reason is Reason.UNALIGNED
    # A contraction begins another phrase, whatever the tagger reads.
    favour = "un|DET favore|NOUN|Gender=Masc,Number=Sing all'|ADJ ~*impiegato|ADJ|Gender=Masc,Number=Sing"
    assert call(get_language("it"), favour).gender is Gender.MALE
    for worker, gender in (("operaio", Gender.MALE), ("operaia", Gender.FEMALE)):
        number = f"Gender={'Masc' if gender is Gender.MALE else 'Fem'},Number=Sing"
        behaviour = f"dal|ADP+DET comportamento|NOUN dell'|NOUN|{number} ~*{worker}|ADJ|{number}"
        assert call(get_language("it"), behaviour).gender is gender


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("She met a beautiful local boy.", True),
        ("She met the boy.", False),
        ("Boys met her.", False),  # nothing stands before it
        ("The king's boy met her.", False),  # a possessive is a determiner
    ],
)
def test_what_qualifies_the_entity_in_english(source: str, expected: bool) -> None:
    at = source.lower().index("boy")
    facts = source_facts(Pair("x", source, "", Span(at, at + 3), "boy"), ENGLISH)
    assert facts.qualified is expected


@pytest.mark.parametrize(
    ("source", "entity", "expected"),
    [
        ("The female doctors came.", "doctors", Gender.FEMALE),
        ("Men teachers came.", "teachers", Gender.MALE),
        ("Two women construction workers came.", "construction workers", Gender.FEMALE),
        ("The woman-doctors came.", "doctors", Gender.FEMALE),
        ("A lady doctor came.", "lady doctor", Gender.FEMALE),
        ("The young doctors helped the woman.", "doctors", None),
        ("The men's sisters came.", "sisters", None),
        ("The boys' teachers came.", "teachers", None),
        ("Her doctors came.", "doctors", None),
        ("Women, doctors and nurses came.", "doctors", None),
        ("He said doctors came.", "doctors", None),
        ("Doctors came.", "", None),
    ],
)
def test_the_gender_that_the_source_says(source: str, entity: str, expected: Gender | None) -> None:
    end = source.index(entity) + len(entity)
    head = Span(end - len(entity.rsplit(maxsplit=1)[-1]), end) if entity else None
    assert source_facts(Pair("x", source, "", head, entity), ENGLISH).says_sex is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("The doctors quickly left.", True),
        ("The doctors reply.", False),
        ("The doctors rely on her.", False),
        ("The doctors July 4 met left.", False),
        ("The doctors left quickly.", False),
        ("We met the doctors", False),
    ],
)
def test_an_english_adverb_behind_the_entity(source: str, expected: bool) -> None:
    at = source.index("doctors")
    facts = source_facts(Pair("x", source, "", Span(at, at + 7), "doctors"), ENGLISH)
    assert facts.before_adverb is expected


THINGS = Language(
    code="ar",
    name="Toy",
    family="semitic",
    nouns={
        "محاضرة": (
            NounReading("محاضرة", NounKind.FEMININE, ()),
            NounReading("محاضرة", NounKind.THING, ()),
        ),
        "ممرضة": (NounReading("ممرضة", NounKind.FEMININE, ()),),
    },
)


def test_a_noun_that_names_a_thing_too_is_a_person_only_where_it_translates_the_entity(
    analyse: Callable[[str], Analysis],
) -> None:
    # *محاضرة*: a woman lecturer, or a lecture
    text = analyse("حضرت|VERB محاضرة|NOUN ممرضة|NOUN")
    at = {token.text: token.span for token in text.tokens}

    def call(word: str, *translations: str) -> tuple[Gender | None, Reason | None]:
        known = tuple(at[w] for w in translations)
        aligned = Candidate((at[word],), "links")
        alignment = Alignment("x", (aligned,), known, SourceFacts("sg"))
        found = decide(alignment, text, SplitTexts(THINGS))
        return found.gender, found.reason

    assert call("محاضرة", "محاضرة") == (Gender.FEMALE, None)
    assert call("محاضرة") == (None, Reason.NO_PERSON)
    assert call("محاضرة", "ممرضة") == (None, Reason.NO_PERSON)
    assert call("ممرضة") == (Gender.FEMALE, None)


@pytest.mark.parametrize("basis", ["links", "lexicon", "elimination"])
@pytest.mark.parametrize(
    ("code", "man", "woman"),
    [("it", "Il meccanico", "La meccanica"), ("es", "El político", "La política")],
)
def test_a_romance_noun_for_a_woman_that_names_a_field_too_is_called_as_a_man_is(
    call: Callable[..., GenderCall], basis: str, code: str, man: str, woman: str
) -> None:
    for phrase, expected in ((man, Gender.MALE), (woman, Gender.FEMALE)):
        article, noun = phrase.split()
        found = call(get_language(code), f"{article}|DET *{noun}|NOUN lavora|VERB", basis=basis)
        assert found.gender is expected


def _where(
    analysis: Analysis, number: str, target: str, *unclaimed: str
) -> tuple[str, Gender | Reason | None]:
    """The word that is judged in Russian, and the call; `unclaimed` are people whom no other source
    word claims."""
    at = {token.text: token.span for token in analysis.tokens}
    aligned = Candidate((at[target],), "links")
    people = (Candidate((at[word],), "lexicon", Trust.ONLY_PERSON) for word in unclaimed)
    alignment = Alignment("x", (aligned, *people), source=SourceFacts(number))
    found = decide(alignment, analysis, SplitTexts(get_language("ru")))
    return analysis.text[slice(*found.target[0])], found.gender or found.reason


def test_where_nobody_is_aligned_the_only_unclaimed_person_is_taken(
    analyse: Callable[[str], Analysis],
) -> None:
    # "He plays the owner of a factory" for *industrialist*, with links at the factory.
    text = analyse(
        "Он|PRON играет|VERB хозяина|NOUN|Case=Gen,Gender=Masc,Number=Sing "
        "фабрики|NOUN|Animacy=Inan,Case=Gen,Gender=Fem,Number=Sing"
    )
    assert _where(text, "sg", "фабрики", "хозяина") == ("хозяина", Gender.MALE)
    assert _where(text, "sg", "фабрики") == ("фабрики", Reason.NO_PERSON)
    # One owner is not the *industrialists*.
    text = analyse(
        "Пришел|VERB хозяин|NOUN|Case=Nom,Gender=Masc,Number=Sing фабрики|NOUN|Animacy=Inan,Case=Gen"
    )
    assert _where(text, "pl", "фабрики", "хозяин") == ("фабрики", Reason.NO_PERSON)


def test_of_two_unclaimed_people_neither_is_taken(analyse: Callable[[str], Analysis]) -> None:
    text = analyse(
        "Хозяин|NOUN|Case=Nom,Number=Sing помог|VERB актрисе|NOUN|Case=Dat,Number=Sing фабрики|NOUN"
    )
    assert _where(text, "sg", "фабрики", "Хозяин", "актрисе") == ("фабрики", Reason.NO_PERSON)


def test_an_adjective_or_a_verb_is_not_the_only_person(analyse: Callable[[str], Analysis]) -> None:
    text = analyse(
        "Больной|ADJ|Case=Nom,Number=Sing вид|NOUN|Animacy=Inan,Case=Nom,Gender=Masc фабрики|NOUN"
    )
    assert _where(text, "sg", "фабрики", "Больной") == ("фабрики", Reason.NO_PERSON)


def _head(call: GenderCall, sentence: str) -> str:
    """The word of a marked sentence that is judged."""
    text = analysis_of(sentence)[0].text
    return text[slice(*call.target[0])]


@pytest.mark.parametrize(
    ("code", "sentence", "translations", "head"),
    [
        # A form of address belongs to the noun behind it, unless it is the noun (*the first woman
        # elected*).
        (
            "it",
            "la|DET prima|ADJ *donna|NOUN|Gender=Fem eletta|NOUN|Gender=Fem",
            {"donna"},
            "donna",
        ),
        (
            "it",
            "la|DET *donna|NOUN|Gender=Fem poliziotto|NOUN|Gender=Masc",
            {"poliziotto"},
            "poliziotto",
        ),
        # *Old woman*: the adjective would render both words, the noun renders one.
        (
            "it",
            "la|DET *vecchia|ADJ|Gender=Fem donna|NOUN|Gender=Fem",
            {"donna", "vecchia"},
            "donna",
        ),
        ("it", "la|DET *vecchia|ADJ|Gender=Fem donna|NOUN|Gender=Fem", {"vecchia"}, "vecchia"),
        (
            "ru",
            "*Военный|ADJ|Case=Nom солдатке|NOUN|Case=Dat приказал|VERB",
            {"военный", "солдатке"},
            "Военный",
        ),
        # Where adjectives follow, the second word may be one.
        (
            "es",
            "la|DET *estudiante|NOUN universitaria|ADJ|Gender=Fem",
            {"universitaria", "estudiante"},
            "estudiante",
        ),
        # It agrees with the noun behind it in case, number and gender; otherwise that is somebody
        # else.
        ("ru", "*больной|ADJ|{dative} женщине|NOUN|{dative} помогли|VERB", set(), "женщине"),
        (
            "ru",
            "*Больной|ADJ|Case=Nom,Gender=Masc,Number=Sing женщине|NOUN|{dative} помог|VERB",
            set(),
            "Больной",
        ),
    ],
)
def test_the_noun_behind_an_adjective_or_a_form_of_address(
    call: Callable[..., GenderCall], code: str, sentence: str, translations: set[str], head: str
) -> None:
    sentence = sentence.replace("{dative}", "Case=Dat,Gender=Fem,Number=Sing")
    assert _head(call(get_language(code), sentence, translations=translations), sentence) == head


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("عند|ADP *عمه|NOUN في|ADP المدرسة|NOUN", Gender.MALE),  # "with his uncle in the school"
        (
            "عند|ADP *عمه|NOUN في|ADP المدرسه|NOUN الممرضه|NOUN",
            None,
        ),  # ه stands for ة here: "an aunt" as well
        ("عند|ADP *عمة|NOUN في|ADP المدرسة|NOUN", Gender.FEMALE),
    ],
)
def test_a_form_that_may_be_carelessly_written(
    call: Callable[..., GenderCall], sentence: str, expected: Gender | None
) -> None:
    assert call(get_language("ar"), sentence).gender is expected


def test_a_plural_of_women_and_men_is_silent_in_arabic(call: Callable[..., GenderCall]) -> None:
    """The widow (أرملة) and the widower (أرمل) have one plural."""
    assert (
        call(get_language("ar"), "زرنا|VERB *أراملكم|NOUN", number="pl").reason
        is Reason.NO_MORPHOLOGY
    )


def test_a_feminine_ending_is_no_sign_of_a_person_in_arabic(
    call: Callable[..., GenderCall],
) -> None:
    """A period (فترة) ends as a woman does; a name behind it says that it is one."""
    assert (
        call(get_language("ar"), "بعد|ADP *فترة|NOUN|Gender=Fem وجيزة|ADJ").reason
        is Reason.NO_PERSON
    )
    assert (
        call(
            get_language("ar"), "قالت|VERB *الزعلولة|NOUN|Gender=Fem سارة|PROPN", before_name=True
        ).gender
        is Gender.FEMALE
    )


def test_a_participle_may_stand_for_the_only_person(analyse: Callable[[str], Analysis]) -> None:
    # "He became the keeper in a brothel", where the tagger reads "keeping".
    for form, gender, expected in (
        ("управляющим", "Masc", Gender.MALE),
        ("управляющей", "Fem", Gender.FEMALE),
    ):
        text = analyse(
            f"Стать|VERB {form}|VERB|Case=Ins,Gender={gender},Number=Sing,VerbForm=Part в|ADP "
            "борделе|NOUN|Animacy=Inan,Case=Loc,Gender=Masc,Number=Sing"
        )
        assert _where(text, "sg", "борделе", form) == (form, expected)


def test_a_loan_names_a_person(analyse: Callable[[str], Analysis]) -> None:
    for form, gender, expected in (
        ("катепан", "Masc", Gender.MALE),
        ("катепана", "Fem", Gender.FEMALE),
    ):
        text = analyse(f"{form}|NOUN|Animacy=Inan,Case=Nom,Gender={gender},Number=Sing спал|VERB")
        first = (text.tokens[0].span,)
        aligned = Candidate(first, "links")
        alignment = Alignment("x", (aligned,), first, SourceFacts("sg"))
        texts = SplitTexts(get_language("ru"))
        assert decide(alignment, text, texts).reason is Reason.NO_PERSON
        loan = replace(alignment, candidates=(replace(aligned, loan=True),))
        assert decide(loan, text, texts).gender is expected


def test_an_ending_of_people_is_believed_before_the_taggers_verb(
    call: Callable[..., GenderCall],
) -> None:
    for form, expected in (("разрушителя", Gender.MALE), ("разрушительницы", Gender.FEMALE)):
        assert call(get_language("ru"), f"а|CCONJ не|PART *{form}|VERB").gender is expected


def test_the_known_translation_is_the_head_before_what_is_aligned_with_it(
    call: Callable[..., GenderCall],
) -> None:
    italian = get_language("it")
    for noun, expected in (("curatore", Gender.MALE), ("curatrice", Gender.FEMALE)):
        sentence = f"come|ADP *{noun}|ADJ"
        found = call(italian, f"giovane|ADJ {sentence}", translations=[noun])
        assert found.gender is expected
        text = f"*{noun}|ADJ *assistente|ADJ"
        assert call(italian, text, translations=[noun]).gender is expected
