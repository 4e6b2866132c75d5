"""Run a coreference system on the texts of a data set: Stanza's processor with a model of one's
own, or any command.

One document after the other is kept as it comes: a run that was stopped at any moment, killed
included, resumes behind the last document that was kept (`mtbias.files.kept_work`); the finished
OUT has the documents in the data's order, so its bytes do not depend on how often it was stopped.
It is written in mtbias's JSON lines, with the tokens.

Source: D'Oosterlinck et al., *CAW-coref* (CRAC 2023), after Dobrovolskii (EMNLP 2021), as in
Stanza.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from mtbias.coref.documents import Cluster, Clusters, CorefText, Format, Spans, exported
from mtbias.coref.output_reading import IN_ORDER, read_output
from mtbias.errors import DataError, DependencyError, MissingResourceError, ModelError, UsageError
from mtbias.files.kept_work import kept_lines
from mtbias.files.reading import sha256_of, sha256_of_file
from mtbias.files.writing import write_atomic
from mtbias.machine.devices import chosen_device, require_device
from mtbias.types import Progress, quiet

Put = Callable[[str, Clusters], None]
"""Keeps the clusters of the document of an id."""


class CorefSystem(Protocol):
    """A system that finds clusters."""

    @property
    def signature(self) -> str:
        """What its answers depend on: names and hashes."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on how its clusters were read; complete after `resolve`."""
        ...

    def resolve(self, texts: Sequence[CorefText], put: Put) -> None:
        """Find the clusters of each of `texts`, one or more, and `put` those of a document as soon
        as they are there.

        Raises:
            MtbiasError: the system cannot be run, or gives something else than clusters of these
                texts.
        """
        ...


def run_system(
    system: CorefSystem, texts: Sequence[CorefText], out: Path, progress: Progress = quiet
) -> int:
    """Let `system` resolve `texts`, and write its clusters to `out`.

    Returns how many documents were resolved already.

    Raises:
        DataError: as `kept_lines`; the system leaves documents out, or raises it.
    """
    with kept_lines(out, {"system": system.signature, "texts": texts_digest(texts)}) as stored:
        clusters_of: dict[str, Clusters] = {line["id"]: line["clusters"] for line in stored}
        before, missing = len(clusters_of), [text for text in texts if text.id not in clusters_of]
        progress("resolve", before, len(texts))

        def put(identifier: str, clusters: Clusters) -> None:
            clusters_of[identifier] = clusters
            stored.append({"id": identifier, "clusters": clusters})
            progress("resolve", len(clusters_of), len(texts))

        if missing:
            system.resolve(missing, put)
        unanswered = [text.id for text in texts if text.id not in clusters_of]
        if unanswered:
            raise DataError(
                f"the system gave nothing for {len(unanswered)} of {len(texts)} documents, the "
                f"first {unanswered[0]!r}; what it gave is kept: run the same command again"
            )
        lines = (
            {"id": text.id, "tokens": text.tokens, "clusters": clusters_of[text.id]}
            for text in texts
        )
        write_atomic(out, (json.dumps(line, ensure_ascii=False) for line in lines))
    return before


def texts_digest(texts: Sequence[CorefText]) -> str:
    """SHA-256 of ids and words: which documents they are, however they were read."""
    lines = (json.dumps([text.id, text.sentences], ensure_ascii=False) for text in texts)
    return sha256_of("".join(f"{line}\n" for line in lines))


IN, OUT = "{in}", "{out}"
"""Where the command has the names of the two files."""
_ENDINGS: dict[Format, str] = {"conll": "conll", "jsonl": "jsonl", "text": "txt"}
_STDERR = 2

_NO_WORD = "_"
"""Given for a token without characters (two blanks in a row in BUG), which Stanza would drop and
count otherwise, and for one from which the encoder's tokenizer leaves nothing (a character
for private use in Counter-GAP)."""


class CommandSystem:
    """A command that reads documents from one file and writes clusters into another, in any form
    that is read.

    It is run once on all documents that are still missing; of a command that is stopped nothing is
    kept.
    """

    def __init__(
        self,
        command: str,
        form: Format = "jsonl",
        *,
        ids: Path | None = None,
        spans: Spans | None = None,
    ) -> None:
        """Split the command as a shell would, without running one; `ids` and `spans` as
        `read_output` takes them.

        Raises:
            DataError: no such file of ids.
            UsageError: it names no file to read, or none to write.
        """
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise UsageError(
                f"--command: expected words as a shell splits them, got {command!r}: {error}"
            ) from None
        for name in (IN, OUT):
            if not any(name in word for word in self._words):
                raise UsageError(
                    f"--command: expected {name} where the command has the file's name, "
                    f"got {command!r}"
                )
        self._command, self._form, self._ids, self._spans = command, form, ids, spans
        self.signature = f"command:{command}|format:{form}"
        """The command; what it runs is the user's to keep."""
        if ids is not None:
            listed = str(ids) if str(ids) == IN_ORDER else sha256_of_file(ids)[:12]
            self.signature += f"|ids:{listed}"
        if spans is not None:
            self.signature += f"|spans:{spans}"
        self.notes: tuple[str, ...] = ()
        """How ids and mentions of what the command wrote were read."""

    def resolve(self, texts: Sequence[CorefText], put: Put) -> None:
        """See `CorefSystem`.

        Raises:
            ModelError: the command does not start, ends with another code than 0, or writes
                nothing.
            DataError: what it writes is not output on these texts
                (`mtbias.coref.output_reading.read_output`), or has documents that are none of them.
        """
        with tempfile.TemporaryDirectory() as folder:
            documents, output = (
                Path(folder) / f"{name}.{_ENDINGS[self._form]}"
                for name in ("documents", "clusters")
            )
            write_atomic(documents, exported(texts, self._form))
            words = [
                word.replace(IN, str(documents)).replace(OUT, str(output)) for word in self._words
            ]
            try:
                # What it prints goes to stderr: stdout is for the result, which may be JSON.
                done = subprocess.run(words, check=False, stdin=subprocess.DEVNULL, stdout=_STDERR)
            except OSError as error:
                raise ModelError(f"--command cannot be started: {error}") from error
            if done.returncode:
                raise ModelError(f"--command ended with {done.returncode}: {self._command}")
            if not output.exists():
                raise ModelError(f"--command ended well, but wrote no file {OUT}: {self._command}")
            read = read_output(texts, [output], ids=self._ids, spans=self._spans)
        self.notes = read.notes
        for identifier, clusters in read.of.items():
            put(identifier, clusters)


