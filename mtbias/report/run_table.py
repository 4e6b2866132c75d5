"""The table of a run for a terminal: plain text made from `metrics.json`, with one decimal as in
the papers.

Nothing is computed here; every number is in `metrics.json`, and its declaration says what it is
called and rests on (`mtbias.scoring.definitions`). An undefined number is "–".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from itertools import chain, islice
from textwrap import wrap

from mtbias.files.reading import commented_rows
from mtbias.report.alarm_texts import alarm_block, checks_block, shown_without, warnings
from mtbias.report.tables import PrintedTable, aligned, as_text, cut, note_on_bits, printable
from mtbias.scoring.bias import UNKNOWN_GENDER
from mtbias.scoring.counting import QUESTIONS
from mtbias.scoring.definitions import (
    ACCURACY,
    CONSISTENCY,
    DELTA_G,
    DELTA_S,
    GENDER_NUMBERS,
    Number,
    Unit,
    breakdowns,
)
from mtbias.scoring.metrics_reader import read_metrics
from mtbias.scoring.metrics_records import CountedRows, GroupMetrics, Repeats, RunMetrics
from mtbias.scoring.statements import PERSONS, Quote
from mtbias.stats.results import UNDEFINED, estimate_text, interval_text, number_text
from mtbias.types import JsonObject, Strategy, frozen

# How much a run changed when everything was translated again, as `metrics.json` has it under
# `repeats`.

EXPLAINED = (
    "Spread: greatest minus least, of asking again. The interval is of drawing other sentences."
)


def repeat_lines(metrics: RunMetrics, numbers: Sequence[Number]) -> list[list[str]]:
    """Label, the value of each repeat, spread, and the interval of the first; empty without
    repeats.
    """
    if metrics.repeats is None:
        return []
    rows = []
    for number in numbers:
        repeated = metrics.repeats.numbers.get(number.key)
        if repeated is not None:
            values = ", ".join(map(number_text, repeated.values))
            first = interval_text(metrics.overall.estimate(number).interval)
            rows.append([number.label, values, number_text(repeated.spread), first])
    return rows


def repeat_title(repeats: Repeats) -> str:
    """``Translated 3 times: 12 of 512 translations changed (2.3 %), 4 calls (0.8 %)``."""
    translations, calls = repeats.translations_changed, repeats.calls_changed
    texts = f"{translations.n:,} of {repeats.n:,} translations changed"
    return (
        f"Translated {repeats.times} times: {texts} ({number_text(translations.percent)} %), "
        f"{calls.n:,} calls ({number_text(calls.percent)} %)"
    )


def repeat_block(metrics: RunMetrics, numbers: Sequence[Number]) -> str:
    """The repeats as a table for a terminal; empty if there are none."""
    rows = repeat_lines(metrics, numbers)
    if not rows or metrics.repeats is None:
        return ""
    table = [
        ["", "each time", "spread", metrics.intervals.name],
        *([f"  {label}", *cells] for label, *cells in rows),
    ]
    return "\n".join([repeat_title(metrics.repeats), *aligned(table, "<>>>"), f"  {EXPLAINED}"])


WIDTH = 80
"""Columns of a terminal: sentences are broken there; tables have as many as they need."""


def render(
    metrics_json: JsonObject, *, full: bool = False, numbers: Sequence[Number] = GENDER_NUMBERS
) -> str:
    """The table of one run, ending in a newline.

    From top to bottom: warnings, where a share is above its limit; how many sentences have a call;
    the finding; the headline with its intervals over sentences and over entities, and what it rests
    on; how it changes when everything is translated again; the signature, in one line to be copied.
    What `metrics.json` does not have is passed over.

    Args:
        metrics_json: the content of `metrics.json`, schema 1.
        full: all numbers of the corpus; the breakdowns; consistency over pairs; what has no call
            and why; what the calls rest on; what was checked; published numbers; what was noticed
            in the input, too.
        numbers: what the measure of the run reports.

    Raises:
        DataError: `metrics.json` lacks a number.
    """
    metrics = read_metrics(metrics_json)
    blocks = [
        alarm_block(metrics, numbers, WIDTH, full=full),
        "\n".join([_headline(metrics.overall, numbers), *finding_lines(metrics)]),
        _numbers(metrics, numbers, full=full),
        _unknown(metrics, full=full),
        repeat_block(metrics, numbers),
    ]
    if full:
        blocks += [
            *_breakdowns(metrics, numbers),
            _consistency(metrics),
            _shares("Without a call (of all sentences)", metrics.reasons),
            _shares("What the calls rest on (of all calls)", metrics.evidence),
            _folded(STRATEGIES, *strategy_rows(metrics)),
            _folded(POST_EDITS, *post_edit_rows(metrics)),
            checks_block(metrics),
            _published(metrics),
            _noticed(metrics),
        ]
    else:
        blocks.append(_noticed_briefly(metrics))
    if metrics.signature:
        note = note_on_bits(metrics.signature)
        blocks.append(f"Signature: {printable(metrics.signature)}\n{note}".rstrip("\n"))
    return "\n\n".join(block for block in blocks if block) + "\n"


def headline_text(metrics_json: JsonObject, numbers: Sequence[Number]) -> str:
    """The first number of the headline, of the whole corpus: ``accuracy 51.3``."""
    first = next(number for number in numbers if number.headline)
    value = read_metrics(metrics_json).overall.estimate(first).value
    return f"{first.label[:1].lower()}{first.label[1:]} {number_text(value)}"


def overall_table(
    metrics_json: JsonObject, *, numbers: Sequence[Number] = GENDER_NUMBERS
) -> PrintedTable:
    """All numbers of the whole corpus, below how many sentences have a call.

    Raises:
        DataError: `metrics.json` lacks a number.
    """
    metrics = read_metrics(metrics_json)
    head, *rows = _cells(numbers, metrics)
    notes = [f"Signature: {metrics.signature}"] if metrics.signature else []
    warned = warnings(metrics.alarms)
    both = shown_without(metrics, numbers)
    in_doubt = [f"{label}: {every} of all, {rest} without" for label, every, rest in both]
    if in_doubt:
        warned.append(f"With and without the sentences concerned: {'; '.join(in_doubt)}")
    title = _headline(metrics.overall, numbers)
    return PrintedTable(head, rows, title=title, warnings=warned, notes=notes)


def _headline(overall: GroupMetrics, numbers: Sequence[Number]) -> str:
    text = f"{overall.n:,} sentences"
    for number in numbers:
        if number.coverage:
            share = number_text(overall.estimate(number).value)
            text += f", {overall.decided:,} {number.label.lower()} ({share} %)"
    return text


def finding_lines(metrics: RunMetrics) -> list[str]:
    """The finding in sentences; below the widest gap the sentence that shows it."""
    lines, quoted = [], False
    for statement in metrics.finding:
        if statement.rule == "trust" and metrics.raised:  # the warnings say more
            continue
        lines += wrapped(statement.text)
        if statement.quote is not None and not quoted:
            lines += quote_lines(statement.quote)
            quoted = True
    return lines


def quote_lines(quote: Quote) -> list[str]:
    """A sentence with its translation, and what becomes of the person."""
    lines = wrapped(f"“{quote.source}” → “{quote.translation}”", "  ")
    return [*lines, *wrapped(quote.outcome_text, "  ")]


def wrapped(text: str, indent: str = "") -> list[str]:
    """A sentence in lines for a terminal, those after its first indented; "90 %" stays together."""
    unbroken = printable(text).replace(" %", "\u00a0%")
    lines = wrap(unbroken, WIDTH, initial_indent=indent, subsequent_indent="  ")
    return [line.replace("\u00a0%", " %") for line in lines]


def _numbers(metrics: RunMetrics, numbers: Sequence[Number], *, full: bool) -> str:
    """The numbers of the whole corpus, all of them or those of the headline, and what they mean."""
    shown = [number for number in numbers if full or number.headline]
    lines = aligned(_cells(shown, metrics), "<>>>>")
    for number in shown:
        if number.about and number.unit is not Unit.PERCENT:
            lines += wrapped(f"{number.label}: {number.about}", "  ")
    over = metrics.entity_intervals
    if full and metrics.intervals.name and over:
        reason = over.reason
        lines += wrapped(
            QUESTIONS if reason is None else f"No intervals over entities: {reason}", "  "
        )
    return "\n".join(lines)


def _cells(numbers: Sequence[Number], metrics: RunMetrics) -> list[list[str]]:
    """A header and a line for each number: value, intervals over sentences and over entities, the
    rows it rests on.
    """
    overall, level = metrics.overall, metrics.intervals.name
    over_settings, over_entities = metrics.entity_intervals, overall.entity_intervals or {}
    over = f"over {over_settings.entities:,} entities" if over_settings and over_entities else ""
    table = [["", "per cent", level, "n", over]]
    for number in numbers:
        estimate, own_over = overall.estimate(number), ""
        if over_entities and number.interval:
            own_over = interval_text(over_entities.get(number.key), number.decimals)
        table.append(
            [
                number.label,
                number_text(estimate.value, number.decimals),
                interval_text(estimate.interval, number.decimals) if level else "",
                " + ".join(map("{:,}".format, overall.rows(number))),
                own_over,
            ]
        )
    return table


def _breakdowns(metrics: RunMetrics, numbers: Sequence[Number]) -> list[str]:
    """The breakdowns, each under its title, with their columns under each other across all of
    them.
    """
    present = [(by, metrics.by[by.key]) for by in breakdowns(metrics.by) if not by.long]
    if not present:
        return []
    shown = [n for n in numbers if n.coverage or (n.headline and not n.whole)]
    named = [*chain.from_iterable(groups.items() for _, groups in present)]
    head, *lines = _grid([(f"  {name}", group) for name, group in named], shown)
    line = iter(lines)
    blocks = []
    for breakdown, groups in present:
        block = [f"By {breakdown.label}", *islice(line, len(groups))]
        for name, group in groups.items():
            if group.is_all_neutral:
                block.append(f"  {cut(name)}: all of neutral gold gender")
        blocks.append("\n".join(block))
    return [f"{head}\n{blocks[0]}", *blocks[1:]]


def _grid(groups: Sequence[tuple[str, GroupMetrics]], numbers: Sequence[Number]) -> list[str]:
    """A header and a line for each group."""
    table = [
        ["", *(cut(label) for label, _ in groups)],
        ["n", *(f"{group.n:,}" for _, group in groups)],
    ]
    for number in numbers:
        cells = []
        for _, group in groups:
            estimate = group.estimate(number)
            ends = "" if estimate.value is None else interval_text(estimate.interval)
            cells.append([number_text(estimate.value), *([ends] if number.headline else [])])
        # Within one column, numbers are aligned under numbers and intervals under intervals.
        table.append([number.short, *aligned(cells, ">" * len(cells[0]), gap=" ", strip=False)])
    return aligned(list(zip(*table, strict=True)), "<" + ">" * (len(table) - 1))


def _consistency(metrics: RunMetrics) -> str:
    """How often a system is right for one gender only, beside control pairs; nothing where the
    corpus has no pairs.
    """
    pairs = metrics.consistency
    if pairs is None:
        return ""
    table = [["", "all", "n", "both with a call", "n"]]
    for number in CONSISTENCY:
        row = [f"  {number.label}"]
        for part in (pairs.all, pairs.decided):
            estimate = part.estimate(number)
            row += [estimate_text(estimate.value, estimate.interval), f"{estimate.n:,}"]
        table.append(row)
    lines = [
        f"Consistency (pairs that differ in gender alone), per cent, {metrics.intervals.name}",
        *aligned(table, "<>>>>"),
    ]
    outside = pairs.pairs_without_controls
    if outside and pairs.all.quadruples:
        lines.append(f"  {outside:,} pairs have no controls: in I_across alone")
    for reason, n in pairs.left_out.items():
        lines.append(f"  left out: {n:,}, {printable(reason)}")
    return "\n".join(lines)


def _unknown(metrics: RunMetrics, *, full: bool) -> str:
    """The sentences of unknown gender, where the corpus has others, too."""
    part = metrics.unknown
    if part is None:
        return ""
    numbers = UNKNOWN_GENDER.numbers
    blocks = [
        f"Of unknown gender: {_headline(part.overall, numbers)}",
        _numbers(part, numbers, full=full),
    ]
    if full:
        title = "Without a call (of the sentences of unknown gender)"
        blocks.append(_shares(title, part.reasons))
    return "\n".join(block for block in blocks if block)


STRATEGIES = "What the translations do with the person's gender, in per cent of the sentences"
SOURCES = {"unknown": 'unknown or "they"', "known": "a man or a woman"}
"""The parts of `strategies` of `metrics.json`, by what the source says of the person."""


def strategy_rows(metrics: RunMetrics) -> tuple[list[str], list[list[str]]]:
    """A header and a row for each strategy: its share with the interval, and rows, apart for what
    the source says.

    Edge cases: no rows where no call says what the translation does.
    """
    parts = metrics.strategies
    head = ["source"]
    for source, shares in parts.items():
        head += [SOURCES[source], f"of {shares[Strategy.MALE].of:,}"]
    rows = []
    for strategy in dict.fromkeys(chain.from_iterable(parts.values())):
        row = [strategy]
        for shares in parts.values():
            share = shares.get(strategy)
            if share is None:
                row += ["", ""]
            else:
                row += [share.text, f"{share.n:,}"]
        rows.append(row)
    return head, rows


POST_EDITS = "What wrong genders cost: the words to be changed to make them right"


def post_edit_rows(metrics: RunMetrics) -> tuple[list[str], list[list[str]]]:
    """A header and a row for men, women and both: wrong calls, their words, and the means with
    their intervals.

    Edge cases: no rows where no call says its words.
    """
    head = [
        "the source has",
        "sentences",
        "wrong calls",
        "words",
        "by the tagger alone",
        "a wrong call",
        "a sentence",
    ]
    rows = []
    for gender, part in metrics.post_edits.items():
        numbers = [f"{n:,}" for n in (part.n, part.wrong, part.edits, part.unknown)]
        both = part.per_wrong, part.per_sentence
        means = [estimate_text(mean.value, mean.interval, 2) for mean in both]
        rows.append([PERSONS.get(gender, "either"), *numbers, *means])
    return head, rows


def _folded(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    table = [[f"  {name}", *cells] for name, *cells in (head, *rows)]
    return "\n".join([title, *aligned(table, "<" + ">" * (len(head) - 1))]) if rows else ""


def _published(metrics: RunMetrics) -> str:
    """What was published of other systems on the same data set."""
    table = published_table(metrics)
    if table is None:
        return ""
    return "\n".join(
        [as_text(replace(table, notes=())).rstrip("\n"), *(wrapped(table.notes[0], "  "))]
    )


def _shares(title: str, counts: Mapping[str, CountedRows] | None) -> str:
    if not counts:
        return ""
    rows = [
        [cut(f"  {name}"), f"{rows.n:,}", f"{number_text(rows.percent)} %"]
        for name, rows in counts.items()
    ]
    return "\n".join([title, *aligned(rows, "<>>")])


_NOTICED = {
    "missing": "without a translation in the file",
    "empty": "with an empty translation",
    "extra": "lines of the file that belong to no sentence",
    "duplicates": "lines of the file with a source that an earlier line has",
    "shared": "with the translation of the same sentence elsewhere",
    "normalised": "matched after damaged characters, Unicode and white space were normalised",
    "encoding": "translations with UTF-8 that was read in another encoding, repaired",
    "entities": "translations with character references of HTML, undone",
    "escapes": "translations with escapes of JSON, MIME or addresses, undone",
    "markup": "translations with tags of HTML or asterisks around words, removed",
    "pieces": "translations with marks of a subword tokenizer, joined",
    "invisible": "translations with characters without a glyph, removed",
    "letters": "translations with letters of another script, ligatures or wide ones, made plain",
    "composed": "translations that were not in composed Unicode (NFC), composed",
    "source_cut": "sources longer than the model can read, cut",
    "source_unknown": "sources that the model read with a hole: "
    "its vocabulary lacks a piece of them",
    "entity_unknown": "of these, with the hole in the entity's word",
    "cut": "translations cut at the maximum length",
    "repetitive": "translations that fell into repetition",
    "redone": "not finite in half precision, translated again in fp32",
}


def noticed(metrics: RunMetrics) -> Iterator[tuple[str, int, str]]:
    """What was noticed while the corpus and the translations were read: what, how often, and the
    first three ids.
    """
    corpus, translations = metrics.corpus, metrics.translations

    def first_ids(kind: str) -> str:
        return ", ".join(translations.examples.get(kind, ())[:3])

    for kind, text in _NOTICED.items():
        if translations.counts.get(kind):
            yield text, translations.counts[kind], first_ids(kind)
    # What was cleaned from a language model's answers, and how many lost their translation.
    if translations.cleaned:
        from mtbias.translate.language_models.cleaning import KINDS

        for kind, count in translations.cleaned.items():
            lost = translations.untranslated.get(kind, 0)
            without = f" ({lost:,} without a translation)" if lost else ""
            yield f"{KINDS.get(kind, kind)}{without}", count, first_ids(kind)
    if corpus.skipped:
        yield f"rows of the corpus left out, of {corpus.rows:,}", corpus.skipped, ""
    for note, rows in corpus.notes.items():
        yield note, rows, ""


def _noticed(metrics: RunMetrics) -> str:
    rows = [
        [f"  {what}", f"{count:,}", f"({first})" if first else ""]
        for what, count, first in noticed(metrics)
    ]
    return "\n".join(["Noticed in the input", *aligned(rows, "<><")]) if rows else ""


def _noticed_briefly(metrics: RunMetrics) -> str:
    """What was noticed as one sentence, without ids."""
    texts = "; ".join(f"{count:,} {what}" for what, count, _ in noticed(metrics))
    return "\n".join(wrapped(f"Noticed in the input: {texts}.")) if texts else ""


_ABOUT = {
    "winomt": "WinoMT, translations of 2019 (Stanovsky et al. 2019)",
    "bug": "BUG (Levy et al. 2021)",
}
_DIFFERS = {
    "winomt": "Theirs: 3,888 sentences, fast_align, articles and dictionaries; without a call an "
    "entity is male or female by rule in ar, de and he. docs/published.md has the effect of each "
    "rule. No ΔS where it could not be recomputed.",
    "bug": "Theirs: 108K sentences of BUG's first version, EasyNMT with beam 5, fast_align, rules "
    "of 2020. The release has 105,687 sentences. Opus-MT en-ar was likely run without its language "
    "token; the Hebrew cell of mBART50 looks like a part of the data.",
}
"""What differs from a run of mtbias."""


PUBLISHED = (ACCURACY, DELTA_G, DELTA_S)
"""The numbers that were published."""


@frozen
class PublishedLine:
    """What was published of a system in a language."""

    system: str
    lang: str
    """`MEAN` over BUG's eight languages."""
    group: str
    """A part of the corpus; empty of all sentences."""
    numbers: Mapping[str, float]
    """By key, in per cent and points."""
    from_memory: bool
    """Of WinoMT: whether ΔS is from memory of the table, and was not recomputed."""


