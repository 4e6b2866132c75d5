"""A published result: the numbers of one run in a file that holds no sentence, and what it was compared with.

The file describes itself: which numbers the measure has, how they are called and where they are best stands in it, so
that a page can be made where the measure is not installed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from mtbias.errors import DataError
from mtbias.files.strict_json import EXACT, decoded, load_json, once
from mtbias.runs.manifest import canonical
from mtbias.scoring.definitions import Best, Unit
from mtbias.stats.results import Difference, Interval, minus, rounded

SCHEMA = 1
"""Version of the shape of a file."""

_HASH = "sha256"
_BY_HAND = ("link", "note", "licence", _HASH)
"""What may be edited without the run: the file's own hash does not cover it."""


@dataclass(frozen=True, slots=True)
class PublishedNumber:
    """One number of all sentences, with what it is and what it rests on."""

    __pydantic_config__: ClassVar = EXACT

    key: str
    label: str
    unit: Unit
    decimals: int
    """With which the page shows it."""
    best: Best
    shown: bool
    """Whether the page shows it."""
    compared: bool
    """Whether systems are tested against each other in it."""
    about: str
    """One sentence for readers."""
    value: float | None
    """In its unit, rounded to 6 decimals; None where undefined."""
    interval: Interval | None
    """95 %, over sentences."""
    interval_entities: Interval | None
    """95 %, over entities, where the measure has such."""
    method: str | None
    """How `interval` was made: ``wilson`` or ``bootstrap``; None where the number has none."""
    rows: Mapping[str, int]
    """The denominators: rows of each class that it rests on."""


@dataclass(frozen=True, slots=True)
class PublishedDifference:
    """A number of the run minus that of another, on the same sentences."""

    __pydantic_config__: ClassVar = EXACT

    difference: float | None
    interval: Interval | None
    p: float | None
    """Two-sided, paired randomisation over sentences, not corrected: over how many tests is known on the page alone."""

    def __post_init__(self) -> None:
        if self.p is not None and not 0 <= self.p <= 1:
            raise ValueError(f"p: expected a number within 0 and 1, got {self.p}")

    @classmethod
    def of(cls, found: Difference) -> PublishedDifference:
        """A difference of `mtbias.scoring.comparison`."""
        return cls(found.difference, found.interval, found.p)

    def turned(self) -> PublishedDifference:
        """The same, seen from the other run."""
        ends = None if self.interval is None else (-self.interval[1], -self.interval[0])
        return PublishedDifference(minus(0.0, self.difference), ends, self.p)


@dataclass(frozen=True, slots=True)
class PublishedComparison:
    """The paired tests of a run against another one."""

    __pydantic_config__: ClassVar = EXACT

    fingerprint: str
    """Of the other run."""
    calls: str
    """SHA-256 of the other's `calls.jsonl`: an endpoint's runs may share a fingerprint and differ here."""
    resamples: int
    seed: int
    numbers: Mapping[str, PublishedDifference]
    """By key."""


@dataclass(frozen=True, slots=True)
class PublishedCorpus:
    """Which sentences: two results are on one corpus where name and files are the same."""

    __pydantic_config__: ClassVar = EXACT

    name: str
    files: Mapping[str, str]
    """SHA-256 of each file."""


@dataclass(frozen=True, slots=True)
class PublishedResult:
    """What a file holds."""

    __pydantic_config__: ClassVar = EXACT

    mtbias: str
    """Release that published it."""
    system: str
    language: str
    corpus: PublishedCorpus
    evaluator: Mapping[str, Any]
    """What read the translations: aligner, Stanza and its models, language plugin, release; the measure where it is
    another than the gender of an entity."""
    signature: str
    fingerprint: str
    calls: str
    """SHA-256 of the run's `calls.jsonl`."""
    sentences: int
    numbers: tuple[PublishedNumber, ...]
    resamples: int
    """Of the intervals over sentences, with `seed`; 0: there are none."""
    seed: int
    warnings: tuple[str, ...]
    """The run's alarms in words; the page shows them all."""
    alarms: Mapping[str, Any]
    """The same as numbers, as `metrics.json` has them."""
    comparisons: tuple[PublishedComparison, ...]
    """With runs that were published together with it; both files hold a comparison, each from its own side."""
    link: str | None = None
    """Where more about the run is."""
    note: str | None = None
    licence: str | None = None
    """Of the system's translations."""

    def __post_init__(self) -> None:
        check_link(self.link)
        known = {number.key for number in self.numbers if number.compared}
        for comparison in self.comparisons:
            if foreign := sorted(comparison.numbers.keys() - known):
                raise ValueError(f"comparisons: expected numbers that are compared, got {foreign[0]!r}")

    @property
    def identity(self) -> tuple[str, str]:
        """What makes it this run and no other: fingerprint, and hash of its calls."""
        return self.fingerprint, self.calls

    @property
    def file_name(self) -> str:
        """A run has one name, so that publishing it again replaces its file."""
        return re.sub(r"[^\w.-]", "_", f"{self.corpus.name}-{self.language}-{self.fingerprint}.json")

    def number(self, key: str) -> PublishedNumber | None:
        """The number called `key`, where it has it."""
        return next((number for number in self.numbers if number.key == key), None)

    def to_json(self) -> dict[str, Any]:
        """The content of the file: numbers rounded to 6 decimals, its own hash last."""
        content: dict[str, Any] = {"schema": SCHEMA, **{key: rounded(part) for key, part in asdict(self).items()}}
        return {**content, _HASH: own_hash(content)}


def check_link(link: str | None) -> None:
    """Refuse what a reader should not follow: a page is opened by people who did not make it.

    Raises:
        ValueError: it is no address of http or https.
    """
    if link is not None and not link.startswith(("https://", "http://")):
        raise ValueError(f"link: expected an address that begins with https:// or http://, got {link!r}")


def own_hash(content: Mapping[str, Any]) -> str:
    """SHA-256 of all that is not edited by hand, as canonical JSON.

    Raises:
        ValueError: a number is not finite.
    """
    return sha256(canonical({key: part for key, part in content.items() if key not in _BY_HAND}).encode()).hexdigest()


def read_result(path: Path) -> PublishedResult:
    """The result in a file that `mtbias publish` wrote.

    Raises:
        DataError: another schema, another shape, or a number was changed; with path.
        OSError: the file cannot be read.
    """
    try:
        content = load_json(path.read_bytes(), once)
        if not isinstance(content, dict) or "schema" not in content:
            raise DataError("expected a result that `mtbias publish` wrote; leave the file out", path=path)
        if (schema := content.pop("schema")) != SCHEMA:
            raise DataError(
                f"expected schema {SCHEMA}, got {schema!r}; publish the run again, or read it with the mtbias that "
                "wrote it",
                path=path,
            )
        stated = content.pop(_HASH, None)
        result = decoded(PublishedResult, json.dumps(content, ensure_ascii=False))
        if stated != own_hash({"schema": schema, **content}):
            raise DataError("expected the numbers as they were published, got others; publish the run again", path=path)
    except ValueError as error:
        raise DataError(f"damaged: {error}; publish the run again", path=path) from error
    return result
