"""The contract of a language plugin as one test, for mtbias's own languages and for third parties'
test suites.

    from mtbias.testing import check_language

    def test_contract() -> None:
        check_language(PORTUGUESE)

It needs no models and no network. It says whether a plugin is *sound*; whether it is *right* is a
matter of test sentences with known answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain, islice, product
from operator import attrgetter

from mtbias.errors import PluginError
from mtbias.language.definition import Language
from mtbias.language.grammar import CASES, NounKind, NounReading, SpeakerRules
from mtbias.language.installed import is_language_code
from mtbias.language.split_texts import SplitTexts
from mtbias.reading import decide
from mtbias.reading.agreement import GENDER_OF_LETTER, PERSONAL
from mtbias.reading.gender_pairs import PairOutcome, analysed, evenly, pair_outcomes
from mtbias.reading.speaker import speaker_call
from mtbias.types import ELIMINATION, Alignment, Analysis, Candidate, GenderCall, Reason, Span

__all__ = ["check_language", "contract_problems"]

MAX_SHOWN = 20
"""Problems that the message lists; the rest is only counted."""

_FRAMES = (
    "{0}",
    "{0}.",
    "({0})",
    "«{0}», {0}… {0}!",
    "{0}\n{0}\u00a0{0}",
    "The {0} said: “{0}?” 3 {0}-x",
    " {0} / {0} ",
)
"""Texts that `tokens` must cut cleanly, whatever replaces ``{0}``."""

_WITHOUT_GENDER = (NounKind.FIXED, NounKind.COMMON, NounKind.THING)

Problems = Iterator[str]


def check_language(language: Language) -> None:
    """Check that `language` keeps the contract that mtbias relies on.

    Checked, beside what the reading of its data files has checked: the code; that `tokens` cuts
    texts without loss; that look-ups do not depend on how a form was folded; that every form of the
    noun table and of the determiners can be reached; that decisions on hand-made phrases rest on
    evidence, with no gender by default; and that of phrases that differ in gender alone both are
    called by it, or neither is.

    Raises:
        PluginError: `language` is not a `Language`.
        AssertionError: the contract is broken; the message lists the first `MAX_SHOWN` places.
    """
    problems = contract_problems(language)
    if problems:
        shown = "".join(f"\n  {p}" for p in problems[:MAX_SHOWN])
        rest = f"\n  … and {len(problems) - MAX_SHOWN} more" if len(problems) > MAX_SHOWN else ""
        places = f"{len(problems)} places"
        raise AssertionError(
            f"language {language.code!r} breaks the contract in {places}:{shown}{rest}\n"
            "languages/README.md describes the format"
        )


def contract_problems(
    language: Language, outcomes: Iterable[PairOutcome] | None = None
) -> list[str]:
    """Every place in which `language` breaks the contract (`check_language`), one line each; none
    where it keeps it.

    `outcomes` are those of `mtbias.reading.gender_pairs.pair_outcomes`, where the caller has them.

    Raises:
        PluginError: `language` is not a `Language`.
    """
    if not isinstance(language, Language):
        raise PluginError(f"expected a mtbias.plugin.Language, got {type(language).__name__}")
    header = [f"header: {problem}" for problem in _header(language)]
    if header:
        return header
    tried = pair_outcomes(language) if outcomes is None else outcomes
    problems = []
    for check in _CHECKS:
        name = check.__name__.lstrip("_")
        problems += [f"{name}: {problem}" for problem in check(language)]
    return problems + [f"gender_pairs: {each.problem}" for each in tried if each.problem]


def _header(language: Language) -> Problems:
    if not is_language_code(language.code):
        yield (
            "the code must be one of ISO 639-1, or, where that has none, one of ISO 639-3 "
            f"that Stanza knows; got {language.code!r}"
        )
    if not language.name.strip():
        yield "the language has no name"
    if language.verbs.order not in ("after", "both"):
        yield f"the order of verbs must be after or both; got {language.verbs.order!r}"
    for name in (
        "inclusive",
        "definite",
        "perhaps_definite",
        "verbs.feminine",
        "speaker.accusative",
        "speaker.silent",
    ):
        try:
            re.compile(attrgetter(name)(language))
        except re.error as error:
            yield f"{name} is not a regular expression: {error}"
    if not language.nouns:
        yield "there are no nouns"
    if not language.glossary:
        yield "there are no English translations: the aligner goes without a lexicon"
    readings = chain.from_iterable(language.nouns.values())
    if not any(reading.kind.gender for reading in readings):
        yield "no noun says a gender: every call would rest on its articles"


def _tokens(language: Language) -> Problems:
    for word in _sample(language):
        for frame in _FRAMES:
            yield from _cut(language, frame.format(word))


def _cut(language: Language, text: str) -> Problems:
    """Problems with the tokens of one text: they must occur in it, in order, and cover all its
    letters and digits.
    """
    last = 0
    for token in language.tokens(text):
        start, end = token.span
        where = f"in {text!r}:"
        if not last <= start < end <= len(text):
            place = f"{token.text!r} at {start}–{end}"
            yield f"{where} {place} overlaps what is before it or leaves the text"
            return
        if text[start:end] != token.text:
            here = f"the text at {start}–{end}, {text[start:end]!r}"
            yield f"{where} the token {token.text!r} is not {here}"
        folded = language.fold(token.text)
        if token.form != folded:
            form = f"the form of {token.text!r} is {token.form!r}"
            yield f"{where} {form}, folded it is {folded!r}"
        if any(c.isalnum() for c in text[last:start]):
            yield f"in {text!r}: {text[last:start]!r} is in no token"
        last = end
    if any(c.isalnum() for c in text[last:]):
        yield f"in {text!r}: {text[last:]!r} is in no token"


def _forms(language: Language, text: str) -> list[str]:
    return [token.form for token in language.tokens(text)]


def _folding(language: Language) -> Problems:
    for text in (
        "Ärztin’s “L’Élève” ʼ ״ ׳ ‑ ґ ё İ ß ŒUVRE",
        *(w.upper() for w in _sample(language)),
    ):
        folded = language.fold(text)
        if language.fold(folded) != folded:
            yield f"folding {text!r} twice gives {language.fold(folded)!r}, once {folded!r}"


def _nouns(language: Language) -> Problems:
    for form in language.nouns:
        if not language.noun(form):
            yield f"noun({form!r}) finds nothing, though the form is in the table"
        cut = _forms(language, form)
        if form not in cut:
            yield f"the noun {form!r} is cut into {cut}, so that no text contains it"
    for first, compounds in language.phrases.items():
        for others, reading in compounds:
            words = [first, *others]
            if _forms(language, " ".join(words)) != words:
                yield f"the compound {' '.join(words)!r} is cut otherwise than at its blanks"
            elif language.phrase(words) is None:
                yield f"phrase({words}) does not find {reading.lemma!r}"


def _determiners(language: Language) -> Problems:
    noun = _unknown(language) or "x"
    for form in language.determiners:
        if form not in _forms(language, _phrase(language, form, noun)):
            problem = "is not one token before a noun, so that no text contains it"
            yield f"the determiner {form!r} {problem}"
    for noun_form, forms in language.silent_determiners.items():
        if noun_form not in language.nouns:
            yield f"[silent_determiners]: {noun_form!r} is not among the nouns"
        for form in sorted(forms - set(language.determiners)):
            yield f"[silent_determiners]: {form!r} is not among the determiners"
    for table in ("determiners_before_consonant", "prepositions_like_articles"):
        for form in sorted({*getattr(language, table)} - set(language.determiners)):
            yield f"[{table}]: {form!r} is not among the determiners"


def _words(language: Language) -> Problems:
    """Titles, prepositions and forms of verbs must be single words, as `tokens` cuts them."""
    tables = (
        *(f"verbs.{table}" for table in _VERB_WORDS),
        *(f"speaker.{table}" for table in _SPEAKER_WORDS),
    )
    letters = ("names", "sex_adjectives", "possessors", "pronouns")
    for name in (*letters, "relatives", "prepositions", *tables):
        for form in sorted(attrgetter(name)(language)):
            if form not in _forms(language, _phrase(language, form, "x")):
                yield f"[{name}]: {form!r} is not one word, so that no text contains it"


def _speaker(language: Language) -> Problems:
    """A language that reads the speaker's gender says who speaks, and each of its words says a man
    or a woman.
    """
    rules = language.speaker
    if rules != SpeakerRules() and not rules.pronouns:
        yield "[speaker]: there are no pronouns, so that no clause could be the speaker's"
    for form, agreement in rules.words.items():
        if agreement.gender not in ("m", "f"):
            yield f"[speaker.words]: {form!r} must be m or f; got {agreement.gender!r}"
    for form in sorted(rules.pronouns):
        if speaker_call("x", _analysis(language, form), SplitTexts(language)).gender is not None:
            yield f"[speaker]: {form!r} alone shows a gender: there is no default"


def _endings(language: Language) -> Problems:
    if language.min_stem < 1:
        yield f"[align]: min_stem must be at least 1; got {language.min_stem}"
    for form in (*language.nouns, *language.determiners, *language.align_endings):
        if not language.stem(form):
            yield f"stem({form!r}) leaves nothing"
    for form, cases in language.prepositions.items():
        if not cases or cases - CASES:
            governed = f"must govern one of {', '.join(sorted(CASES))}"
            yield f"[prepositions]: {form!r} {governed}; got {sorted(cases)}"
    for ending, others in language.neutral_endings.items():
        if len(others) < 2:
            stands_for = f"must stand for two endings or more; got {sorted(others)}"
            yield f"[neutral_endings]: {ending!r} {stands_for}"
    silent = [form for form, readings in language.nouns.items() if _shows_no_gender(readings)]
    for form, phrases in language.phrases.items():
        if _shows_no_gender([reading for _, reading in phrases]):
            silent.append(form)
    for ending in language.neutral_nouns:
        if not any(form.endswith(ending) for form in silent):
            problem = (
                f"no noun that shows no gender ends in {ending!r}, so that no text contains it"
            )
            yield f"[neutral_nouns]: {problem}"


def _shows_no_gender(readings: Collection[NounReading]) -> bool:
    """Whether a form may be a noun without a gender, or one of either gender."""
    genders = {reading.kind.gender for reading in readings}
    return {*PERSONAL} <= genders or any(reading.kind in _WITHOUT_GENDER for reading in readings)


def _decisions(language: Language) -> Problems:
    """Calls on nouns on their own, tagged as a noun without features."""
    for form in evenly(list(language.nouns), 3000):
        call = _call(language, form, form)
        yield from _founded(form, call)
        kinds = {r.kind for r in language.noun(form)}
        kind = kinds.pop() if len(kinds) == 1 else None
        expected = kind and kind.gender
        if expected is not None and call.gender is not expected:
            yield f"{form!r} is {kind}, but alone it is called {call.gender or call.reason}"
        if kind is NounKind.FIXED and call.gender is not None:
            yield f"{form!r} is of fixed gender, but it is called {call.gender}"
        if kind is NounKind.THING and call.reason is not Reason.NO_PERSON:
            yield f"{form!r} is a thing, but it is called {call.gender or call.reason}"
    word = _unknown(language)
    if word is None:
        yield "every made-up word is a noun or has a noun's ending: the noun endings are too short"
        return
    for basis in ("links+lexicon", "links", "lexicon", ELIMINATION):
        call = _call(language, word, word, basis)
        if call.gender is not None:
            called = f"is called {call.gender}: there is no default"
            yield f"the made-up word {word!r}, without features, {called}"
    alone = decide(Alignment("x"), _analysis(language, word), SplitTexts(language))
    if alone.reason is not Reason.UNALIGNED:
        yield "an entity that is not aligned must be called unaligned"
    yield from _by_determiner(language, word)


def _by_determiner(language: Language, word: str) -> Problems:
    """A made-up word with an article: the article's gender with the article as evidence, or none,
    never another.
    """
    for form, allowed in language.determiners.items():
        genders = {a.gender for a in allowed}
        text = _phrase(language, form, word)
        call = _call(language, text, word)
        yield from _founded(text, call)
        if call.gender not in {None, *(GENDER_OF_LETTER.get(g, call.gender) for g in genders)}:
            yield f"{text!r} is called {call.gender}, though {form!r} allows only {sorted(genders)}"


_VERB_WORDS = (
    "skip",
    "copulas",
    "words",
    "short",
    "auxiliaries",
    "reflexives",
    "reflexive_copulas",
    "oblique",
)
_SPEAKER_WORDS = ("pronouns", "verbs", "copulas", "reflexive_copulas", "words")


def _founded(text: str, call: GenderCall) -> Problems:
    """A call needs evidence for its gender; no call needs a reason (which `GenderCall` itself sees
    to).
    """
    if call.gender is not None and call.gender not in [e.gender for e in call.evidence]:
        yield f"{text!r} is called {call.gender} without evidence"


def _gender_pairs(language: Language) -> Problems:
    """Tables that know one gender alone; `contract_problems` adds phrases that differ in gender
    alone.
    """
    for name in ("names", "sex_adjectives", "possessors", "pronouns"):
        if len(genders := {*getattr(language, name).values()}) == 1:
            yield f"[{name}] has words for {genders.pop()} alone"


def _call(language: Language, text: str, word: str, basis: str = "links+lexicon") -> GenderCall:
    """The call on the last occurrence of `word` in `text`, every word tagged as a noun or
    determiner, no features.
    """
    start = text.rindex(word)
    aligned = Candidate((Span(start, start + len(word)),), basis)
    return decide(Alignment("x", (aligned,)), _analysis(language, text), SplitTexts(language))


def _analysis(language: Language, text: str) -> Analysis:
    surface = language.tokens(text)
    # A word on its own is a noun (es *algunas*).
    return analysed(
        text, surface, dict.fromkeys(language.determiners, "DET") if len(surface) > 1 else {}
    )


def _phrase(language: Language, determiner: str, noun: str) -> str:
    return determiner + noun if determiner in language.elisions else f"{determiner} {noun}"


def _unknown(language: Language) -> str | None:
    """A made-up word in the language's letters that no table knows and no ending fits, or None."""
    characters = dict.fromkeys(chain.from_iterable(islice(language.nouns, 200)))
    letters = [character for character in characters if character.isalpha()]
    for pair in product(letters, repeat=2):
        word = "".join(pair) * 3
        known = (
            word in language.determiners or word in language.names or word in language.prepositions
        )
        if not known and not language.noun(word) and language.ending(word) is None:
            return word
    return None


def _sample(language: Language) -> list[str]:
    """Some nouns and all determiners."""
    return [*evenly(list(language.nouns), 300), *language.determiners]


_CHECKS: tuple[Callable[[Language], Problems], ...] = (
    _tokens,
    _folding,
    _nouns,
    _determiners,
    _words,
    _endings,
    _speaker,
    _decisions,
    _gender_pairs,
)
