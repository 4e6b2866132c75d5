"""The finding of coreference: whom a system favours, by how much and where, in sentences. Console,
page and JSON all have these texts.

Each sentence follows from a rule of `RULES` and from numbers that the scores have already. What is
compared is declared here for every data set (`CONTRASTS`): two sides, and the number that is their
difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from mtbias.coref.dataset import DatasetScores, NamedNumber, Share, Sides
from mtbias.scoring.finding import Rule
from mtbias.scoring.statements import Statement
from mtbias.stats.results import (
    ALPHA,
    Difference,
    Estimate,
    estimate_text,
    interval_text,
    number_text,
)

if TYPE_CHECKING:
    from mtbias.coref.evaluation import Evaluation, NumberDifference

RULES: Mapping[str, Rule] = {
    # Of a system.
    "favours": Rule(
        "whom the system favours and by how much, in which parts, and where most",
        "always; a side where the interval of the difference, or without one its p, excludes none",
    ),
    "gender_alone": Rule("how often the answer changes with the gender alone", "always"),
    "workers": Rule(
        "whether pronouns go to an occupation the more, the more of its workers have their gender",
        "the interval of the correlation excludes {limit:g}",
    ),
    "occupation": Rule(
        "the occupations with the widest gap between the two sides, three at most",
        "either side has {limit:g} sentences or more, and the intervals of the shares are apart",
        5,
    ),
    # Of several systems.
    "systems": Rule(
        "how many systems favour whom, and from which difference to which",
        "there are {limit:g} systems or more", 3,
    ),
    "better": Rule(
        "whether the first system is better than the others",
        "their number of quality is compared; better where the corrected p is below 0.05",
    ),
    "bias_differs": Rule("by how much two systems' differences differ", "corrected p below 0.05"),
}  # fmt: skip
"""By the name of the sentence in JSON, in the order of the sentences."""

_WIDEST = 3


class Side(NamedTuple):
    """One of two kinds of sentences."""

    key: str
    """The number that measures a system on them; of BUG the count of right ones."""
    short: str
    """A short name for drawings: ``pro``."""
    sentences: str
    """``sentences that fit the stereotype``."""
    favoured: str
    """Those whom a system favours if it is better on these sentences."""


class Contrast(NamedTuple):
    """Two sides of a data set and their difference."""

    number: str
    """The name of both sides' numbers."""
    first: Side
    second: Side
    difference: str
    """The key of first − second, or of the ratio second / first."""
    says: str = "right in {first} % of {firsts} and in {second} % of {seconds}"
    rule: str = "favours"
    is_ratio: bool = False

    @property
    def equal(self) -> float:
        """The difference of two sides that are alike."""
        return 1.0 if self.is_ratio else 0.0

    def estimates(self, scores: DatasetScores, part: str) -> tuple[Estimate, Estimate] | None:
        """The numbers of both sides in a part; None if it lacks one of them."""
        first, second = (_side(scores, part, side.key) for side in (self.first, self.second))
        return None if first is None or second is None else (first, second)

    def favoured(self, difference: Estimate) -> Side | None:
        """The side that is clearly better; None without a clear difference."""
        if difference.value is None:
            return None
        if difference.interval is not None:
            low, high = difference.interval
            clear = not low <= self.equal <= high
        else:
            clear = difference.p is not None and difference.p < ALPHA
        first_is_better = (difference.value > self.equal) != self.is_ratio
        better = self.first if first_is_better else self.second
        return better if clear else None


def _side(scores: DatasetScores, part: str, key: str) -> Estimate | None:
    """A number of a part; of BUG the share of right rows, from the counts of all rows."""
    named = scores.by_key.get((part, key))
    if named is not None:
        return named.estimate
    counts = scores.counts.get("all", {})
    if part or key not in counts:
        return None
    return Share(int(counts[f"{key}, right"] or 0), int(counts[key] or 0)).estimate


_FITS = "sentences that fit the stereotype"
_BREAKS = "sentences that break it"
_AGAINST = "the opposite of the stereotype"


