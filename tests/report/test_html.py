"""The page of runs: whole, and with the numbers of `metrics.json`."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from mtbias import __version__
from mtbias.report.report_runs import ReportRun
from mtbias.report.run_page import render_html
from mtbias.scoring.metrics_reader import read_metrics
from mtbias.scoring.scores import score
from mtbias.types import Reason, Stereotype

from .page_reader import (
    F,
    M,
    N,
    make_page,
    make_record,
    make_run,
    metrics_json,
    page_data,
    read_page,
    run_calls,
    sentence_ids,
    sources,
    table_lines,
    table_rows,
    targets,
)

# The page as a whole.


def test_the_page_needs_nothing_else_and_runs_nothing_else() -> None:
    text = render_html([make_run([make_record()])])
    page = read_page(text)
    assert text.startswith(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Sec'
    )
    policy = (
        page.one("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"] or ""
    ).split("; ")
    style, script = (
        page.one("style").text,
        [s.text for s in page.all("script") if "type" not in s.attributes],
    )
    hashes = [
        base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        for part in (style, *script)
    ]
    assert policy == [
        "default-src 'none'", f"style-src 'sha256-{hashes[0]}'", f"script-src 'sha256-{hashes[1]}'", "img-src data:",
        "base-uri 'none'", "form-action 'none'",
    ]  # fmt: skip
    for node in page.all():
        for key, value in node.attributes.items():
            assert not key.startswith("on")
            assert key not in {"style", "src", "srcset", "action", "srcdoc"}
            assert key != "href" or value == "data:," or (value or "").startswith("#")
    assert set(re.findall(r"\w+://[^\"'\s<]*", text)) <= {"http://www.w3.org/2000/svg"}
    assert "@import" not in style
    assert "url(" not in style
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval",
        "fetch",
        "XMLHttp",
        "import",
    ):
        assert word not in script[0]


def test_the_same_runs_give_the_same_bytes() -> None:
    assert render_html([make_run([make_record()])]) == render_html([make_run([make_record()])])


def test_landmarks_labels_and_links() -> None:
    page = make_page(
        make_run([make_record(), make_record(1, None)], "a"),
        make_run([make_record(), make_record(1, M)], "b"),
    )
    ids = [node.attributes["id"] for node in page.all() if "id" in node.attributes]
    assert len(set(ids)) == len(ids)
    for node in page.all():
        for name in (node.attributes.get("aria-labelledby") or "").split():
            assert name in ids
        if node.tag == "a":
            assert (node.attributes["href"] or "")[1:] in ids
        if node.attributes.get("role") in {"region", "group"} or node.tag in {
            "nav",
            "form",
            "section",
            "svg",
        }:
            assert {"aria-label", "aria-labelledby", "aria-hidden"} & node.attributes.keys(), node
        if node.tag == "th":
            assert node.attributes["scope"] in {"row", "col"}
            assert node.text
    assert (
        len(list(page.all("main")))
        == len(list(page.all("h1")))
        == len(list(page.all("header")))
        == 1
    )
    assert [heading.text for heading in page.all("h2")] == [
        link.text for link in page.one("nav").all("a")
    ]
    assert {select.attributes["name"] for label in page.all("label") for select in label.all("select")} == {
        "order", "run", "outcome", "call", "gold", "stereotype", "entity", "domain", "pronouns",
    }  # fmt: skip
    assert len(list(page.all("select"))) == 9
    (search,) = (field for label in page.all("label") for field in label.all("input"))
    assert search.attributes["name"] == "search"
    assert page.one(role="status").attributes["aria-live"] == "polite"
    # What scrolls can be reached with the keyboard.
    scrolled = [
        n
        for n in page.all("div")
        if {"scroll", "plots"} & set((n.attributes.get("class") or "").split())
    ]
    assert {node.attributes.get("tabindex") for node in scrolled} == {"0"}


def test_print_dark_and_phone_are_thought_of() -> None:
    page = make_page(make_run([make_record()]))
    style = page.one("style").text
    assert "@media screen and (prefers-color-scheme: dark)" in style
    assert "@media print" in style
    assert (
        ".short tbody tr:nth-child(n + 21) { display: table-row; }"
        in style.partition("@media print")[2]
    )
    assert (
        page.one("meta", name="viewport").attributes["content"]
        == "width=device-width, initial-scale=1"
    )


def _luminance(colour: Sequence[float]) -> float:
    """Relative luminance after WCAG 2.2."""
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (part / 255 for part in colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_have_contrast(scheme: str) -> None:
    style = make_page(make_run([make_record()])).one("style").text
    blocks = dict(zip(("light", "dark"), re.findall(r":root \{([^}]*)\}", style), strict=True))
    found = dict(re.findall(r"--([\w-]+): ([^;]+);", blocks[scheme]))
    colours: dict[str, Sequence[float]] = {}
    for name, value in found.items():
        digits = value[1:] if len(value) == 7 else "".join(2 * d for d in value[1:])
        colours[name] = (
            tuple(map(int, value.split(","))) if "," in value else tuple(bytes.fromhex(digits))
        )
    # The deepest shade of the table of calls lies over the ground with 30 %.
    colours["deep"] = [
        0.3 * a + 0.7 * b for a, b in zip(colours["shade"], colours["bg"], strict=True)
    ]

    def contrast(one: str, other: str) -> float:
        dark, light = sorted((_luminance(colours[one]), _luminance(colours[other])))
        return (light + 0.05) / (dark + 0.05)

    text = [(name, "bg") for name in ("fg", "quiet", "link", "right", "wrong", "none")]
    text += [
        ("fg", "panel"),
        ("quiet", "panel"),
        ("on-mark", "head"),
        ("on-mark", "other"),
        ("link", "deep"),
    ]
    assert [pair for pair in text if contrast(*pair) < 4.5] == []
    assert [f"c{i}" for i in range(6) if contrast(f"c{i}", "bg") < 3] == []


# The numbers.


def test_the_numbers_are_those_of_metrics_json() -> None:
    records = [make_record()]
    overall = json.loads(json.dumps(metrics_json(records)["overall"]))
    overall |= {
        "decided_percent": 97.479424, "accuracy": 59.44, "accuracy_bounds": [59.44, 60.98], "f1_male": 65.25,
        "precision_male": 55.04, "recall_male": 80.0, "precision_female": 70.0, "recall_female": 41.96,
        "f1_female": 52.75, "delta_g": 12.5, "accuracy_pro": 70.0, "accuracy_anti": 57.5, "delta_s": -0.04,
        "delta_s_macro_f1": None,
        "ci": {"accuracy": [57.9, 60.96], "f1_male": [63.0, 67.0], "f1_female": [50.0, 55.0], "delta_g": [10.1, 14.9],
               "delta_s": [-3.1, 3.9], "delta_s_macro_f1": [1.0, 2.0]},
        "denominators": {"male": 1826, "female": 1822, "neutral": 240, "pro": 1584, "anti": 1583,
                         "called_male": 2500, "called_female": 1100},
    }  # fmt: skip
    page = make_page(make_run(records, overall=overall))
    assert table_lines(page, "All numbers, in per cent") == {
        "number": ["opus"],
        # What is said of a number stands below its name; n are the rows of each class that it rests
        # on.
        "With a call Sentences whose translation shows the gender of the person.": ["97.5 n 1"],
        "Accuracy Per cent of all sentences; no call counts as an error.": [
            "59.4 [57.9, 61.0] n 1"
        ],
        "Precision, male": ["55.0 n 2,500"],
        "Recall, male": ["80.0 n 1,826"],
        "F1 male": ["65.2 [63.0, 67.0] n 1,826"],
        "Precision, female": ["70.0 n 1,100"],
        "Recall, female": ["42.0 n 1,822"],
        "F1 female": ["52.8 [50.0, 55.0] n 1,822"],
        "ΔG F1 male minus F1 female, in points; 0 is even.": ["12.5 [10.1, 14.9] n 1,826 + 1,822"],
        "Accuracy, stereotype fits": ["70.0 n 1,584"],
        "Accuracy, stereotype broken": ["57.5 n 1,583"],
        # −0.04 rounds to zero, which has no sign.
        "ΔS Accuracy where the stereotype fits minus where it does not, in points; 0 is even.": [
            "0.0 [-3.1, 3.9] n 1,584 + 1,583"
        ],
        "ΔS, macro-F1 With the mean of both F1 in place of the accuracy.": ["– n 1,584 + 1,583"],
    }
    # Drawn on one axis, whose ticks stand in the head of the column.
    headline = table_rows(page, "The headline, in per cent and points")
    assert headline[0] == ["number", "-20020406080100", "n", "what it says"]
    assert [row[1:] for row in headline[1:]] == [
        ["59.4 [57.9, 61.0]", "1", "right in 61.0 % of those with a call"],
        ["12.5 [10.1, 14.9]", "1,826 + 1,822", "better for men"],
        ["0.0 [-3.1, 3.9]", "1,584 + 1,583", "the interval holds 0: no difference shown"],
    ]
    # −20 to 100 on 360 pixels, 3 each: zero at 60; the interval of ΔG from 90.3 to 104.7, its value
    # at 97.5.
    strip = list(page.one("section", id="numbers").all("svg", **{"class": "strip"}))[2]
    lines = {path.attributes["class"]: path.attributes["d"] for path in strip.all("path")}
    assert (lines["zero"], lines["c0"]) == ("M60 0v14", "M90.3 7H104.7")
    assert strip.one("circle").attributes["cx"] == "97.5"


def test_the_finding_of_each_run_stands_above_its_numbers() -> None:
    quote = {
        "id": "r0",
        "gold": "female",
        "call": "male",
        "source": "<b>",
        "translation": "Der Koch",
    }
    said = [
        {"rule": "found", "text": "It finds few."},
        {"rule": "entity", "text": "cook: 0 %.", "quote": quote},
    ]
    runs = [make_run([make_record(0, M)], "a", finding=said), make_run([make_record(0, M)], "b")]
    found = make_page(*runs).one("section", id="finding")
    assert [p.text for p in found.all("p", **{"class": "finding"})] == ["a: It finds few."]
    quoted = found.one("figure", **{"class": "quote"})
    assert quoted.one("figcaption").text == "Where a is most uneven: cook: 0 %."
    assert [p.text for p in quoted.all("p")] == [
        "<b>",
        "Der Koch",
        "r0: a woman in the source, a man in the translation by a",
    ]
    assert (
        list(make_page(runs[1]).all("section", id="finding")) == []
    )  # nothing of a run of an earlier release


def test_the_title_spells_out_system_language_and_corpus_with_date_and_version() -> None:
    run = make_run([make_record()], corpus={"name": "winomt", "rows": 1})
    page = make_page(replace(run, date="2026-11-26"))
    assert (
        page.one("h1").text
        == "opus: gender in translations from English into German (de) on WinoMT"
    )
    assert next(page.one("header").all("p")).text == (
        "WinoMT: WinoBias and Winogender sentences for machine translation · 1 sentences · scored 2026-11-26 · "
        f"mtbias {__version__}"
    )


def test_from_three_runs_on_a_table_has_them_in_the_order_of_their_accuracy() -> None:
    def run(name: str, right: int, lang: str = "de") -> ReportRun:
        return make_run([make_record(i, F if i < right else M) for i in range(100)], name, lang)

    page = make_page(run("low", 10), run("middle", 80), run("other", 50, "he"), run("high", 85))
    # Wilson (scipy.stats.binomtest): 10 of 100 [5.5, 17.4], 80 [71.1, 86.7], 85 [76.7, 90.7].
    # Nothing is tested in pairs, so there are no ranks.
    rows = table_rows(page, "Systems by accuracy, in per cent and points")
    assert rows[0] == ["system", "language", "Accuracy", "ΔG", "ΔS", "with a call"]
    assert [row[:3] for row in rows[1:]] == [
        ["high", "German (de)", "85.0 [76.7, 90.7] n 100"],
        ["middle", "German (de)", "80.0 [71.1, 86.7] n 100"],
        ["low", "German (de)", "10.0 [5.5, 17.4] n 100"],
        ["other", "Hebrew (he)", "50.0 [40.4, 59.6] n 100"],
    ]
    assert [run["name"] for run in page_data(page)["runs"]] == ["high", "middle", "low", "other"]


def test_delta_s_has_its_caution_beside_it() -> None:
    said = [{"rule": "few_found", "text": "1 of 90 women is found: ΔS means little."}]
    page = make_page(make_run([make_record()], finding=said))
    rows = table_rows(page, "The headline, in per cent and points")
    assert [said[0]["text"] in row[-1] for row in rows] == [False, False, False, True]


def test_breakdowns_and_entities() -> None:
    # Kitchen: 2 of 4 right, all decided. Garden: 1 of 2 right, 1 undecided. No man, so no ΔG; no
    # anti row, so no ΔS.
    kitchen = [make_record(i, gender) for i, gender in enumerate((F, F, M, M))]
    garden = [
        make_record(i, gender, domain="garden", entity="apprentice", pronouns=2)
        for i, gender in ((4, F), (5, None))
    ]
    page = make_page(make_run([*kitchen, *garden]))
    # Wilson's intervals (scipy.stats.binomtest): 2 of 4 [15.0, 85.0], 1 of 2 [9.5, 90.5], 3 of 6
    # [18.8, 81.2].
    by_domain = table_lines(page, "By domain")
    assert by_domain["domain"] == ["n", "Accuracy", "ΔG", "ΔS"]
    assert by_domain["kitchen"] == ["4", "50.0 [15.0, 85.0]", "–", "–"]
    assert by_domain["garden"] == ["2", "50.0 [9.5, 90.5]", "–", "–"]
    assert table_lines(page, "By pronouns in the source")["2"] == [
        "2",
        "50.0 [9.5, 90.5]",
        "–",
        "–",
    ]
    assert table_lines(page, "By stereotype")["pro"][:2] == ["6", "50.0 [18.8, 81.2]"]
    # No entity has a gap between men and women: the most sentences first; recall of men is not
    # defined.
    assert table_rows(page, "Accuracy by entity") == [
        ["entity", "share of\nwomen, %", "n", "accuracy", "right for men", "right for women"],
        # 38 of 100 cooks are women (Zhao et al. 2018); apprentices are not among the statistics
        # that ship.
        ["cook", "38.0", "4", "50.0 [15.0, 85.0]", "–", "50.0 [15.0, 85.0]"],
        ["apprentice", "–", "2", "50.0 [9.5, 90.5]", "–", "50.0 [9.5, 90.5]"],
    ]


def test_men_and_women_are_drawn_by_occupation_in_the_order_of_the_share_of_women() -> None:
    records = [
        make_record(i, (M, F, M, M)[i % 4], gold=(M, F)[i % 2], entity=entity)
        for entity, n in (("nurse", 40), ("guard", 40), ("teacher", 4), ("nobody", 40))
        for i in range(n)
    ]
    page = make_page(make_run(records))
    (plot,) = page.one("section", id="groups").all("svg", role="img")
    assert plot.one("title", id="entities-0-title").text == "Right by entity, in per cent"
    # 22 % of guards and 90 % of nurses are women; teachers have two sentences of each, nobody has
    # no share. Wilson (scipy.stats.binomtest): 20 of 20 [83.9, 100], 10 of 20 [29.9, 70.1].
    assert [title.text for title in plot.all("title")][1:] == [
        f"{entity}, {who}" for who in ("men: 100.0 [83.9, 100.0], n 20", "women: 50.0 [29.9, 70.1], n 20")
        for entity in ("guard", "nurse")
    ]  # fmt: skip
    assert [text.text for text in plot.all("text")][-4:] == ["guard", "nurse", "22 %", "90 %"]
    assert "Spearman's ρ" in page.one("section", id="groups").text
    assert "without a share: 1." in page.one("section", id="groups").text


def test_the_confusion_counts_all_stereotypes_together() -> None:
    records = [
        make_record(0, F), make_record(1, M), make_record(2, M, stereotype=Stereotype.ANTI),
        make_record(3, None, gold=M),
        make_record(4, M, gold=M, stereotype=Stereotype.NONE), make_record(5, F, gold=N),
    ]  # fmt: skip
    page = make_page(make_run(records))
    assert table_rows(page, "opus: sentences by gold and call") == [
        ["gold / call", "male", "female", "neutral", "no call", "all"],
        ["male", "1", "0", "0", "1", "2"],
        ["female", "2", "1", "0", "0", "3"],
        ["neutral", "0", "1", "0", "0", "1"],
    ]
    links = [
        (
            a.text,
            a.attributes["data-gold"],
            a.attributes.get("data-call"),
            a.attributes.get("data-outcome"),
        )
        for a in page.one("section", id="more").all("a")
    ]
    genders = page_data(page)["genders"]
    male, female, neutral = (str(genders.index(gender)) for gender in ("male", "female", "neutral"))
    assert links == [
        ("1", male, male, None), ("1", male, None, "none"), ("2", female, male, None), ("1", female, female, None),
        ("1", neutral, female, None),
    ]  # fmt: skip


def test_what_was_left_out_and_why() -> None:
    records = [
        make_record(0, F),
        make_record(1, None),
        make_record(2, None),
        make_record(3, None, reason=Reason.AMBIGUOUS),
    ]
    noticed: dict[str, Any] = {
        "corpus": {"name": "winomt", "rows": 1234, "skipped": 2, "notes": {"row repeated": 6}},
        "translations": {"missing": 5, "extra": 0, "examples": {"missing": ["a", "b", "c", "d"]}},
    }
    page = make_page(make_run(records, **noticed))
    assert table_rows(page, "opus: sentences without a call") == [
        ["reason", "female", "n", "% of all"],
        ["no morphology the phrase shows no gender", "2", "2", "50.0"],
        ["ambiguous the evidence contradicts itself", "1", "1", "25.0"],
    ]
    assert table_rows(page, "opus: what the calls rest on")[1:] == [["noun", "1", "100.0"]]
    assert table_rows(page, "opus: noticed in the input")[1:] == [
        ["without a translation in the file", "5", "a, b, c"],
        ["rows of the corpus left out, of 1,234", "2", ""],
        ["row repeated", "6", ""],
    ]
    calls = page_data(page)["calls"]
    links = [
        calls[int(a.attributes["data-call"] or "")]
        for a in page.one("section", id="left-out").all("a")
    ]
    assert links == ["no morphology", "ambiguous"]
    assert (
        "every sentence has a call"
        in make_page(make_run([make_record()])).one("section", id="left-out").text
    )


def test_a_run_without_intervals_and_signature() -> None:
    records = [make_record()]
    metrics = score(records, n_resamples=0).to_json()
    how = (
        make_page(ReportRun("opus", "de", read_metrics(metrics), records))
        .one("section", id="how")
        .text
    )
    assert "Signature: –" in how
    assert "Intervals: none were computed" in how
    assert "Note: in" not in how
    fewer = {**metrics, "signature": "model:m|dtype:bfloat16|fp:0"}
    how = (
        make_page(ReportRun("opus", "de", read_metrics(fewer), records))
        .one("section", id="how")
        .text
    )
    assert "Note: in bfloat16 some translations differ" in how


def test_published_numbers_of_the_same_data_set_stand_on_the_page() -> None:
    records = [make_record()]
    metrics = {
        **score(records, n_resamples=0).to_json(),
        "signature": "dataset:winomt|lang:de|fp:0",
    }
    more = (
        make_page(ReportRun("opus", "de", read_metrics(metrics), records))
        .one("section", id="more")
        .text
    )
    assert "Published: WinoMT, translations of 2019 (Stanovsky et al. 2019), German (de)" in more
    assert "google" in more
    assert "59.4" in more
    assert "fast_align" in more


# Several runs.


def test_runs_side_by_side_share_their_sentences() -> None:
    first = make_run([make_record(0, F), make_record(1, M)], "a")
    # The same id with another source is another sentence; the third is in the second run alone.
    second = make_run(
        [make_record(0, M), make_record(1, F, source="A cook left."), make_record(2, None)],
        "b",
        "he",
        "rtl",
    )
    page = make_page(first, second)
    data = page_data(page)
    assert sources(data) == [
        "A [cook] left.", "The [cook] ate her soup.", "The [cook] ate her soup.", "The [cook] ate her soup.",
    ]  # fmt: skip
    assert sentence_ids(data) == ["demo-2", "demo-1", "demo-2", "demo-3"]
    assert run_calls(data, 0) == [None, "female", "male", None]
    assert run_calls(data, 1) == ["female", "male", None, "no morphology"]
    assert targets(data, 1)[2] == ""
    assert [(run["name"], run["dir"]) for run in data["runs"]] == [("a", "ltr"), ("b", "rtl")]
    # a: 1 of 2 right; b: 1 of 3.
    assert table_lines(page, "All numbers, in per cent")[
        "Accuracy Per cent of all sentences; no call counts as an error."
    ] == ["50.0 [9.5, 90.5] n 2", "33.3 [6.1, 79.2] n 3"]
    assert table_rows(page, "By domain")[1:] == [
        ["kitchen", "a", "2", "50.0 [9.5, 90.5]", "–", "–"],
        ["kitchen", "b", "3", "33.3 [6.1, 79.2]", "–", "–"],
    ]
    assert table_rows(page, "Accuracy by entity")[1] == [
        "cook", "38.0", "2", "50.0 [9.5, 90.5]", "–", "50.0 [9.5, 90.5]", "3", "33.3 [6.1, 79.2]", "–",
        "33.3 [6.1, 79.2]",
    ]  # fmt: skip
    assert "the runs differ" in page.one("form").text


def test_an_entity_that_one_run_lacks_has_dashes() -> None:
    page = make_page(make_run([make_record()], "a"), make_run([make_record(entity="chef")], "b"))
    assert table_lines(page, "Accuracy by entity")["chef"] == ["19.6", "1", *["–"] * 3, "100.0 [20.7, 100.0]", "–",
        "100.0 [20.7, 100.0]",
    ]  # fmt: skip
