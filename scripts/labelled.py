"""What the scripts over labelled sentences share: languages as the checkout has them, a labelled
row, the call beside it, and the lines that say how many are right.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Annotated, Generic, TypeVar

from cyclopts import Parameter

from mtbias.align import Aligner, Pair, StatisticalAligner
from mtbias.corpora import entity_place
from mtbias.errors import DataError, MtbiasError
from mtbias.evaluation.gender_calls import GenderMeasure
from mtbias.files.reading import Record, read_text, split_lines
from mtbias.files.text_repair import repair
from mtbias.morphology import Analyser, AnalysisCache, StanzaAnalyser, find_package
from mtbias.plugin import Language
from mtbias.reading.rules import says
from mtbias.settings import EvidenceReader
from mtbias.stats.resampling import wilson_percent
from mtbias.types import Gender, GenderCall, Span, frozen
from scripts.apertium_tagger import analyser as tagged

ROOT = Path(__file__).resolve().parent.parent
_DATA = ROOT / "languages" / "mtbias_languages" / "data"
SHIPPED = tuple(sorted(path.stem for path in _DATA.glob("*.toml")))
"""Codes of the languages that ship with mtbias."""
BY_APERTIUM = ("pt",)
"""Languages that `judge` analyses by Apertium (`scripts.apertium_tagger`), and not by Stanza."""

Counts = Mapping[str, tuple[int, int]]
"""(rows, of rows) by what is counted."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is asked of every set of labels.

    Parameters
    ----------
    stanza_dir
        Folder of Stanza models.
    lang
        Only these languages.
    rows
        List the rows that are wrong.
    """

    stanza_dir: Path
    lang: Sequence[str] | None = None
    rows: bool = False

    def each(
        self, known: Collection[str], run: Callable[[str], None], *, unasked: Collection[str] = ()
    ) -> int:
        """`each_language`; the languages `unasked` only where they are asked for."""
        return each_language(
            self.lang or [code for code in known if code not in unasked], known, run
        )

    def show(self, line: str, wrong: Iterable[str]) -> None:
        """Print the line of a language, and what is wrong where it is asked for."""
        print(line, *(wrong if self.rows else ()), sep="\n", flush=True)


Chosen = Annotated[Choice, Parameter(name="*")]
Evidence = Annotated[
    EvidenceReader, Parameter(help="What tells the gender, as the option of mtbias eval.")
]
PART = Parameter(
    help="The part of the labels: dev, by which rules may be corrected, one that is not looked at "
    "when rules are written, or all."
)


@frozen
class LabelledPair:
    """A sentence with its translation, and what is labelled in it."""

    pair: Pair
    head: Span | None
    """Characters of the translation that render the person; None where it is left out."""
    gender: Gender | None
    """None where no call is right."""
    part: str
    note: str


L = TypeVar("L", bound=LabelledPair)


@frozen
class Judged(Generic[L]):
    """A labelled pair with the call on it."""

    label: L
    call: GenderCall

    @property
    def gender_right(self) -> bool:
        """The call is the labelled gender, or none where none is labelled."""
        return self.call.gender is self.label.gender

    @property
    def gender_wrong(self) -> bool:
        """A gender is called, and not the labelled one."""
        return self.call.gender not in (None, self.label.gender)

    @property
    def head_right(self) -> bool:
        """The first aligned word overlaps the labelled head; nothing is found where nothing renders
        the person.
        """
        found = self.call.target[:1]
        if self.label.head is None:
            return not found
        return bool(found) and found[0].overlaps(self.label.head)

    def described(self, kind: str, called: str | None = None) -> str:
        """Three lines: the label with its kind and the call with its evidence, the source with the
        entity marked, the translation.
        """
        pair, call = self.label.pair, self.call
        start, end = pair.head or (0, 0)
        wanted = pair.text[slice(*self.label.head)] if self.label.head else "–"
        found = pair.text[slice(*call.target[0])] if call.target else "–"
        got = f"got {called or call.gender or call.reason} at {found} [{evidence_of(call)}]"
        note = f" {self.label.note}" if self.label.note else ""
        return (
            f"{pair.id} {kind} {self.label.gender or 'none'} at {wanted}; {got}{note}\n"
            f"    {pair.source[:start]}[[{pair.source[start:end]}]]{pair.source[end:]}\n"
            f"    {pair.text}"
        )


def shared_data() -> Path:
    """The folder of public data, whose parent ``MTBIAS_SHARED`` names (default ``../shared``)."""
    return Path(os.environ.get("MTBIAS_SHARED", ROOT.parent / "shared")) / "data"


def require_data(data: Path) -> None:
    """Check that the public data is there.

    Raises:
        DataError: it is not.
    """
    if not data.is_dir():
        raise DataError(
            "expected the public data here; name its parent folder with MTBIAS_SHARED", path=data
        )


@cache
def lines_of(path: Path) -> Sequence[str]:
    """The lines of a file of public data.

    Raises:
        DataError: as `read_text`.
    """
    return split_lines(read_text(path).text)


def files_of(labels: str) -> dict[str, Path]:
    """The file of every language in a folder of ``tests``, by code."""
    return {path.stem: path for path in sorted((ROOT / "tests" / labels).glob("*.tsv"))}


def labelled_head(record: Record, target: str) -> Span | None:
    """The head that a row names as ``word`` or ``word@2``, its second occurrence in the translation:
    as a word, else (he *שהמורה*) as a part of one; None where it names none.

    Raises:
        DataError: it does not occur so often.
    """
    given = repair(record.get("head")).text
    form, number = re.sub(r"@(?=[1-9]$)", "\t", given).partition("\t")[::2]
    if not form:
        return None
    anywhere = [match.span() for match in re.finditer(re.escape(form), target)]
    words = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(form)}(?!\w)", target)]
    places, place = words or anywhere, int(number or 1)
    if len(places) < place:
        raise record.error(f"expected the head {given!r} in the translation")
    return Span(*places[place - 1])


def word_at(record: Record, column: str, text: str) -> Span:
    """The word of a text whose index, from 0, a row gives.

    Raises:
        DataError: there is none.
    """
    index, words = record.integer(column), entity_place.tokens(text)
    if index >= len(words):
        raise record.error(f"{column}: expected one of {len(words)} words, got index {index}")
    return entity_place.core(text, words[index])


def named_entity(record: Record, source: str) -> Span:
    """The entity that a row names with the character at which it starts.

    Raises:
        DataError: it does not stand there.
    """
    start, entity = record.integer("start"), record.get("entity")
    found = source[start : start + len(entity)]
    if found != entity:
        raise record.error(f"expected {entity!r} at {start} of the source, got {found!r}")
    return Span(start, start + len(entity))


@cache
def shipped_language(code: str) -> Language:
    """A shipped language as the checkout has it, whatever is installed."""
    return Language.from_package("mtbias_languages", code)


def stanza_of(code: str, stanza_dir: Path) -> StanzaAnalyser:
    """Stanza's models of a language, on the CPU and without a cache."""
    return StanzaAnalyser(find_package(code, stanza_dir), AnalysisCache(None), device="cpu")


