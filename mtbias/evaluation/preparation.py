"""From names and paths to a request that the pipeline can run: the commands and the Python API both come through here.

Nothing is printed: what is fetched is announced to whoever asks (`Announce`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from mtbias.errors import MissingResourceError

if TYPE_CHECKING:
    from mtbias.corpora import Corpus
    from mtbias.evaluation.request import EvalRequest, ScoreRequest
    from mtbias.language.definition import Language
    from mtbias.morphology import StanzaAnalyser, StanzaPackage
    from mtbias.translate.given_translations import GivenTranslations
    from mtbias.translate.seq2seq.translator import Settings
    from mtbias.types import Instance

WINOMT = "winomt"

Announce = Callable[[str], object]
"""Called with a line when something is about to be fetched."""

ReadGiven = Callable[[Sequence["Instance"], int], "GivenTranslations"]
"""Joins translations to the instances of a corpus whose file has so many rows."""


def _silent(line: str) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What reads the genders and where its parts are; the same for all systems that are to be compared."""

    aligner: str = "statistical"
    stanza_dir: Path | None = None
    """Folder of Stanza's models; None is ``STANZA_RESOURCES_DIR``, else the cache."""
    cache_dir: Path | None = None
    """mtbias's cache; None is ``MTBIAS_CACHE``, else the user's cache folder."""
    device: str | None = None
    """A GPU where there is one, if None."""
    processes: int = 1
    """Processes that analyse translations, where there are thousands of new ones."""


@dataclass(frozen=True, kw_only=True)
class Fetching:
    """Whether what is missing may be fetched, and who is told."""

    offline: bool = False
    announce: Announce = _silent
    bars: bool = False
    """Whether downloads show a bar on standard error."""

    @property
    def allowed(self) -> bool:
        """Whether the network may be used: not `offline`, nor forbidden by the environment (`hub_is_off`)."""
        from mtbias.translate.seq2seq.checkpoints import is_offline

        return not is_offline(self.offline)


def default_dataset(model: str, data: Path | None) -> str:
    """The demo's corpus for the demo's model, WinoMT for any other."""
    from mtbias.translate.seq2seq.checkpoints import DEMO

    return DEMO if model == DEMO and data is None else WINOMT


def prepare_eval(
    model: str,
    lang: str,
    *,
    dataset: str | None,
    data: Path | None,
    revision: str | None,
    settings: Settings,
    tools: Tools,
    fetching: Fetching,
    seed: int,
    resamples: int,
) -> EvalRequest:
    """The request behind ``mtbias eval``: corpus, model and Stanza's models, brought where they are missing.

    Args:
        model: short name, hub id or folder.
        lang: code of the target language.
        dataset: see `mtbias.corpora.load_corpus`; None is `default_dataset`.
        data: file or folder to read instead of the cache.
        revision: commit, branch or tag of a hub model.
        settings: how to translate; its device is that of `tools`.
        tools: what reads the genders.
        fetching: whether the network may be used.
        seed: of the bootstrap.
        resamples: of the bootstrap.

    Raises:
        MtbiasError: a name, a path, a device or a setting is wrong, or something is missing and may not be fetched.
    """
    from mtbias.align import get_aligner
    from mtbias.corpora import cache_folder
    from mtbias.evaluation.request import EvalRequest
    from mtbias.language.installed import get_language
    from mtbias.translate.seq2seq.checkpoints import DEMO, locate
    from mtbias.translate.seq2seq.translator import Translator

    name = dataset or default_dataset(model, data)
    language = get_language(lang)
    aligner = get_aligner(tools.aligner)
    check_gpu(tools.device)
    cache = cache_folder(tools.cache_dir)
    corpus = _corpus(name, data, cache, fetching)
    all_demo = model == DEMO and name == DEMO and data is None
    analyser = make_analyser(language, tools, demo=all_demo, fetching=fetching)
    checkpoint = locate(model, language.code, cache=cache, revision=revision, offline=fetching.offline)
    return EvalRequest(
        corpus=corpus,
        translator=Translator(checkpoint, language.code, settings, cache=cache),
        language=language,
        aligner=aligner,
        analyser=analyser,
        seed=seed,
        n_resamples=resamples,
    )


