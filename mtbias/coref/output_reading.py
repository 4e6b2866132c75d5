"""A system's output on a data set: which document is which, and which tokens its mentions are.

**Ids** are those of the data, with ``_0`` behind them (e2e-coref: the part's number), or the name
of the document's file as `mtbias coref export` writes it. ``--ids`` says it where they are others,
or none.

**Mentions** in word pieces, characters or other tokens than the data's become mentions of the
data's tokens by their
characters: two ways to cut a text into pieces have the same characters one after another, if white
space is left out. Case, accents and signs that cannot be seen do not count (uncased models drop
them), nor how the Penn Treebank writes brackets and quotation marks, nor underscores (one
is a word without characters, which BUG has); of word pieces what marks them as such does not
count.

**Ends.** Many files have pairs of numbers and nothing that says whether the second is the last
token or the one behind it; read the wrong way they score near 0. They are read as mtbias's own,
with the end included, if that is sure: ``[3, 3]`` is not a mention where ends are excluded, and
every data set asks for a pronoun. A file without any such mention is refused with its readings, and
``--spans`` says which it is.

**Two sets of clusters.** Of ``predicted_clusters`` and ``clusters`` the former are read where the
latter are empty, the same, or the data's gold ones, as `coref export --gold` writes them. Where all
``predicted_clusters`` of the output are empty and the others are not gold, these are read, and a
note says so. Any other two that differ are refused: nothing tells which the system found.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path

from mtbias.coref.documents import (
    Answers,
    Cluster,
    Clusters,
    CorefText,
    Mention,
    Spans,
    SystemDocument,
)
from mtbias.coref.system_files import read_documents
from mtbias.errors import DataError
from mtbias.files.reading import read_text

IN_ORDER = "order"
"""In place of a file of ids: the system's documents are in the data's order."""

_ENDING = re.compile(r"(?:\.(?:txt|json|jsonl|xml|out|conll|conllu))+$", re.IGNORECASE)

_READINGS: Mapping[Spans, str] = {
    "included": "tokens with the end included",
    "excluded": "tokens with the end excluded",
    "characters": "characters",
}


def read_output(
    texts: Sequence[CorefText],
    paths: Sequence[Path],
    *,
    ids: Path | None = None,
    spans: Spans | None = None,
) -> Answers:
    """The clusters in the files at `paths`, as clusters of tokens of `texts`.

    Args:
        texts: the documents of the data set.
        paths: files, or folders of files.
        ids: a file with a line for each document: the system's id, a tab and the data's id.
            `IN_ORDER`: the documents are all of the data's, in its order.
        spans: what pairs of numbers count, where no format says it.

    Raises:
        DataError: what the readers raise; a document twice, or that is none of the data's; other
            words than the data's; mentions past the text, or whose unit cannot be
            told.
    """
    documents, files = read_documents(paths)
    by_id = {text.id: text for text in texts}
    named = _named(documents, list(by_id), ids)
    if unknown := [id_ for id_ in named if id_ not in by_id]:
        more = f" ({len(unknown)} such ids)" if len(unknown) > 1 else ""
        first = next(iter(by_id), "none")
        message = f"none of the data's documents, whose ids are such as {first!r}{more}"
        raise named[unknown[0]].error(f"{message}; --ids FILE says which is which")

    placed = {id_: _LocatedDocument(document, by_id[id_]) for id_, document in named.items()}
    placed, chosen_notes = _chosen(placed, spans)
    if spans is None:
        _check_ends([one for one in placed.values() if one.document.spans is None])
    changed: Counter[str] = Counter()
    read: dict[str, Clusters] = {}
    counted: dict[Spans, None] = {}
    for id_, one in placed.items():
        counting: Spans = one.document.spans or spans or "included"
        counted[counting] = None
        read[id_] = one.clusters(counting, changed)
    notes = [f"mentions {what}: {n}" for what, n in changed.items()]
    notes += chosen_notes
    if read and not any(read.values()):
        notes.append(f"documents without any cluster: all {len(read)}")
    others = [counting for counting in counted if counting != "included"]
    return Answers(read, files, tuple(notes), {"spans": "+".join(others)} if others else {})


# --- Which document is which
# ------------------------------------------------------------------------------------------


def _named(
    documents: Sequence[SystemDocument], known: Sequence[str], ids: Path | None
) -> dict[str, SystemDocument]:
    """Each document by the data's id, or by its own where the data has none of that form."""
    listed = [None] * len(documents) if ids is None else _listed(ids, documents, known)
    forms = {_stem(CorefText(id_, (), "", ()).file_name): id_ for id_ in known}
    forms |= {f"{id_}_0": id_ for id_ in known} | {id_: id_ for id_ in known}
    named: dict[str, SystemDocument] = {}
    for document, listed_id in zip(documents, listed, strict=True):
        own = document.id or ""
        id_ = listed_id or forms.get(own) or forms.get(_stem(own), own)
        if not id_:
            raise document.error(
                f"it has no id; give --ids {IN_ORDER} where the {len(documents)} documents are all "
                "of the data's, in its order"
            )
        if id_ in named:
            first = named[id_]
            message = (
                f"expected id {id_!r} once, got it again; it is in {first.path.name}, "
                f"line {first.line}, already"
            )
            raise DataError(message, path=document.path, line=document.line)
        named[id_] = document
    return named


