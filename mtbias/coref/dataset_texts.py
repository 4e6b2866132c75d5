"""The texts of the data sets of coreference as systems are given them: tokens, sentences, and what is asked there.

Every data set has its own class of instances; a `CorefText` is what all of them have in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from mtbias.coref.bug_links import Bug, read_bug
from mtbias.coref.conll import Mention
from mtbias.coref.coref_text import CorefText, joined
from mtbias.coref.gap_instances import GapFile, GapInstance, read_instances
from mtbias.coref.gap_spans import files_in, tokens_of
from mtbias.coref.sowinobias import EXAMPLE_VOCABULARY, SoWinoBiasSentence, generate, read_vocabulary
from mtbias.coref.sowinobias import Reading as SetSize
from mtbias.coref.winobias_data import WinoBias, read_winobias
from mtbias.coref.winogender import Resolution, Winogender, WinogenderSentence, read_winogender, token_spans
from mtbias.errors import UsageError
from mtbias.types import Span

_ENDS = {".", "!", "?"}
_CLOSING = {'"', "'", ")", "]", "”", "’"}
# Titles and the like, after which a full stop ends no sentence: the abbreviations of English that stand before names.
_BEFORE_NAMES = frozenset(
    [
        "Mr",
        "Mrs",
        "Ms",
        "Mx",
        "Dr",
        "Prof",
        "St",
        "Sr",
        "Jr",
        "Fr",
        "Rev",
        "Hon",
        "Gen",
        "Col",
        "Maj",
        "Capt",
        "Cmdr",
        "Lt",
        "Sgt",
        "Gov",
        "Sen",
        "Rep",
        "Pres",
        "No",
        "vs",
    ]
)


def read_texts(
    dataset: str, data: Path | None, *, n: SetSize = "polarity", full_stop: bool = True
) -> tuple[list[CorefText], Mapping[str, str]]:
    """The documents of one of `DATASETS` at `data`, and the SHA-256 of its files by name.

    Args:
        dataset: which.
        data: what its scorer takes as data; of SoWinoBias, which is made and not read, the vocabulary.
        n: which sentences of SoWinoBias (`mtbias.coref.sowinobias.generate`).
        full_stop: whether they end in one.

    Raises:
        DataError: what the data set's reader raises.
        UsageError: no data where there must be some.
    """
    if dataset == "sowinobias":
        vocabulary = read_vocabulary(data or EXAMPLE_VOCABULARY)
        sentences = generate(vocabulary, reading=n, full_stop=full_stop)
        return sowinobias_texts(sentences), {"vocabulary": vocabulary.sha256}
    if data is None:
        raise UsageError(f"--data: expected where the data of {dataset} are, got nothing")
    if dataset == "winobias":
        winobias = read_winobias(data)
        return winobias_texts(winobias), winobias.files
    if dataset == "winogender":
        winogender = read_winogender(data)
        return winogender_texts(winogender), winogender.files
    if dataset == "bug":
        bug = read_bug(data)
        return bug_texts(bug), {bug.path.name: bug.sha256}
    instances = read_instances(files_in(data, None)[0] if dataset == "gap" else data)
    return gap_texts(instances), {instances.path.name: instances.sha256}


def winobias_texts(data: WinoBias) -> list[CorefText]:
    """The sentences of all sets of `data`; asked are the gold mentions and the occupations."""
    return [
        CorefText(
            document.id,
            document.words,
            joined(document.words),
            frozenset([*document.gold[0], *(occupation.mention for occupation in document.occupations)]),
            document.gold,
        )
        for document in data.documents.values()
    ]


def sowinobias_texts(sentences: Iterable[SoWinoBiasSentence]) -> list[CorefText]:
    """The sentences of the test set."""
    return [
        CorefText(s.id, s.tokens, s.text, frozenset([s.first, s.second, s.pronoun]), ((s.second, s.pronoun),))
        for s in sentences
    ]


def winogender_texts(data: Winogender) -> list[CorefText]:
    """All sentences of `data`; a person is asked about with and without its article."""
    return [_winogender(sentence) for sentence in data.sentences.values()]


def _winogender(sentence: WinogenderSentence) -> CorefText:
    spans = token_spans(sentence.text)
    tokens = tuple(sentence.text[span.start : span.end] for span in spans)
    pronoun, occupation, participant = (
        _within(spans, span) for span in (sentence.pronoun_at, sentence.occupation_at, sentence.participant_at)
    )
    people = [_with_article(tokens, mention) for mention in (occupation, participant)]
    right = people[0] if sentence.answer is Resolution.OCCUPATION else people[1]
    asked = frozenset([pronoun, occupation, participant, *people])
    return CorefText(sentence.id, tokens, sentence.text, asked, (tuple(sorted((right, pronoun))),))


def _with_article(tokens: Sequence[str], mention: Mention) -> Mention:
    start, end = mention
    return (start - 1, end) if start and tokens[start - 1].lower() in {"the", "a", "an"} else mention


def bug_texts(data: Bug) -> list[CorefText]:
    """The rows of `data` that have a sentence; what stands past the end of one is asked about nowhere.

    An underscore stands for a word without characters, which no format can have and which indices count.
    """
    return [
        CorefText(
            row.id,
            tuple("".join(word.split()) or "_" for word in row.words),
            " ".join(row.words),
            frozenset(asked),
            (asked,) if len(asked) == 2 else (),
        )
        for row in data.rows
        for asked in [tuple((at, at) for at in sorted({row.profession, row.pronoun}) if at < len(row.words))]
    ]


def gap_texts(data: GapFile) -> list[CorefText]:
    """The texts of `data`, GAP's or Counter-GAP's; asked are the pronoun and the two candidates.

    Tokens are those of `gap_spans`, and end where one of the three begins or ends: 10 of the 25,386 of GAP and
    Counter-GAP do not begin and end with a token otherwise (an initial with its stop, a word in underscores).
    """
    return [_gap(instance) for instance in data.instances]


def _gap(instance: GapInstance) -> CorefText:
    spans = _gap_tokens(instance)
    tokens = tuple(instance.text[span.start : span.end] for span in spans)
    pronoun, *candidates = (_within(spans, span) for span in _named(instance))
    right = [mention for mention, gold in zip(candidates, instance.gold, strict=True) if gold]
    gold = (tuple(sorted([*right, pronoun])),) if right else ()
    return CorefText(
        instance.id, tokens, instance.text, frozenset([pronoun, *candidates]), gold, _sentence_ends(tokens)
    )


def mentions_of(instance: GapInstance) -> tuple[Mention, Mention, Mention]:
    """The pronoun, A and B of an instance, in tokens of its text."""
    spans = _gap_tokens(instance)
    pronoun, a, b = (_within(spans, span) for span in _named(instance))
    return pronoun, a, b


def _named(instance: GapInstance) -> tuple[Span, Span, Span]:
    pronoun = Span(instance.pronoun_offset, instance.pronoun_offset + len(instance.pronoun))
    return (pronoun, *instance.candidates)


def _gap_tokens(instance: GapInstance) -> list[Span]:
    return tokens_of(instance.text, cuts=[place for span in _named(instance) for place in span])


def _within(spans: Sequence[Span], span: Span) -> Mention:
    """The first and the last token of `span`."""
    at = [n for n, token in enumerate(spans) if token.overlaps(span)]
    return at[0], at[-1]


def _sentence_ends(tokens: Sequence[str]) -> tuple[int, ...]:
    """Where sentences of a text end: at a full stop, ! or ? and what closes it, before a capital, a digit or a quote.

    Mentions do not depend on it, since tokens count through a text; systems take sentences one by one.
    """
    ends = []
    for at, sign in enumerate(tokens):
        if sign not in _ENDS or (sign == "." and at and _abbreviates(tokens[at - 1])):
            continue
        last = at
        while last + 1 < len(tokens) and tokens[last + 1] in _CLOSING:
            last += 1
        follows = tokens[last + 1 : last + 2]
        if follows and (follows[0][0].isupper() or follows[0][0].isdigit() or not follows[0][0].isalnum()):
            ends.append(last)
    return tuple(ends)


def _abbreviates(token: str) -> bool:
    return token in _BEFORE_NAMES or (len(token) == 1 and token.isupper())
