"""What the processes of `scripts/bench_gpu.py` do: each prints a line of JSON for every result,
once it has it.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from scripts.bench.families import SHAPES, TINY, Shape, make_checkpoint
from scripts.bench.limits import floor_seconds, measure_limits
from scripts.bench.runner import Place, Runner, Variant
from scripts.bench.work import draw_lengths, make_work

Json = dict[str, Any]
Answer = Callable[[Mapping[str, object]], None]
_MIB = 1 << 20
CAP = 0.4
"""Share of what a batch needs beside the weights that the cascade's cap leaves: two halvings, then
it fits."""
WORDS = 31
"""Of a sentence of BUG, on average."""


def machine(job: Json, answer: Answer) -> None:
    """The device's name, its measured limits, and the versions."""
    import torch

    limits = measure_limits(job["device"], 1, size=256 if job["tiny"] else None)
    versions = {
        name: version(name) if find_spec(name) else None for name in ("transformers", "ctranslate2")
    }
    answer({"name": limits.pop("name"), "limits": limits, "torch": torch.__version__, **versions})


def checkpoint(job: Json, answer: Answer) -> None:
    """Random weights of the true size, and their conversion."""
    began, folder = time.perf_counter(), Path(job["folder"])
    make_checkpoint(_shape(job), folder, tokenizer=job["ct2"])
    if job["ct2"]:
        from mtbias.translate.seq2seq.ct2_conversion import convert

        convert(folder, folder.parent)
    answer({"family": job["family"], "seconds": time.perf_counter() - began})


def speed(job: Json, answer: Answer) -> None:
    """Sentences a second of some variants of one family, which share a process."""
    shape = _shape(job)
    for spec in job["variants"]:
        variant = Variant(**spec)
        found: Json = {"family": job["family"], "variant": spec}
        try:
            found |= _speed(variant, shape, job)
        except Exception as error:  # noqa: BLE001 - the others are still to be measured
            found["left_out"] = (
                f"{type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}"
            )
        answer(found)
        _forget()


def _speed(variant: Variant, shape: Shape, job: Json) -> Json:
    if variant.engine == "ct2" and job["device"] != "cpu":
        from mtbias.translate.seq2seq.ct2_engine import usable_types

        usable_types(job["device"])  # says what is missing
    runner = Runner(
        variant, shape, Place(Path(job["folder"]), job["device"], 1, job["batches"], job["corpus"])
    )
    runner.warm_up()
    done, seconds = runner.timed(job["seconds"])
    floor, binds = floor_seconds(shape, done, job["limits"], variant.dtype)
    return {
        "batches": len(done),
        "planned": len(runner.work),
        "sentences": sum(len(batch.sources) for batch in done),
        "tokens": sum(batch.length * len(batch.sources) for batch in done),
        "tokens_a_sentence": runner.tokens_a_sentence,
        "seconds": seconds,
        "floor": floor,
        "binds": binds,
        "peak": runner.peak(),
    }


def cascade(job: Json, answer: Answer) -> None:
    """A batch that fits, then the same under a cap on memory: it is halved, and nothing of what
    failed stays.

    On a GPU the cap is torch's own; on a CPU the system refuses memory to the process
    (`RLIMIT_DATA`).
    """
    runner = Runner(
        Variant("transformers"),
        _shape(job),
        Place(Path(job["folder"]), job["device"], 1, 1, job["corpus"]),
    )
    from mtbias.translate.seq2seq.codec import Encoded

    loop, count = runner._loop, job["sentences"]
    batch = make_work(range(count), draw_lengths(count, runner.shape.kind), runner.shape)
    sentences = [Encoded(ids, cut=False) for ids in batch.sources]
    gauge = _Gauge(job["device"])
    weights = gauge.now()
    whole = loop._batch(sentences, batch.length)
    need = gauge.peak() - weights
    begins: list[float] = []
    generate = runner.engine.generate

    def watched(*args: object, **asked: object) -> object:
        begins.append((gauge.now() - weights) / _MIB)
        return generate(*args, **asked)

    runner.engine.generate = watched
    with gauge.capped(int(CAP * need)):
        halves = loop._batch(sentences, batch.length)
    answer(
        {
            "sentences": len(sentences),
            "need": need / _MIB,
            "halved": loop.halving.halved,
            "alive": [mib - begins[0] for mib in begins[1:]],
            "translated": sum(one.done for one, _ in halves),
            "equal": sum(a == b for a, b in zip(whole, halves, strict=True)),
        }
    )


