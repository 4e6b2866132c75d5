"""What the processes of `scripts/bench_gpu.py` do: each prints a line of JSON for every result,
once it has it.
"""

from __future__ import annotations

import gc
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from mtbias.errors import MtbiasError
from mtbias.settings import TranslationSettings
from scripts.bench.families import SHAPES, TINY, Shape, make_checkpoint
from scripts.bench.limits import BEAMS, floor_seconds, launch_seconds, measure_limits
from scripts.bench.runner import BASELINE, Place, Runner, Variant
from scripts.bench.texts import draw_words
from scripts.bench.work import BASELINE_BATCH, TOKENS_A_WORD

Json = dict[str, Any]
Answer = Callable[[Mapping[str, object]], None]
BASE = {"opus-mt": 400, "m2m100": 160, "mbart50": 96}
"""Sentences of a batch, once."""
TIMES = (1, 2, 4, 6)
STEPS, FEWEST, PROFILED = 30, 5, 12
"""Steps that are timed, those at least, and those that are taken apart."""
HALF = ("float16", "bfloat16")
CELLS = ("de", "es")
"""Languages of the sweep."""
ANSWERING = 5
"""Seconds in which a job says what it has before its time is over."""


def machine(job: Json, answer: Answer) -> None:
    """The device's name, its measured limits, and the versions."""
    import torch

    limits = measure_limits(job["device"], 1, size=256 if job["tiny"] else None)
    versions = {
        name: version(name) if find_spec(name) else None for name in ("transformers", "ctranslate2")
    }
    answer(
        {
            "name": limits.pop("name"),
            "limits": limits,
            "launch": launch_seconds(job["device"]),
            "torch": torch.__version__,
            **versions,
        }
    )


def checkpoint(job: Json, answer: Answer) -> None:
    """Random weights of the true sizes, and their conversions."""
    for family, name in job["folders"].items():
        began, folder = time.perf_counter(), Path(name)
        make_checkpoint(_shape(job, family), folder)
        if job["ct2"]:
            from mtbias.translate.seq2seq.ct2_conversion import convert

            convert(folder, folder.parent)
        answer({"family": family, "seconds": time.perf_counter() - began})


def easynmt(job: Json, answer: Answer) -> None:
    """EasyNMT's way of each family, in its batches."""
    _timed(job, [BASELINE], (), answer)


def steps(job: Json, answer: Answer) -> None:
    """Steps of our search in each type, with one, two, four and six times `BASE` sentences."""
    types = ("float16", "bfloat16", "float32") if job["device"] != "cpu" else ("float32",)
    _timed(job, [Variant("transformers", dtype) for dtype in types], TIMES, answer)


def ct2(job: Json, answer: Answer) -> None:
    """CTranslate2's steps, in one and two replicas."""
    if job["device"] != "cpu":
        from mtbias.translate.seq2seq.ct2_engine import usable_types

        try:
            usable_types(job["device"])
        except MtbiasError as error:  # what is missing
            variant = asdict(Variant("ct2", HALF[0]))
            answer({"family": "all", "variant": variant, "left_out": _said(error)})
            return
    types = HALF if job["device"] != "cpu" else ("float32",)
    variants = [Variant("ct2", dtype) for dtype in types]
    if job["device"] != "cpu":
        variants.append(Variant("ct2", types[0], replicas=2))
    _timed(job, variants, [2], answer)


def graphs(job: Json, answer: Answer) -> None:
    """Steps as they are and replayed from CUDA graphs, one after the other."""
    dtype = "float16" if job["device"] != "cpu" else "float32"
    plain = Variant("transformers", dtype)
    _timed(job, [plain, replace(plain, recorded=True)], [1, 4], answer)


def _timed(job: Json, variants: Sequence[Variant], times: Sequence[int], answer: Answer) -> None:
    """Time the first steps of a batch of each size, of each family and variant, within the job's
    seconds.
    """
    ends = time.perf_counter() + job["seconds"] - ANSWERING
    left = len(job["folders"]) * len(variants)
    for family, folder in job["folders"].items():
        shape = _shape(job, family)
        for variant in variants:
            share = max(0.0, ends - time.perf_counter()) / left
            stop = time.perf_counter() + share
            left -= 1
            found: Json = {"family": family, "variant": asdict(variant)}
            try:
                place = Place(Path(folder), job["device"], 1, 1, job["corpus"])
                runner = Runner(variant, shape, place)
                for each in _sizes(job, family, variant, times):
                    answer(found | _first_steps(runner, each, stop, job))
            except Exception as error:  # noqa: BLE001 - the others are still to be measured
                answer(found | {"left_out": _said(error)})
            runner = None  # type: ignore[assignment] # its memory
            _forget()