def _stem(name: str) -> str:
    return _ENDING.sub("", name)


def _listed(
    path: Path, documents: Sequence[SystemDocument], known: Sequence[str]
) -> list[str | None]:
    """The data's id of each document; None if the file at `path` does not list it."""
    if str(path) == IN_ORDER:
        if len(documents) != len(known):
            raise DataError(
                f"--ids {IN_ORDER}: expected {len(known)} documents, as the data has, "
                f"got {len(documents)}"
            )
        return list(known)
    file = read_text(path)
    by_own: dict[str | None, str] = {}
    every = set(known)
    for line, text in file.filled_lines():
        own, _, ours = map(str.strip, text.partition("\t"))
        if ours not in every:
            message = "expected the system's id, a tab and an id of the data"
            raise file.error(f"{message}, such as {known[0]!r}, got {text!r}", line)
        if by_own.setdefault(own, ours) != ours:
            raise file.error(
                f"expected the id {own!r} once, got it for {by_own[own]!r} already", line
            )
    return [by_own.get(document.id) for document in documents]


# --- Which clusters are the system's ------------------------------------------------------------


def _chosen(
    placed: Mapping[str, _LocatedDocument],
    spans: Spans | None,
) -> tuple[dict[str, _LocatedDocument], list[str]]:
    """The documents with the system's clusters, and notes on clusters that were not read.

    Raises:
        DataError: a document has two sets of clusters, and nothing tells which the system found.
    """
    differing = [one for one in placed.values() if one.has_other_clusters(spans)]
    some_predicted = any(one.document.clusters for one in placed.values())
    with_others = {id_: one for id_, one in placed.items() if one.document.other_clusters}
    if differing and some_predicted:
        raise differing[0].document.error(
            "expected clusters that are empty, the predicted_clusters or the data's gold ones, got "
            "others; leave out the ones that the system did not find"
        )
    if some_predicted or not with_others:
        return dict(placed), []
    nothing = "predicted_clusters are empty in all documents"
    if not differing:
        return dict(placed), [f"{nothing}; clusters are the data's gold ones and were not read"]
    chosen = dict(placed)
    for id_, one in with_others.items():
        document = replace(one.document, clusters=one.document.other_clusters or ())
        chosen[id_] = replace(one, document=document)
    return chosen, [f"{nothing}; clusters were read in their place"]


def _alike(one: Clusters, other: Clusters) -> bool:
    """Whether two sets of clusters are the same, in whatever order."""
    return set(map(frozenset, one)) == set(map(frozenset, other))


# --- Which tokens mentions are
# ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _LocatedDocument:
    """A document of a system and the text it is about."""

    document: SystemDocument
    text: CorefText

    def units(self, spans: Spans) -> tuple[Sequence[str], list[Mention | None]]:
        """The tokens or characters that mentions count, and for each the tokens of the text that it
        is.
        """
        theirs, ours = self.document.tokens, self.text.tokens
        if spans == "characters":
            shown = self.text.text if self.document.text is None else self.document.text
            return shown, self._aligned(shown, "character")
        if theirs is None or list(map(str.casefold, theirs)) == list(map(str.casefold, ours)):
            return ours, [(at, at) for at in range(len(ours))]
        return theirs, self._aligned(theirs, "token")

    def _aligned(self, theirs: Sequence[str], what: str) -> list[Mention | None]:
        try:
            return align(theirs, self.text.tokens, what)
        except ValueError as error:
            raise self.document.error(str(error)) from None

    def has_other_clusters(self, spans: Spans | None) -> bool:
        """Whether the document has clusters that are neither the predicted nor the gold ones."""
        others = self.document.other_clusters
        if not others or _alike(others, self.document.clusters):
            return False
        beside = replace(self, document=replace(self.document, clusters=others))
        in_tokens = beside.clusters(self.document.spans or spans or "included", Counter())
        return not _alike(in_tokens, self.text.gold)

    def clusters(self, spans: Spans, changed: Counter[str]) -> Clusters:
        """The clusters in tokens of the text; `changed` counts what became of mentions."""
        _, units = self.units(spans)
        clusters: list[Cluster] = []
        for cluster in self.document.clusters:
            mentions: list[Mention] = []
            for start, end in cluster:
                last = end if spans == "included" else end - 1
                self._check_mention(start, last, len(units), spans)
                tokens = [unit for unit in units[start : last + 1] if unit is not None]
                if not tokens:
                    changed["of no word, left out"] += 1
                    continue
                mention = tokens[0][0], tokens[-1][1]
                if _shares(units, start - 1, mention[0]) or _shares(units, last + 1, mention[1]):
                    changed["that begin or end within a token of the data, taken to its ends"] += 1
                mentions.append(mention)
            if mentions:
                clusters.append(tuple(mentions))
        return tuple(clusters)

    def _check_mention(self, start: int, last: int, length: int, spans: Spans) -> None:
        """`DataError` for a mention past the end of the document, or of no unit."""
        if last >= length:
            what = "characters" if spans == "characters" else "tokens"
            message = f"the document has {what} 0 to {length - 1}; a mention ends at {last}"
            raise self.document.error(message)
        if start > last:
            message = f"[{start}, {start}] is no mention where ends are excluded"
            raise self.document.error(f"{message} (--spans says what they count)")


