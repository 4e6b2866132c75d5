"""Translations labelled by what they do with a person's gender: files that are well formed and fit
their texts."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from mtbias.align import Pair
from mtbias.errors import DataError
from mtbias.files.reading import Record, read_table
from mtbias.types import Gender, GenderCall, Reason, Span, Strategy
from scripts.label_sets import neutral
from scripts.label_sets.neutral import Row
from scripts.labelled import SHIPPED, Judged

LANGUAGES = tuple(neutral.FILES)
# Rows of the dev half, 50 a language, of which scripts/labels.py reads right what the translation
# does. Portuguese is not among them: its tagger is not where the others' are
# (tests/natural/README.md).
LEAST = {"ar": 46, "cs": 46, "de": 50, "es": 48, "fr": 48, "he": 49, "it": 46, "ru": 48, "uk": 47}


def _records(code: str) -> tuple[Record, ...]:
    return read_table(neutral.FILES[code], *neutral.COLUMNS).records


def test_the_languages_that_ship_have_files() -> None:
    assert len(LANGUAGES) >= 10
    assert set(LANGUAGES) <= set(SHIPPED)


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_files_are_well_formed(code: str) -> None:
    records = _records(code)
    assert Counter(r.get("set") for r in records) == {"dev": 50, "unread": 50}
    for r in records:
        where = f"{code}.tsv, line {r.line}"
        does = r.get("does")
        assert does in ("", *Strategy), where
        wanted = (
            does
            if does in ("male", "female")
            else "neutral"
            if does.startswith("both:")
            else "none"
        )
        assert r.get("call") == wanted, where
        assert (r.get("head") == "") == (r.get("does") == "omitted"), where
        # Text of others is named, not copied.
        written = r.get("origin") == neutral.WRITTEN
        assert written == bool(r.get("source")) == bool(r.get("translation")), where
        assert written or re.fullmatch(r"(winomt|mtgeneval)/\S+:[1-9]\d*", r.get("origin")), where
    ways = sum(r.get("does").startswith(("both", "neutral")) for r in records)
    assert 50 <= ways <= 60


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_labels_fit_the_texts(code: str, shared: Path) -> None:
    rows = neutral.read_rows(neutral.FILES[code], shared / "data")
    assert len(rows) == 100
    assert len({(row.pair.source, row.pair.text, row.pair.head) for row in rows}) == 100


@pytest.mark.slow
@pytest.mark.parametrize("code", LEAST)
def test_the_evaluator_keeps_what_it_has_right(code: str, shared: Path, stanza_dir: Path) -> None:
    rows = neutral.evaluate(code, shared / "data", stanza_dir, "dev")
    wrong = [neutral.describe(row) for row in rows if not neutral.does_right(row)]
    assert len(rows) - len(wrong) >= LEAST[code], "\n".join(wrong)


def test_counts() -> None:
    pair = Pair("x", "The teachers met.", "Die Lehrer*innen kamen.", Span(4, 12), "teachers")
    rows = [
        Row(pair, Span(4, 16), Gender.NEUTRAL, "dev", "", "both:star"),
        Row(pair, None, None, "dev", "", ""),
    ]
    pair_read = GenderCall("x", Gender.NEUTRAL, None, (Span(4, 10),), does=Strategy.PAIR)
    nobody = GenderCall("x", None, Reason.NO_PERSON, (Span(17, 22),))
    assert neutral.count([Judged(rows[0], pair_read), Judged(rows[1], nobody)]) == {
        "does": (1, 2), "kind": (2, 2), "call": (2, 2), "head": (1, 1),
    }  # fmt: skip


def test_without_the_texts_of_systems_the_written_rows_are_read(tmp_path: Path) -> None:
    written = sum(r.get("origin") == neutral.WRITTEN for r in _records("de"))
    assert len(neutral.read_rows(neutral.FILES["de"], tmp_path / "none")) == written > 70


HEADER = "\t".join(neutral.COLUMNS) + "\n"
SENTENCE = "The bus drivers met a driver.\t2\tDie Fahrer trafen die Fahrer*innen."
ROW = f"dev\t{SENTENCE}\tFahrer*innen\tneutral\tboth:star\twritten\n"


def test_a_row_is_read_with_its_entity_and_head(tmp_path: Path) -> None:
    path = tmp_path / "de.tsv"
    path.write_text(HEADER + ROW + ROW.replace("*innen\tn", "@1\tn"), encoding="utf-8")
    first, second = neutral.read_rows(path, tmp_path)
    assert first.pair.source[slice(*first.pair.head or ())] == first.pair.entity == "drivers"
    assert (first.head, second.head) == ((22, 34), (4, 10))
    assert (first.gender, first.does, first.part) == (Gender.NEUTRAL, "both:star", "dev")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\t2\t", "\t9\t", "entity: expected one of 6 words, got index 9"),
        ("*innen\tn", "in\tn", "expected the head 'Fahrerin' in the translation"),
        ("*innen\tn", "@3\tn", "expected the head 'Fahrer@3' in the translation"),
    ],
)
def test_a_label_that_does_not_fit_is_named_with_its_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "de.tsv"
    path.write_text(HEADER + ROW.replace(old, new), encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        neutral.read_rows(path, tmp_path)
    assert caught.value.line == 2


def test_a_head_that_is_no_word_is_found_as_a_part_of_one(tmp_path: Path) -> None:
    # Hebrew writes its conjunctions on to the noun: *שהמורה* "that the teacher", of which *המורה*
    # is characters 5 to 10. Where the word stands alone as well, that is the head.
    path = tmp_path / "he.tsv"
    row = "dev\tHe said the teacher left.\t3\t{}\tהמורה\tmale\tmale\twritten\n"
    both = row.format("הוא שהמורה והמורה המורה")
    path.write_text(HEADER + row.format("אמר שהמורה עזב") + both, encoding="utf-8")
    inside, alone = neutral.read_rows(path, tmp_path)
    assert (inside.head, alone.head) == ((5, 10), (18, 23))
