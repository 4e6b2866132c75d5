"""All calls that mtbias makes of public and of its own translations, to be compared line by line.

    python scripts/all_calls.py --stanza-dir DIR [--cache-dir DIR] [--lang CODE]… --out FOLDER
    python scripts/all_calls.py --compare FOLDER FOLDER [--rows N]

The first form writes a file for each set and language: WinoMT by every public system and the real
outputs on BUG's gold sentences (``data`` of the folder that ``MTBIAS_SHARED`` names, default
``../shared``), the persons of ``tests/natural``, and the sentences of ``tests/challenge``,
``independent``, ``unusual`` and ``neutral``. The second prints which lines differ, and ends with 1
where any does: what a change to the reading of genders must show, line by line, before it is called
a change of form alone.

A line is the id, the call or the reason, the words that render the person, the evidence without its
prose, what the translation does with the gender, and the words that a post-editor would change.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias.align import Pair  # noqa: E402 - the paths above come first
from mtbias.cli.shared import Evaluator  # noqa: E402
from mtbias.corpora import load_corpus  # noqa: E402
from mtbias.errors import DataError  # noqa: E402
from mtbias.evaluation.gender_calls import GENDER_MEASURE  # noqa: E402
from mtbias.files.text_repair import repair  # noqa: E402
from mtbias.scoring.measure import MeasureOptions  # noqa: E402
from mtbias.settings import EvaluatorSettings  # noqa: E402
from mtbias.translate.bitext import read_bitext  # noqa: E402
from mtbias.types import GenderCall, Instance  # noqa: E402
from scripts.label_sets import challenge, natural, neutral  # noqa: E402
from scripts.labelled import files_of, shared_data  # noqa: E402

LANGUAGES = ("ar", "cs", "de", "es", "fr", "he", "it", "ru", "uk")
"""Those of which there are public translations and models of Stanza."""


def sets_of(lang: str) -> Iterator[tuple[str, Sequence[Sequence[Pair]]]]:
    """The name of each set, and its sentences: those that are aligned together in one list."""
    data = shared_data()
    yield from _public(lang, "winomt", data / "winomt", data / "winomt" / "translations")
    gold = data / "bug" / "gold_BUG.csv"
    yield from _public(lang, "bug-gold-paper", gold, data / "bug" / "translations")
    pairs = [person.pair for person in natural.read_persons(lang, data)]
    yield "natural", [pairs]
    starts = range(0, len(pairs), natural.ALONE)
    yield "natural-alone", [pairs[start : start + natural.ALONE] for start in starts]
    for name in ("challenge", "independent", "unusual"):
        file = files_of(name).get(lang)
        if file is not None:
            yield name, [[sentence.pair for sentence in challenge.read_sentences(file)]]
    yield "neutral", [[row.pair for row in neutral.read_rows(neutral.FILES[lang], data)]]


def _public(
    lang: str, name: str, corpus: Path, translations: Path
) -> Iterator[tuple[str, Sequence[Sequence[Pair]]]]:
    instances = load_corpus(name, corpus).instances
    for file in sorted(translations.glob(f"*/en-{lang}.txt")):
        targets = dict(read_bitext(file))
        yield f"{name}-{file.parent.name}", [list(_pairs(instances, targets))]


def _pairs(instances: Sequence[Instance], targets: dict[str, str]) -> Iterator[Pair]:
    for instance in instances:
        target = targets.get(instance.source)
        if target:
            yield Pair.from_instance(instance, repair(target).text)


def line_of(call: GenderCall) -> str:
    """A call as one line of JSON."""
    evidence = [[e.kind, e.word, e.gender, e.source] for e in call.evidence]
    edits = [[edit.word, list(edit.span), edit.known] for edit in call.edits]
    content = {
        "id": call.id,
        "call": call.gender or call.reason,
        "target": [list(span) for span in call.target],
        "evidence": evidence,
        "stanza": call.stanza_gender,
        "does": call.does,
        "edits": edits,
    }
    return json.dumps(content, ensure_ascii=False)


def write(lang: str, evaluator: EvaluatorSettings, out: Path) -> None:
    """Write the calls of all sets of a language."""
    measure = GENDER_MEASURE.open(MeasureOptions(lang=lang, settings=evaluator, device="cpu"))
    for name, groups in sets_of(lang):
        lines = [line_of(call) for group in groups for call in measure.call_pairs(group)]
        (out / f"{lang}-{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{lang} {name}: {len(lines):,} calls", flush=True)


def differences(before: Path, after: Path) -> Iterator[tuple[str, str, str]]:
    """The name of the file with both lines, of all lines that differ."""
    names = sorted({path.name for folder in (before, after) for path in folder.glob("*.jsonl")})
    for name in names:
        for one, other in zip_longest(_lines(before / name), _lines(after / name), fillvalue=""):
            if one != other:
                yield name, one, other


def _lines(path: Path) -> Sequence[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


def _changed(one: str, other: str) -> str:
    """What differs between two lines."""
    if not (one and other):
        return f"{one or 'no line'} → {other or 'no line'}"
    first: dict[str, Any] = json.loads(one)
    second: dict[str, Any] = json.loads(other)
    parts = [f"{key}: {first[key]} → {second[key]}" for key in first if first[key] != second[key]]
    return f"{first['id']}: " + "; ".join(parts)


def compare(before: Path, after: Path, rows: int) -> int:
    """Print the lines that differ, at most `rows` of them; 1 where any does."""
    total, calls = 0, 0
    for name, one, other in differences(before, after):
        total += 1
        same = one and other and json.loads(one)["call"] == json.loads(other)["call"]
        calls += not same
        if total <= rows:
            print(f"{name.removesuffix('.jsonl')} {_changed(one, other)}")
    lines = sum(len(_lines(path)) for path in before.glob("*.jsonl"))
    print(f"{total:,} of {lines:,} lines differ, {calls:,} of them in the call")
    return int(total > 0)


def main(
    *,
    evaluator: Evaluator = EvaluatorSettings(),
    lang: list[str] | None = None,
    out: Path | None = None,
    compare_: Annotated[tuple[Path, Path] | None, cyclopts.Parameter("--compare")] = None,
    rows: int = 100,
) -> int:
    """Write the calls, or compare two folders of them; the exit status."""
    if compare_ is not None:
        return compare(*compare_, rows)
    if out is None:
        raise DataError("expected --out FOLDER or --compare FOLDER FOLDER")
    out.mkdir(parents=True, exist_ok=True)
    for code in lang or LANGUAGES:
        write(code, evaluator, out)
    return 0


if __name__ == "__main__":
    app = cyclopts.App(help_format="plaintext", version_flags=[])
    app.default(main)
    app()
