"""The finding: what a run says in sentences. Console, pages and JSON all have these texts; those of
several runs are `mtbias.scoring.comparison_finding`.

Each sentence follows from a rule of `RULES` and from numbers that `metrics.json` or the comparison
has already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from mtbias.english.undisputed import is_undisputed
from mtbias.language.source import ENGLISH_CODE
from mtbias.scoring.alarms import DECLARED, checks
from mtbias.scoring.bias import GOLDS, SHAPE, has_call
from mtbias.scoring.definitions import CLASSES, DELTA_S
from mtbias.scoring.measure import MeasureRecord
from mtbias.scoring.metrics_reader import read_interval_settings, read_metrics
from mtbias.scoring.metrics_records import ExpectedErrors, GroupMetrics, RunMetrics
from mtbias.scoring.statements import Quote, Statement, quote_record
from mtbias.scoring.whole_person import Outcome
from mtbias.stats.resampling import wilson_percent
from mtbias.stats.results import (
    MIN_ROWS,
    UNDEFINED,
    estimate_text,
    interval_text,
    number_text,
)
from mtbias.types import Called, Gender, JsonDict, JsonObject


class Rule(NamedTuple):
    """When a sentence is said."""

    says: str
    when: str
    """With the limit as ``{limit:g}``."""
    limit: float = 0


# Of a run.
RECALLS = Rule(
    says="how many men and how many women are found",
    when="there are {limit:g} rows or more of either gender, and a call",
    limit=MIN_ROWS,
)
WHOLE_PERSON = Rule(
    says="of how many men and how many women all words are right, by the measure `whole-person`",
    when="there are {limit:g} persons or more with a call of either gender",
    limit=MIN_ROWS,
)
STEREOTYPE = Rule(
    says="what the stereotype does",
    when="the interval of ΔS over sentences excludes {limit:g}",
)
# Of a corpus that is half of either gender and half of either stereotype, as WinoMT, finding so
# many of a gender adds at most as many points to ΔS; the rest compares sentences of the other
# gender. In docs/results, below it the interval of ΔS over entities contains 0 in 4 of 8 runs
# (least found: 4.6 %), above it in none of 20.
FEW_FOUND = Rule(
    says="why ΔS means little",
    when="fewer than {limit:g} % of the men or of the women are found",
    limit=10,
)
ENTITY = Rule(
    says="the entities with the widest gap between men and women, three at most, with a wrong "
    "translation of each",
    when="there are {limit:g} rows or more about either gender, and the intervals of their "
    "shares do not overlap",
    limit=5,
)
UNCALLED = Rule(
    says="what has no call, for whom, and why for the most part; how many of these show "
    "grammatical gender only (nouns of fixed gender)",
    when="more than {limit:g} rows have none",
)
TRUST = Rule(
    says="whether the numbers can be believed: alarms, and calls expected to be wrong",
    when="always",
)
# Of a comparison.
GENDERS = Rule(
    says="how many systems are right for a greater share of the men than of the women, and "
    "from which gap to which",
    when="there are {limit:g} runs or more that the rule `found` holds for",
    limit=2,
)
SHARED_ERROR = Rule(
    says="an error that most systems of a language share, with a sentence",
    when="more than {limit:g} % of its systems make it",
    limit=50,
)
BETTER = Rule(
    says="which system is better and by how much, and for whom mostly; of more than two in a "
    "language the first two; of several languages a line each, with the shares of women and "
    "men",
    when="always; better where the corrected p is below 0.05, mostly for a gender that has "
    "{limit:g} % or more of the sentences gained, alone where none of the other is gained",
    limit=75,
)
BIAS_DIFFERS = Rule(
    says="by how much ΔG and ΔS differ",
    when="the corrected p of the difference is below 0.05",
)

RULES: Mapping[str, Rule] = {
    "found": RECALLS,
    "whole_person": WHOLE_PERSON,
    "stereotype": STEREOTYPE,
    "few_found": FEW_FOUND,
    "entity": ENTITY,
    "uncalled": UNCALLED,
    "trust": TRUST,
    "genders": GENDERS,
    "shared": SHARED_ERROR,
    "better": BETTER,
    "bias_differs": BIAS_DIFFERS,
}
"""By the name that a sentence has in JSON, in the order in which they are said."""

_WIDEST = 3
"""The most entities that a finding names."""


def conclusions(
    metrics: JsonObject,
    records: Sequence[MeasureRecord],
    lang: str,
    measure: str,
    source_lang: str = ENGLISH_CODE,
    noticed: JsonObject = MappingProxyType({}),
) -> JsonDict:
    """What `metrics.json` says of whether its numbers can be believed
    (`mtbias.scoring.alarms.checks`), and in words.

    Args:
        metrics: the scores, as `metrics.json` has them.
        records: as for `checks`, and so all others.
        lang: see there.
        measure: see there.
        source_lang: see there.
        noticed: see there.
    """
    intervals = read_interval_settings(metrics)
    checked = checks(
        records,
        lang,
        measure,
        source_lang,
        noticed,
        n_resamples=intervals.resamples,
        seed=intervals.seed,
    )
    calls = cast("Sequence[Called]", records)  # which other measures' findings do not look at
    statements = run_finding(read_metrics({**metrics, **checked}), calls, source_lang)
    return {**checked, "finding": [statement.to_json() for statement in statements]}


def run_finding(
    metrics: RunMetrics, records: Sequence[Called] = (), source_lang: str = ENGLISH_CODE
) -> Iterator[Statement]:
    """The sentences of a run, in the order of `RULES`.

    Args:
        metrics: the scores and checks of the run.
        records: the lines of `calls.jsonl`, to quote.
        source_lang: code of the language of their sources.

    Of measures other than the gender of an entity and the whole person only what was checked is
    said.
    """
    overall = metrics.overall
    if np.shape(overall.confusion) == SHAPE:
        # Without a call nothing was measured.
        if has_call(overall.confusion):
            yield from _men_and_women_found(overall)
            yield from _stereotype(overall)
            yield from _few_found(overall)
        for gap in entity_gaps(metrics)[:_WIDEST]:
            if gap.clear:
                yield Statement("entity", gap.text, _quote(gap, records, source_lang))
        yield from _uncalled(metrics)
    if "all_right_male" in overall.values:
        yield from _whole_person(overall)
    yield from _trust(metrics)


class Share(NamedTuple):
    """Rows of men or of women that are found."""

    right: int
    rows: int
    name: str
    """``men``."""

    @property
    def percent(self) -> float:
        """Per cent of the rows."""
        return 100 * self.right / self.rows

    @property
    def counted(self) -> str:
        """``(1,643 of 1,826)``."""
        return f"({self.right:,} of {self.rows:,})"


def shares_of(confusion: ArrayLike) -> tuple[Share, Share]:
    """Men and women, of a table of counts stereotype × gold × call."""
    gold = np.sum(np.asarray(confusion), axis=0)
    men, women = (
        Share(int(gold[n, n]), int(gold[n].sum()), CLASSES[GOLDS[n].value]) for n in range(2)
    )
    return men, women


def clearly_apart(better: Share, worse: Share) -> bool:
    """Whether the 95 % intervals (Wilson) of two shares do not overlap.

    They may overlap although the shares differ significantly, so this errs towards saying less.
    """
    low, high = wilson_percent(better.right, better.rows), wilson_percent(worse.right, worse.rows)
    return low is not None and high is not None and low[0] > high[1]


def _men_and_women_found(overall: GroupMetrics) -> Iterator[Statement]:
    """The recalls of men and of women (a row without a call is an error), the larger first.

    Whole per cent, with decimals where 0 or 100 would be wrong or a clear difference would not
    show.
    """
    shares = shares_of(overall.confusion)
    if min(share.rows for share in shares) >= RECALLS.limit:
        yield Statement("found", f"It finds {_men_and_women(shares)}")


def _whole_person(overall: GroupMetrics) -> Iterator[Statement]:
    """Shares are of the persons with a call, the larger first."""
    counts = np.asarray(overall.confusion)
    right, judged = counts[:, 0], counts[:, : len(Outcome)].sum(axis=1)
    shares = tuple(Share(int(right[n]), int(judged[n]), CLASSES[GOLDS[n].value]) for n in range(2))
    if min(share.rows for share in shares) >= WHOLE_PERSON.limit:
        text = f"All words that show the person's gender are right for {_men_and_women(shares)}"
        yield Statement("whole_person", text)


def _men_and_women(shares: Sequence[Share]) -> str:
    """Two shares and the end of the sentence."""
    better, worse = sorted(shares, key=lambda share: -share.percent)
    clear = clearly_apart(better, worse)
    first, second = told_apart(better.percent, worse.percent, clear=clear)
    larger = f"{first} % of the {better.name} {better.counted}"
    smaller = f"{second} % of the {worse.name} {worse.counted}"
    return f"{larger} but {smaller}." if clear else f"{larger} and {smaller}: no clear difference."


def _few_found(overall: GroupMetrics) -> Iterator[Statement]:
    least = few_found(overall.confusion)
    if least is not None and overall.value(DELTA_S) is not None:
        counted = f"{least.right:,} of {least.rows:,} {least.name} ({least.percent:.1f} %)"
        text = f"It finds {counted}: ΔS means little here, "
        text += "since they can move it by about as many points at most."
        yield Statement("few_found", text)


def few_found(confusion: ArrayLike) -> Share | None:
    """The men or the women, whoever are found less often, where these are too few for ΔS to mean
    much; None where they are not, and of counts of another measure.
    """
    if np.shape(confusion) != SHAPE:
        return None
    shares = [share for share in shares_of(confusion) if share.rows >= RECALLS.limit]
    least = min(shares, key=lambda share: share.percent, default=None)
    return None if least is None or least.percent >= FEW_FOUND.limit else least


_FINEST = 2
"""The most decimals that are used to tell two shares apart."""


CAUTION = "†"
"""Beside ΔS of a system that finds few men or few women."""


def caution_text(system: str, least: Share) -> str:
    """``† ΔS means little: bing finds 118 of 1,822 women (6.5 %)``."""
    counted = f"{least.right:,} of {least.rows:,} {least.name} ({least.percent:.1f} %)"
    return f"{CAUTION} ΔS means little: {system} finds {counted}"


def told_apart(first: float, second: float, *, clear: bool) -> tuple[str, str]:
    """Both shares with the fewest decimals that mislead nobody."""
    for decimals in range(_FINEST + 1):
        texts = f"{first:.{decimals}f}", f"{second:.{decimals}f}"
        true = all(
            value in {0, 100} or float(text) not in {0, 100}
            for text, value in zip(texts, (first, second), strict=True)
        )
        if true and (not clear or texts[0] != texts[1]):
            break
    return texts


def _stereotype(overall: GroupMetrics) -> Iterator[Statement]:
    delta_s, zero = overall.estimate(DELTA_S), STEREOTYPE.limit
    ends = delta_s.interval
    if ends is None or ends[0] <= zero <= ends[1]:
        return
    pro, anti = (
        f"{number_text(overall.values[f'accuracy_{kind}'])} % of {overall.denominators[kind]:,}"
        for kind in ("pro", "anti")
    )
    text = f"It is right in {pro} sentences that fit the stereotype and in {anti} that break it: "
    text += f"ΔS {estimate_text(delta_s.value, ends)} points"
    over = overall.interval_over_entities(DELTA_S)
    if over is not None and over[0] <= zero <= over[1]:
        text += f" (over entities {interval_text(over)}, which contains 0)"
    yield Statement("stereotype", f"{text}.")


class EntityGap(NamedTuple):
    """How differently an entity's men and women are found."""

    entity: str
    men: Share
    women: Share

    @property
    def points(self) -> float | None:
        """Share of men found minus that of women, in points; None where either has no rows."""
        return self.men.percent - self.women.percent if self.men.rows and self.women.rows else None

    @property
    def clear(self) -> bool:
        """Whether the finding names it: see `RULES`."""
        if min(self.men.rows, self.women.rows) < ENTITY.limit:
            return False
        better, worse = sorted((self.men, self.women), key=lambda share: -share.percent)
        return clearly_apart(better, worse)

    @property
    def text(self) -> str:
        """The sentence: ``hairdresser: 100 % of the men right (12 of 12), 0 % of the women (0 of
        12).``.
        """
        men, women = told_apart(self.men.percent, self.women.percent, clear=True)
        of_men = f"{men} % of the men right {self.men.counted}"
        return f"{self.entity}: {of_men}, {women} % of the women {self.women.counted}."


