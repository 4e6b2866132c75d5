"""Apertium as a translation system: a translator by rules, which runs where its program and a pair
are installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from mtbias.errors import DependencyError, ModelError, SettingError, choices
from mtbias.files.reading import read_bytes
from mtbias.translate.seq2seq.families import codes
from mtbias.translate.system import Asked, Begun, Sources, System, SystemKind
from mtbias.translate.text_system import TextPlan, TextSystem

SCHEME = "apertium"
PROGRAM = "apertium"
BETWEEN = "\n\n"
"""An empty line ends a sentence, whatever its last mark (`apertium-destxt`), and comes out as it
went in."""


class ApertiumKind(SystemKind):
    """``apertium:PAIR`` or, by way of another language, ``apertium:PAIR+PAIR`` (`SystemKind`)."""

    is_other_program = True

    def place(self, asked: Asked) -> str:  # noqa: ARG002 - all of its systems are there
        """See `SystemKind.place`."""
        return "Apertium"

    def open(self, asked: Asked) -> ApertiumSystem:
        """The system that is asked for. See `SystemKind.open`.

        Raises:
            SettingError: it is not named by pairs.
            ModelError: these pairs do not lead from the source's language into the target's.
            DependencyError: the program, or one of the pairs, is not installed.
        """
        pairs = asked.name.split("+")
        if not all(re.fullmatch(r"[a-z]{2,3}-[a-z]{2,3}(_\w+)?", pair) for pair in pairs):
            raise SettingError(
                "model",
                f"expected {SCHEME}:eng-spa, or two pairs as eng-spa+spa-ita, got {asked.name!r}",
            )
        short = {long: code for code, long in codes("iso3").items()}
        ends = [
            short.get(code, code) for pair in pairs for code in pair.partition("_")[0].split("-")
        ]
        if [ends[0], ends[-1]] != [asked.source_lang, asked.lang] or ends[1:-1:2] != ends[2::2]:
            raise ModelError(
                f"{SCHEME}:{asked.name} does not translate from {asked.source_lang} into {asked.lang}"
            )
        program = shutil.which(PROGRAM)
        if program is None:
            raise DependencyError(
                f"Apertium is not installed; on Debian: apt-get install apertium {_packages(pairs[0])}"
            )
        usual = Path(program).resolve().parent.parent / "share" / "apertium"
        modes = Path(os.environ.get("APERTIUM_DATADIR", usual)) / "modes"
        for pair in pairs:
            if not (modes / f"{pair}.mode").is_file():
                there = choices(pair, sorted(path.stem for path in modes.glob("*.mode")))
                raise DependencyError(
                    f"Apertium has no {pair} here; on Debian: apt-get install {_packages(pair)}; {there}"
                )
        return ApertiumSystem(tuple(modes / f"{pair}.mode" for pair in pairs))


APERTIUM_KIND = ApertiumKind()


@dataclass(frozen=True)
class ApertiumSystem(System):
    """Apertium with installed pairs, one after the other (`mtbias.translate.system.System`)."""

    modes: tuple[Path, ...]
    """The file of each pair, which names its program's steps and their data."""
    uses = frozenset[str]()
    """No setting changes something."""

    def plan(self, corpus: Sources, begun: Begun) -> TextPlan:
        """All sentences in one part: Apertium's tagger learns from what it reads, for all that
        follows.
        """
        name = "+".join(mode.stem for mode in self.modes)
        identity = {
            "model": f"{SCHEME}:{name}",
            "revision": f"{_version()}/sha256:{self._data_hash()}",
        }
        return TextSystem(identity, self._translate, part_size=max(1, len(corpus.instances))).plan(
            corpus, begun
        )

    def _data_hash(self) -> str:
        """Over the pairs' rules and dictionaries: an installed pair does not say which version it
        is.
        """
        digest = sha256()
        for mode in self.modes:
            steps = read_bytes(mode).decode()
            files = re.findall(r"'(/[^']+)'", steps)
            if not files:
                raise ModelError(
                    f"expected the files of rules and dictionaries in {mode}, got none"
                )
            digest.update(steps.encode())
            for data in files:
                digest.update(read_bytes(Path(data)))
        return digest.hexdigest()[:16]

    def _translate(self, texts: Sequence[str]) -> list[str]:
        """The translations, in which words that Apertium does not know stand as they are.

        Raises:
            ModelError: Apertium fails, or gives another number of lines.
        """
        found = [" ".join(text.split()) for text in texts]
        for mode in self.modes:
            given = BETWEEN.join([*found, ""])
            # -u leaves out the asterisk before an unknown word.
            command = [PROGRAM, "-u", mode.stem]
            done = _run(command, given)
            *found, _ = done.stdout.split(BETWEEN)
            if done.returncode or len(found) != len(texts):
                got = f"status {done.returncode}" if done.returncode else f"{len(found)}"
                said = f": {done.stderr.splitlines()[0]}" if done.stderr else ""
                raise ModelError(
                    f"expected {len(texts)} lines of apertium {mode.stem}, got {got}{said}"
                )
        return found


def _run(command: Sequence[str], given: str = "") -> subprocess.CompletedProcess[str]:
    """A lone surrogate goes in as a question mark; what was cut inside a character comes out with a
    mark of that.
    """
    return subprocess.run(
        command, input=given.encode(errors="replace").decode(), capture_output=True, encoding="utf-8", errors="replace",
        check=False,
    )  # fmt: skip


def _version() -> str:
    done = _run([PROGRAM, "-V"])
    found = re.search(r"\d+(\.\d+)+", done.stdout)
    if done.returncode or not found:
        raise ModelError(
            f"expected the version from `{PROGRAM} -V`, got status {done.returncode} and {done.stdout!r:.80}"
        )
    return found[0]


def _packages(pair: str) -> str:
    """The package of a pair is named by one of its directions."""
    one, other = pair.partition("_")[0].split("-")
    return f"apertium-{one}-{other} (or apertium-{other}-{one})"
