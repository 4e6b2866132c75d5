"""A language model as a metric: requests as OpenAI's batches take them, and answers as they give
them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtbias.cli import main


def _answer(id_: str, text: str) -> str:
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}
    response = {"status_code": 200, "body": body}
    return json.dumps({"id": "r", "custom_id": id_, "response": response, "error": None})


@pytest.fixture
def own(tmp_path: Path) -> list[str]:
    file = tmp_path / "own.tsv"
    file.write_text(
        "source\tfeminine\tmasculine\nThe doctor left.\tDie Ärztin ging.\tDer Arzt ging.\n",
        encoding="utf-8",
    )
    return ["metric", "contrasts", "--own", str(file)]


def test_a_model_is_asked_for_each_translation_and_its_answers_are_scores(
    own: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    requests, contrasts = tmp_path / "requests.jsonl", tmp_path / "contrasts.tsv"
    assert main([*own, "--judge", "small-model", "--out", str(requests)]) == 0
    assert main([*own, "--out", str(contrasts)]) == 0
    lines = [json.loads(line) for line in requests.read_text(encoding="utf-8").splitlines()]
    assert [line["custom_id"] for line in lines] == ["1/female", "1/male"]
    assert {line["url"] for line in lines} == {"/v1/chat/completions"}
    (message,) = lines[0]["body"]["messages"]
    assert lines[0]["body"]["model"] == "small-model"
    assert "Source: The doctor left.\nTranslation: Die Ärztin ging." in message["content"]
    answers = tmp_path / "answers.jsonl"
    answers.write_text(f"{_answer('1/male', ' 95 ')}\n{_answer('1/female', '90.5.')}\n")
    capsys.readouterr()
    scored = ["metric", "bias", "--contrasts", str(contrasts), "--scores", str(answers), "--json"]
    assert main(scored) == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert result["signature"].startswith("metric:judge#")
    assert result["groups"]["unknown"]["gap"] == pytest.approx(4.5)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([("1/male", "95"), ("1/female", "good")], "answers.jsonl:2: expected a number as answer"),
        ([("1/male", "95")], "expected an answer for each of 2 translations, got none for 1"),
        ([("2/male", "95")], "answers.jsonl:1: expected the id of a translation of the contrasts"),
    ],
)
def test_answers_that_are_no_scores_are_refused(
    answers: list[tuple[str, str]],
    message: str,
    own: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    contrasts, file = tmp_path / "contrasts.tsv", tmp_path / "answers.jsonl"
    assert main([*own, "--out", str(contrasts)]) == 0
    file.write_text("".join(f"{_answer(*answer)}\n" for answer in answers))
    assert main(["metric", "bias", "--contrasts", str(contrasts), "--scores", str(file)]) == 1
    assert message in capsys.readouterr().err


def test_requests_and_contrasts_have_names_of_their_own(
    own: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*own, "--judge", "m", "--out", str(tmp_path / "r.tsv")]) == 2
    assert "--out: expected a name that ends with .jsonl" in capsys.readouterr().err
