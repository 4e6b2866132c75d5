"""Which document of a data set each document of a system is.

In this order: what ``--ids`` says; the same id; an id that comes from the data's by a rule; the name of the file, where
files have a document each; the text; the order, where no document has id or text and there are as many as in the data.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath

from mtbias.coref.coref_text import CorefText
from mtbias.coref.system_output import OutputDocument
from mtbias.coref.token_alignment import same_text
from mtbias.files.reading import read_text

_CONLL_NAME = re.compile(r"\((?P<name>.*)\);\s*part\s+(?P<part>\d+)")
_E2E_NAME = re.compile(r"(?P<name>.+)_(?P<part>\d+)")
"""e2e-coref and its descendants put the part's number behind the name."""
_ENDING = re.compile(r"(?:\.(?:txt|text|json|jsonl|xml|out|conll|conllu|v4_auto_conll|v4_gold_conll))+$", re.IGNORECASE)
_SHOWN = 40

Named = list[tuple[str, OutputDocument]]


def told(
    documents: Sequence[OutputDocument], texts: Sequence[CorefText], ids: Path | None, also: Collection[str]
) -> tuple[Named, list[str]]:
    """Each document with the data's id (its own, where the data has none that would do), and what is to be said.

    `ids` has a line for each document: the system's id and the data's with a tab between, or the data's alone, in the
    order of the system's documents.

    Raises:
        DataError: a document without id of which nothing says which it is; `ids` is another file.
    """
    given = _given(ids, documents, {text.id for text in texts}.union(also)) if ids else {}
    rules = _IdForms([*(text.id for text in texts), *also])
    named: dict[int, str] = {}
    by_rule: dict[str, str] = {}
    files = Counter(document.path for document in documents)
    for at, document in enumerate(documents):
        own = document.id
        if own is None and files[document.path] == 1 < len(files):
            own = rules.find(document.path.name) and document.path.name
        if at in given:
            named[at] = given[at]
        elif own is not None:
            named[at] = rules.find(own) or own
            if named[at] != own:
                by_rule[own] = named[at]
    notes = []
    if by_rule:
        own, ours = next(iter(by_rule.items()))
        notes.append(f"ids in another form than the data's, such as {own!r} for {ours!r}: {len(by_rule)}")
    rest = {at: document for at, document in enumerate(documents) if at not in named}
    if rest:
        found, note = _without_id(rest, texts, len(documents))
        named |= found
        notes.append(note)
    return [(named[at], document) for at, document in enumerate(documents)], notes


def _given(path: Path, documents: Sequence[OutputDocument], known: Collection[str]) -> dict[int, str]:
    """The data's id of each document that the file at `path` names."""
    file = read_text(path)
    rows = [(line, [part.strip() for part in text.split("\t")]) for line, text in file.filled_lines()]
    for line, row in rows:
        if len(row) != len(rows[0][1]) or len(row) > 2:
            raise file.error(
                f"expected the system's id, a tab and the data's id (or the latter alone), got {row}", line
            )
        if row[-1] not in known:
            raise file.error(
                f"expected an id of the data, such as {next(iter(known), 'none')!r}, got {row[-1]!r}", line
            )
    if len(rows[0][1]) == 1:
        if len(rows) != len(documents):
            raise file.error(f"expected {len(documents)} ids, one for each document in their order, got {len(rows)}")
        return {at: row[0] for at, (_, row) in enumerate(rows)}
    by_own: dict[str, str] = {}
    for line, (own, ours) in rows:
        if by_own.setdefault(own, ours) != ours:
            raise file.error(f"expected the id {own!r} once, got it for {by_own[own]!r} already", line)
    return {at: by_own[d.id] for at, d in enumerate(documents) if d.id is not None and d.id in by_own}


class _IdForms:
    """The forms that systems and file names give ids."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = set(ids)
        self._loose: tuple[Mapping[str, str], ...] = tuple(_unique(ids, form) for form in (_loose, _file))

    def find(self, own: str) -> str | None:
        """The one id of the data that `own` is a form of; None where there is none, or more than one."""
        plain = _ENDING.sub("", own)
        forms = [own, *_without_part(own), *([plain, *_without_part(plain)] if plain != own else [])]
        for form in forms:
            if form in self._ids:
                return form
        for how, unique in zip((_loose, _file), self._loose, strict=True):
            for form in forms:
                if how(form) in unique:
                    return unique[how(form)]
        return None


def _unique(ids: Sequence[str], form: Callable[[str], str]) -> dict[str, str]:
    forms: dict[str, list[str]] = defaultdict(list)
    for id_ in ids:
        forms[form(id_)].append(id_)
    return {key: of[0] for key, of in forms.items() if len(of) == 1}


def _without_part(own: str) -> list[str]:
    """The name with its part as `ConllDocument.id` writes it."""
    matches = (_CONLL_NAME.fullmatch(own), _E2E_NAME.fullmatch(own))
    return [f"{m['name']}#{int(m['part'])}" if int(m["part"]) else m["name"] for m in matches if m]


def _loose(id_: str) -> str:
    return re.sub(r"[\W_]+", "_", id_.casefold()).strip("_")


def _file(id_: str) -> str:
    return _loose(_ENDING.sub("", PurePosixPath(id_).name))


def _without_id(
    rest: Mapping[int, OutputDocument], texts: Sequence[CorefText], n_documents: int
) -> tuple[dict[int, str], str]:
    shown = {at: tokens for at, d in rest.items() if (tokens := d.tokens or d.text) is not None}
    first = next(iter(rest.values()))
    if not shown:
        if n_documents != len(texts) or len(rest) != len(texts):
            raise first.error(
                f"expected an id, a text, or all of the data's {len(texts)} documents in their order, got {len(rest)} "
                "without either; give --ids FILE"
            )
        return dict(zip(rest, (text.id for text in texts), strict=True)), (
            f"documents without id, taken in the data's order: {len(rest)}"
        )
    if len(shown) < len(rest):
        raise next(d for at, d in rest.items() if at not in shown).error("it has neither id nor text; give --ids FILE")
    ids_of, at_of = defaultdict(list), defaultdict(list)
    for text in texts:
        ids_of[text.same].append(text.id)
    for at, tokens in shown.items():
        at_of[same_text([tokens] if isinstance(tokens, str) else tokens)].append(at)
    found: dict[int, str] = {}
    for same, places in at_of.items():
        ours, document = ids_of.get(same, []), rest[places[0]]
        if not ours:
            said = document.text if document.text is not None else " ".join(document.tokens or ())
            message = f"it has no id, and its text is none of the data's: {said[:_SHOWN]!r}; give --ids FILE"
            raise document.error(message)
        if len(places) != len(ours):
            raise document.error(
                f"it has no id, and its text is that of {len(ours)} documents of the data ({', '.join(ours[:3])}), but "
                f"of {len(places)} here; give --ids FILE"
            )
        found |= zip(places, ours, strict=True)
    return found, f"documents without id, told by their text: {len(rest)}"
