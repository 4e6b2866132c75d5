"""SoWinoBias: a test set without gendered words, made from a vocabulary, and accuracy by direction and polarity.

"The [1] liked the [2] because they were [adjective]": *they* is the second person. The adjectives are stereotypes of
women; where the second person's occupation is one too the sentence is pro-stereotypical, where the first's is,
anti-stereotypical. Positive adjectives go with *liked*, negative ones with *disliked*. Each sentence has a counterpart
of the other direction, in which the two occupations have changed places.

Source: Dawkins, *Second Order WinoBias (SoWinoBias) Test Set* (GeBNLP 2021), section 4.2. The vocabulary of its
appendix A is an argument.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mtbias.coref.conll import Clusters, Mention
from mtbias.coref.paired_systems import NumberUnits
from mtbias.coref.predicted_clusters import Predictions, check_complete, check_document, check_known
from mtbias.coref.pro_anti import CONDITIONS, Link, ProAnti, link_to, pro_against_anti
from mtbias.files.reading import parse_toml, read_text
from mtbias.stats.resampling import bootstrap_counts, estimate
from mtbias.stats.results import Estimate, Floats, percent, percent_of
from mtbias.stats.significance import mcnemar
from mtbias.types import Stereotype

EXAMPLE_VOCABULARY = Path(str(resources.files("mtbias.coref"))) / "sowinobias.toml"
"""The lists that come with mtbias: our own, an example, not the paper's."""

LISTS = ("male_occupations", "female_occupations", "positive_adjectives", "negative_adjectives")
POLARITIES = ("positive", "negative")
ROWS = (*POLARITIES, "all")
"""``all`` is the unweighted mean of the polarities, as in the paper's table 4."""
VERBS = {"positive": "liked", "negative": "disliked"}
LINKS = tuple(Link)
_SHAPE = (len(POLARITIES), len(LINKS), len(LINKS))
"""Of the table that `count` gives."""


