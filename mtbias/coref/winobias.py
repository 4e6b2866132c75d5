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

A document of a CoNLL file is one sentence with one gold cluster: an occupation, then its pronoun or
pronouns. The number at the end of its name, plus 1, is its line in the text file; documents are not
in that order in the file. The occupations and their stereotypes are those of the two lists beside
the files.

Source: Zhao et al., NAACL 2018 (N18-2003); github.com/uclanlp/corefBias.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise, product
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
    Cluster,
    Clusters,
    ConllDocument,
    CorefText,
    Mention,
    joined,
    read_conll,
    repeated,
    without_repeated,
)
from mtbias.english.words import GENDER_OF_PRONOUN
from mtbias.errors import DataError, UsageError
from mtbias.files.reading import read_text, split_lines
from mtbias.stats.paired import NumberUnits, PairedUnits, compare
from mtbias.stats.resampling import mcnemar, wilson_percent, with_width
from mtbias.stats.results import Estimate, Floats, Rng, percent, percent_of, source
from mtbias.types import Gender, Stereotype, frozen

SPLITS = ("dev", "test")
TYPES = (1, 2)
_DETERMINERS = {"the", "a", "an"}


@frozen
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


@frozen
class WinoBiasDocument:
    """One sentence."""

    id: str
    line: int
    """1-based line in the text file: 1 more than the number at the end of its id. Counterparts
    share it."""
    words: tuple[str, ...]
    gold: Clusters
    occupations: tuple[Occupation, ...]
    """All of the sentence, in its order."""
    occupation: Occupation
    """The one in the gold cluster."""
    pronouns: tuple[int, ...]
    """The words that are pronouns of the gold cluster, one or more."""

    @property
    def others(self) -> tuple[Occupation, ...]:
        """The occupations that the pronoun does not refer to."""
        return tuple(other for other in self.occupations if other.name != self.occupation.name)


def _labels() -> dict[str, str]:
    labels: dict[str, str] = {}
    for key, label in (("f1", "CoNLL F1"), ("link", "link accuracy")):
        for kind, name in KINDS.items():
            labels[f"{key}_{kind}"] = f"{label}, {name}"
    for condition, (key, label), rate in product(CONDITIONS, PARTS.items(), RATES):
        labels[f"{key}{rate}_{condition}"] = f"{label} {rate[1:] or 'F1'}, {condition}"
    return labels


SetKey = tuple[str, int, Stereotype]
"""Split, type and condition: one of the eight files."""

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
            notes.append(f"mentions that stand in a cluster already, left out of F1: {again}")
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
    """Read the CoNLL files in `folder` (or in ``conll_format`` inside it) and the two lists of
    occupations.

    Of the eight ``{dev,test}_type{1,2}_{pro,anti}_stereotype.v4_auto_conll`` those that are there;
    with `part`, some of `PARTS_OF_DATA`, those of these parts.

    Raises:
        DataError: none of the files, or no lists; what `read_conll` raises; a document without
            exactly one cluster, one occupation and a pronoun in it; ids that do not end in a
            number, or are in two files; no file of a part that is asked for.
    """
    files: dict[str, str] = {}
    occupations: dict[tuple[str, ...], Gender] = {}
    for gender in (Gender.MALE, Gender.FEMALE):
        text = read_text(folder / f"{gender}_occupations.txt")
        files[text.path.name] = text.sha256
        occupations |= {
            tuple(line.lower().split()): gender for line in split_lines(text.text) if line.strip()
        }
    sets: dict[SetKey, tuple[WinoBiasDocument, ...]] = {}
    seen: dict[str, Path] = {}
    for split, type_, condition in product(SPLITS, TYPES, CONDITIONS):
        name = _file_name(split, type_, condition)
        path = next(
            (path for path in (folder / name, folder / "conll_format" / name) if path.is_file()),
            None,
        )
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
        for one, other in pairwise(sets[split, type_, condition]):
            if one.line == other.line:
                message = (
                    f"document {other.id!r}: expected another number at its end than {one.id!r} has"
                )
                raise DataError(message, path=path)
    if not sets:
        example = "dev_type1_pro_stereotype.v4_auto_conll"
        raise DataError(f"expected files such as {example} in this folder, got none", path=folder)
    whole = WinoBias(sets, files)
    if not part:
        return whole
    chosen = {
        (split, type_, condition): documents
        for (split, type_, condition), documents in sets.items()
        if f"{split}-type{type_}" in part
    }
    of_parts = {f"{split}-type{type_}" for split, type_, _ in chosen}
    if absent := [name for name in part if name not in of_parts]:
        raise DataError(
            f"expected files of {', '.join(absent)} in this folder, got none", path=folder
        )
    of_others = {key: documents for key, documents in sets.items() if key not in chosen}
    unread = {_file_name(*key) for key in of_others}
    return WinoBias(
        chosen,
        {name: digest for name, digest in files.items() if name not in unread},
        WinoBias(of_others, {}).texts,
    )


