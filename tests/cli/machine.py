"""mtbias as a process of its own, on a machine with a cache of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Machine:
    """A cache and an environment of their own, as on a machine that never reached the network."""

    folder: Path
    stanza: Path | None = None

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    def environment(self, **more: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if k not in {"MTBIAS_CACHE", "STANZA_RESOURCES_DIR"}}
        # A slow machine writes no lines of progress that tests of standard error would have to pass over.
        own = {
            "MTBIAS_LOG_SECONDS": "0",
            "MTBIAS_CACHE": str(self.cache),
            "OMP_NUM_THREADS": "1",
            "HF_HUB_OFFLINE": "1",
            "PYTHONWARNINGS": "",
        }
        if self.stanza is not None:
            own["STANZA_RESOURCES_DIR"] = str(self.stanza)
        return {**kept, **own, **more}

    def start(self, *arguments: str | Path, **more: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "mtbias", *map(str, arguments)]
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(**more),
        )

    def run(self, *arguments: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
        with self.start(*arguments, **more) as process:
            out, err = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, out.decode(), err.decode())
