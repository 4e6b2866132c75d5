"""The gender in which the speaker stands: what agrees with "I" in a sentence in the first person.

A gender is read from past tenses, predicative adjectives and participles, and words such as *sama*, only where their
subject surely is the speaker. A clause is the speaker's where it has the first-person pronoun or a verb of the first
person singular; where past tenses show no person (Russian, Ukrainian), also one without any subject that continues
clauses of the speaker. Attributes of a noun say nothing about the speaker, nor do nouns, nor what stands in quotation
marks. There is no default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mtbias.decide.sentence_words import SentenceWord, sentence_words
from mtbias.decide.speaker_predicates import SpeakerPredicates
from mtbias.language.split_texts import SplitTexts
from mtbias.types import Analysis, Evidence, Gender, GenderCall, Reason, Span

_QUOTED = re.compile(r"«[^»]*»|“[^”]*”|„[^“”]*[“”]|\"[^\"]*\"|״[^״]*״")
_BOTH = re.compile(r"\(-?\w{1,4}\)|\s?/\s?-?(\w+)")
"""Behind a form: the other gender's ending in brackets (*пришёл(ла)*), or its ending or form behind a slash."""
_ENDING = 3
"""Letters of an ending behind a slash (*rád/a*); more must begin as the form does (*готов / готова*)."""


def speaker_call(id_: str, analysis: Analysis, texts: SplitTexts) -> GenderCall:
    """The gender in which the speaker of a text stands, with every word that shows one; words that contradict each
    other are ambiguous, and a form of both genders is neutral.
    """
    found = list(_found(analysis, texts))
    spans = tuple(dict.fromkeys(span for span, _ in found))
    evidence = tuple(piece for _, piece in found)
    genders = {piece.gender for piece in evidence}
    if not genders:
        return GenderCall(id_, None, Reason.NO_MORPHOLOGY)
    if Gender.NEUTRAL in genders:
        return GenderCall(id_, Gender.NEUTRAL, None, spans, evidence)
    if len(genders) > 1:
        return GenderCall(id_, None, Reason.AMBIGUOUS, spans, evidence)
    return GenderCall(id_, genders.pop(), None, spans, evidence)


def _found(analysis: Analysis, texts: SplitTexts) -> Iterator[tuple[Span, Evidence]]:
    words = _outside_quotes(sentence_words(analysis, texts), analysis.text)
    found = SpeakerPredicates(tuple(words), analysis.text, texts.language).evidence()
    for n, piece in found:
        both = _both_forms(words[n], analysis.text)
        yield words[n].span, Evidence(piece.kind, piece.word, Gender.NEUTRAL, "form", "both forms") if both else piece


def _both_forms(word: SentenceWord, text: str) -> bool:
    """The form of the other gender, or its ending, is written behind the word."""
    found = _BOTH.match(text, word.span.end)
    if found is None or found[1] is None:
        return found is not None
    return len(found[1]) <= _ENDING or found[1][:_ENDING] == word.text[:_ENDING]


def _outside_quotes(words: list[SentenceWord], text: str) -> list[SentenceWord]:
    """The words that are not quoted; a text that is quoted as a whole is the speaker's."""
    quoted = [Span(*match.span()) for match in _QUOTED.finditer(text)]
    bare = text.strip(" .!?…")
    quoted = [span for span in quoted if len(text[span.start : span.end].strip(" .!?…")) < len(bare)]
    return [word for word in words if not any(word.span.overlaps(span) for span in quoted)]
