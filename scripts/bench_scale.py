"""Time and peak memory of every stage at 1/16, 1/4 and 1/1 of BUG, and whether they are linear.

    python scripts/bench_scale.py --data WINOMT --lang de --stanza-dir DIR
        [--sizes 1/16 1/4 1/1] [--device cuda]

1/1 is 105,687 sentences, as many as BUG has, as long as BUG's (`scripts.bench.texts`): WinoMT's
sentences with their translations by two systems, joined and cut, with names that make the
vocabulary grow; seeded. Every stage at every size is a process of its own, so that peak memory is
its own:

- translate: random weights of the true size (--families). Of the plan of the whole corpus as many
  batches are timed, evenly spaced, as hold --sentences; seconds are projected to the corpus.
- align: the whole corpus in one call.
- analyse: every distinct translation, by Stanza, into a new cache (--processes as many at a time).
- decide, score: with the alignments and the analyses that the stages before left on disk.

Seconds are CPU seconds, those of other processes included; with --device cuda they are wall time.
"linear" is the time at the largest size over the time at the smallest, over the ratio of the sizes:
1.00 is linear, below it the fixed part (loading the models) weighs less. With --device cuda the
hours of a paper's table follow: every family × 8 languages × 105,687 sentences, and each stage's
share.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "languages"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.bench.families import SHAPES, TINY, make_checkpoint
from scripts.bench.scratch import scratch
from scripts.bench.work import BASELINE_BATCH, CORPUS

LANGUAGES = 8
Json = dict[str, Any]


class Clock:
    """Seconds since it was made or read last: CPU seconds of this process and its ended children,
    and wall time.
    """

    def __init__(self) -> None:
        self._at = self._now()

    def read(self) -> Json:
        """The time, and most memory until now in MiB (with other processes: the largest one's is
        added).
        """
        now = self._now()
        cpu, wall = (b - a for a, b in zip(self._at, now, strict=True))
        self._at = self._now()
        kib = sum(
            resource.getrusage(who).ru_maxrss
            for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        return {"cpu": cpu, "wall": wall, "peak": kib / 1024}

    @staticmethod
    def _now() -> tuple[float, float]:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime, time.perf_counter()


def translate(job: Json) -> dict[str, Json]:
    """Time some batches of every family, projected to the whole plan."""
    from scripts.bench.runner import Place, Runner, Variant

    found = {}
    for family in job["families"]:
        shape = (TINY if job["tiny"] else SHAPES)[family]
        folder = Path(job["folder"]) / family
        if not folder.is_dir():
            make_checkpoint(shape, folder, tokenizer=job["engine"] == "ct2")
        variant = Variant(job["engine"], job["dtype"])
        place = Place(
            folder, job["device"], 1, max(1, job["sentences"] // BASELINE_BATCH), job["count"]
        )
        runner = Runner(variant, shape, place)
        runner.warm_up()
        cpu, wall = runner.run()
        factor = job["count"] / runner.sentences
        found[f"translate {family}"] = {
            "cpu": cpu * factor,
            "wall": wall * factor,
            "peak": runner.peak(),
        }
    return found


def align(job: Json) -> dict[str, Json]:
    """Align the corpus; the alignments go to disk."""
    from mtbias.align import get_aligner
    from mtbias.language.installed import get_language
    from mtbias.language.split_texts import SplitTexts

    pairs, _ = corpus(job)
    clock = Clock()
    found = get_aligner("statistical").align(pairs, SplitTexts(get_language(job["lang"])))
    result = clock.read()
    with (Path(job["folder"]) / f"alignments-{job['count']}").open("wb") as file:
        pickle.dump(found, file, protocol=pickle.HIGHEST_PROTOCOL)
    return {"align": result}


def analyse(job: Json) -> dict[str, Json]:
    """Analyse every distinct translation."""
    pairs, _ = corpus(job)
    clock = Clock()
    texts = dict.fromkeys(pair.text for pair in pairs)
    analyser(job).prepare(texts)
    return {"analyse": {**clock.read(), "distinct": len(texts)}}


def decide(job: Json) -> dict[str, Json]:
    """Call genders from what is on disk, and score them."""
    from mtbias.align import Aligner
    from mtbias.evaluation.gender_calls import GENDER_MEASURE, GenderMeasure
    from mtbias.language.installed import get_language
    from mtbias.runs.call_records import join_records
    from mtbias.stats.results import N_RESAMPLES
    from mtbias.types import Translation

    class OnDisk(Aligner):
        """The alignments made before."""

        signature = "on disk"

        def align(self, pairs: Sequence[Any], *_: object) -> tuple[Any, ...]:  # noqa: ARG002 - an aligner's
            with (Path(job["folder"]) / f"alignments-{job['count']}").open("rb") as file:
                return tuple(pickle.load(file))

    pairs, instances = corpus(job)
    seconds: dict[str, Json] = {}
    clock = Clock()

    def note(stage: str, done: int, total: int) -> None:
        if done == total:
            seconds[stage] = clock.read()

    calls = GenderMeasure(get_language(job["lang"]), OnDisk(), analyser(job)).call_pairs(
        pairs, note
    )
    translations = [Translation(pair.id, pair.text) for pair in pairs]
    clock.read()
    GENDER_MEASURE.score(
        list(join_records(instances, translations, calls)), n_resamples=N_RESAMPLES, seed=0
    )
    seconds["score"] = clock.read()
    return {stage: seconds[stage] for stage in ("decide", "score")}


def corpus(job: Json) -> tuple[list[Any], list[Any]]:
    """The pairs and the instances of this size."""
    from mtbias.align import Pair
    from scripts.bench.texts import make_pairs, read_sentences

    found = list(make_pairs(read_sentences(Path(job["data"]), job["lang"]), job["count"]))
    return [Pair.from_instance(instance, text) for instance, text in found], [
        instance for instance, _ in found
    ]


def analyser(job: Json) -> Any:  # noqa: ANN401 - imported late
    """Stanza, with the cache of this size."""
    from mtbias.morphology import AnalysisCache, StanzaAnalyser, find_package

    cache = AnalysisCache(Path(job["folder"]) / f"analyses-{job['count']}.sqlite")
    package = find_package(job["lang"], Path(job["stanza_dir"]))
    return StanzaAnalyser(package, cache, device=job["device"], processes=job["processes"])


WORK: Mapping[str, Callable[[Json], dict[str, Json]]] = {
    "translate": translate,
    "align": align,
    "analyse": analyse,
    "decide": decide,
}


def measure(args: argparse.Namespace, count: int, folder: Path) -> dict[str, Json]:
    """The stages over `count` sentences, each in a process of its own."""
    found: dict[str, Json] = {}
    job = {
        name: str(value) if isinstance(value, Path) else value for name, value in vars(args).items()
    }
    for stage in WORK:
        if stage in args.stages:
            done = subprocess.run(
                [
                    sys.executable,
                    __file__,
                    "--work",
                    json.dumps({**job, "count": count, "folder": str(folder)}),
                    stage,
                ],
                stdout=subprocess.PIPE,
                text=True,
                check=False,
                env={
                    **os.environ,
                    "HF_HUB_OFFLINE": "1",
                    "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
                },
            )
            if done.returncode:
                raise SystemExit(
                    f"{stage} at {count:,} sentences ended with status {done.returncode}"
                )
            found.update(json.loads(done.stdout.splitlines()[-1]))
    return found


def table(results: Mapping[int, Mapping[str, Json]], clock: str) -> str:
    """The times and the peaks by stage and size, as a Markdown table."""
    sizes = sorted(results)
    lines = [
        f"| stage | {' | '.join(f'{n:,}: s, MiB' for n in sizes)} | s per 1,000 | linear |",
        "|---|" + "---|" * (len(sizes) + 2),
    ]
    for stage in results[sizes[-1]]:
        cells = [f"{results[n][stage][clock]:.1f}, {results[n][stage]['peak']:,.0f}" for n in sizes]
        most, least = (results[n][stage][clock] for n in (sizes[-1], sizes[0]))
        linear = f"{most / least / (sizes[-1] / sizes[0]):.2f}" if len(sizes) > 1 and least else "–"
        lines.append(
            f"| {stage} | {' | '.join(cells)} | {1000 * most / sizes[-1]:.3f} | {linear} |"
        )
    return "\n".join(lines)


def whole_table(found: Mapping[str, Json], count: int, clock: str) -> str:
    """Hours of every family × 8 languages × BUG from one size, and each stage's share, as a
    Markdown table.
    """
    families = sum(stage.startswith("translate ") for stage in found) or 1
    hours = {
        stage: one[clock]
        / count
        * CORPUS
        * LANGUAGES
        * (1 if stage.startswith("translate ") else families)
        / 3600
        for stage, one in found.items()
    }
    total = sum(hours.values())
    lines = [
        f"{families * LANGUAGES} cells × {CORPUS:,} sentences: {total:.2f} hours",
        "",
        "| stage | hours | share |",
    ]
    lines += [
        "|---|---|---|",
        *(f"| {stage} | {h:.3f} | {h / total:.0%} |" for stage, h in hours.items()),
    ]
    return "\n".join(lines)


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data",
        type=Path,
        required=True,
        help="WinoMT's folder, with translations/google and bing",
    )
    parser.add_argument("--lang", default="de")
    parser.add_argument("--stanza-dir", type=Path, required=True)
    parser.add_argument(
        "--sizes", type=Fraction, nargs="+", default=[Fraction(1, 16), Fraction(1, 4), Fraction(1)]
    )
    parser.add_argument(
        "--stages",
        nargs="+",
        choices=tuple(WORK),
        default=tuple(WORK),
        help="decide includes score",
    )
    parser.add_argument(
        "--families", nargs="+", choices=tuple(SHAPES), help="CPU: opus-mt; GPU: all three"
    )
    parser.add_argument("--engine", choices=("transformers", "ct2"), default="transformers")
    parser.add_argument("--dtype", help="CPU: float32; GPU: bfloat16")
    parser.add_argument("--sentences", type=int, help="translated at every size (CPU 48, GPU 256)")
    parser.add_argument("--processes", type=int, default=1, help="that analyse")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--corpus", type=int, default=CORPUS, help=argparse.SUPPRESS)
    parser.add_argument(
        "--tiny", action="store_true", help="tiny models that translate, to see whether it runs"
    )
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args()
    cuda = args.device == "cuda"
    args.families = args.families or (list(SHAPES) if cuda else ["opus-mt"])
    args.dtype = args.dtype or ("bfloat16" if cuda else "float32")
    args.sentences = args.sentences or (256 if cuda else 48)
    return args


def main() -> None:
    """Measure all sizes and print the tables."""
    args = parse()
    clock = "wall" if args.device == "cuda" else "cpu"
    counts = [max(1, round(size * args.corpus)) for size in args.sizes]
    args.sizes = [str(size) for size in args.sizes]
    results: dict[int, dict[str, Json]] = {}
    with scratch("bench-scale") as folder:
        for count in sorted(counts):
            results[count] = measure(args, count, folder)
            print(f"{count:,} sentences are done", file=sys.stderr, flush=True)
            if args.json:
                args.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(table(results, clock))
    print(f"\n{whole_table(results[max(results)], max(results), clock)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        answers, sys.stdout = (
            sys.stdout,
            sys.stderr,
        )  # what libraries print must not mix with the answer
        print(json.dumps(WORK[sys.argv[3]](json.loads(sys.argv[2]))), file=answers)
    else:
        main()
