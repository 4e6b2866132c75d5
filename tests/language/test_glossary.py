"""Every listed occupation has a rendering for a woman and one for a man in each language's table of
nouns."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from mtbias.english.gender_swap import gendered_words
from mtbias.language.grammar import NounKind
from mtbias.language.installed import get_language
from mtbias.new_language.policy_rows import kinds_of, lacking_occupations, occupations
from mtbias.reading.known_translations import KnownTranslations
from tests.language.test_installed import BUILT_IN

ROOT = Path(__file__).resolve().parents[2]
# Offices, ranks and names that English has for men alone, beside those of mtbias's table of
# gendered words, and nouns whose counterpart in the table is another one (ru *техничка* cleans).
FOR_MEN = frozenset(
    """alumnus|butler|chap|curate|dame|diva|drug lord|earl|elder|emir|executive|fellow|footman|friar|gal|manservant|monk
    |mrs|prince consort|prior|reverend|sumo wrestler|tsar|uhlan|undertaker|valet|vicar""".replace(
        "\n    ", ""
    ).split("|")
)
OTHER_NOUNS = frozenset({"техничка"})


def test_the_list_is_whole() -> None:
    assert len(occupations()) == len(set(occupations())) > 750
    assert {"ceo", "undergraduate", "phlebotomist", "sewing machine operator"} <= set(occupations())


def test_the_entities_of_winomt_come_first(winomt: Path) -> None:
    rows = [
        line.split("\t") for line in (winomt / "en.txt").read_text(encoding="utf-8").splitlines()
    ]
    entities = {row[3].lower().removeprefix("the ") for row in rows}
    assert set(occupations(winomt=True)) == entities
    assert occupations()[: len(occupations(winomt=True))] == occupations(winomt=True)


@pytest.mark.parametrize("code", BUILT_IN)
def test_every_occupation_is_known_for_women_and_men(code: str) -> None:
    assert lacking_occupations(get_language(code)) == ([], [])


def test_a_word_that_no_table_has_is_missing() -> None:
    for code in BUILT_IN:
        assert not KnownTranslations(get_language(code)).forms("flibbertigibbet")


def test_a_noun_for_women_alone_is_one_sided() -> None:
    german = get_language("de")
    assert kinds_of(german, KnownTranslations(german).forms("ballerina")) == {NounKind.FEMININE}


def test_the_driver_with_her_article_is_no_leadership() -> None:
    # The construct form of הנהגה "leadership" is written alike.
    assert {reading.kind for reading in get_language("he").noun("הנהגת")} == {NounKind.FEMININE}


def for_one_gender(english: str) -> bool:
    """Whether an English noun is said of one gender alone (*salesman*, *governess*)."""
    words = gendered_words()
    last = english.rsplit(maxsplit=1)[-1].rsplit("-", maxsplit=1)[-1]
    return (
        english in FOR_MEN
        or last in FOR_MEN
        or last in words.swaps
        or last.endswith((*words.endings, "boy", "master"))
    )


def rows(code: str) -> list[list[str]]:
    """The rows of a language's table of nouns."""
    file = ROOT / "languages" / "mtbias_languages" / "data" / f"{code}_nouns.tsv"
    lines = file.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")][1:]


@pytest.mark.parametrize("code", BUILT_IN)
def test_a_womans_noun_renders_what_the_mans_beside_it_renders(code: str) -> None:
    # Otherwise women are found less often than men: of uk пожилець and пожилиця only he was a
    # *lodger*.
    table = rows(code)
    lacking = [
        (man[1], woman[1], english)
        for man, woman in pairwise(table)
        if man[2] in ("m", "generic")
        and woman[2] == "f"
        and man[1][:3] == woman[1][:3]
        and woman[1] not in OTHER_NOUNS
        and set(man[0].split("|")) & set(woman[0].split("|"))
        for english in man[0].split("|")
        if english not in woman[0].split("|") and not for_one_gender(english)
    ]
    assert len(table) > 300
    assert lacking == []
