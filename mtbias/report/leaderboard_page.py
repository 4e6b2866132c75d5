"""The page of published results: systems by language and corpus, with ranks, intervals, warnings and signatures.

One HTML file that needs nothing else. No number is computed here: all stand in the blocks.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from mtbias.errors import UsageError
from mtbias.language.installed import get_language
from mtbias.report.page import render_page
from mtbias.report.ranking import Block, Rank, Relation, Tested
from mtbias.report.result_file import PublishedNumber, PublishedResult
from mtbias.report.tables import estimate_text, p_text
from mtbias.stats.results import ALPHA

TITLE = "Gender bias in machine translation: results"


class _Shown(NamedTuple):
    """A block with its name on the page."""

    label: str
    block: Block


class _Grid(NamedTuple):
    """One number of all systems in all blocks of a corpus."""

    number: PublishedNumber
    rows: list[tuple[str, list[tuple[PublishedNumber, str] | None]]]
    """A system, and its number in each block with its rank in words; None where it has no result."""


class _Corpus(NamedTuple):
    """A section of the page."""

    shown: list[_Shown]
    grids: list[_Grid]
    files: str


def render_leaderboard(blocks: Sequence[Block], title: str = TITLE) -> str:
    """The page, as text to be written in UTF-8; the blocks are those of `mtbias.report.ranking.make_blocks`."""
    by_corpus: dict[str, list[Block]] = {}
    for block in blocks:
        corpus = block.results[0].corpus
        by_corpus.setdefault(json.dumps([corpus.name, dict(corpus.files)], sort_keys=True), []).append(block)
    found = [_corpus(here) for here in by_corpus.values()]
    headings = [part.shown[0].block.results[0].corpus.name for part in found]
    sections: dict[str, tuple[str, object]] = {}
    for n, (heading, part) in enumerate(zip(headings, found, strict=True), start=1):
        several = f" (files {part.files})" if headings.count(heading) > 1 else ""
        sections[f"corpus-{n}"] = (f"{heading}{several}", part)
    numbers = {number.key: number for block in blocks for number in block.numbers}
    sections["how"] = ("How to read it", numbers.values())
    results = [result for block in blocks for result in block.results]
    systems, languages = (len({getattr(result, key) for result in results}) for key in ("system", "language"))
    return render_page(
        "leaderboard.html",
        data={},
        title=title,
        intro=f"{len(results):,} results of {systems:,} systems in {_counted(languages, 'language')}. ",
        sections=sections,
        rank=rank_text,
        tested=tested_text,
        alpha=ALPHA,
    )


def rank_text(block: Block, result: PublishedResult, key: str) -> str:
    """``rank 1–2, 1 not tested``: with how many it is not ordered, and why; empty where systems are not ranked."""
    rank: Rank | None = block.ranks.get(key, {}).get(result.identity)
    if rank is None:
        return ""
    places = f"rank {rank.low}" if rank.low == rank.high else f"rank {rank.low}–{rank.high}"
    unordered = {"not tested": rank.not_tested, "on the other side of the best value": rank.other_side}
    return ", ".join([places, *(f"{n} {why}" for why, n in unordered.items() if n)])


def tested_text(tested: Tested, decimals: int) -> str:
    """``5.9 [4.9, 7.0], p 0.004: A better``: the difference with its interval, corrected p, and what it says."""
    if tested.relation is Relation.NOT_TESTED or tested.found is None:
        return str(Relation.NOT_TESTED)
    said = {Relation.FIRST: "A better", Relation.SECOND: "B better"}.get(tested.relation, str(tested.relation))
    difference = estimate_text(tested.found.difference, tested.found.interval, decimals)
    return f"{difference}, p {p_text(tested.p_holm)}: {said}"


def _corpus(blocks: Sequence[Block]) -> _Corpus:
    shown: list[_Shown] = []
    for block in blocks:
        name = _language(block.results[0].language)
        before = sum(other.block.results[0].language == block.results[0].language for other in shown)
        shown.append(_Shown(f"{name}, block {before + 1}" if before else name, block))
    files = blocks[0].results[0].corpus.files.values()
    numbers = {number.key: number for block in blocks for number in block.numbers if number.compared}
    grids = [_grid(number, shown) for number in numbers.values()] if len(shown) > 1 else []
    return _Corpus(shown, grids, ", ".join(digest[:8] for digest in files))


def _grid(number: PublishedNumber, shown: Sequence[_Shown]) -> _Grid:
    systems = dict.fromkeys(result.system for _, block in shown for result in block.results)
    rows = []
    for system in sorted(systems):
        cells: list[tuple[PublishedNumber, str] | None] = []
        for _, block in shown:
            result = next((each for each in block.results if each.system == system), None)
            found = None if result is None else result.number(number.key)
            cells.append(None if result is None or found is None else (found, rank_text(block, result, number.key)))
        rows.append((system, cells))
    return _Grid(number, rows)


def _language(code: str) -> str:
    """``German (de)``; the code alone where the language is not installed."""
    try:
        return f"{get_language(code).name} ({code})"
    except UsageError:
        return code


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
