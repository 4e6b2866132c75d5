"""The translation of the second of two sentences that were translated together: words of the first must never count.

Where it is not certain where the second sentence begins there is no part to judge.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from statistics import median

from mtbias.corpora.mt_geneval_context import SEPARATOR, ContextualSentence
from mtbias.errors import DataError
from mtbias.types import Translation

_MARK = re.compile(r"<\s*sep\s*>", re.IGNORECASE)
"""The separator as systems give it back: some change its case or put blanks into it."""

LONGEST_ALONE = 1.6
"""How many times as long as their references translations of the second sentence alone may be, at the median.

In English both sentences together are 2.3 times as long as the second alone, at the median (about 1,100 lines for each
of six languages); translations of the second alone are about as long as their references.
"""

_UNEVEN = 2.0
"""How many times as far one sentence may be lengthened in translation as the other for a cut to be believed.

A system that breaks the first sentence in two and leaves out the second gives the right number of sentences, too; of
such cuts, at random places, half are beyond this, and of cuts between human translations 1.2 % in Arabic and 0.3 % or
fewer in de, es, fr, it, ru.
"""


def refuse_both(sentences: Sequence[ContextualSentence], translations: Sequence[Translation]) -> None:
    """Refuse given translations of both sentences without a separator: the words of the first would count.

    Raises:
        DataError: they are so long (`LONGEST_ALONE`) that they cannot be those of the second sentence alone.
    """
    references = {each.id: each.reference for each in sentences if each.context}
    given = {each.id: each.text for each in translations if each.id in references and each.text is not None}
    ratios = [len(text) / len(references[id_]) for id_, text in given.items() if not _MARK.search(text)]
    if 2 * len(ratios) >= len(given) and ratios and median(ratios) > LONGEST_ALONE:
        raise DataError(
            f"expected translations of the second sentence alone, or of both with {SEPARATOR} between them, got "
            f"translations without it that are {median(ratios):.1f} times as long as their references, as if they held "
            f"the first sentence too; keep {SEPARATOR}, or remove the first sentence"
        )


def cut_given(sentences: Sequence[ContextualSentence], texts: Sequence[str | None]) -> list[str | None]:
    """The part to judge of each given translation; None where there is none, or no translation.

    Where most translations keep the separator, it is what follows it, and a translation that lost it, has it twice or
    has nothing behind it has none; where most do not, all of a translation without it is the second sentence.
    """
    there = [text for each, text in zip(sentences, texts, strict=True) if each.context and text is not None]
    separated = 2 * sum(bool(_MARK.search(text)) for text in there) > len(there)
    return [
        None if text is None else _after_mark(sentence, text, separated=separated)
        for sentence, text in zip(sentences, texts, strict=True)
    ]


def _after_mark(sentence: ContextualSentence, text: str, *, separated: bool) -> str | None:
    parts = [part.strip() for part in _MARK.split(text)]
    if len(parts) == 1:
        return None if separated and sentence.context else text
    return parts[1] or None if len(parts) == 2 else None


def cut_joined(sentence: ContextualSentence, text: str, lang: str) -> str | None:
    """The part to judge of the translation of both sentences with a blank between them; None where it is not certain.

    It is what stands behind as many sentences as the context has (`sentencex`), where the translation has as many as
    both have together and neither part is lengthened much more than the other (`_UNEVEN`).
    """
    if not sentence.context:
        return text
    before, behind = (len(_sentences(part, "en")) for part in (sentence.context, sentence.second))
    found = _sentences(text, lang)
    if len(found) != before + behind:
        return None
    first, second = ("".join(part).strip() for part in (found[:before], found[before:]))
    uneven = (len(first) / len(sentence.context)) / (len(second) / len(sentence.second))
    return second if 1 / _UNEVEN < uneven < _UNEVEN else None


def _sentences(text: str, lang: str) -> list[str]:
    from sentencex import segment

    return [each for each in segment(lang, text) if each.strip()]


@cache
def splitter() -> str:
    """The release of what splits into sentences, for signatures."""
    return f"sentencex-{version('sentencex')}"
