"""Sentences of unknown gender through whole runs: the example of the documentation, alone and with
others."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import mtbias
from mtbias.api import Run
from mtbias.corpora import load_corpus
from mtbias.report.comparison_tables import render_comparison
from mtbias.report.report_files import paper_table, plot_files
from mtbias.report.report_runs import ReportRun, report_run
from mtbias.report.run_page import render_html
from mtbias.runs.run_folder import RunFolder
from mtbias.scoring.bias import UNKNOWN_GENDER
from mtbias.scoring.metrics_reader import read_metrics
from mtbias.settings import BootstrapSettings, ScoreSettings

from .page_reader import column_values, page_data, read_page, table_lines, table_rows

DOCS = Path(__file__).resolve().parents[2] / "docs"
EXAMPLE = DOCS / "examples" / "unknown_gender.tsv"

# For five occupations of the example: a translation of each of its three sentences, and how it
# renders the person.
TRANSLATIONS: Mapping[str, Sequence[tuple[str, str | None]]] = {
    "doctor": [
        ("Der Arzt kam heute früh an.", "male"),
        ("Gestern sprach ich mit dem Arzt/der Ärztin über den Zeitplan.", "both"),
        ("Die Ärztin hat ein neues Büro in der Nähe des Bahnhofs.", "female"),
    ],
    "nurse": [
        ("Die Krankenschwester kam heute früh an.", "female"),
        ("Gestern sprach ich mit der Krankenschwester über den Zeitplan.", "female"),
        ("Die Krankenschwester hat ein neues Büro in der Nähe des Bahnhofs.", "female"),
    ],
    "teacher": [
        ("Der Lehrer kam heute früh an.", "male"),
        ("Gestern sprach ich mit dem*der Lehrer*in über den Zeitplan.", "both"),
        ("Die Lehrkraft hat ein neues Büro in der Nähe des Bahnhofs.", None),
    ],
    "mechanic": [
        ("Der Mechaniker kam heute früh an.", "male"),
        ("Gestern sprach ich mit dem Mechaniker über den Zeitplan.", "male"),
        ("Der Mechaniker hat ein neues Büro in der Nähe des Bahnhofs.", "male"),
    ],
    "lawyer": [
        ("Der Anwalt kam heute früh an.", "male"),
        ("Gestern sprach ich mit dem Anwalt über den Zeitplan.", "male"),
        ("", None),
    ],
}
# Masculine 1 + 0 + 1 + 3 + 2, feminine 1 + 3, both forms 1 + 1; two have no call.
COUNTS = {"called_male": 7, "called_female": 4, "called_neutral": 0, "called_both": 2}
KNOWN = [
    ("k1", "The doctor parked his car.", "male", "doctor", "Der Arzt parkte sein Auto."),
    ("k2", "The doctor parked her car.", "female", "doctor", "Der Arzt parkte ihr Auto."),
    (
        "k3",
        "The nurse finished his lunch.",
        "male",
        "nurse",
        "Die Krankenschwester beendete das Mittagessen.",
    ),
    (
        "k4",
        "The nurse finished her lunch.",
        "female",
        "nurse",
        "Die Krankenschwester beendete das Mittagessen.",
    ),
]


def _run(
    home: Path, rows: list[tuple[str, ...]], name: str, changed: dict[str, str] | None = None
) -> Run:
    data = home / f"{name}.tsv"
    lines = [("id", "source", "gender", "entity"), *(row[:4] for row in rows)]
    data.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
    settings = ScoreSettings(
        dataset="custom", data=data, stanza_dir=Path("mtbias:demo"), cache_dir=home / "cache", device="cpu",
        resamples=200,
    )  # fmt: skip
    texts = {row[0]: row[4] or None for row in rows} | (changed or {})
    out = home / f"{name}{'-other' if changed else ''}"
    return mtbias.score(
        texts, "de", system=out.name, out=out, allow_missing=True, settings=settings
    )


@pytest.fixture(scope="module")
def unknown_rows() -> list[tuple[str, ...]]:
    with EXAMPLE.open(encoding="utf-8", newline="") as file:
        read = [
            row for row in csv.DictReader(file, delimiter="\t") if row["entity"] in TRANSLATIONS
        ]
    return [
        (
            row["id"],
            row["source"],
            row["gender"],
            row["entity"],
            TRANSLATIONS[row["entity"]][int(row["id"][-1]) - 1][0],
        )
        for row in read
    ]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("unknown")


@pytest.fixture(scope="module")
def alone(home: Path, unknown_rows: list[tuple[str, ...]]) -> Run:
    return _run(home, unknown_rows, "alone")


@pytest.fixture(scope="module")
def mixed(home: Path, unknown_rows: list[tuple[str, ...]]) -> Run:
    return _run(home, [*unknown_rows[:7], *KNOWN, *unknown_rows[7:]], "mixed")


@pytest.fixture(scope="module")
def other(home: Path, unknown_rows: list[tuple[str, ...]]) -> Run:
    """The same corpus; the doctor of the first sentence is a woman."""
    rows = [*unknown_rows[:7], *KNOWN, *unknown_rows[7:]]
    return _run(home, rows, "mixed", {"doctor-1": "Die Ärztin kam heute früh an."})


def test_the_example_has_sixty_sentences_without_a_gendered_pronoun() -> None:
    corpus = load_corpus("custom", EXAMPLE)
    assert (len(corpus.instances), dict(corpus.notes)) == (60, {})
    assert {instance.gold for instance in corpus.instances} == {None}


def test_calls_are_those_of_a_reader(alone: Run) -> None:
    said = {
        ("male", False): "male",
        ("female", False): "female",
        ("neutral", True): "both",
        (None, False): None,
    }
    for record in alone.calls:
        wanted = TRANSLATIONS[record.entity][int(record.id[-1]) - 1][1]
        assert said[record.call.gender, record.call.both_forms] == wanted, record.id
    assert alone.metrics["overall"]["denominators"] == COUNTS
    assert alone.counting is UNKNOWN_GENDER
    assert [alone.masculine, alone.feminine] == pytest.approx([100 * 7 / 13, 100 * 4 / 13])
    assert alone.metrics["reasons"] == {"untranslated": 1, "no morphology": 1}
    assert alone.calls_frame()["correct"].isna().all()
    assert alone.metrics["by_entity"]["nurse"]["feminine"] == 100


def test_main_numbers_are_those_of_the_sentences_that_show_a_gender(mixed: Run, alone: Run) -> None:
    # k1 and k4 are right, k2 and k3 wrong.
    overall = mixed.metrics["overall"]
    assert (
        mixed.metrics["n"],
        overall["accuracy"],
        overall["recall_male"],
        overall["recall_female"],
    ) == (
        4,
        50,
        50,
        50,
    )
    part = mixed.metrics["unknown"]
    assert part["overall"] == alone.metrics["overall"]
    assert part["by_entity"] == alone.metrics["by_entity"]
    assert mixed.unknown is not None
    assert (len(mixed.known.calls), len(mixed.unknown.calls), mixed.unknown.counting) == (
        4,
        15,
        UNKNOWN_GENDER,
    )
    assert mixed.known.scores.overall.n == 4


def test_files_keep_their_schemas_and_are_read_again(mixed: Run, alone: Run) -> None:
    for run in (mixed, alone):
        assert run.path is not None
        for name in ("metrics", "calls"):
            schema = json.loads(
                (DOCS / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
            )
            file = next(run.path.glob(f"{name}.json*"))
            for line in (
                [file.read_text(encoding="utf-8")]
                if name == "metrics"
                else file.read_text("utf-8").splitlines()
            ):
                Draft202012Validator(schema).validate(json.loads(line))
        again = Run.read(RunFolder(run.path))
        assert (again.metrics, again.counting) == (run.metrics, run.counting)
        assert again.scores.to_json()["overall"] == run.metrics["overall"]


def _page(*runs: Run) -> Any:
    return read_page(render_html([report_run(run, name=run.system) for run in runs]))


def test_the_page_of_a_corpus_that_shows_no_gender(alone: Run) -> None:
    page = _page(alone)
    lines = table_lines(page, "All numbers, in per cent")
    assert any(
        head.startswith("Both forms") and cells[0].startswith("15.4")
        for head, cells in lines.items()
    )
    head, *rows = table_rows(page, "Forms by entity")
    assert head == [
        "entity",
        "share of\nwomen, %",
        "n",
        "masculine",
        "feminine",
        "both forms",
        "neutral",
    ]
    (nurse,) = (row for row in rows if row[0] == "nurse")
    assert [cell.split(" ")[0] for cell in nurse] == [
        "nurse",
        "89.6",
        "3",
        "0.0",
        "100.0",
        "0.0",
        "0.0",
    ]
    (plot,) = page.one("section", id="groups").all("svg", role="img")
    assert plot.one("title", id="entities-0-title").text == "Forms by entity, in per cent"
    assert "nurse, feminine: 100.0 [43.9, 100.0], n 3" in [
        title.text for title in plot.all("title")
    ]
    assert "accuracy" not in page.one("section", id="how").text
    assert set(column_values(page_data(page), "gold")) == {"unknown"}


def test_the_page_of_a_corpus_with_both(mixed: Run, other: Run) -> None:
    page = _page(mixed, other)
    section = page.one("section", id="unknown")
    lines = table_lines(section, "All numbers, in per cent")
    (cells,) = (cells for head, cells in lines.items() if head.startswith("Feminine"))
    assert [cell.split(" ")[0] for cell in cells] == ["30.8", "38.5"]  # 4 and 5 of 13
    assert len(list(section.all("svg", role="img"))) == 2
    assert table_rows(page, "Accuracy by entity")[0][0] == "entity"
    assert set(column_values(page_data(page), "gold")) == {"male", "female", "unknown"}


def test_plots_as_files_have_both(mixed: Run, alone: Run) -> None:
    both = [name for name, _ in plot_files([report_run(mixed)])]
    assert [name for name in both if name.startswith("entities")] == [
        "entities-1-mixed",
        "entities-unknown-1-mixed",
    ]
    one = dict(plot_files([report_run(alone)]))
    assert [name for name in one if name.startswith("entities")] == ["entities-1-alone"]
    assert "Forms by entity, in per cent" in one["entities-1-alone"]


def test_tables_have_both(mixed: Run, other: Run) -> None:
    assert "Of unknown gender: 15 sentences, 13 with a call (86.7 %)" in str(mixed)
    compared = mtbias.compare(mixed, other, settings=BootstrapSettings(resamples=200))
    text = render_comparison(compared, numbers=mixed.counting.numbers)
    assert "custom: 4 sentences, 2 about men, 2 about women" in text
    assert "Sentences of unknown gender, of custom: 15 sentences" in text
    assert compared.unknown is not None
    assert compared.unknown.pairs[0].plain["feminine"].difference == pytest.approx(-100 / 13)
    runs = [
        ReportRun(run.system, "de", read_metrics(run.metrics), numbers=run.numbers)
        for run in (mixed, other)
    ]
    assert "Sentences of unknown gender" in paper_table(runs, "markdown")
    rows = [
        row
        for row in csv.DictReader(paper_table(runs, "csv").splitlines())
        if row["breakdown"] == "overall"
    ]
    assert [(row["gender"], row["n"], row["accuracy"][:2], row["masculine"][:2]) for row in rows] == [
        ("", "4", "50", ""), ("", "4", "50", ""), ("unknown", "15", "", "53"), ("unknown", "15", "", "46"),
    ]  # fmt: skip
