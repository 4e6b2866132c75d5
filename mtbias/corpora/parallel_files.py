"""Files whose lines belong together: line k of each is sentence k of a data set that has files for each language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mtbias.errors import DataError, UsageError
from mtbias.files.reading import TextFile, read_text, refuse_long, split_lines


@dataclass(frozen=True, slots=True)
class ParallelFile:
    """One of the files, with its sentences."""

    file: TextFile
    lines: Sequence[str]
    """Without surrounding white space."""


def read_parallel(
    dataset: str, folder: Path, lang: str, names: Callable[[str], Sequence[str]]
) -> tuple[ParallelFile, ...]:
    """The files `names(lang)` of the folder, in their order.

    Raises:
        UsageError: the folder has no sentences of this language; the message lists those it has.
        DataError: it is no folder, a file is missing, is empty, has another number of lines than the first, or an empty
            line.
    """
    wanted = names(lang)
    if not folder.is_dir():
        family = "-".join(wanted[0].split("-")[:2])
        raise DataError(f"expected the folder with the files of {dataset} ({family}-…)", path=folder)
    if not (folder / wanted[0]).is_file():
        there = sorted(path.name.split(".en_")[1].removesuffix(".en") for path in folder.glob(names("*")[0]))
        known = f"there are {', '.join(there)}" if there else f"expected files like {wanted[0]} there"
        raise UsageError(f"no sentences of {dataset} for {lang} in {folder}; {known}")
    read = [read_text(folder / name) for name in wanted]
    found = tuple(ParallelFile(file, _sentences(file)) for file in read)
    expected = len(found[0].lines)
    for each in found:
        if len(each.lines) != expected:
            raise each.file.error(
                f"expected {expected} lines, as {wanted[0]} has, got {len(each.lines)}; "
                "line k of each file is sentence k"
            )
    return found


def _sentences(file: TextFile) -> list[str]:
    lines = [line.strip() for line in split_lines(file.text)]
    for number, line in enumerate(lines, start=1):
        if not line:
            raise file.error("expected a sentence, got an empty line", number)
        refuse_long(line, "sentence", file.path, number)
    return lines
