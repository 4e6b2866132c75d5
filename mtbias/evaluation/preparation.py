"""From names, paths and settings to a request that can be run, for the commands and the Python API."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from mtbias.corpora import Corpus, cache_folder, fetch_dataset, load_corpus, loading
from mtbias.entry_points import installed
from mtbias.errors import MissingResourceError
from mtbias.evaluation.request import Request
from mtbias.language.installed import get_language
from mtbias.machine.devices import require_device
from mtbias.machine.network import downloads_allowed
from mtbias.metrics.measure import Wanted, find_measure
from mtbias.settings import EvalSettings, ScoreSettings, TranslationSettings, combined
from mtbias.translate.given_translations import GivenSystem
from mtbias.translate.seq2seq.checkpoints import check_model_name
from mtbias.translate.system import Asked, System
from mtbias.translate.system_kinds import find_kind, is_of_plugin

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
    if not is_of_plugin(model):
        check_model_name(model, lang)
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
    )
    return _request(lang, settings, _corpus(dataset, settings, told, fetch), lambda: kind.open(asked), fetch, demo=demo)


def prepare_score(system: GivenSystem, lang: str, settings: ScoreSettings) -> Request:
    """The request behind ``mtbias score``: nothing is downloaded.

    Raises:
        MtbiasError: a name, a path or a device is wrong, or something is missing.
    """
    dataset = WINOMT if settings.dataset is None else settings.dataset
    _check(lang, dataset, settings.device)
    corpus = load_corpus(dataset, settings.data, cache=settings.cache_dir)
    return _request(lang, settings, corpus, lambda: system.joined(corpus), None, demo=False)


def _request(
    lang: str,
    settings: EvalSettings | ScoreSettings,
    corpus: Corpus[Any],
    open_system: Callable[[], System],
    fetch: Callable[[str], object] | None,
    *,
    demo: bool,
) -> Request:
    kind = find_measure(corpus.measure)
    wanted = Wanted(lang=lang, settings=settings, device=settings.device, demo=demo)
    measure = None
    # A wrong name of a language is refused before a model of gigabytes is downloaded, one of a model before Stanza's.
    with suppress(MissingResourceError):
        measure = kind.open(wanted)
    system = open_system()
    return Request(
        corpus=corpus,
        lang=lang,
        system=system,
        measure=measure or kind.open(replace(wanted, fetch=fetch)),
        kind=kind,
        seed=settings.seed,
        n_resamples=settings.resamples,
    )


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


def _corpus(dataset: str, settings: EvalSettings, told: Fetching, fetch: Callable[[str], object] | None) -> Corpus[Any]:
    """The corpus; a data set of known hash that is not in the cache is downloaded, unless that is forbidden."""
    cache = cache_folder(settings.cache_dir)
    try:
        return load_corpus(dataset, settings.data, cache=cache)
    except MissingResourceError:
        if settings.data is not None or fetch is None:
            raise
        fetch(f"downloading {dataset}")
        fetch_dataset(dataset, cache, progress=told.bars)
        return load_corpus(dataset, settings.data, cache=cache)
