"""MT-GenEval: the authors' measure on small files by hand, and on real outputs against published
outcomes and BLEU."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import mtbias
from mtbias.corpora import load_corpus
from mtbias.errors import DataError, SettingError, UsageError
from mtbias.evaluation.stages import repeat_numbers
from mtbias.scoring.comparable_runs import differing_rows
from mtbias.scoring.comparison import compare_runs
from mtbias.scoring.measure import MeasureOptions
from mtbias.scoring.mt_geneval_words import MT_GENEVAL, score_numbers
from mtbias.settings import ScoreSettings
from mtbias.translate.system import Translated
from mtbias.types import Translation, quiet
from tests.cli.machine import run_here

SENTENCES = {
    ("feminine", "en"): ["She is a baker.", "Her teacher slept."],
    ("masculine", "en"): ["He is a baker.", "His teacher slept."],
    ("feminine", "de"): ["Sie ist Bäckerin.", "Ihre Lehrerin schlief."],
    ("masculine", "de"): ["Er ist Bäcker.", "Sein Lehrer schlief."],
}


SOURCES = [*SENTENCES["feminine", "en"], *SENTENCES["masculine", "en"]]
"""The sources in the corpus's order."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two pairs of sentences for German."""
    place = tmp_path / "sentences"
    place.mkdir()
    for (gender, side), lines in SENTENCES.items():
        name = f"geneval-sentences-{gender}-test.en_de.{side}"
        (place / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return place


def score(folder: Path, targets: Sequence[str | None], **settings: Any) -> mtbias.Run:
    """The run of these translations of the four sentences, feminine ones first."""
    chosen = ScoreSettings(dataset="mt-geneval", data=folder, **settings)
    return mtbias.score(targets, "de", settings=chosen, allow_missing=True)


def test_the_corpus_is_all_feminine_sentences_and_then_all_masculine_ones(folder: Path) -> None:
    corpus = load_corpus("mt-geneval", folder, lang="de")
    assert [(i.id, i.row, i.source, i.pair) for i in corpus.instances] == [
        ("feminine-001", 0, "She is a baker.", "masculine-001"),
        ("feminine-002", 1, "Her teacher slept.", "masculine-002"),
        ("masculine-001", 2, "He is a baker.", "feminine-001"),
        ("masculine-002", 3, "His teacher slept.", "feminine-002"),
    ]
    first = corpus.instances[0]
    assert (first.reference, first.other_reference) == ("Sie ist Bäckerin.", "Er ist Bäcker.")
    assert len(corpus.files) == 4


def test_a_word_that_only_the_other_reference_has_is_wrong_and_anything_else_is_right(
    folder: Path,
) -> None:
    run = score(
        folder,
        [
            "Sie ist Bäckerin.",  # right
            "Jemand schlief.",  # right without evidence: no word of either reference but the common one
            "Er ist Bäckerin.",  # wrong (Bäckerin.), with evidence (Er)
            "Sein Lehrer schlief.",  # right
        ],
    )
    overall = run.metrics["overall"]
    # by hand: 3 of 4 right; 3 of 4 hold a word of the right reference alone; of the two pairs, the
    # second is right
    assert overall["accuracy"] == 75.0
    assert (overall["accuracy_feminine"], overall["accuracy_masculine"], overall["gender_gap"]) == (
        100.0,
        50.0,
        -50.0,
    )
    assert (overall["accuracy_pairs"], overall["coverage"]) == (50.0, 75.0)
    assert overall["denominators"] == {"translated": 4, "feminine": 2, "masculine": 2, "pairs": 2}
    lines = [record.to_json() for record in run.calls]
    assert [line["correct"] for line in lines] == [True, True, False, True]
    assert [line["pair_correct"] for line in lines] == [False, True, False, True]
    assert lines[2]["evidence"] == {"right": ("Er",), "wrong": ("Bäckerin.",)}
    assert lines[1]["evidence"] == {"right": (), "wrong": ()}


def test_the_variants_differ_in_case_and_punctuation_and_the_signature_names_them(
    folder: Path,
) -> None:
    targets = [
        "sie ist Bäckerin",
        "Ihre Lehrerin schlief",
        "er ist die Bäckerin, ja",
        "Sein Lehrer schlief",
    ]
    plain, repository = (score(folder, targets, variant=name) for name in ("plain", "repository"))
    # "Bäckerin," is not the word "Bäckerin." of the reference at white space; without punctuation
    # it is.
    assert (
        plain.metrics["overall"]["accuracy_masculine"],
        repository.metrics["overall"]["accuracy_masculine"],
    ) == (
        100.0,
        50.0,
    )
    assert "|variant:plain|" in plain.metrics["signature"]
    assert "|variant:repository|" in repository.metrics["signature"]
    assert "|quality:bleu:" in plain.metrics["signature"]
    assert plain.metrics["fingerprint"] != repository.metrics["fingerprint"]


def test_a_missing_translation_is_neither_right_nor_wrong_and_counts_in_the_denominator(
    folder: Path,
) -> None:
    run = score(folder, ["Sie ist Bäckerin.", None, "Er ist Bäcker.", "Sein Lehrer schlief."])
    overall = run.metrics["overall"]
    assert (overall["n"], overall["accuracy"], overall["accuracy_pairs"]) == (4, 75.0, 50.0)
    assert overall["denominators"]["translated"] == 3
    assert [record.correct for record in run.calls] == [True, None, True, True]


def test_what_is_wrong_with_the_files_is_said_in_one_line(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no sentences of mt-geneval for es in .*; there are de"):
        load_corpus("mt-geneval", folder, lang="es")
    with pytest.raises(UsageError, match="other sentences for each language"):
        load_corpus("mt-geneval", folder)
    with pytest.raises(DataError, match="expected the folder"):
        load_corpus("mt-geneval", folder / "geneval-sentences-feminine-test.en_de.en", lang="de")
    with pytest.raises(
        UsageError, match=r"expected files like geneval-sentences-feminine-test\.en_de\.en"
    ):
        load_corpus("mt-geneval", tmp_path, lang="de")
    masculine = folder / "geneval-sentences-masculine-test.en_de.de"
    masculine.write_text("Er ist Bäcker.\n", encoding="utf-8")
    with pytest.raises(
        DataError,
        match=r"expected 2 lines, as geneval-sentences-feminine-test\.en_de\.en has, got 1",
    ):
        load_corpus("mt-geneval", folder, lang="de")
    masculine.write_text("\nSein Lehrer schlief.\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"en_de\.de.*:1.*expected a sentence, got an empty line"):
        load_corpus("mt-geneval", folder, lang="de")
    masculine.unlink()
    with pytest.raises(DataError, match="there is no such file"):
        load_corpus("mt-geneval", folder, lang="de")


def test_the_variant_belongs_to_this_data_set_alone() -> None:
    texts = ["x"] * load_corpus("demo", None).rows
    with pytest.raises(SettingError, match=r"variant.*mt-geneval"):
        mtbias.score(texts, "de", settings=ScoreSettings(dataset="demo", variant="plain"))


def test_given_scores_have_means_by_gender_and_a_gap_over_pairs(
    folder: Path, tmp_path: Path
) -> None:
    table = tmp_path / "comet.tsv"
    values = [0.5, 0.75, 0.875, 0.625]
    rows = [f"{line}\t{value}" for line, value in zip(SOURCES, values, strict=True)]
    table.write_text(
        "\n".join(["source\tCOMET", *reversed(rows)]), encoding="utf-8"
    )  # in any order
    run = score(folder, ["x"] * 4, scores=table)
    overall = run.metrics["overall"]
    # by hand: (0.5 + 0.75) / 2, (0.875 + 0.625) / 2, and their difference; too few pairs for
    # intervals
    assert (overall["score_feminine"], overall["score_masculine"], overall["score_gap"]) == (
        0.625,
        0.75,
        0.125,
    )
    assert overall["ci"]["score_gap"] is None
    assert [record.score for record in run.calls] == values
    digest = sha256(table.read_bytes()).hexdigest()[:16]
    assert f"|scores:COMET#{digest}|" in run.metrics["signature"]
    assert "Given score, feminine" in str(run)
    assert " 0.625" in str(run)
    without = score(folder, ["x"] * 4)
    assert "score_gap" not in without.metrics["overall"]
    assert "score" not in without.calls[0].to_json()
    with pytest.raises(SettingError, match=r"scores.*mt-geneval"):
        mtbias.score(["x"], "de", settings=ScoreSettings(dataset="demo", scores=table))


def test_the_interval_of_the_gap_is_that_of_the_pairs_differences() -> None:
    made = np.random.Generator(np.random.PCG64(5))
    feminine = made.normal(80, 10, size=200)
    masculine = feminine + made.normal(1, 2, size=200)  # a pair's scores are alike
    found = score_numbers(
        list(zip(feminine.tolist(), masculine.tolist(), strict=True)), n_resamples=4000, seed=0
    )
    differences = masculine - feminine
    gap, ends = found["score_gap"].value, found["score_gap"].interval
    assert gap == pytest.approx(differences.mean())
    # scipy's interval of a mean of differences: independent of the resampling
    low, high = stats.t.interval(0.95, 199, differences.mean(), stats.sem(differences))
    assert ends == pytest.approx((low, high), abs=0.05)
    low, high = stats.t.interval(0.95, 199, feminine.mean(), stats.sem(feminine))
    assert found["score_feminine"].interval == pytest.approx((low, high), abs=0.2)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            ["id\tCOMET", "feminine-001\t0.5", "feminine-001\t0.5"],
            r":3.*id 'feminine-001' occurs twice",
        ),
        (["id\tCOMET", "feminine-001\tgood"], r":2.*COMET: expected a number, got 'good'"),
        (["id\tCOMET", "feminine-001\tnan"], r":2.*COMET: expected a number, got 'nan'"),
        (
            ["id\tCOMET", "feminine-001\t0.5"],
            r"a score for each of 4 sentences, got none for 3.*'feminine-002'",
        ),
        (
            ["id\tCOMET", "feminine-009\t0.5"],
            r":2.*expected the id of a sentence that is scored, such as .*, got 'feminine-009'",
        ),
        (
            ["source\tCOMET", "Hello.\t0.5"],
            r":2.*expected the source of a sentence that is scored, such as .*, got 'Hello\.'",
        ),
        (["COMET", "0.5"], r":1.*expected the columns 'id' or 'source', and one"),
        (
            ["id\tCOMET\tMetricX", "feminine-001\t0.5\t1"],
            r":1.*and one with the name of the score; got 'id', ",
        ),
    ],
)
def test_scores_that_cannot_be_joined_are_refused_with_their_line(
    folder: Path, tmp_path: Path, lines: list[str], message: str
) -> None:
    table = tmp_path / "scores.tsv"
    table.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        score(folder, ["x"] * 4, scores=table)


