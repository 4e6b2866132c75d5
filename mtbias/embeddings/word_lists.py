"""All measures of word vectors over a file of word lists: what `mtbias coref embeddings` runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from mtbias.embeddings.bias_measures import (
    DirectionMethod,
    Gipe,
    Weat,
    direct_bias,
    gender_direction,
    gipe,
    indirect_bias,
    weat,
)
from mtbias.embeddings.biased_groups import Clustering, Recoverability, clustering, most_biased, recoverability
from mtbias.embeddings.vectors import Vectors
from mtbias.errors import DataError
from mtbias.files.reading import TextFile, parse_toml, read_text
from mtbias.stats.results import number

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


@dataclass(frozen=True, slots=True)
class Parameters:
    """What papers leave open; see the functions that take them."""

    direction: str = "pca"
    c: float = 1.0
    partitions: int = 100000
    neighbours: int = 100
    theta: float = 0.03
    edgeless_weight: int = 1
    cluster_words: int = 1500
    recover_words: int = 5000
    balanced: bool = False
    kmeans_starts: int = 10
    train_share: float = 0.5
    svm_c: float = 1.0
    svm_gamma: float | str = "scale"
    seed: int = 0

    def described(self, measures: Collection[str]) -> dict[str, object]:
        """The parameters that `measures` rest on, by name."""
        used = {
            "direct": ("c",),
            "weat": ("partitions", "seed"),
            "gipe": ("neighbours", "theta", "edgeless_weight"),
            "clustering": ("cluster_words", "balanced", "kmeans_starts", "seed"),
            "recoverability": ("recover_words", "balanced", "train_share", "svm_c", "svm_gamma", "seed"),
        }
        names = {"direction", *(name for measure in measures for name in used.get(measure, ()))}
        return {name: value for name, value in asdict(self).items() if name in names}


@dataclass(frozen=True, slots=True)
class Result:
    """What was measured; None where it was not asked for, or its section is absent."""

    missing: Mapping[str, tuple[str, ...]]
    """Words without vector, by section; left out."""
    direct: tuple[float | None, int] | None
    """DB and its number of words."""
    indirect: Mapping[tuple[str, str], float | None] | None
    """β by pair; None where undefined."""
    weat: Weat | None
    gipe: Gipe | None
    clustering: Clustering | None
    recoverability: Recoverability | None

    def to_json(self) -> dict[str, Any]:
        """By measure, for JSON."""
        return {
            "direct": None if self.direct is None else {"value": self.direct[0], "n": self.direct[1]},
            "indirect": None
            if self.indirect is None
            else [{"pair": pair, "beta": beta} for pair, beta in self.indirect.items()],
            **{
                name: None if value is None else asdict(value)
                for name, value in (
                    ("weat", self.weat), ("gipe", self.gipe), ("clustering", self.clustering),
                    ("recoverability", self.recoverability),
                )
            },
        }  # fmt: skip

    def rows(self) -> list[tuple[str, str, str]]:
        """Label, number and what it rests on, for a table."""
        rows: list[tuple[str, str, str]] = []
        if self.direct is not None:
            rows.append(("direct bias DB", _plain(self.direct[0]), f"{self.direct[1]} words"))
        if self.indirect is not None:
            rows += [(f"indirect bias β({w}, {v})", _plain(beta), "1 pair") for (w, v), beta in self.indirect.items()]
        if (w := self.weat) is not None:
            how = "all" if w.exact else "random"
            rows += [("WEAT S", _plain(w.s), ""), ("WEAT p", _plain(w.p), f"{w.partitions} partitions ({how})")]
        if (e := self.gipe) is not None:
            rows.append(
                ("GIPE", _plain(e.value), f"{e.n} words, {e.neighbours} neighbours each, {e.above} edges above θ")
            )
        if (c := self.clustering) is not None:
            on = f"{c.n} words, {c.n_feminine} feminine"
            rows += [("clustering accuracy", _plain(c.accuracy, 2), on), ("clustering V", _plain(c.v_measure, 2), on)]
        if (r := self.recoverability) is not None:
            on = f"{r.n_test} words, trained on {r.n_train}"
            rows += [("recoverability, linear", _plain(r.linear, 2), on), ("recoverability, RBF", _plain(r.rbf, 2), on)]
        return rows


def _plain(value: float | None, decimals: int = 4) -> str:
    return "–" if value is None else f"{value:.{decimals}f}"


def example_lists() -> WordLists:
    """The lists that come with mtbias, an example."""
    with resources.as_file(resources.files("mtbias.embeddings") / "example_words.toml") as path:
        return read_lists(path)


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
        raise file.error("[direction] pairs expected: every measure rests on the gender direction")
    return WordLists(words, pairs, file.sha256)


def _words(items: object, where: str, file: TextFile) -> tuple[str, ...]:
    if not isinstance(items, list) or not all(isinstance(item, str) and item for item in items):
        raise file.error(f"{where}: a list of words expected")
    if len(set(items)) != len(items):
        twice = next(item for item in items if items.count(item) > 1)
        raise file.error(f"{where}: {twice!r} stands twice")
    return tuple(items)


def _pairs(items: object, where: str, file: TextFile) -> tuple[tuple[str, str], ...]:
    if not isinstance(items, list) or not items:
        raise file.error(f"{where}: a list of pairs of words expected")
    for item in items:
        if not (isinstance(item, list) and len(item) == 2 and all(isinstance(word, str) and word for word in item)):
            raise file.error(f"{where}: a pair of words expected, found {item!r}")
    return tuple((first, second) for first, second in items)


def measure(
    lists: WordLists, vectors: Vectors, original: Vectors, parameters: Parameters, measures: Sequence[str]
) -> Result:
    """Take the named measures of `vectors`.

    Raises:
        DataError: a list has no word with a vector; what the measures raise.
        DependencyError: clustering or recoverability without scikit-learn.
    """
    lost: dict[str, dict[str, None]] = {}
    p, words, pairs = parameters, lists.words, lists.pairs
    directions = _known("direction", pairs["direction"], lost, original)
    g = gender_direction(original, directions, DirectionMethod(p.direction))
    wanted = {name for name in measures if name not in SECTIONS or name in {*words, *pairs}}
    # Direct bias is of the vectors at hand; where there are others before debiasing, the direction is theirs.
    direct = beta = association = proximity = clusters = found = None
    if "direct" in wanted:
        rows = vectors.rows(_known("direct", words["direct"]["words"], lost, vectors, original))
        direct = (direct_bias(rows, g, c=p.c), len(rows))
    if "indirect" in wanted:
        known = _known("indirect", pairs["indirect"], lost, vectors)
        first, second = (vectors.rows(pair[k] for pair in known) for k in (0, 1))
        beta = dict(zip(known, map(number, indirect_bias(first, second, g)), strict=True))
    if "weat" in wanted:
        sides = [vectors.rows(_known("weat", words["weat"][n], lost, vectors, original)) for n in SECTIONS["weat"]]
        association = weat(*sides, partitions=p.partitions, rng=np.random.default_rng(p.seed))
    if "gipe" in wanted:
        proximity = gipe(
            _known("gipe", words["gipe"]["words"], lost, vectors, original), vectors, original, g,
            neighbours=p.neighbours, theta=p.theta, weight_without_edges=p.edgeless_weight,
        )  # fmt: skip
    exclude = {*(word for pair in pairs["direction"] for word in pair), *words.get("groups", {}).get("exclude", ())}
    if "clustering" in wanted:
        biased = most_biased(original, g, p.cluster_words, exclude=exclude, balanced=p.balanced)
        clusters = clustering(biased, vectors, seed=p.seed, n_init=p.kmeans_starts)
    if "recoverability" in wanted:
        biased = most_biased(original, g, p.recover_words, exclude=exclude, balanced=p.balanced)
        found = recoverability(
            biased, vectors, seed=p.seed, train_share=p.train_share, svm_c=p.svm_c, gamma=p.svm_gamma
        )  # fmt: skip
    missing = {section: tuple(named) for section, named in lost.items()}
    return Result(missing, direct, beta, association, proximity, clusters, found)


_Entry = TypeVar("_Entry", str, tuple[str, str])


def _known(section: str, entries: Sequence[_Entry], lost: dict[str, dict[str, None]], *spaces: Vectors) -> list[_Entry]:
    """Those of `entries` (words, or pairs of them) all of whose words have a vector in all `spaces`.

    Words without one are noted in `lost`, by section.

    Raises:
        DataError: no entry is left.
    """
    words = {entry: (entry,) if isinstance(entry, str) else entry for entry in entries}
    missing = [word for of in words.values() for word in of if any(word not in space.index for space in spaces)]
    if missing:
        lost.setdefault(section, {}).update(dict.fromkeys(missing))
    kept = [entry for entry in entries if not set(missing).intersection(words[entry])]
    if not kept:
        what = (
            "pairs has vectors for both words" if isinstance(next(iter(entries), ""), tuple) else "words has a vector"
        )
        raise DataError(f"[{section}]: none of the {len(entries)} {what}", path=spaces[0].path)
    return kept
