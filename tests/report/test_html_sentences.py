"""The sentences of a page: whole, marked, safe against what stands in the data, and small."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from mtbias.report.run_page import render_html
from mtbias.report.sentence_data import evidence_code, evidence_words
from mtbias.types import (
    Evidence,
    Gender,
    Reason,
    Span,
    Stereotype,
)

from .page_reader import (
    EVIL,
    F,
    M,
    N,
    column_values,
    evidence,
    make_page,
    make_record,
    make_run,
    page_data,
    read_page,
    run_calls,
    sentence_ids,
    sources,
    table_lines,
    table_rows,
    targets,
    unpacked,
)

FEMININE = "feminine_noun"

# The sentences.


def test_sentences_arrive_whole_with_entity_and_aligned_words_marked() -> None:
    long_word = "𝐜𝐨𝐨𝐤" * 9  # letters beyond U+FFFF
    records = [
        make_record(),
        make_record(1, M, source="A Construction  Worker and a construction worker's car; construction workers.",
                entity="construction worker", translation="Ein Arbeiter vom Bau 😀 kam.\tEr\nging.\x00",
                target=(Span(4, 12), Span(17, 20), Span(0, 6), Span(10, 14))),
        make_record(2, None, source="The coworker ate.", entity="worker", translation=None, target=(), evidence=()),
        make_record(3, F, source=f"A {long_word}a {long_word}b cook",
                    translation=f"{long_word}c {long_word}", target=()),
        make_record(4, None, translation="", target=()),
    ]  # fmt: skip
    data = page_data(make_page(make_run(records)))
    assert data["rows"] == 5
    # In the order of their sources, so that sentences that differ in a word are neighbours.
    assert sentence_ids(data) == [f"demo-{i}" for i in (2, 4, 1, 5, 3)]
    # The mark is on the whole phrase, in any case and with any space, and not inside of other
    # words.
    assert sources(data) == [
        "A [Construction  Worker] and a [construction worker]'s car; construction workers.",
        f"A {long_word}a {long_word}b [cook]",
        "The [cook] ate her soup.",
        "The [cook] ate her soup.",
        "The coworker ate.",
    ]
    # The head's mark wins where another overlaps it. White space that controls is a space, other
    # controls are �.
    assert targets(data) == [
        "Ein [Arbeiter] vom (Bau) 😀 kam. Er ging.�",
        f"{long_word}c {long_word}",
        "Die [Köchin] aß ihre Suppe.",
        "",
        "",
    ]
    noun = [
        [[words, "noun", "Köchin", gender, "feminine: Köchin", "the table of nouns", FEMININE]]
        for words, gender in (
            ("feminine form", "female"),
            ("masculine form", "male"),
            ("feminine", "silent"),
        )
    ]
    assert evidence(data) == [noun[1], noun[0], noun[0], noun[2], []]
    assert run_calls(data) == ["male", "female", "female", "no morphology", "no morphology"]
    assert column_values(data, "entity") == [
        "construction worker",
        "cook",
        "cook",
        "cook",
        "worker",
    ]


def test_sentences_are_read_in_the_language_of_the_source() -> None:
    run = replace(
        make_run([make_record(source="Die Köchin aß.", entity="Köchin")], lang="es"),
        source_lang="de",
    )
    assert page_data(make_page(run))["source"] == "de"
    assert page_data(make_page(make_run([make_record()])))["source"] == "en"


def test_what_is_filtered_by() -> None:
    records = [
        make_record(),
        make_record(
            1, gold=M, stereotype=Stereotype.NONE, domain="garden", pronouns=10, entity="guest"
        ),
    ]
    records.append(make_record(2, pronouns=2))
    page = make_page(make_run(records))
    data = page_data(page)
    assert column_values(data, "gold") == ["female", "male", "female"]
    assert column_values(data, "stereotype") == ["pro", "none", "pro"]
    assert column_values(data, "domain") == ["kitchen", "garden", "kitchen"]
    assert column_values(data, "pronouns") == ["1", "10", "2"]
    options = {
        select.attributes["name"]: [(o.attributes["value"], o.text) for o in select.all("option")]
        for select in page.all("select")
    }
    assert options["outcome"] == [
        ("", "all"),
        ("right", "right"),
        ("wrong", "wrong"),
        ("none", "no call"),
    ]
    assert options["pronouns"] == [("", "all"), ("0", "1"), ("1", "2"), ("2", "10")]
    assert options["entity"] == [("", "all"), ("0", "cook"), ("1", "guest")]
    assert [text for _, text in options["call"]] == ["all", *data["genders"]] + [
        f"none: {reason.value}" for reason in Reason
    ]
    (link,) = (a for a in page.one("section", id="groups").all("a") if a.text == "guest")
    assert link.attributes["data-entity"] == "1"


def test_an_entity_that_is_not_in_its_source_is_told() -> None:
    page = make_page(
        make_run([make_record(), make_record(1, entity="chef"), make_record(2, entity="")])
    )
    assert (
        "In 2 sentences the entity is not in the source" in page.one("section", id="sentences").text
    )
    # One without a name can still be chosen.
    assert sorted(a.text for a in page.one("section", id="groups").all("a")) == [
        "chef",
        "cook",
        "–",
    ]
    assert (
        "the entity is not in the source"
        not in make_page(make_run([make_record()])).one("section", id="sentences").text
    )


def test_rows_stand_in_blocks_in_their_order() -> None:
    # 2,500 rows are two blocks of 1,024 and one of 452.
    records = [make_record(i, source=f"The cook ate {i}.") for i in range(2500)]
    data = page_data(make_page(make_run(records)))
    assert (data["block"], len(data["blocks"])) == (1024, 3)
    assert sources(data) == sorted(f"The [cook] ate {i}." for i in range(2500))
    assert len(run_calls(data)) == len(column_values(data, "gold")) == 2500


def test_hebrew_stands_right() -> None:
    record = make_record(source="The cook ate.", translation="הטבחית אכלה.", target=(Span(0, 6),))
    data = page_data(make_page(make_run([record], lang="he", direction="rtl")))
    assert [(run["lang"], run["dir"]) for run in data["runs"]] == [("he", "rtl")]
    assert targets(data) == ["[הטבחית] אכלה."]


def test_markup_in_the_data_stays_text() -> None:
    read = (Evidence("masculine_noun", "noun", EVIL, Span(0, len(EVIL)), M, "lexicon", EVIL),)
    record = make_record(
        0, M, id=EVIL, source=f"{EVIL} cook", translation=f"{EVIL} Koch", target=(Span(len(EVIL) + 1, len(EVIL) + 5),),
        entity=EVIL, domain=EVIL, evidence=read,
    )  # fmt: skip
    noticed: dict[str, Any] = {
        "corpus": {"name": EVIL, "rows": 1, "skipped": 0, "notes": {EVIL: 3}},
        "signature": EVIL,
    }
    noticed["translations"] = {"missing": 1, "examples": {"missing": [EVIL]}}
    text = render_html([make_run([record], EVIL, EVIL, **noticed)])
    page = read_page(text)
    assert [script.attributes for script in page.all("script")] == [
        {"type": "application/json", "id": "data"},
        {},
    ]
    assert list(page.all("img")) == []
    assert "<" not in page.one("script", id="data").text
    assert page.one("script", id="data").text.isascii()
    # Shown as it is; only in the plots' names do control characters become "?", and U+2028 is none.
    assert EVIL in page.one("h1").text
    assert EVIL in page.one("section", id="how").one("code").text
    assert table_rows(page, f"{EVIL}: noticed in the input")[1:] == [
        ["without a translation in the file", "1", EVIL],
        [EVIL, "3", ""],
    ]
    assert [row[0] for row in table_rows(page, "Accuracy by entity")] == ["entity", EVIL]
    data = page_data(page)
    assert column_values(data, "domain") == [EVIL]
    assert sentence_ids(data) == [EVIL]
    # The source holds the entity, which is marked like any other.
    assert sources(data) == [f"[{EVIL}] cook"]
    assert targets(data) == [f"{EVIL} [Koch]"]
    says = f"masculine: {EVIL}"
    assert evidence(data) == [
        [["masculine form", "noun", EVIL, "male", says, "the table of nouns", "masculine_noun"]]
    ]


def test_the_whole_answer_of_a_language_model_stands_with_its_sentence() -> None:
    records = [make_record(0), make_record(1), make_record(2)]
    answers = {"demo-1": f"{EVIL}\r\n\nDie Köchin aß ihre Suppe.", "demo-3": "x" * 5000}
    page = make_page(replace(make_run(records), answers=answers), make_run(records, "other"))
    (block,) = (unpacked(block) for block in page_data(page)["blocks"])
    assert [first for first, _ in block["answer"]] == [
        EVIL.replace("\u2028", "\n") + "\n\nDie Köchin aß ihre Suppe.", "", "x" * 2000 + " … (5,000 characters)",
    ]  # fmt: skip
    assert [other for _, other in block["answer"]] == [""] * 3


def _evidence(
    rule: str, word: str, gender: Gender | None, source: str, shows: str = "", kind: str = "noun"
) -> Evidence:
    return Evidence(rule, kind, word, Span(0, len(word)), gender, source, shows)


@pytest.mark.parametrize(
    ("read", "words", "code"),
    [
        (_evidence("feminine_noun", "Ärztin", F, "lexicon", "Ärztin"),
         "feminine form", "female (lexicon, feminine: Ärztin)"),
        (_evidence("generic_masculine", "medico", M, "lexicon", "medico"),
         "masculine form, also used of women",
         "male (lexicon, masculine, also used of women: medico)"),
        (_evidence("fixed_gender_noun", "Person", None, "lexicon", "Person"),
         "fixed grammatical gender", "silent (lexicon, fixed grammatical gender: Person)"),
        (_evidence("foreign_word", "Mover", None, "form"),
         "a foreign word", "silent (form, a foreign word)"),
        (_evidence("article", "der", None, "form", "m.nom.sg f.dat.sg", kind="determiner"),
         "no gender shown", "silent (form, m.nom.sg f.dat.sg)"),
        (_evidence("predicate_by_tagger", "byla", F, "tagger", "Gender=Fem", kind="verb"),
         "read as feminine", "female (tagger, Gender=Fem)"),
        (_evidence("unsure_alignment", "x", None, "alignment"),
         "aligned without certainty, not known as a noun for people",
         "silent (alignment, aligned without certainty, not known as a noun for people)"),
        (_evidence("no_sign_of_person", "x", None, "lexicon"),
         "nothing says that it names a person",
         "silent (lexicon, nothing says that it names a person)"),
        (_evidence("noun_by_tagger", "x", None, "tagger"), "no gender shown", "silent (tagger)"),
        (_evidence("both_nouns", "Ärzte / Ärztinnen", N, "lexicon"),
         "both forms", "neutral (lexicon, both forms)"),
        (_evidence("noun_in_its_case", "they", N, "form"), "neutral form", "neutral (form)"),
    ],
)  # fmt: skip
def test_evidence_is_told_in_words_with_the_code_beside_it(
    read: Evidence, words: str, code: str
) -> None:
    assert (evidence_words(read), evidence_code(read)) == (words, code)


# The size.


def test_a_page_that_would_be_too_large_has_fewer_sentences_and_the_same_numbers() -> None:
    run = make_run(
        [make_record(i, (F, M)[i % 2], source=f"The cook ate {i * i} {i**3}.") for i in range(4000)]
    )
    whole = render_html([run])
    limit = len(whole.encode()) - 20_000
    text = render_html([run], max_bytes=limit)
    assert len(text.encode()) <= limit
    page = read_page(text)
    data = page_data(page)
    kept = sorted(int(name.split("-")[1]) for name in sentence_ids(data))
    assert len(kept) == data["rows"] < 4000
    # As many as fit, spread evenly: from the first on, never two steps that differ by more than
    # one.
    assert kept[0] == 1
    assert kept[-1] > 3990
    assert {after - before for before, after in pairwise(kept)} <= {1, 2}
    told = " ".join(page.one("section", id="sentences").text.split())
    assert f"Here are {len(kept):,} of 4,000 sentences, spread evenly" in told
    assert f"the other {4000 - len(kept):,} are in calls.jsonl of each run" in told
    assert table_lines(page, "All numbers, in per cent") == table_lines(
        read_page(whole), "All numbers, in per cent"
    )
    # If nothing fits, nothing is left but the numbers.
    assert page_data(make_page(run, max_bytes=1000))["rows"] == 0
