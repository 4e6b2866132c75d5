"""What kinds of evidence a call rests on: where the noun is in the table of nouns for people, and
where not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from importlib import resources

from mtbias.files.reading import commented_rows
from mtbias.reading import STANZA
from mtbias.scoring.metrics_records import ShareMetrics
from mtbias.stats.resampling import interval_of_sum, wilson_percent
from mtbias.stats.results import Interval, enough, rounded
from mtbias.types import Gender, GenderCall, JsonDict, frozen


class EvidenceClass(StrEnum):
    """What a call rests on: the first evidence that says what was called, and whether the table has
    the noun.
    """

    NOUN = "noun in the table"
    """The noun's form, as the language's table of nouns for people has it."""
    GENERIC = "masculine noun in the table, also used of women"
    """Such a noun, with nothing feminine beside it."""
    AGREEMENT = "what agrees with a noun in the table"
    """An article, contraction, title, name, adjective, relative pronoun or verb, where the noun
    itself is silent or yields.
    """
    BOTH = "both forms"
    """The translation names both genders: neutral."""
    ENDING = "ending of a noun outside the table"
    """An ending of nouns for people."""
    TAGGER = "tagger, noun outside the table"
    """The tagger's gender of the noun, at this place or over the corpus."""
    AGREEMENT_OUTSIDE = "what agrees with a noun outside the table"
    """What agrees with a noun that the table does not have."""
    FEATURES = "Stanza's Gender features alone"
    """What the second reader goes by (``--evidence stanza``): no table is asked."""


OUTSIDE = (EvidenceClass.ENDING, EvidenceClass.TAGGER, EvidenceClass.AGREEMENT_OUTSIDE)
"""The classes of calls on words that the table does not have."""


def evidence_class(call: GenderCall) -> EvidenceClass | None:
    """The class of a call; None where nothing was called.

    Edge cases: a call without evidence rests on nothing that the table has.
    """
    if call.gender is None:
        return None
    if call.gender is Gender.NEUTRAL:
        return EvidenceClass.BOTH
    first = None if call.decisive is None else call.evidence[call.decisive]
    if first is not None and first.source == STANZA:
        return EvidenceClass.FEATURES
    in_table = any(piece.kind == "noun" and piece.source == "lexicon" for piece in call.evidence)
    if first is None or first.kind != "noun":
        return EvidenceClass.AGREEMENT if in_table else EvidenceClass.AGREEMENT_OUTSIDE
    if in_table:
        generic = first.source == "lexicon" and first.rule == "generic_masculine"
        return EvidenceClass.GENERIC if generic else EvidenceClass.NOUN
    return EvidenceClass.ENDING if first.source == "form" else EvidenceClass.TAGGER


def withheld(call: GenderCall) -> bool:
    """No call because the head is a noun of fixed grammatical gender."""
    rules = {piece.rule for piece in call.evidence}
    return call.gender is None and "fixed_gender_noun" in rules


GENDERS = (Gender.MALE, Gender.FEMALE)
"""Those whose calls are labelled often enough; calls of both forms have no labels."""
WORDS = 20
"""The most words that are named on which the readers differ."""


def both_readers(call: GenderCall) -> bool:
    """Both the tables and Stanza's features call a man or a woman."""
    return call.gender in GENDERS and call.stanza_gender is not None


def reader_agreement(calls: Sequence[tuple[GenderCall, str | None]]) -> JsonDict:
    """`readers` of `metrics.json`: of the men and of the women by the tables how many Stanza's
    features read alike.

    A share is of those that both readers call; ``calls`` are all of the tables. ``words`` are the
    heads on which they differ, in lower case, those with the most calls first.

    Args:
        calls: each with its translation.
    """
    both = [(call, text or "") for call, text in calls if both_readers(call)]
    differing = Counter(
        (
            text[slice(*call.target[0])].lower() if call.target else "",
            call.gender,
            call.stanza_gender,
        )
        for call, text in both
        if call.gender is not call.stanza_gender
    )
    most = sorted(differing.items(), key=lambda item: (-item[1], item[0]))[:WORDS]
    agreement: JsonDict = {}
    for gender in GENDERS:
        alike = [call.stanza_gender is gender for call, _ in both if call.gender is gender]
        own = sum(call.gender is gender for call, _ in calls)
        agreement[gender] = {"calls": own, **ShareMetrics.counted(sum(alike), len(alike)).to_json()}
    words = [
        {"form": form, "tables": first, "stanza": second, "n": n}
        for (form, first, second), n in most
    ]
    return {**agreement, "words": words}