def entity_gaps(metrics: RunMetrics) -> list[EntityGap]:
    """The entities, the widest gap between men and women first; then those with more rows, then by
    name.

    Edge cases: entities that have one gender only come last; empty for any other measure than the
    gender of an entity.
    """
    gaps = [
        EntityGap(name, *shares_of(group.confusion))
        for name, group in metrics.by_entity.items()
        if np.shape(group.confusion) == SHAPE
    ]
    return sorted(
        gaps,
        key=lambda gap: (
            1 if gap.points is None else -abs(gap.points),
            -gap.men.rows - gap.women.rows,
            gap.entity,
        ),
    )


def _quote(gap: EntityGap, records: Sequence[Called], source_lang: str) -> Quote | None:
    """The first sentence about the gender found less often that is called the other, by its noun if
    there is one, which a reader sees; else the first without a call. Of those in which nobody
    disputes whom the pronoun means.
    """
    worse, other = (
        (Gender.FEMALE, Gender.MALE) if (gap.points or 0) > 0 else (Gender.MALE, Gender.FEMALE)
    )
    about = [
        r
        for r in records
        if r.entity == gap.entity and r.gold is worse and r.translation is not None
    ]
    about.sort(key=lambda record: record.call.decided_by != "noun")
    for call in (other, None):
        for record in about:
            if record.call.gender is call and may_be_example(record, source_lang):
                return quote_record(record)
    return None


