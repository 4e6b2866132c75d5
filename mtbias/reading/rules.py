"""The rules by which a gender is read, each with a name.

A rule is a function with a name that a linguist would give it, an example in its docstring, and the
family of languages that it belongs to. It can be switched off (`without`), and what it answers can
be listened to (`listening`): ``scripts/rules.py`` counts the calls that rest on each rule, and
``mtbias explain`` shows what was asked of one sentence.

Evidence names its rule; the words in which a user reads it (`says`) are made here from the name, so
that no number rests on the wording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from mtbias.types import Evidence, frozen

P = ParamSpec("P")
T = TypeVar("T")

SAYS: Mapping[str, str] = {
    # The noun, as the table or an ending has it.
    "masculine_noun": "masculine",
    "feminine_noun": "feminine",
    "common_noun": "one form for both genders",
    "generic_masculine": "masculine, also used of women",
    "fixed_gender_noun": "fixed grammatical gender",
    "noun_for_thing": "a thing",
    "spelling_for_both": "written to mean both genders",
    "foreign_word": "a foreign word",
    "noun_by_tagger": "",
    "noun_in_its_case": "",
    # Both genders.
    "both_nouns": "both forms",
    "ending_written_on": "both forms in one word",
    "neutral_ending": "an ending for both genders",
    "both_articles": "articles of both genders",
    "both_sexes": "both forms",
    # What agrees with it.
    "article": "",
    "shared_article": "the article of the noun before it",
    "attribute_by_ending": "",
    "attribute_by_tagger": "",
    "doubtful_attribute": "renders nothing of the entity",
    "word_for_sex": "by its meaning",
    "title": "",
    "surname": "",
    "relative_pronoun": "agrees with its noun",
    "attribute_behind_mark": "",
    "predicate_by_ending": "",
    "predicate_by_tagger": "",
    "short_form": "",
    "whole_verb": "",
    "verb_by_ending": "",
    "verb_by_tagger": "",
    "word_of_subject": "",
    "pronoun_of_person": "a pronoun of the person",
    # Why a word is believed to name nobody.
    "adjective_of_thing": "an adjective of a thing",
    "unsure_alignment": "aligned without certainty, not known as a noun for people",
    "bare_verb": "read as a verb: it renders nobody",
    "thing_too": "names a thing too, and translates another word",
    "known_thing": "the table knows it as a thing",
    "no_sign_of_person": "nothing says that it names a person",
    # The second reader.
    "features_alone": "",
}
"""Name of the rule on which evidence rests → the words for it; empty where the form says it all."""


def says(evidence: Evidence) -> str:
    """The rule in words, with what the word shows: ``feminine: Ärztin``."""
    parts = SAYS[evidence.rule], evidence.shows
    return ": ".join(part for part in parts if part)


@frozen
class Rule:
    """A condition on the words of a sentence."""

    name: str
    family: str
    """The family of languages that it belongs to; ``all``."""
    example: str
    """The docstring of its function."""
    otherwise: object
    """Its answer when it is switched off."""


RULES: dict[str, Rule] = {}
"""All rules by name, in the order in which their modules are imported."""

Listener = Callable[[str, object], object]
"""Called with the name of a rule and its answer."""

_off: set[str] = set()
_listeners: list[Listener] = []


def rule(
    family: str = "all", *, otherwise: object = False
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make a function a rule.

    Args:
        family: whose languages it is for.
        otherwise: its answer where it is switched off.
    """

    def register(function: Callable[P, T]) -> Callable[P, T]:
        name = function.__name__.lstrip("_")
        if family != "all":
            name = f"{family}.{name}"
        if name in RULES:
            raise ValueError(f"two rules of the name {name}")
        RULES[name] = Rule(name, family, " ".join((function.__doc__ or "").split()), otherwise)

        @wraps(function)
        def switchable(*args: P.args, **kwargs: P.kwargs) -> T:
            if not (_off or _listeners):
                return function(*args, **kwargs)
            if name in _off:
                return otherwise  # type: ignore[return-value] # as its declaration says
            answer = function(*args, **kwargs)
            tell(name, answer)
            return answer

        return switchable

    return register


def tell(name: str, answer: object) -> None:
    """Pass a decision to the listeners that is not a rule and cannot be switched off."""
    for listener in _listeners:
        listener(name, answer)


def as_declared() -> bool:
    """Whether no rule is switched off, and nobody listens."""
    return not (_off or _listeners)


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Within the block these rules are switched off.

    Raises:
        KeyError: there is no such rule.
    """
    chosen = {RULES[name].name for name in names}
    added = chosen - _off
    _off.update(added)
    try:
        yield
    finally:
        _off.difference_update(added)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Within the block `listener` receives the answer of each rule."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
