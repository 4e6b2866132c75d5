"""Sentences on which MT-GenEval's two measures differ, read one by one: the file, the table in docs, real outputs."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

import mtbias
from mtbias.metrics.crosscheck import crosscheck
from mtbias.settings import ScoreSettings

ROOT = Path(__file__).resolve().parents[2]
RIGHT = {
    "persons": "the persons' gender",
    "words": "the words",
    "both": "both can be defended",
    "open": "cannot be said",
}
CAUSES = ("elsewhere", "form", "wording", "reference", "another", "open", "label", "ours")
# (both right, both wrong, wrong by words alone, wrong by persons alone), and the agreement in per cent: with the small
# Stanza models. The measure by words is the authors' own (every published outcome is equal: test_mt_geneval.py).
GOOGLE = {"de": (281, 5, 50, 1), "es": (302, 19, 57, 6)}


def readings() -> list[dict[str, str]]:
    """The rows of the file: language, sentence, which measure is right, why they differ, a note."""
    with (ROOT / "tests" / "benchmarks" / "crosscheck.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_the_file_has_each_sentence_once_with_known_words() -> None:
    rows = readings()
    assert len({(row["lang"], row["sentence"]) for row in rows}) == len(rows) == 114
    assert {row["right"] for row in rows} == set(RIGHT)
    assert {row["cause"] for row in rows} == set(CAUSES)
    assert all(row["note"] for row in rows)


def test_the_table_of_the_page_counts_the_file() -> None:
    page = (ROOT / "docs" / "metrics" / "mt-geneval.md").read_text(encoding="utf-8")
    rows = readings()
    right, causes = (Counter((row["lang"], row[key]) for row in rows) for key in ("right", "cause"))
    for key, name in RIGHT.items():
        assert f"| {name} | {right['de', key]} | {right['es', key]} |\n" in page
    for cause in CAUSES:
        found = re.search(rf"^\| `{cause}`: .* \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
        assert found is not None, cause
        assert tuple(map(int, found.groups())) == (causes["de", cause], causes["es", cause]), cause


@pytest.mark.slow
@pytest.mark.parametrize("lang", GOOGLE)
def test_the_measures_differ_on_the_sentences_that_were_read(
    shared: Path, stanza_dir: Path, tmp_path: Path, lang: str
) -> None:
    data = shared / "data" / "mtgeneval"
    with (data / "google2025" / f"mt_geneval_sentences_en_{lang}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    given = tmp_path / "google.txt"
    forms = ("feminine", "masculine")
    given.write_text(
        "".join(
            f"{row[f'source_{form}'].strip()} ||| {' '.join(row[f'translate_{form}'].split())}\n"
            for form in forms
            for row in rows
        ),
        encoding="utf-8",
    )
    runs = [
        mtbias.score(
            given,
            lang,
            settings=ScoreSettings(
                dataset=dataset, data=data / folder, stanza_dir=stanza_dir, resamples=0, cache_dir=tmp_path
            ),
        )
        for dataset, folder in (("mt-geneval", "sentences"), ("mt-geneval-entities", "entities"))
    ]
    found = crosscheck(*runs)
    same = {kind: [s for s in found.sentences if s.decided and s.by_persons == kind] for kind in ("right", "wrong")}
    both_right, both_wrong = (sum(not s.differs for s in same[kind]) for kind in ("right", "wrong"))
    alone = Counter(sentence.by_words == "wrong" for sentence in found.differing)
    assert (both_right, both_wrong, alone[True], alone[False]) == GOOGLE[lang]
    assert {s.words.id for s in found.differing} == {r["sentence"] for r in readings() if r["lang"] == lang}
