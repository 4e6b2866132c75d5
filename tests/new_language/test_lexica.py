"""Lexica of each format as they are read, and those that cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.errors import DataError
from mtbias.new_language.lexica import ListRow, read_lexicon
from tests.new_language.lexica_files import LIST, UNIMORPH, write


def test_a_unimorph_table(tmp_path: Path) -> None:
    (path,) = write(tmp_path, unimorph=UNIMORPH)
    lexicon = read_lexicon(path)
    assert lexicon.format == "UniMorph table"
    assert lexicon.citations == {
        "professor": {"m": "professor", "f": "professora"},
        "médico": {"m": "médico"},
        "médica": {"f": "médica"},
        "artista": {"m": "artista", "f": "artista"},
        "vítima": {"f": "vítima"},
    }
    assert [(f.form, ".".join(f.agreement)) for f in lexicon.forms({"professor"})] == [
        ("professor", "m.*.sg"),
        ("professores", "m.*.pl"),
        ("professora", "f.*.sg"),
        ("professoras", "f.*.pl"),
    ]
    assert list(lexicon.forms({"falar"})) == []  # a verb


def test_cases_of_unimorph(tmp_path: Path) -> None:
    # Polish: one form is genitive and accusative, the locative is UniMorph's essive; duals are left
    # out.
    text = "poseł\tposła\tN;MASC;HUM;GEN/ACC;SG\nposeł\tpośle\tN;MASC;HUM;ESS;SG\noko\toczu\tN;NEUT;GEN;DU\n"
    (path,) = write(tmp_path, pl=text)
    lexicon = read_lexicon(path)
    assert lexicon.citations == {"poseł": {"m": "poseł"}}  # of which the nominative does not occur
    assert [(f.form, ".".join(f.agreement)) for f in lexicon.forms({"poseł", "oko"})] == [
        ("posła", "m.acc.sg"),
        ("posła", "m.gen.sg"),
        ("pośle", "m.loc.sg"),
    ]


def test_a_list_of_a_header_alone_has_no_nouns(tmp_path: Path) -> None:
    (path,) = write(tmp_path, only="english\tnoun\n")
    lexicon = read_lexicon(path)
    assert (lexicon.rows, list(lexicon.forms({"professor"}))) == ((), [])


def test_lists(tmp_path: Path) -> None:
    one, two, three = write(
        tmp_path,
        one=LIST,
        two="masculine\tfeminine\nator\tatriz\nartista\tartista\n",
        three="feminine\tenglish\tmasculine\natriz\tactor\tator\n\tmonk\tmonge\n",
    )
    assert read_lexicon(one).rows[0] == ListRow("teacher|professor", "professor", "")
    assert len(read_lexicon(one).rows) == 5
    assert read_lexicon(two).rows == (
        ListRow("", "ator", "m"),
        ListRow("", "atriz", "f"),
        ListRow("", "artista", "common"),
    )
    assert read_lexicon(three).rows == (
        ListRow("actor", "ator", "m"),
        ListRow("actor", "atriz", "f"),
        ListRow("monk", "monge", "m"),
    )


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "the lexicon is empty"),
        ("professor\nmédico\n", 1, "expected a UniMorph table .* got 1 columns"),
        (
            "teacher\tprofessor\n",
            1,
            "first line names columns of english, noun, masculine, feminine",
        ),
        ("english\tnoun\nteacher\n", 2, "expected 2 columns, as in the header, got 1"),
        ("english\tnoun\nteacher\t\n", 2, "expected a noun"),
        (UNIMORPH + "só uma\n", 17, "expected lemma, form, features; got 1 columns"),
    ],
)
def test_what_is_no_lexicon_is_named_with_its_line(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    (path,) = write(tmp_path, bad=text)
    with pytest.raises(DataError, match=message) as caught:
        read_lexicon(path)
    assert caught.value.line == line


def test_a_lexicon_that_is_not_utf8_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "latin1.txt"
    path.write_bytes("english\tnoun\nartist\tartista\ndoctor\tmédico\n".encode("latin-1"))
    with pytest.raises(DataError, match="expected UTF-8") as caught:
        read_lexicon(path)
    assert caught.value.line == 3
    with pytest.raises(DataError, match="there is no such file"):
        read_lexicon(tmp_path / "none.tsv")
    with pytest.raises(DataError, match="expected a file, got a folder"):
        read_lexicon(tmp_path)
