"""Debiasing a file of word vectors into another, with a record of how it was made beside it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mtbias.embeddings.bias_measures import gender_direction, gender_subspace
from mtbias.embeddings.hard_debiasing import HardDebiasing, hard_debiasing
from mtbias.embeddings.measure_settings import DebiasSettings, Method
from mtbias.embeddings.nullspace_projection import NullspaceProjection, nullspace_projection
from mtbias.embeddings.vectors import Vectors, vector_lines
from mtbias.embeddings.word_lists import WordLists
from mtbias.errors import DataError
from mtbias.files.signatures import signature_line
from mtbias.files.writing import write_atomic
from mtbias.stats.results import Floats, rounded

Debiasing = HardDebiasing | NullspaceProjection


@dataclass(frozen=True, slots=True)
class DebiasedFile:
    """What was written, and what it rests on."""

    counts: dict[str, int | float]
    """Numbers of words, pairs, dimensions; accuracies in per cent, of held-out words."""
    signature: str
    sha256: str
    """Of the file of vectors."""


def learn(method: Method, lists: WordLists, vectors: Vectors, settings: DebiasSettings) -> Debiasing:
    """What `method` does with these vectors.

    Raises:
        DataError: no pair of ``[direction]`` has vectors; too few words for INLP.
        DependencyError: INLP without scikit-learn.
    """
    pairs = [pair for pair in lists.pairs["direction"] if not vectors.lacking(pair)]
    if not pairs:
        message = f"[direction]: none of the {len(lists.pairs['direction'])} pairs has vectors for both words"
        raise DataError(f"{message}; name other words with --words", path=vectors.path)
    if method == "hard":
        subspace = gender_subspace(vectors, pairs, settings.components)
        return hard_debiasing(vectors, subspace, lists.gendered_pairs, lists.gendered)
    return nullspace_projection(vectors, gender_direction(vectors, pairs, settings.direction), settings)


def write_debiased(
    out: Path, method: Method, lists: WordLists, vectors: Vectors, settings: DebiasSettings, **options: object
) -> DebiasedFile:
    """Write the debiased vectors to `out`, in the format that they came in, and ``<out>.json`` with how they were made.

    A word of which nothing is left is written with zeros. Repeated words and vectors of length 0 are not written.

    Args:
        out: replaced as a whole, or not at all.
        method: hard or inlp.
        lists: pairs of the gender direction, and words that tell a gender.
        vectors: those to debias.
        settings: of the method.
        options: what else stands in the signature.

    Raises:
        DataError, DependencyError: as `learn`.
        RunFolderError: the file cannot be written.
    """
    described = {name.replace("_", "-"): value for name, value in settings.described(method).items()}
    debiasing = learn(method, lists, vectors, settings)
    files = {"vectors": {"vectors": vectors.sha256}, "words": {"words": lists.sha256}}
    signature = signature_line(f"embeddings:debias|{method}", files, {**options, **described})
    digest, gone = hashlib.sha256(), 0

    def watched(rows: Iterator[Floats]) -> Iterator[Floats]:
        nonlocal gone
        for row in rows:
            gone += not np.any(row)
            yield row

    def lines() -> Iterator[str]:
        for line in vector_lines(vectors.words, watched(debiasing.apply(vectors)), vectors):
            digest.update(f"{line}\n".encode())
            yield line

    write_atomic(out, lines())
    counts: dict[str, int | float] = {
        "words": len(vectors.words),
        **_counts(debiasing, vectors, lists),
        "vectors_of_length_0": gone,
    }
    made = DebiasedFile(counts, signature, digest.hexdigest())
    record = {
        "signature": signature,
        "method": method,
        "settings": described,
        "vectors": {"name": vectors.path and vectors.path.name, "sha256": vectors.sha256},
        "words": {"sha256": lists.sha256},
        "counts": rounded(counts),
        "sha256": made.sha256,
    }
    text = json.dumps(record, ensure_ascii=False, indent=1)
    write_atomic(out.with_name(f"{out.name}.json"), f"{text}\n".encode())
    return made


def _counts(debiasing: Debiasing, vectors: Vectors, lists: WordLists) -> dict[str, int | float]:
    if isinstance(debiasing, HardDebiasing):
        kept = sum(word in vectors.index for word in debiasing.kept)
        pairs = [pair for pair in lists.gendered_pairs if not vectors.lacking(pair)]
        equalised = sum(first in debiasing.equalised for first, _ in pairs)
        return {
            "words": len(vectors.words),
            "neutralised": len(vectors.words) - kept,
            "kept": kept,
            "pairs_equalised": equalised,
            "pairs_without_difference": len(pairs) - equalised,
        }
    names = ("feminine_words", "masculine_words", "neutral_words")
    return {
        "words": len(vectors.words),
        **dict(zip(names, (*debiasing.classes, 0))),
        "dimensions_removed": len(debiasing.removed),
        "dimensions_left": vectors.matrix.shape[1] - len(debiasing.removed),
        "accuracy_before": debiasing.accuracies[0],
        "accuracy_after": debiasing.accuracies[-1],
        "chance": debiasing.chance,
    }
