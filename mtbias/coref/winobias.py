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
exchanged. They stay in, and a note names them.

A document of a CoNLL file is one sentence with one gold cluster: an occupation, then its pronoun or pronouns. The
number at the end of its name, plus 1, is its line in the text file; documents are not in that order in the file.
The occupations and their stereotypes are those of the two lists beside the files.

Source: Zhao et al., NAACL 2018 (N18-2003); github.com/uclanlp/corefBias.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np

from mtbias.coref.conll import Clusters, ConllDocument, Mention, read_conll, repeated, without_repeated
from mtbias.coref.conll_scorer import PARTS, compute_coref, conll_f1, count_coref, count_table
from mtbias.coref.dataset import CONDITIONS, ClusterDataset, DatasetScores, Link, NamedNumber, link_to, pro_against_anti
from mtbias.coref.documents import Answers, CorefText, Predictions, joined, repeated_mentions
from mtbias.coref.paired_systems import NumberUnits, intervals_over
from mtbias.english.words import GENDER_OF_PRONOUN
from mtbias.errors import DataError, UsageError
from mtbias.files.reading import read_text, split_lines
from mtbias.stats.paired import randomisation_test
from mtbias.stats.resampling import bootstrap_units, estimate, mcnemar, percentile_interval, wilson_percent
from mtbias.stats.results import Estimate, Floats, number, percent, percent_of
from mtbias.types import Gender, Stereotype

SPLITS = ("dev", "test")
TYPES = (1, 2)
_DETERMINERS = {"the", "a", "an"}


@dataclass(frozen=True, slots=True)
class Occupation:
    """An occupation in a sentence."""

    name: str
    stereotype: Gender
    mention: Mention
    """With the article before it."""

    @property
    def head(self) -> int:
        """Its last word."""
        return self.mention[1]


@dataclass(frozen=True, slots=True)
class WinoBiasDocument:
    """One sentence."""

    id: str
    line: int
    """1-based line in the text file: 1 more than the number at the end of its id. Counterparts share it."""
    words: tuple[str, ...]
    gold: Clusters
    occupations: tuple[Occupation, ...]
    """All of the sentence, in its order."""
    occupation: Occupation
    """The one in the gold cluster."""
    pronouns: tuple[int, ...]
    """The words that are pronouns of the gold cluster, one or more."""

    @property
    def gender(self) -> Gender:
        """Of the first pronoun."""
        return GENDER_OF_PRONOUN[self.words[self.pronouns[0]].lower()]

    @property
    def others(self) -> tuple[Occupation, ...]:
        """The occupations that the pronoun does not stand for."""
        return tuple(other for other in self.occupations if other.name != self.occupation.name)


SetKey = tuple[str, int, Stereotype]
"""Split, type and condition: one of the eight files."""


