"""Hand-made sentences for decisions: no model is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

import pytest

from mtbias.language.split_texts import SplitTexts
from mtbias.plugin import Language
from mtbias.reading import decide, read_features
from mtbias.types import (
    Alignment,
    Analysis,
    Candidate,
    Gender,
    GenderCall,
    Reason,
    SourceFacts,
    Span,
    Token,
    Word,
)

Call = Callable[..., GenderCall]


def analysis_of(sentence: str) -> tuple[Analysis, tuple[Span, ...]]:
    """An analysis, and the spans of the words marked as the entity's.

    ``"Der|DET *Lehrer|NOUN|Case=Nom,Number=Sing ging|VERB ~.|PUNCT"``: words separated by blanks,
    each with its tag and features; ``*`` marks the entity's words, ``**`` the one that is aligned
    most surely (else the first); ``~`` stands for no blank before; ``zum|ADP+DET`` is a token of two words.
    """
    text, tokens = "", []
    entity: list[Span] = []
    for entry in sentence.split():
        form, _, tags = entry.lstrip("*~").partition("|")
        upos, _, feats = tags.partition("|")
        text += "" if "~" in entry[:2] or not text else " "
        span = Span(len(text), len(text) + len(form))
        text += form
        pairs = tuple(
            (k, v)
            for k, _, v in (f.partition("=") for f in re.split(",(?=[A-Z][A-Za-z]+=)", feats) if f)
        )
        words = tuple(Word(form, None, tag, pairs) for tag in (upos or "X").split("+"))
        tokens.append(Token(span, form, words))
        if entry.startswith("**"):
            entity.insert(0, span)
        elif "*" in entry[:2]:
            entity.append(span)
    return Analysis(text, tuple(tokens)), tuple(entity)


@pytest.fixture
def call() -> Call:
    """``call(language, sentence, number=…, basis=…, translations=…, and fields of `Candidate`
    and `SourceFacts`)`` decides on the words marked with ``*``; `translations` are folded forms that are
    known to translate the entity.
    """

    def decided(
        language: Language,
        sentence: str,
        *,
        number: str | None = "sg",
        basis: str = "links+lexicon",
        copied: bool = False,
        qualified: bool = False,
        says_sex: Gender | None = None,
        before_adverb: bool = False,
        before_name: bool = False,
        quantifier: bool = False,
        translations: Collection[str] = (),
    ) -> GenderCall:
        analysis, target = analysis_of(sentence)
        texts = SplitTexts(language)
        known = tuple(
            span for span, facts in texts.words(analysis.text) if facts.form in translations
        )
        source = SourceFacts(
            number=number,
            qualified=qualified,
            says_sex=says_sex,
            before_adverb=before_adverb,
            before_name=before_name,
            quantifier=quantifier,
        )
        aligned = Candidate(target, basis, copied=copied)
        candidates = (aligned,) if target else ()
        return decide(Alignment("x", candidates, known, source), analysis, texts)

    return decided


@pytest.fixture
def analyse() -> Callable[[str], Analysis]:
    """`analysis_of` without the spans."""
    return lambda sentence: analysis_of(sentence)[0]


@pytest.fixture
def read() -> Call:
    """``read(language, sentence, first)``: the second reader on the words marked with ``*``, where
    the first one made the call `first`, a gender or the reason for none.
    """

    def reading(language: Language, sentence: str, first: Gender | Reason) -> GenderCall:
        analysis, target = analysis_of(sentence)
        gender, reason = (first, None) if isinstance(first, Gender) else (None, first)
        call = GenderCall("x", gender, reason, target)
        return read_features(call, analysis, language)

    return reading
