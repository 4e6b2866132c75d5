"""The table of a run: every number where it belongs, one decimal, aligned, and in the width of the
terminal."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from mtbias.errors import DataError
from mtbias.report.run_table import published_lines, render
from mtbias.runs.call_records import join_records
from mtbias.scoring.scores import Scores, score
from mtbias.types import (
    Evidence,
    Gender,
    GenderCall,
    Instance,
    Reason,
    Span,
    Stereotype,
    Translation,
)

M, F, N = Gender.MALE, Gender.FEMALE, Gender.NEUTRAL


def _group(**changes: Any) -> dict[str, Any]:
    group = {
        "n": 3888, "decided": 3790, "decided_percent": 97.479424,
        "accuracy": 59.44, "accuracy_bounds": [59.44, 60.98],
        "precision_male": 55.04, "recall_male": 80.0, "f1_male": 65.25,
        "precision_female": 70.0, "recall_female": 41.96, "f1_female": 52.75,
        "delta_g": 12.5, "accuracy_pro": 70.0, "accuracy_anti": 57.5, "delta_s": 12.5, "delta_s_macro_f1": 13.04,
        "ci": {"accuracy": [57.9, 60.96], "f1_male": [63.0, 67.0], "f1_female": [50.0, 55.0],
               "delta_g": [10.1, 14.9], "delta_s": [-0.04, 15.9], "delta_s_macro_f1": None},
        "denominators": {"male": 1826, "female": 1822, "neutral": 240, "pro": 1584, "anti": 1583,
                         "called_male": 2500, "called_female": 1100},
    }  # fmt: skip
    return {**group, **changes}


def _metrics() -> dict[str, Any]:
    undefined = dict.fromkeys(
        ("f1_female", "precision_female", "delta_g", "delta_s", "delta_s_macro_f1")
    )
    no_intervals = dict.fromkeys(_group()["ci"])
    return {
        "schema": 1,
        "signature": "dataset:winomt|lang:de|mtbias:0.1.0|seed:0|fp:0123456789abcdef",
        "fingerprint": "0123456789abcdef",
        "n": 3888,
        "decided": 3790,
        "reasons": {"unaligned": 61, "ambiguous": 1037},
        "reasons_percent": {"unaligned": 1.568930, "ambiguous": 26.67},
        "evidence": {"noun": 3000, "determiner": 790},
        "evidence_percent": {"noun": 79.155673, "determiner": 20.844327},
        "intervals": {"method": "…", "level": 95.0, "resamples": 2000, "seed": 0, "min_rows": 10},
        "overall": _group(),
        "by_domain": {"winobias": _group(n=3168), "winogender": _group(n=720, ci=no_intervals)},
        "by_pronouns": {"1": _group(), "2": _group(n=3, **undefined)},
        "by_stereotype": {"pro": _group(delta_s=None)},
        "by_entity": {},
    }


def _score(
    instances: list[Instance], calls: list[GenderCall], *, n_resamples: int = 2000
) -> Scores:
    translations = [Translation(instance.id, None, "empty") for instance in instances]
    return score(list(join_records(instances, translations, calls)), n_resamples=n_resamples)


def _line(table: str, start: str, *, after: str = "") -> str:
    return next(line for line in table[table.index(after) :].splitlines() if line.startswith(start))


def _words(table: str, start: str, **where: str) -> list[str]:
    return _line(table, start, **where).split()


def test_the_headline_says_how_much_has_a_call() -> None:
    assert render(_metrics()).splitlines()[0] == "3,888 sentences, 3,790 with a call (97.5 %)"


def test_the_headline_is_numbers_with_intervals_and_what_they_rest_on() -> None:
    table = render(_metrics())
    assert _words(table, "Accuracy") == ["Accuracy", "59.4", "[57.9,", "61.0]", "3,888"]
    assert _words(table, "ΔG ") == ["ΔG", "12.5", "[10.1,", "14.9]", "1,826", "+", "1,822"]
    # −0.04 rounds to zero, which has no sign.
    assert _words(table, "ΔS ") == ["ΔS", "12.5", "[0.0,", "15.9]", "1,584", "+", "1,583"]
    assert "  ΔG: F1 male minus F1 female, in points; 0 is even.\n" in table
    assert "F1 male  " not in table
    full = render(_metrics(), full=True)
    assert _words(full, "Recall, male") == ["Recall,", "male", "80.0", "–", "1,826"]
    assert _words(full, "F1 male") == ["F1", "male", "65.2", "[63.0,", "67.0]", "1,826"]
    assert _words(full, "Precision, female")[-1] == "1,100"
    assert _words(full, "ΔS, macro-F1")[:4] == ["ΔS,", "macro-F1", "13.0", "–"]


def test_intervals_over_entities_stand_beside_those_over_sentences() -> None:
    made = {
        "method": "percentile bootstrap over entities",
        "entities": 104,
        "min_entities": 10,
        "reason": None,
    }
    over = {
        "accuracy": [47.04, 58.36],
        "delta_g": [16.2, 33.6],
        "delta_s": [2.9, 36.9],
        "recall_male": [80, 90],
    }
    metrics = {**_metrics(), "overall": _group(ci_entities=over), "entity_intervals": made}
    table = render(metrics, full=True)
    assert _line(table, "  ", after="97.5 %").endswith(
        "per cent  95 % interval              n  over 104 entities"
    )
    assert _words(table, "ΔS ")[-2:] == ["[2.9,", "36.9]"]
    assert _words(table, "ΔS, macro-F1")[-1] == "–"
    assert "  over sentences: other sentences about these entities; over entities: other\n" in table
    few = {**made, "entities": 3, "reason": "expected 10 entities or more, got 3"}
    without = render(
        {**metrics, "overall": _group(ci_entities=None), "entity_intervals": few}, full=True
    )
    assert "\n  No intervals over entities: expected 10 entities or more, got 3\n" in without
    assert "entities" not in render(_metrics())  # a file of an earlier release


def test_the_finding_stands_below_the_headline_and_is_wrapped() -> None:
    quotes = [
        {"source": "She cooks.\x1b", "translation": "Er kocht.", "words": "Er"},
        {"source": "no", "translation": "nein"},
    ]
    who = {"id": "r0", "gold": "female", "call": "male", "entity": "cook"}
    said = [
        {"rule": "found", "text": "word " * 20},
        *({"rule": "entity", "text": "Gap.", "quote": {**who, **q}} for q in quotes),
    ]
    lines = render({**_metrics(), "finding": said}).splitlines()
    assert lines[1:3] == ["word " * 15 + "word", "  word word word word"]
    assert lines[3:8] == [
        "Gap.",
        "  “She cooks.?” → “Er kocht.”",
        "  cook: a woman in the source, a man in the translation (“Er”)",
        "Gap.",
        "",
    ]  # one sentence is shown


def test_a_run_without_alarms_fits_into_thirty_lines_and_all_is_one_option_away() -> None:
    said = [{"rule": "found", "text": "It finds few. " * 9}, {"rule": "trust", "text": "No alarm."}]
    metrics = {**_metrics(), "finding": said, "consistency": _consistency(controls=True)}
    table = render(metrics)
    assert len(table.splitlines()) <= 28  # and one names the report
    assert _widest(table) <= 80
    for block in ("By domain", "Consistency", "Without a call (of all", "What the calls rest on"):
        assert block not in table
        assert block in render(metrics, full=True)


def test_warnings_stand_in_place_of_the_sentence_about_them() -> None:
    share = {
        "n": 388,
        "of": 3886,
        "percent": 9.984,
        "interval": [9.1, 11.0],
        "limit": 1.0,
        "above": True,
    }
    alarms = {
        "raised": ["copies"],
        "shares": {"copies": share},
        "other_languages": {},
        "concerned": 388,
    }
    said = [{"rule": "trust", "text": "Alarms: 1 of 1."}]
    metrics = {**_metrics(), "alarms": {**alarms, "without": _group(n=3500)}, "finding": said}
    table = render(metrics)
    start = "WARNING: 388 of 3,886 translations are copies of their source, or hold words of it in a row (10.0 %, limit 1 %"
    assert " ".join(table.split()).startswith(f"{start}); ")
    share["measured"] = False
    assert " ".join(render(metrics).split()).startswith(f"{start}, the widest of all languages); ")
    assert "Alarms: 1 of 1." not in table
    assert "without those concerned" not in table
    assert _words(render(metrics, full=True), "  n ")[1:] == ["3,888", "3,500"]


def test_groups_of_neutral_gold_alone_are_said_to_be_so() -> None:
    classes = {**_group()["denominators"], "male": 0, "female": 0, "neutral": 240}
    metrics = {
        **_metrics(),
        "by_pronouns": {"0": _group(n=240, denominators=classes), "1": _group()},
    }
    table = render(metrics, full=True)
    assert "\n  0: all of neutral gold gender\n" in table[table.index("By pronouns") :]
    assert "  1: all" not in table
    assert "neutral gold" not in render(_metrics(), full=True)  # 240 of 3,888 are neutral


def test_breakdowns_have_n_and_the_numbers() -> None:
    table = render(_metrics(), full=True)
    row = " ".join(_words(table, "  winobias"))
    assert row == "winobias 3,168 97.5 59.4 [57.9, 61.0] 12.5 [10.1, 14.9] 12.5 [0.0, 15.9]"
    assert " ".join(_words(table, "  winogender")) == "winogender 720 97.5 59.4 – 12.5 – 12.5 –"
    assert _words(table, "  1", after="By pronouns")[:3] == ["1", "3,888", "97.5"]


def test_an_undefined_number_is_a_dash_without_interval() -> None:
    table = render(_metrics(), full=True)
    assert " ".join(_words(table, "  2", after="By pronouns")) == "2 3 97.5 59.4 [57.9, 61.0] – –"
    assert _words(table, "  pro")[-1] == "–"


def test_what_has_no_call_and_what_calls_rest_on() -> None:
    table = render(_metrics(), full=True)
    assert (
        "Without a call (of all sentences)\n  unaligned     61   1.6 %\n  ambiguous  1,037  26.7 %\n"
        in table
    )
    assert (
        "What the calls rest on (of all calls)\n  noun        3,000  79.2 %\n  determiner    790  20.8 %\n"
        in table
    )


def test_the_signature_ends_the_table_in_one_line() -> None:
    metrics = _metrics()
    assert render(metrics).endswith(f"\n\nSignature: {metrics['signature']}\n")
    assert "Signature" not in render({**metrics, "signature": None})


def test_a_run_in_fewer_bits_is_told_so_below_the_signature() -> None:
    metrics = {**_metrics(), "signature": "model:m|dtype:int8|fp:0"}
    *_, signature, note = render(metrics).splitlines()
    assert signature == "Signature: model:m|dtype:int8|fp:0"
    assert note.startswith("Note: in int8 some translations differ")


def test_nothing_to_tell_is_not_told() -> None:
    metrics = {**_metrics(), "reasons": {}, "reasons_percent": {}, "evidence": {}, "by_domain": {}}
    table = render(metrics, full=True)
    assert "Without a call" not in table
    assert "Decided by" not in table
    assert "By domain" not in table
    assert "By pronouns" in table


def _widest(table: str) -> int:
    return max(len(line) for line in table.splitlines() if not line.startswith("Signature"))


def _consistency(*, controls: bool) -> dict[str, Any]:
    def part(n: int) -> dict[str, Any]:
        few = n if controls else 0
        return {
            "across": {
                "n": n, "inconsistent": 74.69, "male_only": 65.41, "female_only": 9.28, "both_right": 18.9,
                "neither_right": 6.4,
                "ci": {"inconsistent": [72.7, 76.9], "male_only": [63.2, 67.6], "female_only": None},
            },
            "within": {"n": few, "inconsistent": 6.66 if controls else None, "ci": {"inconsistent": None}},
            "delta_i": {
                "n": few, "across": 66.7, "within": 6.7, "delta_i": 60.0 if controls else None, "ci": {"delta_i": None}
            },
        }  # fmt: skip

    return {
        "all": part(1798),
        "decided": part(1655),
        "pairs_without_controls": 1678,
        "left_out": {"two\x1b twins": 7},
    }


def test_pairs_have_a_block_of_their_own() -> None:
    assert "Consistency" not in render({**_metrics(), "consistency": None}, full=True)
    assert "Consistency" not in render(_metrics(), full=True)  # a file of an earlier release
    table = render({**_metrics(), "consistency": _consistency(controls=True)}, full=True)
    assert (
        table.index("By stereotype")
        < table.index("Consistency (pairs that differ")
        < table.index("Without a")
    )
    assert (
        " ".join(_words(table, "  I_across"))
        == "I_across 74.7 [72.7, 76.9] 1,798 74.7 [72.7, 76.9] 1,655"
    )
    assert " ".join(_words(table, "  woman only")) == "woman only 9.3 1,798 9.3 1,655"
    assert " ".join(_words(table, "  ΔI")) == "ΔI 60.0 1,798 60.0 1,655"
    assert "  1,678 pairs have no controls: in I_across alone\n  left out: 7, two? twins\n" in table
    without = render({**_metrics(), "consistency": _consistency(controls=False)}, full=True)
    assert _words(without, "  ΔI") == ["ΔI", "–", "0", "–", "0"]


def test_columns_stand_under_each_other() -> None:
    lines = render(_metrics(), full=True).splitlines()
    header = next(line for line in lines if "called  " in line and "accuracy" in line)
    ends = header.index("called") + len("called")
    rows = [line for line in lines if line.startswith("  ") and "97.5" in line]
    assert len(rows) == 5
    for row in rows:
        assert row[:ends].endswith("97.5")
    # Points stand under points, whether or not there is an interval.
    assert len({row.index("59.4") for row in rows}) == 1


def test_names_from_files_cannot_command_the_terminal() -> None:
    metrics = _metrics()
    metrics["by_domain"] = {
        "evil\x1b[31m\nname": _group(),
        "a very long name of some domain or other": _group(),
    }
    table = render(metrics, full=True)
    assert "\x1b" not in table
    assert "  evil?[31m?name" in table
    # 24 characters with the indent and the ellipsis.
    assert "  a very lo…ain or other " in table


def test_another_file_is_refused() -> None:
    metrics = copy.deepcopy(_metrics())
    del metrics["overall"]["accuracy_pro"]
    with pytest.raises(
        DataError, match=r"expected the key 'accuracy_pro' in metrics\.json, got none"
    ):
        render(metrics, full=True)


def test_real_scores_are_rendered() -> None:
    def instance(row: int, gold: Gender, kind: Stereotype) -> Instance:
        return Instance(
            str(row), row, "The cook ate.", Span(4, 8), "cook", gold, kind, "demo", row % 3
        )

    def call(row: int, gender: Gender | None) -> GenderCall:
        evidence = (
            (Evidence("masculine_noun", "noun", "w", Span(0, 1), gender, "form"),) if gender else ()
        )
        return GenderCall(str(row), gender, None if gender else Reason.UNALIGNED, (), evidence)

    golds = [
        (M, Stereotype.PRO),
        (F, Stereotype.ANTI),
        (F, Stereotype.PRO),
        (N, Stereotype.NONE),
    ] * 15
    instances = [instance(row, *gold) for row, gold in enumerate(golds)]
    calls = [call(row, (M, M, F, None)[row * 7 % 4]) for row in range(60)]
    for resamples in (0, 100):
        metrics = _score(instances, calls, n_resamples=resamples).to_json(
            signature="dataset:demo", fingerprint="x"
        )
        table = render(metrics)
        assert table.startswith("60 sentences, 45 with a call (75.0 %)\n")
        assert ("95 % interval" in table) == bool(resamples)
    # One instance, nothing decided: dashes and zeros, no failure.
    lonely = _score([instance(0, N, Stereotype.NONE)], [call(0, None)]).to_json(signature=None)
    assert _words(render(lonely), "ΔG")[1] == "–"


def test_published_numbers_stand_beside_a_runs() -> None:
    """BUG's table 3 has 24 cells (mean accuracy 69.9), figures 6 and 7 means over languages;
    WinoMT's 16 lines."""
    cells = [line for line in published_lines("bug") if line.lang != "mean"]
    assert len(cells) == 24
    assert sum(line.numbers["accuracy"] for line in cells) / 24 == pytest.approx(69.95, abs=0.01)
    assert len(published_lines("bug")) == 24 + 3 * (3 + 4)
    assert len(published_lines("winomt")) == 16
    assert published_lines("demo") == []
    of_bug = {**_metrics(), "signature": "dataset:bug|lang:de|mtbias:0.1.0"}
    table = render(of_bug, full=True)
    start = "Published: BUG (Levy et al. 2021)"
    assert _words(table, "m2m100", after=start) == ["m2m100", "de", "70.0", "44.1", "16.8"]
    assert "m2m100   mean of 8 languages, pubmed          59.4  59.0  -3.6\n" in table
    assert "105,687 sentences" in table
    assert "Published" not in render(of_bug)
    of_winomt = {**_metrics(), "signature": "dataset:winomt|lang:es|mtbias:0.1.0"}
    assert _words(render(of_winomt, full=True), "google") == ["google", "es", "53.1", "23.4", "–"]
    for other in ("dataset:winomt|lang:cs|", "dataset:demo|lang:de|", ""):
        assert "Published" not in render({**_metrics(), "signature": other}, full=True)
