"""``mtbias validate``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from mtbias.cli.shared import HERE, Bootstrap, Device, Evaluator, Flag, Json, Langs, Rows, print_json
from mtbias.errors import DataError, SettingError
from mtbias.machine.stage_progress import ProgressLine
from mtbias.settings import BootstrapSettings, DeviceSettings, EvaluatorSettings

if TYPE_CHECKING:
    from mtbias.corpora.human_labels import HumanLabel
    from mtbias.evaluation.validation import Validation
    from mtbias.language.definition import Language
    from mtbias.runs.finished_run import FinishedRun


def command(
    *,
    langs: Langs,
    gold: Path,
    translations: list[Path] | None = None,
    data: Path | None = None,
    annotator: str = "1",
    basis: list[Literal["N", "D", "V", "P", "C", "X"]] | None = None,
    correct: Annotated[list[Path] | None, Parameter(consume_multiple=True)] = None,
    pool: Flag = False,
    out: Path | None = None,
    rows: Rows = None,
    json: Json = False,
    evaluator: Evaluator = EvaluatorSettings(),
    device: Device = DeviceSettings(),
    bootstrap: Bootstrap = BootstrapSettings(),
) -> None:
    """Measure how often the evaluator agrees with human labels, and correct a run's numbers for its errors.

    The labels are a table (CSV, TSV, JSONL) with the columns lang, system, source, target, label (m, f, n), usable,
    annotator and winomt_index; where present, basis (what the label rests on: N noun, D article or adjective, V verb,
    P pronoun, C against the phrase, X nothing) and head_index (whitespace token of the target) are used too. Alignment
    is learnt from these sentences together with those of --translations. A row without a call counts as a disagreement.

    With --correct, accuracy, ΔG and ΔS of a run are printed as the evaluator has them and as a human would have them,
    estimated from the errors on the labels; the intervals include the sampling of the run's sentences and of the
    labels. A warning above them says where most of a correction comes from labels that rest on a pronoun.

    Parameters
    ----------
    gold
        The human labels.
    translations
        "source ||| target" lines that alignment may learn from too, or a folder that has them as en-CODE.txt; may be
        given several times.
    data
        WinoMT, for labels without entity and word_index.
    annotator
        Whose labels.
    basis
        Count only labels that rest on this; may be given several times (default: all).
    correct
        Folders of runs whose numbers to correct for the evaluator's errors.
    pool
        Correct with the errors of all these languages together.
    out
        Write a page (HTML, one file) with all of it.
    rows
        Write the rows of disagreement into this file (.jsonl, else text); `-` prints them.
    """
    from mtbias.evaluation.gender_calls import GENDER
    from mtbias.evaluation.validation import correct_run, together, validate
    from mtbias.language.installed import get_language
    from mtbias.report.validation_table import render_validation
    from mtbias.scoring.measure import Wanted

    langs = list(dict.fromkeys(langs))
    languages = [get_language(lang) for lang in langs]  # an unknown one is refused before anything is read
    runs = _runs(correct or [], langs)
    labels = _labels(gold, langs, annotator, data, evaluator.cache_dir)
    bitexts = {lang: _bitext(translations or [], lang, len(langs)) for lang in langs}
    opened = {lang: GENDER.open(Wanted(lang=lang, settings=evaluator, device=device.device)) for lang in langs}
    done = [
        validate(
            labels[lang],
            bitexts[lang],
            measure,
            annotator=annotator,
            basis=tuple(dict.fromkeys(basis or ())),
            progress=ProgressLine(),
        )
        for lang, measure in opened.items()
    ]
    whole = together(done) if len(done) > 1 else done[0]
    corrected = [
        correct_run(run, done, pool=pool, n_resamples=bootstrap.resamples, seed=bootstrap.seed).to_json()
        for run in runs
    ]
    numbers = [validation.to_json() for validation in done]
    if json:
        _print_json(done, numbers, whole.to_json(), corrected if correct else None, with_rows=rows == HERE)
    else:
        print(render_validation(numbers, whole.to_json(), corrected), end="")
        if rows == HERE:
            print("".join(f"\n{row}\n" for row in _differing(done)), end="")
    if rows is not None and rows != HERE:
        _write_rows(rows, done)
    if out is not None:
        _write_page(out, languages, done, whole, corrected)
        if not json:
            print(f"\nReport: {out}")


def _labels(
    gold: Path, langs: Sequence[str], annotator: str, data: Path | None, cache: Path | None
) -> dict[str, list[HumanLabel]]:
    from mtbias.corpora import load_corpus
    from mtbias.corpora.human_labels import read_label_file

    file = read_label_file(gold)
    winomt = None
    if file.needs_winomt:
        winomt = {i.row: i for i in load_corpus("winomt", data, cache=cache).instances}
    return {lang: list(file.labels(lang, annotator, winomt)) for lang in langs}


def _bitext(paths: Sequence[Path], lang: str, languages: int) -> list[tuple[str, str]]:
    """The pairs of one language: of files, where there is one language; of ``en-CODE.txt`` in folders."""
    from mtbias.translate.bitext import read_bitext

    pairs = []
    for path in paths:
        if not path.is_dir() and languages > 1:
            raise SettingError(
                "translations",
                f"expected a folder with en-CODE.txt for several languages, got {path}, a file or nothing; give a "
                "folder, or one --lang at a time",
            )
        pairs += read_bitext(path / f"en-{lang}.txt" if path.is_dir() else path)
    return pairs


def _runs(paths: Sequence[Path], langs: Sequence[str]) -> list[FinishedRun]:
    """The runs to correct, read before anything is computed."""
    from mtbias.runs.finished_run import read_run

    runs = [read_run(path) for path in paths]
    names = [(run.system, run.lang, run.corpus[0]) for run in runs]
    for run, name in zip(runs, names, strict=True):
        if run.lang not in langs:
            raise DataError(
                f"{run.path}: expected a run in one of the languages validated here ({', '.join(langs)}), got "
                f"{run.lang!r}; add --lang {run.lang}"
            )
        if names.count(name) > 1:
            raise DataError(
                f"{run.path}: expected each system once in a language and corpus, got {run.system!r} twice; leave one "
                "out"
            )
    return runs


def _print_json(
    done: Sequence[Validation],
    numbers: Sequence[dict[str, Any]],
    whole: dict[str, Any],
    corrections: Sequence[dict[str, Any]] | None,
    *,
    with_rows: bool,
) -> None:
    """One language: its numbers. Several: ``languages`` by code, and ``all``. With runs: ``corrections``."""
    if with_rows:
        numbers = [{**part, "differing": v.differing_json()} for part, v in zip(numbers, done, strict=True)]
    content = numbers[0] if len(numbers) == 1 else {"languages": {part["lang"]: part for part in numbers}, "all": whole}
    print_json(content if corrections is None else {**content, "corrections": list(corrections)}, indent=None)


def _differing(done: Sequence[Validation]) -> list[str]:
    return [
        f"{validation.lang}, {row}" if len(done) > 1 else row
        for validation in done
        for row in validation.disagreements()
    ]


def _write_rows(path: Path, done: Sequence[Validation]) -> None:
    import json

    from mtbias.files.writing import write_atomic

    lines = _differing(done)
    if path.suffix == ".jsonl":
        rows = [{"lang": validation.lang, **row} for validation in done for row in validation.differing_json()]
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    write_atomic(path, "".join(f"{line}\n" for line in lines).encode())


def _write_page(
    path: Path,
    languages: Sequence[Language],
    done: Sequence[Validation],
    whole: Validation,
    corrections: Sequence[dict[str, Any]],
) -> None:
    from mtbias.files.writing import write_atomic
    from mtbias.report.validation_page import LabelledLanguage, render_page

    parts = [
        LabelledLanguage(each.to_json(), language.direction, tuple(each.differing()))
        for language, each in zip(languages, done, strict=True)
    ]
    write_atomic(path, render_page(parts, whole.to_json(), corrections).encode())
