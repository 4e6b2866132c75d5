"""Lines of translations.jsonl and calls.jsonl: their keys, their bytes, and damage that must be
noticed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtbias.errors import DataError
from mtbias.runs.call_records import (
    CallRecord,
    call_record,
    from_lines,
    join_records,
    metrics_text,
    to_lines,
    translation_from_line,
    translation_to_json,
)
from mtbias.scoring.scores import score
from mtbias.types import (
    Evidence,
    Gender,
    GenderCall,
    GenderedWord,
    Instance,
    Reason,
    Span,
    Stereotype,
    Strategy,
    Translation,
    Trust,
)

INSTANCE = Instance(
    "winomt-7", 7, "The nurse slept.", Span(4, 9), "nurse", Gender.FEMALE, Stereotype.PRO, "winobias", 1,
    distance=4, pair="winomt-8",
)  # fmt: skip
TRANSLATION = Translation("winomt-7", "La enfermera durmió.")
CALL = GenderCall(
    "winomt-7",
    Gender.FEMALE,
    None,
    (Span(3, 12), Span(0, 2)),
    (
        Evidence(
            "feminine_noun",
            "noun",
            "enfermera",
            Span(3, 12),
            Gender.FEMALE,
            "lexicon",
            "enfermera",
        ),
        Evidence("article", "determiner", "La", Span(0, 2), None, "form"),
    ),
    Gender.FEMALE,
    Strategy.FEMALE,
    (GenderedWord("La", Span(0, 2), known=True),),
    "links+lexicon",
    Trust.ALIGNED,
)
RECORD = call_record(INSTANCE, TRANSLATION, CALL)

# The keys of the contract in its order, `target_spans` beside `target`, and what comparing runs
# needs.
LINE = (
    '{"id": "winomt-7", "row": 7, "source": "The nurse slept.", "translation": "La enfermera durmió.", '
    '"entity": "nurse", "gold": "female", "stereotype": "pro", "domain": "winobias", "pronouns": 1, '
    '"distance": 4, "pair": "winomt-8", "control": null, '
    '"gender": "female", "reason": null, "target": ["enfermera", "La"], "target_spans": [[3, 12], [0, 2]], '
    '"evidence": [{"rule": "feminine_noun", "kind": "noun", "word": "enfermera", "span": [3, 12], '
    '"gender": "female", "source": "lexicon", "shows": "enfermera"}, '
    '{"rule": "article", "kind": "determiner", "word": "La", "span": [0, 2], "gender": null, '
    '"source": "form", "shows": ""}], '
    '"stanza_gender": "female", "does": "female", '
    '"edits": [{"word": "La", "span": [0, 2], "known": true}], '
    '"basis": "links+lexicon", "trust": "aligned"}'
)


def _write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def test_a_call_is_the_line_of_the_contract() -> None:
    assert list(to_lines([RECORD.to_json()])) == [LINE]
    # In memory it is the same: spans are lists.
    assert RECORD.to_json() == json.loads(LINE)


def test_a_line_is_the_call_again(tmp_path: Path) -> None:
    assert list(
        from_lines(_write(tmp_path / "calls.jsonl", LINE + "\n"), CallRecord.from_line)
    ) == [RECORD]


def test_a_call_without_gender_or_translation(tmp_path: Path) -> None:
    record = call_record(
        INSTANCE,
        Translation("winomt-7", None, "empty"),
        GenderCall("winomt-7", None, Reason.UNTRANSLATED),
    )
    (line,) = to_lines([record.to_json()])
    assert json.loads(line)["translation"] is None
    assert json.loads(line)["reason"] == "untranslated"
    assert list(
        from_lines(_write(tmp_path / "calls.jsonl", line + "\n"), CallRecord.from_line)
    ) == [record]


@given(st.lists(st.tuples(st.text(), st.none() | st.text(), st.none() | st.text()), max_size=4))
def test_translations_survive_any_text(rows: list[tuple[str, str | None, str | None]]) -> None:
    translations = [Translation(*row) for row in rows]
    lines = list(to_lines(map(translation_to_json, translations)))
    # One line each, also where the text holds characters at which str.splitlines() breaks (U+2028,
    # U+0085, …).
    assert not any("\n" in line for line in lines)
    assert [translation_from_line(line) for line in lines] == translations


def test_line_separators_within_a_text_end_no_line(tmp_path: Path) -> None:
    translations = [Translation("a", "x\u2028y\u0085z\r\n\x1cw"), Translation("b", "\v")]
    lines = to_lines(map(translation_to_json, translations))
    path = _write(tmp_path / "translations.jsonl", "".join(f"{line}\n" for line in lines))
    assert list(from_lines(path, translation_from_line)) == translations


def test_translations_have_the_keys_that_given_translations_have() -> None:
    assert translation_to_json(TRANSLATION) == {
        "id": "winomt-7",
        "target": "La enfermera durmió.",
        "reason": None,
    }


def test_half_a_surrogate_pair_cannot_be_written() -> None:
    with pytest.raises(DataError, match=r"got '\\ud83d' \(half of a surrogate pair\) in 'a'"):
        list(to_lines([translation_to_json(Translation("a", "x\ud83d"))]))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"row": 7, ', "", "row: expected this key, it is not there"),
        ('"row": 7', '"row": "7"', "row: expected a whole number, got '7'"),
        ('"row": 7', '"row": true', "row: expected a whole number, got True"),
        (
            '"row": 7',
            '"row": 7, "line": 8',
            "line: unknown key; there are basis, control, corpus_pronouns, distance",
        ),
        (
            '"gold": "female"',
            '"gold": "woman"',
            "gold: expected male, female or neutral, got 'woman'",
        ),
        ('"gold": "female"', '"gold": 3', "gold: expected male, female or neutral, got 3"),
        ('"reason": null', '"reason": "unaligned"', "either a gender or a reason"),
        (
            '"reason": null',
            '"reason": "lost"',
            "reason: expected untranslated, unaligned, no morphology, no person, copied or ambiguous",
        ),
        ("[3, 12]", "[3]", "target_spans.0"),
        ('"kind": "noun"', '"kind": 1', "evidence.0.kind: expected text, got 1"),
        ('"evidence": [{', '"evidence": [7, {', "evidence.0: expected a table, got 7"),
        ('{"id"', '{id"', "Invalid JSON: key must be a string"),
        (LINE, "[]", "expected a table, got"),
        (LINE, "", "Invalid JSON: EOF"),
    ],
)
def test_a_damaged_line_is_noticed_with_path_and_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in LINE
    path = _write(tmp_path / "calls.jsonl", LINE + "\n" + LINE.replace(old, new, 1) + "\n")
    with pytest.raises(DataError, match=message) as caught:
        list(from_lines(path, CallRecord.from_line))
    assert str(caught.value).startswith(f"{path}:2: ")


def test_bytes_that_are_no_utf8_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "translations.jsonl"
    path.write_bytes(b'{"id": "\xff"}\n')
    with pytest.raises(DataError, match=r"translations.jsonl:1: damaged line: "):
        list(from_lines(path, translation_from_line))


def test_no_lines_are_no_values(tmp_path: Path) -> None:
    assert list(from_lines(_write(tmp_path / "empty.jsonl", ""), CallRecord.from_line)) == []


def _three() -> tuple[list[Instance], list[Translation], list[GenderCall]]:
    ids = ("c", "a", "b")
    return (
        [replace(INSTANCE, id=id_, row=row) for row, id_ in enumerate(ids)],
        [replace(TRANSLATION, id=id_) for id_ in sorted(ids)],
        [replace(CALL, id=id_) for id_ in sorted(ids, reverse=True)],
    )


def test_records_stand_in_the_order_of_the_corpus() -> None:
    records = list(join_records(*_three()))
    assert [(record.id, record.row, record.call.id) for record in records] == [
        ("c", 0, "c"),
        ("a", 1, "a"),
        ("b", 2, "b"),
    ]


def test_the_scores_can_be_computed_from_the_records() -> None:
    instances, translations, calls = _three()
    records = list(join_records(instances, translations, calls))
    again = [
        CallRecord.from_line(line) for line in to_lines(record.to_json() for record in records)
    ]
    assert score(again, n_resamples=50).to_json() == score(records, n_resamples=50).to_json()


def test_metrics_text_is_json_with_a_line_a_group() -> None:
    metrics = {
        "schema": 1,
        "overall": {"n": 2},
        "by_domain": {"a": {"n": 1}, "ё": {"n": 1}},
        "by_entity": {},
    }
    text = metrics_text(metrics)
    assert json.loads(text) == metrics
    assert text == (
        '{\n "schema": 1,\n "overall": {"n": 2},\n "by_domain": {\n  "a": {"n": 1},\n  "ё": {"n": 1}\n },\n'
        ' "by_entity": {}\n}\n'
    )
    with pytest.raises(ValueError, match="JSON compliant"):
        metrics_text({"x": float("nan")})