def _sizes(job: Json, family: str, variant: Variant, times: Sequence[int]) -> list[int]:
    if variant.engine == BASELINE.engine:
        return [4 if job["tiny"] else BASELINE_BATCH]
    base = 4 if job["tiny"] else BASE[family]
    return [base * each for each in times]


def _first_steps(runner: Runner, sentences: int, stop: float, job: Json) -> Json:
    """Time a batch's first steps: `STEPS` of them, fewer where they would not be over at `stop`."""
    left = stop - time.perf_counter()
    if left <= 0:
        return {"sentences": sentences, "left_out": "no time was left"}
    _forget()
    whole, tokens_a_sentence = runner.batch(sentences)
    runner.first_steps(replace(whole, length=3))
    three = runner.first_steps(replace(whole, length=3))
    recorded = runner.variant.recorded
    affordable = int((stop - time.perf_counter()) / (three / 3) / (2 if recorded else 1))
    batch = replace(whole, length=max(FEWEST, min(STEPS, affordable)))
    first = runner.first_steps(batch) if recorded else None
    seconds = runner.first_steps(batch)
    batches = runner.variant.replicas
    floor, binds = floor_seconds(
        runner.shape, [batch] * batches, job["limits"], runner.variant.dtype
    )
    return {
        "sentences": len(batch.sources),
        "steps": batch.length,
        "tokens": batches * batch.length * len(batch.sources),
        "tokens_a_sentence": tokens_a_sentence,
        "seconds": seconds,
        "recording": None if first is None else first - seconds,
        "floor": floor,
        "binds": binds,
        "peak": runner.peak(),
    }


_KINDS = {
    "attention": "fmha|flash|attention|attn",
    "products": "gemm|nvjet|cutlass|cublas|gemv|splitk|(^|[^a-z])(add|b)?mm([^a-z]|$)|linear|matmul",
    "scores": "softmax|topk|sort|radix|amax|max|isin|isnan",
    "moving": "copy|memcpy|memset|cat|index|gather|scatter|fill|clone|embedding|zero|where",
}
"""Kinds of kernels and operators by their names, the first that fits; all else is ``rest``:
activations, norms, sums."""


def kind_of(name: str) -> str:
    """The kind of a kernel, or of an operator of torch."""
    fitting = (kind for kind, names in _KINDS.items() if re.search(names, name.lower()))
    return next(fitting, "rest")


def profile(job: Json, answer: Answer) -> None:
    """Milliseconds a step by kind of kernel, and those in which the GPU does nothing; on a CPU by
    kind of operator.
    """
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as profiled

    cuda = job["device"] != "cpu"
    variant = Variant("transformers", "float16" if cuda else "float32")
    activity = ProfilerActivity.CUDA if cuda else ProfilerActivity.CPU
    for family, folder in job["folders"].items():
        runner = Runner(
            variant, _shape(job, family), Place(Path(folder), job["device"], 1, 1, job["corpus"])
        )
        (sentences,) = _sizes(job, family, variant, [2])
        batch = replace(runner.batch(sentences)[0], length=PROFILED)
        runner.first_steps(batch)
        with profiled(activities=[activity]) as trace:
            seconds = runner.first_steps(batch)
        times = _kernels(trace) if cuda else _operators(trace)
        by_kind: defaultdict[str, float] = defaultdict(float)
        for name, milliseconds in times:
            by_kind[kind_of(name)] += milliseconds / PROFILED
        step = 1000 * seconds / PROFILED
        answer(
            {
                "family": family,
                "dtype": variant.dtype,
                "sentences": len(batch.sources),
                "steps": PROFILED,
                "started": len(times) / PROFILED,
                "step": step,
                "idle": step - sum(by_kind.values()),
                "kinds": dict(by_kind),
            }
        )
        del runner
        _forget()


def _kernels(trace: Any) -> list[tuple[str, float]]:  # noqa: ANN401 - of torch.profiler
    """Names and milliseconds of all kernels; a search has one stream, so none overlap."""
    from torch.autograd import DeviceType

    return [
        (one.name, one.time_range.elapsed_us() / 1000)
        for one in trace.events()
        if one.device_type == DeviceType.CUDA
    ]


def _operators(trace: Any) -> list[tuple[str, float]]:  # noqa: ANN401
    return [(one.name, one.self_cpu_time_total / 1000) for one in trace.events()]


