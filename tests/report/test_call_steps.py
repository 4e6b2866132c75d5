"""How a call came about, folded below its sentence: what a page says without its script, and the
command that says the rest."""

from __future__ import annotations

import os
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mtbias.reading import says
from mtbias.report.call_steps import WHY, explain_command, shell_word, why_taken
from mtbias.report.report_runs import report_run
from mtbias.report.run_page import render_html
from mtbias.runs.finished_run import read_run
from mtbias.types import Evidence, Gender, GenderCall, Reason, Span, Trust

from .page_reader import F, M, N, Node, cook_evidence, make_record, make_run, page_data, read_page
from .run_maker import make_records, write_run

DIE = Evidence("article", "determiner", "Die", Span(0, 3), F, "form", "f.acc.sg f.nom.sg")
ANY = Evidence("article", "determiner", "der", Span(0, 3), None, "form", "f.dat.sg m.nom.sg")


def _page(*records: Any, explain: str = "") -> Node:
    return read_page(render_html([replace(make_run(records), explain=explain)]))


def _folds(page: Node) -> list[dict[str, list[str]]]:
    """The folds of the list: for each what its terms (`word`, `noun`, `call` …) say."""
    folds = []
    for fold in page.one("ol", id="list").all("details"):
        content: dict[str, list[str]] = {}
        for term, text in zip(fold.all("dt"), fold.all("dd"), strict=True):
            content.setdefault(term.text, []).append(text.text)
        folds.append(content)
    return folds


def test_each_sentence_has_a_fold_with_the_rule_of_each_piece_of_evidence() -> None:
    read = {
        "demo-1": (cook_evidence(F), DIE),
        "demo-2": (cook_evidence(M), ANY),
        "demo-3": (),
    }
    genders = {"demo-1": F, "demo-2": M, "demo-3": None}
    records = [
        make_record(row, genders[id_], evidence=pieces)
        for row, (id_, pieces) in enumerate(read.items())
    ]
    page = _page(*records)
    items = list(page.one("ol", id="list").all("li"))
    folds = _folds(page)
    assert len(items) == len(folds) == len(records)
    for item, fold in zip(items, folds, strict=True):
        pieces = read[_id_of(item)]
        shown = [text for kind in ("noun", "determiner") for text in fold.get(kind, ())]
        assert len(shown) == len(pieces)
        for text, piece in zip(shown, pieces, strict=True):
            assert text.startswith(f"{piece.word}: {piece.gender or 'silent'} ({says(piece)})")
            assert f"rule {piece.rule}, from the table of" in text


def _id_of(item: Node) -> str:
    return next(item.all("small")).text.split(" · ")[0]


def test_the_fold_marks_the_evidence_that_the_call_rests_on() -> None:
    # The first piece that says the gender of the call: the noun is silent, the article says it.
    (fold,) = _folds(_page(make_record(0, F, evidence=(cook_evidence(None), DIE))))
    assert not fold["noun"][0].endswith("the call rests on it")
    assert fold["determiner"][0].endswith("← the call rests on it")
    assert fold["call"] == ["female"]


@pytest.mark.parametrize(
    ("gender", "pieces", "place"),
    [
        (F, (DIE, cook_evidence(F)), 0),
        (F, (cook_evidence(M), DIE), 1),
        (M, (cook_evidence(F),), None),
        (N, (), None),
        (None, (DIE,), None),
    ],
)
def test_the_deciding_piece_is_of_the_kind_that_numbers_count(
    gender: Gender | None, pieces: tuple[Evidence, ...], place: int | None
) -> None:
    call = GenderCall("1", gender, None if gender else Reason.AMBIGUOUS, evidence=pieces)
    assert call.decisive == place
    if place is not None:
        assert call.decided_by == pieces[place].kind


@pytest.mark.parametrize("reason", Reason)
def test_a_sentence_without_a_call_has_its_reason(reason: Reason) -> None:
    translation = None if reason is Reason.UNTRANSLATED else "Die Köchin aß."
    record = make_record(0, None, reason=reason, translation=translation, target=(), evidence=())
    page = _page(record, explain="mtbias explain run")
    (fold,) = _folds(page)
    assert fold["call"] == [f"none: {reason}, {WHY[reason]}"]
    # What has no translation has no steps.
    assert ("all steps" in fold) == (translation is not None)
    data = page_data(page)
    assert data["why"][data["calls"].index(reason)] == WHY[reason]


@pytest.mark.parametrize(
    ("basis", "trust", "reason", "expected"),
    [
        ("links", Trust.ALIGNED, None, ("linked to the entity by the aligner", "aligned, links")),
        ("elimination", Trust.IN_COMPOUND, None,
         ("the beginning of a compound", "in a compound, elimination")),
        ("unheard of", Trust.ALIGNED, None, ("", "aligned, unheard of")),
        (None, None, Reason.COPIED, ("a word of the source", "")),
        (None, None, None, ("", "")),
    ],
)  # fmt: skip
def test_why_a_word_was_taken(
    basis: str | None, trust: Trust | None, reason: Reason | None, expected: tuple[str, str]
) -> None:
    gender = None if reason else F
    call = GenderCall("1", gender, reason, (Span(0, 1),), basis=basis, trust=trust)
    assert why_taken(call) == expected


