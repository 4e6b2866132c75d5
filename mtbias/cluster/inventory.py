"""An inventory of this machine: what a sweep needs and how to fetch it; versions, devices, network.

Only `fetch` and `fetch_named` use the network.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache as cached
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby, product
from pathlib import Path
from typing import Any

from mtbias import demo
from mtbias.align.neural_aligner import DEFAULT_ENCODER, check_encoder, locate_encoder
from mtbias.cluster.sweep_file import Sweep
from mtbias.cluster.sweep_tasks import check_names
from mtbias.corpora import cache_folder, datasets, load_corpus
from mtbias.corpora.catalog import dataset, fetched_source
from mtbias.corpora.corpus import GENDER, Corpus
from mtbias.corpora.corpus_kinds import CUSTOM, find_corpus
from mtbias.corpora.downloads import checked_hash, fetch_dataset
from mtbias.errors import MissingResourceError, MtbiasError, SettingError, UsageError
from mtbias.language.installed import get_language
from mtbias.machine import network
from mtbias.machine.devices import gpu_count, install_command, usable_cores
from mtbias.machine.stage_progress import draws_bars
from mtbias.morphology.stanza_models import (
    PARSER,
    PROCESSORS,
    download,
    find_package,
    stanza_folder,
)
from mtbias.report.tables import printable
from mtbias.scoring.measure import MeasureKind, find_measure
from mtbias.settings import LANG, LanguageModelSettings, TranslationSettings, combined
from mtbias.translate.given_translations import given_file
from mtbias.translate.seq2seq.checkpoints import DEMO, catalog, check_name, locate
from mtbias.translate.seq2seq.engine_choice import ENGINES
from mtbias.translate.system import SystemRequest
from mtbias.translate.system_kinds import find_kind, is_of_kind
from mtbias.types import frozen
from mtbias.version import __version__

ENGLISH = "en"
"""The language that is not translated into."""
_PACKAGES = {
    "torch": "",
    "transformers": "",
    "stanza": "",
    "numpy": "",
    "scipy": "",
    "pandas": "",
    "sentencepiece": "",
    "huggingface-hub": "",
    "ctranslate2": "ct2",
    "submitit": "slurm",
    "eflomal": "eflomal",
    "fxtranslate": "firefox",
}
"""Packages whose versions are shown, with the extra that installs each; an empty one is part of
every installation."""
_NAMES = 15
"""Columns of a check's name; `huggingface-hub` is the longest that is always shown."""


@frozen
class Part:
    """Something that a sweep needs, or that is to be fetched."""

    kind: str
    """``model``, ``translations``, ``data``, ``stanza`` or ``aligner``."""
    name: str
    lang: str
    """Its language; empty for data, and for a model with one checkpoint for all languages."""
    place: Callable[[bool], str]
    """Gives where it is, or raises why it cannot be used; called with True, it first downloads what
    is missing."""

    @property
    def title(self) -> str:
        """``model opus-mt for de``, ``stanza de``."""
        language = f" for {self.lang}" if self.lang not in {"", self.name} else ""
        return f"{self.kind} {self.name}{language}"

    def status(self) -> tuple[str, str]:
        """Where it is now, and why it cannot be used; one of the two is empty."""
        try:
            return self.place(False), ""
        except (MtbiasError, OSError) as error:
            return "", str(error)