def _by_gender(first: str, second: str, number: str, difference: str, **more: str) -> Contrast:
    what = more.get("what", "sentences")
    return Contrast(
        number,
        Side(first, "men", f"{what} about men", "men"),
        Side(second, "women", f"{what} about women", "women"),
        difference,
    )


def _by_stereotype(first: str, second: str, number: str, difference: str) -> Contrast:
    return Contrast(
        number,
        Side(first, "pro", _FITS, "the stereotype"),
        Side(second, "anti", _BREAKS, _AGAINST),
        difference,
    )


CONTRASTS: Mapping[str, Sequence[Contrast]] = {
    "winobias": (
        _by_stereotype("link_pro", "link_anti", "link accuracy", "link_difference"),
        _by_stereotype("f1_pro", "f1_anti", "CoNLL F1", "f1_difference")._replace(
            says="CoNLL F1 {first} on {firsts}, {second} on {seconds}", rule="f1"
        ),
    ),
    "winogender": (
        _by_gender("male_accuracy", "female_accuracy", "accuracy", "accuracy_difference"),
    ),
    "gap": (
        _by_gender("f1:masculine", "f1:feminine", "F1", "bias:f1", what="texts")._replace(
            says="F1 {first} on {firsts} and {second} on {seconds}", is_ratio=True
        ),
    ),
    "counter-gap": (
        _by_gender("acc_m", "acc_f", "accuracy", "acc_diff", what="texts"),
        Contrast(
            "inconsistency",
            Side("across", "gender", "pairs that differ in gender", ""),
            Side("within", "name", "pairs that differ in a name of the same gender", ""),
            "delta",
            says="Right for one of the two texts alone are {first} % of {firsts} and {second} % of "
            "{seconds}",
            rule="gender_alone",
        ),
    ),
    "bug": (
        _by_gender("male", "female", "accuracy", "delta_g"),
        _by_stereotype("stereotypical", "anti", "accuracy", "delta_s"),
    ),
    "sowinobias": (_by_stereotype("all:pro", "all:anti", "accuracy", "all:difference"),),
    "conll": (),
}  # fmt: skip
"""The contrasts of each data set; the first is drawn, and also compared by occupation."""

QUALITY: Mapping[str, str] = {
    "winobias": "f1_average",
    "gap": "f1:overall",
    "counter-gap": "accuracy",
    "bug": "accuracy",
    "conll": "f1",
}
"""The number that says which of two systems is better, where a data set has one."""


def parts(scores: DatasetScores, contrast: Contrast) -> list[str]:
    """The parts of the data set that have the contrast, as the drawing and the finding take them:
    all of BUG, not its groups.
    """
    named = [part for part, key in scores.by_key if key == contrast.difference]
    return [part for part in named if contrast.estimates(scores, part) is not None]


def system_finding(dataset: str, scores: DatasetScores) -> Iterator[Statement]:
    """The sentences of one system on one data set, in the order of `RULES`."""
    contrasts = CONTRASTS[dataset]
    for contrast in contrasts:
        if contrast.rule in RULES:
            yield from _contrast(contrast, scores)
    if dataset == "winogender":
        yield from _winogender(scores)
    if contrasts:
        yield from _occupations(contrasts[0], scores)


def _contrast(contrast: Contrast, scores: DatasetScores) -> Iterator[Statement]:
    """In how many parts a side is favoured, and the widest difference: of the clear ones, if any
    is.
    """
    named = {part: scores[part, contrast.difference] for part in parts(scores, contrast)}
    defined = {part: one for part, one in named.items() if one.value is not None}
    if not defined:
        return
    clear = [part for part, one in defined.items() if contrast.favoured(one)]
    candidates = clear or list(defined)
    widest = max(candidates, key=lambda part: abs((defined[part].value or 0) - contrast.equal))
    comparison = _values(contrast, scores, widest)
    if contrast.rule == "gender_alone":
        yield Statement(contrast.rule, f"{comparison}.")
        return
    sides = [contrast.favoured(one) for one in defined.values()]
    chosen = contrast.favoured(defined[widest])
    is_tested = any(one.interval is not None or one.p is not None for one in defined.values())
    text = "No clear difference" if is_tested else "Not tested"
    if chosen is not None:
        text = f"It favours {chosen.favoured}"
    if len(defined) > 1:
        where = f"{sides.count(chosen)} of {len(defined)}" if chosen else f"any of {len(defined)}"
        most = "most" if chosen else "the widest"
        others = len(clear) - sides.count(chosen) if chosen else 0
        reverse = f" (the reverse in {others})" if others else ""
        text = f"{text} in {where} parts{reverse}, {most} in {widest}"
    elif widest:
        text = f"{text} in {widest}"
    yield Statement("favours", f"{text}: {comparison}.")


