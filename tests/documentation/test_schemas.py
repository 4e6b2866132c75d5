"""The JSON schemas in docs/schemas hold for runs, and refuse what is no run."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mtbias.corpora import load_corpus
from mtbias.demo import reference_file
from mtbias.evaluation.preparation import prepare_score
from mtbias.evaluation.stages import evaluate
from mtbias.runs.call_records import CallRecord, call_record, to_lines
from mtbias.settings import ScoreSettings
from mtbias.translate.given_translations import given_file
from mtbias.types import Gender, GenderCall, Reason, Translation

SCHEMAS = Path(__file__).resolve().parents[2] / "docs" / "schemas"


def _validator(name: str) -> Draft202012Validator:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's corpus with correct translations, one of them empty."""
    home = tmp_path_factory.mktemp("run")
    rows = reference_file("de").read_text(encoding="utf-8").splitlines()
    rows[1] = rows[1].split("\t")[0] + "\t"
    (home / "given.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    settings = ScoreSettings(
        dataset="demo",
        stanza_dir=Path("mtbias:demo"),
        cache_dir=home / "cache",
        device="cpu",
        resamples=200,
    )
    evaluate(prepare_score(given_file(home / "given.tsv"), "de", settings), out=home / "run")
    return home / "run"


def test_the_files_of_a_run_keep_their_schemas(run: Path) -> None:
    for name in ("metrics", "manifest"):
        _validator(name).validate(json.loads((run / f"{name}.json").read_text(encoding="utf-8")))
    lines = (run / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 512
    validator = _validator("calls")
    for line in lines:
        validator.validate(json.loads(line))


def test_every_key_of_a_line_is_in_the_schema(run: Path) -> None:
    first = json.loads((run / "calls.jsonl").read_text(encoding="utf-8").splitlines()[0])
    # The demo counts no pronouns itself.
    assert list(first) == [
        key for key in _validator("calls").schema["properties"] if key != "corpus_pronouns"
    ]


def test_a_line_has_the_corpuss_count_of_pronouns_where_there_is_one() -> None:
    instance = replace(load_corpus("demo", None).instances[0], corpus_pronouns=3)
    record = call_record(
        instance, Translation(instance.id, "Ja."), GenderCall(instance.id, Gender.MALE, None)
    )
    (line,) = to_lines([record.to_json()])
    assert list(json.loads(line)) == list(_validator("calls").schema["properties"])
    assert _validator("calls").is_valid(json.loads(line))
    assert CallRecord.from_line(line) == record


def test_what_our_reader_refuses_the_schema_refuses_too() -> None:
    instance = load_corpus("demo", None).instances[0]
    right = call_record(
        instance, Translation(instance.id, "Ja."), GenderCall(instance.id, Gender.MALE, None)
    )
    validator, (line,) = _validator("calls"), to_lines([right.to_json()])
    wrong: list[dict[str, Any]] = [
        {"row": "7"}, {"gold": "woman"}, {"reason": Reason.UNALIGNED.value}, {"gender": None}, {"more": 1},
        {"target_spans": [[3]]}, {"evidence": [{"kind": "noun"}]},
    ]  # fmt: skip
    assert validator.is_valid(json.loads(line))
    for change in wrong:
        content = {**json.loads(line), **change}
        with pytest.raises(ValueError, match=r".+"):
            CallRecord.from_line(json.dumps(content))
        assert not validator.is_valid(content), change
    for key in json.loads(line):
        content = json.loads(line)
        del content[key]
        assert not validator.is_valid(content), key


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("metrics", ("schema",), 2),
        ("metrics", ("overall", "accuracy"), "70 %"),
        ("metrics", ("overall", "ci", "accuracy"), [1]),
        ("metrics", ("by_domain", "home", "n"), -1),
        ("manifest", ("fingerprint",), "xyz"),
        ("manifest", ("identity", "data"), {"corpus.tsv": "no hash"}),
    ],
)
def test_a_damaged_file_is_refused(
    run: Path, name: str, path: tuple[str, ...], value: object
) -> None:
    content = copy.deepcopy(json.loads((run / f"{name}.json").read_text(encoding="utf-8")))
    place = content
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert not _validator(name).is_valid(content)
