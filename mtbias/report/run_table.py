"""The table of a run for a terminal: plain text made of `metrics.json`, with one decimal as in the papers.

Nothing is computed here; every number stands in `metrics.json`, and what it is called and rests on in its declaration
(`mtbias.scoring.definitions`). An undefined number is "–".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from string import Formatter
from textwrap import wrap
from typing import Any

from mtbias.errors import DataError
from mtbias.report.alarm_texts import alarm_block, checks_block, expected_block, shown_without, warnings
from mtbias.report.tables import PrintedTable, aligned, cut, note_on_bits, printable
from mtbias.scoring.bias import UNKNOWN_GENDER
from mtbias.scoring.counting import QUESTIONS
from mtbias.scoring.definitions import CONSISTENCY, GENDER, Number, all_neutral, breakdowns
from mtbias.scoring.scores import UNKNOWN
from mtbias.stats.results import UNDEFINED, interval_text, number_text

# How much a run changed when everything was translated again, as `metrics.json` has it under `repeats`.

EXPLAINED = "Spread: greatest minus least, of asking again. The interval is of drawing other sentences."


def repeat_lines(metrics: Mapping[str, Any], numbers: Sequence[Number]) -> list[list[str]]:
    """Label, the value of each time, spread, and the interval of the first time; empty where there are no repeats."""
    found = metrics.get("repeats")
    if not found:
        return []
    rows = []
    for number in numbers:
        if (part := found["numbers"].get(number.key)) is not None:
            values = ", ".join(map(number_text, part["values"]))
            spread = UNDEFINED if part["spread"] is None else number_text(part["spread"])
            rows.append([number.label, values, spread, interval_text(number.of(metrics["overall"]).interval)])
    return rows


def repeat_title(metrics: Mapping[str, Any]) -> str:
    """``Translated 3 times: 12 of 512 translations changed (2.3 %), 4 calls (0.8 %)``."""
    found = metrics["repeats"]
    translations, calls = found["translations_changed"], found["calls_changed"]
    return (
        f"Translated {found['times']} times: {translations['count']:,} of {found['n']:,} translations changed "
        f"({number_text(translations['percent'])} %), {calls['count']:,} calls ({number_text(calls['percent'])} %)"
    )


def repeat_block(metrics: Mapping[str, Any], numbers: Sequence[Number], level: str) -> str:
    """The same for a terminal; empty where there are no repeats."""
    rows = repeat_lines(metrics, numbers)
    if not rows:
        return ""
    table = [["", "each time", "spread", level], *([f"  {label}", *cells] for label, *cells in rows)]
    return "\n".join([repeat_title(metrics), *aligned(table, "<>>>"), f"  {EXPLAINED}"])


WIDTH = 100
SCHEMA = 1


def render(metrics_json: Mapping[str, Any], *, width: int = WIDTH, numbers: Sequence[Number] = GENDER) -> str:
    """The table of one run, ending in a newline.

    From top to bottom: warnings, where a share is above its limit; how many sentences have a call; the finding in one
    sentence; the numbers of the whole corpus with their 95 % intervals and what they mean; their intervals over
    sentences and over entities; how they change when everything is translated again; the breakdowns; consistency over
    pairs; what has no call and why; what the calls rest on; how many are expected to be wrong; what was checked; what
    was noticed in the input; the signature. What `metrics.json` does not have is passed over.

    Args:
        metrics_json: the content of `metrics.json`, schema 1.
        width: columns of the terminal. Where the breakdowns do not fit, numbers that are not of the headline (the F1)
            give way first, then the intervals; a remark beside the numbers of the whole corpus is left out where it is
            too long. Numbers are never cut, so below about 65 columns lines run over. The signature always stays in one
            line, to be copied.
        numbers: what the measure of the run reports.

    Raises:
        DataError: it is no `metrics.json` of schema 1, or lacks a number.
    """
    if metrics_json.get("schema") != SCHEMA:
        raise DataError(f"expected metrics.json of schema {SCHEMA}, got schema {metrics_json.get('schema')!r}")
    with whole_metrics():
        overall, signature = metrics_json["overall"], metrics_json["signature"]
        shown = _lined(numbers)
        blocks = [
            alarm_block(metrics_json, numbers),
            "\n".join([_headline(overall, numbers), *finding_lines(metrics_json, width)]),
            "\n".join(_lines(shown, overall, level(metrics_json), width)),
            _over_entities(shown, metrics_json),
            repeat_block(metrics_json, numbers, level(metrics_json)),
            *_breakdowns(metrics_json, numbers, width),
            _consistency(metrics_json, width),
            *_unknown(metrics_json, width),
            _shares("Without a call (of all sentences)", metrics_json, "reasons"),
            _shares("What the calls rest on (of all calls)", metrics_json, "evidence"),
            expected_block(metrics_json),
            checks_block(metrics_json),
            _noticed(metrics_json),
            f"Signature: {printable(signature)}\n{note_on_bits(signature)}".rstrip("\n") if signature else "",
        ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def overall_table(metrics_json: Mapping[str, Any], *, numbers: Sequence[Number] = GENDER) -> PrintedTable:
    """The numbers of the whole corpus with their intervals and what they mean, below how many sentences have a call.

    Raises:
        DataError: `metrics.json` lacks a number.
    """
    with whole_metrics():
        overall = metrics_json["overall"]
        head, *rows = _cells(_lined(numbers), overall, level(metrics_json))
        notes = [f"Signature: {metrics_json['signature']}"] if metrics_json["signature"] else []
        warned = warnings(metrics_json.get("alarms"))
        both = shown_without(metrics_json, numbers)
        in_doubt = [f"{label}: {every} of all, {rest} without" for label, every, rest in both]
        warned += [said["text"] for said in metrics_json.get("finding", ()) if said["rule"] == "few_found"]
        warned += [f"With and without the sentences concerned: {'; '.join(in_doubt)}"] if in_doubt else []
        return PrintedTable(head, rows, title=_headline(overall, numbers), warnings=warned, notes=notes)


def _lined(numbers: Sequence[Number]) -> list[Number]:
    """Those that have a line of their own."""
    return [number for number in numbers if (number.interval or number.headline) and not number.remark]


@contextmanager
def whole_metrics() -> Iterator[None]:
    """Turns the `KeyError` of a `metrics.json` that lacks something into a `DataError`."""
    try:
        yield
    except KeyError as error:
        raise DataError(f"expected the key {error} in metrics.json, got none; score the run again") from error


class _Filling(Formatter):
    """Fills in numbers as they are shown: counts as whole numbers, per cent with one decimal."""

    def format_field(self, value: object, _: str) -> str:
        return number_text(value) if value is None or isinstance(value, float) else f"{value:,}"


def filled(template: str, group: Mapping[str, Any]) -> str:
    """The format string of a declaration (`Number.beside`) with the numbers of a group."""
    return _Filling().vformat(template, (), group)


def level(metrics: Mapping[str, Any]) -> str:
    """``95 % interval``; empty where none were computed."""
    how = metrics["intervals"]
    return f"{how['level']:g} % interval" if how["resamples"] else ""


def _headline(overall: Mapping[str, Any], numbers: Sequence[Number]) -> str:
    text = f"{overall['n']:,} sentences"
    for number in numbers:
        if number.coverage:
            text += f", {overall['decided']:,} {number.label.lower()} ({number_text(number.of(overall).value)} %)"
    return text


def finding_lines(metrics: Mapping[str, Any], width: int) -> list[str]:
    """What the run says in words, in lines of at most that width; the widest gap with the sentence that shows it."""
    lines, quoted = [], False
    for said in metrics.get("finding", ()):
        lines += wrap(printable(said["text"]), width, subsequent_indent="  ")
        quote = said.get("quote")
        if quote and not quoted:
            text = printable(f"“{quote['source']}” → “{quote['translation']}”")
            lines += wrap(text, width, initial_indent="  ", subsequent_indent="  ")
            quoted = True
    return lines


def _over_entities(numbers: Sequence[Number], metrics: Mapping[str, Any]) -> str:
    """The intervals of the whole corpus over sentences and over entities, or why there are none over entities."""
    how = metrics.get("entity_intervals")
    if how is None or not level(metrics):  # a measure without entities, or a file of an earlier release
        return ""
    over, overall = metrics["overall"]["ci_entities"], metrics["overall"]
    if over is None:
        return f"No intervals over entities: {how['reason']}"
    shown = [number for number in numbers if number.interval]
    table = [[level(metrics), "over sentences", f"over {how['entities']:,} entities"]]
    table += [
        [f"  {number.label}", interval_text(number.of(overall).interval), interval_text(over.get(number.key))]
        for number in shown
    ]
    return "\n".join([*aligned(table, "<>>"), f"  {QUESTIONS}"])


def _lines(
    numbers: Sequence[Number],
    group: Mapping[str, Any],
    interval: str,
    width: int,
    *,
    indent: str = "",
    called: Mapping[str, Any] | None = None,
) -> list[str]:
    """A header and a line for each number, with its remark where there is room; `called` is what remarks know, too."""
    table = _cells(numbers, group, interval, indent=indent, called=called)
    full, bare = aligned(table, "<>><"), aligned([row[:3] for row in table], "<>>")
    return [line if len(line) <= width else short for line, short in zip(full, bare, strict=True)]


def _cells(
    numbers: Sequence[Number],
    group: Mapping[str, Any],
    interval: str,
    *,
    indent: str = "",
    called: Mapping[str, Any] | None = None,
) -> list[list[str]]:
    """The cells of `_lines`."""
    table = [["", "per cent", interval, ""]]
    for number in numbers:
        part, found = group[number.place] if number.place else group, number.of(group)
        facts = {**part, "called": called[number.place]} if called else part
        table.append(
            [
                f"{indent}{'  ' if number.part_of else ''}{number.label}",
                number_text(found.value, number.decimals),
                interval_text(found.interval, number.decimals) if interval else "",
                filled(number.beside, facts) if found.n or not number.absent else number.absent,
            ]
        )
    return table


def _breakdowns(metrics: Mapping[str, Any], numbers: Sequence[Number], width: int) -> list[str]:
    """The breakdowns, each under its title, with their columns under each other across all of them."""
    present = [(found, metrics[found.key]) for found in breakdowns(metrics) if not found.long]
    if not present:
        return []
    groups = [(f"  {name}", group) for _, part in present for name, group in part.items()]
    every = [number for number in numbers if (number.headline or number.grouped) and not number.whole]
    headline = [number for number in every if number.headline]
    lines: list[str] = []
    for shown, with_intervals in ((every, True), (headline, True), (every, False)):
        coverage = [number for number in numbers if number.coverage]
        lines = _grid(groups, [*coverage, *shown], with_intervals=with_intervals)
        if max(map(len, lines)) <= width:
            break
    head, *rest = lines
    blocks, start = [], 0
    for found, part in present:
        notes = [f"  {cut(name)}: all of neutral gold gender" for name, group in part.items() if all_neutral(group)]
        blocks.append("\n".join([f"By {found.label}", *rest[start : start + len(part)], *notes]))
        start += len(part)
    return [f"{head}\n{blocks[0]}", *blocks[1:]]


def _grid(
    groups: Sequence[tuple[str, Mapping[str, Any]]], numbers: Sequence[Number], *, with_intervals: bool
) -> list[str]:
    """A header and a line for each group."""
    table = [["", *(cut(label) for label, _ in groups)], ["n", *(f"{group['n']:,}" for _, group in groups)]]
    for number in numbers:
        found = [number.of(group) for _, group in groups]
        cells = [[number_text(estimate.value)] for estimate in found]
        if with_intervals and number.headline:
            for cell, estimate in zip(cells, found, strict=True):
                cell.append("" if estimate.value is None else interval_text(estimate.interval))
        # Numbers stand under numbers and intervals under intervals, in one column.
        table.append([number.short, *aligned(cells, ">" * len(cells[0]), gap=" ", strip=False)])
    return aligned(list(zip(*table, strict=True)), "<" + ">" * (len(table) - 1))


def _consistency(metrics: Mapping[str, Any], width: int) -> str:
    """How often a system is right for one gender only, beside control pairs; nothing where the corpus has no pairs."""
    content = metrics.get("consistency")
    if content is None:
        return ""
    shown = [number for number in CONSISTENCY if number.interval]
    lines = _lines(shown, content["all"], level(metrics), width, indent="  ", called=content["decided"])
    outside = content["pairs_without_controls"]
    if outside and content["all"]["delta_i"]["n"]:
        lines.append(f"  {outside:,} pairs have no controls: in I_across alone")
    lines += [f"  left out: {pairs:,}, {printable(reason)}" for reason, pairs in content["left_out"].items()]
    return "\n".join(["Consistency (pairs that differ in gender alone)", *lines])


def _unknown(metrics: Mapping[str, Any], width: int) -> list[str]:
    """The sentences of unknown gender, where the corpus has others, too."""
    part = metrics.get(UNKNOWN)
    if part is None:
        return []
    numbers, overall = UNKNOWN_GENDER.numbers, part["overall"]
    lines = _lines(_lined(numbers), overall, level(part), width, indent="  ")
    without = _shares("Without a call (of the sentences of unknown gender)", part, "reasons")
    return ["\n".join([f"Of unknown gender: {_headline(overall, numbers)}", *lines]), without]


def _shares(title: str, metrics: Mapping[str, Any], key: str) -> str:
    counts = metrics.get(key)
    if not counts:
        return ""
    shares = metrics[f"{key}_percent"]
    rows = [[cut(f"  {name}"), f"{count:,}", f"{number_text(shares[name])} %"] for name, count in counts.items()]
    return "\n".join([title, *aligned(rows, "<>>")])


_NOTICED = {
    "missing": "without a translation in the file",
    "empty": "with an empty translation",
    "extra": "lines of the file that belong to no sentence",
    "duplicates": "lines of the file with a source that stood before",
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
    "cut": "translations cut at the maximum length",
    "repetitive": "translations that fell into repetition",
    "redone": "not finite in half precision, translated again in fp32",
}


def noticed(metrics: Mapping[str, Any]) -> Iterator[tuple[str, int, str]]:
    """What was noticed while the corpus and the translations were read: what, how often, and the first three ids."""
    corpus, given = metrics.get("corpus") or {}, metrics.get("translations") or {}
    for kind, text in _NOTICED.items():
        if given.get(kind):
            yield text, given[kind], ", ".join(given.get("examples", {}).get(kind, [])[:3])
    if given.get("cleaned"):
        yield from _in_answers(given)
    if corpus.get("skipped"):
        yield f"rows of the corpus left out, of {corpus['rows']:,}", corpus["skipped"], ""
    for note, rows in corpus.get("notes", {}).items():
        yield note, rows, ""


def _in_answers(given: Mapping[str, Any]) -> Iterator[tuple[str, int, str]]:
    """What was noticed in the answers of a language model, and how many it left without a translation."""
    from mtbias.translate.language_models.cleaning import KINDS

    for kind, count in given["cleaned"].items():
        lost = given["untranslated"].get(kind, 0)
        without = f" ({lost:,} without a translation)" if lost else ""
        yield f"{KINDS.get(kind, kind)}{without}", count, ", ".join(given["examples"].get(kind, [])[:3])


def _noticed(metrics: Mapping[str, Any]) -> str:
    rows = [[f"  {what}", f"{count:,}", f"({first})" if first else ""] for what, count, first in noticed(metrics)]
    return "\n".join(["Noticed in the input", *aligned(rows, "<><")]) if rows else ""
