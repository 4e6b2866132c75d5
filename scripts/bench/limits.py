"""What the machine can do at most, measured, and how long the work must take at least."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.bench.families import Shape
from scripts.bench.work import Work

BEAMS = 5
_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "int8": 1, "int8_bfloat16": 1}


def floor_seconds(
    shape: Shape, work: Sequence[Work], limits: Mapping[str, float], dtype: str
) -> tuple[float, str]:
    """Least seconds in which the machine could do `work`, and what binds for most of them:
    arithmetic or memory.

    The sum, over the encoder's pass and every step of every batch, of ``max(flops / peak, bytes /
    bandwidth)``. With n sentences of s tokens (S their sum, Q the sum of squares), r = n × beams
    rows, T steps, d hidden size, f inner size, L layers, V vocabulary, w and k bytes a weight and a
    cached value, and P = 6d² + 2df the weights of a decoder layer (keys and values of the source
    are made once, 2d² of weights more)::

        encoder: flops 2SL(6d² + 2df) + 4QLd            bytes wL(6d² + 2df)
        step t:  flops 2r(LP + Vd) + 4Ld(rt + S beams)  bytes w(LP + Vd) + 2kLd(rt + S) + 4rV
                                                        (4rV: scores in fp32, written)

    Padding, masks, reordering of the caches, scores that are read again and all else are not in it:
    they are what an engine may do without.
    """
    kind = "int8" if dtype.startswith("int8") else dtype
    peak, bandwidth = limits[kind], limits["bandwidth"]
    weight, value = _BYTES[dtype], 2 if "16" in dtype else 4
    d, layers, vocabulary = shape.size, shape.layers, shape.vocabulary
    layer = 6 * d * d + 2 * d * shape.inner
    total = {"arithmetic": 0.0, "memory": 0.0}

    def add(flops: float, moved: float) -> None:
        compute, move = flops / peak, moved / bandwidth
        total["arithmetic" if compute >= move else "memory"] += max(compute, move)

    for batch in work:
        tokens = sum(map(len, batch.sources))
        rows = len(batch.sources) * BEAMS
        squares = sum(len(ids) ** 2 for ids in batch.sources)
        add(2 * tokens * layers * layer + 4 * squares * layers * d, weight * layers * layer)
        fixed = layers * layer + vocabulary * d
        for step in range(1, batch.length + 1):
            add(
                2 * rows * fixed + 4 * layers * d * (rows * step + tokens * BEAMS),
                weight * fixed
                + 2 * value * layers * d * (rows * step + tokens)
                + 4 * rows * vocabulary,
            )
    return sum(total.values()), max(total, key=lambda name: total[name])


def measure_limits(device: str, threads: int, *, size: int | None = None) -> dict[str, Any]:
    """The best of a few products of square matrices a number type (operations a second), and of
    copies (bytes a second, read and written), with the device's name.
    """
    import torch

    cuda = device.startswith("cuda")
    if not cuda:
        torch.set_num_threads(threads)
    clock = time.process_time if not cuda and threads == 1 else time.perf_counter
    size = size or (8192 if cuda else 2048)

    def best(call: Callable[[], object]) -> float:
        found = math.inf
        for _ in range(5):
            began = clock()
            call()
            if cuda:
                torch.cuda.synchronize()
            found = min(found, clock() - began)
        return found

    limits: dict[str, Any] = {"name": torch.cuda.get_device_name(device) if cuda else _cpu_name()}
    for dtype in ("float32", "bfloat16", "float16") if cuda else ("float32",):
        a, b = (torch.randn(size, size, device=device).to(getattr(torch, dtype)) for _ in range(2))
        limits[dtype] = 2 * size**3 / best(lambda a=a, b=b: a @ b)  # type: ignore[misc]
    p, q = (torch.randint(-99, 99, (size, size), dtype=torch.int8, device=device) for _ in range(2))
    try:
        limits["int8"] = 2 * size**3 / best(lambda: torch._int_mm(p, q))
    except (RuntimeError, AttributeError, NotImplementedError):
        limits["int8"] = limits["float32"]
    source = torch.zeros(16 * size * size, device=device)
    target = torch.empty_like(source)
    limits["bandwidth"] = 2 * source.nbytes / best(lambda: target.copy_(source))
    return limits


def launch_seconds(device: str, *, count: int = 2000) -> dict[str, float]:
    """Seconds from one kernel that does nothing to speak of to the next: started by Python, and on
    a GPU replayed from a CUDA graph.
    """
    import torch

    cuda = device.startswith("cuda")
    one = torch.zeros(1, device=device)

    def many(count: int = count) -> None:
        for _ in range(count):
            one.add_(1.0)

    def timed(call: Callable[[], object]) -> float:
        began = time.perf_counter()
        call()
        if cuda:
            torch.cuda.synchronize()
        return (time.perf_counter() - began) / count

    timed(many)
    found = {"python": timed(many)}
    if cuda:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            many()
        timed(graph.replay)
        found["replayed"] = timed(graph.replay)
    return found


def _cpu_name() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return next(
        (line.split(":")[1].strip() for line in lines if line.startswith("model name")), "CPU"
    )
