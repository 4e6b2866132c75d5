"""Coreference in the last column of CoNLL-U: Stanza's `coref_chains=` (or `Coref=`), CorefUD's `Entity=`.

Stanza writes at each word of a mention ``unit-``, ``start-``, ``middle-`` or ``end-``, perhaps ``repr-``, and the
chain: ``coref_chains=start-repr-id0,unit-id2``. CorefUD writes brackets: ``Entity=(e1-person-1``, ``Entity=e1)``,
``Entity=(e2-object-2-)``, with the entity first and any number of attributes behind it; a mention of several parts,
``(e1[1/2]``, is taken from its first word to its last.

A document begins with ``# newdoc id = NAME`` or where ``# doc_id = NAME`` changes; a file without either is one
document. Words count, not the tokens of several words (``1-2``) and not the empty nodes (``2.1``): a mention of nothing
else is left out, one that begins or ends at an empty node begins at the next word or ends at the one before.

Source: Nedoluzhko et al., *CorefUD 1.0* (LREC 2022); stanza.utils.conll.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mtbias.coref.parser_json import MentionsByWord
from mtbias.coref.system_output import OutputDocument
from mtbias.files.reading import TextFile, split_lines

_DOCUMENT = re.compile(r"#\s*(?P<key>newdoc id|newdoc_id|doc_id)\s*=\s*(?P<id>.*?)\s*")
_STANZA = re.compile(r"(?P<where>unit|start|middle|end)-(?:repr-)?(?P<chain>[^,]+)")
_ENTITY = re.compile(
    r"\((?P<opens>[^()\[\]-]+)(?P<part>\[\d+/\d+\])?(?:-[^()]*)?(?P<closes_here>\))?"
    r"|(?P<closes>[^()\[\]-]+)(?P<last>\[\d+/\d+\])?\)"
)


@dataclass(slots=True)
class _Document:
    id: str | None
    line: int
    words: list[str] = field(default_factory=list)
    mentions: MentionsByWord = field(default_factory=MentionsByWord)
    places: list[int] = field(default_factory=list)
    """The line of each word."""


def parse_conllu(file: TextFile) -> list[OutputDocument]:
    """The documents of `file`.

    Raises:
        DataError: a line of words without ten columns; a coreference that cannot be read; a mention that does not begin
            or does not end.
    """
    documents: list[_Document] = []
    for number, line in enumerate(split_lines(file.text), start=1):
        header = _DOCUMENT.fullmatch(line.strip())
        if header and (not documents or documents[-1].id != header["id"] or header["key"] != "doc_id"):
            documents.append(_Document(header["id"] or None, number))
        elif line.strip() and not line.startswith("#"):
            if not documents:
                documents.append(_Document(None, number))
            _word(documents[-1], file, line, number)
    for document in documents:
        if (broken := document.mentions.broken) is not None:
            raise file.error(
                "expected mentions that begin and end, got one here that does not", document.places[broken]
            )
    return [OutputDocument(d.id, d.mentions.clusters, file.path, d.line, tuple(d.words)) for d in documents if d.words]


def _word(document: _Document, file: TextFile, line: str, number: int) -> None:
    columns = line.split("\t")
    if len(columns) != 10:
        raise file.error(f"expected the 10 columns of CoNLL-U, got {len(columns)}", number)
    at = len(document.words)
    if not columns[0].isdecimal():
        if "." in columns[0]:
            _entities(document, file, _value(columns[9], "Entity"), at, number, empty=True)
        return
    document.words.append(columns[1])
    document.places.append(number)
    stanza, entity = _value(columns[9], "coref_chains", "Coref"), _value(columns[9], "Entity")
    if stanza and entity:
        raise file.error("expected Entity= or coref_chains=, got both; remove the one that is gold", number)
    for part in filter(None, stanza.split(",")):
        found = _STANZA.fullmatch(part)
        if found is None:
            raise file.error(f"coref_chains: expected such as start-id0, got {part!r}", number)
        where = found["where"]
        document.mentions.add(found["chain"], at, begins=where in {"unit", "start"}, ends=where in {"unit", "end"})
    _entities(document, file, entity, at, number)


def _value(column: str, *names: str) -> str:
    values = dict(part.partition("=")[::2] for part in column.split("|"))
    return next((values[name] for name in names if name in values), "")


def _entities(document: _Document, file: TextFile, entity: str, at: int, number: int, *, empty: bool = False) -> None:
    """What CorefUD says at the word `at`, or at an empty node before it."""
    end = 0
    for found in _ENTITY.finditer(entity):
        if found.start() != end:
            break
        end = found.end()
        part = found["part"] or found["last"]
        first, last = (True, True) if part is None else (part.startswith("[1/"), _is_last(part))
        begins = found["opens"] is not None and first
        ends = (found["closes"] is not None or found["closes_here"] is not None) and last
        if empty and begins and ends:
            continue
        place = at - 1 if empty and ends else at
        document.mentions.add(found["opens"] or found["closes"], place, begins=begins, ends=ends)
    if end != len(entity):
        raise file.error(f"Entity: expected such as (e1-person-1 or e1), got {entity!r}", number)


def _is_last(part: str) -> bool:
    number, of = part.strip("[]").split("/")
    return number == of
