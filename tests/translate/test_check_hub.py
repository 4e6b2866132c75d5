"""The script that holds published checkpoints against what is assumed: right layouts pass, each
difference is named."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from scripts import check_hub

from .conftest import Checkpoint
from .layouts import TARGETS, of_transformers_4, pickled, scores_of_their_own
from .reference import change

pytestmark = pytest.mark.slow

COMMIT = "0123456789abcdef0123456789abcdef01234567"
Change = Callable[[Path], object]


def look(folder: Path, name: str, cache: Path, *more: str) -> int:
    """The script over a folder; its exit code."""
    asked = ["--folder", str(folder), "--lang", TARGETS[name], "--cache-dir", str(cache)]
    return check_hub.main([*asked, *more])


@pytest.mark.parametrize("name", TARGETS)
def test_the_right_layouts_pass(
    copied: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    folder = copied(name)
    assert look(folder, name, tmp_path, "--no-translations", "--engine", "transformers") == 0
    of_transformers_4(pickled(folder))
    assert look(folder, name, tmp_path, "--no-translations", "--engine", "transformers") == 0
    said = capsys.readouterr().out
    assert (
        re.findall(r"(\d+) of (\d+) as assumed", said)[0][0]
        == re.findall(r"(\d+) of (\d+) as assumed", said)[1][1]
    )
    assert "expected" not in said


@pytest.mark.parametrize("name", ["m2m100", "marian-multi"])
def test_twenty_sentences_by_a_plain_loop_and_both_engines(
    checkpoint: Checkpoint, ct2_cache: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    pytest.importorskip("ctranslate2")
    assert look(checkpoint(name), name, ct2_cache, "--untrained") == 0
    assert "expected" not in capsys.readouterr().out


def test_what_translations_say_is_looked_at(
    m2m100: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The small checkpoint has learned German for two seconds: what it says in Spanish is none.
    asked = [
        "--folder",
        str(m2m100),
        "--lang",
        "es",
        "--cache-dir",
        str(tmp_path),
        "--engine",
        "transformers",
    ]
    assert check_hub.main(asked) == 1
    said = capsys.readouterr().out
    assert re.search(
        r"m2m100: es: (a translation of '.*': expected 'text'|translations taken for another)", said
    )
    assert "m2m100: es: transformers:" not in said  # but it is what a plain loop gives


def weights(folder: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Change the weights' file."""
    content = load_file(folder / "model.safetensors")
    edit(content)
    save_file(content, folder / "model.safetensors", metadata={"format": "pt"})


def without_charsmap(folder: Path) -> None:
    path = folder / "tokenizer.json"
    path.write_text(
        json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"normalizer": None}),
        encoding="utf-8",
    )


def other_prefix(folder: Path) -> None:
    path = folder / "vocab.json"
    path.write_text(path.read_text(encoding="utf-8").replace(">>ara<<", ">>ar<<"), encoding="utf-8")


def other_order(folder: Path) -> None:
    """German and Spanish exchanged."""
    path = folder / "tokenizer.json"
    exchanged = {"deu_Latn": "spa_Latn", "spa_Latn": "deu_Latn"}
    text = re.sub(
        "deu_Latn|spa_Latn", lambda found: exchanged[found[0]], path.read_text(encoding="utf-8")
    )
    path.write_text(text, encoding="utf-8")


def settings(**values: Any) -> Change:
    return lambda folder: change(folder / "generation_config.json", **values)


def config(**values: Any) -> Change:
    return lambda folder: change(folder / "config.json", **values)


