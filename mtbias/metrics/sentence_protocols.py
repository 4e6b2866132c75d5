"""What the metrics need to know about a sentence: `mtbias.types.Instance` has it, and a line of `calls.jsonl`."""

# ruff: noqa: D102 - the names of the properties say what they are

from __future__ import annotations

from typing import Protocol

from mtbias.types import Gender, GenderCall, Stereotype


class Linked(Protocol):
    """A sentence and its links: for pairs."""

    @property
    def id(self) -> str: ...
    @property
    def gold(self) -> Gender: ...
    @property
    def pair(self) -> str | None: ...
    @property
    def control(self) -> str | None: ...


class Classed(Protocol):
    """A sentence and its classes."""

    @property
    def id(self) -> str: ...
    @property
    def gold(self) -> Gender: ...
    @property
    def stereotype(self) -> Stereotype: ...
    @property
    def domain(self) -> str: ...
    @property
    def pronouns(self) -> int: ...


class Described(Classed, Protocol):
    """With what can be balanced: for weights."""

    @property
    def source(self) -> str: ...
    @property
    def distance(self) -> int | None: ...


class Scorable(Classed, Linked, Protocol):
    """With entity and links: for the scores."""

    @property
    def entity(self) -> str: ...


class Called(Described, Scorable, Protocol):
    """A sentence with its translation and its call: a line of `calls.jsonl`."""

    @property
    def translation(self) -> str | None: ...
    @property
    def call(self) -> GenderCall: ...
