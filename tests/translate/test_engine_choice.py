"""Which engine the preset ``fast`` takes. There is no GPU here: what CTranslate2 says of one is
set."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import get_args

import pytest
import torch

from mtbias.cluster.sweep_file import Sweep
from mtbias.settings import (
    DTYPES,
    DecodingSettings,
    EngineName,
    EvalSettings,
    TranslationSettings,
    combined,
)
from mtbias.translate.seq2seq.checkpoint_system import CheckpointSystem
from mtbias.translate.seq2seq.checkpoints import locate
from mtbias.translate.seq2seq.engine_choice import ENGINES, EngineChoice
from mtbias.translate.seq2seq.transformers_engine import _attention
from mtbias.translate.system import SystemRequest
from mtbias.translate.system_kinds import CheckpointKind

ctranslate2 = pytest.importorskip("ctranslate2")
CUBLAS = "mtbias.translate.seq2seq.ct2_engine.load_cublas"
FAST = TranslationSettings(preset="fast")


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """CTranslate2 sees one GPU, of the kind that has bf16, and cuBLAS is there."""
    types = {"float32", "float16", "bfloat16", "int8_bfloat16"}
    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 1)
    monkeypatch.setattr(ctranslate2, "get_supported_compute_types", lambda *_: types)
    monkeypatch.setattr(CUBLAS, lambda: True)


def test_every_engine_that_can_be_set_has_its_row_and_its_types() -> None:
    assert set(ENGINES) == set(DTYPES) == set(get_args(EngineName))


@pytest.mark.usefixtures("gpu")
def test_on_a_gpu_fast_is_ctranslate2_in_fewer_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    found = EngineChoice.from_settings(FAST, "cuda", "float16")
    assert (found.engine, found.dtype) == ("ct2", "float16")
    assert (
        found.why
        == "--preset fast on cuda: CTranslate2 in float16; the reference is --preset paper"
    )
    assert EngineChoice.from_settings(FAST, "cuda", "bfloat16").dtype == "bfloat16"
    older = {"float32", "float16", "int8"}  # a T4
    monkeypatch.setattr(ctranslate2, "get_supported_compute_types", lambda *_: older)
    assert EngineChoice.from_settings(FAST, "cuda:0", "bfloat16").dtype == "float16"
    oldest = {"float32"}
    monkeypatch.setattr(ctranslate2, "get_supported_compute_types", lambda *_: oldest)
    found = EngineChoice.from_settings(FAST, "cuda", "float16")
    assert (found.engine, found.dtype) == ("transformers", "float16")
    assert found.why.endswith("because CTranslate2 has no float16 or bfloat16 there")


@pytest.mark.usefixtures("gpu")
def test_what_the_settings_say_is_not_chosen() -> None:
    for settings, engine, dtype in (
        (TranslationSettings(), "transformers", "float32"),
        (TranslationSettings(dtype="bfloat16"), "transformers", "bfloat16"),
        (TranslationSettings(engine="ct2", preset="fast"), "ct2", "float16"),
        (TranslationSettings(engine="transformers", preset="fast"), "transformers", "float16"),
    ):
        choice = EngineChoice.from_settings(settings, "cuda", "float16")
        assert (choice.engine, choice.dtype) == (engine, dtype)
    assert (
        EngineChoice.from_settings(
            TranslationSettings(preset="fast", dtype="bfloat16"), "cuda", "float16"
        ).dtype
        == "bfloat16"
    )


@pytest.mark.usefixtures("gpu")
def test_without_what_ctranslate2_needs_it_is_transformers_and_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def why(device: str) -> str:
        found = EngineChoice.from_settings(FAST, device, "float16")
        assert (found.engine, found.dtype) == ("transformers", "float16")
        assert found.why.startswith(f"--preset fast on {device}: transformers in float16, because ")
        assert "\n" not in found.why
        return found.why.split("because ")[1]

    assert why("cuda:1") == "CTranslate2 sees 1 GPUs here"
    monkeypatch.setattr(CUBLAS, lambda: False)
    monkeypatch.setattr("mtbias.translate.seq2seq.ct2_engine._system_has_cublas", lambda: False)
    assert why("cuda").startswith("cuBLAS 12 is not here (")
    assert "[ct2-cuda]" in why("cuda")
    monkeypatch.setattr("mtbias.translate.seq2seq.ct2_engine.find_spec", lambda _: None)
    assert why("cuda").startswith("CTranslate2 is not installed (")


def test_on_a_cpu_nothing_changes_but_the_limit(
    m2m100: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    where = locate(str(m2m100), "de", cache=tmp_path)
    with caplog.at_level(logging.INFO, "mtbias"):
        paper = CheckpointSystem(where, "de", TranslationSettings(), cache=tmp_path, device="cpu")
        assert caplog.messages == []
        fast = CheckpointSystem(where, "de", FAST, cache=tmp_path, device="cpu")
    (said,) = caplog.messages
    assert said.startswith("--preset fast on cpu: transformers in float32; ")
    assert "can flip a gender" in said
    assert (fast.engine_name, fast.dtype) == (paper.engine_name, "float32")


def test_a_checkpoint_is_told_the_language_of_the_sources(m2m100: Path, tmp_path: Path) -> None:
    asked = SystemRequest(
        name=str(m2m100), lang="de", source_lang="fr", settings=TranslationSettings(), device="cpu", cache=tmp_path,
        offline=True,
    )  # fmt: skip
    system = CheckpointKind().open(asked)
    assert isinstance(system, CheckpointSystem)
    assert system.codec.direction.signature == "fr>__de__"


@pytest.mark.usefixtures("gpu")
def test_what_was_chosen_is_part_of_the_runs_identity(m2m100: Path, tmp_path: Path) -> None:
    where = locate(str(m2m100), "de", cache=tmp_path)
    found = CheckpointSystem(where, "de", FAST, cache=tmp_path, device="cuda")
    assert (found.engine_name, found.dtype) == (
        f"ctranslate2/{ctranslate2.__version__}",
        "float16",
    )


def test_a_sweep_names_its_engine(tmp_path: Path) -> None:
    names = {
        "out": tmp_path,
        "models": ("demo",),
        "languages": ("de",),
        "datasets": ("demo",),
        "presets": ("fast",),
    }
    sweep = combined(Sweep, DecodingSettings(), **names)
    assert sweep.engine == "transformers"
    assert combined(EvalSettings, sweep, preset="fast").engine == "transformers"
    assert combined(Sweep, DecodingSettings(engine="ct2"), **names).engine == "ct2"


def test_attention_on_a_gpu_is_not_cudnns() -> None:
    # Which makes a plan for each shape; the switches are torch's own and can be read without a GPU.
    assert torch.backends.cuda.cudnn_sdp_enabled()
    with _attention("cuda:1"):
        assert not torch.backends.cuda.cudnn_sdp_enabled()
        assert torch.backends.cuda.flash_sdp_enabled()
        assert torch.backends.cuda.mem_efficient_sdp_enabled()
    assert torch.backends.cuda.cudnn_sdp_enabled()
