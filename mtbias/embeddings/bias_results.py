"""All measures of spaces of word vectors side by side: before debiasing and after."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TypeVar

from mtbias.embeddings.bias_measures import (
    BiasedWords,
    Measured,
    clustering,
    direct_bias,
    gender_direction,
    gipe,
    indirect_bias,
    most_biased,
    recoverability,
    sklearn_module,
    weat,
    weat_two_targets,
)
from mtbias.embeddings.measure_settings import (
    MEASURES,
    WITH_SCIKIT_LEARN,
    EmbeddingSettings,
    Measure,
)
from mtbias.embeddings.vectors import (
    ALL_NEUTRAL,
    EXAMPLE_LISTS,
    Pair,
    Vectors,
    WordLists,
    read_lists,
    read_vectors,
)
from mtbias.errors import DataError, DependencyError, SettingError, escaped
from mtbias.files.writing import signature_line
from mtbias.stats.results import UNDEFINED, Floats, estimate_text, number, p_text
from mtbias.types import JsonDict, frozen

_SIZES = ("words", "dimensions", "repeated_words", "zero_vectors")
"""Of a `Space`, in a table; repeated words and vectors of length 0 are left out."""
_log = logging.getLogger(__name__)

_LABELS = {
    "direct": "direct bias DB",
    "indirect": "indirect bias β",
    "weat": "WEAT S",
    "weat-two-targets": "WEAT",
    "gipe": "GIPE",
}
"""The label of a measure in a table, if it is not the measure's name."""


@frozen
class Space:
    """What was measured in a file of vectors."""

    name: str
    words: int
    dimensions: int
    repeated_words: int
    zero_vectors: int
    sha256: str
    missing_words: Mapping[str, Sequence[str]]
    """Words without vector, by section; left out."""
    measures: Mapping[str, Mapping[str, Measured]]
    """By measure, and within a measure by what it measures (empty if that is one thing)."""


@frozen
class MeasuredSpaces:
    """What was measured in several files of vectors."""

    spaces: Sequence[Space]
    signature: str

    def to_json(self) -> JsonDict:
        """For JSON."""
        return asdict(self)

    def table(self) -> JsonDict:
        """The numbers with their intervals or ranges, a column for each file, and what was left
        out.
        """
        names = [space.name for space in self.spaces]
        rows: dict[str, dict[str, str]] = {}
        for space in self.spaces:
            for row, text, counts in _cells(space):
                empty = {**dict.fromkeys(names, UNDEFINED), "rests on": counts}
                cells = rows.setdefault(row, empty)
                cells[space.name] = text
                if counts not in cells["rests on"].split("; "):  # another file's
                    cells["rests on"] += f"; {counts}"

        left_out: dict[str, list[str]] = {}
        for space in self.spaces:
            for section, words in space.missing_words.items():
                left_out[f"{space.name} [{section}]"] = list(words)

        sizes: dict[str, dict[str, int]] = {}
        for size in _SIZES:
            sizes[size] = {space.name: getattr(space, size) for space in self.spaces}
        return {
            **sizes,
            "measures": [{"measure": name, **row} for name, row in rows.items()],
            "without_vector": left_out,
            "signature": self.signature,
        }


def _cells(space: Space) -> Iterator[tuple[str, str, str]]:
    """Each cell of a file's column: its row, its text, and the counts behind the number."""
    for measure, numbers in space.measures.items():
        decimals = 2 if measure in WITH_SCIKIT_LEARN else 4
        for name, measured in numbers.items():
            row = f"{_LABELS.get(measure, measure)} {name}".rstrip()
            text = measured.undefined or estimate_text(measured.value, measured.ends, decimals)
            counts = ", ".join(f"{n:,} {what}" for what, n in measured.rests_on.items())
            yield row, text, counts
            if measured.p is not None:
                yield f"{row}, p", p_text(measured.p, decimals), counts


