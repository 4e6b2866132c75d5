"""Rules have names: what each says, how it is heard, and what is called without it."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable

import pytest

import mtbias.reading
from mtbias.language.installed import get_language
from mtbias.reading.noun_evidence import RULE_OF_KIND
from mtbias.reading.policy import POLICY
from mtbias.reading.rules import RULES, SAYS, listening, rule, says, without
from mtbias.reading.syntax import FAMILIES
from mtbias.types import NAMES_BOTH, Evidence, Gender, GenderCall, Reason, Span
from tests.reading.rule_names import names_in_code

Call = Callable[..., GenderCall]
M, F, SILENT = Gender.MALE, Gender.FEMALE, Reason.NO_MORPHOLOGY
_QUOTED = re.compile(r"(?<!\*)\*[\w…][^*]*\*")

for _module in pkgutil.walk_packages(mtbias.reading.__path__, "mtbias.reading."):
    importlib.import_module(_module.name)


# What they say


@pytest.mark.parametrize("name", RULES)
def test_a_rule_has_an_example(name: str) -> None:
    assert _QUOTED.search(RULES[name].example), RULES[name].example


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_of_a_family_that_there_is(name: str) -> None:
    family = RULES[name].family
    assert family in {"all", "case", *(known for known, _ in FAMILIES)}
    assert name.startswith(f"{family}.") or family == "all"


def test_evidence_rests_on_the_names_that_are_told_and_on_no_others() -> None:
    assert names_in_code() == set(SAYS)


def test_every_kind_of_noun_and_every_form_for_both_has_a_name() -> None:
    assert set(RULE_OF_KIND.values()) <= set(SAYS)
    assert set(SAYS) >= NAMES_BOTH


@pytest.mark.parametrize(
    ("name", "shows", "told"),
    [
        ("feminine_noun", "Ärztin", "feminine: Ärztin"),
        ("foreign_word", "", "a foreign word"),
        ("article", "f.nom.sg", "f.nom.sg"),
        ("whole_verb", "", ""),
    ],
)
def test_what_a_reader_is_told(name: str, shows: str, told: str) -> None:
    assert says(Evidence(name, "noun", "w", Span(0, 1), None, "form", shows)) == told


def test_a_name_is_of_one_rule() -> None:
    def bare_verb() -> bool:
        """*w*"""
        return True

    with pytest.raises(ValueError, match="two rules of the name bare_verb"):
        rule()(bare_verb)


# Switched off. Each pair is a man and a woman who differ in the words that tell the gender alone;
# the tables are those of the language.

PARTICIPLE = "VERB|Case=Nom,Number=Sing,VerbForm=Part,Gender"
COLLEAGUE = "*Коллега|NOUN|Case=Nom,Number=Sing"
LEFT_OUT = "slavic.participle_without_copula"
PAIRS = [
    # The article of the first noun is that of both; *cantante* alone is of common gender.
    ("romance.nouns_in_row", "es", "Es|AUX un|DET actor|NOUN y|CCONJ *cantante|NOUN", M, SILENT),
    ("romance.nouns_in_row", "es", "Es|AUX una|DET actriz|NOUN y|CCONJ *cantante|NOUN", F, SILENT),
    # "The colleague (is) in love": no copula says that the participle is the predicate.
    (LEFT_OUT, "ru", f"{COLLEAGUE} влюблённый|{PARTICIPLE}=Masc", M, SILENT),
    (LEFT_OUT, "ru", f"{COLLEAGUE} влюблённая|{PARTICIPLE}=Fem", F, SILENT),
    # *Mon* is the man's article only because no vowel follows; *ma* is the woman's everywhere.
    ("determiner_before_consonant", "fr", "Mon|DET *collègue|NOUN dort|VERB", M, SILENT),
    ("determiner_before_consonant", "fr", "Ma|DET *collègue|NOUN dort|VERB", F, F),
    ("determiner_before_consonant", "fr", "Mon|DET *élève|NOUN dort|VERB", SILENT, SILENT),
    # "The teacher (is) tired": *המורה* is written alike of both.
    ("semitic.adjective_without_article", "he", "*המורה|NOUN עייף|ADJ", M, SILENT),
    ("semitic.adjective_without_article", "he", "*המורה|NOUN עייפה|ADJ", F, SILENT),
    ("attribute_by_ending", "es", "Su|DET *colega|NOUN italiano|ADJ llegó|VERB", M, SILENT),
    ("attribute_by_ending", "es", "Su|DET *colega|NOUN italiana|ADJ llegó|VERB", F, SILENT),
    # A *Lehrkraft* is of fixed gender: only the word for the sex tells.
    ("sex_adjectives", "de", "Die|DET männliche|ADJ *Lehrkraft|NOUN kam|VERB", M, SILENT),
    ("sex_adjectives", "de", "Die|DET weibliche|ADJ *Lehrkraft|NOUN kam|VERB", F, SILENT),
]  # fmt: skip


@pytest.mark.parametrize(("name", "code", "sentence", "expected", "off"), PAIRS)
def test_a_call_with_a_rule_and_without_it(
    call: Call,
    name: str,
    code: str,
    sentence: str,
    expected: Gender | Reason,
    off: Gender | Reason,
) -> None:
    def called() -> Gender | Reason | None:
        made = call(get_language(code), sentence, qualified=True)
        return made.gender or made.reason

    assert called() == expected
    with without(name):
        assert called() == off
    assert called() == expected


@pytest.mark.parametrize("name", RULES)
def test_without_any_one_rule_there_is_still_a_call_or_a_reason(call: Call, name: str) -> None:
    with without(name):
        for _, code, sentence, _, _ in PAIRS:
            assert isinstance(call(get_language(code), sentence), GenderCall)


SPANISH, ACTOR = "es", "Es|AUX un|DET actor|NOUN y|CCONJ *cantante|NOUN"


def test_no_rule_is_switched_off_by_a_name_that_none_has(call: Call) -> None:
    with pytest.raises(KeyError, match="nouns_in_rows"), without("romance.nouns_in_rows"):
        pass
    # Nor one that is named beside it.
    with pytest.raises(KeyError), without("romance.nouns_in_row", "no_such_rule"):
        pass
    assert call(get_language(SPANISH), ACTOR, qualified=True).gender is M


def test_a_block_in_a_block_switches_on_only_what_it_switched_off(call: Call) -> None:
    language = get_language(SPANISH)
    with without("romance.nouns_in_row"):
        with without("romance.nouns_in_row", "sex_adjectives"):
            assert call(language, ACTOR, qualified=True).gender is None
        assert call(language, ACTOR, qualified=True).gender is None
    assert call(language, ACTOR, qualified=True).gender is M


def test_an_error_in_the_block_switches_the_rule_on_again(call: Call) -> None:
    with pytest.raises(RuntimeError), without("romance.nouns_in_row"):
        raise RuntimeError
    assert call(get_language(SPANISH), ACTOR, qualified=True).gender is M


# Heard


def test_what_the_rules_answer_is_heard(call: Call) -> None:
    heard: list[tuple[str, object]] = []

    def listen(name: str, answer: object) -> None:
        heard.append((name, answer))

    language = get_language(SPANISH)
    with listening(listen):
        made = call(language, ACTOR, qualified=True)
    assert made.gender is M
    answers = dict(heard)
    assert answers.keys() <= RULES.keys() | {POLICY}
    (row,) = [answer for name, answer in heard if name == "romance.nouns_in_row"]
    assert isinstance(row, list)
    # The phrase whose article is shared: *un actor*, words 1 and 2.
    assert [(phrase.first, phrase.head) for phrase in row] == [(1, 2)]
    # Asked and answered with no: nothing is written onto *cantante*.
    assert answers["preposition_written_on"] is False
    assert "slavic.participle_without_copula" not in answers

    before = len(heard)
    call(language, ACTOR, qualified=True)
    assert len(heard) == before, "nothing is heard behind the block"
    with listening(listen), without("romance.nouns_in_row"):
        call(language, ACTOR, qualified=True)
    assert "romance.nouns_in_row" not in dict(heard[before:]), "a rule that is off is not asked"


def test_listening_changes_no_call(call: Call) -> None:
    for _, code, sentence, _, _ in PAIRS:
        alone = call(get_language(code), sentence, qualified=True)
        with listening(lambda name, answer: None):
            assert call(get_language(code), sentence, qualified=True) == alone
