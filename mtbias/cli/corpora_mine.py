"""``mtbias corpora mine``."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter, validators

from mtbias.cli.shared import Cache, Count, Flag, Json, print_json
from mtbias.errors import DataError, SettingError, UsageError
from mtbias.mining.find_filters import MiningOptions
from mtbias.settings import CacheSettings

_log = logging.getLogger(__name__)

_FILTERS = Group.create_ordered("Filters")


def command(
    *,
    out: Path,
    text: Annotated[list[Path] | None, Parameter(consume_multiple=True)] = None,
    conllu: Annotated[list[Path] | None, Parameter(consume_multiple=True)] = None,
    field: str | None = None,
    name: str | None = None,
    patterns: Path | None = None,
    occupations: Path | None = None,
    processes: Count = 1,
    device: str | None = None,
    stanza_dir: Path | None = None,
    no_parse_cache: Flag = False,
    balanced: Flag = False,
    seed: Annotated[int, Parameter(validator=validators.Number(gte=0))] = 0,
    licence: str | None = None,
    json: Json = False,
    options: Annotated[MiningOptions, Parameter(name="*", group=_FILTERS)] = MiningOptions(),
    cache: Cache = CacheSettings(),
) -> None:
    """Mine a bias corpus from English text: sentences in which a syntactic pattern ties a profession to a pronoun.

    The corpus has BUG's columns, and the pattern, the confidence and the place of each row; `--dataset bug --data OUT`
    reads it. What is left out is counted by reason. A run that was stopped resumes; the corpus depends neither on that
    nor on --processes. Text is English; passages without a listed profession and a pronoun are not parsed.

    Parameters
    ----------
    out
        The corpus to write, a TSV.
    text
        Files or folders of text: a sentence or a paragraph a line; JSON lines (.jsonl, .ndjson, or with --field);
        either may be gzipped (.gz).
    conllu
        Instead of --text: files or folders of parsed sentences, CoNLL-U with Universal Dependencies, version 2.
    field
        The field of JSON lines that has the text (default: text).
    name
        What the column corpus has (default: the file's name without its endings, or the folder's).
    patterns
        Patterns (default: the paper's, and ours).
    occupations
        Table of occupations with their numbers of women and men (default: BUG's, `mtbias fetch --dataset
        bug-occupations`).
    processes
        Processes that parse, of one thread each.
    device
        cpu, cuda, or cuda:1 for the second GPU (default: a GPU where there is one).
    stanza_dir
        Folder of Stanza's models (default: STANZA_RESOURCES_DIR, else the cache); `mtbias fetch --lang en` downloads
        them.
    no_parse_cache
        Do not keep the parses in mtbias's cache, where mining again with other patterns or filters finds them.
    balanced
        Write BUG's balanced part of the corpus, too: as many rows of either gender and stereotype, to
        NAME.balanced.tsv beside it.
    seed
        Of the balanced part's draw.
    licence
        Licence of the texts, for the corpus's card (NAME.md beside it).
    """
    from mtbias import __version__
    from mtbias.corpora import cache_folder
    from mtbias.files.reading import read_bytes
    from mtbias.files.signatures import signature_line
    from mtbias.machine.devices import chosen_device, require_device
    from mtbias.mining.beside_corpus import balanced_path, write_card
    from mtbias.mining.chunk_miner import MiningPlan
    from mtbias.mining.confidence import weights_sha256
    from mtbias.mining.corpus_card import CardFacts, card_path
    from mtbias.mining.counts import STAGES
    from mtbias.mining.input_files import file_hashes, input_files
    from mtbias.mining.mining_progress import MiningProgress
    from mtbias.mining.mining_run import mined_corpus
    from mtbias.mining.occupations import read_occupations
    from mtbias.mining.patterns import SHIPPED, read_patterns

    if out.suffix.lower() not in {".tsv", ".tab"}:
        raise SettingError("out", f"expected a name that ends in .tsv or .tab, got {str(out)!r}")
    if bool(text) == bool(conllu):
        raise UsageError("expected --text PATH… or --conllu PATH…, one of the two")
    if any(given.is_dir() and out.resolve().is_relative_to(given.resolve()) for given in text or conllu or []):
        raise SettingError("out", f"expected a file outside the folders that are read, got {str(out)!r}")
    _refuse_of_text(conllu, field=field, device=device, stanza_dir=stanza_dir)
    folder = cache_folder(cache.cache_dir)
    files = input_files(text or conllu or [], parsed=bool(conllu), field=field, corpus=name)
    found = read_patterns(patterns)
    table = read_occupations(occupations, folder)
    package = None
    if text:
        from mtbias.morphology.stanza_models import PARSER, find_package, stanza_folder

        package = find_package("en", stanza_folder(stanza_dir, folder), PARSER)
        require_device(device := chosen_device(device))
    hashes = file_hashes(files)
    parser = "given trees" if package is None else f"{package.analyses_signature} on {device}"
    chosen = {
        key: "+".join(value) if isinstance(value, tuple) else value
        for key, value in vars(options).items()
        if value not in {None, ()}
    }
    shipped = sha256(read_bytes(patterns or SHIPPED)).hexdigest()
    depends = {
        "input": _digest([[str(each.path), each.form, each.corpus, hashes[str(each.path)]] for each in files], field),
        "patterns": shipped,
        "occupations": table.sha256,
        "confidence": weights_sha256(),
        "parser": parser,
        "options": chosen,
        "mtbias": __version__,
    }
    kept = None if no_parse_cache else folder / "parses"
    plan = MiningPlan(files, found, table, options, package, device, kept)
    progress = MiningProgress(sum(each.size for each in files))
    beside = [card_path(out), balanced_path(out)] if balanced else [card_path(out)]
    with mined_corpus(
        plan, depends, out, beside=beside, field=field or "text", processes=processes, progress=progress
    ) as made:
        roles = {"input": hashes}
        roles |= {role: {"": str(depends[role])} for role in ("patterns", "occupations", "confidence")}
        report: dict[str, Any] = {
            "rows": made.rows,
            "read": {stage: made.counts.stages[stage] for stage in STAGES},
            "matched": dict(sorted(made.counts.matched.items())),
            "left_out": dict(sorted(made.counts.left_out.items())),
            "resumed": made.resumed,
            "out": str(out),
            "signature": signature_line("mine", roles, {"parser": parser, **chosen}),
        }
        facts = CardFacts(
            counts=report["read"], left_out=report["left_out"], signature=report["signature"], licence=licence,
            masked=options.mask_names,
        )  # fmt: skip
        report["card"] = str(write_card(out, facts))
        report["balanced"] = _balanced(out, seed) if balanced else None
    if json:
        print_json(report, indent=None)
    else:
        print(_text(report))


def _balanced(corpus: Path, seed: int) -> dict[str, Any] | None:
    """Write the balanced part of the corpus beside it; None where a quarter of it is empty."""
    from mtbias.mining.beside_corpus import balanced_path, write_balanced

    path = balanced_path(corpus)
    try:
        part = write_balanced(corpus, path, seed)
    except DataError as error:
        _log.warning("no balanced part: %s", error)
        return None
    return {"rows": len(part.chosen), "out": str(path), "seed": seed}


def _refuse_of_text(conllu: list[Path] | None, **given: object) -> None:
    """Refuse options of text where trees are given.

    Raises:
        SettingError: one is set.
    """
    for name, value in given.items():
        if conllu and value is not None:
            raise SettingError(name, "expected it with --text alone: with --conllu nothing is parsed")


def _digest(files: list[list[str]], field: str | None) -> str:
    import json

    return sha256(json.dumps([files, field]).encode()).hexdigest()


def _text(report: Mapping[str, Any]) -> str:
    from mtbias.report.tables import columns

    rows = {f"read: {stage}": n for stage, n in report["read"].items()}
    rows |= {f"found: {pattern}": n for pattern, n in report["matched"].items()}
    rows |= {f"left out: {reason}": n for reason, n in report["left_out"].items()}
    rows["rows of the corpus"] = report["rows"]
    table = columns(["", "number"], [[name, f"{value:,}"] for name, value in rows.items()]).rstrip()
    files = [f"File: {report['out']}", f"Card: {report['card']}"]
    if report["balanced"] is not None:
        files.append(f"Balanced part, {report['balanced']['rows']:,} rows: {report['balanced']['out']}")
    return "\n".join([table, "", *files, f"Signature: {report['signature']}"])
