"""``--measure whole-person``: a run from end to end, its page, its explanation, and what it
refuses."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from mtbias.cli import main
from mtbias.files.writing import write_atomic
from tests.report.page_reader import read_page

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"

# Source, entity, gender, translation, what its words show.
PERSONS = [
    (
        "Maria Novak became a teacher. She lived in Rome.",
        "teacher",
        "female",
        "Maria Novak se hizo maestra. Ella vivía en Roma.",
        "right",
    ),
    (
        "Anna Weiss became a lawyer. She lived in Rome.",
        "lawyer",
        "female",
        "Anna Weiss se hizo abogado. Ella vivía en Roma.",
        "mixed",
    ),
    (
        "The nurse said that she was late.",
        "nurse",
        "female",
        "El enfermero dijo que llegaba tarde.",
        "wrong",
    ),
    (
        "The nurse said that he was late.",
        "nurse",
        "male",
        "El enfermero dijo que llegaba tarde.",
        "right",
    ),
    ("The artist said that he was late.", "artist", "male", "Su artista llegaba tarde.", None),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of one's own and its translations."""
    folder = tmp_path_factory.mktemp("persons")
    corpus = ["id\tsource\tentity\tgender"]
    targets = ["id\ttarget"]
    for n, (source, entity, gender, target, _) in enumerate(PERSONS, start=1):
        corpus.append(f"p{n}\t{source}\t{entity}\t{gender}")
        targets.append(f"p{n}\t{target}")
    write_atomic(folder / "corpus.tsv", "\n".join([*corpus, ""]).encode())
    write_atomic(folder / "targets.tsv", "\n".join([*targets, ""]).encode())
    return folder


def score(home: Path, stanza_dir: Path, **more: str) -> int:
    options = {
        "dataset": "custom",
        "data": str(home / "corpus.tsv"),
        "translations": str(home / "targets.tsv"),
        "lang": "es",
        "stanza-dir": str(stanza_dir),
        "cache-dir": str(home / "cache"),
        "measure": "whole-person",
        "device": "cpu",
        "resamples": "200",
        **more,
    }
    return main(["score", *chain.from_iterable((f"--{key}", options[key]) for key in options)])


@pytest.fixture(scope="module")
def run(home: Path, stanza_dir: Path) -> Path:
    assert score(home, stanza_dir, out=str(home / "run")) == 0
    return home / "run"


def test_the_calls_and_the_numbers(run: Path) -> None:
    lines = [json.loads(line) for line in (run / "calls.jsonl").read_text("utf-8").splitlines()]
    assert [line["outcome"] for line in lines] == [outcome for *_, outcome in PERSONS]
    assert [line["reason"] for line in lines] == [None] * 4 + ["nothing shown"]
    metrics = json.loads((run / "metrics.json").read_text("utf-8"))
    overall = metrics["overall"]
    # Of five persons four have a call; of the three women one has all words right.
    assert (overall["n"], overall["decided"]) == (5, 4)
    assert overall["decided_percent"] == 80
    assert overall["all_right"] == 50
    assert overall["all_right_male"] == 100
    assert overall["all_right_female"] == pytest.approx(100 / 3, abs=1e-6)
    assert overall["gap"] == pytest.approx(200 / 3, abs=1e-6)
    assert overall["denominators"] == {"persons": 5, "judged_male": 1, "judged_female": 3}


def test_the_chain_of_a_person(run: Path) -> None:
    line = json.loads((run / "calls.jsonl").read_text("utf-8").splitlines()[1])
    mentions = [(each["kind"], each["mention"]) for each in line["mentions"]]
    assert mentions == [("name", "Weiss"), ("entity", "lawyer"), ("pronoun", "She")]
    words = {word["word"]: word["right"] for each in line["mentions"] for word in each["words"]}
    assert words == {"abogado": False, "Ella": True}


def test_the_files_keep_their_schemas(run: Path) -> None:
    for name in ("metrics", "manifest"):
        schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
        content = json.loads((run / f"{name}.json").read_text("utf-8"))
        Draft202012Validator(schema).validate(content)
    schema = json.loads((SCHEMAS / "whole_person_calls.schema.json").read_text("utf-8"))
    for line in (run / "calls.jsonl").read_text("utf-8").splitlines():
        Draft202012Validator(schema).validate(json.loads(line))


def test_the_signature_names_measure_and_parser(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text("utf-8"))
    assert manifest["identity"]["measure"] == "whole-person"
    assert "|measure:whole-person|" in manifest["signature"]
    assert "|parser:stanza/" in manifest["signature"]
    assert "depparse=" in str(manifest["identity"]["parser"])


