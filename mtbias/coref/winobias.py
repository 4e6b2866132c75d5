"""WinoBias: CoNLL F1 and link accuracy where a pronoun fits an occupation's stereotype (pro) and where not (anti).

A sentence names two occupations and a pronoun of one of them; its counterpart under the other condition stands on the
same line of the other file and has a pronoun of the other gender. Literature F1 is the CoNLL score of each file; Avg is
the mean of pro and anti, Diff their **absolute** difference. CoNLL F1 is not link accuracy: a system that links every
pronoun to the wrong occupation has 25.6 to 27.8, because its mentions are right.

**Link accuracy** looks at the first pronoun of the gold cluster. It is linked to an occupation if a cluster that has
the pronoun (exactly) has a mention too that covers the occupation's last word and neither the pronoun nor another
occupation. The link is right, wrong (to another occupation only), both, or none. The gold occupation's word elsewhere
in the sentence ("the nurse uniform") counts as neither.

**Counterparts** are not minimal pairs throughout: some differ in more than the gendered pronoun, two have the roles
exchanged. They stay in, and `differing` counts them.

Source: Zhao et al., NAACL 2018 (N18-2003).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from mtbias.coref.conll import Clusters, Mention, without_repeated
from mtbias.coref.conll_scorer import CorefScores, compute_coref, conll_f1, count_coref, count_table
from mtbias.coref.paired_systems import NumberUnits
from mtbias.coref.predicted_clusters import Predictions, check_document, check_known
from mtbias.coref.pro_anti import CONDITIONS, Link, ProAnti, link_to, pro_against_anti
from mtbias.coref.winobias_data import (
    SPLITS,
    TYPES,
    Baseline,
    Occupation,
    SetKey,
    WinoBias,
    WinoBiasDocument,
    baseline,
)
from mtbias.english.pronouns import GENDER_OF_PRONOUN
from mtbias.errors import DataError
from mtbias.stats.paired import randomisation_test
from mtbias.stats.resampling import bootstrap_units, estimate, percentile_interval, wilson_percent
from mtbias.stats.results import Estimate, Floats, number, percent, percent_of
from mtbias.stats.significance import mcnemar
from mtbias.types import Stereotype


def link(document: WinoBiasDocument, clusters: Clusters) -> Link:
    """Which occupation `clusters` link the first gold pronoun to."""
    pronoun = document.pronouns[0]
    linked: set[Occupation] = set()
    for cluster in clusters:
        if (pronoun, pronoun) not in cluster:
            continue
        for start, end in cluster:
            covered = [occupation for occupation in document.occupations if start <= occupation.head <= end]
            # A mention of two occupations does not say which one is meant; one around the pronoun is no antecedent.
            if len(covered) == 1 and not start <= pronoun <= end:
                linked.update(covered)
    return link_to(right=document.occupation in linked, wrong=not linked.isdisjoint(document.others))


@dataclass(frozen=True, slots=True, eq=False)
class SetCounts:
    """What is counted on one set, document by document, in its order."""

    documents: tuple[WinoBiasDocument, ...]
    table: Floats
    """As `count_table` gives it."""
    links: tuple[Link, ...]
    missing: int
    """Documents without a prediction: counted as without clusters, as the shared task's scorer counts them."""


def count_winobias(documents: tuple[WinoBiasDocument, ...], answers: Mapping[str, Clusters]) -> SetCounts:
    """Count `answers` (clusters by document id) on the documents of a set.

    For F1, mentions that stand in a cluster already are dropped, as the shared task's scorer drops them.
    """
    given = [(document, answers.get(document.id, ())) for document in documents]
    return SetCounts(
        documents=documents,
        table=count_table(count_coref(document.gold, without_repeated(clusters)) for document, clusters in given),
        links=tuple(link(document, clusters) for document, clusters in given),
        missing=sum(document.id not in answers for document in documents),
    )


@dataclass(frozen=True, slots=True)
class SetScores:
    """The scores of one set; all in per cent."""

    coref: CorefScores
    f1: Estimate
    """The CoNLL score; its interval is the percentile bootstrap over documents."""
    links: Mapping[Link, int]
    link_accuracy: Estimate
    """Pronouns linked to the right occupation alone; the interval is Wilson's."""
    missing: int


