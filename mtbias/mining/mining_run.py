"""A mining run: text in, a corpus out, the same bytes however often it was stopped and however many
processes worked.

Chunks of text are mined one after the other and kept beside OUT as they come. At the end the corpus
is written: of rows with the same ``sentence_text``, as the authors do, the last one; and its card.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import asdict, astuple, field
from functools import cache
from hashlib import blake2b
from itertools import chain, groupby, islice
from multiprocessing import get_context
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from mtbias.corpora.catalog import cache_folder
from mtbias.english.people import EXAMPLE_NAMES, read_names
from mtbias.errors import MtbiasError, SettingError, escaped
from mtbias.files.kept_work import KeptLines, kept_lines
from mtbias.files.reading import sha256_of, sha256_of_file
from mtbias.files.writing import signature_line, write_atomic
from mtbias.machine.devices import begin_worker, chosen_device, require_device
from mtbias.mining.confidence import WEIGHTS
from mtbias.mining.mined_rows import (
    Kind,
    MinedContext,
    MinedRow,
    MiningOptions,
    Occupations,
    context_lines,
    contexts_of,
    corpus_lines,
    may_hold,
    read_occupations,
    rows_of,
)
from mtbias.mining.patterns import SHIPPED, Pattern, find, read_patterns
from mtbias.mining.text_input import (
    Chunk,
    InputFile,
    Passage,
    WordFilter,
    input_files,
    read_chunks,
)
from mtbias.morphology.english_parser import MOST_TOKENS, EnglishParser, PassageSentence
from mtbias.morphology.stanza_models import PARSER, StanzaPackage, find_package, stanza_folder
from mtbias.report.tables import PrintedTable, draw, markdown_text, number
from mtbias.types import Gender, Progress, frozen
from mtbias.version import __version__

LONG_SENTENCE = f"sentence of more than {MOST_TOKENS} tokens"
DUPLICATE = "duplicate sentence"
SAME_SENTENCE = "another find of the sentence is kept"
STAGES = ("passages", "passages with the words", "sentences", "sentences parsed")
"""Lines or paragraphs that were read; those that hold a listed noun and a pronoun; the sentences of
these; those of them that were parsed."""
_COUNTS = ("stages", "matched", "left_out")
_COMMONEST = 10
"""Number of the commonest professions, patterns and so on in a table of the card."""

_CARD = """\
# {name}

{what}

- Rows: {rows:,}
- Licence of the texts: {licence}
- Precision: not measured here; mean confidence {confidence}
- Signature: `{signature}`

## Rows

{tables}

## Read and left out

{counts}

## Using it

```
{commands}
```

## Limits

{limits}
"""


class _Output(NamedTuple):
    """The output of a kind of mining: rows, their file, and the texts of the card."""

    row: Callable[..., Any]
    lines: Callable[[Iterable[Any]], Iterable[str]]
    what: str
    commands: str
    limits: str


_KINDS: Mapping[Kind, _Output] = {
    "bug": _Output(
        MinedRow,
        corpus_lines,
        """\
Sentences with a profession and a gendered pronoun that a syntactic pattern ties together, mined \
from text by
`mtbias corpora mine` as BUG was (Levy, Lazar and Stanovsky, Findings of EMNLP 2021).""",
        """\
mtbias eval --model opus-mt --lang de --dataset bug --data {file}
mtbias coref run --system stanza --model model.pt --dataset bug --data {file} --out clusters.jsonl
mtbias coref score bug --data {file} --predictions clusters.jsonl
mtbias corpora check --data {file} --out check.html
mtbias corpora balance --dataset bug --data {file} --out balanced.tsv""",
        """\
- A pattern finds a structure, not coreference: a share of the rows is wrong. mtbias's manual \
(docs/mining.md) has the
  precision that was measured for the patterns; that of this corpus is found with `mtbias corpora \
check`. The
  confidence was fitted on finds of mtbias's own patterns in other texts; it does not know how \
right other patterns are.
- The gender is the pronoun's, he or she; nobody else is in the corpus. Stereotypes are the \
majority of workers in the
  table of occupations, in its country and year.
- The sentences are those in which the patterns hold, not a sample of the texts: frequencies of \
professions or genders
  here are not those of the texts.""",
    ),
    "gap": _Output(
        MinedContext,
        context_lines,
        """\
Contexts with a gendered pronoun and exactly two people of its gender, mined from text by `mtbias \
corpora mine --kind
gap` after GAP (Webster et al. 2018) and Counter-GAP (Xie et al. 2023, section 2.1).""",
        "mtbias coref counterfactual --data {file} --out quadruples.tsv",
        """\
