"""What every data set of coreference makes of a system's clusters, in one form: named numbers, and what they rest on.

The numbers are those of the data set's own command (``mtbias coref winobias`` and the like), by the same functions and
with the same signature; here they get a name and a denominator each, so that all data sets can stand in one table.
Every scorer raises `DataError` where the file is not about the data, or lacks documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from mtbias.coref import bug_links, counter_gap, gap, sowinobias, winobias, winogender
from mtbias.coref.coref_text import CorefText
from mtbias.coref.gap_clusters import read_system
from mtbias.coref.gap_instances import GapFile
from mtbias.coref.output_reading import read_output
from mtbias.coref.paired_systems import NumberUnits, intervals_over
from mtbias.coref.predicted_clusters import reading_of, signature
from mtbias.coref.pro_anti import CONDITIONS
from mtbias.coref.system_output import SpanCounting
from mtbias.coref.winobias_data import SPLITS, TYPES, WinoBias
from mtbias.coref.winogender_answers import read_resolutions
from mtbias.settings import BootstrapSettings
from mtbias.stats.results import Estimate

_RATIO = 3
"""Decimals of ratios and correlations; numbers in per cent and points have two."""


@dataclass(frozen=True, slots=True)
class NamedNumber:
    """A number of a data set."""

    part: str
    """The part of the data set that it is of, such as ``dev type 1``; empty for all of it."""
    key: str
    """Its name within the part, as a comparison of systems has it too (`DatasetScores.units`)."""
    label: str
    estimate: Estimate
    """In per cent or points, but for ratios and correlations."""
    headline: bool = False
    """Whether it stands in a table that has little room."""
    decimals: int = 2


@dataclass(frozen=True, slots=True)
class DatasetScores:
    """The numbers of one system on one data set."""

    numbers: tuple[NamedNumber, ...]
    units: Mapping[str, NumberUnits]
    """By part: what the numbers rest on in which systems are compared."""
    signature: str
    notes: tuple[str, ...]
    """What is to be said beside them."""


_INCLUDED = SpanCounting.INCLUDED
"""What mentions count in the files that `mtbias.coref.running.run_system` writes: nothing is to be told by them."""


def score_winobias(
    data: WinoBias, texts: Sequence[CorefText], path: Path, settings: BootstrapSettings
) -> DatasetScores:
    """The numbers of `mtbias.coref.winobias` of the file at `path`, the clusters of `texts`."""
    found = read_output(texts, [path], spans=_INCLUDED)
    scores = winobias.score_winobias(data, found, **vars(settings))
    signed = signature(
        "winobias", {"data": data.files, "predictions": found.files}, f1="conll-v8.01", link="first-pronoun",
        test="randomisation+mcnemar", **reading_of(found), resamples=settings.resamples, seed=settings.seed,
    )  # fmt: skip
    units = {f"{split} type {type_}": of for (split, type_), of in winobias.winobias_units(data, found).items()}
    notes = [*found.notes]
    if found.repeated:
        notes.append(f"mentions that stand in a cluster already, left out of F1: {found.repeated}")
    over_pairs = {part: intervals_over(of, "rows", settings.resamples, settings.seed) for part, of in units.items()}
    return DatasetScores(tuple(_winobias_numbers(scores, over_pairs)), units, signed, tuple(notes))


def _winobias_numbers(
    scores: winobias.WinoBiasScores, over_pairs: Mapping[str, Mapping[str, Estimate]]
) -> Iterator[NamedNumber]:
    """The command's numbers; those that have no interval there, averages and the difference of links, get one."""
    for split, type_ in product(SPLITS, TYPES):
        part = f"{split} type {type_}"
        sets = {c: of for c in CONDITIONS if (of := scores.sets.get((split, type_, c)))}
        pair = scores.pairs.get((split, type_))
        for key, label in (("f1", "CoNLL F1"), ("link", "link accuracy")):
            for condition, of in sets.items():
                one = of.f1 if key == "f1" else of.link_accuracy
                yield NamedNumber(part, f"{key}_{condition}", f"{label}, {condition}", one)
            if pair is not None:
                gap_ = pair.f1 if key == "f1" else pair.link
                bootstrapped = over_pairs[part]
                average = Estimate(gap_.average, bootstrapped[f"{key}_average"].interval, pair.n_pairs)
                difference = Estimate(
                    gap_.difference, gap_.interval or bootstrapped[f"{key}_difference"].interval, pair.n_pairs, gap_.p
                )
                yield NamedNumber(part, f"{key}_average", f"{label}, average", average, headline=True)
                yield NamedNumber(part, f"{key}_difference", f"{label}, pro − anti", difference, headline=True)
        for condition, of in sets.items():
            for key, label in (("muc", "MUC F1"), ("b3", "B³ F1"), ("ceafe", "CEAFe F1")):
                one = Estimate(getattr(of.coref, key).f1, n=of.coref.documents)
                yield NamedNumber(part, f"{key}_{condition}", f"{label}, {condition}", one)


