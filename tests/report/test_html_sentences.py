"""The sentences of a page: whole, marked, safe against what stands in the data, and small."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from mtbias.corpora import load_corpus
from mtbias.report.run_page import render_html
from mtbias.report.sentence_data import MAX_BYTES, evidence_code, evidence_words
from mtbias.types import Evidence, Reason, Span, Stereotype

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
    assert sentence_ids(data) == [f"demo-{i}" for i in range(1, 6)]
    # The mark is on the whole phrase, in any case and with any space, and not inside of other words.
    assert sources(data) == [
        "The [cook] ate her soup.",
        "A [Construction  Worker] and a [construction worker]'s car; construction workers.",
        "The coworker ate.",
        f"A {long_word}a {long_word}b [cook]",
        "The [cook] ate her soup.",
    ]
    # The head's mark wins where another overlaps it. White space that controls is a space, other controls are �.
    assert targets(data) == [
        "Die [Köchin] aß ihre Suppe.",
        "Ein [Arbeiter] vom (Bau) 😀 kam. Er ging.�",
        "",
        f"{long_word}c {long_word}",
        "",
    ]
    noun = [
        [["noun", "Köchin", words, f"{gender} (lexicon, feminine: Köchin)"]]
        for words, gender in (("feminine form", "female"), ("masculine form", "male"), ("feminine", "silent"))
    ]
    assert evidence(data) == [noun[0], noun[1], [], noun[0], noun[2]]
    assert run_calls(data) == ["female", "male", "no morphology", "female", "no morphology"]
    assert column_values(data, "entity") == ["cook", "construction worker", "worker", "cook", "cook"]


def test_what_is_filtered_by() -> None:
    records = [
        make_record(),
        make_record(1, gold=M, stereotype=Stereotype.NONE, domain="garden", pronouns=10, entity="guest"),
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
    assert options["outcome"] == [("", "all"), ("right", "right"), ("wrong", "wrong"), ("none", "no call")]
    assert options["pronouns"] == [("", "all"), ("0", "1"), ("1", "2"), ("2", "10")]
    assert options["entity"] == [("", "all"), ("0", "cook"), ("1", "guest")]
    assert [text for _, text in options["call"]] == ["all", *data["genders"]] + [
        f"none: {reason.value}" for reason in Reason
    ]
    (link,) = (a for a in page.one("section", id="groups").all("a") if a.text == "guest")
    assert link.attributes["data-entity"] == "1"


def test_an_entity_that_is_not_in_its_source_is_told() -> None:
    page = make_page(make_run([make_record(), make_record(1, entity="chef"), make_record(2, entity="")]))
    assert "In 2 sentences the entity does not stand in the source" in page.one("section", id="sentences").text
    # One without a name can still be chosen.
    assert sorted(a.text for a in page.one("section", id="groups").all("a")) == ["chef", "cook", "–"]
    assert (
        "does not stand in the source" not in make_page(make_run([make_record()])).one("section", id="sentences").text
    )


def test_rows_stand_in_blocks_in_their_order() -> None:
    # 2,500 rows are two blocks of 1,024 and one of 452.
    records = [make_record(i, source=f"The cook ate {i}.") for i in range(2500)]
    data = page_data(make_page(make_run(records)))
    assert (data["block"], len(data["blocks"])) == (1024, 3)
    assert sources(data) == [f"The [cook] ate {i}." for i in range(2500)]
    assert len(run_calls(data)) == len(column_values(data, "gold")) == 2500


def test_hebrew_stands_right() -> None:
    record = make_record(source="The cook ate.", translation="הטבחית אכלה.", target=(Span(0, 6),))
    data = page_data(make_page(make_run([record], lang="he", direction="rtl")))
    assert [(run["lang"], run["dir"]) for run in data["runs"]] == [("he", "rtl")]
    assert targets(data) == ["[הטבחית] אכלה."]


def test_markup_in_the_data_stays_text() -> None:
    read = (Evidence("noun", EVIL, M, "lexicon", EVIL),)
    record = make_record(
        0, M, id=EVIL, source=f"{EVIL} cook", translation=f"{EVIL} Koch", target=(Span(len(EVIL) + 1, len(EVIL) + 5),),
        entity=EVIL, domain=EVIL, evidence=read,
    )  # fmt: skip
    run = make_run([record], EVIL, EVIL)
    noticed = {"corpus": {"name": EVIL, "rows": 1, "skipped": 0, "notes": {EVIL: 3}}, "signature": EVIL}
    noticed["translations"] = {"missing": 1, "examples": {"missing": [EVIL]}}
    text = render_html([replace(run, metrics={**run.metrics, **noticed})])
    page = read_page(text)
    assert [script.attributes for script in page.all("script")] == [{"type": "application/json", "id": "data"}, {}]
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
    assert evidence(data) == [[["noun", EVIL, "masculine form", f"male (lexicon, {EVIL})"]]]


def test_the_whole_answer_of_a_language_model_stands_with_its_sentence() -> None:
    records = [make_record(0), make_record(1), make_record(2)]
    answers = {"demo-1": f"{EVIL}\r\n\nDie Köchin aß ihre Suppe.", "demo-3": "x" * 5000}
    page = make_page(replace(make_run(records), answers=answers), make_run(records, "other"))
    (block,) = (unpacked(block) for block in page_data(page)["blocks"])
    assert block["runs"][0]["answer"] == [
        EVIL.replace("\u2028", "\n") + "\n\nDie Köchin aß ihre Suppe.", "", "x" * 2000 + " … (5,000 characters)",
    ]  # fmt: skip
    assert "answer" not in block["runs"][1]


@pytest.mark.parametrize(
    ("read", "words", "code"),
    [
        (Evidence("noun", "Ärztin", F, "lexicon", "feminine: Ärztin"),
         "feminine form", "female (lexicon, feminine: Ärztin)"),
        (Evidence("noun", "medico", M, "lexicon", "masculine, also used of women: medico"),
         "masculine form, also used of women", "male (lexicon, masculine, also used of women: medico)"),
        (Evidence("noun", "Person", None, "lexicon", "fixed grammatical gender: Person"),
         "fixed grammatical gender", "silent (lexicon, fixed grammatical gender: Person)"),
        (Evidence("noun", "Mover", None, "form", "a foreign word"), "a foreign word", "silent (form, a foreign word)"),
        (Evidence("determiner", "der", None, "form", "m.nom.sg f.dat.sg"), "no gender shown",
         "silent (form, m.nom.sg f.dat.sg)"),
        (Evidence("verb", "byla", F, "tagger", "Gender=Fem"), "read as feminine", "female (tagger, Gender=Fem)"),
        (Evidence("noun", "kuchař", M, "corpus", "4 of 5 places"), "masculine in most places of this run",
         "male (corpus, 4 of 5 places)"),
        (Evidence("noun", "x", None, "tagger", ""), "no gender shown", "silent (tagger)"),
        (Evidence("noun", "they", N, "form", ""), "neutral form", "neutral (form)"),
    ],
)  # fmt: skip
def test_evidence_is_told_in_words_with_the_code_beside_it(read: Evidence, words: str, code: str) -> None:
    assert (evidence_words(read), evidence_code(read)) == (words, code)


# The size.


def test_a_page_that_would_be_too_large_has_fewer_sentences_and_the_same_numbers() -> None:
    run = make_run([make_record(i, (F, M)[i % 2], source=f"The cook ate {i * i} {i**3}.") for i in range(4000)])
    whole = render_html([run])
    limit = len(whole.encode()) - 20_000
    text = render_html([run], max_bytes=limit)
    assert len(text.encode()) <= limit
    page = read_page(text)
    data = page_data(page)
    kept = [int(name.split("-")[1]) for name in sentence_ids(data)]
    assert len(kept) == data["rows"] < 4000
    # As many as fit, spread evenly: from the first on, never two steps that differ by more than one.
    assert kept[0] == 1
    assert kept[-1] > 3990
    assert {after - before for before, after in pairwise(kept)} <= {1, 2}
    assert f"Here are {len(kept):,} of 4,000 sentences, spread evenly" in page.one("section", id="sentences").text
    assert table_lines(page, "All numbers, in per cent") == table_lines(read_page(whole), "All numbers, in per cent")
    # If nothing fits, nothing is left but the numbers.
    assert page_data(make_page(run, max_bytes=1000))["rows"] == 0


def _words(rng: np.random.Generator, letters: str, size: int) -> list[str]:
    """Different words of one to five syllables, the longer ones later, as frequent words are short."""
    syllables = ["".join(rng.choice(list(letters), length)) for length in rng.integers(1, 4, 150)]
    words: dict[str, None] = {}
    while len(words) < size:
        count = 1 + int(np.log10(1 + len(words)))
        words.setdefault("".join(syllables[i] for i in rng.integers(0, len(syllables), rng.integers(count, count + 2))))
    return list(words)


def _sentences(rng: np.random.Generator, letters: str, size: int, length: int, count: int) -> list[str]:
    """Sentences of independent words that are as frequent as in Zipf's law with exponent 1.19."""
    words = np.array(_words(rng, letters, size), dtype=object)
    chances = np.cumsum((np.arange(size) + 3.7) ** -1.19)
    drawn = np.searchsorted(chances, rng.random((count, length)) * chances[-1])
    return [" ".join(words[row]) for row in drawn]


