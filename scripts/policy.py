"""The policy (``docs/policy.md``) as sentences that are run: the same question has the same answer in every language.

    python scripts/policy.py --stanza-dir DIR [--lang CODE]…
    python scripts/policy.py --tables

Each row of ``tests/policy/policy.tsv`` is a sentence with its translation: ``[ ]`` marks the entity's head, ``{ }``
the words of the translation that show the kind and the evidence. `call` is the gender or the reason for none that
follows from kind and evidence, in whatever language. The sentences of a language are aligned among themselves. With
``--tables`` it prints the tables of ``docs/policy.md``, otherwise what each language gets wrong.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias.align import Pair, StatisticalAligner  # noqa: E402 - the paths above come first
from mtbias.errors import MtbiasError  # noqa: E402
from mtbias.evaluation.gender_calls import GenderMeasure  # noqa: E402
from mtbias.files.reading import Record, read_table  # noqa: E402
from mtbias.morphology import AnalysisCache, StanzaAnalyser, find_package  # noqa: E402
from mtbias.types import Gender, GenderCall, Reason, Span  # noqa: E402
from scripts.challenge import challenge_language  # noqa: E402

FILE = ROOT / "tests" / "policy" / "policy.tsv"
LANGUAGES = ("ar", "cs", "de", "es", "fr", "he", "it", "ru", "uk")
COLUMNS = ("kind", "evidence", "call", "language", "source", "target")
CALLS: dict[str, Gender | Reason] = {str(call): call for call in (*Gender, *Reason)}


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """One sentence of the policy, with the call that follows from it."""

    kind: str
    evidence: str
    call: Gender | Reason
    language: str
    pair: Pair
    head: Span
    """Characters of the translation that are the entity's head."""
    shown: tuple[Span, ...]
    """Characters of the translation that show kind and evidence."""


def read_policy(path: Path = FILE) -> tuple[PolicyRow, ...]:
    """The rows of the policy, in order.

    Raises:
        DataError: a mark is missing, a call or a language is unknown, or one kind and evidence has two calls.
    """
    table = read_table(path)
    table.require(*COLUMNS)
    rows = tuple(_row(record) for record in table.records)
    calls: dict[tuple[str, str], PolicyRow] = {}
    for record, row in zip(table.records, rows, strict=True):
        first = calls.setdefault((row.kind, row.evidence), row)
        if first.call is not row.call:
            raise record.error(f"expected {first.call}, as in {first.language}; got {row.call}")
    return rows


def _row(record: Record) -> PolicyRow:
    language, call = record.get("language"), record.get("call")
    if language not in LANGUAGES:
        raise record.error(f"expected one of {', '.join(LANGUAGES)}; got {language!r}")
    if call not in CALLS:
        raise record.error(f"expected one of {', '.join(CALLS)}; got {call!r}")
    source, (entity,) = _unmarked(record.raw("source"), "[]", record)
    target, (head,) = _unmarked(re.sub(r"[{}]", "", record.raw("target")), "[]", record)
    _, shown = _unmarked(re.sub(r"[\[\]]", "", record.raw("target")), "{}", record)
    pair = Pair(f"{language}:{record.line}", source, target, entity, source[slice(*entity)].lower())
    return PolicyRow(record.get("kind"), record.get("evidence"), CALLS[call], language, pair, head, tuple(shown))


def _unmarked(text: str, marks: str, record: Record) -> tuple[str, list[Span]]:
    """`text` without the two `marks`, and the characters between them."""
    pieces = re.split(rf"[{re.escape(marks)}]", text)
    if len(pieces) % 2 == 0 or len(pieces) == 1 or (marks == "[]" and len(pieces) > 3):
        raise record.error(f"expected what {marks[0]} and {marks[1]} mark, got {text!r}")
    spans, at = [], 0
    for n, piece in enumerate(pieces):
        if n % 2:
            spans.append(Span(at, at + len(piece)))
        at += len(piece)
    return "".join(pieces), spans


def evaluate(rows: Sequence[PolicyRow], code: str, stanza_dir: Path) -> list[tuple[PolicyRow, GenderCall]]:
    """The calls on the rows of one language, aligned among themselves."""
    own = [row for row in rows if row.language == code]
    analyser = StanzaAnalyser(find_package(code, stanza_dir), AnalysisCache(None), device="cpu")
    calls = GenderMeasure(challenge_language(code), StatisticalAligner(), analyser).call_pairs([r.pair for r in own])
    return list(zip(own, calls, strict=True))


def is_right(row: PolicyRow, call: GenderCall) -> bool:
    """The call is the policy's, at the head; where both forms are shown, at either."""
    heads = row.shown if row.call is Gender.NEUTRAL else (row.head,)
    found = any(call.target[0].overlaps(head) for head in heads) if call.target else False
    return (call.gender or call.reason) is row.call and found


def describe(row: PolicyRow, call: GenderCall) -> str:
    """One row that is wrong, for a reader."""
    at = row.pair.text[slice(*call.target[0])] if call.target else "–"
    evidence = "; ".join(f"{e.kind} {e.word}: {e.gender or 'silent'} ({e.detail})" for e in call.evidence)
    return (
        f"{row.language} {row.kind}, {row.evidence}: expected {row.call} at {row.pair.text[slice(*row.head)]}, "
        f"got {call.gender or call.reason} at {at} [{evidence}] in {row.pair.text!r}"
    )


def table_lines(rows: Sequence[PolicyRow]) -> Iterator[str]:
    """The lines of ``docs/policy.md`` that show the rows: a table for each kind, a line for each evidence."""
    for kind in dict.fromkeys(row.kind for row in rows):
        yield from ("", f"### {kind[0].upper()}{kind[1:]}", "")
        yield "| evidence | call | " + " | ".join(LANGUAGES) + " |"
        yield "|---|---|" + "---|" * len(LANGUAGES)
        own = [row for row in rows if row.kind == kind]
        for evidence in dict.fromkeys(row.evidence for row in own):
            same = [row for row in own if row.evidence == evidence]
            cells = (", ".join(f"*{_cell(r)}*" for r in same if r.language == code) or "–" for code in LANGUAGES)
            yield f"| {evidence} | {same[0].call} | " + " | ".join(cells) + " |"


def _cell(row: PolicyRow) -> str:
    shown = " … ".join(row.pair.text[slice(*span)] for span in row.shown)
    return shown.replace("*", "\\*").replace("|", "\\|")


def main(*, stanza_dir: Path | None = None, lang: list[str] | None = None, tables: bool = False) -> int:
    """Print what each language gets wrong, or the tables of the policy.

    Parameters
    ----------
    stanza_dir
        Folder of Stanza models.
    lang
        Only these languages.
    tables
        Print the tables of docs/policy.md; nothing is run.
    """
    try:
        rows = read_policy()
        if tables or stanza_dir is None:
            print("\n".join(table_lines(rows)))
            return 0
        for code in lang or LANGUAGES:
            outcomes = evaluate(rows, code, stanza_dir)
            wrong = [describe(row, call) for row, call in outcomes if not is_right(row, call)]
            print(f"{code}  {len(outcomes) - len(wrong)} of {len(outcomes)}", *wrong, sep="\n", flush=True)
    except MtbiasError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(cyclopts.run(main))
