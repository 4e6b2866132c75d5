"""The page of published results: systems by language and corpus, with ranks, intervals, warnings and signatures.

One HTML file that needs nothing else. No number is computed here: all stand in the blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mtbias.errors import SettingError, UsageError, escaped
from mtbias.files.writing import explained, write_atomic
from mtbias.language.installed import get_language
from mtbias.report.page import render_page
from mtbias.report.publishing import (
    RESULTS,
    About,
    PublishedNumber,
    PublishedResult,
    check_apart,
    check_link,
    make_results,
    read_checked,
    read_results,
    write_results,
)
from mtbias.report.ranking import Block, Rank, Relation, Tested, make_blocks
from mtbias.report.tables import estimate_text, p_text
from mtbias.settings import BootstrapSettings
from mtbias.stats.results import ALPHA

TITLE = "Gender bias in machine translation: results"
PAGE = "index.html"


def publish(
    runs: Sequence[Path],
    out: Path,
    names: Sequence[str] = (),
    links: Sequence[str] = (),
    *,
    note: str | None = None,
    licence: str | None = None,
    title: str | None = None,
    bootstrap: BootstrapSettings = BootstrapSettings(),
) -> list[PublishedResult]:
    """Check finished runs, write their numbers into `out`/results.jsonl, and make the page of all results there.

    A result of the same run is replaced. Without runs the page alone is made again. `names` and `links` are empty or
    one for each run; `note` and `licence` are of all. Returns the results of `runs`, in their order.

    Raises:
        SettingError: `out` is no folder; another number of links than of runs, or one that is no address.
        DataError: as `read_checked`, `make_results`, `read_results` and `make_blocks`.
        RunFolderError: a run is not complete; a file cannot be written.
    """
    if out.exists() and not out.is_dir():
        raise SettingError("out", f"expected a folder, got the file {out}")
    if links and len(links) != len(runs):
        raise SettingError("link", f"expected an address for each of {len(runs)} runs, got {len(links)}")
    for link in links:
        try:
            check_link(link)
        except ValueError as error:
            raise SettingError("link", str(error).removeprefix("link: ")) from error
    remarks = [None if text is None else escaped(text) for text in (note, licence)]
    about = [About(names[n] if names else None, links[n] if links else None, *remarks) for n in range(len(runs))]
    results = make_results(
        [read_checked(path) for path in runs], about, n_resamples=bootstrap.resamples, seed=bootstrap.seed
    )
    file, new = out / RESULTS, {result.fingerprint for result in results}
    there = read_results(file) if file.exists() or not runs else []
    together = [*(result for result in there if result.fingerprint not in new), *results]
    check_apart(together, file)
    page = render_results(make_blocks(together), title or TITLE)
    with explained(out, "make the folder"):
        out.mkdir(parents=True, exist_ok=True)
    if runs:
        write_results(together, file)
    write_atomic(out / PAGE, page.encode())
    return results


class _Corpus(NamedTuple):
    """A section of the page."""

    name: str
    shown: list[tuple[str, Block]]
    """The blocks with their names on the page."""
    numbers: list[PublishedNumber]
    """Those with a table of all systems in all blocks."""
    files: str

    @property
    def systems(self) -> list[str]:
        return sorted({result.system for _, block in self.shown for result in block.results})


def render_results(blocks: Sequence[Block], title: str = TITLE) -> str:
    """The page, as text to be written in UTF-8; the blocks are those of `mtbias.report.ranking.make_blocks`."""
    by_corpus: dict[object, list[Block]] = {}
    for block in blocks:
        corpus = block.results[0].corpus
        by_corpus.setdefault((corpus.name, frozenset(corpus.files.items())), []).append(block)
    parts = [_corpus(here) for here in by_corpus.values()]
    headings = [part.name for part in parts]
    sections: dict[str, tuple[str, object]] = {}
    for n, part in enumerate(parts, start=1):
        several = f" (files {part.files})" if headings.count(part.name) > 1 else ""
        sections[f"corpus-{n}"] = (f"{part.name}{several}", part)
    sections["how"] = ("How to read it", {n.key: n for block in blocks for n in block.numbers}.values())
    results = [result for block in blocks for result in block.results]
    systems, languages = (len({getattr(result, key) for result in results}) for key in ("system", "language"))
    return render_page(
        "results.html",
        data={},
        title=title,
        intro=f"{len(results):,} results of {systems:,} systems in {languages:,} language{'s' * (languages != 1)}. ",
        sections=sections,
        rank=rank_text,
        tested=tested_text,
        alpha=ALPHA,
    )


def _corpus(blocks: Sequence[Block]) -> _Corpus:
    shown: list[tuple[str, Block]] = []
    for block in blocks:
        name = _language(block.results[0].language)
        before = sum(other.results[0].language == block.results[0].language for _, other in shown)
        shown.append((f"{name}, block {before + 1}" if before else name, block))
    corpus = blocks[0].results[0].corpus
    numbers = {n.key: n for block in blocks for n in block.numbers if n.compared} if len(shown) > 1 else {}
    return _Corpus(corpus.name, shown, list(numbers.values()), ", ".join(d[:8] for d in corpus.files.values()))


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
    verdict = {Relation.FIRST: "A better", Relation.SECOND: "B better"}.get(tested.relation, str(tested.relation))
    difference = estimate_text(tested.found.difference, tested.found.interval, decimals)
    return f"{difference}, p {p_text(tested.p_holm)}: {verdict}"


def _language(code: str) -> str:
    """``German (de)``; the code alone where the language is not installed."""
    try:
        return f"{get_language(code).name} ({code})"
    except UsageError:
        return code
