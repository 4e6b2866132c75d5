"""What the scripts over labelled sentences share: a language as the checkout has it, its models,
and the loop.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Sequence
from functools import cache
from pathlib import Path

from mtbias.errors import DataError, MtbiasError
from mtbias.morphology import AnalysisCache, StanzaAnalyser, find_package
from mtbias.plugin import Language
from mtbias.reading.rules import says
from mtbias.types import GenderCall

ROOT = Path(__file__).resolve().parent.parent
_DATA = ROOT / "languages" / "mtbias_languages" / "data"
SHIPPED = tuple(sorted(path.stem for path in _DATA.glob("*.toml")))
"""Codes of the languages that ship with mtbias."""


def shared_data() -> Path:
    """The folder of public data, whose parent ``MTBIAS_SHARED`` names (default ``../shared``)."""
    return Path(os.environ.get("MTBIAS_SHARED", ROOT.parent / "shared")) / "data"


@cache
def shipped_language(code: str) -> Language:
    """A shipped language as the checkout has it, whatever is installed."""
    return Language.from_package("mtbias_languages", code)


def stanza_of(code: str, stanza_dir: Path) -> StanzaAnalyser:
    """Stanza's models of a language, on the CPU and without a cache."""
    return StanzaAnalyser(find_package(code, stanza_dir), AnalysisCache(None), device="cpu")


def each_language(
    chosen: Sequence[str] | None, known: Collection[str], run: Callable[[str], None]
) -> int:
    """Run something for the chosen languages, or for all; the exit status, after an error's line on
    standard error.
    """
    try:
        for code in chosen or known:
            if code not in known:
                raise DataError(f"no sentences for {code!r}; there are {', '.join(known)}")
            run(code)
    except MtbiasError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def evidence_of(call: GenderCall) -> str:
    """The evidence of a call in one line."""
    return "; ".join(
        f"{e.kind} {e.word}: {e.gender or 'silent'} ({e.source}, {says(e)})" for e in call.evidence
    )
