"""Articles that are none of the noun's behind them, and words that are only spelt like another:
neither a man nor a woman is called by them.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtbias.language.installed import get_language
from mtbias.types import Gender, GenderCall, Reason

Call = Callable[..., GenderCall]
M, F = Gender.MALE, Gender.FEMALE


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        # An adverbial of the table, whatever the tagger reads in it.
        ("fr", "Il|PRON fut|AUX à|ADP la|DET longue|ADJ *juge|NOUN"),
        ("fr", "Elle|PRON fut|AUX à|ADP la|DET longue|ADJ *juge|NOUN"),
        ("es", "Él|PRON era|AUX a|ADP la|DET vez|NOUN *juez|NOUN"),
        ("es", "Ella|PRON era|AUX a|ADP la|DET vez|NOUN *juez|NOUN"),
        ("it", "Lui|PRON divenne|VERB alla|ADP+DET lunga|ADJ *pianista|NOUN"),
        ("it", "Lei|PRON divenne|VERB alla|ADP+DET lunga|ADJ *pianista|NOUN"),
        # One of no table, behind a copula or at the beginning.
        ("fr", "Il|PRON devint|VERB après|ADP la|DET guerre|NOUN *juge|NOUN"),
        ("fr", "Elle|PRON devint|VERB après|ADP la|DET guerre|NOUN *juge|NOUN"),
        ("pt", "Na|ADP+DET ocasião|NOUN *presidente|NOUN ~, vivia|VERB em|ADP Lisboa|PROPN"),
        # A preposition: the tagger says so, or the word before takes it.
        ("pt", "Ele|PRON foi|AUX nomeado|VERB a|ADP *gerente|NOUN"),
        ("pt", "Ele|PRON foi|AUX promovido|VERB a|DET *gerente|NOUN"),
        ("pt", "Ela|PRON foi|AUX promovida|VERB a|DET *gerente|NOUN"),
        ("pt", "Ele|PRON passou|VERB de|ADP cliente|NOUN a|DET *gerente|NOUN"),
        ("pt", "Ela|PRON passou|VERB de|ADP cliente|NOUN a|DET *gerente|NOUN"),
    ],
)
def test_the_article_of_another_word_tells_nothing(call: Call, code: str, sentence: str) -> None:
    made = call(get_language(code), sentence)
    assert (made.gender, made.reason) == (None, Reason.NO_MORPHOLOGY)


@pytest.mark.parametrize(
    ("code", "sentence", "expected"),
    [
        ("pt", "Então|ADV a|DET *gerente|NOUN chegou|VERB", F),
        ("pt", "Então|ADV o|DET *gerente|NOUN chegou|VERB", M),
        ("pt", "Ele|PRON viu|VERB a|DET *gerente|NOUN", F),
        ("pt", "Ele|PRON viu|VERB o|DET *gerente|NOUN", M),
        # A noun for people of the table is an adjective between an article and a noun.
        ("it", "si|PRON fidava|VERB dell'|ADP+DET esperta|NOUN *pediatra|NOUN", F),
        ("it", "si|PRON fidava|VERB dell'|ADP+DET esperto|NOUN *pediatra|NOUN", M),
        # An adjective that the tagger takes for a noun, behind another verb.
        ("es", "Hablé|VERB con|ADP mi|DET antiguo|NOUN *dentista|NOUN", M),
        ("es", "Hablé|VERB con|ADP mi|DET antigua|NOUN *dentista|NOUN", F),
    ],
)
def test_its_own_article_and_adjective_tell(
    call: Call, code: str, sentence: str, expected: Gender
) -> None:
    assert call(get_language(code), sentence).gender is expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("A|DET *morte|NOUN chegou|VERB", None),
        ("O|DET *mesmo|NOUN chegou|VERB", None),
        ("Es|X *amigues|NOUN vieram|VERB", Gender.NEUTRAL),
        ("*Amigues|NOUN vieram|VERB", Gender.NEUTRAL),
    ],
)
def test_a_last_letter_for_both_genders(call: Call, sentence: str, expected: Gender | None) -> None:
    assert call(get_language("pt"), sentence, number=None).gender is expected
