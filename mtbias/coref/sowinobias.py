"""SoWinoBias: a test set without gendered words, made from a vocabulary, and accuracy by direction and polarity.

"The [1] liked the [2] because they were [adjective]": *they* is the second person. The adjectives are stereotypes of
women; where the second person's occupation is one too the sentence is pro-stereotypical, where the first's is,
anti-stereotypical. Positive adjectives go with *liked*, negative ones with *disliked*. Each sentence has a twin of the
other direction, in which the two occupations have changed places.

Source: Dawkins, *Second Order WinoBias (SoWinoBias) Test Set* (GeBNLP 2021), section 4.2. The vocabulary of its
appendix A is an argument.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from math import isnan
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mtbias.coref.conll import Clusters, Mention
from mtbias.coref.predicted_clusters import Predictions, check_document, check_known
from mtbias.errors import DataError
from mtbias.files.reading import TextFile, read_text
from mtbias.stats.resampling import bootstrap_counts, percentile_interval
from mtbias.stats.results import Floats, Interval
from mtbias.stats.significance import mcnemar
from mtbias.types import Stereotype

LISTS = ("male_occupations", "female_occupations", "positive_adjectives", "negative_adjectives")
POLARITIES = ("positive", "negative")
VERBS = {"positive": "liked", "negative": "disliked"}
DIRECTIONS = (Stereotype.PRO, Stereotype.ANTI)


class Outcome(StrEnum):
    """With whom *they* shares a cluster."""

    RIGHT = "right"
    """The second person alone."""
    WRONG = "wrong"
    """The first person alone."""
    BOTH = "both"
    NONE = "none"
    """Neither; or *they* is in no cluster."""


OUTCOMES = tuple(Outcome)


class Reading(StrEnum):
    """What "n = 4096 in each of pro and anti" means: the paper fits both."""

    POLARITY = "polarity"
    """All sentences: 4096 in each direction *and polarity* with lists of 16."""
    TOTAL = "total"
    """Half of them, 2048 + 2048 in each direction. The paper does not say which half. Here it is a checkerboard:
    those where the positions of the three words in their lists have an even sum, so that with lists of even length
    every word and every pair of words occurs as often as every other."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The four lists."""

    male_occupations: tuple[str, ...]
    female_occupations: tuple[str, ...]
    positive_adjectives: tuple[str, ...]
    negative_adjectives: tuple[str, ...]
    sha256: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence. Mentions count its tokens from 0, ends included."""

    id: str
    direction: Stereotype
    polarity: str
    pair: int
    """The same number for the twins."""
    tokens: tuple[str, ...]
    first: Mention
    """The first person, article included."""
    second: Mention
    pronoun: Mention

    @property
    def text(self) -> str:
        """The tokens with blanks between them, except before the full stop."""
        return " ".join(self.tokens).replace(" .", ".")


def example_vocabulary() -> Vocabulary:
    """The lists that mtbias brings along: our own, an example, not the paper's."""
    with resources.as_file(resources.files("mtbias.coref") / "sowinobias.toml") as path:
        return read_vocabulary(path)


def read_vocabulary(path: Path) -> Vocabulary:
    """Read a TOML file with the four `LISTS`, each a list of words or of words with blanks inside.

    Raises:
        DataError: no TOML; a list is missing, empty, or not of text; a word that occurs twice in the file; another key.
    """
    file = read_text(path)
    data = _toml(file)
    unknown = sorted(set(data) - set(LISTS))
    if unknown:
        raise DataError(f"unknown key {unknown[0]!r}; the lists are {', '.join(LISTS)}", path=path)
    lists: dict[str, tuple[str, ...]] = {}
    seen: dict[str, str] = {}
    for name in LISTS:
        words = data.get(name)
        if not isinstance(words, list) or not words or not all(isinstance(w, str) and w.split() for w in words):
            raise DataError(f"{name}: a list of words expected, found {words!r}", path=path)
        for word in words:
            if word.lower() in seen:
                message = f"{name}: {word!r} stands in {seen[word.lower()]} already; a word may occur once"
                raise DataError(message, path=path)
            seen[word.lower()] = name
        lists[name] = tuple(" ".join(word.split()) for word in words)
    return Vocabulary(**lists, sha256=file.sha256)


