"""What is on this machine: what a sweep needs, and fetching it; versions, devices, network.

Nothing leaves the machine but what `fetch` fetches.
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
from itertools import groupby
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
from mtbias.corpora.downloads import fetch_dataset, given_hash
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
from mtbias.translate.system import Asked
from mtbias.translate.system_kinds import find_kind, is_of_kind
from mtbias.types import frozen
from mtbias.version import __version__

ENGLISH = "en"
"""The language that is not translated into."""
_PACKAGES = {
    **dict.fromkeys(
        (
            "torch",
            "transformers",
            "stanza",
            "numpy",
            "scipy",
            "pandas",
            "sentencepiece",
            "huggingface-hub",
        ),
        "",
    ),
    "ctranslate2": "ct2",
    "submitit": "slurm",
    "eflomal": "eflomal",
    "fxtranslate": "firefox",
}
"""What is looked for, with the extra that installs it where it is no part of all installations."""
_NAMES = 15
"""Columns of a check's name; `huggingface-hub` is the longest of those that are always there."""


@frozen
class Part:
    """Something that a sweep needs, or that is to be fetched."""

    kind: str
    """``model``, ``translations``, ``data``, ``stanza`` or ``aligner``."""
    name: str
    lang: str
    """The language that it is for; empty for data, and for a model with one checkpoint for all
    languages."""
    place: Callable[[bool], str]
    """Says where it is, or raises why it cannot be used; called with True it downloads first what
    is missing."""

    @property
    def title(self) -> str:
        """``model opus-mt for de``, ``stanza de``."""
        return f"{self.kind} {self.name}" + (
            f" for {self.lang}" if self.lang not in {"", self.name} else ""
        )

    def look(self) -> tuple[str, str]:
        """Where it is now, and why it cannot be used; one of them is empty."""
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
        found = locate_encoder(
            sweep.aligner_model, sweep.languages[0], cache=cache, offline=not fetch, fetch=fetch
        )
        check_encoder(found.folder, sweep.aligner_layer)
        return f"{found.revision} in {found.folder}"

    parts = [
        *_systems(sweep),
        *_checkpoints(
            [model for model in sweep.models if not is_of_kind(model)],
            sweep.languages,
            cache,
            source=sweep.source_lang,
        ),
        *(
            Part(
                "translations",
                name,
                lang,
                partial(translations, Path(str(file).replace(LANG, lang))),
            )
            for name, file in sweep.systems.items()
            for lang in sweep.languages
        ),
        *(Part("data", name, "", partial(data, name)) for name in sweep.datasets),
    ]
    found = (_measure_of(name, sweep, load) for name in sweep.datasets)
    measures = [kind for kind in found if kind is not None]
    if any(kind.needs_stanza for kind in measures):
        folder = (
            demo.stanza_folder_of_demo()
            if _is_of_demo(sweep)
            else stanza_folder(sweep.stanza_dir, cache)
        )
        langs = _languages_read(sweep, measures)
        parts += _stanza(langs, folder, can_fetch=not _is_of_demo(sweep))
    if "neural" in sweep.aligner and any("aligner" in kind.uses for kind in measures):
        parts.append(Part("aligner", sweep.aligner_model or DEFAULT_ENCODER, "", encoder))
    return parts


def _measure_of(
    name: str, sweep: Sweep, load: Callable[[str, str], Corpus[Any]]
) -> MeasureKind | None:
    """What a data set is measured by in a sweep; None where that cannot be known: its own part says
    why.
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
    """Those whose models of Stanza are needed: English too, where sources are parsed."""
    parses = any(kind.parses_sources for kind in measures)
    return [*sweep.languages, *([ENGLISH] if parses else [])]


def _systems(sweep: Sweep) -> Iterator[Part]:
    """The models that are no checkpoints: of an endpoint, of DeepL, of Apertium, of a plugin."""
    asked = Asked(
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
            yield _system(model, replace(asked, lang=lang))


def _system(model: str, asked: Asked) -> Part:
    """The model `SCHEME:NAME`, asked for as `asked` is, but by its own name."""

    def place(fetch: bool) -> str:
        kind, name = find_kind(model)
        mine = replace(asked, name=name, offline=not fetch)
        kind.open(mine)
        return kind.place(mine)

    return Part("model", model, asked.lang, place)


def _named_systems(models: Iterable[str], langs: Sequence[str], asked: Asked) -> Iterator[Part]:
    """The models `SCHEME:NAME` for the languages that are named, or that the model's name says.

    Raises:
        UsageError: there is neither.
        SettingError: a revision was asked for, which only models of the hub have.
    """
    for model in models:
        if asked.settings.revision is not None:
            raise SettingError("revision", f"expected with a model of the hub, got it with {model}")
        kind, name = find_kind(model)
        targets = langs or kind.targets(name)
        if not targets:
            raise UsageError(f"{model} may translate into several languages: give --lang CODE")
        for lang in targets:
            yield _system(model, replace(asked, lang=lang))


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
    """A model with one checkpoint for all languages is one part."""

    def place(model: str, lang: str, fetch: bool) -> str:
        online: Any = {"offline": not fetch, "fetch": fetch}
        found = locate(model, lang, cache=cache, revision=revision, source_lang=source, **online)
        return f"{found.name} at {found.revision} in {found.folder}"

    return [
        Part("model", model, lang if _one_each(model) else "", partial(place, model, lang))
        for model in models
        for lang in (langs if _one_each(model) else langs[:1])
    ]


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
    found = fetch_dataset(
        name, cache, sha256=sha256, accept_unverified=accept_unverified, progress=bars
    )
    hashes = (
        f"sha256 {one.sha256} ({'checked' if one.verified else 'NOT checked, hash recorded'}"
        f"{'' if one.fresh else ', was here'})"
        for one in found.downloads
    )
    return (
        f"{found.folder}, {', '.join(hashes)}"
        if found.downloads
        else "nothing to download, ships with mtbias"
    )


def _is_of_demo(sweep: Sweep) -> bool:
    """Whether Stanza's models are those that ship with the demo."""
    all_demo = (
        all(model == DEMO for model in sweep.models)
        and set(sweep.datasets) == {DEMO}
        and not sweep.data
    )
    return str(sweep.stanza_dir) == demo.STANZA_NAME or (sweep.stanza_dir is None and all_demo)


