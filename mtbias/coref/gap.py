"""GAP: the official scorer's counts, its bias ratio, and biases weighted as in "The Gap on GAP"; two baselines.

An example asks two questions: does the pronoun mean A, does it mean B. Bias is always the number for feminine
pronouns over the number for masculine ones: 1 is even, below 1 the system does better for men.

**From clusters**, the rule of the authors of the e2e and SpanBERT systems (`to_gap_tsv.py` in
github.com/mandarjoshi90/coref, which Counter-GAP uses too): of the first cluster that has the pronoun as a mention of
its own, a mention that lies within the candidate, or around it, makes it TRUE. Both may be TRUE. Their converter takes
the sign behind a name or a pronoun into its span where no blank is between ("he." instead of "he"); here spans are
those of the data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mtbias.coref.conll import Clusters, Mention
from mtbias.coref.dataset import RATIO, CorefDataset, DatasetScores, NamedNumber
from mtbias.coref.documents import Answers, CorefText, Spans
from mtbias.coref.gap_data import (
    GapFile,
    GapInstance,
    Labels,
    NameSpans,
    files_in,
    gender_of,
    mentions_of,
    nearest_first,
    read_instances,
    read_labels,
    read_name_spans,
    text_of,
    touch,
)
from mtbias.coref.gap_weights import read_gap_weights
from mtbias.coref.output_reading import read_output
from mtbias.coref.paired_systems import NumberUnits
from mtbias.coref.system_files import holds_clusters
from mtbias.errors import DataError, UsageError
from mtbias.files.reading import read_text
from mtbias.stats.resampling import bootstrap_units, estimate
from mtbias.stats.results import Estimate, Floats, enough, percent
from mtbias.types import Gender, Span

GROUPS = ("overall", "masculine", "feminine")

_COUNTS = ("tp", "fp", "fn", "tn", "positives")
_RATES = ("precision", "recall", "f1", "accuracy")

# The columns of what `tally` gives.
_TP, _FP, _FN, _TN, _POSITIVES, _WEIGHTS = range(6)


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """What a system or a baseline says of A and B, for each example of the data in order."""

    positive: Floats
    """The probability of TRUE (for a system: 0 or 1), ``[n, 2]``."""
    given: NDArray[np.bool_]
    """Whether there is an answer, ``[n, 2]``."""


@dataclass(frozen=True)
class GapLike(CorefDataset[Labels]):
    """A file of GAP's columns."""

    file: GapFile

    @property
    def files(self) -> Mapping[str, str]:  # type: ignore[override] # read-only
        """The file's."""
        return {self.file.path.name: self.file.sha256}

    @cached_property
    def texts(self) -> list[CorefText]:
        """The texts of the examples."""
        return [text_of(instance) for instance in self.file.instances]


