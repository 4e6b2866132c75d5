"""The signs that a run's numbers cannot be believed, each declared once: what is counted, of what, and its limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """A share of a run's rows that is small for a good system."""

    key: str
    """Its name in `metrics.json`."""
    label: str
    """Its name in tables: ``calls on words outside the tables``."""
    of: str
    """The rows that it is a share of: ``calls``, ``translations``, ``sentences``, ``entities``."""
    they: str
    """What a warning says of those that are counted: ``rest on words outside the table of nouns for people``."""
    limit: float
    """In per cent; `docs/alarms.md` has what good and broken output show, and why the limit is there."""
    advice: str
    """What to do, without a stop."""
    concerns: bool = False
    """Whether the numbers are given without the rows that are counted, too."""


SIGNS = (
    Sign(
        key="outside_tables", label="calls on words outside the tables", of="calls",
        they="rest on words outside the table of nouns for people", limit=8.0,
        advice="read some of them in the report: things and invented words may be called there", concerns=True,
    ),
    Sign(
        key="other_language", label="in another language", of="translations",
        they="are in another language than the target", limit=1.0,
        advice="check --lang and the system's target language", concerns=True,
    ),
    Sign(
        key="copies", label="copies of the source", of="translations", they="are copies of their source", limit=1.0,
        advice="check that these are translations", concerns=True,
    ),
    Sign(
        key="empty", label="without a translation", of="sentences", they="have no translation", limit=1.0,
        advice="they count as errors; say so beside the numbers, or translate them",
    ),
    Sign(
        key="looping", label="a phrase over and over", of="translations", they="repeat a word or phrase over and over",
        limit=1.0, advice="the system hallucinates: check its decoding", concerns=True,
    ),
    Sign(
        key="repeated", label="one for many sources", of="translations",
        they="stand for five different sources or more", limit=1.0,
        advice="the system hallucinates, or the file was made wrong", concerns=True,
    ),
    Sign(
        key="unaligned", label="entity not found", of="translations", they="have no word that renders the entity",
        limit=8.0, advice="check that they belong to this corpus, and read some of them",
    ),
    Sign(
        key="no_person", label="entity not known as a person", of="translations",
        they="render the entity by a word that is not known to name a person", limit=15.0,
        advice="check the language, and read some of them",
    ),
    Sign(
        key="unrendered", label="no known translation of the entity", of="translations",
        they="hold none of the entity's known translations", limit=30.0,
        advice="check the language, and that line k translates sentence k",
    ),
    Sign(
        key="moved", label="entity in a neighbouring line", of="translations",
        they="lack the entity that stands in the translation one or two lines off", limit=12.0,
        advice="lines were lost or doubled: put them into the corpus's order, or give ids",
    ),
)  # fmt: skip
"""In the order in which they are shown."""

DECLARED: Mapping[str, Sign] = {sign.key: sign for sign in SIGNS}
"""By key."""

LEAST = 2
"""A sign needs so many rows: one alone tells nothing, whatever its share of a few sentences."""
