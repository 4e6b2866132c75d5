"""What a corpus is like: its size, vocabulary, lengths, pronouns and distances, as BUG's paper describes corpora.

Source: Levy, Lazar and Stanovsky, Findings of EMNLP 2021, table 2, figures 3 to 5 and section 3.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mtbias.corpora.corpus import Corpus
from mtbias.files.writing import signature_line
from mtbias.types import Instance, frozen

_WORD = re.compile(r"[^\W\d_]+")
_WIDTH = 5
"""Of the classes of lengths and distances."""
_NUMBERS: dict[str, Callable[[Instance], int | None]] = {
    "length": lambda row: len(row.source.split()),
    "distance": lambda row: row.distance,
    "pronouns": lambda row: row.pronouns,
}
_CLASSES: dict[str, Callable[[Instance], str]] = {
    "stereotype": lambda row: str(row.stereotype),
    "domain": lambda row: row.domain,
}


@frozen
class PropertyMean:
    """The mean of a number over some sentences."""

    property: str
    """length: words between white space; distance: words between entity and pronoun; pronouns: gendered ones."""
    of: str
    """``all``, or a stereotype."""
    mean: float
    deviation: float
    """Of the population."""
    n: int


@frozen
class CorpusDescription:
    """What a corpus is like."""

    sentences: int
    vocabulary: int
    """Different words: letters in a row, in lower case."""
    genders: Sequence[str]
    means: Sequence[PropertyMean]
    """Of the numbers that the corpus has."""
    histograms: Mapping[str, Mapping[str, Sequence[int]]]
    """By property and class the sentences of each of `genders`."""
    signature: str


def describe(corpus: Corpus[Instance]) -> CorpusDescription:
    """Describe a corpus whose sentences have an entity."""
    rows = corpus.instances
    genders = sorted({str(row.gold or "unknown") for row in rows}, key=["male", "female", "neutral", "unknown"].index)
    means, histograms = [], {}
    for name, of in _NUMBERS.items():
        known = [(row, value) for row in rows if (value := of(row)) is not None]
        width = 1 if name == "pronouns" else _WIDTH
        for side in ("all", "pro", "anti"):
            values = [value for row, value in known if side in {"all", str(row.stereotype)}]
            if values:
                means.append(PropertyMean(name, side, float(np.mean(values)), float(np.std(values)), len(values)))
        classes = sorted({value // width for _, value in known})
        names = {c: f"{c}" if width == 1 else f"{c * width} to {(c + 1) * width - 1}" for c in classes}
        histograms[name] = _counted([(names[value // width], row) for row, value in known], [*names.values()], genders)
    for name, kind in _CLASSES.items():
        kinds = [(kind(row), row) for row in rows]
        histograms[name] = _counted(kinds, sorted({each for each, _ in kinds}), genders)
    return CorpusDescription(
        sentences=len(rows),
        vocabulary=len({word for row in rows for word in _WORD.findall(row.source.lower())}),
        genders=genders,
        means=means,
        histograms={name: counts for name, counts in histograms.items() if counts},
        signature=signature_line("describe", {"data": corpus.files}, {"dataset": corpus.name}),
    )


def _counted(
    rows: Sequence[tuple[str, Instance]], classes: Sequence[str], genders: Sequence[str]
) -> dict[str, list[int]]:
    counts = Counter((name, str(row.gold or "unknown")) for name, row in rows)
    return {name: [counts[name, gender] for gender in genders] for name in classes}