def inventory(
    sweep: Sweep, *, sha256: str | None = None, accept_unverified: bool = False
) -> list[Part]:
    """Every model, data set and Stanza package of a sweep, and its aligner's encoder. Nothing is
    fetched.

    `sha256` and `accept_unverified` are for fetching data sets
    (`mtbias.corpora.downloads.fetch_dataset`).
    """
    cache = cache_folder(sweep.cache_dir)

    @cached
    def load(name: str, lang: str) -> Corpus[Any]:
        path = sweep.data.get(name)
        return load_corpus(name, path, cache=cache, lang=lang, source_lang=sweep.source_lang)

    def data(name: str, fetch: bool) -> str:
        path = sweep.data.get(name)
        if fetch and path is None and name in datasets():
            return _fetch_data(name, cache, sha256, accept_unverified)
        by_language = find_corpus(name).by_language
        for lang in sweep.languages if by_language else sweep.languages[:1]:
            corpus = load(name, lang)
        return f"{len(corpus.instances):,} sentences" + (f" in {path}" if path else "")

    def translations(file: Path, _: bool) -> str:
        given_file(file)
        return str(file)

    def encoder(fetch: bool) -> str:
        local = locate_encoder(
            sweep.aligner_model, sweep.languages[0], cache=cache, offline=not fetch, fetch=fetch
        )
        check_encoder(local.folder, sweep.aligner_layer)
        return f"{local.revision} in {local.folder}"

    checkpoints = [model for model in sweep.models if not is_of_kind(model)]
    parts = [
        *_systems(sweep),
        *_checkpoints(checkpoints, sweep.languages, cache, source=sweep.source_lang),
    ]
    for (name, file), lang in product(sweep.systems.items(), sweep.languages):
        path = Path(str(file).replace(LANG, lang))
        parts.append(Part("translations", name, lang, partial(translations, path)))
    parts += [Part("data", name, "", partial(data, name)) for name in sweep.datasets]

    kinds = [_sweep_measure(name, sweep, load) for name in sweep.datasets]
    measures = [kind for kind in kinds if kind is not None]
    if any(kind.needs_stanza for kind in measures):
        langs = _languages_read(sweep, measures)
        if _is_of_demo(sweep):
            parts += _stanza(langs, demo.stanza_folder_of_demo(), can_fetch=False)
        else:
            parts += _stanza(langs, stanza_folder(sweep.stanza_dir, cache))
    if "neural" in sweep.aligner and any("aligner" in kind.uses for kind in measures):
        parts.append(Part("aligner", sweep.aligner_model or DEFAULT_ENCODER, "", encoder))
    return parts


def _sweep_measure(
    name: str, sweep: Sweep, load: Callable[[str, str], Corpus[Any]]
) -> MeasureKind | None:
    """The measure of a data set in a sweep; None where the data set cannot be loaded, for which its
    own part gives the reason.
    """
    if sweep.measure is not None:
        return find_measure(sweep.measure)
    if name in datasets():
        return find_measure(datasets()[name].measure)
    try:
        return find_measure(load(name, sweep.languages[0]).measure)
    except (MtbiasError, OSError):
        return find_measure(GENDER) if name == CUSTOM else None


def _languages_read(sweep: Sweep, measures: Iterable[MeasureKind]) -> list[str]:
    """Languages whose models of Stanza are needed: English too, where sources are parsed."""
    parses = any(kind.parses_sources for kind in measures)
    return [*sweep.languages, *([ENGLISH] if parses else [])]


def _systems(sweep: Sweep) -> Iterator[Part]:
    """The models other than checkpoints: of an endpoint, of DeepL, of Apertium, of a plugin."""
    request = SystemRequest(
        name="",
        lang="",
        source_lang=sweep.source_lang,
        settings=combined(TranslationSettings, sweep),
        device=None,
        cache=cache_folder(sweep.cache_dir),
        offline=True,
        language_model=combined(LanguageModelSettings, sweep),
    )
    for model in filter(is_of_kind, sweep.models):
        for lang in sweep.languages:
            yield _system(model, replace(request, lang=lang))


def _system(model: str, request: SystemRequest) -> Part:
    """The model `SCHEME:NAME`, opened with the settings of `request`."""

    def place(fetch: bool) -> str:
        kind, name = find_kind(model)
        mine = replace(request, name=name, offline=not fetch)
        kind.open(mine)
        return kind.place(mine)

    return Part("model", model, request.lang, place)


def _named_systems(
    models: Iterable[str], langs: Sequence[str], request: SystemRequest
) -> Iterator[Part]:
    """The models `SCHEME:NAME` for `langs`, or for the languages that the model's name implies.

    Raises:
        UsageError: no language is given or implied.
        SettingError: there is a revision, which only models of the hub have.
    """
    for model in models:
        if request.settings.revision is not None:
            raise SettingError("revision", f"expected with a model of the hub, got it with {model}")
        kind, name = find_kind(model)
        targets = langs or kind.targets(name)
        if not targets:
            raise UsageError(f"{model} may translate into several languages: give --lang CODE")
        for lang in targets:
            yield _system(model, replace(request, lang=lang))


def _one_each(model: str) -> bool:
    """Whether a model has one checkpoint for each language."""
    return model in catalog() and "{lang}" in catalog()[model].repository


