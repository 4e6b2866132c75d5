"""The price of fewer bits: what a run's translations, calls of gender, ΔG and ΔS become in bf16,
fp16 and int8.

    python scripts/experiments/price.py --model FOLDER --data WINOMT --stanza-dir DIR --lang de es …
        --out RUNS

For each language `mtbias eval` makes a run in fp32 (--reference) and one of every other type
(--types), in folders of --out: a run that is there already is read, one that was interrupted goes
on. `mtbias compare` gives the differences (fewer bits minus fp32, per cent points) with their
intervals and p, both paired over sentences; p is corrected by Holm over the languages and types of
one number. --rows N takes the first N sentences of the corpus.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "languages"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mtbias import Run, compare, read_run
from mtbias.corpora import load_corpus
from mtbias.evaluation.gender_calls import GENDER_MEASURE
from mtbias.evaluation.stages import Request, evaluate
from mtbias.machine.stage_progress import ProgressLine
from mtbias.runs.run_folder import RunFolder
from mtbias.scoring.measure import MeasureOptions
from mtbias.settings import EngineName, EvaluatorSettings, TranslationSettings
from mtbias.stats.resampling import holm
from mtbias.stats.results import Difference
from mtbias.translate.seq2seq.checkpoint_system import CheckpointSystem
from mtbias.translate.seq2seq.checkpoints import locate

REFERENCE = "transformers:float32"
TYPES = ("transformers:bfloat16", "transformers:float16", "ct2:float32", "ct2:int8")
NUMBERS = ("delta_g", "delta_s")


@dataclass(frozen=True, slots=True)
class Price:
    """A run of fewer bits against the one in fp32."""

    lang: str
    kind: str
    """Engine and type, ``ct2:int8``."""
    sentences: int
    translations: int
    """Sentences whose translations differ."""
    calls: int
    """Sentences whose calls differ, no call being a call of its own."""
    flipped: int
    """Sentences called male by one and female by the other."""
    differences: dict[str, Difference]

    def line(self, p_holm: dict[str, float | None]) -> str:
        """A row of the Markdown table."""
        cells = [self.lang, self.kind.replace(":", " ")]
        cells += [
            f"{count:,} ({100 * count / self.sentences:.1f} %)"
            for count in (self.translations, self.calls)
        ]
        cells.append(str(self.flipped))
        for key in NUMBERS:
            found = self.differences[key]
            low, high = found.interval or (None, None)
            p = p_holm[key]
            cells.append(
                "–"
                if found.difference is None or low is None or high is None
                else f"{found.difference:+.2f} ({low:+.2f} to {high:+.2f}; p {'–' if p is None else f'{p:.2f}'})"
            )
        return f"| {' | '.join(cells)} |"


def header(sentences: int) -> str:
    """The head of the Markdown table."""
    return (
        f"| language | engine and type | translations that change, of {sentences:,} | calls that change | male and "
        "female exchanged | ΔG changes by | ΔS changes by |\n|---|---|---:|---:|---:|---|---|"
    )


def make_run(kind: str, lang: str, args: argparse.Namespace) -> Run:
    """The run of one engine and type, made where it is not there."""
    engine, dtype = kind.split(":")
    wanted = TranslationSettings(engine=cast(EngineName, engine), dtype=dtype)
    folder = args.out / f"{lang}-{engine}-{dtype}"
    if RunFolder(folder).is_complete():
        return read_run(folder)
    corpus = load_corpus("winomt", args.data)
    corpus = replace(corpus, instances=corpus.instances[: args.rows])
    settings = EvaluatorSettings(stanza_dir=args.stanza_dir, cache_dir=args.out / "cache")
    measure = GENDER_MEASURE.open(MeasureOptions(lang=lang, settings=settings, device=args.device))
    checkpoint = locate(str(args.model), lang, cache=args.out / "cache")
    system = CheckpointSystem(
        checkpoint, lang, wanted, cache=args.out / "cache", device=args.device
    )
    request = Request(system=system, corpus=corpus, lang=lang, measure=measure, kind=GENDER_MEASURE)
    evaluate(request, out=folder, progress=ProgressLine())
    return read_run(folder)


def price(kind: str, lang: str, reference: Run, other: Run) -> Price:
    """Count what differs between two runs."""
    pairs = list(zip(reference.calls, other.calls, strict=True))
    genders = [tuple(str(record.to_json()["gender"]) for record in pair) for pair in pairs]
    (found,) = compare(other, reference, names=[kind, "reference"]).pairs
    return Price(
        lang,
        kind,
        sentences=len(pairs),
        translations=sum(
            a.to_json()["translation"] != b.to_json()["translation"] for a, b in pairs
        ),
        calls=sum(a != b for a, b in genders),
        flipped=sum({a, b} == {"male", "female"} for a, b in genders),
        differences={key: found.plain[key] for key in NUMBERS},
    )


def corrected(prices: Sequence[Price], key: str) -> list[float | None]:
    """Holm's p of one number, over all that were compared and have a p."""
    raw = {n: one.differences[key].p for n, one in enumerate(prices)}
    known = {n: p for n, p in raw.items() if p is not None}
    adjusted = dict(zip(known, holm(list(known.values())), strict=True))
    return [adjusted.get(n) for n in raw]


def main() -> None:
    """Make the runs and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True, help="folder of the checkpoint")
    parser.add_argument("--data", type=Path, required=True, help="WinoMT's folder")
    parser.add_argument("--stanza-dir", type=Path, required=True)
    parser.add_argument("--lang", nargs="+", required=True)
    parser.add_argument("--reference", default=REFERENCE, metavar="ENGINE:TYPE")
    parser.add_argument("--types", nargs="+", default=TYPES, metavar="ENGINE:TYPE")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs")
    args = parser.parse_args()
    prices = []
    for lang in args.lang:
        reference = make_run(args.reference, lang, args)
        prices += [price(kind, lang, reference, make_run(kind, lang, args)) for kind in args.types]
    each = {key: corrected(prices, key) for key in NUMBERS}
    print(header(prices[0].sentences))
    for n, one in enumerate(prices):
        print(one.line({key: each[key][n] for key in NUMBERS}))


if __name__ == "__main__":
    main()