@dataclass(frozen=True)
class Gap(GapLike):
    """A file of GAP, with the names of its texts and weights of its examples where they are given."""

    names: NameSpans | None = None
    weights: Mapping[str, Floats] = field(default_factory=dict)
    """Of each example's TRUE candidate, by what the weights are called."""
    signed: Mapping[str, object] = field(default_factory=lambda: {"counts": "official", "unit": "example"})

    name = "gap"
    options = frozenset({"baseline", "name_spans", "weights"})

    def read(self, paths: Sequence[Path], *, ids: Path | None = None, spans: Spans | None = None) -> Answers[Labels]:
        """See `CorefDataset`; what the official scorer passes over is passed over.

        Raises:
            DataError: none of the ids is one of the data's: the answers are to other questions.
        """
        answers = read_answers(self.file, self.texts, paths, official=True, ids=ids, spans=spans)
        known = sum(instance.id in answers.of for instance in self.file.instances)
        if not known:
            ours, theirs = self.file.instances[0].id, next(iter(answers.of), "none")
            raise DataError(
                f"expected ids of {self.file.path} such as {ours!r}, got {len(answers.of)} ids of which it has none, "
                f"such as {theirs!r}; give the system's output for this file",
                path=paths[0],
            )
        left_out = {
            "examples without an answer (each counts as two false negatives)": len(self.file.instances) - known,
            "rows whose id is not in the data (passed over)": len(answers.of) - known,
        }
        return replace(answers, notes=(*answers.notes, *(f"{n} {what}" for what, n in left_out.items() if n)))

    def baseline(self, rule: str) -> Answers[Labels]:
        """See `CorefDataset`: ``random`` (in closed form), or ``dist-K``, always the K-th nearest name."""
        if re.fullmatch(r"random|dist-(?!0+$)[0-9]{1,4}", rule) is None:
            raise UsageError(f"unknown baseline {rule!r}; there are random, dist-1, dist-2, dist-3, …")
        if self.names is None:
            raise UsageError("a baseline picks among the names of a text: give them with --name-spans FILE")
        signed = {"system": rule, "names": self.names.sha256[:12], "tokens": "regex-as-spacy2"}
        return Answers({}, {}, signed=signed)

    def marks(self, answers: Answers[Labels]) -> Marks:
        """The answers in the order of the examples; of a baseline what its rule picks."""
        rule = str(answers.signed.get("system", ""))
        if rule and self.names is not None:
            place = rule.removeprefix("dist-")
            return (
                random_name(self.file, self.names)
                if place == "random"
                else nearest_name(self.file, self.names, int(place))
            )
        return marks_of(self.file, answers.of)

    def score(self, answers: Answers[Labels], *, seed: int = 0, resamples: int = 10_000) -> DatasetScores:
        """See `CorefDataset`; intervals are percentile bootstraps over examples.

        A missing answer counts as a false negative, also where the candidate is FALSE (the official scorer does so).
        The counts of a random baseline are expected values. `n` of either gender is examples for F1, TRUE candidates
        for accuracy, the sum of their weights. No intervals where either gender has fewer than `MIN_ROWS` examples.
        """
        table = tally(self.file, self.marks(answers), list(self.weights.values()))
        n, _, width = table.shape
        sums = table.sum(axis=0)
        examples = np.rint(sums[:, _TP : _TN + 1].sum(axis=1) / 2)  # two answers an example; those of Random are shares
        estimates = estimate(
            sums.reshape(1, -1),
            lambda sums: numbers(sums.reshape(-1, 2, width), list(self.weights)),
            partial(bootstrap_units, table.reshape(n, -1), n_resamples=resamples, rng=np.random.default_rng(seed)),
            n={},
            intervals=None if enough(int(examples.min())) else (),
        )
        counts = {
            group: {"n": int(size), **dict(zip(_COUNTS, map(_count, part[:_WEIGHTS]), strict=True))}
            for group, part, size in zip(GROUPS, (sums.sum(axis=0), *sums), (examples.sum(), *examples), strict=True)
        }
        weighted = {
            name: [_count(total) for total in sums[:, _WEIGHTS + 2 * place + 1]]
            for place, name in enumerate(self.weights)
        }
        named = tuple(_named(estimates, counts, weighted))
        return DatasetScores(named, {"": gap_units(self.file, table, list(self.weights))}, counts)


def open_gap(data: Path, name_spans: Path | None = None, weights: Sequence[Path] = ()) -> Gap:
    """GAP at `data`, a file or the folder of the test set.

    Raises:
        DataError: what the readers raise.
        UsageError: weights given twice.
    """
    if len(set(weights)) != len(weights):
        raise UsageError("--weights names a file twice")
    path, name_spans = files_in(data, name_spans)
    file = read_instances(path)
    names = None if name_spans is None else read_name_spans(name_spans, file)
    read = [read_gap_weights(path, file) for path in weights]
    short = [path.name for path in weights]
    called = short if len({*short, *_RATES}) == len(short) + len(_RATES) else [str(path) for path in weights]
    signed: dict[str, object] = {"weights": "+".join(digest[:12] for _, digest in read)} if read else {}
    values = dict(zip(called, (values for values, _ in read), strict=True))
    return Gap(file, names, values, {**signed, "counts": "official", "unit": "example"})


def read_answers(
    file: GapFile,
    texts: Sequence[CorefText],
    paths: Sequence[Path],
    *,
    official: bool = False,
    ids: Path | None = None,
    spans: Spans | None = None,
) -> Answers[Labels]:
    """A system's labels, from a table of them (`read_labels`) or from its clusters, told by the content.

    Raises:
        DataError: what the readers raise.
    """
    if not paths[0].is_dir() and not holds_clusters(read_text(paths[0])):
        if len(paths) > 1:
            raise DataError(f"expected one table of labels, got {len(paths)} files", path=paths[1])
        return read_labels(paths[0], official=official)
    read = read_output(texts, paths, ids=ids, spans=spans, keep_unknown=official)
    known = {instance.id: instance for instance in file.instances}
    of = {
        id_: labels_of(known[id_], clusters) if id_ in known else Labels(None, None)
        for id_, clusters in read.of.items()
    }
    return Answers(of, read.files, read.notes, {"labels": "pronoun's-cluster", **read.signed})


