"""All measures of word vectors over a file of word lists: what `mtbias coref embeddings` runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from mtbias.embeddings.bias_measures import (
    Gipe,
    Weat,
    direct_bias,
    gender_direction,
    gipe,
    indirect_bias,
    weat,
)
from mtbias.embeddings.biased_groups import Clustering, Recoverability, clustering, most_biased, recoverability
from mtbias.embeddings.measure_settings import MEASURES, EmbeddingSettings
from mtbias.embeddings.vectors import Vectors
from mtbias.errors import DataError
from mtbias.files.reading import TextFile, parse_toml, read_text
from mtbias.stats.results import Estimate, number

EXAMPLE_LISTS = Path(str(resources.files("mtbias.embeddings"))) / "example_words.toml"
"""The lists that come with mtbias, an example."""

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "direction": ("pairs",),
    "direct": ("words",),
    "indirect": ("pairs",),
    "weat": ("targets", "attributes_1", "attributes_2"),
    "gipe": ("words",),
    "groups": ("exclude",),
}


@dataclass(frozen=True, slots=True)
class WordLists:
    """The lists by section and name: words, or pairs of words. A section may be absent, except ``direction``."""

    words: Mapping[str, Mapping[str, tuple[str, ...]]]
    pairs: Mapping[str, tuple[tuple[str, str], ...]]
    sha256: str


Measured = Estimate | Mapping[tuple[str, str], float | None] | Weat | Gipe | Clustering | Recoverability
"""Of ``direct`` an estimate, DB over its words; of ``indirect`` β by pair, None where undefined; else what it is."""


@dataclass(frozen=True, slots=True)
class Result:
    """What was measured."""

    missing: Mapping[str, tuple[str, ...]]
    """Words without vector, by section; left out."""
    measures: Mapping[str, Measured]
    """In the order of `MEASURES`, without those that were not asked for or whose section is absent."""

    def to_json(self) -> dict[str, Any]:
        """By measure, for JSON; null where nothing was measured."""

        def plain(value: Measured | None) -> object:
            if isinstance(value, Estimate):
                return {"value": value.value, "n": value.n}
            if isinstance(value, Mapping):
                return [{"pair": pair, "beta": beta} for pair, beta in value.items()]
            return None if value is None else asdict(value)

        return {name: plain(self.measures.get(name)) for name in MEASURES}

    def rows(self) -> list[tuple[str, str, str]]:
        """Label, number and what it rests on, for a table."""
        rows: list[tuple[str, str, str]] = []
        for measured in self.measures.values():
            match measured:
                case Estimate(value=value, n=n):
                    rows.append(("direct bias DB", _plain(value), f"{n} words"))
                case Weat(s, p, partitions, exact):
                    on = f"{partitions} partitions ({'all' if exact else 'random'})"
                    rows += [("WEAT S", _plain(s), ""), ("WEAT p", _plain(p), on)]
                case Gipe(value, n, neighbours, above):
                    on = f"{n} words, {neighbours} neighbours each, {above} edges above θ"
                    rows.append(("GIPE", _plain(value), on))
                case Clustering(accuracy, v, n, n_feminine):
                    on = f"{n} words, {n_feminine} feminine"
                    rows += [("clustering accuracy", _plain(accuracy, 2), on), ("clustering V", _plain(v, 2), on)]
                case Recoverability(linear, rbf, n_train, n_test):
                    on = f"{n_test} words, trained on {n_train}"
                    both = (("linear", linear), ("RBF", rbf))
                    rows += [(f"recoverability, {kernel}", _plain(share, 2), on) for kernel, share in both]
                case pairs:
                    rows += [(f"indirect bias β({w}, {v})", _plain(beta), "1 pair") for (w, v), beta in pairs.items()]
        return rows


def _plain(value: float | None, decimals: int = 4) -> str:
    return "–" if value is None else f"{value:.{decimals}f}"


def read_lists(path: Path) -> WordLists:
    """Read a TOML file of `SECTIONS`.

    Raises:
        DataError: no TOML; an unknown section or list; a list that is no list of words (or of pairs of words); a word
            twice in a list; no ``direction``.
    """
    file = read_text(path)
    words: dict[str, dict[str, tuple[str, ...]]] = {}
    pairs: dict[str, tuple[tuple[str, str], ...]] = {}
    for section, content in parse_toml(file).items():
        if section not in SECTIONS or not isinstance(content, dict) or sorted(content) != sorted(SECTIONS[section]):
            wanted = "; ".join(f"[{name}] {', '.join(lists)}" for name, lists in SECTIONS.items())
            raise file.error(f"[{section}]: the sections and their lists are {wanted}")
        for name, items in content.items():
            where = f"[{section}] {name}"
            if name == "pairs":
                pairs[section] = _pairs(items, where, file)
            else:
                words.setdefault(section, {})[name] = _words(items, where, file)
    if "direction" not in pairs:
        raise file.error("expected [direction] pairs, got none; every measure rests on the gender direction")
    return WordLists(words, pairs, file.sha256)


def _words(items: object, where: str, file: TextFile) -> tuple[str, ...]:
    if not isinstance(items, list) or not all(isinstance(item, str) and item for item in items):
        raise file.error(f"{where}: expected a list of words, got {items!r:.60}")
    if len(set(items)) != len(items):
        twice = next(item for item in items if items.count(item) > 1)
        raise file.error(f"{where}: expected each word once, got {twice!r} twice; remove one")
    return tuple(items)


def _pairs(items: object, where: str, file: TextFile) -> tuple[tuple[str, str], ...]:
    if not isinstance(items, list) or not items:
        raise file.error(f"{where}: expected a list of pairs of words, got {items!r:.60}")
    for item in items:
        if not (isinstance(item, list) and len(item) == 2 and all(isinstance(word, str) and word for word in item)):
            raise file.error(f"{where}: expected a pair of words, got {item!r}")
    return tuple((first, second) for first, second in items)


def measure(
    lists: WordLists, vectors: Vectors, original: Vectors, settings: EmbeddingSettings, measures: Sequence[str]
) -> Result:
    """Take the named measures of `vectors`.

    Raises:
        DataError: a list has no word with a vector; what the measures raise.
        DependencyError: clustering or recoverability without scikit-learn.
    """
    lost: dict[str, dict[str, None]] = {}
    words, pairs = lists.words, lists.pairs
    directions = _known("direction", pairs["direction"], lost, original)
    g = gender_direction(original, directions, settings.direction)
    wanted = {name for name in measures if name not in SECTIONS or name in {*words, *pairs}}
    found: dict[str, Measured] = {}
    # Direct bias is of the vectors at hand; where there are others before debiasing, the direction is theirs.
    if "direct" in wanted:
        rows = vectors.rows(_known("direct", words["direct"]["words"], lost, vectors, original))
        found["direct"] = Estimate(direct_bias(rows, g, c=settings.c), n=len(rows))
    if "indirect" in wanted:
        known = _known("indirect", pairs["indirect"], lost, vectors)
        first, second = (vectors.rows(pair[k] for pair in known) for k in (0, 1))
        found["indirect"] = dict(zip(known, map(number, indirect_bias(first, second, g)), strict=True))
    if "weat" in wanted:
        sides = [vectors.rows(_known("weat", words["weat"][n], lost, vectors, original)) for n in SECTIONS["weat"]]
        found["weat"] = weat(*sides, partitions=settings.partitions, rng=np.random.default_rng(settings.seed))
    if "gipe" in wanted:
        found["gipe"] = gipe(
            _known("gipe", words["gipe"]["words"], lost, vectors, original), vectors, original, g,
            neighbours=settings.neighbours, theta=settings.theta, weight_without_edges=settings.edgeless_weight,
        )  # fmt: skip
    exclude = {*(word for pair in pairs["direction"] for word in pair), *words.get("groups", {}).get("exclude", ())}
    leaning = partial(most_biased, original, g, exclude=exclude, balanced=settings.balanced)
    if "clustering" in wanted:
        biased = leaning(settings.cluster_words)
        found["clustering"] = clustering(biased, vectors, seed=settings.seed, n_init=settings.kmeans_starts)
    if "recoverability" in wanted:
        biased = leaning(settings.recover_words)
        found["recoverability"] = recoverability(
            biased, vectors, seed=settings.seed, train_share=settings.train_share, svm_c=settings.svm_c,
            gamma=settings.svm_gamma,
        )  # fmt: skip
    return Result({section: tuple(named) for section, named in lost.items()}, found)


_Entry = TypeVar("_Entry", str, tuple[str, str])


def _known(section: str, entries: Sequence[_Entry], lost: dict[str, dict[str, None]], *spaces: Vectors) -> list[_Entry]:
    """Those of `entries` (words, or pairs of them) with vectors in all `spaces`; words without go to `lost`."""
    words = {entry: (entry,) if isinstance(entry, str) else entry for entry in entries}
    missing = [word for of in words.values() for word in of if any(word not in space.index for space in spaces)]
    if missing:
        lost.setdefault(section, {}).update(dict.fromkeys(missing))
    kept = [entry for entry in entries if not set(missing).intersection(words[entry])]
    if not kept:
        what = "words has a vector" if isinstance(next(iter(entries), ""), str) else "pairs has vectors for both words"
        raise DataError(f"[{section}]: none of the {len(entries)} {what}", path=spaces[0].path)
    return kept
