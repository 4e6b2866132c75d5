"""The tasks of a sweep on coreference: a system on all its data sets is one task, which resumes; then their tables.

One task a system and not one for each data set: the model is loaded once. Its folder is one of `mtbias coref eval`.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from mtbias.cluster.coref_settings import CorefSettings
from mtbias.cluster.sweep_file import Sweep
from mtbias.coref.coref_datasets import located, open_dataset
from mtbias.coref.evaluation import METRICS, compare_evaluations, evaluate, is_evaluated, read_evaluation
from mtbias.errors import DataError, MissingTranslationsError, MtbiasError
from mtbias.files.writing import write_atomic
from mtbias.report.coref_page import render_coref_page
from mtbias.report.coref_tables import render_evaluation
from mtbias.settings import BootstrapSettings
from mtbias.types import Progress

FILES = {"coref.txt": "text", "coref.md": "markdown", "coref.tex": "latex", "coref.csv": "csv"}
"""The files of the tables, with their forms."""
PAGE = "coref.html"


def coref_folder(sweep: Sweep, system: str) -> Path:
    """The folder of a system's evaluation."""
    return sweep.out / "coref" / system


def coref_places(sweep: Sweep) -> dict[str, Path | None]:
    """Where each data set of the sweep is.

    Raises:
        DataError: one is not there, or there is none.
    """
    coref = _settings(sweep)
    return located(coref.data, [], coref.datasets, sweep.cache_dir)


def coref_is_done(sweep: Sweep, system: str) -> bool:
    """Whether the system, as the sweep has it now, was evaluated on all data sets, and its files are as they were."""
    try:
        names = list(coref_places(sweep))
        chosen = _settings(sweep).systems[system].open("cpu")
    except MtbiasError:
        return False
    return is_evaluated(coref_folder(sweep, system), chosen, names, _scoring(sweep))


def run_coref(sweep: Sweep, system: str, device: str, say: Callable[[str], object], progress: Progress) -> None:
    """Run and score a system on all data sets of the sweep.

    Raises:
        MtbiasError: a data set, the model or the command is not there; what the system raises.
    """
    chosen = _settings(sweep).systems[system].open(device)
    opened = [open_dataset(name, place) for name, place in coref_places(sweep).items()]
    out = coref_folder(sweep, system)
    evaluation = evaluate(chosen, opened, out, _scoring(sweep), progress)
    write_atomic(out / "report.html", render_coref_page([evaluation], ()).encode())
    say(f"coref:{system}: {', '.join(evaluation.results)}")


def coref_tables(sweep: Sweep) -> dict[str, str]:
    """The text of each of `FILES` and of `PAGE`: all systems, and the first minus each other.

    Raises:
        MissingTranslationsError: an evaluation is not complete.
    """
    systems = _settings(sweep).systems
    if missing := [name for name in systems if not coref_is_done(sweep, name)]:
        tasks = ", ".join(f"coref:{name}" for name in missing)
        raise MissingTranslationsError(f"no table yet: expected all coreference systems evaluated, left: {tasks}")
    opened = [open_dataset(name, place) for name, place in coref_places(sweep).items()]
    try:
        folders = [coref_folder(sweep, name) for name in systems]
        first, *others = (read_evaluation(folder, opened, _scoring(sweep)) for folder in folders)
    except DataError as error:
        raise MissingTranslationsError(f"no table yet: {error}") from error
    differences = compare_evaluations(first, others, _scoring(sweep))
    shown = [first, *others]
    texts = {name: render_evaluation(shown, differences, form) for name, form in FILES.items()}
    return texts | {PAGE: render_coref_page(shown, differences)}


def coref_hashes(sweep: Sweep) -> dict[str, str]:
    """SHA-256 of each system's ``metrics.json``.

    Raises:
        OSError: one is not there.
    """
    systems = () if sweep.coref is None else sweep.coref.systems
    return {name: sha256((coref_folder(sweep, name) / METRICS).read_bytes()).hexdigest() for name in systems}


def _settings(sweep: Sweep) -> CorefSettings:
    if sweep.coref is None:
        raise ValueError("expected a sweep with a part on coreference")
    return sweep.coref


def _scoring(sweep: Sweep) -> BootstrapSettings:
    return BootstrapSettings(seed=sweep.seed, resamples=sweep.resamples)
