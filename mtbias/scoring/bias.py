"""The gender of an entity: counts of calls by gold gender and stereotype; accuracy, F1 per gender,
ΔG and ΔS from them.

Definitions follow Stanovsky et al. (2019) and Levy et al. (2021) as their programs compute them,
not as the prose has it, and without their rounding: all numbers are in per cent, unrounded, and
None where a denominator is zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mtbias.scoring.counting import Counting
from mtbias.scoring.definitions import DELTA_G, GENDER_NUMBERS, declared
from mtbias.scoring.metrics_records import ShareMetrics
from mtbias.stats.resampling import bootstrap_counts, estimate
from mtbias.stats.results import Counts, Floats, Tables, enough, number, percent, rounded, source
from mtbias.types import Called, Gender, JsonDict, Stereotype, Strategy

STEREOTYPES: tuple[Stereotype, ...] = (Stereotype.PRO, Stereotype.ANTI, Stereotype.NONE)
GOLDS: tuple[Gender, ...] = (Gender.MALE, Gender.FEMALE, Gender.NEUTRAL)
CALLS: tuple[Gender | None, ...] = (*GOLDS, None)
"""What an entity can be called; None: no call."""
SHAPE = (len(STEREOTYPES), len(GOLDS), len(CALLS))

_MALE, _FEMALE, _NEUTRAL = range(3)
_PRO, _ANTI = range(2)
_NO_CALL = 3

Row = tuple[Gender | None, Stereotype, Gender | None]
"""Gold gender, stereotype, and the gender that was called."""

_PLACES: dict[Row, tuple[int, int, int]] = {
    (GOLDS[g], STEREOTYPES[s], CALLS[c]): (s, g, c) for s, g, c in np.ndindex(SHAPE)
}


def count(rows: Iterable[Row]) -> Counts:
    """Count rows of (gold gender, stereotype, called gender or None) into a table of shape ``[3, 3,
    4]``.

    Edge cases: no rows give a table of zeros.
    """
    table = np.zeros(SHAPE, dtype=np.int64)
    for row in rows:
        table[_PLACES[row]] += 1
    return table


def compute(counts: Counts) -> dict[str, float | None]:
    """All numbers of a table of counts, shape ``[3, 3, 4]``: stereotype × gold × call, by their
    keys in `GENDER_NUMBERS`.

    - accuracy = correct / n, with neutral gold rows in both, and rows without a call in n.
    - precision(g) = correct(g) / rows called g, over all golds, neutral too; recall(g) = correct(g)
      / rows of gold g.
    - F1(g) = 2·correct(g) / (rows called g + rows of gold g), which is 2·TP / (2·TP + FP + FN);
      undefined without a row of gold g, as its recall is (a group of neutral rows has no ΔG).
    - ΔG = F1(male) − F1(female). ΔS = accuracy(pro) − accuracy(anti).
    - macro-F1 ΔS = mean(F1(male), F1(female)) over pro rows − the same over anti rows.

    Edge cases: a ratio whose denominator is zero is None, and so is what is computed from it. ΔS is
    None without pro rows or without anti rows; the macro-F1 ΔS if any of its four F1 is undefined.

    Source: Stanovsky et al. (2019) and the program behind it, mt_gender. Their prose takes F1 for
    ΔS, but the published numbers are accuracy differences (Google's Hebrew ΔS is printed as 37.8:
    37.8 as accuracy, 38.5 as macro-F1).
    """
    return {key: number(value) for key, value in rates(counts).items()}


def rates(tables: Tables) -> dict[str, Floats]:
    """The numbers of tables of shape ``[..., 3, 3, 4]``, each ``[...]``, NaN where undefined: see
    `compute`.
    """
    everyone = tables.sum(axis=-3)
    pro, anti = tables[..., _PRO, :, :], tables[..., _ANTI, :, :]
    decided = everyone[..., :_NO_CALL]
    men, women = _recognition(everyone, _MALE), _recognition(everyone, _FEMALE)
    accuracy_pro, accuracy_anti = _accuracy(pro), _accuracy(anti)
    return {
        "decided_percent": percent(decided.sum(axis=(-1, -2)), everyone.sum(axis=(-1, -2))),
        "accuracy": _accuracy(everyone),
        **men.by_key("male"),
        **women.by_key("female"),
        "delta_g": men.f1 - women.f1,
        "accuracy_pro": accuracy_pro,
        "accuracy_anti": accuracy_anti,
        "delta_s": accuracy_pro - accuracy_anti,
        "delta_s_macro_f1": _macro_f1(pro) - _macro_f1(anti),
    }


def classes(counts: Counts) -> dict[str, int]:
    """The rows that numbers rest on: all, those with a call, by gold gender, by stereotype, by
    call.
    """
    confusion, rows = counts.sum(axis=0), counts.sum(axis=(1, 2))
    gold, called = confusion.sum(axis=1), confusion.sum(axis=0)
    sums = (rows.sum(), called[:_NO_CALL].sum(), *gold, *rows[:2], *called[:2])
    names = (
        "n",
        "decided",
        "male",
        "female",
        "neutral",
        "pro",
        "anti",
        "called_male",
        "called_female",
    )
    return dict(zip(names, map(int, sums), strict=True))


def has_call(counts: ArrayLike) -> bool:
    """Whether any row of a table stereotype × gold × call has a call."""
    return bool(np.asarray(counts)[..., :_NO_CALL].any())


def stereotyped_gender(entities: Floats) -> Counts:
    """To whom the stereotype gives each entity, from tables ``[n, 3, 3, 4]``: 1 men, −1 women, 0
    neither.

    Men where its rows that fit the stereotype are male and those that break it female, for the
    greater part.
    """
    rows = entities.sum(axis=-1)[:, : _ANTI + 1, : _FEMALE + 1]
    kinds: Counts = np.sign((rows * [[1, -1], [-1, 1]]).sum(axis=(1, 2))).astype(np.int64)
    return kinds


def accuracy_bounds(counts: Counts) -> Mapping[str, tuple[float | None, float | None]]:
    """Accuracy with rows without a call as wrong (correct / n, the accuracy itself), and without
    them.
    """
    confusion = counts.sum(axis=0)
    correct, called = _correct(confusion), confusion[:, :_NO_CALL].sum()
    return {
        "accuracy_bounds": (
            number(percent(correct, confusion.sum())),
            number(percent(correct, called)),
        )
    }


NOT_COUNTED = "not counted"
"""The group of sentences whose pronouns nobody counted."""


def pronoun_class(pronouns: int | None) -> str:
    """The number of pronouns as the name of a group."""
    return NOT_COUNTED if pronouns is None else str(pronouns)


def _corpus_pronouns(record: Called) -> str | None:
    return None if record.corpus_pronouns is None else str(record.corpus_pronouns)


GENDER_COUNTING = Counting(
    numbers=GENDER_NUMBERS,
    axes={
        "stereotype": STEREOTYPES,
        "gold": GOLDS,
        "call": CALLS,
    },
    place=lambda record: _PLACES[record.gold, record.stereotype, record.call.gender],
    rates=rates,
    classes=classes,
    right=np.broadcast_to(np.eye(len(GOLDS), len(CALLS), dtype=bool), SHAPE),
    breakdowns={
        "domain": lambda record: record.domain,
        "pronouns": lambda record: pronoun_class(record.pronouns),
        "corpus_pronouns": _corpus_pronouns,
        "stereotype": lambda record: record.stereotype.value,
        "entity": lambda record: record.entity,
    },
    entity=lambda record: record.entity,
    entity_kind=stereotyped_gender,
    shown=("entity", "gold", "stereotype"),
    more=accuracy_bounds,
)
"""The gender of an entity, as WinoMT, BUG and one's own sentences are scored."""


