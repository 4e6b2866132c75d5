"""The finding in sentences. The intervals in the comments are Wilson's, from
`scipy.stats.binomtest`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mtbias.runs.call_records import CallRecord
from mtbias.scoring.bias import count, uncalled
from mtbias.scoring.finding import RULES, conclusions, entity_gaps, expected_texts, run_finding
from mtbias.scoring.metrics_reader import read_metrics
from mtbias.scoring.scores import score
from mtbias.scoring.statements import Statement
from mtbias.types import Gender, GenderCall, Reason, Stereotype

M, F, N = Gender.MALE, Gender.FEMALE, Gender.NEUTRAL
PRO, ANTI, NONE = Stereotype.PRO, Stereotype.ANTI, Stereotype.NONE
DOCS = Path(__file__).resolve().parents[2] / "docs"
Kind = tuple[int, Gender, Gender | None, Stereotype, str]
"""So many rows of this gold gender, with this call, stereotype and entity."""


def records(*kinds: Kind) -> list[CallRecord]:
    rows = [(gold, call, kind, entity) for n, gold, call, kind, entity in kinds for _ in range(n)]
    return [
        CallRecord(
            n, f"Text {n}.", f"Satz {n}.", entity, gold, kind, "own", 1,
            GenderCall(f"r{n}", call, None if call else Reason.UNALIGNED),
        )
        for n, (gold, call, kind, entity) in enumerate(rows)
    ]  # fmt: skip


def metrics_of(rows: list[CallRecord], **changed: Any) -> dict[str, Any]:
    numbers = score(rows, n_resamples=200).to_json()
    fixed = {"n": 0, "percent": 0.0}
    return {
        **numbers,
        "grammatical_gender_only": fixed,
        "alarms": {"raised": [], "shares": {}},
        **changed,
    }


def said(rule: str, *kinds: Kind, **changed: Any) -> list[str]:
    rows = records(*kinds)
    return [
        each.text
        for each in run_finding(read_metrics(metrics_of(rows, **changed)), rows)
        if each.rule == rule
    ]


def found(men: tuple[int, int], women: tuple[int, int]) -> list[Kind]:
    """So many (right, all) men and women; those that are wrong have no call."""
    parts = [(gold, *of) for gold, of in ((M, men), (F, women))]
    return [
        (n, gold, call, NONE, "cook")
        for gold, right, of in parts
        for n, call in ((right, gold), (of - right, None))
    ]


@pytest.mark.parametrize(
    ("men", "women", "text"),
    [
        ((84, 100), (28, 100), "84 % of the men (84 of 100) but 28 % of the women (28 of 100)."),
        ((28, 100), (84, 100), "84 % of the women (84 of 100) but 28 % of the men (28 of 100)."),
        # 84 of 100: [75.6, 89.9]; 80 of 100: [71.1, 86.7]: they overlap.
        (
            (84, 100),
            (80, 100),
            "84 % of the men (84 of 100) and 80 % of the women (80 of 100): no clear difference.",
        ),
        (
            (50, 100),
            (50, 100),
            "50 % of the men (50 of 100) and 50 % of the women (50 of 100): no clear difference.",
        ),
        # 10 of 10: [72.2, 100]; 7 of 10: [39.7, 89.2]: they overlap although the shares are 30
        # points apart.
        (
            (10, 10),
            (7, 10),
            "100 % of the men (10 of 10) and 70 % of the women (7 of 10): no clear difference.",
        ),
        # 10 of 10 against 0 of 10: [0, 27.8].
        ((10, 10), (0, 10), "100 % of the men (10 of 10) but 0 % of the women (0 of 10)."),
        # Not all men: 99.9 %, not 100 %; and not none: 0.1 %, not 0 %.
        (
            (999, 1000),
            (1, 1000),
            "99.9 % of the men (999 of 1,000) but 0.1 % of the women (1 of 1,000).",
        ),
        # 80.4 and 79.6 % of 100,000 each are clearly different, and must not both read "80 %".
        (
            (80400, 100000),
            (79600, 100000),
            "80.4 % of the men (80,400 of 100,000) but 79.6 % of the women (79,600 of 100,000).",
        ),
    ],
)
def test_the_finding_says_whom_the_system_finds(
    men: tuple[int, int], women: tuple[int, int], text: str
) -> None:
    table = count(
        (gold, kind, call) for n, gold, call, kind, _ in found(men, women) for _ in range(n)
    )
    group = {"confusion": table.tolist(), "delta_s": None, "ci": {"delta_s": None}}
    assert next(run_finding(read_metrics({"overall": group}))) == Statement(
        "found", f"It finds {text}"
    )


def test_a_woman_called_a_man_is_not_found() -> None:
    assert said(
        "found", (20, M, M, PRO, "cook"), (15, F, M, ANTI, "cook"), (5, F, F, PRO, "cook")
    ) == ["It finds 100 % of the men (20 of 20) but 25 % of the women (5 of 20)."]


def test_there_is_none_with_few_rows() -> None:
    assert said("found", *found((9, 9), (0, 100))) == []
    assert said("found", *found((90, 100), (0, 0))) == []


@pytest.mark.parametrize(
    ("women", "text"),
    [
        ((9, 100), "It finds 9 of 100 women (9.0 %): ΔS means little here"),
        ((10, 100), None),
        ((0, 9), None),
    ],
)
def test_a_system_that_says_nearly_always_the_same_has_a_caution(
    women: tuple[int, int], text: str | None
) -> None:
    kinds = found((90, 100), women)
    assert said("few_found", *kinds) == []  # without stereotypes there is no ΔS
    texts = said(
        "few_found",
        *((n, gold, call, PRO if gold is M else ANTI, who) for n, gold, call, _, who in kinds),
    )
    assert [each.partition(", since")[0] for each in texts] == ([] if text is None else [text])


def test_women_who_are_found_move_delta_s_by_so_many_points_at_most() -> None:
    """Half of either gender and stereotype: 9 of 100 women, all in pro sentences, and all men, are
    9 points."""
    half = [(50, M, M, kind, "cook") for kind in (PRO, ANTI)]
    rows = records(*half, (9, F, F, PRO, "cook"), (41, F, M, PRO, "cook"), (50, F, M, ANTI, "cook"))
    assert score(rows, n_resamples=0).overall["delta_s"].value == pytest.approx(9.0)
    assert [
        each.rule
        for each in run_finding(read_metrics(metrics_of(rows)))
        if each.rule == "few_found"
    ] == ["few_found"]


def test_the_stereotype_is_named_where_the_interval_of_delta_s_excludes_0() -> None:
    rows = [
        (20, M, M, PRO, "cook"),
        (20, F, F, PRO, "cook"),
        (20, M, M, ANTI, "cook"),
        (20, F, M, ANTI, "cook"),
    ]
    (text,) = said("stereotype", *rows)
    start = "It is right in 100.0 % of 40 sentences that fit the stereotype and in 50.0 % of 40 that break it: ΔS 50"
    assert text.startswith(start)
    assert said("stereotype", *rows[:3], (20, F, F, ANTI, "cook")) == []
    wide = metrics_of(records(*rows))
    wide["overall"]["ci_entities"] = {"delta_s": [-2.0, 60.0]}
    (text,) = [each.text for each in run_finding(read_metrics(wide)) if each.rule == "stereotype"]
    assert text.endswith("points (over entities [-2.0, 60.0], which contains 0).")


def test_entities_with_the_widest_gap_are_named_with_a_wrong_translation() -> None:
    # 5 of 5: [56.6, 100]; 0 of 5: [0, 43.4]. 4 of 5: [37.6, 96.4], which overlaps with [56.6, 100].
    rows = records(
        (5, M, M, NONE, "close"), (4, F, F, NONE, "close"), (1, F, M, NONE, "close"),
        (12, M, M, NONE, "hairdresser"), (1, F, None, NONE, "hairdresser"), (11, F, M, NONE, "hairdresser"),
        (5, M, None, NONE, "nurse"), (5, F, F, NONE, "nurse"),
        (4, M, M, NONE, "few"), (4, F, M, NONE, "few"), (9, M, M, NONE, "men only"),
    )  # fmt: skip
    metrics = metrics_of(rows)
    hair, nurse = [
        each for each in run_finding(read_metrics(metrics), rows) if each.rule == "entity"
    ]
    assert (
        hair.text == "hairdresser: 100 % of the men right (12 of 12), 0 % of the women (0 of 12)."
    )
    quote = {
        "id": "r23",
        "gold": "female",
        "call": "male",
        "source": "Text 23.",
        "translation": "Satz 23.",
        "entity": "hairdresser",
        "words": None,
    }
    assert hair.to_json()["quote"] == quote
    assert nurse.text == "nurse: 0 % of the men right (0 of 5), 100 % of the women (5 of 5)."
    assert nurse.quote is not None
    assert (nurse.quote.gold, nurse.quote.call) == ("male", None)  # none is called a woman
    assert [gap.entity for gap in entity_gaps(read_metrics(metrics))] == [
        "hairdresser",
        "nurse",
        "few",
        "close",
        "men only",
    ]


def test_at_most_three_entities_are_named() -> None:
    kinds = [(5, gold, M, NONE, entity) for entity in "abcd" for gold in (M, F)]
    assert [text[0] for text in said("entity", *kinds)] == ["a", "b", "c"]


def test_without_any_call_nothing_is_said_of_what_was_found() -> None:
    nothing = records((20, M, None, PRO, "cook"), (20, F, None, ANTI, "cook"))
    kinds = [each.rule for each in run_finding(read_metrics(metrics_of(nothing)), nothing)]
    assert kinds == ["uncalled", "trust"]
    (text,) = said("uncalled", (20, M, None, NONE, "a"), (20, F, None, NONE, "a"))
    assert text.endswith("most often: unaligned (40).")


def test_what_has_no_call_and_for_whom() -> None:
    # Wilson's intervals: 2 of 10 [5.7, 51.0]; 4 of 10 [16.8, 68.7]. ΔG: see the test of `uncalled`
    # below.
    kinds: list[Kind] = [(8, M, M, NONE, "a"), (2, M, None, NONE, "a"), (5, F, F, NONE, "a")]
    kinds += [(1, F, M, NONE, "a"), (4, F, None, NONE, "a")]
    (text,) = said("uncalled", *kinds)
    shares = "men 20.0 [5.7, 51.0] % (2 of 10), women 40.0 [16.8, 68.7] % (4 of 10)"
    assert text.startswith(f"No call: {shares}; most often: unaligned (6); ΔG without them 3.2")
    assert said("uncalled", *kinds[:1], kinds[2]) == []
    (text,) = said("uncalled", *kinds, grammatical_gender_only={"n": 3, "percent": 15.0})
    assert "; most often: unaligned (6); grammatical gender only: 3; ΔG" in text


def checked(percent: float | None) -> dict[str, Any]:
    """A share of 100 rows as `metrics.json` has it."""
    share = {"n": int(percent or 0), "of": 100, "percent": percent, "interval": None}
    return {**share, "limit": 5.0, "above": False}


def test_whether_the_numbers_can_be_believed() -> None:
    some = {"calls": 1_003, "estimated": 1_000, "expected": 12.4, "interval": [3.6, 40.2]}
    expected = {
        "labels": 40,
        "male": some,
        "female": {"calls": 9, "estimated": 0, "expected": None, "interval": None},
    }
    shares = {"copies": checked(1.0), "empty": checked(2.0), "looping": checked(None)}
    one = (1, M, M, NONE, "a")
    (text,) = said("trust", one, alarms={"raised": [], "shares": shares}, expected_wrong=expected)
    assert text == (
        "No alarm: none of 2 checked shares is above its limit. Expected to be wrong: of 1,000 male calls about 12 "
        "(4 to 40) (3 more: too few labels), "
        "of 9 female calls not known, too few labels in this language."
    )
    (text,) = said(
        "trust", one, alarms={"raised": ["copies"], "shares": shares}, expected_wrong=expected
    )
    assert text == (
        "Alarms: 1 of 2 checked shares are above the limit (source left in the translation). Expected to be wrong: not "
        "known, as labelled calls are of systems without alarms."
    )
    assert expected_texts(read_metrics({"expected_wrong": {"labels": 0}})) == [
        "not known, as there are no labels in this language"
    ]
    assert expected_texts(read_metrics({})) == []


def test_of_another_measure_only_what_was_checked_is_said() -> None:
    alarms = {"raised": [], "shares": {"copies": checked(0.0)}}
    metrics = {"overall": {"confusion": [[1, 2], [3, 4]]}, "alarms": alarms}
    text = "No alarm: none of 1 checked shares is above its limit."
    assert list(run_finding(read_metrics(metrics))) == [Statement("trust", text)]


def test_metrics_json_has_the_finding_with_the_names_of_its_rules() -> None:
    rows = records(*found((90, 100), (5, 100)))
    written = conclusions(score(rows, n_resamples=0).to_json(), rows, "de", "gender")["finding"]
    assert [each["rule"] for each in written] == ["found", "entity", "uncalled", "trust"]
    assert (
        written[0]["text"]
        == "It finds 90 % of the men (90 of 100) but 5 % of the women (5 of 100)."
    )


def test_the_documentation_lists_every_rule_with_its_limit() -> None:
    text = (DOCS / "report.md").read_text(encoding="utf-8")
    for name, rule in RULES.items():
        assert f"| `{name}` | {rule.says} | {rule.when.format(limit=rule.limit)} |" in text


def test_rows_without_a_call_by_gold_gender_and_delta_g_without_them() -> None:
    # 10 men: 8 right, 2 without a call. 10 women: 5 right, 1 called a man, 4 without a call.
    # With a call: F1 of men 2·8/(9 + 8), of women 2·5/(5 + 6).
    called = [
        (Gender.MALE, 8, Gender.MALE),
        (Gender.MALE, 2, None),
        (Gender.FEMALE, 5, Gender.FEMALE),
    ]
    called += [(Gender.FEMALE, 1, Gender.MALE), (Gender.FEMALE, 4, None)]
    found = uncalled(
        count((gold, Stereotype.NONE, call) for gold, n, call in called for _ in range(n)), 0, 0
    )
    assert (found["male"]["n"], found["male"]["of"], found["male"]["percent"]) == (2, 10, 20.0)
    assert (found["female"]["n"], found["female"]["of"], found["female"]["percent"]) == (
        4,
        10,
        40.0,
    )
    assert found["neutral"] == {"n": 0, "of": 0, "percent": None, "interval": None}
    assert found["female"]["interval"] == pytest.approx(
        [16.818033, 68.732623], abs=1e-5
    )  # scipy.stats.binomtest
    assert found["delta_g"]["value"] == pytest.approx(100 * (16 / 17 - 10 / 11), abs=1e-5)
