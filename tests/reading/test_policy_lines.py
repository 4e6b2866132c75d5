"""The table of the policy: it is complete for each kind of noun, and each of its lines decides a
sentence.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtbias.language.grammar import NounKind
from mtbias.language.installed import get_language
from mtbias.reading.policy import EVIDENCE, SHOWS, Decision, lines_of, policy_lines
from mtbias.reading.rules import listening
from mtbias.types import Gender, GenderCall, Reason

Call = Callable[..., GenderCall]
LINES = policy_lines()
KINDS = (*NounKind, None)

# Adjectives whose form is the same for women and men; the tagger reads them as one or the other.
CHIC_WOMAN = "chic|ADJ|Gender=Fem"
CHIC_MAN = "chic|ADJ|Gender=Masc"

DOCTOR = "*Врач|NOUN|Case=Nom"

# The number of the line, a language, a sentence whose marked noun it decides, and the call, each
# from docs/policy.md.
SENTENCES = [
    (2, "de", "Die|DET *Lehrer:in|NOUN kam|VERB", "neutral"),
    (3, "de", "Die|DET männliche|ADJ weibliche|ADJ *Lehrkraft|NOUN kam|VERB", "ambiguous"),
    (4, "de", "Die|DET männliche|ADJ *Lehrkraft|NOUN kam|VERB", "male"),
    (4, "de", "Die|DET weibliche|ADJ *Lehrkraft|NOUN kam|VERB", "female"),
    (5, "es", "La|DET *miembro|NOUN llegó|VERB", "female"),
    (5, "es", "El|DET *víctima|NOUN llegó|VERB", "male"),
    (6, "de", "Die|DET *Lehrkraft|NOUN kam|VERB", "no morphology"),
    (7, "fr", "Madame|NOUN le|DET *professeur|NOUN parle|VERB", "female"),
    (8, "es", "La|DET *bailarín|NOUN llegó|VERB", "ambiguous"),
    (8, "es", "El|DET *bailarina|NOUN llegó|VERB", "ambiguous"),
    (9, "es", "El|DET *bailarín|NOUN llegó|VERB", "male"),
    (9, "es", "La|DET *bailarina|NOUN llegó|VERB", "female"),
    (10, "it", "La|DET signor|NOUN *medico|NOUN parla|VERB", "ambiguous"),
    (11, "it", "La|DET *medico|NOUN parla|VERB", "female"),
    (12, "it", "Il|DET *medico|NOUN era|AUX stanca|ADJ", "male"),
    (13, "ru", "Новая|ADJ|Case=Nom молодой|ADJ|Case=Nom *врач|NOUN|Case=Nom пришла|VERB", "ambiguous"),
    (14, "ru", "Новая|ADJ|Case=Nom *врач|NOUN|Case=Nom сидит|VERB", "female"),
    (15, "ru", f"{DOCTOR} ~, которая|PRON жила|VERB", "female"),
    (15, "ru", f"{DOCTOR} ~, уставшая|ADJ ~, спит|VERB", "female"),
    (16, "ru", "*Врач|NOUN|Case=Nom пришла|VERB", "female"),
    (16, "ru", f"{DOCTOR} ~, по|ADP словам|NOUN|Case=Dat ~, пришла|VERB", "female"),
    (17, "ru", "*Врач|NOUN|Case=Nom пришёл|VERB", "male"),
    (18, "ru", f"{DOCTOR} ~, который|PRON жил|VERB", "male"),
    (20, "ru", f"{DOCTOR} ~, по|ADP словам|NOUN|Case=Dat", "no morphology"),
    (19, "ru", f"{DOCTOR} Москвы|PROPN|Case=Gen ~, которая|PRON живёт|VERB", "ambiguous"),
    (20, "ru", f"{DOCTOR} Москвы|PROPN|Case=Gen ~, который|PRON живёт|VERB", "no morphology"),
    (21, "ru", "*Врач|NOUN|Case=Nom живёт|VERB", "male"),
    (22, "es", "La|DET *periodista|NOUN italiano|ADJ llegó|VERB", "ambiguous"),
    (23, "es", "La|DET *periodista|NOUN llegó|VERB", "female"),
    (23, "es", "El|DET *periodista|NOUN llegó|VERB", "male"),
    (24, "es", f"Su|DET {CHIC_WOMAN} *periodista|NOUN {CHIC_MAN} vino|VERB", "ambiguous"),
    (25, "es", f"Su|DET *periodista|NOUN {CHIC_WOMAN} vino|VERB", "female"),
    (25, "es", f"Su|DET *periodista|NOUN {CHIC_MAN} vino|VERB", "male"),
    (26, "de", "Heute|ADV kam|VERB *Sensei|NOUN|Animacy=Anim,Gender=Masc", "male"),
    (27, "de", "Er|PRON wurde|AUX *Vorsitzender|NOUN", "male"),
    (27, "de", "Sie|PRON wurde|AUX *Vorsitzende|NOUN", "female"),
    (28, "it", "Ogni|DET *giornalista|NOUN ~, della|ADP+DET quale|PRON parla|VERB", "female"),
    (28, "it", "Ogni|DET *giornalista|NOUN ~, stanco|ADJ ~, parla|VERB", "male"),
    (29, "it", "Ogni|DET *giornalista|NOUN era|AUX stanca|ADJ", "female"),
    (29, "it", "Ogni|DET *giornalista|NOUN era|AUX stanco|ADJ", "male"),
    (30, "it", "L'|DET *~assistente|NOUN tecnica|ADJ nuova|ADJ così|ADV", "ambiguous"),
    (31, "it", "Ogni|DET *giornalista|NOUN parla|VERB", "no morphology"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "code", "sentence", "expected"), SENTENCES)
def test_a_line_decides(call: Call, number: int, code: str, sentence: str, expected: str) -> None:
    decisions: list[Decision] = []

    def listen(_: str, answer: object) -> None:
        if isinstance(answer, Decision):
            decisions.append(answer)

    with listening(listen):
        made = call(get_language(code), sentence)
    assert [decision.line.number for decision in decisions] == [number]
    assert (made.gender or made.reason) == expected


def test_every_line_has_a_sentence() -> None:
    assert {number for number, *_ in SENTENCES} == {line.number for line in LINES}


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_noun_always_has_a_call(kind: NounKind | None) -> None:
    *_, last = lines_of(kind)
    # Telling nouns show their one gender; the rest of the last lines ask for nothing.
    assert last.evidence == "noun"
    assert last.shows == ("one" if kind in (NounKind.MASCULINE, NounKind.FEMININE) else "anything")


def test_the_table_asks_for_what_can_be_shown_and_answers_with_calls() -> None:
    assert {line.evidence for line in LINES} == set(EVIDENCE)
    assert {line.shows for line in LINES} == set(SHOWS)
    assert {line.call for line in LINES} <= {*Gender, *Reason, "that one"}
    kinds = {kind.name.lower() for kind in NounKind} | {"unknown", "any"}
    assert {noun for line in LINES for noun in line.noun.split(", ")} <= kinds


def test_no_line_stands_behind_one_that_holds_whenever_it_does() -> None:
    for kind in KINDS:
        *before, _ = lines_of(kind)
        asked = [(line.evidence, line.shows) for line in before]
        assert len(asked) == len(set(asked))
        assert ("noun", "anything") not in asked