def measure_files(
    vectors: Path,
    debiased: Sequence[Path] = (),
    words: Path | None = None,
    limit: int | None = None,
    measures: Sequence[Measure] | None = None,
    settings: EmbeddingSettings = EmbeddingSettings(),
) -> MeasuredSpaces:
    """Take the named measures of `vectors` and, with its gender direction, of each file of
    `debiased`.

    Args:
        vectors: in word2vec's text format, before debiasing if both are given.
        debiased: the same words' vectors after it.
        words: a file of word lists (default: the example that comes with mtbias).
        limit: read only the first so many words.
        measures: by default all for which the file has words, without scikit-learn all that do not
            need it.
        settings: what papers leave open.

    Raises:
        SettingError: a file twice.
        DataError: a file that cannot be read; a measure's section is not there; what `measure`
            raises.
        DependencyError: scikit-learn is not there for a measure that was asked for.
    """
    paths = [vectors, *debiased]
    times = Counter(path.name for path in paths)
    names = [escaped(path.name if times[path.name] == 1 else str(path)) for path in paths]
    if len(set(names)) != len(names):
        raise SettingError(
            "debiased", "expected each file of vectors once, got one twice; leave it out"
        )
    lists = read_lists(words or EXAMPLE_LISTS)
    if absent := [each for each in measures or () if not lists.has(each)]:
        message = (
            f"expected the section [{absent[0]}] for --measure {absent[0]}, got none; add it, or "
            "leave it out"
        )
        raise DataError(message, path=words)
    chosen = _usable(measures)
    original = read_vectors(vectors, limit=limit)
    spaces = [measure(names[0], lists, original, original, settings, chosen)]
    for name, path in zip(names[1:], debiased, strict=True):  # one at a time: each may be a GiB
        spaces.append(
            measure(name, lists, read_vectors(path, limit=limit), original, settings, chosen)
        )
    digests = {space.name: space.sha256 for space in spaces}
    files = {
        "vectors": {names[0]: digests.pop(names[0])},
        "debiased": digests,
        "words": {"words": lists.sha256},
    }
    options = {
        "list": "given" if words else "example",
        "limit": limit or "none",
        **settings.described(spaces[0].measures),
    }
    return MeasuredSpaces(spaces, signature_line("embeddings:measure", files, options))


def _usable(measures: Sequence[Measure] | None) -> tuple[Measure, ...]:
    """The chosen measures, or all whose dependencies are installed; a warning names the others."""
    chosen = tuple(name for name in MEASURES if not measures or name in measures)
    if WITH_SCIKIT_LEARN.isdisjoint(chosen):
        return chosen
    try:
        sklearn_module("svm")
    except DependencyError as error:
        if measures:
            raise
        _log.warning("left out: %s; %s", " and ".join(sorted(WITH_SCIKIT_LEARN)), error)
        return tuple(name for name in chosen if name not in WITH_SCIKIT_LEARN)
    return chosen


_Entry = TypeVar("_Entry", bound=str | Pair)


def measure(
    name: str,
    lists: WordLists,
    vectors: Vectors,
    original: Vectors,
    settings: EmbeddingSettings,
    measures: Sequence[Measure] = MEASURES,
) -> Space:
    """Take those of `measures` for which the lists have words, of `vectors`, which a table calls
    `name`.

    The gender direction, β and which words are most biased are of the `original` space, the one
    before debiasing; without debiasing it is the same object. Each measure draws from a generator
    of its own, so that its numbers do not depend on which others are taken, and two spaces with the
    same words have the same resamples, starts and splits.

    Raises:
        DataError: a list has no word with a vector; other dimensions than the original's; what the
            measures raise.
        DependencyError: clustering or recoverability without scikit-learn.
    """
    dimensions = original.matrix.shape[1]
    if vectors.matrix.shape[1] != dimensions:
        message = (
            f"expected vectors of {dimensions} dimensions, as before debiasing, "
            f"got {vectors.matrix.shape[1]}"
        )
        raise DataError(message, path=vectors.path)
    measurement = _Measurement(lists, vectors, original, settings)
    takes = measurement.takes()
    taken: dict[str, Mapping[str, Measured]] = {
        each: takes[each]() for each in MEASURES if each in measures and lists.has(each)
    }
    return Space(
        name,
        len(vectors.words),
        dimensions,
        vectors.repeated,
        vectors.zeros,
        vectors.sha256,
        measurement.missing,
        taken,
    )


