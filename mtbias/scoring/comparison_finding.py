"""What several runs say in sentences: of men and women, of the errors that systems share, and which
system is better.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from numpy.typing import ArrayLike

from mtbias.errors import UsageError
from mtbias.language.source import ENGLISH_CODE, english_name
from mtbias.scoring.bias import GENDER_COUNTING, has_call
from mtbias.scoring.counting import Counting, Group
from mtbias.scoring.definitions import Best, Number, Unit, decisive
from mtbias.scoring.finding import (
    BETTER,
    GENDERS,
    RECALLS,
    SHARED_ERROR,
    Share,
    clearly_apart,
    may_be_example,
    shares_of,
    told_apart,
)
from mtbias.scoring.statements import PERSONS, Statement, quote_record
from mtbias.stats.results import Difference, Interval, estimate_text, number_text
from mtbias.types import Called, Gender

if TYPE_CHECKING:
    from mtbias.scoring.comparable_runs import SystemNumbers, SystemPair


class SystemCalls(NamedTuple):
    """A run of the gender of entities: what its sentences are made of."""

    lang: str
    system: str
    confusion: ArrayLike
    """Counts stereotype × gold × call of all its sentences."""
    calls: Sequence[Called] = ()
    """Its lines of `calls.jsonl`, to quote."""
    source_lang: str = ENGLISH_CODE


class MenAndWomen(NamedTuple):
    """How many men and how many women a system finds."""

    lang: str
    system: str
    men: Share
    women: Share

    @property
    def gap(self) -> float:
        """Share of men minus that of women, in points."""
        return self.men.percent - self.women.percent


def men_and_women(systems: Sequence[SystemCalls]) -> list[MenAndWomen]:
    """Of the systems that have a call, and as many sentences of either as `found` asks."""
    measured = [system for system in systems if has_call(system.confusion)]
    shares = [MenAndWomen(one.lang, one.system, *shares_of(one.confusion)) for one in measured]
    least = RECALLS.limit
    return [each for each in shares if min(each.men.rows, each.women.rows) >= least]


def gender_statements(systems: Sequence[SystemCalls]) -> Iterator[Statement]:
    """What all runs of an entity's gender say together; nothing of a single one."""
    shares = men_and_women(systems)
    text = genders_text(shares)
    if not text:
        return
    yield Statement("genders", text)
    shared = _shared_error(systems, shares)
    if shared is not None:
        yield shared


def genders_text(shares: Sequence[MenAndWomen]) -> str:
    """``All 6 systems are right for a greater share of the men than of the women: from …``; empty
    of a single one.
    """
    if len(shares) < GENDERS.limit:
        return ""
    several = len({each.lang for each in shares}) > 1
    names = {
        each: f"{each.system}, {_language(each.lang)}" if several else each.system
        for each in shares
    }
    ordered = sorted(shares, key=lambda each: each.gap)
    more, fewer = "men", "women"
    if not _men_first(shares):
        more, fewer = fewer, more
        ordered.reverse()
    better = [each for each in shares if (each.gap > 0 if more == "men" else each.gap < 0)]
    unclear = [
        each for each in better if not clearly_apart(getattr(each, more), getattr(each, fewer))
    ]
    ends = ordered[0], ordered[-1]
    low, high = (_both(each) for each in ends)
    text = f"{_how_many(shares, len(better))} right for a greater share of the {more} than of the "
    text += f"{fewer}: from {low} ({names[ends[0]]}) to {high} ({names[ends[1]]})"
    if unclear:
        text += f"; within chance: {'; '.join(names[each] for each in unclear)}"
    return f"{text}."


def _men_first(shares: Sequence[MenAndWomen]) -> bool:
    """Whether as many systems or more find a greater share of the men as of the women."""
    return sum(each.gap > 0 for each in shares) >= sum(each.gap < 0 for each in shares)


def _how_many(shares: Sequence[MenAndWomen], n: int) -> str:
    """``All 6 systems are``, ``None of the 3 runs of …``."""
    systems = len({each.system for each in shares})
    langs = len({each.lang for each in shares})
    what = "systems" if langs == 1 else f"runs ({systems} systems, {langs} languages)"
    if n == len(shares):
        return f"Both {what} are" if n == 2 else f"All {n} {what} are"
    return f"{n} of {len(shares)} {what} {'is' if n == 1 else 'are'}"


