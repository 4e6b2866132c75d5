"""Steps of the decoder, counted and not timed: as `generate` computes them, with sentences leaving,
in two stages.

    python scripts/experiments/count_steps.py --model FOLDER --data WINOMT --lang de [--rows N]

The first rows are WinoMT's: every sentence is translated once, in fp32 at beam 5, which says after
how many steps its search is over. The others are 105,687 sentences of BUG's lengths
(`scripts.bench.work.draw_lengths`), whose searches are over with their last token, but for a share
that loops until 199 tokens. From the steps of each sentence follow, for any plan of batches:

- plain: a batch takes as many steps as its longest search, all of its rows in each (as
  ``model.generate`` does);
- leaving: as many steps, but a sentence's rows only until it is done (a processor's time goes by
  rows);
- two stages: a batch stops at `Decoding.first_stop` of its longest source; what is not done is
  searched again, that of 8 batches together (a GPU's time goes by steps, while they are few
  enough).
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "languages"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mtbias.corpora import load_corpus
from mtbias.translate.seq2seq.batches import CPU_ROWS, Batch, Budget, cpu_budget, make_plan
from mtbias.translate.seq2seq.codec import Codec
from mtbias.translate.seq2seq.decoding import PRESETS, Decoding
from mtbias.translate.seq2seq.engine import Bounds
from mtbias.translate.seq2seq.generation import POOLED
from mtbias.translate.seq2seq.transformers_engine import TransformersEngine
from scripts.bench.work import CORPUS, draw_lengths

DECODING = PRESETS["paper"].decoding
GPU = Budget(4096, 655_360)
"""What `gpu_budget` gives the M2M100 of 418 million parameters with 100 GiB free, in fp16."""
LOOPING = (0.0, 0.001, 0.01)


@dataclass(frozen=True, slots=True)
class Count:
    """Steps of the decoder, and rows of all steps."""

    steps: int = 0
    rows: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.steps + other.steps, self.rows + other.rows)


def plain(steps: Sequence[int], beams: int) -> Count:
    """Of one batch as ``generate`` computes it."""
    return Count(max(steps), max(steps) * len(steps) * beams)


def leaving(steps: Sequence[int], beams: int) -> Count:
    """Of one batch that sentences leave."""
    return Count(max(steps), sum(steps) * beams)


def staged(
    batches: Sequence[Batch], sources: Sequence[int], steps: Sequence[int], decoding: Decoding
) -> Count:
    """Of batches whose second stages are one (in pieces no larger than the largest of them)."""
    total, left = Count(), list[int]()
    for batch in batches:
        stop = decoding.first_stop(max(sources[n] for n in batch.rows))
        total += leaving([min(steps[n], stop) for n in batch.rows], decoding.beams)
        left += [steps[n] for n in batch.rows if steps[n] > stop]
    most = max(len(batch.rows) for batch in batches)
    for first in range(0, len(left), most):
        total += leaving(left[first : first + most], decoding.beams)
    return total


def line(name: str, sources: Sequence[int], steps: Sequence[int], budget: Budget) -> str:
    """A row of the Markdown table."""
    plan = make_plan(sources, DECODING, budget)
    of = [[steps[n] for n in batch.rows] for batch in plan]
    whole = sum((plain(each, DECODING.beams) for each in of), Count())
    left = sum((leaving(each, DECODING.beams) for each in of), Count())
    groups = [plan[n : n + POOLED] for n in range(0, len(plan), POOLED)]
    two = sum((staged(group, sources, steps, DECODING) for group in groups), Count())
    cells = [name, f"{len(plan):,}", f"{whole.steps:,}", f"{whole.rows:,}"]
    cells += [
        f"{left.rows / whole.rows:.0%}",
        f"{two.steps / whole.steps:.0%}",
        f"{two.rows / whole.rows:.0%}",
    ]
    return f"| {' | '.join(cells)} |"


def winomt(args: argparse.Namespace) -> tuple[list[int], list[int]]:
    """Source tokens and steps of WinoMT's sentences."""
    sources = list(dict.fromkeys(one.source for one in load_corpus("winomt", args.data).instances))
    if args.rows is not None:
        sources = sources[:: max(1, len(sources) // args.rows)]
    codec, engine = Codec(args.model, args.lang), TransformersEngine(args.model)
    encoded = [one.ids for one in codec.encode(sources)]
    steps = [0] * len(encoded)
    for batch in make_plan([len(ids) for ids in encoded], DECODING, cpu_budget(CPU_ROWS)):
        ids = [encoded[n] for n in batch.rows]
        found = engine.generate(ids, Bounds(DECODING, batch.limit, codec.forced))
        for n, one in zip(batch.rows, found, strict=True):
            steps[n] = one.steps
    return [len(ids) for ids in encoded], steps


def bug(share: float) -> tuple[list[int], list[int]]:
    """The same of sentences of BUG's lengths, of which that share loops."""
    rng, limit = random.Random(0), DECODING.limit(0)
    lengths = draw_lengths(CORPUS, "m2m_100")
    return [n for n, _ in lengths], [
        limit if rng.random() < share else min(m, limit) for _, m in lengths
    ]


def main() -> None:
    """Count, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True, help="folder of the checkpoint")
    parser.add_argument("--data", type=Path, required=True, help="WinoMT's folder")
    parser.add_argument("--lang", default="de")
    parser.add_argument("--rows", type=int, help="only about so many sentences, spread over WinoMT")
    args = parser.parse_args()
    print(
        "| sentences | batches | steps, plain | rows, plain | rows, leaving | steps, two stages | rows, two stages |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|")
    found = winomt(args)
    for device, budget in (("CPU", cpu_budget()), ("GPU", GPU)):
        print(line(f"WinoMT, {len(found[0]):,}, {device}", *found, budget), flush=True)
    for share in LOOPING:
        lengths = bug(share)
        for device, budget in (("CPU", cpu_budget()), ("GPU", GPU)):
            print(line(f"BUG's lengths, {share:.1%} loop, {device}", *lengths, budget), flush=True)


if __name__ == "__main__":
    main()
