"""The tables that papers need, made of `metrics.json`: CSV with all numbers, Markdown and LaTeX with the main ones.

A row is a system in a language, or a group of its sentences. No number is computed here.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mtbias.errors import DataError
from mtbias.report.run_table import UNDEFINED, interval_text, number_text, printable

BREAKDOWNS = {"domain": "by_domain", "pronouns": "by_pronouns", "stereotype": "by_stereotype", "entity": "by_entity"}
"""What a table may be broken down by, and where that stands in `metrics.json`."""

_MAIN = {"accuracy": "Accuracy", "delta_g": "ΔG", "delta_s": "ΔS"}
_RATES = (
    "decided_percent", "accuracy", "precision_male", "recall_male", "f1_male", "precision_female", "recall_female",
    "f1_female", "delta_g", "accuracy_pro", "accuracy_anti", "delta_s", "delta_s_macro_f1",
)  # fmt: skip
_ROWS_OF = {
    "male": "n_male", "female": "n_female", "neutral": "n_neutral", "pro": "n_pro", "anti": "n_anti",
    "called_male": "called_male", "called_female": "called_female",
}  # fmt: skip
_INTERVALS = ("accuracy", "f1_male", "f1_female", "delta_g", "delta_s", "delta_s_macro_f1")
_LONG = 40
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "[": "{[}", UNDEFINED: "--", "Δ": r"$\Delta$", "…": r"\ldots{}",
}  # fmt: skip


@dataclass(frozen=True)
class PaperRun:
    """A run as it enters the tables."""

    system: str
    lang: str
    metrics: Mapping[str, Any]
    """The content of its `metrics.json`."""

    @property
    def corpus(self) -> str:
        """Name of the corpus; empty where `metrics.json` does not say."""
        return str((self.metrics.get("corpus") or {}).get("name", ""))


@dataclass(frozen=True)
class _Row:
    run: PaperRun
    group: str
    numbers: Mapping[str, Any]


def paper_table(runs: Sequence[PaperRun], form: str, by: str | None = None) -> str:
    """The table in one of the forms ``csv``, ``markdown``, ``latex``; ends in a newline.

    Languages follow each other as they first come, systems within a language as given, groups as in `metrics.json`.

    Args:
        runs: at least one.
        form: as said.
        by: a key of `BREAKDOWNS`; by default the numbers of the whole corpus.

    Raises:
        DataError: a `metrics.json` lacks a key.
    """
    langs = list(dict.fromkeys(run.lang for run in runs))
    ordered = sorted(runs, key=lambda run: langs.index(run.lang))
    try:
        rows = [row for run in ordered for row in _rows(run, by)]
        return {"csv": _csv, "markdown": _markdown, "latex": _latex}[form](rows, by)
    except KeyError as error:
        raise DataError(f"expected the key {error} in metrics.json, got none; score the run again") from error


def _rows(run: PaperRun, by: str | None) -> Iterator[_Row]:
    if by is None:
        yield _Row(run, "", run.metrics["overall"])
        return
    for group, numbers in run.metrics[BREAKDOWNS[by]].items():
        yield _Row(run, group, numbers)


def _csv(rows: Sequence[_Row], by: str | None) -> str:
    """All numbers as `metrics.json` has them (per cent), with the names that `Scores.to_frame` gives them."""
    written = [
        {
            "corpus": row.run.corpus,
            "lang": row.run.lang,
            "system": row.run.system,
            "breakdown": "overall" if by is None else BREAKDOWNS[by],
            "group": row.group,
            **_all_numbers(row.numbers),
            "level": row.run.metrics["intervals"]["level"],
            "resamples": row.run.metrics["intervals"]["resamples"],
            "seed": row.run.metrics["intervals"]["seed"],
            "signature": row.run.metrics["signature"],
        }
        for row in rows
    ]
    text = io.StringIO(newline="")
    if written:
        writer = csv.DictWriter(text, list(written[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(written)
    return text.getvalue()


def _all_numbers(group: Mapping[str, Any]) -> dict[str, object]:
    numbers: dict[str, object] = {"n": group["n"], "decided": group["decided"]}
    numbers |= {key: group[key] for key in _RATES}
    numbers["accuracy_low_bound"], numbers["accuracy_high_bound"] = group["accuracy_bounds"]
    for key in _INTERVALS:
        numbers[f"{key}_low"], numbers[f"{key}_high"] = group["ci"].get(key) or (None, None)
    return numbers | {name: group["denominators"][key] for key, name in _ROWS_OF.items()}


def _cells(rows: Sequence[_Row], by: str | None) -> tuple[list[str], list[tuple[list[str], list[str]]]]:
    """The head of a table for people, and the names and numbers of each line.

    A corpus is named where there are several; with a breakdown, so are languages and systems (else the notes do).
    """
    shown = _varying(rows)
    named = [name for name in ("Corpus", "Language", "System") if name in shown or (by is None and name != "Corpus")]
    head = [*named, *([] if by is None else [by.capitalize()]), "n", *([] if by else ["Decided, %"]), *_MAIN.values()]
    lines = []
    for row in rows:
        names = [_names(row.run)[name] for name in named]
        names += [] if by is None else [row.group or UNDEFINED]
        numbers = [f"{row.numbers['n']:,}", *([] if by else [number_text(row.numbers["decided_percent"])])]
        numbers += [with_interval(row.numbers, key) for key in _MAIN]
        lines.append(([printable(name) for name in names], numbers))
    return head, lines


def _names(run: PaperRun) -> dict[str, str]:
    return {"Corpus": run.corpus, "Language": run.lang, "System": run.system}


def _varying(rows: Sequence[_Row]) -> set[str]:
    return {name for name in ("Corpus", "Language", "System") if len({_names(row.run)[name] for row in rows}) > 1}


def with_interval(group: Mapping[str, Any], key: str) -> str:
    """A number of a group of `metrics.json` with its interval, where it has one: ``24.8 [22.4, 27.3]``."""
    value, interval = group[key], group["ci"].get(key)
    return number_text(value) if value is None or not interval else f"{number_text(value)} {interval_text(interval)}"


def _notes(rows: Sequence[_Row], by: str | None) -> list[str]:
    how = dict.fromkeys(
        f"{part['level']:g} % intervals in brackets ({part['method']}, {part['resamples']:,} resamples, "
        f"seed {part['seed']})"
        for part in (row.run.metrics["intervals"] for row in rows)
        if part["resamples"]
    )
    text = (
        "Accuracy in per cent of n, no verdict counts as wrong; ΔG = F1 male - F1 female, ΔS = accuracy where the "
        "stereotype fits - where it does not, in points."
    )
    notes = [text, *(f"{part}." for part in how)]
    one = [f"{name}: {_names(rows[0].run)[name]}" for name in ("System", "Language") if rows and by]
    one = [text for text in one if text.partition(":")[0] not in _varying(rows)]
    notes += [f"{printable('; '.join(one))}."] if one else []
    if by is None:
        notes += dict.fromkeys(_sizes(row.numbers["n"], row.numbers["denominators"]) for row in rows)
    return notes


def _sizes(n: int, rows: Mapping[str, int]) -> str:
    return (
        f"n {n:,}: {rows['male']:,} men, {rows['female']:,} women; "
        f"stereotype fits {rows['pro']:,}, does not {rows['anti']:,}."
    )


def _signatures(rows: Sequence[_Row]) -> list[str]:
    runs = dict.fromkeys((row.run.system, row.run.lang, row.run.metrics["signature"]) for row in rows)
    return [printable(f"{system}, {lang}: {signature or UNDEFINED}") for system, lang, signature in runs]


def _markdown(rows: Sequence[_Row], by: str | None) -> str:
    head, cells = _cells(rows, by)
    right = 1 + len(_MAIN) + (by is None)
    rule = ["---"] * (len(head) - right) + ["---:"] * right
    body = [[*map(_markdown_text, names), *numbers] for names, numbers in cells]
    lines = [f"| {' | '.join(line)} |" for line in (head, rule, *body)]
    lines += ["", " ".join(map(_markdown_text, _notes(rows, by))), ""]
    lines += [f"- {_markdown_text(text)}" for text in _signatures(rows)]
    return "\n".join(lines) + "\n"


def _markdown_text(text: str) -> str:
    """Text that no reader of Markdown takes for markup."""
    return re.sub(r"([\\`*_{}|<>\[\]#&~])", r"\\\1", text)


def _latex(rows: Sequence[_Row], by: str | None) -> str:
    r"""A ``table``, or a ``longtable`` where it is long, with the rules of booktabs; signatures as comments."""
    head, cells = _cells(rows, by)
    long, right = len(cells) > _LONG, 1 + len(_MAIN) + (by is None)
    columns = "l" * (len(head) - right) + "r" * right
    caption = rf"\caption{{{' '.join(map(latex_text, _notes(rows, by)))}}}"
    names = f"{' & '.join(map(latex_text, head))} \\\\"
    packages = r"% \usepackage{booktabs}" + (r" \usepackage{longtable}" if long else "") + r" \usepackage[T1]{fontenc}"
    body: list[str] = []
    before: object = None
    for row, (texts, numbers) in zip(rows, cells, strict=True):
        part = (row.run.corpus, row.run.lang, row.run.system if by else "")
        body += [r"\midrule"] if before not in {None, part} else []
        body.append(f"{' & '.join([*map(latex_text, texts), *map(latex_number, numbers)])} \\\\")
        before = part
    if long:
        lines = [r"{\footnotesize", r"\setlength{\tabcolsep}{3pt}", r"\setlength{\LTcapwidth}{\linewidth}",
                 rf"\begin{{longtable}}{{{columns}}}", rf"{caption} \\", r"\toprule", names, r"\midrule", r"\endhead",
                 *body, r"\bottomrule", r"\end{longtable}", "}"]  # fmt: skip
    else:
        lines = [r"\begin{table}", r"\centering", r"\small", r"\setlength{\tabcolsep}{3pt}",
                 rf"\begin{{tabular}}{{{columns}}}", r"\toprule", names, r"\midrule",
                 *body, r"\bottomrule", r"\end{tabular}", caption, r"\end{table}"]  # fmt: skip
    return "\n".join([packages, *(f"% {text}" for text in _signatures(rows)), *lines]) + "\n"


def latex_text(text: str) -> str:
    """Text that LaTeX prints as it is, with ΔG and ΔS as mathematics."""
    escaped = "".join(_LATEX.get(char, char) for char in text)
    return re.sub(r"\$\\Delta\$([GS])", r"$\\Delta \1$", escaped)


def latex_number(text: str) -> str:
    """A number with true minus signs, its interval small."""
    value, _, interval = re.sub(r"-(?=\d)", "$-$", text.replace(UNDEFINED, "--")).partition(" ")
    return rf"{value} {{\scriptsize {interval}}}" if interval else value
