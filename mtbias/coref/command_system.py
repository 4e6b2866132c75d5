"""Any coreference system as a command: a file of documents in, a file of clusters out."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from mtbias.coref.coref_text import CorefText
from mtbias.coref.export import exported
from mtbias.coref.names import Format
from mtbias.coref.output_reading import read_output
from mtbias.coref.predicted_clusters import check_known
from mtbias.coref.running import Put
from mtbias.coref.system_output import SpanCounting
from mtbias.errors import ModelError, UsageError
from mtbias.files.reading import read_bytes
from mtbias.files.writing import write_atomic

IN, OUT = "{in}", "{out}"
"""Where the command has the names of the two files."""
_ENDINGS: dict[Format, str] = {"conll": "conll", "jsonl": "jsonl", "text": "txt"}
_STDERR = 2


class CommandSystem:
    """A command that reads documents from one file and writes clusters into another, in any form that is read.

    It is run once on all documents that are still missing; of a command that is stopped nothing is kept.
    """

    def __init__(
        self, command: str, form: Format = "jsonl", *, ids: Path | None = None, spans: SpanCounting | None = None
    ) -> None:
        """Split the command as a shell would, without running one; `ids` and `spans` as `read_output` takes them.

        Raises:
            DataError: no such file of ids.
            UsageError: it names no file to read, or none to write.
        """
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise UsageError(f"--command: expected words as a shell splits them, got {command!r}: {error}") from None
        for name in (IN, OUT):
            if not any(name in word for word in self._words):
                raise UsageError(f"--command: expected {name} where the command has the file's name, got {command!r}")
        self._command, self._form, self._ids, self._spans = command, form, ids, spans
        self._read = "" if ids is None else f"|ids:{sha256(read_bytes(ids)).hexdigest()[:12]}"
        self._read += "" if spans is None else f"|spans:{spans}"
        self._notes: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """The command; what it runs is the user's to keep."""
        return f"command:{self._command}|format:{self._form}{self._read}"

    @property
    def notes(self) -> tuple[str, ...]:
        """How ids and mentions of what the command wrote were read."""
        return self._notes

    def resolve(self, texts: Sequence[CorefText], put: Put) -> None:
        """See `mtbias.coref.running.CorefSystem`.

        Raises:
            ModelError: the command does not start, ends with another code than 0, or writes nothing.
            DataError: what it writes is no output on these texts (`mtbias.coref.output_reading.read_output`), or has
                documents that are none of them.
        """
        if not texts:
            return
        with tempfile.TemporaryDirectory() as folder:
            given, made = (Path(folder) / f"{name}.{_ENDINGS[self._form]}" for name in ("documents", "clusters"))
            write_atomic(given, exported(texts, self._form))
            words = [word.replace(IN, str(given)).replace(OUT, str(made)) for word in self._words]
            try:
                # What it prints goes to stderr: stdout is for the result, which may be JSON.
                done = subprocess.run(words, check=False, stdin=subprocess.DEVNULL, stdout=_STDERR)
            except OSError as error:
                raise ModelError(f"--command cannot be started: {error}") from error
            if done.returncode:
                raise ModelError(f"--command ended with {done.returncode}: {self._command}")
            if not made.exists():
                raise ModelError(f"--command ended well, but wrote no file {OUT}: {self._command}")
            found = read_output(texts, [made], ids=self._ids, spans=self._spans)
            check_known(found, {text.id for text in texts}, "the documents that the command was given")
        self._notes = found.notes
        for identifier, prediction in found.documents.items():
            put(identifier, prediction.clusters)
