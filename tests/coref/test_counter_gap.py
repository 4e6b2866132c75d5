"""Counter-GAP's numbers by hand, and its files read strictly."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from mtbias.coref.counter_gap import CounterGap, pattern_of, quadruples
from mtbias.coref.dataset import DatasetScores
from mtbias.coref.documents import Answers
from mtbias.coref.gap_data import (
    COLUMNS,
    GapFile,
    GapInstance,
    Labels,
    read_instances,
    read_labels,
    without_title_stops,
    write_instances,
)
from mtbias.errors import DataError
from mtbias.types import Gender
from tests.coref.small_corpora import gap_instance


def instance(id_: str, pronoun: str, a_coref: bool = True, b_coref: bool = False) -> GapInstance:
    return gap_instance(
        id_, f"Kim met Lee. Then {pronoun} left.", pronoun, 18, "Kim", 0, a_coref, "Lee", 8, b_coref
    )


def quadruple(id_: str, feminine: bool = False, **labels: bool) -> list[GapInstance]:
    own, other = ("she", "he") if feminine else ("he", "she")
    ids = [id_, f"{id_}-control", f"{id_}-swap-1", f"{id_}-swap-2"]
    return [instance(i, p, **labels) for i, p in zip(ids, (own, own, other, other), strict=True)]


def gap_file(instances: list[GapInstance]) -> GapFile:
    return GapFile(Path("x.tsv"), "", True, (), tuple(instances))


def predicted(instances: list[GapInstance], bits: str) -> dict[str, Labels]:
    """Right labels for 1, wrong ones for 0."""
    return {
        i.id: i.gold if bit == "1" else Labels(not i.gold.a, i.gold.b)
        for i, bit in zip(instances, bits, strict=True)
    }


def scored(
    instances: list[GapInstance], bits: str, *, seed: int = 0, resamples: int = 0
) -> DatasetScores:
    """The scores of a system that is right where the bit is 1."""
    file = gap_file(instances)
    answers = Answers(predicted(instances, bits), {})
    return CounterGap(file, quadruples(file)).score(answers, seed=seed, resamples=resamples)


def test_numbers_by_hand() -> None:
    # Three quadruples, (f_o, f_c, f~_o, f~_c): masculine 1,1,0,1 and 1,0,1,1; feminine 1,1,0,0. n =
    # 3, n_M 2, n_F 1.
    rows = quadruple("1") + quadruple("2") + quadruple("3", feminine=True)
    scores = scored(rows, "1101" + "1011" + "1100")
    value = {one.key: one.estimate.value for one in scores.numbers}
    # Masculine instances: originals 1,1,1,0 and the feminine quadruple's swaps 0,0: 3 of 2n = 6.
    assert value["acc_m"] == pytest.approx(50.0)
    # Feminine ones: swaps 0,1,1,1 and originals 1,1: 5 of 6.
    assert value["acc_f"] == pytest.approx(500 / 6)
    assert value["acc_diff"] == pytest.approx(50 - 500 / 6)
    assert value["accuracy"] == pytest.approx(800 / 12)
    # |f_o - f_c|: 0, 1 masculine; |f~_o - f~_c| of the feminine one: 0. Together 1 of n = 3.
    assert value["within_m"] == pytest.approx(100 / 3)
    # |f~_o - f~_c|: 1, 0; |f_o - f_c| of the feminine one: 0.
    assert value["within_f"] == pytest.approx(100 / 3)
    assert value["within"] == pytest.approx(100 / 3)
    # a(X) over (o,s1) (o,s2) (c,s1) (c,s2): 1+0+1+0 = 2; 0+0+1+1 = 2; 1+1+1+1 = 4.
    assert value["m2f"] == pytest.approx(100 * 4 / 8)
    assert value["f2m"] == pytest.approx(100 * 4 / 4)
    assert value["across"] == pytest.approx(100 * 8 / 12)
    assert value["across_diff"] == pytest.approx(-50.0)
    assert value["delta"] == pytest.approx(100 * 8 / 12 - 100 / 3)
    assert value["original"] == pytest.approx(500 / 6)
    assert value["counter"] == pytest.approx(300 / 6)
    # Ranks of gender +1, +1, -1: 2.5, 2.5, 1; of a 2, 2, 4: 1.5, 1.5, 3: a perfect inverse.
    assert value["rho"] == pytest.approx(-1.0)
    # Of the C(3, 1) ways to give one of three quadruples the other gender, this one alone has |ρ| =
    # 1.
    assert scores["rho"].p == pytest.approx(1 / 3)
    assert [scores[k].n for k in ("accuracy", "acc_m", "m2f", "f2m", "within")] == [12, 6, 8, 4, 6]
    assert scores["acc_diff"].interval is None
    assert scores["acc_diff"].p is None


def test_an_instance_without_antecedent_is_right_where_neither_is_predicted() -> None:
    neither, first = quadruple("1", a_coref=False, b_coref=False), quadruple("2")
    # The first right, the second wrong, by either label; in base 2: 1001 = 9, 1010 = 10.
    said = [(False, False), (True, False), (False, True), (False, False)]
    said += [(True, False), (True, True), (True, False), (False, False)]
    labels = {i.id: Labels(*pair) for i, pair in zip(neither + first, said, strict=True)}
    assert [pattern_of(one, labels) for one in quadruples(gap_file(neither + first))] == [9, 10]


def test_rho_and_its_p_are_those_of_scipy() -> None:
    # Independent: scipy.stats.spearmanr over the rows.
    rng = np.random.default_rng(5)
    table = rng.integers(0, 9, size=(2, 16))
    rows: list[GapInstance] = []
    bits = ""
    for number in np.repeat(np.arange(32), table.ravel()).tolist():
        rows += quadruple(str(len(rows)), feminine=number >= 16)
        bits += f"{number % 16:04b}"
    scores = scored(rows, bits)
    gender, across = [], []
    for cell, n in enumerate(table.ravel()):
        o, c, s1, s2 = (cell % 16 >> k & 1 for k in (3, 2, 1, 0))
        gender += [1 if cell < 16 else -1] * int(n)
        across += [abs(o - s1) + abs(c - s2) + abs(o - s2) + abs(c - s1)] * int(n)
    theirs = stats.spearmanr(gender, across)
    assert scores["rho"].value == pytest.approx(theirs.statistic)
    assert scores["rho"].p == pytest.approx(theirs.pvalue)


def test_undefined_numbers_are_none() -> None:
    rows = quadruple("1")
    numbers = scored(rows, "1111", resamples=200)
    assert numbers["f2m"].value is None
    assert numbers["f2m"].interval is None
    assert numbers["rho"].value is None
    assert numbers["rho"].p is None
    assert numbers["accuracy"].value == 100.0


def test_bootstrap_is_over_quadruples() -> None:
    # Twelve masculine quadruples, of which one in two is all right and the others all wrong:
    # accuracy is 50 with a standard error of 100·√(.25/12) = 14.4. Its 48 instances alone would
    # give half of that.
    rows = [i for n in range(12) for i in quadruple(str(n))]
    numbers = scored(rows, 6 * "11110000", seed=1, resamples=4000)
    assert numbers["accuracy"].interval == pytest.approx(
        (50 - 1.96 * 14.4, 50 + 1.96 * 14.4), abs=4
    )
    # ΔI is 0 in all resamples: p (share of 0 or less) is 1, and a single point is no interval.
    assert (numbers["delta"].value, numbers["delta"].interval, numbers["delta"].p) == (
        0.0,
        None,
        1.0,
    )


def test_shares_of_few_quadruples_have_wilsons_interval() -> None:
    # Two quadruples, all right: the bootstrap knows 100 alone. Wilson's lower end for n of n is
    # n / (n + z²), of as many things as there are quadruples, since their instances depend on each
    # other.
    rows = quadruple("1") + quadruple("2")
    numbers = scored(rows, "11111111", seed=1, resamples=400)
    assert numbers["accuracy"].interval == pytest.approx((200 / (2 + 1.959964**2), 100))
    assert numbers["acc_diff"].interval is None


def test_a_difference_of_nothing_is_exactly_0_in_every_resample() -> None:
    # (1,1,1,0) has 1 of 2 pairs within a gender inconsistent and 2 of 4 across; so has (1,0,1,1);
    # (1,1,1,1) has none. ΔI is 0 in any mixture of them, so p, the share of resamples at 0 or less,
    # is 1. As a difference of two rounded shares it was 5.6e-17 in some (0.4 − (0.1 + 0.7) / 2),
    # and p was below 1.
    rows = [i for n in range(10) for i in quadruple(str(n))]
    delta = scored(rows, 7 * "1110" + "1011" + 2 * "1111", seed=1, resamples=400)["delta"]
    assert (delta.value, delta.interval, delta.p) == (0.0, None, 1.0)


def test_two_systems_compared_exactly_where_small() -> None:
    # One system right everywhere, the other nowhere, three quadruples: of the 2**3 ways to swap,
    # only two (none, all) give a difference of 100. p = 2/8.
    rows = quadruple("1") + quadruple("2") + quadruple("3", feminine=True)
    first, second = (scored(rows, bit * 12).units[""] for bit in "10")
    compared = first.minus(second, "rows", 100, 0)
    assert compared["accuracy"].difference == pytest.approx(100.0)
    assert compared["accuracy"].p == pytest.approx(0.25)
    assert compared["delta"].difference == pytest.approx(0.0)
    assert compared["delta"].p == pytest.approx(1.0)


def test_incomplete_or_inconsistent_quadruples() -> None:
    with pytest.raises(DataError, match="lacks '1-swap-2'"):
        quadruples(gap_file(quadruple("1")[:3]))
    rows = quadruple("1")
    with pytest.raises(DataError, match="'he', 'he', 'he', 'she'"):
        quadruples(gap_file([*rows[:2], instance("1-swap-1", "he"), rows[3]]))
    with pytest.raises(DataError, match=r"expected one of he, .*, got 'they'"):
        quadruples(gap_file([instance("1", "they"), *rows[1:]]))
    assert quadruples(gap_file(rows))[0].gender is Gender.MALE
    assert quadruples(gap_file([instance("1", "HIS"), *rows[1:]]))[0].gender is Gender.MALE
    # Reflexive pronouns, which GAP does not have, tell a gender too.
    assert quadruples(gap_file([instance("1", "Himself"), *rows[1:]]))[0].gender is Gender.MALE


def test_missing_and_unknown_predictions(tmp_path: Path) -> None:
    rows = quadruple("1")
    data = CounterGap(gap_file(rows), quadruples(gap_file(rows)))
    lines = [f"{i.id}\tTRUE\tFALSE" for i in rows]
    with pytest.raises(
        DataError, match="no prediction for 1 of 4 documents, the first '1-control'"
    ):
        data.read([written(tmp_path, "\n".join([lines[0], *lines[2:]]))])
    with pytest.raises(
        DataError, match=r"data\.tsv: predictions for 1 ids that the data does not have: '9'"
    ):
        data.read([written(tmp_path, "\n".join([*lines, "9\tTRUE\tTRUE"]))])


HEADER = "\t".join(COLUMNS)
ROW = "1\tKim met Lee. Then he left.\the\t18\tKim\t0\tTRUE\tLee\t8\tfalse"


def written(folder: Path, text: str, name: str = "data.tsv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_quoted_and_unquoted_files(tmp_path: Path) -> None:
    # The same text, quoted as CSV does it, and bare as GAP does it; a bare quotation mark at the
    # start of a field, too.
    text = '"Kim" met Lee. Then he left.'
    values = [text, "he", "20", "Kim", "1", "True", "Lee", "10", "FALSE"]
    bare = read_instances(written(tmp_path, HEADER + "\n" + "\t".join(["1", *values]) + "\n"))
    quoted = read_instances(
        written(
            tmp_path,
            HEADER
            + "\r\n"
            + "\t".join(["1", '"""Kim"" met Lee. Then he left."', *values[1:]])
            + "\r\n",
        )
    )
    assert not bare.quoted
    assert quoted.quoted
    assert bare.instances == quoted.instances
    assert bare.instances[0].gold == (True, False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"{HEADER}\n{ROW}\n".replace("A-coref\t", "").replace("TRUE\t", ""),
            "expected the column 'A-coref'",
        ),
        (HEADER + "\n", "no rows"),
        (f"{HEADER}\n{ROW}\n{ROW}\n", r"data\.tsv:3: the id '1' occurs twice"),
        (f"{HEADER}\n{ROW}\t9\n", r"data\.tsv:2: expected 10 fields, as in the header, got 11"),
        (f"{HEADER}\n{ROW.replace('TRUE', 'yes')}\n", "A-coref: expected TRUE or FALSE, got 'yes'"),
        (
            f"{HEADER}\n{ROW.replace('18', '180')}\n",
            "Pronoun-offset 180 with 'he' ends past the text, which has 26",
        ),
        (
            f"{HEADER}\n{ROW.replace('18', '17')}\n",
            "Pronoun-offset 17: expected 'he', got ' h' in the text",
        ),
        (
            f"{HEADER}\n{ROW.replace('18', '-1')}\n",
            "Pronoun-offset: expected an integer from 0, got '-1'",
        ),
        (
            f"{HEADER}\n{ROW.replace('Kim met', chr(34) + 'Kim met')}\n",
            "A-offset 0|quotation mark without its partner",
        ),
        (HEADER + "\tA\n", "column 'A' occurs twice"),
    ],
)
def test_data_that_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_instances(written(tmp_path, text))