def test_the_page_lists_persons_with_a_wrong_word(run: Path) -> None:
    page = read_page((run / "report.html").read_text("utf-8"))
    assert "Persons with a word in the other gender" in page.text
    marked = [mark.text for mark in page.all("mark", **{"class": "head"})]
    assert {"abogado", "enfermero"} <= set(marked)
    assert "masculine form" in page.text
    assert "All words right, women" in page.text


def test_a_person_of_a_run_is_explained(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(run), "p2"]) == 0
    said = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert said[0] == PERSONS[1][0]
    assert "Mentions of 'lawyer', female by the source, and what renders them" in said
    assert "pronoun She Ella Ella: female, right pronoun_of_person, a pronoun of the person" in said
    assert said[-1] == "Call: mixed"
    assert main(["explain", str(run), "p9"]) == 1
    assert (
        "expected the id of a person of the run, such as 'p1', got 'p9'" in capsys.readouterr().err
    )


def test_a_person_by_itself_is_explained(
    stanza_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stanza = ["--stanza-dir", str(stanza_dir), "--cache-dir", str(tmp_path), "--device", "cpu"]
    words = ["explain", "--lang", "es", "--measure", "whole-person", *stanza]
    source, entity, _, target, _ = PERSONS[2]
    assert main([*words, "--entity", entity, source, target]) == 0
    assert capsys.readouterr().out.endswith("Call: wrong\n")
    # The same of a man, whom no pronoun tells.
    plain = ["The nurse was late.", "El enfermero llegó tarde."]
    assert main([*words, "--entity", "nurse", *plain]) == 2
    assert "--gender: expected male or female" in capsys.readouterr().err
    assert main([*words, "--entity", "nurse", "--gender", "male", *plain]) == 0
    assert capsys.readouterr().out.endswith("Call: right\n")


def test_a_run_goes_on_with_the_same_bytes(run: Path, home: Path, stanza_dir: Path) -> None:
    before = {name: (run / name).read_bytes() for name in ("calls.jsonl", "metrics.json")}
    (run / "metrics.json").unlink()
    assert score(home, stanza_dir, out=str(run)) == 0
    assert {name: (run / name).read_bytes() for name in before} == before


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("measure", "whole", "no measure 'whole'"),
        ("evidence", "stanza", "--evidence: expected a data set of entities"),
        ("source-lang", "de", "--measure: expected English sources with whole-person, got de"),
        ("measure", "gest", "--measure: expected a data set whose measure is gest with gest, got"),
        ("stanza-dir", "mtbias:demo", "models for 'en'"),
    ],
)
def test_what_is_refused(
    home: Path,
    stanza_dir: Path,
    option: str,
    value: str,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert score(home, stanza_dir, **{option: value}) != 0
    assert said in capsys.readouterr().err


def test_a_corpus_without_men_and_women_is_refused(
    home: Path, stanza_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (home / "corpus.tsv").read_text("utf-8")
    for gender in ("female", "male"):
        text = text.replace(f"\t{gender}\n", "\tunknown\n")
    write_atomic(tmp_path / "corpus.tsv", text.encode())
    assert score(home, stanza_dir, data=str(tmp_path / "corpus.tsv")) != 0
    assert "expected a data set that tells men and women" in capsys.readouterr().err


def test_labels_of_entities_are_no_matter_of_whole_persons(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_atomic(tmp_path / "gold.csv", b"lang,source,target,label,entity,word_index\n")
    words = ["validate", "--gold", str(tmp_path / "gold.csv"), "--lang", "es"]
    assert main([*words, "--measure", "whole-person"]) == 2
    assert "--measure: human labels of entities are compared here" in capsys.readouterr().err


def test_a_sweep_needs_the_parser_of_english(
    home: Path, stanza_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = [
        'name = "persons"',
        f'out = "{home / "sweep"}"',
        f'stanza_dir = "{stanza_dir}"',
        'languages = ["es"]',
        'datasets = ["custom"]',
        'measure = "whole-person"',
        "[systems]",
        f'own = "{home / "targets.tsv"}"',
        "[data]",
        f'custom = "{home / "corpus.tsv"}"',
    ]
    write_atomic(home / "sweep.toml", "\n".join([*sweep, ""]).encode())
    assert main(["doctor", "--sweep", str(home / "sweep.toml")]) == 0
    said = capsys.readouterr().out
    assert "stanza en        tokenize=" in said
    assert "depparse=" in said
