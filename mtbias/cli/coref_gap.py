"""``mtbias coref gap``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cyclopts import Parameter

from mtbias.cli.coref_shared import (
    Reading,
    ReadingOptions,
    compared_json,
    compared_text,
    compared_with_first,
    generator,
    show,
    with_interval,
)
from mtbias.cli.shared import Bootstrap, Json
from mtbias.coref.gap_instances import GapFile, read_instances
from mtbias.coref.gap_spans import NameSpans, files_in, read_name_spans
from mtbias.coref.predicted_clusters import Predictions, notes_of, reading_of, signature
from mtbias.errors import UsageError
from mtbias.report.tables import columns, number
from mtbias.settings import BootstrapSettings

if TYPE_CHECKING:
    from mtbias.coref.gap import Answers, GapScores


class _System(NamedTuple):
    name: str
    said: str
    """What the signature says of it."""
    answers: Answers
    clusters: Predictions | None = None


def command(
    *,
    data: Path,
    predictions: list[Path] | None = None,
    baselines: Annotated[list[str] | None, Parameter(name="--baseline")] = None,
    name_spans: Path | None = None,
    weights: list[Path] | None = None,
    reading: Reading = ReadingOptions(),
    json: Json = False,
    bootstrap: Bootstrap = BootstrapSettings(),
) -> None:
    """Score on GAP: F1 and accuracy, overall and by gender, the bias ratio, and the weighted biases.

    Bias is the number for feminine pronouns over that for masculine ones. F1 and accuracy are in per cent; accuracy is
    the share of TRUE candidates that are found. Counts are those of GAP's official scorer: a missing answer is a false
    negative, also where the candidate is FALSE. Of several systems, each further one is compared with the first by
    randomisation over examples.

    Parameters
    ----------
    data
        A TSV file of GAP, or the folder where gap-test.tsv is (and gap-test-name-spans.json, which --name-spans need
        not name then).
    predictions
        A system's labels, tab-separated: id, A-coref, B-coref (true or false); or its clusters, in any format that
        `mtbias coref winobias --help` names: a candidate is TRUE that shares the pronoun's cluster; may be given
        several times.
    baselines
        random (in closed form), or dist-1, dist-2, …: always the nearest name, the second nearest, and so on; may be
        given several times. Needs --name-spans.
    name_spans
        The names of each text (JSON).
    weights
        A weight for each candidate (JSON), of "The Gap on GAP" or of `mtbias coref gap-weights`: adds a bias of
        weighted accuracies; may be given several times.
    """
    from mtbias.coref.gap import gap_units, score, tally
    from mtbias.coref.gap_example_weights import read_gap_weights

    data, name_spans = files_in(data, name_spans)
    predictions, baselines, weights = predictions or [], baselines or [], weights or []
    _check(predictions, baselines, name_spans, weights)
    file = read_instances(data)
    spans = read_name_spans(name_spans, file) if name_spans is not None and baselines else None
    systems = list(_systems(file, predictions, reading, spans, baselines))
    read = [read_gap_weights(path, file) for path in weights]
    short = [path.name for path in weights]
    of_weights = short if len(set(short)) == len(short) else [str(path) for path in weights]
    tables = [tally(file, system.answers, [values for values, _ in read]) for system in systems]
    n = bootstrap.resamples
    scores = [score(table, of_weights, n_resamples=n, rng=generator(bootstrap)) for table in tables]
    compared = compared_with_first([gap_units(file, table, of_weights) for table in tables], bootstrap)
    names = [system.name for system in systems]
    said = {} if spans is None else {"names": spans.sha256[:12], "tokens": "regex-as-spacy2"}
    said |= reading_of(*(system.clusters for system in systems))
    said |= {"weights": "+".join(sha256[:12] for _, sha256 in read)} if read else {}
    result = {
        "dataset": "gap",
        "systems": [
            {"system": system.name, **of.to_json(), "left_out": system.answers.left_out, "n_resamples": n,
             "notes": notes_of(system.clusters)}
            for system, of in zip(systems, scores, strict=True)
        ],
        "compared_with_first": compared_json("system", names, compared),
        "signature": signature(
            "gap", {"data": {data.name: file.sha256}}, systems="+".join(system.said for system in systems), **said,
            counts="official", unit="example", seed=bootstrap.seed, resamples=n,
        ),
    }  # fmt: skip
    blocks = [_tables(system, of) for system, of in zip(systems, scores, strict=True)]
    blocks += compared_text(names, compared, lambda key: key.removesuffix(":overall").replace(":", ": "), 3)
    show(result, "\n".join(blocks) + "\n", json=json)


def _check(
    predictions: Sequence[Path], baselines: Sequence[str], name_spans: Path | None, weights: Sequence[Path]
) -> None:
    """`UsageError` for calls without a system, of baselines that do not exist or lack names, of weights given twice."""
    if not (predictions or baselines):
        raise UsageError("nothing to score: give --predictions FILE, or --baseline NAME with --name-spans FILE")
    for name in baselines:
        _place(name)
    if baselines and name_spans is None:
        raise UsageError("a baseline picks among the names of a text: give them with --name-spans FILE")
    if len(set(weights)) != len(weights):
        raise UsageError("--weights names a file twice")


def _place(baseline: str) -> int:
    """K of ``dist-K``, 0 of ``random``; `UsageError` where it is neither."""
    match = re.fullmatch(r"random|dist-(?!0+$)([0-9]{1,4})", baseline)
    if match is None:
        raise UsageError(f"unknown baseline {baseline!r}; there are random, dist-1, dist-2, dist-3, …")
    return int(match[1] or 0)


def _systems(
    data: GapFile,
    predictions: Sequence[Path],
    reading: ReadingOptions,
    spans: NameSpans | None,
    baselines: Sequence[str],
) -> Iterator[_System]:
    from mtbias.coref.gap import answers, nearest_name, random_name
    from mtbias.coref.gap_clusters import read_system

    for path, of in zip(predictions, reading.systems(len(predictions)), strict=True):
        labels, clusters = read_system(path, data, official=True, ids=of.ids, spans=of.counting)
        yield _System(str(path), labels.sha256[:12], answers(data, labels), clusters)
    if spans is not None:
        for name in baselines:
            place = _place(name)
            yield _System(name, name, nearest_name(data, spans, place) if place else random_name(data, spans))


def _tables(system: _System, scores: GapScores) -> str:
    from mtbias.coref.gap import LEFT_OUT

    def count(value: float) -> str:
        return str(value) if isinstance(value, int) else number(value)

    rows = []
    for name, counts in scores.counts.items():
        precision, recall, f1, accuracy = (
            scores.numbers[f"{rate}:{name}"] for rate in ("precision", "recall", "f1", "accuracy")
        )
        n, *of_answers, positives = map(count, counts.values())
        rates = number(precision.value), number(recall.value), *with_interval(f1), *with_interval(accuracy)
        rows.append([name, n, *of_answers, *rates, positives])
    header = ["", "n", "TP", "FP", "FN", "TN", "precision", "recall", "F1", "95 %", "accuracy", "95 %", "of"]
    groups = columns(header, rows)
    rows = []
    for name in scores.biases:
        sides = [scores.numbers[f"{name}:{gender}"] for gender in ("feminine", "masculine")]
        cells = [text for one in sides for text in (number(one.value), count(one.n or 0))]
        rows.append(["F1" if name == "f1" else name, *with_interval(scores.numbers[f"bias:{name}"], 3), *cells])
    ratios = columns(["bias, F/M", "", "95 %", "feminine", "of", "masculine", "of"], rows)
    left_out = [f"{n} {LEFT_OUT[key]}\n" for key, n in system.answers.left_out.items() if n]
    left_out += [f"{note}\n" for note in notes_of(system.clusters)]
    return f"{system.name}\n{groups}\n{ratios}" + "".join(left_out)
