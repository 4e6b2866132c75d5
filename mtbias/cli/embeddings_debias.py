"""``mtbias embeddings debias``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from mtbias.cli.coref_shared import show
from mtbias.cli.shared import Count, Json
from mtbias.embeddings.debiasing import write_debiased
from mtbias.embeddings.measure_settings import DebiasSettings, Method
from mtbias.embeddings.vectors import read_vectors
from mtbias.embeddings.word_lists import EXAMPLE_LISTS, read_lists
from mtbias.errors import SettingError, escaped
from mtbias.report.tables import columns, number

_METHOD = Group.create_ordered("Of the method (the signature names it)")


def command(
    *,
    vectors: Path,
    method: Method,
    out: Path,
    words: Path | None = None,
    limit: Count | None = None,
    json: Json = False,
    settings: Annotated[DebiasSettings, Parameter(name="*", group=_METHOD)] = DebiasSettings(),
) -> None:
    """Debias word vectors.

    - hard: words lose their part in the gender subspace; pairs such as woman, man are put at equal distances from all
      others; words that tell a gender keep it (Bolukbasi et al. 2016). Vectors are written with length 1.
    - inlp: linear classifiers find the gender of words, and what they read it from is projected out, one after the
      other (Ravfogel et al. 2020). Vectors keep the lengths that the projection leaves.

    The file has the format of the one that came in; FILE.json beside it has the signature, the hashes and the counts.
    `mtbias embeddings measure` shows the bias before and after.

    Parameters
    ----------
    vectors
        The word vectors (word2vec's text format).
    method
        What is done with them.
    out
        File to write the debiased vectors to.
    words
        A TOML file: `[direction]` pairs (feminine, masculine); for hard `[gendered]` pairs, which are equalised, and
        words that tell a gender; other sections are passed over (default: the example that comes with mtbias).
    limit
        Read, and write, only the first so many words (default: all).
    """
    settings.described(method)  # a setting of the other method is refused before a large file is read
    is_free = not out.exists() or (out.is_file() and not (vectors.exists() and out.samefile(vectors)))
    if not (is_free and out.parent.is_dir()):  # now, and not after minutes of learning
        raise SettingError("out", f"expected a new file, in a folder that is there, got {escaped(str(out))}")
    lists = read_lists(words or EXAMPLE_LISTS)
    made = write_debiased(
        out, method, lists, read_vectors(vectors, limit=limit), settings,
        list="given" if words else "example", limit=limit or "none",
    )  # fmt: skip
    result = {"counts": made.counts, "sha256": made.sha256, "signature": made.signature}
    rows = [
        [name.replace("_", " "), f"{number(value)} %" if isinstance(value, float) else str(value)]
        for name, value in made.counts.items()
    ]
    show(result, f"{columns(['', 'number'], rows)}\nFile: {escaped(f'{out}, {out.name}.json')}\n", json=json)
