"""MT-GenEval, counterfactual part: sentences of Wikipedia in a feminine and a masculine version (Currey et al. 2022).

Each language has sentences of its own, 300 in two versions, in four files whose lines belong together:
``geneval-sentences-{feminine,masculine}-test.en_LANG.{en,LANG}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mtbias.corpora.corpus import Corpus
from mtbias.corpora.parallel_files import read_parallel
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
    keys = [(gender, side) for gender in GENDERS for side in ("en", lang)]
    read = read_parallel(NAME, folder, lang, _names)
    lines = {key: each.lines for key, each in zip(keys, read, strict=True)}
    expected = len(read[0].lines)
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
    return Corpus(
        name=NAME,
        path=read[0].file.path,
        sha256=read[0].file.sha256,
        instances=tuple(instances),
        notes={},
        files={each.file.path.name: each.file.sha256 for each in read},
        measure=NAME,
    )


def _names(lang: str) -> list[str]:
    return [f"geneval-sentences-{word}-test.en_{lang}.{side}" for word in GENDERS.values() for side in ("en", lang)]
