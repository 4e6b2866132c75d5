"""What is on this machine: what a sweep needs, and fetching it; versions, devices, engines, folders, network, the demo.

Nothing leaves the machine but what `fetch` fetches.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from mtbias import __version__, demo
from mtbias.align.neural_aligner import DEFAULT_ENCODER, check_encoder, locate_encoder
from mtbias.cluster.sweep_file import Sweep
from mtbias.cluster.sweep_tasks import check_names
from mtbias.cluster.task_runs import translation_device
from mtbias.corpora import cache_folder, datasets, fetch_dataset, load_corpus
from mtbias.corpora.catalog import BY_LANGUAGE, dataset
from mtbias.corpora.downloads import given_hash
from mtbias.errors import MissingResourceError, MtbiasError
from mtbias.evaluation.preparation import prepare_eval
from mtbias.evaluation.stages import evaluate
from mtbias.language.installed import get_language
from mtbias.machine import network
from mtbias.machine.devices import gpu_count, usable_cores
from mtbias.machine.installation import install_command
from mtbias.morphology.stanza_models import download, find_package, stanza_folder
from mtbias.report.tables import printable
from mtbias.scoring.measure import GENDER
from mtbias.settings import EvalSettings, LanguageModelSettings, TranslationSettings, combined
from mtbias.translate.seq2seq.checkpoints import DEMO, catalog, locate
from mtbias.translate.system import Asked
from mtbias.translate.system_kinds import DEEPL, find_kind, is_of_kind, is_remote

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
class Part:
    """Something that a sweep needs."""

    kind: str
    """``model``, ``data``, ``stanza`` or ``aligner``."""
    name: str
    lang: str
    """The language that it is for; empty for data."""
    fetch: Callable[[], str]
    """Downloads it and says where it is."""
    where: str
    """Where it is; empty where it is missing."""
    problem: str
    """Why it cannot be used; empty where it is here."""

    @property
    def title(self) -> str:
        """``model opus-mt for de``, ``stanza de``."""
        return f"{self.kind} {self.name}" + (f" for {self.lang}" if self.lang not in {"", self.name} else "")


def _part(kind: str, name: str, lang: str, place: Callable[[bool], str]) -> Part:
    """The part whose place `place` says, or raises why there is none; called with True it may download it."""
    fetch = partial(place, True)
    try:
        return Part(kind, name, lang, fetch, place(False), "")
    except (MtbiasError, OSError) as error:
        return Part(kind, name, lang, fetch, "", str(error))


def inventory(sweep: Sweep, *, sha256: str | None = None, accept_unverified: bool = False) -> tuple[Part, ...]:
    """Every model, data set and Stanza package of a sweep, and its aligner's encoder. Nothing is fetched.

    `sha256` and `accept_unverified` are for fetching data sets (`mtbias.corpora.fetch_dataset`).
    """
    cache = cache_folder(sweep.cache_dir)
    measures = set[str]()

    def data(name: str, fetch: bool) -> str:
        path = sweep.data.get(name)
        if fetch and path is None:
            return str(fetch_dataset(name, cache, sha256=sha256, accept_unverified=accept_unverified).folder)
        for lang in sweep.languages if name in BY_LANGUAGE else sweep.languages[:1]:
            corpus = load_corpus(name, path, cache=cache, lang=lang)
        measures.add(corpus.measure)
        return f"{len(corpus.instances):,} sentences" + (f" in {path}" if path else "")

    def stanza(lang: str, fetch: bool) -> str:
        get_language(lang)
        of_demo = _is_of_demo(sweep)
        folder = demo.stanza_folder_of_demo() if of_demo else stanza_folder(sweep.stanza_dir, cache)
        package = download(lang, folder) if fetch and not of_demo else find_package(lang, folder)
        return f"{package.signature} in {package.folder}"

    def encoder(fetch: bool) -> str:
        model = sweep.aligner_model
        found = locate_encoder(model, sweep.languages[0], cache=cache, offline=not fetch, fetch=fetch)
        check_encoder(found.folder, sweep.aligner_layer)
        return f"{found.revision} in {found.folder}"

    parts = [_part("data", name, "", partial(data, name)) for name in sweep.datasets]
    # What is not here yet can be downloaded, and the catalog says what it is measured by.
    measures |= {datasets()[part.name].measure for part in parts if part.problem and part.name in datasets()}
    if GENDER in measures:
        parts += [_part("stanza", lang, lang, partial(stanza, lang)) for lang in sweep.languages]
        if sweep.aligner == "neural":
            parts.append(_part("aligner", sweep.aligner_model or DEFAULT_ENCODER, "", encoder))
    return (*_models(sweep, cache), *parts)


def _models(sweep: Sweep, cache: Path) -> Iterator[Part]:
    """A model with one checkpoint for all languages is one part."""

    def checkpoint(model: str, lang: str, fetch: bool) -> str:
        found = locate(model, lang, cache=cache, offline=not fetch, fetch=fetch)
        return f"{found.revision} in {found.folder}"

    def system(model: str, lang: str, fetch: bool) -> str:
        kind, name = find_kind(model)
        settings, language_model = combined(TranslationSettings, sweep), combined(LanguageModelSettings, sweep)
        asked = Asked(
            name=name,
            lang=lang,
            settings=settings,
            device=None,
            cache=cache,
            offline=not fetch,
            language_model=language_model,
        )
        kind.open(asked)
        if not is_remote(model):
            return "its plugin"
        return "DeepL" if model.startswith(f"{DEEPL}:") else sweep.base_url

    for model in sweep.models:
        if is_of_kind(model):
            yield from (_part("model", model, lang, partial(system, model, lang)) for lang in sweep.languages)
            continue
        one_each = model in catalog() and "{lang}" in catalog()[model].repository
        for lang in sweep.languages if one_each else sweep.languages[:1]:
            part = _part("model", model, lang, partial(checkpoint, model, lang))
            yield part if one_each or part.problem else replace(part, lang="")


def _is_of_demo(sweep: Sweep) -> bool:
    """Whether Stanza's models are those that ship with the demo."""
    all_demo = all(model == DEMO for model in sweep.models) and set(sweep.datasets) == {DEMO} and not sweep.data
    return str(sweep.stanza_dir) == demo.STANZA_NAME or (sweep.stanza_dir is None and all_demo)


