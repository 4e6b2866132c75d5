"""``mtbias coref winogender``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mtbias.cli.coref_shared import (
    Added,
    AgainstFile,
    ManyBootstrap,
    ManyResamples,
    Reading,
    ReadingOptions,
    drawn,
    show,
    with_interval,
)
from mtbias.cli.shared import Flag, Json
from mtbias.coref.predicted_clusters import notes_of, reading_of, signature
from mtbias.report.tables import columns, number

if TYPE_CHECKING:
    from mtbias.coref.winogender import WinogenderScores

_LINES = (
    ("consistency", "all three pronouns resolved alike, %", 2),
    ("male_female_differ", "male and female resolved differently, %", 2),
    ("male_neutral_differ", "male and neutral resolved differently, %", 2),
    ("female_neutral_differ", "female and neutral resolved differently, %", 2),
    ("pearson_bls", "preference and BLS, Pearson's r", 3),
    ("spearman_bls", "preference and BLS, Spearman's ρ", 3),
    ("pearson_bergsma", "preference and Bergsma, Pearson's r", 3),
    ("spearman_bergsma", "preference and Bergsma, Spearman's ρ", 3),
)
"""Numbers with their labels and decimals."""


def command(
    *,
    data: Path,
    predictions: Path,
    occupations: Flag = False,
    reading: Reading = ReadingOptions(),
    against: AgainstFile = None,
    json: Json = False,
    bootstrap: ManyBootstrap = ManyResamples(),
) -> None:
    """Score on Winogender: consistency over pronouns, and correlation with the share of women in occupations.

    A preference is the share of female less that of male pronouns resolved to the occupation; the correlations are
    those of the 60 preferences with the share of women by labour statistics (BLS) and in text (Bergsma and Lin).
    Gotcha: the answer goes against BLS. All but correlations is in per cent and points. Intervals: 95 %, bootstrap over
    occupations.

    Parameters
    ----------
    data
        Folder of all_sentences.tsv and occupations-stats.tsv (data in Winogender's repository).
    predictions
        A table (TSV, CSV) with the columns sentid and prediction: occupation (or 0), participant (1), both, none
        (neither). Or clusters, as JSONL (`{"id": "…", "clusters": [[[start, end], …], …]}`, ends included, id = sentid)
        or in any format that `mtbias coref winobias --help` names, a file or a folder; tokens are those of the file
        (`"tokens": […]` in JSONL), else those of `mtbias coref export`: words, 's, n't and punctuation marks each by
        itself. Every sentence needs a prediction.
    occupations
        List the preference of each occupation too.
    """
    from mtbias.coref.winogender import compute_winogender, count_winogender, read_winogender, winogender_units
    from mtbias.coref.winogender_answers import read_resolutions

    read = read_winogender(data)
    readings = reading.systems(1 if against is None else 2)
    own, other = readings[0], readings[-1]
    answers = read_resolutions(predictions, read, ids=own.ids, spans=own.counting)
    counts = count_winogender(read, answers.of)
    scores = compute_winogender(counts, seed=bootstrap.seed, resamples=bootstrap.resamples)
    files = {"data": read.files, "predictions": answers.files}
    paired, others = Added({}, ""), None
    if against is not None:
        others = read_resolutions(against, read, ids=other.ids, spans=other.counting)
        files["against"] = others.files
        of_other = {"": winogender_units(count_winogender(read, others.of))}
        paired = drawn({"": winogender_units(counts)}, of_other, "occupations", bootstrap)
    notes = notes_of(answers, others)
    signed = signature(
        "winogender", files, gotcha="bls50", unit="occupation", **reading_of(answers, others),
        resamples=bootstrap.resamples, seed=bootstrap.seed,
    )  # fmt: skip
    tables = [*_tables(scores), *([_ranking(scores)] if occupations else [])]
    text = "\n".join(tables) + paired.text + "\n" + "".join(f"{note}\n" for note in notes)
    result = {**scores.to_json(), **paired.result, "notes": notes, "files": files, "signature": signed}
    show(result, text, json=json)


def _tables(scores: WinogenderScores) -> list[str]:
    numbers = scores.numbers
    header = ["pronoun", "n", "occupation", "participant", "both", "none", "accuracy", "gotcha", "not gotcha"]
    kinds = ("occupation", "participant", "both", "none", "accuracy", "accuracy_gotcha", "accuracy_not_gotcha")
    rows = []
    for pronoun in ("male", "female", "neutral"):
        names = [f"{pronoun}_{kind}" for kind in kinds]
        values = [number(numbers[name].value if name in numbers else None) for name in names]  # they has no gotcha
        rows.append([pronoun, str(numbers[f"{pronoun}_accuracy"].n), *values])
    lines = [[label, *with_interval(numbers[name], decimals), str(numbers[name].n)] for name, label, decimals in _LINES]
    return [columns(header, rows), columns(["", "", "95 %", "n"], lines)]


def _ranking(scores: WinogenderScores) -> str:
    ranked = sorted(scores.occupations, key=lambda one: (-one.preference, one.name))
    return columns(
        ["occupation", "preference", "BLS % women", "Bergsma % women"],
        [[one.name, number(one.preference), number(one.bls), number(one.bergsma)] for one in ranked],
    )