def test_labels_with_and_without_header_in_any_case(tmp_path: Path) -> None:
    with_header = read_labels(
        written(tmp_path, "ID\tA-coref\tB-coref\r\n1\ttrue\tFALSE\r\n2\tFalse\tTRUE")
    ).of
    without = read_labels(written(tmp_path, "1\tTRUE\tfalse\n\n2\tfalse\tTrue\n")).of
    assert with_header == without == {"1": Labels(a=True, b=False), "2": Labels(a=False, b=True)}


@pytest.mark.parametrize(
    "order", ["id b-coref a-coref", "B-coref ID A-coref", "A-COREF B-COREF ID"]
)
def test_a_header_says_which_column_is_which(tmp_path: Path, order: str) -> None:
    cells = {"id": "1", "a-coref": "TRUE", "b-coref": "FALSE"}
    lines = [order.split(), [cells[name.lower()] for name in order.split()]]
    text = "".join("\t".join(line) + "\n" for line in lines)
    for official in (False, True):
        assert read_labels(written(tmp_path, text), official=official).of == {
            "1": Labels(a=True, b=False)
        }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\tTRUE\n", "expected three fields .* got 2"),
        ("1\tTRUE\tmaybe\n", "B-coref: expected TRUE or FALSE, got 'maybe'"),
        ("1\tTRUE\tFALSE\n1\tTRUE\tTRUE\n", r"data\.tsv:2: the id '1' occurs twice"),
        ("ID\tA-coref\tB-coref\n", "no predictions"),
        (
            "ID\tA\tB\n1\tTRUE\tFALSE\n",
            r"data\.tsv:1: expected the columns ID, A-coref, B-coref, .* got .* 'ID', 'A', 'B'",
        ),
        ("Key\tB-coref\tA-coref\n1\tTRUE\tFALSE\n", "got the header 'Key', 'B-coref', 'A-coref'"),
        ("ID\tA-coref\tA-coref\n1\tTRUE\tFALSE\n", "got the header 'ID', 'A-coref', 'A-coref'"),
        ("ID\tA-coref\n1\tTRUE\n", "got the header 'ID', 'A-coref'"),
        (f"{HEADER}\n{ROW}\n", "expected the columns ID, A-coref, B-coref"),
    ],
)
def test_labels_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    for official in (False, True) if "header" in message or "columns" in message else (False,):
        with pytest.raises(DataError, match=message):
            read_labels(written(tmp_path, text), official=official)


