"""Stanza as mtbias uses it: offline, raw text, one sentence a document, large batches; and where
its models are, which ones a language uses, and how they are downloaded.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtbias.demo import STANZA_NAME, stanza_folder_of_demo
from mtbias.errors import DataError, DependencyError, MissingResourceError
from mtbias.files.file_ledger import file_ledger
from mtbias.files.reading import input_bytes
from mtbias.files.strict_json import load_json
from mtbias.machine.devices import require_device
from mtbias.machine.network import why_failed
from mtbias.morphology.analysis_cache import parse_feats
from mtbias.types import Analysis, Span, Token, Word

if TYPE_CHECKING:
    from mtbias.morphology.direct_tensors import Bulk

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
        """Everything that analyses by these models depend on: Stanza's version, and the files."""
        return f"stanza/{version('stanza')}({self.signature})"


def stanza_folder(option: Path | None, cache: Path) -> Path:
    """``--stanza-dir``, else ``STANZA_RESOURCES_DIR``, else the cache's folder ``stanza``."""
    if option is not None:
        return option
    variable = os.environ.get("STANZA_RESOURCES_DIR")
    return Path(variable) if variable else cache / "stanza"


def find_package(
    language: str, folder: Path, processors: Sequence[str] = PROCESSORS
) -> StanzaPackage:
    """The default models of `language` in `folder` for `processors`; a language may lack only
    ``mwt``.

    Raises:
        MissingResourceError: the folder, the language or a model file is missing; names the command
            that downloads it.
        DataError: ``resources.json`` is damaged.
    """
    hint = (
        f"`mtbias fetch --lang {language}` downloads it, or --stanza-dir names a folder that has it"
    )
    if folder == stanza_folder_of_demo():  # into which nothing is downloaded
        hint = f"leave --stanza-dir {STANZA_NAME} out; without it {hint}"
    resources, default = read_index(language, folder, processors, hint)
    if not set(processors) - {"mwt"} <= default.keys():
        known = ", ".join(sorted(k for k in resources if len(k) <= 3)) or "none"
        names = " and ".join(p for p in processors if p != "mwt")
        index = folder / "resources.json"
        raise MissingResourceError(
            f"{index} has no {names} models for {language!r} (it has: {known}): {hint}"
        )
    models = []
    for processor, name in default.items():
        path = folder / resources[language].get("alias", language) / processor / f"{name}.pt"
        try:
            digest = hashlib.sha256(input_bytes(path)).hexdigest()[:12]
        except FileNotFoundError:
            raise MissingResourceError(
                f"Stanza's {processor} model for {language!r} is missing ({path}): {hint}"
            ) from None
        models.append((processor, name, digest))
    for path in (folder / resources[language].get("alias", language)).rglob("*.pt"):
        file_ledger().note_input(path)  # Stanza loads further ones: vectors, models of characters
    return StanzaPackage(language, folder, tuple(models))


def read_index(
    language: str, folder: Path, processors: Sequence[str], hint: str
) -> tuple[dict[str, Any], dict[str, str]]:
    """Stanza's index of models in `folder`, and which it has for `language` by default, by
    processor.

    Raises:
        MissingResourceError: there is no index; gives `hint`.
        DataError: it is damaged.
    """
    index = folder / "resources.json"
    try:
        resources = load_json(input_bytes(index))
        entry = resources.get(language, {})
        entry = resources.get(entry["alias"], {}) if "alias" in entry else entry
        default = entry.get("packages", {}).get("default") or entry.get("default_processors", {})
        return resources, {p: default[p] for p in processors if p in default}
    except (FileNotFoundError, NotADirectoryError):
        raise MissingResourceError(
            f"no Stanza resources at {folder} (resources.json is missing): {hint}"
        ) from None
    except (ValueError, AttributeError, TypeError) as error:
        raise DataError(
            f"not Stanza's index of resources ({error}): delete it, then {hint}", path=index
        ) from None


