"""The report of runs, and of their comparison: one HTML file that needs nothing else, neither
network nor server.

No number is computed here: all come from `metrics.json` and the `Comparison`. Everything that comes
from files is escaped, a content security policy forbids the page to load or run anything but its
own style and script (`mtbias.report.page`), and sentences reach the page as data
(`mtbias.report.sentence_data`) that the script writes as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from string import Formatter
from typing import TYPE_CHECKING, Any

from mtbias.report import alarm_texts, person_list, run_table
from mtbias.report.call_steps import WHY
from mtbias.report.page import render_page
from mtbias.report.plots import PERCENT_SCALE
from mtbias.report.report_runs import (
    ReportRun,
    Sentence,
    join_sentences,
    language_name,
    listed,
    report_run,
    title_and_intro,
    unique_names,
    unknown_parts,
)
from mtbias.report.run_page_record import RANKED, RunPage, Women, page_part, women_of
from mtbias.report.run_table import noticed
from mtbias.report.sentence_data import MAX_BYTES, fitting, sentence_list
from mtbias.runs.finished_run import FinishedRun
from mtbias.scoring.definitions import (
    CONSISTENCY,
    Number,
    breakdowns,
    decisive,
)
from mtbias.scoring.finding import expected_text, few_found
from mtbias.scoring.metrics_reader import UNKNOWN
from mtbias.scoring.metrics_records import GroupMetrics
from mtbias.scoring.ranking import distance, ranks
from mtbias.scoring.women_share import WomenShares, shipped_shares
from mtbias.stats.results import ALPHA, MIN_ROWS, N_RESAMPLES, number_text

if TYPE_CHECKING:
    from mtbias.scoring.comparison import Comparison


class _Filling(Formatter):
    """Fills in numbers as they are shown: counts as whole numbers, per cent with one decimal."""

    def format_field(self, value: object, _: str) -> str:
        return number_text(value) if value is None or isinstance(value, float) else f"{value:,}"


def filled(template: str, group: GroupMetrics) -> str:
    """The format string of a declaration (`Number.reading`) with the numbers of a group."""
    return _Filling().vformat(template, (), group.by_key())


def render_html(
    runs: Sequence[ReportRun],
    compared: Comparison | None = None,
    *,
    shares: WomenShares | None = None,
    max_bytes: int = MAX_BYTES,
) -> str:
    """The page, as text to be written in UTF-8.

    The sentences of all runs are in one list: those with the same id, source, entity, gold,
    stereotype, domain and number of pronouns are one. With a comparison of the runs the page has
    its differences, and the list has the sentences on which calls of one language differ (a gender
    and none are different). A page that would become larger than `max_bytes` holds as many
    sentences as fit, spread evenly, and says so; the numbers rest on all. Sections whose numbers
    `metrics.json` lacks are left out, and so is the list without calls. `runs` are of one measure,
    each under its own name; `shares` of women are by default those that ship with mtbias.

    Raises:
        DataError: a `metrics.json` lacks a number.
    """
    number = decisive(n for n in runs[0].numbers if n.headline) if len(runs) >= RANKED else None
    ordered = _ordered(runs, number)
    ranked = None if number is None else _ranks(runs, compared, number)
    unknown = unknown_parts(ordered)
    sentences = join_sentences(ordered)
    if compared is not None:
        sentences = [sentence for sentence in sentences if _differs(ordered, sentence)]
    women = women_of(ordered, shares)
    of_unknown = women_of(unknown, women.shares)
    related = women, of_unknown
    page = partial(_page, ordered, unknown, compared, ranked, related, total=len(sentences))
    return fitting(page, sentences, max_bytes)


def page_of_runs(runs: Sequence[FinishedRun], compared: Comparison | None = None) -> str:
    """`render_html` of runs in any order, under the names of the comparison, if they were compared,
    else their own.
    """
    names = {run.fingerprint: run.system for run in runs}
    names |= {system.fingerprint: system.system for system in compared.systems} if compared else {}
    unique = unique_names([(names[run.fingerprint], run.lang) for run in runs])
    return render_html([report_run(*each) for each in zip(runs, unique, strict=True)], compared)


def _differs(runs: Sequence[ReportRun], sentence: Sentence) -> bool:
    calls: dict[str, set[object]] = {}
    for run, record in zip(runs, sentence.records, strict=True):
        if record is not None:
            calls.setdefault(run.lang, set()).add(record.call.gender)
    return any(len(genders) > 1 for genders in calls.values())


def _ordered(runs: Sequence[ReportRun], number: Number | None) -> list[ReportRun]:
    """The runs language by language, of each the best first (`mtbias.scoring.ranking`)."""
    if number is None:
        return [*runs]
    langs = list(dict.fromkeys(run.lang for run in runs))

    def place(run: ReportRun) -> tuple[int, float, str]:
        return langs.index(run.lang), distance(number.best, _value(run, number)), run.name

    return sorted(runs, key=place)


def _value(run: ReportRun, number: Number) -> float | None:
    return run.metrics.overall.estimate(number).value


def _ranks(
    runs: Sequence[ReportRun], compared: Comparison | None, number: Number
) -> dict[str, str]:
    """By name the rank of each run among those of its language; empty where nothing was tested in
    pairs.
    """
    if compared is None or not compared.n_resamples:
        return {}
    names = {run.name for run in runs}

    def run_name(system: str, lang: str) -> str:
        # Where systems are not unique, runs are named with their language (`unique_names`).
        with_language = f"{system}, {lang}"
        return with_language if with_language in names else system

    p_holm = {}
    for pair in compared.pairs:
        names_of_pair = run_name(pair.first, pair.lang), run_name(pair.second, pair.lang)
        p_holm[names_of_pair] = pair.plain[number.key].p_holm
    texts: dict[str, str] = {}
    for lang in dict.fromkeys(run.lang for run in runs):
        values = {run.name: _value(run, number) for run in runs if run.lang == lang}
        ranked = ranks(number.best, values, p_holm)
        texts |= {name: rank.text for name, rank in ranked.items()}
    return texts


def _page(
    runs: Sequence[ReportRun],
    unknown: Sequence[ReportRun],
    compared: Comparison | None,
    ranked: Mapping[str, str] | None,
    related: tuple[Women, Women],
    shown: Sequence[Sentence],
    *,
    total: int,
) -> str:
    columns, sentences = sentence_list(runs, shown, total)
    women, of_unknown = related
    parts = [page_part(runs, women, columns, "entities")]
    if unknown:
        parts.append(page_part(unknown, of_unknown, columns, "unknown"))
    page = RunPage(runs, compared, ranked, parts)
    title, intro = title_and_intro(runs)
    return render_page(
        "run.html",
        title=title,
        intro=intro,
        sections=_sections(page, has_women=women.shares is not None, n_sentences=total),
        page=page,
        runs=runs,
        percent=PERCENT_SCALE,
        pair_numbers=CONSISTENCY,
        shipped=shipped_shares().name,
        min_rows=MIN_ROWS,
        n_resamples=N_RESAMPLES,
        alpha=ALPHA,
        why=WHY,
        few_found=few_found,
        language_name=language_name,
        filled=filled,
        expected_text=expected_text,
        reasons_by_gold=_reasons_by_gold,
        alarms=alarm_texts,
        tables=run_table,
        persons=person_list,
        **sentences,
    )


def _sections(page: RunPage, *, has_women: bool, n_sentences: int) -> dict[str, tuple[str, Any]]:
    """The headings, each with what its section shows; a section that shows nothing is left out."""
    runs, compared = page.runs, page.compared
    by_all = breakdowns(*(run.metrics.by for run in runs))
    by_group = "Men and women by occupation"
    if not has_women:
        by_group = f"By {listed([by.label for by in by_all])}"
    has_weights = compared is not None and any(system.weighted for system in compared.systems)
    content: dict[str, tuple[str, Any]] = {
        "finding": ("Finding", page.statements or any(_says_something(run) for run in runs)),
        "numbers": ("Numbers", True),
        "differences": ("Differences", page.differences or has_weights),
        "groups": (by_group, by_all),
        "unknown": ("Sentences of unknown gender", page.parts[1:]),
        "persons": ("Persons with a word in the other gender", person_list.by_run(runs)),
        "left-out": ("What was left out", [run for run in runs if _leaves_out(run)]),
        "more": ("More numbers", True),
        "how": ("How it was made", True),
        "sentences": (
            "Sentences on which the calls differ" if compared else "Sentences",
            n_sentences and any(run.calls for run in runs),
        ),
    }
    return {key: part for key, part in content.items() if part[1]}


def _says_something(run: ReportRun) -> bool:
    """Whether a run has a finding or a raised alarm."""
    return bool(run.finding or run.metrics.raised)


def _leaves_out(run: ReportRun) -> bool:
    """Whether some sentences of a run have no call, or something was noticed in its input."""
    metrics = run.metrics
    has_calls = metrics.reasons is not None or metrics.evidence is not None
    return has_calls or any(noticed(metrics))


def _reasons_by_gold(run: ReportRun) -> Counter[tuple[str, str]]:
    """How many sentences have no call, by reason and gold gender; empty without calls."""
    return Counter(
        (str(r.call.reason), str(r.gold or UNKNOWN)) for r in run.calls if r.call.gender is None
    )
