"""A system's output on a data set: which document is which, and which tokens its mentions are.

Ids are those of the data, or come from them by a rule (a part's number, a file's ending, signs that file names cannot
have), or documents are told by their text, or stand in the data's order; nothing is guessed where two documents would
do. Mentions in word pieces, characters or other tokens than the data's become mentions of the data's tokens by their
characters (`mtbias.coref.token_alignment`).

**Included or excluded.** Many files have pairs of numbers and nothing that says whether the second is the last token or
the one behind it; read the wrong way they score near 0. The mentions tell: ``[3, 3]`` is none where ends are excluded,
one that ends behind the last token is none where they are included, and what the data set asks about (pronouns, names,
occupations) is found one way and hardly ever the other. What a format is meant to have counts where nothing speaks
against it; what differs from it is said in `Predictions.notes`; what cannot be told is an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mtbias.coref.conll import Clusters, Mention
from mtbias.coref.coref_text import CorefText
from mtbias.coref.document_ids import told
from mtbias.coref.predicted_clusters import Prediction, Predictions, check_once, read_documents
from mtbias.coref.system_output import OutputDocument, SpanCounting
from mtbias.coref.token_alignment import Misaligned, align
from mtbias.errors import DataError

_CLEARLY = 5
"""How many times as many mentions that are asked about the right way must find as any other.

Of the gold clusters of all six data sets, written with ends excluded, the wrong way finds none; of all names of GAP's
test set, its pronouns, and its pronouns with the next word it finds 8, the right way 5,716.
"""

_WAYS = {
    SpanCounting.INCLUDED: "tokens, ends included",
    SpanCounting.EXCLUDED: "tokens, ends excluded",
    SpanCounting.CHARACTERS: "characters, ends excluded",
}


def read_output(
    texts: Sequence[CorefText],
    paths: Sequence[Path],
    *,
    ids: Path | None = None,
    spans: SpanCounting | None = None,
    also: Collection[str] = (),
) -> Predictions:
    """The clusters in the files at `paths`, as clusters of tokens of `texts`.

    A document that `texts` do not have stays as it is: whoever scores refuses it or passes over it.

    Args:
        texts: the documents of the data set.
        paths: files, or folders of files.
        ids: a file that says which document is which (`mtbias.coref.document_ids.told`).
        spans: what mentions count, where that is known.
        also: ids that the data set has too, without a text.

    Raises:
        DataError: what the readers raise; a document twice, or of which it cannot be told which it is; other words than
            the data's; mentions of which it cannot be told what they count.
    """
    documents, files = read_documents(paths)
    named, notes = told(documents, texts, ids, also)
    check_once(named)
    by_id = {text.id: text for text in texts}
    placed = [_Placed(d, by_id[id_]) for id_, d in named if id_ in by_id]
    ways: dict[tuple[SpanCounting, ...], SpanCounting] = {}
    for countings in dict.fromkeys(one.document.countings for one in placed):
        group = [one for one in placed if one.document.countings == countings]
        way, note = (spans, None) if spans and len(countings) > 1 else _way(group)
        ways[countings] = way
        notes += [note] if note else []
    found: dict[str, Prediction] = {}
    changed: Counter[str] = Counter()
    at_id = {one.text.id: one for one in placed}
    for id_, document in named:
        if id_ in at_id:
            clusters = at_id[id_].clusters(ways[document.countings], changed)
            # Without tokens: they are the data's now.
            found[id_] = Prediction(id_, clusters, None, document.path, document.line)
        else:
            found[id_] = Prediction(id_, document.clusters, document.tokens, document.path, document.line)
    notes += [f"mentions {what}: {n}" for what, n in changed.items() if n]
    if found and not any(prediction.clusters for prediction in found.values()):
        notes.append(f"documents without any cluster: all {len(found)}")
    taken = dict.fromkeys(str(way) for way in ways.values() if way is not SpanCounting.INCLUDED)
    return Predictions(found, files, tuple(notes), {"spans": "+".join(taken)} if taken else {})


class _Placed:
    """A document of a system and the text it is about."""

    def __init__(self, document: OutputDocument, text: CorefText) -> None:
        self.document, self.text = document, text
        self._units: dict[bool, list[Mention | None]] = {}

    def units(self, way: SpanCounting) -> list[Mention | None]:
        """For each token or character of the document the tokens of the text that it is; `DataError` where none."""
        characters = way is SpanCounting.CHARACTERS
        if characters not in self._units:
            self._units[characters] = self._aligned(characters=characters)
        return self._units[characters]

    def _aligned(self, *, characters: bool) -> list[Mention | None]:
        document, ours = self.document, self.text.tokens
        theirs: Sequence[str] | None = document.tokens
        if characters:
            theirs = self.text.text if document.text is None else document.text
        if theirs is None:
            if document.n_tokens not in {None, len(ours)}:
                raise document.error(f"expected {len(ours)} tokens, got {document.n_tokens}")
            return [(at, at) for at in range(len(ours))]
        if len(theirs) == len(ours) and all(a.casefold() == b.casefold() for a, b in zip(theirs, ours, strict=True)):
            return [(at, at) for at in range(len(ours))]
        try:
            return align(theirs, ours)
        except Misaligned as error:
            if error.at is None:
                message = f"expected {len(ours)} tokens, got {len(theirs)}, which end before {error.ours!r}"
                raise document.error(message) from None
            there = theirs[error.at : error.at + 20] if characters else theirs[error.at]
            what = "character" if characters else "token"
            raise document.error(f"{what} {error.at} is {error.ours!r} in the data set, {there!r} here") from None

    def evidence(self, way: SpanCounting) -> _Evidence:
        """How many mentions can be read this way, and how many of them the data set asks about."""
        units = self.units(way)
        asked = impossible = 0
        for cluster in self.document.clusters:
            for start, end in cluster:
                last = end if way is SpanCounting.INCLUDED else end - 1
                if start > last or last >= len(units):
                    impossible += 1
                elif (mention := _tokens(units, start, last)) is not None:
                    # Read wrongly as characters, small numbers all are within the first words.
                    asked += mention in self.text.asked and not _within_token(units, start, last, mention)
        return _Evidence(asked, impossible)

    def clusters(self, way: SpanCounting, changed: Counter[str]) -> Clusters:
        """The clusters in tokens of the text; `changed` counts what became of mentions."""
        units = self.units(way)
        found = []
        for cluster in self.document.clusters:
            mentions = []
            for start, end in cluster:
                last = end if way is SpanCounting.INCLUDED else end - 1
                self._check(start, last, len(units), way)
                mention = _tokens(units, start, last)
                if mention is None:
                    changed["of no word, left out"] += 1
                    continue
                if _within_token(units, start, last, mention):
                    changed["that begin or end within a token of the data, taken to its ends"] += 1
                mentions.append(mention)
            if mentions:
                found.append(tuple(mentions))
        return tuple(found)

    def _check(self, start: int, last: int, n: int, way: SpanCounting) -> None:
        what = "characters" if way is SpanCounting.CHARACTERS else "tokens"
        if last >= n:
            raise self.document.error(f"the document has {what} 0 to {n - 1}; a mention ends at {last}")
        if start > last:
            message = f"[{start}, {start}] is no mention where ends are excluded (--spans says what mentions count)"
            raise self.document.error(message)


@dataclass(frozen=True, slots=True)
class _Evidence:
    asked: int
    impossible: int


def _tokens(units: Sequence[Mention | None], start: int, last: int) -> Mention | None:
    """The tokens from the first to the last unit that has some."""
    some = [unit for unit in units[start : last + 1] if unit is not None]
    return (some[0][0], some[-1][1]) if some else None


def _within_token(units: Sequence[Mention | None], start: int, last: int, mention: Mention) -> bool:
    """Whether the units from `start` to `last` begin or end within a token of the `mention` that they are."""
    return _shares(units, start - 1, mention[0]) or _shares(units, last + 1, mention[1])


def _shares(units: Sequence[Mention | None], at: int, token: int) -> bool:
    """Whether the unit beside a mention has a part of the token at the mention's end."""
    unit = units[at] if 0 <= at < len(units) else None
    return unit is not None and unit[0] <= token <= unit[1]


