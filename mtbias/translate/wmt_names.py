"""How WMT names languages and documents, and what a ``doc_id`` of a suite of mtbias says."""

from __future__ import annotations

import re

from mtbias.translate.seq2seq.families import codes
from mtbias.types import frozen

SUITE = "mtbias"
"""The first part of every ``doc_id``: whose suite it is."""

SEPARATOR = "_###_"
"""Between the parts of a ``doc_id``, as WMT writes them."""

FAILED = "FAILED"
"""What the organisers' collector writes where a system gave no translation."""

_PARTS = (SUITE, r"(\w[^.#]*)\.([^#]+)", r"([^#]+)", r"([^#]+)", "(.+)")
_DOC_ID = re.compile(f"(?:^|{SEPARATOR}){SEPARATOR.join(_PARTS)}", re.DOTALL)


@frozen
class SuitePlace:
    """What a ``doc_id`` of mtbias's says."""

    dataset: str
    prompt: str
    """By which the translation was asked for (`mtbias list prompts`)."""
    source_lang: str
    """As WMT names it: ``eng_Latn``."""
    lang: str
    id: str
    """That of the sentence in its corpus."""

    @property
    def doc_id(self) -> str:
        """All of it in one word."""
        domain = f"{self.dataset}.{self.prompt}"
        return SEPARATOR.join([SUITE, domain, self.source_lang, self.lang, self.id])


def suite_place(doc_id: str) -> SuitePlace | None:
    """What a ``doc_id`` says, whatever an organiser put before it; None where it is not of
    mtbias's.
    """
    match = _DOC_ID.search(doc_id)
    return None if match is None else SuitePlace(*match.groups())


def wmt_code(lang: str) -> str:
    """A language as WMT 2026 names it: by ISO 639-3 and the script, as FLORES-200 does; the code
    itself where that is not known.
    """
    return codes("nllb").get(lang, lang)
