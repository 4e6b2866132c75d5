"""How the evaluator does on natural text: persons of Wikipedia and of first-person sentences, labelled by hand.

    python scripts/natural.py --stanza-dir DIR [--lang CODE]… [--part dev|held-out|all] [--alone] [--rows]

The labels are those of ``tests/natural``, whose README has the conventions. The texts are public data and no part of
mtbias: they are read from the folder that ``MTBIAS_SHARED`` names (default ``../shared``). All sentences of a language
are aligned together; with ``--alone`` 25 at a time, as in a newcomer's first file.

Of the persons that are kept (``keep`` 1) it prints, with the rows that are the denominator:

- head: the first aligned word overlaps the labelled head, of rows that have one;
- agreement: the call is the label, of rows whose noun, determiner or adjective shows a gender (basis N, D);
- wrong: the other gender is called, of the same rows;
- silent: a gender is called, of rows that show none or leave the person out (basis X).
"""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import cyclopts

from mtbias.align import Pair, StatisticalAligner
from mtbias.errors import DataError
from mtbias.evaluation.gender_calls import GenderMeasure
from mtbias.files.reading import Record, read_table
from mtbias.language.installed import get_language
from mtbias.morphology import AnalysisCache, StanzaAnalyser, find_package
from mtbias.types import Gender, GenderCall, Span

ROOT = Path(__file__).resolve().parent.parent
FILES = ROOT / "tests" / "natural"
LABELS = {"m": Gender.MALE, "f": Gender.FEMALE, "n": Gender.NEUTRAL, "none": None}
COLUMNS = ("text", "start", "entity", "head", "label", "basis", "keep", "part", "second", "note")
ALONE = 25


@dataclass(frozen=True, slots=True)
class Person:
    """One labelled person of one sentence."""

    pair: Pair
    head: Span | None
    """Characters of the translation that render the person; None where it is left out."""
    label: Gender | None
    basis: str
    """N: the noun's form, D: determiner or adjective in the phrase, P: a predicate alone, X: nothing."""
    part: str
    note: str