_WINOGENDER = {
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


def score_winogender(data: winogender.Winogender, path: Path, settings: BootstrapSettings) -> DatasetScores:
    """The numbers of `mtbias.coref.winogender` of the file at `path`."""
    answers = read_resolutions(path, data, spans=_INCLUDED)
    counts = winogender.count_winogender(data, answers.of)
    scores = winogender.compute_winogender(counts, **vars(settings))
    signed = signature(
        "winogender", {"data": data.files, "predictions": answers.files}, gotcha="bls50", unit="occupation",
        **reading_of(answers), resamples=settings.resamples, seed=settings.seed,
    )  # fmt: skip
    headline = {"consistency", "male_female_differ", "male_accuracy", "female_accuracy", "pearson_bls"}
    numbers = tuple(
        NamedNumber("", key, _WINOGENDER.get(key, key.replace("_", " ")), one, key in headline,
                    _RATIO if key.startswith(("pearson", "spearman")) else 2)
        for key, one in scores.numbers.items()
    )  # fmt: skip
    return DatasetScores(numbers, {"": winogender.winogender_units(counts)}, signed, answers.notes)


def score_gap(data: GapFile, path: Path, settings: BootstrapSettings) -> DatasetScores:
    """The numbers of `mtbias.coref.gap` of the file at `path`, which has clusters or labels."""
    labels, made = read_system(path, data, official=True, spans=_INCLUDED)
    table = gap.tally(data, gap.answers(data, labels))
    scores = gap.score(table, n_resamples=settings.resamples, rng=np.random.default_rng(settings.seed))
    signed = signature(
        "gap", {"data": {data.path.name: data.sha256}}, systems=labels.sha256[:12], **reading_of(made),
        counts="official", unit="example", **vars(settings),
    )  # fmt: skip
    units = {"": gap.gap_units(data, table)}
    return DatasetScores(tuple(_gap_numbers(scores)), units, signed, () if made is None else made.notes)


def _gap_numbers(scores: gap.GapScores) -> Iterator[NamedNumber]:
    for rate, label in (("f1", "F1"), ("accuracy", "accuracy"), ("precision", "precision"), ("recall", "recall")):
        for group, counts in scores.counts.items():
            tp, fp, fn = (counts[kind] for kind in ("tp", "fp", "fn"))
            n = {"f1": counts["n"], "accuracy": counts["positives"], "precision": tp + fp, "recall": tp + fn}[rate]
            one = replace(scores.numbers[f"{rate}:{group}"], n=n)
            headline = group == "overall" and rate in scores.biases
            yield NamedNumber("", f"{rate}:{group}", f"{label}, {group}", one, headline)
    for name in scores.biases:
        n = scores.counts["overall"]["n" if name == "f1" else "positives"]
        one = replace(scores.numbers[f"bias:{name}"], n=n)
        yield NamedNumber("", f"bias:{name}", f"bias (F/M), {name.replace('f1', 'F1')}", one, True, _RATIO)


_COUNTER_GAP = {
    "acc_diff": "accuracy, masculine − feminine",
    "within_diff": "I_within, masculine − feminine",
    "across_diff": "I_across, M2F − F2M",
    "counter_diff": "accuracy, original − counterfactual",
    "own_m": "accuracy, x_o alone, masculine",
    "own_f": "accuracy, x_o alone, feminine",
    "own_diff": "accuracy, x_o alone, masculine − feminine",
}
"""The labels of the numbers that the command's table shows below another, whose name they lack there."""


def score_counter_gap(
    data: GapFile, units: Sequence[counter_gap.Quadruple], path: Path, settings: BootstrapSettings
) -> DatasetScores:
    """The numbers of `mtbias.coref.counter_gap` of the file at `path`, which has clusters or labels."""
    labels, made = read_system(path, data, spans=_INCLUDED)
    cells = counter_gap.pattern_cells(units, labels.of, path=path)
    scores = counter_gap.score(cells, n_resamples=settings.resamples, rng=np.random.default_rng(settings.seed))
    signed = signature(
        "counter-gap", {"data": {data.path.name: data.sha256}, "predictions": {path.name: labels.sha256}},
        correct="both-labels", **reading_of(made), unit="quadruple", **vars(settings),
    )  # fmt: skip
    numbers = tuple(
        NamedNumber("", key, _COUNTER_GAP.get(key, said.label), replace(one, p=one.p_two_sided), said.compared,
                    _RATIO if key == "rho" else 2)
        for key, said in counter_gap.METRICS.items()
        for one in [scores.numbers[key]]  # p is two-sided, as that of every other number
    )  # fmt: skip
    paired = {"": counter_gap.counter_gap_units(units, cells)}
    return DatasetScores(numbers, paired, signed, () if made is None else made.notes)


def score_bug(
    data: bug_links.Bug, texts: Sequence[CorefText], path: Path, settings: BootstrapSettings
) -> DatasetScores:
    """The numbers of `mtbias.coref.bug_links` of the file at `path`, of all rows and by group."""
    found = read_output(texts, [path], spans=_INCLUDED, also=data.skipped)
    scores = bug_links.score_bug(data, found, **vars(settings))
    signed = signature(
        "bug", {"data": {data.path.name: data.sha256}, "predictions": found.files}, contains="inclusive",
        bin="floor(distance/5)", **reading_of(found), resamples=settings.resamples, seed=settings.seed,
    )  # fmt: skip
    groups = {"": scores.overall}
    for by, prefix in (("by_distance", "distance "), ("by_pronouns", "pronouns "), ("by_domain", "")):
        groups |= {f"{prefix}{key}": group for key, group in scores.groups[by].items()}
    numbers = tuple(one for part, group in groups.items() for one in _bug_numbers(part, group))
    return DatasetScores(numbers, {"": bug_links.bug_units(data, found)}, signed, found.notes)


def _bug_numbers(part: str, group: bug_links.BugGroup) -> Iterator[NamedNumber]:
    rows = {
        "accuracy": group.shares["all"].n,
        "delta_g": group.shares["male"].n + group.shares["female"].n,
        "delta_s": group.shares["stereotypical"].n + group.shares["anti"].n,
    }
    for key, label in (("accuracy", "accuracy"), ("delta_g", "ΔG"), ("delta_s", "ΔS")):
        yield NamedNumber(part, key, label, replace(group.numbers[key], n=rows[key]), headline=not part)


def score_sowinobias(
    sentences: Sequence[sowinobias.SoWinoBiasSentence],
    texts: Sequence[CorefText],
    vocabulary: Mapping[str, str],
    words: str,
    path: Path,
    settings: BootstrapSettings,
) -> DatasetScores:
    """The numbers of `mtbias.coref.sowinobias` of the file at `path`; `words`: whose list the vocabulary is."""
    found = read_output(texts, [path], spans=_INCLUDED)
    table = sowinobias.count(sentences, found)
    scores = sowinobias.score(table, n_resamples=settings.resamples, rng=np.random.default_rng(settings.seed))
    digest = sowinobias.sentences_sha256(sentences)
    signed = signature(
        "sowinobias", {"vocabulary": vocabulary, "sentences": {"sentences": digest}, "predictions": found.files},
        list=words, n="polarity", **{"full-stop": "yes"}, right="second-person-alone", **reading_of(found),
        **vars(settings),
    )  # fmt: skip
    units = {"": sowinobias.sowinobias_units(sentences, found)}
    return DatasetScores(tuple(_sowinobias_numbers(scores)), units, signed, found.notes)


def _sowinobias_numbers(scores: sowinobias.SoWinoBiasScores) -> Iterator[NamedNumber]:
    for row, gap_ in scores.gaps.items():
        pairs = int(scores.accuracy[row][CONDITIONS[0]].n or 0)
        found = {str(direction): scores.accuracy[row][direction] for direction in CONDITIONS}
        found |= {"average": Estimate(gap_.average, n=pairs)}
        found |= {"difference": Estimate(gap_.difference, gap_.interval, pairs, gap_.p)}
        for key, one in found.items():
            label = f"accuracy, {row}, {'pro − anti' if key == 'difference' else key}"
            yield NamedNumber("", f"{row}:{key}", label, one, headline=row == "all" and key != "average")
        for direction in CONDITIONS:
            label = f"accuracy where one person alone, {row}, {direction}"
            yield NamedNumber("", f"{row}:{direction}:one_alone", label, scores.decided[row][direction])