- The labels A-coref and B-coref are empty: people have to say whom the pronoun means, TRUE or \
FALSE.
- People are proper names whose gender a title or the list of names tells; others are not seen, so \
that a context may
  have further people. The gender is the pronoun's, he or she; nobody else is in the corpus.""",
    ),
}


@frozen
class MinedChunk:
    """The result of a chunk of text: rows, and counts that add up over the chunks of a text."""

    rows: list[Any] = field(default_factory=list)
    """Rows of the kind (`_KINDS`)."""
    stages: Counter[str] = field(default_factory=Counter)
    """By `STAGES`."""
    matched: Counter[str] = field(default_factory=Counter)
    """Finds, by pattern."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Lines, passages, sentences or finds that are not in the corpus, by reason."""


@frozen
class MiningPlan:
    """Everything that the rows of a text depend on, and the device on which they are computed;
    processes get a copy of it.
    """

    files: tuple[InputFile, ...]
    patterns: tuple[Pattern, ...]
    occupations: Occupations
    options: MiningOptions
    package: StanzaPackage
    device: str
    names: Mapping[str, Gender] | None = None
    """The genders of first names, for contexts of GAP's kind."""

    @property
    def words(self) -> Callable[[str], bool]:
        """The cheap filter: the listed nouns, and the pronouns that the patterns find; or
        `may_hold`.
        """
        if self.names is not None:
            return may_hold
        pronouns = chain.from_iterable(pattern.words for pattern in self.patterns)
        return WordFilter(self.occupations.majority, pronouns)


@frozen
class MinedCorpus:
    """A corpus that was mined."""

    rows: int
    read: Mapping[str, int]
    """By `STAGES`."""
    matched: Mapping[str, int]
    left_out: Mapping[str, int]
    resumed: bool
    """Whether a part of it is from a run that was stopped."""
    out: Path
    card: Path
    signature: str


def mine(
    texts: Sequence[Path],
    out: Path,
    *,
    kind: Kind = "bug",
    field: str | None = None,
    name: str | None = None,
    names: Path | None = None,
    patterns: Path | None = None,
    occupations: Path | None = None,
    options: MiningOptions = MiningOptions(),
    licence: str | None = None,
    processes: int = 1,
    device: str | None = None,
    stanza_dir: Path | None = None,
    cache: Path | None = None,
    progress: Progress = lambda _stage, _done, _total: None,
) -> MinedCorpus:
    """Mine a corpus like BUG or GAP from English text; a run that was stopped resumes.

    Args:
        texts: files or folders (`mtbias.mining.text_input.input_files`).
        out: the corpus, a TSV; its card is written beside it.
        kind: like BUG or like GAP.
        field: the field of JSON lines that has the text (default: text).
        name: value of the column corpus (default: the file's name without its endings, or the
            folder's).
        names: first names, of the kind gap (default: the example list).
        patterns: a file of them, of the kind bug, as are `occupations` and `options` (default: the
            paper's, and ours).
        occupations: a table of them (default: BUG's, from the cache).
        options: which finds become rows.
        licence: of the texts, for the card.
        processes: how many parse, of one thread each; the corpus does not depend on it.
        device: cpu, cuda, or cuda:1 (default: a GPU if there is one).
        stanza_dir: folder of Stanza's models.
        cache: mtbias's cache.
        progress: called after each chunk.

    Raises:
        SettingError: `out` is not a TSV, or lies in a folder that is read; an option of the other
            kind.
        DataError: `out` or its card is there already; a run that was stopped is another one's; a
            file cannot be read.
        MissingResourceError: the table of occupations or Stanza's models are not there.
        RunFolderError: a file cannot be written.
    """
    _refuse_output(out, texts)
    if kind == "gap" and (patterns or occupations or options != MiningOptions()):
        raise SettingError(
            "kind", "gap goes with --names, not with patterns, occupations or filters"
        )
    if kind == "bug" and names:
        raise SettingError("names", "expected it with --kind gap alone")
    folder = cache_folder(cache)
    files = input_files(texts, field=field, corpus=name)
    hashes = {"input": {str(file.path): file.sha256 for file in files}}
    pattern_list: tuple[Pattern, ...] = ()
    table, genders = Occupations({}, ""), None
    if kind == "gap":
        name_list = read_names(names or EXAMPLE_NAMES)
        genders = name_list.gender
        hashes |= {"names": {"": name_list.sha256}}
    else:
        pattern_list, table = read_patterns(patterns), read_occupations(occupations, folder)
        hashes |= {
            "patterns": {"": sha256_of_file(patterns or SHIPPED)},
            "occupations": {"": table.sha256},
            "confidence": {"": sha256_of_file(WEIGHTS)},
        }
    package = find_package("en", stanza_folder(stanza_dir, folder), PARSER)
    device = chosen_device(device)
    require_device(device)
    plan = MiningPlan(files, pattern_list, table, options, package, device, genders)
    choices = {"parser": f"{package.analyses_signature} on {device}"}
    choices |= {"kind": kind} if kind == "gap" else vars(options)
    settings = {
        **hashes,
        "input": sha256_of(json.dumps([[str(file.path), *astuple(file)[1:]] for file in files])),
        "field": field,
        "options": choices,
        "mtbias": __version__,
    }
    card = out.with_suffix(".md")
    with kept_lines(out, settings, beside=[card]) as chunks:
        _mine(plan, chunks, field or "text", processes, progress)
        rows, counts = _write(chunks, out, _KINDS[kind])
        stages = {stage: counts.stages[stage] for stage in STAGES}
        left_out = dict(sorted(counts.left_out.items()))
        signature = signature_line("mine", hashes, choices)
        shown = {**stages, **{f"left out: {why}": n for why, n in left_out.items()}}
        write_atomic(card, rows.card(out, shown, signature, licence, kind).encode())
        matched = dict(sorted(counts.matched.items()))
        resumed = chunks.resumed
        return MinedCorpus(rows.rows, stages, matched, left_out, resumed, out, card, signature)


