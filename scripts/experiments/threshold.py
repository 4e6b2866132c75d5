"""When alignment should say "unaligned": coverage against error over thresholds of its score and of
its margin.

    python scripts/experiments/threshold.py --stanza-dir DIR [--gold LABELS.csv] [--lang CODE]…

The rows are the labelled ones: ``tests/challenge``, ``tests/independent``, the part ``dev`` of
``tests/unusual`` and of ``tests/natural`` (where the public data is; the whole file and 25
sentences at a time), and with ``--gold`` the human labels that rest on the noun phrase. Every file
is aligned by itself.

The score of a word is half the sum of its link, its association over the corpus, and 1 if the table
knows it as a translation of the entity; its margin is what the best word of another form lacks of
that. For each threshold it prints, where what is below counts as unaligned:

- found: the rows with a head, of those whose translation renders the entity;
- wrong heads: of the rows where a head is found;
- called, and wrong calls of the calls.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import cyclopts

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias.align import Aligner, Pair, StatisticalAligner  # noqa: E402 - the paths above come first
from mtbias.corpora.human_labels import read_label_file  # noqa: E402
from mtbias.errors import DataError, MtbiasError  # noqa: E402
from mtbias.evaluation.gender_calls import GenderMeasure  # noqa: E402
from mtbias.language.split_texts import SplitTexts  # noqa: E402
from mtbias.morphology import Analyser  # noqa: E402
from mtbias.scoring.correction import LABELS  # noqa: E402
from mtbias.types import Alignment, Gender, GenderCall, Progress, Span, quiet  # noqa: E402
from scripts import challenge, natural  # noqa: E402
from scripts.labelled import shared_data, shipped_language, stanza_of  # noqa: E402

SCORES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 1.0)
MARGINS = (-1.0, 0.0, 0.05, 0.1, 0.2, 0.3, 0.5)
LANGUAGES = ("ar", "cs", "de", "es", "fr", "he", "it", "ru", "uk")


@dataclass(frozen=True, slots=True)
class Labelled:
    """One row with what is right."""

    pair: Pair
    head: Span | None
    """What renders the entity; None where nothing does."""
    gender: Gender | None
    tells: bool
    """Whether `gender` is to be compared with the call: not where a predicate alone shows it."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One row with its alignment and its call."""

    row: Labelled
    alignment: Alignment
    call: GenderCall


@dataclass
class KeepingAligner(Aligner):
    """The statistical aligner, which keeps what it found."""

    kept: list[Alignment] = field(default_factory=list)
    signature: str = "kept"

    def align(
        self, pairs: Sequence[Pair], texts: SplitTexts, progress: Progress = quiet
    ) -> tuple[Alignment, ...]:
        """See `mtbias.align.Aligner`."""
        found = StatisticalAligner().align(pairs, texts, progress)
        self.kept.extend(found)
        return found


def judge(rows: Sequence[Labelled], code: str, analyser: Analyser) -> list[Judged]:
    """Alignments and calls of rows that are aligned together."""
    aligner = KeepingAligner()
    checked: Aligner = aligner
    calls = GenderMeasure(shipped_language(code), checked, analyser).call_pairs(
        [r.pair for r in rows]
    )
    return [Judged(*found) for found in zip(rows, aligner.kept, calls, strict=True)]


def files(code: str, gold: Path | None) -> Iterator[tuple[str, list[Labelled]]]:
    """The name of a set and the rows of one of its files in a language, as they are aligned
    together.
    """
    own = {
        "challenge": challenge.challenge_files().get(code),
        "independent": challenge.challenge_files(independent=True).get(code),
        "unusual": challenge.unusual_files().get(code),
    }
    for name, path in own.items():
        sentences: Sequence[challenge.Sentence] = challenge.read_challenge(path) if path else ()
        if name == "unusual":
            sentences = challenge.unusual_parts(sentences)["dev"]
        rows = [
            Labelled(
                Pair(s.id, s.source, s.target, s.head, s.entity),
                s.target_head,
                s.gender,
                tells=True,
            )
            for s in sentences
        ]
        yield name, rows
    if code in {path.stem for path in natural.FILES.glob("*.tsv")}:
        texts = natural.read_texts(code, shared_data())
        persons = [
            p for p in natural.read_persons(natural.FILES / f"{code}.tsv", texts) if p.part == "dev"
        ]
        rows = [Labelled(p.pair, p.head, p.label, tells=p.basis != "P") for p in persons]
        yield "natural", rows
        for k in range(0, len(rows), natural.ALONE):
            yield "natural, 25 at a time", rows[k : k + natural.ALONE]
    if gold is not None:
        yield "human labels", _human(gold, code)


def _human(gold: Path, code: str) -> list[Labelled]:
    try:
        labels = read_label_file(gold).labels(code)
    except DataError:
        return []  # no labels in this language
    chosen = [
        label for label in labels if label.basis in ("N", "D") and label.target_head is not None
    ]
    return [
        Labelled(Pair(label.id, label.source, label.target, label.head, label.entity), label.target_head,
                 LABELS[label.label], tells=True)
        for label in chosen
    ]  # fmt: skip


def line(name: str, rows: Sequence[Judged], *, score: float = -2.0, margin: float = -2.0) -> str:
    """One line: a threshold, and what it leaves of coverage and error."""
    kept = [
        r
        for r in rows
        if r.call.target and r.alignment.score >= score and r.alignment.margin >= margin
    ]
    rendered = [r for r in rows if r.row.head is not None]
    found = [r for r in kept if r.row.head is not None]
    wrong = [r for r in kept if r.row.head is None or not r.call.target[0].overlaps(r.row.head)]
    called = [r for r in kept if r.call.gender is not None and r.row.tells]
    miscalled = [r for r in called if r.call.gender is not r.row.gender]
    shares = (
        (found, rendered),
        (wrong, kept),
        (called, [r for r in rows if r.row.tells]),
        (miscalled, called),
    )
    cells = (f"{100 * len(a) / max(len(b), 1):.1f} % ({len(a)}/{len(b)})" for a, b in shares)
    return f"| {name} | " + " | ".join(cells) + " |"


def main(*, stanza_dir: Path, gold: Path | None = None, lang: list[str] | None = None) -> int:
    """Print the curves of every set, as Markdown.

    Parameters
    ----------
    stanza_dir
        Folder of Stanza models.
    gold
        Human labels, as mtbias validate reads them.
    lang
        Only these languages.
    """
    sets: dict[str, list[Judged]] = {}
    try:
        for code in lang or LANGUAGES:
            analyser = stanza_of(code, stanza_dir)
            for name, rows in files(code, gold):
                sets.setdefault(name, []).extend(judge(rows, code, analyser) if rows else ())
    except MtbiasError as error:
        print(error, file=sys.stderr)
        return 1
    for name, judged in {**sets, "all": [j for rows in sets.values() for j in rows]}.items():
        print(f"\n{name}: {len(judged)} rows\n")
        print(
            "| unaligned below | found | wrong heads | called | wrong calls |\n|---|---:|---:|---:|---:|"
        )
        print("\n".join(line(f"score {t:.2f}", judged, score=t) for t in SCORES))
        print("\n".join(line(f"margin {t:.2f}", judged, margin=t) for t in MARGINS))
    return 0


if __name__ == "__main__":
    sys.exit(cyclopts.run(main))
