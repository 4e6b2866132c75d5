"""How many of GAP's own contexts `mtbias corpora mine --kind gap` finds in their texts, by pattern.

    python scripts/gap_recall.py --data gap-development.tsv --names nam_dict.txt --stanza-dir DIR
        [--parses FILE]

Every fourth text, from the first one on, was looked at while the rules were made; the others are
what to expect. A context is found where the pronoun is one that is mined and both names overlap
with the mined ones. "Known" are those whose two names are people of the pronoun's gender by a title
or `--names`: GAP took its names without their gender, so the others cannot be found. The pattern is
told by the places of the pronoun and the names alone. `--parses` keeps the parses in a file, and
reads them from there the next time.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT)]

from mtbias.coref.gap_data import GapInstance, gender_of, read_instances  # noqa: E402 - the paths above come first
from mtbias.english.people import EXAMPLE_NAMES, read_names  # noqa: E402
from mtbias.errors import MtbiasError  # noqa: E402
from mtbias.files.strict_json import decoded  # noqa: E402
from mtbias.mining.mined_rows import Window, contexts_of  # noqa: E402
from mtbias.morphology.english_parser import EnglishParser, PassageSentence  # noqa: E402
from mtbias.morphology.stanza_models import PARSER, find_package  # noqa: E402
from mtbias.stats.resampling import wilson_percent  # noqa: E402
from mtbias.types import Gender, Span  # noqa: E402

COLUMNS = ("contexts", "known", "found")
SEEN = 4
"""Every text of this distance was seen."""


def counts(
    instance: GapInstance, sentences: Sequence[PassageSentence], names: Mapping[str, Gender]
) -> Counter[str]:
    """1 for each column of the table that the context counts in."""

    def are_named(spans: Sequence[Span]) -> bool:
        return all(
            any(span.overlaps(candidate) for span in spans) for candidate in instance.candidates
        )

    people = Window(instance.text, sentences, names).people if sentences else []
    of_gender = [
        span for one in people if one.gender is gender_of(instance) for span in one.mentions
    ]
    mined = contexts_of(instance.text, sentences, names, corpus="", file="", offset=0)
    same = [one for one in mined if one.offset + one.pronoun_at.start == instance.pronoun_at.start]
    spans = [
        Span(one.offset + span.start, one.offset + span.end)
        for one in same
        for span in (one.a, one.b)
    ]
    return Counter(contexts=1, known=int(are_named(of_gender)), found=int(are_named(spans)))


def pattern(instance: GapInstance) -> str:
    """FINALPRO, MEDIALPRO or INITIALPRO, by where the pronoun stands."""
    before = sum(candidate.start < instance.pronoun_at.start for candidate in instance.candidates)
    return ("INITIALPRO", "MEDIALPRO", "FINALPRO")[before]


def main(
    *,
    data: Path,
    stanza_dir: Path,
    names: Path = EXAMPLE_NAMES,
    parses_file: Annotated[Path | None, cyclopts.Parameter(name="--parses")] = None,
) -> None:
    """Print the table; see the head of this file."""
    instances, genders = read_instances(data).instances, read_names(names).gender
    if parses_file is not None and parses_file.is_file():
        sentences = decoded(list[PassageSentence], parses_file.read_text(encoding="utf-8"))
    else:
        parser = EnglishParser(find_package("en", stanza_dir, PARSER), "cpu")
        sentences = list(parser.parse([one.text for one in instances], lambda _: True).parsed)
        if parses_file is not None:
            parses_file.write_text(
                json.dumps(list(map(asdict, sentences)), ensure_ascii=False), encoding="utf-8"
            )
    of: dict[int, list[PassageSentence]] = {}
    for sentence in sentences:
        of.setdefault(sentence.passage, []).append(sentence)
    tables: dict[str, Counter[str]] = {}
    for at, instance in enumerate(instances):
        part = "unseen" if at % SEEN else "seen"
        found = counts(instance, of.get(at, []), genders)
        for row in (part, f"{part}, {pattern(instance)}"):
            tables.setdefault(row, Counter()).update(found)
    print(
        f"{'':<20}"
        + "".join(f"{column:>10}" for column in COLUMNS)
        + "  found of all, of the known [95 %, Wilson]"
    )
    for row, found in sorted(tables.items()):
        shares = []
        for whole in ("contexts", "known"):
            low, high = wilson_percent(found["found"], found[whole]) or (0.0, 0.0)
            shares.append(
                f"{100 * found['found'] / max(1, found[whole]):.1f} % [{low:.1f}, {high:.1f}]"
            )
        print(
            f"{row:<20}"
            + "".join(f"{found[column]:>10}" for column in COLUMNS)
            + f"  {', '.join(shares)}"
        )


if __name__ == "__main__":
    try:
        cyclopts.run(main)
    except MtbiasError as error:
        sys.exit(f"error: {error}")