class StanzaCoref:
    """The processor with the model of a file."""

    def __init__(self, model: Path, *, device: str | None = None) -> None:
        """Hash the model; it is loaded with the first text.

        Raises:
            DataError: no such file.
            SettingError: no such device.
        """
        if device is not None:
            require_device(device)
        self._model, self._device = model, device
        self._pipeline: Any = None
        self.signature = f"stanza:{version('stanza')}|model:{sha256_of_file(model)[:12]}"
        """Stanza's release and the hash of the model."""
        self.notes: tuple[str, ...] = ()

    def resolve(self, texts: Sequence[CorefText], put: Put) -> None:
        """See `CorefSystem`.

        Raises:
            DependencyError: peft is not installed.
            MissingResourceError: the model, or the encoder that it names, cannot be loaded.
        """
        if self._pipeline is None:
            self._pipeline = self._load()
        for text in texts:
            put(text.id, self._clusters(self._pipeline, text))

    def _clusters(
        self,
        pipeline: Any,  # noqa: ANN401 - stanza has no types
        text: CorefText,
    ) -> Clusters:
        sentences = _readable_sentences(pipeline, text.sentences)
        document = pipeline(sentences)
        starts = [0]
        for sentence, ours in zip(document.sentences, sentences, strict=True):
            if len(sentence.words) != len(ours):
                raise ModelError(
                    f"{text.id!r}: Stanza made {len(sentence.words)} words of {len(ours)} tokens"
                )
            starts.append(starts[-1] + len(ours))

        clusters: list[Cluster] = []
        for chain in document.coref:
            mentions = [
                (starts[one.sentence] + one.start_word, starts[one.sentence] + one.end_word - 1)
                for one in chain.mentions
            ]
            clusters.append(tuple(sorted(mentions)))
        return tuple(clusters)

    def _load(self) -> Any:  # noqa: ANN401 - stanza has no types
        if find_spec("peft") is None:  # Stanza imports it within
            raise DependencyError("--system stanza needs peft: pip install 'mtbias[coref]'")
        import stanza
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # of loading the encoder: there is one of the documents
        with tempfile.TemporaryDirectory() as folder:
            # Of Stanza's resources nothing is needed: the words are given, the model is a file.
            (Path(folder) / "resources.json").write_text("{}", encoding="utf-8")
            try:
                return stanza.Pipeline(
                    "en",
                    dir=folder,
                    package=None,
                    processors="tokenize,coref",
                    tokenize_pretokenized=True,
                    coref_model_path=str(self._model),
                    allow_unknown_language=True,
                    download_method=None,
                    device=chosen_device(self._device),
                    verbose=False,
                )
            except Exception as error:
                raise MissingResourceError(
                    f"Stanza cannot load {self._model}: {type(error).__name__}: {error}; expected "
                    "a model that its trainer wrote, and the encoder that it names where it was "
                    "then"
                ) from error


def _readable_sentences(
    pipeline: Any,  # noqa: ANN401 - stanza has no types
    sentences: Sequence[Sequence[str]],
) -> list[list[str]]:
    """The sentences as Stanza 1.15 can take them; nothing changes for those that it takes as they
    are.

    A word from which the encoder's tokenizer makes no word piece is an error there: another
    replaces it. One sentence of more word pieces than two windows of the encoder never ends (its
    first window is chopped off, the second steps back to its beginning): it is given in parts of at
    most one window.
    """
    model = pipeline.processors["coref"]._model  # nothing public has tokenizer and window
    window = model.config.bert_window_size - 2
    parts: list[list[str]] = []
    for sentence in sentences:
        pieces = [len(model.tokenizer.tokenize(word)) for word in sentence]
        words = [word if n else _NO_WORD for word, n in zip(sentence, pieces, strict=True)]
        parts.append([])
        room = window
        for word, n in zip(words, pieces, strict=True):
            if sum(pieces) > 2 * window and n > room and parts[-1]:
                parts.append([])
                room = window
            parts[-1].append(word)
            room -= n
    return parts


def open_system(
    system: str,
    *,
    model: Path | None = None,
    command: str | None = None,
    form: Format | None = None,
    device: str | None = None,
    ids: Path | None = None,
    spans: Spans | None = None,
) -> CorefSystem:
    """``stanza`` with a model, or ``command``.

    Raises:
        DataError: no such model.
        UsageError: its own option is missing, or another's is given.
    """
    if system == "stanza":
        if model is None or command is not None:
            raise UsageError("--system stanza: expected --model FILE, and no --command")
        if (ids, spans, form) != (None, None, None):
            raise UsageError(
                "--system stanza: expected no --ids, --spans or --in-format, which go with "
                "--system command"
            )
        return StanzaCoref(model, device=device)
    if command is None or model is not None or device is not None:
        raise UsageError("--system command: expected --command, and neither --model nor --device")
    return CommandSystem(command, form or "jsonl", ids=ids, spans=spans)
