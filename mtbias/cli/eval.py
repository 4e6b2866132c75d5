"""``mtbias eval``."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict

from mtbias.cli.shared import (
    Bootstrap,
    Corpus,
    Device,
    Evaluator,
    Flag,
    Json,
    Lang,
    RunOut,
    Translation,
    fetching,
    print_json,
    show,
)
from mtbias.errors import SettingError
from mtbias.machine.stage_progress import ProgressLine
from mtbias.settings import (
    BootstrapSettings,
    CorpusSettings,
    DeviceSettings,
    EvalSettings,
    EvaluatorSettings,
    TranslationSettings,
    combined,
)


def command(
    *,
    model: str,
    lang: Lang,
    out: RunOut = None,
    shard: str | None = None,
    offline: Flag = False,
    json: Json = False,
    corpus: Corpus = CorpusSettings(),
    translation: Translation = TranslationSettings(),
    evaluator: Evaluator = EvaluatorSettings(),
    device: Device = DeviceSettings(),
    bootstrap: Bootstrap = BootstrapSettings(),
) -> None:
    """Translate a corpus with a model and report gender-bias metrics.

    What is missing is downloaded, unless --offline or HF_HUB_OFFLINE=1 forbids it. `--model demo` needs no network and
    translates the demo's own corpus unless --dataset names another.

    Parameters
    ----------
    model
        Short name (`mtbias models` lists them), Hugging Face id, folder with a checkpoint, or SCHEME:NAME of a plugin.
    shard
        K/N: translate shard K of N only, into --out; without it, what is missing is translated and the run scored.
        With --json: what was done, as JSON.
    offline
        Never use the network (HF_HUB_OFFLINE=1 does the same).
    """
    from mtbias.evaluation.preparation import prepare_eval
    from mtbias.evaluation.stages import evaluate
    from mtbias.evaluation.translation import translate_shard
    from mtbias.machine.network import no_network
    from mtbias.translate.shards import Shard

    part = None if shard is None else Shard.parse(shard)
    if part is not None and out is None:
        raise SettingError("shard", "translations are kept in the folder of the run; name it with --out")
    settings = combined(EvalSettings, corpus, translation, evaluator, device, bootstrap, offline=offline)
    with no_network("--offline") if offline else nullcontext():
        request = prepare_eval(model, lang, settings, fetching())
        if part is None:
            show(evaluate(request, out=out, progress=ProgressLine()), out, json=json)
        elif out is not None:
            done = translate_shard(request, part, out=out, progress=ProgressLine())
            if json:
                print_json({"shard": str(part), "out": str(out), **asdict(done)})
                return
            print(
                f"Shard {part} of {out}: {done.parts} parts, {done.sentences} sentences; {done.generated} translated "
                f"now in {done.seconds:.1f} s, {done.resumed} were there"
            )
