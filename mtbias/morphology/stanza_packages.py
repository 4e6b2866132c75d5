"""Where Stanza's models are on this machine, which ones a language uses, and how they are downloaded."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mtbias.errors import DataError, MissingResourceError
from mtbias.files.strict_json import load_json
from mtbias.machine.download_faults import why_failed

PROCESSORS = ("tokenize", "mwt", "pos")
PARSER = (*PROCESSORS, "lemma", "depparse")
"""With the two that give dependencies."""


@dataclass(frozen=True, slots=True)
class StanzaPackage:
    """The models one language uses."""

    language: str
    folder: Path
    """Stanza's resource folder: ``FOLDER/resources.json``, ``FOLDER/LANG/PROCESSOR/PACKAGE.pt``."""
    models: tuple[tuple[str, str, str], ...]
    """(processor, package, first 12 hex digits of the model file's SHA-256)."""

    @property
    def signature(self) -> str:
        """``tokenize=combined:0123…,pos=combined_charlm:4567…``: part of a run's identity."""
        return ",".join(f"{processor}={name}:{digest}" for processor, name, digest in self.models)

    @property
    def analyses_signature(self) -> str:
        """What the analyses made with these models depend on: Stanza's version, and the files."""
        return f"stanza/{version('stanza')}({self.signature})"


def stanza_folder(given: Path | None, cache: Path) -> Path:
    """``--stanza-dir``, else ``STANZA_RESOURCES_DIR``, else the cache's folder ``stanza``."""
    if given is not None:
        return given
    variable = os.environ.get("STANZA_RESOURCES_DIR")
    return Path(variable) if variable else cache / "stanza"


def find_package(language: str, folder: Path, processors: Sequence[str] = PROCESSORS) -> StanzaPackage:
    """The default models of `language` in `folder` for `processors`, of which a language may lack ``mwt`` alone.

    Raises:
        MissingResourceError: the folder, the language or a model file is missing; names the command that downloads it.
        DataError: ``resources.json`` is damaged.
    """
    hint = f"`mtbias fetch --lang {language}` downloads it, or --stanza-dir names a folder that has it"
    index = folder / "resources.json"
    try:
        resources = load_json(index.read_bytes())
        chosen = _default_packages(resources, language, processors)
    except (FileNotFoundError, NotADirectoryError):
        raise MissingResourceError(f"no Stanza resources at {folder} (resources.json is missing): {hint}") from None
    except (ValueError, AttributeError, TypeError) as error:
        raise DataError(f"not Stanza's index of resources ({error}): delete it, then {hint}", path=index) from None
    if not chosen:
        known = ", ".join(sorted(k for k in resources if len(k) <= 3)) or "none"
        wanted = " and ".join(p for p in processors if p != "mwt")
        raise MissingResourceError(f"{index} has no {wanted} models for {language!r} (it has: {known}): {hint}")
    models = []
    for processor, name in chosen:
        path = folder / resources[language].get("alias", language) / processor / f"{name}.pt"
        try:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        except FileNotFoundError:
            raise MissingResourceError(
                f"Stanza's {processor} model for {language!r} is missing ({path}): {hint}"
            ) from None
        models.append((processor, name, digest))
    return StanzaPackage(language, folder, tuple(models))


def _default_packages(resources: dict[str, Any], language: str, processors: Sequence[str]) -> list[tuple[str, str]]:
    entry = resources.get(language, {})
    if "alias" in entry:
        entry = resources.get(entry["alias"], {})
    default = entry.get("packages", {}).get("default") or entry.get("default_processors", {})
    chosen = [(p, default[p]) for p in processors if p in default]
    return chosen if set(processors) - {"mwt"} <= {p for p, _ in chosen} else []


def download(
    language: str, folder: Path, processors: Sequence[str] = PROCESSORS, *, quiet: bool = True
) -> StanzaPackage:
    """Download `language`'s default models into `folder` with Stanza's own downloader (from one process only).

    Raises:
        MissingResourceError: the download failed; says why.
    """
    import stanza

    try:
        wanted = ",".join(p for p in processors if p != "mwt")  # which comes with tokenize, where there is one
        stanza.download(language, model_dir=str(folder), processors=wanted, verbose=not quiet)
    except Exception as error:
        raise MissingResourceError(
            f"Stanza's models for {language!r} could not be downloaded to {folder}: {why_failed(error)}; check the "
            "network, or give --stanza-dir a folder that has them"
        ) from error
    return find_package(language, folder, processors)
