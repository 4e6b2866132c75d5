"""Translate a corpus with a model, and say how biased the translations are.

MODEL is a short name (see `mtbias models`), a Hugging Face id, or a local folder with a checkpoint. `--model demo`
needs no network and translates the demo's own corpus unless --dataset names another. What is missing is fetched,
unless --offline or HF_HUB_OFFLINE=1 says no.
"""

from __future__ import annotations

import argparse

from mtbias.cli import options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--model", required=True, metavar="MODEL", help="short name, hub id, or folder")
    options.add_language(parser)
    options.add_dataset(parser, default=None)
    options.add_run(parser)
    parser.add_argument(
        "--shard",
        metavar="K/N",
        help="translate part K of N only, into --out; without it what the parts lack is translated, and the run scored",
    )
    parser.add_argument("--offline", action="store_true", help="never use the network (HF_HUB_OFFLINE=1 does the same)")
    parser.add_argument(
        "--revision", metavar="COMMIT", help="commit, branch or tag of a hub model (default: the pinned one)"
    )
    group = parser.add_argument_group("translation")
    group.add_argument(
        "--preset", default="paper", metavar="NAME", help="paper (default: beam 5, fp32) or fast (bf16 on a GPU)"
    )
    group.add_argument(
        "--engine", default="transformers", metavar="NAME", help="transformers (default) or ct2 (CTranslate2)"
    )
    group.add_argument(
        "--dtype", metavar="TYPE", help="float32, bfloat16, float16; with ct2 also int8 and its mixtures"
    )
    group.add_argument("--beams", type=options.at_least_1, metavar="N", help="beams of the search (presets: 5)")
    group.add_argument("--length-penalty", type=float, metavar="X", help="exponent of the length (presets: 1.0)")
    group.add_argument(
        "--max-length", type=options.at_least_1, metavar="N", help="most tokens of a translation (presets: 200)"
    )
    group.add_argument(
        "--batch-rows", type=options.at_least_1, metavar="N", help="sentences × beams of a batch (default: what fits)"
    )
    group.add_argument("--target-code", metavar="CODE", help="the checkpoint's own name of the target language")
    options.add_machine(parser)


def run(args: argparse.Namespace) -> None:
    """Translate, score and print."""
    from mtbias.errors import UsageError
    from mtbias.evaluation.preparation import prepare_eval
    from mtbias.evaluation.stages import evaluate
    from mtbias.evaluation.translation import translate_shard
    from mtbias.translate.seq2seq.shards import Shard
    from mtbias.translate.seq2seq.translator import Settings

    shard = None if args.shard is None else Shard.parse(args.shard)
    if shard is not None and args.out is None:
        raise UsageError("--shard: translations are kept in the folder of the run; name it with --out")
    settings = Settings(
        preset=args.preset,
        engine=args.engine,
        beams=args.beams,
        length_penalty=args.length_penalty,
        max_length=args.max_length,
        dtype=args.dtype,
        device=args.device,
        batch_rows=args.batch_rows,
        target_code=args.target_code,
    )
    request = prepare_eval(
        args.model,
        args.lang,
        dataset=args.dataset,
        data=args.data,
        revision=args.revision,
        settings=settings,
        tools=options.tools(args),
        fetching=options.fetching(args),
        seed=args.seed,
        resamples=args.resamples,
    )
    if shard is not None:
        report = translate_shard(request, shard, out=args.out, progress=options.ProgressLine())
        print(
            f"Shard {shard} of {args.out}: {report.batches} batches, {report.sentences} sentences; {report.generated} "
            f"translated now in {report.seconds:.1f} s, {report.resumed} were there"
        )
        return
    metrics = evaluate(request, out=args.out, progress=options.ProgressLine())
    options.show(args, metrics)
