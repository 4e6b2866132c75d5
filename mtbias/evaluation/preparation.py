"""From names, paths and settings to a request that can be run, for the commands and the Python
API.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from mtbias.corpora import Corpus, cache_folder, datasets, load_corpus
from mtbias.corpora.corpus_kinds import needs_language
from mtbias.corpora.mt_geneval import MT_GENEVAL, MT_GENEVAL_CONTEXT
from mtbias.errors import DataError, MissingResourceError, SettingError
from mtbias.evaluation.stages import Request
from mtbias.language.installed import get_language
from mtbias.language.source import refuse_same
from mtbias.machine.devices import require_device
from mtbias.machine.network import downloads_allowed
from mtbias.scoring.measure import MeasureKind, MeasureOptions, find_measure
from mtbias.settings import (
    EvalSettings,
    LanguageModelSettings,
    ScoreSettings,
    TranslationSettings,
    combined,
)
from mtbias.translate.given_translations import ENOUGH, MISSING
from mtbias.translate.system import System, SystemRequest
from mtbias.translate.system_kinds import find_kind

if TYPE_CHECKING:
    from mtbias.translate.given_translations import GivenSystem

_log = logging.getLogger(__name__)

T = TypeVar("T")

WINOMT = "winomt"
DEMO = "demo"
"""The model and the corpus that ship with mtbias."""


def prepare_eval(
    model: str,
    lang: str,
    settings: EvalSettings,
    *,
    bars: bool = False,
    translates_on: str | None = None,
) -> Request:
    """The request behind ``mtbias eval``: corpus, system and measure, downloaded where they are
    missing and may be.

    The model is a short name, hub id, folder, or ``SCHEME:NAME``. What is downloaded is logged;
    with `bars` data sets have a progress bar on standard error. `translates_on` is that of
    `SystemRequest`.

    Raises:
        MtbiasError: a name, a path, a device or a setting is wrong, or something is missing and may
            not be downloaded.
    """
    usual = DEMO if model == DEMO and settings.data is None else WINOMT
    dataset = usual if settings.dataset is None else settings.dataset
    _check(lang, dataset, settings)
    announce = _log.info if downloads_allowed(offline=settings.offline) else None
    system_kind, name = find_kind(model)
    demo = model == DEMO and dataset == DEMO and settings.data is None
    # All that is here is opened first, so that whatever is wrong is said before anything is
    # downloaded.
    load = partial(_load, dataset, lang, settings)
    corpus = _if_here(load) if dataset in datasets() else load()  # no other can be downloaded
    own = datasets()[dataset].measure if corpus is None else corpus.measure
    kind = _measure_kind(own, settings)
    source_lang = settings.source_lang if corpus is None else corpus.source_lang
    system_options = SystemRequest(
        name=name,
        lang=lang,
        source_lang=source_lang,
        settings=combined(TranslationSettings, settings),
        device=settings.device,
        cache=cache_folder(settings.cache_dir),
        offline=settings.offline,
        language_model=combined(LanguageModelSettings, settings),
        translates_on=translates_on,
    )
    options = MeasureOptions(
        lang=lang,
        settings=settings,
        device=settings.device,
        source_lang=source_lang,
        demo=demo,
        made=True,
    )
    measure = _if_here(lambda: kind.open(options))
    offline = replace(system_options, offline=True)
    system = None if system_kind.needs_network else _if_here(lambda: system_kind.open(offline))
    if corpus is None:
        if settings.data is None and announce is not None:
            from mtbias.corpora.downloads import fetch_dataset

            announce(f"downloading {dataset}")
            fetch_dataset(dataset, cache_folder(settings.cache_dir), progress=bars)
        corpus = load()
    return Request(
        corpus=_as_asked(corpus, kind, settings).spread(settings.limit),
        lang=lang,
        system=system or system_kind.open(system_options),
        measure=measure or kind.open(replace(options, fetch=announce)),
        kind=kind,
        seed=settings.seed,
        n_resamples=settings.resamples,
    )


def refuse_unused(model: str, system: System, settings: EvalSettings) -> None:
    """Refuse what was set and changes nothing for this system: someone would believe that it did.

    A sweep, whose settings are those of all its models, does not ask this; of a plugin's system
    nobody knows it.

    Raises:
        SettingError: names it.
    """
    if system.uses is None:
        return
    every = {*TranslationSettings.__dataclass_fields__, *LanguageModelSettings.__dataclass_fields__}
    for name in sorted(every - system.uses):
        if getattr(settings, name) != getattr(EvalSettings, name):
            raise SettingError(name, f"changes nothing for {model}; leave it out")


def prepare_score(
    system: GivenSystem,
    lang: str,
    settings: ScoreSettings,
    corpus: Corpus[Any] | None = None,
    *,
    beside: Request | None = None,
) -> Request:
    """The request behind ``mtbias score``: nothing is downloaded; the corpus is that of the
    settings, unless given.

    It shares corpus, aligner and Stanza's models with the one `beside` it, of the same settings, if
    of this language.

    Raises:
        MtbiasError: a name, a path or a device is wrong, or something is missing.
    """
    # Each file may have another part.
    if beside is not None and beside.lang == lang and not settings.part:
        return _with_system(beside, system)
    dataset = corpus.name if corpus else settings.dataset
    dataset = WINOMT if dataset is None else dataset
    _check(lang, dataset, settings)
    corpus = corpus or _load(dataset, lang, settings)
    kind = _measure_kind(corpus.measure, settings)
    corpus = _as_asked(corpus, kind, settings)
    options = MeasureOptions(
        lang=lang,
        settings=settings,
        device=settings.device,
        source_lang=corpus.source_lang,
        scores=settings.scores,
    )
    measure = _if_here(lambda: kind.open(options))
    if settings.part:
        corpus = part_translated(corpus, system)
    # Translations of another corpus are refused before Stanza's models are missed.
    joined = system.joined(corpus)
    request = Request(
        corpus=corpus,
        lang=lang,
        system=joined,
        measure=measure or kind.open(options),
        kind=kind,
        seed=settings.seed,
        n_resamples=settings.resamples,
    )
    return _with_system(request, joined)


def part_translated(corpus: Corpus[Any], system: GivenSystem) -> Corpus[Any]:
    """The sentences of a corpus that a file translates, empty translations included.

    Raises:
        DataError: more than 5 % of the file's rows belong to no sentence of the corpus.
    """
    translations = system.read(corpus)
    there = {
        translation.id for translation in translations.translations if translation.reason != MISSING
    }
    strangers = translations.noticed["extra"]
    if 100 * strangers > (100 - ENOUGH) * (len(there) + strangers):
        raise DataError(
            f"expected a part of {corpus.name}, got {strangers:,} rows that belong to none of its "
            f"sentences beside {len(there):,} that do; check --dataset and --data"
        )
    return corpus if len(there) == len(corpus.instances) else corpus.part(there)


def prepare_scores(
    systems: Iterable[tuple[GivenSystem, str]], settings: ScoreSettings
) -> Iterator[Request]:
    """The requests for several systems, each with a language; those of one language are adjacent
    and share corpus, aligner and Stanza's models.

    Raises:
        MtbiasError: as `prepare_score`.
    """
    request: Request | None = None
    for system, lang in systems:
        request = prepare_score(system, lang, settings, beside=request)
        yield request


def _with_system(request: Request, system: GivenSystem) -> Request:
    """A request with another system's translations.

    Raises:
        DataError: they do not fit the corpus.
    """
    joined = system.joined(request.corpus)
    request.measure.check(request.corpus.instances, joined.read(request.corpus).translations)
    return replace(request, system=joined)


_NOT_USED: Mapping[str, str] = {
    "variant": f"expected the data set {MT_GENEVAL} or {MT_GENEVAL_CONTEXT} with it",
    "evidence": "expected a data set of entities whose gender is read",
    "aligner": "no words are aligned for this data set",
    "scores": f"expected the data set {MT_GENEVAL} with it",
}
"""What is said of a setting that changes nothing for a measure (`MeasureKind.uses`)."""


def _measure_kind(own: str, settings: EvalSettings | ScoreSettings) -> MeasureKind:
    """The measure of the settings, else the data set's `own`.

    Raises:
        UsageError: nobody registers it.
        SettingError: it does not judge such a data set; a setting that only another measure has.
    """
    name = settings.measure or own
    kind = find_measure(name)
    if name != own and own not in kind.judges:
        known = " or ".join([*sorted(kind.judges), name])
        expected = f"expected a data set whose measure is {known} with {name}"
        raise SettingError("measure", f"{expected}, got one whose measure is {own}")
    there = settings.__dataclass_fields__
    for setting in [each for each in _NOT_USED if each in there and each not in kind.uses]:
        if getattr(settings, setting) != getattr(type(settings), setting):
            raise SettingError(setting, f"{_NOT_USED[setting]}; leave it out here")
    return kind


def _as_asked(
    corpus: Corpus[Any], kind: MeasureKind, settings: EvalSettings | ScoreSettings
) -> Corpus[Any]:
    """The corpus as one that is measured by what the settings ask for.

    Raises:
        SettingError: it cannot be (`MeasureKind.check_asked`).
    """
    if settings.measure is None or settings.measure == corpus.measure:
        return corpus
    kind.check_asked(corpus)
    return replace(corpus, measure=settings.measure)


def _if_here(open_measure: Callable[[], T]) -> T | None:
    """What is opened; None where something is missing, which is not wrong yet."""
    with suppress(MissingResourceError):
        return open_measure()
    return None


def _load(dataset: str, lang: str, settings: EvalSettings | ScoreSettings) -> Corpus[Any]:
    return load_corpus(
        dataset,
        settings.data,
        cache=settings.cache_dir,
        lang=lang,
        source_lang=settings.source_lang,
    )


def _check(lang: str, dataset: str, settings: EvalSettings | ScoreSettings) -> None:
    """Refuse an unknown language or device before anything is read, downloaded or computed.

    Raises:
        UsageError: no such language is installed, it is the language of the sources, the device is
            unknown, or there is no such GPU.
    """
    if needs_language(dataset):
        get_language(lang)
    refuse_same(settings.source_lang, (lang,))
    if settings.device is not None:
        require_device(settings.device)
