"""How the calls on real output of three neural systems agree with a blind reading.

    python scripts/experiments/real_system_readings.py RUNS

RUNS is what `make results` leaves (``.venv/public``). ``real_system_readings.tsv`` has 140 rows of
each file of outputs: language, id, what the row was drawn from by the calls of then (60 called, 40
called female, 40 without a call), and the gender that the reader, who did not see the calls, found
that the translation shows for the person (``none shown``; ``not rendered``). It prints how many
calls of today are the reading, by what the rows were drawn from, and the rows that are not.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias import read_run  # noqa: E402 - the paths above come first
from mtbias.errors import MtbiasError  # noqa: E402
from mtbias.files.reading import read_table  # noqa: E402

READINGS = Path(__file__).with_suffix(".tsv")
GENDERS = frozenset(("male", "female", "neutral"))


def folder(runs: Path, file: str, lang: str) -> Path:
    """The run of a file of outputs in a language."""
    system, corpus = file.split("-")
    return runs / "firefox" / corpus if system == "firefox" else runs / "bug" / f"{system}-{lang}"


def main(runs: Path) -> None:
    """Print the counts and the rows that differ."""
    calls: dict[tuple[str, str], dict[str, str | None]] = {}
    counts: Counter[tuple[str, str, bool]] = Counter()
    for row in read_table(READINGS, "file", "lang", "id", "drawn", "reading").records:
        file, lang = row.get("file"), row.get("lang")
        if (file, lang) not in calls:
            records = read_run(folder(runs, file, lang)).calls
            calls[file, lang] = {record.id: record.to_json()["gender"] for record in records}
        call = calls[file, lang][row.get("id")]
        reading = row.get("reading")
        same = call == (reading if reading in GENDERS else None)
        counts[file, row.get("drawn"), same] += 1
        if not same:
            print(f"{file} {lang} {row.get('id')}: read {reading}, called {call}")
    for file, drawn in dict.fromkeys((file, drawn) for file, drawn, _ in counts):
        right = counts[file, drawn, True]
        print(f"{file}, {drawn}: {right} of {right + counts[file, drawn, False]}")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except MtbiasError as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")
