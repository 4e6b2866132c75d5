"""GAP: the official scorer's counts, its bias ratio, and biases weighted as in "The Gap on GAP";
two baselines.

An example asks two questions: does the pronoun mean A, does it mean B. Bias is always the number
for feminine pronouns over the number for masculine ones: 1 is even, below 1 the system does better
for men. GAP (2018) and "The Gap on GAP" (2021) count these answers; Counter-GAP (2023) counts texts
with both labels right, on GAP too (table 5), and subtracts: masculine − feminine, above 0
the system does better for men.

**From clusters**, the rule of the authors of the e2e and SpanBERT systems (`to_gap_tsv.py` in
github.com/mandarjoshi90/coref, which Counter-GAP uses too): of the first cluster that has the
pronoun as a mention of its own, a mention that lies within the candidate, or around it, makes it
TRUE. Both may be TRUE. Their converter takes the sign behind a name or a pronoun into its span
where no blank is between ("he." instead of "he"); here spans are those of the data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from pathlib import Path

import numpy as np

from mtbias.coref.dataset import RATIO, CorefDataset, DatasetScores, NamedNumber, TextResult
from mtbias.coref.documents import Answers, Cluster, Clusters, CorefText, Mention, Spans
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
from mtbias.errors import DataError, UsageError
from mtbias.stats.paired import NumberUnits
from mtbias.stats.results import Floats, enough, percent, source
from mtbias.types import Gender, Span

GROUPS = ("overall", "masculine", "feminine")

_COUNTS = ("tp", "fp", "fn", "tn", "positives", "right")
_RATES = {"f1": "F1", "accuracy": "accuracy", "precision": "precision", "recall": "recall"}

# The columns of what `tally` gives.
_TP, _FP, _FN, _TN, _POSITIVES, _RIGHT, _TEXTS, _WEIGHTS = range(8)

_NOTHING = Labels(None, None)


@dataclass(frozen=True)
class GapLike(CorefDataset):
    """A file of GAP's columns, answered with labels; what clusters say is the module's rule."""

    file: GapFile

    takes_labels = True
    from_clusters = {"labels": "pronoun's-cluster"}  # noqa: RUF012 - as the base class has it

    @property
    def files(self) -> Mapping[str, str]:  # type: ignore[override] # read-only
        """The file's."""
        return {self.file.path.name: self.file.sha256}

    @cached_property
    def texts(self) -> list[CorefText]:
        """The texts of the examples."""
        return [text_of(instance) for instance in self.file.instances]

    @cached_property
    def _by_id(self) -> dict[str, GapInstance]:
        return {instance.id: instance for instance in self.file.instances}

    def answer(self, id_: str, clusters: Clusters) -> Labels:
        """FALSE twice where no cluster has the pronoun."""
        return labels_of(self._by_id[id_], clusters)

    def right(
        self,
        at: int,
        text: CorefText,  # noqa: ARG002 - the base class's
        answer: Labels,
    ) -> bool:
        """See `CorefDataset`; where both labels are."""
        return self.file.instances[at].gold == answer

    def results(self, answers: Answers) -> Iterator[TextResult]:
        """See `CorefDataset`; of labels, pronoun and TRUE candidates were found."""
        if answers.clusters:
            yield from super().results(answers)
            return
        for at, (text, instance) in enumerate(zip(self.texts, self.file.instances, strict=True)):
            labels = answers.of.get(text.id)
            if labels is None:
                continue
            antecedents = [
                one for one, label in zip(instance.candidates, labels, strict=True) if label == 1
            ]
            mentions = tuple(sorted([*antecedents, instance.pronoun_at])) if antecedents else ()
            gold = text.places(chain.from_iterable(text.gold))
            right = self.right(at, text, labels)
            yield TextResult(text.id, text.text, gold, mentions, text.group, right)

    def read_labels(self, path: Path) -> Answers:
        """See `mtbias.coref.gap_data.read_labels`."""
        return read_labels(path, official=self.keeps_unknown)


