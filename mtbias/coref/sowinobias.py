"""SoWinoBias: a test set without gendered words, made from a vocabulary, and accuracy by direction
and polarity.

"The [1] liked the [2] because they were [adjective]": *they* is the second person. The adjectives
are stereotypes of women; where the second person's occupation is one too the sentence is
pro-stereotypical, where the first's is, anti-stereotypical. Positive adjectives go with *liked*,
negative ones with *disliked*. Each sentence has a counterpart of the other direction, in which the
two occupations have changed places.

Source: Dawkins, *Second Order WinoBias (SoWinoBias) Test Set* (GeBNLP 2021), section 4.2. The words
of its appendix A ship with mtbias.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from importlib import resources
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtbias.coref.dataset import (
    CONDITIONS,
    KINDS,
    CorefDataset,
    DatasetScores,
    Link,
    NamedNumber,
    by_kind,
    link_to,
    shares_by_group,
)
from mtbias.coref.documents import Answers, Clusters, CorefText, Mention, joined
from mtbias.files.reading import TextFile, parse_toml, read_text, sha256_of
from mtbias.files.strict_json import EXACT
from mtbias.stats.paired import NumberUnits
from mtbias.stats.resampling import mcnemar
from mtbias.stats.results import Counts, Estimate, Floats, percent, source
from mtbias.types import Stereotype, frozen

PAPER_VOCABULARY = Path(str(resources.files("mtbias.coref"))) / "sowinobias.toml"
"""The paper's lists, which come with mtbias."""

POLARITIES = ("positive", "negative")
ROWS = (*POLARITIES, "all")
"""``all`` is the unweighted mean of the polarities, as in the paper's table 4."""
VERBS = {"positive": "liked", "negative": "disliked"}
LINKS = tuple(Link)
_SHAPE = (len(POLARITIES), len(LINKS), len(LINKS))
"""Of the tables of pairs."""


PAPER_SIZE = (
    "8,192 sentences are pro and 8,192 anti, of each 4,096 with positive and 4,096 with negative "
    "adjectives; the paper prints 4,096 of each and does not say which"
)
"""How the size of the test set that the paper's lists make differs from the paper's."""


@frozen
class Vocabulary:
    """The four lists."""

    male_occupations: tuple[str, ...]
    female_occupations: tuple[str, ...]
    positive_adjectives: tuple[str, ...]
    negative_adjectives: tuple[str, ...]

    __pydantic_config__ = EXACT


@frozen
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


def parse_vocabulary(file: TextFile) -> Vocabulary:
    """The TOML file with the four lists, each of words or of words with blanks inside.

    Raises:
        DataError: no TOML; a list is missing, empty, or not of text; a word that occurs twice in
            the file; another key.
    """
    vocabulary = file.converted(Vocabulary, parse_toml(file))
    seen: dict[str, str] = {}
    for name, words in asdict(vocabulary).items():
        if not words or not all(map(str.split, words)):
            raise file.error(f"{name}: expected a list of words, got {list(words)}")
        for word in words:
            if word.lower() in seen:
                message = f"{name}: {word!r} is in {seen[word.lower()]} already"
                raise file.error(f"{message}; a word may occur once")
            seen[word.lower()] = name
    return vocabulary


def generate(vocabulary: Vocabulary) -> tuple[SoWinoBiasSentence, ...]:
    """The test set by polarity: each pro-stereotypical sentence with its counterpart behind it.

    With lists of 16 there are 4096 sentences in each direction *and polarity* (`PAPER_SIZE`). The
    paper's "n = 4096 in each of pro and anti" may mean that, or a half whose choice it does not
    describe.
    """
    adjectives = vocabulary.positive_adjectives, vocabulary.negative_adjectives
    occupations = vocabulary.male_occupations, vocabulary.female_occupations
    pro, anti = CONDITIONS
    sentences = []
    for polarity, words in zip(POLARITIES, adjectives, strict=True):
        for male, female, adjective in product(*occupations, words):
            sentences.append(_sentence(pro, polarity, (male, female, adjective)))
            sentences.append(_sentence(anti, polarity, (female, male, adjective)))
    return tuple(sentences)


