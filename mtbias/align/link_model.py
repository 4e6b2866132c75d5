r"""A word-alignment model trained in both directions at once, deterministic, in numpy.

Two IBM models share one table of expected links: source→target with :math:`t(f\mid e)` and
target→source with :math:`t(e\mid f)`. In every E-step the posteriors of both are multiplied
("alignment by agreement": Liang, Taskar and Klein 2006), so that only links that both directions
believe in are counted; no heuristic symmetrisation is needed after. The first rounds have a uniform
prior over positions (IBM model 1), the later ones prefer the diagonal,
:math:`\propto\exp(-\lambda\,|i/I-j/J|)` (Dyer, Chahuneau and Smith 2013). A word may also stay
unlinked: the null word has probability `P_NULL`.

Memory: one row a distinct (source type, target type) pair that occurs together, plus one chunk of
token pairs. Time: rounds × token pairs. Both grow linearly with the corpus (fewer distinct pairs
than token pairs). No randomness anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mtbias.align.sentence_pairs import IntArray, Side
from mtbias.types import frozen

FloatArray = NDArray[np.float64]

# The defaults of Dyer et al.'s fast_align. In cs "Učitel pozdravil druhou učitelku" only the place,
# the diagonal, tells the two teachers apart.
P_NULL = 0.08
LAMBDA = 4.0
UNIFORM_ROUNDS = 4
DIAGONAL_ROUNDS = 4
SMOOTHING = 0.01
"""Expected links added to the denominator of every distribution, so that a pair seen once is not
certain."""
CHUNK = 1 << 20
"""Token pairs held at once (about 100 MB of working arrays)."""


@frozen
class Cells:
    """All token pairs of a run of sentences, flattened: one row a (source token, target token)
    pair.
    """

    pair: IntArray
    """Row of the table of type pairs."""
    source: IntArray
    """Source token, counted from the chunk's first."""
    target: IntArray
    """Target token, counted from the chunk's first."""
    source_type: IntArray
    target_type: IntArray
    diagonal: FloatArray
    """|i/I − j/J| of the two tokens' middles."""


@frozen
class LinkCounts:
    """Distinct pairs of types that occur together, sorted by key = source × (number of target
    types) + target.
    """

    keys: IntArray
    links: FloatArray
    """Expected links, shape [pairs of types]."""
    source_totals: FloatArray
    target_totals: FloatArray

    def rows(self, keys: IntArray) -> IntArray:
        """Rows of known keys."""
        return np.searchsorted(self.keys, keys)

    def dice(self, rows: IntArray, source: IntArray | int, target: IntArray) -> FloatArray:
        """Dice coefficient of pairs of types, 0 to 1: twice their links over those of `source` and
        `target`.
        """
        totals = self.source_totals[source] + self.target_totals[target]
        return 2 * self.links[rows] / np.maximum(totals, 1e-12)


