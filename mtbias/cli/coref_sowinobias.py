"""``mtbias coref sowinobias``."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mtbias.cli.coref_shared import (
    Against,
    ClustersIfAny,
    Over,
    Reading,
    ReadingOptions,
    drawn,
    generator,
    show,
    with_interval,
)
from mtbias.cli.shared import Bootstrap, Flag, Json
from mtbias.coref.predicted_clusters import notes_of, reading_of, signature
from mtbias.errors import UsageError
from mtbias.files.writing import write_atomic
from mtbias.report.tables import columns, interval, number
from mtbias.settings import BootstrapSettings

if TYPE_CHECKING:
    from mtbias.coref.sowinobias import SoWinoBiasScores


def command(
    *,
    out: Path | None = None,
    predictions: ClustersIfAny = None,
    vocabulary: Path | None = None,
    n: Literal["polarity", "total"] = "polarity",
    no_full_stop: Flag = False,
    reading: Reading = ReadingOptions(),
    against: Against = None,
    over: Over = "rows",
    json: Json = False,
    bootstrap: Bootstrap = BootstrapSettings(),
) -> None:
    """Make the SoWinoBias test set, and score a system on it; either or both.

    "they" is right where it shares a cluster with the second person alone; with both, none or the first it is wrong.
    The accuracy over the answers that name one person alone stands beside it (one alone). Numbers are in per cent.
    Predictions have the ids of the test set.

    Parameters
    ----------
    out
        Write the test set, a JSON object a line: id, text, tokens, direction (pro, anti), polarity (positive,
        negative), and the mentions first, second, pronoun (`[start, end]` in tokens, ends included).
    vocabulary
        A TOML file with the lists male_occupations, female_occupations, positive_adjectives and negative_adjectives, 16
        words each in the paper (its appendix A). Default: our own lists, an example whose numbers are not the paper's.
    n
        polarity takes all sentences (4096 in each direction and polarity with lists of 16), total half of them (4096 in
        each direction); the paper's "n = 4096" may mean either.
    no_full_stop
        Sentences without a full stop.
    """
    from mtbias.coref import sowinobias
    from mtbias.coref.dataset_texts import sowinobias_texts

    if out is None and not predictions:
        raise UsageError("give --out FILE to write the test set, --predictions FILE to score, or both")
    if not predictions and (against or over != "rows"):
        raise UsageError("--against and --over go with --predictions")
    words = sowinobias.read_vocabulary(vocabulary or sowinobias.EXAMPLE_VOCABULARY)
    sentences = sowinobias.generate(words, reading=n, full_stop=not no_full_stop)
    result: dict[str, Any] = {"dataset": "sowinobias", "sentences": len(sentences)}
    digest = sowinobias.sentences_sha256(sentences)
    files = {"vocabulary": {"vocabulary": words.sha256}, "sentences": {"sentences": digest}}
    options: dict[str, object] = {
        "list": "given" if vocabulary else "example",
        "n": n,
        "full-stop": "no" if no_full_stop else "yes",
    }
    text = f"{len(sentences)} sentences\n"
    if out is not None:
        write_atomic(out, (dumps(sentence.to_json(), ensure_ascii=False) for sentence in sentences))
        result["out"] = str(out)
        text += f"File: {out}\n"
    if predictions:
        texts = sowinobias_texts(sentences)
        readings = reading.systems(2 if against else 1)
        found = readings[0].read(texts, predictions)
        table = sowinobias.count(sentences, found)
        scores = sowinobias.score(table, n_resamples=bootstrap.resamples, rng=generator(bootstrap))
        files["predictions"] = dict(found.files)
        others = readings[-1].read(texts, against) if against else None
        options |= {"right": "second-person-alone", **reading_of(found, others)}
        options |= {"seed": bootstrap.seed, "resamples": bootstrap.resamples}
        result |= {**scores.to_json(), "notes": notes_of(found, others)}
        text += f"\n{_tables(scores)}"
        if against or over != "rows":
            of_other = None if others is None else {"": sowinobias.sowinobias_units(sentences, others)}
            paired = drawn({"": sowinobias.sowinobias_units(sentences, found)}, of_other, over, bootstrap)
            files |= {} if others is None else {"against": dict(others.files)}
            options |= {"over": over}
            result |= paired.result
            text += paired.text
        text += "".join(f"{note}\n" for note in notes_of(found, others))
    result["signature"] = signature("sowinobias", files, **options)
    show(result, f"{text}\n", json=json)


def _tables(scores: SoWinoBiasScores) -> str:
    header = ["", "accuracy", "95 %", "n", "one alone", "right", "wrong", "both", "none"]
    rows = []
    for name, by_direction in scores.accuracy.items():
        for direction, one in by_direction.items():
            counts = scores.outcomes.get(name, {}).get(direction, {})
            kinds = [str(counts[kind]) if counts else "" for kind in header[-4:]]
            decided = number(scores.decided[name][direction].value)
            rows.append([f"{name}, {direction}", *with_interval(one), str(one.n), decided, *kinds])
    gaps = [
        [name, number(gap.average), number(gap.difference), interval(gap.interval), number(gap.p, 4)]
        for name, gap in scores.gaps.items()
    ]
    return columns(header, rows) + "\n" + columns(["", "average", "pro - anti", "95 %", "p"], gaps)
