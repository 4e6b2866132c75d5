"""How right mined finds are: precision and yield without and with the filters, and by confidence.

    python scripts/mining_precision.py --texts DIR --occupations inc_occ_gender.csv --stanza-dir DIR
        [--fit]

`--texts` is what ``scripts/mining_texts.py`` wrote. In it 816 finds were read by hand
(``scripts/mining_finds.tsv``: file, line, character of the profession and of the pronoun, the first
and the second reading; no text): right where the pronoun means the person whom the profession
names, wrong where it means another or the profession names no person, unsure where the paragraph
does not tell or the two readings differ. Unsure finds are in no share.

The paragraphs are parsed and matched again. A find that was not read (another parse, another
pattern) is counted and left out. The finds of sample 1 were seen while the terms
(`mtbias.mining.confidence`) were made, those of sample 2 only afterwards: further patterns in the
same texts, and texts that nobody had looked at (fortunes, jargon, lee). A paragraph is of half A or
B by a hash of its text; the weights of the confidence are fitted on half A (`--fit` writes them).
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

import cyclopts
import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT)]

from mtbias.english.dependencies import ParsedSentence  # noqa: E402
from mtbias.english.words import GENDER_OF_PRONOUN  # noqa: E402 - the paths above come first
from mtbias.errors import DataError, MtbiasError  # noqa: E402
from mtbias.files.reading import read_table  # noqa: E402
from mtbias.mining.confidence import TERMS, ConfidenceModel, shipped_model, term_values  # noqa: E402
from mtbias.mining.mined_rows import MiningOptions, Occupations, read_occupations, rows_of  # noqa: E402  # noqa: E402
from mtbias.mining.parsed_sentence import Find, sentence_tokens  # noqa: E402
from mtbias.mining.patterns import EDGES, Pattern, find, read_patterns  # noqa: E402
from mtbias.mining.text_input import WordFilter  # noqa: E402
from mtbias.morphology.english_parser import EnglishParser  # noqa: E402
from mtbias.morphology.stanza_models import PARSER, find_package  # noqa: E402
from mtbias.stats.resampling import wilson_percent  # noqa: E402
from mtbias.types import Gender  # noqa: E402

LABELS = ROOT / "scripts" / "mining_finds.tsv"
WEIGHTS = ROOT / "mtbias" / "mining" / "confidence.toml"
PENALTY = 1.0
"""Of the sum of the squared weights, half of which the fit adds to the loss."""
OTHERS = TERMS.index("reflexive")
"""So many of the terms are signs of another person."""
THRESHOLDS = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

Label = Literal["right", "wrong", "unsure"]
Place = tuple[str, int, int, int]
"""File, line, and the characters of the line at which the profession and the pronoun begin."""


@dataclass(frozen=True, slots=True)
class ReadFind:
    """A find that was read, as it is found now."""

    place: Place
    label: Label
    sample: int
    half: Literal["A", "B"]
    pattern: str
    gender: Gender
    """The pronoun's."""
    authors_reason: str | None
    """Why the authors' filters leave it out."""
    values: tuple[float, ...]
    """`term_values`."""
    around: str
    """The letters from 25 characters before the two to 25 after: alike where a text says a sentence
    twice."""

    @property
    def right(self) -> bool:
        """Whether the pronoun means the profession."""
        return self.label == "right"


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a paragraph: the label and the sample of each find, by its place."""

    text: str
    finds: dict[Place, tuple[Label, int]]

    @property
    def half(self) -> Literal["A", "B"]:
        """By a hash of the paragraph."""
        return "B" if sha256(self.text.encode()).digest()[0] % 2 else "A"


def readings(texts: Path, labels: Path = LABELS) -> list[Reading]:
    """The paragraphs with finds that were read.

    Raises:
        DataError: a text is missing, or is another than the one that was read.
    """
    found: dict[tuple[str, int], Reading] = {}
    lines: dict[str, list[str]] = {}
    for record in read_table(labels).records:
        name, line = record.get("file"), record.integer("line")
        path = texts / name
        if name not in lines:
            if not path.is_file():
                raise DataError(
                    "there is no such text; scripts/mining_texts.py writes it", path=path
                )
            lines[name] = path.read_text(encoding="utf-8").split("\n")
        text = lines[name][line - 1] if line <= len(lines[name]) else ""
        if sha256(text.encode()).hexdigest()[:12] != record.get("line_sha256"):
            raise DataError(
                "the paragraph is not the one that was read; use the packages' named versions",
                path=path,
                line=line,
            )
        place = (name, line, record.integer("profession_at"), record.integer("pronoun_at"))
        label: Label = {"right": "right", "wrong": "wrong"}.get(record.get("label"), "unsure")  # type: ignore[assignment]
        found.setdefault((name, line), Reading(text, {})).finds[place] = (
            label,
            record.integer("sample"),
        )
    return list(found.values())


def found_again(
    reading: Reading,
    parsed: Iterable[tuple[int, ParsedSentence]],
    patterns: Sequence[Pattern],
    table: Occupations,
) -> tuple[list[ReadFind], int]:
    """The read finds among those in the sentences (with their offsets) of a paragraph; and how many
    were not read.
    """
    name, line = next(iter(reading.finds))[:2]
    seen: dict[Place, ReadFind] = {}
    unread: set[Place] = set()
    for offset, sentence in parsed:
        finds = find(sentence, patterns, table.majority)
        for each in finds:
            spans = (sentence.nodes[each.profession].span, sentence.nodes[each.pronoun].span)
            place = (name, line, offset + spans[0].start, offset + spans[1].start)
            if place not in reading.finds:
                unread.add(place)
            elif place not in seen:
                seen[place] = _read_find(reading, place, sentence, each, table)
    return list(seen.values()), len(unread)


def _read_find(
    reading: Reading, place: Place, sentence: ParsedSentence, each: Find, table: Occupations
) -> ReadFind:
    gender = GENDER_OF_PRONOUN[sentence.nodes[each.pronoun].form.lower()]
    distance = sentence_tokens(sentence).distance(each.profession, each.pronoun)
    _, left_out = rows_of(sentence, [each], table, MiningOptions(), corpus="", file="", offset=0)
    label, sample = reading.finds[place]
    pattern = each.pattern.removesuffix(EDGES)
    reason = next(iter(left_out), None)
    start, end = sorted(place[2:])
    around = "".join(filter(str.isalpha, reading.text[max(0, start - 25) : end + 25].lower()))
    values = term_values(sentence, each, table.majority, gender, distance)
    return ReadFind(place, label, sample, reading.half, pattern, gender, reason, values, around)


def fitted(finds: Sequence[ReadFind]) -> ConfidenceModel:
    """The weights that make the labels most probable, with a penalty on their squares (not on the
    intercept).
    """
    from scipy.optimize import minimize

    values = np.array([each.values for each in finds])
    right = np.array([each.right for each in finds], dtype=np.float64)

    def loss(weights: NDArray[np.float64]) -> float:
        total = weights[0] + values @ weights[1:]
        return float(
            np.sum(np.logaddexp(0, total) - right * total) + PENALTY / 2 * np.sum(weights[1:] ** 2)
        )

    best = minimize(loss, np.zeros(len(TERMS) + 1)).x.round(2)
    return ConfidenceModel(float(best[0]), dict(zip(TERMS, map(float, best[1:]), strict=True)))


def unseen_patterns(finds: Sequence[ReadFind]) -> Iterable[tuple[str, int, float, float]]:
    """What the confidence is worth for patterns that it was not fitted on, a family (2 and
    2-conjunct) at a time.

    Each family with its finds on half B, their mean confidence by a model fitted on the other
    families' finds of half A, and the share of them that is right.
    """
    for family in dict.fromkeys(each.pattern.partition("-")[0] for each in finds):
        inside = [
            each for each in finds if each.pattern.partition("-")[0] == family and each.half == "B"
        ]
        others = [
            each for each in finds if each.pattern.partition("-")[0] != family and each.half == "A"
        ]
        if inside and others:
            model = fitted(others)
            mean = sum(model.confidence(each.values) for each in inside) / len(inside)
            yield family, len(inside), mean, sum(each.right for each in inside) / len(inside)


def write_weights(model: ConfidenceModel, path: Path = WEIGHTS) -> None:
    """Put the weights into the file, whose comments stay."""
    head = path.read_text(encoding="utf-8").partition("intercept")[0]
    weights = "".join(f"{term} = {weight:.2f}\n" for term, weight in model.weights.items())
    path.write_text(
        f"{head}intercept = {model.intercept:.2f}\n\n[weights]\n{weights}", encoding="utf-8"
    )


def share(label: str, finds: Sequence[ReadFind], of: int | None = None) -> str:
    """A line of a table: how many finds, which share of `of` that is, and how many of them are
    right.
    """
    right, n = sum(each.right for each in finds), len(finds)
    interval = wilson_percent(right, n)
    kept = "" if not of else f"{100 * n / of:>7.1f}%"
    if interval is None:
        return f"{label:<44}{n:>6}{kept}"
    return f"{label:<44}{n:>6}{kept}{right:>6}{100 * right / n:>8.1f}%  {interval[0]:.1f} to {interval[1]:.1f}"


def report(finds: Sequence[ReadFind], model: ConfidenceModel) -> Iterable[str]:
    """The tables: without and with each filter, by pattern, by confidence."""
    kept = [each for each in finds if each.authors_reason is None]
    yield f"{'':<44}{'finds':>6}{'kept':>8}{'right':>6}{'share':>9}  95 % interval (Wilson)"
    yield share("all finds", finds, len(finds))
    for reason in sorted({each.authors_reason for each in finds if each.authors_reason}):
        yield share(
            f"  left out: {reason}",
            [each for each in finds if each.authors_reason == reason],
            len(finds),
        )
    yield share("after the authors' filters", kept, len(finds))
    for sample, name in ((1, "seen while the terms were made"), (2, "not seen")):
        yield share(f"  sample {sample}: {name}", [each for each in kept if each.sample == sample])
    others = [each for each in kept if not any(each.values[:OTHERS])]
    yield share("no sign of another person", others, len(kept))
    for n, term in enumerate(TERMS[:-1]):
        yield share(f"  with {term}", [each for each in kept if each.values[n]])
    by_pattern: dict[str, list[ReadFind]] = defaultdict(list)
    for each in kept:
        by_pattern[each.pattern].append(each)
    for pattern, members in sorted(by_pattern.items()):
        mean = sum(model.confidence(each.values) for each in members) / len(members)
        yield share(f"pattern {pattern}, mean confidence {100 * mean:.0f} %", members)
    repeated = {each.around for each in kept if each.half == "A"}
    groups: tuple[tuple[str, Callable[[ReadFind], bool]], ...] = (
        ("half B", lambda each: each.half == "B"),
        (
            "half B, without half A's sentences",
            lambda each: each.half == "B" and each.around not in repeated,
        ),
        ("half B, sample 2", lambda each: each.half == "B" and each.sample == 2),
        (
            "half B, the paper's patterns",
            lambda each: each.half == "B" and each.pattern.isdecimal(),
        ),
        (
            "half B, further patterns",
            lambda each: each.half == "B" and not each.pattern.isdecimal(),
        ),
        (
            "half B, masculine pronouns",
            lambda each: each.half == "B" and each.gender is Gender.MALE,
        ),
        (
            "half B, feminine pronouns",
            lambda each: each.half == "B" and each.gender is Gender.FEMALE,
        ),
        ("half A, on which the weights were fitted", lambda each: each.half == "A"),
    )
    for name, belongs in groups:
        group = [each for each in kept if belongs(each)]
        yield name
        for least in THRESHOLDS:
            above = [each for each in group if model.confidence(each.values) >= least]
            yield share(f"  confidence of at least {least}", above, len(group))
    yield f"calibration on half B{'':<23}{'finds':>6}{'mean confidence':>18}{'right':>9}"
    half = sorted((model.confidence(each.values), each.right) for each in kept if each.half == "B")
    for part in np.array_split(np.array(half, dtype=np.float64), min(5, len(half))) if half else ():
        yield f"{'':<44}{len(part):>6}{100 * part[:, 0].mean():>17.1f}%{100 * part[:, 1].mean():>8.1f}%"
    yield "patterns of half B by a model fitted without them on half A: finds, mean confidence, right"
    for family, n, mean, right in sorted(unseen_patterns(kept)):
        yield f"{family:<44}{n:>6}{100 * mean:>17.1f}%{100 * right:>8.1f}%"


def main(
    *,
    texts: Path,
    occupations: Path,
    stanza_dir: Path,
    patterns: Path | None = None,
    fit: bool = False,
) -> None:
    """Print the tables; see the head of this file."""
    table, chosen = read_occupations(occupations), read_patterns(patterns)
    parser = EnglishParser(find_package("en", stanza_dir, PARSER), "cpu")
    words = WordFilter(table.majority, (word for pattern in chosen for word in pattern.words))
    finds: list[ReadFind] = []
    unread = read = 0
    for reading in readings(texts):
        parsed = parser.parse([reading.text], words).parsed
        again, others = found_again(
            reading, ((each.offset, each.parsed) for each in parsed), chosen, table
        )
        finds += again
        unread += others
        read += len(reading.finds)
    counted = Counter(each.label for each in finds)
    print(
        f"{read} finds were read; found again {len(finds)} {dict(counted)}; {unread} in their paragraphs are unread"
    )
    sure = [each for each in finds if each.label != "unsure"]
    model = shipped_model()
    if fit:
        model = fitted([each for each in sure if each.half == "A" and each.authors_reason is None])
        write_weights(model)
    for line in report(sure, model):
        print(line)


if __name__ == "__main__":
    try:
        cyclopts.run(main)
    except MtbiasError as error:
        sys.exit(f"error: {error}")