def texts(lang: str, data: Path) -> dict[str, tuple[str, str]]:
    """Source and translation by the name that the labels give them (``geneval-4``, ``feminine-12``, ``bing-7``)."""
    found: dict[str, tuple[str, str]] = {}
    if lang in ("de", "es"):
        with (data / "mtgeneval" / "entities" / f"geneval.en-{lang}.tsv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                found[f"geneval-{row['id']}"] = row["source"], row["vanilla translation"]
    elif lang in ("ar", "it", "ru"):
        for form in ("feminine", "masculine"):
            stem = data / "mtgeneval" / "sentences" / f"geneval-sentences-{form}-test.en_{lang}"
            sides = [Path(f"{stem}.{side}").read_text(encoding="utf-8").split("\n") for side in ("en", lang)]
            for number, (source, target) in enumerate(zip(*sides, strict=True), start=1):
                found[f"{form}-{number}"] = source, target.strip()
    elif lang in ("cs", "uk"):
        for system in ("amazon_translate", "nllb_3b"):
            path = data / "gest" / "translations" / system / f"{lang}.csv"
            with path.open(encoding="utf-8", newline="") as file:
                for number, row in enumerate(csv.DictReader(file), start=1):
                    found[f"{system}-{number}"] = row["from"], row["to"].replace("\n", " ")
    else:
        sources = [line.split("\t")[2] for line in (data / "winomt" / "en.txt").read_text(encoding="utf-8").splitlines()]
        for system in ("google", "bing"):
            lines = (data / "winomt" / "translations" / system / f"en-{lang}.txt").read_text(encoding="utf-8")
            by_source = dict(line.split(" ||| ", 1) for line in lines.splitlines() if " ||| " in line)
            found |= {f"{system}-{n}": (s, by_source[s]) for n, s in enumerate(sources) if s in by_source}
    return found


def read_persons(path: Path, sentences: Mapping[str, tuple[str, str]]) -> list[Person]:
    """The persons of a file of labels that are kept.

    Raises:
        DataError: a label does not fit its sentence.
    """
    table = read_table(path)
    table.require(*COLUMNS)
    return [_person(record, sentences) for record in table.records if record.get("keep") == "1"]


def _person(record: Record, sentences: Mapping[str, tuple[str, str]]) -> Person:
    source, target = sentences[record.get("text")]
    start, entity = record.integer("start"), record.get("entity")
    head = (start, start + len(entity))
    if source[slice(*head)] != entity:
        raise record.error(f"expected {entity!r} at {start}, got {source[slice(*head)]!r}")
    # The mark may hold more than the head ("police chief"): the head is its last word, as in every corpus.
    first = head[1] - len(re.split(r"[\s-]", entity.removesuffix("'s"))[-1].strip(".,'’")) - 2 * entity.endswith("'s")
    word, _, occurrence = record.get("head").partition("@")
    places = [Span(*m.span()) for m in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", target)] if word else []
    if word and not places:
        raise record.error(f"expected the head {word!r} in the translation")
    return Person(
        pair=Pair(f"{record.get('text')}@{start}", source, target, Span(first, head[1] - 2 * entity.endswith("'s")), entity.removesuffix("'s").lower()),
        head=places[int(occurrence or 1) - 1] if places else None,
        label=LABELS[record.get("label")],
        basis=record.get("basis"),
        part=record.get("part"),
        note=record.get("note"),
    )


def count(persons: Sequence[Person], calls: Sequence[GenderCall]) -> dict[str, tuple[int, int]]:
    """(rows, of rows) by the names of the module's docstring."""
    rows = list(zip(persons, calls, strict=True))

    def share(of: Callable[[Person], bool], what: Callable[[Person, GenderCall], bool]) -> tuple[int, int]:
        chosen = [(p, c) for p, c in rows if of(p)]
        return sum(what(p, c) for p, c in chosen), len(chosen)

    return {
        "head": share(lambda p: p.head is not None, head_right),
        "agreement": share(lambda p: p.basis in "ND", lambda p, c: c.gender is p.label),
        "wrong": share(lambda p: p.basis in "ND", lambda p, c: c.gender not in (None, p.label)),
        "silent": share(lambda p: p.basis == "X", lambda _, c: c.gender is not None),
    }


def head_right(person: Person, call: GenderCall) -> bool:
    """The first aligned word overlaps the labelled head."""
    return person.head is not None and bool(call.target) and call.target[0].overlaps(person.head)


def describe(person: Person, call: GenderCall) -> str:
    """One row that went wrong, in three lines."""
    source, target = person.pair.source, person.pair.text
    begin, end = person.pair.head or (0, 0)
    found = target[slice(*call.target[0])] if call.target else "–"
    wanted = target[slice(*person.head)] if person.head else "–"
    evidence = "; ".join(f"{e.kind} {e.word}: {e.gender or 'silent'} ({e.detail})" for e in call.evidence)
    return (
        f"{person.pair.id} {person.basis} {person.label or 'none'} at {wanted}; got {call.gender or call.reason} at "
        f"{found} [{evidence}] {person.note}\n    {source[:begin]}[[{source[begin:end]}]]{source[end:]}\n    {target}"
    )


def main(
    *,
    stanza_dir: Path,
    lang: list[str] | None = None,
    part: Literal["dev", "held-out", "all"] = "all",
    alone: bool = False,
    rows: bool = False,
) -> None:
    """Print one line per language, and with ``--rows`` what went wrong.

    Parameters
    ----------
    stanza_dir
        Folder of Stanza models.
    lang
        Only these languages.
    part
        The half of the labels that rules may be corrected by (dev), the one kept unread (held-out), or both.
    alone
        Align 25 persons at a time.
    rows
        List the rows whose call or head is wrong.
    """
    data = Path(os.environ.get("MTBIAS_SHARED", ROOT.parent / "shared")) / "data"
    if not data.is_dir():
        raise DataError("no public data there: set MTBIAS_SHARED", path=data)
    for code in lang or sorted(path.stem for path in FILES.glob("*.tsv")):
        persons = read_persons(FILES / f"{code}.tsv", texts(code, data))
        analyser = StanzaAnalyser(find_package(code, stanza_dir), AnalysisCache(None), device="cpu")
        measure = GenderMeasure(get_language(code), StatisticalAligner(), analyser)
        step = ALONE if alone else len(persons)
        calls = [c for k in range(0, len(persons), step) for c in measure.call_pairs([p.pair for p in persons[k : k + step]])]
        chosen = [(p, c) for p, c in zip(persons, calls, strict=True) if part in (p.part, "all")]
        counts = count([p for p, _ in chosen], [c for _, c in chosen])
        shares = "  ".join(f"{name} {100 * a / n if n else 0:5.1f} % ({a}/{n})" for name, (a, n) in counts.items())
        bases = Counter(p.basis for p, _ in chosen)
        print(f"{code}  {shares}  of {len(chosen)}: " + ", ".join(f"{k} {bases[k]}" for k in "NDPX"), flush=True)
        if rows:
            for person, call in chosen:
                if not (head_right(person, call) or person.head is None) or (
                    person.basis != "P" and call.gender is not person.label
                ):
                    print(describe(person, call))


if __name__ == "__main__":
    cyclopts.run(main)
