"""Sentences on which MT-GenEval's two measures differ, read one by one: the file, the table in docs, real outputs."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

import mtbias
from mtbias.scoring.crosscheck import crosscheck
from mtbias.settings import ScoreSettings

ROOT = Path(__file__).resolve().parents[2]
CAUSES = {
    "elsewhere": "right", "form": "right", "wording": "right", "reference": "right", "label": "right", "ours": "right",
    "another": "wrong", "head": "wrong", "open": "either",
}  # fmt: skip
"""Why a measure calls it wrong → whether the translation is, as it was read; a reference may leave it unclear."""
NEITHER = ["no call", "no person"]
# (both right, both wrong, wrong by words alone, wrong by persons alone), with the small Stanza models.
GOOGLE = {"de": (284, 4, 50, 1), "es": (301, 17, 59, 5)}


def readings() -> list[dict[str, str]]:
    """The rows of the file: language, sentence, both measures, whether the translation is right, why, a note."""
    with (ROOT / "tests" / "scoring" / "crosscheck.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_the_file_has_each_sentence_once_with_known_words() -> None:
    rows = readings()
    assert len({(row["lang"], row["sentence"]) for row in rows}) == len(rows) == 198
    for row in rows:
        expected = CAUSES[row["cause"]]
        assert row["translation"] == expected or (row["cause"], row["translation"]) == ("reference", "unclear"), row
        assert "wrong" in (row["by_words"], row["by_persons"]), row
        assert row["note"], row


def test_the_tables_of_the_page_count_the_file() -> None:
    page = (ROOT / "docs" / "metrics" / "mt-geneval.md").read_text(encoding="utf-8")
    rows = readings()
    for cause, translation in CAUSES.items():
        found = re.search(rf"^\| `{cause}`: .* \| {translation} \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
        assert found is not None, cause
        counts = Counter(row["lang"] for row in rows if row["cause"] == cause)
        assert tuple(map(int, found.groups())) == (counts["de"], counts["es"]), cause
    for by_words, by_persons in (("wrong", ["right"]), ("right", ["wrong"]), ("wrong", ["wrong"]), ("wrong", NEITHER)):
        chosen = [row for row in rows if row["by_words"] == by_words and row["by_persons"] in by_persons]
        cells = [
            " / ".join(
                str(sum(row["lang"] == lang and row["translation"] in kinds for row in chosen)) for lang in GOOGLE
            )
            for kinds in (("right", "wrong", "either", "unclear"), ("right",), ("wrong",), ("either",))
        ]
        assert f"| {by_words} | {', '.join(by_persons)} | {' | '.join(cells)} |\n" in page


def test_accuracy_without_what_is_called_wrong_for_another_word() -> None:
    page = (ROOT / "docs" / "metrics" / "mt-geneval.md").read_text(encoding="utf-8")
    # sentences that are right by words, feminine and masculine of 300 each: 86.0 and 86.0, 76.7 and 87.3 per cent
    for lang, right in (("de", (258, 258)), ("es", (230, 262))):
        rows = [r for r in readings() if r["lang"] == lang and (r["by_words"], r["translation"]) == ("wrong", "right")]
        added = [sum(row["sentence"].startswith(form) for row in rows) for form in ("feminine", "masculine")]
        feminine, masculine = (100 * (n + more) / 300 for n, more in zip(right, added, strict=True))
        assert f"{(feminine + masculine) / 2:.1f} instead of {100 * sum(right) / 600:.1f}" in page
        gap = 100 * (right[1] - right[0]) / 300
        assert re.search(rf"{masculine - feminine:.1f}( points)? instead of {gap:.1f}", page)
        assert len(rows) == {"de": 49, "es": 45}[lang]


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
    wrong = {
        s.words.id: (s.by_words.removesuffix(" without evidence"), s.by_persons)
        for s in found.sentences
        if "wrong" in (s.by_words, s.by_persons)
    }
    assert wrong == {r["sentence"]: (r["by_words"], r["by_persons"]) for r in readings() if r["lang"] == lang}
