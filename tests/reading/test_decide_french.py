"""French: possessives, titles, what agrees after être, adjectives of a sex, forms for both
genders."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtbias.types import Gender, GenderCall, Reason
from mtbias_languages.french import FRENCH

Call = Callable[..., GenderCall]
M, F, N = Gender.MALE, Gender.FEMALE, Gender.NEUTRAL
SING = "Number=Sing"
PAST = "VerbForm=Part,Number=Sing,Tense=Past"


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        # son is a man's article before a consonant, and anybody's before a vowel; whose he is says
        # nothing
        ("Son|DET *collègue|NOUN dort|VERB", M),
        ("Sa|DET *collègue|NOUN dort|VERB", F),
        ("Son|DET *élève|NOUN dort|VERB", None),
        ("Leur|DET *collègue|NOUN dort|VERB", None),
        ("L'|DET *~artiste|NOUN dort|VERB", None),
        # adjectives before and behind; one with a single form says nothing
        ("Notre|DET nouvel|ADJ *élève|NOUN dort|VERB", M),
        ("Notre|DET *élève|NOUN bavarde|ADJ dort|VERB", F),
        ("Notre|DET jeune|ADJ *élève|NOUN dort|VERB", None),
        # which many have that end like a woman's: sotte, verte, petite, jolie, sûre, plane, idiote
        ("Notre|DET *élève|NOUN polyglotte|ADJ dort|VERB", None),
        ("Notre|DET *élève|NOUN est|AUX alerte|ADJ", None),
        ("Notre|DET *élève|NOUN est|AUX cosmopolite|ADJ", None),
        ("Notre|DET *élève|NOUN impie|ADJ dort|VERB", None),
        ("Notre|DET *élève|NOUN semblait|VERB immature|ADJ", None),
        ("Notre|DET *élève|NOUN mythomane|ADJ dort|VERB", None),
        ("Notre|DET *élève|NOUN chypriote|ADJ dort|VERB", None),
        ("Notre|DET *élève|NOUN saoudite|ADJ dort|VERB", None),
        ("Notre|DET *élève|NOUN idiote|ADJ dort|VERB", F),
        # the participle after être agrees, after avoir it does not, nor where the reflexive is
        # indirect
        (f"Notre|DET *élève|NOUN est|AUX partie|VERB|{PAST},Gender=Fem", F),
        (f"Notre|DET *élève|NOUN a|AUX été|AUX punie|VERB|{PAST},Gender=Fem", F),
        (f"Notre|DET *élève|NOUN a|AUX fini|VERB|{PAST},Gender=Masc", None),
        (f"Notre|DET *élève|NOUN s'|PRON ~est|AUX levé|VERB|{PAST},Gender=Masc", M),
        (
            f"Notre|DET *élève|NOUN s'|PRON ~est|AUX demandé|VERB|{PAST},Gender=Masc pourquoi|ADV",
            None,
        ),
        (f"Notre|DET *élève|NOUN se|PRON sentait|VERB fatiguée|ADJ|{SING}", F),
        (f"Notre|DET *élève|NOUN sentait|VERB fatiguée|ADJ|{SING}", None),
        # a title wins over the article of the office; Dr stands for both
        ("Madame|NOUN le|DET *ministre|NOUN dort|VERB", F),
        ("M.|NOUN le|DET *ministre|NOUN dort|VERB", M),
        ("Dr|NOUN *Delmas|PROPN dort|VERB", None),
        # a masculine form of both: what is feminine beside it wins, a pronoun does not
        ("La|DET *médecin|NOUN dort|VERB", F),
        ("Le|DET *médecin|NOUN dit|VERB qu'|SCONJ ~elle|PRON dort|VERB", M),
        # a noun of fixed gender: only an adjective that means a sex tells
        ("La|DET *victime|NOUN dort|VERB", None),
        ("La|DET *victime|NOUN masculine|ADJ dort|VERB", M),
        ("La|DET *victime|NOUN blessée|ADJ dort|VERB", None),
        # plurals
        ("Tous|ADJ les|DET *artistes|NOUN dorment|VERB", M),
        ("Les|DET *artistes|NOUN dorment|VERB", None),
        ("Les|DET *artistes|NOUN hypocrites|ADJ dorment|VERB", None),
        ("Les|DET *artistes|NOUN croates|ADJ dorment|VERB", None),
        ("Les|DET *artistes|NOUN ottomanes|ADJ dorment|VERB", F),
    ],
)
def test_what_shows_the_gender(call: Call, sentence: str, expected: Gender | None) -> None:
    number = "pl" if "dorment" in sentence else "sg"
    assert call(FRENCH, sentence, number=number).gender is expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Les|DET *infirmier·ère·s|NOUN dorment|VERB",
        "Les|DET *directeur·rice·s|NOUN dorment|VERB",
        "Les|DET *étudiant(e)s|NOUN dorment|VERB",
        "Les|DET *instituteurices|NOUN dorment|VERB",
        "Le|DET ou|CCONJ la|DET *journaliste|NOUN dort|VERB",
        "Les|DET *directeurs|NOUN et|CCONJ directrices|NOUN dorment|VERB",
    ],
)
def test_both_forms_are_neutral(call: Call, sentence: str) -> None:
    number = "pl" if "dorment" in sentence else "sg"
    known = ("directrices", "directeurs", "journaliste")
    assert call(FRENCH, sentence, number=number, translations=known).gender is N


def test_endings_of_things_name_nobody(call: Call) -> None:
    # The endings of nouns for people stand in pairs; the commonest things that end so are excepted.
    assert call(FRENCH, "Le|DET *dronateur|NOUN dort|VERB").gender is M
    assert call(FRENCH, "La|DET *dronatrice|NOUN dort|VERB").gender is F
    for sentence in ("Le|DET *radiateur|NOUN dort|VERB", "La|DET *locomotrice|NOUN dort|VERB"):
        assert call(FRENCH, sentence).reason is Reason.NO_PERSON
