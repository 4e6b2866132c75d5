"""``mtbias fetch``."""

from __future__ import annotations

from pathlib import Path

from mtbias.cli.shared import Flag
from mtbias.cluster.inventory import fetch, fetch_named
from mtbias.cluster.sweep_file import read_sweep
from mtbias.errors import SettingError, escaped


def command(
    *,
    model: list[str] | None = None,
    revision: str | None = None,
    dataset: list[str] | None = None,
    lang: list[str] | None = None,
    source_lang: str = "en",
    sweep: Path | None = None,
    sha256: str | None = None,
    accept_unverified: Flag = False,
    stanza_dir: Path | None = None,
    cache_dir: Path | None = None,
) -> None:
    """Download models, data sets and Stanza models, for machines without network.

    Data sets are checked by their hash; models are fetched at one commit, which is recorded and
    used from then on.

    Parameters
    ----------
    model
        A translation model, for each --lang (`mtbias list models`), or firefox:en-de, which has one
        language; one or several.
    revision
        Commit, branch or tag of the model.
    dataset
        A data set (`mtbias list datasets`), or bug-occupations, BUG's table of occupations; one or
        several.
    lang
        Stanza models of a language (en: those that `mtbias corpora mine` parses with); one or
        several.
    source_lang
        Language of the sentences that the model will translate (opus-mt has one checkpoint a pair).
    sweep
        File of a sweep: download all that it needs, into its folders.
    sha256
        Expected hash of a download whose hash mtbias does not know.
    accept_unverified
        Accept a download without a known hash, and record its hash.
    stanza_dir
        Folder for Stanza models.
    cache_dir
        mtbias's cache.
    """
    if sweep is not None:
        options: dict[str, object] = {
            "model": model,
            "revision": revision,
            "dataset": dataset,
            "lang": lang,
            "stanza_dir": stanza_dir,
            "cache_dir": cache_dir,
            "source_lang": None if source_lang == "en" else source_lang,
        }
        for name, value in options.items():
            if value:
                raise SettingError(
                    name, "with --sweep the sweep's file says what to download, and where to"
                )
        fetch(read_sweep(sweep), _say, sha256=sha256, accept_unverified=accept_unverified)
        return
    fetch_named(
        _say,
        model or [],
        dataset or [],
        lang or [],
        revision=revision,
        sha256=sha256,
        accept_unverified=accept_unverified,
        stanza_dir=stanza_dir,
        cache_dir=cache_dir,
        source_lang=source_lang,
    )


def _say(line: str) -> None:
    print(escaped(line))
