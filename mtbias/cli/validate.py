"""How often the evaluator agrees with human labels.

FILE is a table (CSV, TSV, JSONL) with the columns lang, system, source, target, label (m, f, n), usable, annotator and
winomt_index; where present, basis (what the label rests on: N noun, D article or adjective, V verb, P pronoun,
C against the phrase, X nothing) and head_index (whitespace token of the target) are used too. Alignment is learnt from
these sentences together with those of --translations. A row without a verdict counts as a disagreement.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from mtbias.cli import options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    options.add_language(parser)
    parser.add_argument("--gold", type=Path, required=True, metavar="FILE", help="the human labels")
    parser.add_argument(
        "--translations", type=Path, action="append", default=[], metavar="FILE",
        help='"source ||| target" lines that alignment may learn from too; may be given several times',
    )  # fmt: skip
    parser.add_argument("--data", type=Path, metavar="PATH", help="WinoMT, for labels without entity and word_index")
    parser.add_argument("--annotator", default="1", metavar="ID", help="whose labels (default: 1)")
    parser.add_argument("--rows", action="store_true", help="list the rows of disagreement")
    parser.add_argument("--json", action="store_true", help="print JSON alone; all numbers in per cent")
    options.add_machine(parser)


def run(args: argparse.Namespace) -> None:
    """Validate and print."""
    from mtbias.align import get_aligner
    from mtbias.corpora import load_corpus
    from mtbias.corpora.labels import read_label_file
    from mtbias.pipeline import validate
    from mtbias.registry import get_language
    from mtbias.translate.bitext import read_bitext

    language = get_language(args.lang)
    aligner = get_aligner(args.aligner)
    file = read_label_file(args.gold)
    winomt = None
    if file.needs_winomt:
        winomt = {i.row: i for i in load_corpus("winomt", args.data, cache=args.cache_dir).instances}
    labels = file.labels(args.lang, args.annotator, winomt)
    bitext = [pair for path in args.translations for pair in read_bitext(path)]
    analyser = options.make_analyser(args, language)
    result = validate(
        labels, bitext, language, aligner, analyser, annotator=args.annotator, progress=options.ProgressLine()
    )
    print(json.dumps(result.to_json(), ensure_ascii=False) if args.json else _table(result.to_json()))
    if args.rows and not args.json:
        for row in result.disagreements():
            print("\n" + row)


def _table(result: dict[str, Any]) -> str:
    def number(value: float | None) -> str:
        return "–" if value is None else f"{value:.1f}"

    low, high = result["agreement_interval"]
    lines = [
        f"{result['lang']}: {result['n']} usable labels of annotator {result['annotator']}",
        (
            f"  agreement          {number(result['agreement'])}  [{low:.1f}, {high:.1f}] (Wilson, 95 %; "
            "undecided counts as disagreement)"
        ),
        f"  Cohen's κ          {number(result['kappa'])}",
        f"  balanced accuracy  {number(result['balanced_accuracy'])}",
        f"  undecided          {number(result['undecided'])}  ({result['fixed_nouns']} by a noun of fixed gender)",
        f"  agreement of the decided  {number(result['agreement_decided'])}",
        f"  head exact         {number(result['head_exact'])}  ({result['head_n']} rows with a head)",
    ]
    if result["by_basis"]:
        lines.append("  by basis of the label:")
        lines += [f"    {k:<3} {number(v['agreement']):>5}  (n = {v['n']})" for k, v in result["by_basis"].items()]
    lines.append(f"  {result['signature']}")
    return "\n".join(lines)
