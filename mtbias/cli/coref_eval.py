"""``mtbias coref eval``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from mtbias.cli.coref_shared import ManyBootstrap, ManyResamples, Reading, ReadingOptions, opened_system
from mtbias.cli.shared import Cache, Json, print_json
from mtbias.coref.names import DATASETS, DatasetName, Format
from mtbias.errors import UsageError
from mtbias.settings import CacheSettings


def command(
    *,
    system: Literal["stanza", "command"],
    out: Path,
    datasets: Annotated[
        list[DatasetName] | None,
        Parameter(name="--dataset"),
    ] = None,
    data: list[str] | None = None,
    model: Path | None = None,
    program: Annotated[str | None, Parameter(name="--command")] = None,
    in_format: Format | None = None,
    device: str | None = None,
    reading: Reading = ReadingOptions(),
    against: list[Path] | None = None,
    format: Literal["text", "json", "markdown", "csv", "latex"] | None = None,
    json: Json = False,
    cache: Cache = CacheSettings(),
    bootstrap: ManyBootstrap = ManyResamples(),
) -> None:
    """Run a coreference system on several data sets and score it on each: one table, one page.

    An evaluation that was stopped resumes with the same command; data sets that are finished in OUT are not run again.
    Numbers and signatures are those of `mtbias coref DATASET --predictions OUT/DATASET.jsonl`, with the same --seed and
    --resamples.

    Parameters
    ----------
    system
        stanza: Stanza's coreference processor (`pip install 'mtbias[coref]'`) with --model; command: any system, by
        --command.
    out
        Folder for the clusters of each data set (DATASET.jsonl), and for metrics.json and report.html, which are of the
        data sets of the last call.
    datasets
        A data set; may be given several times (default: all that are found; sowinobias, which is made and not read,
        where it is named or has a vocabulary).
    data
        Where data sets are: NAME=PATH, with PATH as the command of that data set takes it as --data (of sowinobias a
        vocabulary), or a folder of data sets: winobias/, winogender/, gap/, counter-gap/C-GAP.tsv, bug/gold_BUG.csv,
        sowinobias.toml. May be given several times; after them comes the folder datasets of the cache, where `mtbias
        fetch --dataset bug-gold` puts BUG.
    model
        With stanza: the file of the model (Stanza's own, or of `mtbias coref train`).
    program
        With command: how to run it, with {in} for the file of documents and {out} for the file that it writes, in any
        form that --predictions reads.
    in_format
        With command: the form of {in}, as `mtbias coref export` writes it (default: jsonl).
    device
        With stanza: cpu, cuda, or cuda:1 for the second GPU (default: a GPU where there is one).
    against
        Folder of another system's evaluation: adds its numbers and the differences, this system minus that one, with
        paired intervals and p; may be given several times.
    format
        Of the tables (default: text); csv and json have every number, the others the headline.
    """
    if json and format not in {None, "json"}:
        raise UsageError(f"--json and --format {format} exclude each other")
    form = "json" if json else format or "text"
    others = against or []
    names = [path.resolve().name for path in (out, *others)]
    if len(set(names)) != len(names):
        raise UsageError(f"expected folders of different names, got {', '.join(map(str, (out, *others)))}")
    from mtbias.coref.coref_datasets import located, open_dataset
    from mtbias.coref.evaluation import compare_evaluations, evaluate, read_evaluation
    from mtbias.files.writing import write_atomic
    from mtbias.machine.stage_progress import ProgressLine
    from mtbias.report.coref_page import render_coref_page
    from mtbias.report.coref_tables import render_evaluation

    chosen = opened_system(system, model, program, in_format, device, reading)
    given, folders = _places(data or [])
    places = located(given, folders, datasets or [], cache.cache_dir)
    opened = [open_dataset(name, place) for name, place in places.items()]
    rivals = [read_evaluation(path, opened, bootstrap) for path in others]  # what is wrong there is said before the run
    evaluation = evaluate(chosen, opened, out, bootstrap, ProgressLine())
    differences = compare_evaluations(evaluation, rivals, bootstrap)
    shown = [evaluation, *rivals]
    write_atomic(out / "report.html", render_coref_page(shown, differences).encode())
    if form == "json":
        against_json = {"against": [one.to_json() for one in differences]} if rivals else {}
        print_json({**evaluation.to_json(), **against_json}, indent=None)
        return
    print(render_evaluation(shown, differences, form), end="")
    if form == "text":
        print(f"\nReport: {out}/report.html\nFiles:  {out}/metrics.json, DATASET.jsonl (the clusters)")


def _places(data: Sequence[str]) -> tuple[dict[str, Path], list[Path]]:
    """Paths by the names of data sets, and folders of data sets."""
    given: dict[str, Path] = {}
    folders: list[Path] = []
    for text in data:
        name, equals, path = text.partition("=")
        if equals and path and name in DATASETS:
            if name in given:
                raise UsageError(f"--data: expected {name} once, got {given[name]} and {path}")
            given[name] = Path(path)
        elif Path(text).is_dir():
            folders.append(Path(text))
        else:
            raise UsageError(
                f"--data: expected NAME=PATH with a NAME of {', '.join(DATASETS)}, or a folder, got {text}"
            )
    return given, folders