@dataclass(frozen=True)
class Gap(GapLike):
    """A file of GAP, with the names of its texts and weights of its examples where they are
    given.
    """

    names: NameSpans | None = None
    weights: Mapping[str, Floats] = field(default_factory=dict)
    """Of each example's TRUE candidate, by what the weights are called."""
    signed: Mapping[str, object] = field(
        default_factory=lambda: {"counts": "official", "unit": "example"}
    )

    name = "gap"
    options = frozenset({"baseline", "name_spans", "weights"})
    must_be_complete = False
    keeps_unknown = True

    def read(
        self, paths: Sequence[Path], *, ids: Path | None = None, spans: Spans | None = None
    ) -> Answers:
        """See `CorefDataset`; what the official scorer passes over is passed over.

        Raises:
            DataError: none of the ids is one of the data's: the answers are to other questions.
        """
        answers = super().read(paths, ids=ids, spans=spans)
        known = sum(id_ in answers.of for id_ in self._by_id)
        if not known:
            ours, theirs = next(iter(self._by_id)), next(iter(answers.of), "none")
            raise DataError(
                f"expected ids of {self.file.path} such as {ours!r}, got {len(answers.of)} ids of "
                f"which it has none, such as {theirs!r}; give the system's output for this file",
                path=paths[0],
            )

        unanswered, unknown = len(self._by_id) - known, len(answers.of) - known
        notes = [*answers.notes]
        if unanswered:
            what = "examples without an answer (each counts as two false negatives)"
            notes.append(f"{unanswered} {what}")
        if unknown:
            notes.append(f"{unknown} rows whose id is not in the data (passed over)")
        return replace(answers, notes=tuple(notes))

    def baseline(self, rule: str) -> Answers:
        """See `CorefDataset`: ``random`` (in closed form), or ``dist-K``, always the K-th nearest
        name.
        """
        if re.fullmatch(r"random|dist-(?!0+$)[0-9]{1,4}", rule) is None:
            raise UsageError(
                f"unknown baseline {rule!r}; there are random, dist-1, dist-2, dist-3, …"
            )
        if self.names is None:
            raise UsageError(
                "a baseline picks among the names of a text: give them with --name-spans FILE"
            )
        answers = {}
        for instance in self.file.instances:
            names = self.names.of[instance.id]
            if rule != "random":
                place = int(rule.removeprefix("dist-"))
                names = nearest_first(instance, names)[place - 1 : place]
            # Of Random the probabilities: scores come from expected counts, and are not averaged
            # over runs (the mean of a ratio over runs is larger than the ratio of the means). A
            # text with too few names gets FALSE twice.
            hits = [_picked_candidate(instance, name) for name in names]
            a, b = (hits.count(side) / max(1, len(names)) for side in (0, 1))
            answers[instance.id] = Labels(a, b)
        signed = {"system": rule, "names": self.names.sha256[:12], "tokens": "regex-as-spacy2"}
        return Answers(answers, {}, signed=signed)

    def score(self, answers: Answers, *, seed: int = 0, resamples: int = 10_000) -> DatasetScores:
        """See `CorefDataset`; intervals are percentile bootstraps over examples.

        A missing answer counts as a false negative, also where the candidate is FALSE (the official
        scorer does so). The counts of a random baseline are expected values. `n` of either gender
        is examples for F1, TRUE candidates for accuracy, the sum of their weights. Where either
        gender has fewer than `MIN_ROWS` examples, shares have Wilson's intervals and other numbers
        none.
        """
        table = tally(self.file, answers.of, list(self.weights.values()))
        units = gap_units(self.file, table, list(self.weights))
        sums = table.sum(axis=0)
        counts: dict[str, dict[str, float]] = {}
        for group, part in zip(GROUPS, (sums.sum(axis=0), *sums), strict=True):
            values = map(_count, part[:_TEXTS])
            counts[group] = {"n": int(part[_TEXTS]), **dict(zip(_COUNTS, values, strict=True))}

        wide = None if enough(int(sums[:, _TEXTS].min())) else ()
        labelled = {**_labelled_rates(counts), **self._labelled_biases(sums, counts)}
        for group in (*GROUPS, "difference"):
            name = "masculine − feminine" if group == "difference" else group
            n = counts.get(group, counts["overall"])["n"]
            labelled[f"texts:{group}"] = f"texts with both labels right, {name}", n
        denominators = {key: n for key, (_, n) in labelled.items()}
        estimates = units.estimates(resamples, source(seed), n=denominators, intervals=wide)

        numbers = []
        for key, (label, _) in labelled.items():
            decimals = RATIO if key.startswith("bias") else 2
            is_headline = key in units.compared
            numbers.append(NamedNumber("", key, label, estimates[key], is_headline, decimals))
        return DatasetScores(tuple(numbers), {"": units}, counts)

    def _labelled_biases(
        self, sums: Floats, counts: Mapping[str, Mapping[str, float]]
    ) -> dict[str, tuple[str, float]]:
        """Label and denominator of each weighted accuracy and of each bias, by key."""
        labelled: dict[str, tuple[str, float]] = {}
        for place, name in enumerate(self.weights):
            for gender, total in zip(GROUPS[1:], sums[:, _WEIGHTS + 2 * place + 1], strict=True):
                labelled[f"{name}:{gender}"] = f"accuracy by {name}, {gender}", _count(total)

        overall = counts["overall"]
        sizes = {"f1": overall["n"], "accuracy": overall["positives"]}
        for name, weights in self.weights.items():
            sizes[name] = int(np.count_nonzero(weights))
        for name, n in sizes.items():
            labelled[f"bias:{name}"] = f"bias (F/M), {name.replace('f1', 'F1')}", n
        return labelled


