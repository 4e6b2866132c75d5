"""``mtbias coref eval``."""

from __future__ import annotations

from pathlib import Path

from mtbias.cli.coref_run import SystemChoice
from mtbias.cli.shared import (
    Cache,
    Full,
    Json,
    ManyBootstrap,
    ManyResamples,
    TableFormat,
    form_of,
    print_json,
)
from mtbias.coref.coref_datasets import located, open_dataset, places_of
from mtbias.coref.documents import DatasetName
from mtbias.coref.evaluation import compare_evaluations, evaluate, read_evaluation
from mtbias.errors import UsageError, escaped
from mtbias.files.file_ledger import REPORT
from mtbias.files.writing import write_atomic
from mtbias.machine.stage_progress import ProgressLine
from mtbias.report.coref_page import render_coref_page
from mtbias.report.coref_tables import render_evaluation
from mtbias.settings import CacheSettings


def command(
    *,
    system: SystemChoice,
    out: Path,
    dataset: list[DatasetName] | None = None,
    data: list[str] | None = None,
    against: list[Path] | None = None,
    full: Full = False,
    format: TableFormat = None,
    json: Json = False,
    cache: Cache = CacheSettings(),
    bootstrap: ManyBootstrap = ManyResamples(),
) -> None:
    """Run a coreference system on several data sets and score it on each: one table, one page.

    An evaluation that was stopped resumes with the same command; data sets that are finished in OUT
    are not run again. Numbers and signatures are those of `mtbias coref score DATASET --predictions
    OUT/DATASET.jsonl`, with the same
    --seed and --resamples.

    Parameters
    ----------
    out
        Folder for the clusters of each data set (DATASET.jsonl), and for metrics.json and
        report.html, which are of the data sets of the last call.
    dataset
        A data set; one or several (default: all that are there; sowinobias, which is made and not
        read, where it is named or has a vocabulary).
    data
        Where data sets are: NAME=PATH, with PATH as `mtbias coref score` takes it as --data, or a
        folder of data sets: winobias/, winogender/, gap/, counter-gap/C-GAP.tsv, bug/gold_BUG.csv,
        sowinobias.toml. One or several; after them comes the folder datasets of the cache, where
        `mtbias fetch` puts them.
    against
        Folder of another system's evaluation: adds its numbers and the differences, this system
        minus that one, with paired intervals and p; one or several.
    format
        Of the tables (default: text); csv and json have every number, the others the headline.
    """
    form = form_of(format, json=json)
    folders = [out, *(against or [])]
    if len({path.resolve().name for path in folders}) != len(folders):
        raise UsageError(f"expected folders of different names, got {', '.join(map(str, folders))}")
    chosen = system.open()
    places = located(*places_of(data or []), dataset or [], cache.cache_dir)
    loaded = [open_dataset(name, place) for name, place in places.items()]
    # Before the run, so that errors of another evaluation come first.
    others = [read_evaluation(path, loaded, bootstrap) for path in folders[1:]]
    evaluation = evaluate(chosen, loaded, out, bootstrap, ProgressLine())
    differences = compare_evaluations(evaluation, others, bootstrap)
    shown = [evaluation, *others]
    write_atomic(out / REPORT, render_coref_page(shown, differences).encode(), own=True)
    if form == "json":
        differing = {"against": [one.to_json() for one in differences]} if others else {}
        print_json({**evaluation.to_json(), **differing}, indent=None)
        return
    print(render_evaluation(shown, differences, form, full=full), end="")
    if form == "text":
        folder = escaped(str(out))
        print(
            f"\nReport: {folder}/report.html\n"
            f"Files:  {folder}/metrics.json, DATASET.jsonl (the clusters)"
        )
