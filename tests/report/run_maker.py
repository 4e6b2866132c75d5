"""Finished runs of a few sentences, with exactly the calls that a test wants; and how files of a
run are changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from mtbias.runs.call_records import CallRecord, metrics_text
from mtbias.runs.run_folder import RunFolder
from mtbias.scoring.finding import conclusions
from mtbias.scoring.scores import score
from mtbias.types import Gender, GenderCall, Json, Reason, Stereotype, Translation

M, F = Gender.MALE, Gender.FEMALE
RESAMPLES = 200


def make_records(right: Sequence[bool]) -> list[CallRecord]:
    """A sentence for each: men and women in turn, the stereotype fits two and breaks two; the other
    gender if wrong."""
    records = []
    for n, one in enumerate(right):
        gold = (M, F)[n % 2]
        kind = (Stereotype.PRO, Stereotype.ANTI)[n // 2 % 2]
        call = GenderCall(f"r{n}", gold if one else (F, M)[n % 2], None)
        records.append(
            CallRecord(n, f"The cook number {n}.", f"Satz {n}", "cook", gold, kind, "own", 1, call)
        )
    return records


def write_run(
    path: Path, system: str, records: Sequence[CallRecord], lang: str = "de", **changed: Json
) -> Path:
    """The folder of a run as `mtbias score` leaves it; `changed` are parts of its identity."""
    identity: dict[str, Json] = {
        "dataset": "own", "data": {"own.tsv": "00ff"}, "language": lang, "system": system, "aligner": "agree/1",
        "stanza": "stanza/1", "plugin": f"{lang}/1", "mtbias": "0.1.0", "seed": 0, "resamples": RESAMPLES,
    }  # fmt: skip
    with RunFolder(path).open_or_create({**identity, **changed}) as folder:
        manifest = folder.manifest
        folder.write_translations([Translation(r.id, r.translation) for r in records])
        folder.write_calls(record.to_json() for record in records)
        numbers = score(records, n_resamples=RESAMPLES).to_json(
            signature=manifest.signature(), fingerprint=manifest.fingerprint
        )
        checked = conclusions(numbers, records, lang, "gender")
        folder.write_metrics({**numbers, **checked, "corpus": {"rows": len(records)}})
    return path


def untranslated(records: Sequence[CallRecord]) -> list[CallRecord]:
    """The same sentences, none of which has a translation: a sign that stands above its limit."""
    return [
        CallRecord(
            r.row, r.source, None, r.entity, r.gold, r.stereotype, r.domain, r.pronouns,
            GenderCall(r.id, None, Reason.UNTRANSLATED),
        )
        for r in records
    ]  # fmt: skip


def rewrite_metrics(path: Path, change: Any) -> None:
    """Change the content of a run's `metrics.json` and give it the hash that belongs to it, as a
    forger would."""
    file = path / "metrics.json"
    content = json.loads(file.read_bytes())
    change(content)
    del content["sha256"]
    content["sha256"] = sha256(metrics_text(content).encode()).hexdigest()
    file.write_text(metrics_text(content), encoding="utf-8")
