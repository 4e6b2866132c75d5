"""``mtbias eval``."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from mtbias.api import estimate_requests, evaluate, translate_shard
from mtbias.cli.score import show
from mtbias.cli.shared import (
    LANGUAGE_MODEL,
    Bootstrap,
    Corpus,
    Device,
    Evaluator,
    Flag,
    Full,
    Json,
    Lang,
    LanguageModel,
    Limit,
    RunOut,
    Translation,
    print_json,
)
from mtbias.errors import SettingError, escaped
from mtbias.machine.network import no_network
from mtbias.settings import (
    BootstrapSettings,
    CorpusSettings,
    DeviceSettings,
    EvalSettings,
    EvaluatorSettings,
    LanguageModelSettings,
    LimitSettings,
    TranslationSettings,
    combined,
)

_LanguageModelOption = Parameter(group=LANGUAGE_MODEL)


def command(
    *,
    model: str,
    lang: Lang,
    out: RunOut = None,
    shard: str | None = None,
    offline: Flag = False,
    full: Full = False,
    json: Json = False,
    corpus: Corpus = CorpusSettings(),
    limit: Limit = LimitSettings(),
    translation: Translation = TranslationSettings(),
    language_model: LanguageModel = LanguageModelSettings(),
    dry_run: Annotated[Flag, _LanguageModelOption] = False,
    evaluator: Evaluator = EvaluatorSettings(),
    device: Device = DeviceSettings(),
    bootstrap: Bootstrap = BootstrapSettings(),
) -> None:
    """Translate a corpus with a model and report gender-bias metrics.

    Missing models and data are downloaded, unless --offline or HF_HUB_OFFLINE=1 forbids it.
    `--model demo` needs no network and translates the demo's own corpus unless --dataset names
    another.

    Parameters
    ----------
    model
        Short name (`mtbias list models`), Hugging Face id, folder with a checkpoint, openai:NAME of
        an endpoint (--base-url), deepl:quality_optimized (its key in DEEPL_AUTH_KEY),
        apertium:eng-spa, firefox:en-pt, or SCHEME:NAME of a plugin.
    shard
        K/N: translate only shard K of N, into --out; the command without it translates the rest and
        scores the run. With --json: counts of the shard, as JSON.
    offline
        Never use the network (HF_HUB_OFFLINE=1 does the same); an endpoint on this machine is
        allowed.
    dry_run
        Send nothing to the endpoint; print how many requests and about how many tokens are needed.
    """
    if shard is not None and out is None:
        raise SettingError(
            "shard", "translations are kept in the folder of the run; name it with --out"
        )
    settings = combined(
        EvalSettings,
        corpus,
        limit,
        translation,
        language_model,
        evaluator,
        device,
        bootstrap,
        offline=offline,
    )
    with no_network("--offline") if offline else nullcontext():
        if dry_run:
            estimate = estimate_requests(model, lang, out=out, settings=settings)
            if json:
                print_json(estimate._asdict())
                return
            print(
                f"{estimate.requests:,} requests ({estimate.kept:,} answers are there), "
                f"about {estimate.prompt_tokens:,} tokens of prompts "
                f"and {estimate.answer_tokens:,} of answers; "
                "thinking, and requests sent again, are extra"
            )
            return
        if shard is None or out is None:
            run = evaluate(model, lang, out=out, settings=settings, progress=True)
            show(run, out, json=json, full=full)
            return
        report = translate_shard(model, lang, shard, out, settings=settings, progress=True)
    if json:
        print_json({"shard": shard, "out": str(out), **asdict(report)})
        return
    print(
        f"Shard {shard} of {escaped(str(out))}: {report.parts} parts, "
        f"{report.sentences} sentences; {report.generated} translated now "
        f"in {report.seconds:.1f} s, {report.resumed} were there"
    )
