"""The page of published results: systems by language and corpus, with ranks, intervals, warnings
and signatures.

One HTML file that needs nothing else. No number is computed here: all come from the blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from pathlib import Path
from typing import NamedTuple

from mtbias.errors import DataError, SettingError, escaped
from mtbias.files.reading import read_bytes
from mtbias.files.writing import make_folder, write_atomic
from mtbias.report.page import render_page
from mtbias.report.plots import PERCENT_SCALE, Scale
from mtbias.report.publishing import (
    RESULTS,
    About,
    PublishedDifference,
    PublishedNumber,
    PublishedResult,
    check_apart,
    check_link,
    make_results,
    read_checked,
    read_results,
    write_results,
)
from mtbias.report.report_runs import corpus_name, language_name
from mtbias.scoring.comparison_finding import MenAndWomen, genders_text, ranges_text
from mtbias.scoring.definitions import Best, Unit, decisive
from mtbias.scoring.finding import FEW_FOUND, RECALLS, Share
from mtbias.scoring.ranking import Rank, Relation, distance, ranks, relation
from mtbias.settings import BootstrapSettings
from mtbias.stats.resampling import holm, too_few_resamples
from mtbias.stats.results import ALPHA, estimate_text, number_text, p_text
from mtbias.types import JsonObject, frozen

# Which results are ranked together: a block holds the results of one corpus (by hash), language and
# evaluator. Within a block all tests of one number are a family for Holm's correction.

Identity = tuple[str, str]
"""`PublishedResult.identity`."""
Differences = Mapping[str, PublishedDifference]
"""By number."""


class PairOutcome(NamedTuple):
    """The comparison of two systems in one number, the first minus the second."""

    relation: Relation
    difference: PublishedDifference | None = None
    """None where nothing was tested."""
    p_holm: float | None = None


class RankedPair(NamedTuple):
    """Two systems of a block."""

    first: PublishedResult
    second: PublishedResult
    outcomes: dict[str, PairOutcome]
    """By the keys of the block's compared numbers."""


@frozen
class Block:
    """Results that are ranked together, the best in `ranked_by` first."""

    results: tuple[PublishedResult, ...]
    pairs: Sequence[RankedPair]
    """All of them."""
    ranks: Mapping[str, Mapping[Identity, Rank]]
    """The rank of each result, by number. A result without the number has none; nor are there any
    for a number without a best value, or in a block of one result."""
    families: Mapping[str, int]
    """By number, how many tests Holm's correction is over."""
    apart: tuple[str, ...] = ()
    """What differs from the language's first block, a phrase each; empty in that one."""

    @property
    def numbers(self) -> tuple[PublishedNumber, ...]:
        """The numbers that are shown, as the first result has them: those in which systems are
        compared first.
        """
        return tuple(_shown_numbers(self.results[0]))

    @property
    def ranked_by(self) -> PublishedNumber | None:
        """The number whose ranks come first; None if systems are compared in none."""
        return _ranked_by(self.numbers)

    def result_of(self, system: str) -> PublishedResult | None:
        """The result of a system, where the block has it."""
        return next((result for result in self.results if result.system == system), None)

    @property
    def over_entities(self) -> bool:
        """Whether some number has an interval over entities."""
        numbers = chain.from_iterable(result.numbers for result in self.results)
        return any(number.interval_entities for number in numbers)

    @property
    def too_few_resamples(self) -> bool:
        """Whether some test cannot be significant, whatever the data."""
        comparisons = chain.from_iterable(result.comparisons for result in self.results)
        fewest = min((comparison.resamples for comparison in comparisons), default=0)
        return too_few_resamples(max(self.families.values(), default=0), fewest)


def make_blocks(results: Sequence[PublishedResult]) -> list[Block]:
    """The blocks, by corpus and language; of one corpus and language the largest first.

    Raises:
        DataError: two results disagree about their comparison.
    """
    places: dict[str, dict[str, list[PublishedResult]]] = {}
    for result in results:
        places.setdefault(result.place, {}).setdefault(result.block, []).append(result)
    blocks = []
    for _, groups in sorted(places.items()):
        ordered = sorted(groups.values(), key=len, reverse=True)
        first = ordered[0][0].evaluator
        for group in ordered:
            differences = _evaluator_differences(group[0].evaluator, first)
            blocks.append(_block(group, tuple(differences)))
    return blocks


def _evaluator_differences(own: JsonObject, first: JsonObject) -> Iterator[str]:
    """A phrase for each property in which an evaluator differs from that of the first block."""
    for key in {**first, **own}:
        here, there = own.get(key, "(absent)"), first.get(key, "(absent)")
        if here != there:
            yield f"{key} {here} here, {there} there"


