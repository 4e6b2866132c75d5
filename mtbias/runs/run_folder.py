"""The folder of a run: manifest, translations, calls and, last, as the mark of being done, metrics;
how far it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from mtbias.errors import DataError, RunFolderError
from mtbias.files.file_ledger import PARTS
from mtbias.files.kept_work import kept_parts, read_plan, replace_linked_parts
from mtbias.files.reading import input_bytes, refuse_special, sha256_of
from mtbias.files.strict_json import load_json
from mtbias.files.writing import (
    explained,
    is_ours,
    locked_folder,
    remove_temporaries,
    write_atomic,
    write_new,
)
from mtbias.runs import call_records as records
from mtbias.runs.manifest import RunManifest
from mtbias.scoring.measure import MeasureRecord
from mtbias.types import Json, JsonDict, JsonObject, Translation, frozen

MANIFEST, TRANSLATIONS, CALLS, METRICS = (
    "manifest.json",
    "translations.jsonl",
    "calls.jsonl",
    "metrics.json",
)

SHA256 = "sha256"
"""Key of `metrics.json`: the hash of the file itself."""
_CHANGED = f"{METRICS} was changed since it was written"
_HASHED = ("translations*.jsonl", CALLS)
"""Patterns of files whose SHA-256 `metrics.json` holds under `files`."""

_Value = TypeVar("_Value")
_Line = TypeVar("_Line", bound=MeasureRecord)


class RunFolder:
    """A run on disk. Anyone may read it; to write, open it for one identity.

    ``with RunFolder(path).open_or_create(identity) as folder: …``

    Every file is written atomically and `metrics.json` last, with the hashes of the files it was
    computed from: a run killed at any moment leaves a folder that is complete (`is_complete`) or
    can be opened again to resume.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._lock = ExitStack()
        self._shared: bool | None = None
        """Whether others have it open for writing too; None where this object has not."""

    def __repr__(self) -> str:
        return f"RunFolder({str(self.path)!r})"

    def open_or_create(
        self,
        identity: Mapping[str, Json],
        execution: Mapping[str, Json] | None = None,
        *,
        shared: bool = False,
    ) -> Self:
        """Open the folder for writing: a new one for this run, or one that the same run began.

        A new folder gets its manifest; one that is there keeps its files, and `execution` is merged
        into its own. Files that a killed process left half-written are removed. Until `close` no
        other process can open it.

        With `shared` it is opened together with other processes, on this host or others, which all
        add to the same run. The first of them writes the manifest, `execution` included; the others
        compare theirs and leave it as it is. Files of the run itself can only be written by the one
        who opens it alone, which nobody can while it is shared, and the other way round.

        Raises:
            DataError: a pipe or a device is among its files.
            RunFolderError: the path is a file, cannot be written, holds other things and no
                manifest, belongs to a run with another identity (the message names every
                difference), is damaged, or is in use.
        """
        with explained(self.path, "use it as the folder of a run"):
            if self.path.exists() and not self.path.is_dir():
                raise RunFolderError(
                    f"{self.path}: expected a folder, got a file; choose another path"
                )
            self.path.mkdir(parents=True, exist_ok=True)
            self._refuse_foreign()
        self._lock.enter_context(locked_folder(self.path, shared=shared))
        self._shared = shared
        try:
            self._refuse_foreign()
            replace_linked_parts(self.path)
            if not shared:
                for folder in (self.path, self.path / PARTS):
                    if folder.is_dir():
                        remove_temporaries(folder)
            self._claim(RunManifest(identity, execution or {}))
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """Let others write into the folder."""
        self._shared = None
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def manifest(self) -> RunManifest:
        """The manifest on disk.

        Raises:
            RunFolderError: there is none, or it is damaged.
        """
        try:
            return RunManifest.from_json(load_json(self._read(MANIFEST)))
        except ValueError as error:
            raise RunFolderError(
                f"{self.path / MANIFEST}: expected a manifest of mtbias: {error}; "
                "choose another folder"
            ) from error

    def has(self, name: str) -> bool:
        """Whether a file of the run is there; it is whole, since files are written atomically."""
        return (self.path / name).is_file()

    def write_atomic(self, name: str, content: bytes | Iterable[str]) -> None:
        """Write a file of the run, from bytes or from lines, whole or not at all
        (`mtbias.files.writing.write_atomic`).

        Raises:
            RunFolderError: the folder is not open for writing, the disk is full, or another
                operating-system error.
        """
        if self._shared is not False:
            raise RunFolderError(f"{self.path}: not open for writing; use open_or_create")
        write_atomic(self.path / name, content, own=True)

    def record_execution(self, execution: Mapping[str, Json]) -> None:
        """Merge facts about the execution (wall time, device) into the manifest."""
        manifest = self.manifest
        merged = RunManifest(manifest.identity, {**manifest.execution, **execution})
        self.write_atomic(MANIFEST, _manifest_text(merged))

    def write_translations(self, translations: Iterable[Translation], time: int = 1) -> None:
        """Write `translations.jsonl`, in the order given; `mtbias score --translations` reads it
        too.

        Where all was translated several times, that of a further `time` is `translations.2.jsonl`,
        ….
        """
        name = TRANSLATIONS if time == 1 else f"translations.{time}.jsonl"
        self.write_atomic(name, records.to_lines(map(records.translation_to_json, translations)))

    def read_translations(self) -> list[Translation]:
        """The translations on disk.

        Raises:
            RunFolderError: there are none.
            DataError: the file is damaged; with path and line.
        """
        return self._read_lines(TRANSLATIONS, records.translation_from_line)

    def write_calls(self, calls: Iterable[JsonObject]) -> None:
        """Write `calls.jsonl`: the objects of its lines in the order given, which is that of the
        corpus.
        """
        self.write_atomic(CALLS, records.to_lines(calls))

    def read_calls(self, read: Callable[[bytes], _Line]) -> list[_Line]:
        """The calls on disk, each as `read` makes it of its line
        (`mtbias.scoring.measure.MeasureKind.read`).

        Raises:
            RunFolderError: there are none.
            DataError: the file is damaged; with path and line.
        """
        return self._read_lines(CALLS, read)

    def write_metrics(self, metrics: JsonObject) -> None:
        """Write `metrics.json` and so mark the run as done.

        The hashes of its other files are added as `files`, and the one of its own text without it
        as `sha256`.

        Raises:
            RunFolderError: as in `write_atomic`.
            ValueError: `metrics` holds a number that is not finite.
        """
        files: list[Path] = []
        for pattern in _HASHED:
            files += sorted(self.path.glob(pattern))
        hashes = {file.name: self._hash(file.name) for file in files}
        content = {**metrics, "files": hashes}
        self.write_atomic(
            METRICS, records.metrics_text({**content, SHA256: _own_hash(content)}).encode()
        )

    def read_metrics(self, *, changed: bool = False) -> JsonDict:
        """The metrics on disk, of a run that is complete; with `changed` also where they alone were
        changed since.

        Raises:
            RunFolderError: the run is not complete, or a file of it was changed; the message says
                which.
        """
        problem = self.incomplete_because()
        if problem is not None and not (changed and problem == _CHANGED):
            raise RunFolderError(
                f"{self.path}: {problem}; run the same command again to complete it"
            )
        return self._metrics()

    def is_complete(self) -> bool:
        """Whether the run is done and its files are those that `metrics.json` was computed from."""
        return self.incomplete_because() is None

    def has_changed_metrics(self) -> bool:
        """Whether the run was done, and nothing but its numbers was changed since."""
        return self.incomplete_because() == _CHANGED

    def incomplete_because(self) -> str | None:
        """Why the run is not complete, in a phrase; None where it is. A damaged file is such a
        reason.
        """
        try:
            fingerprint = self.manifest.fingerprint
            if not self.has(METRICS):
                return f"the run is not finished, there is no {METRICS}"
            metrics = self._metrics()
            hashes = metrics.get("files")
            if (
                metrics.get("fingerprint") != fingerprint
                or not isinstance(hashes, dict)
                or CALLS not in hashes
            ):
                return f"{METRICS} is not the one of this run"
            for name, expected in hashes.items():
                if not self.has(name):
                    return f"{name} is missing"
                if self._hash(name) != expected:
                    return f"{name} was changed since {METRICS} was computed from it"
            if not _is_as_written(metrics):
                return _CHANGED
        except (DataError, RunFolderError) as error:
            return str(error)
        return None

    def _claim(self, wanted_manifest: RunManifest) -> None:
        """Write the manifest, or compare the one that is there."""
        if not self.has(MANIFEST) and write_new(
            self.path / MANIFEST, _manifest_text(wanted_manifest)
        ):
            return
        manifest = self.manifest
        if manifest.fingerprint != wanted_manifest.fingerprint:
            differences = "; ".join(manifest.differences(wanted_manifest))
            raise RunFolderError(
                f"{self.path}: belongs to another run: {differences}. Choose another folder"
            )
        if (
            not self._shared
            and {**manifest.execution, **wanted_manifest.execution} != manifest.execution
        ):
            self.record_execution(wanted_manifest.execution)

    def _refuse_foreign(self) -> None:
        refuse_special(self.path)
        if self.has(MANIFEST):
            return
        strangers = sorted(entry.name for entry in self.path.iterdir() if not is_ours(entry.name))
        if strangers and not self.has(MANIFEST):  # which another process may just have written
            named = ", ".join(strangers[:3]) + (", …" if len(strangers) > 3 else "")
            raise RunFolderError(
                f"{self.path}: expected an empty folder or one with {MANIFEST}, got {named}; "
                "choose another folder"
            )

    def _metrics(self) -> JsonDict:
        path = self.path / METRICS
        try:
            metrics = load_json(self._read(METRICS))
        except ValueError as error:
            raise DataError(f"damaged: {error}", path=path) from error
        if not isinstance(metrics, dict):
            raise DataError("damaged: expected an object", path=path)
        return metrics

    def _read_lines(self, name: str, read: Callable[[bytes], _Value]) -> list[_Value]:
        with self._reading(name):
            return list(records.from_lines(self.path / name, read))

    def _hash(self, name: str) -> str:
        return sha256_of(self._read(name))

    def _read(self, name: str) -> bytes:
        with self._reading(name):
            return input_bytes(self.path / name)

    @contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        path = self.path / name
        try:
            with explained(path, "read"):
                yield
        except RunFolderError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                raise RunFolderError(
                    f"{path}: no such file; run `mtbias eval` or `mtbias score` to the end"
                ) from None
            raise


