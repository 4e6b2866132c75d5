"""Make Counter-GAP's quadruples: for each instance its control and its two gender-swapped twins.

--data is a TSV file of GAP's columns (ID, Text, Pronoun, Pronoun-offset, A, A-offset, A-coref, B, B-offset, B-coref;
others are carried along), with or without quoting. The two people of the other gender are those of the columns C and D
where there are such, else the first two names of that gender that --names lists and the text has, else names of the
list that are like those of A and B. Offsets in the output are those of the new texts.

--names is a table (TSV, CSV) with the columns name, gender (male, female, mostly_male, mostly_female) and frequencies,
such as one column a country. Without it a short example list serves. A "her" that may be "him" or "his" is a
guess where both are usual: these are counted and named.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtbias.errors import DataError

if TYPE_CHECKING:
    from mtbias.coref.counterfactual_quadruples import Made
    from mtbias.coref.first_names import NameList
    from mtbias.coref.gap_instances import GapFile

_SHOWN = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--data", type=Path, required=True, metavar="FILE", help="the original instances")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the quadruples to write (quoted TSV)")
    parser.add_argument("--names", type=Path, metavar="FILE", help="first names (default: a short example list)")
    parser.add_argument("--leave-out-ambiguous", action="store_true", help="leave out quadruples with a guess")
    parser.add_argument("--json", action="store_true", help="print JSON alone")


def run(args: argparse.Namespace) -> None:
    """Write the file; print what was done."""
    from mtbias.coref.first_names import example_names, read_names
    from mtbias.coref.gap_instances import read_instances, write_instances
    from mtbias.coref.predicted_clusters import signature
    from mtbias.files.writing import write_atomic

    file = read_instances(args.data)
    names = read_names(args.names) if args.names else example_names()
    made, failed, left = _make(file, names)
    ambiguous = [(m.instances[0].id, place) for m in made for place in m.ambiguous]
    kept = [m for m in made if not (args.leave_out_ambiguous and m.ambiguous)]
    text = write_instances((instance for m in kept for instance in m.instances), file.columns)
    write_atomic(args.out, text.encode("utf-8"))
    signed = signature(
        "counterfactual",
        {"data": {args.data.name: file.sha256}, "names": {"names": names.sha256}},
        list="given" if args.names else "example",
        ambiguous="left-out" if args.leave_out_ambiguous else "kept",
    )
    where = Counter(m.others.where for m in kept)
    report: dict[str, Any] = {
        "instances": len(file.instances),
        "twins_passed_over": len(file.instances) - len(made) - len(failed),
        "quadruples": len(kept),
        "could_not_be_made": failed,
        "other_people": {
            "of_the_columns_C_and_D": where["given"],
            "of_the_text": where["text"],
            "of_the_list": where["list"],
        },
        "gendered_words_swapped": sum(m.words for m in kept),
        "names_of_others_left": left,
        "ambiguous": ambiguous,
        "out": str(args.out),
        "signature": signed,
    }
    print(json.dumps(report, ensure_ascii=False) if args.json else _text(report))


def _make(file: GapFile, names: NameList) -> tuple[list[Made], list[str], int]:
    """The quadruples, why others could not be made, and in how many a further name of the list stays as it is."""
    from mtbias.coref.counterfactual_quadruples import choose_others, left_names, make_quadruple, originals
    from mtbias.coref.first_names import counterparts

    known = counterparts(names.names)
    made: list[Made] = []
    failed: list[str] = []
    left = 0
    for instance in originals(file.instances):
        try:
            others = choose_others(instance, known, file.columns)
            made.append(make_quadruple(instance, others, file.columns))
        except DataError as error:
            failed.append(str(error))
            continue
        left += bool(left_names(instance, others, known))
    if not made:
        raise DataError(f"no quadruple could be made; the first reason: {failed[0]}", path=file.path)
    return made, failed, left


def _text(report: dict[str, Any]) -> str:
    from mtbias.report.tables import columns

    people = report["other_people"]
    rows = [
        ["instances", report["instances"]],
        ["twins passed over", report["twins_passed_over"]],
        ["could not be made", len(report["could_not_be_made"])],
        ["quadruples written", report["quadruples"]],
        ["  other people of the columns C and D", people["of_the_columns_C_and_D"]],
        ["  other people of the text", people["of_the_text"]],
        ["  other people of the list", people["of_the_list"]],
        ["gendered words swapped in each of two twins", report["gendered_words_swapped"]],
        ["texts in which a further name of the list stays", report["names_of_others_left"]],
        ["her or his that may be read either way", len(report["ambiguous"])],
    ]
    lines = [columns(["", "number"], [[name, str(value)] for name, value in rows]).rstrip()]
    lines += [f"  not made: {reason}" for reason in _some(report["could_not_be_made"])]
    lines += [f"  ambiguous: {place}" for place in _some([f"{id_}: …{text}…" for id_, text in report["ambiguous"]])]
    return "\n".join([*lines, "", f"File: {report['out']}", f"Signature: {report['signature']}"])


def _some(places: list[str]) -> list[str]:
    more = len(places) - _SHOWN
    return places[:_SHOWN] + ([f"… and {more} more (--json lists all)"] if more > 0 else [])