def _values(contrast: Contrast, scores: DatasetScores, part: str) -> str:
    """Both sides and their difference."""
    both = contrast.estimates(scores, part)
    assert both is not None  # noqa: S101 - `parts` has only such
    both_sides = contrast.says.format(
        first=_short(both[0].value),
        second=_short(both[1].value),
        firsts=_counted(contrast.first, both[0]),
        seconds=_counted(contrast.second, both[1]),
    )
    difference = scores[part, contrast.difference]
    value, ends = difference.value or 0.0, difference.interval
    if contrast.is_ratio:
        return f"{both_sides}, a ratio (women / men) of {estimate_text(value, ends, 3)}"
    word = "more"
    if value < 0:
        word, value, ends = "fewer", -value, ends and (-ends[1], -ends[0])
    interval = f" {interval_text(ends, 2)}" if ends else ""
    return f"{both_sides}: {_short(value)} points {word}{interval}"


def _short(value: float | None) -> str:
    """Two decimals, none of a whole number."""
    return number_text(value, 2).removesuffix(".00")


def _counted(side: Side, estimate: Estimate) -> str:
    return side.sentences if estimate.n is None else f"{estimate.n:,g} {side.sentences}"


def _winogender(scores: DatasetScores) -> Iterator[Statement]:
    alike, differ = scores["consistency"], scores["male_female_differ"]
    yield Statement(
        "gender_alone",
        f"All three pronouns are resolved alike in {_short(alike.value)} % of {alike.n:,g} "
        f"sentences, he and she differently in {_short(differ.value)} %.",
    )
    r = scores["pearson_bls"]
    if r.interval is not None and not r.interval[0] <= RULES["workers"].limit <= r.interval[1]:
        more = "more" if (r.value or 0) > 0 else "less"
        yield Statement(
            "workers",
            f"The more women work in an occupation, the {more} often she is its word rather than "
            f"he: r {estimate_text(r.value, r.interval, 3)} over {r.n:,g} occupations.",
        )


def _occupations(contrast: Contrast, scores: DatasetScores) -> Iterator[Statement]:
    """The occupations whose sides differ clearly, the widest gaps first."""
    limit = RULES["occupation"].limit
    many = {
        name: both
        for name, both in scores.sides.items()
        if both[0].n >= limit and both[1].n >= limit
    }
    clear = [(name, both) for name, both in many.items() if _apart(both)]
    if not clear:
        return
    widest = sorted(clear, key=lambda one: (-gap_of(one[1]), one[0]))[:_WIDEST]
    verb = "differs" if len(clear) == 1 else "differ"
    shorts = contrast.first.short, contrast.second.short
    examples = []
    for name, both in widest:
        first, second = (
            f"{short} {side.right:,} of {side.n:,}"
            for short, side in zip(shorts, both, strict=True)
        )
        examples.append(f"{name} ({first} right, {second})")
    text = (
        f"{len(clear)} of {len(many)} occupations {verb} clearly, most of all {', '.join(examples)}"
    )
    yield Statement("occupation", f"{text}.")


def gap_of(both: Sides) -> float:
    """How far apart two shares are, in points."""
    first, second = (side.percent or 0.0 for side in both)
    return abs(first - second)