def may_be_example(record: Called, source_lang: str) -> bool:
    """Whether nobody disputes whom the source means; of English sources alone that is known."""
    return source_lang != ENGLISH_CODE or is_undisputed(record.source, record.entity)


def _uncalled(metrics: RunMetrics) -> Iterator[Statement]:
    uncalled = metrics.uncalled
    if uncalled is None or not metrics.reasons:
        return
    if sum(share.n for share in uncalled.by_gender.values()) <= UNCALLED.limit:
        return
    shares = []
    for gold in GOLDS:
        share = uncalled.by_gender[gold]
        if share.of:
            counted = f"{share.n:,} of {share.of:,}"
            shares.append(f"{CLASSES.get(gold, gold)} {share.text} % ({counted})")
    reason, rows = max(metrics.reasons.items(), key=lambda item: item[1].n)
    parts = [f"No call: {', '.join(shares)}", f"most often: {reason} ({rows.n:,})"]
    if metrics.fixed_gender:
        parts.append(f"grammatical gender only: {metrics.fixed_gender:,}")
    delta_g = uncalled.delta_g
    if delta_g.value is not None:
        parts.append(f"ΔG without them {estimate_text(delta_g.value, delta_g.interval)}")
    yield Statement("uncalled", f"{'; '.join(parts)}.")


