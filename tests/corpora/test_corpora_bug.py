"""BUG: both versions of the file, damage and repair, and the paper's gold file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from mtbias.corpora import Corpus, count_pronouns, load_corpus
from mtbias.corpora.bug import read_rows, stands_at
from mtbias.errors import DataError
from mtbias.translate.given_translations import read_translations
from mtbias.types import Gender, Instance, Stereotype

SENTENCE = "The doctor said she is late ."


def row(**changes: Any) -> dict[str, Any]:
    return {
        "sentence_text": SENTENCE,
        "tokens": str(SENTENCE.split()),
        "profession": "doctor",
        "g": "she",
        "profession_first_index": 1,
        "g_first_index": 3,
        "predicted gender": "female",
        "stereotype": -1,
        "distance": 2,
        "num_of_pronouns": 1,
        "corpus": "wikipedia",
        "data_index": 4,
        **changes,
    }


def write(path: Path, *rows: dict[str, Any], bom: bool = False, index: bool = True) -> Path:
    pd.DataFrame(rows).to_csv(path, index=index, encoding="utf-8-sig" if bom else "utf-8")
    return path


def load(path: Path) -> Corpus[Instance]:
    return load_corpus("bug-gold", path)


def test_the_release_with_byte_order_mark_and_index_column(tmp_path: Path) -> None:
    path = write(tmp_path / "gold_BUG.csv", row(), row(stereotype=0), row(stereotype=1), bom=True)
    corpus = load_corpus("bug-gold", tmp_path)
    assert corpus.path == path
    first = corpus.instances[0]
    assert (first.id, first.row, first.source) == ("bug-gold-000001", 0, SENTENCE)
    assert (first.head, first.entity, first.gold) == ((4, 10), "doctor", Gender.FEMALE)
    assert (first.domain, first.pronouns, first.corpus_pronouns, first.distance) == (
        "wikipedia",
        1,
        1,
        2,
    )
    # 1 is pro and -1 anti: the README's column table says the reverse.
    assert [i.stereotype for i in corpus.instances] == [
        Stereotype.ANTI,
        Stereotype.NONE,
        Stereotype.PRO,
    ]
    assert corpus.notes == {"byte-order mark dropped": 1}


def test_shuffled_rows_keep_their_ids(tmp_path: Path) -> None:
    sentences = [
        "The doctor said she is late .",
        "The doctor lost her hat .",
        "The doctor said she left .",
    ]
    frame = pd.DataFrame([row(sentence_text=text) for text in sentences])
    frame.to_csv(tmp_path / "a.csv")
    frame.iloc[[2, 0, 1]].to_csv(tmp_path / "b.csv")
    before, after = load(tmp_path / "a.csv"), load(tmp_path / "b.csv")
    assert {i.id: i.source for i in after.instances} == {i.id: i.source for i in before.instances}
    assert [i.row for i in after.instances] == [0, 1, 2]
    assert after.notes == {
        "row whose number in the file's index is not its place: ids have the number": 3
    }
    # Translations by id find their sentences again, whatever the order.
    (tmp_path / "t.tsv").write_text(
        "id\ttarget\n"
        + "".join(f"{i.id}\tT {i.source}\n" for i in before.instances).replace("T The", "Der"),
        encoding="utf-8",
    )
    given = read_translations(tmp_path / "t.tsv", after.instances)
    assert [t.text for t in given.translations] == [
        i.source.replace("The", "Der") for i in after.instances
    ]


def test_each_dataset_has_its_file(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name in ("full", "balanced", "gold"):
        write(tmp_path / "data" / f"{name}_BUG.csv", row(corpus=name), index=False)
    domains = [
        load_corpus(d, tmp_path).instances[0].domain for d in ("bug", "bug-balanced", "bug-gold")
    ]
    assert domains == ["full", "balanced", "gold"]
    with pytest.raises(DataError, match=r"expected full_BUG.csv in this folder"):
        load_corpus("bug", tmp_path.parent)


def test_a_wrong_index_is_corrected_or_the_row_skipped(tmp_path: Path) -> None:
    long = "A friend met a friend and her friend ."  # friend at 1, 4 and 7
    path = write(
        tmp_path / "a.csv",
        row(profession_first_index=2),
        row(sentence_text=long, profession="friend", profession_first_index=5),
        row(profession="nurse"),
        row(sentence_text=None),
        row(sentence_text="Doctor Who said she left .", profession_first_index=0),
        row(profession_first_index=400.0),
    )
    corpus = load(path)
    assert [(i.row, i.head) for i in corpus.instances] == [
        (0, (4, 10)),
        (1, (15, 21)),
        (4, (0, 6)),
        (5, (4, 10)),
    ]
    assert corpus.skipped == 2
    assert corpus.notes == {
        "entity index corrected": 2,
        "entity index corrected to the nearest of several": 1,
        "profession not in the sentence: row skipped": 1,
        "no sentence: row skipped": 1,
        "profession with other capitals in the sentence": 1,
        # rows 0, 1, 2 and 5: mt_gender compares in lower case, so Doctor stays
        "row that mt_gender drops (another token at the index)": 4,
    }
    assert corpus.rows == 6


def test_an_index_that_counts_the_empty_token_between_two_spaces(tmp_path: Path) -> None:
    # split(" ") gives "", "The", "", "old", "doctor": the doctor is token 4 as BUG counts, token 2
    # for str.split.
    corpus = load(
        write(
            tmp_path / "a.csv",
            row(sentence_text=" The  old doctor said she left .", profession_first_index=4),
        )
    )
    assert corpus.notes == {}
    assert corpus.instances[0].source == "The  old doctor said she left ."
    assert corpus.instances[0].head == (9, 15)


def test_line_breaks_in_a_sentence_become_spaces_and_do_not_move_the_head(tmp_path: Path) -> None:
    text = "She met\nthe doctor .\n"  # single spaces divide it into She, met\nthe, doctor, .\n
    corpus = load(write(tmp_path / "a.csv", row(sentence_text=text, profession_first_index=2)))
    assert corpus.instances[0].source == "She met the doctor ."
    assert corpus.instances[0].head == (12, 18)
    assert corpus.notes == {"line break in the sentence": 1}


def test_damage_is_repaired_before_the_head_is_measured(tmp_path: Path) -> None:
    text = "\u2022 The doctor said \u201cno\u201d to her ."
    damaged = "".join(
        bytes([b]).decode("cp1252", errors="ignore") or chr(b) for b in text.encode("utf-8")
    )
    left = "16 \u00c2 km , said the doctor to her friend ."
    path = write(
        tmp_path / "a.csv",
        row(sentence_text=damaged, profession_first_index=2),
        row(sentence_text=left, profession_first_index=6),
    )
    corpus = load(path)
    assert corpus.instances[0].source == text
    assert corpus.instances[0].head == (6, 12)
    assert corpus.instances[1].source == left
    assert corpus.notes == {"UTF-8 damage repaired": 1, "UTF-8 damage left": 1}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"predicted gender": "unknown"}, "male, female or neutral"),
        ({"stereotype": 2}, "expected 1, 0 or -1, got '2'"),
        ({"profession_first_index": -1}, "profession_first_index: expected an integer"),
        ({"profession": ""}, "profession is empty"),
        ({"num_of_pronouns": "many"}, "num_of_pronouns: expected an integer"),
        (
            {"sentence_text": "x " * 50_001},
            "sentence_text: expected a sentence of at most 50,000 characters, got 100,002",
        ),
    ],
)
def test_bad_fields_are_errors_with_their_line(
    tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    path = write(tmp_path / "a.csv", row(), row(**changes))
    with pytest.raises(DataError, match=says) as caught:
        load(path)
    assert (caught.value.path, caught.value.line) == (str(path), 3)


def test_missing_columns_are_named_with_those_that_are_there(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("sentence_text,profession\nx,y\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"'profession_first_index', 'predicted gender'.*got 'sentence_text', 'prof"
    ):
        load(path)


def test_rows_are_as_the_file_has_them_and_checked_when_asked(tmp_path: Path) -> None:
    text = " \u00e2\u20ac\u00a2 The  doctor said she is late . "
    path = write(
        tmp_path / "a.csv",
        row(sentence_text=text),
        row(stereotype=7, num_of_pronouns=None),
        row(sentence_text=None),
    )
    file, (first, broken, empty) = read_rows(path, "bug", "g")
    assert file.path == path
    # Neither trimmed nor repaired: translation and coreference do so each in its own way.
    assert (first.sentence, first.profession, first.gold, first.domain) == (
        text,
        "doctor",
        Gender.FEMALE,
        "wikipedia",
    )
    assert (first.stereotype, first.record.optional_integer("num_of_pronouns")) == (
        Stereotype.ANTI,
        1,
    )
    assert broken.record.optional_integer("num_of_pronouns") is None
    with pytest.raises(DataError, match=r"a\.csv:3: stereotype: expected 1, 0 or -1, got '7'"):
        _ = broken.stereotype
    assert empty.sentence == ""
    with pytest.raises(DataError, match="expected the column 'seen'"):
        read_rows(path, "bug", "seen")


def test_a_word_at_an_index_in_any_case() -> None:
    words = ["The", "Doctor"]
    assert [stands_at(words, index, "doctor") for index in (0, 1, 2)] == [False, True, False]


# The paper's gold file


@pytest.fixture(scope="module")
def gold(shared: Path) -> Corpus[Instance]:
    return load_corpus("bug-gold-paper", shared / "data" / "bug" / "gold_BUG.csv")


def test_the_papers_gold_file(gold: Corpus[Instance]) -> None:
    # 1,720 rows (the paper); one without a sentence, one whose sentence is the scrap 'SD!"> <ent'.
    assert gold.rows == 1720
    assert gold.skipped == 2
    # Counts of the column "corpus", less two skipped rows of wikipedia.
    assert Counter(i.domain for i in gold.instances) == {
        "wikipedia": 1106,
        "pubmed": 405,
        "covid19": 117,
        "perseus": 90,
    }
    assert all(i.source[slice(*i.head)].lower() == i.entity for i in gold.instances)
    assert all(i.pronouns == count_pronouns(i.source) for i in gold.instances)
    # Found by reading all 85 rows whose token at the index is not the profession: 14 have it once
    # elsewhere, 2 ("friend" in row 54, "cook" in row 485) several times.
    assert gold.notes["entity index corrected"] == 14
    assert gold.notes["entity index corrected to the nearest of several"] == 2
    by_row = {i.row: i for i in gold.instances}
    assert by_row[54].source[: by_row[54].head.end].endswith("when his friend")
    assert by_row[485].source[: by_row[485].head.end].endswith("the colored cook")
    assert gold.notes["line break in the sentence"] == 1
    assert not by_row[0].source.endswith("\n")


def test_the_papers_gold_file_against_pandas(gold: Corpus[Instance], shared: Path) -> None:
    frame = pd.read_csv(shared / "data" / "bug" / "gold_BUG.csv", keep_default_na=False)
    assert Counter(frame["stereotype"]) == {1: 865, 0: 435, -1: 420}
    stereotypes = {1: "pro", 0: "none", -1: "anti"}
    for instance in gold.instances:
        line = frame.iloc[instance.row]
        assert instance.gold == line["predicted gender"].lower()
        assert instance.stereotype.value == stereotypes[line["stereotype"]]
        assert (instance.distance, instance.corpus_pronouns) == (
            line["distance"],
            line["num_of_pronouns"],
        )
    # mt_gender's rule: sent.split(" ")[index].lower() != entity.lower(), the row is dropped.
    dropped = 0
    for _, line in frame.iterrows():
        if not line["sentence_text"]:
            continue
        parts = line["sentence_text"].split(" ")
        there = (
            parts[line["profession_first_index"]]
            if line["profession_first_index"] < len(parts)
            else ""
        )
        dropped += there.lower() != line["profession"].lower()
    assert gold.notes["row that mt_gender drops (another token at the index)"] == dropped == 17
    # Rows that Python's own codec repairs, a lower bound (it refuses the five open bytes).
    plain = 0
    for text in frame["sentence_text"]:
        try:
            plain += text.encode("cp1252").decode("utf-8") != text
        except UnicodeError:
            continue
    assert plain == 136
    # The 27 other rows outside ASCII, read one by one: 16 stumble over an open byte only, 11 lost a
    # no-break space.
    assert gold.notes["UTF-8 damage repaired"] == 136 + 16
    assert gold.notes["UTF-8 damage left"] == 11


def test_the_corpus_leaves_out_him_and_we_do_not(gold: Corpus[Instance]) -> None:
    rows = [i for i in gold.instances if i.corpus_pronouns == 0]
    assert len(rows) == 9
    assert all(i.pronouns for i in rows)
    # Counting whole tokens with str.split, leaving out "him" reproduces more of the corpus's
    # numbers than keeping it.
    forms = {"he", "his", "himself", "she", "her", "hers", "herself"}
    without = sum(
        sum(w in forms for w in i.source.split()) == i.corpus_pronouns for i in gold.instances
    )
    kept = sum(
        sum(w in forms | {"him"} for w in i.source.split()) == i.corpus_pronouns
        for i in gold.instances
    )
    assert without > kept
