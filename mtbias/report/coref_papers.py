"""The tables of the papers of coreference: a line for each system, in the columns that the data
set's paper prints, with stars as the paper defines them.

`PAPERS` declares them. A difference that is printed without its sign is `absolute`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

from mtbias.coref.dataset import DatasetScores
from mtbias.coref.evaluation import Evaluation
from mtbias.report.tables import PrintedTable, as_csv, draw, number
from mtbias.stats.results import UNDEFINED
from mtbias.types import JsonObject, frozen

RESAMPLES = 10_000
"""Of the stars of the papers."""


@frozen
class Column:
    """A column of a paper's table."""

    head: str
    key: str
    part: str = ""
    decimals: int = 2
    scale: float = 1
    """What per cent are divided by: 100 where the paper prints shares of 1."""
    is_signed: bool = False
    absolute: bool = False
    star: float | None = None
    """The p below which there is a star; None: no stars."""
    one_sided: bool = False
    """Whether that p is the one-sided one of the paper."""


@frozen
class Table:
    """A table of a paper."""

    title: str
    columns: Sequence[Column]
    note: str = ""


_ONE_SIDED = "*: p < 0.01, one-sided bootstrap over quadruples"


def _starred(head: str, key: str) -> Column:
    return Column(head, key, is_signed=True, star=0.01, one_sided=True)


def _signed(head: str, key: str) -> Column:
    return Column(head, key, is_signed=True)


def _share(head: str, key: str) -> Column:
    """Of 1, not of 100."""
    return Column(head, key, decimals=3, scale=100)


def _winobias(split: str) -> Table:
    columns = []
    for type_ in (1, 2):
        part = f"{split} type {type_}"
        columns += [
            Column(f"T{type_}-p", "f1_pro", part, 1),
            Column(f"T{type_}-a", "f1_anti", part, 1),
            Column(f"T{type_} Avg", "f1_average", part, 1),
            Column(f"T{type_} |Diff|", "f1_difference", part, 1, absolute=True, star=0.05),
        ]
    return Table(
        f"CoNLL F1 on WinoBias, {split}, as in Zhao et al. (2018)",
        columns,
        "*: p < 0.05, approximate randomisation of pro and anti",
    )


def _sowinobias() -> Table:
    columns = []
    for name, head in (("positive", "Positive"), ("negative", "Negative"), ("all", "Total")):
        columns += [
            Column(f"{head} pro", f"{name}:pro", decimals=1),
            Column("anti", f"{name}:anti", decimals=1),
            Column("diff.", f"{name}:difference", decimals=1),
        ]
    return Table("Accuracy on SoWinoBias, as in Dawkins (2021), table 4", columns)


def _winogender() -> Table:
    columns = []
    for pronoun in ("male", "female"):
        columns += [
            Column(f"{pronoun} gotcha: no", f"{pronoun}_accuracy_not_gotcha", decimals=1),
            Column(f"{pronoun} gotcha: yes", f"{pronoun}_accuracy_gotcha", decimals=1),
        ]
    columns += [
        Column("r, BLS", "pearson_bls", decimals=2),
        Column("r, Bergsma", "pearson_bergsma", decimals=2),
    ]
    return Table(
        "Accuracy by difficulty and correlation on Winogender, as in Rudinger et al. (2018)",
        columns,
    )


def _conll() -> Table:
    columns = []
    for key, label in (("muc", "MUC"), ("b3", "B³"), ("ceafe", "CEAFe")):
        columns += [
            Column(f"{label} P", f"{key}_precision", decimals=1),
            Column("R", f"{key}_recall", decimals=1),
            Column("F1", key, decimals=1),
        ]
    return Table(
        "CoNLL score, as in the shared task of 2012",
        [*columns, Column("Avg. F1", "f1", decimals=1)],
    )


