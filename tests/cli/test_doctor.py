"""`mtbias doctor` on a machine with nothing on it but mtbias."""

from __future__ import annotations

import json

import pytest

from mtbias.cli import main
from mtbias.cluster import inventory
from mtbias.cluster.inventory import Check

from .machine import Machine


@pytest.mark.slow
def test_it_says_what_is_here_and_that_the_demo_gives_its_known_numbers(bare: Machine) -> None:
    done = bare.run("doctor", "--json", MTBIAS_NO_NETWORK="1")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert all(check["ok"] for check in found)
    checks = {f"{c['part']}/{c['name']}": c["found"] for c in found}
    assert checks["network/downloads"].startswith("forbidden by MTBIAS_NO_NETWORK")
    # the numbers of README.md
    assert checks["demo/de"].startswith("accuracy 70.5, delta_g 14.5, delta_s 50.4 on ")
    assert checks["demo/de"].endswith(": as known")
    assert {"versions/torch", "versions/ctranslate2", "devices/cpu"} <= checks.keys()


def test_without_the_demo_it_is_a_look(bare: Machine) -> None:
    done = bare.run("doctor", "--no-demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\ndevices\n  cpu " in done.stdout
    assert "\nnetwork\n  downloads        " in done.stdout
    assert "\ndemo\n" not in done.stdout


def test_each_check_is_printed_as_soon_as_it_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], bare: Machine
) -> None:
    printed = []

    def demo(_: object) -> Check:
        printed.append(capsys.readouterr().out)
        return Check("demo", "de", "as known")

    monkeypatch.setattr(inventory, "_demo", demo)
    assert main(["doctor", "--cache-dir", str(bare.cache)]) == 0
    assert printed[0].startswith("versions\n  mtbias ")
    assert "\n\ndevices\n  cpu " in printed[0]
    assert capsys.readouterr().out == f"\ndemo\n  {'de':<15}  as known\n"


def test_the_cache_of_a_sweep_is_its_files(bare: Machine) -> None:
    file = bare.folder / "s.toml"
    file.write_text("out = 'r'\nmodels = ['demo']\nlanguages = ['de']\ndatasets = ['demo']\n")
    done = bare.run("doctor", "--sweep", file, "--cache-dir", bare.folder)
    assert done.returncode == 2
    assert f"--cache-dir: the sweep's file says where its cache is (cache_dir in {file})" in done.stderr


def test_a_device_that_is_not_here_is_wrong(bare: Machine) -> None:
    import torch

    file = bare.folder / "s.toml"
    file.write_text("out = 'r'\nmodels = ['demo']\nlanguages = ['de']\ndatasets = ['demo']\ndevice = 'cuda'\n")
    done = bare.run("doctor", "--sweep", file, "--no-demo")
    assert done.returncode == (0 if torch.cuda.is_available() else 1)
    assert ("! cuda" in done.stdout) != torch.cuda.is_available()


def test_a_folder_that_cannot_be_written_is_wrong(bare: Machine) -> None:
    file = bare.folder / "s.toml"
    file.write_text("out = 's.toml/runs'\nmodels = ['demo']\nlanguages = ['de']\ndatasets = ['demo']\n")
    done = bare.run("doctor", "--sweep", file, "--no-demo")
    assert done.returncode == 1
    assert f"! runs             {file}/runs ({file} cannot be written)" in done.stdout
