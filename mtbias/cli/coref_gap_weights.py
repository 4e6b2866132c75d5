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
from mtbias.files.signatures import signature_line
from mtbias.files.writing import write_atomic
from mtbias.report.tables import columns, number

if TYPE_CHECKING:
    from mtbias.coref.gap_weights import NamedWeights, OtherWeights, PropertySpread

    Confounders = Mapping[str, Mapping[str, PropertySpread]]
    Solved = tuple[NamedWeights, list[str], str, Confounders]
    """Weights, notes, signature, and what the genders differ in where that is known."""


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
        With --data: balance this property; may be given several times (default: both).
    table
        A table (CSV, TSV, JSONL) with a row for each example, instead of --data.
    group
        With --table: the column with the two groups.
    property
        With --table: a column to balance; may be given several times (default: all others). Columns of true and false
        mark a property, other columns have categories; an empty cell is in none. Numbers of many values must be cut
        into bins before.
    id
        With --table: the column whose value stands in --out (default: the row, from 0).
    compare
        Other weights of the same examples (JSON): say how far they are.
    out
        Where the weights go (JSON); for GAP a weight for each candidate, which `mtbias coref gap --weights` reads.
    """
    from mtbias.coref.gap_data import files_in
    from mtbias.coref.gap_weights import compare_weights

    if data is not None and table is None:
        _refuse("--table", {"--group": group, "--property": property, "--id": id})
        data, name_spans = files_in(data, name_spans)
        if name_spans is None:
            raise UsageError("--name-spans is missing; see --help")
        solved, notes, signed, differ = _of_gap(data, name_spans, over or [], trimmed=trimmed)
    elif table is not None and data is None:
        _refuse("--data", {"--name-spans": name_spans, "--trimmed": trimmed or None, "--over": over})
        if group is None:
            raise UsageError("--group is missing; see --help")
        solved, notes, signed, differ = _of_table(table, group, property, id)
    else:
        raise UsageError("give either --data (with --name-spans), for GAP, or --table (with --group)")
    compared = None if compare is None else compare_weights(solved, compare)
    other = None if compared is None else asdict(compared)
    said = {name: {gender: asdict(one) for gender, one in of.items()} for name, of in differ.items()}
    result = {**solved.to_json(), "confounders": said, "compared": other, "notes": notes, "signature": signed}
    text = _confounders(differ) + _text(solved, compared, notes)
    if out is not None:
        write_atomic(out, dumps(solved.weights, ensure_ascii=False, indent=0).split("\n"))
        text += f"Weights: {out}\n"
    show(result, text, json=json)


def _refuse(goes_with: str, options: Mapping[str, object]) -> None:
    """`UsageError` where one of the options for the other kind of examples has a value."""
    if wrong := [name for name, value in options.items() if value is not None]:
        raise UsageError(f"{', '.join(wrong)} goes with {goes_with}")


def _of_gap(data: Path, name_spans: Path, over: Sequence[str], *, trimmed: bool) -> Solved:
    from mtbias.coref.gap_data import read_instances, read_name_spans
    from mtbias.coref.gap_weights import PROPERTIES, confounders, solve_gap_weights

    file = read_instances(data)
    spans = read_name_spans(name_spans, file)
    chosen = [name for name in PROPERTIES if not over or name in over]
    found = solve_gap_weights(file, spans, over=chosen, trimmed=trimmed)
    notes = [f"{found.n_without_antecedent} examples without antecedent among the candidates have weight 0"]
    if trimmed:
        notes.append(f"{found.n_trimmed} examples with too many names or too far an antecedent have weight 0")
    if spans.unknown:
        notes.append(f"{spans.unknown} texts of {name_spans} are not in the data")
    files = {"data": {data.name: file.sha256}, "names": {name_spans.name: spans.sha256}}
    options = {"tokens": "regex-as-spacy2", "over": "+".join(chosen), "trimmed": "yes" if trimmed else "no"}
    signed = signature_line("coref:gap-weights", files, {**options, "objective": "pair-maxima"})
    return found, notes, signed, confounders(file, spans)


def _of_table(path: Path, group: str, properties: Sequence[str] | None, id_: str | None) -> Solved:
    from mtbias.coref.gap_weights import solve_table_weights
    from mtbias.files.reading import read_table

    table = read_table(path)
    chosen = properties or [column for column in table.columns if column and column not in {group, id_}]
    solved = solve_table_weights(table, group, chosen, id_)
    files = {"table": {path.name: table.file.sha256}}
    options = {"group": group, "over": "+".join(chosen), "objective": "pair-maxima"}
    signed = signature_line("coref:gap-weights", files, options)
    return solved, [], signed, {}


def _confounders(differ: Confounders) -> str:
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
