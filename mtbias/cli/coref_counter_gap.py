"""``mtbias coref counter-gap``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mtbias.cli.coref_shared import (
    ManyBootstrap,
    ManyResamples,
    Reading,
    ReadingOptions,
    compared_json,
    compared_text,
    compared_with_first,
    generator,
    show,
    with_interval,
)
from mtbias.cli.shared import Json
from mtbias.coref.gap_instances import read_instances
from mtbias.coref.predicted_clusters import notes_of, reading_of, signature
from mtbias.report.tables import columns, number

if TYPE_CHECKING:
    from mtbias.coref.counter_gap import CounterGapScores


def command(
    *,
    data: Path,
    predictions: list[Path],
    reading: Reading = ReadingOptions(),
    json: Json = False,
    bootstrap: ManyBootstrap = ManyResamples(),
) -> None:
    """Score on Counter-GAP: accuracy by gender, and inconsistency within and across genders.

    Each further system is compared with the first: intervals by the paired bootstrap over quadruples, p by paired
    approximate randomisation. Numbers are in per cent, except ρ. p of a difference is the share of bootstrap resamples
    of quadruples in which it is 0 or less, which gives the paper's stars; the two-sided p beside it is twice the
    smaller of the shares at or below and at or above 0, each with one more resample. p of ρ is Student's, two-sided.

    Parameters
    ----------
    data
        Counter-GAP, C-GAP.tsv.
    predictions
        A system's labels, tab-separated: id, A-coref, B-coref (TRUE or FALSE), of exactly the instances of the data; or
        its clusters, as `mtbias coref gap` takes them; may be given several times.
    """
    from mtbias.coref.counter_gap import METRICS, counter_gap_units, pattern_cells, quadruples, score
    from mtbias.coref.gap_clusters import read_system

    file = read_instances(data)
    units = quadruples(file)
    systems = [
        read_system(path, file, ids=of.ids, spans=of.counting)
        for path, of in zip(predictions, reading.systems(len(predictions)), strict=True)
    ]
    labels = [labels for labels, _ in systems]
    cells = [pattern_cells(units, read.of, path=path) for path, read in zip(predictions, labels, strict=True)]
    n = bootstrap.resamples
    scores = [score(of, n_resamples=n, rng=generator(bootstrap)) for of in cells]
    compared = compared_with_first([counter_gap_units(units, of) for of in cells], bootstrap)
    names = [str(path) for path in predictions]
    hashes = {name: read.sha256 for name, read in zip(names, labels, strict=True)}
    result = {
        "dataset": "counter-gap",
        "systems": [
            {"predictions": name, **of.to_json(), "notes": notes_of(made)}
            for name, of, (_, made) in zip(names, scores, systems, strict=True)
        ],
        "compared_with_first": compared_json("predictions", names, compared),
        "signature": signature(
            "counter-gap", {"data": {data.name: file.sha256}, "predictions": hashes}, correct="both-labels",
            **reading_of(*(made for _, made in systems)), unit="quadruple", seed=bootstrap.seed, resamples=n,
        ),
    }  # fmt: skip
    labelled = {**{key: said.label.strip() for key, said in METRICS.items()}, "acc_diff": "accuracy, M - F"}
    blocks = [
        _table(name, of) + "".join(f"{note}\n" for note in notes_of(made))
        for name, of, (_, made) in zip(names, scores, systems, strict=True)
    ]
    blocks += compared_text(names, compared, labelled.__getitem__, 2)
    show(result, "\n".join(blocks) + "\n", json=json)


def _table(name: str, scores: CounterGapScores) -> str:
    from mtbias.coref.counter_gap import METRICS

    head = f"{name}: {scores.n_quadruples} quadruples, {scores.n_masculine} masculine, {scores.n_feminine} feminine\n"
    rows = []
    for key, one in scores.numbers.items():
        p = ["" if p is None else number(p, 4) for p in (one.p, one.p_two_sided)]
        rows.append([METRICS[key].label, *with_interval(one, 3 if key == "rho" else 2), *p, str(one.n)])
    return head + columns(["", "", "95 %", "p", "two-sided", "n"], rows)
