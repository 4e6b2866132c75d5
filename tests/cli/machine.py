"""mtbias as a process of its own, on a machine with a cache of its own."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mtbias.cli import main


@dataclass(frozen=True)
class Machine:
    """A cache and an environment of their own, as on a machine that never reached the network."""

    folder: Path
    stanza: Path | None = None
    site: Path | None = None
    """Where further distributions are installed."""

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    def environment(self, **more: str) -> dict[str, str]:
        kept = {
            k: v for k, v in os.environ.items() if k not in {"MTBIAS_CACHE", "STANZA_RESOURCES_DIR"}
        }
        # A slow machine writes no lines of progress that tests of standard error would have to pass
        # over.
        own = {
            "MTBIAS_LOG_SECONDS": "0",
            "MTBIAS_CACHE": str(self.cache),
            "OMP_NUM_THREADS": "1",
            "HF_HUB_OFFLINE": "1",
            "PYTHONWARNINGS": "",
        }
        if self.stanza is not None:
            own["STANZA_RESOURCES_DIR"] = str(self.stanza)
        if self.site is not None:
            own["PYTHONPATH"] = os.pathsep.join(
                filter(None, (str(self.site), kept.get("PYTHONPATH")))
            )
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
        """A finished process; forked from one that has imported the libraries, where no variable is
        theirs."""
        if more.keys() - _OF_COMMANDS:
            with self.start(*arguments, **more) as process:
                out, err = process.communicate()
            return subprocess.CompletedProcess(
                process.args, process.returncode, out.decode(), err.decode()
            )
        words = [*map(str, arguments)]
        with TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in ("out", "err")]
            for file in files:
                file.touch()
            request = {
                "words": words,
                "environment": self.environment(**more),
                "folder": str(Path.cwd()),
                "files": [[str(file), number] for number, file in enumerate(files, 1)],
            }
            code = _ask(request)
            return subprocess.CompletedProcess(
                words, code, *(file.read_bytes().decode() for file in files)
            )


def run_here(*words: str) -> subprocess.CompletedProcess[str]:
    """What a command prints, run in this process."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        code = main(words)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


_OF_COMMANDS = {"MTBIAS_NO_NETWORK", "MY_KEY"}
"""Variables that mtbias reads when a command needs them; others are read by libraries while they
are imported."""


def _ask(request: dict[str, Any]) -> int:
    process = _warm()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    return int(process.stdout.readline())


@cache
def _warm() -> subprocess.Popen[str]:
    """One for each test process, which ends when that closes its standard input."""
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    environment = Machine(Path("unused")).environment(PYTHONPATH=path)
    command = [sys.executable, "-m", "tests.cli.warm_process"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=root
    )
    atexit.register(_end, process)
    return process


def _end(process: subprocess.Popen[str]) -> None:
    """Close its standard input, at which it ends, and wait for it."""
    with process:
        pass
