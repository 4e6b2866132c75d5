"""Options that several commands share, and what they turn into."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mtbias.evaluation.preparation import Fetching, Tools
    from mtbias.language.definition import Language
    from mtbias.morphology import StanzaAnalyser


def at_least_0(text: str) -> int:
    """The type of an option that counts: argparse turns the error into one of usage."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"expected a whole number, 0 or more, got {text!r}")
    return int(text)


def at_least_1(text: str) -> int:
    """The same without 0."""
    if (number := at_least_0(text)) == 0:
        raise argparse.ArgumentTypeError("expected a whole number, 1 or more, got '0'")
    return number


def add_language(parser: argparse.ArgumentParser) -> None:
    """``--lang``."""
    parser.add_argument(
        "--lang", required=True, metavar="CODE", help="target language, such as de (see `mtbias languages`)"
    )


def add_dataset(parser: argparse.ArgumentParser, default: str | None = "winomt") -> None:
    """``--dataset`` and ``--data``."""
    parser.add_argument(
        "--dataset",
        default=default,
        metavar="NAME",
        help="winomt (default), bug, bug-balanced, bug-gold, bug-gold-paper, demo, custom",
    )
    parser.add_argument("--data", type=Path, metavar="PATH", help="file or folder to read instead of the cache")


def add_run(parser: argparse.ArgumentParser) -> None:
    """Where the run goes, its bootstrap, and how it is shown."""
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder for manifest, calls, metrics and report; a stopped run goes on there",
    )
    parser.add_argument(
        "--seed", type=at_least_0, default=0, metavar="N", help="seed of the bootstrap intervals (default: 0)"
    )
    parser.add_argument(
        "--resamples", type=at_least_0, default=2000, metavar="N", help="bootstrap resamples (default: 2000)"
    )
    parser.add_argument("--json", action="store_true", help="print metrics.json alone")


def show(args: argparse.Namespace, metrics: Mapping[str, Any]) -> None:
    """Print the table of a run, or its ``metrics.json``; with ``--out`` write the report and name the files."""
    from mtbias.report.plots import panel, text_plot
    from mtbias.report.run_table import render
    from mtbias.runs import metrics_text

    if args.json:
        print(metrics_text(metrics), end="")
        return
    print(render(metrics), end="")
    plots = text_plot(
        [
            panel([("", metrics)], breakdown, measure)
            for measure in ("delta_g", "delta_s")
            for breakdown in ("by_pronouns", "by_domain")
        ]
    )
    if plots:
        print(f"\n{plots}", end="")
    if args.out is not None:
        print(
            f"\nReport: {args.out}/report.html\n"
            f"Files:  {args.out}/metrics.json, calls.jsonl (a line a sentence, with its evidence), manifest.json"
        )


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Where models and caches are, which aligner, which device."""
    parser.add_argument("--aligner", default="statistical", metavar="NAME", help="statistical (default) or eflomal")
    parser.add_argument(
        "--stanza-dir",
        type=Path,
        metavar="DIR",
        help="folder of Stanza models (default: STANZA_RESOURCES_DIR, else the cache)",
    )
    parser.add_argument(
        "--cache-dir",
        type=Path,
        metavar="DIR",
        help="mtbias's cache (default: MTBIAS_CACHE, else the user's cache folder)",
    )
    parser.add_argument("--device", metavar="NAME", help="cpu, cuda, cuda:1 (default: a GPU where there is one)")
    parser.add_argument(
        "--processes",
        type=at_least_1,
        default=1,
        metavar="N",
        help="processes that analyse translations, where there are thousands of new ones (default: 1)",
    )


def tools(args: argparse.Namespace) -> Tools:
    """The options of `add_machine`."""
    from mtbias.evaluation.preparation import Tools

    return Tools(
        aligner=args.aligner,
        stanza_dir=args.stanza_dir,
        cache_dir=args.cache_dir,
        device=args.device,
        processes=args.processes,
    )


def fetching(args: argparse.Namespace) -> Fetching:
    """``--offline``; what is fetched is said on standard error, with a bar on a terminal."""
    from mtbias.evaluation.preparation import Fetching

    return Fetching(
        offline=args.offline,
        announce=lambda line: print(f"mtbias: {line}", file=sys.stderr),
        bars=sys.stderr is not None and sys.stderr.isatty(),
    )


def make_analyser(args: argparse.Namespace, language: Language) -> StanzaAnalyser:
    """Stanza for `language`, with the cache of its package; nothing is fetched."""
    from mtbias.evaluation import preparation as prepare

    return prepare.make_analyser(language, tools(args))


class ProgressLine:
    """Stages on standard error: a bar on a terminal, nothing elsewhere."""

    def __init__(self) -> None:
        """Nothing is shown before the first stage."""
        self._tty = sys.stderr is not None and sys.stderr.isatty()
        self._bar: object | None = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show `done` of `total` of `stage`."""
        if not self._tty or not total:
            return
        from tqdm import tqdm

        bar = self._bar
        if not isinstance(bar, tqdm) or bar.desc != stage:
            if isinstance(bar, tqdm):
                bar.close()
            bar = tqdm(total=total, desc=stage, unit="sent", file=sys.stderr, leave=False)
            self._bar = bar
        bar.update(done - bar.n)
        if done >= total:
            bar.close()
            self._bar = None
