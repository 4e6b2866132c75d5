"""README.md is short, and its commands do what it says.

Commands of the blocks are run in order, in an empty folder, with the real command line and WinoMT
in the cache. What needs the network or a cluster (`fetch`, `eval --model opus-mt`, `submit`) must
come as far as saying so.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.cli.machine import Machine

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    line
    for block in re.findall(r"^```\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
    if line.startswith("mtbias ")
]
NEEDS = {
    "mtbias fetch": "forbids the network",
    "mtbias eval --model opus-mt": "Helsinki-NLP/opus-mt-en-de",
    "mtbias eval --model openai:NAME": "127.0.0.1: the connection failed",
    "mtbias submit": "`mtbias fetch --sweep paper.toml` downloads what is missing",
    "mtbias status": "",
}
"""The beginning of a command, and what it says here."""
SWEEP = """\
out = "runs/paper"
models = ["opus-mt", "m2m100"]
languages = ["de", "es"]
datasets = ["winomt"]
"""


def test_the_first_page_is_short() -> None:
    lines = README.splitlines()
    assert len(lines) <= 150
    assert [line for line in lines if len(line) > 120] == []


def test_every_page_installs_in_the_same_way() -> None:
    index = "--extra-index-url https://download.pytorch.org/whl/cpu"
    line = re.compile(r"^pip install .* \.$", re.MULTILINE)
    pages = (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
    said = {
        page.name: found
        for page in pages
        if (found := set(line.findall(page.read_text(encoding="utf-8"))))
    }
    names = ("README.md", "index.md", "tutorial.md")
    assert said == {name: {"pip install -c constraints.txt ."} for name in names}
    # PyTorch's index is asked for PyTorch alone.
    torch = f"pip install -c constraints.txt --no-deps {index} torch\npip install"
    for page in pages:
        assert (torch in page.read_text(encoding="utf-8")) == (page.name in names)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"TORCH_INDEX := $(if $(filter cuda,$(TORCH)),,{index})" in makefile
    block = re.search(r"^## Try it\n.*?^```\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert block is not None
    assert block[1].split("\n") == ["make demo", "make test", ""]
    for target in ("demo", "test"):  # each installs what it needs
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    for name in ("Dockerfile", "apptainer.def"):
        assert index.split()[1] in (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_command_of_the_readme_runs(
    tmp_path: Path, winomt: Path, stanza_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path, stanza_dir)
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("paper.toml").write_text(SWEEP, encoding="utf-8")
    shutil.copytree(
        winomt, machine.cache / "datasets" / "winomt", ignore=shutil.ignore_patterns("translations")
    )
    google, bing = (
        (winomt / "translations" / name / "en-de.txt")
        .read_text(encoding="utf-8")
        .splitlines(keepends=True)
        for name in ("google", "bing")
    )
    Path("translated.txt").write_text("".join(google), encoding="utf-8")
    google[::20] = bing[::20]  # few sentences are left to be analysed
    Path("other.txt").write_text("".join(google), encoding="utf-8")
    assert len(COMMANDS) >= 8
    for command in COMMANDS:
        done = machine.run(*command.split(" > ", maxsplit=1)[0].split()[1:], MTBIAS_NO_NETWORK="1")
        said = next(
            (said for beginning, said in NEEDS.items() if command.startswith(beginning)), None
        )
        if said is None:
            assert done.returncode == 0, f"{command}\n{done.stderr}"
        else:
            assert done.returncode in (0, 1), f"{command}\n{done.stderr}"
            assert said in done.stdout + done.stderr, f"{command}\n{done.stderr}"
        if command.startswith("mtbias export"):
            assert len(done.stdout.splitlines()) == 3888