def _apart(both: Sides) -> bool:
    """Whether the intervals of two shares do not overlap."""
    first, second = (side.estimate.interval or (0.0, 100.0) for side in both)
    return first[1] < second[0] or second[1] < first[0]


# --- Several systems ---


def systems_finding(
    dataset: str, evaluations: Sequence[Evaluation], differences: Sequence[NumberDifference]
) -> Iterator[Statement]:
    """The sentences of several systems on one data set: whom they favour, and how the first
    compares with the others. `differences` are the first's from each other.
    """
    scored = [one for one in evaluations if dataset in one.results]
    several = len(scored) >= RULES["systems"].limit
    if several:
        for contrast in CONTRASTS[dataset]:
            if contrast.rule in RULES:
                yield from _range(dataset, contrast, scored)
    of_dataset = [one for one in differences if one.dataset == dataset]
    yield from _quality(dataset, of_dataset)
    if not several:
        yield from _bias_differs(dataset, of_dataset)


def _range(
    dataset: str, contrast: Contrast, evaluations: Sequence[Evaluation]
) -> Iterator[Statement]:
    """How many systems favour whom, and the least and the greatest difference, in the part where
    they lie furthest apart; systems without the number are named.
    """
    scores = {one.name: one.results[dataset].scores for one in evaluations}
    of_part: dict[str, dict[str, NamedNumber]] = {}
    for name, of_system in scores.items():
        for part in parts(of_system, contrast):
            one = of_system.by_key[part, contrast.difference]
            if one.estimate.value is not None:
                of_part.setdefault(part, {})[name] = one

    with_number = set(chain.from_iterable(of_part.values()))
    numbered = [name for name in scores if name in with_number]
    if len(numbered) < RULES["systems"].limit:
        return
    ends = {part: _ends(named) for part, named in of_part.items()}
    widest = max(of_part, key=lambda part: _distance(of_part[part], *ends[part]))
    named, (low, high) = of_part[widest], ends[widest]
    favoured: dict[str, list[Side | None]] = {name: [] for name in numbered}
    for numbers in of_part.values():
        for name, one in numbers.items():
            favoured[name].append(contrast.favoured(one.estimate))
    text = _who(contrast, [*favoured.values()])
    where = f" in {widest}" if len(of_part) > 1 else ""
    least, greatest = (_of_system(name, named[name]) for name in (low, high))
    without = [name for name in scores if name not in numbered]
    left_out = f"; without this number: {', '.join(without)}" if without else ""
    ends_text = f"from {least} to {greatest}{left_out}"
    yield Statement("systems", f"{text}; {named[low].label}{where}: {ends_text}.")


def _ends(named: Mapping[str, NamedNumber]) -> tuple[str, str]:
    """The systems with the least and with the greatest number."""
    ranked = sorted(named, key=lambda name: named[name].estimate.value or 0.0)
    return ranked[0], ranked[-1]


def _distance(named: Mapping[str, NamedNumber], low: str, high: str) -> float:
    return (named[high].estimate.value or 0.0) - (named[low].estimate.value or 0.0)


def _who(contrast: Contrast, favoured: Sequence[Sequence[Side | None]]) -> str:
    """``2 of 4 systems clearly favour men, none women``, given what each favours in each part."""
    n, several = len(favoured), max(map(len, favoured)) > 1
    counts = []
    for side in (contrast.first, contrast.second):
        everywhere = sum(sides.count(side) == len(sides) for sides in favoured)
        somewhere = sum(side in sides for sides in favoured)
        more = f" ({somewhere - everywhere} in some)" if somewhere > everywhere else ""
        counts.append((everywhere, more))
    (first, more), (second, second_more) = counts
    many = f"All {n}" if first == n else f"{first or 'None'} of {n}"
    if contrast.rule == "gender_alone":
        return f"The gender alone clearly changes what {first} of {n} systems answer"
    where = " in every part" if several else ""
    rest = f"{second or 'none'} {contrast.second.favoured}{second_more}"
    verb = "favours" if first == 1 else "favour"
    return f"{many} systems clearly {verb} {contrast.first.favoured}{where}{more}, {rest}"


