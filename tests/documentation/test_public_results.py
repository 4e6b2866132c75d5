"""The results in docs/results: their schema, what they are of, and two of them counted again from
the calls."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import mtbias
from mtbias.cluster.sweep_file import read_sweep
from mtbias.language.installed import get_language
from mtbias.report.publishing import PublishedResult, read_results
from mtbias.report.results_page import make_blocks

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results" / "results.jsonl"
LINES = RESULTS.read_text(encoding="utf-8").splitlines()
SWEEPS = [read_sweep(file) for file in sorted((ROOT / "docs" / "examples").glob("public-*.toml"))]
SCHEMA = json.loads((ROOT / "docs" / "schemas" / "result.schema.json").read_text(encoding="utf-8"))


def test_every_result_keeps_its_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    for line in LINES:
        Draft202012Validator(SCHEMA).validate(json.loads(line))


def test_the_schema_has_the_keys_of_a_result_in_their_order() -> None:
    assert list(json.loads(LINES[0])) == list(SCHEMA["properties"])


WINOMT_BY_OTHERS = {
    ("winomt", system, lang)
    for sweep in SWEEPS
    for system in sweep.systems
    for lang in sweep.languages
}
BUG_BY_OTHERS = {
    (f"bug-gold-paper-{sentences}-of-1718", system, lang)
    for lang, sentences, gender in (
        ("ar", 747, "masculine"),
        ("cs", 837, "feminine"),
        ("es", 1024, "masculine"),
    )
    for system in ("nllb", f"llama-asked-{gender}")
}
FIREFOX = {(corpus, "firefox:en-pt", "pt") for corpus in ("winomt", "bug-gold-paper")}


def test_every_block_is_whole_and_every_pair_tested() -> None:
    found = read_results(RESULTS)
    cells = Counter((_corpus(result), result.system, result.language) for result in found)
    assert cells == Counter(WINOMT_BY_OTHERS | BUG_BY_OTHERS | FIREFOX)
    for result in found:
        own = (_corpus(result), result.system, result.language) in FIREFOX
        assert result.licence == ("MPL-2.0 (the model)" if own else "MIT")
        assert (result.link or "").startswith("https://pypi.org" if own else "https://github.com/")
    for block in make_blocks(found):
        assert not block.apart, "several evaluators: run make results"
        assert block.families == dict.fromkeys(block.families, len(block.pairs))
        assert not block.too_few_resamples


def _corpus(result: PublishedResult) -> str:
    """The corpus; of a part without the hash of its sentences."""
    return re.sub(r"-[0-9a-f]{8}$", "", result.corpus.name)


def test_every_result_was_read_by_the_language_data_of_this_release() -> None:
    for result in read_results(RESULTS):
        plugin = f"{result.language}/{get_language(result.language).version}"
        assert result.evaluator["plugin"] == plugin, (
            f"{result.system}: its numbers are older: run make results"
        )


def test_no_sentence_is_published(winomt: Path) -> None:
    texts = RESULTS.read_text(encoding="utf-8")
    with (winomt / "en.txt").open(encoding="utf-8", newline="") as file:
        sentences = [row[2] for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    assert not any(sentence in texts for sentence in sentences)


def _counted(calls: Path) -> dict[str, Any]:
    """Accuracy, ΔG and ΔS from lines of `calls.jsonl` alone, as the papers define them; nothing of
    mtbias."""
    rows = [json.loads(line) for line in calls.read_text(encoding="utf-8").splitlines()]

    def accuracy(part: list[dict[str, Any]]) -> Any:
        return 100 * sum(row["gender"] == row["gold"] for row in part) / len(part)

    def f1(gender: str) -> Any:
        right = sum(row["gender"] == row["gold"] == gender for row in rows)
        called, gold = (sum(row[key] == gender for row in rows) for key in ("gender", "gold"))
        precision, recall = right / called, right / gold
        return 100 * 2 * precision * recall / (precision + recall)

    pro, anti = ([row for row in rows if row["stereotype"] == kind] for kind in ("pro", "anti"))
    return {
        "accuracy": accuracy(rows), "delta_g": f1("male") - f1("female"), "delta_s": accuracy(pro) - accuracy(anti)
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "lang"),
    [("nllb-2025", "es"), pytest.param("google-2019", "de", marks=pytest.mark.exhaustive)],
)
def test_a_result_follows_from_the_translations(
    stanza_dir: Path, winomt: Path, tmp_path: Path, system: str, lang: str
) -> None:
    """Spanish of 2025 (NLLB) and German of 2019 (Google), scored again, and their calls counted by
    hand."""
    (file,) = (sweep.systems[system] for sweep in SWEEPS if system in sweep.systems)
    translations = winomt / file.relative_to(SWEEPS[0].out.parent)
    settings = mtbias.ScoreSettings(
        data=winomt, stanza_dir=stanza_dir, cache_dir=tmp_path / "cache", device="cpu", resamples=0
    )
    mtbias.score(str(translations).format(lang=lang), lang, out=tmp_path / "run", settings=settings)
    (result,) = (
        one for one in read_results(RESULTS) if (one.system, one.language) == (system, lang)
    )
    for key, value in _counted(tmp_path / "run" / "calls.jsonl").items():
        number = result.number(key)
        assert number is not None
        assert number.value == pytest.approx(value, abs=1e-6), key
