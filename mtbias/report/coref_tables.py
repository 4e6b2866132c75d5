"""The tables of coreference for a terminal: the finding, numbers, differences between systems,
counts.

No number is computed here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from mtbias.coref.coref_finding import CONTRASTS, system_finding, systems_finding
from mtbias.coref.dataset import NamedNumber
from mtbias.coref.evaluation import Evaluation, NumberDifference
from mtbias.report.run_table import wrapped
from mtbias.report.tables import (
    PrintedTable,
    as_csv,
    cut,
    draw,
    markdown_text,
    number,
    printable,
)
from mtbias.stats.results import ALPHA, UNDEFINED, estimate_text, p_text
from mtbias.types import JsonDict, JsonObject

TITLES = {
    "winobias": "WinoBias",
    "winogender": "Winogender",
    "gap": "GAP",
    "counter-gap": "Counter-GAP",
    "bug": "BUG",
    "sowinobias": "SoWinoBias",
    "conll": "CoNLL-2012",
}
"""How data sets are called in texts."""

SEVERAL = 3
"""From so many systems on, a line is a system's."""


def render_evaluation(
    evaluations: Sequence[Evaluation],
    differences: Sequence[NumberDifference],
    form: str,
    *,
    full: bool = False,
    counts: bool = False,
    compared: bool = False,
) -> str:
    """The finding and the tables in one of the forms ``text``, ``markdown``, ``latex``, ``csv``;
    ends in a newline.

    `evaluations` are the system's, then those it was compared with; `differences` are the first's
    from the others. CSV has every number, the others those of the headline, unless `full`; `counts`
    adds what was counted,
    `compared` the differences of `SEVERAL` systems and more.
    """
    if form == "csv":
        return as_csv(_records(evaluations, differences))
    first, *others = evaluations
    tables = (
        [_numbers(evaluations, full=full)]
        if full or len(evaluations) < SEVERAL
        else [system_table(evaluations, dataset) for dataset in first.results]
    )
    shown = [one for one in differences if full or one.number.headline]
    if full or compared or len(evaluations) < SEVERAL:
        tables += [_differences(first.name, other.name, shown) for other in others]
    if counts:
        tables += chain.from_iterable(map(_counts, evaluations))
    signatures = []
    for one in evaluations:
        for name, result in one.results.items():
            names = [one.name] * bool(others) + [name] * (len(one.results) > 1)
            signatures.append((", ".join(names), result.signature))
    if not full and form == "text":
        tables[-1] = replace(tables[-1], notes=[*tables[-1].notes, _hint(evaluations)])
    finding = finding_texts(evaluations, differences)
    return _with_finding(finding, draw(tables, form, signatures), form)


def finding_texts(
    evaluations: Sequence[Evaluation], differences: Sequence[NumberDifference]
) -> list[str]:
    """What the systems' numbers say, sentence by sentence, with the names of system and data set
    where there are several.
    """
    datasets = list(evaluations[0].results)
    texts = []
    if len(evaluations) < SEVERAL:
        for one in evaluations:
            for dataset, result in one.results.items():
                names = [one.name] * (len(evaluations) > 1)
                names += [TITLES[dataset]] * (len(datasets) > 1)
                where = f"{', '.join(names)}: " if names else ""
                sentences = system_finding(dataset, result.scores)
                texts += [f"{where}{statement.text}" for statement in sentences]
    if len(evaluations) > 1:
        for dataset in datasets:
            where = f"{TITLES[dataset]}: " if len(datasets) > 1 else ""
            sentences = systems_finding(dataset, evaluations, differences)
            texts += [f"{where}{statement.text}" for statement in sentences]
    return texts


def _with_finding(finding: Sequence[str], tables: str, form: str) -> str:
    """The tables below the sentences of the finding; in LaTeX these are comments."""
    if form == "latex":
        return "".join(f"% {printable(text)}\n" for text in finding) + tables
    if form == "markdown":
        lines = [f"- {markdown_text(text)}\n" for text in finding]
        return "".join([*lines, "\n"] if lines else []) + tables
    lines = [*chain.from_iterable(map(wrapped, finding))]
    return "".join(f"{line}\n" for line in [*lines, *([""] if lines else [])]) + tables


