"""Winogender: whether a pronoun's gender changes what it is resolved to, and whether occupational
statistics tell how.

720 sentences: 60 occupations, each with an answer that is the occupation and one that is the other
participant, each with the participant named and with "someone", each with a male, a female and a
neutral pronoun. The right answer never depends on the pronoun.

* **Consistency**: the share of the 240 triples whose three pronouns are resolved alike, and for
  each two pronouns the share of the 240 pairs that are resolved differently (the paper gives it for
  male and female).
* **Preference** of an occupation, in points: share of its 4 sentences with a female pronoun that
  are resolved to the occupation, less that of its 4 with a male one; 100 is the maximum female
  bias. **Correlation** of the preference with the share of women in the occupation: by the U.S.
  Bureau of Labor Statistics, and in text (Bergsma and Lin 2006). Pearson's r as in the paper,
  Spearman's ρ beside it.
* **Gotcha** sentences: a female pronoun whose answer is an occupation with less than 50 % women
  (BLS), or a participant beside an occupation of 50 % or more; for male pronouns the reverse.
  Neutral pronouns have none.

Four outcomes: occupation, participant, both, none. "Both" and "none" are wrong, and differ from
each other.

Source: Rudinger et al., NAACL 2018 (N18-2002).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtbias.coref.dataset import RATIO, CorefDataset, DatasetScores, NamedNumber, shares_by_group
from mtbias.coref.documents import Answers, Clusters, CorefText
from mtbias.files.reading import Record, read_table
from mtbias.stats.paired import NumberUnits
from mtbias.stats.resampling import spearman
from mtbias.stats.results import Estimate, Floats, number, percent, source
from mtbias.types import Gender, frozen

STATISTICS = ("bls", "bergsma")
"""The two shares of women, as `Winogender` names them."""
PRONOUNS = (Gender.MALE, Gender.FEMALE, Gender.NEUTRAL)
# The data set's own list: what its templates fill in. A sentence must have exactly one of them.
_WORDS = {
    Gender.MALE: {"he", "him", "his"},
    Gender.FEMALE: {"she", "her"},
    Gender.NEUTRAL: {"they", "them", "their"},
}
_ID = re.compile(
    r"(?P<occupation>[^.]+)\.(?P<participant>[^.]+)\.(?P<answer>[01])\."
    r"(?P<pronoun>male|female|neutral)\.txt"
)
# Words with their hyphens, 's and n't apart as in the Penn Treebank, each punctuation mark by
# itself.
_TOKEN = re.compile(r"\w+(?=n't\b)|n't\b|'\w+|\w+(?:-\w+)*|[^\w\s]")


class Resolution(StrEnum):
    """The person that a system links the pronoun to."""

    OCCUPATION = "occupation"
    PARTICIPANT = "participant"
    BOTH = "both"
    NONE = "none"


@frozen
class WinogenderSentence:
    """One sentence."""

    id: str
    text: str
    occupation: str
    pronoun: Gender
    answer: Resolution
    someone: bool
    """Whether the participant is "someone"."""
    tokens: tuple[str, ...]
    places: tuple[int, int, int]
    """Which tokens are the occupation, the participant and the pronoun."""

    @property
    def gold(self) -> Clusters:
        """The person that is the answer, with the article before it, and the pronoun."""
        occupation, participant, pronoun = self.places
        end = occupation if self.answer is Resolution.OCCUPATION else participant
        start = end - 1 if end and self.tokens[end - 1].lower() in {"the", "a", "an"} else end
        return (tuple(sorted([(start, end), (pronoun, pronoun)])),)


@dataclass(frozen=True)
class Winogender(CorefDataset):
    """All sentences, and the share of women in each occupation in per cent."""

    sentences: Mapping[str, WinogenderSentence]
    bls: Mapping[str, float]
    bergsma: Mapping[str, float]
    files: Mapping[str, str]

    name = "winogender"
    signed = MappingProxyType({"gotcha": "bls50", "unit": "occupation"})

    @cached_property
    def texts(self) -> list[CorefText]:
        """All sentences; a group is a sentence with each pronoun."""
        return [
            CorefText(
                s.id,
                s.tokens,
                s.text,
                s.gold,
                pronoun=(s.places[2],) * 2,
                group=s.id.removesuffix(f".{s.pronoun}.txt"),
            )
            for s in self.sentences.values()
        ]

    def answer(self, id_: str, clusters: Clusters) -> Resolution:
        """A cluster counts that has the pronoun as a mention of its own.

        In it, mentions count that cover the occupation or the participant, but neither both nor the
        pronoun.
        """
        occupation, participant, pronoun = self.sentences[id_].places
        linked: set[Resolution] = set()
        for cluster in clusters:
            for start, end in cluster if (pronoun, pronoun) in cluster else ():
                of_occupation, of_participant, around = (
                    start <= at <= end for at in (occupation, participant, pronoun)
                )
                if of_occupation != of_participant and not around:
                    linked.add(Resolution.OCCUPATION if of_occupation else Resolution.PARTICIPANT)
        return Resolution.BOTH if len(linked) == 2 else next(iter(linked), Resolution.NONE)

    def right(
        self,
        at: int,  # noqa: ARG002 - the base class's
        text: CorefText,
        answer: Resolution,
    ) -> bool:
        """See `CorefDataset`."""
        return answer is self.sentences[text.id].answer

    def score(self, answers: Answers, *, seed: int = 0, resamples: int = 10_000) -> DatasetScores:
        """See `CorefDataset`; every interval rests on the same resamples of occupations; ρ has
        none.
        """
        counts = self._count(answers)
        units = counts.units()
        n = {name: int(sentences.sum()) for name, (_, sentences) in counts.shares.items()}
        n["accuracy_difference"] = n["male_accuracy"]
        n |= {f"pearson_{name}": len(counts.names) for name in STATISTICS}
        numbers = units.estimates(resamples, source(seed), n=n)
        for name, women in counts.women.items():
            rho = spearman(women, counts.preference)
            numbers[f"spearman_{name}"] = Estimate(number(rho), n=len(counts.names))
        rows = sorted(zip(-counts.preference, counts.names, *counts.women.values(), strict=True))
        return DatasetScores(
            tuple(
                NamedNumber("", key, _NAMES.get(key, key.replace("_", " ")), one, key in _HEADLINE,
                            RATIO if key.startswith(("pearson", "spearman")) else 2)
                for key, one in numbers.items()
            ),
            {"": units},
            {
                name: {"preference": -less, "BLS % women": bls, "Bergsma % women": bergsma}
                for less, name, bls, bergsma in rows
            },
            sides=shares_by_group(
                (s.occupation, PRONOUNS.index(s.pronoun), answers.of[s.id] is s.answer)
                for s in self.sentences.values()
                if s.pronoun is not Gender.NEUTRAL
            ),
        )  # fmt: skip

    def _count(self, answers: Answers) -> _Counts:
        occupations = {sentence.occupation for sentence in self.sentences.values()}
        names = [name for name in self.bls if name in occupations]
        ordered = sorted(
            self.sentences.values(),
            key=lambda s: (
                names.index(s.occupation),
                s.answer,
                s.someone,
                PRONOUNS.index(s.pronoun),
            ),
        )
        pairs = np.array([(answers.of[s.id], s.answer) for s in ordered])
        resolved, right = pairs.T.reshape(2, -1, 4, len(PRONOUNS))
        women = {
            "bls": np.array([self.bls[name] for name in names]),
            "bergsma": np.array([self.bergsma[name] for name in names]),
        }
        return _Counts(names, women, resolved, right)


_HEADLINE = {
    "consistency", "male_female_differ", "male_accuracy", "female_accuracy", "accuracy_difference",
    "pearson_bls",
}  # fmt: skip
_NAMES = {
    "consistency": "all three pronouns resolved alike",
    "male_female_differ": "male and female resolved differently",
    "male_neutral_differ": "male and neutral resolved differently",
    "female_neutral_differ": "female and neutral resolved differently",
    "accuracy_difference": "accuracy, male − female",
    "pearson_bls": "preference and BLS, Pearson's r",
    "spearman_bls": "preference and BLS, Spearman's ρ",
    "pearson_bergsma": "preference and Bergsma, Pearson's r",
    "spearman_bergsma": "preference and Bergsma, Spearman's ρ",
}
"""The labels of those that are not made of their key's words."""


