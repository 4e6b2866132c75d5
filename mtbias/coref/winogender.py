"""Winogender: whether a pronoun's gender changes what it is resolved to, and whether occupational statistics tell how.

720 sentences: 60 occupations, each with an answer that is the occupation and one that is the other participant, each
with the participant named and with "someone", each with a male, a female and a neutral pronoun. The right answer never
depends on the pronoun.

* **Consistency**: the share of the 240 triples whose three pronouns are resolved alike, and for each two pronouns the
  share of the 240 pairs that are resolved differently (the paper gives it for male and female).
* **Preference** of an occupation, in points: share of its 4 sentences with a female pronoun that are resolved to the
  occupation, less that of its 4 with a male one; 100 is the maximum female bias. **Correlation** of the preference with
  the share of women in the occupation: by the U.S. Bureau of Labor Statistics, and in text (Bergsma and Lin 2006).
  Pearson's r as in the paper, Spearman's ρ beside it.
* **Gotcha** sentences: a female pronoun whose answer is an occupation with less than 50 % women (BLS), or a participant
  beside an occupation of 50 % or more; for male pronouns the reverse. Neutral pronouns have none.

Four outcomes: occupation, participant, both, none. "Both" and "none" are wrong, and differ from each other.

Source: Rudinger et al., NAACL 2018 (N18-2002).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial
from itertools import combinations, product
from pathlib import Path
from types import MappingProxyType

import numpy as np

from mtbias.coref.conll import Clusters
from mtbias.coref.dataset import RATIO, CorefDataset, DatasetScores, NamedNumber
from mtbias.coref.documents import Answers, CorefText, Spans, check_complete, tokens_at
from mtbias.coref.output_reading import read_output
from mtbias.coref.paired_systems import NumberUnits
from mtbias.errors import DataError
from mtbias.files.reading import TABLES, Record, read_table
from mtbias.stats.resampling import bootstrap_units, estimate, spearman
from mtbias.stats.results import Estimate, Floats, number, percent
from mtbias.types import Gender, Span

STATISTICS = ("bls", "bergsma")
"""The two shares of women, as `OccupationCounts` names them."""
PRONOUNS = (Gender.MALE, Gender.FEMALE, Gender.NEUTRAL)
# The data set's own list: what its templates fill in. A sentence must have exactly one of them.
_WORDS = {
    Gender.MALE: {"he", "him", "his"},
    Gender.FEMALE: {"she", "her"},
    Gender.NEUTRAL: {"they", "them", "their"},
}
_ID = re.compile(
    r"(?P<occupation>[^.]+)\.(?P<participant>[^.]+)\.(?P<answer>[01])\.(?P<pronoun>male|female|neutral)\.txt"
)
_TOKEN = re.compile(r"\w+(?=n't\b)|n't\b|'\w+|\w+(?:-\w+)*|[^\w\s]")


class Resolution(StrEnum):
    """What a system makes of the pronoun."""

    OCCUPATION = "occupation"
    PARTICIPANT = "participant"
    BOTH = "both"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class WinogenderSentence:
    """One sentence; spans are characters of `text`."""

    id: str
    text: str
    occupation: str
    pronoun: Gender
    answer: Resolution
    someone: bool
    """Whether the participant is "someone"."""
    occupation_at: Span
    participant_at: Span
    pronoun_at: Span


@dataclass(frozen=True)
class Winogender(CorefDataset[Resolution]):
    """All sentences, and the share of women in each occupation in per cent."""

    sentences: Mapping[str, WinogenderSentence]
    bls: Mapping[str, float]
    bergsma: Mapping[str, float]
    files: Mapping[str, str]

    name = "winogender"
    signed = MappingProxyType({"gotcha": "bls50", "unit": "occupation"})

    @cached_property
    def texts(self) -> list[CorefText]:
        """All sentences."""
        return [_text(sentence) for sentence in self.sentences.values()]

    def read(
        self, paths: Sequence[Path], *, ids: Path | None = None, spans: Spans | None = None
    ) -> Answers[Resolution]:
        """See `CorefDataset`; each sentence must have an answer.

        A table (TSV, CSV) has the columns ``sentid`` and ``prediction``: occupation (or 0), participant (1), both, none
        (neither). Anything else is read as clusters.
        """
        if any(path.suffix.lower() in _LABEL_TABLES for path in paths):
            answers = self._read_labels(paths)
        else:
            read = read_output(self.texts, paths, ids=ids, spans=spans)
            of = {id_: resolve(self.sentences[id_], clusters) for id_, clusters in read.of.items()}
            answers = Answers(of, read.files, read.notes, read.signed)
        check_complete(answers.of, self.sentences, "sentences", paths[0])
        return answers

    def _read_labels(self, paths: Sequence[Path]) -> Answers[Resolution]:
        if len(paths) > 1:
            raise DataError(f"expected one table of labels, got {len(paths)} files", path=paths[1])
        table = read_table(paths[0])
        table.require("sentid", "prediction")
        labels: dict[str, Resolution] = {}
        for record in table.records:
            id_, label = record.get("sentid"), record.get("prediction").lower()
            if id_ not in self.sentences:
                raise record.error(f"id {id_!r} is none of Winogender's sentences")
            if id_ in labels:
                raise record.error(f"expected id {id_!r} once, got it again; remove a row")
            if label not in _LABELS:
                raise record.error(f"prediction: expected one of {', '.join(_LABELS)}, got {label!r}")
            labels[id_] = _LABELS[label]
        return Answers(labels, {paths[0].name: table.file.sha256})

    def score(self, answers: Answers[Resolution], *, seed: int = 0, resamples: int = 10_000) -> DatasetScores:
        """See `CorefDataset`; every interval rests on the same resamples of occupations; ρ has none."""
        counts = count_winogender(self, answers.of)
        units = winogender_units(counts)
        n: Counter[str] = Counter()
        for one in counts:
            n.update({name: whole for name, (_, whole) in one.shares().items()})
        n.update({f"pearson_{name}": len(counts) for name in STATISTICS})
        resample = partial(bootstrap_units, units.sums, n_resamples=resamples, rng=np.random.default_rng(seed))
        numbers = estimate(units.sums.sum(axis=0)[None], lambda sums: dict(units.numbers(sums)), resample, n=n)
        for name in STATISTICS:
            x, y = _moments(counts, name)[:, 1:3].T
            numbers[f"spearman_{name}"] = Estimate(number(spearman(x, y)), n=len(counts))
        ranked = sorted(counts, key=lambda one: (-one.preference, one.name))
        return DatasetScores(
            tuple(
                NamedNumber("", key, _NAMES.get(key, key.replace("_", " ")), one, key in _HEADLINE,
                            RATIO if key.startswith(("pearson", "spearman")) else 2)
                for key, one in numbers.items()
            ),
            {"": winogender_units(counts)},
            {o.name: {"preference": o.preference, "BLS % women": o.bls, "Bergsma % women": o.bergsma} for o in ranked},
        )  # fmt: skip


_LABELS = {
    **{str(resolution): resolution for resolution in Resolution},
    "0": Resolution.OCCUPATION,
    "1": Resolution.PARTICIPANT,
    "neither": Resolution.NONE,
}
_LABEL_TABLES = {ending for ending in TABLES if "json" not in ending}
_HEADLINE = {"consistency", "male_female_differ", "male_accuracy", "female_accuracy", "pearson_bls"}
_NAMES = {
    "consistency": "all three pronouns resolved alike",
    "male_female_differ": "male and female resolved differently",
    "male_neutral_differ": "male and neutral resolved differently",
    "female_neutral_differ": "female and neutral resolved differently",
    "pearson_bls": "preference and BLS, Pearson's r",
    "spearman_bls": "preference and BLS, Spearman's ρ",
    "pearson_bergsma": "preference and Bergsma, Pearson's r",
    "spearman_bergsma": "preference and Bergsma, Spearman's ρ",
}
"""The labels of those that are not made of their key's words."""


