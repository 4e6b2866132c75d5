"""The terms of the confidence that hold for a find, on trees written by hand; and the confidence
that follows."""

from __future__ import annotations

import math

import pytest

from mtbias.english.words import GENDER_OF_PRONOUN
from mtbias.mining.confidence import TERMS, ConfidenceModel, shipped_model, term_values
from mtbias.mining.parsed_sentence import Find
from tests.mining.small_trees import tree

LISTED = frozenset({"doctor", "nurse", "writer", "director", "president"})


OTHERS = TERMS[: TERMS.index("reflexive")]
"""Those that are signs of another person."""


def values(text: str, profession: str, pronoun: str, distance: int = 1) -> tuple[float, ...]:
    """The values for the first word of the spelling `profession` and the last of the spelling
    `pronoun`."""
    sentence = tree(text)
    forms = [node.form for node in sentence.nodes]
    find = Find("4", 4, forms.index(profession), len(forms) - 1 - forms[::-1].index(pronoun))
    return term_values(sentence, find, LISTED, GENDER_OF_PRONOUN[pronoun.lower()], distance)


ALONE = "The/2/det/DT doctor/3/nsubj/NN said/0/root/VBD he/5/nsubj/PRP slept/3/ccomp/VBD"


@pytest.mark.parametrize(
    ("text", "profession", "pronoun", "expected"),
    [
        (ALONE, "doctor", "he", ()),
        # His doctor said he slept: "his" may be the one who slept, and stands before both at a word
        # that governs "he".
        (
            "His/2/nmod:poss/PRP$ doctor/3/nsubj/NN said/0/root/VBD he/5/nsubj/PRP slept/3/ccomp/VBD",
            "doctor",
            "he",
            ("owned", "above"),
        ),
        # Her doctor said he slept: a woman is no rival.
        (
            "Her/2/nmod:poss/PRP$ doctor/3/nsubj/NN said/0/root/VBD he/5/nsubj/PRP slept/3/ccomp/VBD",
            "doctor",
            "he",
            (),
        ),
        # The doctor told Ann she slept.
        (
            "The/2/det/DT doctor/3/nsubj/NN told/0/root/VBD Ann/3/obj/NNP she/6/nsubj/PRP slept/3/ccomp/VBD",
            "doctor",
            "she",
            ("between",),
        ),
        # The doctor told his wife he slept: a wife is not "he".
        (
            (
                "The/2/det/DT doctor/3/nsubj/NN told/0/root/VBD his/5/nmod:poss/PRP$ wife/3/obj/NN he/7/nsubj/PRP "
                "slept/3/ccomp/VBD"
            ),
            "doctor",
            "he",
            (),
        ),
        # The judge's question: a pronoun that cannot mean the subject is another person.
        (
            (
                "The/2/det/DT doctor/3/nsubj/NN asked/0/root/VBD her/3/obj/PRP about/7/case/IN her/7/nmod:poss/PRP$ "
                "brother/3/obl/NN"
            ),
            "doctor",
            "her",
            ("between",),
        ),
        # When Ann slept , the doctor lost her pen: Ann depends on "slept", which governs neither of
        # the two.
        (
            (
                "When/3/advmod/WRB Ann/3/nsubj/NNP slept/7/advcl/VBD ,/3/punct/, the/6/det/DT doctor/7/nsubj/NN "
                "lost/0/root/VBD her/9/nmod:poss/PRP$ pen/7/obj/NN"
            ),
            "doctor",
            "her",
            (),
        ),
        # In her speech the doctor slept.
        (
            "In/3/case/IN her/3/nmod:poss/PRP$ speech/6/obl/NN the/5/det/DT doctor/6/nsubj/NN slept/0/root/VBD",
            "doctor",
            "her",
            ("pronoun-first",),
        ),
        # Doctor visits change her day.
        (
            "Doctor/2/compound/NN visits/3/nsubj/NNS change/0/root/VBP her/5/nmod:poss/PRP$ day/3/obj/NN",
            "Doctor",
            "her",
            (),
        ),
        # “I slept” the doctor said he did: closed quotation marks part nothing; an open one does.
        (
            (
                "“/3/punct/`` I/3/nsubj/PRP slept/7/ccomp/VBD ”/3/punct/`` the/6/det/DT doctor/7/nsubj/NN "
                "said/0/root/VBD he/9/nsubj/PRP did/7/ccomp/VBD"
            ),
            "doctor",
            "he",
            (),
        ),
        (
            'The/2/det/DT doctor/3/nsubj/NN said/0/root/VBD "/6/punct/`` he/6/nsubj/PRP slept/3/ccomp/VBD',
            "doctor",
            "he",
            ("quotation",),
        ),
        # The doctor and Ann lost her pen.
        (
            "The/2/det/DT doctor/5/nsubj/NN and/4/cc/CC Ann/2/conj/NNP lost/0/root/VBD her/7/nmod:poss/PRP$ it/5/obj/X",
            "doctor",
            "her",
            ("between",),
        ),
        # The writer and director lost her pen: one person, as the second noun has no article.
        (
            (
                "The/2/det/DT writer/5/nsubj/NN and/4/cc/CC director/2/conj/NN lost/0/root/VBD her/7/nmod:poss/PRP$ "
                "pen/5/obj/NN"
            ),
            "writer",
            "her",
            (),
        ),
        # Ann is a doctor who lost her pen; the doctor Ann Smith lost her pen: Ann is the doctor.
        (
            (
                "Ann/4/nsubj/NNP is/4/cop/VBZ a/4/det/DT doctor/0/root/NN who/6/nsubj/WP lost/4/acl:relcl/VBD "
                "her/8/nmod:poss/PRP$ pen/6/obj/NN"
            ),
            "doctor",
            "her",
            (),
        ),
        (
            (
                "The/2/det/DT doctor/5/nsubj/NN Ann/2/appos/NNP Smith/3/flat/NNP lost/0/root/VBD her/7/nmod:poss/PRP$ "
                "pen/5/obj/NN"
            ),
            "doctor",
            "her",
            (),
        ),
        # In Paris the Senate told the doctor she slept: neither a place nor what has an article is
        # a person.
        (
            (
                "In/2/case/IN Paris/5/obl/NNP the/4/det/DT Senate/5/nsubj/NNP told/0/root/VBD the/7/det/DT "
                "doctor/5/obj/NN she/9/nsubj/PRP slept/5/ccomp/VBD"
            ),
            "doctor",
            "she",
            (),
        ),
    ],
)
def test_signs_of_another_person(
    text: str, profession: str, pronoun: str, expected: tuple[str, ...]
) -> None:
    held = zip(OTHERS, values(text, profession, pronoun), strict=False)
    assert tuple(term for term, value in held if value) == expected


def test_the_confidence_is_the_logistic_function_of_the_terms() -> None:
    # 2 - 1.5 - 0.5 + 0.25 · ln 4; of the terms, one sign, a subject pronoun, and four tokens.
    weights = dict.fromkeys(TERMS, 0.0) | {"owned": -1.5, "subject": -0.5, "distance": 0.25}
    owned = (
        "Ann/2/nmod:poss/NNP doctor/3/nsubj/NN said/0/root/VBD she/5/nsubj/PRP slept/3/ccomp/VBD"
    )
    expected = 1 / (1 + math.exp(-(2 - 1.5 - 0.5 + 0.25 * math.log(4))))
    assert ConfidenceModel(2.0, weights).confidence(
        values(owned, "doctor", "she", 4)
    ) == pytest.approx(expected)


def test_every_sign_lowers_the_shipped_confidence() -> None:
    model = shipped_model()
    plain = (*[0.0] * (len(TERMS) - 1), math.log(3))
    free = model.confidence(plain)
    assert 0.85 < free < 1
    for n, term in enumerate(TERMS[:-1]):
        with_term = model.confidence((*plain[:n], 1.0, *plain[n + 1 :]))
        assert with_term > free if term == "reflexive" else with_term < free