TABLE = "expected_wrong.tsv"


@frozen
class ErrorRate:
    """Labelled calls of one class of evidence and one gender, and how many of them are wrong."""

    labels: int
    wrong: int

    def expected(self, calls: int) -> tuple[float, Interval] | None:
        """How many of so many calls are expected to be wrong, with the ends that Wilson's interval
        of the rate gives.

        Edge cases: None where fewer than `MIN_ROWS` calls are labelled: no number is better than an
        invented one.
        """
        ends = wilson_percent(self.wrong, self.labels)
        if ends is None or not enough(self.labels):
            return None
        return calls * self.wrong / self.labels, (calls * ends[0] / 100, calls * ends[1] / 100)


Rates = Mapping[tuple[EvidenceClass, Gender], ErrorRate]


@cache
def shipped_rates(lang: str) -> Rates:
    """The rates of a language that ship with mtbias; empty where no call in it is labelled."""
    text = resources.files("mtbias.scoring").joinpath("data", TABLE).read_text(encoding="utf-8")
    return {
        (EvidenceClass(row["class"]), Gender(row["gender"])): ErrorRate(
            int(row["labels"]), int(row["wrong"])
        )
        for row in commented_rows(text)
        if row["lang"] == lang
    }


def count_classes(calls: Iterable[GenderCall]) -> Counter[tuple[EvidenceClass, Gender]]:
    """Calls by class of evidence and gender."""
    classes = ((evidence_class(call), call.gender) for call in calls)
    return Counter(
        (kind, gender) for kind, gender in classes if kind is not None and gender is not None
    )


def sum_expected(parts: Sequence[tuple[float, Interval]], calls: int) -> tuple[float, Interval]:
    """The sum of expected numbers Σ n·p and its interval (`interval_of_sum`), within 0 and
    `calls`.
    """
    low, high = interval_of_sum(parts)
    return sum(e for e, _ in parts), (max(0.0, low), min(float(calls), high))


def expected_wrong(counts: Mapping[tuple[EvidenceClass, Gender], int], rates: Rates) -> JsonDict:
    """`expected_wrong` of `metrics.json`: numbers of calls, of both genders apart and by class of
    evidence.

    Calls of a class with too few labels are in ``calls`` but not in ``estimated``: the expected
    number is of those.

    Args:
        counts: the calls of a run.
        rates: of the run's language; empty where its calls are not as those that are labelled, so
            nothing is expected.
    """
    by_class: dict[str, JsonDict] = {}
    totals: dict[str, JsonDict] = {}
    for gender in GENDERS:
        parts, estimated, all_calls = [], 0, 0
        for kind in EvidenceClass:
            calls = counts.get((kind, gender), 0)
            rate = rates.get((kind, gender), ErrorRate(0, 0))
            errors = rate.expected(calls)
            all_calls += calls
            if errors is not None:
                parts.append(errors)
                estimated += calls
            if calls:
                by_class.setdefault(kind, {})[gender] = {
                    "calls": calls, "labels": rate.labels, "wrong": rate.wrong, **_numbers(errors),
                }  # fmt: skip
        total = sum_expected(parts, estimated) if estimated else None
        totals[gender] = {"calls": all_calls, "estimated": estimated, **_numbers(total)}
    labels = sum(rate.labels for rate in rates.values())
    return {
        "labels": labels,
        **totals,
        "by_class": {kind: by_class[kind] for kind in EvidenceClass if kind in by_class},
    }


def _numbers(errors: tuple[float, Interval] | None) -> JsonDict:
    value, ends = (None, None) if errors is None else errors
    return {"expected": rounded(value), "interval": rounded(ends)}