def _hint(evaluations: Sequence[Evaluation]) -> str:
    """A line on what `--full` adds."""
    all_of_them = sum(len(result.scores.numbers) for result in evaluations[0].results.values())
    return f"--full prints all {all_of_them:,} numbers of a system, p, and notes on the data."


def system_table(evaluations: Sequence[Evaluation], dataset: str) -> PrintedTable:
    """The headline of one data set: a line for each part and system."""
    numbers = [(one, all_) for one, all_ in all_numbers(evaluations, dataset) if one.headline]
    labels = list(dict.fromkeys(one.label for one, _ in numbers))
    parts = list(dict.fromkeys(one.part for one, _ in numbers))
    has_parts = any(parts)
    differences = {contrast.difference for contrast in CONTRASTS[dataset]}
    of_label = {(one.part, one.label): of_systems for one, of_systems in numbers}
    rows = []
    for part in parts:
        cells = [of_label.get((part, label)) for label in labels]
        for at, evaluation in enumerate(evaluations):
            texts = [_brief(cell[at], differences) if cell else UNDEFINED for cell in cells]
            rows.append([part, cut(evaluation.name), *texts])
    return PrintedTable(
        head=["part", "system", *labels][not has_parts :],
        rows=[row[not has_parts :] for row in rows],
        title=f"{TITLES[dataset]}: {_UNITS}{_level(evaluations)}",
        notes=notes(evaluations, dataset),
        left=1 + has_parts,
        parts=[row[0] for row in rows] if has_parts else (),
    )


_P_DECIMALS = 4
"""Decimals of a p-value: as many as 10,000 resamples can tell apart."""


def labelled(one: NamedNumber) -> str:
    """The number's label with the part of the data set that it is of."""
    return f"{one.part}: {one.label}" if one.part else one.label


def all_numbers(
    evaluations: Sequence[Evaluation], dataset: str
) -> list[tuple[NamedNumber, list[NamedNumber | None]]]:
    """Each number of a data set, as the first system that has it names it, with those of all
    systems.
    """
    of_systems = [
        e.results[dataset].scores.by_key if dataset in e.results else {} for e in evaluations
    ]
    named: dict[tuple[str, str], NamedNumber] = {}
    for numbers in of_systems:
        named = numbers | named
    lines = []
    for key, one in named.items():
        lines.append((one, [numbers.get(key) for numbers in of_systems]))
    return lines


def _value(one: NamedNumber | None) -> str:
    """A number with its interval; a dash if there is none."""
    return (
        UNDEFINED
        if one is None
        else estimate_text(one.estimate.value, one.estimate.interval, one.decimals)
    )


def _brief(one: NamedNumber | None, differences: Collection[str]) -> str:
    """A number, with its interval where it says whom a system favours."""
    if one is None or one.key in differences:
        return _value(one)
    return number(one.estimate.value, one.decimals)


def notes(
    evaluations: Sequence[Evaluation], only: str | None = None, *, full: bool = False
) -> list[str]:
    """Notes on the systems' answers, each with its data set: those of all, or of `only` one data
    set. With `full`, remarks on the data sets follow.
    """
    lines = []
    for evaluation in evaluations:
        for dataset, result in evaluation.results.items():
            if only is None or dataset == only:
                system = f"{evaluation.name}, " if len(evaluations) > 1 else ""
                lines += [f"{system}{dataset}: {note}" for note in result.scores.notes]
    if full:
        for dataset, result in evaluations[0].results.items():
            lines += [f"{dataset}: {remark}" for remark in result.scores.remarks]
    return lines


_UNITS = "per cent and points, but for correlations and biases (F/M)"


def _title(evaluations: Sequence[Evaluation]) -> str:
    """``WinoBias, 3,168 documents``."""
    results = evaluations[0].results
    if len(results) > 1:
        return "Coreference"
    return "".join(f"{TITLES[name]}, {of.documents:,} documents" for name, of in results.items())


def _level(evaluations: Sequence[Evaluation]) -> str:
    return " [95 % interval]" if evaluations[0].settings.resamples else ""


