"""All measures of one space of word vectors, and spaces side by side: before debiasing and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from mtbias.embeddings.bias_measures import (
    Gipe,
    TwoTargetWeat,
    Weat,
    direct_bias,
    gender_direction,
    gipe,
    indirect_bias,
    weat,
    weat_two_targets,
)
from mtbias.embeddings.biased_groups import (
    Clustering,
    Recoverability,
    Spread,
    clustering,
    most_biased,
    recoverability,
)
from mtbias.embeddings.measure_settings import MEASURES, EmbeddingSettings
from mtbias.embeddings.vectors import Vectors
from mtbias.embeddings.word_lists import SECTIONS, TWO_TARGETS, Pair, WordLists
from mtbias.errors import DataError
from mtbias.stats.results import Estimate, Floats, Interval, number


@dataclass(frozen=True, slots=True)
class NamedTests:
    """WEAT with two lists of targets, by the test's name."""

    by_name: Mapping[str, TwoTargetWeat]


Measured = Estimate | Mapping[Pair, float | None] | Weat | NamedTests | Gipe | Clustering | Recoverability
"""Of ``direct`` an estimate, DB over its words; of ``indirect`` β by pair, None where undefined; else what it is."""


@dataclass(frozen=True, slots=True)
class Row:
    """One number of a space, as a table shows it."""

    value: float | None
    ends: Interval | None
    """Interval, or range over repeats."""
    rests_on: str
    decimals: int = 4


@dataclass(frozen=True, slots=True)
class Result:
    """What was measured in one space."""

    missing: Mapping[str, tuple[str, ...]]
    """Words without vector, by section; left out."""
    measures: Mapping[str, Measured]
    """In the order of `MEASURES`, without those that were not asked for or whose section is absent."""

    def to_json(self) -> dict[str, Any]:
        """By measure, for JSON; null where nothing was measured."""

        def plain(name: str) -> object:
            value = self.measures.get(name)
            if isinstance(value, Mapping):
                return [{"pair": pair, "beta": beta} for pair, beta in value.items()]
            if isinstance(value, Estimate):
                return {"value": value.value, "interval": value.interval, "n": value.n}
            if isinstance(value, NamedTests):
                return {test: asdict(found) for test, found in value.by_name.items()}
            return None if value is None else asdict(value)

        return {name: plain(name) for name in MEASURES}

    def rows(self) -> dict[str, Row]:
        """The numbers by label."""
        rows: dict[str, Row] = {}
        for measured in self.measures.values():
            match measured:
                case Estimate(value=value, interval=interval, n=n):
                    rows["direct bias DB"] = Row(value, interval, f"{n} words")
                case Weat(s, p, partitions, exact):
                    rows["WEAT S"] = Row(s, None, "")
                    rows["WEAT p"] = Row(p, None, _partitions(partitions, exact=exact))
                case Gipe(value, interval, n, neighbours):
                    rows["GIPE"] = Row(value, interval, f"{n} words, {neighbours} neighbours each")
                case Clustering(accuracy, v, n, n_feminine, undefined):
                    on = undefined or f"{n} words, {n_feminine} feminine; range of {_times(accuracy)} starts"
                    rows["clustering accuracy"] = _repeated(accuracy, on)
                    rows["clustering V"] = _repeated(v, on)
                case Recoverability(linear, rbf, n_train, n_test, undefined):
                    on = undefined or f"{n_test} words, trained on {n_train}; range of {_times(linear)} splits"
                    rows["recoverability, linear"] = _repeated(linear, on)
                    rows["recoverability, RBF"] = _repeated(rbf, on)
                case NamedTests(tests):
                    for name, test in tests.items():
                        rows[f"WEAT {name} d"] = Row(test.d, None, "")
                        rows[f"WEAT {name} p"] = Row(test.p, None, _partitions(test.partitions, exact=test.exact))
                case pairs:
                    for (first, second), beta in pairs.items():
                        rows[f"indirect bias β({first}, {second})"] = Row(beta, None, "1 pair")
        return rows


def _partitions(partitions: int, *, exact: bool) -> str:
    return f"{partitions} partitions ({'all' if exact else 'random'})"


def _times(spread: Spread | None) -> int:
    return 0 if spread is None else spread.repeats


def _repeated(spread: Spread | None, rests_on: str) -> Row:
    if spread is None:
        return Row(None, None, rests_on, 2)
    return Row(spread.mean, (spread.least, spread.most), rests_on, 2)