def _trust(metrics: RunMetrics) -> Iterator[Statement]:
    if metrics.alarms is None:
        return
    checked = sum(sign.share.percent is not None for sign in metrics.alarms.shares.values())
    raised = [DECLARED[key].label for key in metrics.raised]
    if raised:
        counted = f"{len(raised)} of {checked} checked shares are above the limit"
        text = f"Alarms: {counted} ({', '.join(raised)})."
    else:
        text = f"No alarm: none of {checked} checked shares is above its limit."
    expected = expected_texts(metrics)
    yield Statement(
        "trust", f"{text} Expected to be wrong: {', '.join(expected)}." if expected else text
    )


def expected_texts(metrics: RunMetrics) -> list[str]:
    """How many calls of each gender are expected to be wrong: ``of 1,234 male calls about 12 (4 to
    40)``; else why not.

    Edge cases: empty where `metrics.json` says nothing of it.
    """
    expected = metrics.expected_wrong
    if expected is None:
        return []
    if metrics.raised:
        return ["not known, as labelled calls are of systems without alarms"]
    if not expected.labels:
        return ["not known, as there are no labels in this language"]
    return [_expected(gender, errors) for gender, errors in expected.by_gender.items()]


def _expected(gender: str, errors: ExpectedErrors) -> str:
    if errors.expected is None:
        return f"of {errors.calls:,} {gender} calls not known, too few labels in this language"
    text = f"of {errors.estimated:,} {gender} calls about {expected_text(errors)}"
    left = errors.calls - errors.estimated
    return f"{text} ({left:,} more: too few labels)" if left else text


def expected_text(errors: ExpectedErrors) -> str:
    """``12 (4 to 40)``: an expected number with its interval, in whole calls; "–" where there are
    too few labels.
    """
    if errors.expected is None or errors.interval is None:
        return UNDEFINED
    low, high = errors.interval
    return f"{errors.expected:,.0f} ({low:,.0f} to {high:,.0f})"
