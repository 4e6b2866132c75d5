"""Words of two languages that are spelt alike: cognates, loans and names."""

from __future__ import annotations

import unicodedata

_LETTERS = dict(zip("абвгдеёзийклмнопрстуфхыэіґ", "abvgdeezijklmnoprstufhyeig", strict=True))
_ROMAN = str.maketrans(
    _LETTERS
    | {"ж": "zh", "ц": "c", "ч": "ch", "ш": "sh", "щ": "sch", "ь": "", "ъ": "", "ю": "yu", "я": "ya", "є": "ye", "ї": "yi"}
)


def romanised(form: str) -> str:
    """A folded form in plain Latin letters: Cyrillic transliterated, marks dropped; other scripts give nothing."""
    return unicodedata.normalize("NFKD", form.translate(_ROMAN)).encode("ascii", "ignore").decode()


def common_beginning(form: str, other: str) -> int:
    """Length of the common beginning of two words, 0 where it is under three fifths of either."""
    # With less than three fifths de *Schreibtisch* "desk" would do for *clerk*, it *operaio* for *attendant*.
    length = next((n for n, (a, b) in enumerate(zip(form, other, strict=False)) if a != b), min(len(form), len(other)))
    return length if 5 * length >= 3 * max(len(form), len(other)) else 0