def _language(code: str) -> str:
    """``Spanish``; the code where the language is not installed."""
    try:
        return english_name(code)
    except UsageError:
        return code


def _both(each: MenAndWomen) -> str:
    """``90 % of the men and 57 % of the women``, with as many decimals as tell them apart."""
    clear = clearly_apart(*sorted((each.men, each.women), key=lambda share: -share.percent))
    men, women = told_apart(each.men.percent, each.women.percent, clear=clear)
    return f"{men} % of the men and {women} % of the women"


def _shared_error(
    systems: Sequence[SystemCalls], shares: Sequence[MenAndWomen]
) -> Statement | None:
    """The wrong gender that most systems of a language give one sentence, about the gender that
    most systems find less often. Among several such sentences, the one in which a noun decides most
    of these calls, as a reader can see that; then the shortest.
    """
    gold, other = Gender.FEMALE, Gender.MALE
    if not _men_first(shares):
        gold, other = other, gold
    best: tuple[float, ...] = (0, 0, 0, 0)
    chosen: tuple[str, int, int, Called] | None = None
    for lang in dict.fromkeys(system.lang for system in systems):
        peers = [system for system in systems if system.lang == lang and system.calls]
        wrong: dict[str, list[Called]] = {}
        for system in peers:
            for record in system.calls:
                if record.gold is gold and record.call.gender is other:
                    wrong.setdefault(record.id, []).append(record)
        for place, records in enumerate(wrong.values()):
            order = (len(records) / len(peers), _nouns(records), -len(records[0].source), -place)
            if len(peers) > 1 and order > best and may_be_example(records[0], peers[0].source_lang):
                best, chosen = order, (lang, len(records), len(peers), records[0])
    if chosen is None or 100 * best[0] <= SHARED_ERROR.limit:
        return None
    lang, n, of, record = chosen
    where = f"{_language(lang)}: " if len({system.lang for system in systems}) > 1 else ""
    who = f"All {of} systems" if n == of else f"{n} of {of} systems"
    who = "Both systems" if n == of == 2 else who
    quote = quote_record(record)
    person, becomes = PERSONS[gold.value], PERSONS[other.value]
    text = f"{where}{who} make the same error here: "
    text += f"{person}, the {quote.entity}, becomes {becomes}."
    return Statement("shared", text, quote)


def _nouns(records: Sequence[Called]) -> int:
    """On how many of these calls a noun decides."""
    return sum(record.call.decided_by == "noun" for record in records)


def comparison_finding(
    counting: Counting,
    systems: Sequence[SystemNumbers],
    pairs: Sequence[SystemPair],
    calls: Sequence[SystemCalls] = (),
) -> Iterator[Statement]:
    """The sentences of a comparison: first of men and women, then which system is better, and what
    else differs.

    Better is by the measure's `decisive` number; without one no system is. Of more than two
    systems of a language that is said of the first two by that number.

    Args:
        counting: of the measure.
        systems: the numbers of the runs.
        pairs: of two systems of a language.
        calls: the runs, of the gender of an entity.
    """
    yield from gender_statements(calls)
    headline = [number for number in counting.compared if number.headline]
    deciding = decisive(headline)
    of = {(system.lang, system.system): system for system in systems}
    several = len({each.lang for each in pairs}) > 1
    shares = men_and_women(calls)
    for pair in pairs if deciding is None else _first_pairs(systems, pairs, deciding):
        where = f"{_language(pair.lang)}: " if several else ""
        if deciding is not None and pair.plain[deciding.key].difference is not None:
            both = of[pair.lang, pair.first], of[pair.lang, pair.second]
            peers = [each for each in shares if each.lang == pair.lang]
            ranges = f"right for {ranges_text(peers)}; " if several and len(peers) > 1 else ""
            yield Statement(
                "better",
                f"{where}{ranges}{_better_of(pair, deciding, *both, briefly=bool(ranges))}.",
            )
        others = []
        for number in headline:
            difference = pair.plain[number.key]
            if number is not deciding and difference.significant:
                others.append(_difference_text(number, difference))
        if others:
            yield Statement(
                "bias_differs",
                f"{where}{pair.first} and {pair.second} differ: {'; '.join(others)}.",
            )


