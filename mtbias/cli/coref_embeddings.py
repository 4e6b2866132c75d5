"""``mtbias coref embeddings``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from mtbias.cli.coref_shared import show
from mtbias.cli.shared import Count, Json
from mtbias.coref.predicted_clusters import signature
from mtbias.embeddings.measure_settings import MEASURES, EmbeddingSettings, Measure
from mtbias.errors import DataError
from mtbias.report.tables import columns

if TYPE_CHECKING:
    from mtbias.embeddings.word_lists import Result

_OPEN = Group.create_ordered("What papers leave open (the signature names it)")


def command(
    *,
    vectors: Path,
    original: Path | None = None,
    words: Path | None = None,
    limit: Count | None = None,
    measures: Annotated[list[Measure] | None, Parameter(name="--measure")] = None,
    json: Json = False,
    settings: Annotated[EmbeddingSettings, Parameter(name="*", group=_OPEN)] = EmbeddingSettings(),
) -> None:
    """Measure gender bias in word vectors.

    - direct: DB, mean |cos(w, g)|^c of words that tell no gender
    - indirect: β of pairs of words, the share of their similarity that is gender
    - weat: S of one list of targets against two lists of attributes, with the partition test's p
    - gipe: gender-based illicit proximity of words to their neighbours
    - clustering: how well two clusters of the most biased words fit the genders
    - recoverability: how well a classifier finds the gender of the most biased words

    Words without vector are named and left out.

    Parameters
    ----------
    vectors
        The word vectors (word2vec's text format).
    original
        Those before debiasing, where --vectors are debiased: g, β and "most biased" are of that space (default: the
        same).
    words
        A TOML file: `[direction]` pairs (feminine, masculine); `[direct]` words; `[indirect]` pairs; `[weat]` targets,
        attributes_1, attributes_2; `[gipe]` words; `[groups]` exclude. A section that is absent is not measured
        (default: an example).
    limit
        Read only the first so many words (default: all).
    measures
        Only this one; may be given several times (default: all).
    """
    from mtbias.embeddings.vectors import read_vectors
    from mtbias.embeddings.word_lists import EXAMPLE_LISTS, SECTIONS, measure, read_lists

    lists = read_lists(words or EXAMPLE_LISTS)
    absent = [name for name in measures or () if name in SECTIONS and name not in {*lists.words, *lists.pairs}]
    if absent:
        raise DataError(
            f"expected the section [{absent[0]}] for --measure {absent[0]}, got none; add it, or leave the option out",
            path=words,
        )
    read = read_vectors(vectors, limit=limit)
    before = read_vectors(original, limit=limit) if original else read
    chosen = tuple(name for name in MEASURES if not measures or name in measures)
    found = measure(lists, read, before, settings, chosen)
    files = {"vectors": {vectors.name: read.sha256}, "words": {"words": lists.sha256}}
    if original:
        files["original"] = {original.name: before.sha256}
    described = {name.replace("_", "-"): value for name, value in settings.described(chosen).items()}
    result = {
        "words": len(read.words),
        "dimensions": int(read.matrix.shape[1]),
        "repeated_words": read.repeated,
        "zero_vectors": read.zeros,
        "missing_words": found.missing,
        "measures": found.to_json(),
        "signature": signature(
            "embeddings", files, list="given" if words else "example", limit=limit or "none", **described
        ),
    }
    show(result, _text(result, found), json=json)


def _text(result: Mapping[str, Any], found: Result) -> str:
    lines = [f"{result['words']} words of {result['dimensions']} dimensions"]
    if result["repeated_words"] or result["zero_vectors"]:
        lines.append(
            f"left out: {result['repeated_words']} repeated words, {result['zero_vectors']} vectors of length 0"
        )
    lines += [f"without vector, [{section}]: {', '.join(words)}" for section, words in found.missing.items()]
    return "\n".join([*lines, "", columns(["", "", "rests on"], found.rows()), ""])
