"""Elements of HTML and SVG: what comes from files is escaped, whatever it is."""

from __future__ import annotations

import html
from collections.abc import Iterable

_VOID = frozenset({"input", "link", "meta"})


class Markup(str):
    """Text that is HTML or SVG already. Any other text is escaped when it enters an element."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str | float | bool | None) -> Markup:
    """An element of HTML or SVG. Children and attributes are escaped, children that are `Markup` taken as they are.

    Args:
        tag: its name.
        children: its content in order.
        attributes: ``aria_label`` is written as ``aria-label``, ``class_`` as ``class``; True writes the bare name,
            None and False nothing.
    """
    written = [
        f" {_name(key)}{_value(value)}" for key, value in attributes.items() if value is not None and value is not False
    ]
    if tag in _VOID:
        return Markup(f"<{tag}{''.join(written)}>")
    return Markup(f"<{tag}{''.join(written)}>{joined(children)}</{tag}>")


def joined(parts: Iterable[str]) -> Markup:
    """Parts one after the other, escaped like the children of `element`."""
    return Markup("".join(part if isinstance(part, Markup) else html.escape(part) for part in parts))


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _value(value: str | float | bool | None) -> str:
    if value is True:
        return ""
    text = f"{round(value, 2):g}" if isinstance(value, float) else html.escape(str(value))
    return f'="{text}"'