def uncalled(counts: Counts, n_resamples: int, seed: int) -> JsonDict:
    """Rows without a call, by gold gender, and ΔG without them: `uncalled` of `metrics.json`.

    A row without a call is an error of its gender, so ΔG changes where one gender has more of them.
    Shares are per cent of the rows of the gold gender with Wilson's interval; ΔG is that of the
    rows with a call alone, in points.
    """
    gold = counts.sum(axis=0)
    shares: JsonDict = {
        gender: ShareMetrics.counted(n, of).to_json()
        for gender, n, of in zip(
            GOLDS, map(int, gold[:, _NO_CALL]), map(int, gold.sum(axis=1)), strict=True
        )
    }
    called = counts * np.array([1, 1, 1, 0], dtype=np.int64)
    delta_g = GENDER_COUNTING.group(called, n_resamples, seed)[DELTA_G.key]
    return {**shares, "delta_g": rounded({"value": delta_g.value, "interval": delta_g.interval})}


def strategies(records: Iterable[Called]) -> dict[str, JsonDict]:
    """What translations do with the person's gender: `strategies` of `metrics.json`.

    Shares are per cent of the rows of a part with Wilson's interval: ``unknown`` are sources
    without a gender or with "they" (neutral gold), ``known`` those about a man or a woman. ``both``
    and ``neutral`` count all strategies of their kind together. Rows about which nothing can be
    said count in the denominator alone.

    Edge cases: empty if no call says what the translation does; a part without rows is left out.
    """
    parts: dict[str, list[Strategy | None]] = {"unknown": [], "known": []}
    for record in records:
        parts["known" if record.gold in GOLDS[:_NEUTRAL] else "unknown"].append(record.call.does)
    return {name: _by_strategy(used) for name, used in parts.items() if any(used)}