def _toml(file: TextFile) -> dict[str, object]:
    try:
        return tomllib.loads(file.text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"TOML expected: {error}", path=file.path) from None


def generate(
    vocabulary: Vocabulary, *, reading: Reading = Reading.POLARITY, full_stop: bool = True
) -> tuple[Sentence, ...]:
    """The test set: by polarity and pair, the pro-stereotypical sentence before its anti-stereotypical twin.

    `full_stop`: whether sentences end in one, a token of its own; the paper does not say.
    """
    return tuple(_sentences(vocabulary, reading, full_stop))


def _sentences(vocabulary: Vocabulary, reading: Reading, full_stop: bool) -> Iterator[Sentence]:
    pair = 0
    adjectives = dict(zip(POLARITIES, (vocabulary.positive_adjectives, vocabulary.negative_adjectives), strict=True))
    for polarity in POLARITIES:
        for m, male in enumerate(vocabulary.male_occupations):
            for f, female in enumerate(vocabulary.female_occupations):
                for a, adjective in enumerate(adjectives[polarity]):
                    if reading is Reading.TOTAL and (m + f + a) % 2:
                        continue
                    yield _sentence(Stereotype.PRO, polarity, pair, (male, female, adjective), full_stop)
                    yield _sentence(Stereotype.ANTI, polarity, pair, (female, male, adjective), full_stop)
                    pair += 1


def _sentence(
    direction: Stereotype,
    polarity: str,
    pair: int,
    words: tuple[str, str, str],
    full_stop: bool,
) -> Sentence:
    first, second, adjective = (word.split() for word in words)
    tokens = ["The", *first, VERBS[polarity], "the", *second, "because", "they", "were", *adjective]
    verb = 1 + len(first)
    pronoun = verb + len(second) + 3
    return Sentence(
        id="-".join([direction, polarity, *(word.replace(" ", "_") for word in words)]),
        direction=direction,
        polarity=polarity,
        pair=pair,
        tokens=(*tokens, ".") if full_stop else tuple(tokens),
        first=(0, verb - 1),
        second=(verb + 1, pronoun - 2),
        pronoun=(pronoun, pronoun),
    )


def sentences_sha256(sentences: Sequence[Sentence]) -> str:
    """SHA-256 of ids and texts, a line each: which test set it is, however it was made."""
    return hashlib.sha256("".join(f"{s.id}\t{s.text}\n" for s in sentences).encode()).hexdigest()


def outcome(sentence: Sentence, clusters: Clusters) -> Outcome:
    """With whom *they* shares a cluster.

    The pronoun is the mention of that one token. A person is a mention that ends on the occupation's last token and
    begins at its article or behind it, so "the nurse" and "nurse" both count and "the nurse because they" does not.
    """

    def is_person(mention: Mention, person: Mention) -> bool:
        return mention[1] == person[1] and person[0] <= mention[0]

    mine = [m for cluster in clusters if sentence.pronoun in cluster for m in cluster]
    first, second = (any(is_person(m, person) for m in mine) for person in (sentence.first, sentence.second))
    if first and second:
        return Outcome.BOTH
    return Outcome.RIGHT if second else Outcome.WRONG if first else Outcome.NONE


