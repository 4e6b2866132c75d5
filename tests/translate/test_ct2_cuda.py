"""CTranslate2 on a GPU, as far as it can be seen without one: which library is loaded, and what an
error says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mtbias.errors import DependencyError, ModelError
from mtbias.translate.seq2seq.ct2_engine import CTranslate2Engine, load_cublas, unusable

MISSING = "Library libcublas.so.12 is not found or cannot be loaded"
"""What CTranslate2 says: https://github.com/OpenNMT/CTranslate2, src/cuda/cublas_stub.cc."""


@pytest.mark.skipif(
    sys.platform != "linux",
    reason="CTranslate2's wheels have CUDA on Linux and Windows; here Linux's",
)
def test_a_library_of_the_package_is_found_by_name_once_it_is_loaded(tmp_path: Path) -> None:
    # Stand-ins with those names, made of any library that is here, laid out as the package is:
    # CTranslate2 then opens "libcublas.so.12" by its name alone, which the loader knows.
    site, lib = tmp_path / "site", tmp_path / "site" / "nvidia" / "cublas" / "lib"
    lib.mkdir(parents=True)
    names = ("libcublasLt.so.12", "libcublas.so.12")
    for name in names:
        source, made = tmp_path / f"{name}.c", lib / name
        source.write_text("int mtbias_stand_in(void) { return 12; }\n", encoding="utf-8")
        command = ["cc", "-shared", "-fPIC", f"-Wl,-soname,{name}", "-o", str(made), str(source)]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except FileNotFoundError:
            pytest.skip("no C compiler: cc")
    info = site / "nvidia_cublas_cu12-12.9.3.13.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: nvidia-cublas-cu12\nVersion: 12.9.3.13\n"
    )
    (info / "RECORD").write_text("".join(f"nvidia/cublas/lib/{name},,\n" for name in names))
    program = """
import ctypes
from mtbias.translate.seq2seq.ct2_engine import load_cublas
def known():
    try:
        return ctypes.CDLL("libcublas.so.12").mtbias_stand_in()
    except OSError:
        return None
print(known(), load_cublas(), known())
"""
    paths = [str(site), *filter(None, sys.path)]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}\n{program}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("None True 12\n", "")


def test_without_the_package_nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtbias.translate.seq2seq.ct2_engine.PACKAGE", "no-such-package-of-anybody")
    assert not load_cublas()


def test_an_error_of_the_library_names_what_brings_it() -> None:
    found = unusable(RuntimeError(f"{MISSING}\nmore"), "cuda:1", Path("made"))
    assert isinstance(found, DependencyError)
    assert str(found).startswith(
        "--engine ct2 on cuda:1 needs cuBLAS 12, which is not here (Library libcublas.so.12"
    )
    assert "[ct2-cuda]" in str(found)
    found = unusable(
        RuntimeError("CUDA failed with error invalid device ordinal"), "cuda:1", Path("made")
    )
    assert isinstance(found, ModelError)
    assert "invalid device ordinal; delete that folder to convert it again, use --engine" in str(
        found
    )


def test_on_a_gpu_cublas_is_loaded_first_and_a_product_computed_last(
    m2m100: Path, ct2_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An engine that is told that its device is a GPU; the library gives a translator of the CPU
    # instead.
    ctranslate2: Any = pytest.importorskip("ctranslate2")
    engine = CTranslate2Engine(m2m100, cache=ct2_cache)
    engine._kind = "cuda"
    done: list[str] = []

    class Translator:
        compute_type = "float32"

        def __init__(self, folder: str, **settings: Any) -> None:
            done.append(f"translator on {settings.pop('device')}")
            self.real = ctranslate2.Translator(folder, device="cpu", **settings)

        def translate_batch(self, *given: Any, **settings: Any) -> Any:
            done.append("product")
            return self.real.translate_batch(*given, **settings)

    module = "mtbias.translate.seq2seq.ct2_engine"
    monkeypatch.setattr(f"{module}.library", lambda: SimpleNamespace(Translator=Translator))
    monkeypatch.setattr(f"{module}.load_cublas", lambda: done.append("cublas"))
    engine._load("float32")
    assert done == ["cublas", "translator on cuda", "product"]

    class Lacking(Translator):
        """Its library fails as it does where cuBLAS is missing, at the first product."""

        def translate_batch(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError(MISSING)

    monkeypatch.setattr(f"{module}.library", lambda: SimpleNamespace(Translator=Lacking))
    with pytest.raises(DependencyError, match=r"needs cuBLAS 12.*ct2-cuda"):
        engine._load("float32")
