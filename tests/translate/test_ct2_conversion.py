"""Conversion to CTranslate2: once, whole or not at all, and never to something that would compute
otherwise."""

from __future__ import annotations

import errno
import fcntl
import json
import logging
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from mtbias.errors import ModelError
from mtbias.machine.devices import install_command
from mtbias.translate.seq2seq.codec import Codec
from mtbias.translate.seq2seq.ct2_conversion import RECORD, convert
from mtbias.translate.seq2seq.ct2_engine import CTranslate2Engine
from mtbias.translate.seq2seq.decoding import Decoding
from mtbias.translate.seq2seq.engine import Bounds

from .checkpoints import sentences

pytest.importorskip("ctranslate2")

START = "from pathlib import Path\nfrom mtbias.translate.seq2seq.ct2_conversion import convert\n"


def copy_of(folder: Path, target: Path) -> Path:
    """A checkpoint that a test may change."""
    return Path(shutil.copytree(folder, target))


def change(path: Path, **values: Any) -> None:
    """Set keys of a JSON file; ``None`` removes one."""
    content = {**json.loads(path.read_text(encoding="utf-8")), **values}
    kept = {key: value for key, value in content.items() if value is not None}
    path.write_text(json.dumps(kept), encoding="utf-8")


def change_weights(folder: Path, edit: Callable[[Any], object]) -> None:
    """Load a checkpoint's model, edit it, and write it back."""
    from transformers import AutoModelForSeq2SeqLM

    model = AutoModelForSeq2SeqLM.from_pretrained(folder)
    with torch.no_grad():
        edit(model)
    model.save_pretrained(folder)


def names(cache: Path) -> list[str]:
    """What is in the cache of conversions, hidden names too."""
    return sorted(path.name for path in (cache / "ct2").iterdir())


def translations(folder: Path, cache: Path) -> list[str]:
    """Of some sentences of the grammar."""
    codec = Codec(folder, "de")
    batch = [one.ids for one in codec.encode(list(sentences(20, seed=9)[0]))]
    engine = CTranslate2Engine(folder, cache=cache, threads=1)
    return codec.decode(
        [one.ids for one in engine.generate(batch, Bounds(Decoding(), 40, codec.forced))]
    )


def test_a_checkpoint_is_converted_once(m2m100: Path, tmp_path: Path) -> None:
    folder, cache = copy_of(m2m100, tmp_path / "model"), tmp_path / "cache"
    made = convert(folder, cache)
    assert sorted(path.name for path in made.iterdir()) == [
        "config.json",
        "model.bin",
        RECORD,
        "shared_vocabulary.json",
    ]
    assert names(cache) == [made.name]
    before = {path.name: path.stat() for path in made.iterdir()}
    for dtype in ("float32", "int8"):
        assert CTranslate2Engine(folder, dtype=dtype, cache=cache).converted == made
    after = {path.name: path.stat() for path in made.iterdir()}
    assert {n: (s.st_ino, s.st_mtime_ns) for n, s in before.items()} == {
        n: (s.st_ino, s.st_mtime_ns) for n, s in after.items()
    }


