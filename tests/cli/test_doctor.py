"""`mtbias doctor` on a machine with nothing on it but mtbias."""

from __future__ import annotations

import json

from .machine import Machine

SWEEP = "out = 'r'\nmodels = ['demo']\nlanguages = ['de']\ndatasets = ['demo']\n"


def test_it_says_what_is_here(bare: Machine) -> None:
    done = bare.run("doctor", "--json", MTBIAS_NO_NETWORK="1")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert all(check["ok"] for check in found)
    checks = {f"{c['part']}/{c['name']}": c["found"] for c in found}
    assert checks["network/downloads"].startswith("forbidden by MTBIAS_NO_NETWORK")
    assert {"versions/torch", "versions/ctranslate2", "devices/cpu"} <= checks.keys()


def test_what_is_wrong_is_marked(bare: Machine) -> None:
    import torch

    file = bare.folder / "s.toml"
    file.write_text(f"{SWEEP}device = 'cuda'\n")
    done = bare.run("doctor", "--sweep", file)
    assert done.returncode == (0 if torch.cuda.is_available() else 1)
    assert done.stdout.startswith("versions\n  mtbias ")
    assert "\n\ndevices\n  cpu " in done.stdout
    assert "\n\nnetwork\n  downloads        " in done.stdout
    assert "\n\nneeded by the sweep s\n  model demo " in done.stdout
    assert ("! cuda" in done.stdout) != torch.cuda.is_available()
