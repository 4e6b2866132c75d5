"""What is kept of calls and alarms: never another answer than the one that is computed."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from mtbias.demo import reference_file
from mtbias.evaluation import gender_calls
from mtbias.evaluation.gender_calls import GenderMeasure
from mtbias.evaluation.preparation import prepare_score
from mtbias.evaluation.stages import evaluate
from mtbias.files import kept_results
from mtbias.files.kept_results import NOTHING_KEPT, KeptResults, code_digest
from mtbias.files.strict_json import decoded, encoded
from mtbias.reading.rules import RULES, without
from mtbias.settings import ScoreSettings
from mtbias.translate.given_translations import given_file
from mtbias.types import (
    Evidence,
    Gender,
    GenderCall,
    GenderedWord,
    Reason,
    Span,
    Strategy,
    Trust,
)

# One with every field, and one without a gender.
CALLS = [
    GenderCall(
        "a", Gender.FEMALE, None, (Span(4, 10),),
        (Evidence("feminine_noun", "noun", "Köchin", Span(4, 10), Gender.FEMALE, "lexicon", "Köchin"),),
        Gender.FEMALE, Strategy.FEMALE, (GenderedWord("Köchin", Span(4, 10), known=True),),
        "links", Trust.ALIGNED,
    ),
    GenderCall("b", None, Reason.UNALIGNED),
]  # fmt: skip


def test_calls_come_back_as_they_were() -> None:
    assert decoded(list[GenderCall], encoded(list[GenderCall], CALLS)) == CALLS


def test_a_result_is_that_of_its_name_and_inputs(tmp_path: Path) -> None:
    kept = KeptResults(tmp_path)
    kept.keep("calls", ["de", "Die Köchin"], b"first")
    kept.keep("calls", ["de", "Der Koch"], b"second")
    assert kept.get("calls", ["de", "Die Köchin"]) == b"first"
    assert kept.get("calls", ["de", "Der Koch"]) == b"second"
    assert kept.get("signs", ["de", "Der Koch"]) is None
    assert kept.get("calls", ["es", "Der Koch"]) is None
    # Half a letter, as a damaged file of translations has them.
    kept.keep("calls", ["\ud800"], b"third")
    assert kept.get("calls", ["\ud800"]) == b"third"


@pytest.mark.parametrize("damage", ["a byte", "cut", "empty"])
def test_a_damaged_result_is_none(tmp_path: Path, damage: str) -> None:
    kept = KeptResults(tmp_path)
    kept.keep("calls", [], b"one line" * 100)
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    changed = content[:-1] + bytes([content[-1] ^ 1])  # of the checksum
    path.write_bytes({"a byte": changed, "cut": content[:-6], "empty": b""}[damage])
    assert kept.get("calls", []) is None
    kept.keep("calls", [], b"again")
    assert kept.get("calls", []) == b"again"


def test_what_nobody_asked_for_in_a_long_time_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_results, "MOST", 2)
    kept = KeptResults(tmp_path)
    for name in ("one", "two"):
        kept.keep(name, [], b"")
    for path in tmp_path.iterdir():
        os.utime(path, (1, 1))
    assert kept.get("one", []) == b""  # which makes it the newer
    kept.keep("three", [], b"")
    assert (kept.get("one", []), kept.get("two", []), kept.get("three", [])) == (b"", None, b"")


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = KeptResults(tmp_path / "file" / "results")
    kept.keep("calls", [], b"first")
    assert kept.get("calls", []) is None
    NOTHING_KEPT.keep("calls", [], b"first")
    assert NOTHING_KEPT.get("calls", []) is None


def test_another_code_or_data_has_other_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "toy_speed_plugin"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    nouns = package / "data" / "nouns.tsv"
    nouns.write_text("Köchin\tf\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    # This process could have loaded another code than that which was written since.
    code_digest.cache_clear()
    assert code_digest(("mtbias", "toy_speed_plugin")) is None
    monkeypatch.setattr(kept_results, "_LOADED", time.time_ns() + 10**12)
    digests = []
    for content in ("Köchin\tf\n", "Köchin\tm\n", "Köchin\tf\n"):
        nouns.write_text(content)
        code_digest.cache_clear()
        digests.append(code_digest(("mtbias", "toy_speed_plugin")))
    assert digests[0] == digests[2] != digests[1]
    (package / "syntax.py").write_text("1\n")
    code_digest.cache_clear()
    assert code_digest(("mtbias", "toy_speed_plugin")) not in [None, *digests]
    assert code_digest(("mtbias",)) not in digests
    assert code_digest(("mtbias", "no_such_package_at_all")) is None
    kept = KeptResults(tmp_path / "results", ["no_such_package_at_all"])
    kept.keep("calls", [], b"first")
    assert kept.get("calls", []) is None


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> ScoreSettings:
    """Those of the demo, with a cache of its own."""
    return ScoreSettings(
        dataset="demo",
        part=True,
        stanza_dir=Path("mtbias:demo"),
        cache_dir=tmp_path_factory.mktemp("home") / "cache",
        device="cpu",
        resamples=200,
    )


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """80 of the demo's translations into German."""
    path = tmp_path_factory.mktemp("given") / "de.tsv"
    rows = reference_file("de").read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(rows[:81]), encoding="utf-8")
    return path