def test_the_word_and_the_second_reader_stand_in_the_fold() -> None:
    record = make_record(0, M, basis="lexicon", trust=Trust.ALIGNED, stanza_gender=F)
    (fold,) = _folds(_page(record))
    assert fold["word"] == ["Köchin: a translation of the entity aligned, lexicon"]
    assert fold["Stanza alone"] == ["female"]


def test_text_in_a_fold_stays_text() -> None:
    translation = "Die <b>Köchin</b> & ihre Suppe"
    piece = replace(cook_evidence(F), word="<b>Köchin</b> &", shows="<i>&amp;")
    record = make_record(
        0, F, id="<b>&", translation=translation, target=(Span(4, 17),), evidence=(piece,)
    )
    page = _page(record, explain="mtbias explain 'a & <b>'")
    (item,) = page.one("ol", id="list").all("li")
    (fold,) = _folds(page)
    assert fold["word"] == ["<b>Köchin</b>"]
    assert fold["noun"][0].startswith("<b>Köchin</b> &: female (feminine: <i>&amp;)")
    assert fold["all steps"] == ["mtbias explain 'a & <b>' '<b>&'"]
    # The only bold words are those of the fold itself: what the noun says, and the call.
    assert [bold.text for bold in item.all("b")] == ["female", "female"]
    assert list(item.all("i")) == []


def test_the_example_of_the_finding_has_its_fold() -> None:
    # Ten men called right and ten women called wrong: the widest gap, and its example is a woman.
    records = [make_record(row, M, gold=(M, F)[row % 2]) for row in range(20)]
    quote = {"id": "demo-2", "source": "The cook ate her soup.", "translation": "x"}
    said = {"rule": "entity", "text": "cook", "quote": {**quote, "gold": "female", "call": "male"}}
    run = make_run(records, finding=[{"rule": "found", "text": "It finds."}, said])
    page = read_page(render_html([replace(run, explain="mtbias explain run")]))
    fold = page.one("figure", **{"class": "quote"}).one("details")
    assert fold.text.split()[-3:] == ["explain", "run", "demo-2"]


# The command.


def test_the_command_names_the_folder_of_the_run_as_a_shell_takes_it(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "it's my run", "opus", make_records([True, False] * 4))
    command = explain_command(read_run(folder))
    assert shlex.split(command) == ["mtbias", "explain", str(folder)]
    page = read_page(render_html([report_run(read_run(folder))]))
    assert page_data(page)["explain"] == [command]
    shown = [fold["all steps"][0] for fold in _folds(page)]
    assert len(shown) == 5
    for text in shown:
        assert shlex.split(text)[:3] == ["mtbias", "explain", str(folder)]
        assert shlex.split(text)[3] in {f"r{n}" for n in range(8)}


@pytest.mark.parametrize(
    "word", ["plain-1", "two words", "it's", "Köchin", "tab\there", "line\u2028end", "b\udce4r\\'"]
)
def test_a_shell_reads_the_word_that_was_meant(word: str) -> None:
    written = shell_word(word)
    assert written.isprintable()
    read = subprocess.run(["bash", "-c", f"printf %s {written}"], capture_output=True, check=True)
    assert read.stdout == os.fsencode(word)


def test_a_run_without_a_folder_has_no_command(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path / "run", "opus", make_records([True] * 8)))
    kept = replace(run, records=run.calls, folder=None)
    assert explain_command(kept) == ""
    page = read_page(render_html([report_run(kept)]))
    assert all("all steps" not in fold for fold in _folds(page))
    assert "The command at the end" not in page.one("section", id="sentences").text


@pytest.mark.parametrize(
    ("identity", "options"),
    [
        ({"aligner": "mtbias-agree/1"}, ""),
        ({"aligner": "eflomal/2.0"}, "--aligner eflomal"),
        ({"aligner": f"neural(some/one@{'0' * 40},8)"},
         f"--aligner neural --aligner-model some/one@{'0' * 40} --aligner-layer 8"),
        ({"aligner": "mtbias-agree/1+neural(my (own) bert@sha256:ab,2)"},
         "--aligner statistical+neural --aligner-model 'my (own) bert' --aligner-layer 2"),
        ({"evidence": "stanza/1"}, "--evidence stanza"),
        ({"stanza": "stanza/1.15.0(tokenize=demo:c82e,mwt=demo:f22a,pos=demo:46ff)"},
         "--stanza-dir mtbias:demo"),
    ],
)  # fmt: skip
def test_the_command_has_the_evaluator_of_the_run(
    identity: dict[str, str], options: str, tmp_path: Path
) -> None:
    run = read_run(write_run(tmp_path / "run", "opus", make_records([True] * 8), **identity))
    assert explain_command(run) == " ".join(f"mtbias explain {options} {run.path}".split())