@dataclass(frozen=True)
class WinoBias(ClusterDataset):
    """The sets that there are, each in the order of its text file; one without any prediction is left out."""

    sets: Mapping[SetKey, tuple[WinoBiasDocument, ...]]
    files: Mapping[str, str]

    name = "winobias"
    must_be_complete = False
    options = frozenset({"baseline", "over"})
    signed = MappingProxyType({"f1": "conll-v8.01", "link": "first-pronoun", "test": "randomisation+mcnemar"})

    @property
    def documents(self) -> dict[str, WinoBiasDocument]:
        """All documents by id."""
        return {document.id: document for documents in self.sets.values() for document in documents}

    @cached_property
    def texts(self) -> list[CorefText]:
        """The sentences of all sets."""
        return [CorefText(d.id, d.words, joined(d.words), d.gold) for d in self.documents.values()]

    def baseline(self, rule: str) -> Predictions:
        """See `CorefDataset`; one of `BASELINES`."""
        known = next((one for one in BASELINES if one == rule), None)
        if known is None:
            raise UsageError(f"--baseline: expected one of {', '.join(BASELINES)}, got {rule!r}")
        of = {id_: answer_by_rule(document, known) for id_, document in self.documents.items()}
        return Answers(of, {}, signed={"system": rule})

    def score(self, answers: Predictions, *, seed: int = 0, resamples: int = 10_000) -> DatasetScores:
        """See `CorefDataset`; a single document without prediction counts as without clusters, as in the shared task.

        Intervals: of F1 and of differences of F1 the bootstrap's over documents and over pairs, of link accuracy
        Wilson's, of averages and of differences of links over lines. p of a difference: by paired approximate
        randomisation for F1, by McNemar's exact test for links.

        Raises:
            DataError: no document has a prediction.
        """
        counts = {key: count_winobias(documents, answers.of) for key, documents in self.sets.items()}
        counts = {key: count for key, count in counts.items() if count.missing < len(count.documents)}
        if not counts:
            raise DataError("expected predictions for at least one document, got none")
        numbers: list[NamedNumber] = []
        units: dict[str, NumberUnits] = {}
        notes: list[str] = []
        for split, type_ in product(SPLITS, TYPES):
            part, rng = f"{split} type {type_}", partial(_rng, seed, split, type_)
            sets = {c: counts[split, type_, c] for c in CONDITIONS if (split, type_, c) in counts}
            of_sets = {c: _set_estimates(count, rng(c), resamples) for c, count in sets.items()}
            of_pair: dict[str, Estimate] = {}
            if len(sets) == len(CONDITIONS):
                pro, anti = sets.values()
                units[part] = _units([pro, anti])
                over_lines = intervals_over(units[part], "rows", resamples, seed)
                of_pair = _pair_estimates(pro, anti, of_sets, over_lines, rng(Stereotype.NONE), resamples)
                differing = differing_pairs(pro.documents, anti.documents)
                notes.append(
                    f"{part}: {len(differing)} of {of_pair['f1_difference'].n} pairs differ in other words or in gold "
                    f"mentions too (lines {', '.join(map(str, differing)) or 'none'})"
                )
            numbers += _named(part, sets, of_sets, of_pair)
        names = {key: " ".join([key[0], "type", str(key[1]), key[2]]) for key in self.sets}
        notes += [
            f"{names[key]}: {one.missing} of {len(one.links)} sentences have no prediction and count as no clusters"
            for key, one in counts.items()
            if one.missing
        ]
        if again := repeated_mentions(answers):
            notes.append(f"mentions that stand in a cluster already, left out of F1: {again}")
        if absent := [names[key] for key in self.sets if key not in counts]:
            notes.append(f"without any prediction: {', '.join(absent)}")
        if len(self.sets) < 8:
            notes.append(f"{8 - len(self.sets)} of WinoBias's 8 files are not in the folder")
        links = {names[key]: {str(link): one.links.count(link) for link in Link} for key, one in counts.items()}
        return DatasetScores(tuple(numbers), units, links, tuple(notes))


def read_winobias(folder: Path) -> WinoBias:
    """Read the CoNLL files in `folder` (or in ``conll_format`` inside it) and the two lists of occupations.

    Of the eight ``{dev,test}_type{1,2}_{pro,anti}_stereotype.v4_auto_conll`` those that are there.

    Raises:
        DataError: none of the files, or no lists; what `read_conll` raises; a document without exactly one cluster, one
            occupation and a pronoun in it; ids that do not end in a number, or are in two files.
    """
    files: dict[str, str] = {}
    occupations: dict[tuple[str, ...], Gender] = {}
    for gender in (Gender.MALE, Gender.FEMALE):
        text = read_text(folder / f"{gender}_occupations.txt")
        files[text.path.name] = text.sha256
        occupations |= {tuple(line.lower().split()): gender for line in split_lines(text.text) if line.strip()}
    sets: dict[SetKey, tuple[WinoBiasDocument, ...]] = {}
    seen: dict[str, Path] = {}
    for split, type_, condition in product(SPLITS, TYPES, CONDITIONS):
        name = f"{split}_type{type_}_{condition}_stereotype.v4_auto_conll"
        path = next((path for path in (folder / name, folder / "conll_format" / name) if path.is_file()), None)
        if path is None:
            continue
        conll = read_conll(path)
        files[name] = conll.file.sha256
        for document in conll.documents:
            if document.id in seen:
                message = f"document {document.id!r} is in {seen[document.id].name} already"
                raise DataError(message, path=path, line=document.line)
            seen[document.id] = path
        documents = (_document(document, occupations, path) for document in conll.documents)
        sets[split, type_, condition] = tuple(sorted(documents, key=lambda document: document.line))
    if not sets:
        raise DataError(
            "expected files such as dev_type1_pro_stereotype.v4_auto_conll in this folder, got none", path=folder
        )
    return WinoBias(sets, files)