def test_how_many_of_bugs_sentences_fit(shared: Path) -> None:
    # BUG's gold sentences, each with another of them as long as a translation would be. A block never sees more of a
    # text than the last 32 KiB, so more sentences of the kind take as much each: 105,687 of them would take 20 MiB.
    instances = load_corpus("bug-gold-paper", shared / "data" / "bug" / "gold_BUG.csv").instances
    others = sorted(instances, key=lambda row: len(row.source))
    texts = dict(zip((row.id for row in others), (row.source for row in [*others[1:], others[0]]), strict=True))
    records = [
        make_record(row.row, id=row.id, source=row.source, translation=texts[row.id], target=(), entity=row.entity)
        for row in instances
    ]
    run = make_run(records)
    frame = len(render_html([run], max_bytes=1).encode())
    each = (len(render_html([run]).encode()) - frame) / len(records)
    assert 70_000 < (MAX_BYTES - frame) / each < 105_687


@pytest.mark.exhaustive
def test_a_page_of_as_many_sentences_as_bug_has_is_full_at_15_mib() -> None:
    # Words drawn one by one from Zipf's law compress worse than any text: less than half of the sentences fits here.
    count = 105_687
    rng = np.random.default_rng(0)
    sources = _sentences(rng, "abcdefghijklmnoprstuvwy", 100_000, 33, count)
    translations = _sentences(rng, "абвгдежзийклмнопрстуфхцчшщыьэюя", 200_000, 33, count)
    entities = [f"{word} worker" for word in _words(rng, "abcdefgh", 300)]
    records = []
    for row, (entity, dice) in enumerate(zip(rng.exponential(40, count), rng.integers(0, 2**30, count), strict=True)):
        place, a, b = min(int(entity), 299), int(dice) % 7, int(dice) // 7
        gender = (M, F, M, F, N, None, None)[a]
        noun = Evidence("noun", f"работник{place}", gender, "lexicon", f"masculine: работник{place}")
        adjective = Evidence("adjective", ("новый", "новая")[b // 72 % 2], gender, "form", "Gender=Masc")
        records.append(
            make_record(
                row,
                gender,
                id=f"bug-{row + 1:06}",
                source=f"{sources[row]} {entities[place]}.",
                translation=f"{noun.word} {translations[row]}",
                target=(Span(0, len(noun.word)),),
                evidence=(noun, adjective),
                entity=entities[place],
                gold=(M, F)[b % 2],
                stereotype=list(Stereotype)[b // 2 % 3],
                domain=("covid19", "wikipedia")[b // 6 % 2],
                pronouns=b // 12 % 6,
            )
        )
    page = render_html([make_run(records, lang="ru")])
    assert 0.95 * MAX_BYTES < len(page.encode()) <= MAX_BYTES == 15 * 1024 * 1024
    data = page_data(read_page(page))
    assert 45_000 < data["rows"] < count
    kept = [int(name.split("-")[1]) for name in sentence_ids(data)]
    # Evenly: two or three steps from one to the next, to the end.
    assert {after - before for before, after in pairwise(kept)} == {2, 3}
    assert kept[-1] > count - 3
    assert targets(data)[-1].replace("[", "").replace("]", "") == records[kept[-1] - 1].translation
    assert f"of {count:,} sentences, spread evenly" in page
