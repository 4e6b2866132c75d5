"""Nouns of the tables that the tagger reads as something else, and ranks whose masculine form is
used of women: minimal pairs for men and women.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtbias.language.installed import get_language
from mtbias.types import Gender, GenderCall

Call = Callable[..., GenderCall]
M, F = Gender.MALE, Gender.FEMALE


@pytest.mark.parametrize(
    ("lang", "man", "woman", "translations"),
    [
        # "dear" in the feminine is a face, too, which the tagger reads; the noun as an adjective
        (
            "pt",
            "Meu|DET *caro|ADJ **cientista|NOUN",
            "Minha|DET *cara|NOUN **cientista|ADJ",
            ("cientista",),
        ),
        (
            "pt",
            "Meu|DET *caro|ADJ **escritor|NOUN",
            "Minha|DET *cara|NOUN **escritora|ADJ",
            ("escritor", "escritora"),
        ),
        # an article before one that the tagger reads as an adjective or verb
        ("pt", "O|DET próprio|ADJ *médico|ADJ", "A|DET própria|ADJ *médica|ADJ", ()),
        ("es", "El|DET propio|ADJ *médico|VERB", "La|DET propia|ADJ *médica|VERB", ()),
        ("it", "I|DET vostri|NOUN *sacerdoti|ADJ", "Le|DET vostre|NOUN *sacerdotesse|ADJ", ()),
        ("fr", "Le|DET même|ADJ *boulanger|VERB", "La|DET même|ADJ *boulangère|ADJ", ()),
        # ebenjener is declined like jener: without it "Adelige" alone would be a woman
        ("de", "Ebenjener|ADJ *Adelige|NOUN", "Ebenjene|ADJ *Adelige|NOUN", ()),
        ("de", "Ebendieser|ADJ *Angestellte|NOUN", "Ebendiese|ADJ *Angestellte|NOUN", ()),
        ("ru", "Тот|DET самый|ADJ *рабочий|ADJ", "Та|DET самая|ADJ *рабочая|ADJ", ()),
        ("uk", "Той|DET самий|ADJ *керуючий|VERB", "Та|DET сама|ADJ *керуюча|VERB", ()),
        ("cs", "Tentýž|DET *kuchař|VERB", "Tatáž|DET *kuchařka|VERB", ()),
        ("ar", "هذا|DET *الكاتب|VERB", "هذه|DET *الكاتبة|VERB", ()),
        ("he", "אותו|DET *שומר|VERB", "אותה|DET *שומרת|VERB", ()),
    ],
)
def test_the_table_has_the_noun(
    call: Call, lang: str, man: str, woman: str, translations: tuple[str, ...]
) -> None:
    language = get_language(lang)
    for sentence, gender in ((man, M), (woman, F)):
        assert call(language, sentence, translations=translations).gender is gender, sentence


def test_a_face_that_translates_the_entity(call: Call) -> None:
    # pt "o cara" is a fellow: a man's noun, where it is the translation itself
    heard = call(get_language("pt"), "O|DET *cara|NOUN", translations=("cara",))
    assert heard.gender is M


@pytest.mark.parametrize(
    ("lang", "man", "woman"),
    [
        ("fr", "Le|DET nouveau|ADJ *{}|NOUN", "La|DET nouvelle|ADJ *{}|NOUN"),
        ("es", "El|DET nuevo|ADJ *{}|NOUN", "La|DET nueva|ADJ *{}|NOUN"),
        ("it", "Il|DET nuovo|ADJ *{}|NOUN", "La|DET nuova|ADJ *{}|NOUN"),
        ("pt", "O|DET novo|ADJ *{}|NOUN", "A|DET nova|ADJ *{}|NOUN"),
    ],
)
def test_a_rank_is_read_by_its_article(call: Call, lang: str, man: str, woman: str) -> None:
    language = get_language(lang)
    for rank in RANKS[lang].split():
        assert call(language, man.format(rank)).gender is M, rank
        assert call(language, woman.format(rank)).gender is F, rank


RANKS = {
    # The forces keep the masculine for a woman, beside the feminine of OQLF and Le Robert.
    "fr": "soldat caporal sergent adjudant brigadier lieutenant capitaine commandant colonel général"
    " amiral maréchal major officier préfet recteur consul",
    # DLE: common as to gender; la capitán beside la capitana.
    "es": "soldado cabo sargento teniente capitán comandante coronel general almirante mariscal"
    " brigadier cónsul",
    # The Crusca on the forces: in -e one form for both; in -o the feminine in -a, or the office.
    "it": "soldato caporale sergente tenente capitano maggiore colonnello generale ammiraglio"
    " comandante maresciallo",
    # VOLP: a major, a tenente, a cabo; the forces also a capitão, a coronel.
    "pt": "soldado cabo sargento tenente capitão major coronel general marechal almirante cônsul",
}


@pytest.mark.parametrize("rank", ["caporale", "sergente", "tenente", "generale", "maggiore"])
def test_an_italian_rank_of_one_form_tells_nothing_alone(call: Call, rank: str) -> None:
    assert call(get_language("it"), f"*{rank}|NOUN").gender is None


@pytest.mark.parametrize(
    ("man", "woman"), [("sergent", "sergente"), ("colonel", "colonelle"), ("général", "générale")]
)
def test_a_french_rank_in_its_own_form(call: Call, man: str, woman: str) -> None:
    language = get_language("fr")
    assert call(language, f"*{man}|NOUN").gender is M
    assert call(language, f"*{woman}|NOUN").gender is F
