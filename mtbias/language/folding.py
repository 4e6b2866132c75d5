"""Folding: the form of a word under which every table is asked for it."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from itertools import chain

_PRESENTATION_FORMS = (range(0xFB50, 0xFE00), range(0xFE70, 0xFF00))
"""The Unicode blocks Arabic Presentation Forms-A and -B."""


class Folder:
    """Lower-cases, deletes ignorable marks, unifies variant letters and apostrophes.

    An Arabic presentation form, which is a letter in one of its shapes or a ligature of several, counts as the letters
    that Unicode's NFKC gives for it, and these are folded like any others. The result may be longer than the text, so
    it is for look-ups only.
    """

    def __init__(self, delete: str, fold: Mapping[str, str]) -> None:
        table: dict[int, str | None] = {ord(c): None for c in delete}
        table.update({0xAD: None, ord("’"): "'", ord("ʼ"): "'", ord("‑"): "-", ord("״"): '"', ord("׳"): "'"})
        table.update({ord(k): v for k, v in fold.items() if len(k) == 1})
        for form in chain(*_PRESENTATION_FORMS):
            # That of a mark by itself has a blank as its carrier, which is dropped.
            letters = unicodedata.normalize("NFKC", chr(form)).strip()
            if letters != chr(form):
                table.setdefault(form, letters.translate(table))
        self._table = table
        self._long = tuple((k, v) for k, v in fold.items() if len(k) > 1)

    def __call__(self, text: str) -> str:
        """`text` folded."""
        folded = text.lower().translate(self._table)
        for old, new in self._long:
            folded = folded.replace(old, new)
        return folded