def ranges_text(shares: Sequence[MenAndWomen]) -> str:
    """``women from 12 % (bing) to 57 % (nllb), men from 83 % (gpt) to 90 % (nllb)``."""
    parts = []
    for name in ("women", "men"):
        ordered = sorted(shares, key=lambda each: getattr(each, name).percent)
        least, most = (
            f"{getattr(each, name).percent:.0f} % ({each.system})"
            for each in (ordered[0], ordered[-1])
        )
        parts.append(f"{name} from {least} to {most}")
    return ", ".join(parts)


def _first_pairs(
    systems: Sequence[SystemNumbers], pairs: Sequence[SystemPair], number: Number
) -> Iterator[SystemPair]:
    """Of each language the two systems that are highest by a number."""
    ranked = sorted(systems, key=lambda system: -(system.plain[number.key].value or 0))
    of = {(pair.lang, frozenset((pair.first, pair.second))): pair for pair in pairs}
    for lang in dict.fromkeys(pair.lang for pair in pairs):
        names = [system.system for system in ranked if system.lang == lang]
        yield of[lang, frozenset(names[:2])]


def _explained(number: Number) -> str:
    """The label; where 0 is best, with what it is: ``ΔG (F1 male minus F1 female)``."""
    if number.best is not Best.ZERO or not number.about:
        return number.label
    about = re.split("[,;.]", number.about)[0]
    if about[1:2].islower():  # not F1
        about = f"{about[:1].lower()}{about[1:]}"
    return f"{number.label} ({about})"


def _difference_text(number: Number, difference: Difference) -> str:
    """``ΔG (F1 male minus F1 female) 3.1 against 9.8, a difference of -6.7 points``."""
    first, second = (
        number_text(value, number.decimals) for value in (difference.first, difference.second)
    )
    points = _points(number, difference.difference, difference.interval)
    return f"{_explained(number)} {first} against {second}, {points}"


def _points(number: Number, difference: float | None, ends: Interval | None) -> str:
    unit = "" if number.unit is Unit.OWN else " points"
    return f"a difference of {estimate_text(difference, ends, number.decimals)}{unit}"


def _better_of(
    pair: SystemPair,
    number: Number,
    first: SystemNumbers,
    second: SystemNumbers,
    *,
    briefly: bool,
) -> str:
    """Which of two systems is better; `briefly`: not for whom."""
    plain = pair.plain[number.key]
    values, difference, ends = (plain.first, plain.second), plain.difference or 0.0, plain.interval
    if difference < 0:
        first, second, values, difference = second, first, (plain.second, plain.first), -difference
        ends = ends and (-ends[1], -ends[0])
    high, low = (number_text(value, number.decimals) for value in values)
    unit = " %" if number.unit is Unit.PERCENT else ""
    what = f"{number.label.lower()} {high} against {low}{unit}, {_points(number, difference, ends)}"
    names = f"{first.system} and {second.system}"
    if plain.p_holm is None:
        return f"Whether {names} differ was not tested: {what}"
    if not plain.significant:
        return f"Within chance: no clear difference between {names}, {what}"
    for_whom = "" if briefly else _for_whom(first.group, second.group)
    return f"{first.system} is better than {second.system}: {what}{for_whom}"


def _for_whom(better: Group, worse: Group) -> str:
    """Which gender has more of the sentences that the better system is right in; empty for another
    measure.
    """
    if better.counting is not GENDER_COUNTING:
        return ""
    both = zip(shares_of(better.counts), shares_of(worse.counts), strict=True)
    gains = {one: one.right - other.right for one, other in both}
    most = max(gains, key=gains.__getitem__)
    counted = ", ".join(
        f"{one.name} {one.right:,} of {one.rows:,} right against {one.right - gain:,}"
        for one, gain in gains.items()
    )
    if gains[most] <= 0 or 100 * gains[most] < BETTER.limit * sum(gains.values()):
        return f" ({counted})"
    alone = all(gain <= 0 for one, gain in gains.items() if one is not most)
    return (
        f"; for {most.name} alone ({counted})" if alone else f"; mostly for {most.name} ({counted})"
    )