def _shares(units: Sequence[Mention | None], at: int, token: int) -> bool:
    """Whether the unit beside a mention has a part of the token at the mention's end."""
    unit = units[at] if 0 <= at < len(units) else None
    return unit is not None and unit[0] <= token <= unit[1]


def _check_ends(documents: Sequence[_LocatedDocument]) -> None:
    """`DataError` if pairs of numbers may have their ends included or not: none is [n, n]."""
    first: tuple[_LocatedDocument, Mention] | None = None
    for placed in documents:
        for start, end in chain.from_iterable(placed.document.clusters):
            if start == end:
                return
            first = first or (placed, (start, end))
    if first is None:
        return

    one, (start, end) = first
    readings = []
    for spans, what in _READINGS.items():
        words, _ = one.units(spans)
        part = words[start : end + (spans == "included")]
        text = "".join(part) if spans == "characters" else " ".join(part)
        readings.append(f"{text[:40]!r} as {what}")
    raise one.document.error(
        f"cannot tell what mentions count: [{start}, {end}] is {', '.join(readings)}; "
        f"give --spans {', '.join(_READINGS)}, whichever it is"
    )


# What may be written in more than one way is compared as the longer one, since a data set has
# either. The Penn Treebank has names for brackets and two single quotation marks for a double one,
# and CoreNLP writes any other mark so too.
_WAYS_OF_WRITING = str.maketrans(
    {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"}
    | dict.fromkeys('"“”', "''")
    | dict.fromkeys("`‘’", "'")
)
_SPECIAL = frozenset({"[CLS]", "[SEP]", "[PAD]", "[SPL]", "<s>", "</s>", "<pad>"})
"""Word pieces without text: those of BERT and RoBERTa, and the speaker mark of SpanBERT's
coreference."""
_UNKNOWN = frozenset({"[UNK]", "<unk>"})
"""Word pieces that may be any text."""


def align(theirs: Sequence[str], ours: Sequence[str], what: str = "token") -> list[Mention | None]:
    """For each piece of `theirs` the first and the last token of `ours` that it shares characters
    with.

    None for a piece without characters that count (blanks, marks of word pieces).

    Raises:
        ValueError: the two do not have the same characters; the message calls a piece `what`.
    """
    owners: list[int] = []
    """Of each character of `text` its token."""
    for number, token in enumerate(ours):
        owners += [number] * len(_folded(token))
    text = "".join(map(_folded, ours))
    pieces = _word_pieces(theirs) or [_folded(piece) for piece in theirs]
    owned: list[Mention | None] = []
    at = 0
    for n, piece in enumerate(pieces):
        end = _end_of_unknown(text, at, pieces[n + 1 :]) if piece is None else at + len(piece)
        if piece is not None and text[at:end] != piece:
            expected = ours[owners[at]] if at < len(text) else ""
            raise ValueError(f"{what} {n} is {expected!r} in the data set, {theirs[n]!r} here")
        owned.append((owners[at], owners[end - 1]) if end > at else None)
        at = end
    if at < len(text):
        raise ValueError(
            f"expected {len(ours)} tokens, got {len(theirs)}, which end before {ours[owners[at]]!r}"
        )
    return owned


def _word_pieces(theirs: Sequence[str]) -> list[str | None] | None:
    """The characters of word pieces; None in place of a piece that may be any text.

    None in place of the list if `theirs` are not word pieces.

    A text has "##" before a letter hardly ever (but "###" as a heading), its word pieces have it or
    the special pieces always.
    """
    if not any(
        piece in _SPECIAL or (piece.startswith("##") and piece[2:3].isalnum()) for piece in theirs
    ):
        return None
    return list(map(_word_piece, theirs))


def _word_piece(piece: str) -> str | None:
    """The characters of a word piece; None for a piece that may be any text."""
    if piece in _UNKNOWN:
        return None
    if piece in _SPECIAL:
        return ""
    return _folded(piece.removeprefix("##").lstrip("Ġ▁"))


def _end_of_unknown(text: str, at: int, following: Sequence[str | None]) -> int:
    """Where the text of an unknown piece ends: at the next place of the first known piece behind
    it.
    """
    known = next((piece for piece in following if piece), None)
    end = len(text) if known is None else text.find(known, at + 1)
    return end if end > at else min(at + 1, len(text))


@lru_cache(maxsize=100_000)  # the words of a data set come again and again
def _folded(token: str) -> str:
    plain = unicodedata.normalize("NFKD", token.casefold().translate(_WAYS_OF_WRITING))
    kinds = ((char, unicodedata.category(char)) for char in plain)
    # Without accents (Mn), controls and signs that cannot be seen (C…).
    return "".join(
        char
        for char, kind in kinds
        if not (char.isspace() or char == "_" or kind == "Mn" or kind.startswith("C"))
    )