def test_scores_by_source_need_a_source_of_its_own_for_each_sentence(
    folder: Path, tmp_path: Path
) -> None:
    source = folder / "geneval-sentences-masculine-test.en_de.en"
    source.write_text(
        "He is a baker.\nHer teacher slept.\n", encoding="utf-8"
    )  # as the feminine one
    table = tmp_path / "scores.tsv"
    table.write_text("source\tCOMET\nHer teacher slept.\t0.5\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"expected the column 'id', since two sentences have one source"
    ):
        score(folder, ["x"] * 4, scores=table)


def test_translations_of_a_second_time_are_compared_with_those_of_the_first(folder: Path) -> None:
    corpus = load_corpus("mt-geneval", folder, lang="de")
    measure = MT_GENEVAL.open(MeasureOptions(lang="de", settings=ScoreSettings(), device=None))
    times = [
        [Translation(each.id, text) for each, text in zip(corpus.instances, texts, strict=True)]
        for texts in (["Sie ist Bäckerin."] * 4, ["Sie ist Bäckerin."] * 3 + ["Lehrer"])
    ]
    first = measure.judge(corpus.instances, times[0], quiet)
    request: Any = SimpleNamespace(corpus=corpus, measure=measure, kind=MT_GENEVAL, seed=0)
    found = repeat_numbers(request, Translated(times[0], {}, repeats=times[1:]), first, quiet)[
        "repeats"
    ]
    assert (found["times"], found["translations_changed"]["count"]) == (2, 1)
    # Sie and Bäckerin. are right in the first sentence alone, and wrong in the third; nothing is in
    # the last
    assert found["numbers"]["accuracy"]["values"] == [75.0, 75.0]


