"""The public data sets as systems are given them, and back: every gold cluster is read as it
was."""

from __future__ import annotations

from collections.abc import Sequence
from json import dumps
from pathlib import Path

import pytest

from mtbias.coref.coref_datasets import open_dataset
from mtbias.coref.documents import Answers, CorefText, DatasetName, Format, exported
from mtbias.coref.output_reading import read_output
from mtbias.errors import DataError

PLACES: dict[DatasetName, tuple[str, int, int]] = {
    "winobias": ("coref/winobias", 3168, 3168),
    "winogender": ("coref/winogender", 720, 720),
    "gap": ("coref/gap", 2000, 1773),
    "counter-gap": ("coref/countergap/C-GAP.tsv", 4008, 3880),
    # Of 1,719 rows 4 have an index past the sentence's last word.
    "bug": ("bug", 1719, 1715),
}
"""Where each is, its documents, and how many of them have an answer (Counter-GAP has 32 quadruples
without one)."""


def _as_it_was(texts: Sequence[CorefText], found: Answers) -> bool:
    return dict(found.of) == {text.id: text.gold for text in texts}


@pytest.mark.slow
@pytest.mark.parametrize("dataset", PLACES)
def test_there_and_back(dataset: DatasetName, shared: Path, tmp_path: Path) -> None:
    place, n, answered = PLACES[dataset]
    texts = open_dataset(dataset, shared / "data" / place).texts
    assert (len(texts), sum(bool(text.gold) for text in texts)) == (n, answered)
    # Nothing is lost on the way to tokens; an underscore stands for a word without characters.
    for text in texts:
        assert "".join(text.tokens).replace("_", "") == "".join(text.text.split()).replace("_", "")
    texts = texts[::4]
    forms: tuple[Format, ...] = ("conll", "jsonl")
    for form in forms:
        out = tmp_path / f"out.{form}"
        out.write_text("\n".join(exported(texts, form, gold=True)) + "\n", encoding="utf-8")
        found = read_output(texts, [out])
        assert _as_it_was(texts, found)
        assert found.notes == ()
    ends = tmp_path / "ends.jsonl"
    rows = [
        {"id": t.id, "clusters": [[[a, b + 1] for a, b in cluster] for cluster in t.gold]}
        for t in texts
    ]
    ends.write_text("\n".join(map(dumps, rows)), encoding="utf-8")
    with pytest.raises(DataError, match="cannot tell what mentions count"):
        read_output(texts, [ends])
    assert _as_it_was(texts, read_output(texts, [ends], spans="excluded"))


@pytest.mark.slow
@pytest.mark.parametrize("dataset", PLACES)
def test_text_and_characters(dataset: DatasetName, shared: Path, tmp_path: Path) -> None:
    """Lines of text, characters of them and no ids, as fastcoref has them."""
    texts = open_dataset(dataset, shared / "data" / PLACES[dataset][0]).texts[::4]
    rows = []
    for text, line in zip(texts, exported(texts, "text"), strict=True):
        starts, at = [], 0
        for token in text.tokens:
            plain = (
                ""
                if token == "_" and not line.startswith("_", at + (line[at : at + 1] == " "))
                else token
            )
            at = line.find(plain[:1], at) if plain else at
            starts.append(at)
            at += len(plain)
        spans = [
            [[starts[a], starts[b] + len(text.tokens[b])] for a, b in cluster]
            for cluster in text.gold
        ]
        rows.append({"text": line, "clusters": spans, "clusters_strings": []})
    path = tmp_path / "fastcoref.json"
    path.write_text("\n".join(map(dumps, rows)), encoding="utf-8")
    assert _as_it_was(texts, read_output(texts, [path], ids=Path("order")))