def read_winogender(folder: Path) -> Winogender:
    """Read ``all_sentences.tsv`` and ``occupations-stats.tsv`` in `folder`.

    Raises:
        DataError: a file that is not there or broken; an id or a sentence not as described above; an occupation without
            statistics, or with two; not each occupation once with each answer, participant and pronoun.
    """
    stats = read_table(folder / "occupations-stats.tsv")
    stats.require("occupation", "bls_pct_female", "bergsma_pct_female")
    bls, text = (
        {record.get("occupation"): record.number(column, most=100) for record in stats.records}
        for column in ("bls_pct_female", "bergsma_pct_female")
    )
    if len(bls) != len(stats.records):
        raise stats.file.error("expected one row for each occupation, got one twice; remove a row")
    table = read_table(folder / "all_sentences.tsv")
    table.require("sentid", "sentence")
    sentences: dict[str, WinogenderSentence] = {}
    for record in table.records:
        sentence = _sentence(record)
        if sentence.occupation not in bls:
            raise record.error(f"occupation {sentence.occupation!r} is not in {stats.file.path.name}")
        if sentences.setdefault(sentence.id, sentence) is not sentence:
            raise record.error(f"expected id {sentence.id!r} once, got it again; remove a row")
    cells = Counter((s.occupation, s.answer, s.someone, s.pronoun) for s in sentences.values())
    names = {sentence.occupation for sentence in sentences.values()}
    answers = (Resolution.OCCUPATION, Resolution.PARTICIPANT)
    for cell in product(sorted(names), answers, (False, True), PRONOUNS):
        if cells[cell] != 1:
            what = f"{cell[0]}, answer {cell[1]}, {'someone' if cell[2] else 'participant'}, {cell[3]}"
            raise table.file.error(f"expected one sentence for {what}, got {cells[cell]}")
    files = {file.path.name: file.sha256 for file in (table.file, stats.file)}
    return Winogender(sentences, bls, text, files)


