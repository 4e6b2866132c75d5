"""The command that adds an extra fits the way in which mtbias was installed."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, PathDistribution
from pathlib import Path

import pytest

from mtbias.machine import devices as installation
from mtbias.machine.devices import install_command

FOLDER = "/opt/check out/mtbias"


@pytest.mark.parametrize(
    ("record", "installer", "expected"),
    [
        # PEP 610: an index leaves no record;
        # https://packaging.python.org/specifications/direct-url/
        (None, "pip", "pip install 'mtbias[ct2]'"),
        (None, "uv", "uv pip install 'mtbias[ct2]'"),
        ({"url": "file:///opt/check%20out/mtbias", "dir_info": {"editable": True}}, "pip",
         f"pip install -e '{FOLDER}[ct2]'"),
        ({"url": "file:///opt/check%20out/mtbias", "dir_info": {}}, "pip", f"pip install '{FOLDER}[ct2]'"),
        ({"url": "file:///tmp/mtbias-0.1.0-py3-none-any.whl", "archive_info": {"hash": "sha256=0"}}, "pip",
         "pip install 'mtbias[ct2] @ file:///tmp/mtbias-0.1.0-py3-none-any.whl'"),
        ({"url": "https://example.org/mtbias.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}, "pip",
         "pip install 'mtbias[ct2] @ git+https://example.org/mtbias.git@c0ffee'"),
    ],
)  # fmt: skip
def test_the_command_is_that_of_this_installation(
    record: object, installer: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "INSTALLER").write_text(f"{installer}\n")
    if record is not None:
        (tmp_path / "direct_url.json").write_text(json.dumps(record))
    monkeypatch.setattr(installation, "distribution", lambda _: PathDistribution(tmp_path))
    assert install_command("ct2") == expected


def test_in_the_folder_itself_it_is_a_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = {"url": tmp_path.as_uri(), "dir_info": {"editable": True}}
    (tmp_path / "direct_url.json").write_text(json.dumps(record))
    monkeypatch.setattr(installation, "distribution", lambda _: PathDistribution(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert install_command("ct2") == "pip install -e '.[ct2]'"
    assert install_command() == "pip install -e ."


def test_run_from_its_source_it_is_that_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> PathDistribution:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(installation, "distribution", missing)
    monkeypatch.chdir(Path(__file__).resolve().parents[2])
    assert install_command("slurm") == "pip install -e '.[slurm]'"
