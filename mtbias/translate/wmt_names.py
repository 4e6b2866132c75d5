"""WMT's names of languages and documents, and the ``doc_id`` of a suite of mtbias."""

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
    """The content of a ``doc_id`` of mtbias."""

    dataset: str
    prompt: str
    """The prompt that asked for the translation (`mtbias list prompts`)."""
    source_lang: str
    """WMT's name of the language: ``eng_Latn``."""
    lang: str
    id: str
    """Id of the sentence in its corpus."""

    @property
    def doc_id(self) -> str:
        """The ``doc_id``."""
        domain = f"{self.dataset}.{self.prompt}"
        return SEPARATOR.join([SUITE, domain, self.source_lang, self.lang, self.id])


def suite_place(doc_id: str) -> SuitePlace | None:
    """The content of a ``doc_id``, whatever an organiser put before it; None where it is not of
    mtbias.
    """
    match = _DOC_ID.search(doc_id)
    return None if match is None else SuitePlace(*match.groups())


def wmt_code(lang: str) -> str:
    """WMT 2026's name of a language: ISO 639-3 and the script, as in FLORES-200.

    An unknown language has its code as its name.
    """
    return codes("nllb").get(lang, lang)