def _checkpoints(
    models: Iterable[str],
    langs: Sequence[str],
    cache: Path,
    revision: str | None = None,
    source: str = "en",
) -> list[Part]:
    """Checkpoints of `models`; a model with one checkpoint for all languages is one part."""

    def place(model: str, lang: str, fetch: bool) -> str:
        online: Any = {"offline": not fetch, "fetch": fetch}
        local = locate(model, lang, cache=cache, revision=revision, source_lang=source, **online)
        return f"{local.name} at {local.revision} in {local.folder}"

    parts = []
    for model in models:
        if _one_each(model):
            parts += [Part("model", model, lang, partial(place, model, lang)) for lang in langs]
        else:
            parts.append(Part("model", model, "", partial(place, model, langs[0])))
    return parts


def _stanza(langs: Iterable[str], folder: Path, *, can_fetch: bool = True) -> list[Part]:
    """Stanza's models; those of English are the ones that parse (`mtbias corpora mine`)."""

    def place(lang: str, fetch: bool) -> str:
        if lang != ENGLISH:
            get_language(lang)
        processors = PARSER if lang == ENGLISH else PROCESSORS
        package = (download if fetch and can_fetch else find_package)(lang, folder, processors)
        return f"{package.signature} in {package.folder}"

    return [Part("stanza", lang, lang, partial(place, lang)) for lang in langs]


def _fetch_data(name: str, cache: Path | None, sha256: str | None, accept_unverified: bool) -> str:
    bars = draws_bars(sys.stderr)
    fetched = fetch_dataset(
        name, cache, sha256=sha256, accept_unverified=accept_unverified, progress=bars
    )
    if not fetched.downloads:
        return "nothing to download, ships with mtbias"
    hashes = []
    for item in fetched.downloads:
        checked = "checked" if item.verified else "NOT checked, hash recorded"
        was_here = "" if item.fresh else ", was here"
        hashes.append(f"sha256 {item.sha256} ({checked}{was_here})")
    return f"{fetched.folder}, {', '.join(hashes)}"


def _is_of_demo(sweep: Sweep) -> bool:
    """Whether Stanza's models are those that ship with the demo."""
    if sweep.stanza_dir is not None:
        return str(sweep.stanza_dir) == demo.STANZA_NAME
    return {DEMO}.issuperset(sweep.models) and set(sweep.datasets) == {DEMO} and not sweep.data


def missing_here(sweep: Sweep) -> list[str]:
    """A line for each model and data set of a sweep that cannot be used on this machine."""
    return [problem for part in inventory(sweep) if (problem := part.status()[1])]


def refuse_missing(sweep: Sweep, file: Path) -> None:
    """Refuse a sweep whose tasks would fail for want of a model or data set.

    Raises:
        MissingResourceError: one cannot be used here; names the first and the command that fetches
            all.
    """
    missing = missing_here(sweep)
    if missing:
        raise MissingResourceError(
            f"{len(missing)} of this sweep's models and data are not usable here, "
            f"the first: {missing[0]}. On a machine with network, "
            f"`mtbias fetch --sweep {file}` downloads what is missing"
        )


def fetch(
    sweep: Sweep, say: Callable[[str], object], *, sha256: str | None, accept_unverified: bool
) -> None:
    """Fetch the parts of a sweep that are missing here.

    Raises:
        MtbiasError: something cannot be fetched; a wrong name or hash is refused before anything
            is.
    """
    check_names(sweep)
    parts = inventory(sweep, sha256=sha256, accept_unverified=accept_unverified)
    states = [(part, *part.status()) for part in parts]
    for part, _, problem in states:
        is_public = part.name in datasets() and part.name not in sweep.data
        if part.kind == "data" and problem and is_public:
            checked_hash(dataset(part.name).source, sha256)
    for part, where, problem in states:
        if problem:
            say(f"{part.title}: fetched, {part.place(True)}")
        else:
            say(f"{part.title}: here, {where}")


