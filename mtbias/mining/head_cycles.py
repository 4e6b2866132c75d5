"""Words that are each other's heads, found in one walk: Stanza's parser looks for such cycles 30 times a sentence.

Its search for the best tree (Chu-Liu and Edmonds) spends most of its time in a general search for strongly connected
parts. In a graph in which every word has one head, these are plain cycles.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray


def cycles(heads: NDArray[np.int64]) -> list[NDArray[np.bool_]]:
    """The cycles of two words or more, ``heads[n]`` being the head of word n; each as a mask of its words.

    They are in the order of their first words, as Stanza's `tarjan` gives them: from outside a cycle it finds none,
    since it goes from heads to dependents.
    """
    head = heads.tolist()
    seen = [-1] * len(head)
    found = []
    for start in range(len(head)):
        word = start
        while seen[word] < 0:
            seen[word] = start
            word = head[word]
        if seen[word] == start and head[word] != word:
            members = [word]
            while head[members[-1]] != word:
                members.append(head[members[-1]])
            found.append(sorted(members))
    masks = np.zeros((len(found), len(head)), dtype=bool)
    for mask, members in zip(masks, sorted(found)):
        mask[members] = True
    return list(masks)


@contextmanager
def quick_cycles() -> Iterator[None]:
    """Within the block Stanza's parser finds cycles by `cycles`."""
    from stanza.models.common import chuliu_edmonds

    own = chuliu_edmonds.tarjan
    chuliu_edmonds.tarjan = cycles
    try:
        yield
    finally:
        chuliu_edmonds.tarjan = own
