"""What CTranslate2 needs on a GPU besides itself: cuBLAS 12, which PyTorch's own packages no longer have."""

from __future__ import annotations

import ctypes
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

from mtbias.errors import DependencyError, ModelError
from mtbias.machine.installation import install_command
from mtbias.translate.seq2seq.checkpoints import first_line

PACKAGE = "nvidia-cublas-cu12"
_LIBRARIES = ("libcublasLt.so.12", "libcublas.so.12")
"""In the order in which they need each other."""


def load_cublas() -> bool:
    """Load the libraries of `PACKAGE` where it is installed; says whether they are loaded.

    CTranslate2 opens them by name, which finds what is loaded already; where they lie the system's loader does not
    look. Without the package the system may have them all the same.
    """
    try:
        files = {path.name: path for path in distribution(PACKAGE).files or ()}
        for name in _LIBRARIES:
            ctypes.CDLL(str(files[name].locate()), mode=ctypes.RTLD_GLOBAL)
    except (PackageNotFoundError, KeyError, OSError):
        return False
    return True


def check_product(translator: Any, source: list[str], device: str) -> None:  # noqa: ANN401 - a ctranslate2.Translator
    """Compute one token, so that a library that does not fit is noticed here and not in the middle of a corpus.

    Raises:
        DependencyError: cuBLAS is missing; names the extra that has it.
        ModelError: another reason.
    """
    try:
        translator.translate_batch([source], beam_size=1, max_decoding_length=1)
    except Exception as error:
        raise unusable(error, device) from error


def unusable(error: Exception, device: str) -> DependencyError | ModelError:
    """What to say where CTranslate2 does not work on a GPU."""
    said = first_line(error)
    if "libcublas" in said or "libcudart" in said:
        return DependencyError(
            f"--engine ct2 on {device} needs cuBLAS 12, which is not here ({said[:200]}): {install_command('ct2-cuda')}"
        )
    return ModelError(
        f"CTranslate2 cannot compute on {device}: {said[:200]}; use --engine transformers, or --device cpu"
    )
