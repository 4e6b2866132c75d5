"""``mtbias corpora counterfactual``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtbias.cli.corpora_shared import JSONL, TSV, corpus_of_entities
from mtbias.cli.shared import Cache, Corpus, Flag, Json, print_json
from mtbias.errors import DataError, SettingError
from mtbias.settings import CacheSettings, CorpusSettings

_SHOWN = 5


def command(
    *,
    out: Path,
    controls: Flag = False,
    leave_out_ambiguous: Flag = False,
    json: Json = False,
    corpus: Corpus = CorpusSettings(),
    cache: Cache = CacheSettings(),
) -> None:
    """Write each sentence with its counterfactual of the other gender: gendered pronouns are swapped, all else stays.

    The file has the columns of `--dataset custom`, so it is translated and scored like any corpus; `pair` links the two
    sentences, and the run then reports how often the system is right for one gender only. With --controls each of the
    two gets a sentence of the same gender with another determiner before the entity ("the doctor", "this doctor"),
    linked by `control`; the run then reports what gender changes beyond what any small change does.

    A sentence is left out, and counted by reason, where its pronouns have both genders or not the gold one, or where
    other words tell a gender (wife, Mr., waitress). A "her" that may be "him" or "his" is a guess where both are usual:
    these are counted and named. Names stay as they are.

    Parameters
    ----------
    out
        The corpus to write: .tsv (or .tab), .jsonl (or .ndjson).
    controls
        Add controls of the same gender.
    leave_out_ambiguous
        Leave out sentences with a guess.
    """
    from mtbias import __version__
    from mtbias.corpora.counterfactual_pairs import format_custom, make_counterfactual
    from mtbias.files.writing import write_atomic

    suffix = out.suffix.lower()
    if suffix not in JSONL | TSV:
        raise SettingError("out", f"expected a name that ends in {', '.join(sorted(TSV | JSONL))}, got {str(out)!r}")
    read = corpus_of_entities(corpus, cache)
    made = make_counterfactual(read.instances, controls=controls, leave_out_ambiguous=leave_out_ambiguous)
    if not made.instances:
        reasons = ", ".join(f"{reason} ({n:,})" for reason, n in made.left_out.items())
        raise DataError(f"no sentence of the corpus can be swapped: {reasons}", path=read.path)
    write_atomic(out, format_custom(made.instances, jsonl=suffix in JSONL).encode("utf-8"))
    signed = (
        f"counterfactual|dataset:{read.name}|data:{read.sha256[:12]}|controls:{'yes' if controls else 'no'}"
        f"|ambiguous:{'left-out' if leave_out_ambiguous else 'kept'}|mtbias:{__version__}"
    )
    report = {
        "sentences": len(read.instances),
        "swapped": made.originals,
        "with_controls": made.controlled,
        "written": len(made.instances),
        "left_out": made.left_out,
        "without_control": made.without_control,
        "examples": made.examples,
        "ambiguous": made.ambiguous,
        "out": str(out),
        "signature": signed,
    }
    if json:
        print_json(report, indent=None)
    else:
        print(_text(report, controls=controls))


def _text(report: Mapping[str, Any], *, controls: bool) -> str:
    from mtbias.report.tables import columns, printable

    rows = {"sentences of the corpus": report["sentences"], "swapped": report["swapped"]}
    if controls:
        rows["  with controls"] = report["with_controls"]
        rows |= {f"  no control: {reason}": n for reason, n in report["without_control"].items()}
    rows |= {f"left out: {reason}": n for reason, n in report["left_out"].items()}
    rows |= {"sentences written": report["written"], "her or his that may be read either way": len(report["ambiguous"])}
    lines = [columns(["", "number"], [[name, f"{value:,}"] for name, value in rows.items()]).rstrip()]
    lines += [printable(f"  ambiguous: {id_}: …{around}…") for id_, around in report["ambiguous"][:_SHOWN]]
    if (more := len(report["ambiguous"]) - _SHOWN) > 0:
        lines.append(f"  … and {more:,} more (--json lists all)")
    return "\n".join([*lines, "", f"File: {report['out']}", f"Signature: {report['signature']}"])