def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    text = 'Kim said "no" to\tLee. "He" left.'
    row = gap_instance("1", text, "He", 23, "Kim", 0, True, "Lee", 17, False, {"Book": "a book"})
    file = read_instances(written(tmp_path, write_instances([row], ["Book"])))
    assert file.instances == (row,)
    assert file.columns == ("Book",)


def test_command(tmp_path: Path, coref: Callable[..., str]) -> None:
    rows = quadruple("1") + quadruple("2", feminine=True)
    data = written(tmp_path, write_instances(rows))
    lines = [f"{i.id}\t{str(i.gold.a).upper()}\t{str(i.gold.b).lower()}" for i in rows]
    good, bad = (
        written(tmp_path, "\n".join(part), name)
        for part, name in ((lines, "p.tsv"), (lines[1:], "q.tsv"))
    )
    arguments = ["score", "counter-gap", "--data", data, "--resamples", 200]
    shown = coref(*arguments, "--predictions", good, "--counts")
    assert "quadruples    2          1         1" in shown
    assert shown.splitlines()[-1].startswith("Signature: coref:counter-gap|data:")
    other = written(tmp_path, "\n".join(lines), "same.tsv")
    result = json.loads(coref(*arguments, "--predictions", good, "--against", other, "--json"))
    numbers = {one["key"]: one["value"] for one in result["systems"][0]["numbers"]}
    assert numbers["accuracy"] == 100.0
    (accuracy,) = (one for one in result["differences"] if one["key"] == "accuracy")
    assert (accuracy["difference"], accuracy["interval"], accuracy["p"]) == (
        0.0,
        None,
        1.0,
    )  # two are too few
    assert "seed:0|resamples:20" in result["systems"][0]["signature"]
    with pytest.raises(
        DataError, match=r"q\.tsv: no prediction for 1 of 8 documents, the first '1'"
    ):
        coref(*arguments, "--predictions", bad)


