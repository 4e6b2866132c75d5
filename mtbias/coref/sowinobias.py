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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mtbias.coref.conll import Clusters, Mention
from mtbias.coref.dataset import (
    CONDITIONS,
    CorefDataset,
    DatasetScores,
    Link,
    NamedNumber,
    NumberUnits,
    link_to,
    pro_against_anti,
)
from mtbias.coref.documents import Answers, CorefText, joined
from mtbias.errors import choices
from mtbias.files.reading import parse_toml, read_text
from mtbias.stats.resampling import mcnemar
from mtbias.stats.results import Estimate, Floats, percent, percent_of
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
"""Of the tables of pairs."""


SetSize = Literal["polarity", "total"]
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
    tokens: tuple[str, ...]
    first: Mention
    """The first person, article included."""
    second: Mention
    pronoun: Mention

    @property
    def text(self) -> str:
        """The tokens with blanks between them, except before the full stop."""
        return joined(self.tokens)


def read_vocabulary(path: Path) -> Vocabulary:
    """Read a TOML file with the four `LISTS`, each a list of words or of words with blanks inside.

    Raises:
        DataError: no TOML; a list is missing, empty, or not of text; a word that occurs twice in the file; another key.
    """
    file = read_text(path)
    data = parse_toml(file)
    unknown = sorted(set(data) - set(LISTS))
    if unknown:
        raise file.error(f"{unknown[0]}: unknown key; {choices(unknown[0], LISTS)}")
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


def generate(vocabulary: Vocabulary, *, n: SetSize = "polarity") -> tuple[SoWinoBiasSentence, ...]:
    """The test set by polarity: each pro-stereotypical sentence with its counterpart behind it."""
    men, women = vocabulary.male_occupations, vocabulary.female_occupations
    adjectives = vocabulary.positive_adjectives, vocabulary.negative_adjectives
    chosen = [
        (polarity, male, female, adjective)
        for polarity, words in zip(POLARITIES, adjectives, strict=True)
        for (m, male), (f, female), (a, adjective) in product(*map(enumerate, (men, women, words)))
        if n == "polarity" or (m + f + a) % 2 == 0
    ]
    return tuple(
        _sentence(direction, polarity, (*people, adjective))
        for polarity, male, female, adjective in chosen
        for direction, people in zip(CONDITIONS, ((male, female), (female, male)), strict=True)
    )


def _sentence(direction: Stereotype, polarity: str, words: tuple[str, str, str]) -> SoWinoBiasSentence:
    first, second, adjective = (word.split() for word in words)
    verb = 1 + len(first)
    pronoun = verb + len(second) + 3
    return SoWinoBiasSentence(
        id="-".join([direction, polarity, *(word.replace(" ", "_") for word in words)]),
        direction=direction,
        polarity=polarity,
        tokens=("The", *first, VERBS[polarity], "the", *second, "because", "they", "were", *adjective, "."),
        first=(0, verb - 1),
        second=(verb + 1, pronoun - 2),
        pronoun=(pronoun, pronoun),
    )


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


@dataclass(frozen=True)
class SoWinoBias(CorefDataset):
    """The test set that a vocabulary makes."""

    vocabulary: Vocabulary
    sentences: tuple[SoWinoBiasSentence, ...]
    signed: Mapping[str, object]

    name = "sowinobias"
    options = frozenset({"n", "over"})

    @property
    def files(self) -> Mapping[str, str]:  # type: ignore[override] # read-only
        """The vocabulary's."""
        return {"vocabulary": self.vocabulary.sha256}

    @cached_property
    def texts(self) -> list[CorefText]:
        """All sentences."""
        return [CorefText(s.id, s.tokens, s.text, ((s.second, s.pronoun),)) for s in self.sentences]

    def score(self, answers: Answers, *, seed: int = 0, resamples: int = 10_000) -> DatasetScores:
        """See `CorefDataset`.

        Accuracy: right / n; both persons, or none, are wrong. "One alone": right / (right + wrong), what is left where
        a forced choice is asked for. Intervals are percentile bootstraps over pairs; p of pro − anti is McNemar's exact
        test over pairs (``all``: of both polarities), two-sided.
        """
        # A pair is a cell of a table of polarity, link of the pro and link of the anti sentence.
        links = {s.id: LINKS.index(link(s, answers.of[s.id])) for s in self.sentences}
        pairs = list(zip(self.sentences[::2], self.sentences[1::2], strict=True))
        cells = [_SHAPE[2] * (_SHAPE[1] * POLARITIES.index(a.polarity) + links[a.id]) + links[b.id] for a, b in pairs]
        meant = tuple(" ".join(pro.tokens[pro.second[0] + 1 : pro.second[1] + 1]) for pro, _ in pairs)
        units = NumberUnits.of_cells(cells, _SHAPE, meant, _numbers)
        table = units.sums.sum(axis=0).astype(np.int64).reshape(_SHAPE)
        tables = dict(zip(ROWS, (table[0], table[1], table.sum(axis=0)), strict=True))
        estimates = units.estimates(
            resamples,
            np.random.default_rng(seed),
            as_table=True,
            n={f"{row}:{direction}": int(of.sum()) for row, of in tables.items() for direction in CONDITIONS},
        )
        numbers = [one for row, of in tables.items() for one in _named(row, of, estimates)]
        counts = {
            f"{row}, {direction}": dict(zip(map(str, LINKS), map(int, of.sum(axis=axis)), strict=True))
            for row, of in tables.items()
            for axis, direction in ((1, CONDITIONS[0]), (0, CONDITIONS[1]))
        }
        return DatasetScores(tuple(numbers), {"": units}, counts)


