"""``mtbias list``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from mtbias.cli.shared import Flag, Json, Stanza, print_json
from mtbias.coref.training import training_presets
from mtbias.corpora import cache_folder
from mtbias.corpora.catalog import catalogued, source_folder
from mtbias.corpora.citations import citations
from mtbias.entry_points import installed
from mtbias.errors import (
    MissingResourceError,
    MtbiasError,
    SettingError,
    UsageError,
    escaped,
)
from mtbias.language.installed import GROUP as LANGUAGES
from mtbias.language.installed import get_language, is_language_code
from mtbias.language.source import ENGLISH_CODE
from mtbias.morphology.stanza_models import find_package, stanza_folder
from mtbias.settings import StanzaSettings
from mtbias.translate.language_models.prompt_files import list_prompts, load_prompt
from mtbias.translate.seq2seq.checkpoints import DEMO, catalog, locate
from mtbias.translate.system import GROUP as SYSTEMS
from mtbias.translate.system import ListedSystem
from mtbias.translate.system_kinds import find_kind
from mtbias.types import JsonDict

SHIPS = "ships with mtbias"


def command(
    what: Literal["models", "languages", "datasets", "prompts", "presets"],
    /,
    *names: str,
    lang: str = "de",
    cite: Flag = False,
    json: Json = False,
    stanza: Stanza = StanzaSettings(),
) -> None:
    """List models with a short name, target languages, data sets, prompts, or the presets of
    `mtbias coref train`, and whether they are here.

    Any hub id or folder works as a model, any TOML file of the same form as a prompt. Kinds of
    systems and languages that plugins add are listed too; a plugin that fails is listed with its
    error.

    Parameters
    ----------
    names
        Prompts to show with their wording: names, or paths of TOML files. With --cite: data sets.
    lang
        Language of models with one checkpoint for each language.
    cite
        Print the citations of the data sets and of mtbias, as BibTeX alone.
    """
    prompts = () if cite else names
    for option, value, needed in (("names", prompts, "prompts"), ("cite", cite, "datasets")):
        if value and what != needed:
            raise SettingError(option, f"expected with `mtbias list {needed}`, got it with {what}")
    folder = cache_folder(stanza.cache_dir)
    if cite:
        print("\n\n".join(citations(names or catalogued())))
        return
    rows = {
        "models": lambda: _models(lang, folder),
        "languages": lambda: _languages(stanza_folder(stanza.stanza_dir, folder)),
        "datasets": lambda: _datasets(folder),
        "prompts": lambda: _prompts(names),
        "presets": _training_presets,
    }[what]()
    if json:
        print_json([row for row, _ in rows])
        return
    for _, line in rows:
        print(line)


Rows = Iterator[tuple[JsonDict, str]]
"""Entries of a list, as JSON and as lines of text."""


def _models(lang: str, cache: Path) -> Rows:
    if not is_language_code(lang):  # a code may be that of a future language
        get_language(lang)
    demo = ("M2M100", SHIPS, "Apache-2.0", "small, biased on purpose; for trying mtbias")
    models = {DEMO: demo}
    for model in catalog().values():
        repository = model.repository.format(source=ENGLISH_CODE, lang=lang)
        models[model.name] = (model.family, repository, model.licence, model.note)
    for name, (family, repository, licence, note) in models.items():
        missing = f"missing: mtbias fetch --model {name} --lang {lang}"
        try:
            revision = locate(name, lang, cache=cache, fetch=False).revision
        except MissingResourceError:
            revision = ""
        except UsageError:
            revision, missing = "", f"not for {lang}"
        row = {
            "name": name,
            "family": family,
            "repository": repository,
            "licence": licence,
            "note": note,
        }
        here = revision[:19] or missing
        yield (
            {**row, "revision": revision},
            _model_line(name, family, repository, note, here),
        )
    for scheme, origins in installed(SYSTEMS).items():
        origin = " and ".join(origins)
        row = {"name": f"{scheme}:NAME", "note": origin}
        line = f"{scheme + ':NAME':<13} a kind of system of {origin}"
        try:
            kind, _ = find_kind(f"{scheme}:")
        except MtbiasError as error:
            yield {**row, "error": str(error)}, f"{line}: {error}"
            continue
        yield row, line
        yield from map(_listed, kind.listed(cache, installed(LANGUAGES)))


def _listed(system: ListedSystem) -> tuple[JsonDict, str]:
    here = system.revision[:19] or f"missing: mtbias fetch --model {system.name}"
    return asdict(system), _model_line(
        system.name, system.family, system.repository, system.note, here
    )


def _model_line(name: str, family: str, repository: str, note: str, here: str) -> str:
    return f"{name:<13} {family:<10} {repository:<50} {note:<44} {here}"


def _languages(stanza: Path) -> Rows:
    for code, origins in installed(LANGUAGES).items():
        row: JsonDict = {
            "code": code,
            "name": "",
            "distribution": " and ".join(origins),
            "nouns": 0,
        }
        try:
            language = get_language(code)
            row |= {
                "name": language.name,
                "version": language.version,
                "nouns": len(language.nouns),
            }
        except MtbiasError as error:
            row["error"] = str(error)
        try:
            row["stanza"] = find_package(code, stanza).signature
        except MtbiasError:
            row["stanza"] = None
        models = f"Stanza {row['stanza'] or f'missing: mtbias fetch --lang {code}'}"
        about = (
            f"{row['name']:<11} {row['nouns']:>6} noun forms  {row['distribution']:<16} {models}"
        )
        yield row, f"{code:<4} {row.get('error', about)}"


def _datasets(cache: Path) -> Rows:
    for name, entry in catalogued().items():
        source = entry.source
        here = not source.downloads or (source_folder(source, cache) / entry.file).is_file()
        row = {
            "name": name,
            "rows": entry.rows,
            "licence": source.licence,
            "home": source.home,
            "here": here,
        }
        state = f"mtbias fetch --dataset {name}"
        if here:
            state = "in the cache" if source.downloads else SHIPS
        line = (
            f"{name:<19} {entry.rows:>7} rows  {source.licence:<12} "
            f"{source.home} @ {source.commit}  ({state})"
        )
        yield row, f"{line}\n{'':<19} {entry.description}"
    yield {"name": "custom"}, f"{'custom':<19} your own sentences: --data FILE (TSV, CSV or JSONL)"


def _prompts(names: tuple[str, ...]) -> Rows:
    for prompt in [load_prompt(name) for name in names] or list_prompts():
        languages = f" ({', '.join(prompt.languages)})" if prompt.languages else ""
        lines = [f"{prompt.label:<28} {prompt.about}{languages}"]
        if names:
            turns = "\n".join(f"{turn.role}: {turn.content}" for turn in prompt.messages)
            lines += [f"  {line}" for line in turns.split("\n")]
            for lang, pairs in prompt.examples.items():
                lines += [f"  {lang}: {source} → {target}" for source, target in pairs]
        yield prompt.as_json(), "\n".join(map(escaped, lines))


def _training_presets() -> Rows:
    for name, settings in training_presets().items():
        listed = ", ".join(
            f"{key.replace('_', '-')} {value}"
            for key, value in settings.items()
            if key != "encoder"
        )
        yield {"name": name, **settings}, f"{name:<14} {settings['encoder']}: {listed}"
