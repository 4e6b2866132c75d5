"""The second reader: Stanza's Gender features alone, on hand-made analyses and on its real
models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mtbias.morphology import AnalysisCache, StanzaAnalyser, find_package
from mtbias.plugin import Language
from mtbias.reading import read_features
from mtbias.types import Gender, GenderCall, Reason, Span

Call = Callable[..., GenderCall]
M, F = Gender.MALE, Gender.FEMALE
SILENT, AMBIGUOUS = Reason.NO_MORPHOLOGY, Reason.AMBIGUOUS
FIRST = Language(code="de", name="Toy Germanic", family="germanic")
BEHIND = Language(code="es", name="Toy Romance", family="romance")


@pytest.mark.parametrize(
    ("language", "sentence", "expected"),
    [
        (FIRST, "Die|DET *Ärztin|NOUN|Gender=Fem", F),
        (FIRST, "Der|DET|Gender=Masc *Angestellte|NOUN", M),
        (FIRST, "junger|ADJ|Gender=Masc *Angestellte|NOUN", M),
        (FIRST, "*Angestellte|NOUN", SILENT),
        # A feature of both genders is none, neuter is nobody's; beside either the article still
        # counts.
        (FIRST, "*Angestellte|NOUN|Gender=Fem,Masc", SILENT),
        (FIRST, "das|DET|Gender=Neut *Mädchen|NOUN|Gender=Neut", SILENT),
        (FIRST, "die|DET|Gender=Fem *Mitglied|NOUN|Gender=Neut", F),
        # Contradiction: between head and article, and between article and adjective.
        (FIRST, "die|DET|Gender=Fem *Arzt|NOUN|Gender=Masc", AMBIGUOUS),
        (FIRST, "die|DET|Gender=Fem junger|ADJ|Gender=Masc *Coach|NOUN", AMBIGUOUS),
        # A pronoun and a verb are not asked, nor what stands behind the head in Germanic, nor
        # beyond an article, a mark or a preposition.
        (FIRST, "sie|PRON|Gender=Fem *Coach|NOUN ging|VERB|Gender=Masc", SILENT),
        (FIRST, "*Coach|NOUN neue|ADJ|Gender=Fem", SILENT),
        (FIRST, "alte|ADJ|Gender=Fem su|DET *Coach|NOUN", SILENT),
        (FIRST, "neue|ADJ|Gender=Fem ~,|PUNCT *Coach|NOUN", SILENT),
        (FIRST, "die|DET|Gender=Fem von|ADP *Coach|NOUN", SILENT),
        # A contraction is an article; further articles stand before it (fr "toutes les …").
        (FIRST, "alte|ADJ|Gender=Fem zum|ADP+DET|Gender=Masc *Coach|NOUN", M),
        (BEHIND, "todas|DET|Gender=Fem las|DET *colegas|NOUN", F),
        (BEHIND, "su|DET *colega|NOUN italiana|ADJ|Gender=Fem", F),
        # Of another case or number it is another's.
        (FIRST, "der|DET|Gender=Fem,Case=Gen *Coach|NOUN|Case=Nom", SILENT),
        (BEHIND, "*colega|NOUN|Number=Sing nuevas|ADJ|Gender=Fem,Number=Plur", SILENT),
    ],
)
def test_the_features_of_the_phrase_tell(
    read: Call, language: Language, sentence: str, expected: Gender | Reason
) -> None:
    for first in (M, AMBIGUOUS):  # whatever the tables say
        found = read(language, sentence, first)
        assert (found.gender or found.reason) == expected
        assert {piece.source for piece in found.evidence} == {"stanza"}


def test_the_head_comes_first_and_every_word_that_was_asked_is_named(read: Call) -> None:
    found = read(
        BEHIND,
        "La|DET|Gender=Fem joven|ADJ *médica|NOUN|Gender=Fem italiana|ADJ|Gender=Fem ya|ADV",
        SILENT,
    )
    assert [(e.kind, e.word, e.gender, e.shows) for e in found.evidence] == [
        ("noun", "médica", F, "Gender=Fem"),
        ("adjective", "joven", None, "no gender"),
        ("determiner", "La", F, "Gender=Fem"),
        ("adjective", "italiana", F, "Gender=Fem"),
    ]
    # La 0-2, joven 3-8, médica 9-15, italiana 16-24
    assert [e.span for e in found.evidence] == [(9, 15), (3, 8), (0, 2), (16, 24)]
    assert {e.rule for e in found.evidence} == {"features_alone"}


@pytest.mark.parametrize("reason", [Reason.UNTRANSLATED, Reason.UNALIGNED, Reason.NO_PERSON])
def test_nobody_is_read_where_the_first_reader_finds_nobody(read: Call, reason: Reason) -> None:
    found = read(BEHIND, "el|DET|Gender=Masc *motor|NOUN|Gender=Masc", reason)
    assert (found.gender, found.reason, found.evidence) == (None, reason, ())


@pytest.mark.parametrize(
    ("code", "text", "word", "expected"),
    [
        ("es", "La médica llegó tarde.", "médica", F),
        ("es", "El médico llegó tarde.", "médico", M),
        ("es", "Habló con la periodista.", "periodista", F),
        ("it", "Il medico parla con l'infermiera.", "infermiera", F),
        ("ru", "Учительница пришла домой.", "Учительница", F),
        ("de", "Die Lehrerin kam.", "Lehrerin", F),
    ],
)
def test_with_stanzas_models(
    stanza_dir: Path, code: str, text: str, word: str, expected: Gender
) -> None:
    analyser = StanzaAnalyser(find_package(code, stanza_dir), AnalysisCache(None), device="cpu")
    analyser.prepare([text], lambda _: None)
    start = text.index(word)
    call = GenderCall("x", None, SILENT, (Span(start, start + len(word)),))
    language = Language.from_package("mtbias_languages", code)
    assert read_features(call, analyser.analysis(text), language).gender is expected
