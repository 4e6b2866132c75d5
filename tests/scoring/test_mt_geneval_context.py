"""MT-GenEval's contextual part: by hand on small files, what is judged of a translation, and real
references."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import mtbias
from mtbias.corpora import load_corpus
from mtbias.corpora.mt_geneval import ContextualSentence
from mtbias.entry_points import installed
from mtbias.errors import DataError, UsageError
from mtbias.scoring.comparison import compare_runs
from mtbias.scoring.mt_geneval_context import cut_joined
from mtbias.settings import ScoreSettings
from mtbias.types import Gender

PREFIX = "geneval-context-wikiprofessions"
LINES = {
    "2to1-test.en_de.en": [
        "She was born in Rome. <sep> Rossi is a baker.",
        "He met her in 1901. <sep> The teacher slept.",
        "His car broke down. <sep> The driver walked home.",
        "<sep> The doctor came.",
    ],
    "original-test.en_de.de": [
        "Rossi ist Bäckerin.",
        "Der Lehrer schlief.",
        "Der Fahrer ging heim.",
        "Die Ärztin kam.",
    ],
    "flipped-test.en_de.de": [
        "Rossi ist Bäcker.",
        "Die Lehrerin schlief.",
        "Die Fahrerin ging heim.",
        "Der Arzt kam.",
    ],
}
OTHERS = ("ar", "es", "fr", "it", "ru")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four sentences for German, the last one without a context."""
    place = tmp_path / "context"
    place.mkdir()
    for name, lines in LINES.items():
        (place / f"{PREFIX}-{name}").write_text(
            "".join(f"{line}\n" for line in lines), encoding="utf-8"
        )
    return place


def score(
    folder: Path, targets: Sequence[str | None], lang: str = "de", **settings: Any
) -> mtbias.Run:
    chosen = ScoreSettings(dataset="mt-geneval-context", data=folder, **settings)
    return mtbias.score(targets, lang, settings=chosen, allow_missing=True)


def test_the_corpus_has_both_sentences_and_the_gender_of_the_contexts_pronouns(
    folder: Path,
) -> None:
    corpus = load_corpus("mt-geneval-context", folder, lang="de")
    first, second, third, last = corpus.instances
    assert (first.id, first.row, first.source) == (
        "context-0001",
        0,
        LINES["2to1-test.en_de.en"][0],
    )
    assert (first.context, first.second) == ("She was born in Rome.", "Rossi is a baker.")
    assert (first.reference, first.other_reference) == ("Rossi ist Bäckerin.", "Rossi ist Bäcker.")
    # "He met her": pronouns of both genders
    assert [each.told for each in (first, second, third, last)] == [
        Gender.FEMALE,
        None,
        Gender.MALE,
        None,
    ]
    assert (last.context, last.second) == ("", "The doctor came.")
    assert corpus.inputs["context-0001"] == "She was born in Rome. Rossi is a baker."
    assert corpus.inputs["context-0004"] == "The doctor came."
    unpublished = {f"{name} is not the published file": 1 for name in corpus.files}
    assert (corpus.notes, len(corpus.files)) == (
        {"sentence without a context": 1, **unpublished},
        3,
    )


def test_a_word_that_only_the_flipped_reference_has_is_wrong_and_anything_else_is_right(
    folder: Path,
) -> None:
    run = score(folder, ["Rossi ist Bäckerin.", "Jemand schlief.", "Die Fahrerin ging heim.", None])
    overall = run.metrics["overall"]
    # by hand: 2 of 4 right, 1 wrong, 1 without a translation; only the first holds a word of the
    # right reference alone
    assert (overall["accuracy"], overall["coverage"], overall["decided_percent"]) == (
        50.0,
        25.0,
        100.0,
    )
    assert overall["denominators"] == {"translated": 3, "not_cut": 0}
    lines = [record.to_json() for record in run.calls]
    assert [line["correct"] for line in lines] == [True, True, False, None]
    assert lines[2]["evidence"] == {"right": (), "wrong": ("Die", "Fahrerin")}
    assert lines[3]["reason"] == "untranslated"
    by = run.metrics["by_context"]
    assert {name: (group["n"], group["accuracy"]) for name, group in by.items()} == {
        "female": (1, 100.0),
        "male": (1, 0.0),
        "not told": (2, 50.0),
    }
    assert "|variant:plain|context:given|" in run.metrics["signature"]
    assert overall["ci"]["accuracy"] == pytest.approx(
        [15.003899, 84.996101], abs=1e-6
    )  # Wilson's of 2 of 4