def refuse_missing(sweep: Sweep, file: Path) -> None:
    """Stop before a task does.

    Raises:
        MissingResourceError: something is not here; names the first and the command that fetches all.
    """
    missing = [part for part in inventory(sweep) if part.problem]
    if missing:
        raise MissingResourceError(
            f"{len(missing)} of this sweep's models and data are not usable here, the first: {missing[0].problem}. On "
            f"a machine with network, `mtbias fetch --sweep {file}` downloads what is missing"
        )


def fetch(sweep: Sweep, say: Callable[[str], object], *, sha256: str | None, accept_unverified: bool) -> None:
    """Fetch what a sweep needs and is missing here.

    Raises:
        MtbiasError: something cannot be fetched; a wrong name or hash is refused before anything is.
    """
    check_names(sweep)
    parts = inventory(sweep, sha256=sha256, accept_unverified=accept_unverified)
    for part in parts:
        if part.kind == "data" and part.problem and part.name not in sweep.data:
            given_hash(dataset(part.name).source, sha256)
    for part in parts:
        say(f"{part.title}: fetched, {part.fetch()}" if part.problem else f"{part.title}: here, {part.where}")


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
    yield from _devices(sweep)
    yield _engine(sweep)
    yield from _folders(sweep, cache)
    yield _network()
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


def _engine(sweep: Sweep | None) -> Check:
    try:
        import ctranslate2
    except ImportError:
        needed = sweep is not None and sweep.engine == "ct2"
        return Check("engines", "ct2", f"not here: {install_command('ct2')}", needed)
    types = ", ".join(sorted(ctranslate2.get_supported_compute_types("cpu")))
    return Check("engines", "ct2", f"here; on the CPU {types}")


def _folders(sweep: Sweep | None, cache: Path | None) -> Iterator[Check]:
    from huggingface_hub.constants import HF_HUB_CACHE

    root = cache_folder(cache)
    yield Check("folders", "cache", _space(root))
    yield Check("folders", "Hugging Face", _space(Path(HF_HUB_CACHE)))
    given = None if sweep is None else sweep.stanza_dir
    yield Check(
        "folders", "Stanza", "the demo's" if str(given) == demo.STANZA_NAME else _space(stanza_folder(given, root))
    )
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


def _network() -> Check:
    found = "allowed for `fetch`, and for `eval` where something is missing"
    if network.asked_for():
        found = f"forbidden by {network.VARIABLE}"
    elif not network.downloads_allowed(offline=False):
        found = "downloads are forbidden by HF_HUB_OFFLINE"
    return Check("network", "network", found)


def _demo(cache: Path | None) -> Check:
    """`mtbias eval --model demo` in memory, against its known numbers."""
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
