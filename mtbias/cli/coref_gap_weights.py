"""Weights that balance two groups of examples over any properties, as even as possible (a linear program).

For GAP: --data (a TSV file of GAP, or its folder) and --name-spans give the weights W of "The Gap on GAP", --trimmed
W_t; --over names or --over distance balances one of the two properties. --out gets a weight for each candidate, which
`mtbias coref gap --weights` reads.

For anything else: --table is a table (CSV, TSV, JSONL) with a row for each example; --group names the column with the
two groups, --property a column to balance (given several times; by default all others). Columns of true and false
mark a property, other columns have categories; an empty cell is in none. --id names the column whose value stands in
--out (default: the row, from 0). Numbers of many values must be cut into bins before.

A property that only one group has cannot be balanced: its examples get weight 0. --compare has other weights for the
same examples and says how far they are.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtbias.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mtbias.files.reading import Table
    from mtbias.stats.balance import Balance


@dataclass(frozen=True)
class _Solved:
    """Weights with the names of their examples."""

    balance: Balance
    ids: Sequence[str]
    keys: Sequence[str]
    """Under what name each weight stands in a file."""
    weights: Mapping[str, float]
    """What goes into the file."""
    notes: Sequence[str]
    signature: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--data", type=Path, metavar="PATH", help="GAP, such as gap-test.tsv")
    parser.add_argument("--name-spans", type=Path, metavar="FILE", help="the names of each of GAP's texts (JSON)")
    parser.add_argument("--trimmed", action="store_true", help="leave out more than 15 names, and the fifth name on")
    parser.add_argument(
        "--over", choices=("names", "distance"), action="append", metavar="PROPERTY", help="names, distance; or both"
    )
    parser.add_argument("--table", type=Path, metavar="FILE", help="examples of any kind, instead of --data")
    parser.add_argument("--group", metavar="COLUMN", help="the table's column with the two groups")
    parser.add_argument(
        "--property", action="append", metavar="COLUMN", help="a column to balance; may be given several times"
    )
    parser.add_argument("--id", metavar="COLUMN", help="the table's column with names of the rows")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="other weights of the same examples (JSON)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the weights go (JSON)")
    parser.add_argument("--json", action="store_true", help="print JSON alone")


def run(args: argparse.Namespace) -> None:
    """Solve, write and print."""
    from mtbias.coref.gap_spans import files_in
    from mtbias.files.writing import write_atomic

    if args.data is not None:
        args.data, args.name_spans = files_in(args.data, args.name_spans)
    _check(args)
    solved = _of_table(args) if args.data is None else _of_gap(args)
    compared = None if args.compare is None else _compare(solved, args.compare)
    if args.out is not None:
        lines = [f"{json.dumps(key, ensure_ascii=False)}: {weight!r}" for key, weight in solved.weights.items()]
        write_atomic(args.out, ["{", *(line + "," for line in lines[:-1]), lines[-1], "}"])
    if args.json:
        print(json.dumps(_to_json(solved, compared), ensure_ascii=False))
    else:
        print(_text(solved, compared), end="")
        if args.out is not None:
            print(f"Weights: {args.out}")
        print(f"Signature: {solved.signature}")


def _check(args: argparse.Namespace) -> None:
    """Refuse calls that cannot be meant.

    Raises:
        UsageError: not exactly one of --data and --table; options of the one with the other; options missing.

    """
    if (args.data is None) == (args.table is None):
        raise UsageError("give either --data (with --name-spans), for GAP, or --table (with --group)")
    of_gap = {"--name-spans": args.name_spans, "--trimmed": args.trimmed or None, "--over": args.over}
    of_table = {"--group": args.group, "--property": args.property, "--id": args.id}
    used, with_, needed = (of_table, "--table", "--name-spans") if args.table is None else (of_gap, "--data", "--group")
    if wrong := [name for name, value in used.items() if value is not None]:
        raise UsageError(f"{', '.join(wrong)} goes with {with_}")
    if {**of_gap, **of_table}[needed] is None:
        raise UsageError(f"{needed} is missing; see --help")


def _of_gap(args: argparse.Namespace) -> _Solved:
    from mtbias import __version__
    from mtbias.coref.gap_example_weights import PROPERTIES, solve_gap_weights
    from mtbias.coref.gap_instances import read_instances
    from mtbias.coref.gap_spans import read_name_spans

    data = read_instances(args.data)
    spans = read_name_spans(args.name_spans, data)
    over = [name for name in PROPERTIES if args.over is None or name in args.over]
    found = solve_gap_weights(data, spans, over=over, trimmed=args.trimmed)
    notes = [f"{found.n_without_antecedent} examples without antecedent among the candidates have weight 0"]
    if args.trimmed:
        notes.append(f"{found.n_trimmed} examples with too many names or too far an antecedent have weight 0")
    if spans.unknown:
        notes.append(f"{spans.unknown} texts of {args.name_spans} are not in the data")
    signature = (
        f"coref:gap-weights|data:{data.sha256[:12]}|names:{spans.sha256[:12]}|tokens:regex-as-spacy2"
        f"|over:{'+'.join(over)}|trimmed:{'yes' if args.trimmed else 'no'}|objective:pair-maxima|mtbias:{__version__}"
    )
    ids = [f"{e.id} (N {e.names}, D {e.distance or 'none'})" for e in found.examples]
    keys = [e.id + e.antecedent for e in found.examples]
    return _Solved(found.balance, ids, keys, found.weights, notes, signature)


def _of_table(args: argparse.Namespace) -> _Solved:
    from mtbias import __version__
    from mtbias.files.reading import read_table
    from mtbias.stats.balance import balance

    table = read_table(args.table)
    chosen = args.property or [c for c in table.columns if c and c not in {args.group, args.id}]
    table.require(args.group, *chosen, *([] if args.id is None else [args.id]))
    for record in table.records:
        if not record.get(args.group):
            raise DataError(f"no group under {args.group!r}", path=args.table, line=record.line)
    try:
        found = balance([r.get(args.group) for r in table.records], {name: _values(table, name) for name in chosen})
    except DataError as error:
        raise DataError(str(error), path=args.table) from None
    keys = [str(r.row) if args.id is None else r.get(args.id) for r in table.records]
    if len(set(keys)) != len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise DataError(f"{twice!r} stands twice under {args.id!r}; ids must differ", path=args.table)
    weights = dict(zip(keys, map(float, found.weights), strict=True))
    signature = (
        f"coref:gap-weights|table:{table.file.sha256[:12]}|group:{args.group}|over:{'+'.join(chosen)}"
        f"|objective:pair-maxima|mtbias:{__version__}"
    )
    return _Solved(found, keys, keys, weights, [], signature)


def _values(table: Table, column: str) -> list[str | bool | None]:
    """True and false where the column has nothing else; text otherwise; None for an empty cell."""
    texts = [record.get(column) for record in table.records]
    truths = {"true": True, "false": False}
    if all(not text or text.lower() in truths for text in texts):
        return [truths.get(text.lower()) for text in texts]
    return [text or None for text in texts]


@dataclass(frozen=True)
class _OtherWeights:
    file: str
    objective: float
    relative: float
    """(its objective − ours) / ours."""
    largest: float
    """Largest absolute difference of two weights."""
    largest_id: str


def _compare(solved: _Solved, path: Path) -> _OtherWeights:
    from mtbias.files.reading import parse_json_by_id, read_text
    from mtbias.stats.balance import objective

    content = parse_json_by_id(read_text(path))
    other = []
    for key in solved.keys:
        weight = content.get(key)
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise DataError(f"a weight for {key!r} expected, found {weight!r:.60}", path=path)
        other.append(float(weight))
    ours = solved.balance
    theirs = objective(other, ours.is_second)
    differences = [abs(a - b) for a, b in zip(other, ours.weights, strict=True)]
    at = max(range(len(differences)), key=differences.__getitem__)
    relative = theirs / ours.objective - 1 if ours.objective else 0.0
    return _OtherWeights(str(path), theirs, relative, float(differences[at]), solved.ids[at])


def _to_json(solved: _Solved, compared: _OtherWeights | None) -> dict[str, Any]:
    from dataclasses import asdict

    b = solved.balance
    return {
        "n": len(b.weights),
        "groups": {
            name: {"n": size, "effective_size": effective}
            for name, size, effective in zip(b.groups, b.sizes, b.effective_sizes, strict=True)
        },
        "effective_size": b.effective_size,
        "objective": b.objective,
        "gap": b.gap,
        "n_cells": b.n_cells,
        "balanced": list(b.balanced),
        "one_sided": list(b.one_sided),
        "n_zero": b.n_zero,
        "largest": [{"key": solved.keys[i], "weight": weight} for i, weight in b.largest()],
        "compared": None if compared is None else asdict(compared),
        "notes": list(solved.notes),
        "signature": solved.signature,
    }


def _text(solved: _Solved, compared: _OtherWeights | None) -> str:
    from mtbias.report.tables import columns, number

    b = solved.balance
    rows = [
        [name, str(size), number(effective, 1)]
        for name, size, effective in zip(
            (*b.groups, "together"), (*b.sizes, len(b.weights)), (*b.effective_sizes, b.effective_size), strict=True
        )
    ]
    largest = b.largest()
    mean = sum(weight for _, weight in largest) / len(largest)
    lines = [
        columns(["", "examples", "effective"], rows),
        f"objective {number(b.objective, 4)} (at most {b.gap:.0e} of it above the minimum); {b.n_cells} cells",
        f"balanced: {', '.join(b.balanced) or 'nothing but the groups'}",
        f"of one group only: {', '.join(b.one_sided) or 'nothing'}; {b.n_zero} examples have weight 0",
        *solved.notes,
        "",
        columns([f"the {len(largest)} largest", f"mean {number(mean, 4)}"], [
            [solved.ids[i], number(weight, 4)] for i, weight in largest
        ]),
    ]  # fmt: skip
    if compared is not None:
        lines.append(
            f"{compared.file}: objective {number(compared.objective, 4)} ({compared.relative:+.1e} relative); "
            f"weights differ by {compared.largest:.1e} at most ({compared.largest_id})\n"
        )
    return "\n".join(lines)