def test_the_variants_differ_in_case_and_punctuation(folder: Path) -> None:
    targets = ["die ist bäcker", "Der Lehrer schlief", "der Fahrer ging", "die Ärztin, ja"]
    plain, repository = (score(folder, targets, variant=name) for name in ("plain", "repository"))
    # "bäcker" is not the word "Bäcker." of the flipped reference before both are folded
    assert (plain.metrics["overall"]["accuracy"], repository.metrics["overall"]["accuracy"]) == (
        100.0,
        75.0,
    )
    assert plain.metrics["fingerprint"] != repository.metrics["fingerprint"]


def test_what_follows_a_separator_that_was_kept_is_judged_and_the_context_never_counts(
    folder: Path,
) -> None:
    run = score(
        folder,
        [
            "Der Bäcker. <sep> Rossi ist Bäckerin.",  # Bäcker. is a wrong word, of the context
            "Er traf sie. < SEP > Die Lehrerin schlief.",
            "Sein Auto ging kaputt. Der Fahrer ging heim.",  # lost it
            "Die Ärztin kam.",  # has no context to lose
        ],
    )
    assert [record.judged for record in run.calls] == [
        "Rossi ist Bäckerin.",
        "Die Lehrerin schlief.",
        None,
        "Die Ärztin kam.",
    ]
    overall = run.metrics["overall"]
    # by hand: of the three that are judged the first and the last are right
    assert overall["accuracy"] == pytest.approx(200 / 3, abs=1e-6)
    assert (overall["decided"], overall["decided_percent"], overall["denominators"]["not_cut"]) == (
        3,
        75.0,
        1,
    )
    assert run.calls[2].to_json()["reason"] == "not cut"
    assert "4 sentences, 3 judged (75.0 %)" in str(run)
    twice = score(folder, ["a <sep> b", "a <sep> b <sep> c", "a <sep>", "<sep> d"])
    assert [record.judged for record in twice.calls] == ["b", None, None, "d"]


def test_both_sentences_without_a_separator_are_refused(folder: Path) -> None:
    both = [
        "Sie wurde in Rom geboren. Rossi ist Bäckerin.",
        "Er traf sie im Jahr 1901. Der Lehrer schlief.",
    ]
    both += ["Sein Auto blieb plötzlich liegen. Der Fahrer ging heim.", "Die Ärztin kam."]
    with pytest.raises(
        DataError, match=r"alone, or of both with <sep> between them, got .* 2\.\d times as long"
    ):
        score(folder, both)


def sentence(context: str, second: str) -> ContextualSentence:
    return ContextualSentence("a", 0, f"{context} <sep> {second}", context, second, None, "", "")


@pytest.mark.parametrize(
    ("context", "target", "expected"),
    [
        ("She met Mr. Smith.", "Sie traf Dr. Schmidt. Der Bäcker schlief.", "Der Bäcker schlief."),
        (
            "She met Mr. Smith.",
            "Sie traf Dr. Schmidt, und der Bäcker schlief.",
            None,
        ),  # one sentence
        ("She met Mr. Smith.", "Sie traf ihn. Er lief. Der Bäcker schlief.", None),  # three
        (
            "She met him. He ran.",
            "Sie traf ihn. Er lief. Der Bäcker schlief.",
            "Der Bäcker schlief.",
        ),
        # the context in two, and no second sentence: the right number, and much too short in front
        (
            "She met him in Rome before he ran away from home.",
            "Ja. Sie traf ihn in Rom, bevor er davonlief.",
            None,
        ),
        ("", "Der Bäcker schlief. Er träumte.", "Der Bäcker schlief. Er träumte."),
    ],
)
def test_where_the_second_sentence_begins_is_certain_or_nothing_is_judged(
    context: str, target: str, expected: str | None
) -> None:
    assert cut_joined(sentence(context, "The baker slept."), target, "de") == expected


@pytest.mark.parametrize("lang", ["de", *OTHERS])
def test_translations_of_people_are_cut_where_they_were_joined(shared: Path, lang: str) -> None:
    # There are no references of the contexts: another sentence's stands before each, and is its
    # context.
    corpus = load_corpus("mt-geneval-context", shared / "data" / "mtgeneval" / "context", lang=lang)
    order, cut, right = random.Random(0), 0, 0
    for each in corpus.instances:
        before = order.choice(corpus.instances)
        found = cut_joined(
            sentence(before.second, each.second), f"{before.reference} {each.reference}", lang
        )
        cut += found is not None
        right += found == each.reference
    assert cut >= 0.93 * corpus.rows
    assert right >= 0.997 * cut