Reading = Literal["polarity", "total"]
"""What "n = 4096 in each of pro and anti" means: the paper fits both.

Polarity: all sentences, 4096 in each direction *and polarity* with lists of 16. Total: half of them, 2048 + 2048 in
each direction. The paper does not say which half. Here it is a checkerboard: those where the positions of the three
words in their lists have an even sum, so that with lists of even length every word and every pair of words occurs as
often as every other.
"""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The four lists."""

    male_occupations: tuple[str, ...]
    female_occupations: tuple[str, ...]
    positive_adjectives: tuple[str, ...]
    negative_adjectives: tuple[str, ...]
    sha256: str


@dataclass(frozen=True, slots=True)
class SoWinoBiasSentence:
    """One sentence. Mentions count its tokens from 0, ends included."""

    id: str
    direction: Stereotype
    polarity: str
    pair: int
    """The same number for counterparts."""
    tokens: tuple[str, ...]
    first: Mention
    """The first person, article included."""
    second: Mention
    pronoun: Mention

    @property
    def text(self) -> str:
        """The tokens with blanks between them, except before the full stop."""
        return " ".join(self.tokens).replace(" .", ".")

    def to_json(self) -> dict[str, object]:
        """A line of the test set."""
        names = ("id", "text", "tokens", "direction", "polarity", "first", "second", "pronoun")
        return {name: getattr(self, name) for name in names}


def read_vocabulary(path: Path) -> Vocabulary:
    """Read a TOML file with the four `LISTS`, each a list of words or of words with blanks inside.

    Raises:
        DataError: no TOML; a list is missing, empty, or not of text; a word that occurs twice in the file; another key.
    """
    file = read_text(path)
    data = parse_toml(file)
    unknown = sorted(set(data) - set(LISTS))
    if unknown:
        raise file.error(f"unknown key {unknown[0]!r}; the lists are {', '.join(LISTS)}")
    lists: dict[str, tuple[str, ...]] = {}
    seen: dict[str, str] = {}
    for name in LISTS:
        words = data.get(name)
        if not isinstance(words, list) or not words or not all(isinstance(w, str) and w.split() for w in words):
            raise file.error(f"{name}: expected a list of words, got {words!r}")
        for word in words:
            if word.lower() in seen:
                raise file.error(f"{name}: {word!r} stands in {seen[word.lower()]} already; a word may occur once")
            seen[word.lower()] = name
        lists[name] = tuple(" ".join(word.split()) for word in words)
    return Vocabulary(**lists, sha256=file.sha256)


def generate(
    vocabulary: Vocabulary, *, reading: Reading = "polarity", full_stop: bool = True
) -> tuple[SoWinoBiasSentence, ...]:
    """The test set: by polarity and pair, the pro-stereotypical sentence before its counterpart.

    `full_stop`: whether sentences end in one, a token of its own; the paper does not say.
    """
    men, women = vocabulary.male_occupations, vocabulary.female_occupations
    adjectives = vocabulary.positive_adjectives, vocabulary.negative_adjectives
    chosen = [
        (polarity, male, female, adjective)
        for polarity, words in zip(POLARITIES, adjectives, strict=True)
        for (m, male), (f, female), (a, adjective) in product(*map(enumerate, (men, women, words)))
        if reading == "polarity" or (m + f + a) % 2 == 0
    ]
    return tuple(
        _sentence(direction, polarity, pair, (*people, adjective), full_stop)
        for pair, (polarity, male, female, adjective) in enumerate(chosen)
        for direction, people in zip(CONDITIONS, ((male, female), (female, male)), strict=True)
    )


def _sentence(
    direction: Stereotype, polarity: str, pair: int, words: tuple[str, str, str], full_stop: bool
) -> SoWinoBiasSentence:
    first, second, adjective = (word.split() for word in words)
    tokens = ["The", *first, VERBS[polarity], "the", *second, "because", "they", "were", *adjective]
    verb = 1 + len(first)
    pronoun = verb + len(second) + 3
    return SoWinoBiasSentence(
        id="-".join([direction, polarity, *(word.replace(" ", "_") for word in words)]),
        direction=direction,
        polarity=polarity,
        pair=pair,
        tokens=(*tokens, ".") if full_stop else tuple(tokens),
        first=(0, verb - 1),
        second=(verb + 1, pronoun - 2),
        pronoun=(pronoun, pronoun),
    )


def sentences_sha256(sentences: Sequence[SoWinoBiasSentence]) -> str:
    """SHA-256 of ids and texts, a line each: which test set it is, however it was made."""
    return hashlib.sha256("".join(f"{s.id}\t{s.text}\n" for s in sentences).encode()).hexdigest()


def link(sentence: SoWinoBiasSentence, clusters: Clusters) -> Link:
    """With whom *they* shares a cluster: right is the second person alone.

    The pronoun is the mention of that one token. A person is a mention that ends on the occupation's last token and
    begins at its article or behind it, so "the nurse" and "nurse" both count and "the nurse because they" does not.
    """
    mine = [mention for cluster in clusters if sentence.pronoun in cluster for mention in cluster]
    first, second = (
        any(end == person[1] and person[0] <= start for start, end in mine)
        for person in (sentence.first, sentence.second)
    )
    return link_to(right=second, wrong=first)


def count(sentences: Sequence[SoWinoBiasSentence], predictions: Predictions) -> NDArray[np.int64]:
    """Pairs of counterparts by polarity, link of the pro sentence, and link of the anti sentence: ``[2, 4, 4]``.

    Raises:
        DataError: a sentence without prediction; a prediction without sentence, with other tokens, or with a mention
            past the sentence's end.
    """
    cells = np.fromiter(_cells(sentences, predictions).values(), dtype=np.int64)
    return np.bincount(cells, minlength=np.prod(_SHAPE)).reshape(_SHAPE)


def sowinobias_units(sentences: Sequence[SoWinoBiasSentence], predictions: Predictions) -> NumberUnits:
    """What a system's accuracies and differences rest on; a unit is a pair of counterparts.

    Its occupation is the one that *they* means in the pro sentence. The numbers: ``ROW:DIRECTION`` (accuracy) and
    ``ROW:difference``, for each of `ROWS`.

    Raises:
        DataError: as `count`.
    """
    cells = _cells(sentences, predictions)
    sums = np.zeros((len(cells), np.prod(_SHAPE)))
    sums[np.arange(len(cells)), list(cells.values())] = 1
    meant = {s.pair: s.tokens[s.second[0] + 1 : s.second[1] + 1] for s in sentences if s.direction is Stereotype.PRO}
    return NumberUnits(
        sums, tuple(" ".join(meant[pair]) for pair in cells), lambda sums: _numbers(sums.reshape(-1, *_SHAPE))
    )


def _cells(sentences: Sequence[SoWinoBiasSentence], predictions: Predictions) -> dict[int, int]:
    """By pair: its cell in the flattened table of `count`."""
    known = {sentence.id: sentence for sentence in sentences}
    check_known(predictions, known, "the test set's sentences")
    check_complete(predictions.documents, known, "sentences")
    cells: dict[int, int] = {}
    for sentence in sentences:
        prediction = predictions.documents[sentence.id]
        check_document(prediction, sentence.tokens)
        weight = len(LINKS) if sentence.direction is Stereotype.PRO else 1
        cells.setdefault(sentence.pair, len(LINKS) ** 2 * POLARITIES.index(sentence.polarity))
        cells[sentence.pair] += weight * LINKS.index(link(sentence, prediction.clusters))
    return cells


@dataclass(frozen=True, slots=True)
class SoWinoBiasScores:
    """Numbers by polarity, and in all; per cent. Intervals are percentile bootstraps over pairs."""

    outcomes: Mapping[str, Mapping[str, Mapping[str, int]]]
    """Polarity, direction, link → sentences."""
    accuracy: Mapping[str, Mapping[str, Estimate]]
    """By `ROWS` and direction: right / n; both persons, or none, are wrong. `n` of ``all`` is of both polarities."""
    decided: Mapping[str, Mapping[str, Estimate]]
    """Right / (right + wrong), likewise: what is left where a forced choice is asked for."""
    gaps: Mapping[str, ProAnti]
    """Pro − anti by `ROWS`; p by McNemar's exact test over pairs (``all``: of both polarities), two-sided."""

    def to_json(self) -> dict[str, Any]:
        """Plain values, numbers unrounded."""

        def direction_json(row: str, direction: str) -> dict[str, Any]:
            accuracy, decided = self.accuracy[row][direction], self.decided[row][direction]
            found = {"accuracy": accuracy.value, "n": accuracy.n, "interval": accuracy.interval}
            found |= {"decided": decided.value, "n_decided": decided.n}
            return found | ({"outcomes": dict(self.outcomes[row][direction])} if row in self.outcomes else {})

        return {
            row: {
                **{direction: direction_json(row, direction) for direction in CONDITIONS},
                "average": gap.average,
                "difference": gap.difference,
                "difference_interval": gap.interval,
                "p": gap.p,
            }
            for row, gap in self.gaps.items()
        }


