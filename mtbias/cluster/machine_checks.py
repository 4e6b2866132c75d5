"""What is on this machine: versions, devices, engines, folders, network, what a sweep needs, and a run of the demo."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from mtbias import __version__
from mtbias.cluster.inventory import inventory
from mtbias.cluster.sweep_file import Sweep
from mtbias.cluster.task_runs import translation_device
from mtbias.errors import MtbiasError
from mtbias.machine import network
from mtbias.machine.devices import gpu_count, usable_cores
from mtbias.machine.installation import install_command
from mtbias.report.tables import printable

DEMO_LANG = "de"
DEMO_NUMBERS = {"accuracy": 70.5, "delta_g": 14.5, "delta_s": 50.4}
"""Of the demo in `DEMO_LANG`, in per cent, as README.md has them."""
_TOLERANCE = 0.5
"""Points: a GPU may break a near tie another way, which moves a sentence of 512 (0.2 points) or two."""
_NEEDED = ("torch", "transformers", "stanza", "numpy", "scipy", "pandas", "sentencepiece", "huggingface-hub")
_OPTIONAL = {"ctranslate2": "ct2", "submitit": "slurm", "eflomal": "eflomal"}
_GIB = 2**30
_NAMES = 15
"""Columns of a check's name; `huggingface-hub` is the longest of those that are always there."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    part: str
    """Heading in the text."""
    name: str
    found: str
    wrong: bool = False
    """Whether something needed is missing."""

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {"part": self.part, "name": self.name, "found": self.found, "ok": not self.wrong}


def examine(sweep: Sweep | None, *, cache: Path | None, demo: bool) -> Iterator[Check]:
    """Look at everything that a `sweep` needs, if one is given; with `demo`, run the demo in one language.

    Each check is given as soon as it is done.

    Nothing is fetched, nothing leaves the machine. `cache` is mtbias's cache, where no sweep names one.
    """
    cache = sweep.cache_dir if sweep is not None and sweep.cache_dir is not None else cache
    checks = list(_versions())
    yield from checks
    if any(check.wrong for check in checks):
        return  # without these nothing else can be looked at
    for part in (_devices(sweep), _engines(sweep), _folders(sweep, cache), _network()):
        yield from part
    if sweep is not None:
        for needed in inventory(sweep):
            found = needed.problem or needed.where
            yield Check(f"needed by the sweep {sweep.name}", needed.title, found, bool(needed.problem))
    if demo:
        yield _demo(cache)


def as_lines(checks: Iterable[Check]) -> Iterator[str]:
    """A heading for each part, a line for each check as soon as it is done; what is wrong is marked."""
    part = ""
    for check in checks:
        if check.part != part:
            yield f"{check.part}\n" if not part else f"\n{check.part}\n"
            part = check.part
        # A fixed width, since the names of the checks to come are not known yet.
        yield f"{'!' if check.wrong else ' '} {printable(check.name):<{_NAMES}}  {printable(check.found)}\n"


