"""The writer of tables: alignment, escapes and forms; and how numbers are written."""

from __future__ import annotations

import csv
import io

import pytest

from mtbias.report.tables import (
    PrintedTable,
    aligned,
    as_csv,
    columns,
    cut,
    draw,
    interval,
    note_on_bits,
    number,
    printable,
)
from mtbias.stats.results import estimate_text, number_text

TABLE = PrintedTable(
    head=["", "n", "ΔG"],
    rows=[["a_b", "1,200", "-3.4 [-10.4, 3.9] *"], ["c", "7", "–"]],
    title="Per cent",
    notes=["*: significant"],
    parts=["x", "y"],
)


def test_numbers_have_their_decimals_and_no_sign_of_zero() -> None:
    assert (number(-0.004), number(2.345, 1), number(None)) == ("0.00", "2.3", "–")
    assert (number_text(-0.04), interval((-0.04, 1.96), 1), interval(None)) == (
        "0.0",
        "[0.0, 2.0]",
        "–",
    )
    assert estimate_text(24.83, (22.38, 27.31)) == "24.8 [22.4, 27.3]"
    assert estimate_text(0.8531, (0.8412, 0.8649), 3) == "0.853 [0.841, 0.865]"
    # No interval, and none of what is undefined.
    assert (estimate_text(24.83, None), estimate_text(None, (1.0, 2.0))) == ("24.8", "–")


def test_a_terminal_is_not_commanded() -> None:
    assert printable("a\x1b[31m\nb\x9f") == "a?[31m?b?"
    assert printable("a\x1b\nb\u202e\u2066c\u2028", "\n") == "a?\nb??c?"
    # 11 characters from the beginning, the ellipsis, 12 from the end, where names of one model with
    # two prompts differ.
    assert cut("a very long name of some domain") == "a very long… some domain"
    assert cut("openai:owner/Model-9B (plain)") == "openai:owne…l-9B (plain)"
    assert columns(["x"], [["\x1b"]]) == "x\n?\n"


def test_columns_are_of_equal_width() -> None:
    assert (
        columns(["", "n"], [["one", "1"], ["three", "1,000"]])
        == "           n\none        1\nthree  1,000\n"
    )
    assert aligned([["a", "b"], ["cc", "dd"]], "><", gap="|") == [" a|b", "cc|dd"]
    assert aligned([["a", "b"], ["cc", "dd"]], "><", strip=False) == [" a  b ", "cc  dd"]
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        columns(["a", "b"], [["c"]])


def test_text() -> None:
    assert draw([TABLE], "text", [("", "made:so")]) == (
        "Per cent\n"
        "         n                   ΔG\n"
        "a_b  1,200  -3.4 [-10.4, 3.9] *\n"
        "c        7                    –\n"
        "*: significant\n"
        "\n"
        "Signature: made:so\n"
    )
    # A table without a title; signatures of several runs, each once.
    text = draw([PrintedTable(["a"], [["b"]])], "text", [("x", "1"), ("y", "2"), ("x", "1")])
    assert text == "a\nb\n\nSignatures\n  x: 1\n  y: 2\n"


def test_markdown_escapes_texts_and_leaves_numbers() -> None:
    assert draw([TABLE], "markdown", [("a|b", "c`d|e")]) == (
        "Per cent\n"
        "\n"
        "|  | n | ΔG |\n"
        "| --- | ---: | ---: |\n"
        "| a\\_b | 1,200 | -3.4 [-10.4, 3.9] * |\n"
        "| c | 7 | – |\n"
        "\n"
        "\\*: significant\n"
        "\n"
        "- a\\|b: `c?d|e`\n"
    )
    # A link is no number, wherever it stands.
    assert r"\[1\](2)" in draw([PrintedTable(["", "n"], [["a", "[1](2)"]])], "markdown")


def test_latex_has_rules_true_minus_signs_and_a_caption() -> None:
    assert draw([TABLE], "latex", [("a_b", "c%d")]).splitlines() == [
        r"% \usepackage{booktabs} \usepackage[T1]{fontenc}",
        "% a_b: c%d",
        r"\begin{table}",
        r"\centering",
        r"\small",
        r"\setlength{\tabcolsep}{3pt}",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r" & n & $\Delta G$ \\",
        r"\midrule",
        r"a\_b & 1,200 & $-$3.4 {\scriptsize [$-$10.4, 3.9]} $^*$ \\",
        r"\midrule",
        r"c & 7 & -- \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\caption{Per cent. *: significant.}",
        r"\end{table}",
    ]


def test_a_long_table_breaks_across_pages_of_latex() -> None:
    text = draw([PrintedTable(["a"], [["b"]] * 41)], "latex")
    assert r"\usepackage{longtable}" in text
    assert r"\begin{longtable}{l}" in text
    assert "longtable" not in draw([PrintedTable(["a"], [["b"]] * 40)], "latex")


def test_csv_has_the_fields_of_all_records() -> None:
    assert as_csv([{"a": 1, "b": None}, {"a": 'x"y', "c": 2.5}]) == 'a,b,c\n1,,\n"x""y",,2.5\n'
    assert as_csv([]) == ""


def test_text_that_a_spreadsheet_takes_for_a_formula_has_an_apostrophe_and_numbers_stay() -> None:
    for evil in ("=1+1", "+cmd", "-cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "\r=1", "-", "-1-1"):
        assert list(csv.reader(io.StringIO(as_csv([{"a": evil}]), newline=""))) == [
            ["a"],
            [f"'{evil}"],
        ]
    for plain in ("-1.5", "+2", "-1e-05", "a=1", "–", "", "'=1"):
        assert list(csv.reader(io.StringIO(as_csv([{"a": plain, "b": 1}])))) == [
            ["a", "b"],
            [plain, "1"],
        ]
    # A carriage return within a cell begins no cell of its own.
    assert as_csv([{"a": "x\r=1"}]) == 'a\n"x\r=1"\n'
    # Numbers are written as they are; names of columns can come from files, too.
    assert as_csv([{"=a": -1.5, "b": -2}]) == "'=a,b\n-1.5,-2\n"


@pytest.mark.parametrize(
    "signature", [None, "", "dataset:demo|system:google|fp:0", "model:m|dtype:float32|fp:0"]
)
def test_fp32_and_given_translations_have_no_note(signature: str | None) -> None:
    assert note_on_bits(signature) == ""


@pytest.mark.parametrize("dtype", ["int8", "bfloat16", "int8_float16"])
def test_fewer_bits_are_said_beside_the_signature(dtype: str) -> None:
    said = f"Note: in {dtype} some translations differ from those in float32, and so can the gender of an entity."
    assert note_on_bits(f"model:m|engine:ct2/4.8.5|dtype:{dtype}|decoding:beam5|fp:0") == said
