"""A sentence with its translation, the entity in it, and what the source says around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

from mtbias.english.words import SourceWord, hyphenated_parts
from mtbias.language.source import SourceLanguage
from mtbias.types import Instance, SourceFacts, Span


class Pair(NamedTuple):
    """A sentence with its translation, and the entity in it; a pair that only helps the statistics
    has no head.
    """

    id: str
    source: str
    text: str
    head: Span | None = None
    """Characters of `source` that are the entity's head word."""
    entity: str = ""
    """The entity, lower-cased ("construction worker")."""

    @classmethod
    def from_instance(cls, instance: Instance, text: str) -> Self:
        """`instance` with its translation."""
        return cls(instance.id, instance.source, text, instance.head, instance.entity)


def entity_place(pair: Pair, words: Sequence[SourceWord]) -> tuple[int, int]:
    """The first word of the entity among `words`, and its head, the last one; (-1, -1) where the
    span is not a word.
    """
    if pair.head is None:
        return -1, -1
    at = pair.head.start
    head = next((n for n, word in enumerate(words) if word.span.start <= at < word.span.end), -1)
    if head < 0:
        return -1, -1
    # "Construction worker" as far as it comes before the head: elsewhere the corpus may say
    # "worker" alone.
    first = head
    for modifier in reversed(pair.entity.lower().split()[:-1]):
        if first == 0 or words[first - 1].form != modifier:
            break
        first -= 1
    return first, head


def qualifies(pair: Pair, words: Sequence[SourceWord], n: int, spoken: SourceLanguage) -> bool:
    """Whether the n-th word, with a blank behind it, may qualify the next one."""
    if n < 0 or not spoken.may_qualify(words[n]):
        return False
    return pair.source[words[n].span.end : words[n + 1].span.start].isspace()


def source_facts(pair: Pair, spoken: SourceLanguage) -> SourceFacts:
    """The facts of the source around the entity; none where it has no head.

    The entity is qualified by a word right before it that is not a determiner, or by one behind it
    after a hyphen (*groom-to-be*). A gender is that of the word before the entity, or of a modifier
    inside it (*female doctors*, *woman-doctor*); a possessive is another person (*the men's
    sisters*).
    """
    words = spoken.words(pair.source)
    first, head = entity_place(pair, words)
    if pair.head is None or head < 0:
        return SourceFacts()
    before = words[first - 1] if first > 0 else None
    following = words[head + 1] if head + 1 < len(words) else None
    start = first - qualifies(pair, words, first - 1, spoken)
    modifiers = [word.text for word in words[start:head]]
    modifiers += hyphenated_parts(words[head].text)[0].split("-")
    genders = {gender for word in modifiers if (gender := spoken.gender(word))}
    behind_hyphen = bool(hyphenated_parts(words[head].form)[2])
    entity = pair.source[slice(*pair.head)]
    return SourceFacts(
        number=spoken.number(entity, before.form if before is not None else ""),
        qualified=behind_hyphen or (before is not None and spoken.is_attribute(before)),
        says_sex=genders.pop() if len(genders) == 1 else None,
        before_adverb=following is not None and spoken.is_adverb(following),
        before_name=following is not None and spoken.may_be_name(following),
        quantifier=pair.entity in spoken.quantifiers,
    )
