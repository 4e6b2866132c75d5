"""The Python API: what the commands do, as functions whose results are objects.

``mtbias.evaluate`` is ``mtbias eval``, ``mtbias.score`` is ``mtbias score``, ``mtbias.read_run`` reads the folder that
either wrote; all three give a `Run`. ``mtbias.compare`` is ``mtbias compare``. They take the same names, go through the
same code (`mtbias.evaluation`) and give the same numbers. Nothing is printed and nothing exits: what is wrong is an
error of `mtbias.errors`, all of them kinds of `MtbiasError`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from mtbias import runs
from mtbias.errors import DependencyError, UsageError
from mtbias.evaluation.preparation import WINOMT, Fetching, Tools, prepare_eval, prepare_score
from mtbias.metrics import Scores
from mtbias.metrics import score as score_calls
from mtbias.runs import CallRecord, FinishedRun, RunManifest

if TYPE_CHECKING:
    import pandas as pd

    from mtbias.evaluation.request import EvalRequest, ScoreRequest
    from mtbias.metrics.comparison import Comparison
    from mtbias.translate.given_translations import GivenTranslations
    from mtbias.types import Instance

__all__ = ["Run", "compare", "evaluate", "read_run", "score"]

AnyPath: TypeAlias = "str | PathLike[str]"
Progress = Callable[[str, int, int], object]
"""Called as ``progress(stage, done, total)``."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Run:
    """A finished run: its numbers, its sentences, and how they were made."""

    manifest: RunManifest
    """Identity (what changes results) and execution (what does not)."""
    metrics: Mapping[str, Any]
    """The content of `metrics.json`: per cent, rounded to 6 decimals, None where undefined."""
    calls: Sequence[CallRecord]
    """The lines of `calls.jsonl`, in the corpus's order."""
    path: Path | None = None
    """The run's folder; None where it was not written."""

    def __repr__(self) -> str:
        return f"Run({self.system!r}, lang={self.lang!r}, dataset={self.corpus[0]!r}, n={len(self.calls)})"

    @property
    def system(self) -> str:
        """The system that was given, or the model that translated."""
        return self.finished.system

    @property
    def lang(self) -> str:
        """Code of the target language."""
        return self.finished.lang

    @property
    def corpus(self) -> tuple[str, Mapping[str, str]]:
        """Name of the corpus, and the SHA-256 of each of its files."""
        return self.finished.corpus

    @property
    def evaluator(self) -> Mapping[str, Any]:
        """What read the genders: aligner, Stanza and its models, language plugin, release of mtbias."""
        return self.finished.evaluator

    @property
    def signature(self) -> str:
        """How the numbers were made, in one line to be printed beside them."""
        return self.manifest.signature()

    @cached_property
    def finished(self) -> FinishedRun:
        """The run as the commands read it from a folder."""
        return FinishedRun(
            self.path or Path(f"run {self.manifest.fingerprint}"), self.manifest, self.metrics, self.calls
        )

    @cached_property
    def scores(self) -> Scores:
        """The numbers as typed objects, computed from `calls`: unrounded, with counts, intervals and denominators."""
        made = self.metrics["intervals"]
        return score_calls(
            self.calls, [record.call for record in self.calls], n_resamples=made["resamples"], seed=made["seed"]
        )

    def to_frame(self) -> pd.DataFrame:
        """The numbers as a data frame, one row a group: see `mtbias.metrics.Scores.to_frame`.

        Raises:
            DependencyError: pandas is not installed.
        """
        return self.scores.to_frame()

    def calls_frame(self) -> pd.DataFrame:
        """The sentences as a data frame, one row each, in the corpus's order, with the id as index.

        Columns: those of `calls.jsonl` up to `reason`; `correct` (the call is the gold gender; no call is not correct);
        `target` (the aligned words, joined by a space); `decided_by` (the kind of word the call rests on). What is
        absent is missing: `gender` where there is no call, `reason` where there is one.

        Raises:
            DependencyError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise DependencyError("a data frame needs pandas: pip install 'mtbias[dataframes]'") from error
        frame = pd.DataFrame([_row(record) for record in self.calls]).set_index("id")
        return frame.astype({"distance": "Int64"})

    def report(self, path: AnyPath, *, name: str | None = None) -> Path:
        """Write the run's report, one HTML file that needs nothing else, and return its path.

        Args:
            path: the file to write; one that is there is replaced.
            name: what the reader knows the system by; by default `system`.

        Raises:
            PluginError: the language is not installed.
            RunFolderError: the file cannot be written.
        """
        from mtbias.files.writing import write_atomic
        from mtbias.language.installed import get_language
        from mtbias.report.run_page import ReportRun, render_html

        direction = get_language(self.lang).direction
        page = render_html([ReportRun(name or self.system, self.lang, self.metrics, self.calls, direction)])
        write_atomic(Path(path), page.encode())
        return Path(path)


def evaluate(
    model: str,
    lang: str,
    dataset: str | None = None,
    *,
    data: AnyPath | None = None,
    out: AnyPath | None = None,
    revision: str | None = None,
    preset: str = "paper",
    engine: str = "transformers",
    dtype: str | None = None,
    beams: int | None = None,
    length_penalty: float | None = None,
    max_length: int | None = None,
    batch_rows: int | None = None,
    target_code: str | None = None,
    aligner: str = "statistical",
    stanza_dir: AnyPath | None = None,
    cache_dir: AnyPath | None = None,
    device: str | None = None,
    processes: int = 1,
    offline: bool = False,
    seed: int = 0,
    resamples: int = 2000,
    progress: Progress | None = None,
) -> Run:
    """Translate a corpus with a model and score the translations, as ``mtbias eval`` does.

    Args:
        model: short name (``mtbias models`` lists them), hub id, or folder with a checkpoint.
        lang: code of the target language, such as ``de``.
        dataset: ``winomt``, ``bug``, ``bug-balanced``, ``bug-gold``, ``bug-gold-paper``, ``demo`` or ``custom``; None
            is the demo's corpus for the model ``demo`` and WinoMT for any other.
        data: file or folder to read instead of the cache.
        out: folder of the run, where a run that was stopped goes on; None keeps everything in memory.
        revision: commit, branch or tag of a hub model; None is the pinned one.
        preset: ``paper`` (beam 5, fp32) or ``fast``; the next six change one thing of it.
        engine: ``transformers`` or ``ct2``.
        dtype: ``float32``, ``bfloat16``, ``float16``; with ``ct2`` also ``int8`` and its mixtures.
        beams: beams of the search, 1 or more.
        length_penalty: exponent of the length.
        max_length: most tokens of a translation, 1 or more.
        batch_rows: sentences × beams of a batch; None is what fits.
        target_code: the checkpoint's own name of the language.
        aligner: ``statistical`` or ``eflomal``.
        stanza_dir: folder of Stanza's models; None is ``STANZA_RESOURCES_DIR``, else the cache.
        cache_dir: mtbias's cache; None is ``MTBIAS_CACHE``, else the user's cache folder.
        device: ``cpu``, ``cuda``, ``cuda:1``; None is a GPU where there is one.
        processes: that analyse translations; used where thousands are new, and without effect on the result.
        offline: never use the network; without it, what is missing is fetched.
        seed: of the bootstrap intervals, 0 or more.
        resamples: of the bootstrap; with 0 there are no intervals.
        progress: called as ``progress(stage, done, total)``.

    Raises:
        UsageError: an argument that cannot be, or two that exclude each other.
        MissingResourceError: something is missing and may not be fetched.
        MtbiasError: any other fault of data, model, plugin or folder.
    """
    from mtbias.evaluation.stages import evaluate as evaluate_request
    from mtbias.translate.seq2seq.translator import Settings

    _check_counts(1, beams=beams, max_length=max_length, batch_rows=batch_rows, processes=processes)
    _check_counts(0, seed=seed, resamples=resamples)
    request = prepare_eval(
        model,
        lang,
        dataset=dataset,
        data=_path(data),
        revision=revision,
        settings=Settings(
            preset=preset,
            engine=engine,
            beams=beams,
            length_penalty=length_penalty,
            max_length=max_length,
            dtype=dtype,
            device=device,
            batch_rows=batch_rows,
            target_code=target_code,
        ),
        tools=_tools(aligner, stanza_dir, cache_dir, device, processes),
        fetching=Fetching(offline=offline, announce=_log.info),
        seed=seed,
        resamples=resamples,
    )
    return _run(
        request, lambda folder: evaluate_request(request, out=folder, progress=progress or _quiet), out, progress
    )


def score(
    translations: AnyPath | Sequence[str | None] | Mapping[str, str | None],
    lang: str,
    dataset: str = WINOMT,
    *,
    data: AnyPath | None = None,
    out: AnyPath | None = None,
    system: str | None = None,
    allow_missing: bool = False,
    aligner: str = "statistical",
    stanza_dir: AnyPath | None = None,
    cache_dir: AnyPath | None = None,
    device: str | None = None,
    processes: int = 1,
    seed: int = 0,
    resamples: int = 2000,
    progress: Progress | None = None,
) -> Run:
    """Score given translations, as ``mtbias score`` does. Nothing is fetched.

    Translations in memory are what a JSONL file of theirs would be, with an object of ``id`` and ``target`` a line:
    that file, given to ``mtbias score``, has the same numbers and the same fingerprint.

    Args:
        translations: the path of a file (a `str` is a path); or one text for each instance in the corpus's order; or
            texts by the id of the instance. None, or an id that is not there, is a missing translation.
        lang: code of the target language, such as ``de``.
        dataset: as in `evaluate`; WinoMT by default.
        data: file or folder to read instead of the cache.
        out: folder of the run; None keeps everything in memory.
        system: name of the system, for the signature; by default the file's name, or "translations".
        allow_missing: score even if less than 95 % of the corpus is translated.
        aligner: as in `evaluate`.
        stanza_dir: as in `evaluate`; "mtbias:demo" is the demo's own.
        cache_dir: as in `evaluate`.
        device: as in `evaluate`.
        processes: as in `evaluate`.
        seed: as in `evaluate`.
        resamples: as in `evaluate`.
        progress: as in `evaluate`.

    Raises:
        UsageError: an argument that cannot be.
        DataError: the translations do not fit the corpus.
        MissingResourceError: data set or Stanza's models are missing; the message names the command that brings them.
        MtbiasError: any other fault of data, plugin or folder.
    """
    from mtbias.evaluation.stages import score_translations

    _check_counts(1, processes=processes)
    _check_counts(0, seed=seed, resamples=resamples)
    file = Path(translations) if isinstance(translations, (str, PathLike)) else Path("translations")

    def read_given(instances: Sequence[Instance], rows: int) -> GivenTranslations:
        from mtbias.translate.given_translations import join_texts, read_translations

        if isinstance(translations, (str, PathLike)):
            return read_translations(file, instances, rows=rows, allow_missing=allow_missing)
        return join_texts(translations, instances, allow_missing=allow_missing)

    request = prepare_score(
        read_given,
        lang,
        system=system or file.stem,
        dataset=dataset,
        data=_path(data),
        tools=_tools(aligner, stanza_dir, cache_dir, device, processes),
        seed=seed,
        resamples=resamples,
    )
    return _run(
        request, lambda folder: score_translations(request, out=folder, progress=progress or _quiet), out, progress
    )


def read_run(path: AnyPath) -> Run:
    """Read the folder of a finished run, whether a command or a function wrote it.

    Raises:
        RunFolderError: there is no run, it is not finished, or a file of it was changed; the message says which.
        DataError: a file is damaged; with path and line.
    """
    run = runs.read_run(Path(path))
    return Run(run.manifest, run.metrics, run.calls, run.path)


def compare(
    *compared: Run | AnyPath,
    weighted: bool | Sequence[str] = False,
    names: Sequence[str] | None = None,
    different_evaluators: bool = False,
    seed: int = 0,
    resamples: int = 2000,
) -> Comparison:
    """Compare runs on one corpus in pairs within each language, as ``mtbias compare`` does.

    Args:
        compared: two runs or more, or their folders; with `weighted` one is enough.
        weighted: weighted ΔG and ΔS too, balanced over these properties, or with True over all that vary.
        names: of the systems, one for each run, in place of those that the runs have.
        different_evaluators: compare runs of a language although different evaluators read them.
        seed: of bootstrap and randomisation, 0 or more.
        resamples: of both.

    Raises:
        DataError: the runs cannot be compared, or the sentences cannot be balanced.
        RunFolderError: a folder has no finished run.
    """
    from mtbias.metrics.comparison import compare_runs

    _check_counts(0, seed=seed, resamples=resamples)
    found = [run if isinstance(run, Run) else read_run(run) for run in compared]
    if not found:
        raise UsageError("expected runs to compare, got none")
    return compare_runs(
        found,
        weighted=weighted,
        n_resamples=resamples,
        seed=seed,
        names=names,
        different_evaluators=different_evaluators,
    )


def _run(
    request: EvalRequest | ScoreRequest,
    write: Callable[[Path], object],
    out: AnyPath | None,
    progress: Progress | None,
) -> Run:
    from mtbias.evaluation.stages import run_in_memory

    if out is not None:
        write(Path(out))
        return read_run(out)
    return Run(*run_in_memory(request, progress=progress or _quiet))


def _row(record: CallRecord) -> dict[str, Any]:
    """A row of `Run.calls_frame`."""
    from mtbias.metrics.human_agreement import decided_by

    content = record.to_json()
    call = record.call
    kept = {name: value for name, value in content.items() if name not in {"target", "target_spans", "evidence"}}
    return {
        **kept,
        "correct": call.gender is record.gold,
        "target": " ".join(content["target"]),
        "decided_by": None if call.gender is None else decided_by(call),
    }


def _tools(
    aligner: str, stanza_dir: AnyPath | None, cache_dir: AnyPath | None, device: str | None, processes: int
) -> Tools:
    return Tools(
        aligner=aligner,
        stanza_dir=_path(stanza_dir),
        cache_dir=_path(cache_dir),
        device=device,
        processes=processes,
    )


def _path(path: AnyPath | None) -> Path | None:
    return None if path is None else Path(path)


def _check_counts(least: int, **values: int | None) -> None:
    """What argparse checks for the commands."""
    for name, value in values.items():
        if value is not None and (type(value) is not int or value < least):
            raise UsageError(f"{name}: expected a whole number, {least} or more, got {value!r}")


def _quiet(stage: str, done: int, total: int) -> None:
    """No progress wanted."""
