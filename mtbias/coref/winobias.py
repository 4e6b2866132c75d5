"""WinoBias: CoNLL F1 and link accuracy where a pronoun fits an occupation's stereotype (pro) and
where not (anti).

A sentence names two occupations and a pronoun of one of them; its counterpart under the other
condition is on the same line of the other file and has a pronoun of the other gender.
Literature F1 is the CoNLL score of each file; Avg is the mean of pro and anti, Diff their
**absolute** difference. CoNLL F1 is not link accuracy: a system that links every pronoun to the
wrong occupation has 25.6 to 27.8, because its mentions are right.

**Link accuracy** looks at the first pronoun of the gold cluster. It is linked to an occupation if a
cluster that has the pronoun (exactly) has a mention too that covers the occupation's last word and
neither the pronoun nor another occupation. The link is right, wrong (to another occupation only),
both, or none. The gold occupation's word elsewhere in the sentence ("the nurse uniform") counts as
neither.

**Counterparts** are not minimal pairs throughout: some differ in more than the gendered pronoun,
two have the roles exchanged. They stay in, and a note names them.

Source: Zhao et al., NAACL 2018 (N18-2003); github.com/uclanlp/corefBias.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from pathlib import Path
from types import MappingProxyType

import numpy as np

from mtbias.coref.conll_scorer import (
    PARTS,
    RATES,
    compute_coref,
    conll_f1,
    count_coref,
    count_table,
)
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
from mtbias.coref.documents import (
    Answers,
    Clusters,
    CorefText,
    joined,
    repeated,
    without_repeated,
)
from mtbias.coref.winobias_data import (
    SPLITS,
    TYPES,
    Occupation,
    SetKey,
    WinoBiasDocument,
    differing_pairs,
    file_name,
    read_sets,
)
from mtbias.english.words import GENDER_OF_PRONOUN
from mtbias.errors import DataError, UsageError
from mtbias.stats.paired import NumberUnits, PairedUnits, compare
from mtbias.stats.resampling import mcnemar, wilson_percent, with_width
from mtbias.stats.results import Estimate, Floats, Rng, percent, percent_of, source
from mtbias.types import Stereotype


def _labels() -> dict[str, str]:
    labels: dict[str, str] = {}
    for key, label in (("f1", "CoNLL F1"), ("link", "link accuracy")):
        for kind, name in KINDS.items():
            labels[f"{key}_{kind}"] = f"{label}, {name}"
    for condition, (key, label), rate in product(CONDITIONS, PARTS.items(), RATES):
        labels[f"{key}{rate}_{condition}"] = f"{label} {rate[1:] or 'F1'}, {condition}"
    return labels


_LABELS = _labels()
"""What the numbers of a split and type are called, in the order in which they are shown."""
_HEADLINE = {"f1_average", "f1_difference", "link_difference"}

_SIGNED = MappingProxyType(
    {"f1": "conll-v8.01", "link": "first-pronoun", "test": "randomisation+mcnemar"}
)


@dataclass(frozen=True)
class WinoBias(CorefDataset):
    """The sets that there are, each in the order of its text file."""

    sets: Mapping[SetKey, tuple[WinoBiasDocument, ...]]
    files: Mapping[str, str]
    left_out: Sequence[CorefText] = ()
    signed: Mapping[str, object] = field(default_factory=lambda: _SIGNED)

    name = "winobias"
    options = frozenset({"baseline", "over", "part"})

    @cached_property
    def documents(self) -> dict[str, WinoBiasDocument]:
        """All documents by id."""
        return {document.id: document for document in chain.from_iterable(self.sets.values())}

    @cached_property
    def texts(self) -> list[CorefText]:
        """The sentences of all sets; a group is a line of both conditions."""
        texts = []
        for (split, type_, _), documents in self.sets.items():
            for document in documents:
                words = document.words
                pronoun = (document.pronouns[0],) * 2
                group = f"{split} {type_} {document.line}"
                texts.append(
                    CorefText(
                        document.id,
                        words,
                        joined(words),
                        document.gold,
                        pronoun=pronoun,
                        group=group,
                    )
                )
        return texts

    def right(
        self,
        at: int,  # noqa: ARG002 - the base class's
        text: CorefText,
        answer: Clusters,
    ) -> bool:
        """See `CorefDataset`; where the first pronoun's link is."""
        return link(self.documents[text.id], answer) is Link.RIGHT

    def baseline(self, rule: str) -> Answers:
        """See `CorefDataset`; one of `BASELINES`."""
        if rule not in BASELINES:
            raise UsageError(f"--baseline: expected one of {', '.join(BASELINES)}, got {rule!r}")
        clusters = {id_: answer_by_rule(document, rule) for id_, document in self.documents.items()}
        return Answers(clusters, {}, signed={"system": rule})

    def score(self, answers: Answers, *, seed: int = 0, resamples: int = 10_000) -> DatasetScores:
        """See `CorefDataset`.

        Intervals: of F1 and of differences of F1 the bootstrap's over documents and over pairs, of
        link accuracy Wilson's, of averages and of differences of links over lines. p of a
        difference: by paired approximate randomisation for F1, by McNemar's exact test for links.
        """
        scored = {key: _Set(documents, answers) for key, documents in self.sets.items()}
        numbers: list[NamedNumber] = []
        units: dict[str, NumberUnits] = {}
        notes: list[str] = []
        remarks: list[str] = []
        for split, type_ in product(SPLITS, TYPES):
            part, at = f"{split} type {type_}", [seed, SPLITS.index(split), type_]
            sets = {c: scored[split, type_, c] for c in CONDITIONS if (split, type_, c) in scored}
            estimates: dict[str, Estimate] = {}
            for condition, one in sets.items():
                of_set = one.estimates(resamples, _rng(at, condition))
                estimates |= {f"{key}_{condition}": each for key, each in of_set.items()}

            if len(sets) == len(CONDITIONS):
                pro, anti = sets.values()
                shared = sorted(pro.lines & anti.lines)
                alone = len(pro.lines) + len(anti.lines) - 2 * len(shared)
                if alone:
                    in_no = "in no average and no difference"
                    notes.append(f"{part}: {alone} lines of one condition alone, {in_no}")
                if shared:
                    units[part] = _lines(pro, anti, shared)
                    over_lines = units[part].over("rows", resamples, seed)
                    rng = _rng(at, Stereotype.NONE)
                    estimates |= _differences(units[part], over_lines, resamples, rng)
                    differing = differing_pairs(pro.documents, anti.documents)
                    n = estimates["f1_difference"].n
                    remarks.append(
                        f"{part}: {len(differing)} of {n} pairs differ in other words or in gold "
                        f"mentions too (lines {', '.join(map(str, differing)) or 'none'})"
                    )

            numbers += [
                NamedNumber(part, key, label, estimates[key], headline=key in _HEADLINE)
                for key, label in _LABELS.items()
                if key in estimates
            ]

        if again := sum(map(repeated, answers.of.values())):
            notes.append(f"mentions that are in a cluster already, left out of F1: {again}")
        if len(self.sets) < 8:
            where = "were not asked for (--part)" if self.left_out else "are not in the folder"
            notes.append(f"{8 - len(self.sets)} of WinoBias's 8 files {where}")

        counts: dict[str, dict[str, float | None]] = {}
        linked: list[tuple[str, int, bool]] = []
        for (split, type_, condition), one in scored.items():
            counts[f"{split} type {type_} {condition}"] = one.counts
            side = CONDITIONS.index(condition)
            for document, is_right in zip(one.documents, one.right, strict=True):
                linked.append((document.occupation.name, side, bool(is_right)))
        sides = shares_by_group(linked)
        return DatasetScores(
            tuple(numbers), units, counts, tuple(notes), tuple(remarks), sides=sides
        )


