"""What a sweep needs on this machine: which models and data sets are here; and fetching the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from mtbias.cluster.coref_settings import CorefSystemSettings
from mtbias.cluster.sweep_file import Sweep
from mtbias.cluster.sweep_tasks import check_names
from mtbias.errors import MissingResourceError, MtbiasError
from mtbias.scoring.measure import GENDER
from mtbias.translate.system_kinds import DEEPL, find_kind, is_of_plugin, is_remote


@dataclass(frozen=True, slots=True)
class Part:
    """Something that a sweep needs."""

    kind: str
    """``model``, ``data``, ``stanza``, ``aligner``, ``coref system`` or ``coref data``."""
    name: str
    lang: str
    """The language that it is for; empty for data."""
    where: str
    """Where it is; empty where it is missing."""
    problem: str
    """Why it cannot be used; empty where it is here."""

    @property
    def title(self) -> str:
        """``model opus-mt for de``, ``stanza de``."""
        return f"{self.kind} {self.name}" + (f" for {self.lang}" if self.lang not in {"", self.name} else "")


def inventory(sweep: Sweep) -> tuple[Part, ...]:
    """Every model, data set and Stanza package of a sweep, and its aligner's encoder. Nothing is fetched."""
    data, measures = _data(sweep)
    of_words = (*_stanza(sweep), *_encoder(sweep)) if GENDER in measures else ()
    return (*_models(sweep), *data, *of_words, *_coref(sweep))


def _looked_for(kind: str, name: str, lang: str, find: Callable[[], str]) -> Part:
    """The part that `find` says the place of, or whose absence it raises."""
    try:
        return Part(kind, name, lang, find(), "")
    except (MtbiasError, OSError) as error:
        return Part(kind, name, lang, "", str(error))


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


def fetch(
    sweep: Sweep, parts: Sequence[Part], say: Callable[[str], object], *, sha256: str | None, accept_unverified: bool
) -> None:
    """Fetch what is missing of `parts`; a model with one checkpoint for all languages is fetched once.

    Raises:
        MtbiasError: something cannot be fetched; a wrong name or hash is refused before anything is.
    """
    from mtbias.corpora.catalog import dataset
    from mtbias.corpora.downloads import given_hash

    check_names(sweep)
    for part in parts:
        if part.kind == "data" and part.problem and part.name not in sweep.data:
            given_hash(dataset(part.name).source, sha256)
    for part in parts:
        if not part.problem:
            say(f"{part.title}: here, {part.where}")
            continue
        where = _fetch(sweep, part, sha256=sha256, accept_unverified=accept_unverified)
        say(f"{part.title}: fetched, {where}")


def _fetch(sweep: Sweep, part: Part, *, sha256: str | None, accept_unverified: bool) -> str:
    from mtbias.corpora import cache_folder, fetch_dataset
    from mtbias.language.installed import get_language
    from mtbias.morphology.stanza_models import download, stanza_folder
    from mtbias.translate.seq2seq.checkpoints import locate

    cache = cache_folder(sweep.cache_dir)
    if part.kind == "model" and (is_remote(part.name) or is_of_plugin(part.name)):
        return f"by {_open(sweep, part.name, part.lang, offline=False)}"
    if part.kind == "model":
        found = locate(part.name, part.lang, cache=cache)
        return f"{found.revision} in {found.folder}"
    if part.kind.startswith("coref"):
        raise MissingResourceError(f"{part.problem}; it is not fetched")
    if part.kind == "aligner":
        return _encoder_place(sweep, fetch=True)
    if part.kind == "stanza":
        get_language(part.lang)
        if _is_of_demo(sweep):
            raise MissingResourceError(f"{part.problem}; the demo's models ship with mtbias and cannot be fetched")
        package = download(part.lang, stanza_folder(sweep.stanza_dir, cache))
        return f"{package.signature} in {package.folder}"
    if part.name in sweep.data:
        raise MissingResourceError(f"{part.problem}; the sweep names that path, so it is not fetched")
    fetched = fetch_dataset(part.name, sweep.cache_dir, sha256=sha256, accept_unverified=accept_unverified)
    return str(fetched.folder)


def _models(sweep: Sweep) -> Iterator[Part]:
    from mtbias.corpora import cache_folder
    from mtbias.translate.seq2seq.checkpoints import catalog, locate

    def checkpoint(model: str, lang: str) -> str:
        found = locate(model, lang, cache=cache_folder(sweep.cache_dir), offline=True, fetch=False)
        return f"{found.revision} in {found.folder}"

    for model in sweep.models:
        if is_remote(model) or is_of_plugin(model):  # what it needs it says itself
            for lang in sweep.languages:
                yield _looked_for("model", model, lang, partial(_open, sweep, model, lang, offline=True))
            continue
        named = catalog().get(model)
        one_each = named is not None and "{lang}" in named.repository
        for lang in sweep.languages if one_each else sweep.languages[:1]:
            part = _looked_for("model", model, lang, partial(checkpoint, model, lang))
            yield part if one_each or part.problem else replace(part, lang="")