def download(language: str, folder: Path, processors: Sequence[str] = PROCESSORS) -> StanzaPackage:
    """Download `language`'s default models into `folder` with Stanza's own downloader (from one
    process only).

    Raises:
        MissingResourceError: the download failed; says why.
    """
    with without_transformers():
        import stanza

    try:
        # mwt comes with tokenize, if there is one.
        names = ",".join(p for p in processors if p != "mwt")
        stanza.download(language, model_dir=str(folder), processors=names, verbose=False)
    except Exception as error:
        raise MissingResourceError(
            f"Stanza's models for {language!r} could not be downloaded to {folder}:"
            f" {why_failed(error)}; check the network, or give --stanza-dir a folder that has them"
        ) from error
    return find_package(language, folder, processors)


_log = logging.getLogger(__name__)

BATCH = 1024
"""Texts handed to the models at once."""
POS_BATCH_SENTENCES = 1000
POS_BATCH_WORDS = 20_000
"""Words a tagger batch may hold: Stanza's own 5,000 leaves a GPU idle."""
lenient = partial(warnings.catch_warnings, action="ignore")
"""Stanza's and torch's own warnings are not the user's."""
BREAKS = str.maketrans(dict.fromkeys("\n\r\t\v\f\x85\u2028\u2029", " "))
"""Line breaks as blanks, one for one, so that one text stays one sentence and offsets stay true."""
PROBES = 8
"""Texts that are analysed both ways before the short way is trusted."""
KNOWN = "1.15"
"""The release whose code the short way is written for; another may have the same. Those from 1.10
to 1.14 that were tried give `_PADDING` for every feature of today's models, without an error: no
gender would be called."""
_PADDING = "<PAD>"
DIRECT, DOCUMENTS = "direct tensors", "Stanza's documents"
"""The ways of a text, as the manifest names them."""


class StanzaModels:
    """A package's tokenizer, multiword splitter and tagger, loaded when the first text comes.

    Texts go the short way (`mtbias.morphology.direct_tensors`) where it gives what Stanza gives:
    the first `PROBES` texts are analysed both ways, and where they differ, or the models are not
    known there, all go through Stanza's documents.
    """

    def __init__(self, package: StanzaPackage, device: str | None) -> None:
        """Load nothing yet. The device None is a GPU if there is one."""
        self._package, self._device = package, device
        self._bulk: Bulk | None = None
        self.way: str | None = None
        """How texts go, `DIRECT` or `DOCUMENTS`; None until texts that say something went both
        ways."""

    @cached_property
    def _pipeline(self) -> Any:  # noqa: ANN401 - stanza has no types
        return load_pipeline(
            self._package,
            self._device,
            tokenize_no_ssplit=True,
            pos_batch_size=POS_BATCH_SENTENCES,
            pos_batch_maximum_tokens=POS_BATCH_WORDS,
        )

    def analyse(self, texts: Sequence[str]) -> list[Analysis]:
        """Analyse each of `texts` as one sentence.

        Raises:
            MissingResourceError: Stanza cannot load the models; says which and why.
            DependencyError: this release of Stanza does not understand them.
        """
        from mtbias.morphology.direct_tensors import MOST_CHARACTERS

        if self.way is None:
            probes = [t for t in texts if t.strip() and len(t) <= MOST_CHARACTERS][:PROBES]
            if probes:
                self._bulk = self._trusted(probes)
                self.way = DOCUMENTS if self._bulk is None else DIRECT
        if self._bulk is None:
            return self._through_documents(texts)
        short = [text for text in texts if len(text) <= MOST_CHARACTERS]
        long = [text for text in texts if len(text) > MOST_CHARACTERS]
        with lenient():
            direct = iter(self._bulk.analyse(short))
        slow = iter(self._through_documents(long))
        return [next(direct if len(text) <= MOST_CHARACTERS else slow) for text in texts]

    def _trusted(self, texts: Sequence[str]) -> Bulk | None:
        """The short way, where it gives the same for `texts`."""
        from mtbias.morphology.direct_tensors import Bulk, Unsupported

        try:
            bulk = Bulk(self._pipeline, words=POS_BATCH_WORDS)
        except Unsupported as reason:
            _slowly(str(reason))
            return None
        try:
            with lenient():
                same = bulk.analyse(texts) == self._through_documents(texts)
        except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError) as error:
            _slowly(f"{type(error).__name__}: {error}")
            return None
        if not same:
            _slowly("the short way through its models gives something else")
        return bulk if same else None

    def _through_documents(self, texts: Sequence[str]) -> list[Analysis]:
        """Stanza's own way."""
        if not texts:
            return []
        with lenient():
            documents = self._pipeline.bulk_process([text.translate(BREAKS) for text in texts])
        analyses = []
        for text, document in zip(texts, documents, strict=True):
            analyses.append(Analysis(text, tuple(_tokens(text, document))))
        return analyses