def test_another_place_is_the_same_and_other_content_is_not(m2m100: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    folder = copy_of(m2m100, tmp_path / "model")
    made = convert(m2m100, cache)
    assert convert(folder, cache) == made
    change(folder / "generation_config.json", bad_words_ids=[[9]])
    assert convert(folder, cache) != made
    assert len(names(cache)) == 2


def test_without_locks_what_another_process_makes_stays(
    m2m100: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_locks(handle: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    (tmp_path / "ct2" / ".other.tmp").mkdir(parents=True)
    monkeypatch.setattr(fcntl, "flock", no_locks)
    made = convert(m2m100, tmp_path)
    assert names(tmp_path) == [".other.tmp", made.name]
    assert "no file locks here" in caplog.text


def interrupt(folder: Path, cache: Path, number: signal.Signals) -> str:
    """Convert in another process and send it a signal once it is writing; what it said."""
    home = cache / "ct2"
    home.mkdir(parents=True)
    program = f"import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n{START}"
    command = [
        sys.executable,
        "-c",
        f"{program}convert(Path({str(folder)!r}), Path({str(cache)!r}))",
    ]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 120
    while not any(home.glob(".*.tmp/*/*")) and child.poll() is None and time.monotonic() < end:
        time.sleep(0.0005)
    child.send_signal(number)
    _, said = child.communicate(timeout=600)
    assert child.returncode != 0, "it was done before the signal came"
    return said


@pytest.mark.slow
def test_a_killed_conversion_leaves_nothing_that_lasts(m2m100: Path, tmp_path: Path) -> None:
    interrupt(m2m100, tmp_path, signal.SIGKILL)
    (left,) = names(
        tmp_path
    )  # something is there, but under no name that would be taken for a conversion
    assert left.endswith(".tmp")
    made = convert(m2m100, tmp_path)
    assert names(tmp_path) == [made.name]


@pytest.mark.slow
def test_a_stopped_conversion_leaves_nothing(m2m100: Path, tmp_path: Path) -> None:
    assert "KeyboardInterrupt" in interrupt(m2m100, tmp_path, signal.SIGINT)
    assert names(tmp_path) == []


@pytest.mark.slow
def test_a_full_disk_leaves_nothing(m2m100: Path, mount_disk: Callable[[str], Path]) -> None:
    disk = mount_disk("96k")  # model.bin alone has more than 200 kB
    with pytest.raises(ModelError, match="cannot be written: No space left on device; make room"):
        convert(m2m100, disk)
    assert names(disk) == []


@pytest.mark.slow
def test_two_processes_at_once(m2m100: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    program = f"{START}print(convert(Path({str(m2m100)!r}), Path({str(cache)!r})).name)"
    both = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [one.communicate(timeout=600)[0].strip() for one in both]
    assert [one.returncode for one in both] == [0, 0]
    assert said[0] == said[1]
    assert names(cache) == [said[0]]
    assert translations(m2m100, cache)


def test_damaged_weights(m2m100: Path, tmp_path: Path) -> None:
    folder, cache = copy_of(m2m100, tmp_path / "model"), tmp_path / "cache"
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])
    with pytest.raises(
        ModelError,
        match=r"cannot convert this checkpoint: SafetensorError: .*; use --engine transformers",
    ):
        convert(folder, cache)
    assert names(cache) == []


def test_missing_weights(m2m100: Path, tmp_path: Path) -> None:
    folder = copy_of(m2m100, tmp_path / "model")
    (folder / "model.safetensors").unlink()
    with pytest.raises(
        ModelError, match=r"cannot convert this checkpoint: OSError: .*; use --engine transformers"
    ):
        convert(folder, tmp_path / "cache")


@pytest.mark.parametrize(
    "name", ["model.bin", "shared_vocabulary.json", "config.json", "mtbias.json"]
)
def test_a_damaged_conversion_is_made_again(
    m2m100: Path, tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    made = convert(m2m100, tmp_path)
    whole = {path.name: path.read_bytes() for path in made.iterdir()}
    place = (
        len(whole[name]) // 2 if name != "mtbias.json" else whole[name].index(b"[") + 1
    )  # the end token's id
    # one bit: CTranslate2 would load it and compute something else
    (made / name).write_bytes(
        whole[name][:place] + bytes([whole[name][place] ^ 1]) + whole[name][place + 1 :]
    )
    with caplog.at_level(logging.WARNING, "mtbias"):
        CTranslate2Engine(m2m100, cache=tmp_path)
    assert f"{made} is damaged; it is converted again" in caplog.text
    assert {path.name: path.read_bytes() for path in made.iterdir()} == whole


def test_mbart50_that_lacks_what_the_converter_needs(
    mbart50: Path, ct2_cache: Path, tmp_path: Path
) -> None:
    # Without normalize_before the converter stops; without tokenizer_class the converted model
    # would expect the caller to start the decoder; without a bos_token CTranslate2 does not load.
    # It changes nothing for transformers.
    folder = copy_of(mbart50, tmp_path / "model")
    change(
        folder / "config.json",
        normalize_before=None,
        normalize_embedding=None,
        tokenizer_class=None,
    )
    change(folder / "tokenizer_config.json", bos_token=None)
    content = (folder / "config.json").read_text(encoding="utf-8")
    expected = translations(mbart50, ct2_cache)
    assert translations(folder, ct2_cache) == expected
    assert len(set(expected)) > 5
    config = json.loads((convert(folder, ct2_cache) / "config.json").read_text(encoding="utf-8"))
    assert config["decoder_start_token"] == "</s>"  # decoder_start_token_id is 2
    assert (folder / "config.json").read_text(encoding="utf-8") == content


def test_the_decoder_starts_as_in_transformers(
    madlad: Path, nllb: Path, ct2_cache: Path, tmp_path: Path
) -> None:
    # MADLAD-400's decoder starts with id 0, <unk>, its padding is id 1; NLLB's starts with </s>.
    for folder, start in ((madlad, "<unk>"), (nllb, "</s>")):
        config = json.loads(
            (convert(folder, ct2_cache) / "config.json").read_text(encoding="utf-8")
        )
        assert config["decoder_start_token"] == start
    folder = copy_of(nllb, tmp_path / "model")
    change(
        folder / "generation_config.json", decoder_start_token_id=0
    )  # where it differs from config.json, it counts
    config = json.loads((convert(folder, ct2_cache) / "config.json").read_text(encoding="utf-8"))
    assert config["decoder_start_token"] == "<s>"


def test_mbart_that_starts_with_something_else(mbart50: Path, tmp_path: Path) -> None:
    # As mBART-25 does: with the target language (here id 363, de_DE).
    folder = copy_of(mbart50, tmp_path / "model")
    change(folder / "generation_config.json", decoder_start_token_id=Codec(mbart50, "de").forced)
    with pytest.raises(
        ModelError, match="after the conversion to CTranslate2 a log probability is"
    ):
        convert(folder, tmp_path / "cache")
    assert names(tmp_path / "cache") == []


def test_opus_mt_whose_padding_is_not_zero(marian: Path, tmp_path: Path) -> None:
    folder = copy_of(marian, tmp_path / "model")
    change_weights(
        folder,
        lambda model: model.get_input_embeddings().weight[model.config.pad_token_id].fill_(0.1),
    )
    with pytest.raises(
        ModelError, match="after the conversion to CTranslate2 a log probability is"
    ):
        convert(folder, tmp_path / "cache")


def test_several_forced_ends_are_more_than_ctranslate2_takes(m2m100: Path, tmp_path: Path) -> None:
    folder = copy_of(m2m100, tmp_path / "model")
    change(folder / "generation_config.json", forced_eos_token_id=[2, 3])
    with pytest.raises(
        ModelError,
        match=r"forced_eos_token_id=\[2, 3\], of which CTranslate2 takes one; use --engine",
    ):
        convert(folder, tmp_path / "cache")


def test_a_vocabulary_that_does_not_fit(mbart50: Path, tmp_path: Path) -> None:
    folder = copy_of(mbart50, tmp_path / "model")
    change_weights(folder, lambda model: model.resize_token_embeddings(model.config.vocab_size + 3))
    with pytest.raises(
        ModelError, match=r"cannot convert this checkpoint: ValueError: .*vocabulary.*"
    ):
        convert(folder, tmp_path / "cache")


def test_a_model_that_would_compute_otherwise(madlad: Path, tmp_path: Path) -> None:
    # A setting that transformers reads and the converter does not: only the comparison of scores
    # can notice.
    folder = copy_of(madlad, tmp_path / "model")
    change(folder / "config.json", layer_norm_epsilon=0.5)
    with pytest.raises(
        ModelError, match=r"after the conversion to CTranslate2 a log probability is [\d.]+ from"
    ):
        convert(folder, tmp_path / "cache")
    assert names(tmp_path / "cache") == []


def test_without_the_library(m2m100: Path, tmp_path: Path) -> None:
    program = f"""
        import sys
        sys.modules["ctranslate2"] = None  # as if it were not installed
        from pathlib import Path
        from mtbias.errors import DependencyError
        from mtbias.translate.seq2seq.ct2_engine import CTranslate2Engine
        try:
            CTranslate2Engine(Path({str(m2m100)!r}), cache=Path({str(tmp_path)!r}))
        except DependencyError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == f"--engine ct2 needs CTranslate2: {install_command('ct2')}\n", done.stderr
