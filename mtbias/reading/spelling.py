"""Words of two languages that are spelt alike: cognates, loans and names."""

from __future__ import annotations

import re
import unicodedata

from mtbias.language.grammar import shared_beginning
from mtbias.language.source import ENGLISH, SourceLanguage

_LETTERS = dict(zip("абвгдеёзийклмнопрстуфхыэіґ", "abvgdeezijklmnoprstufhyeig", strict=True))
_SEVERAL = {"ж": "zh", "ч": "ch", "ш": "sh", "щ": "sch", "ю": "yu", "я": "ya", "є": "ye", "ї": "yi"}
# ц is where English has c (officer, офицер); the signs of softness have no letter.
_ROMAN = str.maketrans(_LETTERS | _SEVERAL | {"ц": "c", "ь": "", "ъ": ""})
# With less than three fifths de *Schreibtisch* "desk" would do for *clerk*, it *operaio* for
# *attendant*.
MIN_COMMON = 0.6
"""Share of the longer word that two words must have in common from their beginning to be spelt
alike."""

MIN_LETTERS = 4
"""Letters that words spelt alike share at least, or consonants that a transliteration does."""

# Letters that stand for one another where a word changes scripts: Arabic has no p and v, Hebrew one
# letter for p and f.
_SOUNDS = {
    "b": "bpfvبفבפף",
    "t": "tتثطתט",
    "d": "dدذضד",
    "s": "szزسشصظשסצץז",
    "k": "kqكقخקכךח",
    "g": "gjجغג",
    "l": "lلל",
    "m": "mمמם",
    "n": "nنנן",
    "r": "rرר",
}
_SOUND_OF: dict[str, str] = {}
for _sound, _letters in _SOUNDS.items():
    _SOUND_OF |= dict.fromkeys(_letters, _sound)
_SOFT_C = re.compile("c(?=[eiyh])")
_DOUBLED = re.compile(r"(.)\1")


def romanised(form: str) -> str:
    """A folded form in plain Latin letters: Cyrillic transliterated, marks dropped; other scripts
    give nothing.
    """
    return unicodedata.normalize("NFKD", form.translate(_ROMAN)).encode("ascii", "ignore").decode()


def source_letters(form: str, spoken: SourceLanguage) -> str:
    """A folded form of a source as it is compared with other scripts: in Latin letters, where that
    can be.
    """
    return form if spoken is ENGLISH else romanised(form) or form


def skeleton(form: str) -> str:
    """The consonants of an English, Hebrew or Arabic form, which a transliteration keeps: ``sntr``
    of *senator* and سناتور. Vowels, h, w, y and their letters are dropped: they are left unwritten,
    or written in several ways.
    """
    letters = _DOUBLED.sub(r"\1", _SOFT_C.sub("s", form).replace("c", "k").replace("x", "ks"))
    return "".join(_SOUND_OF.get(letter, "") for letter in letters)


def common_beginning(form: str, other: str) -> int:
    """Length of the common beginning of two words, 0 where it is under `MIN_COMMON` of the
    longer.
    """
    length = len(shared_beginning(form, other))
    return length if length >= MIN_COMMON * max(len(form), len(other)) else 0


def likeness(english: str, letters: str) -> float:
    """Share of letters that an English word and a romanised one have in common from their beginning
    (*president*, *presidente*: 9 of 10), 0 under `MIN_LETTERS` and `MIN_COMMON`. A doubled letter
    may stand for one (*impressionist*, es *impresionista*).
    """
    single = _DOUBLED.sub(r"\1", english), _DOUBLED.sub(r"\1", letters)
    return max(_likeness(english, letters), _likeness(*single))


def _likeness(english: str, letters: str) -> float:
    length = common_beginning(letters, english)
    return length / max(len(english), len(letters)) if length >= MIN_LETTERS else 0.0