def _open(sweep: Sweep, model: str, lang: str, *, offline: bool) -> str:
    from mtbias.corpora import cache_folder
    from mtbias.settings import LanguageModelSettings, TranslationSettings, combined
    from mtbias.translate.system import Asked

    kind, name = find_kind(model)
    asked = Asked(
        name=name,
        lang=lang,
        settings=combined(TranslationSettings, sweep),
        device=None,
        cache=cache_folder(sweep.cache_dir),
        offline=offline,
        language_model=combined(LanguageModelSettings, sweep),
    )
    kind.open(asked)
    if not is_remote(model):
        return "its plugin"
    return "DeepL" if model.startswith(f"{DEEPL}:") else sweep.base_url


def _data(sweep: Sweep) -> tuple[list[Part], set[str]]:
    """The data sets, and what they are measured by."""
    from mtbias.corpora import cache_folder, datasets, load_corpus, loading

    measures = set[str]()

    def corpus(name: str) -> str:
        path = sweep.data.get(name)
        for lang in sweep.languages if name in loading.BY_LANGUAGE else sweep.languages[:1]:
            found = load_corpus(name, path, cache=cache_folder(sweep.cache_dir), lang=lang)
        measures.add(found.measure)
        return f"{len(found.instances):,} sentences" + (f" in {path}" if path else "")

    parts = [_looked_for("data", name, "", partial(corpus, name)) for name in sweep.datasets]
    # What is not here yet can be downloaded, and the catalog says what it is measured by.
    measures |= {datasets()[part.name].measure for part in parts if part.problem and part.name in datasets()}
    return parts, measures


def _is_of_demo(sweep: Sweep) -> bool:
    """Whether Stanza's models are those that ship with the demo."""
    from mtbias.demo import STANZA_NAME
    from mtbias.translate.seq2seq.checkpoints import DEMO

    all_demo = all(model == DEMO for model in sweep.models) and set(sweep.datasets) == {DEMO} and not sweep.data
    return str(sweep.stanza_dir) == STANZA_NAME or (sweep.stanza_dir is None and all_demo)


def _stanza(sweep: Sweep) -> Iterator[Part]:
    from mtbias.corpora import cache_folder
    from mtbias.demo import stanza_folder_of_demo
    from mtbias.language.installed import get_language
    from mtbias.morphology import find_package, stanza_folder

    if _is_of_demo(sweep):
        folder = stanza_folder_of_demo()
    else:
        folder = stanza_folder(sweep.stanza_dir, cache_folder(sweep.cache_dir))

    def package(lang: str) -> str:
        get_language(lang)
        found = find_package(lang, folder)
        return f"{found.signature} in {found.folder}"

    for lang in sweep.languages:
        yield _looked_for("stanza", lang, lang, partial(package, lang))


def _encoder(sweep: Sweep) -> Iterator[Part]:
    if sweep.aligner == "neural":
        from mtbias.align.neural_aligner import DEFAULT_ENCODER

        name = sweep.aligner_model or DEFAULT_ENCODER
        yield _looked_for("aligner", name, "", partial(_encoder_place, sweep, fetch=False))


def _coref(sweep: Sweep) -> Iterator[Part]:
    from mtbias.cluster.coref_tasks import coref_places

    def system(settings: CorefSystemSettings) -> str:
        settings.open("cpu")
        return str(settings.model or settings.command)

    def data() -> str:
        return ", ".join(f"{name} in {place or 'mtbias'}" for name, place in coref_places(sweep).items())

    if sweep.coref is not None:
        for name, settings in sweep.coref.systems.items():
            yield _looked_for("coref system", name, "", partial(system, settings))
        yield _looked_for("coref data", ", ".join(sweep.coref.datasets) or "sets", "", data)


def _encoder_place(sweep: Sweep, *, fetch: bool) -> str:
    from mtbias.align.neural_aligner import check_encoder, locate_encoder
    from mtbias.corpora import cache_folder

    found = locate_encoder(
        sweep.aligner_model, sweep.languages[0], cache=cache_folder(sweep.cache_dir), offline=not fetch, fetch=fetch
    )
    check_encoder(found.folder, sweep.aligner_layer)
    return f"{found.revision} in {found.folder}"