def open_sowinobias(data: Path | None, *, n: SetSize | None = None) -> SoWinoBias:
    """The test set of the vocabulary at `data`, by default of our own lists, whose numbers are not the paper's.

    Raises:
        DataError: as `read_vocabulary`.
    """
    vocabulary = read_vocabulary(data or EXAMPLE_VOCABULARY)
    sentences = generate(vocabulary, n=n or "polarity")
    digest = hashlib.sha256("".join(f"{s.id}\t{s.text}\n" for s in sentences).encode()).hexdigest()
    signed = {"sentences": digest[:12], "list": "given" if data else "example", "n": n or "polarity"}
    return SoWinoBias(vocabulary, sentences, {**signed, "right": "second-person-alone"})


def _named(row: str, pairs: NDArray[np.int64], estimates: Mapping[str, Estimate]) -> Iterator[NamedNumber]:
    """The numbers of a polarity, or of both, from its table of pairs ``[4, 4]``: links of pro by links of anti."""
    right, wrong = LINKS.index(Link.RIGHT), LINKS.index(Link.WRONG)
    by_link = dict(zip(CONDITIONS, (pairs.sum(axis=1), pairs.sum(axis=0)), strict=True))
    # Pairs of which one alone is right: the anti sentence's link is any but right, and the reverse.
    p = mcnemar(*(int(of[right] - pairs[right, right]) for of in by_link.values()))
    pro, anti = (estimates[f"{row}:{direction}"] for direction in CONDITIONS)
    average, gap = pro_against_anti(pro.value, anti.value)
    difference = replace(estimates[f"{row}:difference"], n=pro.n, p=None if gap is None else p)
    named = {"pro": pro, "anti": anti, "average": Estimate(average, n=pro.n), "difference": difference}
    for key, one in named.items():
        label = f"accuracy, {row}, {'pro − anti' if key == 'difference' else key}"
        yield NamedNumber("", f"{row}:{key}", label, one, headline=row == "all" and key != "average")
    for direction, of in by_link.items():
        n = int(of[right] + of[wrong])
        label = f"accuracy where one person alone, {row}, {direction}"
        yield NamedNumber("", f"{row}:{direction}:one_alone", label, Estimate(percent_of(of[right], n), n=n))


def _numbers(tables: NDArray[Any]) -> dict[str, Floats]:
    """Accuracy by `ROWS` and direction, and their differences, of tables ``[R, 2, 4, 4]``; NaN where there are none."""
    n, at = tables.sum(axis=(2, 3)), LINKS.index(Link.RIGHT)
    named: dict[str, Floats] = {}
    for direction, right in zip(CONDITIONS, (tables[:, :, at, :], tables[:, :, :, at]), strict=True):
        shares = percent(right.sum(axis=2), n)
        by_row = zip(ROWS, (*shares.T, shares.mean(axis=1)), strict=True)
        named |= {f"{row}:{direction}": share for row, share in by_row}
    return named | {f"{row}:difference": named[f"{row}:pro"] - named[f"{row}:anti"] for row in ROWS}
