"""``mtbias fetch``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from mtbias.cli.shared import Flag
from mtbias.cluster.inventory import fetch
from mtbias.cluster.sweep_file import read_sweep
from mtbias.coref.documents import DOWNLOADS
from mtbias.corpora import cache_folder, fetch_dataset
from mtbias.corpora.catalog import datasets as known_datasets
from mtbias.corpora.catalog import fetched_source
from mtbias.corpora.downloads import given_hash
from mtbias.errors import SettingError, UsageError, escaped
from mtbias.language.installed import get_language
from mtbias.machine.stage_progress import draws_bars
from mtbias.morphology.stanza_models import PARSER, PROCESSORS, download, stanza_folder
from mtbias.translate.seq2seq.checkpoints import catalog, check_name, locate

ENGLISH = "en"
"""The language that is not translated into, and whose models parse (`mtbias corpora mine`)."""


def command(
    *,
    models: Annotated[list[str] | None, Parameter(name="--model")] = None,
    revision: str | None = None,
    datasets: Annotated[list[str] | None, Parameter(name="--dataset")] = None,
    langs: Annotated[list[str] | None, Parameter(name="--lang")] = None,
    sweep: Path | None = None,
    sha256: str | None = None,
    accept_unverified: Flag = False,
    stanza_dir: Path | None = None,
    cache_dir: Path | None = None,
) -> None:
    """Download models, data sets and Stanza models, for machines without network.

    Data sets are checked by their hash; models are taken at one commit, which is written down and used from then on.

    Parameters
    ----------
    models
        A translation model, for each --lang (`mtbias list models`); one or several.
    revision
        Commit, branch or tag of the model.
    datasets
        A data set (`mtbias list datasets`), or bug-occupations, BUG's table of occupations; one or several.
    langs
        Stanza models of a language (en: those that `mtbias corpora mine` parses with); one or several.
    sweep
        A sweep's file: download all that it needs, into the folders that it names.
    sha256
        Expected hash of a download whose hash mtbias does not know.
    accept_unverified
        Accept such a download without a known hash, and record the one it has.
    stanza_dir
        Folder for Stanza models.
    cache_dir
        mtbias's cache.
    """
    if sweep is not None:
        given: dict[str, object] = {"model": models, "revision": revision, "dataset": datasets, "lang": langs}
        given |= {"stanza_dir": stanza_dir, "cache_dir": cache_dir}
        for name, value in given.items():
            if value:
                raise SettingError(name, "with --sweep the sweep's file says what to download, and where to")
        fetch(read_sweep(sweep), print, sha256=sha256, accept_unverified=accept_unverified)
        return
    if sha256 is not None and not datasets:
        raise SettingError("sha256", "expected a --dataset that it is of, got none; name it, or leave this out")
    if not (datasets or langs or models):
        raise UsageError("nothing to download: give --model MODEL, --dataset NAME or --lang CODE")

    _check_names(models or [], datasets or [], langs or [], sha256)
    _fetch_models(models or [], langs or [], revision, cache_folder(cache_dir))
    for name in datasets or []:
        bars = draws_bars(sys.stderr)
        found = fetch_dataset(name, cache_dir, sha256=sha256, accept_unverified=accept_unverified, progress=bars)
        for piece in found.downloads:
            how = "checked" if piece.verified else "NOT checked, hash recorded"
            here = "" if piece.fresh else ", was here"
            print(escaped(f"{name}: {found.folder} sha256 {piece.sha256} ({how}{here})"))
    for lang in langs or []:
        processors = PARSER if lang == ENGLISH else PROCESSORS
        package = download(lang, stanza_folder(stanza_dir, cache_folder(cache_dir)), processors)
        print(escaped(f"{lang}: Stanza {package.signature} in {package.folder}"))


def _check_names(models: Sequence[str], datasets: Sequence[str], langs: Sequence[str], sha256: str | None) -> None:
    """Refuse a wrong name or hash before anything is downloaded."""
    for lang in langs:
        if lang != ENGLISH or models:
            get_language(lang)
    for name in datasets:
        if name in DOWNLOADS and name not in known_datasets():
            raise UsageError(f"expected what mtbias can download, got {name}; download {DOWNLOADS[name]}")
        given_hash(fetched_source(name), sha256)
    for model in models:
        check_name(model)
        if _one_each(model) and not langs:
            raise UsageError(f"{model} has one checkpoint for each language: give --lang CODE")


def _one_each(model: str) -> bool:
    """Whether a model has one checkpoint for each language."""
    return model in catalog() and "{lang}" in catalog()[model].repository


def _fetch_models(models: Sequence[str], langs: Sequence[str], revision: str | None, cache: Path) -> None:
    """The models, for every language; a model with one checkpoint for all of them is downloaded once."""
    for model in models:
        for lang in langs if _one_each(model) else [*langs, "de"][:1]:
            found = locate(model, lang, cache=cache, revision=revision)
            print(escaped(f"{model}: {found.name} at {found.revision} in {found.folder}"))
