"""``mtbias coref winobias``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mtbias.cli.coref_shared import (
    Added,
    Against,
    ClustersIfAny,
    ManyBootstrap,
    ManyResamples,
    Over,
    Reading,
    ReadingOptions,
    drawn,
    show,
)
from mtbias.cli.shared import Json
from mtbias.coref.predicted_clusters import notes_of, reading_of, signature
from mtbias.errors import UsageError
from mtbias.report.tables import UNDEFINED, columns, interval, number

if TYPE_CHECKING:
    from mtbias.coref.winobias import WinoBiasScores


def command(
    *,
    data: Path,
    predictions: ClustersIfAny = None,
    baseline: Literal["first", "nearest", "stereotype", "perfect", "empty", "wrong"] | None = None,
    reading: Reading = ReadingOptions(),
    against: Against = None,
    over: Over = "rows",
    json: Json = False,
    bootstrap: ManyBootstrap = ManyResamples(),
) -> None:
    """Score on WinoBias: CoNLL F1 and link accuracy, pro against anti.

    Ids and tokens are those of the data's CoNLL files (`mtbias coref export` writes them for systems). A set without
    any prediction is left out; a single document without one counts as without clusters, as in the shared task's
    scorer. An unknown id is an error.

    Avg and |Diff| as in the paper. p is two-sided and paired over the lines of the pro and anti file: approximate
    randomisation for F1, McNemar's exact test for link accuracy. Intervals: 95 %, bootstrap over sentences (the
    difference: over pairs), Wilson's for link accuracy. All numbers but p are in per cent.

    Parameters
    ----------
    data
        Folder of WinoBias's files (wino/data in its repository): the CoNLL files, there or in conll_format, and the
        lists of male and female occupations.
    baseline
        A rule system instead of predictions: all pronouns with the first occupation (first), the nearest before them
        (nearest), the nearest of the pronoun's gender by stereotype (stereotype); the gold clusters (perfect), none
        (empty), or the gold pronouns with another occupation (wrong).
    """
    from mtbias.coref.dataset_texts import winobias_texts
    from mtbias.coref.winobias import score_baseline, score_winobias, winobias_units
    from mtbias.coref.winobias_data import read_winobias

    if bool(predictions) == bool(baseline):
        raise UsageError("expected either --predictions or --baseline, got " + ("both" if baseline else "neither"))
    if baseline and (against or over != "rows"):
        raise UsageError("--against and --over go with --predictions")
    read = read_winobias(data)
    files = {"data": read.files}
    facts: dict[str, Any] = {"repeated_mentions": 0}
    paired = Added({}, "")
    options: dict[str, str] = {}
    if baseline:
        scores = score_baseline(read, baseline, seed=bootstrap.seed, resamples=bootstrap.resamples)
    else:
        texts = winobias_texts(read)
        readings = reading.systems(2 if against else 1)
        found = readings[0].read(texts, predictions or ())
        scores = score_winobias(read, found, seed=bootstrap.seed, resamples=bootstrap.resamples)
        files["predictions"] = found.files
        other = readings[-1].read(texts, against) if against else None
        facts |= {"repeated_mentions": found.repeated, "notes": notes_of(found, other)}
        if other is not None or over != "rows":
            first, second = (
                None if one is None else {_name(*key): units for key, units in winobias_units(read, one).items()}
                for one in (found, other)
            )
            paired = drawn(first or {}, second, over, bootstrap)
        if other is not None:
            files["against"] = other.files
        options = reading_of(found, other) | ({"over": over} if paired.result else {})
    facts["sets_without_predictions"] = [_name(*key) for key in read.sets if key not in scores.sets]
    signed = signature(
        "winobias", files, **({"system": baseline} if baseline else {}), f1="conll-v8.01", link="first-pronoun",
        test="randomisation+mcnemar", **options, resamples=bootstrap.resamples, seed=bootstrap.seed,
    )  # fmt: skip
    result = {**scores.to_json(), **paired.result, **facts, "files": files, "signature": signed}
    notes = [f"{note}\n" for note in _notes(scores, facts, len(read.sets))]
    show(result, "\n".join(_tables(scores)) + paired.text + "\n" + "".join(notes), json=json)


def _name(split: str, type_: int, condition: str = "") -> str:
    return f"{split} type {type_} {condition}".strip()


def _tables(scores: WinoBiasScores) -> list[str]:
    header = ["set", "n", "MUC", "B³", "CEAFe", "F1", "95 %", "link acc.", "95 %", "right", "wrong", "both", "none"]
    rows = []
    for key, one in scores.sets.items():
        f1 = [number(part.f1) for part in (one.coref.muc, one.coref.b3, one.coref.ceafe)]
        link = [number(one.link_accuracy.value), interval(one.link_accuracy.interval, 1)]
        conll = [number(one.coref.conll), interval(one.f1.interval, 1)]
        rows.append([_name(*key), str(one.coref.documents), *f1, *conll, *link, *map(str, one.links.values())])
    tables = [columns(header, rows)]
    rows = []
    for (split, type_), pair in scores.pairs.items():
        for what, gap in (("F1", pair.f1), ("link", pair.link)):
            p = UNDEFINED if gap.p is None else f"{gap.p:.4f}" if gap.p >= 0.0001 else "<.0001"
            values = map(number, (gap.first, gap.second, gap.average, gap.absolute))
            rows.append([_name(split, type_, what), *values, interval(gap.interval), p])
    if rows:
        tables.append(columns(["", "pro", "anti", "Avg", "|Diff|", "pro − anti, 95 %", "p"], rows))
    return tables


def _notes(scores: WinoBiasScores, facts: dict[str, Any], sets: int) -> list[str]:
    notes = [*facts.get("notes", ())]
    notes += [
        f"{_name(*key)}: {len(pair.differing)} of {pair.n_pairs} pairs differ in other words or in gold mentions too"
        for key, pair in scores.pairs.items()
    ]
    notes += [
        f"{_name(*key)}: {one.missing} of {one.coref.documents} sentences have no prediction and count as no clusters"
        for key, one in scores.sets.items()
        if one.missing
    ]
    if facts["repeated_mentions"]:
        notes.append(f"{facts['repeated_mentions']} mentions stand in a cluster already and are left out of F1")
    if facts["sets_without_predictions"]:
        notes.append(f"without any prediction: {', '.join(facts['sets_without_predictions'])}")
    if sets < 8:
        notes.append(f"{8 - sets} of WinoBias's 8 files are not in the folder")
    return notes
