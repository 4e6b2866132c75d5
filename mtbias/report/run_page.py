"""The report of runs: one HTML file that needs nothing else, neither network nor server.

No number is computed here: all stand in `metrics.json`. Everything that comes from files is escaped, a content security
policy forbids the page to load or run anything but its own style and script (`mtbias.report.page`), and sentences reach
the page as data (`mtbias.report.sentence_data`) that the script writes as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from mtbias.errors import DataError, SettingError, UsageError, choices
from mtbias.files.writing import make_folder, write_atomic
from mtbias.report import alarm_texts, run_table
from mtbias.report.page import render_page
from mtbias.report.paper_tables import paper_table
from mtbias.report.plots import panels, scale, svg_intervals
from mtbias.report.report_runs import (
    ReportRun,
    Sentence,
    findings,
    join_sentences,
    title_and_intro,
    unique_names,
    unknown_parts,
)
from mtbias.report.run_table import SCHEMA, filled, noticed, whole_metrics
from mtbias.report.scatter import (
    WOMEN_MEASURES,
    correlation_text,
    plot_files,
    png,
    relations,
    slope_text,
    svg_women,
    women_scale,
)
from mtbias.report.sentence_data import MAX_BYTES, Columns, fitting, sentence_list
from mtbias.runs.finished_run import FinishedRun, read_run
from mtbias.scoring.definitions import CONSISTENCY, Breakdown, Number, breakdowns
from mtbias.scoring.finding import entity_gaps
from mtbias.scoring.scores import UNKNOWN
from mtbias.scoring.unknown_gender import UNKNOWN_GENDER
from mtbias.scoring.women_share import WomenRelation, WomenShares, read_women, shipped_shares
from mtbias.stats.results import MIN_ROWS
from mtbias.types import Reason

__all__ = ["MAX_BYTES", "ReportRun", "check_runs", "render_html"]

_WHY = {
    Reason.UNTRANSLATED.value: "there is no translation",
    Reason.UNALIGNED.value: "no word of the translation was found that renders the entity",
    Reason.NO_MORPHOLOGY.value: "the phrase shows no gender",
    Reason.NO_PERSON.value: "nothing says that the noun names a person",
    Reason.AMBIGUOUS.value: "the evidence contradicts itself",
}


def render_html(
    runs: Sequence[ReportRun],
    *,
    women: Sequence[WomenRelation] | None = None,
    max_bytes: int = MAX_BYTES,
) -> str:
    """The page, as text to be written in UTF-8.

    The sentences of all runs stand in one list: those with the same id, source, entity, gold, stereotype, domain and
    number of pronouns are one. Where the page would become larger than `max_bytes`, it holds as many sentences
    as fit, spread evenly over the corpus, and says so; the numbers rest on all. Sections whose numbers `metrics.json`
    does not have, and the list where there are no calls, are not there.
    `runs` are of one measure, each under its own name; `women` has the entities of each against their shares of women,
    by default against those that ship with mtbias.

    Raises:
        ValueError: there are no runs, or not one relation for each.
        DataError: two runs have one name, a `metrics.json` is not of schema 1 or lacks a key, or it was not computed
            from the calls beside it.
    """
    check_runs(runs)
    if women is not None and len(women) != len(runs):
        raise ValueError(f"expected shares of women for {len(runs)} runs, got {len(women)}")
    sentences = join_sentences(runs)
    related = relations(runs) if women is None else women
    return fitting(partial(_page, runs, related, total=len(sentences)), sentences, max_bytes)


def write_report(
    folders: Sequence[Path],
    out: Path | None = None,
    form: str = "html",
    *,
    by: str | None = None,
    names: Sequence[str] = (),
    women: Path | None = None,
    women_column: str | None = None,
    plots: Path | None = None,
    with_png: bool = False,
) -> tuple[str, dict[Path, str]]:
    """Write the page or a table of the runs in `folders`, and their plots.

    Args:
        folders: of finished runs.
        out: the file to write; without it a table is given back.
        form: html, csv, latex or markdown.
        by: break a table down by one property.
        names: of the systems (default: the runs' own).
        women: table with the share of women by occupation (`mtbias.scoring.women_share.read_women`).
        women_column: its column of shares.
        plots: folder for the plots.
        with_png: write them as PNG, too.

    Returns:
        The table where it was not written; and the files that were, with a line about each.

    Raises:
        UsageError: options that do not go together.
        DataError: a run cannot be read; runs of several measures in a page.
        RunFolderError: a file cannot be written.
    """
    page = form == "html"
    _refuse_options(form, out, by, women, women_column, plots, with_png=with_png)
    runs = [read_run(folder) for folder in folders]
    systems = names or [run.system for run in runs]
    table = "" if page else _table_of(runs, systems, form, by)
    files: dict[Path, tuple[bytes, str]] = {}
    if table and out is not None:
        files[out], table = (table.encode(), f"Table: {out}"), ""
    if page or plots is not None:
        unique = unique_names([(system, run.lang) for system, run in zip(systems, runs, strict=True)])
        shown = [ReportRun.of(run, name) for run, name in zip(runs, unique, strict=True)]
        if any(run.numbers != shown[0].numbers for run in shown):
            raise DataError("expected runs of one measure in a page, got several; make one for each")
        related = relations(shown, read_women(women, women_column) if women else None)
        if page and out is not None:
            content = render_html(shown, women=related or None).encode()
            size = f"{len(content) / 2**20:.1f} MiB, nothing else is needed to open it"
            files[out] = content, f"Report: {out} ({size})"
        if plots is not None:
            make_folder(plots)
            for name, svg in plot_files(shown, related):
                images = {".svg": svg.encode(), **({".png": png(svg)} if with_png else {})}
                for suffix, image in images.items():
                    files[plots / f"{name}{suffix}"] = image, f"Plot: {plots / name}{suffix}"
    for path, (content, _) in files.items():
        write_atomic(path, content)
    return table, {path: line for path, (_, line) in files.items()}


def _refuse_options(
    form: str,
    out: Path | None,
    by: str | None,
    women: Path | None,
    women_column: str | None,
    plots: Path | None,
    *,
    with_png: bool,
) -> None:
    """Refuse options that do not go together, before a run is read."""
    page = form == "html"
    wrong = {
        "--by: expected --format csv, latex or markdown, got html; the page has all breakdowns": page and by,
        "expected --out FILE.html for the page, --plots DIR, or --format csv, latex or markdown; got none": (
            page and out is None and plots is None
        ),
        f"--women: expected the page or --plots DIR, got --format {form}; a table has no column for it": (
            women and not page and plots is None
        ),
        "--png: expected --plots DIR beside it, got none; add it": with_png and plots is None,
        "--women-column: expected --women FILE beside it, got none; add it": women_column and not women,
    }
    for message, holds in wrong.items():
        if holds:
            raise UsageError(message)


def _table_of(runs: Sequence[FinishedRun], systems: Sequence[str], form: str, by: str | None) -> str:
    there = [key.removeprefix("by_") for key in runs[0].metrics if key.startswith("by_")]
    if by is not None and by not in there:
        raise SettingError("by", f"expected what these runs are broken down by, got {by!r}; {choices(by, there)}")
    named = zip(systems, runs, strict=True)
    return paper_table([ReportRun(name, run.lang, run.metrics, numbers=run.numbers) for name, run in named], form, by)


def check_runs(runs: Sequence[ReportRun]) -> None:
    """Refuse runs that no page can show.

    Raises:
        ValueError: there are no runs.
        DataError: two runs have one name, a `metrics.json` is not of schema 1, or it was not computed from the calls
            beside it.
    """
    if not runs:
        raise ValueError("expected at least one run, got none")
    for name, times in Counter(run.name for run in runs).items():
        if times > 1:
            raise DataError(f"expected a name of its own for each run, got {name!r} {times} times; rename one")
    for run in runs:
        found = run.metrics.get("schema")
        if found != SCHEMA:
            raise DataError(f"run {run.name!r}: expected metrics.json of schema {SCHEMA}, got schema {found!r}")
        rows = len(run.calls), sum(record.call.gender is not None for record in run.calls)
        parts = [run.metrics, *([run.metrics[UNKNOWN]] if UNKNOWN in run.metrics else [])]
        told = sum(part.get("n", 0) for part in parts), sum(part.get("decided", rows[1]) for part in parts)
        if run.calls and rows != told:
            raise DataError(
                f"run {run.name!r}: expected the calls that metrics.json was computed from ({told[0]}, {told[1]} with "
                f"a gender), got {rows[0]}, {rows[1]} with a gender; score the run again"
            )


def _page(runs: Sequence[ReportRun], women: Sequence[WomenRelation], shown: Sequence[Sentence], *, total: int) -> str:
    with whole_metrics():
        return _whole_page(runs, women, sentence_list(runs, shown, total))


def _whole_page(runs: Sequence[ReportRun], women: Sequence[WomenRelation], sentences: Mapping[str, Any]) -> str:
    numbers = runs[0].numbers
    found = breakdowns(*(run.metrics for run in runs))
    few, many = [by for by in found if not by.long], [by for by in found if by.long]
    paired = [run.metrics.get("consistency") for run in runs]
    entities = [_entities(runs, by, sentences["columns"], women) for by in many]
    content: dict[str, tuple[str, Any]] = {
        "numbers": ("Numbers", True),
        "repeats": ("Translated again", [run for run in runs if run.metrics.get("repeats")]),
        "groups": (f"By {_listed([by.label for by in few])}", _groups(runs, few)),
        "consistency": ("Consistency", any(paired) and paired),
        "entities": (f"By {_listed([by.label for by in many])}", entities),
        "unknown": ("Sentences of unknown gender", _unknown(runs, sentences["columns"], women)),
        "confusion": ("Gold and call", [(run, counts) for run in runs if (counts := _confusion(run))]),
        "left-out": ("What was left out, and why", [run for run in runs if _says_what_is_left_out(run.metrics)]),
        "checks": ("Can these numbers be believed?", [run for run in runs if run.metrics.get("alarms")]),
        "sentences": ("Sentences", sentences["total"]),
        "how": ("How it was made", True),
    }
    title, intro = title_and_intro("Gender bias in translation", runs)
    corpora = sorted({run.corpus for run in runs} - {""})
    return render_page(
        "run.html",
        title=title,
        intro=intro + (f"Corpus: {', '.join(corpora)}. " if corpora else ""),
        sections={key: part for key, part in content.items() if part[1]},
        runs=runs,
        findings=findings(runs),
        numbers=numbers,
        grouped=[
            *(n for n in numbers if n.coverage),
            *(n for n in numbers if (n.headline or n.grouped) and not n.whole),
        ],
        listed=_of_lists(numbers),
        unknown=numbers == UNKNOWN_GENDER.numbers,
        heads=lambda *whats: [f"{run.name}:\n{what}" if len(runs) > 1 else what for run in runs for what in whats],
        filled=filled,
        noticed=noticed,
        repeats=run_table,
        alarms=alarm_texts,
        warned=[run for run in runs if alarm_texts.warnings(run.metrics.get("alarms"))],
        women=women,
        women_plots=_women_plots(runs, women),
        shipped=shipped_shares().name,
        few=MIN_ROWS,
        compared_with=lambda related: [WOMEN_MEASURES[measure] for measure in related[0].measures],
        slope_text=slope_text,
        correlation_text=correlation_text,
        of_pairs=CONSISTENCY,
        unpaired=list(dict.fromkeys(reason for part in paired for reason in (part or {}).get("left_out", ()))),
        why=_WHY,
        **sentences,
    )


def _of_lists(numbers: Sequence[Number]) -> list[Number]:
    """The numbers of long lists of groups."""
    return [n for n in numbers if n.listed] or [n for n in numbers if n.headline]


class _UnknownPart(NamedTuple):
    """What the page of a corpus that has other sentences, too, shows of those of unknown gender."""

    runs: list[ReportRun]
    numbers: Sequence[Number]
    entities: list[Any]
    listed: list[Number]
    women: list[WomenRelation]
    plots: list[tuple[str, list[Markup]]]


def _unknown(runs: Sequence[ReportRun], columns: Columns, women: Sequence[WomenRelation]) -> _UnknownPart | None:
    parts = unknown_parts(runs)
    if not parts:
        return None
    numbers, related = parts[0].numbers, relations(parts, women[0].shares if women else None)
    many = [by for by in breakdowns(*(part.metrics for part in parts)) if by.long]
    entities = [_entities(parts, by, columns, related) for by in many]
    return _UnknownPart(parts, numbers, entities, _of_lists(numbers), related, _women_plots(parts, related))


def _listed(labels: Sequence[str]) -> str:
    """``domain, pronouns and stereotype``."""
    *others, last = labels or ("",)
    return f"{', '.join(others)} and {last}" if others else last


_Part = Mapping[str, Any]
"""A group of `metrics.json`."""


def _by_group(runs: Sequence[ReportRun], by: Breakdown) -> dict[str, list[_Part | None]]:
    """For each group of a breakdown that any run has, what each run has of it."""
    tables = [run.metrics.get(by.key, {}) for run in runs]
    return {name: [table.get(name) for table in tables] for table in tables for name in table}


def _groups(
    runs: Sequence[ReportRun], shown: Sequence[Breakdown]
) -> list[tuple[Breakdown, list[Markup], dict[str, list[_Part | None]]]]:
    """Breakdowns with few groups: their plots, all on one scale, and their groups."""
    parts = panels([(run.name, run.metrics) for run in runs], runs[0].numbers)
    axis = scale([part for found in parts.values() for part in found])
    return [
        (
            by,
            [svg_intervals(part, ident=f"{by.key}-{i}", axis=axis) for i, part in enumerate(parts.get(by.key, ()))],
            _by_group(runs, by),
        )
        for by in shown
    ]


def _entities(
    runs: Sequence[ReportRun], by: Breakdown, columns: Columns, women: Sequence[WomenRelation]
) -> tuple[Breakdown, WomenShares | None, list[tuple[str, dict[str, int] | None, list[_Part | None]]]]:
    """A breakdown with many groups, the filters that choose their sentences, and shares of women.

    Entities come in the order of the first run's gaps between men and women, other groups with most sentences first.
    """
    name = by.key.removeprefix("by_")
    gaps = {gap.entity: place for place, gap in enumerate(entity_gaps(runs[0].metrics))} if name == "entity" else {}
    groups = sorted(
        _by_group(runs, by).items(),
        key=lambda item: (gaps.get(item[0], len(gaps)), -next(part["n"] for part in item[1] if part), item[0]),
    )
    shares = women[0].shares if women and name == "entity" else None
    if name not in columns or not any(run.calls for run in runs):
        return by, shares, [(group, None, parts) for group, parts in groups]
    at = {value: {name: i} for i, value in enumerate(columns[name][0])}
    # A page that is too large has not every group's sentences: such a name shows them all.
    return by, shares, [(group, at.get(group, {}), parts) for group, parts in groups]


def _women_plots(runs: Sequence[ReportRun], women: Sequence[WomenRelation]) -> list[tuple[str, list[Markup]]]:
    """For each measure its caption and a plot for each run, on one scale."""
    found = []
    for measure in women[0].measures if women else ():
        what = WOMEN_MEASURES[measure]
        axis = women_scale(women, measure)
        plots = [
            svg_women(relation, run.name, measure, ident=f"women-{measure}-{i}", axis=axis, colour=i % 6)
            for i, (run, relation) in enumerate(zip(runs, women, strict=True))
        ]
        found.append((f"{what[0].upper()}{what[1:]}, by share of women", plots))
    return found


def _confusion(run: ReportRun) -> tuple[tuple[str, list[str]], tuple[str, list[str | None]], list[list[int]]] | None:
    """Counts by the last two axes of a run's table, with names: what the sentence says, what the translation shows."""
    axes = list((run.metrics.get("confusion_axes") or {}).items())
    if len(axes) < 2:
        return None
    counts = np.sum(run.metrics["overall"]["confusion"], axis=tuple(range(len(axes) - 2)))
    return axes[-2], axes[-1], counts.tolist()


def _says_what_is_left_out(metrics: Mapping[str, Any]) -> bool:
    return bool({"reasons", "evidence"} & metrics.keys()) or any(noticed(metrics))