PARTS_OF_DATA = tuple(f"{split}-type{type_}" for split, type_ in product(SPLITS, TYPES))
"""What can be scored by itself, with both conditions."""


def read_winobias(folder: Path, part: Sequence[str] = ()) -> WinoBias:
    """Read the files of `folder` (`read_sets`); with `part`, some of `PARTS_OF_DATA`, those of
    these parts.

    Raises:
        DataError: as `read_sets`; no file of a part that is asked for.
    """
    files = read_sets(folder)
    if not part:
        return WinoBias(files.sets, files.hashes)
    chosen: dict[SetKey, tuple[WinoBiasDocument, ...]] = {}
    others: dict[SetKey, tuple[WinoBiasDocument, ...]] = {}
    for (split, type_, condition), documents in files.sets.items():
        side = chosen if f"{split}-type{type_}" in part else others
        side[split, type_, condition] = documents
    of_parts = {f"{split}-type{type_}" for split, type_, _ in chosen}
    if absent := [name for name in part if name not in of_parts]:
        raise DataError(
            f"expected files of {', '.join(absent)} in this folder, got none", path=folder
        )
    unread = {file_name(*key) for key in others}
    return WinoBias(
        chosen,
        {name: digest for name, digest in files.hashes.items() if name not in unread},
        WinoBias(others, {}).texts,
    )


BASELINES = ("first", "nearest", "stereotype", "perfect", "empty", "wrong")
"""Rule systems. The first three see the words and the lists of occupations only, the others the
gold cluster.

First: all gendered pronouns with the first occupation. Nearest: with the last occupation before the
first of them, or else the first after it. Stereotype: with the nearest occupation whose stereotype
has the pronoun's gender, or else the nearest of all. Wrong: the gold pronouns with the first other
occupation.
"""


