"""The aligners that can be chosen, behind one interface: pairs in, one alignment each out, in
order.
"""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from mtbias.align.entity_scores import Links, model_scores, scores_of_links
from mtbias.align.sentence_pairs import IndexedPairs, Side, index_pairs
from mtbias.errors import DependencyError, UsageError, choices
from mtbias.language.split_texts import SplitTexts
from mtbias.machine.devices import install_command
from mtbias.reading.candidates import align_entity
from mtbias.reading.known_translations import KnownTranslations
from mtbias.reading.sentence_pair import Pair
from mtbias.reading.target_words import EntityScores
from mtbias.settings import Aligner as AlignerName
from mtbias.types import Alignment, Json, Progress, quiet


class Aligner(ABC):
    """An aligner, as the pipeline uses it."""

    @property
    @abstractmethod
    def signature(self) -> str:
        """Name and version: part of a run's identity."""

    repeatable: bool = False
    """The same pairs always give the same alignments, on whatever machine."""
    execution: Mapping[str, Json] = MappingProxyType({})
    """Circumstances for the manifest that change no number."""

    @abstractmethod
    def align(
        self, pairs: Sequence[Pair], texts: SplitTexts, progress: Progress = quiet
    ) -> tuple[Alignment, ...]:
        """One alignment a pair, in the order of `pairs`. The whole corpus must come in one call:
        links are learnt from it.

        Args:
            pairs: the sentence pairs.
            texts: splits the translations.
            progress: called as ``progress("align", done, total)`` where it takes longer than
                seconds.
        """


class StatisticalAligner(Aligner):
    """mtbias's own: two IBM models trained by agreement (`mtbias.align.link_model`). Deterministic,
    in numpy.
    """

    signature = "mtbias-agree/1"
    repeatable = True

    def align(
        self, pairs: Sequence[Pair], texts: SplitTexts, progress: Progress = quiet
    ) -> tuple[Alignment, ...]:
        """See `Aligner`."""
        del progress  # it takes seconds
        if not pairs:
            return ()
        scores = model_scores(index_pairs(pairs, texts), texts.language)
        return align_entities(pairs, scores, texts)


class EflomalAligner(Aligner):
    """eflomal (Östling and Tiedemann 2016), where it is installed. Its sampler cannot be seeded:
    runs differ.
    """

    @property
    def signature(self) -> str:
        """``eflomal/VERSION``."""
        from importlib.metadata import version

        _eflomal()
        return f"eflomal/{version('eflomal')}"

    def align(
        self, pairs: Sequence[Pair], texts: SplitTexts, progress: Progress = quiet
    ) -> tuple[Alignment, ...]:
        """See `Aligner`.

        Raises:
            DependencyError: eflomal is not installed.
        """
        del progress  # eflomal tells none
        aligner = _eflomal().Aligner()
        if not pairs:
            return ()
        indexed = index_pairs(pairs, texts)
        links = _eflomal_links(aligner, indexed)
        return align_entities(pairs, scores_of_links(indexed, links, texts.language), texts)


def _eflomal() -> Any:  # noqa: ANN401 - it has no types
    try:
        import eflomal
    except ImportError:
        command = install_command("eflomal")
        raise DependencyError(
            f"--aligner eflomal needs the eflomal package: {command} (GPL, compiled on install)"
        ) from None
    return eflomal


def align_entities(
    pairs: Sequence[Pair], scores: Iterator[EntityScores | None], texts: SplitTexts
) -> tuple[Alignment, ...]:
    """One alignment a pair by its scores (`mtbias.reading.candidates.align_entity`), in order."""
    known = texts.shared(KnownTranslations)
    return tuple(
        align_entity(pair, texts.words(pair.text), score, known)
        for pair, score in zip(pairs, scores, strict=True)
    )


def _eflomal_links(
    aligner: Any,  # noqa: ANN401 - eflomal has no types
    pairs: IndexedPairs,
) -> list[tuple[Links, Links]]:
    with tempfile.TemporaryDirectory(prefix="mtbias-") as folder:
        forward, backward = Path(folder, "forward"), Path(folder, "backward")
        aligner.align(
            _lines(pairs.source),
            _lines(pairs.target),
            links_filename_fwd=str(forward),
            links_filename_rev=str(backward),
            quiet=True,
        )
        return list(zip(_read_links(forward), _read_links(backward), strict=True))


def _lines(side: Side) -> list[str]:
    """The types of every sentence, as a line of text."""
    words = [side.types[n] for n in side.ids]
    return [" ".join(words[start:end]) + "\n" for start, end in pairwise(side.offsets)]


def _read_links(path: Path) -> list[Links]:
    """The links ``i-j`` of every sentence pair."""
    pairs: list[Links] = []
    for row in path.read_text(encoding="utf-8").splitlines():
        links = [link.split("-") for link in row.split()]
        pairs.append({(int(i), int(j)) for i, j in links})
    return pairs


# The others take an encoder: `mtbias.align.neural_aligner`, `mtbias.align.second_opinion`.
ALIGNERS: Mapping[str, Callable[[], Aligner]] = {
    "statistical": StatisticalAligner,
    "eflomal": EflomalAligner,
}


def get_aligner(name: str) -> Aligner:
    """The aligner with this name.

    Raises:
        UsageError: there is none of that name.
    """
    try:
        return ALIGNERS[name]()
    except KeyError:
        raise UsageError(f"no aligner {name!r}; {choices(name, get_args(AlignerName))}") from None