def equal(job: Json, answer: Answer) -> None:
    """Sentences of which our search, as it is and recorded, finds what ``model.generate`` finds, in
    fp32.
    """
    import torch

    from mtbias.translate.seq2seq.codec import Codec
    from mtbias.translate.seq2seq.decoding import Decoding
    from mtbias.translate.seq2seq.engine import Bounds
    from mtbias.translate.seq2seq.transformers_engine import TransformersEngine

    folder, limit = Path(job["folder"]), 64
    codec = Codec(folder, job["lang"])
    batch = [one.ids for one in codec.encode(_sources(None, 16 if job["tiny"] else 64))]
    engines = {
        name: TransformersEngine(folder, device=job["device"], recorded=name == "recorded")
        for name in ("pool", "recorded")
    }
    bounds = Bounds(Decoding(early_stopping=codec.family.early_stopping), limit, codec.forced)
    ours = {name: engine.generate(batch, bounds) for name, engine in engines.items()}
    model = engines["pool"]._model
    ids, mask = engines["pool"]._padded(batch)
    with torch.no_grad():
        plain = model.generate(
            input_ids=ids,
            attention_mask=mask,
            do_sample=False,
            num_beams=BEAMS,
            early_stopping=bounds.decoding.early_stopping,
            length_penalty=1.0,
            max_new_tokens=limit,
            forced_bos_token_id=codec.forced,
        )[:, 1:].tolist()
    pad = model.generation_config.pad_token_id
    for name, found in ours.items():
        pairs = zip(found, plain, strict=True)
        same = sum([*one.ids] == _without_padding(row, pad, len(one.ids)) for one, row in pairs)
        answer({"search": name, "sentences": len(batch), "equal": same})


def _without_padding(row: Sequence[int], pad: int, length: int) -> Sequence[int]:
    """`row` as long as it is without the padding behind `length` tokens."""
    return row[:length] if all(one == pad for one in row[length:]) else row


def price(job: Json, answer: Answer) -> None:
    """Translate the same sentences in several types by the product's own way, and count what
    differs from the first.

    The translations go to a file for each type, so that they can be scored where Stanza is.
    """
    references: dict[str, list[str]] = {}
    for kind in job["types"]:
        engine, dtype = kind.split(":")
        settings = TranslationSettings(engine=engine, dtype=dtype)
        for name in job["sources"] or [None]:
            texts = _sources(name, job["limit"])
            of = Path(name).stem if name else "demo"
            found: Json = {"of": of, "type": kind, "sentences": len(texts), "lang": job["lang"]}
            try:
                measured, targets = _translated(job, texts, job["lang"], settings)
                file = Path(job["out"]) / f"translations-{of}-{job['lang']}-{engine}-{dtype}.jsonl"
                _write_pairs(file, texts, targets)
                if kind == job["types"][0]:
                    references[of] = targets
                pairs = zip(references[of], targets, strict=True)
                found |= measured | {"changed": sum(a != b for a, b in pairs)}
            except Exception as error:  # noqa: BLE001 - the other types are still to be measured
                found["left_out"] = _said(error)
            answer(found)
            _forget()


def _write_pairs(file: Path, texts: Sequence[str], targets: Sequence[str]) -> None:
    pairs = zip(texts, targets, strict=True)
    lines = [json.dumps({"source": s, "target": t}, ensure_ascii=False) for s, t in pairs]
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _translated(
    job: Json, texts: Sequence[str], lang: str, settings: TranslationSettings
) -> tuple[Json, list[str]]:
    """Translations by the product's own way, and what was measured of them."""
    from mtbias.translate.seq2seq.checkpoint_system import CheckpointSystem
    from mtbias.translate.seq2seq.checkpoints import locate
    from mtbias.translate.system import MemoryStore, Sources, Translated
    from mtbias.types import SourceSentence

    cache = Path(job["cache"])
    rows = tuple(SourceSentence(str(n), n, text) for n, text in enumerate(texts))
    corpus = cast(Sources, SimpleNamespace(instances=rows, rows=len(rows)))
    system = CheckpointSystem(
        locate(job["checkpoint"], lang, cache=cache),
        lang,
        settings,
        cache=cache,
        device=job["device"],
    )
    plan, store = system.plan(corpus, {}), MemoryStore()
    _ = system.engine
    began = time.perf_counter()
    tally = plan.translate(store, range(len(plan.sizes)), lambda *_: None)
    seconds = time.perf_counter() - began
    translated = plan.collect(store)
    assert isinstance(translated, Translated)
    measured = {"seconds": seconds, "in_second_stage": tally.execution["in_second_stage"]}
    return measured, [one.text or "" for one in translated.translations]


def sweep(job: Json, answer: Answer) -> None:
    """A sweep of one model in `CELLS` on this machine, with what the GPU's own counter says
    meanwhile; without Stanza's models the translating of its cells alone.
    """
    home, count = Path(job["home"]), job["sentences"]
    home.mkdir(parents=True, exist_ok=True)
    texts = _long_sources(count)
    began = time.perf_counter()
    with _watched_gpu(home / "busy.csv", job["device"]) as busy:

        def measured(cells: int, tasks: str, ended: str) -> None:
            sizes = {"cells": cells, "sentences": count, "tasks": tasks, "ended": ended}
            answer({**sizes, "seconds": time.perf_counter() - began, "busy": busy()})

        if job["stanza"]:
            measured(len(CELLS), "all", _whole_sweep(home, job, texts))
            return
        settings = TranslationSettings(preset="fast", max_length=job["tokens"])
        for n, lang in enumerate(CELLS, 1):
            _translated(job, texts, lang, settings)
            measured(n, "translating", "exit 0")


