"""Labels of whole persons: files that are well formed and fit the public texts that they name."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from mtbias.errors import DataError
from mtbias.files.reading import read_table
from scripts.label_sets.whole_person_labels import COLUMNS, FILES, SECOND_SENTENCE, read_labels

ROWS = {"de": 130, "es": 220, "it": 130, "ru": 130}


@pytest.fixture
def data(shared: Path) -> Path:
    return shared / "data"


def test_every_language_has_a_file() -> None:
    assert set(FILES) == set(ROWS)


@pytest.mark.parametrize("lang", ROWS)
def test_the_two_parts_are_halves_and_share_no_text(lang: str) -> None:
    records = read_table(FILES[lang], *COLUMNS).records
    assert len(records) == ROWS[lang]
    sizes = Counter(record.get("part") for record in records)
    assert set(sizes) == {"dev", "unread"}
    assert abs(sizes["dev"] - sizes["unread"]) <= 1
    texts = [record.get("text") for record in records]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("lang", ROWS)
def test_every_label_fits_its_text(lang: str, data: Path) -> None:
    """`read_labels` refuses a text that is not there, an entity that does not stand at its place,
    words that do not stand in the translation in their order, and a outcome that does not follow
    from them."""
    persons = read_labels(FILES[lang], data)
    assert len(persons) == ROWS[lang]
    for person in persons:
        where = f"{lang}.tsv, line {person.line}"
        assert person.target.strip(), where
        before, _, _ = person.source.partition(SECOND_SENTENCE)
        in_context = person.text.startswith("context-")
        assert not in_context or person.entity.start > len(before), where


@pytest.mark.parametrize("lang", ROWS)
def test_no_sentence_is_in_both_parts(lang: str, data: Path) -> None:
    """One sentence may be translated by two systems."""
    parts: dict[str, set[str]] = {}
    for person in read_labels(FILES[lang], data):
        parts.setdefault(" ".join(person.source.split()), set()).add(person.part)
    assert [source for source, of_source in parts.items() if len(of_source) > 1] == []


# In the layout of a system's output for BUG; the label is of its second line.
_BUG = """A cook left . ||| Un cocinero se fue.
The cook said she slept . ||| El cocinero dijo que ella dormía.
"""
_LABEL = {
    "text": "bug-toy-2",
    "start": "4",
    "entity": "cook",
    "gender": "f",
    "outcome": "mixed",
    "right": "ella",
    "wrong": "El|cocinero",
    "part": "dev",
    "note": "",
}


def _toy(folder: Path, **changes: str) -> tuple[Path, Path]:
    """The file of labels ``es.tsv`` with `_LABEL`, of which fields are changed, and a folder of
    data with `_BUG`, both in `folder`."""
    system = folder / "data" / "bug" / "translations" / "toy"
    system.mkdir(parents=True)
    (system / "en-es.txt").write_text(_BUG, encoding="utf-8")
    rows = ("\t".join(COLUMNS), "\t".join((_LABEL | changes).values()))
    (folder / "es.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder / "es.tsv", folder / "data"


def test_a_label_is_read_beside_its_text(tmp_path: Path) -> None:
    (person,) = read_labels(*_toy(tmp_path))
    assert person.source == "The cook said she slept ."
    assert person.target == "El cocinero dijo que ella dormía."
    assert person.source[person.entity.start : person.entity.end] == "cook"
    assert (person.right, person.wrong) == (("ella",), ("El", "cocinero"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"text": "bug-toy-3"}, "expected a row of the public data, got 'bug-toy-3'"),
        ({"text": "cocinero"}, "expected a text like bug-llama-123, got 'cocinero'"),
        ({"start": "5"}, "expected 'cook' at 5 of the source, got 'ook '"),
        ({"wrong": "cocinero|El"}, "wrong: expected 'El' in the translation, in this order"),
        ({"right": "ell"}, "right: expected 'ell' in the translation, in this order"),
        ({"right": ""}, "expected the outcome 'wrong' of these words, got 'mixed'"),
        ({"gender": "n"}, "expected the gender m or f, got 'n'"),
        ({"part": "test"}, "expected the part dev or unread, got 'test'"),
    ],
)
def test_a_label_that_does_not_fit_is_refused(
    changes: dict[str, str], message: str, tmp_path: Path
) -> None:
    labels, data = _toy(tmp_path, **changes)
    with pytest.raises(DataError, match=message) as caught:
        read_labels(labels, data)
    assert caught.value.line == 2


def test_without_the_public_data_the_message_says_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="name its parent folder with MTBIAS_SHARED"):
        read_labels(FILES["es"], tmp_path / "data")
