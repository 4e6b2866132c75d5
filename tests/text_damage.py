"""Ways in which texts are damaged on their way."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Callable


def as_windows_1252(text: str) -> str:
    """UTF-8 read as Windows-1252, whose five open bytes stand for themselves."""
    return "".join(bytes([b]).decode("cp1252", errors="ignore") or chr(b) for b in text.encode())


def as_latin_1(text: str) -> str:
    """UTF-8 read as Latin-1."""
    return text.encode().decode("latin-1")


def decomposed(text: str) -> str:
    """In NFD."""
    return unicodedata.normalize("NFD", text)


def with_references(text: str) -> str:
    """With HTML's references for its signs and for all beyond ASCII."""
    return "".join(html.escape(char) if char.isascii() else f"&#{ord(char)};" for char in text)


DAMAGE: dict[str, Callable[[str], str]] = {
    "windows-1252": as_windows_1252,
    "latin-1": as_latin_1,
    "twice": lambda text: as_windows_1252(as_windows_1252(text)),
    "nfd": decomposed,
    "references": with_references,
}
