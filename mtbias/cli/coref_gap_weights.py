"""``mtbias coref gap-weights``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mtbias.cli.coref_shared import show
from mtbias.cli.shared import Flag, Json
from mtbias.errors import UsageError
from mtbias.files.writing import write_atomic
from mtbias.report.tables import columns, number

if TYPE_CHECKING:
    from mtbias.coref.gap_weights import NamedWeights, OtherWeights, PropertySpread

_CONFOUNDERS = {"names": "names in the text", "distance": "place of the antecedent among them"}


def command(
    *,
    data: Path | None = None,
    name_spans: Path | None = None,
    trimmed: Flag = False,
    over: list[Literal["names", "distance"]] | None = None,
    table: Path | None = None,
    group: str | None = None,
    property: list[str] | None = None,
    id: str | None = None,
    compare: Path | None = None,
    out: Path | None = None,
    json: Json = False,
) -> None:
    """Solve weights that balance two groups of examples over any properties, as even as possible (a linear program).

    For GAP, --data and --name-spans give the weights W of "The Gap on GAP". For anything else, --table and --group name
    the examples. A property that only one group has cannot be balanced: its examples get weight 0.

    Parameters
    ----------
    data
        A TSV file of GAP, or its folder (whose gap-test-name-spans.json --name-spans need not name then).
    name_spans
        With --data: the names of each of GAP's texts (JSON).
    trimmed
        With --data: leave out more than 15 names, and antecedents from the fifth name on: the weights W_t.
    over
        With --data: balance this property; one or several (default: both).
    table
        A table (CSV, TSV, JSONL) with a row for each example, instead of --data.
    group
        With --table: the column with the two groups.
    property
        With --table: a column to balance; one or several (default: all others). Columns of true and false
        mark a property, other columns have categories; an empty cell is in none. Numbers of many values must be cut
        into bins before.
    id
        With --table: the column whose value stands in --out (default: the row, from 0).
    compare
        Other weights of the same examples (JSON): say how far they are.
    out
        Where the weights go (JSON); for GAP a weight for each candidate, as `mtbias coref score gap` takes them.
    """
    from mtbias.coref.gap_weights import compare_weights, weigh_gap, weigh_table

    if data is not None and table is None:
        _refuse("--table", {"--group": group, "--property": property, "--id": id})
        weighed = weigh_gap(data, name_spans, over or [], trimmed=trimmed)
    elif table is not None and data is None:
        _refuse("--data", {"--name-spans": name_spans, "--trimmed": trimmed or None, "--over": over})
        if group is None:
            raise UsageError("--group is missing; see --help")
        weighed = weigh_table(table, group, property, id)
    else:
        raise UsageError("give either --data (with --name-spans), for GAP, or --table (with --group)")
    solved, notes = weighed.weights, weighed.notes
    compared = None if compare is None else compare_weights(solved, compare)
    result = {
        **solved.to_json(),
        "confounders": {
            name: {gender: asdict(one) for gender, one in of.items()} for name, of in weighed.confounders.items()
        },
        "compared": None if compared is None else asdict(compared),
        "notes": notes,
        "signature": weighed.signature,
    }
    text = _confounders(weighed.confounders) + _text(solved, compared, notes)
    if out is not None:
        write_atomic(out, dumps(solved.weights, ensure_ascii=False, indent=0).split("\n"))
        text += f"Weights: {out}\n"
    show(result, text, json=json)


def _refuse(goes_with: str, options: Mapping[str, object]) -> None:
    """`UsageError` where one of the options for the other kind of examples has a value."""
    if wrong := [name for name, value in options.items() if value is not None]:
        raise UsageError(f"{', '.join(wrong)} goes with {goes_with}")


def _confounders(differ: Mapping[str, Mapping[str, PropertySpread]]) -> str:
    rows = [
        [_CONFOUNDERS[name], gender, number(one.mean, 3), number(one.deviation, 3), str(one.n)]
        for name, of in differ.items()
        for gender, one in of.items()
    ]
    return columns(["before weighting", "", "mean", "s.d.", "examples"], rows) + "\n" if rows else ""


def _text(solved: NamedWeights, compared: OtherWeights | None, notes: Sequence[str]) -> str:
    of = solved.balance
    groups = zip(
        (*of.groups, "together"), (*of.sizes, len(of.weights)), (*of.effective_sizes, of.effective_size), strict=True
    )
    largest = of.largest()
    mean = sum(weight for _, weight in largest) / len(largest)
    lines = [
        columns(["", "examples", "effective"], [[name, str(n), number(effective, 1)] for name, n, effective in groups]),
        f"objective {number(of.objective, 4)} (at most {of.gap:.0e} of it above the minimum); {of.n_cells} cells",
        f"balanced: {', '.join(of.balanced) or 'nothing but the groups'}",
        f"of one group only: {', '.join(of.one_sided) or 'nothing'}; {of.n_zero} examples have weight 0",
        *notes,
        "",
        columns(
            [f"the {len(largest)} largest", f"mean {number(mean, 4)}"],
            [[solved.ids[i], number(weight, 4)] for i, weight in largest],
        ),
    ]
    if compared is not None:
        lines.append(
            f"{compared.file}: objective {number(compared.objective, 4)} ({compared.relative:+.1e} relative); "
            f"weights differ by {compared.largest:.1e} at most ({compared.largest_id})\n"
        )
    return "\n".join(lines)
