"""``mtbias validate``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from mtbias.cli.shared import Bootstrap, Device, Evaluator, Json, Langs, print_json
from mtbias.errors import escaped
from mtbias.files.writing import write_atomic, write_table
from mtbias.machine.stage_progress import ProgressLine
from mtbias.settings import BootstrapSettings, DeviceSettings, EvaluatorSettings


def command(
    *,
    langs: Langs,
    gold: Path,
    translations: list[Path] | None = None,
    data: Path | None = None,
    annotator: str = "1",
    basis: list[Literal["N", "D", "V", "P", "C", "X"]] | None = None,
    correct: list[Path] | None = None,
    out: Path | None = None,
    rows: Path | None = None,
    json: Json = False,
    evaluator: Evaluator = EvaluatorSettings(),
    device: Device = DeviceSettings(),
    bootstrap: Bootstrap = BootstrapSettings(),
) -> None:
    """Measure how often the evaluator agrees with human labels, and correct a run's numbers for its
    errors.

    The labels are a table (CSV, TSV, JSONL) with the columns lang, source, target, label (m, f, n),
    entity (as in the source) and word_index (its first whitespace token, from 0); of WinoMT's
    sentences winomt_index (row, from 0) in place of the last two. Where present, system, usable (1
    or 0), annotator, basis (what the label rests on: N noun, D article or adjective, V verb, P
    pronoun, C against the phrase, X nothing) and head_index (whitespace token of the target) are
    used too. Alignment is learnt from these sentences together with those of --translations. A row
    without a call counts as a disagreement.

    With --correct, accuracy, ΔG and ΔS of a run are printed by the evaluator and as an estimate of
    a human's numbers, from the errors on the labels; the intervals include the sampling of the
    run's sentences and of the labels. A warning says so if most of a correction comes from labels
    that rest on a pronoun.

    Parameters
    ----------
    gold
        The human labels.
    translations
        Further "source ||| target" lines from which alignment may learn, or a folder with them in
        en-CODE.txt; one or several.
    data
        WinoMT, for labels without entity and word_index.
    annotator
        The annotator whose labels to use.
    basis
        Count only labels that rest on this; one or several (default: all).
    correct
        Folders of runs whose numbers to correct for the evaluator's errors.
    out
        Write a page (HTML, one file) with everything.
    rows
        Write the rows on which they disagree into this file, a table (.csv, .tsv, .jsonl).
    """
    from mtbias.evaluation.validation import validate_file

    validation = validate_file(
        gold,
        langs,
        settings=evaluator,
        translations=translations or [],
        data=data,
        annotator=annotator,
        basis=basis or [],
        runs=correct or [],
        device=device.device,
        n_resamples=bootstrap.resamples,
        seed=bootstrap.seed,
        progress=ProgressLine(),
    )
    if json:
        print_json(validation.to_json(), indent=None)
    else:
        print(validation.text(), end="")
    if rows is not None:
        write_table(rows, validation.rows(), setting="rows")
    if out is not None:
        write_atomic(out, validation.page().encode())
        if not json:
            print(f"\nReport: {escaped(str(out))}")