class _Measurement:
    """The measures of one space of vectors, each with its words."""

    def __init__(
        self, lists: WordLists, vectors: Vectors, original: Vectors, settings: EmbeddingSettings
    ) -> None:
        self.missing: dict[str, list[str]] = {}
        """Words without a vector, by section."""
        self._lists, self._settings = lists, settings
        self._vectors, self._original = vectors, original
        pairs = with_vectors("direction", lists.direction.pairs, (original,), self.missing)
        self._g = gender_direction(original, pairs, settings.direction)

    def takes(self) -> dict[str, Callable[[], Mapping[str, Measured]]]:
        """The function that takes each measure."""
        return {
            "direct": self._direct,
            "indirect": self._indirect,
            "weat": self._weat,
            "weat-two-targets": self._weat_two_targets,
            "gipe": self._gipe,
            "clustering": self._clustering,
            "recoverability": self._recoverability,
        }

    def _known(self, section: str, entries: Sequence[_Entry]) -> list[_Entry]:
        return with_vectors(section, entries, (self._vectors, self._original), self.missing)

    def _rows(self, section: str, words: Sequence[str]) -> Floats:
        return self._vectors.rows(self._known(section, words))

    def _direct(self) -> dict[str, Measured]:
        rows = self._rows("direct", self._lists.direct.words)
        return {"": direct_bias(rows, self._g, self._settings)}

    def _indirect(self) -> dict[str, Measured]:
        pairs = self._known("indirect", self._lists.indirect.pairs)
        first = self._vectors.rows(pair[0] for pair in pairs)
        second = self._vectors.rows(pair[1] for pair in pairs)
        betas = map(number, indirect_bias(first, second, self._g))
        return {
            f"({', '.join(pair)})": Measured(beta) for pair, beta in zip(pairs, betas, strict=True)
        }

    def _weat(self) -> dict[str, Measured]:
        numbers: dict[str, Measured] = {}
        for test, three in self._lists.weat.items():
            sides = [self._rows(f"weat.{test}", words) for words in vars(three).values()]
            numbers[test] = weat(*sides, settings=self._settings)
        return numbers

    def _weat_two_targets(self) -> dict[str, Measured]:
        numbers: dict[str, Measured] = {}
        for test, four in self._lists.weat_two_targets.items():
            section = f"weat-two-targets.{test}"
            sides = [self._rows(section, words) for words in vars(four).values()]
            of_test = weat_two_targets(*sides, settings=self._settings)
            numbers |= {f"{test} {key}": measured for key, measured in of_test.items()}
        return numbers

    def _gipe(self) -> dict[str, Measured]:
        numbers: dict[str, Measured] = {}
        for test, listed in self._lists.gipe.items():
            words = listed.words
            if words == ALL_NEUTRAL:
                gendered = self._lists.gendered_words
                words = tuple(word for word in self._vectors.words if word not in gendered)
            known = self._known(f"gipe.{test}", words)
            of_test = gipe(known, self._vectors, self._original, self._g, self._settings)
            numbers |= {f"{test} {key}".rstrip(): each for key, each in of_test.items()}
        return numbers

    def _clustering(self) -> dict[str, Measured]:
        leaning = self._leaning(self._settings.cluster_words)
        return clustering(leaning, self._vectors, self._settings)

    def _recoverability(self) -> dict[str, Measured]:
        leaning = self._leaning(self._settings.recover_words)
        return recoverability(leaning, self._vectors, self._settings)

    def _leaning(self, n: int) -> BiasedWords:
        return most_biased(
            self._original,
            self._g,
            n,
            exclude=self._lists.gendered_words,
            selection=self._settings.selection,
        )


def with_vectors(
    section: str,
    entries: Sequence[_Entry],
    spaces: Sequence[Vectors],
    missing: dict[str, list[str]],
) -> list[_Entry]:
    """Those of `entries` (words, or pairs of them) with vectors in all `spaces`; the others are
    added to `missing`.

    Raises:
        DataError: none has.
    """
    words: dict[_Entry, list[str]] = {
        entry: [entry] if isinstance(entry, str) else list(entry) for entry in entries
    }
    every: list[str] = list(chain.from_iterable(words.values()))
    absent: set[str] = set()
    for space in spaces:
        absent.update(space.lacking(every))

    lost = [word for word in every if word in absent]
    if lost:
        missing[section] = list(dict.fromkeys([*missing.get(section, ()), *lost]))
    complete = [entry for entry in entries if absent.isdisjoint(words[entry])]
    if not complete:
        raise DataError(
            f"[{section}]: none of the {len(entries)} entries has vectors; name other words with "
            "--words",
            path=spaces[0].path,
        )
    return complete
