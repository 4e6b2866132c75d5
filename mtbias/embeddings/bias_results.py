"""All measures of spaces of word vectors side by side: before debiasing and after."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TypeVar

from mtbias.embeddings.bias_measures import (
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
"""Of measures in a table, where it is not their name."""


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
    """By measure, those that were taken, and within it by what is measured; empty where that is one
    thing."""


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
            for measure, found in space.measures.items():
                decimals = 2 if measure in WITH_SCIKIT_LEARN else 4
                for name, each in found.items():
                    label = f"{_LABELS.get(measure, measure)} {name}".rstrip()
                    numbers = {
                        label: each.undefined or estimate_text(each.value, each.ends, decimals)
                    }
                    numbers |= {} if each.p is None else {f"{label}, p": p_text(each.p, decimals)}
                    counts = ", ".join(f"{n:,} {what}" for what, n in each.rests_on.items())
                    for row, text in numbers.items():
                        cells = rows.setdefault(
                            row, {**dict.fromkeys(names, UNDEFINED), "rests on": counts}
                        )
                        cells |= {space.name: text}
                        if counts not in cells["rests on"].split("; "):  # another file's
                            cells["rests on"] += f"; {counts}"
        left_out = {
            f"{space.name} [{name}]": list(lost)
            for space in self.spaces
            for name, lost in space.missing_words.items()
        }
        return {
            **{one: {space.name: getattr(space, one) for space in self.spaces} for one in _SIZES},
            "measures": [{"measure": name, **row} for name, row in rows.items()],
            "without_vector": left_out,
            "signature": self.signature,
        }


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
        vectors: in word2vec's text format, before debiasing where there are both.
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
        message = f"expected the section [{absent[0]}] for --measure {absent[0]}, got none; add it, or leave it out"
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
    """The measures that are asked for, or all of which what they need is installed; the others are
    named.
    """
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
    """Take those of `measures` of which the lists have words, of `vectors`, which a table calls
    `name`.

    The gender direction, β and which words are most biased are of the `original` space, the one
    before debiasing; it is the same object where there is none. Each measure draws from a generator
    of its own, so that its numbers do not depend on which others are taken, and two spaces with the
    same words have the same resamples, starts and splits.

    Raises:
        DataError: a list has no word with a vector; other dimensions than the original's; what the
            measures raise.
        DependencyError: clustering or recoverability without scikit-learn.
    """
    dimensions = original.matrix.shape[1]
    if vectors.matrix.shape[1] != dimensions:
        message = f"expected vectors of {dimensions} dimensions, as before debiasing, got {vectors.matrix.shape[1]}"
        raise DataError(message, path=vectors.path)
    missing: dict[str, list[str]] = {}

    def known(
        section: str, entries: Sequence[_Entry], spaces: Sequence[Vectors] = (vectors, original)
    ) -> list[_Entry]:
        return with_vectors(section, entries, spaces, missing)

    def rows(section: str, words: Sequence[str]) -> Floats:
        return vectors.rows(known(section, words))

    g = gender_direction(
        original, known("direction", lists.direction.pairs, (original,)), settings.direction
    )

    def beta() -> dict[str, Measured]:
        pairs = known("indirect", lists.indirect.pairs)
        first, second = (vectors.rows(pair[k] for pair in pairs) for k in (0, 1))
        found = map(number, indirect_bias(first, second, g))
        return {
            f"({', '.join(pair)})": Measured(one) for pair, one in zip(pairs, found, strict=True)
        }

    def of_tests() -> dict[str, Measured]:
        found: dict[str, Measured] = {}
        for test, four in lists.weat_two_targets.items():
            sides = [rows(f"weat-two-targets.{test}", words) for words in vars(four).values()]
            found |= {
                f"{test} {what}": each
                for what, each in weat_two_targets(*sides, settings=settings).items()
            }
        return found

    def of_lists() -> dict[str, Measured]:
        found: dict[str, Measured] = {}
        for test, listed in lists.gipe.items():
            words = listed.words
            if words == ALL_NEUTRAL:
                words = tuple(word for word in vectors.words if word not in lists.gendered_words)
            each = gipe(known(f"gipe.{test}", words), vectors, original, g, settings)
            found |= {f"{test} {what}".rstrip(): one for what, one in each.items()}
        return found

    leaning = partial(
        most_biased, original, g, exclude=lists.gendered_words, selection=settings.selection
    )
    takes: dict[str, Callable[[], Mapping[str, Measured]]] = {
        "direct": lambda: {"": direct_bias(rows("direct", lists.direct.words), g, settings)},
        "indirect": beta,
        "weat": lambda: {
            test: weat(
                *(rows(f"weat.{test}", words) for words in vars(three).values()), settings=settings
            )
            for test, three in lists.weat.items()
        },
        "weat-two-targets": of_tests,
        "gipe": of_lists,
        "clustering": lambda: clustering(leaning(settings.cluster_words), vectors, settings),
        "recoverability": lambda: recoverability(
            leaning(settings.recover_words), vectors, settings
        ),
    }
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
        missing,
        taken,
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
    words = {entry: [entry] if isinstance(entry, str) else list(entry) for entry in entries}
    lost = [
        word
        for own in words.values()
        for word in own
        if any(space.lacking([word]) for space in spaces)
    ]
    if lost:
        missing[section] = list(dict.fromkeys([*missing.get(section, ()), *lost]))
    kept = [entry for entry in entries if not set(lost).intersection(words[entry])]
    if not kept:
        raise DataError(
            f"[{section}]: none of the {len(entries)} entries has vectors; name other words with --words",
            path=spaces[0].path,
        )
    return kept