def _shown_numbers(result: PublishedResult) -> list[PublishedNumber]:
    """The numbers that the page shows, those in which systems are compared first."""
    shown = [number for number in result.numbers if number.shown]
    return sorted(shown, key=lambda number: not number.compared)


def _ranked_by(numbers: Sequence[PublishedNumber]) -> PublishedNumber | None:
    """The number by which systems are listed: the deciding one, or else the first compared one."""
    compared = [number for number in numbers if number.compared]
    return decisive(compared) or next(iter(compared), None)


def _block(group: Sequence[PublishedResult], apart: tuple[str, ...]) -> Block:
    ordered = _best_first(group)
    known = _comparisons(ordered)
    pairs = [RankedPair(a, b, {}) for a, b in combinations(ordered, 2)]
    families = {}
    ranks_of = {}
    for number in group[0].numbers:
        if not number.compared:
            continue
        key = number.key
        values = {result.identity: result.estimate(number).value for result in ordered}
        differences = [known.get((a.identity, b.identity), {}).get(key) for a, b, _ in pairs]
        p_values = [one.p for one in differences if one and one.p is not None]
        families[key] = len(p_values)
        corrected = iter(holm(p_values))  # all tests of a number together
        p_holm = {}
        for (a, b, outcomes), one in zip(pairs, differences, strict=True):
            p = next(corrected) if one and one.p is not None else None
            p_holm[a.identity, b.identity] = p
            known_of_both = relation(number.best, values[a.identity], values[b.identity], p)
            outcomes[key] = PairOutcome(known_of_both, one, p)
        if number.best is not Best.OPEN and len(group) > 1:
            ranks_of[key] = ranks(number.best, values, p_holm)
    return Block(tuple(ordered), pairs, ranks_of, families, apart)


def _best_first(group: Sequence[PublishedResult]) -> list[PublishedResult]:
    """By the distance from the best value of the number in which they are ranked; results in which
    it is undefined come last.
    """
    number = _ranked_by(_shown_numbers(group[0]))

    def place(result: PublishedResult) -> tuple[float, str]:
        value = None if number is None else result.estimate(number).value
        return distance(number.best if number else Best.OPEN, value), result.system

    return sorted(group, key=place)


def _comparisons(
    results: Sequence[PublishedResult],
) -> dict[tuple[Identity, Identity], Differences]:
    """What was tested, for both orders of each pair: each of two results may have it, or both, but
    then the same.
    """
    here = {result.identity: result for result in results}
    known: dict[tuple[Identity, Identity], Differences] = {}
    for result in results:
        for comparison in result.comparisons:
            other = comparison.fingerprint, comparison.calls
            if other not in here:
                continue
            turned = {key: difference.turned() for key, difference in comparison.numbers.items()}
            if known.setdefault((result.identity, other), comparison.numbers) != comparison.numbers:
                systems = f"{result.system} and {here[other].system} in {result.language}"
                raise DataError(
                    f"expected one comparison of {systems}, got two that differ; "
                    "publish both runs together again"
                )
            known.setdefault((other, result.identity), turned)
    return known


TITLE = "Gender bias in machine translation: results"
PAGE = "index.html"
GENERATOR = '<meta name="generator" content="mtbias">'
"""What tells a page of ours, which may be made again, from one of others."""


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
    """Check finished runs, write their numbers into `out`/results.jsonl, and make the page of all
    results there.

    A result of the same run is replaced, but keeps its link, note, licence and tests unless new
    ones are given. Without runs only the page is made again. `names` and `links` are empty or have
    one for each run; `note` and `licence` apply to all. Returns the results of `runs`, in their
    order.

    Raises:
        SettingError: `out` is not a folder; a note or licence without runs; not as many links as
            runs, or one that is not an address.
        DataError: as `read_checked`, `make_results`, `read_results` and `make_blocks`.
        RunFolderError: a run is not complete; a file cannot be written.
    """
    if out.exists() and not out.is_dir():
        raise SettingError("out", f"expected a folder, got the file {out}")
    for name, text in (("note", note), ("licence", licence)):
        if text is not None and not runs:
            raise SettingError(name, "expected the runs that it is about as well; give them again")
    if links and len(links) != len(runs):
        raise SettingError(
            "link", f"expected an address for each of {len(runs)} runs, got {len(links)}"
        )
    for link in links:
        try:
            check_link(link)
        except ValueError as error:
            raise SettingError("link", str(error).removeprefix("link: ")) from error
    remarks = [None if text is None else escaped(text) for text in (note, licence)]
    about = [
        About(names[n] if names else None, links[n] if links else None, *remarks)
        for n in range(len(runs))
    ]
    results = make_results(
        [read_checked(path) for path in runs],
        about,
        n_resamples=bootstrap.resamples,
        seed=bootstrap.seed,
    )
    file, new = out / RESULTS, {result.fingerprint for result in results}
    there = read_results(file) if file.exists() or not runs else []
    known = {result.identity: result for result in there}
    results = [_with_known(result, known.get(result.identity)) for result in results]
    together = [*(result for result in there if result.fingerprint not in new), *results]
    check_apart(together, file)
    page = render_results(make_blocks(together), title or TITLE)
    make_folder(out)
    if (out / PAGE).exists() and GENERATOR.encode() not in read_bytes(out / PAGE):
        raise SettingError(
            "out",
            f"expected a page of mtbias or none, got another {out / PAGE}; choose another folder",
        )
    if runs:
        write_results(together, file)
    write_atomic(out / PAGE, page.encode(), own=True)
    return results


