"""``mtbias coref score``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from mtbias.cli.coref_run import Reading, ReadingOptions
from mtbias.cli.shared import (
    Flag,
    Json,
    ManyBootstrap,
    ManyResamples,
    TableFormat,
    form_of,
    print_json,
)
from mtbias.coref.documents import DatasetName
from mtbias.coref.evaluation import score_systems, systems_json
from mtbias.report.coref_tables import render_evaluation

_PAIRED = Group("Two systems")


def command(
    dataset: Annotated[DatasetName, Parameter(name="DATASET")],
    /,
    *,
    data: Annotated[Path | None, Parameter(name=["--data", "--gold"])] = None,
    predictions: list[Path] | None = None,
    reading: Reading = ReadingOptions(),
    baseline: list[str] | None = None,
    name_spans: Path | None = None,
    weights: list[Path] | None = None,
    against: Annotated[list[Path] | None, Parameter(group=_PAIRED)] = None,
    over: Annotated[Literal["rows", "occupations"], Parameter(group=_PAIRED)] = "rows",
    counts: Flag = False,
    format: TableFormat = None,
    json: Json = False,
    bootstrap: ManyBootstrap = ManyResamples(),
) -> None:
    """Score a coreference system's output on a data set of gender bias.

    Every number comes with its interval, its denominator and, where it is tested, p. Numbers are in
    per cent and points, but for correlations and GAP's biases (F/M). docs/coref.md says what each
    data set measures, and which p.

    Parameters
    ----------
    dataset
        The data set.
    data
        Its file or folder (default: what `mtbias fetch` got): WinoBias's CoNLL files and lists of
        occupations, Winogender's folder data, a TSV of GAP or its folder, C-GAP.tsv, a file of BUG;
        of conll a CoNLL-2012 file; of sowinobias a vocabulary, a TOML file with the lists
        male_occupations, female_occupations, positive_adjectives and negative_adjectives (default:
        the paper's).
    predictions
        What the system wrote, a file or a folder; one or several. Clusters: JSON lines, `{"id": …,
        "clusters": [[[start, end], …], …]}` with indices of tokens, ends included;
        `predicted_clusters` of e2e-coref and SpanBERT; fastcoref's; CoNLL-2012; CoNLL-U (Stanza,
        CorefUD); JSON of Stanza and CoreNLP. Or labels, of gap and counter-gap: lines of ID,
        A-coref, B-coref with tabs between, or in any order below a header.
    baseline
        A rule system, instead of predictions or to compare with: of winobias first, nearest,
        stereotype, perfect, empty or wrong; of gap, with the names of its texts, random (in closed
        form), dist-1, dist-2, … (always the nearest name, the second nearest); of conll perfect.
        One or several.
    name_spans
        Of gap: the names of each text (JSON; not needed where gap-test-name-spans.json is in the
        folder of --data, or in gap-spans beside it).
    weights
        Of gap: a weight for each candidate (JSON), of "The Gap on GAP" or of `mtbias coref
        gap-weights`: adds a bias of weighted accuracies (default: those in gap-weights beside the
        folder of --data). One or several.
    against
        Output of a second system on the same data, as --predictions: adds the differences, first
        minus second, with paired intervals and p (approximate randomisation, two-sided, corrected
        by Holm over all of them). Several for several files of that system.
    over
        Of winobias, bug and sowinobias: what intervals and p of differences draw, rows (other
        sentences about these occupations), or occupations with all their rows (other occupations),
        which adds each number over occupations.
    counts
        Print what was counted too: links, right and wrong answers, each occupation of winogender,
        gendered mentions and chains of conll.
    format
        Of the tables (default: text); csv and json have all of them.
    """
    form = form_of(format, json=json)
    files = [paths for paths in (predictions, against) if paths]
    systems = [
        (paths, *of) for paths, of in zip(files, reading.of_systems(len(files)), strict=True)
    ]
    evaluations, differences = score_systems(
        dataset, data, systems, bootstrap, baselines=baseline or [], over=over, name_spans=name_spans,
        weights=weights or [],
    )  # fmt: skip
    if form == "json":
        print_json(systems_json(evaluations, differences), indent=None)
    else:
        print(render_evaluation(evaluations, differences, form, every=True, counts=counts), end="")
