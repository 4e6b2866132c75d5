"""The words that a post-editor changes where the gender is wrong, one sentence for each rule."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtbias.language.installed import get_language
from mtbias.types import GenderCall

Call = Callable[..., GenderCall]
HE = "PRON|Gender=Masc,Number=Sing,Person=3"
SHE = "PRON|Gender=Fem,Number=Sing,Person=3"


@pytest.mark.parametrize(
    ("lang", "number", "sentence", "edits"),
    [
        # Article, adjective and noun; an article or adjective of one form for both costs nothing.
        ("es", "sg", "El|DET *médico|NOUN cansado|ADJ duerme|VERB", "El médico cansado"),
        ("es", "sg", "Su|DET *médica|NOUN amable|ADJ duerme|VERB", "médica"),
        ("es", "sg", "La|DET *estudiante|NOUN duerme|VERB", "La"),
        ("es", "sg", "El|DET señor|NOUN *juez|NOUN duerme|VERB", "El señor"),
        ("es", "pl", "Todas|DET las|DET *enfermeras|NOUN duermen|VERB", "Todas las enfermeras"),
        # The case of the phrase counts: der (m.nom, f.dat) and junge (m.nom, f.nom) of a man.
        ("de", "sg", "Der|DET junge|ADJ *Arzt|NOUN schläft|VERB", "Der Arzt"),
        ("de", "sg", "Ein|DET junger|ADJ *Arzt|NOUN schläft|VERB", "Ein junger Arzt"),
        ("de", "pl", "Die|DET jungen|ADJ *Ärztinnen|NOUN schlafen|VERB", "Ärztinnen"),
        ("de", "sg", "Ein|DET *Angestellter|NOUN schläft|VERB", "Ein Angestellter"),
        ("de", "sg", "Der|DET *Angestellte|NOUN schläft|VERB", "Der"),
        # A masculine that is used of women stays where there is no feminine beside it.
        (
            "ru",
            "sg",
            "*Авиатехник|NOUN|Case=Nom,Gender=Masc спал|VERB|Gender=Masc,Number=Sing",
            "спал",
        ),
        # Predicates, the pronoun's too, and those of the next clause; not what agrees with a thing.
        (
            "fr",
            "sg",
            "La|DET *directrice|NOUN est|AUX fatiguée|ADJ et|CCONJ fut|AUX renvoyée|VERB",
            "La directrice fatiguée renvoyée",
        ),
        (
            "ru",
            "sg",
            "*Учительница|NOUN|Case=Nom,Gender=Fem устала|VERB и|CCONJ уснула|VERB",
            "Учительница устала уснула",
        ),
        (
            "es",
            "sg",
            "El|DET *médico|NOUN vino|VERB porque|SCONJ la|DET obra|NOUN fue|AUX cerrada|ADJ",
            "El médico",
        ),
        # Pronouns of that gender and their possessives, none of the other.
        (
            "de",
            "sg",
            f"Der|DET *Arzt|NOUN weiß|VERB ~,|PUNCT dass|SCONJ er|{HE} seine|DET Tasche|NOUN hat|VERB",
            "Der Arzt er seine",
        ),
        (
            "de",
            "sg",
            f"Der|DET *Arzt|NOUN weiß|VERB ~,|PUNCT dass|SCONJ sie|{SHE} ihre|DET Tasche|NOUN hat|VERB",
            "Der Arzt",
        ),
        (
            "de",
            "sg",
            "Der|DET *Arzt|NOUN ~,|PUNCT der|PRON|Gender=Masc,Number=Sing,PronType=Rel schläft|VERB",
            "Der Arzt der",
        ),
        # *ihre* of several is "their", *Ihre* is "your".
        ("de", "pl", "Die|DET *Ärztinnen|NOUN haben|VERB ihre|DET Taschen|NOUN", "Ärztinnen"),
        ("de", "pl", "Die|DET *Ärzte|NOUN haben|VERB ihre|DET Taschen|NOUN", "Ärzte"),
        (
            "de",
            "sg",
            "Die|DET *Ärztin|NOUN hat|VERB ihre|DET und|CCONJ Ihre|DET Tasche|NOUN",
            "Die Ärztin ihre",
        ),
        # The source speaks of several, the translation of one of them.
        (
            "de",
            "pl",
            "Die|DET *Spielerin|NOUN|Number=Sing mag|VERB ihre|DET Tasche|NOUN",
            "Die Spielerin ihre",
        ),
        # Without a gender there is nothing to be changed.
        ("es", "sg", "La|DET *persona|NOUN duerme|VERB", ""),
    ],
)
def test_the_words_that_show_the_gender(
    call: Call, lang: str, number: str, sentence: str, edits: str
) -> None:
    found = call(get_language(lang), sentence, number=number)
    assert " ".join(edit.word for edit in found.edits) == edits, found
    assert all(edit.known for edit in found.edits)


def test_a_form_that_only_the_tagger_knows_is_marked(call: Call) -> None:
    found = call(
        get_language("es"), "El|DET *médico|NOUN chic|ADJ|Gender=Masc,Number=Sing duerme|VERB"
    )
    assert [(edit.word, edit.known) for edit in found.edits] == [
        ("El", True),
        ("médico", True),
        ("chic", False),
    ]