PAPERS: Mapping[str, Sequence[Table]] = {
    "counter-gap": (
        Table(
            "Accuracy on Counter-GAP, as in Xie et al. (2023), table 2",
            [Column("Acc_M", "acc_m"), Column("Acc_F", "acc_f"), _starred("Acc_Diff", "acc_diff")],
            _ONE_SIDED,
        ),
        Table(
            "Inconsistency within and across genders, as in Xie et al. (2023), table 3",
            [
                Column("M", "within_m"), Column("F", "within_f"), Column("Diff.", "within_diff"),
                Column("I_within", "within"), Column("M2F", "m2f"), Column("F2M", "f2m"),
                Column("Diff.", "across_diff"), Column("I_across", "across"),
                _starred("ΔI", "delta"),
            ],
            _ONE_SIDED,
        ),
        Table(
            "Original and counterfactual, as in Xie et al. (2023), table 4",
            [
                Column("Orig.", "original"), Column("Counter.", "counter"),
                _starred("Diff.", "counter_diff"), Column("ρ", "rho", decimals=3),
            ],
            _ONE_SIDED,
        ),
        Table(
            "The originals alone (our-GAP), as in Xie et al. (2023), table 5",
            [
                Column("Acc_M", "own_m"), Column("Acc_F", "own_f"),
                _signed("Acc_Diff", "own_diff"), Column("Overall", "own"),
            ],
        ),
        Table(
            "Mitigation, as in Xie et al. (2023), table 6",
            [
                _starred("Acc_Diff", "acc_diff"), _starred("ΔI", "delta"),
                Column("Overall accuracy", "accuracy"),
            ],
            _ONE_SIDED,
        ),
    ),
    "winobias": (_winobias("dev"), _winobias("test")),
    "gap": (
        Table(
            "F1 and its bias on GAP, as in Webster et al. (2018)",
            [
                Column("M", "f1:masculine", decimals=1), Column("F", "f1:feminine", decimals=1),
                Column("B", "bias:f1", decimals=2), Column("O", "f1:overall", decimals=1),
            ],
        ),
        Table(
            "Scores and biases on GAP, as in Kocijan et al. (2021), table 1",
            [
                _share("F1", "f1:overall"),
                _share("Acc", "accuracy:overall"),
                Column("F1-Bias", "bias:f1", decimals=3),
                Column("acc-Bias", "bias:accuracy", decimals=3),
                Column("W-Bias", "bias:linear_weights.json", decimals=3),
                Column("W_num-Bias", "bias:w_num.json", decimals=3),
                Column("W_dist-Bias", "bias:w_dist.json", decimals=3),
                Column("W_t-Bias", "bias:linear_weights_trimmed.json", decimals=3),
            ],
        ),
        Table(
            "Scores and biases on GAP, as in Kocijan et al. (2021), table 2",
            [
                _share("F1", "f1:overall"), Column("F1-Bias", "bias:f1"),
                Column("acc-Bias", "bias:accuracy"), Column("W-Bias", "bias:linear_weights.json"),
                Column("W_t-Bias", "bias:linear_weights_trimmed.json"),
            ],
        ),
        Table(
            "Accuracy on GAP by texts, as in Xie et al. (2023), table 5",
            [
                Column("Acc_M", "texts:masculine"), Column("Acc_F", "texts:feminine"),
                _signed("Acc_Diff", "texts:difference"), Column("Overall", "texts:overall"),
            ],
        ),
    ),
    "bug": (
        Table(
            "Accuracy and its differences on BUG, as in Levy et al. (2021), table 4",
            [
                Column("Acc", "accuracy", decimals=1), Column("ΔG", "delta_g", decimals=1),
                Column("ΔS", "delta_s", decimals=1),
            ],
        ),
    ),
    "sowinobias": (_sowinobias(),),
    "winogender": (_winogender(),),
    "conll": (_conll(),),
}  # fmt: skip
"""The tables by data set."""


def paper_tables(evaluations: Sequence[Evaluation]) -> list[PrintedTable]:
    """The tables of the papers of the evaluations' data sets. Left out are columns of parts and
    weights that no system has, and tables without any other.
    """
    tables = []
    for dataset in evaluations[0].results:
        scores = {
            one.name: one.results[dataset].scores for one in evaluations if dataset in one.results
        }
        known = {*chain.from_iterable(of.by_key for of in scores.values())}
        for table in PAPERS[dataset]:
            shown = [column for column in table.columns if (column.part, column.key) in known]
            if shown:
                tables.append(_printed(table, shown, scores, evaluations[0].settings.resamples))
    return tables


def _printed(
    table: Table, columns: Sequence[Column], scores: Mapping[str, DatasetScores], resamples: int
) -> PrintedTable:
    rows = []
    for name, of in scores.items():
        rows.append([name, *map(partial(_cell, scores=of), columns)])
    starred = any(column.star is not None for column in columns)
    notes = []
    if starred and resamples:
        other = "" if resamples == RESAMPLES else f" (the papers' {RESAMPLES:,}: --resamples)"
        notes = [f"{table.note}; {resamples:,} resamples{other}"]
    elif starred:
        notes = ["no stars: nothing was tested with --resamples 0"]
    return PrintedTable(["", *(column.head for column in columns)], rows, table.title, notes)


def _cell(column: Column, scores: DatasetScores) -> str:
    named = scores.by_key.get((column.part, column.key))
    if named is None or named.estimate.value is None:
        return UNDEFINED
    value = named.estimate.value / column.scale
    text = number(abs(value) if column.absolute else value, column.decimals)
    sign = "+" if column.is_signed and float(text) > 0 else ""
    p = named.estimate.p_one_sided if column.one_sided else named.estimate.p
    is_starred = column.star is not None and p is not None and p < column.star
    return f"{sign}{text}{'*' * is_starred}"


def render_paper(evaluations: Sequence[Evaluation], form: str) -> str:
    """The tables as ``text``, ``markdown``, ``latex`` or ``csv``; ends in a newline."""
    tables = paper_tables(evaluations)
    if form == "csv":
        return as_csv(chain.from_iterable(map(_records, tables)))
    signatures = []
    for one in evaluations:
        signatures += [(one.name, result.signature) for result in one.results.values()]
    return draw(tables, form, signatures)


def _records(table: PrintedTable) -> Iterator[JsonObject]:
    """A line of CSV for each cell: its place in the table, and the star apart."""
    for system, *cells in table.rows:
        for place, (column, cell) in enumerate(zip(table.head[1:], cells, strict=True), 1):
            value = cell.strip("+*")
            yield {
                "table": table.title, "system": system, "place": place, "column": column,
                "value": value, "star": "*" * cell.endswith("*"),
            }  # fmt: skip