def _labelled_rates(counts: Mapping[str, Mapping[str, float]]) -> dict[str, tuple[str, float]]:
    """Label and denominator of each rate of each group, by key."""
    labelled: dict[str, tuple[str, float]] = {}
    for rate, label in _RATES.items():
        for group, of_group in counts.items():
            denominators = {
                "f1": of_group["n"],
                "accuracy": of_group["positives"],
                "precision": of_group["tp"] + of_group["fp"],
            }
            n = denominators.get(rate, of_group["tp"] + of_group["fn"])
            labelled[f"{rate}:{group}"] = f"{label}, {group}", n
    return labelled


def _picked_candidate(instance: GapInstance, name: Span) -> int | None:
    """The candidate that a name touches: A is 0, B is 1. Of both, the TRUE one; else A."""
    touched = [n for n, candidate in enumerate(instance.candidates) if touch(name, candidate)]
    right = [n for n in touched if instance.gold[n]]
    return next(iter([*right, *touched]), None)


def open_gap(data: Path, name_spans: Path | None = None, weights: Sequence[Path] = ()) -> Gap:
    """GAP at `data`, a file or the folder of the test set; beside a folder, weights in
    ``gap-weights`` are used too.

    Raises:
        DataError: what the readers raise.
        UsageError: weights of one name, or that are called as a rate.
    """
    weights = weights or (
        sorted((data.parent / "gap-weights").glob("*weights*.json")) if data.is_dir() else []
    )
    called = [path.name for path in weights]
    if len({*called, *_RATES}) < len(called) + len(_RATES):
        raise UsageError(f"--weights: expected files of different names, got {', '.join(called)}")
    path, name_spans = files_in(data, name_spans)
    file = read_instances(path)
    names = None if name_spans is None else read_name_spans(name_spans, file)
    read = [read_gap_weights(path, file) for path in weights]
    signed: dict[str, object] = (
        {"weights": "+".join(digest[:12] for _, digest in read)} if read else {}
    )
    values = dict(zip(called, (values for values, _ in read), strict=True))
    return Gap(file, names, values, {**signed, "counts": "official", "unit": "example"})


def labels_of(instance: GapInstance, clusters: Clusters) -> Labels:
    """The labels of A and B by `clusters` of tokens of `text_of`: see the module."""
    pronoun, *candidates = mentions_of(instance)
    own = next((cluster for cluster in clusters if pronoun in cluster), ())
    a, b = (_has_candidate(own, candidate) for candidate in candidates)
    return Labels(a, b)


def _has_candidate(cluster: Cluster, candidate: Mention) -> bool:
    """Whether a mention of the cluster lies within the candidate, or contains it."""
    first, last = candidate
    return any(
        (start >= first and end <= last) or (first >= start and last <= end)
        for start, end in cluster
    )


def tally(data: GapFile, answers: Mapping[str, Labels], weights: Sequence[Floats] = ()) -> Floats:
    """What each example adds to the sums of its gender: ``[n, 2, 7 + 2·len(weights)]``, masculine
    first.

    tp, fp, fn, tn, TRUE candidates, 1 if both labels are right, 1; then for each set of weights (of
    the examples' TRUE candidates, ``[n]``) the weight found and the weight.

    Raises:
        DataError: a pronoun without gender.
    """
    labels = [answers.get(instance.id, _NOTHING) for instance in data.instances]
    pairs = np.array(labels, dtype=np.float64)  # None becomes NaN
    is_answered = ~np.isnan(pairs)
    positive = np.nan_to_num(pairs)
    truth = np.array([instance.gold for instance in data.instances], dtype=bool)
    yes, no = positive * is_answered, (1 - positive) * is_answered
    # For the official scorer whatever is neither true nor false was not found, even where there is
    # nothing to find. We count it so too, since F1 is compared with numbers that were published
    # with that scorer.
    parts = (
        yes * truth,
        yes * ~truth,
        no * truth + ~is_answered,
        no * ~truth,
        truth.astype(np.float64),
    )
    # One name is drawn, so that the shares of A and B are of answers that exclude each other: both
    # only above 1.
    a, b = positive.T
    both = np.maximum(0, a + b - 1)
    right = np.select(
        [truth.all(axis=1), *truth.T], [both, a - both, b - both], 1 - a - b + both
    ) * is_answered.all(axis=1)
    columns = [*(part.sum(axis=1) for part in parts), right, np.ones(len(truth))]
    for weight in weights:
        columns += [weight * columns[_TP], weight]
    genders = np.array(
        [gender_of(i, data.path) is Gender.FEMALE for i in data.instances], dtype=np.int64
    )
    table = np.zeros((len(truth), 2, len(columns)))
    table[np.arange(len(truth)), genders] = np.column_stack(columns)
    return table