def _files(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in ("calls.jsonl", "metrics.json")]


def test_runs_with_and_without_kept_results_have_the_same_bytes(
    settings: ScoreSettings, given: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New, kept, and with nothing to keep in; the kept ones align and read nothing."""
    evaluate(
        prepare_score(given_file(given, allow_missing=True), "de", settings), out=tmp_path / "new"
    )
    request = prepare_score(given_file(given, allow_missing=True), "de", settings)
    assert isinstance(request.measure, GenderMeasure)
    nothing = replace(request, measure=replace(request.measure, results=NOTHING_KEPT))
    evaluate(nothing, out=tmp_path / "nothing")
    with monkeypatch.context() as patch:
        patch.setattr(gender_calls, "decide", None)
        evaluate(request, out=tmp_path / "kept")
    assert _files(tmp_path / "new") == _files(tmp_path / "kept") == _files(tmp_path / "nothing")


def test_one_changed_translation_has_its_own_call(
    settings: ScoreSettings, given: Path, tmp_path: Path
) -> None:
    rows = given.read_text(encoding="utf-8").splitlines()
    evaluate(
        prepare_score(given_file(given, allow_missing=True), "de", settings), out=tmp_path / "one"
    )
    before = [json.loads(line) for line in _files(tmp_path / "one")[0].splitlines()]
    at = next(n for n, line in enumerate(before) if line["gender"] == "female")
    id_ = before[at]["id"]
    changed = [row if row.split("\t")[0] != id_ else f"{id_}\tEs regnet." for row in rows]
    assert changed != rows
    (tmp_path / "given.tsv").write_text("\n".join(changed) + "\n", encoding="utf-8")
    evaluate(
        prepare_score(given_file(tmp_path / "given.tsv", allow_missing=True), "de", settings),
        out=tmp_path / "two",
    )
    after = [json.loads(line) for line in _files(tmp_path / "two")[0].splitlines()]
    assert after[at]["gender"] is None


def test_a_rule_that_is_switched_off_is_not_answered_by_what_is_kept(
    settings: ScoreSettings, given: Path, tmp_path: Path
) -> None:
    translations = given_file(given, allow_missing=True)
    evaluate(prepare_score(translations, "de", settings), out=tmp_path / "with")
    with without(*RULES):
        evaluate(prepare_score(translations, "de", settings), out=tmp_path / "without")
    evaluate(prepare_score(translations, "de", settings), out=tmp_path / "again")
    assert _files(tmp_path / "with") == _files(tmp_path / "again")
    assert _files(tmp_path / "with")[0] != _files(tmp_path / "without")[0]
