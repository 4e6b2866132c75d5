"""The alarms of a run in words: above the numbers in every form."""

from __future__ import annotations

from typing import Any

from mtbias.report.alarm_texts import checks_block, named_warnings, warnings
from mtbias.report.tables import PrintedTable, draw
from mtbias.scoring.metrics_reader import read_alarms, read_metrics

SHARE = {
    "n": 388,
    "of": 3886,
    "percent": 9.984,
    "interval": [9.1, 11.0],
    "limit": 1.0,
    "above": True,
}
ALARMS: dict[str, Any] = {
    "raised": ["other_language"],
    "shares": {
        "other_language": SHARE,
        "copies": {**SHARE, "n": 0, "percent": 0.0, "above": False},
    },
    "other_languages": {"en": 300, "it": 80, "fr": 5, "pt": 3},
    "concerned": 388,
    "without": None,
}
WARNING = (
    "388 of 3,886 translations are in another language than the target (10.0 %, limit 1 %): en 300, it 80, fr 5, …; "
    "check --lang and the system's target language"
)


def _checked(content: dict[str, Any]) -> str:
    return checks_block(read_metrics(content))


def test_a_warning_says_the_share_the_limit_and_what_to_do() -> None:
    assert warnings(read_alarms(ALARMS)) == [WARNING]
    assert warnings(None) == []  # a run of an earlier release
    assert named_warnings([("a (de)", read_alarms(ALARMS)), ("b (de)", None)]) == [
        f"a (de): {WARNING}"
    ]


def test_warnings_stand_above_title_and_numbers_in_every_form() -> None:
    table = PrintedTable(["", "x"], [["a", "1.0"]], title="The title", warnings=["Stop 5 %"])
    for form in ("text", "markdown", "latex"):
        text = draw([table], form)
        assert text.lower().count("warning: stop 5") == 1
        assert text.index("Stop 5") < text.index("The title")
    assert draw([table], "text").startswith("WARNING: Stop 5 %\nThe title\n")


def test_what_was_checked_has_a_mark_where_it_is_above() -> None:
    lines = _checked({"alarms": ALARMS}).splitlines()
    assert [line.endswith("<<") for line in lines] == [False, True, False]
    assert _checked({}) == ""


def test_where_nothing_is_above_the_finding_says_so_alone() -> None:
    below = {**SHARE, "above": False}
    unknown = {**SHARE, "n": 0, "of": 0, "percent": None, "interval": None, "above": False}
    shares = {
        "copies": below,
        "empty": below,
        "other_language": unknown,
    }  # a language that py3langid does not know
    text = _checked({"alarms": {**ALARMS, "raised": [], "shares": shares}})
    assert text == ""


def test_a_line_says_how_often_the_readers_agree() -> None:
    men = {
        "calls": 1_300,
        "n": 1_199,
        "of": 1_200,
        "percent": 99.91667,
        "interval": [99.53, 99.985],
    }
    none = {"calls": 0, "n": 0, "of": 0, "percent": None, "interval": None}
    women = {**men, "of": 40}
    for shares in (ALARMS["shares"], dict[str, Any]()):
        found = {
            "alarms": {**ALARMS, "shares": shares},
            "readers": {"male": men, "female": women, "words": []},
        }
        line = "Stanza's features agree: men 99.9 [99.5, 100.0] % of 1,200, women "
        assert _checked(found).splitlines()[-1:] == (
            [f"{line}99.9 [99.5, 100.0] % of 40"] if shares else []
        )
    found = {"alarms": ALARMS, "readers": {"male": men, "female": none, "words": []}}
    assert _checked(found).endswith("men 99.9 [99.5, 100.0] % of 1,200")
    assert (
        len(_checked({"alarms": ALARMS, "readers": {"male": none, "female": none}}).splitlines())
        == 3
    )
