"""``mtbias coref bug``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mtbias.cli.coref_shared import (
    Against,
    Clusters,
    ManyBootstrap,
    ManyResamples,
    Over,
    Reading,
    ReadingOptions,
    drawn,
    show,
    with_interval,
)
from mtbias.cli.shared import Json
from mtbias.coref.predicted_clusters import notes_of, reading_of, signature
from mtbias.report.tables import columns

if TYPE_CHECKING:
    from mtbias.coref.bug_links import Bug, BugScores


def command(
    *,
    data: Path,
    predictions: Clusters,
    reading: Reading = ReadingOptions(),
    against: Against = None,
    over: Over = "rows",
    json: Json = False,
    bootstrap: ManyBootstrap = ManyResamples(),
) -> None:
    """Score on BUG: accuracy and its gaps, by distance, number of pronouns and domain.

    The id of a prediction is the number of the row in the file, from 0; indices count the sentence's words between
    single spaces, after blanks around it are cut. Every row that has a sentence needs a prediction.

    A row is correct if a cluster contains both the profession and the pronoun. ΔG is the accuracy of male less that of
    female rows, ΔS that of stereotypical less that of anti-stereotypical rows: not the ΔG of machine translation. In
    per cent and points. Intervals: 95 %, Wilson's for accuracy, bootstrap over rows for the differences.

    Parameters
    ----------
    data
        A file of BUG (gold_BUG.csv and the others, in either version), or a folder with gold_BUG.csv.
    """
    from mtbias.coref.bug_links import bug_units, read_bug, score_bug
    from mtbias.coref.dataset_texts import bug_texts

    read = read_bug(data)
    texts = bug_texts(read)
    readings = reading.systems(2 if against else 1)
    found = readings[0].read(texts, predictions, also=read.skipped)
    scores = score_bug(read, found, seed=bootstrap.seed, resamples=bootstrap.resamples)
    files = {"data": {read.path.name: read.sha256}, "predictions": found.files}
    other = readings[-1].read(texts, against, also=read.skipped) if against else None
    if other is not None:
        files["against"] = other.files
    asked = other is not None or over != "rows"
    of_other = None if other is None else {"": bug_units(read, other)}
    paired = drawn({"": bug_units(read, found)} if asked else {}, of_other, over, bootstrap)
    facts: dict[str, object] = {
        "n": len(read.rows),
        "rows_without_sentence": read.skipped,
        "rows_misplaced": read.misplaced,
        "notes": notes_of(found, other),
    }
    signed = signature(
        "bug", files, contains="inclusive", bin="floor(distance/5)", **reading_of(found, other),
        **({"over": over} if asked else {}), resamples=bootstrap.resamples, seed=bootstrap.seed,
    )  # fmt: skip
    notes = [*notes_of(found, other), *_notes(read, scores)]
    text = _table(scores) + paired.text + "\n" + "".join(f"{note}\n" for note in notes)
    show({**scores.to_json(), **paired.result, **facts, "files": files, "signature": signed}, text, json=json)


def _table(scores: BugScores) -> str:
    header = ["", "n", "accuracy", "95 %", "ΔG", "95 %", "male/female", "ΔS", "95 %", "pro/anti"]
    groups = {"all": scores.overall}
    for by, name in (("by_distance", "distance "), ("by_pronouns", "pronouns "), ("by_domain", "")):
        groups |= {f"{name}{key}": group for key, group in scores.groups[by].items()}
    rows = []
    for name, group in groups.items():
        accuracy, gap_g, gap_s = (with_interval(one, 1) for one in group.numbers.values())
        n, male, female, pro, anti = (share.n for share in group.shares.values())
        rows.append([name, str(n), *accuracy, *gap_g, f"{male}/{female}", *gap_s, f"{pro}/{anti}"])
    return columns(header, rows)


def _notes(data: Bug, scores: BugScores) -> list[str]:
    notes = []
    if data.skipped:
        notes.append(f"without a sentence, left out: {len(data.skipped)} of {len(data.rows) + len(data.skipped)} rows")
    if any(data.misplaced.values()):
        counts = ", ".join(f"{n} {kind}" for kind, n in data.misplaced.items() if n)
        notes.append(f"with another word at an index, counted: {sum(data.misplaced.values())} rows ({counts})")
    if scores.several:
        notes.append(f"linked by more than one cluster, counted once: {scores.several} rows")
    return notes
