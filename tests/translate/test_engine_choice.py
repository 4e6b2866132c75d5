"""The engine and the type of weights that the settings give, and attention on a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mtbias.settings import TranslationSettings
from mtbias.translate.seq2seq.checkpoint_system import CheckpointSystem
from mtbias.translate.seq2seq.checkpoints import locate
from mtbias.translate.seq2seq.transformers_engine import _attention


@pytest.mark.parametrize(
    ("settings", "device", "engine", "dtype"),
    [
        (TranslationSettings(), "cuda", "transformers", "float32"),
        (TranslationSettings(preset="fast"), "cuda:1", "transformers", "bfloat16"),
        (TranslationSettings(preset="fast"), "cpu", "transformers", "float32"),
        (TranslationSettings(preset="fast", dtype="float16"), "cuda", "transformers", "float16"),
        (TranslationSettings(preset="fast", engine="ct2"), "cuda", "ctranslate2", "bfloat16"),
    ],
)
def test_engine_and_type_follow_from_the_settings(
    m2m100: Path, tmp_path: Path, settings: TranslationSettings, device: str, engine: str, dtype: str
) -> None:
    pytest.importorskip("ctranslate2")
    where = locate(str(m2m100), "de")
    found = CheckpointSystem(where, "de", settings, cache=tmp_path, device=device)
    assert (found.engine_name.partition("/")[0], found.dtype) == (engine, dtype)


def test_attention_on_a_gpu_is_not_cudnns() -> None:
    # Which makes a plan for each shape; the switches are torch's own and can be read without a GPU.
    assert torch.backends.cuda.cudnn_sdp_enabled()
    with _attention("cuda:1"):
        assert not torch.backends.cuda.cudnn_sdp_enabled()
        assert torch.backends.cuda.flash_sdp_enabled()
        assert torch.backends.cuda.mem_efficient_sdp_enabled()
    assert torch.backends.cuda.cudnn_sdp_enabled()
