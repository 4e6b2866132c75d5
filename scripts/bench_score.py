"""Seconds per 1,000 pairs and peak memory of every stage of `mtbias score`, at several sizes of corpus.

    python scripts/bench_score.py --data WINOMT --translations FILE --lang de --stanza-dir DIR [--sizes 1 4 16 bug]

The corpus is WinoMT with its translations, repeated with an unlike word in every copy (a larger vocabulary of pairs,
and no translation that was analysed before); ``bug`` is 105,687 pairs, the size of BUG. With `--join 2` two sentences
make one pair, about as long as BUG's. Every size runs in a process of its own, so that peak memory is its own. Stanza
is real; its cache is new.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

WINOMT_ROWS, BUG_ROWS = 3888, 105_687


def measure(args: argparse.Namespace, pairs: int) -> dict[str, float]:
    """Run all stages once over `pairs` pairs in this process."""
    from mtbias.align import Pair, get_aligner
    from mtbias.corpora import load_corpus
    from mtbias.metrics import score
    from mtbias.morphology import AnalysisCache, StanzaAnalyser, find_package
    from mtbias.pipeline import call_pairs
    from mtbias.registry import get_language
    from mtbias.translate.given import read_translations

    language = get_language(args.lang)
    corpus = load_corpus("winomt", args.data)
    given = read_translations(args.translations, corpus.instances)
    texts = {t.id: t.text for t in given.translations}
    instances, targets = [], []
    for n in range(pairs):
        instance, copy = corpus.instances[n % len(corpus.instances)], n // len(corpus.instances)
        text = texts[instance.id] or "–"
        for k in range(1, args.join):
            other = corpus.instances[(n + k) % len(corpus.instances)]
            instance = replace(instance, source=f"{instance.source} {other.source}")
            text = f"{text} {texts[other.id] or '–'}"
        instances.append(replace(instance, id=f"{instance.id}-{copy}", row=n))
        targets.append(f"{text} Nr{copy}x" if copy else text)
    seconds: dict[str, float] = {}
    at = time.process_time()

    def clock(stage: str, _done: int = 0, _total: int = 0) -> None:
        """The time since the last call was spent on `stage`; also what the pipeline reports its progress to."""
        nonlocal at
        now = time.process_time()
        seconds[stage], at = seconds.get(stage, 0.0) + now - at, now
        seconds[f"{stage} peak MiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    pairs_of = [Pair.of(i, t) for i, t in zip(instances, targets, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        cache = AnalysisCache(Path(folder) / "analyses.sqlite")
        analyser = StanzaAnalyser(find_package(args.lang, args.stanza_dir), cache, device=args.device)
        calls = call_pairs(pairs_of, language, get_aligner("statistical"), analyser, progress=clock)
    score(instances, calls)
    clock("score")
    return seconds


def main() -> None:
    """Measure each size in a process of its own and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--translations", type=Path, required=True)
    parser.add_argument("--lang", required=True)
    parser.add_argument("--stanza-dir", type=Path, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--sizes", nargs="+", default=["1", "4", "16"], help="multiples of WinoMT's 3,888 rows, or bug")
    parser.add_argument("--join", type=int, default=1, help="sentences a pair (default 1)")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args, args.one)))
        return
    stages = ("align", "analyse", "decide", "score")
    print(
        "| pairs | "
        + " | ".join(f"{s}, CPU s per 1,000" for s in stages)
        + " | CPU s in all | peak MiB after "
        + ", ".join(stages)
        + " |"
    )
    print("|---|" + "---|" * (len(stages) + 2))
    for size in args.sizes:
        pairs = BUG_ROWS if size == "bug" else int(size) * WINOMT_ROWS
        command = [sys.executable, __file__, *sys.argv[1:], "--one", str(pairs)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        result = json.loads(done.stdout.splitlines()[-1])
        per = [f"{1000 * result[s] / pairs:.3f}" for s in stages]
        peaks = " / ".join(f"{result[f'{s} peak MiB']:.0f}" for s in stages)
        print(f"| {pairs:,} | " + " | ".join(per) + f" | {sum(result[s] for s in stages):.1f} | {peaks} |", flush=True)


if __name__ == "__main__":
    main()
