"""Description of the texts of a coreference data set: the number of texts of each kind and of
different words, as the papers on the data sets give them.

BUG's section 3 gives GAP's vocabulary for its three parts together, so all parts in a folder are
described together.

Source: Webster et al. (2018), Zhao et al. (2018), Rudinger et al. (2018), Dawkins (2021), Xie et
al. (2023), each of its own data; Levy et al. (2021) of GAP.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtbias.coref.coref_datasets import WITHOUT_DATA, located, open_dataset
from mtbias.coref.counter_gap import CounterGap
from mtbias.coref.documents import DatasetName
from mtbias.coref.gap_data import GapInstance, gender_of, read_instances
from mtbias.coref.sowinobias import SoWinoBias
from mtbias.coref.winobias import WinoBias
from mtbias.coref.winobias_data import WinoBiasDocument
from mtbias.coref.winogender import Winogender
from mtbias.english.vocabulary import different_words
from mtbias.english.words import GENDER_OF_PRONOUN
from mtbias.errors import DataError
from mtbias.files.writing import signature_line
from mtbias.scoring.women_share import occupation, shipped_shares
from mtbias.types import frozen

GAP_PARTS = ("development", "validation", "test")
"""In the names of GAP's files."""
_BOOK = "Book"
"""The column of Counter-GAP with the book that a text is from."""

Facts = Mapping[str, int]
Kind = Mapping[str, str | int]


@frozen
class DescribedOccupation:
    """An occupation of WinoBias."""

    occupation: str
    women: float | None
    """The share of women in it in per cent, from table 1 of Zhao et al. (2018); None if the table
    lacks it."""
    masculine: int
    """Sentences whose masculine pronoun refers to it; so `feminine`."""
    feminine: int


@frozen
class TextsDescription:
    """The description of a coreference data set."""

    dataset: str
    texts: int
    vocabulary: int
    """Different words (`mtbias.english.vocabulary`)."""
    facts: Facts
    """Other counts: quadruples, books, words of a list."""
    kinds: Sequence[Kind]
    """The number of texts of each kind."""
    occupations: Sequence[DescribedOccupation] | None
    """Of WinoBias, the fewest women first."""
    signature: str


def describe_texts(
    name: DatasetName, data: Path | None, cache: Path | None = None
) -> TextsDescription:
    """Describe one of `mtbias.coref.documents.DESCRIBED`.

    Args:
        name: which.
        data: its file or folder, as `open_dataset` takes it; of GAP a folder with its parts, or the
            file of one; None for what ``mtbias fetch`` got.
        cache: mtbias's cache; None: as `mtbias.corpora.catalog.cache_folder` has it.

    Raises:
        DataError: what the reader of the data set raises; no file.
    """
    if data is None and name != WITHOUT_DATA:
        data = located({}, [], [name], cache)[name]
    if name == "gap" and data is not None:
        return _gap(data)
    describers: Mapping[str, Callable[[Any], tuple[Facts, list[Kind]]]] = {
        "counter-gap": _counter_gap,
        "winobias": _winobias,
        "winogender": _winogender,
        "sowinobias": _sowinobias,
    }
    dataset: Any = open_dataset(name, data)
    facts, kinds = describers[name](dataset)
    occupations = _occupations(dataset) if name == "winobias" else None
    texts = [text.text for text in dataset.texts]
    return _description(name, texts, dataset.files, facts, kinds, occupations)


def _description(
    name: str,
    texts: Sequence[str],
    files: Mapping[str, str],
    facts: Facts,
    kinds: Sequence[Kind],
    occupations: Sequence[DescribedOccupation] | None = None,
) -> TextsDescription:
    signature = signature_line("describe", {"data": files}, {"dataset": name})
    vocabulary = len(different_words(texts))
    return TextsDescription(name, len(texts), vocabulary, facts, kinds, occupations, signature)


def _counted(kind: str, values: Iterable[str], order: Sequence[str] = ()) -> list[Kind]:
    """A row for each of `values` with its number: those of `order` first, then the commonest."""
    counts = Counter(values)
    names = [name for name in order if counts[name]]
    names += [name for name, _ in counts.most_common() if name not in order]
    return [{"kind": f"{kind}, {name}", "texts": counts[name]} for name in names]