def chunks(source: Side, target: Side, size: int = CHUNK) -> Iterator[tuple[int, int]]:
    """Sentence ranges [first, last) of at most `size` token pairs each (at least one sentence)."""
    cells = np.concatenate(([0], np.cumsum(source.lengths * target.lengths)))
    first = 0
    while first < len(cells) - 1:
        last = int(np.searchsorted(cells, cells[first] + size, side="right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last


def _flatten(
    source: Side, target: Side, first: int, last: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """Global source token, global target token and diagonal distance of every cell of sentences
    [first, last).
    """
    rows, columns = source.lengths[first:last], target.lengths[first:last]
    sizes = rows * columns
    sentence = np.repeat(np.arange(last - first), sizes)
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    width = columns[sentence]
    i, j = within // width, within % width
    diagonal = np.abs((i + 0.5) / rows[sentence] - (j + 0.5) / width)
    return (
        source.offsets[first:last][sentence] + i,
        target.offsets[first:last][sentence] + j,
        diagonal,
    )


def cells_of(source: Side, target: Side, keys: IntArray, first: int, last: int) -> Cells:
    """The token pairs of sentences [first, last), with their rows in the table of `keys`."""
    s, t, diagonal = _flatten(source, target, first, last)
    source_type, target_type = source.ids[s], target.ids[t]
    pair = np.searchsorted(keys, source_type * len(target.types) + target_type)
    return Cells(
        pair,
        s - source.offsets[first],
        t - target.offsets[first],
        source_type,
        target_type,
        diagonal,
    )


class TokenPairs:
    """The token pairs of a corpus in chunks, for the rounds of training and what comes behind them.

    A corpus of one chunk is flattened once, and its pairs are held; a larger one every time again.
    """

    def __init__(self, source: Side, target: Side) -> None:
        """The pairs of these sides."""
        self.source, self.target = source, target
        self.keys = distinct_keys(source, target)
        self._ranges = list(chunks(source, target))
        self._only: Cells | None = None

    def chunks(self) -> Iterator[tuple[int, int, Cells]]:
        """The sentences of each chunk, [first, last), and its token pairs."""
        for first, last in self._ranges:
            yield first, last, self._cells(first, last)

    def _cells(self, first: int, last: int) -> Cells:
        if self._only is not None:
            return self._only
        cells = cells_of(self.source, self.target, self.keys, first, last)
        if len(self._ranges) == 1:
            self._only = cells
        return cells


def distinct_keys(source: Side, target: Side) -> IntArray:
    """Sorted keys of all pairs of types that occur together in some sentence."""
    # The first part is what is known; the others are merged into it as soon as they outgrow it, so
    # that memory stays at about twice the result.
    parts: list[IntArray] = [np.empty(0, np.int64)]
    for first, last in chunks(source, target):
        s, t, _ = _flatten(source, target, first, last)
        parts.append(np.unique(source.ids[s] * len(target.types) + target.ids[t]))
        if sum(map(len, parts[1:])) > max(len(parts[0]), CHUNK):
            parts = [np.unique(np.concatenate(parts))]
    return np.unique(np.concatenate(parts))


def posteriors(
    cells: Cells, table: LinkCounts, null: tuple[FloatArray, FloatArray], strength: float
) -> tuple[FloatArray, FloatArray]:
    """P(source token | target token) and P(target token | source token) of every cell.

    Args:
        cells: the token pairs.
        table: expected links so far.
        null: share of unlinked tokens by source type and by target type.
        strength: λ of the diagonal prior; 0 is uniform.
    """
    weight = np.exp(-strength * cells.diagonal)
    links = table.links[cells.pair] * weight
    sources, targets = int(cells.source[-1]) + 1, int(cells.target[-1]) + 1
    forward = links / (table.source_totals[cells.source_type] + SMOOTHING)
    # The prior is a share: over the source words of this target word, and over the target words of
    # this source word.
    forward *= (1 - P_NULL) / np.bincount(cells.target, weight, targets)[cells.target]
    backward = links / (table.target_totals[cells.target_type] + SMOOTHING)
    backward *= (1 - P_NULL) / np.bincount(cells.source, weight, sources)[cells.source]
    source_null, target_null = null
    linked = np.bincount(cells.target, forward, targets)[cells.target]
    forward_all = linked + P_NULL * target_null[cells.target_type]
    linked = np.bincount(cells.source, backward, sources)[cells.source]
    backward_all = linked + P_NULL * source_null[cells.source_type]
    return forward / forward_all, backward / backward_all


def prior_counts(keys: IntArray, prior: tuple[IntArray, FloatArray]) -> FloatArray:
    """The links that `prior` (keys, links) gives to each of `keys`; a pair that is not among them
    is ignored.
    """
    prior_keys, prior_links = prior
    links = np.zeros(len(keys))
    if not len(keys):
        return links
    rows = np.searchsorted(keys, prior_keys)
    known = keys[np.minimum(rows, len(keys) - 1)] == prior_keys
    links[rows[known]] = prior_links[known]
    return links


def counted(keys: IntArray, links: FloatArray, source: Side, target: Side) -> LinkCounts:
    """`links` of the pairs of types `keys`, with the totals of both sides' types."""
    n_source, n_target = len(source.types), len(target.types)
    source_types, target_types = np.divmod(keys, max(n_target, 1))
    source_totals = np.bincount(source_types, links, n_source).astype(np.float64)
    target_totals = np.bincount(target_types, links, n_target).astype(np.float64)
    return LinkCounts(keys, links, source_totals, target_totals)


def train(
    pairs: TokenPairs, prior: tuple[IntArray, FloatArray]
) -> tuple[LinkCounts, tuple[FloatArray, FloatArray]]:
    """Expected links of every pair of types after `UNIFORM_ROUNDS` + `DIAGONAL_ROUNDS` rounds of
    joint EM.

    Args:
        pairs: the token pairs of the corpus.
        prior: keys of pairs of types known to translate each other (a glossary, the same spelling)
            and the links to add to each before the first round and in every round; keys that never
            occur together are ignored.
    """
    source, target, keys = pairs.source, pairs.target, pairs.keys
    extra = prior_counts(keys, prior)
    null = (_frequency(source), _frequency(target))
    table: LinkCounts | None = None
    for turn in range(UNIFORM_ROUNDS + DIAGONAL_ROUNDS):
        strength = 0.0 if turn < UNIFORM_ROUNDS else LAMBDA
        counts = extra.copy()
        for first, last, cells in pairs.chunks():
            if not len(cells.pair):
                continue
            # Nothing is known in the first round: every target word is spread evenly over the
            # source words.
            if table is None:
                rows, columns = source.lengths[first:last], target.lengths[first:last]
                joint = 1.0 / rows.repeat(rows * columns)
            else:
                # Agreement: a link counts as far as both directions believe in it.
                forward, backward = posteriors(cells, table, null, strength)
                joint = forward * backward
            counts += np.bincount(cells.pair, joint, len(keys))
        table = counted(keys, counts, source, target)
    if table is None:
        raise ValueError("at least one round of training is needed")
    return table, null


def _frequency(side: Side) -> FloatArray:
    """Relative frequency of every type: what the null word emits."""
    return np.bincount(side.ids, minlength=len(side.types)) / max(len(side.ids), 1)