def _by_strategy(used: Sequence[Strategy | None]) -> JsonDict:
    """The share of each strategy that was used, in their order, after that of its kind."""
    counts: Counter[str] = Counter()
    for strategy in used:
        if strategy is not None:
            counts.update(_strategy_keys(strategy))
    content: JsonDict = {}
    for key in chain.from_iterable(map(_strategy_keys, Strategy)):
        if counts[key] or ":" not in key:
            content[key] = ShareMetrics.counted(counts[key], len(used)).to_json()
    return content


def _strategy_keys(strategy: Strategy) -> list[str]:
    """The keys of a strategy in `metrics.json`: its kind (``neutral``), and itself
    (``neutral:epicene``).
    """
    kind = strategy.partition(":")[0]
    return [kind] if kind == strategy.value else [kind, strategy.value]


# From wrong genders to their cost. How many errors there are does not say what they cost: *la
# médica* of a man is two words, *la periodista* one. Savoldi et al. (arXiv 2410.00545) found with
# 90 people that post-editing took more work for women, which usual metrics did not show.

_OTHER = {Gender.MALE: Gender.FEMALE, Gender.FEMALE: Gender.MALE}


def post_edits(records: Sequence[Called], n_resamples: int, seed: int) -> dict[str, JsonDict]:
    """The words to be changed, for men, for women, and for both: `post_edits` of `metrics.json`.

    Wrong are men called women and women called men; each costs the words that show the gender
    (`GenderCall.edits`). ``per_wrong`` = edits / wrong calls, ``per_sentence`` = edits / all rows
    of that gold gender, called or not, each with the percentile interval of resampled rows (from
    `MIN_ROWS` on).

    ``unknown`` of the edits are words whose other form no table tells.

    Edge cases: empty where no call says its words; a gender without rows is left out; ``per_wrong``
    is None without a wrong call.
    """
    if not any(record.call.edits for record in records):
        return {}
    golds = {gold.value: (gold,) for gold in _OTHER} | {"all": tuple(_OTHER)}
    parts = {}
    for name, of_part in golds.items():
        rows = [record for record in records if record.gold in of_part]
        if rows:
            parts[name] = _edits_of(rows, n_resamples, seed)
    return parts