def fetch_named(
    say: Callable[[str], object],
    models: Sequence[str] = (),
    datasets: Sequence[str] = (),
    langs: Sequence[str] = (),
    *,
    revision: str | None = None,
    sha256: str | None = None,
    accept_unverified: bool = False,
    stanza_dir: Path | None = None,
    cache_dir: Path | None = None,
    source_lang: str = ENGLISH,
) -> None:
    """Fetch models for all `langs`, data sets, and Stanza's models of these languages; say where
    each is.

    Raises:
        UsageError: nothing is named, or a name or hash is wrong; then nothing is fetched.
        MtbiasError: something cannot be fetched.
    """
    if sha256 is not None and not datasets:
        raise SettingError(
            "sha256", "expected a --dataset that it is of, got none; name it, or leave this out"
        )
    if not (datasets or langs or models):
        raise UsageError("nothing to download: give --model MODEL, --dataset NAME or --lang CODE")
    for lang in langs:
        if lang != ENGLISH or models:
            get_language(lang)
    for name in datasets:
        checked_hash(fetched_source(name), sha256)
    checkpoints = [model for model in models if not is_of_kind(model)]
    for model in checkpoints:
        check_name(model)
        if _one_each(model) and not langs:
            raise UsageError(f"{model} has one checkpoint for each language: give --lang CODE")
    cache = cache_folder(cache_dir)
    request = SystemRequest(
        name="",
        lang="",
        source_lang=source_lang,
        settings=TranslationSettings(revision=revision),
        device=None,
        cache=cache,
        offline=False,
    )
    systems = list(_named_systems(filter(is_of_kind, models), langs, request))
    named = _checkpoints(checkpoints, langs or ["de"], cache, revision, source_lang)
    for part in [*named, *systems]:
        say(f"{part.title}: {part.place(True)}")
    for name in datasets:
        say(f"data {name}: {_fetch_data(name, cache, sha256, accept_unverified)}")
    for part in _stanza(langs, stanza_folder(stanza_dir, cache)):
        say(f"{part.title}: {part.place(True)}")


@frozen
class Check:
    """One thing that was checked."""

    part: str
    """Heading in the text."""
    name: str
    found: str
    """A version, a place, or what is wrong; a key of the command's JSON."""
    ok: bool = True
    """False where something needed is missing or wrong."""


def examine(sweep: Sweep | None) -> Iterator[Check]:
    """Check versions, devices and network, and everything that a `sweep` needs, if one is given.

    The network is not used.
    """
    checks = list(_versions(sweep))
    yield from checks
    if not all(check.ok for check in checks):
        return  # without these nothing else can be looked at
    yield from _devices(sweep)
    allowed = network.downloads_allowed(offline=False)
    yield Check(
        "network",
        "downloads",
        "allowed" if allowed else f"forbidden by {network.VARIABLE} or HF_HUB_OFFLINE",
    )
    for needed in () if sweep is None else inventory(sweep):
        where, problem = needed.status()
        yield Check(
            f"needed by the sweep {sweep.name if sweep else ''}",
            needed.title,
            problem or where,
            not problem,
        )


def as_text(checks: Iterable[Check]) -> str:
    """A heading for each part and a line for each check, with a mark where something is wrong."""
    blocks = []
    for part, checks_of_part in groupby(checks, key=lambda check: check.part):
        rows = [f"{part}\n"]
        for check in checks_of_part:
            mark = " " if check.ok else "!"
            rows.append(f"{mark} {printable(check.name):<{_NAMES}}  {printable(check.found)}\n")
        blocks.append("".join(rows))
    return "\n".join(blocks)


def _versions(sweep: Sweep | None) -> Iterator[Check]:
    yield Check("versions", "mtbias", __version__)
    yield Check("versions", "python", f"{platform.python_version()} on {platform.platform()}")
    extras = {""} if sweep is None else {"", ENGINES[sweep.engine].extra}
    for name, extra in _PACKAGES.items():
        needed = extra in extras
        installed = ""
        with suppress(PackageNotFoundError):
            installed = version(name)
        missing = f"not installed ({'' if needed else 'optional: '}{install_command(extra)})"
        yield Check("versions", name, installed or missing, bool(installed) or not needed)


def _devices(sweep: Sweep | None) -> Iterator[Check]:
    import torch

    cores = f"{usable_cores()} cores for this process, {torch.get_num_threads()} threads of torch"
    yield Check("devices", "cpu", cores)
    count = gpu_count()
    for n in range(count):
        memory = torch.cuda.mem_get_info(n)[0] / 2**30
        yield Check(
            "devices", f"cuda:{n}", f"{torch.cuda.get_device_name(n)}, {memory:.0f} GiB free"
        )
    if not count:
        cuda = torch.version.cuda
        why = "this build of torch has no CUDA"
        if cuda:
            why = f"torch is built for CUDA {cuda}, and sees none"
        yield Check("devices", "cuda", f"no GPU: {why}", sweep is None or sweep.device != "cuda")
