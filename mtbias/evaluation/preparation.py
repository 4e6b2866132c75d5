"""From names, paths and settings to a request that can be run, for the commands and the Python API."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from mtbias.corpora import Corpus, cache_folder, datasets, fetch_dataset, load_corpus, loading
from mtbias.corpora.mt_geneval import NAME as MT_GENEVAL
from mtbias.corpora.mt_geneval_context import NAME as MT_GENEVAL_CONTEXT
from mtbias.entry_points import installed
from mtbias.errors import MissingResourceError, SettingError
from mtbias.evaluation.stages import Request
from mtbias.language.installed import get_language
from mtbias.machine.devices import require_device
from mtbias.machine.network import downloads_allowed
from mtbias.scoring.measure import MeasureKind, Wanted, find_measure
from mtbias.settings import (
    EvalSettings,
    EvaluatorSettings,
    LanguageModelSettings,
    ScoreSettings,
    TranslationSettings,
    combined,
)
from mtbias.translate.given_sources import RewordedSystem
from mtbias.translate.given_translations import GivenSystem
from mtbias.translate.system import Asked, System
from mtbias.translate.system_kinds import find_kind

T = TypeVar("T")

WINOMT = "winomt"
DEMO = "demo"
"""The model and the corpus that ship with mtbias."""


@dataclass(frozen=True, kw_only=True)
class Fetching:
    """What is told about downloads."""

    announce: Callable[[str], object] = lambda _: None
    """Called with a line before something is downloaded."""
    bars: bool = False
    """Whether downloads show a progress bar on standard error."""


def prepare_eval(model: str, lang: str, settings: EvalSettings, fetching: Fetching | None = None) -> Request:
    """The request behind ``mtbias eval``: corpus, system and measure, downloaded where they are missing and may be.

    The model is a short name, hub id, folder, or ``SCHEME:NAME``.

    Raises:
        MtbiasError: a name, a path, a device or a setting is wrong, or something is missing and may not be downloaded.
    """
    usual = DEMO if model == DEMO and settings.data is None else WINOMT
    dataset = usual if settings.dataset is None else settings.dataset
    _check(lang, dataset, settings.device)
    told = fetching or Fetching()
    kind, name = find_kind(model)
    fetch = told.announce if downloads_allowed(offline=settings.offline) else None
    demo = model == DEMO and dataset == DEMO and settings.data is None
    asked = Asked(
        name=name,
        lang=lang,
        settings=combined(TranslationSettings, settings),
        device=settings.device,
        cache=cache_folder(settings.cache_dir),
        offline=settings.offline,
        language_model=combined(LanguageModelSettings, settings),
    )
    wanted = Wanted(lang=lang, settings=settings, device=settings.device, demo=demo, made=True)
    # All that is here is opened first, so that whatever is wrong is said before anything is downloaded.
    load = partial(load_corpus, dataset, settings.data, cache=settings.cache_dir, lang=lang)
    corpus = _if_here(load) if dataset in datasets() else load()  # no other can be downloaded
    measuring = _measure(datasets()[dataset].measure if corpus is None else corpus.measure, settings)
    measure = _if_here(lambda: measuring.open(wanted))
    system = None if kind.needs_network else _if_here(lambda: kind.open(replace(asked, offline=True)))
    found = corpus or _corpus(dataset, lang, settings, told, fetch)
    opened = system or kind.open(asked)
    return Request(
        corpus=found,
        lang=lang,
        system=RewordedSystem(opened, found.given) if found.given else opened,
        measure=measure or measuring.open(replace(wanted, fetch=fetch)),
        kind=measuring,
        seed=settings.seed,
        n_resamples=settings.resamples,
    )


def refuse_unused(model: str, system: System, settings: EvalSettings) -> None:
    """Refuse what was set and changes nothing for this system: someone would believe that it did.

    A sweep, whose settings are those of all its models, does not ask this; of a plugin's system nobody knows it.

    Raises:
        SettingError: names it.
    """
    uses = getattr(system, "uses", None)
    if uses is None:
        return
    every = {*TranslationSettings.__dataclass_fields__, *LanguageModelSettings.__dataclass_fields__}
    for name in sorted(every - uses):
        if getattr(settings, name) != getattr(EvalSettings, name):
            raise SettingError(name, f"changes nothing for {model}; leave it out")


def prepare_score(system: GivenSystem, lang: str, settings: ScoreSettings) -> Request:
    """The request behind ``mtbias score``: nothing is downloaded.

    Raises:
        MtbiasError: a name, a path or a device is wrong, or something is missing.
    """
    dataset = WINOMT if settings.dataset is None else settings.dataset
    _check(lang, dataset, settings.device)
    corpus = load_corpus(dataset, settings.data, cache=settings.cache_dir, lang=lang)
    measuring = _measure(corpus.measure, settings)
    if settings.scores is not None and corpus.measure != MT_GENEVAL:
        raise SettingError("scores", f"expected the data set {MT_GENEVAL} with it; leave it out here")
    wanted = Wanted(lang=lang, settings=settings, device=settings.device, scores=settings.scores)
    measure = _if_here(lambda: measuring.open(wanted))
    joined = system.joined(corpus)  # translations of another corpus are refused before Stanza's models are missed
    opened = measure or measuring.open(wanted)
    if (check := getattr(opened, "check", None)) is not None:  # a third party's need not have it
        check(corpus.instances, joined.read(corpus).translations)
    return Request(
        corpus=corpus,
        lang=lang,
        system=joined,
        measure=opened,
        kind=measuring,
        seed=settings.seed,
        n_resamples=settings.resamples,
    )


def _measure(name: str, settings: EvaluatorSettings) -> MeasureKind:
    """The measure `name`.

    Raises:
        SettingError: a setting that only another measure has.
    """
    if settings.variant is not None and name not in {MT_GENEVAL, MT_GENEVAL_CONTEXT}:
        message = f"expected the data set {MT_GENEVAL} or {MT_GENEVAL_CONTEXT} with it; leave it out here"
        raise SettingError("variant", message)
    return find_measure(name)


def _if_here(opened: Callable[[], T]) -> T | None:
    """What is opened; None where something is missing, which is not wrong yet."""
    with suppress(MissingResourceError):
        return opened()
    return None


def _check(lang: str, dataset: str, device: str | None) -> None:
    """Refuse an unknown language or device before anything is read, downloaded or computed.

    Only a plugin's corpus may have a measure that needs no language plugin.

    Raises:
        UsageError: no such language is installed, it is no device, or there is no such GPU here.
    """
    if dataset not in installed(loading.GROUP):
        get_language(lang)
    if device is not None:
        require_device(device)


def _corpus(
    dataset: str, lang: str, settings: EvalSettings, told: Fetching, fetch: Callable[[str], object] | None
) -> Corpus[Any]:
    """The corpus; a data set of known hash that is not in the cache is downloaded, unless that is forbidden."""
    cache = cache_folder(settings.cache_dir)
    if settings.data is None and fetch is not None:
        fetch(f"downloading {dataset}")
        fetch_dataset(dataset, cache, progress=told.bars)
    return load_corpus(dataset, settings.data, cache=cache, lang=lang)