def _refuse_output(out: Path, texts: Sequence[Path]) -> None:
    """Refuse an output that is not a TSV, or lies in a folder that is read."""
    if out.suffix.lower() not in {".tsv", ".tab"}:
        raise SettingError("out", f"expected a name that ends in .tsv or .tab, got {str(out)!r}")
    if any(text.is_dir() and out.resolve().is_relative_to(text.resolve()) for text in texts):
        raise SettingError(
            "out", f"expected a file outside the folders that are read, got {str(out)!r}"
        )


class RowCounts:
    """The counts on the card of a corpus. Rows are counted one after the other, so that memory does
    not grow with them.
    """

    def __init__(self) -> None:
        self.rows = 0
        self._confidence = 0.0
        self._tables: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def counted(self, rows: Iterable[Any]) -> Iterator[Any]:
        """The same rows, each counted as it goes by."""
        for row in rows:
            self.rows += 1
            self._confidence += row.confidence or 0
            for name, value in row.described.items():
                self._tables[name][value] += 1
            yield row

    def card(
        self,
        corpus: Path,
        counted: Mapping[str, int],
        signature: str,
        licence: str | None,
        kind: Kind = "bug",
    ) -> str:
        """The card, in Markdown, of the `corpus` with these rows.

        Args:
            corpus: its file.
            counted: numbers of texts that were read, parsed and left out, in the order in which
                they are shown.
            signature: of the corpus.
            licence: of the texts, as the user states it.
            kind: like BUG or like GAP.
        """
        tables = []
        for name, values in self._tables.items():
            header = [f"{name} ({len(values):,} in all)", "rows"]
            tables.append(PrintedTable(header, _cells(values.most_common(_COMMONEST))))
        counts = PrintedTable(["", "number"], _cells(counted.items()))
        licence_text = "not stated: find out before you share the corpus"
        if licence is not None:
            licence_text = markdown_text(licence)
        return _CARD.format(
            name=markdown_text(corpus.name),
            rows=self.rows,
            licence=licence_text,
            confidence=number(self._confidence / self.rows if self._confidence else None, 2),
            signature=signature,
            tables=draw(tables, "markdown").strip() if tables else "",
            counts=draw([counts], "markdown").strip(),
            what=_KINDS[kind].what,
            commands=_KINDS[kind].commands.format(file=quote(corpus.name)),
            limits=_KINDS[kind].limits,
        )


def _cells(counts: Iterable[tuple[str, int]]) -> list[list[str]]:
    return [[name, f"{n:,}"] for name, n in counts]


def _mine(
    plan: MiningPlan, chunks: KeptLines, field: str, processes: int, progress: Progress
) -> None:
    """Mine the chunks that are not among `chunks` yet, and add them."""
    total = sum(file.size for file in plan.files)
    done = sum(1 for _ in chunks)
    missing = islice(read_chunks(plan.files, plan.words, field), done, None)
    with closing(mined_chunks(plan, missing, processes)) as results:
        for chunk, mined in results:
            counts = {name: getattr(mined, name) for name in _COUNTS}
            chunks.append(counts | {"rows": list(map(asdict, mined.rows))})
            progress("mine", chunk.done >> 10, total >> 10)


