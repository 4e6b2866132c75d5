"""Forms of nouns in the shipped tables that are made by rule: plurals, and relatives of many
generations.
"""

from __future__ import annotations

import pytest

from scripts.labelled import shipped_language


@pytest.mark.parametrize(
    ("singular", "plural"),
    # Serianni, Grammatica italiana, III.104: a stressed i stays before the ending of the plural
    # (zìo, zìi), any other one is lost in it (segretàrio, segretàri; tìzio, tìzi).
    [("zio", "zii"), ("prozio", "prozii"), ("segretario", "segretari"), ("tizio", "tizi")],
)
def test_italian_plurals_of_nouns_in_io(singular: str, plural: str) -> None:
    italian = shipped_language("it")
    (reading,) = (reading for reading in italian.nouns[plural] if reading.lemma == singular)
    assert {agreement.number for agreement in reading.agreements} == {"pl"}
    other = plural.removesuffix("i") if plural.endswith("ii") else f"{plural}i"
    assert all(reading.lemma != singular for reading in italian.nouns.get(other, ()))


@pytest.mark.parametrize(
    ("code", "word", "kind"),
    [
        ("fr", "arrière-arrière-grand-père", "m"),
        ("fr", "arrière-arrière-arrière-grands-mères", "f"),
        ("fr", "arrière-arrière-petite-fille", "f"),
        ("it", "trisnonna", "f"),
        ("it", "bis-bisnonno", "m"),
        ("it", "trisavolo", "m"),
        ("es", "tatarabuela", "f"),
        ("es", "tataratatarabuelo", "m"),
        ("es", "tataranieta", "f"),
        ("pt", "trisavô", "m"),
        ("pt", "tataravó", "f"),
        ("pt", "tetraneto", "m"),
        ("de", "Ururgroßmutter", "f"),
        ("de", "Urururgroßvater", "m"),
        ("de", "Ururenkelin", "f"),
        ("de", "Ururopa", "m"),
        ("ru", "прапрадед", "m"),
        ("ru", "прапрапрабабушкой", "f"),
        ("ru", "пра-пра-бабушка", "f"),
        ("uk", "прапрадіда", "m"),
        ("uk", "прапрапрабабуся", "f"),
        ("cs", "prapradědeček", "m"),
        ("cs", "praprapraprababička", "f"),
    ],
)
def test_relatives_of_many_generations(code: str, word: str, kind: str) -> None:
    assert {str(reading.kind) for reading in shipped_language(code).noun(word)} == {kind}


@pytest.mark.parametrize(
    ("code", "word", "kind"),
    [
        ("it", "ex-vicesindaco", "generic"),
        ("es", "exvicepresidenta", "f"),
        ("pt", "ex-vice-presidente", "common"),
        ("ru", "экс-вице-чемпионка", "f"),
    ],
)
def test_several_prefixes(code: str, word: str, kind: str) -> None:
    assert {str(reading.kind) for reading in shipped_language(code).noun(word)} == {kind}


@pytest.mark.parametrize("word", ["arrière-garde", "arrière-gardes"])
def test_what_looks_like_a_relative_is_a_thing(word: str) -> None:
    assert {str(reading.kind) for reading in shipped_language("fr").noun(word)} == {"thing"}


@pytest.mark.parametrize(
    ("code", "lemma", "genitive"),
    # Genitive plurals without an ending: a vowel comes between the last two consonants (е for й and
    # behind a soft one), and in Ukrainian о is і in a closed syllable.
    [
        ("ru", "хозяйка", "хозяек"),
        ("ru", "домохозяйка", "домохозяек"),
        ("ru", "медсестра", "медсестёр"),
        ("ru", "царевна", "царевен"),
        ("ru", "княжна", "княжон"),
        ("ru", "барышня", "барышень"),
        ("uk", "вдова", "вдів"),
        ("uk", "голова", "голів"),
        ("uk", "сирота", "сиріт"),
        ("uk", "відьма", "відьом"),
        ("uk", "королівна", "королівен"),
        ("uk", "медсестра", "медсестер"),
    ],
)
def test_genitive_plurals_without_an_ending(code: str, lemma: str, genitive: str) -> None:
    language = shipped_language(code)
    readings = language.nouns[language.fold(genitive)]
    (agreements,) = (reading.agreements for reading in readings if reading.lemma == lemma)
    assert {(a.case, a.number) for a in agreements} == {("gen", "pl"), ("acc", "pl")}
