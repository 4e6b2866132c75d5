"""English plurals: whether a noun is one, and of what it may be one."""

from __future__ import annotations

_PLURALS = frozenset(("men", "women", "children", "people", "police", "policemen", "firemen", "mice"))
_SINGULAR_ENDINGS = ("ss", "us", "is")
_IRREGULAR = {"children": ("child",), "people": ("person",)}


def is_plural(noun: str) -> bool:
    """Whether a noun is plural by its form, in any case."""
    noun = noun.lower()
    return noun in _PLURALS or (noun.endswith("s") and not noun.endswith(_SINGULAR_ENDINGS))


def singulars(word: str) -> tuple[str, ...]:
    """`word` and what it may be the English plural of: ``ladies`` → ladies, ladie, ladi, lady."""
    found = [word]
    if word.endswith("s") and not word.endswith("ss"):
        found.append(word[:-1])
        if word.endswith("es"):
            found.append(word[:-2])
        if word.endswith("ies"):
            found.append(word[:-3] + "y")
    if word.endswith("men"):
        found.append(word[:-2] + "an")
    return (*found, *_IRREGULAR.get(word, ()))
