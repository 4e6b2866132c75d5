"""``mtbias embeddings debias``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from mtbias.cli.shared import Count, Json, show
from mtbias.embeddings.measure_settings import DebiasSettings, Method

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

    - hard: words lose their part in the gender subspace; pairs such as woman, man are put at equal
      distances from all others; words that tell a gender keep it (Bolukbasi et al. 2016). Vectors
      are written with length 1.
    - double-hard: hard, after the mean of all vectors and one of their principal components are
      taken out: the one without which two clusters fit the genders of the most biased words least
      (Wang et al. 2020).
    - inlp: linear classifiers find the gender of words, and what they read it from is projected
      out, one after the other (Ravfogel et al. 2020). Vectors keep the lengths that the projection
      leaves.
    - ran: each word is moved away from the neighbours that it owes to gender, while it stays near
      its old place (Kumar et al. 2020); words that tell a gender stay. Vectors are written with
      length 1.

    The file has the format of the one that came in; FILE.json beside it has the signature, the
    hashes and the counts. `mtbias embeddings measure` shows the bias before and after.

    Parameters
    ----------
    vectors
        The word vectors (word2vec's text format).
    method
        What is done with them.
    out
        File to write the debiased vectors to.
    words
        A TOML file: `[direction]` pairs (feminine, masculine); for all but inlp `[gendered]`
        pairs, which hard and double-hard equalise, and words that tell a gender; other sections are
        passed over (default: the example that comes with mtbias).
    limit
        Read, and write, only the first so many words (default: all).
    """
    from mtbias.embeddings.debiasing import debias_file

    show(debias_file(vectors, method, out, words, limit, settings), json=json)