def _versions() -> Iterator[Check]:
    yield Check("versions", "mtbias", __version__)
    yield Check("versions", "python", f"{platform.python_version()} on {platform.platform()}")
    for name in _NEEDED:
        found = _version(name)
        yield Check("versions", name, found or f"not installed: {install_command()}", not found)
    for name, extra in _OPTIONAL.items():
        yield Check("versions", name, _version(name) or f"not installed (optional: {install_command(extra)})")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _devices(sweep: Sweep | None) -> Iterator[Check]:
    import torch

    found = f"{usable_cores()} cores for this process, {torch.get_num_threads()} threads of torch; float32"
    yield Check("devices", "cpu", found)
    count = gpu_count()
    for n in range(count):
        memory = torch.cuda.mem_get_info(n)[0] / _GIB
        types = "float32, float16" + (", bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "")
        yield Check("devices", f"cuda:{n}", f"{torch.cuda.get_device_name(n)}, {memory:.0f} GiB free; {types}")
    if not count:
        built = torch.version.cuda
        why = f"torch is built for CUDA {built}, and sees none" if built else "this build of torch has no CUDA"
        yield Check("devices", "cuda", f"no GPU: {why}", sweep is not None and sweep.device == "cuda")


def _engines(sweep: Sweep | None) -> Iterator[Check]:
    wanted = "transformers" if sweep is None else sweep.engine
    try:
        import ctranslate2

        types = ", ".join(sorted(ctranslate2.get_supported_compute_types("cpu")))
        yield Check("engines", "ct2", f"here; on the CPU {types}")
    except ImportError:
        yield Check("engines", "ct2", f"not here: {install_command('ct2')}", wanted == "ct2")


def _folders(sweep: Sweep | None, cache: Path | None) -> Iterator[Check]:
    from huggingface_hub.constants import HF_HUB_CACHE

    from mtbias.corpora import cache_folder
    from mtbias.demo import STANZA_NAME
    from mtbias.morphology import stanza_folder

    root = cache_folder(cache)
    yield Check("folders", "cache", _space(root))
    yield Check("folders", "Hugging Face", _space(Path(HF_HUB_CACHE)))
    given = None if sweep is None else sweep.stanza_dir
    yield Check("folders", "Stanza", "the demo's" if str(given) == STANZA_NAME else _space(stanza_folder(given, root)))
    if sweep is not None:
        yield Check("folders", "runs", _space(sweep.out), not os.access(_existing(sweep.out), os.W_OK))


def _space(folder: Path) -> str:
    there = _existing(folder)
    free = shutil.disk_usage(there).free / _GIB
    notes = [f"{free:.1f} GiB free", *([] if folder.exists() else ["not there yet"])]
    notes += [] if os.access(there, os.W_OK) else ["cannot be written"]
    return f"{folder} ({', '.join(notes)})"


def _existing(folder: Path) -> Path:
    """The folder, or the nearest above it that exists."""
    return next(path for path in (folder, *folder.parents) if path.exists())


def _network() -> Iterator[Check]:
    if network.asked_for():
        found = f"forbidden by {network.VARIABLE}"
    elif not network.downloads_allowed(offline=False):
        found = "downloads are forbidden by HF_HUB_OFFLINE"
    else:
        found = "allowed for `fetch`, and for `eval` where something is missing"
    others = _interfaces()
    found += "; " + (f"interfaces: {', '.join(others)}" if others else "no interface but the loopback: cut off")
    yield Check("network", "network", found)


def _interfaces() -> list[str]:
    """Network interfaces that are up, but for the loopback; nothing is sent to find out."""
    found = []
    for flags in sorted(Path("/sys/class/net").glob("*/flags")):
        with suppress(OSError, ValueError):
            if int(flags.read_text(), 16) & 1 and flags.parent.name != "lo":
                found.append(flags.parent.name)
    return found


def _demo(cache: Path | None) -> Check:
    """`mtbias eval --model demo` in memory, against its known numbers."""
    from mtbias.evaluation.preparation import prepare_eval
    from mtbias.evaluation.stages import evaluate
    from mtbias.settings import EvalSettings
    from mtbias.translate.seq2seq.checkpoints import DEMO

    try:
        device = translation_device("auto")
        settings = EvalSettings(device=device, cache_dir=cache, offline=True, resamples=0)
        overall = evaluate(prepare_eval(DEMO, DEMO_LANG, settings)).metrics["overall"]
    except MtbiasError as error:
        return Check("demo", DEMO_LANG, f"failed: {error}", wrong=True)
    told = ", ".join(f"{key} {overall[key]:.1f}" for key in DEMO_NUMBERS)
    wrong = [key for key, known in DEMO_NUMBERS.items() if abs(overall[key] - known) > _TOLERANCE]
    known = ", ".join(f"{key} {DEMO_NUMBERS[key]:.1f}" for key in wrong)
    found = f"{told} on {device}: " + (f"expected {known}" if wrong else "as known")
    return Check("demo", DEMO_LANG, found, bool(wrong))