PLANTED: list[tuple[str, Change, str]] = [
    (
        "m2m100",
        lambda f: (f / "vocab.json").unlink(),
        r"files that are missing: expected \[\], found \['vocab.json'\]",
    ),
    (
        "m2m100",
        lambda f: (f / "model.safetensors").unlink(),
        r"it can be used: expected True, found 'ModelError",
    ),
    (
        "m2m100",
        config(scale_embedding=False),
        r"config.json: scale_embedding: expected True, found False",
    ),
    (
        "m2m100",
        config(model_type="bart"),
        r"config.json: model_type: expected 'm2m_100', found 'bart'",
    ),
    (
        "m2m100",
        settings(forced_eos_token_id=2),
        r"generation settings: forced_end: expected None, found 2",
    ),
    (
        "m2m100",
        settings(decoder_start_token_id=0),
        r"it can be used: expected True, found 'ModelError: .*expected 2",
    ),
    (
        "m2m100",
        settings(eos_token_id=[2, 3]),
        r"generation settings: ends: expected \(2,\), found \(2, 3\)",
    ),
    (
        "m2m100",
        settings(bad_words_ids=[[7]]),
        r"generation settings: never: expected \(\), found \(\(7,\),\)",
    ),
    (
        "marian",
        settings(renormalize_logits=False),
        r"generation settings: renormalised: expected True, found False",
    ),
    (
        "marian-multi",
        other_prefix,
        r"ar: prefix and forced token: expected \('>>ara<< ', None\), found \('>>ar<< '",
    ),
    (
        "mbart50",
        scores_of_their_own,
        r"scores and embeddings are one matrix: expected True, found False",
    ),
    (
        "mbart50",
        lambda f: (f / "sentencepiece.bpe.model").unlink(),
        r"files: sentencepiece.*'there', found 'absent'",
    ),
    ("mbart50", without_charsmap, r"pieces of 'The ﬁrst pilot .*: expected \[.*\], found \["),
    ("nllb", other_order, r"de: id of deu_Latn after English: expected -5, found 114"),
    (
        "madlad",
        lambda f: weights(f, lambda w: w.pop("lm_head.weight")),
        r"scores and embeddings are one matrix: expected False, found True",
    ),
    (
        "madlad",
        config(tie_word_embeddings=True),
        r"config.json: scale_decoder_outputs: expected False, found True",
    ),
]


@pytest.mark.parametrize(
    ("name", "plant", "said"), PLANTED, ids=[f"{one[0]}: {one[2][:40]}" for one in PLANTED]
)
def test_each_difference_is_named(
    copied: Callable[[str], Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    plant: Change,
    said: str,
) -> None:
    folder = copied(name)
    kind = check_hub.kind_of(folder)
    plant(folder)
    asked = ("--only", kind, "--no-translations", "--engine", "transformers")
    assert look(folder, name, tmp_path, *asked) == 1
    assert re.search(rf"(?m)^{kind}: {said}", capsys.readouterr().out)


def test_a_setting_that_a_plain_loop_obeys_is_named(
    copied: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copied("m2m100")
    change(folder / "generation_config.json", repetition_penalty=4.0)
    assert look(folder, "m2m100", tmp_path, "--untrained", "--engine", "transformers") == 1
    assert re.search(
        r"(?m)^m2m100: de: transformers: 'The .*': expected '.*', found '", capsys.readouterr().out
    )


def test_a_checkpoint_of_the_hub_has_the_published_sizes(
    checkpoint: Checkpoint,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    repository = tmp_path / "hub" / "models--facebook--m2m100_418M"
    shutil.copytree(checkpoint("m2m100"), repository / "snapshots" / COMMIT)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT, encoding="utf-8")
    asked = ["--only", "m2m100", "--lang", "de", "--cache-dir", str(tmp_path), "--no-translations"]
    assert check_hub.main([*asked, "--engine", "transformers"]) == 1
    said = capsys.readouterr().out
    differing = re.findall(r"m2m100: (.*): expected \d+, found \d+", said)
    sizes = ("d_model", "encoder_layers", "decoder_layers", "max_position_embeddings", "vocab_size")
    assert differing == [*(f"config.json: {name}" for name in sizes), "de: id of __de__"]
    assert (
        check_hub.main(["--only", "mbart50", "--cache-dir", str(tmp_path)]) == 1
    )  # it is not there
    assert re.search(
        r"(?m)^mbart50: expected a checkpoint that mtbias knows, found .*mtbias fetch",
        capsys.readouterr().out,
    )


def test_a_trained_checkpoint_passes_with_both_engines(
    mini: Path, ct2_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--folder", str(mini), "--cache-dir", str(ct2_cache), "--lang", "de", "--lang", "ru"]
    passed = check_hub.main(asked)
    said = capsys.readouterr().out
    assert passed == 0, said
    assert "as assumed, into de, ru" in said