def missing_here(sweep: Sweep) -> list[str]:
    """A line for each model and data set of a sweep that cannot be used on this machine."""
    return [problem for part in inventory(sweep) if (problem := part.look()[1])]


def refuse_missing(sweep: Sweep, file: Path) -> None:
    """Stop before a task does.

    Raises:
        MissingResourceError: something is not here; names the first and the command that fetches
            all.
    """
    missing = missing_here(sweep)
    if missing:
        raise MissingResourceError(
            f"{len(missing)} of this sweep's models and data are not usable here, the first: {missing[0]}. On "
            f"a machine with network, `mtbias fetch --sweep {file}` downloads what is missing"
        )


def fetch(
    sweep: Sweep, say: Callable[[str], object], *, sha256: str | None, accept_unverified: bool
) -> None:
    """Fetch what a sweep needs and is missing here.

    Raises:
        MtbiasError: something cannot be fetched; a wrong name or hash is refused before anything
            is.
    """
    check_names(sweep)
    parts = inventory(sweep, sha256=sha256, accept_unverified=accept_unverified)
    looked = [(part, *part.look()) for part in parts]
    for part, _, problem in looked:
        if (
            part.kind == "data"
            and problem
            and part.name in datasets()
            and part.name not in sweep.data
        ):
            given_hash(dataset(part.name).source, sha256)
    for part, where, problem in looked:
        say(
            f"{part.title}: fetched, {part.place(True)}"
            if problem
            else f"{part.title}: here, {where}"
        )


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
        UsageError: nothing is named; a wrong name or hash, before anything is fetched.
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
        given_hash(fetched_source(name), sha256)
    checkpoints = [model for model in models if not is_of_kind(model)]
    for model in checkpoints:
        check_name(model)
        if _one_each(model) and not langs:
            raise UsageError(f"{model} has one checkpoint for each language: give --lang CODE")
    cache = cache_folder(cache_dir)
    asked = Asked(
        name="",
        lang="",
        source_lang=source_lang,
        settings=TranslationSettings(revision=revision),
        device=None,
        cache=cache,
        offline=False,
    )
    systems = list(_named_systems(filter(is_of_kind, models), langs, asked))
    for part in [
        *_checkpoints(checkpoints, langs or ["de"], cache, revision, source_lang),
        *systems,
    ]:
        say(f"{part.title}: {part.place(True)}")
    for name in datasets:
        say(f"data {name}: {_fetch_data(name, cache, sha256, accept_unverified)}")
    for part in _stanza(langs, stanza_folder(stanza_dir, cache)):
        say(f"{part.title}: {part.place(True)}")


@frozen
class Check:
    """One thing that was looked at."""

    part: str
    """Heading in the text."""
    name: str
    found: str
    ok: bool = True
    """False where something needed is missing or wrong."""


def examine(sweep: Sweep | None) -> Iterator[Check]:
    """Look at versions, devices and network, and at everything that a `sweep` needs, if one is
    given.

    Nothing is fetched, nothing leaves the machine.
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
        where, problem = needed.look()
        yield Check(
            f"needed by the sweep {sweep.name if sweep else ''}",
            needed.title,
            problem or where,
            not problem,
        )


def as_text(checks: Iterable[Check]) -> str:
    """A heading for each part, a line for each check; what is wrong is marked."""
    blocks = []
    for part, own in groupby(checks, key=lambda check: check.part):
        rows = [
            f"{' ' if c.ok else '!'} {printable(c.name):<{_NAMES}}  {printable(c.found)}\n"
            for c in own
        ]
        blocks.append("".join([f"{part}\n", *rows]))
    return "\n".join(blocks)


def _versions(sweep: Sweep | None) -> Iterator[Check]:
    yield Check("versions", "mtbias", __version__)
    yield Check("versions", "python", f"{platform.python_version()} on {platform.platform()}")
    for name, extra in _PACKAGES.items():
        needed = not extra or (extra == "ct2" and sweep is not None and sweep.engine == "ct2")
        found = ""
        with suppress(PackageNotFoundError):
            found = version(name)
        missing = f"not installed ({'' if needed else 'optional: '}{install_command(extra)})"
        yield Check("versions", name, found or missing, bool(found) or not needed)


def _devices(sweep: Sweep | None) -> Iterator[Check]:
    import torch

    found = f"{usable_cores()} cores for this process, {torch.get_num_threads()} threads of torch"
    yield Check("devices", "cpu", found)
    count = gpu_count()
    for n in range(count):
        memory = torch.cuda.mem_get_info(n)[0] / 2**30
        yield Check(
            "devices", f"cuda:{n}", f"{torch.cuda.get_device_name(n)}, {memory:.0f} GiB free"
        )
    if not count:
        built = torch.version.cuda
        why = (
            f"torch is built for CUDA {built}, and sees none"
            if built
            else "this build of torch has no CUDA"
        )
        yield Check("devices", "cuda", f"no GPU: {why}", sweep is None or sweep.device != "cuda")