def _gap_kinds(instances: Sequence[GapInstance]) -> list[Kind]:
    """Texts of GAP's columns by gender, pronoun and right candidate."""
    genders = [str(gender_of(instance)) for instance in instances]
    pronouns = [instance.pronoun.lower() for instance in instances]
    return [
        *_counted("gender", genders, ("male", "female")),
        *_counted("pronoun", pronouns, tuple(GENDER_OF_PRONOUN)),
        *_counted("right candidate", map(_right_candidate, instances), ("A", "B")),
    ]


def _right_candidate(instance: GapInstance) -> str:
    a, b = map(bool, instance.gold)
    named = {(True, True): "both", (True, False): "A", (False, True): "B"}
    return named.get((a, b), "neither")


def _gap(data: Path) -> TextsDescription:
    paths = [data / f"gap-{part}.tsv" for part in GAP_PARTS] if data.is_dir() else [data]
    files = [read_instances(path) for path in paths if path.is_file()]
    if not files:
        raise DataError(f"expected gap-{', gap-'.join(GAP_PARTS)} (.tsv), got none", path=data)
    instances: list[GapInstance] = []
    parts: list[Kind] = []
    for file in files:
        instances += file.instances
        parts.append({"kind": f"part, {file.path.stem}", "texts": len(file.instances)})
    kinds = [*parts, *_gap_kinds(instances)]
    hashes = {file.path.name: file.sha256 for file in files}
    return _description("gap", [i.text for i in instances], hashes, {}, kinds)


def _counter_gap(dataset: CounterGap) -> tuple[Facts, list[Kind]]:
    file = dataset.file
    quadruples = dataset.quadruples
    by_gender = Counter(quadruple.gender for quadruple in quadruples)
    facts = {"quadruples": len(quadruples)}
    facts |= {f"quadruples, original {gender}": n for gender, n in sorted(by_gender.items())}
    books = {instance.others.get(_BOOK, "") for instance in file.instances} - {""}
    facts |= {"books": len(books)} if books else {}
    return facts, _gap_kinds(file.instances)


def _winobias(dataset: WinoBias) -> tuple[Facts, list[Kind]]:
    names: set[str] = set()
    splits: Counter[str] = Counter()
    types: Counter[str] = Counter()
    conditions: Counter[str] = Counter()
    pronouns: Counter[str] = Counter()
    for (split, type_, condition), documents in dataset.sets.items():
        splits[split] += len(documents)
        types[str(type_)] += len(documents)
        conditions[str(condition)] += len(documents)
        for document in documents:
            names |= {occupation.name for occupation in document.occupations}
            pronouns[_first_pronoun(document)] += 1
    return {"occupations": len(names)}, [
        *_counted("split", splits.elements()),
        *_counted("type", types.elements()),
        *_counted("condition", conditions.elements()),
        *_counted("pronoun", pronouns.elements()),
    ]


def _first_pronoun(document: WinoBiasDocument) -> str:
    return document.words[document.pronouns[0]].lower()


def _occupations(dataset: WinoBias) -> list[DescribedOccupation]:
    """The occupations with their sentences, the fewest women first."""
    women = shipped_shares("winobias")
    sentences = Counter(
        (document.occupation.name, GENDER_OF_PRONOUN[_first_pronoun(document)].value)
        for document in dataset.documents.values()
    )
    names = {name for name, _ in sentences}
    described = [
        DescribedOccupation(
            name,
            women.share_of(occupation(name)),
            sentences[name, "male"],
            sentences[name, "female"],
        )
        for name in names
    ]
    return sorted(described, key=lambda one: (one.women is None, one.women or 0, one.occupation))


def _winogender(dataset: Winogender) -> tuple[Facts, list[Kind]]:
    sentences = list(dataset.sentences.values())
    occupations = {sentence.occupation for sentence in sentences}
    pronouns = [str(sentence.pronoun) for sentence in sentences]
    answers = [str(sentence.answer) for sentence in sentences]
    participants = ["someone" if sentence.someone else "named" for sentence in sentences]
    return {"occupations": len(occupations)}, [
        *_counted("pronoun", pronouns),
        *_counted("answer", answers),
        *_counted("participant", participants),
    ]


def _sowinobias(dataset: SoWinoBias) -> tuple[Facts, list[Kind]]:
    sentences = dataset.sentences
    directions = [str(sentence.direction) for sentence in sentences]
    by_side = [f"{sentence.direction}, {sentence.polarity}" for sentence in sentences]
    return {}, [
        *_counted("direction", directions),
        *_counted("direction and polarity", by_side),
    ]
