"""How the evaluator does on mtbias's own test sentences (``tests/challenge``), by language and
category.

    python scripts/challenge.py --stanza-dir DIR [--lang CODE]…
        [--independent | --unusual {dev,held-out,all}] [--markdown] [--evidence stanza]

With ``--independent`` the sentences are those of ``tests/independent``, whose authors had seen
nothing of the program. With ``--unusual`` they are those of ``tests/unusual``: unusual professions
in sentences like a newspaper's, each part of 25 aligned alone; the part ``held-out`` is not looked
at when rules are written.

The sentences of a language are aligned among themselves only, so this is the evaluator at its
hardest: no corpus helps it. A sentence counts as right where the call is the expected gender (or,
for ``none``, where there is no call), and its head where the first aligned word overlaps the
expected one. ``--markdown`` prints what went wrong as a table.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias.align import Aligner, Pair, StatisticalAligner  # noqa: E402 - the paths above come first
from mtbias.corpora import entity_place as locate  # noqa: E402
from mtbias.errors import DataError  # noqa: E402
from mtbias.evaluation.gender_calls import GenderMeasure  # noqa: E402
from mtbias.files.reading import Record, integer, read_table  # noqa: E402
from mtbias.morphology import Analyser  # noqa: E402
from mtbias.plugin import Language  # noqa: E402
from mtbias.settings import EvidenceReader  # noqa: E402
from mtbias.types import Gender, GenderCall, Span  # noqa: E402
from scripts.labelled import each_language, evidence_of, shipped_language, stanza_of  # noqa: E402

UNUSUAL_DEV = 25
COLUMNS = (
    "id",
    "source",
    "entity_index",
    "entity",
    "target",
    "head_index",
    "gender",
    "category",
    "note",
)
CATEGORIES = frozenset(
    (
        *(
            "oblique",
            "syncretic",
            "common+article",
            "common-silent",
            "fixed",
            "construct",
            "compound",
            "prefixed",
        ),
        *(
            "elided",
            "two-people",
            "repeated",
            "plural",
            "foreign",
            "omitted",
            "verb",
            "adjective",
            "generic",
            "plain",
        ),
        *("title", "inclusive", "thing"),
    )
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One test sentence with the call that is right."""

    id: str
    line: int
    source: str
    head: Span
    """Characters of `source` that are the entity's head word."""
    entity: str
    target: str
    target_head: Span | None
    """Token of `target` that renders the entity; None where it is omitted."""
    gender: Gender | None
    """None where no call is right."""
    category: str
    note: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """A sentence with the call on it."""

    sentence: Sentence
    call: GenderCall

    @property
    def right(self) -> bool:
        """The call is the expected gender, or none where none is expected."""
        return self.call.gender is self.sentence.gender

    @property
    def head_right(self) -> bool:
        """The head that was found overlaps the expected one; nothing is found where nothing renders
        the entity.
        """
        wanted, found = self.sentence.target_head, self.call.target[:1]
        if wanted is None:
            return not found
        return bool(found) and found[0].overlaps(wanted)


def challenge_files(*, independent: bool = False) -> dict[str, Path]:
    """The file of every language that has one, by code."""
    if independent:
        return {path.stem: path for path in sorted((ROOT / "tests" / "independent").glob("*.tsv"))}
    return {path.stem: path for path in sorted((ROOT / "tests" / "challenge").glob("*.tsv"))}


def unusual_files() -> dict[str, Path]:
    """The file of unusual professions of every language that has one, by code."""
    return {path.stem: path for path in sorted((ROOT / "tests" / "unusual").glob("*.tsv"))}


def unusual_parts(sentences: Sequence[Sentence]) -> Mapping[str, Sequence[Sentence]]:
    """The first 25 sentences of a file of ``tests/unusual`` (``dev``) and the rest
    (``held-out``).
    """
    return {"dev": sentences[:UNUSUAL_DEV], "held-out": sentences[UNUSUAL_DEV:]}


def read_challenge(path: Path) -> tuple[Sentence, ...]:
    """The sentences of one file, in order.

    Raises:
        DataError: a column is missing, an index is out of range, the entity does not stand at its
            index, a gender or a category is unknown, an id occurs twice.
    """
    table = read_table(path)
    table.require(*COLUMNS)
    sentences = tuple(_sentence(record, path) for record in table.records)
    first: dict[str, int] = {}
    for sentence in sentences:
        if first.setdefault(sentence.id, sentence.line) != sentence.line:
            raise DataError(
                f"id {sentence.id!r} stands in line {first[sentence.id]} already",
                path=path,
                line=sentence.line,
            )
    return sentences


