"""Debiasing a file of word vectors into another, with a record of how it was made beside it."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mtbias.embeddings.bias_measures import edges, gender_direction, gender_subspace, sklearn_module
from mtbias.embeddings.bias_results import with_vectors
from mtbias.embeddings.hard_debiasing import Debiased, double_hard_debiasing, hard_debiasing
from mtbias.embeddings.measure_settings import DebiasSettings, Method
from mtbias.embeddings.vectors import (
    EXAMPLE_LISTS,
    Vectors,
    WordLists,
    read_lists,
    read_vectors,
    vector_lines,
)
from mtbias.errors import DataError, SettingError, escaped
from mtbias.files.file_ledger import file_ledger
from mtbias.files.writing import signature_line, write_atomic, write_json
from mtbias.stats.results import Floats, Rng, rounded, source
from mtbias.types import frozen

# Iterative null-space projection (INLP): what a linear classifier reads gender from is taken out,
# again and again.
#
# Source: Ravfogel, Elazar, Gonen, Twiton and Goldberg, *Null it out* (ACL 2020), algorithm 1, with
# the set-up of their section on word vectors: the words that lean most to each gender and words
# that lean nowhere, linear support vector machines without intercept, 35 rounds.

_log = logging.getLogger(__name__)

_HELD_OUT = 0.3
"""Share of the words that no classifier is trained on, as in the authors' program."""
_TOLERANCE = 1e-2
"""Of the classifiers. With liblinear's 1e-4 accuracies of six rounds differ by at most .002, and
take twice as long."""
_NOTHING = 1e-10
"""A weight vector shorter than this has no direction."""


@frozen
class NullspaceProjection:
    """The directions that are taken out, and how well a classifier found the classes."""

    removed: Floats
    """``[n, dimensions]``, orthonormal rows: P = I − removedᵀ removed."""
    accuracies: tuple[float, ...]
    """Per cent of held-out words, before each round and after the last."""
    chance: float
    """Per cent of held-out words in the largest class."""
    classes: tuple[int, ...]
    """How many words: feminine, masculine, neutral."""

    def project(self, vectors: Vectors) -> Debiased:
        """P·w for each vector with its length in the file."""
        counts = {
            **dict(zip(("feminine_words", "masculine_words", "neutral_words"), (*self.classes, 0))),
            "dimensions_removed": len(self.removed),
            "dimensions_left": vectors.matrix.shape[1] - len(self.removed),
            "accuracy_before": self.accuracies[0],
            "accuracy_after": self.accuracies[-1],
            "chance": self.chance,
        }
        lengths = np.ones(len(vectors.words)) if vectors.lengths is None else vectors.lengths
        rows = (row - (row @ self.removed.T) @ self.removed for row in vectors.matrix)
        return Debiased(counts, (row * length for row, length in zip(rows, lengths, strict=True)))


def nullspace_projection(
    vectors: Vectors, g: Floats, settings: DebiasSettings
) -> NullspaceProjection:
    """Learn the projection from unit vectors.

    A round removes one direction with two classes, up to three with three (one against the rest).
    It stops before `settings.rounds` where the classifier finds nothing.

    Raises:
        DataError: fewer than two words lean to one of the genders; the rounds take out all
            dimensions.
        DependencyError: scikit-learn is not there.
    """
    rng = source(settings.seed)
    classes = _classes(vectors, g, settings, rng)
    rows = vectors.matrix[np.concatenate(classes)]
    labels = np.repeat(np.arange(len(classes)), [len(each) for each in classes])
    train = np.concatenate([_train(len(each), rng) for each in classes])
    machine = sklearn_module("svm").LinearSVC
    basis = np.eye(vectors.matrix.shape[1])
    """``[dimensions, left]``: rows @ basis are coordinates in the null space of all classifiers so
    far."""
    removed: list[Floats] = []
    accuracies: list[float] = []
    while basis.shape[1]:
        inside = rows @ basis
        # Without intercept and in the primal: as the authors' program, and without randomness.
        classifier = machine(C=settings.svm_c, fit_intercept=False, dual=False, tol=_TOLERANCE)
        classifier.fit(inside[train], labels[train])
        is_right = classifier.predict(inside[~train]) == labels[~train]
        accuracies.append(100 * float(is_right.mean()))

        _, lengths, directions = np.linalg.svd(classifier.coef_, full_matrices=True)
        rank = int((lengths > _NOTHING).sum())
        if len(accuracies) > settings.rounds or not rank:
            break
        removed.append(directions[:rank] @ basis.T)
        basis = basis @ directions[rank:].T
    if not basis.shape[1]:
        message = (
            f"{len(removed)} of {settings.rounds} rounds took out all {len(basis)} dimensions: no "
            "vector is left; give fewer --rounds, or --neutral-words 0 (one dimension a round)"
        )
        raise DataError(message, path=vectors.path)

    held_out = labels[~train]
    chance = 100 * float(np.bincount(held_out).max() / len(held_out))
    taken = np.concatenate([np.empty((0, len(basis))), *removed])
    return NullspaceProjection(taken, tuple(accuracies), chance, tuple(map(len, classes)))