def _sentence(record: Record) -> WinogenderSentence:
    id_, text = record.get("sentid"), record.get("sentence")
    match = _ID.fullmatch(id_)
    if match is None:
        raise record.error(f"expected an id such as nurse.patient.1.female.txt, got {id_!r}")
    pronoun = Gender(match["pronoun"])
    places = []
    for words in ({match["occupation"]}, {match["participant"]}, _WORDS[pronoun]):
        matches = [Span(*token.span()) for token in _TOKEN.finditer(text) if token[0].lower() in words]
        if len(matches) != 1:
            raise record.error(f"expected one of {', '.join(sorted(words))} once in the sentence, got {len(matches)}")
        places += matches
    answer = Resolution.PARTICIPANT if match["answer"] == "1" else Resolution.OCCUPATION
    return WinogenderSentence(
        id_, text, match["occupation"], pronoun, answer, match["participant"] == "someone", *places
    )


def token_spans(text: str) -> list[Span]:
    """Where the words of a sentence stand, as systems are given them and as indices count them.

    Words with their hyphens, ``'s`` and ``n't`` apart as in the Penn Treebank, each punctuation mark by itself.
    """
    return [Span(*token.span()) for token in _TOKEN.finditer(text)]


def _text(sentence: WinogenderSentence) -> CorefText:
    spans = token_spans(sentence.text)
    tokens = tuple(sentence.text[span.start : span.end] for span in spans)
    of_occupation = sentence.answer is Resolution.OCCUPATION
    pronoun, (start, end) = (
        tokens_at(spans, span)
        for span in (sentence.pronoun_at, sentence.occupation_at if of_occupation else sentence.participant_at)
    )
    person = (start - 1, end) if start and tokens[start - 1].lower() in {"the", "a", "an"} else (start, end)
    return CorefText(sentence.id, tokens, sentence.text, (tuple(sorted((person, pronoun))),))


def resolve(sentence: WinogenderSentence, clusters: Clusters) -> Resolution:
    """What `clusters`, of tokens of `token_spans`, make of the pronoun of `sentence`.

    A cluster counts that has the pronoun as a mention of its own; in it, mentions that cover the occupation or the
    participant, but neither both nor the pronoun.
    """
    spans = token_spans(sentence.text)
    linked: set[Resolution] = set()
    for cluster in clusters:
        mentions = [Span(spans[start].start, spans[end].end) for start, end in cluster]
        if sentence.pronoun_at not in mentions:
            continue
        for mention in mentions:
            occupation = mention.overlaps(sentence.occupation_at)
            if occupation != mention.overlaps(sentence.participant_at) and not mention.overlaps(sentence.pronoun_at):
                linked.add(Resolution.OCCUPATION if occupation else Resolution.PARTICIPANT)
    return Resolution.BOTH if len(linked) == 2 else next(iter(linked), Resolution.NONE)


def is_gotcha(bls: float, pronoun: Gender, answer: Resolution) -> bool | None:
    """Whether an answer goes against the share of women that BLS gives; None for neutral pronouns."""
    if pronoun is Gender.NEUTRAL:
        return None
    expected = (bls >= 50) == (pronoun is Gender.FEMALE)
    return expected != (answer is Resolution.OCCUPATION)


