"""MT-GenEval, counterfactual part: sentences of Wikipedia in a feminine and a masculine version (Currey et al. 2022).

Each language has sentences of its own, 300 in two versions, in four files whose lines belong together:
``geneval-sentences-{feminine,masculine}-test.en_LANG.{en,LANG}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mtbias.corpora.corpus import Corpus
from mtbias.errors import DataError, UsageError
from mtbias.files.reading import TextFile, read_text, refuse_long, split_lines
from mtbias.types import Gender, SourceSentence

NAME = "mt-geneval"
GENDERS: Mapping[Gender, str] = {Gender.FEMALE: "feminine", Gender.MALE: "masculine"}
"""As the files name them, in the order of the corpus."""


@dataclass(frozen=True, slots=True)
class ReferencedSentence(SourceSentence):
    """A sentence whose source tells a gender, with the reference of both genders."""

    gender: Gender
    """Which the source tells."""
    reference: str
    """The human translation."""
    other_reference: str
    """That of the same sentence in the other gender."""
    pair: str
    """Id of the sentence in the other gender."""


def read_mt_geneval(folder: Path, lang: str) -> Corpus[ReferencedSentence]:
    """Read the sentences of `lang` from the folder of the published files: all feminine ones, then all masculine ones.

    Ids are ``feminine-001`` and so on; line k of each file is sentence k.

    Raises:
        UsageError: the folder has no sentences of this language; the message lists those it has.
        DataError: it is no folder, a file is missing, is empty, has another number of lines than the first, or an empty
            line.
    """
    if not folder.is_dir():
        raise DataError("expected the folder with the files of MT-GenEval (geneval-sentences-…)", path=folder)
    first = _path(folder, Gender.FEMALE, lang, "en")
    if not first.is_file():
        there = sorted(
            path.name.split(".en_")[1].removesuffix(".en")
            for path in folder.glob(_path(folder, Gender.FEMALE, "*", "en").name)
        )
        known = f"there are {', '.join(there)}" if there else f"expected files like {first.name} there"
        raise UsageError(f"no sentences of {NAME} for {lang} in {folder}; {known}")
    files = {
        (gender, side): read_text(_path(folder, gender, lang, side)) for gender in GENDERS for side in ("en", lang)
    }
    lines = {key: _lines(file) for key, file in files.items()}
    expected = len(lines[Gender.FEMALE, "en"])
    for key, file in files.items():
        if len(lines[key]) != expected:
            raise file.error(
                f"expected {expected} lines, as {first.name} has, got {len(lines[key])}; line k of each file is "
                "sentence k"
            )
    instances = [
        ReferencedSentence(
            id=f"{word}-{n + 1:03d}",
            row=n + expected * place,
            source=lines[gender, "en"][n],
            gender=gender,
            reference=lines[gender, lang][n],
            other_reference=lines[other, lang][n],
            pair=f"{GENDERS[other]}-{n + 1:03d}",
        )
        for place, (gender, word) in enumerate(GENDERS.items())
        for other in GENDERS.keys() - {gender}
        for n in range(expected)
    ]
    hashes = {file.path.name: file.sha256 for file in files.values()}
    return Corpus(
        name=NAME,
        path=first,
        sha256=hashes[first.name],
        instances=tuple(instances),
        notes={},
        files=hashes,
        measure=NAME,
    )


def _path(folder: Path, gender: Gender, lang: str, side: str) -> Path:
    return folder / f"geneval-sentences-{GENDERS[gender]}-test.en_{lang}.{side}"


def _lines(file: TextFile) -> list[str]:
    lines = [line.strip() for line in split_lines(file.text)]
    for number, line in enumerate(lines, start=1):
        if not line:
            raise file.error("expected a sentence, got an empty line", number)
        refuse_long(line, "sentence", file.path, number)
    return lines