def _sentence(record: Record, path: Path) -> Sentence:
    line, source, target = record.line, record.raw("source"), record.raw("target")
    at = integer(record.get("entity_index"), "entity_index", path, line)
    head_at = (
        -1
        if record.get("head_index") == "-1"
        else integer(record.get("head_index"), "head_index", path, line)
    )
    source_spans, target_spans = locate.tokens(source), locate.tokens(target)
    if at >= len(source_spans) or head_at >= len(target_spans):
        raise DataError(
            f"entity_index {at} of {len(source_spans)} tokens, head_index {head_at} of {len(target_spans)}",
            path=path,
            line=line,
        )
    gender, category = record.get("gender"), record.get("category")
    if gender not in {*Gender, "none"}:
        raise DataError(
            f"expected {', '.join(Gender)} or none; got {gender!r}", path=path, line=line
        )
    if category not in CATEGORIES:
        raise DataError(
            f"expected one of {', '.join(sorted(CATEGORIES))}; got {category!r}",
            path=path,
            line=line,
        )
    entity = record.get("entity").lower()
    return Sentence(
        id=record.get("id"),
        line=line,
        source=source,
        head=_head(source, source_spans, at, entity, path, line),
        entity=entity,
        target=target,
        target_head=None if head_at < 0 else target_spans[head_at],
        gender=None if gender == "none" else Gender(gender),
        category=category,
        note=record.get("note"),
    )


def _head(source: str, spans: Sequence[Span], at: int, entity: str, path: Path, line: int) -> Span:
    """Characters of the token at `at`, which must be the entity's last word or an inflected form of
    it (*nurses*).
    """
    found = locate.core(source, spans[at])
    word, head = source[slice(*found)].lower(), entity.rsplit(maxsplit=1)[-1]
    stem = head.removesuffix("y").removesuffix("an")
    if not word.startswith(stem[: max(len(stem), 2)]):
        raise DataError(
            f"entity_index {at} is {word!r}, expected a form of {head!r}", path=path, line=line
        )
    return found


def evaluate(
    sentences: Sequence[Sentence],
    language: Language,
    aligner: Aligner,
    analyser: Analyser,
    evidence: EvidenceReader = "tables",
) -> tuple[Outcome, ...]:
    """The calls on `sentences`, aligned among themselves, in their order."""
    pairs = [Pair(s.id, s.source, s.target, s.head, s.entity) for s in sentences]
    calls = GenderMeasure(language, aligner, analyser, evidence).call_pairs(pairs)
    return tuple(Outcome(s, c) for s, c in zip(sentences, calls, strict=True))


def by_category(outcomes: Sequence[Outcome]) -> Mapping[str, tuple[int, int]]:
    """(right, all) by category, in alphabetical order; `all` under ``""``."""
    counts: dict[str, tuple[int, int]] = {"": (sum(o.right for o in outcomes), len(outcomes))}
    for category in sorted({o.sentence.category for o in outcomes}):
        own = [o.right for o in outcomes if o.sentence.category == category]
        counts[category] = (sum(own), len(own))
    return counts


def table(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Lines of a Markdown table of what went wrong."""
    yield "| id | category | entity | translation | expected | called | at | evidence | note |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for outcome in outcomes:
        if outcome.right and outcome.head_right:
            continue
        s, call = outcome.sentence, outcome.call
        cells = (
            s.id,
            s.category,
            s.entity,
            s.target,
            f"{s.gender or 'none'} at {s.target[slice(*s.target_head)] if s.target_head else '–'}",
            call.gender or call.reason or "",
            s.target[slice(*call.target[0])] if call.target else "–",
            evidence_of(call),
            s.note,
        )
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _report(code: str, outcomes: Sequence[Outcome]) -> str:
    counts = dict(by_category(outcomes))
    right, total = counts.pop("")
    heads = sum(o.head_right for o in outcomes)
    wrong = sum(not o.right and o.call.gender is not None for o in outcomes)
    missed = (
        ", ".join(f"{name} {good}/{n}" for name, (good, n) in counts.items() if good < n)
        or "nothing missed"
    )
    return (
        f"{code}  gender {100 * right / total:5.1f} % ({right}/{total})  "
        f"head {100 * heads / total:5.1f} %  wrong calls {wrong}  missed in: {missed}"
    )


def main(
    *,
    stanza_dir: Path,
    lang: list[str] | None = None,
    independent: bool = False,
    unusual: Literal["dev", "held-out", "all"] | None = None,
    markdown: bool = False,
    evidence: EvidenceReader = "tables",
) -> int:
    """Print one line per language, and with ``--markdown`` the table of what went wrong.

    Parameters
    ----------
    stanza_dir
        Folder of Stanza models.
    lang
        Only these languages.
    independent
        The independent sentences.
    unusual
        The unusual professions, one part or both.
    markdown
        Print what went wrong as Markdown tables.
    evidence
        What tells the gender, as the option of mtbias eval.
    """
    files = unusual_files() if unusual else challenge_files(independent=independent)

    def run(code: str) -> None:
        analyser, sentences = stanza_of(code, stanza_dir), read_challenge(files[code])
        parts = unusual_parts(sentences) if unusual else {"all": sentences}
        outcomes = [
            outcome
            for part, rows in parts.items()
            if unusual in (None, "all", part)
            for outcome in evaluate(
                rows, shipped_language(code), StatisticalAligner(), analyser, evidence
            )
        ]
        print(_report(code, outcomes), flush=True)
        if markdown:
            print("", *table(outcomes), "", sep="\n")

    return each_language(lang, files, run)


if __name__ == "__main__":
    sys.exit(cyclopts.run(main))