def _is_as_written(metrics: JsonObject) -> bool:
    """Whether the content of a `metrics.json` has the hash that it names."""
    try:
        return bool(metrics.get(SHA256) == _own_hash(metrics))
    except ValueError:  # NaN, which is never written
        return False


def _own_hash(metrics: JsonObject) -> str:
    """SHA-256 of the text of `metrics.json` as it would be without its own hash."""
    text = records.metrics_text({key: value for key, value in metrics.items() if key != SHA256})
    return sha256_of(text.encode(errors="surrogatepass"))


def _manifest_text(manifest: RunManifest) -> bytes:
    text = json.dumps(manifest.to_json(), ensure_ascii=False, allow_nan=False, indent=2)
    return f"{text}\n".encode()


# How far a run is, by the files of its folder alone: no corpus, model or tokenizer, and no clock.


@frozen
class RunProgress:
    """How much of a run is translated, and whether it is complete."""

    parts: int | None
    """Parts in all; None where nothing was planned yet, or the translations were given."""
    complete: bool = False
    """Whether `metrics.json` is there and the files are those that it was computed from."""
    missing: frozenset[int] = frozenset()
    """Numbers of the parts that are planned and not translated."""

    @property
    def parts_done(self) -> int:
        """How many parts are translated."""
        return (self.parts or 0) - len(self.missing)

    @property
    def translated(self) -> bool:
        """Whether nothing is left to translate."""
        return self.complete or (self.parts is not None and not self.missing)


def run_progress(folder: Path | str) -> RunProgress:
    """How far the run in `folder` is; a folder that is not there yet has done nothing.

    Parts count by the names of their files; one that is damaged is noticed when it is read.

    Raises:
        RunFolderError: the folder cannot be read.
    """
    run = RunFolder(folder)
    if run.has(MANIFEST) and run.is_complete():
        parts: Json = None
        with suppress(RunFolderError):  # removed meanwhile
            parts = run.manifest.execution.get("parts")
        return RunProgress(parts if isinstance(parts, int) else None, complete=True)
    if (plan := read_plan(run.path)) is None:
        return RunProgress(None)
    numbers = frozenset(range(len(plan.sizes)))
    return RunProgress(len(numbers), missing=numbers - kept_parts(run.path))


def begun(folder: Path | str) -> dict[str, Json]:
    """What the run in `folder` was begun with: its identity and the settings of its plan; empty
    where nothing is there.

    Raises:
        RunFolderError: the folder cannot be read, or its manifest is damaged.
    """
    run = RunFolder(folder)
    plan = read_plan(run.path)
    identity = run.manifest.identity if run.has(MANIFEST) else {}
    return {**identity, **({} if plan is None else plan.settings)}