def _whole_sweep(home: Path, job: Json, texts: Sequence[str]) -> str:
    """How ``mtbias sweep`` ended, which says what it does to stderr."""
    _, sentence, gender, _, start, end, stereotype, *_ = _demo_rows()[0]
    columns = ["source", "gender", "entity_start", "entity_end", "stereotype"]
    rows = [[f"{sentence} {text}", gender, start, end, stereotype] for text in texts]
    lines = ["\t".join(row) for row in [columns, *rows]]
    (home / "own.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = {
        "out": str(home / "runs"),
        "models": [job["checkpoint"]],
        "languages": [*CELLS],
        "datasets": ["custom"],
        "presets": ["fast"],
        "max_length": job["tokens"],
        "cache_dir": job["cache"],
        "stanza_dir": job["stanza"],
        "resamples": 200,
    }
    file = home / "sweep.toml"
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    file.write_text("\n".join([*lines, "[data]", 'custom = "own.tsv"', ""]), encoding="utf-8")
    where = ["--gpus", "1"] if job["device"] != "cpu" else ["--jobs", "1"]
    command = [sys.executable, "-m", "mtbias", "sweep", str(file), "--device", job["device"]]
    left = job["seconds"] - ANSWERING
    try:
        done = subprocess.run([*command, *where], stdout=sys.stderr, check=False, timeout=left)
    except subprocess.TimeoutExpired:
        return "its time was over"
    return f"exit {done.returncode}"


@contextmanager
def _watched_gpu(file: Path, device: str) -> Iterator[Callable[[], Json | None]]:
    """Ask the GPU ten times a second how much of the time it computed; gives what the answers say
    after the block.
    """
    tool = shutil.which("nvidia-smi") if device != "cpu" else None
    if tool is None:
        yield lambda: None
        return
    number = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0] or "0"
    query = ["--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-lms", "100"]
    with file.open("w", encoding="utf-8") as out:
        process = subprocess.Popen([tool, "-i", number, *query], stdout=out)
        try:
            yield lambda: shares_busy(file.read_text(encoding="utf-8").split())
        finally:
            process.terminate()
            process.wait()


def shares_busy(answers: Iterable[str]) -> Json | None:
    """The mean of the GPU's answers, in per cent, over all and from the first to the last at which
    it was busy.
    """
    shares = [float(one) for one in answers if one.isdecimal()]
    places = [n for n, share in enumerate(shares) if share > 0]
    if not places:
        return None
    between = shares[places[0] : places[-1] + 1]
    return {"all": sum(shares) / len(shares), "between": sum(between) / len(between)}


def _long_sources(count: int) -> list[str]:
    """Sources of BUG's lengths in the letters that the random checkpoints' tokenizers read as a
    token each.
    """
    rng = random.Random(0)
    tokens = [round(TOKENS_A_WORD * draw_words(rng)) for _ in range(count)]
    return [" ".join(rng.choices("abcd", k=length)) for length in tokens]


def _demo_rows() -> list[list[str]]:
    from mtbias.demo import demo_file

    lines = demo_file().read_text(encoding="utf-8").splitlines()[1:]
    return [line.split("\t") for line in lines]


def _sources(name: str | None, limit: int | None) -> list[str]:
    """The sentences of a file, one a line, else those of the demo."""
    if name is None:
        return list(dict.fromkeys(row[1] for row in _demo_rows()))[:limit]
    return list(dict.fromkeys(Path(name).read_text(encoding="utf-8").splitlines()))[:limit]


def _shape(job: Json, family: str) -> Shape:
    return (TINY if job["tiny"] else SHAPES)[family]


def _said(error: Exception) -> str:
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:200]}"


def _forget() -> None:
    """Give the GPU's memory back before the next model."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


JOBS: Mapping[str, Callable[[Json, Answer], None]] = {
    "machine": machine,
    "checkpoint": checkpoint,
    "equal": equal,
    "price": price,
    "easynmt": easynmt,
    "steps": steps,
    "graphs": graphs,
    "ct2": ct2,
    "profile": profile,
    "sweep": sweep,
}


def main() -> None:
    """Do the job that the command line names."""
    answers, sys.stdout = (
        sys.stdout,
        sys.stderr,
    )  # what libraries print must not mix with the answers
    kind, job = sys.argv[1], json.loads(sys.argv[2])
    JOBS[kind](
        job, lambda found: print(json.dumps({"kind": kind, **found}), file=answers, flush=True)
    )


if __name__ == "__main__":
    main()