def _document(conll: ConllDocument, occupations: Mapping[tuple[str, ...], Gender], path: Path) -> WinoBiasDocument:
    def error(message: str) -> DataError:
        return DataError(f"document {conll.id!r}: {message}", path=path, line=conll.line)

    words, end = conll.words, conll.name.rpartition("/")[2]
    in_sentence = _occupations(words, occupations)
    if len(conll.clusters) != 1 or repeated(conll.clusters):
        raise error(f"expected one cluster, of different mentions, got {len(conll.clusters)}")
    gold = conll.clusters[0]
    pronouns = sorted(at for at, last in gold if at == last and words[at].lower() in GENDER_OF_PRONOUN)
    named = [o for o in in_sentence if any(start <= o.head <= last for start, last in gold)]
    if len(named) != 1 or not pronouns:
        raise error("expected a cluster of one occupation and a pronoun, got another")
    if not (end.isascii() and end.isdigit()):
        raise error(f"expected a number at the end of its id, got {end!r}")
    return WinoBiasDocument(conll.id, int(end) + 1, words, conll.clusters, in_sentence, named[0], tuple(pronouns))


def _occupations(words: tuple[str, ...], known: Mapping[tuple[str, ...], Gender]) -> tuple[Occupation, ...]:
    lower = tuple(word.lower() for word in words)
    longest = max(map(len, known), default=0)
    mentions: list[Occupation] = []
    at = 0
    while at < len(lower):
        name = next((lower[at : at + n] for n in range(longest, 0, -1) if lower[at : at + n] in known), None)
        if name is None:
            at += 1
            continue
        start = at - 1 if at and lower[at - 1] in _DETERMINERS else at
        at += len(name)
        mentions.append(Occupation(" ".join(name), known[name], (start, at - 1)))
    return tuple(mentions)


Baseline = Literal["first", "nearest", "stereotype", "perfect", "empty", "wrong"]
"""Rule systems. The first three see the words and the lists of occupations only, the others the gold cluster.

First: all gendered pronouns with the first occupation. Nearest: with the last occupation before the first of them, the
first after it where there is none before. Stereotype: with the nearest occupation of the pronoun's gender by
stereotype, the nearest of any where there is none. Wrong: the gold pronouns with the first other occupation.
"""


def answer_by_rule(document: WinoBiasDocument, rule: Baseline) -> Clusters:
    """What the rule system `rule` answers."""
    if rule == "perfect":
        return document.gold
    if rule == "empty":
        return ()
    if rule == "wrong":
        gold = tuple((word, word) for word in document.pronouns)
        return ((document.others[0].mention, *gold),) if document.others else ()
    pronouns = [at for at, word in enumerate(document.words) if word.lower() in GENDER_OF_PRONOUN]
    chosen = list(document.occupations)
    if rule == "stereotype":
        gender = GENDER_OF_PRONOUN[document.words[pronouns[0]].lower()]
        chosen = [occupation for occupation in chosen if occupation.stereotype is gender] or chosen
    if rule != "first":
        chosen = [occupation for occupation in chosen if occupation.head < pronouns[0]][-1:] or chosen
    return ((chosen[0].mention, *((at, at) for at in pronouns)),)


BASELINES: tuple[Baseline, ...] = get_args(Baseline)


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
    values: dict[str, Floats] = {}
    for name, first in pro.items():
        second = anti[name]
        values |= {f"{name}_pro": first, f"{name}_anti": second}
        values |= {f"{name}_average": (first + second) / 2, f"{name}_difference": first - second}
    return values


def differing_pairs(pro: Iterable[WinoBiasDocument], anti: Iterable[WinoBiasDocument]) -> tuple[int, ...]:
    """Lines of the counterparts that differ in more than gendered pronouns, or in the places of their gold mentions."""

    def masked(document: WinoBiasDocument) -> tuple[tuple[str, ...], frozenset[Mention]]:
        words = tuple("" if word.lower() in GENDER_OF_PRONOUN else word for word in document.words)
        return words, frozenset(document.gold[0])

    others = {document.line: document for document in anti}
    return tuple(d.line for d in pro if d.line in others and masked(d) != masked(others[d.line]))