def _write(chunks: KeptLines, out: Path, kind: _Output) -> tuple[RowCounts, MinedChunk]:
    """Write the corpus; the counts over its rows, and those over the text."""
    counts = MinedChunk()
    last: dict[bytes, int] = {}
    """The last row of each sentence."""
    number, before = 0, None
    for chunk in chunks:
        for name in _COUNTS:
            getattr(counts, name).update(chunk[name])
        for row in chunk["rows"]:
            place = row["file"], row["offset"]
            digest = blake2b(row["sentence_text"].encode(), digest_size=16).digest()
            if digest in last:
                counts.left_out[SAME_SENTENCE if before == place else DUPLICATE] += 1
            last[digest] = number
            number, before = number + 1, place
    chosen = set(last.values())
    rows = RowCounts()
    every = enumerate(chain.from_iterable(chunk["rows"] for chunk in chunks))
    corpus = (kind.row(**row) for number, row in every if number in chosen)
    write_atomic(out, kind.lines(rows.counted(corpus)))
    return rows, counts


def mine_chunk(plan: MiningPlan, chunk: Chunk) -> MinedChunk:
    """The rows of `chunk`, in the text's order.

    Raises:
        MissingResourceError: Stanza cannot load its models.
    """
    # Sentences are filtered too, but for contexts, which have sentences without a pronoun.
    keep = plan.words if plan.names is None else lambda _: True
    texts = [passage.text for passage in chunk.passages]
    parses = _parser(plan.package, plan.device).parse(texts, keep)
    numbers = (chunk.read, len(chunk.passages), parses.sentences, len(parses.parsed))
    stages = Counter(dict(zip(STAGES, numbers, strict=True)))
    mined = MinedChunk([], stages, Counter(), chunk.left_out.copy())
    if parses.too_long:
        mined.left_out[LONG_SENTENCE] = parses.too_long
    for index, group in groupby(parses.parsed, lambda sentence: sentence.passage):
        passage, sentences = chunk.passages[index], list(group)
        if plan.names is None:
            _mine_sentences(plan, passage, sentences, mined)
        else:
            _mine_contexts(plan, passage, sentences, mined)
    return mined


def _mine_sentences(
    plan: MiningPlan, passage: Passage, sentences: Sequence[PassageSentence], mined: MinedChunk
) -> None:
    """Add the rows of a passage's sentences, like BUG's."""
    for sentence in sentences:
        finds = find(sentence.parsed, plan.patterns, plan.occupations.majority)
        mined.matched.update(match.pattern for match in finds)
        rows, left_out = rows_of(
            sentence.parsed,
            finds,
            plan.occupations,
            plan.options,
            corpus=plan.files[passage.file].corpus,
            file=_place(plan, passage),
            offset=passage.offset + sentence.offset,
        )
        mined.rows.extend(rows)
        mined.left_out.update(left_out)


def _mine_contexts(
    plan: MiningPlan, passage: Passage, sentences: Sequence[PassageSentence], mined: MinedChunk
) -> None:
    """Add the contexts of a passage, like GAP's."""
    contexts = list(
        contexts_of(
            passage.text,
            sentences,
            plan.names or {},
            corpus=plan.files[passage.file].corpus,
            file=_place(plan, passage),
            offset=passage.offset,
        )
    )
    mined.rows.extend(contexts)
    mined.matched.update(context.pattern for context in contexts)


def _place(plan: MiningPlan, passage: Passage) -> str:
    """File and line of a passage."""
    return f"{escaped(str(plan.files[passage.file].path))}:{passage.line}"


@cache
def _parser(package: StanzaPackage, device: str) -> EnglishParser:
    """The parser of this process."""
    return EnglishParser(package, device)


def mined_chunks(
    plan: MiningPlan, chunks: Iterable[Chunk], processes: int
) -> Generator[tuple[Chunk, MinedChunk], None, None]:
    """Each of `chunks` with its result, in their order, computed by so many `processes` of one
    thread each.

    When the iterator is closed, all processes are ended.

    Raises:
        MissingResourceError: Stanza cannot load its models.
        MtbiasError: a process was ended from outside.
    """
    if processes <= 1:
        for chunk in chunks:
            yield chunk, mine_chunk(plan, chunk)
        return
    remaining, waiting = iter(chunks), deque[tuple[Chunk, Future[MinedChunk]]]()
    pool = ProcessPoolExecutor(processes, get_context("spawn"), begin_worker)
    try:
        while True:
            for chunk in islice(remaining, _AHEAD * processes - len(waiting)):
                waiting.append((chunk, pool.submit(mine_chunk, plan, chunk)))
            if not waiting:
                return
            chunk, future = waiting.popleft()
            yield chunk, future.result()
    except BrokenProcessPool:
        raise MtbiasError(
            "a process was ended (too little memory?): give fewer --processes;"
            " the same command resumes"
        ) from None
    finally:
        # Otherwise they would finish their chunks first.
        for process in list((pool._processes or {}).values()):
            process.terminate()
        pool.shutdown(cancel_futures=True)


_AHEAD = 2
"""Chunks that wait for each process."""