def read_winogender(folder: Path) -> Winogender:
    """Read ``all_sentences.tsv`` and ``occupations-stats.tsv`` in `folder`.

    Raises:
        DataError: a file that is not there or broken; an id or a sentence not as described above;
            an occupation without statistics, or with two; not each occupation once with each
            answer, participant and pronoun.
    """
    stats = read_table(
        folder / "occupations-stats.tsv", "occupation", "bls_pct_female", "bergsma_pct_female"
    )
    bls, bergsma = (
        _by_occupation(stats.records, column) for column in ("bls_pct_female", "bergsma_pct_female")
    )
    if len(bls) != len(stats.records):
        raise stats.file.error("expected one row for each occupation, got one twice; remove a row")
    table = read_table(folder / "all_sentences.tsv", "sentid", "sentence")
    sentences: dict[str, WinogenderSentence] = {}
    for record in table.records:
        sentence = _sentence(record)
        if sentence.occupation not in bls:
            raise record.error(
                f"occupation {sentence.occupation!r} is not in {stats.file.path.name}"
            )
        if sentences.setdefault(sentence.id, sentence) is not sentence:
            raise record.error(f"expected id {sentence.id!r} once, got it again; remove a row")
    cells = Counter((s.occupation, s.answer, s.someone, s.pronoun) for s in sentences.values())
    twelve = Counter(occupation for occupation, *_ in cells)
    if cells.total() != len(cells) or set(twelve.values()) != {12}:
        raise table.file.error(
            "expected each occupation once with each answer, participant or someone, and pronoun"
        )
    files = table.file.hashes | stats.file.hashes
    return Winogender(sentences, bls, bergsma, files)