def score(table: NDArray[np.int64], *, n_resamples: int, rng: np.random.Generator) -> SoWinoBiasScores:
    """All numbers from a table ``[2, 4, 4]`` of pairs; see `count`."""
    tables = dict(zip(ROWS, (table[:1], table[1:], table), strict=True))
    right, wrong = LINKS.index(Link.RIGHT), LINKS.index(Link.WRONG)
    links = {
        row: {Stereotype.PRO: part.sum(axis=(0, 2)), Stereotype.ANTI: part.sum(axis=(0, 1))}
        for row, part in tables.items()
    }
    found = estimate(
        table[None],
        _numbers,
        partial(bootstrap_counts, table, n_resamples=n_resamples, rng=rng),
        n={f"{row}:{d}": int(of.sum()) for row, by in links.items() for d, of in by.items()},
    )
    gaps = {}
    for row, part in tables.items():
        pairs, difference = part.sum(axis=0), found[f"{row}:difference"]
        # Pairs of which one alone is right: the anti sentence's link is any but right, and the reverse.
        p = mcnemar(int(pairs[right].sum() - pairs[right, right]), int(pairs[:, right].sum() - pairs[right, right]))
        pro, anti = (found[f"{row}:{d}"].value for d in CONDITIONS)
        gaps[row] = pro_against_anti(pro, anti, difference.interval, p)
    return SoWinoBiasScores(
        outcomes={
            row: {d: dict(zip(LINKS, map(int, of), strict=True)) for d, of in links[row].items()} for row in POLARITIES
        },
        accuracy={row: {d: found[f"{row}:{d}"] for d in CONDITIONS} for row in ROWS},
        decided={row: {d: _decided(int(of[right]), int(of[wrong])) for d, of in links[row].items()} for row in ROWS},
        gaps=gaps,
    )


def _decided(right: int, wrong: int) -> Estimate:
    return Estimate(percent_of(right, right + wrong), n=right + wrong)


def _numbers(tables: NDArray[Any]) -> dict[str, Floats]:
    """Accuracy by `ROWS` and direction, and their differences, of tables ``[R, 2, 4, 4]``; NaN where there are none."""
    n, at = tables.sum(axis=(2, 3)), LINKS.index(Link.RIGHT)
    found: dict[str, Floats] = {}
    for direction, right in zip(CONDITIONS, (tables[:, :, at, :], tables[:, :, :, at]), strict=True):
        shares = percent(right.sum(axis=2), n)
        by_row = zip(ROWS, (*shares.T, shares.mean(axis=1)), strict=True)
        found |= {f"{row}:{direction}": share for row, share in by_row}
    return found | {f"{row}:difference": found[f"{row}:pro"] - found[f"{row}:anti"] for row in ROWS}