@dataclass(frozen=True, slots=True)
class PairScores:
    """Pro against anti of one split and type."""

    f1: ProAnti
    """p: that it makes no difference which of two counterparts is which, by approximate randomisation over pairs; None
    without resamples. The interval: by the paired bootstrap over pairs."""
    link: ProAnti
    """p by McNemar's exact test on right or not; no interval."""
    n_pairs: int
    """Sentences with a counterpart under the other condition."""
    differing: tuple[int, ...]
    """Lines of the pairs that differ in more than gendered pronouns, or whose gold mentions do."""


@dataclass(frozen=True, slots=True)
class WinoBiasScores:
    """All sets that have predictions, and all pairs of them."""

    sets: Mapping[SetKey, SetScores]
    pairs: Mapping[tuple[str, int], PairScores]

    def to_json(self) -> dict[str, Any]:
        """Plain values, numbers unrounded."""
        return {
            "sets": [
                {"split": split, "type": type_, "condition": str(condition), **scores.coref.to_json(),
                 "conll_f1_interval": scores.f1.interval, "links": {str(k): n for k, n in scores.links.items()},
                 "link_accuracy": scores.link_accuracy.value, "link_accuracy_interval": scores.link_accuracy.interval,
                 "missing": scores.missing}
                for (split, type_, condition), scores in self.sets.items()
            ],
            "pairs": [
                {"split": split, "type": type_, "f1": pair.f1.to_json(), "link": pair.link.to_json(),
                 "pairs": pair.n_pairs, "differing": pair.differing}
                for (split, type_), pair in self.pairs.items()
            ],
        }  # fmt: skip


def score_winobias(
    data: WinoBias, predictions: Predictions, *, seed: int = 0, resamples: int = 10_000
) -> WinoBiasScores:
    """Score `predictions` on the sets of `data` of which they have any document.

    Raises:
        DataError: a document that `data` does not have; what `check_document` raises; no document at all.
    """
    return _score(data, _answers(data, predictions), seed, resamples)


def winobias_units(data: WinoBias, predictions: Predictions) -> dict[tuple[str, int], NumberUnits]:
    """What a system's numbers rest on, by split and type, where there are predictions under both conditions.

    A unit is a line, with its counterparts of the pro and anti file. The numbers: ``f1`` and ``link`` (accuracy), each
    ``_pro``, ``_anti``, ``_average`` and ``_difference`` (pro − anti, with its sign).

    Raises:
        DataError: as `score_winobias`.
    """
    answers, found = _answers(data, predictions), {}
    for split, type_ in product(SPLITS, TYPES):
        sets = [data.sets.get((split, type_, condition), ()) for condition in CONDITIONS]
        if all(any(document.id in answers for document in documents) for documents in sets):
            found[split, type_] = _units([count_winobias(documents, answers) for documents in sets])
    return found


def _units(counts: Sequence[SetCounts]) -> NumberUnits:
    names: dict[int, str] = {}
    for count in counts:
        names |= {document.line: document.occupation.name for document in count.documents}
    at = {line: place for place, line in enumerate(sorted(names))}
    width = counts[0].table.shape[1] + 2
    sums = np.zeros((len(at), 2 * width))
    for side, count in enumerate(counts):
        right = [[link is Link.RIGHT, 1] for link in count.links]
        rows = [at[document.line] for document in count.documents]
        sums[rows, side * width : (side + 1) * width] = np.hstack([count.table, right])
    return NumberUnits(sums, tuple(names[line] for line in at), _numbers)


def _numbers(sums: Floats) -> dict[str, Floats]:
    """F1 and link accuracy of sums ``[R, 2 · (16 + 2)]``: counts of the CoNLL score, right links, all links."""
    pro, anti = (
        {"f1": conll_f1(part[:, :-2]), "link": percent(part[:, -2], part[:, -1])} for part in np.split(sums, 2, axis=-1)
    )
    found: dict[str, Floats] = {}
    for name, first in pro.items():
        second = anti[name]
        found |= {f"{name}_pro": first, f"{name}_anti": second}
        found |= {f"{name}_average": (first + second) / 2, f"{name}_difference": first - second}
    return found


def _answers(data: WinoBias, predictions: Predictions) -> dict[str, Clusters]:
    """Clusters by id, checked against the data."""
    documents = data.documents
    check_known(predictions, documents, "WinoBias's documents")
    for id_, prediction in predictions.documents.items():
        check_document(prediction, documents[id_].words)
    answers = {id_: prediction.clusters for id_, prediction in predictions.documents.items()}
    if not answers:
        raise DataError("expected predictions for at least one document, got none")
    return answers


