"""What CTranslate2 needs on a GPU besides itself: cuBLAS 12, which PyTorch's own packages no longer have."""

from __future__ import annotations

import ctypes
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from typing import Any

from mtbias.errors import DependencyError, ModelError, MtbiasError
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


def usable_types(device: str) -> frozenset[str]:
    """Types in which CTranslate2 can compute on the GPU `device`, as far as that is known without weights.

    Raises:
        MtbiasError: none, and why: CTranslate2 or cuBLAS is not here, or it does not see that GPU.
    """
    if find_spec("ctranslate2") is None:
        raise DependencyError(f"CTranslate2 is not installed ({install_command('ct2-cuda')})")
    import ctranslate2

    number = int(device.partition(":")[2] or 0)
    if number >= (count := ctranslate2.get_cuda_device_count()):
        raise MtbiasError(f"CTranslate2 sees {count} GPUs here")
    if not load_cublas() and not _system_has_cublas():
        raise DependencyError(f"cuBLAS 12 is not here ({install_command('ct2-cuda')})")
    return frozenset(ctranslate2.get_supported_compute_types("cuda", number))


def _system_has_cublas() -> bool:
    try:
        ctypes.CDLL(_LIBRARIES[-1])
    except OSError:
        return sys.platform != "linux"  # elsewhere it has another name, and `check_product` sees what is missing
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