def labels_of(instance: GapInstance, clusters: Clusters) -> Labels:
    """The labels of A and B; FALSE twice where no cluster has the pronoun. `clusters` are of tokens of `text_of`."""
    pronoun, a, b = mentions_of(instance)
    own = next((cluster for cluster in clusters if pronoun in cluster), ())
    return Labels(*(any(_one_within_other(mention, candidate) for mention in own) for candidate in (a, b)))


def _one_within_other(one: Mention, other: Mention) -> bool:
    return (one[0] >= other[0] and one[1] <= other[1]) or (other[0] >= one[0] and other[1] <= one[1])


def marks_of(data: GapFile, labels: Mapping[str, Labels]) -> Marks:
    """A system's labels in the order of the examples of `data`."""
    rows = [labels.get(instance.id, Labels(None, None)) for instance in data.instances]
    return Marks(
        np.array([[label is True for label in row] for row in rows], dtype=np.float64),
        np.array([[label is not None for label in row] for row in rows]),
    )


def nearest_name(data: GapFile, spans: NameSpans, k: int) -> Marks:
    """The baseline Dist-`k`: the pronoun means the k-th nearest name. A text with fewer names gets FALSE twice."""
    return _picking(data, lambda instance: nearest_first(instance, spans.of[instance.id])[k - 1 : k])


def random_name(data: GapFile, spans: NameSpans) -> Marks:
    """The baseline Random in closed form: the pronoun means any name of the text with equal probability.

    Scores of its answers are computed from expected counts, not averaged over runs (the mean of a ratio over runs is
    larger than the ratio of the means).
    """
    return _picking(data, lambda instance: spans.of[instance.id])


def _picking(data: GapFile, choose: Callable[[GapInstance], Sequence[Span]]) -> Marks:
    """Answers of a system that picks one of the names that `choose` gives, with equal probability."""
    positive = np.zeros((len(data.instances), 2))
    for row, instance in zip(positive, data.instances, strict=True):
        names = choose(instance)
        for span in names:
            if (hit := _hit(instance, span)) is not None:
                row[hit] += 1 / len(names)
    return Marks(positive, np.ones(positive.shape, dtype=bool))


def _hit(instance: GapInstance, span: Span) -> int | None:
    """Which candidate (0, 1) a picked name means. One pick is one candidate: where it touches both, the TRUE one."""
    touched = [place for place, candidate in enumerate(instance.candidates) if touch(span, candidate)]
    return next((place for place in touched if instance.gold[place]), touched[0] if touched else None)


def tally(data: GapFile, given: Marks, weights: Sequence[Floats] = ()) -> Floats:
    """What each example adds to the sums of its gender: ``[n, 2, 5 + 2·len(weights)]``, masculine first.

    tp, fp, fn, tn, TRUE candidates; then for each set of weights (of the examples' TRUE candidates, ``[n]``) the weight
    found and the weight.

    Raises:
        DataError: a pronoun without gender.
    """
    truth = np.array([instance.gold for instance in data.instances])
    yes, no = given.positive * given.given, (1 - given.positive) * given.given
    tp, fp, tn = yes * truth, yes * ~truth, no * ~truth
    # For the official scorer whatever is neither true nor false was not found, even where there is nothing to find. We
    # count it so too, since F1 is compared with numbers that were published with that scorer.
    fn = no * truth + ~given.given
    columns = [part.sum(axis=1) for part in (tp, fp, fn, tn, truth.astype(np.float64))]
    for weight in weights:
        columns += [weight * columns[_TP], weight]
    genders = np.array([gender_of(i, data.path) is Gender.FEMALE for i in data.instances], dtype=np.int64)
    table = np.zeros((len(truth), 2, len(columns)))
    table[np.arange(len(truth)), genders] = np.column_stack(columns)
    return table