def prepare_score(
    read_given: ReadGiven,
    lang: str,
    *,
    system: str,
    dataset: str,
    data: Path | None,
    tools: Tools,
    seed: int,
    resamples: int,
) -> ScoreRequest:
    """The request behind ``mtbias score``. Nothing is fetched.

    Args:
        read_given: gives the translations once the corpus is known.
        lang: code of the target language.
        system: name of the system, for the signature.
        dataset: see `mtbias.corpora.load_corpus`.
        data: file or folder to read instead of the cache.
        tools: what reads the genders.
        seed: of the bootstrap.
        resamples: of the bootstrap.

    Raises:
        MtbiasError: a name, a path or a device is wrong, something is missing, or the translations do not fit.
    """
    from mtbias.align import get_aligner
    from mtbias.corpora import load_corpus
    from mtbias.evaluation.request import ScoreRequest
    from mtbias.language.installed import get_language

    language = get_language(lang)
    aligner = get_aligner(tools.aligner)
    corpus = load_corpus(dataset, data, cache=tools.cache_dir)
    return ScoreRequest(
        corpus=corpus,
        given=read_given(corpus.instances, corpus.rows),
        language=language,
        aligner=aligner,
        analyser=make_analyser(language, tools),
        system=system,
        seed=seed,
        n_resamples=resamples,
    )


def make_analyser(
    language: Language, tools: Tools, *, demo: bool = False, fetching: Fetching | None = None
) -> StanzaAnalyser:
    """Stanza for `language`, with the cache of its package.

    Args:
        language: the plugin.
        tools: where Stanza's models are, and on which device they run.
        demo: take the demo's own models unless `tools` names a folder; ``stanza_dir`` "mtbias:demo" asks for them too.
        fetching: whether models that are missing may be brought; None is no.

    Raises:
        MissingResourceError: they are not there and may not be fetched.
    """
    from mtbias.corpora import cache_folder
    from mtbias.morphology import AnalysisCache, StanzaAnalyser, analyses_signature

    cache = cache_folder(tools.cache_dir)
    package = _package(language.code, tools.stanza_dir, cache, demo=demo, fetching=fetching)
    name = sha256(analyses_signature(package).encode()).hexdigest()[:12]
    path = cache / "analyses" / f"{language.code}-{name}.sqlite"
    return StanzaAnalyser(package, AnalysisCache(path), device=tools.device, processes=tools.processes)


def check_gpu(name: str | None) -> None:
    """Refuse a device that is not here before anything is fetched or computed.

    Raises:
        UsageError: it is no device, or there is no such GPU here.
    """
    if name is not None:
        from mtbias.morphology.analyser import check_device

        check_device(name)


def _corpus(dataset: str, data: Path | None, cache: Path, fetching: Fetching) -> Corpus:
    """The corpus; a data set of known hash that is not in the cache is fetched, unless that is forbidden."""
    from mtbias.corpora import fetch_dataset, load_corpus

    try:
        return load_corpus(dataset, data, cache=cache)
    except MissingResourceError:
        if data is not None or not fetching.allowed:
            raise
        fetching.announce(f"fetching {dataset}")
        fetch_dataset(dataset, cache, progress=fetching.bars)
        return load_corpus(dataset, data, cache=cache)


def _package(
    code: str, stanza_dir: Path | None, cache: Path, *, demo: bool, fetching: Fetching | None
) -> StanzaPackage:
    from mtbias.demo import STANZA_NAME, stanza_folder_of_demo
    from mtbias.morphology import find_package, stanza_folder
    from mtbias.morphology.stanza_packages import download

    if str(stanza_dir) == STANZA_NAME or (stanza_dir is None and demo):
        return find_package(code, stanza_folder_of_demo())
    folder = stanza_folder(stanza_dir, cache)
    try:
        return find_package(code, folder)
    except MissingResourceError:
        if fetching is None or not fetching.allowed:
            raise
        fetching.announce(f"fetching Stanza's models for {code}")
        return download(code, folder)
