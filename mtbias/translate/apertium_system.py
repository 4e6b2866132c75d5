"""Apertium, a rule-based translator, as a translation system; its program and a pair of languages
must be installed.
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
from mtbias.translate.system import Begun, Sources, System, SystemKind, SystemRequest
from mtbias.translate.text_system import TextPlan, TextSystem

SCHEME = "apertium"
PROGRAM = "apertium"
BETWEEN = "\n\n"
"""Between texts: an empty line ends a sentence, whatever its last mark (`apertium-destxt`), and is
part of the output."""


class ApertiumKind(SystemKind):
    """``apertium:PAIR`` or, by way of another language, ``apertium:PAIR+PAIR`` (`SystemKind`)."""

    is_other_program = True

    def place(self, request: SystemRequest) -> str:  # noqa: ARG002 - all of its systems are there
        """See `SystemKind.place`."""
        return "Apertium"

    def open(self, request: SystemRequest) -> ApertiumSystem:
        """The system of these pairs. See `SystemKind.open`.

        Raises:
            SettingError: the name does not consist of pairs.
            ModelError: the pairs do not lead from the source's language into the target's.
            DependencyError: the program, or one of the pairs, is not installed.
        """
        pairs = request.name.split("+")
        if not all(re.fullmatch(r"[a-z]{2,3}-[a-z]{2,3}(_\w+)?", pair) for pair in pairs):
            raise SettingError(
                "model",
                f"expected {SCHEME}:eng-spa, or two pairs as eng-spa+spa-ita, got {request.name!r}",
            )
        short = {long: code for code, long in codes("iso3").items()}
        ends: list[str] = []
        for pair in pairs:
            ends += [short.get(code, code) for code in pair.partition("_")[0].split("-")]
        if [ends[0], ends[-1]] != [request.source_lang, request.lang] or ends[1:-1:2] != ends[2::2]:
            raise ModelError(
                f"{SCHEME}:{request.name} does not translate "
                f"from {request.source_lang} into {request.lang}"
            )
        program = shutil.which(PROGRAM)
        if program is None:
            raise DependencyError(
                "Apertium is not installed; "
                f"on Debian: apt-get install apertium {_packages(pairs[0])}"
            )
        usual = Path(program).resolve().parent.parent / "share" / "apertium"
        modes = Path(os.environ.get("APERTIUM_DATADIR", usual)) / "modes"
        for pair in pairs:
            if not (modes / f"{pair}.mode").is_file():
                installed = choices(pair, sorted(path.stem for path in modes.glob("*.mode")))
                raise DependencyError(
                    f"Apertium has no {pair} here; "
                    f"on Debian: apt-get install {_packages(pair)}; {installed}"
                )
        return ApertiumSystem(tuple(modes / f"{pair}.mode" for pair in pairs))


APERTIUM_KIND = ApertiumKind()


@dataclass(frozen=True)
class ApertiumSystem(System):
    """Apertium with installed pairs, one after the other (`mtbias.translate.system.System`)."""

    modes: tuple[Path, ...]
    """The file of each pair, which names its program's steps and their data."""
    uses = frozenset[str]()
    """Settings that change its translations: none."""

    def plan(self, corpus: Sources, begun: Begun) -> TextPlan:
        """All sentences in one part, since Apertium's tagger learns from what it has read."""
        name = "+".join(mode.stem for mode in self.modes)
        identity = {
            "model": f"{SCHEME}:{name}",
            "revision": f"{_version()}/sha256:{self._data_hash()}",
        }
        size = max(1, len(corpus.instances))
        return TextSystem(identity, self._translate, part_size=size).plan(corpus, begun)

    def _data_hash(self) -> str:
        """Hash of the pairs' rules and dictionaries, since an installed pair does not tell its
        version.
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
        """The translations; words that Apertium does not know stay as they are.

        Raises:
            ModelError: Apertium fails, or gives another number of lines.
        """
        lines = [" ".join(text.split()) for text in texts]
        for mode in self.modes:
            # -u leaves out the asterisk before an unknown word.
            ended = _run([PROGRAM, "-u", mode.stem], BETWEEN.join([*lines, ""]))
            *lines, _ = ended.stdout.split(BETWEEN)
            if ended.returncode or len(lines) != len(texts):
                got = f"status {ended.returncode}" if ended.returncode else f"{len(lines)}"
                reason = f": {ended.stderr.splitlines()[0]}" if ended.stderr else ""
                raise ModelError(
                    f"expected {len(texts)} lines of apertium {mode.stem}, got {got}{reason}"
                )
        return lines


def _run(command: Sequence[str], text: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program on a text.

    A lone surrogate goes in as a question mark; a character cut in two comes out as U+FFFD.
    """
    return subprocess.run(
        command,
        input=text.encode(errors="replace").decode(),
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


def _version() -> str:
    ended = _run([PROGRAM, "-V"])
    version = re.search(r"\d+(\.\d+)+", ended.stdout)
    if ended.returncode or not version:
        raise ModelError(
            f"expected the version from `{PROGRAM} -V`, "
            f"got status {ended.returncode} and {ended.stdout!r:.80}"
        )
    return version[0]


def _packages(pair: str) -> str:
    """Debian's package of a pair, which has the name of one of its directions."""
    one, other = pair.partition("_")[0].split("-")
    return f"apertium-{one}-{other} (or apertium-{other}-{one})"