def _classes(
    vectors: Vectors, g: Floats, settings: DebiasSettings, rng: Rng
) -> list[NDArray[np.int64]]:
    """The rows of the feminine, the masculine and, if there are any, the neutral words."""
    leaning = vectors.matrix @ g
    order = np.argsort(-leaning, kind="stable")
    n_feminine, n_masculine = int((leaning > 0).sum()), int((leaning < 0).sum())
    size = min(settings.biased_words, n_feminine, n_masculine)
    if size < 2:
        message = (
            f"expected two words or more that lean to each gender, got {n_feminine} feminine, "
            f"{n_masculine} masculine; INLP needs more words"
        )
        raise DataError(message, path=vectors.path)
    classes = [order[:size], order[-size:]]
    near = np.setdiff1d(
        np.flatnonzero(np.abs(leaning) < settings.neutral_cosine), np.concatenate(classes)
    )
    neutral = rng.choice(near, size=min(settings.neutral_words, len(near)), replace=False)
    return classes if len(neutral) < 2 else [*classes, np.sort(neutral)]


def _train(n: int, rng: Rng) -> NDArray[np.bool_]:
    """Which of `n` words of a class are trained on: at least one is, and one is not."""
    held_out = min(max(round(_HELD_OUT * n), 1), n - 1)
    chosen = np.ones(n, dtype=np.bool_)
    chosen[rng.permutation(n)[:held_out]] = False
    return chosen


# Repulsion, attraction, neutralisation (RAN): each word is moved away from the neighbours that it
# owes to gender.
#
# Source: Kumar, Bhotia, Kumar and Chakraborty, *Nurse is closer to woman than surgeon?* (TACL
# 2020), by the equations and settings that WEFE (github.com/dccuchile/wefe) documents. The paper
# chooses the words by a classifier on dictionaries; here they are all that tell no gender by their
# meaning.

_WORDS_AT_ONCE = 64


def proximity_debiasing(
    vectors: Vectors, g: Floats, gendered: Collection[str], settings: DebiasSettings
) -> Debiased:
    """Words of `gendered` stay, all others are `moved_apart` from their neighbours. All vectors are
    of length 1.

    Raises:
        DataError: fewer words than neighbours, once the rows are made.
    """
    staying = vectors.index.keys() & gendered
    neutral = np.array(
        [n for n, word in enumerate(vectors.words) if word not in staying], dtype=np.int64
    )

    def moved() -> Iterator[Floats]:
        nearest = edges(neutral, vectors, vectors, g, settings.neighbours)
        for start in range(0, len(neutral), _WORDS_AT_ONCE):
            some = neutral[start : start + _WORDS_AT_ONCE]
            near, beta = (np.stack(each) for each in zip(*islice(nearest, len(some)), strict=True))
            yield from moved_apart(
                vectors.matrix[some], vectors.matrix[near], beta > settings.theta, g, settings
            )

    after = moved()
    rows = (
        row if word in staying else next(after)
        for word, row in zip(vectors.words, vectors.matrix, strict=True)
    )
    return Debiased({"moved": len(neutral), "kept": len(staying)}, rows)


def moved_apart(
    rows: Floats, near: Floats, repels: NDArray[np.bool_], g: Floats, settings: DebiasSettings
) -> Floats:
    """The unit vectors w' that minimise λ1·F_r + λ2·F_a + λ3·F_n, each found by Adam from its w.

    F_r = mean over the repelling neighbours n of |cos(w', n)|, 0 without any; F_a = |cos(w', w) −
    1| / 2; F_n = |cos(w', g)|; the λ are `repulsion`, `attraction` and `neutralisation`.

    Args:
        rows: the w, ``[words, dimensions]``; all vectors have length 1.
        near: their neighbours, ``[words, neighbours, dimensions]``.
        repels: which of them repel, ``[words, neighbours]``.
        g: the gender direction.
        settings: of the method.
    """
    import torch
    from torch.nn.functional import normalize

    before, others, direction, mask = map(torch.tensor, (rows, near, g, repels.astype(np.float64)))
    after = before.clone().requires_grad_()
    optimiser = torch.optim.Adam([after], lr=settings.learning_rate)
    for _ in range(settings.steps):
        optimiser.zero_grad()
        unit = normalize(after)
        close = (torch.bmm(others, unit[:, :, None])[:, :, 0].abs() * mask).sum(1) / mask.sum(
            1
        ).clamp(min=1)
        away = ((unit * before).sum(1) - 1).abs() / 2
        leaning = (unit @ direction).abs()
        loss = (
            settings.repulsion * close
            + settings.attraction * away
            + settings.neutralisation * leaning
        )
        loss.sum().backward()
        optimiser.step()
    return np.asarray(normalize(after.detach()).numpy())