def numbers(sums: Floats, weights: Sequence[str] = ()) -> dict[str, Floats]:
    """All numbers of sums ``[R, 2, 7 + 2·len(weights)]``, each ``[R]``; NaN where undefined.

    In per cent, ``precision:feminine`` and the like for `GROUPS`: precision tp / (tp + fp), recall
    tp / (tp + fn), F1 their harmonic mean (each the official scorer's 0 where that is undefined),
    accuracy the share of TRUE candidates that are found; ``NAME:feminine``: weighted accuracy;
    ``texts:feminine``: the share of texts with both labels right, with
    ``texts:difference``, masculine − feminine. ``bias:f1``, ``bias:accuracy``, ``bias:NAME``:
    ratios, NaN where either side is 0 or undefined. A weighted bias divides the sums of the weights
    found, as published; that is the ratio of weighted accuracies where both genders have the same
    sum of weights.
    """
    values: dict[str, Floats] = {}
    of_group = {"overall": sums.sum(axis=1), "masculine": sums[:, 0], "feminine": sums[:, 1]}
    for name, part in of_group.items():
        tp = part[:, _TP]
        # 0 where the denominator is 0, since F1 needs both.
        precision = np.nan_to_num(percent(tp, tp + part[:, _FP]))
        recall = np.nan_to_num(percent(tp, tp + part[:, _FN]))
        values[f"precision:{name}"], values[f"recall:{name}"] = precision, recall
        values[f"f1:{name}"] = np.nan_to_num(
            percent(2 * precision * recall, 100 * (precision + recall))
        )
        values[f"accuracy:{name}"] = percent(tp, part[:, _POSITIVES])
        values[f"texts:{name}"] = percent(part[:, _RIGHT], part[:, _TEXTS])
    values["texts:difference"] = values["texts:masculine"] - values["texts:feminine"]
    values["bias:f1"] = _bias(values["f1:feminine"], values["f1:masculine"])
    values["bias:accuracy"] = _bias(values["accuracy:feminine"], values["accuracy:masculine"])
    for place, name in enumerate(weights):
        correct, weight = sums[:, :, _WEIGHTS + 2 * place], sums[:, :, _WEIGHTS + 2 * place + 1]
        for side, gender in enumerate(GROUPS[1:]):
            values[f"{name}:{gender}"] = percent(correct[:, side], weight[:, side])
        values[f"bias:{name}"] = _bias(correct[:, 1], correct[:, 0])
    return values


def gap_units(data: GapFile, table: Floats, weights: Sequence[str] = ()) -> NumberUnits:
    """What a system's numbers rest on, given what `tally` gives; a unit is an example."""
    n, _, width = table.shape
    ids = tuple(instance.id for instance in data.instances)
    biases = [f"bias:{name}" for name in ("f1", "accuracy", *weights)]
    compared = ["f1:overall", "accuracy:overall", *biases]
    rates = [rate for rate in _RATES if rate != "f1"]
    shares = [f"{rate}:{group}" for rate, group in product((*rates, "texts"), GROUPS)]
    shares += [f"{name}:{gender}" for name, gender in product(weights, GROUPS[1:])]
    return NumberUnits(
        table.reshape(n, -1),
        ids,
        lambda sums: numbers(sums.reshape(-1, 2, width), weights),
        compared,
        shares,
    )


def _count(value: float) -> float:
    """A whole number as an integer."""
    return int(value) if float(value).is_integer() else float(value)


def _bias(feminine: Floats, masculine: Floats) -> Floats:
    both = (feminine > 0) & (masculine > 0)  # NaN is not
    ratio: Floats = np.divide(feminine, masculine, out=np.full(feminine.shape, np.nan), where=both)
    return ratio
