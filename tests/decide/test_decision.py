"""Which of the aligned words is judged."""

from __future__ import annotations

from collections.abc import Callable

from mtbias.decide import decide
from mtbias.language.split_texts import SplitTexts
from mtbias.plugin import Language, NounKind, NounReading
from mtbias.types import Alignment, Analysis, Gender, GenderCall, Reason

LANGUAGE = Language(code="es", name="Toy", nouns={"autora": (NounReading("autora", NounKind.FEMININE, ()),)})


def _call(analysis: Analysis, target: str, *candidates: str) -> GenderCall:
    at = {token.text: token.span for token in analysis.tokens}
    alignment = Alignment("x", (at[target],), "links", "sg", candidates=tuple(at[word] for word in candidates))
    return decide(alignment, analysis, SplitTexts(LANGUAGE))


def test_a_verb_or_numeral_gives_way_to_the_likeliest_noun(analyse: Callable[[str], Analysis]) -> None:
    text = analyse("Fue|AUX saludada|VERB por|ADP dos|NUM autora|NOUN futura|ADJ")
    for word in ("saludada", "dos", "futura"):
        found = _call(text, word, "por", "autora")
        assert (found.gender, text.text[slice(*found.target[0])]) == (Gender.FEMALE, "autora")


def test_a_noun_gives_way_to_none(analyse: Callable[[str], Analysis]) -> None:
    text = analyse("La|DET casa|NOUN de|ADP la|DET autora|NOUN")
    found = _call(text, "casa", "autora")
    assert (found.reason, text.text[slice(*found.target[0])]) == (Reason.NO_PERSON, "casa")


def test_a_verb_does_not_give_way_to_another(analyse: Callable[[str], Analysis]) -> None:
    text = analyse("Fue|AUX saludada|VERB y|CCONJ vino|VERB")
    assert _call(text, "saludada", "vino").gender is None
