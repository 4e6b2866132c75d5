"""The CoNLL score of coreference: the mean F1 of MUC, B³ and CEAFe, as the shared task's scorer
v8.01 computes it.

`Conll` is the score of any CoNLL-2012 file against another, such as OntoNotes': what a debiased
system costs there.

Counts add up: the counts of a corpus are the sums of its documents' counts, so documents can be
resampled or swapped. Singletons count, in the key and in the response; a mention is right if both
its ends are; head matching plays no part. The scorer itself prints numbers cut, not rounded, to two
decimals; these are neither.

With K the entities of the key, R those of the response (sets of mentions):

* MUC: Σ over pairs with K∩R not empty of (|K∩R| − 1), over Σ(|K| − 1) for recall and over Σ(|R| −
  1) for precision; the numerator equals Vilain's Σ(|K| − parts of K under the response).
* B³: Σ|K∩R|²/|K| over the key's mentions for recall; Σ|K∩R|²/|R| over the response's mentions for
  precision.
* CEAFe: the largest Σ 2|K∩R|/(|K|+|R|) over one-to-one pairings of entities, over the number of
  entities in the key for recall and in the response for precision.

Source: Pradhan et al., ACL 2014 (P14-2006), with Vilain et al. (1995), Bagga and Baldwin (1998),
Luo (2005).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType

import numpy as np

from mtbias.coref.dataset import CorefDataset, DatasetScores, NamedNumber
from mtbias.coref.documents import (
    Answers,
    Clusters,
    ConllDocument,
    CorefText,
    Mention,
    joined,
    read_conll,
    repeated,
    without_repeated,
)
from mtbias.english.gender_swap import word_gender
from mtbias.english.words import GENDER_OF_PRONOUN
from mtbias.errors import UsageError
from mtbias.stats.paired import NumberUnits
from mtbias.stats.results import Estimate, Floats, number, percent
from mtbias.types import Gender

PARTS = {"mentions": "mentions", "muc": "MUC", "b3": "B³", "ceafe": "CEAFe"}
"""What the parts of the score are called; CEAFe is CEAF of φ₄."""


def count_coref(key: Clusters, response: Clusters) -> Floats:
    """What one document adds: by `PARTS` numerator and denominator of recall, then of precision,
    ``[4, 4]``.

    Args:
        key: the gold entities; each mention in one of them only, none empty.
        response: the system's; the same.
    """
    key_of, response_of = _entity_of(key), _entity_of(response)
    common: Counter[tuple[int, int]] = Counter(
        (entity, response_of[mention])
        for mention, entity in key_of.items()
        if mention in response_of
    )
    overlaps = sorted(common.items())
    links = common.total() - len(common)
    similarity = {(k, r): 2 * n / (len(key[k]) + len(response[r])) for (k, r), n in overlaps}
    best = _best_pairing(similarity)
    rows = (
        (common.total(), len(key_of), common.total(), len(response_of)),
        (links, len(key_of) - len(key), links, len(response_of) - len(response)),
        (
            sum(n * n / len(key[k]) for (k, _), n in overlaps), len(key_of),
            sum(n * n / len(response[r]) for (_, r), n in overlaps), len(response_of),
        ),
        (best, len(key), best, len(response)),
    )  # fmt: skip
    return np.array(rows, dtype=np.float64)


def _entity_of(clusters: Clusters) -> dict[Mention, int]:
    """The number of the entity of each mention."""
    entity_of: dict[Mention, int] = {}
    for entity, cluster in enumerate(clusters):
        entity_of.update(dict.fromkeys(cluster, entity))
    return entity_of


def count_table(counts: Iterable[Floats]) -> Floats:
    """An array ``[n, 16]``, a row for each of `counts`: what `bootstrap_units` and others
    resample.
    """
    return np.array(list(counts), dtype=np.float64).reshape(-1, 4 * len(PARTS))


def conll_f1(sums: Floats) -> Floats:
    """The CoNLL score in per cent of each row of `sums` (``[…, 16]``); NaN where it is
    undefined.
    """
    return np.asarray(_rates(sums)[2][..., 1:].mean(axis=-1))


def compute_coref(table: Floats) -> dict[str, Estimate]:
    """The scores in per cent of the documents whose counts are the rows of `table`.

    For each of `PARTS` its F1 (``muc``), ``muc_recall`` and ``muc_precision``. n of recall and
    precision is their denominator, of F1 documents. Recall is None if the key has nothing to find,
    precision if the response has nothing; F1 is None if both are, and 0 if one of them is.
    """
    sums = table.sum(axis=0)
    scores: dict[str, Estimate] = {}
    for name, recall, precision, f1, counts in zip(
        PARTS, *_rates(sums), sums.reshape(-1, 4), strict=True
    ):
        scores[name] = Estimate(number(f1), n=len(table))
        scores[f"{name}_recall"] = Estimate(number(recall), n=int(counts[1]))
        scores[f"{name}_precision"] = Estimate(number(precision), n=int(counts[3]))
    return scores


@dataclass(frozen=True)
class Conll(CorefDataset):
    """A CoNLL-2012 file, whose clusters are the right ones."""

    documents: tuple[ConllDocument, ...]
    files: Mapping[str, str]

    name = "conll"
    options = frozenset({"baseline"})
    signed = MappingProxyType({"f1": "conll-v8.01"})

    @cached_property
    def texts(self) -> list[CorefText]:
        """Its documents; of a repeated mention the first counts."""
        texts = []
        for document in self.documents:
            words = document.words
            gold = without_repeated(document.clusters)
            lengths = accumulate(map(len, document.sentences))
            sentence_ends = tuple(length - 1 for length in lengths)[:-1]
            texts.append(CorefText(document.id, words, joined(words), gold, sentence_ends))
        return texts

    def baseline(self, rule: str) -> Answers:
        """See `CorefDataset`: ``perfect`` alone, which finds the right clusters."""
        if rule != "perfect":
            raise UsageError(f"--baseline: expected perfect, got {rule!r}")
        return Answers({text.id: text.gold for text in self.texts}, {}, signed={"system": rule})

    def score(self, answers: Answers, *, seed: int = 0, resamples: int = 10_000) -> DatasetScores:
        """See `CorefDataset`; intervals of F1 are percentile bootstraps over documents."""
        output = [answers.of[text.id] for text in self.texts]
        pairs = zip(self.texts, output, strict=True)
        table = count_table(
            count_coref(text.gold, without_repeated(clusters)) for text, clusters in pairs
        )
        units = NumberUnits(table, [text.id for text in self.texts], _f1)
        estimates = {**compute_coref(table), **units.over("rows", resamples, seed)}

        labels = {"f1": "CoNLL F1"}
        for key, label in PARTS.items():
            for rate in RATES:
                labels[f"{key}{rate}"] = f"{label} {rate[1:] or 'F1'}"
        headlines = units.numbers(table[:1])
        numbers = tuple(
            NamedNumber("", key, label, estimates[key], headline=key in headlines)
            for key, label in labels.items()
        )

        gold = [document.clusters for document in self.documents]
        notes = []
        for name, clusters_of in (("data", gold), ("output", output)):
            if n := sum(map(repeated, clusters_of)):
                notes.append(f"mentions of the {name} that are in a cluster already, left out: {n}")
        return DatasetScores(numbers, {"": units}, gendered_mentions(self.texts), tuple(notes))


def _f1(sums: Floats) -> dict[str, Floats]:
    """The CoNLL score and the F1 of each of `PARTS`, of each row of `sums`."""
    return {"f1": conll_f1(sums), **dict(zip(PARTS, _rates(sums)[2].T, strict=True))}


RATES = ("", "_recall", "_precision")


def read_conll_gold(path: Path) -> Conll:
    """The CoNLL-2012 file at `path`.

    Raises:
        DataError: as `mtbias.coref.documents.read_conll`.
    """
    conll = read_conll(path)
    return Conll(conll.documents, conll.file.hashes)


def gendered_mentions(texts: Iterable[CorefText]) -> dict[str, dict[str, float | None]]:
    """How many mentions and chains of the right clusters have a gender, by what is counted.

    A mention is a pronoun if it is that word alone: "his mother" is none, though "his" within it
    may be one. Its gender is otherwise that of its last word (*Mr.* Smith has none). A chain with a
    pronoun of either gender is ``both``.

    Source: Zhao et al. (2018), who count the entities of OntoNotes that a gendered pronoun
    refers to.
    """
    pronouns: Counter[Gender | None] = Counter()
    last_words: Counter[Gender | None] = Counter()
    chains: Counter[frozenset[Gender]] = Counter()
    for text in texts:
        for chain in text.gold:
            single_words = [text.tokens[start].lower() for start, end in chain if start == end]
            of_pronouns = [GENDER_OF_PRONOUN.get(word) for word in single_words]
            pronouns.update(of_pronouns)
            last_words.update(word_gender(text.tokens[end]) for _, end in chain)
            chains[frozenset(gender for gender in of_pronouns if gender)] += 1

    genders = (Gender.MALE, Gender.FEMALE)
    chain_counts: dict[str, float | None] = {
        gender: chains[frozenset({gender})] for gender in genders
    }
    chain_counts["both"] = chains[frozenset(genders)]
    return {
        "mentions that are a pronoun": {gender: pronouns[gender] for gender in genders},
        "mentions by their last word": {gender: last_words[gender] for gender in genders},
        "chains with a pronoun": chain_counts,
    }


def _best_pairing(similarity: dict[tuple[int, int], float]) -> float:
    """The largest sum over pairs that share no row or column."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = sorted({k for k, _ in similarity}), sorted({r for _, r in similarity})
    if len(similarity) == len(rows) == len(columns):  # no choice
        return sum(similarity.values())

    row_of = {entity: n for n, entity in enumerate(rows)}
    column_of = {entity: n for n, entity in enumerate(columns)}
    matrix = np.zeros((len(rows), len(columns)))
    for (k, r), value in similarity.items():
        matrix[row_of[k], column_of[r]] = value
    return float(matrix[linear_sum_assignment(matrix, maximize=True)].sum())


def _rates(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Recall, precision and F1 in per cent by `PARTS`, each ``[…, 4]``; NaN where undefined."""
    hits_r, all_r, hits_p, all_p = np.moveaxis(sums.reshape(*sums.shape[:-1], len(PARTS), 4), -1, 0)
    recall, precision = percent(hits_r, all_r), percent(hits_p, all_p)
    r, p = np.nan_to_num(recall), np.nan_to_num(precision)
    # Where one of the two is undefined the scorer's F1 is 0: the key is empty and the response is
    # not, or the reverse. Where both are, F1 is undefined.
    f1 = np.where(
        np.isnan(recall) & np.isnan(precision),
        np.nan,
        np.nan_to_num(percent(2 * r * p, 100 * (r + p))),
    )
    return recall, precision, f1
