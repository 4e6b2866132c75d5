"""What must be known of English words, beside those that tell a gender (`mtbias.swapping`)."""

from __future__ import annotations

_PLURALS = frozenset(("men", "women", "children", "people", "police", "policemen", "firemen", "mice"))
_SINGULAR_ENDINGS = ("ss", "us", "is")


def is_plural(noun: str) -> bool:
    """Whether a noun is plural by its form, in any case."""
    noun = noun.lower()
    return noun in _PLURALS or (noun.endswith("s") and not noun.endswith(_SINGULAR_ENDINGS))
