"""The table of a run for a terminal: plain text made of `metrics.json`, with one decimal as in the papers.

Nothing is computed here; every number stands in `metrics.json`. An undefined number is "–".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from mtbias.errors import DataError

UNDEFINED = "–"
WIDTH = 100
_SCHEMA = 1
_LABEL_WIDTH = 24

_BREAKDOWNS = (
    ("by_domain", "By domain"),
    ("by_pronouns", "By pronouns in the source"),
    ("by_stereotype", "By stereotype"),
)
_COLUMNS = {"accuracy": "accuracy", "f1_male": "F1 m", "f1_female": "F1 f", "delta_g": "ΔG", "delta_s": "ΔS"}
_ALL = tuple(_COLUMNS)
_WITH_INTERVAL = ("accuracy", "delta_g", "delta_s")


def render(metrics_json: Mapping[str, Any], *, width: int = WIDTH) -> str:
    """The table of one run, ending in a newline.

    From top to bottom: how many sentences were decided; the numbers of the whole corpus with their 95 % intervals and
    what they mean; the breakdowns; consistency over pairs, where there are any; what has no verdict and why; what the
    verdicts rest on; the signature.

    Args:
        metrics_json: the content of `metrics.json`, schema 1.
        width: columns of the terminal. Where the breakdowns do not fit, the F1 give way first, then the intervals; a
            remark beside the numbers of the whole corpus is left out where it is too long. Numbers are never cut, so
            below about 65 columns lines run over. The signature always stays in one line, to be copied.

    Raises:
        DataError: it is no `metrics.json` of schema 1.
    """
    if metrics_json.get("schema") != _SCHEMA:
        raise DataError(f"expected metrics.json of schema {_SCHEMA}, got schema {metrics_json.get('schema')!r}")
    try:
        blocks = [
            _headline(metrics_json["overall"]),
            _overall(metrics_json["overall"], metrics_json["intervals"], width),
            *_breakdowns(metrics_json, width),
            _consistency(metrics_json.get("consistency"), metrics_json["intervals"], width),
            *_shares("Without a verdict", "of all sentences", metrics_json["reasons"], metrics_json["reasons_percent"]),
            *_shares("Decided by", "of the decided", metrics_json["evidence"], metrics_json["evidence_percent"]),
            _input(metrics_json.get("corpus"), metrics_json.get("translations")),
            _signature(metrics_json["signature"]),
        ]
    except KeyError as error:
        raise DataError(f"expected the key {error} in metrics.json, got none; score the run again") from error
    return "\n\n".join(block for block in blocks if block) + "\n"


def _headline(overall: Mapping[str, Any]) -> str:
    return f"{overall['n']:,} sentences, {overall['decided']:,} decided ({number_text(overall['decided_percent'])} %)"


def _overall(overall: Mapping[str, Any], how: Mapping[str, Any], width: int) -> str:
    rows = overall["denominators"]
    lower, upper = overall["accuracy_bounds"]
    pro, anti = number_text(overall["accuracy_pro"]), number_text(overall["accuracy_anti"])
    numbers = (
        ("accuracy", "Accuracy", lower, f"failures count as wrong; left out: {number_text(upper)}"),
        ("f1_male", "F1 male", overall["f1_male"], _parts(overall, rows, "male")),
        ("f1_female", "F1 female", overall["f1_female"], _parts(overall, rows, "female")),
        ("delta_g", "ΔG", overall["delta_g"], "F1 male - F1 female; above 0 favours men"),
        (
            "delta_s",
            "ΔS",
            overall["delta_s"],
            f"accuracy pro stereotype {pro} (n {rows['pro']:,}) - anti {anti} (n {rows['anti']:,})",
        ),
        ("delta_s_macro_f1", "ΔS, macro-F1", overall["delta_s_macro_f1"], "the same with the mean of both F1"),
    )
    level = f"{how['level']:g} % interval" if how["resamples"] else ""
    table = [["", "per cent", level, ""]]
    table += [
        [name, number_text(value), interval_text(overall["ci"].get(key)) if level else "", note]
        for key, name, value, note in numbers
    ]
    full, bare = _aligned(table, "<>><"), _aligned([row[:3] for row in table], "<>>")
    return "\n".join(line if len(line) <= width else short for line, short in zip(full, bare, strict=True))


def _parts(overall: Mapping[str, Any], rows: Mapping[str, Any], gender: str) -> str:
    precision, recall = number_text(overall[f"precision_{gender}"]), number_text(overall[f"recall_{gender}"])
    return f"precision {precision} (n {rows[f'called_{gender}']:,}), recall {recall} (n {rows[gender]:,})"


def _breakdowns(metrics: Mapping[str, Any], width: int) -> list[str]:
    """The breakdowns, each under its title, with their columns under each other across all of them."""
    present = [(metrics[key], title) for key, title in _BREAKDOWNS if metrics[key]]
    if not present:
        return []
    groups = [(f"  {name}", group) for part, _ in present for name, group in part.items()]
    lines: list[str] = []
    for names, with_intervals in ((_ALL, True), (_WITH_INTERVAL, True), (_ALL, False)):
        lines = _grid(groups, names, with_intervals=with_intervals)
        if max(map(len, lines)) <= width:
            break
    head, *rest = lines
    blocks, start = [], 0
    for part, title in present:
        blocks.append("\n".join([title, *rest[start : start + len(part)]]))
        start += len(part)
    return [f"{head}\n{blocks[0]}", *blocks[1:]]


def _grid(groups: Sequence[tuple[str, Mapping[str, Any]]], names: Sequence[str], *, with_intervals: bool) -> list[str]:
    """A header and a line for each group."""
    columns = [
        ["", *(cut(label) for label, _ in groups)],
        ["n", *(f"{group['n']:,}" for _, group in groups)],
        ["decided", *(number_text(group["decided_percent"]) for _, group in groups)],
    ]
    for name in names:
        values = [[number_text(group[name])] for _, group in groups]
        if with_intervals and name in _WITH_INTERVAL:
            for value, (_, group) in zip(values, groups, strict=True):
                value.append("" if group[name] is None else interval_text(group["ci"].get(name)))
        columns.append([_COLUMNS[name], *_aligned(values, ">" * len(values[0]), gap=" ", strip=False)])
    return _aligned([list(row) for row in zip(*columns, strict=True)], "<" + ">" * (len(columns) - 1))


def _consistency(content: Mapping[str, Any] | None, how: Mapping[str, Any], width: int) -> str:
    """How often a system is right for one gender only, beside control pairs; nothing where the corpus has no pairs."""
    if content is None:
        return ""
    across, within, delta = (content["all"][name] for name in ("across", "within", "delta_i"))
    decided = content["decided"]["across"]
    outside = content["pairs_without_controls"]
    right = f"right for one only, n {across['n']:,}; both decided: {number_text(decided['inconsistent'])}"
    parts = f"across {number_text(delta['across'])} - within {number_text(delta['within'])}"
    rows = (
        ("I_across", across, "inconsistent", f"{right} (n {decided['n']:,})"),
        ("  man only", across, "male_only", "right for the man, not for the woman"),
        ("  woman only", across, "female_only", "right for the woman, not for the man"),
        (
            "I_within",
            within,
            "inconsistent",
            f"the same over controls, n {within['n']:,} pairs of one gender" if within["n"] else "no controls",
        ),
        ("ΔI", delta, "delta_i", f"{parts}, n {delta['n']:,} quadruples" if delta["n"] else "no quadruples"),
    )
    level = f"{how['level']:g} % interval" if how["resamples"] else ""
    table = [["", "per cent", level, ""]]
    table += [
        [f"  {name}", number_text(part[key]), interval_text(part["ci"][key]) if level else "", note]
        for name, part, key, note in rows
    ]
    full, bare = _aligned(table, "<>><"), _aligned([row[:3] for row in table], "<>>")
    lines = [line if len(line) <= width else short for line, short in zip(full, bare, strict=True)]
    if outside and delta["n"]:
        lines.append(f"  {outside:,} pairs have no controls: in I_across alone")
    lines += [f"  left out: {number:,}, {printable(name)}" for name, number in content["left_out"].items()]
    return "\n".join(["Consistency (pairs that differ in gender alone)", *lines])


def _shares(title: str, of_what: str, counts: Mapping[str, int], shares: Mapping[str, Any]) -> list[str]:
    if not counts:
        return []
    body = [[cut(f"  {name}"), f"{count:,}", f"{number_text(shares[name])} %"] for name, count in counts.items()]
    return ["\n".join([f"{title} ({of_what})", *_aligned(body, "<>>")])]


NOTICED = {
    "missing": "without a translation in the file",
    "empty": "with an empty translation",
    "extra": "lines of the file that belong to no sentence",
    "duplicates": "lines of the file with a source that stood before",
    "shared": "with the translation of the same sentence elsewhere",
    "normalised": "matched after Unicode and white space were normalised",
    "source_cut": "sources longer than the model can read, cut",
    "cut": "translations cut at the maximum length",
    "repetitive": "translations that fell into repetition",
    "redone": "not finite in half precision, translated again in fp32",
}


def _input(corpus: Mapping[str, Any] | None, translations: Mapping[str, Any] | None) -> str:
    """What was noticed while the corpus and the translations were read; nothing where nothing was."""
    rows: list[list[str]] = []
    if translations:
        examples = translations.get("examples", {})
        rows += [
            [f"  {text}", f"{translations[kind]:,}", printable(f"({', '.join(examples.get(kind, [])[:3])})")]
            for kind, text in NOTICED.items()
            if translations.get(kind)
        ]
    if corpus:
        if corpus.get("skipped"):
            rows.append([f"  rows of the corpus left out, of {corpus['rows']:,}", f"{corpus['skipped']:,}", ""])
        rows += [[printable(f"  {note}"), f"{number:,}", ""] for note, number in corpus.get("notes", {}).items()]
    return "\n".join(["Noticed in the input", *_aligned(rows, "<><")]) if rows else ""


def _signature(signature: str | None) -> str:
    return f"Signature: {printable(signature)}" if signature else ""


def number_text(value: float | None) -> str:
    """One decimal; a number that rounds to zero has no sign."""
    return UNDEFINED if value is None else f"{round(value, 1) + 0.0:.1f}"


def interval_text(interval: Sequence[float] | None) -> str:
    """``[lower, upper]``, one decimal."""
    return UNDEFINED if interval is None else f"[{number_text(interval[0])}, {number_text(interval[1])}]"


def cut(label: str) -> str:
    """A label without control characters, of 24 characters at most."""
    label = printable(label)
    return label if len(label) <= _LABEL_WIDTH else f"{label[: _LABEL_WIDTH - 1]}…"


def printable(text: str) -> str:
    """The text without control characters: names come from files, and a terminal obeys what it is sent."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", "?", text)


def _aligned(table: Sequence[Sequence[str]], sides: str, *, gap: str = "  ", strip: bool = True) -> list[str]:
    """Rows as lines, in columns of equal width, flush left (``<``) or right (``>``)."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        gap.join(f"{cell:{side}{size}}" for cell, side, size in zip(row, sides, widths, strict=True)) for row in table
    ]
    return [line.rstrip() for line in lines] if strip else lines