def numbers(sums: Floats, weights: Sequence[str] = ()) -> dict[str, Floats]:
    """All numbers of sums ``[R, 2, 5 + 2·len(weights)]``, each ``[R]``; NaN where undefined.

    In per cent, ``precision:feminine`` and the like for `GROUPS`: precision tp / (tp + fp), recall tp / (tp + fn), F1
    their harmonic mean (each the official scorer's 0 where that is undefined), accuracy the share of TRUE candidates
    that are found; ``NAME:feminine``: weighted accuracy. ``bias:f1``, ``bias:accuracy``, ``bias:NAME``: ratios, NaN
    where either side is 0 or undefined. A weighted bias divides the sums of the weights found, as published; that
    is the ratio of weighted accuracies where both genders have the same sum of weights.
    """
    values: dict[str, Floats] = {}
    of_group = {"overall": sums.sum(axis=1), "masculine": sums[:, 0], "feminine": sums[:, 1]}
    for name, part in of_group.items():
        tp = part[:, _TP]
        # 0 where the denominator is 0, since F1 needs both.
        precision = np.nan_to_num(percent(tp, tp + part[:, _FP]))
        recall = np.nan_to_num(percent(tp, tp + part[:, _FN]))
        values[f"precision:{name}"], values[f"recall:{name}"] = precision, recall
        values[f"f1:{name}"] = np.nan_to_num(percent(2 * precision * recall, 100 * (precision + recall)))
        values[f"accuracy:{name}"] = percent(tp, part[:, _POSITIVES])
    values["bias:f1"] = _bias(values["f1:feminine"], values["f1:masculine"])
    values["bias:accuracy"] = _bias(values["accuracy:feminine"], values["accuracy:masculine"])
    for place, name in enumerate(weights):
        correct, weight = sums[:, :, _WEIGHTS + 2 * place], sums[:, :, _WEIGHTS + 2 * place + 1]
        for side, gender in enumerate(GROUPS[1:]):
            values[f"{name}:{gender}"] = percent(correct[:, side], weight[:, side])
        values[f"bias:{name}"] = _bias(correct[:, 1], correct[:, 0])
    return values


def _named(
    estimates: Mapping[str, Estimate],
    counts: Mapping[str, Mapping[str, float]],
    weighted: Mapping[str, Sequence[float]],
) -> Iterator[NamedNumber]:
    for rate, label in (("f1", "F1"), ("accuracy", "accuracy"), ("precision", "precision"), ("recall", "recall")):
        for group, of in counts.items():
            n = {"f1": of["n"], "accuracy": of["positives"], "precision": of["tp"] + of["fp"]}
            one = replace(estimates[f"{rate}:{group}"], n=n.get(rate, of["tp"] + of["fn"]))
            headline = group == "overall" and rate in {"f1", "accuracy"}
            yield NamedNumber("", f"{rate}:{group}", f"{label}, {group}", one, headline)
    for name, sides in weighted.items():
        for gender, n_side in zip(GROUPS[1:], sides, strict=True):
            one = replace(estimates[f"{name}:{gender}"], n=n_side)
            yield NamedNumber("", f"{name}:{gender}", f"accuracy by {name}, {gender}", one)
    overall = counts["overall"]
    for name in ("f1", "accuracy", *weighted):
        one = replace(estimates[f"bias:{name}"], n=overall["n" if name == "f1" else "positives"])
        yield NamedNumber("", f"bias:{name}", f"bias (F/M), {name.replace('f1', 'F1')}", one, True, RATIO)


def gap_units(data: GapFile, table: Floats, weights: Sequence[str] = ()) -> NumberUnits:
    """What a system's F1, accuracy and biases rest on, given what `tally` gives; a unit is an example."""
    n, _, width = table.shape
    compared = ["f1:overall", "accuracy:overall", *(f"bias:{name}" for name in ("f1", "accuracy", *weights))]

    def of_sums(sums: Floats) -> dict[str, Floats]:
        values = numbers(sums.reshape(-1, 2, width), weights)
        return {name: values[name] for name in compared}

    return NumberUnits(table.reshape(n, -1), tuple(instance.id for instance in data.instances), of_sums)


def _count(value: float) -> float:
    """A whole number as an integer."""
    return int(value) if float(value).is_integer() else float(value)


def _bias(feminine: Floats, masculine: Floats) -> Floats:
    both = (feminine > 0) & (masculine > 0)  # NaN is not
    ratio: Floats = np.divide(feminine, masculine, out=np.full(feminine.shape, np.nan), where=both)
    return ratio