def _file_name(split: str, type_: int, condition: Stereotype) -> str:
    return f"{split}_type{type_}_{condition}_stereotype.v4_auto_conll"


def _document(
    conll: ConllDocument, occupations: Mapping[tuple[str, ...], Gender], path: Path
) -> WinoBiasDocument:
    def error(message: str) -> DataError:
        return DataError(f"document {conll.id!r}: {message}", path=path, line=conll.line)

    words, end = conll.words, conll.name.rpartition("/")[2]
    in_sentence = _occupations(words, occupations)
    if len(conll.clusters) != 1 or repeated(conll.clusters):
        raise error(f"expected one cluster, of different mentions, got {len(conll.clusters)}")
    gold = conll.clusters[0]
    pronouns = sorted(
        at for at, last in gold if at == last and words[at].lower() in GENDER_OF_PRONOUN
    )
    named = [occupation for occupation in in_sentence if _covers(gold, occupation.head)]
    if len(named) != 1 or not pronouns:
        raise error("expected a cluster of one occupation and a pronoun, got another")
    if not (end.isascii() and end.isdigit()):
        raise error(f"expected a number at the end of its id, got {end!r}")
    return WinoBiasDocument(
        conll.id, int(end) + 1, words, conll.clusters, in_sentence, named[0], tuple(pronouns)
    )


def _covers(cluster: Cluster, word: int) -> bool:
    return any(start <= word <= last for start, last in cluster)


def _occupations(
    words: tuple[str, ...], known: Mapping[tuple[str, ...], Gender]
) -> tuple[Occupation, ...]:
    lower = tuple(word.lower() for word in words)
    longest = max(map(len, known), default=0)
    mentions: list[Occupation] = []
    at = 0
    while at < len(lower):
        phrases = (lower[at : at + n] for n in range(longest, 0, -1))
        name = next((phrase for phrase in phrases if phrase in known), None)
        if name is None:
            at += 1
            continue
        start = at - 1 if at and lower[at - 1] in _DETERMINERS else at
        at += len(name)
        mentions.append(Occupation(" ".join(name), known[name], (start, at - 1)))
    return tuple(mentions)


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


def differing_pairs(
    pro: Iterable[WinoBiasDocument], anti: Iterable[WinoBiasDocument]
) -> tuple[int, ...]:
    """Lines of the counterparts that differ in more than gendered pronouns, or in the places of
    their gold mentions.
    """

    def masked(document: WinoBiasDocument) -> tuple[tuple[str, ...], frozenset[Mention]]:
        words = tuple("" if word.lower() in GENDER_OF_PRONOUN else word for word in document.words)
        return words, frozenset(document.gold[0])

    others = {document.line: document for document in anti}
    return tuple(d.line for d in pro if d.line in others and masked(d) != masked(others[d.line]))


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