def _sentence(
    direction: Stereotype, polarity: str, words: tuple[str, str, str]
) -> SoWinoBiasSentence:
    first, second, adjective = (word.split() for word in words)
    verb = 1 + len(first)
    pronoun = verb + len(second) + 3
    return SoWinoBiasSentence(
        id="-".join([direction, polarity, *(word.replace(" ", "_") for word in words)]),
        direction=direction,
        polarity=polarity,
        tokens=(
            "The",
            *first,
            VERBS[polarity],
            "the",
            *second,
            "because",
            "they",
            "were",
            *adjective,
            ".",
        ),
        first=(0, verb - 1),
        second=(verb + 1, pronoun - 2),
        pronoun=(pronoun, pronoun),
    )


def link(sentence: SoWinoBiasSentence, clusters: Clusters) -> Link:
    """With whom *they* shares a cluster: right is the second person alone.

    The pronoun is the mention of that one token. A person is a mention that ends on the
    occupation's last token and begins at its article or behind it, so "the nurse" and "nurse" both
    count and "the nurse because they" does not.
    """
    of_pronoun = [cluster for cluster in clusters if sentence.pronoun in cluster]
    mentions = list(chain.from_iterable(of_pronoun))
    first, second = (_is_among(person, mentions) for person in (sentence.first, sentence.second))
    return link_to(right=second, wrong=first)


def _is_among(person: Mention, mentions: Iterable[Mention]) -> bool:
    """Whether a mention ends with the person, and begins at its article or after it."""
    return any(end == person[1] and person[0] <= start for start, end in mentions)