def count(sentences: Sequence[Sentence], predictions: Predictions) -> NDArray[np.int64]:
    """Pairs of twins by polarity, outcome of the pro sentence, and outcome of the anti sentence: ``[2, 4, 4]``.

    Raises:
        DataError: a sentence without prediction; a prediction without sentence, with other tokens, or with a mention
            past the sentence's end.
    """
    known = {sentence.id: sentence for sentence in sentences}
    check_known(predictions, known, "the test set's")
    missing = [id_ for id_ in known if id_ not in predictions.documents]
    if missing:
        message = f"no prediction for {len(missing)} of {len(known)} sentences, such as {missing[0]!r}; a sentence"
        raise DataError(f'{message} without clusters needs "clusters": [] too')
    cells: dict[int, int] = {}
    for sentence in sentences:
        prediction = predictions.documents[sentence.id]
        check_document(prediction, sentence.tokens)
        found = OUTCOMES.index(outcome(sentence, prediction.clusters))
        weight = 4 if sentence.direction is Stereotype.PRO else 1
        cells.setdefault(sentence.pair, 16 * POLARITIES.index(sentence.polarity))
        cells[sentence.pair] += weight * found
    counted = np.bincount(np.fromiter(cells.values(), dtype=np.int64), minlength=32)
    return counted.reshape(2, 4, 4)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Accuracy of one direction in one polarity, or (n of both) the mean of two."""

    value: float | None
    """Right / n in per cent: both persons, or none, are wrong."""
    n: int
    decided: float | None
    """Right / (right + wrong): what is left where a forced choice is asked for."""
    n_decided: int
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class SoWinoBiasScores:
    """Numbers by polarity, and in all; per cent."""

    outcomes: Mapping[str, Mapping[str, Mapping[str, int]]]
    """Polarity, direction, outcome → sentences."""
    accuracy: Mapping[str, Mapping[str, Accuracy]]
    """Polarity or ``all``, direction. ``all`` is the unweighted mean of the polarities, as in the paper's table 4."""
    average: Mapping[str, float | None]
    """Mean of pro and anti, by polarity or ``all``."""
    difference: Mapping[str, float | None]
    """Pro − anti."""
    difference_interval: Mapping[str, Interval | None]
    """95 %, percentile bootstrap over pairs of twins."""
    p: Mapping[str, float]
    """McNemar's exact test over pairs of twins, two-sided; ``all`` over both polarities' pairs."""


def score(table: NDArray[np.int64], *, n_resamples: int, rng: np.random.Generator) -> SoWinoBiasScores:
    """All numbers from a table ``[2, 4, 4]`` of pairs; see `count`."""
    point = _accuracies(table[None])[0]
    replicates = bootstrap_counts(table, lambda t: _accuracies(t).reshape(-1, 6), n_resamples, rng).reshape(-1, 3, 2)
    differences = replicates[..., 0] - replicates[..., 1]
    rows = (*POLARITIES, "all")
    by = {"pro": table.sum(axis=2), "anti": table.sum(axis=1)}
    accuracy: dict[str, dict[str, Accuracy]] = {}
    for r, name in enumerate(rows):
        accuracy[name] = {}
        for d, direction in enumerate(DIRECTIONS):
            counts = by[direction] if name == "all" else by[direction][r : r + 1]
            right, wrong = (int(counts[:, k].sum()) for k in (0, 1))
            accuracy[name][direction] = Accuracy(
                value=_number(point[r, d]),
                n=int(counts.sum()),
                decided=100 * right / (right + wrong) if right + wrong else None,
                n_decided=right + wrong,
                interval=percentile_interval(replicates[:, r, d]),
            )
    only = [(int(t[0, 1:].sum()), int(t[1:, 0].sum())) for t in (*table, table.sum(axis=0))]
    return SoWinoBiasScores(
        outcomes={
            polarity: {
                d: dict(zip(OUTCOMES, (int(n) for n in by[d][p]), strict=True)) for d in DIRECTIONS
            }
            for p, polarity in enumerate(POLARITIES)
        },
        accuracy=accuracy,
        average={name: _number(point[r].mean()) for r, name in enumerate(rows)},
        difference={name: _number(point[r, 0] - point[r, 1]) for r, name in enumerate(rows)},
        difference_interval={name: percentile_interval(differences[:, r]) for r, name in enumerate(rows)},
        p={name: mcnemar(b, c) for name, (b, c) in zip(rows, only, strict=True)},
    )  # fmt: skip


def _accuracies(tables: NDArray[np.int64]) -> Floats:
    """``[R, 2, 4, 4]`` → ``[R, 3, 2]``: positive, negative, their mean; pro, anti. NaN where there are no pairs."""
    n = tables.sum(axis=(2, 3))
    right = np.stack([tables[:, :, 0, :].sum(axis=2), tables[:, :, :, 0].sum(axis=2)], axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = 100 * right / n[:, :, None]
    return np.concatenate([shares, shares.mean(axis=1, keepdims=True)], axis=1)


def _number(value: float) -> float | None:
    return None if isnan(value) else float(value)