def _rng(seed: int, split: str, type_: int, condition: Stereotype) -> np.random.Generator:
    return np.random.default_rng([seed, SPLITS.index(split), type_, list(Stereotype).index(condition)])


def _set_estimates(count: SetCounts, rng: np.random.Generator, resamples: int) -> dict[str, Estimate]:
    """F1 and link accuracy of one set."""
    n, right = len(count.links), count.links.count(Link.RIGHT)
    f1 = estimate(
        count.table.sum(axis=0)[None],
        lambda sums: {"f1": conll_f1(sums)},
        partial(bootstrap_units, count.table, n_resamples=resamples, rng=rng),
        n={"f1": n},
    )
    return f1 | {"link": Estimate(percent_of(right, n), wilson_percent(right, n), n)}


def _pair_estimates(
    pro: SetCounts,
    anti: SetCounts,
    of_sets: Mapping[Stereotype, Mapping[str, Estimate]],
    over_lines: Mapping[str, Estimate],
    rng: np.random.Generator,
    resamples: int,
) -> dict[str, Estimate]:
    """Averages and differences (pro − anti) of the two; paired test and interval rest on the lines that both have."""
    anti_at = {document.line: at for at, document in enumerate(anti.documents)}
    pairs = [(at, anti_at[d.line]) for at, d in enumerate(pro.documents) if d.line in anti_at]
    first, second = pro.table[[a for a, _ in pairs]], anti.table[[b for _, b in pairs]]

    def difference(sums: Floats) -> Floats:
        return np.subtract(*(conll_f1(part) for part in np.split(sums, 2, axis=-1)))

    interval = percentile_interval(bootstrap_units(np.hstack([first, second]), difference, resamples, rng))
    p = number(randomisation_test(first, second, conll_f1, resamples, rng))
    right = [(pro.links[a] is Link.RIGHT, anti.links[b] is Link.RIGHT) for a, b in pairs]
    link_p = mcnemar(sum(a and not b for a, b in right), sum(b and not a for a, b in right))
    of_pair = {}
    for key, own_interval, own_p in (("f1", interval, p), ("link", None, link_p)):
        one, other = (of_sets[condition][key].value for condition in CONDITIONS)
        average, gap = pro_against_anti(one, other)
        of_pair[f"{key}_average"] = Estimate(average, over_lines[f"{key}_average"].interval, len(pairs))
        tested = (own_interval or over_lines[f"{key}_difference"].interval, len(pairs), own_p)
        of_pair[f"{key}_difference"] = Estimate(gap, *((None, len(pairs)) if gap is None else tested))
    return of_pair


def _named(
    part: str,
    sets: Mapping[Stereotype, SetCounts],
    of_sets: Mapping[Stereotype, Mapping[str, Estimate]],
    of_pair: Mapping[str, Estimate],
) -> Iterator[NamedNumber]:
    """The numbers of a split and type; of recall and precision n is the denominator, of F1 documents."""
    for key, label in (("f1", "CoNLL F1"), ("link", "link accuracy")):
        for condition, of in of_sets.items():
            yield NamedNumber(part, f"{key}_{condition}", f"{label}, {condition}", of[key])
        if of_pair:
            yield NamedNumber(part, f"{key}_average", f"{label}, average", of_pair[f"{key}_average"], headline=True)
            difference = of_pair[f"{key}_difference"]
            yield NamedNumber(part, f"{key}_difference", f"{label}, pro − anti", difference, headline=True)
    for condition, count in sets.items():
        scores = compute_coref(count.table)
        for key, label in zip(PARTS, ("mentions", "MUC", "B³", "CEAFe"), strict=True):
            prf = getattr(scores, key)
            for rate, value, n in (
                ("", prf.f1, scores.documents),
                ("_recall", prf.recall, prf.recall_denominator),
                ("_precision", prf.precision, prf.precision_denominator),
            ):
                name = f"{label} {rate[1:] or 'F1'}, {condition}"
                yield NamedNumber(part, f"{key}{rate}_{condition}", name, Estimate(value, n=n))