def _with_known(result: PublishedResult, before: PublishedResult | None) -> PublishedResult:
    """A result with what was known of the same run before: remarks, and tests against runs that are
    not given again.
    """
    if before is None:
        return result
    tested = {(one.fingerprint, one.calls) for one in result.comparisons}
    others = (one for one in before.comparisons if (one.fingerprint, one.calls) not in tested)
    return replace(
        result,
        link=result.link or before.link,
        note=result.note or before.note,
        licence=result.licence or before.licence,
        comparisons=(*result.comparisons, *others),
    )


class _Corpus(NamedTuple):
    """A section of the page."""

    name: str
    shown: list[tuple[str, Block]]
    """The blocks with their names on the page."""
    grid: PublishedNumber | None
    """The number in the table of all systems and blocks."""
    files: str

    @property
    def systems(self) -> list[str]:
        results = chain.from_iterable(block.results for _, block in self.shown)
        return sorted({result.system for result in results})


def render_results(blocks: Sequence[Block], title: str = TITLE) -> str:
    """The page, as text to be written in UTF-8; the blocks are those of
    `mtbias.report.results_page.make_blocks`.
    """
    parts = [_corpus(group) for group in _by_corpus(blocks)]
    headings = [part.name for part in parts]
    sections: dict[str, tuple[str, object]] = {}
    for n, part in enumerate(parts, start=1):
        several = f" (files {part.files})" if headings.count(part.name) > 1 else ""
        sections[f"corpus-{n}"] = (f"{part.name}{several}", part)
    shown = chain.from_iterable(block.numbers for block in blocks)
    sections["how"] = ("How to read it", {number.key: number for number in shown}.values())
    results = [*chain.from_iterable(block.results for block in blocks)]
    numbers = chain.from_iterable(result.numbers for result in results)
    drawn = [number for number in numbers if number.shown and number.unit is not Unit.OWN]
    return render_page(
        "results.html",
        data={},
        title=title,
        intro=_intro(results),
        sections=sections,
        axis=Scale.around(((n.value, n.interval) for n in drawn), 100),
        lead=_lead,
        recalls=lambda result: [result.number(key) for key in ("recall_male", "recall_female")],
        shares_of=recalls,
        percent=PERCENT_SCALE,
        said=block_text,
        rank=rank_text,
        caution=caution_text,
        outcome_text=outcome_text,
        alpha=ALPHA,
    )


def _by_corpus(blocks: Sequence[Block]) -> list[list[Block]]:
    """The blocks of each corpus, the corpus with most results first."""
    by_corpus: dict[object, list[Block]] = {}
    for block in blocks:
        corpus = block.results[0].corpus
        by_corpus.setdefault((corpus.name, frozenset(corpus.files.items())), []).append(block)

    def n_results(group: Sequence[Block]) -> int:
        return sum(len(block.results) for block in group)

    return sorted(by_corpus.values(), key=n_results, reverse=True)


def _intro(results: Sequence[PublishedResult]) -> str:
    """``12 results of 4 systems in 3 languages · mtbias 0.1.0``."""
    systems = len({result.system for result in results})
    languages = len({result.language for result in results})
    releases = ", ".join(sorted({result.mtbias for result in results}))
    size = f"{len(results):,} results of {systems:,} systems"
    return f"{size} in {languages:,} language{'s' * (languages != 1)} · mtbias {releases}"


def _lead(part: _Corpus) -> str:
    """What all systems of a corpus show of men and women; empty of one block, which says it."""
    if len(part.shown) == 1:
        return ""
    return genders_text(
        list(chain.from_iterable(recalls(block.results) for _, block in part.shown))
    )


def _corpus(blocks: Sequence[Block]) -> _Corpus:
    shown: list[tuple[str, Block]] = []
    for block in blocks:
        name = language_name(block.results[0].language)
        before = sum(other.results[0].language == block.results[0].language for _, other in shown)
        shown.append((f"{name}, block {before + 1}" if before else name, block))
    corpus = blocks[0].results[0].corpus
    name = corpus_name(corpus.name)
    grid = blocks[0].ranked_by if len(shown) > 1 else None
    return _Corpus(name, shown, grid, ", ".join(digest[:8] for digest in corpus.files.values()))