class _Gauge:
    """Memory in use on a device, its peak, and a cap."""

    def __init__(self, device: str) -> None:
        self._cuda = device.startswith("cuda")
        if not self._cuda:
            Path("/proc/self/clear_refs").write_text(
                "5", encoding="utf-8"
            )  # the peak starts from here
            return
        import torch

        torch.cuda.reset_peak_memory_stats()

    def now(self) -> int:
        """Bytes in use."""
        gc.collect()
        if not self._cuda:
            return self._status("VmRSS")
        import torch

        return int(torch.cuda.memory_allocated())

    def peak(self) -> int:
        """Most bytes until now."""
        if not self._cuda:
            return self._status("VmHWM")
        import torch

        return int(torch.cuda.max_memory_allocated())

    @contextmanager
    def capped(self, more: int) -> Iterator[None]:
        """Within the block no more than so many bytes beside those in use."""
        if not self._cuda:
            before = resource.getrlimit(resource.RLIMIT_DATA)
            resource.setrlimit(resource.RLIMIT_DATA, (self._status("VmData") + more, before[1]))
            try:
                yield
            finally:
                resource.setrlimit(resource.RLIMIT_DATA, before)
            return
        import torch

        torch.cuda.empty_cache()
        total = torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, (self.now() + more) / total))
        try:
            yield
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0)

    @staticmethod
    def _status(key: str) -> int:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(f"{key}:")) * 1024


def price(job: Json, answer: Answer) -> None:
    """Translate the same sentences in several types by the product's own way, and count what
    differs from the first.

    The translations go to a file for each type, so that they can be scored where Stanza is.
    """
    from mtbias.settings import TranslationSettings
    from mtbias.translate.seq2seq.checkpoint_system import CheckpointSystem
    from mtbias.translate.seq2seq.checkpoints import locate
    from mtbias.translate.system import MemoryStore, Sources, Translated
    from mtbias.types import SourceSentence

    cache, lang = Path(job["cache"]), job["lang"]
    texts = _sources(job)
    rows = tuple(SourceSentence(str(n), n, text) for n, text in enumerate(texts))
    corpus = cast(Sources, SimpleNamespace(instances=rows, rows=len(rows)))
    reference: list[str] | None = None
    for kind in job["types"]:
        engine, dtype = kind.split(":")
        found: Json = {"type": kind, "sentences": len(texts), "lang": lang}
        try:
            settings = TranslationSettings(engine=engine, dtype=dtype)
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
            found |= {
                "seconds": time.perf_counter() - began,
                "in_second_stage": tally.execution["in_second_stage"],
            }
            translated = plan.collect(store)
            assert isinstance(translated, Translated)
            targets = [one.text or "" for one in translated.translations]
            reference = targets if reference is None else reference
            found["changed"] = sum(a != b for a, b in zip(reference, targets, strict=True))
            file = Path(job["out"]) / f"translations-{lang}-{engine}-{dtype}.jsonl"
            lines = (
                json.dumps({"source": s, "target": t}, ensure_ascii=False)
                for s, t in zip(texts, targets, strict=True)
            )
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        except Exception as error:  # noqa: BLE001 - the other types are still to be measured
            found["left_out"] = (
                f"{type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}"
            )
        answer(found)
        _forget()


def codec(job: Json, answer: Answer) -> None:
    """Seconds of tokenising, and of putting translations together, for 1,000 sentences of BUG's
    length.
    """
    from mtbias.translate.seq2seq.codec import Codec

    words = " ".join(_sources({**job, "sources": None, "limit": None})).split()
    texts = [" ".join(words[n : n + WORDS]) for n in range(0, len(words) - WORDS, WORDS)]
    made = Codec(Path(job["folder"]), job["lang"])
    made.encode(texts[:2])
    began = time.perf_counter()
    encoded = made.encode(texts)
    middle = time.perf_counter()
    made.decode([one.ids for one in encoded])
    ended = time.perf_counter()
    answer(
        {
            "encode": 1000 * (middle - began) / len(texts),
            "decode": 1000 * (ended - middle) / len(texts),
        }
    )


def _sources(job: Json) -> list[str]:
    """The sentences of a file, one a line, else those of the demo."""
    if job["sources"] is not None:
        lines = Path(job["sources"]).read_text(encoding="utf-8").splitlines()
    else:
        from mtbias.demo import demo_file

        lines = [
            line.split("\t")[1] for line in demo_file().read_text(encoding="utf-8").splitlines()[1:]
        ]
    return list(dict.fromkeys(lines))[: job["limit"]]


def _shape(job: Json) -> Shape:
    return (TINY if job["tiny"] else SHAPES)[job["family"]]


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
    "speed": speed,
    "cascade": cascade,
    "price": price,
    "codec": codec,
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
