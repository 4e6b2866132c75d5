"""The different words of texts: BUG's counts of WinoMT and GAP, and what is one word."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.coref.gap_data import read_instances
from mtbias.corpora import load_entities
from mtbias.english.vocabulary import different_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Marks before and behind a word are no part of it; capitals do not tell words apart.
        ('"The nurse," said the Nurse.', "nurse said the"),
        # Contractions and possessives are parted; what is left of them is no word of letters.
        ("She can't; he's Ann's", "ann ca he she"),
        ("cannot", "can not"),
        # Words with a hyphen or a slash are two, those with an apostrophe or a number in them none.
        ("well-known and/or 78-rpm O'Brien 2nd", "and known or rpm well"),
        # A full stop parts where a sentence begins behind it; abbreviations keep theirs.
        ("end.Then Dr. Day of ESPN.com http://a.org/b-c", "day end of then"),
        ("1990 -- ...", ""),
    ],
)
def test_words_by_hand(text: str, expected: str) -> None:
    assert sorted(different_words([text])) == expected.split()


def test_winomt_has_the_words_of_bugs_paper(shared: Path) -> None:
    """Levy et al. (2021), section 3: 1,868."""
    corpus = load_entities("winomt", shared / "data" / "winomt")
    assert len(different_words(row.source for row in corpus.instances)) == 1868


def test_gap_has_the_words_of_bugs_paper(shared: Path) -> None:
    """Levy et al. (2021), section 3: 31,834, in the three parts together."""
    folder = shared / "data" / "coref" / "gap"
    files = [read_instances(path) for path in sorted(folder.glob("gap-*.tsv"))]
    assert sum(len(file.instances) for file in files) == 4454
    texts = (instance.text for file in files for instance in file.instances)
    assert len(different_words(texts)) == 31834
