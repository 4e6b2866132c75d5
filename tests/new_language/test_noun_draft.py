"""What lexica give for the table of nouns: genders, forms, paradigms, counterparts."""

from __future__ import annotations

from pathlib import Path

from mtbias.new_language.lexica import read_lexicon
from mtbias.new_language.project_files import DraftNouns, draft_nouns
from tests.new_language.lexica_files import LIST, UNIMORPH, write


def _draft(folder: Path, *occupations: str, **texts: str) -> DraftNouns:
    return draft_nouns([read_lexicon(path) for path in write(folder, **texts)], occupations)


def test_nouns_of_a_list_with_what_unimorph_knows(tmp_path: Path) -> None:
    draft = _draft(
        tmp_path, "teacher", "doctor", "artist", "victim", "pilot", names=LIST, forms=UNIMORPH
    )
    rows = {noun.noun: (noun.english, noun.kind) for noun in draft.nouns}
    assert rows == {
        "professor": (("teacher", "professor"), "m"),
        "professora": (("teacher", "professor"), "f"),  # of the same lemma: proposed beside him
        "médico": (("doctor",), "m"),
        "artista": (("artist",), "common"),
        "vítima": (("victim",), "f"),  # that she is "fixed", no lexicon knows
        "policial": (("police officer",), "?"),
    }
    endings = {noun: p.endings for p in draft.paradigms for noun in p.nouns}
    assert endings == {
        "professor": ("/*.*.sg", "es/*.*.pl"),
        **dict.fromkeys(("professora", "médico", "artista", "vítima"), ("/*.*.sg", "s/*.*.pl")),
    }
    assert draft.paradigms[0].nouns == (
        "professora",
        "médico",
        "artista",
        "vítima",
    )  # the most frequent first
    assert draft.nouns[0].line() == "# check teacher|professor\tprofessor\tm\twhole2\t"
    # The list has a doctor who is a man, a victim who is a woman, and nobody who flies.
    assert draft.unfilled == (("doctor", "f"), ("victim", "m"), ("pilot", "m"), ("pilot", "f"))


def test_a_noun_of_case(tmp_path: Path) -> None:
    # Polish "poeta": the stem is what all forms share; an ending of two cases stands once.
    forms = "".join(
        f"poeta\t{form}\tN;MASC;HUM;{tags}\n"
        for form, tags in (
            ("poeta", "NOM;SG"),
            ("poety", "GEN;SG"),
            ("poecie", "DAT;SG"),
            ("poecie", "ESS;SG"),
        )
    )
    draft = _draft(tmp_path, names="english\tnoun\npoet\tpoeta\n", forms=forms)
    (paradigm,) = draft.paradigms
    assert (paradigm.strip, paradigm.endings) == (
        "ta",
        ("ta/*.nom.sg", "ty/*.gen.sg", "cie/*.dat.sg,*.loc.sg"),
    )
