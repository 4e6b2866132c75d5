"""The sections of the page that show numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mtbias.metrics.women_share import WomenRelation
from mtbias.report.markup import Markup, element, joined
from mtbias.report.page import point, reading, table
from mtbias.report.plots import BREAKDOWNS, MEASURES, panel, scale, svg_intervals
from mtbias.report.report_runs import ReportRun
from mtbias.report.run_table import NOTICED, UNDEFINED, number_text
from mtbias.report.sentence_data import CALLS, GENDERS
from mtbias.types import Reason

_WHY = {
    Reason.UNTRANSLATED.value: "there is no translation",
    Reason.UNALIGNED.value: "no word of the translation was found that renders the entity",
    Reason.NO_MORPHOLOGY.value: "the phrase shows no gender",
    Reason.AMBIGUOUS.value: "the evidence contradicts itself",
}


def numbers(runs: Sequence[ReportRun]) -> list[Markup]:
    """The headline as tiles, and all numbers of the whole corpus."""
    all_ = [(run, run.metrics["overall"]) for run in runs]

    def tile(title: str, key: str, about: str, note: Callable[[Mapping[str, Any]], str]) -> Markup:
        lines = [
            element("p", element("span", run.name if len(runs) > 1 else "", class_="run"), " ", point(whole, key),
                    element("span", note(whole), class_="reading"))
            for run, whole in all_
        ]  # fmt: skip
        return element("div", element("h3", title), *lines, element("p", about, class_="quiet"), class_="tile")

    def left_out(whole: Mapping[str, Any]) -> str:
        return f"right in {number_text(whole['accuracy_bounds'][1])} % of those with a verdict"

    return [
        element(
            "div",
            tile("Accuracy", "accuracy", "Per cent of all sentences; no verdict counts as wrong.", left_out),
            tile("ΔG", "delta_g", "F1 male minus F1 female, in points; 0 is even.",
                 lambda whole: reading(whole["ci"]["delta_g"], "better for men", "better for women")),
            tile("ΔS", "delta_s", "Accuracy where the stereotype fits minus where it does not, in points; 0 is even.",
                 lambda whole: reading(whole["ci"]["delta_s"], "better with the stereotype", "better against it")),
            class_="tiles",
        ),
        table("All numbers, in per cent", ["number", *(run.name for run in runs)], _number_rows(all_)),
    ]  # fmt: skip


def _number_rows(all_: Sequence[tuple[ReportRun, Mapping[str, Any]]]) -> Iterator[list[str]]:
    rows = [
        ("Accuracy", "accuracy", "n"), ("Precision, male", "precision_male", "called_male"),
        ("Recall, male", "recall_male", "male"), ("F1, male", "f1_male", ""),
        ("Precision, female", "precision_female", "called_female"), ("Recall, female", "recall_female", "female"),
        ("F1, female", "f1_female", ""), ("ΔG = F1 male - F1 female", "delta_g", ""),
        ("Accuracy, stereotype fits", "accuracy_pro", "pro"), ("Accuracy, stereotype broken", "accuracy_anti", "anti"),
        ("ΔS = fits - broken", "delta_s", ""), ("ΔS of macro-F1", "delta_s_macro_f1", ""),
    ]  # fmt: skip
    yield ["With a verdict", *(point(whole, "decided_percent", whole["decided"]) for _, whole in all_)]
    for name, key, rests_on in rows:
        yield [name, *(point(w, key, {**w["denominators"], "n": w["n"]}.get(rests_on)) for _, w in all_)]


def groups(runs: Sequence[ReportRun]) -> list[Markup]:
    """Plots and tables by domain, pronouns and stereotype."""
    named = [(run.name, run.metrics) for run in runs]
    panels = [(key, [panel(named, key, measure) for measure in MEASURES]) for key in BREAKDOWNS]
    axis = scale(part for _, parts in panels for part in parts)
    figures = [
        element(
            "figure", element("figcaption", f"By {BREAKDOWNS[key]}"),
            element("div", *(svg_intervals(part, ident=f"{key}-{i}", axis=axis) for i, part in enumerate(parts)),
                    class_="plots", role="region", aria_label=f"Plots by {BREAKDOWNS[key]}", tabindex="0"),
        )
        for key, parts in panels
    ]  # fmt: skip
    note = "Whiskers are the intervals. A hollow point has none (too few rows); a dash is a number that is not defined."
    return [*figures, element("p", note, class_="quiet"), *_group_tables(runs)]


def _group_tables(runs: Sequence[ReportRun]) -> list[Markup]:
    breakdowns = {**BREAKDOWNS, "by_stereotype": "stereotype"}
    head = ["run"] if len(runs) > 1 else []
    head += ["n", "with a verdict", "accuracy", "F1 male", "F1 female", "ΔG", "ΔS"]
    keys = ("decided_percent", "accuracy", "f1_male", "f1_female", "delta_g", "delta_s")
    return [
        table(
            f"By {name}", [name.split()[0], *head],
            [[group, *([run.name] if len(runs) > 1 else []), f"{part['n']:,}", *(point(part, key) for key in keys)]
             for group in dict.fromkeys(group for run in runs for group in run.metrics[breakdown])
             for run in runs if (part := run.metrics[breakdown].get(group))],
        )
        for breakdown, name in breakdowns.items()
    ]  # fmt: skip


def confusion(runs: Sequence[ReportRun]) -> list[Markup]:
    """Gold gender against call, a table a run."""
    text = "Rows: the gender that the English sentence tells. Columns: the gender that the translation shows."
    tables = map(_confusion_table, runs, range(len(runs)))
    return [element("p", f"{text} A number shows its sentences below."), element("div", *tables, class_="pair")]


def _confusion_table(run: ReportRun, number: int) -> Markup:
    axes, overall = run.metrics["confusion_axes"], run.metrics["overall"]
    counts = np.sum(overall["confusion"], axis=0)
    rows: list[list[str]] = []
    for g, gold in enumerate(axes["gold"]):
        rows.append([gold])
        for c, call in enumerate(axes["call"]):
            count, share = int(counts[g, c]), counts[g, c] / max(1, counts[g].sum())
            kind = f"q{min(4, int(5 * share))}" + (" hit" if call == gold else "")
            wanted = "none" if call is None else str(GENDERS.index(call))
            filters = {"data_run": str(number), "data_gold": str(GENDERS.index(gold))}
            filters["data_outcome" if call is None else "data_call"] = wanted
            link = element("a", f"{count:,}", href="#sentences", **filters)
            rows[-1].append(element("td", link if count else "0", class_=kind))
        rows[-1].append(f"{overall['denominators'][gold]:,}")
    head = ["gold / called", *(call or "no verdict" for call in axes["call"]), "all"]
    return table(f"{run.name}: sentences by gold gender and call", head, rows)


def left_out(runs: Sequence[ReportRun]) -> list[Markup]:
    """What has no verdict and why, what verdicts rest on, what was noticed in the input."""
    return [element("div", *_left_out_tables(run, number), class_="pair") for number, run in enumerate(runs)]


def _left_out_tables(run: ReportRun, number: int) -> Iterator[Markup]:
    metrics = run.metrics
    reasons = []
    for key, count in metrics["reasons"].items():
        link = element("a", key, href="#sentences", data_run=str(number), data_call=str(CALLS.index(key)))
        share = number_text(metrics["reasons_percent"][key])
        reasons.append([joined([link, f": {_WHY[key]}"]), f"{count:,}", share])
    evidence = [[k, f"{n:,}", number_text(metrics["evidence_percent"][k])] for k, n in metrics["evidence"].items()]
    if reasons:
        yield table(f"{run.name}: sentences without a verdict", ["reason", "n", "% of all"], reasons)
    else:
        yield element("p", f"{run.name}: every sentence has a verdict.")
    yield table(f"{run.name}: what the verdicts rest on", ["kind of word", "n", "% of decided"], evidence)
    if noticed := list(_noticed(metrics)):
        yield table(f"{run.name}: noticed in the input", ["what", "n", "the first"], noticed)


def _noticed(metrics: Mapping[str, Any]) -> Iterator[list[str]]:
    corpus, given = metrics.get("corpus") or {}, metrics.get("translations") or {}
    for kind, text in NOTICED.items():
        if given.get(kind):
            yield [text, f"{given[kind]:,}", ", ".join(given.get("examples", {}).get(kind, [])[:3])]
    if corpus.get("skipped"):
        yield [f"rows of the corpus left out, of {corpus['rows']:,}", f"{corpus['skipped']:,}", ""]
    for note, number in corpus.get("notes", {}).items():
        yield [note, f"{number:,}", ""]


def how(runs: Sequence[ReportRun], women: Sequence[WomenRelation] | None = None) -> list[Markup]:
    """Signatures, intervals, and what the numbers cannot say."""
    lines = []
    for run in runs:
        made, signature = run.metrics["intervals"], run.metrics["signature"]
        text = f"{made['method']}, {made['level']:g} %, {made['resamples']:,} resamples, seed {made['seed']}"
        lines += [
            element("dt", run.name),
            element("dd", "Signature: ", element("code", signature or UNDEFINED)),
            element("dd", f"Intervals: {text}" if made["resamples"] else "Intervals: none were computed"),
        ]
    if women:
        shares = women[0].shares
        text = f"{shares.name}|column:{shares.column}|sha256:{shares.sha256[:12]}"
        lines += [element("dt", "Shares of women"), element("dd", element("code", text))]
    limits = (
        "The corpora know men, women and, in part, neutral people. A grammatical gender is not a person's gender. "
        "Nouns of fixed gender say nothing about anybody and have no verdict: hence the two bounds of the accuracy."
    )
    return [element("dl", *lines), element("p", limits)]


_CONSISTENCY = (
    ("Right for one gender only (I across)", "across", "inconsistent"),
    ("Right for the man only", "across", "male_only"),
    ("Right for the woman only", "across", "female_only"),
    ("Right for both", "across", "both_right"),
    ("Right for neither", "across", "neither_right"),
    ("Right for one of two of the same gender (I within)", "within", "inconsistent"),
    ("ΔI = across - within, over quadruples", "delta_i", "delta_i"),
)
"""Rows of the table of consistency: the name, the part of `metrics.json`, and the number in it."""


def consistency(runs: Sequence[ReportRun]) -> list[Markup]:
    """What gender alone changes, over pairs of sentences; nothing where no run has such pairs."""
    found = [(run, run.metrics.get("consistency")) for run in runs]
    if not any(part for _, part in found):
        return []
    prefix = "{}:\n" if len(runs) > 1 else ""
    head = ["pairs"]
    for run in runs:
        head += [f"{prefix.format(run.name)}{what}" for what in ("all pairs", "both have a verdict")]
    rows = [
        [name, *(cell for _, part in found for cell in _consistency_cells(part, place, key))]
        for name, place, key in _CONSISTENCY
    ]
    text = (
        "Pairs of sentences that differ in gender alone, and whether the translation is right for both, in per cent of "
        "the pairs. Right for the man only and right for the woman only do not cancel. I within is the same over pairs "
        "of one gender that differ in something else: above 0, ΔI says that gender alone makes more of a difference "
        "than another small change."
    )
    return [
        element("p", text),
        table("Consistency over pairs, in per cent", head, rows),
        *_consistency_notes(found, several=len(runs) > 1),
    ]


def _consistency_cells(content: Mapping[str, Any] | None, place: str, key: str) -> list[str]:
    if not content:
        return [UNDEFINED, UNDEFINED]
    return [point(part, key, part["n"]) for part in (content["all"][place], content["decided"][place])]


def _consistency_notes(
    found: Sequence[tuple[ReportRun, Mapping[str, Any] | None]], *, several: bool
) -> Iterator[Markup]:
    """How many pairs have no controls, and what could not be paired: said once where it is the same for all runs."""
    notes: dict[str, list[str]] = {}
    for run, part in found:
        if not part:
            notes.setdefault("No sentence has a partner of the other gender.", []).append(run.name)
            continue
        said = [f"{reason}: {number:,}" for reason, number in part["left_out"].items() if number]
        text = f"Pairs without controls, which do not count in ΔI: {part['pairs_without_controls']:,}. "
        text += f"Not paired: {'; '.join(said)}." if said else ""
        notes.setdefault(text, []).append(run.name)
    for text, names in notes.items():
        yield element("p", f"{', '.join(names)}: {text}" if several and len(notes) > 1 else text, class_="quiet")