@contextmanager
def without_transformers() -> Iterator[None]:
    """Within the block the package transformers counts as missing, unless it is loaded already.

    A trainer of Stanza's imports all of it, and uses nothing of it; Stanza does without where there
    is none. What needs it later (a model that reads a transformer) imports it as ever.
    """
    name = "transformers"
    if name in sys.modules:
        yield
        return
    # As Python marks what is not to be imported.
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        if sys.modules.get(name) is None:
            sys.modules.pop(name, None)


@contextmanager
def _not_to_be_trained() -> Iterator[None]:
    """Stanza gives each model an optimizer, for the first of which PyTorch imports its compiler:
    two seconds.

    Nothing is trained here, so they are empty.
    """
    import torch
    from stanza.models.common import utils

    class Empty(torch.optim.Optimizer):  # type: ignore[misc]  # torch has no types here
        def __init__(self, *_: object, **__: object) -> None:
            self.param_groups: list[object] = []

    # Not a part of Stanza's interface: another release may lack it.
    dispatch = getattr(utils, "dispatch_optimizer", None)
    if dispatch is None:
        yield
        return
    utils.dispatch_optimizer = Empty
    try:
        yield
    finally:
        utils.dispatch_optimizer = dispatch


def load_pipeline(  # stanza has no types
    package: StanzaPackage, device: str | None, **options: object
) -> Any:  # noqa: ANN401
    """Stanza's pipeline of a package's models and no others, with more of Stanza's `options`.

    The device None is a GPU if there is one.

    Raises:
        MissingResourceError: Stanza cannot load the models; says which and why.
        SettingError: there is no such device.
    """
    import torch

    with without_transformers():
        import stanza

    # cuDNN's LSTMs would compute with 10 bits of a number's 23; the tags of a GPU are to be those
    # of a CPU.
    torch.backends.cudnn.allow_tf32 = False
    if device:
        require_device(device)
    try:
        with lenient(), _not_to_be_trained():
            return stanza.Pipeline(
                package.language,
                dir=str(package.folder),
                # Otherwise Stanza adds the language's lemmas, parses, names and constituents.
                package=None,
                processors={p: name for p, name, _ in package.models},
                download_method=None,
                verbose=False,
                **options,
                **({"device": device} if device else {}),
            )
    except Exception as error:
        raise MissingResourceError(
            f"Stanza cannot load its models for {package.language!r} from {package.folder}: "
            f"{type(error).__name__}: {error}; `mtbias fetch --lang {package.language}` downloads"
            " them again"
        ) from error


def _slowly(reason: str) -> None:
    """Say that the long way is taken: the numbers are the same, hours of a large corpus are not."""
    _log.warning(
        "Stanza %s: %s: texts go through Stanza's documents, which takes two to four times as long"
        " (the short way is known for Stanza %s)",
        version("stanza"),
        reason,
        KNOWN,
    )


def _tokens(text: str, document: Any) -> Iterator[Token]:  # noqa: ANN401 - stanza has no types
    for sentence in document.sentences:
        for token in sentence.tokens:
            span = Span(token.start_char, token.end_char)
            if any(_PADDING in (w.feats or "") for w in token.words):
                raise DependencyError(
                    f"Stanza {version('stanza')} reads no features with these models, which need"
                    f" {KNOWN} or newer: pip install 'stanza>={KNOWN}'"
                )
            words = tuple(
                Word(w.text, None, w.upos or "X", parse_feats(w.feats)) for w in token.words
            )
            yield Token(span, text[span.start : span.end], words)
