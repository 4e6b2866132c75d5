"""Forms that look like one gender's and are of neither, beside pairs that are of one: of the ending
alone, by hand."""

from __future__ import annotations

import pytest

from mtbias.language.installed import get_language

SILENT = {
    "es": "trabajando hablando mirándola diciéndoselo conocerla triste optimista belga generosamente",
    "pt": "trabalhando falindo olhando-a triste otimista belga menor",
    "it": "lavorando correndo guardandola conoscerla ottimista belga marrone",
    "fr": "triste sympa enthousiaste",
}
PAIRS = {
    "es": "listo/lista visto/vista previsto/prevista generoso/generosa tremendo/tremenda "
    "protector/protectora español/española francés/francesa alemán/alemana",
    "pt": "lindo/linda visto/vista generoso/generosa espanhol/espanhola protetor/protetora",
    "it": "visto/vista generoso/generosa stupendo/stupenda chiacchierone/chiacchierona",
    "fr": "content/contente heureux/heureuse",
}


@pytest.mark.parametrize(("code", "forms"), SILENT.items())
def test_a_form_of_both_shows_neither(code: str, forms: str) -> None:
    language = get_language(code)
    for form in forms.split():
        genders = {agreement.gender for agreement in language.adjective(form)}
        assert genders in ({"*"}, {"m", "f"}), form


@pytest.mark.parametrize(("code", "pairs"), PAIRS.items())
def test_men_and_women_are_told_by_the_same_words(code: str, pairs: str) -> None:
    language = get_language(code)
    for pair in pairs.split():
        man, woman = pair.split("/")
        assert {agreement.gender for agreement in language.adjective(man)} == {"m"}, man
        assert {agreement.gender for agreement in language.adjective(woman)} == {"f"}, woman