def block_text(block: Block) -> str:
    """For how many men and women the systems are right, which system is best in the deciding
    number, which are tied with it, and the range of the other numbers.
    """
    compared = [number for number in block.numbers if number.compared] or [*block.numbers]
    first = decisive(compared)
    shares = recalls(block.results)
    texts = [_finds(shares)] if shares else []
    if first is not None:
        best = _best_text(block, first)
        texts.append(best.removeprefix(f"{block.results[0].system}: ") if shares else best)
    else:
        texts.append(f"{len(block.results)} systems")
    # Men and women say what ΔG does, in words.
    covered = {"delta_g"} if shares else set()
    texts += [
        _range_text(other, block.results)
        for other in compared
        if other is not first and other.key not in covered
    ]
    return f"{'; '.join(text for text in texts if text)}."


def recalls(results: Sequence[PublishedResult]) -> list[MenAndWomen]:
    """The shares of men and of women that are found, of the results that have both."""
    shares = []
    for result in results:
        both = [result.number(key) for key in ("recall_male", "recall_female")]
        men, women = (
            _share(number, name) for number, name in zip(both, ("men", "women"), strict=True)
        )
        if men is not None and women is not None:
            shares.append(MenAndWomen(result.language, result.system, men, women))
    return shares


def _share(number: PublishedNumber | None, name: str) -> Share | None:
    """The rows of a published recall; None where it has none."""
    rows = min(number.rows.values(), default=0) if number else 0
    if number is None or number.value is None or not rows:
        return None
    return Share(round(number.value * rows / 100), rows, name)


def _finds(shares: Sequence[MenAndWomen]) -> str:
    """``Right for women from 12 % (bing) to 57 % (nllb), men from …``."""
    if len(shares) > 1:
        return f"Right for {ranges_text(shares)}"
    (one,) = shares
    men, women = one.men.percent, one.women.percent
    return f"{one.system} is right for {men:.0f} % of the men and {women:.0f} % of the women"


def _best_text(block: Block, number: PublishedNumber) -> str:
    """The best system in a number, and the systems that are tied with it."""
    best = block.results[0]
    of_best = best.number(number.key) or number
    value = estimate_text(of_best.value, of_best.interval, of_best.decimals)
    text = f"{number.label.lower()} {value}"
    if len(block.results) == 1:
        return f"{best.system}: {text}"
    ranks = block.ranks.get(number.key, {})
    tied = [r.system for r in block.results[1:] if (own := ranks.get(r.identity)) and own.low == 1]
    text = f"{best.system} is the best of {len(block.results)}, {text}"
    return text + (f" (rank not told apart from {', '.join(tied)})" if tied else "")


def _range_text(number: PublishedNumber, results: Sequence[PublishedResult]) -> str:
    """``ΔS from 19.8 (llama) to 36.5 (gpt)``; empty where no result has the number."""
    named = [
        (n.value, r.system) for r in results if (n := r.number(number.key)) and n.value is not None
    ]
    if not named:
        return ""
    (low, lowest), (high, highest) = min(named), max(named)
    low_text, high_text = (number_text(end, number.decimals) for end in (low, high))
    if low_text == high_text:
        return f"{number.label} {low_text}"
    return f"{number.label} from {low_text} ({lowest}) to {high_text} ({highest})"


def caution_text(result: PublishedResult) -> str:
    """Why its ΔS means little (`mtbias.scoring.finding.FEW_FOUND`); empty where it finds enough men
    and women.
    """
    recalls = (
        (name, result.number(f"recall_{key}"))
        for key, name in (("male", "men"), ("female", "women"))
    )
    least, limit = RECALLS.limit, FEW_FOUND.limit
    few = [
        f"{number_text(n.value)} % of the {name}"
        for name, n in recalls
        if n and n.value is not None and n.value < limit and min(n.rows.values()) >= least
    ]
    return f"means little: finds {' and '.join(few)}" if few else ""


def rank_text(block: Block, result: PublishedResult, key: str) -> str:
    """``1–2, 1 not tested``: with how many it is not ordered, and why; empty where systems are not
    ranked.
    """
    rank = block.ranks.get(key, {}).get(result.identity)
    return "" if rank is None else rank.text


def outcome_text(outcome: PairOutcome, decimals: int) -> str:
    """``5.9 [4.9, 7.0], p 0.004: A better``: the difference with its interval, corrected p, and
    which system is better.
    """
    relation, difference = outcome.relation, outcome.difference
    if relation is Relation.NOT_TESTED or difference is None:
        return str(Relation.NOT_TESTED)
    better = {Relation.FIRST: "A better", Relation.SECOND: "B better"}
    value = estimate_text(difference.difference, difference.interval, decimals)
    return f"{value}, p {p_text(outcome.p_holm)}: {better.get(relation, relation)}"