def test_what_is_wrong_with_the_files_is_said_in_one_line(folder: Path) -> None:
    def refused(line: str, message: str) -> None:
        path = folder / f"{PREFIX}-2to1-test.en_de.en"
        path.write_text(
            "\n".join([LINES["2to1-test.en_de.en"][0], line, *LINES["2to1-test.en_de.en"][2:]])
        )
        with pytest.raises(DataError, match=rf"en_de\.en.*:2.*{message}"):
            load_corpus("mt-geneval-context", folder, lang="de")

    refused(
        "He met her. The teacher slept.",
        "expected two sentences with one <sep> between them, got 0",
    )
    refused("He met. <sep> He ran. <sep> The teacher slept.", "one <sep> between them, got 2")
    refused("He met her. <sep>", "expected a sentence after <sep>, got nothing")
    with pytest.raises(
        UsageError, match=r"no sentences of mt-geneval-context for es in .*; there are de"
    ):
        load_corpus("mt-geneval-context", folder, lang="es")
    with pytest.raises(UsageError, match="other sentences for each language"):
        load_corpus("mt-geneval-context", folder)
    flipped = folder / f"{PREFIX}-flipped-test.en_de.de"
    flipped.write_text("Rossi ist Bäcker.\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"flipped-test\.en_de\.de.*expected 4 lines, as .*2to1.* has, got 1"
    ):
        load_corpus("mt-geneval-context", folder, lang="de")
    with pytest.raises(
        DataError, match=r"expected the folder with the files .*\(geneval-context-…\)"
    ):
        load_corpus("mt-geneval-context", flipped, lang="de")


@pytest.mark.parametrize(
    "lang", ["de", *(pytest.param(code, marks=pytest.mark.slow) for code in OTHERS)]
)
def test_original_references_are_right_and_flipped_ones_wrong_wherever_they_differ(
    shared: Path, tmp_path: Path, lang: str
) -> None:
    data = tmp_path
    for file in (shared / "data" / "mtgeneval" / "context").glob(f"*-test.en_{lang}.*"):
        lines = file.read_text(encoding="utf-8").split("\n")[:-1][::4]
        (data / file.name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    texts = {
        kind: (data / f"{PREFIX}-{kind}-test.en_{lang}.{lang}")
        .read_text(encoding="utf-8")
        .split("\n")[:-1]
        for kind in ("original", "flipped")
    }
    if lang == "fr" and lang not in installed("mtbias.languages"):
        pytest.skip("French is not installed")
    found = {kind: score(data, lines, lang, resamples=0) for kind, lines in texts.items()}
    # Words that differ in the order of their marks alone are equal (Arabic).
    pairs = list(
        zip(
            *([unicodedata.normalize("NFC", line) for line in lines] for lines in texts.values()),
            strict=True,
        )
    )
    same = sum(not set(flipped.split()) - set(original.split()) for original, flipped in pairs)
    shown = sum(bool(set(original.split()) - set(flipped.split())) for original, flipped in pairs)
    overall = {kind: run.metrics["overall"] for kind, run in found.items()}
    assert overall["original"]["accuracy"] == 100.0
    assert overall["original"]["coverage"] == pytest.approx(100 * shown / len(pairs), abs=1e-6)
    assert overall["flipped"]["accuracy"] == pytest.approx(100 * same / len(pairs), abs=1e-6)
    assert overall["flipped"]["coverage"] == 0.0


@pytest.mark.slow
def test_a_system_is_given_both_sentences_without_the_separator(
    folder: Path, tmp_path: Path
) -> None:
    settings = mtbias.EvalSettings(dataset="mt-geneval-context", data=folder, offline=True)
    run = mtbias.evaluate("demo", "de", out=tmp_path / "run", settings=settings)
    assert "|context:joined,_sentencex-" in run.metrics["signature"]
    # The demo's model knows single sentences alone: where there is a context, its one sentence
    # cannot be cut.
    assert [record.reason for record in run.calls] == ["not cut"] * 3 + [None]
    assert run.calls[0].source == LINES["2to1-test.en_de.en"][0]
    assert run.metrics["overall"]["decided"] == 1
    assert mtbias.read_run(tmp_path / "run").metrics == run.metrics


def test_runs_that_were_cut_in_another_way_are_not_compared(folder: Path) -> None:
    given = score(folder, LINES["original-test.en_de.de"])
    assert given.evaluator["context"] == "given"
    joined = replace(
        given,
        manifest=replace(given.manifest, identity={**given.manifest.identity, "context": "joined"}),
    )
    with pytest.raises(
        DataError, match="expected runs of de read by one evaluator, got context given in"
    ):
        compare_runs([given, joined])
