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

Asking = Parameter(group=LANGUAGE_MODEL)


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
    dry_run: Annotated[Flag, Asking] = False,
    evaluator: Evaluator = EvaluatorSettings(),
    device: Device = DeviceSettings(),
    bootstrap: Bootstrap = BootstrapSettings(),
) -> None:
    """Translate a corpus with a model and report gender-bias metrics.

    What is missing is downloaded, unless --offline or HF_HUB_OFFLINE=1 forbids it. `--model demo`
    needs no network and translates the demo's own corpus unless --dataset names another.

    Parameters
    ----------
    model
        Short name (`mtbias list models`), Hugging Face id, folder with a checkpoint, openai:NAME of
        an endpoint (--base-url), deepl:quality_optimized (its key in DEEPL_AUTH_KEY),
        apertium:eng-spa, firefox:en-pt, or SCHEME:NAME of a plugin.
    shard
        K/N: translate shard K of N only, into --out; without it, what is missing is translated and
        the run scored. With --json: what was done, as JSON.
    offline
        Never use the network (HF_HUB_OFFLINE=1 does the same); an endpoint on this machine may be
        asked.
    dry_run
        Ask the endpoint nothing; print how many requests and about how many tokens are missing.
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
            found = estimate_requests(model, lang, out=out, settings=settings)
            if json:
                print_json(found._asdict())
                return
            print(
                f"{found.requests:,} requests ({found.kept:,} answers are there), about {found.prompt_tokens:,} tokens "
                f"of prompts and {found.answer_tokens:,} of answers; thinking, and requests sent again, are extra"
            )
            return
        if shard is None or out is None:
            show(
                evaluate(model, lang, out=out, settings=settings, progress=True),
                out,
                json=json,
                full=full,
            )
            return
        done = translate_shard(model, lang, shard, out, settings=settings, progress=True)
    if json:
        print_json({"shard": shard, "out": str(out), **asdict(done)})
        return
    print(
        f"Shard {shard} of {escaped(str(out))}: {done.parts} parts, {done.sentences} sentences; "
        f"{done.generated} translated now in {done.seconds:.1f} s, {done.resumed} were there"
    )