def _numbers(evaluations: Sequence[Evaluation], *, full: bool) -> PrintedTable:
    rows: list[list[str]] = []
    parts: list[tuple[str, str]] = []
    tested = full and any(map(_has_p, evaluations))
    for dataset in evaluations[0].results:
        for one, of_systems in all_numbers(evaluations, dataset):
            if one.headline or full:
                p = map(_p, of_systems) if tested else []
                cells = map(_value, of_systems)
                rows.append([dataset, labelled(one), *cells, *p, _count(one.estimate.n)])
                parts.append((dataset, one.part))
    several = len(evaluations[0].results) > 1
    return PrintedTable(
        head=[
            *(["data set"] * several),
            "number",
            *(cut(one.name) for one in evaluations),
            *(["p"] * len(evaluations) * tested),
            "n",
        ],
        rows=[row[not several :] for row in rows],
        title=f"{_title(evaluations)}: {_UNITS}{_level(evaluations)}",
        notes=notes(evaluations, full=full),
        left=1 + several,
        parts=parts,
    )


def _has_p(evaluation: Evaluation) -> bool:
    results = evaluation.results.values()
    numbers = chain.from_iterable(result.scores.numbers for result in results)
    return any(one.estimate.p is not None for one in numbers)


def _p(one: NamedNumber | None) -> str:
    """The two-sided p of a number, then the one-sided one of its paper; empty where it is not
    tested.
    """
    if one is None or one.estimate.p is None:
        return ""
    two_sided, one_sided = one.estimate.p, one.estimate.p_one_sided
    text = p_text(two_sided, _P_DECIMALS)
    return text if one_sided is None else f"{text} (one-sided {p_text(one_sided, _P_DECIMALS)})"


def _counts(evaluation: Evaluation) -> Iterator[PrintedTable]:
    for dataset, result in evaluation.results.items():
        counts = result.scores.counts
        names = list(dict.fromkeys(chain.from_iterable(counts.values())))
        rows = []
        for label, of_name in counts.items():
            rows.append([label, *(_count(of_name.get(name)) for name in names)])
        yield PrintedTable(["", *names], rows, f"{evaluation.name}, {dataset}: counted")


def _count(value: float | None) -> str:
    return f"{value:,}" if isinstance(value, int) else number(value)


_SIGNIFICANT = (
    f"*: significant, p below {ALPHA:g} corrected by Holm over all differences of the data set, "
    "here or not"
)


def _differences(first: str, other: str, differences: Sequence[NumberDifference]) -> PrintedTable:
    rows: list[list[str]] = []
    several = len({one.dataset for one in differences}) > 1
    for one in differences:
        if one.second == other:
            d = one.difference
            text = (
                estimate_text(d.difference, d.interval, one.number.decimals) + "*" * d.significant
            )
            pvalues = (p_text(p, _P_DECIMALS) for p in (d.p, d.p_holm))
            rows.append([one.dataset, labelled(one.number), text, *pvalues])
    return PrintedTable(
        head=[*(["data set"] * several), "number", "difference", "p", "p, Holm"],
        rows=[row[not several :] for row in rows],
        title=f"{first} minus {other}",
        notes=[_SIGNIFICANT],
        left=1 + several,
        parts=[row[0] for row in rows],
    )


def _records(
    evaluations: Sequence[Evaluation], differences: Sequence[NumberDifference]
) -> Iterator[JsonObject]:
    """A line of CSV for each number, and for each difference: of a system, `minus` another."""
    for evaluation in evaluations:
        for dataset, result in evaluation.results.items():
            of = {"system": evaluation.name, "minus": None, "dataset": dataset}
            settings = {**vars(evaluation.settings), "signature": result.signature}
            yield from ({**of, **_ends(one.to_json()), **settings} for one in result.scores.numbers)
    for one in differences:
        d = one.difference
        values = {"value": d.difference, "interval": d.interval, "p": d.p, "p_holm": d.p_holm}
        of = {"system": one.first, "minus": one.second, "dataset": one.dataset}
        yield {**of, **one.number.named(), **_ends(values)}


def _ends(values: JsonDict) -> JsonDict:
    lower, upper = values.pop("interval") or (None, None)
    return {**values, "lower": lower, "upper": upper}