def _of_system(name: str, one: NamedNumber) -> str:
    text = estimate_text(one.estimate.value, one.estimate.interval, one.decimals)
    return f"{text} ({name})"


def _quality(dataset: str, differences: Sequence[NumberDifference]) -> Iterator[Statement]:
    """Which system is better, by the number that says it; over several parts in how many."""
    key = QUALITY.get(dataset)
    compared = [
        one
        for one in differences
        if one.number.key == key and one.difference.difference is not None
    ]
    by_other: dict[str, list[NumberDifference]] = {}
    for one in compared:
        by_other.setdefault(one.second, []).append(one)
    comparisons = [_against(of_parts) for of_parts in by_other.values()]
    if len(comparisons) == 1:
        yield Statement("better", f"{comparisons[0].text}.")
    elif comparisons:
        others: dict[str, list[str]] = {}
        for against in sorted(comparisons, key=lambda one: one.way.startswith("not")):
            others.setdefault(against.way, []).append(against.other)
        texts = [f"{way} {', '.join(names)}" for way, names in others.items()]
        label = compared[0].number.label
        yield Statement("better", f"{compared[0].first} is {'; '.join(texts)} ({label}).")


class _Against(NamedTuple):
    """How the first system compares with another."""

    other: str
    way: str
    """``better than``; with several parts also their number."""
    text: str


def _against(of_parts: Sequence[NumberDifference]) -> _Against:
    signs = [_sign(one.difference) for one in of_parts]
    better, worse = signs.count(1), signs.count(-1)
    widest = _widest([one for one in of_parts if _sign(one.difference)] or of_parts)
    n = len(of_parts)
    if not better and not worse:
        way = "not clearly better or worse than"
    elif better and worse:
        way = f"better in {better} and worse in {worse} of {n} parts than"
    else:
        where = f" in {better or worse} of {n} parts" if n > 1 else ""
        way = f"{'better' if better else 'worse'}{where} than"
    number = widest.number
    first, second, gap = _values_and_gap(widest)
    where = f", most in {number.part}" if number.part and n > 1 else ""
    tested = "" if widest.difference.p_holm is not None else " (not tested)"
    text = f"{widest.first} is {way} {widest.second}{where}: {number.label}, {first} against "
    return _Against(widest.second, way, f"{text}{second}, a difference of {gap}{tested}")


def _values_and_gap(one: NumberDifference) -> tuple[str, str, str]:
    """The values of both systems, and their difference with its interval, as texts."""
    difference, decimals = one.difference, one.number.decimals
    gap = estimate_text(difference.difference, difference.interval, decimals)
    return number_text(difference.first, decimals), number_text(difference.second, decimals), gap


def _widest(differences: Sequence[NumberDifference]) -> NumberDifference:
    return max(differences, key=lambda one: abs(one.difference.difference or 0.0))


def _sign(difference: Difference) -> int:
    """1 where the first is significantly higher, −1 where it is lower, else 0."""
    if not difference.significant or not difference.difference:
        return 0
    return 1 if difference.difference > 0 else -1


def _bias_differs(dataset: str, differences: Sequence[NumberDifference]) -> Iterator[Statement]:
    """By how much the differences of two systems differ, over several parts where most."""
    for contrast in CONTRASTS[dataset]:
        of_parts = [one for one in differences if one.number.key == contrast.difference]
        clear = [one for one in of_parts if one.difference.significant]
        if contrast.rule not in RULES or not clear:
            continue
        widest = _widest(clear)
        number = widest.number
        first, second, gap = _values_and_gap(widest)
        where = f" in {len(clear)} of {len(of_parts)} parts, most in {number.part}"
        where = where if len(of_parts) > 1 else ""
        label = f"{number.label[0].upper()}{number.label[1:]}"
        yield Statement(
            "bias_differs",
            f"{label}, differs{where}: {first} ({widest.first}) against {second} "
            f"({widest.second}), a difference of {gap}.",
        )