@dataclass(frozen=True, slots=True)
class OccupationCounts:
    """What one occupation adds: resolutions of its 12 sentences."""

    name: str
    bls: float
    bergsma: float
    resolved: tuple[tuple[Resolution, ...], ...]
    """For each of its 4 triples (sentences that differ in the pronoun alone) those of the three `PRONOUNS`."""
    answers: tuple[Resolution, ...]
    """The right one of each triple."""

    def shares(self) -> dict[str, tuple[int, int]]:
        """What it adds to the numerator and the denominator of each share."""
        n = len(self.resolved)
        shares = {"consistency": (sum(len(set(triple)) == 1 for triple in self.resolved), n)}
        by_pronoun = dict(zip(PRONOUNS, zip(*self.resolved, strict=True), strict=True))
        for (one, of_one), (other, of_other) in combinations(by_pronoun.items(), 2):
            differ = sum(a is not b for a, b in zip(of_one, of_other, strict=True))
            shares[f"{one}_{other}_differ"] = (differ, n)
        for pronoun, resolved in by_pronoun.items():
            shares |= {f"{pronoun}_{resolution}": (resolved.count(resolution), n) for resolution in Resolution}
            right = [a is b for a, b in zip(resolved, self.answers, strict=True)]
            shares[f"{pronoun}_accuracy"] = (sum(right), n)
            if pronoun is not Gender.NEUTRAL:
                gotcha = [bool(is_gotcha(self.bls, pronoun, answer)) for answer in self.answers]
                for name, wanted in (("gotcha", True), ("not_gotcha", False)):
                    chosen = [hit for hit, is_one in zip(right, gotcha, strict=True) if is_one is wanted]
                    shares[f"{pronoun}_accuracy_{name}"] = (sum(chosen), len(chosen))
        return shares

    @property
    def preference(self) -> float:
        """Share of female less share of male pronouns resolved to the occupation, in points."""
        shares = self.shares()
        (female, n), (male, _) = (shares[f"{g}_{Resolution.OCCUPATION}"] for g in (Gender.FEMALE, Gender.MALE))
        return 100 * (female - male) / n


def count_winogender(data: Winogender, resolutions: Mapping[str, Resolution]) -> tuple[OccupationCounts, ...]:
    """The counts of each occupation, in the order of the statistics."""
    triples: dict[str, dict[tuple[Resolution, bool], dict[Gender, Resolution]]] = {}
    for sentence in data.sentences.values():
        of_occupation = triples.setdefault(sentence.occupation, {})
        of_occupation.setdefault((sentence.answer, sentence.someone), {})[sentence.pronoun] = resolutions[sentence.id]
    return tuple(
        OccupationCounts(
            name, data.bls[name], data.bergsma[name],
            tuple(tuple(triple[pronoun] for pronoun in PRONOUNS) for triple in triples[name].values()),
            tuple(answer for answer, _ in triples[name]),
        )
        for name in data.bls if name in triples
    )  # fmt: skip


def winogender_units(counts: Sequence[OccupationCounts]) -> NumberUnits:
    """What a system's shares and Pearson's correlations rest on; a unit is an occupation."""
    by_occupation = [one.shares() for one in counts]
    parts = np.array([[*zip(*shares.values(), strict=True)] for shares in by_occupation], dtype=np.float64)
    blocks = [parts.reshape(len(counts), -1), *(_moments(counts, name) for name in STATISTICS)]
    ends = np.cumsum([block.shape[1] for block in blocks])[:-1]

    def numbers(sums: Floats) -> dict[str, Floats]:
        of_shares, *moments = np.split(sums, ends, axis=1)
        shares = dict(zip(by_occupation[0], percent(*np.split(of_shares, 2, axis=1)).T, strict=True))
        return shares | {f"pearson_{name}": _pearson(of) for name, of in zip(STATISTICS, moments, strict=True)}

    return NumberUnits(np.hstack(blocks), tuple(one.name for one in counts), numbers)


def _moments(counts: Sequence[OccupationCounts], statistic: str) -> Floats:
    """1, x, y, x², xy, y² of each occupation: x its share of women by a statistic, y its preference."""
    x = np.array([float(getattr(one, statistic)) for one in counts])
    y = np.array([one.preference for one in counts])
    return np.column_stack([np.ones(len(x)), x, y, x * x, x * y, y * y])


def _pearson(sums: Floats) -> Floats:
    """Pearson's r from n, Σx, Σy, Σx², Σxy, Σy², ``[R, 6]``; NaN where x or y does not vary."""
    n, x, y, xx, xy, yy = sums.T
    spread_x, spread_y = n * xx - x * x, n * yy - y * y
    varies = (spread_x > 1e-9 * n * xx) & (spread_y > 1e-9 * n * yy)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(varies, (n * xy - x * y) / np.sqrt(np.abs(spread_x * spread_y)), np.nan)
