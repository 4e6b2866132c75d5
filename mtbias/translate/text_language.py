"""Faults of a translation that show without a reference: another language, copied words of the
source, repetition.
"""

from __future__ import annotations

import re
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from mtbias.files.writing import explained
from mtbias.types import Span, frozen

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

# Of 105,000 translations of 28 systems of WinoMT and of GEST and Wikipedia, each in its language
# but for 100 Italian lines in a French file, 15 others fall below it. The likeliest language alone
# is another in 0.4 % of the Russian ones (Bulgarian, Macedonian) and in 1.6 % of short ones
# (GEST's, into Ukrainian).
OWN_LANGUAGE = 0.1
"""A translation whose probability to be in the target language is lower counts as in another."""
# Cut to this many words, at most 0.1 % of these translations in any language count as in another;
# cut to four, 0.9 % (French); to three, 8 % (Spanish).
MIN_WORDS = 5
"""Least words of a text whose language can be told."""
# Of the same translations one, a copy, reaches this; the next has 0.5 (GEST, into Czech: names).
NEARLY_EQUAL = 0.8
"""Least Dice coefficient of the words of a copy and its source."""


@cache
def _identifier() -> LanguageIdentifier:
    """py3langid with its 140 languages and normed probabilities; the one that its functions use is
    shared by all callers.

    Raises:
        RunFolderError: there is no room for its model, which it unpacks into a temporary file.
    """
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    with explained(Path(tempfile.gettempdir()), "unpack py3langid's model in it"):
        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def languages(texts: Sequence[str | None], lang: str) -> list[str | None]:
    """The language of each text: `lang`, or the likeliest one for a text that is surely not in
    `lang`.

    Edge cases: None for a text of fewer than `MIN_WORDS`, and for a `lang` that py3langid does not
    know.
    """
    if lang not in _identifier().labels:
        return [None] * len(texts)
    return [
        None if text is None or len(words(text)) < MIN_WORDS else _language(text, lang)
        for text in texts
    ]


def is_in_another(text: str, lang: str) -> bool:
    """Whether a text is surely not in `lang`."""
    return languages([text], lang)[0] not in {None, lang}


def _language(text: str, lang: str) -> str:
    identifier = _identifier()
    text = unicodedata.normalize("NFKC", text)  # Arabic in presentation forms is Arabic
    best, _ = identifier.classify(text)
    if best == lang:
        return lang
    own = next(float(probability) for label, probability in identifier.rank(text) if label == lang)
    return str(best) if own < OWN_LANGUAGE else lang


def words(text: str) -> tuple[str, ...]:
    """The words of a text in NFKC, without case and punctuation."""
    return tuple(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def is_copy(source: tuple[str, ...], text: tuple[str, ...]) -> bool:
    """Whether the Dice coefficient of the `words` of a text and of its source is `NEARLY_EQUAL` or
    more.
    """
    both = (Counter(source) & Counter(text)).total()
    return both > 0 and 2 * both >= NEARLY_EQUAL * (len(source) + len(text))


# Words that were left in the source's language.

# Of 130,000 translations of WinoMT, GEST, Wikipedia and news 12 have four such words in a row:
# titles of books. With three there are 60, offices among them (de *Chief Financial Officer*).
LEFT_IN_A_ROW = 4
"""Least words of the source in a row, without those with a capital, that count as left
untranslated."""
_LEFT_WITH_MARKER = 3
"""The same for a run with one of `_MARKERS` in which none but the first has a capital."""
_MARKERS = frozenset(
    {
        *("the", "and", "his", "who", "that", "with", "for", "from", "she", "they", "which"),
        *("when", "had", "were", "been", "not", "their", "its", "this", "but"),
    }
)
"""English words that no other language has."""
_WORD = re.compile(r"[^\W\d_]+")


@frozen
class CopiedRun:
    """Words of the source that occur in the translation, in a row."""

    words: tuple[tuple[Span, Span], ...]
    """For each word, its span in the source and its span in the translation."""

    @property
    def span(self) -> Span:
        """The span of the whole run in the translation."""
        return Span(self.words[0][1].start, self.words[-1][1].end)


def copied_runs(source: str, text: str) -> list[CopiedRun]:
    """Runs of words that were left untranslated.

    They have `LEFT_IN_A_ROW` words of the source or more, without those with a capital, or one less
    where the run is plainly English; in a copy (`is_copy`) they have any length.

    Source: our own definition. Names are the same in both languages, and so are titles of works,
    whose words mostly have capitals.
    """
    tokens = source.split()
    # A shortcut: nearly all such runs have punctuation only at their ends.
    if len(tokens) > LEFT_IN_A_ROW and len(set(tokens) & set(text.split())) < LEFT_IN_A_ROW // 2:
        return []
    copy = is_copy(words(source), words(text))
    theirs = [(match[0].casefold(), Span(*match.span())) for match in _WORD.finditer(text)]
    ours = [(match[0].casefold(), Span(*match.span())) for match in _WORD.finditer(source)]
    places: dict[str, list[int]] = {}
    for place, (word, _) in enumerate(ours):
        places.setdefault(word, []).append(place)
    runs, n = [], 0
    while n < len(theirs):
        lengths = {
            place: _common_length(ours, place, theirs, n) for place in places.get(theirs[n][0], ())
        }
        place = max(lengths, key=lambda place: lengths[place], default=0)
        length = lengths.get(place, 0)
        run = CopiedRun(tuple((ours[place + k][1], theirs[n + k][1]) for k in range(length)))
        if length and (copy or _is_left([source[slice(*span)] for span, _ in run.words])):
            runs.append(run)
        n += max(length, 1)
    return runs


def _is_left(run: Sequence[str]) -> bool:
    """Whether words of the source in a row are neither a name nor the title of a work."""
    without_capital = sum(word.islower() for word in run)
    if without_capital >= LEFT_IN_A_ROW:
        return True
    plain = without_capital >= _LEFT_WITH_MARKER and all(word.islower() for word in run[1:])
    return plain and not _MARKERS.isdisjoint(run)


def _common_length(
    ours: Sequence[tuple[str, Span]], place: int, theirs: Sequence[tuple[str, Span]], n: int
) -> int:
    """The number of equal words from two places on."""
    pairs = zip(islice(ours, place, None), islice(theirs, n, None), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0][0] == pair[1][0], pairs))


# Translations that fell into repetition.

TIMES = 4
"""Least repetitions in a row of a translation that is stuck."""
_LONGEST = 8


def is_repetitive(text: str) -> bool:
    """Whether a run of 1 to 8 words occurs at least 4 times in a row ("hard hard hard hard", "the
    cat, the cat, …").

    Case and punctuation are ignored. Source: our own definition; it describes the output, not its
    quality.
    """
    words = re.findall(r"\w+", text.casefold())
    for size in range(1, min(_LONGEST, len(words) // TIMES) + 1):
        run = 0
        for here in range(size, len(words)):
            run = run + 1 if words[here] == words[here - size] else 0
            if run >= size * (TIMES - 1):
                return True
    return False
