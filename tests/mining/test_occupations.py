"""The table of occupations, by hand and BUG's."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from mtbias.corpora.catalog import source_folder, tables
from mtbias.errors import DataError, MissingResourceError, UsageError
from mtbias.mining.mined_rows import BUG_TABLE, read_occupations
from mtbias.types import Gender

SMALL = """entities,M_workers,F_workers
"Nurse, midwife",10,90.5
,Na,Na
pilot,9,1
friend,50,50
"""


def small(folder: Path, text: str = SMALL) -> Path:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_words_and_stereotypes_by_hand(tmp_path: Path) -> None:
    table = read_occupations(small(tmp_path))
    assert table.majority.keys() == {"nurse", "midwife", "pilot", "friend"}
    assert table.majority["midwife"] is Gender.FEMALE
    assert [table.stereotype("Nurse", gender) for gender in (Gender.FEMALE, Gender.MALE)] == [1, -1]
    assert [table.stereotype("pilot", gender) for gender in (Gender.FEMALE, Gender.MALE)] == [-1, 1]
    assert [table.stereotype("friend", gender) for gender in (Gender.FEMALE, Gender.MALE)] == [0, 0]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            ("pilot,9", "pilot,Na"),
            r"table\.csv:4: M_workers: expected a number of 0 or more, got 'Na'",
        ),
        (
            ("friend,50,50", "Pilot,1,9"),
            r"table\.csv:5: entities: 'pilot' is in an earlier row whose majority",
        ),
        (
            ("Nurse, midwife", "flight attendant"),
            r"table\.csv:2: entities: expected single words, got 'flight attend",
        ),
        (("F_workers", "women"), r"table\.csv:1: expected the column 'F_workers'; got 'entities'"),
        (
            ('"Nurse, midwife",10,90.5\n,Na,Na\npilot,9,1\nfriend,50,50', ",1,2"),
            r"expected words for occupations",
        ),
    ],
)
def test_errors_say_where(tmp_path: Path, change: tuple[str, str], says: str) -> None:
    with pytest.raises(DataError, match=says):
        read_occupations(small(tmp_path, SMALL.replace(*change)))


def test_bugs_table(shared: Path) -> None:
    # BUG_MINING.md, section 5: 197 words; the bare majority makes 124 masculine, 64 feminine, 9
    # neutral.
    table = read_occupations(shared / "data" / "bug" / "inc_occ_gender.csv")
    assert Counter(table.stereotype(word, Gender.MALE) for word in table.majority) == {
        1: 124,
        -1: 64,
        0: 9,
    }
    assert table.stereotype("child", Gender.MALE) == table.stereotype("person", Gender.FEMALE) == 1


def test_the_table_is_read_from_the_cache_and_checked(shared: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingResourceError, match="run: mtbias fetch --dataset bug-occupations"):
        read_occupations(cache=tmp_path)
    folder = source_folder(tables()[BUG_TABLE], tmp_path)
    folder.mkdir(parents=True)
    shutil.copy(shared / "data" / "bug" / "inc_occ_gender.csv", folder)
    assert len(read_occupations(cache=tmp_path).majority.keys()) == 197
    with (folder / "inc_occ_gender.csv").open("a") as file:
        file.write("\n")
    with pytest.raises(DataError, match=r"the file in the cache is damaged: .*; run: mtbias fetch"):
        read_occupations(cache=tmp_path)


def test_a_table_is_no_data_set() -> None:
    from mtbias.corpora.catalog import datasets, fetched_source

    assert BUG_TABLE not in datasets()
    assert fetched_source(BUG_TABLE) is tables()[BUG_TABLE]
    with pytest.raises(UsageError, match="no data set 'bug-jobs' to fetch"):
        fetched_source("bug-jobs")
