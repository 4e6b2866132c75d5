"""How the evaluator does on the 120 labelled French translations of WinoMT.

    python scripts/experiments/french_labels.py RUNS

RUNS has a run for each system, YEAR/winomt/SYSTEM/fr, as the sweeps of
``docs/examples/public-*.toml`` leave them (`make results`: ``.venv/public``). The labels are those
of ``tests/language/french_winomt.tsv``: system, row of WinoMT's file, the word that renders the
entity, and the gender that its phrase shows (empty: none). They were made before the calls were
seen (`docs/evaluation.md`).
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias import read_run  # noqa: E402 - the paths above come first
from mtbias.errors import MtbiasError  # noqa: E402

LABELS = ROOT / "tests" / "language" / "french_winomt.tsv"


def main(runs: Path) -> None:
    """Print the four figures, and the rows that are missed."""
    with LABELS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    calls = {
        system: {
            record.row: record
            for record in read_run(runs / system[-4:] / "winomt" / system / "fr").calls
        }
        for system in dict.fromkeys(row["system"] for row in rows)
    }
    counts = dict.fromkeys(("head", "agreement", "wrong", "gendered", "called", "none"), 0)
    for row in rows:
        record = calls[row["system"]][int(row["row"])]
        line, label = record.to_json(), row["label"] or None
        found = line["target"][0].lower() if line["target"] else ""
        head = row["head"].lower() in found
        counts["head"] += head
        if label is None:
            counts["none"] += 1
            counts["called"] += line["gender"] is not None
        else:
            counts["gendered"] += 1
            counts["agreement"] += line["gender"] == label
            counts["wrong"] += line["gender"] not in {None, label}
        if not head or line["gender"] != label:
            print(
                f"{row['system']} {row['row']}: {row['head']} {label}, got {found} {line['gender']} {line['reason']}"
            )
    print(
        f"head {counts['head']}/{len(rows)}, agreement {counts['agreement']}/{counts['gendered']}, "
        f"wrong {counts['wrong']}, called without a sign {counts['called']}/{counts['none']}"
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        main(Path(sys.argv[1]))
    except MtbiasError as error:
        sys.exit(f"error: {error}")
