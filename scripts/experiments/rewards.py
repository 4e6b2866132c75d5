"""How many rewards of single sentences rest on the call that a run over the corpus makes.

`python scripts/experiments/rewards.py --data WINOMT --stanza-dir DIR --lang de es ru he` scores
Google's translations of WinoMT in a run and sentence by sentence. Left out are sentences that name
the entity twice, since lines of a run do not say which is meant.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

import mtbias  # noqa: E402
from mtbias.runs.call_records import CallRecord  # noqa: E402
from mtbias.settings import ScoreSettings  # noqa: E402


def main() -> None:
    """Print a line for each language."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="WinoMT's folder")
    parser.add_argument("--stanza-dir", type=Path, required=True)
    parser.add_argument("--lang", nargs="+", required=True)
    args = parser.parse_args()
    settings = ScoreSettings(data=args.data, stanza_dir=args.stanza_dir, device="cpu", resamples=0)
    for lang in args.lang:
        run = mtbias.score(
            args.data / "translations" / "google" / f"en-{lang}.txt", lang, settings=settings
        )
        rows = [row for row in run.calls if _is_used(row)]
        began = time.process_time()
        rewards = mtbias.rewards(
            [row.source for row in rows],
            [row.translation or "" for row in rows],
            lang,
            entities=[row.entity for row in rows],
            genders=[str(row.gold) for row in rows],
            settings=ScoreSettings(stanza_dir=args.stanza_dir, device="cpu"),
        )
        seconds = time.process_time() - began
        pairs = [(one.gender, row.call.gender) for one, row in zip(rewards, rows, strict=True)]
        same = sum(alone == whole for alone, whole in pairs)
        opposite = sum(None not in pair and pair[0] != pair[1] for pair in pairs)
        print(
            f"{lang}: {same:,} of {len(rows):,} as in the run, {opposite} opposite, {seconds:.1f} s"
        )


def _is_used(row: CallRecord) -> bool:
    told = str(row.gold) in {"male", "female"}
    return told and bool(row.translation) and row.source.lower().count(row.entity.lower()) == 1


if __name__ == "__main__":
    main()