@dataclass(frozen=True)
class SoWinoBias(CorefDataset):
    """The test set that a vocabulary makes."""

    sentences: tuple[SoWinoBiasSentence, ...]
    files: Mapping[str, str]
    signed: Mapping[str, object]

    name = "sowinobias"
    options = frozenset({"over"})

    @property
    def remarks(self) -> Sequence[str]:  # type: ignore[override] # read-only
        """How the number of sentences differs from the paper's, where the words are the paper's."""
        return [PAPER_SIZE] if self.signed.get("list") == "paper" else []

    @cached_property
    def texts(self) -> list[CorefText]:
        """All sentences; a group is a pair."""
        return [
            CorefText(
                s.id,
                s.tokens,
                s.text,
                ((s.second, s.pronoun),),
                pronoun=s.pronoun,
                group=str(at // 2),
            )
            for at, s in enumerate(self.sentences)
        ]

    def right(
        self,
        at: int,
        text: CorefText,  # noqa: ARG002 - the base class's
        answer: Clusters,
    ) -> bool:
        """See `CorefDataset`; where the link is."""
        return link(self.sentences[at], answer) is Link.RIGHT

    def score(self, answers: Answers, *, seed: int = 0, resamples: int = 10_000) -> DatasetScores:
        """See `CorefDataset`.

        Accuracy: right / n; both persons, or none, are wrong. Intervals are percentile bootstraps
        over pairs (of shares Wilson's where that knows one value alone, or pairs are few:
        `NumberUnits.estimates`); p of pro − anti is McNemar's exact test over pairs (``all``: of
        both polarities), two-sided.
        """
        # A pair is a cell of a table of polarity, link of the pro and link of the anti sentence.
        links = {s.id: LINKS.index(link(s, answers.of[s.id])) for s in self.sentences}
        pairs = list(zip(self.sentences[::2], self.sentences[1::2], strict=True))
        places = [
            (POLARITIES.index(pro.polarity), links[pro.id], links[anti.id]) for pro, anti in pairs
        ]
        meant = tuple(_occupation(pro.tokens, pro.second) for pro, _ in pairs)

        shares = [f"{row}:{condition}" for row, condition in product(ROWS, CONDITIONS)]
        compared = [*shares, *(f"{row}:difference" for row in ROWS)]
        units = NumberUnits.of_cells(places, _SHAPE, meant, _numbers)
        units = replace(units, compared=compared, shares=shares)
        estimates = units.estimates(resamples, source(seed), intervals=compared)

        table = units.sums.sum(axis=0).astype(np.int64).reshape(_SHAPE)
        numbers: list[NamedNumber] = []
        counts: dict[str, dict[str, float | None]] = {}
        for row, table_of_row in zip(ROWS, (table[0], table[1], table.sum(axis=0)), strict=True):
            numbers += _row_numbers(row, table_of_row, estimates)
            for direction, axis in zip(CONDITIONS, (1, 0), strict=True):
                of_link = map(int, table_of_row.sum(axis=axis))
                counts[f"{row}, {direction}"] = dict(zip(map(str, LINKS), of_link, strict=True))

        linked: list[tuple[str, int, bool]] = []
        for occupation, (_, pro_link, anti_link) in zip(meant, places, strict=True):
            linked.append((occupation, 0, LINKS[pro_link] is Link.RIGHT))
            linked.append((occupation, 1, LINKS[anti_link] is Link.RIGHT))
        return DatasetScores(
            tuple(numbers),
            {"": units},
            counts,
            remarks=tuple(self.remarks),
            sides=shares_by_group(linked),
        )


def _occupation(tokens: Sequence[str], person: Mention) -> str:
    """The person without its article."""
    return " ".join(tokens[person[0] + 1 : person[1] + 1])


def _row_numbers(
    row: str, table: Counts, estimates: Mapping[str, Estimate]
) -> Iterator[NamedNumber]:
    """The numbers of a row, of its table of pairs ``[link of pro, link of anti]``."""
    right = LINKS.index(Link.RIGHT)
    pro_alone = int(table[right].sum() - table[right, right])
    anti_alone = int(table[:, right].sum() - table[right, right])
    p = mcnemar(pro_alone, anti_alone)
    for key, label in KINDS.items():
        estimate = replace(estimates[f"{row}:{key}"], n=int(table.sum()))
        is_tested = key == "difference" and estimate.value is not None
        estimate = replace(estimate, p=p if is_tested else None)
        headline = row == "all" and key != "average"
        yield NamedNumber("", f"{row}:{key}", f"accuracy, {row}, {label}", estimate, headline)


def open_sowinobias(data: Path | None) -> SoWinoBias:
    """The test set of the vocabulary at `data`, by default of the paper's.

    Raises:
        DataError: no such file; as `parse_vocabulary`.
    """
    file = read_text(data or PAPER_VOCABULARY)
    sentences = generate(parse_vocabulary(file))
    digest = sha256_of("".join(f"{s.id}\t{s.text}\n" for s in sentences))
    signed = {
        "sentences": digest[:12],
        "list": "given" if data else "paper",
        "right": "second-person-alone",
    }
    return SoWinoBias(sentences, {"vocabulary": file.sha256}, signed)


def _numbers(tables: NDArray[Any]) -> dict[str, Floats]:
    """Accuracy by `ROWS` and `KINDS`, of tables ``[R, 2, 4, 4]``."""
    values: dict[str, Floats] = {}
    for direction, links in zip(CONDITIONS, (tables.sum(axis=3), tables.sum(axis=2)), strict=True):
        shares = percent(links[..., LINKS.index(Link.RIGHT)], links.sum(axis=-1))
        for row, share in zip(ROWS, (*shares.T, shares.mean(axis=1)), strict=True):
            values[f"{row}:{direction}"] = share
    for row in ROWS:
        values |= by_kind(f"{row}:", *(values[f"{row}:{direction}"] for direction in CONDITIONS))
    return values