def judge(
    labels: Sequence[L],
    code: str,
    stanza_dir: Path,
    *,
    together: int | None = None,
    evidence: EvidenceReader = "tables",
    aligner: Aligner | None = None,
) -> list[Judged[L]]:
    """Labelled pairs of a language with the calls on them, in their order; so many are aligned
    together, or all.
    """
    pairs = [label.pair for label in labels]
    by_apertium = code in BY_APERTIUM
    analyser: Analyser = (
        tagged(pair.text for pair in pairs) if by_apertium else stanza_of(code, stanza_dir)
    )
    aligner = aligner or StatisticalAligner()
    measure = GenderMeasure(shipped_language(code), aligner, analyser, evidence)
    step = together or max(len(pairs), 1)
    groups = [pairs[start : start + step] for start in range(0, len(pairs), step)]
    calls = chain.from_iterable(measure.call_pairs(group) for group in groups)
    return [Judged(label, call) for label, call in zip(labels, calls, strict=True)]


def of_part(judged: Iterable[Judged[L]], part: str) -> list[Judged[L]]:
    """Those of a part of the labels, or ``all``."""
    return [each for each in judged if part in (each.label.part, "all")]


def share(answers: Iterable[bool]) -> tuple[int, int]:
    """(rows, of rows): how many answers are yes."""
    listed = list(answers)
    return sum(listed), len(listed)


def line_of(name: str, counts: Counts, *, intervals: bool = False) -> str:
    """The line of a language: each share in per cent, with its 95 % interval where it is asked for,
    and with its rows; a share of no rows is a dash.
    """
    parts = [name]
    for key, (rows, of) in counts.items():
        interval = wilson_percent(rows, of) if intervals else None
        ends = "" if interval is None else f" [{interval[0]:.0f}, {interval[1]:.0f}]"
        percent = f"{100 * rows / of:5.1f} %{ends}" if of else "    –"
        parts.append(f"{key} {percent} ({rows}/{of})")
    return "  ".join(parts)


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