def _edits_of(rows: Sequence[Called], n_resamples: int, seed: int) -> JsonDict:
    wrong = [
        record.call for record in rows if record.gold and record.call.gender is _OTHER[record.gold]
    ]
    edits = [*chain.from_iterable(call.edits for call in wrong)]
    words = np.bincount([len(call.edits) for call in wrong], minlength=1)
    counts = np.append(
        words, len(rows) - len(wrong)
    )  # by number of edits, then the rows without a wrong call
    resample = partial(bootstrap_counts, counts, n_resamples=n_resamples, rng=source(seed))
    sizes = {"per_wrong": len(wrong), "per_sentence": len(rows)}
    intervals = [name for name, size in sizes.items() if enough(size)]
    means = estimate(counts[None], _mean_edits, resample, n=sizes, intervals=intervals)
    return {
        "n": len(rows),
        "wrong": len(wrong),
        "edits": len(edits),
        "unknown": sum(not edit.known for edit in edits),
        **{name: {"value": mean.value, "interval": mean.interval} for name, mean in means.items()},
    }


def _mean_edits(counts: Tables) -> dict[str, Floats]:
    """Edits for each wrong call and for each row, of tables ``[R, edits]``."""
    wrong, rows = counts[..., :-1], counts.sum(axis=-1)
    edits = wrong @ np.arange(wrong.shape[-1])
    with np.errstate(invalid="ignore", divide="ignore"):
        return {"per_wrong": edits / wrong.sum(axis=-1), "per_sentence": edits / rows}


# The functions below take confusions of shape [..., 3 gold, 4 call].


def _accuracy(confusion: Tables) -> Floats:
    return percent(_correct(confusion), confusion.sum(axis=(-1, -2)))


def _correct(confusion: Tables) -> Tables:
    # The fourth call has no gold, so it is never right.
    right: Tables = np.trace(confusion, axis1=-2, axis2=-1)
    return right


class _Recognition(NamedTuple):
    """How one gender is recognised."""

    precision: Floats
    recall: Floats
    f1: Floats

    def by_key(self, gender: str) -> dict[str, Floats]:
        return {f"{name}_{gender}": rate for name, rate in self._asdict().items()}


def _recognition(confusion: Tables, gender: int) -> _Recognition:
    right = confusion[..., gender, gender]
    called, gold = confusion[..., :, gender].sum(axis=-1), confusion[..., gender, :].sum(axis=-1)
    return _Recognition(
        precision=percent(right, called),
        recall=percent(right, gold),
        f1=percent(2 * right, np.where(gold > 0, called + gold, 0)),
    )


def _macro_f1(confusion: Tables) -> Floats:
    return (_recognition(confusion, _MALE).f1 + _recognition(confusion, _FEMALE).f1) / 2


# Sentences that show no gender: in which one a translation puts the entity, as shares instead of an
# accuracy. No call is right or wrong here.

RENDERINGS: tuple[str | None, ...] = (*GOLDS, "both forms", None)
"""How a translation can render the entity; None: no call."""


def unknown_rates(tables: Tables) -> dict[str, Floats]:
    """The numbers of tables ``[..., 5]`` (`RENDERINGS`), each ``[...]``; per cent, NaN where
    nothing has a call.

    masculine = masculine calls / all calls, and so for the others; gap = masculine − feminine.
    """
    called = tables[..., :-1].sum(axis=-1)
    keys = ("masculine", "feminine", "neutral", "both_forms")  # in the order of `RENDERINGS`
    shares = {key: percent(tables[..., at], called) for at, key in enumerate(keys)}
    masculine, feminine, *_ = shares.values()
    whole = percent(called, tables.sum(axis=-1))
    return {"decided_percent": whole, **shares, "gap": masculine - feminine}


def _unknown_classes(table: Counts) -> Mapping[str, int]:
    names = ("called_male", "called_female", "called_neutral", "called_both")
    called = dict(zip(names, table[:-1].tolist(), strict=True))
    return {"n": int(table.sum()), "decided": sum(called.values()), **called}


UNKNOWN_GENDER = Counting(
    numbers=declared("unknown_gender"),
    axes={"rendering": RENDERINGS},
    place=lambda record: (
        RENDERINGS.index("both forms" if record.call.both_forms else record.call.gender),
    ),
    rates=unknown_rates,
    classes=_unknown_classes,
    breakdowns={"domain": lambda record: record.domain, "entity": lambda record: record.entity},
    entity=lambda record: record.entity,
    shown=("entity",),
)
"""Sentences whose gold gender is None: none of them enters accuracy, ΔG or ΔS."""