def measure(
    lists: WordLists, vectors: Vectors, original: Vectors, settings: EmbeddingSettings, measures: Sequence[str]
) -> Result:
    """Take the named measures of `vectors`.

    The gender direction, β and which words are most biased are of the `original` space, the one before debiasing; it is
    the same object where there is none. Each measure draws from a generator of its own, so that its numbers do not
    depend on which others are taken, and two spaces with the same words have the same resamples, starts and splits.

    Raises:
        DataError: a list has no word with a vector; what the measures raise.
        DependencyError: clustering or recoverability without scikit-learn.
    """
    dimensions = original.matrix.shape[1]
    if vectors.matrix.shape[1] != dimensions:
        message = f"expected vectors of {dimensions} dimensions, as before debiasing, got {vectors.matrix.shape[1]}"
        raise DataError(message, path=vectors.path)
    known = _Known(vectors, original)
    words, pairs, seed = lists.words, lists.pairs, settings.seed
    g = gender_direction(original, known.of("direction", pairs["direction"], original), settings.direction)
    wanted = [name for name in MEASURES if name in measures and (name not in SECTIONS or lists.has(name))]
    rng = partial(np.random.default_rng, seed)
    found: dict[str, Measured] = {}
    if "direct" in wanted:
        rows = known.rows("direct", words["direct"]["words"])
        found["direct"] = direct_bias(rows, g, c=settings.c, resamples=settings.resamples, rng=rng())
    if "indirect" in wanted:
        kept = known.of("indirect", pairs["indirect"], vectors)
        first, second = (vectors.rows(pair[k] for pair in kept) for k in (0, 1))
        found["indirect"] = dict(zip(kept, map(number, indirect_bias(first, second, g)), strict=True))
    if "weat" in wanted:
        sides = [known.rows("weat", words["weat"][name]) for name in SECTIONS["weat"]]
        found["weat"] = weat(*sides, partitions=settings.partitions, rng=rng())
    if TWO_TARGETS in wanted:
        tests = {}
        for test in lists.two_targets:
            section = f"{TWO_TARGETS}.{test}"
            four = [known.rows(section, words[section][name]) for name in SECTIONS[f"{TWO_TARGETS}.NAME"]]
            tests[test] = weat_two_targets(*four, partitions=settings.partitions, rng=rng())
        found[TWO_TARGETS] = NamedTests(tests)
    if "gipe" in wanted:
        found["gipe"] = gipe(
            known.of("gipe", words["gipe"]["words"]), vectors, original, g,
            neighbours=settings.neighbours, theta=settings.theta, weight_without_edges=settings.edgeless_weight,
            resamples=settings.resamples, rng=rng(),
        )  # fmt: skip
    leaning = partial(most_biased, original, g, exclude=lists.gendered, selection=settings.selection)
    if "clustering" in wanted:
        biased = leaning(settings.cluster_words)
        found["clustering"] = clustering(
            biased, vectors, seed=seed, repeats=settings.repeats, n_init=settings.kmeans_starts
        )
    if "recoverability" in wanted:
        biased = leaning(settings.recover_words)
        found["recoverability"] = recoverability(
            biased, vectors, seed=seed, repeats=settings.repeats, train_share=settings.train_share,
            svm_c=settings.svm_c, gamma=settings.svm_gamma,
        )  # fmt: skip
    return Result({section: tuple(named) for section, named in known.lost.items()}, found)


_Entry = TypeVar("_Entry", str, Pair)


class _Known:
    """The words of lists that have vectors in all spaces; those that have not are remembered."""

    def __init__(self, *spaces: Vectors) -> None:
        self._spaces = spaces
        self.lost: dict[str, dict[str, None]] = {}

    def rows(self, section: str, words: Sequence[str]) -> Floats:
        """The vectors of `words` in the first space."""
        return self._spaces[0].rows(self.of(section, words))

    def of(self, section: str, entries: Sequence[_Entry], *spaces: Vectors) -> list[_Entry]:
        """Those of `entries` (words, or pairs of them) with vectors in all spaces (by default all there are)."""
        looked_at = spaces or self._spaces
        words = {entry: (entry,) if isinstance(entry, str) else entry for entry in entries}
        missing = [word for of in words.values() for word in of if any(word not in space.index for space in looked_at)]
        if missing:
            self.lost.setdefault(section, {}).update(dict.fromkeys(missing))
        kept = [entry for entry in entries if not set(missing).intersection(words[entry])]
        if not kept:
            one = isinstance(next(iter(entries), ""), str)
            what = "words has a vector" if one else "pairs has vectors for both words"
            message = f"[{section}]: none of the {len(entries)} {what}; name other words with --words"
            raise DataError(message, path=looked_at[0].path)
        return kept
