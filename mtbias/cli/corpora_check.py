"""``mtbias corpora check``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtbias.cli.shared import Count, Json, Seed, print_json, refuse_input
from mtbias.errors import SettingError

if TYPE_CHECKING:
    from mtbias.mining.checked_rows import CheckedCorpus, CheckedSample, Precision


def command(
    *,
    data: Path,
    out: Path | None = None,
    rows: Count = 200,
    seed: Seed = 0,
    judgements: Path | None = None,
    json: Json = False,
) -> None:
    """Check rows of a mined corpus by hand: a page that takes judgements, and what they say of the corpus.

    Without --judgements, --out is an HTML page of one file that shows rows drawn at random, a sentence at a time; keys
    say right, wrong, unsure and go back. The judgements stay in the browser and are downloaded as a TSV. With
    --judgements that TSV is read: the share of right rows with its interval, by gender, pattern and confidence too;
    --out is then the corpus without the rows that were judged wrong.

    Parameters
    ----------
    data
        The corpus: a table with BUG's columns, as `mtbias corpora mine` writes it.
    out
        The page (.html); with --judgements the corpus to write (.tsv, .csv, .jsonl).
    rows
        How many rows the page shows.
    seed
        Of the draw; with the same seed, fewer rows are the first of more.
    judgements
        The judgements that the page gave.
    """
    from mtbias.files.signatures import signature_line
    from mtbias.mining.checked_rows import draw, precision_of, read_corpus, read_judgements

    if out is not None:
        refuse_input("out", out, data, *([] if judgements is None else [judgements]))
    corpus = read_corpus(data)
    files = {"data": {data.name: corpus.table.file.sha256}}
    if judgements is not None:
        file, said = read_judgements(judgements)
        checked = precision_of(corpus.rows, said, judgements)
        result = _result(checked)
        if out is not None:
            result |= {"out": str(out), "rows": len(corpus.table.records), "written": _filter(corpus, said, out)}
        result["signature"] = signature_line("check", {**files, "judgements": {judgements.name: file.sha256}}, {})
        if json:
            print_json(result, indent=None)
        else:
            print(_text(checked, result))
        return

    from mtbias.files.writing import write_atomic
    from mtbias.mining.check_page import render_check_page

    if out is None or out.suffix.lower() not in {".html", ".htm"}:
        raise SettingError("out", f"expected a page that ends in .html, got {'nothing' if out is None else str(out)!r}")
    drawn = draw(corpus.rows, rows, seed)
    write_atomic(out, render_check_page(drawn, data, corpus.table.file.sha256).encode())
    signed = signature_line("check", files, {"rows": len(drawn), "seed": seed})
    result = {"rows": len(corpus.rows), "drawn": len(drawn), "left_out": corpus.left_out, "out": str(out)}
    if json:
        print_json({**result, "signature": signed}, indent=None)
        return
    print(
        f"{len(drawn):,} of {len(corpus.rows):,} rows, drawn at random\n"
        + (f"{corpus.left_out:,} rows have no sentence, or another word at an index\n" if corpus.left_out else "")
        + f"Page: {out}\nSignature: {signed}"
    )


def _filter(corpus: CheckedCorpus, judgements: dict[str, str], out: Path) -> int:
    """Write the corpus without the rows that are wrong; how many rows stay."""
    from mtbias.mining.checked_rows import WRONG
    from mtbias.mining.kept_rows import write_rows

    wrong = {row.record.row for row in corpus.rows if judgements.get(row.key) == WRONG}
    kept = [record for record in corpus.table.records if record.row not in wrong]
    write_rows(out, corpus.table, kept)
    return len(kept)


def _result(checked: CheckedSample) -> dict[str, Any]:
    return {
        **checked.together.to_json(),
        "by_pattern": [part.to_json() for part in checked.by_pattern],
        "by_confidence": [part.to_json() for part in checked.by_confidence],
        "by_gender": [part.to_json() for part in checked.by_gender],
        "unknown": checked.unknown,
    }


def _text(checked: CheckedSample, result: dict[str, Any]) -> str:
    from mtbias.report.tables import columns, interval, number

    def rows(parts: Sequence[Precision]) -> list[list[str]]:
        return [
            [part.name, *(f"{n:,}" for n in (part.right, part.wrong, part.unsure)), number(part.estimate.value, 1),
             interval(part.estimate.interval, 1), number(part.confidence, 2)]
            for part in parts
        ]  # fmt: skip

    head = ["right", "wrong", "unsure", "precision", "95 % interval", "mean confidence"]
    tables = [
        ("rows", [checked.together]),
        ("gender", checked.by_gender),
        ("pattern", checked.by_pattern),
        ("confidence", checked.by_confidence),
    ]
    lines = [columns([name, *head], rows(parts)) for name, parts in tables if parts]
    if checked.together.unsure:
        strict = checked.together.strict
        lines.append(f"Were all unsure rows wrong: {number(strict.value, 1)} {interval(strict.interval, 1)}")
    if checked.unknown:
        lines.append(f"{checked.unknown:,} judgements are on rows that this corpus does not have")
    if "out" in result:
        lines.append(f"File: {result['out']} ({result['written']:,} of {result['rows']:,} rows)")
    return "\n".join([*lines, f"Signature: {result['signature']}"])