def score_baseline(data: WinoBias, rule: Baseline, *, seed: int = 0, resamples: int = 10_000) -> WinoBiasScores:
    """Score the rule system `rule` on all sets of `data`."""
    answers = {id_: baseline(document, rule) for id_, document in data.documents.items()}
    return _score(data, answers, seed, resamples)


def _score(data: WinoBias, answers: Mapping[str, Clusters], seed: int, resamples: int) -> WinoBiasScores:
    """The scores of the sets that have answers, each set and each pair with its own stream of random numbers."""
    counts = {key: count_winobias(documents, answers) for key, documents in data.sets.items()}
    counts = {key: count for key, count in counts.items() if count.missing < len(count.documents)}
    sets = {key: _set_scores(count, _rng(seed, *key), resamples) for key, count in counts.items()}
    pairs = {}
    for split, type_ in product(SPLITS, TYPES):
        pro, anti = ((split, type_, condition) for condition in CONDITIONS)
        if pro in counts and anti in counts:
            rng = _rng(seed, split, type_, Stereotype.NONE)
            pairs[split, type_] = _pair_scores(counts[pro], counts[anti], sets[pro], sets[anti], rng, resamples)
    return WinoBiasScores(sets, pairs)


def differing_pairs(pro: Iterable[WinoBiasDocument], anti: Iterable[WinoBiasDocument]) -> tuple[int, ...]:
    """Lines of the counterparts that differ in more than gendered pronouns, or in the places of their gold mentions."""

    def masked(document: WinoBiasDocument) -> tuple[tuple[str, ...], frozenset[Mention]]:
        words = tuple("" if word.lower() in GENDER_OF_PRONOUN else word for word in document.words)
        return words, frozenset(document.gold[0])

    others = {document.line: document for document in anti}
    return tuple(d.line for d in pro if d.line in others and masked(d) != masked(others[d.line]))


def _rng(seed: int, split: str, type_: int, condition: Stereotype) -> np.random.Generator:
    return np.random.default_rng([seed, SPLITS.index(split), type_, list(Stereotype).index(condition)])


def _set_scores(count: SetCounts, rng: np.random.Generator, resamples: int) -> SetScores:
    links = Counter(count.links)
    n, right = len(count.links), links[Link.RIGHT]
    f1 = estimate(
        count.table.sum(axis=0)[None],
        lambda sums: {"f1": conll_f1(sums)},
        partial(bootstrap_units, count.table, n_resamples=resamples, rng=rng),
        n={"f1": n},
    )
    return SetScores(
        coref=compute_coref(count.table),
        f1=f1["f1"],
        links={outcome: links[outcome] for outcome in Link},
        link_accuracy=Estimate(percent_of(right, n), wilson_percent(right, n), n),
        missing=count.missing,
    )


def _pair_scores(
    pro: SetCounts, anti: SetCounts, of_pro: SetScores, of_anti: SetScores, rng: np.random.Generator, resamples: int
) -> PairScores:
    """Compare the two; the paired test and the interval rest on the lines that both have."""
    anti_at = {document.line: at for at, document in enumerate(anti.documents)}
    pairs = [(at, anti_at[d.line]) for at, d in enumerate(pro.documents) if d.line in anti_at]
    first, second = pro.table[[a for a, _ in pairs]], anti.table[[b for _, b in pairs]]

    def difference(sums: Floats) -> Floats:
        return np.subtract(*(conll_f1(part) for part in np.split(sums, 2, axis=-1)))

    interval = percentile_interval(bootstrap_units(np.hstack([first, second]), difference, resamples, rng))
    p = randomisation_test(first, second, conll_f1, resamples, rng)
    right = [(pro.links[a] is Link.RIGHT, anti.links[b] is Link.RIGHT) for a, b in pairs]
    link_p = mcnemar(sum(a and not b for a, b in right), sum(b and not a for a, b in right))
    return PairScores(
        f1=pro_against_anti(of_pro.f1.value, of_anti.f1.value, interval, number(p)),
        link=pro_against_anti(of_pro.link_accuracy.value, of_anti.link_accuracy.value, p=link_p),
        n_pairs=len(pairs),
        differing=differing_pairs(pro.documents, anti.documents),
    )
