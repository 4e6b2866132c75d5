"""What a sweep needs on this machine: which models, data sets and Stanza models are here; and bringing the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mtbias.cluster.sweep_file import Sweep
from mtbias.errors import MissingResourceError, MtbiasError
from mtbias.metrics.measure import GENDER
from mtbias.translate.system_kinds import find_kind, is_of_plugin


@dataclass(frozen=True, slots=True)
class Part:
    """Something that a sweep needs."""

    kind: str
    """``model``, ``data`` or ``stanza``."""
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
    """Every model, data set and Stanza package of a sweep. Nothing is fetched."""
    data, measures = _data(sweep)
    return (*_models(sweep), *data, *(_stanza(sweep) if GENDER in measures else ()))


def refuse_missing(sweep: Sweep, file: Path) -> None:
    """Stop before a task does.

    Raises:
        MissingResourceError: something is not here; names the first and the command that brings all.
    """
    missing = [part for part in inventory(sweep) if part.problem]
    if missing:
        raise MissingResourceError(
            f"{len(missing)} of this sweep's models and data are not usable here, the first: {missing[0].problem}. On "
            f"a machine with network, `mtbias fetch --sweep {file}` brings what is missing"
        )


def fetch(
    sweep: Sweep, parts: Sequence[Part], say: Callable[[str], object], *, sha256: str | None, accept_unverified: bool
) -> None:
    """Bring what is missing of `parts`; a model with one checkpoint for all languages comes once.

    Raises:
        MtbiasError: something cannot be brought.
    """
    for part in parts:
        if not part.problem:
            say(f"{part.title}: here, {part.where}")
            continue
        where = _bring(sweep, part, sha256=sha256, accept_unverified=accept_unverified)
        say(f"{part.title}: brought, {where}")


def _bring(sweep: Sweep, part: Part, *, sha256: str | None, accept_unverified: bool) -> str:
    from mtbias.corpora import cache_folder, fetch_dataset
    from mtbias.language.installed import get_language
    from mtbias.morphology.stanza_packages import download, stanza_folder
    from mtbias.translate.seq2seq.checkpoints import locate

    cache = cache_folder(sweep.cache_dir)
    if part.kind == "model" and is_of_plugin(part.name):
        _open(sweep, part.name, part.lang, offline=False)
        return "by its plugin"
    if part.kind == "model":
        found = locate(part.name, part.lang, cache=cache)
        return f"{found.revision} in {found.folder}"
    if part.kind == "stanza":
        get_language(part.lang)
        if _is_of_demo(sweep):
            raise MissingResourceError(f"{part.problem}; the demo's models ship with mtbias and cannot be fetched")
        package = download(part.lang, stanza_folder(sweep.stanza_dir, cache))
        return f"{package.signature} in {package.folder}"
    if part.name in sweep.data:
        raise MissingResourceError(f"{part.problem}; the sweep names that path, so it is not fetched")
    return str(
        fetch_dataset(
            part.name, sweep.cache_dir, sha256=sha256, accept_unverified=accept_unverified, progress=False
        ).folder
    )


def _models(sweep: Sweep) -> Iterator[Part]:
    from mtbias.corpora import cache_folder
    from mtbias.translate.seq2seq.checkpoints import catalog, locate

    for model in sweep.models:
        if is_of_plugin(model):
            yield from _of_plugin(sweep, model)
            continue
        named = catalog().get(model)
        one_each = named is not None and "{lang}" in named.repository
        for lang in sweep.languages if one_each else sweep.languages[:1]:
            try:
                found = locate(model, lang, cache=cache_folder(sweep.cache_dir), offline=True, fetch=False)
            except MtbiasError as error:
                yield Part("model", model, lang, "", str(error))
            else:
                yield Part("model", model, lang if one_each else "", f"{found.revision} in {found.folder}", "")


def _of_plugin(sweep: Sweep, model: str) -> Iterator[Part]:
    """A system of another distribution; what it needs it says itself."""
    for lang in sweep.languages:
        try:
            _open(sweep, model, lang, offline=True)
        except MtbiasError as error:
            yield Part("model", model, lang, "", str(error))
        else:
            yield Part("model", model, lang, "its plugin", "")


def _open(sweep: Sweep, model: str, lang: str, *, offline: bool) -> None:
    from mtbias.corpora import cache_folder
    from mtbias.settings import TranslationSettings, combined
    from mtbias.translate.system import Asked

    kind, name = find_kind(model)
    settings, cache = combined(TranslationSettings, sweep), cache_folder(sweep.cache_dir)
    kind.open(Asked(name=name, lang=lang, settings=settings, device=None, cache=cache, offline=offline))


def _data(sweep: Sweep) -> tuple[list[Part], set[str]]:
    """The data sets, and what they are measured by."""
    from mtbias.corpora import cache_folder, load_corpus

    parts, measures = [], set[str]()
    for name in sweep.datasets:
        path = sweep.data.get(name)
        try:
            corpus = load_corpus(name, path, cache=cache_folder(sweep.cache_dir))
        except (MtbiasError, OSError) as error:
            parts.append(Part("data", name, "", "", str(error)))
            measures.add(GENDER)  # until it is here: that of the data sets that mtbias can download
        else:
            where = f"{len(corpus.instances):,} sentences" + (f" in {path}" if path else "")
            parts.append(Part("data", name, "", where, ""))
            measures.add(corpus.measure)
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
    for lang in sweep.languages:
        try:
            get_language(lang)
            package = find_package(lang, folder)
        except MtbiasError as error:
            yield Part("stanza", lang, lang, "", str(error))
        else:
            yield Part("stanza", lang, lang, f"{package.signature} in {package.folder}", "")
