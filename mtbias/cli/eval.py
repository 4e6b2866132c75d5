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
    from mtbias.align import get_aligner
    from mtbias.cli.corpus import corpus_for
    from mtbias.corpora import cache_folder
    from mtbias.pipeline import EvalRequest, evaluate
    from mtbias.registry import get_language
    from mtbias.translate.models import DEMO, locate
    from mtbias.translate.translator import Settings, Translator

    if args.dataset is None:
        args.dataset = DEMO if args.model == DEMO and args.data is None else "winomt"
    language = get_language(args.lang)
    aligner = get_aligner(args.aligner)
    options.check_gpu(args.device)
    cache = cache_folder(args.cache_dir)
    corpus = corpus_for(args, cache)
    analyser = options.make_analyser(args, language)
    checkpoint = locate(args.model, language.code, cache=cache, revision=args.revision, offline=args.offline)
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
    request = EvalRequest(
        corpus=corpus,
        translator=Translator(checkpoint, language.code, settings, cache=cache),
        language=language,
        aligner=aligner,
        analyser=analyser,
        seed=args.seed,
        n_resamples=args.resamples,
    )
    metrics = evaluate(request, out=args.out, progress=options.ProgressLine())
    options.show(args, metrics)
