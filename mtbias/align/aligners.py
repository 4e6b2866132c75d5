"""The aligners that can be chosen, behind one interface: pairs in, one alignment each out, in order."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from mtbias.align.entity_scores import EntityScores, model_scores
from mtbias.align.entity_words import KnownTranslations, align_entity
from mtbias.align.sentence_pairs import IndexedPairs, Pair, index_pairs
from mtbias.align.word_types import Side
from mtbias.errors import DependencyError, UsageError
from mtbias.language.split_texts import SplitTexts
from mtbias.machine.installation import install_command
from mtbias.types import Alignment

__all__ = ["ALIGNERS", "Aligner", "EflomalAligner", "StatisticalAligner", "get_aligner"]


class Aligner(Protocol):
    """What the pipeline asks of an aligner."""

    @property
    def signature(self) -> str:
        """Name and version: part of a run's identity."""
        ...

    def align(self, pairs: Sequence[Pair], texts: SplitTexts) -> tuple[Alignment, ...]:
        """One alignment a pair, in the order of `pairs`. The whole corpus must come in one call: links are learnt
        from it.

        Args:
            pairs: the sentence pairs.
            texts: splits the translations.
        """
        ...


class StatisticalAligner:
    """mtbias's own: two IBM models trained by agreement (`mtbias.align.link_model`). Deterministic, in numpy."""

    signature = "mtbias-agree/1"

    def align(self, pairs: Sequence[Pair], texts: SplitTexts) -> tuple[Alignment, ...]:
        """See `Aligner`."""
        if not pairs:
            return ()
        return _align_entities(pairs, model_scores(index_pairs(pairs, texts), texts.language), texts)


class EflomalAligner:
    """eflomal (Östling and Tiedemann 2016), where it is installed. Its sampler cannot be seeded: runs differ."""

    @property
    def signature(self) -> str:
        """``eflomal/VERSION``."""
        from importlib.metadata import PackageNotFoundError, version

        try:
            return f"eflomal/{version('eflomal')}"
        except PackageNotFoundError:
            raise _no_eflomal() from None

    def align(self, pairs: Sequence[Pair], texts: SplitTexts) -> tuple[Alignment, ...]:
        """See `Aligner`.

        Raises:
            DependencyError: eflomal is not installed.
        """
        try:
            import eflomal
        except ImportError:
            raise _no_eflomal() from None
        if not pairs:
            return ()
        return _align_entities(pairs, _eflomal_scores(eflomal.Aligner(), index_pairs(pairs, texts)), texts)


def _no_eflomal() -> DependencyError:
    return DependencyError(
        f"--aligner eflomal needs the eflomal package: {install_command('eflomal')} (GPL, compiled on install)"
    )


def _align_entities(
    pairs: Sequence[Pair], scores: Iterator[EntityScores | None], texts: SplitTexts
) -> tuple[Alignment, ...]:
    known = KnownTranslations(texts.language)
    return tuple(
        align_entity(pair, texts.words(pair.text), score, known) for pair, score in zip(pairs, scores, strict=True)
    )


def _eflomal_scores(aligner: Any, pairs: IndexedPairs) -> Iterator[EntityScores | None]:  # noqa: ANN401 - eflomal has no types
    """Links of both directions as 0/1 scores; the lexicon is the Dice coefficient of symmetric link counts."""
    source, target = (_sentences(side) for side in (pairs.source, pairs.target))
    with tempfile.TemporaryDirectory(prefix="mtbias-") as folder:
        forward, backward = Path(folder, "forward"), Path(folder, "backward")
        aligner.align(
            [" ".join(row) + "\n" for row in source],
            [" ".join(row) + "\n" for row in target],
            links_filename_fwd=str(forward),
            links_filename_rev=str(backward),
            quiet=True,
        )
        links = [_read_links(p) for p in (forward, backward)]
    both: Counter[tuple[str, str]] = Counter()
    totals: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for k, (f, b) in enumerate(zip(*links, strict=True)):
        for i, j in f & b:
            both[source[k][i], target[k][j]] += 1
            totals[0][source[k][i]] += 1
            totals[1][target[k][j]] += 1
    for k, (f, b) in enumerate(zip(*links, strict=True)):
        first, head = pairs.heads[k]
        width = len(target[k])
        if head < 0 or not width:
            yield None
            continue
        word = source[k][head]
        others = {j for i, j in f | b if not first <= i <= head}
        yield EntityScores(
            np.array([0.5 * ((head, j) in f) + 0.5 * ((head, j) in b) for j in range(width)]),
            np.array([float(any((i, j) in f for i in range(first, head + 1))) for j in range(width)]),
            np.array([2 * both[word, t] / max(totals[0][word] + totals[1][t], 1) for t in target[k]]),
            np.array([float(j in others) for j in range(width)]),
            np.zeros(width, bool),  # eflomal tells no function words: nothing is left over but nouns for people
        )


def _sentences(side: Side) -> list[list[str]]:
    """The types of every sentence, as text."""
    words = [side.types[n] for n in side.ids]
    return [words[a:b] for a, b in pairwise(side.offsets)]


def _read_links(path: Path) -> list[set[tuple[int, int]]]:
    """The links ``i-j`` of every sentence pair."""
    rows = path.read_text(encoding="utf-8").splitlines()
    return [{(int(i), int(j)) for i, j in (link.split("-") for link in row.split())} for row in rows]


ALIGNERS: Mapping[str, Callable[[], Aligner]] = {"statistical": StatisticalAligner, "eflomal": EflomalAligner}


def get_aligner(name: str) -> Aligner:
    """The aligner called `name`.

    Raises:
        UsageError: there is none of that name.
    """
    try:
        return ALIGNERS[name]()
    except KeyError:
        raise UsageError(f"no aligner {name!r}; there are {', '.join(sorted(ALIGNERS))}") from None
