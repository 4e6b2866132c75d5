"""``mtbias coref score``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from mtbias.cli.coref_run import Reading, ReadingOptions
from mtbias.cli.shared import (
    Flag,
    Full,
    Json,
    ManyBootstrap,
    ManyResamples,
    Parts,
    TableFormat,
    form_of,
    named_files,
    print_json,
)
from mtbias.coref.documents import DatasetName
from mtbias.coref.evaluation import SystemOutput, score_systems, systems_json
from mtbias.errors import SettingError, UsageError, escaped
from mtbias.files.writing import write_atomic
from mtbias.report.coref_page import render_coref_page
from mtbias.report.coref_papers import render_paper
from mtbias.report.coref_tables import render_evaluation

_SEVERAL = Group("Several systems")


def command(
    dataset: Annotated[DatasetName, Parameter(name="DATASET")],
    /,
    *systems: Annotated[str, Parameter(name="SYSTEM")],
    data: Annotated[Path | None, Parameter(name=["--data", "--gold"])] = None,
    predictions: list[Path] | None = None,
    reading: Reading = ReadingOptions(),
    baseline: list[str] | None = None,
    part: Parts = None,
    name_spans: Path | None = None,
    weights: list[Path] | None = None,
    titles_without_stop: Flag = False,
    against: Annotated[list[Path] | None, Parameter(group=_SEVERAL)] = None,
    name: Annotated[list[str] | None, Parameter(group=_SEVERAL)] = None,
    over: Annotated[Literal["rows", "occupations"], Parameter(group=_SEVERAL)] = "rows",
    layout: Annotated[Literal["paper"] | None, Parameter(group=_SEVERAL)] = None,
    report: Path | None = None,
    full: Full = False,
    counts: Flag = False,
    format: TableFormat = None,
    json: Json = False,
    bootstrap: ManyBootstrap = ManyResamples(),
) -> None:
    """Score the output of coreference systems on a data set of gender bias.

    First whom a system favours, by how much and where, in sentences, then the numbers of the
    headline, each with its interval and its denominator; --full prints every number, and p where a
    number is tested. Numbers are in per cent and points, but for correlations and GAP's biases
    (F/M). docs/coref.md says what each data set measures, which p, and which file goes where.

    Parameters
    ----------
    dataset
        The data set.
    systems
        What systems wrote, in front of the options: NAME=FILE for each, or FILE, whose name is the
        system's then. The first is compared with each other. Files are as --predictions takes
        them.
    data
        Its file or folder (default: what `mtbias fetch` got): WinoBias's CoNLL files and lists of
        occupations, Winogender's folder data, a TSV of GAP or its folder, C-GAP.tsv, a file of BUG;
        of conll a CoNLL-2012 file; of sowinobias a vocabulary, a TOML file with the lists
        male_occupations, female_occupations, positive_adjectives and negative_adjectives (default:
        the paper's).
    predictions
        What one system wrote, a file or a folder; one or several. Clusters: JSON lines, `{"id": …,
        "clusters": [[[start, end], …], …]}` with indices of tokens, ends included;
        `predicted_clusters` of e2e-coref and SpanBERT; fastcoref's; CoreNLP's JSON; CoNLL-2012;
        CoNLL-U (Stanza, CorefUD). Or labels, of gap and counter-gap: lines of ID, A-coref, B-coref
        with tabs between, or in any order below a header.
    baseline
        A rule system, instead of predictions or to compare with: of winobias first, nearest,
        stereotype, perfect, empty or wrong; of gap, with the names of its texts, random (in closed
        form), dist-1, dist-2, … (always the nearest name, the second nearest); of conll perfect.
        One or several.
    part
        Of winobias: score this split and type alone; one or several (default: all that are there).
        Answers to the others are passed over, and need not be there.
    name_spans
        Of gap: the names of each text (JSON; not needed where gap-test-name-spans.json is in the
        folder of --data, or in gap-spans beside it).
    weights
        Of gap: a weight for each candidate (JSON), of "The Gap on GAP" or of `mtbias coref
        gap-weights`: adds a bias of weighted accuracies (default: those in gap-weights beside the
        folder of --data). One or several.
    titles_without_stop
        Of counter-gap, with C-GAP-withdot.tsv: take away the full stop after Mr, Mrs and Dr, as the
        paper did. Give it to `mtbias coref export` or `run` and here alike.
    against
        Output of one more system on the same data, as --predictions: several for several files of
        that system.
    name
        Names of the systems, one for each in their order: SYSTEM, --predictions, --against
        (default: NAME, or the file's name).
    over
        Of winobias, bug and sowinobias: what intervals and p of differences draw, rows (other
        sentences about these occupations), or occupations with all their rows (other occupations),
        which adds each number over occupations.
    layout
        paper: the tables of the data set's paper, a line for each system; stars as the paper
        defines them.
    report
        Write an HTML page into this file: the finding, the sides drawn, every number, the sentences
        with what each system found.
    counts
        Print what was counted too: links, right and wrong answers, each occupation of winogender,
        gendered mentions and chains of conll.
    format
        Of the tables (default: text); csv and json have all numbers.
    """
    form = form_of(format, json=json)
    if layout and form == "json":
        raise UsageError("--layout paper goes with text, markdown, latex and csv, got json")
    if report is not None and report.is_dir():
        raise SettingError("report", f"expected a file, got the folder {report}")
    outputs = _outputs(systems, [predictions, against], name, reading)
    evaluations, differences = score_systems(
        dataset, data, outputs, bootstrap, baselines=baseline or [], over=over,
        with_texts=report is not None, name_spans=name_spans, weights=weights or [],
        part=part or [], titles_without_stop=titles_without_stop,
    )  # fmt: skip
    if report is not None:
        write_atomic(report, render_coref_page(evaluations, differences).encode())
    if form == "json":
        print_json(systems_json(evaluations, differences), indent=None)
        return
    if layout:
        text = render_paper(evaluations, form)
    else:
        text = render_evaluation(evaluations, differences, form, full=full, counts=counts)
    print(text, end="")
    if report is not None and form == "text":
        print(f"Report: {escaped(str(report))}")


def _outputs(
    systems: Sequence[str],
    more: Sequence[Sequence[Path] | None],
    names: Sequence[str] | None,
    reading: ReadingOptions,
) -> list[SystemOutput]:
    """The systems in their order, under names of their own.

    Raises:
        SettingError: there are not as many names as systems.
        UsageError: two systems have one name; what `ReadingOptions.of_systems` raises.
    """
    named = [(own, [Path(file)]) for own, file in named_files(systems).items()]
    for paths in more:
        if paths:
            own = "+".join(path.stem for path in paths)
            taken = {one for one, _ in named}
            named.append(("+".join(map(str, paths)) if own in taken else own, [*paths]))
    if names:
        if len(names) != len(named):
            raise SettingError(
                "name", f"expected a name for each of {len(named)} systems, got {len(names)}"
            )
        named = [(escaped(own), paths) for own, (_, paths) in zip(names, named, strict=True)]
    read_as = reading.of_systems(len(named))
    return [
        SystemOutput(own, paths, ids, spans)
        for (own, paths), (ids, spans) in zip(named, read_as, strict=True)
    ]
