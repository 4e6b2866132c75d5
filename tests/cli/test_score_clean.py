"""`mtbias score --clean`: a file of a language model's answers has the calls of a file of the
translations in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mtbias
from mtbias.cli import main
from mtbias.settings import ScoreSettings

from .machine import Machine


@pytest.fixture(scope="session")
def pairs(small: Path, german: Path) -> list[tuple[str, str]]:
    """Sources of `small` and their German translations."""
    targets = dict(
        line.split(" ||| ", 1) for line in german.read_text(encoding="utf-8").splitlines()
    )
    rows = (small / "en.txt").read_text(encoding="utf-8").splitlines()
    return [(row.split("\t")[2], targets[row.split("\t")[2]]) for row in rows]


def _write(path: Path, pairs: list[tuple[str, str]]) -> Path:
    lines = [json.dumps({"source": source, "target": target}) + "\n" for source, target in pairs]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def _files(
    folder: Path,
) -> tuple[dict[str, object], list[dict[str, object]], list[dict[str, object]]]:
    metrics = json.loads((folder / "metrics.json").read_bytes())
    calls, translations = (
        [
            json.loads(line)
            for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        for name in ("calls", "translations")
    )
    return metrics, calls, translations


def test_answers_are_scored_by_the_translations_in_them(
    prepared: Machine,
    small: Path,
    pairs: list[tuple[str, str]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers = [
        (
            source,
            f'Here is the translation:\n\n"{target}"\n\nNote: I kept the tense.'
            if at % 2
            else target,
        )
        for at, (source, target) in enumerate(pairs)
    ]
    answers[4] = (answers[4][0], "I'm sorry, but I can't help with that.")
    bare = [(source, "" if at == 4 else target) for at, (source, target) in enumerate(pairs)]
    common = [
        "score",
        "--lang",
        "de",
        "--full",
        "--data",
        str(small),
        "--system",
        "chat",
        "--translations",
    ]
    assert (
        main(
            [
                *common,
                str(_write(tmp_path / "a.jsonl", answers)),
                "--clean",
                "--out",
                str(tmp_path / "a"),
            ]
        )
        == 0
    )
    table = capsys.readouterr().out
    assert (
        main([*common, str(_write(tmp_path / "b.jsonl", bare)), "--out", str(tmp_path / "b")]) == 0
    )
    metrics, calls, translations = _files(tmp_path / "a")
    others, same_calls, _ = _files(tmp_path / "b")
    assert calls == same_calls
    assert metrics["overall"] == others["overall"]
    assert metrics["translations"] == {
        **dict.fromkeys(("missing", "empty", "extra", "duplicates", "normalised"), 0),
        "form": "table by source",
        "shared": 0,
        "cleaned": {"refusal": 1, "introduction": 20, "lines": 20, "quotes": 20},
        "untranslated": {"refusal": 1},
        "examples": {
            "refusal": [translations[4]["id"]],
            **{
                kind: [translations[at]["id"] for at in range(1, 11, 2)]
                for kind in ("introduction", "lines", "quotes")
            },
        },
    }
    assert {**translations[4], "id": ""} == {
        "id": "",
        "target": None,
        "reason": "refusal",
        "raw": answers[4][1],
    }
    assert [line["raw"] for line in translations] == [answer for _, answer in answers]
    assert "|cleaned:true|" in str(metrics["signature"])
    assert "cleaned" not in str(others["signature"])
    assert "refusals (1 without a translation)" in table
    assert metrics["fingerprint"] != others["fingerprint"]
    # The report shows the answers that are more than their translation.
    more = {line["id"]: line["raw"] for at, line in enumerate(translations) if at % 2 or at == 4}
    assert mtbias.read_run(tmp_path / "a").answers == more
    assert mtbias.read_run(tmp_path / "b").answers == {}


def test_the_python_api_cleans_alike(
    prepared: Machine, small: Path, pairs: list[tuple[str, str]]
) -> None:
    settings = ScoreSettings(data=small)
    plain = mtbias.score([target for _, target in pairs], "de", settings=settings)
    cleaned = mtbias.score(
        [f"**{target}**" for _, target in pairs], "de", settings=settings, clean=True
    )
    assert [record.call for record in cleaned.calls] == [record.call for record in plain.calls]
    assert cleaned.metrics["translations"]["cleaned"] == {"markdown": 41}
