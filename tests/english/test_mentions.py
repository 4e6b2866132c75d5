"""The mentions of one person in an English text: by trees written by hand, and by the parser."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from mtbias.english.dependencies import ParsedSentence
from mtbias.english.mentions import PlacedSentence, mentions_of, person_named
from mtbias.morphology.english_parser import EnglishParser
from mtbias.morphology.stanza_models import PARSER, find_package
from mtbias.types import Gender, Span
from tests.mining.small_trees import tree

Found = list[tuple[str, str]]


def found_in(sentence: ParsedSentence, entity: str, gender: Gender) -> Found:
    text = sentence.text
    start = text.index(entity)
    head = Span(start, start + len(entity))
    mentions = mentions_of(text, [PlacedSentence(0, sentence)], head, gender)
    return [(str(mention.kind), text[slice(*mention.span)]) for mention in mentions]


@pytest.mark.parametrize(
    ("parsed", "entity", "expected"),
    [
        (
            "Ann/4/nsubj/NNP is/4/cop/VBZ a/4/det/DT chemist/0/root/NN",
            "chemist",
            [("name", "Ann"), ("entity", "chemist")],
        ),
        (
            "Ann/4/nsubj/NNP is/4/cop/VBZ a/4/det/DT chemist/0/root/NN and/6/cc/CC poet/4/conj/NN",
            "chemist",
            [("name", "Ann"), ("entity", "chemist"), ("predicate", "poet")],
        ),
        (
            "Ann/4/nsubj/NNP ,/3/punct/, writer/1/appos/NN left/0/root/VBD her/4/obj/PRP",
            "writer",
            [("name", "Ann"), ("entity", "writer"), ("pronoun", "her")],
        ),
        (
            "She/2/nsubj/PRP worked/0/root/VBD as/5/case/IN a/5/det/DT nurse/2/obl/NN",
            "nurse",
            [("pronoun", "She"), ("entity", "nurse")],
        ),
        # "As" says what the object is, not the subject.
        (
            "Ann/2/nsubj/NNP hired/0/root/VBD Bea/2/obj/NNP as/5/case/IN nurse/2/obl/NN",
            "nurse",
            [("name", "Bea"), ("entity", "nurse")],
        ),
        # The doctor is the wife's, who is another person: links are one step long.
        (
            "Ann/3/nsubj/NNP is/3/cop/VBZ chemist/0/root/NN whose/5/x/WP$ doctor/6/nsubj/NN left/3/x/VBD",
            "chemist",
            [("name", "Ann"), ("entity", "chemist")],
        ),
    ],
)
def test_links_of_one_step(parsed: str, entity: str, expected: Found) -> None:
    assert found_in(tree(parsed), entity, Gender.FEMALE) == expected


def test_pronouns_count_where_all_have_the_gender() -> None:
    sentence = tree(
        "The/2/det/DT nurse/3/nsubj/NN told/0/root/VBD him/3/iobj/PRP that/6/mark/IN she/7/nsubj/PRP "
        "left/3/ccomp/VBD"
    )
    assert found_in(sentence, "nurse", Gender.FEMALE) == [("entity", "nurse")]


def test_a_title_of_a_name_is_no_name() -> None:
    sentence = tree(
        "Ann/2/nsubj/NNP served/0/root/VBD as/4/case/IN President/2/obl/NNP of/6/case/IN "
        "Rome/4/nmod/NNP"
    )
    assert found_in(sentence, "President", Gender.FEMALE) == [
        ("name", "Ann"),
        ("entity", "President"),
    ]


@pytest.fixture(scope="module")
def parsed(stanza_dir: Path) -> Callable[[str], list[PlacedSentence]]:
    """The sentences of a text, by Stanza's small models."""
    parser = EnglishParser(find_package("en", stanza_dir, PARSER), "cpu")

    @cache
    def sentences(text: str) -> list[PlacedSentence]:
        found = parser.parse([text], lambda _: True).parsed
        return [PlacedSentence(each.offset, each.parsed) for each in found]

    return sentences


@pytest.mark.parametrize(
    ("text", "entity", "gender", "expected"),
    [
        (
            "Marie Curie became a teacher. Curie was named director of the school.",
            "teacher",
            Gender.FEMALE,
            ["name Curie", "entity teacher", "name Curie", "predicate director"],
        ),
        (
            "After his studies, Fabre worked as a lawyer, a farmer and a teacher.",
            "lawyer",
            Gender.MALE,
            ["pronoun his", "name Fabre", "entity lawyer", "role farmer", "role teacher"],
        ),
        (
            "Brodovitch's career as an artist took off.",
            "artist",
            Gender.MALE,
            ["name Brodovitch", "entity artist"],
        ),
        # Mary is no name of the person, though a teacher is one.
        (
            "Mary thanked the teacher because he had helped.",
            "teacher",
            Gender.MALE,
            ["entity teacher", "pronoun he"],
        ),
    ],
)
def test_mentions_by_the_parser(
    parsed: Callable[[str], list[PlacedSentence]],
    text: str,
    entity: str,
    gender: Gender,
    expected: list[str],
) -> None:
    start = text.index(entity)
    mentions = mentions_of(text, parsed(text), Span(start, start + len(entity)), gender)
    assert [f"{each.kind} {text[slice(*each.span)]}" for each in mentions] == expected


@pytest.mark.parametrize(
    ("text", "context", "person"),
    [
        ("Marie Curie was a popular teacher.", "She lived in Paris.", "teacher"),
        ("Critics praised the author.", "He was the author of a novel.", "author"),
        # Nothing says that the judge is the one of the context.
        ("The judge dismissed the case.", "She had sued the company.", None),
        # Of two, either might be.
        ("The author met another author.", "The author was ill.", None),
    ],
)
def test_the_person_of_a_text(
    parsed: Callable[[str], list[PlacedSentence]], text: str, context: str, person: str | None
) -> None:
    found = person_named(parsed(text), context)
    assert (None if found is None else text[slice(*found)]) == person
