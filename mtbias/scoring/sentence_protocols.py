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
    def gold(self) -> Gender | None: ...
    @property
    def pair(self) -> str | None: ...
    @property
    def control(self) -> str | None: ...


class Described(Protocol):
    """A sentence with its classes and what can be balanced: for weights."""

    @property
    def id(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def gold(self) -> Gender | None: ...
    @property
    def stereotype(self) -> Stereotype: ...
    @property
    def domain(self) -> str: ...
    @property
    def pronouns(self) -> int: ...
    @property
    def distance(self) -> int | None: ...


class Called(Described, Linked, Protocol):
    """A sentence with its translation and its call: a line of `calls.jsonl`."""

    @property
    def entity(self) -> str: ...
    @property
    def translation(self) -> str | None: ...
    @property
    def call(self) -> GenderCall: ...