def _way(group: Sequence[_Placed]) -> tuple[SpanCounting, str | None]:
    """What the mentions of documents of one format count, and what is to be said about it."""
    countings = group[0].document.countings
    meant = countings[0]
    if len(countings) == 1:
        return (
            meant,
            None if meant is SpanCounting.INCLUDED else f"mentions are read as {_WAYS[meant]}: so the format has them",
        )
    evidence = {way: _sum(one.evidence(way) for one in group) for way in countings}
    possible = [way for way in countings if not evidence[way].impossible]
    best = max(possible, key=lambda way: evidence[way].asked, default=meant)  # the first of equal ones: what is meant
    asked = {way: evidence[way].asked for way in countings}
    if meant in possible and not asked[best]:
        return (
            meant,
            None if meant is SpanCounting.INCLUDED else f"mentions are read as {_WAYS[meant]}: so the format has them",
        )
    if not asked[best]:
        return meant, None  # no way will do: the first mention that is not within its document is named
    others = [way for way in possible if way is not best]
    rivals = [way for way in others if asked[way] * _CLEARLY > asked[best]]
    if rivals:
        ways = ", ".join(f"{asked[way]} of what the data asks about as {_WAYS[way]}" for way in (best, *rivals))
        raise DataError(
            f"cannot tell what mentions count: they are {ways}; say --spans {best} or --spans {rivals[0]}",
            path=group[0].document.path,
        )
    if best is SpanCounting.INCLUDED:
        return best, None
    said = [
        f"{asked[best]} of them are what the data asks about",
        *(_against(way, evidence[way]) for way in countings if way is not best),
    ]
    return best, f"mentions are read as {_WAYS[best]}: {'; '.join(said)} (--spans says otherwise)"


def _against(way: SpanCounting, evidence: _Evidence) -> str:
    if evidence.impossible:
        return f"as {_WAYS[way]}, {evidence.impossible} would be none"
    return f"as {_WAYS[way]}, {evidence.asked}"


def _sum(parts: Iterable[_Evidence]) -> _Evidence:
    every = list(parts)
    return _Evidence(sum(one.asked for one in every), sum(one.impossible for one in every))
