"""A folder is complete under its name, or not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mtbias.errors import RunFolderError
from mtbias.files.writing import whole_folder


def test_a_folder_gets_its_name_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "above" / "model"
    with whole_folder(path) as folder:
        (folder / "weights").write_bytes(b"1")
        (folder / "weights").chmod(0o600)  # as safetensors writes them
        assert not path.exists()
        assert folder.parent == path.parent
    assert [each.name for each in path.parent.iterdir()] == ["model"]
    assert (path / "weights").read_bytes() == b"1"
    (tmp_path / "plain").touch()
    assert (path / "weights").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_the_current_folder_is_filled_where_it_is_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path / "model")
    with whole_folder(Path()) as folder:
        (folder / "weights").touch()
    assert (tmp_path / "model" / "weights").exists()


def test_an_empty_folder_may_have_the_name_and_a_filled_one_stays(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.mkdir()
    with whole_folder(path) as folder:
        (folder / "weights").touch()
    with (
        pytest.raises(RunFolderError, match="model: cannot write: Directory not empty"),
        whole_folder(path),
    ):
        pass
    assert [each.name for each in tmp_path.iterdir()] == ["model"]
    assert [each.name for each in path.iterdir()] == ["weights"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_whatever_goes_wrong_nothing_is_left(tmp_path: Path, error: type[BaseException]) -> None:
    def fill(folder: Path) -> None:
        (folder / "weights").touch()
        raise error

    with pytest.raises(error), whole_folder(tmp_path / "model") as folder:
        fill(folder)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_place_that_cannot_be_written_is_explained(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with (
        pytest.raises(RunFolderError, match="choose a folder that you may write to"),
        whole_folder(tmp_path / "model"),
    ):
        pass
