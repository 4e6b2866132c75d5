"""How often the evaluator agrees with human labels, and what its errors do to a run's numbers.

FILE is a table (CSV, TSV, JSONL) with the columns lang, system, source, target, label (m, f, n), usable, annotator and
winomt_index; where present, basis (what the label rests on: N noun, D article or adjective, V verb, P pronoun,
C against the phrase, X nothing) and head_index (whitespace token of the target) are used too. Alignment is learnt from
these sentences together with those of --translations. A row without a verdict counts as a disagreement.

With --correct, accuracy, ΔG and ΔS of a run are printed as the evaluator has them and as a human would have them,
estimated from the errors on the labels; the intervals carry the sampling of the run's sentences and of the labels.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtbias.cli import options
from mtbias.errors import DataError, UsageError

if TYPE_CHECKING:
    from mtbias.evaluation.validation import CorrectedRun, Validation
    from mtbias.language.definition import Language
    from mtbias.runs import FinishedRun


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--lang", required=True, action="append", metavar="CODE",
        help="target language, such as de (see `mtbias languages`); may be given several times",
    )  # fmt: skip
    parser.add_argument("--gold", type=Path, required=True, metavar="FILE", help="the human labels")
    parser.add_argument(
        "--translations", type=Path, action="append", default=[], metavar="FILE",
        help='"source ||| target" lines that alignment may learn from too, or a folder that has them as en-CODE.txt; '
        "may be given several times",
    )  # fmt: skip
    parser.add_argument("--data", type=Path, metavar="PATH", help="WinoMT, for labels without entity and word_index")
    parser.add_argument("--annotator", default="1", metavar="ID", help="whose labels (default: 1)")
    parser.add_argument(
        "--basis", type=_letters, default=(), metavar="N,D",
        help="count only labels that rest on these, such as N,D for the noun phrase (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--correct", type=Path, nargs="+", action="extend", default=[], metavar="RUN",
        help="folders of runs whose numbers to correct for the evaluator's errors",
    )  # fmt: skip
    parser.add_argument(
        "--pool",
        action="store_true",
        help="correct with the errors of all these languages together",
    )
    parser.add_argument("--report", type=Path, metavar="FILE", help="write a page (HTML, one file) with all of it")
    parser.add_argument("--rows", action="store_true", help="list the rows of disagreement")
    parser.add_argument("--json", action="store_true", help="print JSON alone; all numbers in per cent")
    parser.add_argument(
        "--seed", type=options.at_least_0, default=0, metavar="N", help="seed of the corrected intervals (default: 0)"
    )
    parser.add_argument(
        "--resamples", type=options.at_least_0, default=2000, metavar="N",
        help="draws of the corrected intervals (default: 2000)",
    )  # fmt: skip
    options.add_machine(parser)


def run(args: argparse.Namespace) -> None:
    """Validate and print."""
    from mtbias.evaluation.validation import together
    from mtbias.language.installed import get_language
    from mtbias.report.validation_table import render_validation

    languages = [get_language(code) for code in dict.fromkeys(args.lang)]
    runs = _runs(args)
    done = _validate(args, languages)
    whole = together(done) if len(done) > 1 else done[0]
    corrected = _correct(args, runs, done)
    numbers, shown = [v.to_json() for v in done], [c.to_json() for c in corrected]
    if args.json:
        if args.rows:
            numbers = [{**part, "differing": v.differing_json()} for part, v in zip(numbers, done, strict=True)]
        print(json.dumps(_content(numbers, whole.to_json(), shown, asked=bool(args.correct)), ensure_ascii=False))
    else:
        print(render_validation(numbers, whole.to_json(), shown), end="")
    if args.rows and not args.json:
        for validation in done:
            for row in validation.disagreements():
                print(f"\n{validation.lang}, {row}" if len(done) > 1 else f"\n{row}")
    if args.report is not None:
        _write_page(args.report, languages, done, whole, shown)
        if not args.json:
            print(f"\nReport: {args.report}")


def _validate(args: argparse.Namespace, languages: Sequence[Language]) -> list[Validation]:
    from mtbias.align import get_aligner
    from mtbias.corpora import load_corpus
    from mtbias.corpora.human_labels import read_label_file
    from mtbias.evaluation.validation import validate

    aligner = get_aligner(args.aligner)
    file = read_label_file(args.gold)
    winomt = None
    if file.needs_winomt:
        winomt = {i.row: i for i in load_corpus("winomt", args.data, cache=args.cache_dir).instances}
    labels = {language.code: file.labels(language.code, args.annotator, winomt) for language in languages}
    bitexts = {language.code: _bitext(args.translations, language.code, len(languages)) for language in languages}
    return [
        validate(
            labels[language.code],
            bitexts[language.code],
            language,
            aligner,
            options.make_analyser(args, language),
            annotator=args.annotator,
            basis=args.basis,
            progress=options.ProgressLine(),
        )
        for language in languages
    ]


def _bitext(paths: Sequence[Path], code: str, languages: int) -> list[tuple[str, str]]:
    """The pairs of one language: of files, where there is one language; of ``en-CODE.txt`` in folders."""
    from mtbias.translate.bitext import read_bitext

    pairs = []
    for path in paths:
        if not path.is_dir() and languages > 1:
            raise UsageError(
                f"--translations {path}: expected a folder with en-CODE.txt for several languages, got a file or "
                "nothing; give a folder, or one --lang at a time"
            )
        pairs += read_bitext(path / f"en-{code}.txt" if path.is_dir() else path)
    return pairs


def _runs(args: argparse.Namespace) -> list[FinishedRun]:
    """The runs to correct, read before anything is computed."""
    from mtbias.runs import read_run

    runs = [read_run(path) for path in args.correct]
    names = [(run.system, run.lang, run.corpus[0]) for run in runs]
    for run, name in zip(runs, names, strict=True):
        if run.lang not in args.lang:
            raise DataError(
                f"{run.path}: expected a run in one of the languages validated here ({', '.join(args.lang)}), got "
                f"{run.lang!r}; add --lang {run.lang}"
            )
        if names.count(name) > 1:
            raise DataError(
                f"{run.path}: expected each system once a language and corpus, got {run.system!r} twice; leave one out"
            )
    return runs


def _correct(args: argparse.Namespace, runs: Sequence[FinishedRun], done: Sequence[Validation]) -> list[CorrectedRun]:
    from mtbias.evaluation.validation import correct_run

    return [correct_run(run, done, pool=args.pool, n_resamples=args.resamples, seed=args.seed) for run in runs]


def _content(
    numbers: Sequence[dict[str, Any]], whole: dict[str, Any], corrections: Sequence[dict[str, Any]], *, asked: bool
) -> dict[str, Any]:
    """One language: its numbers. Several: ``languages`` by code, and ``all``. With runs: ``corrections``."""
    content = numbers[0] if len(numbers) == 1 else {"languages": {part["lang"]: part for part in numbers}, "all": whole}
    return {**content, "corrections": list(corrections)} if asked else content


def _write_page(
    path: Path,
    languages: Sequence[Language],
    done: Sequence[Validation],
    whole: Validation,
    corrections: Sequence[dict[str, Any]],
) -> None:
    from mtbias.files.writing import write_atomic
    from mtbias.report.validation_page import LabelledLanguage, render_page

    parts = [
        LabelledLanguage(
            validation.to_json(),
            language.direction,
            tuple(validation.differing()),
        )
        for language, validation in zip(languages, done, strict=True)
    ]
    write_atomic(path, render_page(parts, whole.to_json(), corrections).encode())


def _letters(text: str) -> tuple[str, ...]:
    """The type of ``--basis``."""
    letters = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not letters:
        raise argparse.ArgumentTypeError(f"expected letters such as N,D, got {text!r}")
    return letters