def test_two_systems_are_compared_by_pairs(tmp_path: Path) -> None:
    # Twelve pairs. The first system has all right; the second takes the other gender's reference
    # for both sentences of six pairs.
    lines = {
        ("feminine", "en"): [f"She is baker {n}." for n in range(12)],
        ("masculine", "en"): [f"He is baker {n}." for n in range(12)],
        ("feminine", "de"): [f"Sie ist Bäckerin {n}." for n in range(12)],
        ("masculine", "de"): [f"Er ist Bäcker {n}." for n in range(12)],
    }
    for (gender, side), texts in lines.items():
        name = f"geneval-sentences-{gender}-test.en_de.{side}"
        (tmp_path / name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    feminine, masculine = lines["feminine", "de"], lines["masculine", "de"]
    right = score(tmp_path, [*feminine, *masculine])
    half = score(tmp_path, [*masculine[:6], *feminine[6:], *feminine[:6], *masculine[6:]])
    compared = compare_runs([right, half], names=["right", "half"])
    (pair,) = compared.pairs
    found = {key: (d.first, d.second, d.difference) for key, d in pair.plain.items()}
    assert (
        found["accuracy"]
        == found["accuracy_pairs"]
        == found["accuracy_feminine"]
        == (100.0, 50.0, 50.0)
    )
    assert found["gender_gap"] == (0.0, 0.0, 0.0)
    # Six pairs differ, and both sentences of one are exchanged together: 2 of 2**6 exchanges give
    # as much. As 12 sentences it would be 2 of 2**12.
    assert pair.plain["accuracy"].p == pytest.approx(2 / 2**6)
    assert pair.plain["accuracy_pairs"].p == pytest.approx(2 / 2**6)
    assert (pair.differing, pair.mcnemar.both, pair.mcnemar.first_only, pair.mcnemar.neither) == (
        6,
        6,
        6,
        0,
    )
    # The interval is that of 12 pairs, of which as many are drawn wrong as by Binomial(12, 1/2).
    low, high = pair.plain["accuracy"].interval or (0, 0)
    expected = stats.binom.ppf([0.025, 0.975], 12, 0.5) / 12 * 100
    assert (low, high) == pytest.approx(tuple(expected), abs=100 / 12)
    # A system's own numbers are those of its run.
    numbers = {system.system: system.plain for system in compared.systems}
    assert numbers["half"]["accuracy"].value == half.metrics["overall"]["accuracy"] == 50.0
    assert numbers["half"]["accuracy"].interval == pytest.approx(
        half.metrics["overall"]["ci"]["accuracy"], abs=1e-6
    )
    assert compared.to_json()["intervals"]["method"] == "paired percentile bootstrap over pairs"
    assert "unit:pair|" in compared.signature
    assert len(list(differing_rows([right, half]))) == 12  # sentences


def google(shared: Path, lang: str) -> list[dict[str, str]]:
    """Google's translations of 2025 with their published outcomes, a pair a row."""
    path = shared / "data" / "mtgeneval" / "google2025" / f"mt_geneval_sentences_en_{lang}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def google_run(shared: Path, lang: str, **settings: Any) -> mtbias.Run:
    """Their run."""
    rows = google(shared, lang)
    texts = {
        f"{gender}-{n:03d}": row[f"translate_{gender}"]
        for gender in ("feminine", "masculine")
        for n, row in enumerate(rows, start=1)
    }
    data = shared / "data" / "mtgeneval" / "sentences"
    return mtbias.score(
        texts, lang, settings=ScoreSettings(dataset="mt-geneval", data=data, **settings)
    )


@pytest.mark.parametrize(
    ("lang", "bleu"),
    # corpus BLEU, masculine and feminine, as published with the data (gender-bias-qe-metrics, 2025)
    [("ar", (37.5, 38.0)), ("de", (51.4, 51.6)), ("es", (59.0, 57.7))],
)
def test_every_published_outcome_and_bleu_of_google_in_2025(
    shared: Path, lang: str, bleu: tuple[float, float]
) -> None:
    rows, run = google(shared, lang), google_run(shared, lang)
    calls = {record.id: record for record in run.calls}
    for n, row in enumerate(rows, start=1):
        for gender in ("feminine", "masculine"):
            call = calls[f"{gender}-{n:03d}"]
            assert call.correct is (row[f"decision_{gender[0]}"] == "Correct"), call.id
            assert call.bleu == pytest.approx(float(row[f"scores_{gender[0]}_bleu"]), abs=1e-6)
    overall = run.metrics["overall"]
    assert len(calls) == 600
    assert (round(overall["bleu_masculine"], 1), round(overall["bleu_feminine"], 1)) == bleu
    low, high = overall["ci"]["quality_gap"]
    assert low < overall["quality_gap"] < high
    assert overall["quality_gap"] == pytest.approx(
        overall["bleu_masculine"] - overall["bleu_feminine"], abs=2e-6
    )


@pytest.mark.parametrize(
    ("lang", "expected"),
    # % correct feminine, masculine, both, under the authors' program accuracy_metric.py
    [("ar", (80.7, 91.7, 72.7)), ("de", (85.7, 86.7, 73.3)), ("es", (76.7, 87.7, 66.7))],
)
def test_the_variant_repository_gives_the_figures_of_the_authors_program(
    shared: Path, lang: str, expected: tuple[float, float, float]
) -> None:
    run = google_run(shared, lang, variant="repository", resamples=0)
    overall = run.metrics["overall"]
    assert (
        tuple(round(overall[f"accuracy_{key}"], 1) for key in ("feminine", "masculine", "pairs"))
        == expected
    )


@pytest.mark.slow
def test_the_commands_export_translate_score_and_compare_it(folder: Path, tmp_path: Path) -> None:
    data = ("--dataset", "mt-geneval", "--data", str(folder))
    exported = run_here("export", *data, "--lang", "de")
    assert exported.stdout.splitlines() == [
        *SENTENCES["feminine", "en"],
        *SENTENCES["masculine", "en"],
    ]
    for name, variant in (("a", "plain"), ("b", "repository")):
        given = tmp_path / f"{name}.txt"
        given.write_text(
            "Sie ist Bäckerin.\nIhre Lehrerin schlief.\nEr ist Bäckerin.\nSein Lehrer schlief.\n"
        )
        words = (
            "score",
            "--lang",
            "de",
            *data,
            "--translations",
            str(given),
            "--out",
            str(tmp_path / name),
        )
        done = run_here(*words, "--variant", variant)
        assert done.returncode == 0, done.stderr
        assert "Accuracy of pairs" in done.stdout
        assert "Quality gap (BLEU)" in done.stdout
    compared = run_here("compare", str(tmp_path / "a"), str(tmp_path / "b"))
    assert (compared.returncode, compared.stdout) == (1, "")
    assert "variant plain in a and repository in b" in compared.stderr
    assert (
        run_here("report", str(tmp_path / "a"), "--out", str(tmp_path / "page.html")).returncode
        == 0
    )
    made = run_here(
        "eval",
        "--model",
        "demo",
        "--lang",
        "de",
        *data,
        "--out",
        str(tmp_path / "demo"),
        "--offline",
    )
    assert made.returncode == 0, made.stderr
    refused = run_here("corpora", "counterfactual", *data, "--out", str(tmp_path / "c.tsv"))
    assert refused.stderr.strip() == (
        "mtbias: --dataset: expected the same sentences for all languages, which mt-geneval has not"
    )