def answer_by_rule(document: WinoBiasDocument, rule: str) -> Clusters:
    """The answer of the rule system `rule`, one of `BASELINES`."""
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
        before = [occupation for occupation in chosen if occupation.head < pronouns[0]]
        chosen = before[-1:] or chosen
    return ((chosen[0].mention, *((at, at) for at in pronouns)),)


def link(document: WinoBiasDocument, clusters: Clusters) -> Link:
    """Which occupation `clusters` link the first gold pronoun to."""
    pronoun = document.pronouns[0]
    linked: set[Occupation] = set()
    for cluster in clusters:
        if (pronoun, pronoun) not in cluster:
            continue
        for start, end in cluster:
            covered = [
                occupation for occupation in document.occupations if start <= occupation.head <= end
            ]
            # A mention of two occupations does not say which one is meant; one around the pronoun
            # is no antecedent.
            if len(covered) == 1 and not start <= pronoun <= end:
                linked.update(covered)
    return link_to(
        right=document.occupation in linked, wrong=not linked.isdisjoint(document.others)
    )


class _Set:
    """The answers to one set, document by document. For F1 repeated mentions are dropped."""

    def __init__(self, documents: tuple[WinoBiasDocument, ...], answers: Answers) -> None:
        answered = [(document, answers.of[document.id]) for document in documents]
        self.documents = documents
        self.links = [link(document, clusters) for document, clusters in answered]
        self.right = np.array([one is Link.RIGHT for one in self.links])
        self.table = count_table(
            count_coref(document.gold, without_repeated(clusters))
            for document, clusters in answered
        )

    @property
    def counts(self) -> dict[str, float | None]:
        """The number of its links of each kind."""
        return {str(link): self.links.count(link) for link in Link}

    @property
    def lines(self) -> set[int]:
        """The lines of its documents."""
        return {document.line for document in self.documents}

    def estimates(self, resamples: int, rng: Rng) -> dict[str, Estimate]:
        """F1, link accuracy, and the parts of F1."""
        n, right = len(self.right), int(self.right.sum())
        ids = [document.id for document in self.documents]
        f1 = NumberUnits(self.table, ids, lambda sums: {"f1": conll_f1(sums)}).estimates(
            resamples, rng
        )
        accuracy = Estimate(percent_of(right, n), wilson_percent(right, n), n)
        return {**f1, "link": accuracy, **compute_coref(self.table)}


def _lines(pro: _Set, anti: _Set, shared: Sequence[int]) -> NumberUnits:
    """A unit is one of the lines that both conditions have: what its two sentences add."""
    names = {document.line: document.occupation.name for document in anti.documents}
    at = {line: place for place, line in enumerate(shared)}
    sums = np.zeros((len(at), 2, pro.table.shape[1] + 2))
    for side, one in enumerate((pro, anti)):
        own = [n for n, document in enumerate(one.documents) if document.line in at]
        rows = [at[one.documents[n].line] for n in own]
        sums[rows, side] = np.column_stack([one.table, one.right, np.ones(len(one.right))])[own]
    shares = [f"link_{kind}" for kind in ("pro", "anti", "average")]
    groups = tuple(names[line] for line in at)
    return NumberUnits(sums.reshape(len(at), -1), groups, _numbers, shares=shares)


def _numbers(sums: Floats) -> dict[str, Floats]:
    """F1 and link accuracy of sums ``[R, 2 · (16 + 2)]``: counts of the CoNLL score, right links,
    all links.
    """
    pro, anti = (
        {"f1": conll_f1(part[:, :-2]), "link": percent(part[:, -2], part[:, -1])}
        for part in np.split(sums, 2, axis=-1)
    )
    values: dict[str, Floats] = {}
    for name, first in pro.items():
        values |= by_kind(f"{name}_", first, anti[name])
    return values


def _rng(at: list[int], condition: Stereotype) -> Rng:
    return source([*at, list(Stereotype).index(condition)])


def _differences(
    lines: NumberUnits, over_lines: Mapping[str, Estimate], resamples: int, rng: Rng
) -> dict[str, Estimate]:
    """Averages and differences (pro − anti); paired test and interval rest on the lines that both
    conditions have.
    """
    pro, anti = lines.sums.reshape(len(lines.sums), 2, -1).swapaxes(0, 1)
    paired = PairedUnits(pro[:, :-2], anti[:, :-2])
    f1 = compare(
        paired, lambda sums: {"f1": conll_f1(sums)}, ["f1"], resamples, bootstrap=rng, test=rng
    )["f1"]
    more = pro[:, -2] - anti[:, -2]
    estimates = {
        key: replace(one, n=len(pro))
        for key, one in over_lines.items()
        if key.endswith(("average", "difference"))
    }
    ends = with_width(f1.interval)
    estimates["f1_difference"] = replace(estimates["f1_difference"], interval=ends, p=f1.p)
    p = mcnemar(int((more > 0).sum()), int((more < 0).sum()))
    estimates["link_difference"] = replace(estimates["link_difference"], p=p)
    return estimates