def test_titles_without_a_full_stop(tmp_path: Path, coref: Callable[..., str]) -> None:
    """Counter-GAP's footnote 10: of Mr, Mrs and Dr; other titles keep it."""
    text = "Mrs. Day saw Ms. Poe and Dr. Lee. He waved to Mr. Fox."
    names = {"Mrs. Day": 0, "Dr. Lee": 25, "Mr. Fox": 46}
    rows = [
        gap_instance(
            f"1{suffix}", text, "He", 34, "Dr. Lee", 25, True, "Mr. Fox", names["Mr. Fox"], False
        )
        for suffix in ("", "-control")
    ]
    rows += [
        gap_instance(
            f"1{suffix}",
            text.replace("He", "She"),
            "She",
            34,
            "Mrs. Day",
            0,
            True,
            "Dr. Lee",
            25,
            False,
        )
        for suffix in ("-swap-1", "-swap-2")
    ]
    path = written(tmp_path, write_instances(rows))
    plain = without_title_stops(read_instances(path))
    assert [i.text for i in plain.instances[1:3]] == [
        "Mrs Day saw Ms. Poe and Dr Lee. He waved to Mr Fox.",
        "Mrs Day saw Ms. Poe and Dr Lee. She waved to Mr Fox.",
    ]
    assert {(i.pronoun, *i.names) for i in plain.instances} == {
        ("He", "Dr Lee", "Mr Fox"),
        ("She", "Mrs Day", "Dr Lee"),
    }
    out = tmp_path / "out.jsonl"
    words = ["counter-gap", "--data", path, "--titles-without-stop"]
    coref("export", *words, "--format", "jsonl", "--gold", "--out", out)
    exported = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert exported[0]["text"] == plain.instances[0].text
    clusters = [{key: row[key] for key in ("id", "tokens", "clusters")} for row in exported]
    found = written(tmp_path, "\n".join(map(json.dumps, clusters)), "found.jsonl")
    scored = json.loads(coref("score", *words, found, "--resamples", 0, "--json"))["systems"][0]
    assert {one["key"]: one["value"] for one in scored["numbers"]}["accuracy"] == 100
    assert "|titles:without-stop|" in scored["signature"]