@frozen
class DebiasedFile:
    """What was written, and what it rests on."""

    counts: Mapping[str, int | float]
    """Numbers of words, pairs, dimensions; accuracies in per cent, of held-out words."""
    sha256: str
    """Of the file of vectors."""
    out: Path
    signature: str


def debias_file(
    path: Path,
    method: Method,
    out: Path,
    words: Path | None = None,
    limit: int | None = None,
    settings: DebiasSettings = DebiasSettings(),
) -> DebiasedFile:
    """Write the debiased vectors of `path` to `out`, in their format, and ``<out>.json`` with how
    they were made.

    A word with nothing left is written with zeros. Repeated words and vectors of length 0
    are not written.

    Args:
        path: the vectors, in word2vec's text format.
        method: one of `Method`.
        out: replaced as a whole, or not at all.
        words: a file of word lists: pairs of the gender direction, and words that tell a gender
            (default: the example that comes with mtbias).
        limit: read, and write, only the first so many words.
        settings: of the method.

    Raises:
        SettingError: a setting of another method; `out` is not a file in a folder that exists.
        OutputError: `out`, or the file beside it, is one of those that are read.
        DataError: a file that cannot be read; no pair of ``[direction]`` has vectors; too few words
            for double-hard debiasing, INLP or RAN.
        DependencyError: INLP or double-hard debiasing without scikit-learn.
        RunFolderError: the file cannot be written.
    """
    described = settings.described(method)  # refused before a large file is read
    if out.is_dir() or not out.parent.is_dir():  # now, and not after minutes of learning
        raise SettingError(
            "out", f"expected a file, in a folder that is there, got {escaped(str(out))}"
        )
    lists = read_lists(words or EXAMPLE_LISTS)
    vectors = read_vectors(path, limit=limit)
    beside = out.with_name(f"{out.name}.json")
    for output in (out, beside):
        file_ledger().refuse_loss(output)
    pairs = with_vectors("direction", lists.direction.pairs, [vectors], {})
    if method == "hard":
        subspace = gender_subspace(vectors, pairs, settings.components)
        debiased = hard_debiasing(vectors, subspace, lists.gendered_pairs, lists.gendered_words)
    elif method == "double-hard":
        debiased = double_hard_debiasing(
            vectors, pairs, lists.gendered_pairs, lists.gendered_words, settings
        )
    elif method == "ran":
        g = gender_direction(vectors, pairs, settings.direction)
        debiased = proximity_debiasing(vectors, g, lists.gendered_words, settings)
    else:
        g = gender_direction(vectors, pairs, settings.direction)
        debiased = nullspace_projection(vectors, g, settings).project(vectors)
    digest, gone = hashlib.sha256(), 0

    def rows() -> Iterator[Floats]:
        nonlocal gone
        for row in debiased.rows:
            gone += not np.any(row)
            yield row

    def lines() -> Iterator[str]:
        for line in vector_lines(vectors.words, rows(), vectors):
            digest.update(f"{line}\n".encode())
            yield line

    write_atomic(out, lines())
    files = {"vectors": {"vectors": vectors.sha256}, "words": {"words": lists.sha256}}
    options = {"list": "given" if words else "example", "limit": limit or "none", **described}
    counts = {"words": len(vectors.words), **debiased.counts, "vectors_of_length_0": gone}
    counts |= {"repeated_words_left_out": vectors.repeated, "zero_vectors_left_out": vectors.zeros}
    signature = signature_line(f"embeddings:debias|{method}", files, options)
    written = DebiasedFile(counts, digest.hexdigest(), out, signature)
    record = {
        **asdict(written) | {"out": out.name},
        "method": method,
        "settings": described,
        "vectors": {"name": path.name, "sha256": vectors.sha256},
        "word_lists": {"sha256": lists.sha256},
    }
    write_json(beside, rounded(record))
    _warn(counts, lists, vectors, path)
    return written


_WITHOUT_EFFECT = {
    "moved": "no word was moved: all tell a gender",
    "neutralised": "no word was neutralised: all tell a gender",
    "dimensions_removed": "no dimension was removed: no classifier found the gender of words",
}
"""The warning for each count that is 0."""


def _warn(
    counts: Mapping[str, int | float],
    lists: WordLists,
    vectors: Vectors,
    path: Path,
) -> None:
    """Warn if a step of the method did nothing, or it could not use a list."""
    warnings = [message for name, message in _WITHOUT_EFFECT.items() if counts.get(name) == 0]
    section = lists.gendered
    if section.pairs and counts.get("pairs_equalised") == 0:
        warnings.append(
            "no pair of [gendered] was equalised: none has vectors that differ in gender"
        )
    listed = {word.lower() for word in (*section.words, *chain.from_iterable(section.pairs))}
    if "kept" in counts and listed and listed.isdisjoint(map(str.lower, vectors.words)):
        warnings.append("no word of [gendered] has a vector")
    if warnings:
        _log.warning("%s: %s", path, "; ".join(warnings))
