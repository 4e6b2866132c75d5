"""Make corpora: the counterfactual version of a corpus, with twins that differ in gender alone."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtbias.cli import options
from mtbias.errors import DataError, UsageError

if TYPE_CHECKING:
    from mtbias.corpora.counterfactual_pairs import Counterfactual

_SHOWN = 5
_JSONL = frozenset((".jsonl", ".ndjson"))
_TSV = frozenset((".tsv", ".tab"))

_COUNTERFACTUAL = """\
Write each sentence with its twin of the other gender: the gendered pronouns are swapped, all else stays.

The file has the columns of `--dataset custom`, so it is translated and scored like any corpus; `pair` links the twins,
and the run then reports how often the system is right for one gender only. With --controls each of the two gets a
sentence of the same gender with another determiner before the entity ("the doctor", "this doctor"), linked by
`control`; the run then reports what gender changes beyond what any small change does.

A sentence is left out, and counted by reason, where its pronouns have both genders or not the gold one, or where other
words tell a gender (wife, Mr., waitress). A "her" that may be "him" or "his" is a guess where both are usual: these
are counted and named. Names stay as they are.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be made, each with its options."""
    parts = parser.add_subparsers(
        dest="part", metavar="WHAT", required=True, help="what to make (it has its own --help)"
    )
    part = parts.add_parser(
        "counterfactual",
        help="each sentence with its twin of the other gender",
        description=_COUNTERFACTUAL,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_dataset(part)
    part.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="FILE",
        help="the corpus to write: .tsv (or .tab), .jsonl (or .ndjson)",
    )
    part.add_argument("--controls", action="store_true", help="add controls of the same gender")
    part.add_argument("--leave-out-ambiguous", action="store_true", help="leave out sentences with a guess")
    part.add_argument("--json", action="store_true", help="print JSON alone")
    part.add_argument(
        "--cache-dir",
        type=Path,
        metavar="DIR",
        help="mtbias's cache (default: MTBIAS_CACHE, else the user's cache folder)",
    )
    part.add_argument("--debug", action="store_true", help="show the traceback of an error")


def run(args: argparse.Namespace) -> None:
    """Write the counterfactual corpus; print what was done."""
    from mtbias import __version__
    from mtbias.corpora import load_corpus
    from mtbias.corpora.counterfactual_pairs import format_custom, make_counterfactual
    from mtbias.files.writing import write_atomic

    suffix = args.out.suffix.lower()
    if suffix not in _JSONL | _TSV:
        raise UsageError(
            f"--out: expected a name that ends in {', '.join(sorted(_TSV | _JSONL))}, got {str(args.out)!r}"
        )
    corpus = load_corpus(args.dataset, args.data, cache=args.cache_dir)
    made = make_counterfactual(corpus.instances, controls=args.controls, leave_out_ambiguous=args.leave_out_ambiguous)
    if not made.instances:
        reasons = ", ".join(f"{reason} ({n:,})" for reason, n in made.left_out.items())
        raise DataError(f"no sentence of the corpus can be swapped: {reasons}", path=corpus.path)
    write_atomic(args.out, format_custom(made.instances, jsonl=suffix in _JSONL).encode("utf-8"))
    signed = (
        f"counterfactual|dataset:{corpus.name}|data:{corpus.sha256[:12]}|controls:{'yes' if args.controls else 'no'}"
        f"|ambiguous:{'left-out' if args.leave_out_ambiguous else 'kept'}|mtbias:{__version__}"
    )
    report = _report(made, len(corpus.instances), args.out, signed)
    print(json.dumps(report, ensure_ascii=False) if args.json else _text(report, controls=args.controls))


def _report(made: Counterfactual, n: int, out: Path, signature: str) -> dict[str, Any]:
    return {
        "sentences": n,
        "swapped": made.originals,
        "with_controls": made.controlled,
        "written": len(made.instances),
        "left_out": dict(made.left_out),
        "without_control": dict(made.without_control),
        "examples": {reason: list(ids) for reason, ids in made.examples.items()},
        "ambiguous": [list(place) for place in made.ambiguous],
        "out": str(out),
        "signature": signature,
    }


def _text(report: Mapping[str, Any], *, controls: bool) -> str:
    from mtbias.report.tables import columns, printable

    rows = [["sentences of the corpus", report["sentences"]], ["swapped", report["swapped"]]]
    if controls:
        rows.append(["  with controls", report["with_controls"]])
        rows += [[f"  no control: {reason}", n] for reason, n in report["without_control"].items()]
    rows += [[f"left out: {reason}", n] for reason, n in report["left_out"].items()]
    rows += [
        ["sentences written", report["written"]],
        ["her or his that may be read either way", len(report["ambiguous"])],
    ]
    lines = [columns(["", "number"], [[name, f"{value:,}"] for name, value in rows]).rstrip()]
    lines += [printable(f"  ambiguous: {id_}: …{around}…") for id_, around in report["ambiguous"][:_SHOWN]]
    if (more := len(report["ambiguous"]) - _SHOWN) > 0:
        lines.append(f"  … and {more:,} more (--json lists all)")
    return "\n".join([*lines, "", f"File: {report['out']}", f"Signature: {report['signature']}"])