MEAN = "mean"


def published_lines(dataset: str) -> list[PublishedLine]:
    """The lines of a data set in the table's order; none of one that has no published lines."""
    text = (resources.files("mtbias.scoring") / "data" / "published.tsv").read_text(
        encoding="utf-8"
    )
    lines = []
    for row in commented_rows(text):
        if row["dataset"] == dataset:
            numbers = {number.key: float(row[number.key]) for number in PUBLISHED}
            from_memory = dataset == "winomt" and row["how"] == "log"
            line = PublishedLine(row["system"], row["lang"], row["group"], numbers, from_memory)
            lines.append(line)
    return lines


_GROUPS = {
    "bug": "Its figures 6 and 7 print no numbers: these are means over its eight languages by the "
    "authors' result files.",
}
"""What the published numbers of groups are."""


def published_groups_note(dataset: str) -> str:
    """What the published numbers of a data set's groups are, and what differs from a run of
    mtbias.
    """
    return f"Published: {_ABOUT[dataset]}. {_GROUPS[dataset]} {_DIFFERS[dataset]}"


def published_table(metrics: RunMetrics) -> PrintedTable | None:
    """The lines of a run's data set and language, followed by the means over languages; None if
    there are none.
    """
    place = re.match(r"dataset:([^|]+)\|lang:([^|]+)", metrics.signature or "")
    if place is None:
        return None
    lines = [line for line in published_lines(place[1]) if line.lang in {place[2], MEAN}]
    if all(line.lang == MEAN for line in lines):
        return None
    rows = []
    for line in lines:
        whole = f"mean of 8 languages, {line.group}" if line.lang == MEAN else line.lang
        accuracy, delta_g, delta_s = map(number_text, line.numbers.values())
        delta_s = UNDEFINED if line.from_memory else delta_s
        rows.append([line.system, whole, accuracy, delta_g, delta_s])
    return PrintedTable(
        ["", "", "accuracy", "ΔG", "ΔS"],
        rows,
        f"Published: {_ABOUT[place[1]]}",
        [_DIFFERS[place[1]]],
        left=2,
    )