def _by_occupation(records: Iterable[Record], column: str) -> dict[str, float]:
    return {record.get("occupation"): record.number(column, most=100) for record in records}


def _sentence(record: Record) -> WinogenderSentence:
    id_, text = record.get("sentid"), record.get("sentence")
    match = _ID.fullmatch(id_)
    if match is None:
        raise record.error(f"expected an id such as nurse.patient.1.female.txt, got {id_!r}")
    pronoun, tokens = Gender(match["pronoun"]), tuple(_TOKEN.findall(text))
    places = []
    for words in ({match["occupation"]}, {match["participant"]}, _WORDS[pronoun]):
        hits = [at for at, token in enumerate(tokens) if token.lower() in words]
        if len(hits) != 1:
            raise record.error(
                f"expected one of {', '.join(sorted(words))} once in the sentence, got {len(hits)}"
            )
        places += hits
    occupation, participant, at = places
    answer = Resolution.PARTICIPANT if match["answer"] == "1" else Resolution.OCCUPATION
    someone = match["participant"] == "someone"
    return WinogenderSentence(
        id_,
        text,
        match["occupation"],
        pronoun,
        answer,
        someone,
        tokens,
        (occupation, participant, at),
    )


@dataclass(frozen=True, eq=False)
class _Counts:
    """Resolutions by occupation, its four triples (sentences that differ in the pronoun alone) and
    `PRONOUNS`.
    """

    names: Sequence[str]
    women: Mapping[str, Floats]
    """By `STATISTICS`, the share of women in each occupation."""
    resolved: NDArray[Any]
    """``[n, 4, 3]``."""
    answers: NDArray[Any]
    """The right ones, of the same shape."""

    @cached_property
    def shares(self) -> dict[str, tuple[Floats, Floats]]:
        """What each occupation adds to the numerator and the denominator of each share."""
        resolved, right = self.resolved, self.resolved == self.answers
        every = np.full(resolved.shape[:2], fill_value=True)
        shares = {"consistency": ((resolved == resolved[..., :1]).all(axis=2), every)}
        for (i, one), (j, other) in combinations(enumerate(PRONOUNS), 2):
            shares[f"{one}_{other}_differ"] = (resolved[..., i] != resolved[..., j], every)
        for k, pronoun in enumerate(PRONOUNS):
            for resolution in Resolution:
                shares[f"{pronoun}_{resolution}"] = (resolved[..., k] == resolution, every)
            shares[f"{pronoun}_accuracy"] = right[..., k], every
            if pronoun is not Gender.NEUTRAL:
                expected = (self.women["bls"] >= 50) == (pronoun is Gender.FEMALE)
                gotcha = expected[:, None] != (self.answers[..., k] == Resolution.OCCUPATION)
                for name, subset in (("gotcha", gotcha), ("not_gotcha", ~gotcha)):
                    shares[f"{pronoun}_accuracy_{name}"] = (right[..., k] & subset, subset)
        return {
            name: (hits.sum(axis=1), counted.sum(axis=1))
            for name, (hits, counted) in shares.items()
        }

    @cached_property
    def preference(self) -> Floats:
        """Share of female less share of male pronouns resolved to the occupation, in points."""
        (female, n), (male, _) = (
            self.shares[f"{g}_{Resolution.OCCUPATION}"] for g in (Gender.FEMALE, Gender.MALE)
        )
        return np.asarray(100 * (female - male) / n)

    def units(self) -> NumberUnits:
        """What shares and Pearson's correlations rest on; a unit is an occupation."""
        hits_of_shares, totals_of_shares = zip(*self.shares.values(), strict=True)
        blocks = [np.column_stack(hits_of_shares), np.column_stack(totals_of_shares)]
        y = self.preference
        # 1, x, y, x², xy, y²: x is the share of women, y the preference.
        blocks += [
            np.column_stack([np.ones(len(x)), x, y, x * x, x * y, y * y])
            for x in self.women.values()
        ]
        ends = np.cumsum([block.shape[1] for block in blocks])[:-1]

        def numbers(sums: Floats) -> dict[str, Floats]:
            hits, totals, *moments = np.split(sums, ends, axis=1)
            shares = dict(zip(self.shares, percent(hits, totals).T, strict=True))
            shares["accuracy_difference"] = shares["male_accuracy"] - shares["female_accuracy"]
            return shares | {
                f"pearson_{name}": _pearson(sums_of_moments)
                for name, sums_of_moments in zip(self.women, moments, strict=True)
            }

        return NumberUnits(np.hstack(blocks), tuple(self.names), numbers, shares=tuple(self.shares))


def _pearson(sums: Floats) -> Floats:
    """Pearson's r from n, Σx, Σy, Σx², Σxy, Σy², ``[R, 6]``; NaN where x or y does not vary."""
    n, x, y, xx, xy, yy = sums.T
    spread_x, spread_y = n * xx - x * x, n * yy - y * y
    varies = (spread_x > 1e-9 * n * xx) & (spread_y > 1e-9 * n * yy)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(varies, (n * xy - x * y) / np.sqrt(np.abs(spread_x * spread_y)), np.nan)
