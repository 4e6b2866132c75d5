"""Swapping the gender of English words: he and she, brother and sister, Mr and Ms; her by its part
of speech.

The words are those of ``gender_swap.toml`` and the pronouns of `mtbias.english.words`. A
part-of-speech tag decides whether *her* is *him* or *his*, and *his* is *her* or *hers*; without
one, the words around it do, by a rule, and where both readings are usual the swap says so.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from mtbias.english.words import GENDER_OF_PRONOUN, PRONOUN_ROLES, pronouns_gender
from mtbias.files.reading import read_text
from mtbias.types import Gender, JsonDict, JsonObject, frozen


@frozen
class WordSwap:
    """One word that is replaced."""

    index: int
    """Index of the token."""
    new: str
    ambiguous: bool
    """Both readings of *her* (or *his*) were usual here; the guess may be wrong."""


@frozen
class GenderedWords:
    """The table of words, and the word lists of the rules for *his* and *her*."""

    swaps: Mapping[str, str]
    """Word → its counterpart, in lower case."""
    titles: Mapping[str, str]
    """Title → its counterpart, with their capitals."""
    capital_stays: frozenset[str]
    """Words that are not swapped where they have this capital."""
    alone_before: frozenset[str]
    """Before these, *his* stands alone."""
    her: Mapping[str, frozenset[str]]
    endings: tuple[str, ...]
    """Words that end so tell a gender too, though they have no counterpart here (fisherman)."""
    genders: Mapping[str, Gender]
    """The gender that a word tells: in lower case, titles with their capital."""
    not_people: frozenset[str]
    """But these do not (specimen)."""
    his_is_possessive: bool = False
    """Whether *his* is *her* wherever it occurs, and never *hers*."""


class WordOrMark(NamedTuple):
    """A word or a mark of a text, and where it is."""

    text: str
    start: int
    end: int


class Edit(NamedTuple):
    """``text[start:end]`` becomes `new`."""

    start: int
    end: int
    new: str


# His and her have two roles, so that their counterpart depends on the words around them
# (`_counterpart`); the others have one.
_ROLES = Counter(chain.from_iterable(PRONOUN_ROLES.values()))
_TO_FEMININE = {m: f for m, f in PRONOUN_ROLES.values() if _ROLES[m] == 1}
_TO_MASCULINE = {f: m for m, f in PRONOUN_ROLES.values() if _ROLES[f] == 1}
_PRONOUNS = _TO_FEMININE | _TO_MASCULINE
_TOKEN = re.compile(r"ma['’]am\b|[^\W_]+|[^\w\s]", re.IGNORECASE)
_OPENING = {"“", "‘", "``"}


@cache
def gendered_words() -> GenderedWords:
    """The table that ships with mtbias."""
    file = resources.files("mtbias.english") / "gender_swap.toml"
    return parse_words(file.read_text(encoding="utf-8"))


def parse_words(text: str) -> GenderedWords:
    """Read the table."""
    data: JsonDict = tomllib.loads(text)
    titles, his, her, endings = (data.pop(name) for name in ("titles", "his", "her", "endings"))
    swaps = dict(_PRONOUNS)
    genders = dict(GENDER_OF_PRONOUN) | _genders(titles)
    capital_stays: list[str] = []
    for section in data.values():
        capital_stays += section.get("capital_stays", ())
        genders |= _genders(section)
        for masculine, feminine in section.get("both", ()):
            swaps[masculine.lower()] = feminine
            swaps[feminine.lower()] = masculine
        for name in ("to_feminine", "to_masculine"):
            for old, new in section.get(name, {}).items():
                swaps[old.lower()] = new
    return GenderedWords(
        swaps=swaps,
        titles={**titles["to_feminine"], **titles["to_masculine"]},
        capital_stays=frozenset(capital_stays),
        alone_before=frozenset(word.lower() for word in his["alone_before"]),
        her={name: frozenset(words) for name, words in her.items() if name != "note"},
        endings=tuple(endings["of_people"]),
        not_people=frozenset(endings["not_people"]),
        genders=genders,
    )


class Swaps(NamedTuple):
    """Words that are swapped, and the SHA-256 of their file, by its name."""

    words: GenderedWords
    files: Mapping[str, str]


def read_swaps(path: Path | None, *, as_published: bool = False) -> Swaps:
    """Pairs of words for those that ship with mtbias, which stay where the path is None.

    `as_published` swaps as Counter-GAP's texts do (`_as_published`).

    Each line of the file is a word and its counterpart with a tab between; both ways are meant, and
    the first line of a word counts for it. Pronouns stay those of `mtbias.english.words`, and
    titles that have no pair here stay titles.

    Raises:
        DataError: a line that is not two words.
    """
    ours = _as_published(gendered_words()) if as_published else gendered_words()
    if path is None:
        return Swaps(ours, {})
    file = read_text(path)
    swaps: dict[str, str] = {}
    for number, line in file.filled_lines():
        pair = [word.strip().lower() for word in line.split("\t")]
        if len(pair) != 2 or not all(pair):
            raise file.error(f"expected two words with a tab between, got {line!r}", number)
        for old, new in (pair, pair[::-1]):
            swaps.setdefault(old, new)
    words = replace(
        ours,
        swaps={**swaps, **{old: new for old, new in _PRONOUNS.items() if old in ours.swaps}},
        titles={title: new for title, new in ours.titles.items() if title.lower() not in swaps},
        capital_stays=frozenset(word for word in ours.capital_stays if word.lower() not in swaps),
    )
    return Swaps(words, {"swaps": file.sha256})


def _as_published(table: GenderedWords) -> GenderedWords:
    """The table with the rules of Counter-GAP's texts: *his* is always *her*, *hers* stays, and so
    do titles outside names, unless they are listed as words.

    Source: C-GAP.tsv, original beside swapped texts; x-zb/Counter-GAP, ``cda/word_swapper.py``.
    """
    swaps = {old: new for old, new in table.swaps.items() if old != "hers"}
    return replace(table, swaps=swaps, titles={}, capital_stays=frozenset(), his_is_possessive=True)


def has_listed_words(tokens: Iterable[str], table: GenderedWords) -> bool:
    """Whether any of `tokens` is a word of the table, pronouns aside."""
    words = map(str.lower, tokens)
    return any(word in table.swaps and word not in GENDER_OF_PRONOUN for word in words)


def _genders(section: JsonObject) -> dict[str, Gender]:
    """The gender of each word of a section; of a title with its capital, of another word in lower
    case.
    """
    men = [m for m, _ in section.get("both", ())] + list(section.get("to_feminine", ()))
    women = [f for _, f in section.get("both", ())] + list(section.get("to_masculine", ()))
    genders = dict.fromkeys(men, Gender.MALE) | dict.fromkeys(women, Gender.FEMALE)
    titles = "both" not in section
    return genders if titles else {word.lower(): gender for word, gender in genders.items()}


def tokenize(text: str) -> list[WordOrMark]:
    """Words and marks with their offsets.

    An opening straight quotation mark becomes “, so that rules can tell; the underscores of
    _italics_ are passed over.
    """
    tokens = []
    for match in _TOKEN.finditer(text):
        word, start, end = match[0], match.start(), match.end()
        opening = start == 0 or text[start - 1].isspace()
        if word in {'"', "'"} and opening and end < len(text) and not text[end].isspace():
            word = "“"
        tokens.append(WordOrMark(word, start, end))
    return tokens


def match_case(new: str, old: str) -> str:
    """`new` in capitals where `old` is (and has two letters or more), with a capital where `old`
    has one.
    """
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def apply_edits(
    text: str, edits: Sequence[Edit]
) -> tuple[str, dict[tuple[int, int], tuple[str, int]]]:
    """The edited text; and each edited range (start, end) with its new text and offset there."""
    parts: list[str] = []
    moved: dict[tuple[int, int], tuple[str, int]] = {}
    done = length = 0
    for start, end, new in sorted(edits):
        length += start - done
        moved[start, end] = (new, length)
        parts += [text[done:start], new]
        length += len(new)
        done = end
    return "".join([*parts, text[done:]]), moved


def swap_words(
    tokens: Sequence[str],
    *,
    tags: Sequence[str] | None = None,
    fixed: Collection[int] = (),
    table: GenderedWords | None = None,
) -> list[WordSwap]:
    """The swaps of the gendered words among `tokens` when all genders are swapped; capitals are
    kept.

    Args:
        tokens: of one text or sentence, in order; punctuation stands alone.
        tags: Penn Treebank tags, one for each token; only PRP and PRP$ decide about *her* and
            *his*.
        fixed: tokens that stay (parts of names) but count as context.
        table: the words, and the lists that decide about *his* and *her* (default: those that ship
            with mtbias).
    """
    swaps = []
    table = table or gendered_words()
    for index, token in enumerate(tokens):
        if index in fixed:
            continue
        tag = "" if tags is None else tags[index]
        new, ambiguous = _counterpart(table, tokens, index, tag)
        if new is not None:
            swaps.append(WordSwap(index, match_case(new, token), ambiguous))
    return swaps


def _counterpart(
    table: GenderedWords, tokens: Sequence[str], index: int, tag: str
) -> tuple[str | None, bool]:
    token = tokens[index]
    lower = token.lower()
    if lower == "her":
        if tag in {"PRP", "PRP$"}:
            return ("his" if tag == "PRP$" else "him"), False
        is_object, ambiguous = her_is_object(tokens, index)
        return ("him" if is_object else "his"), ambiguous
    if lower == "his":
        if tag in {"PRP", "PRP$"}:
            return ("her" if tag == "PRP$" else "hers"), False
        return ("her", False) if table.his_is_possessive else _his(tokens, index)
    bare = token.removesuffix(".")
    if bare in table.titles and _before_name(tokens, index):
        return table.titles[bare] + token[len(bare) :], False
    return (None if token in table.capital_stays else table.swaps.get(lower)), False


def tells_gender(word: str) -> bool:
    """Whether `word` tells a gender by its ending alone, without a counterpart in the table:
    fisherman, clergywoman.

    A word with a capital may be a name (Coleman) and is not looked at.
    """
    table = gendered_words()
    return word.islower() and word.endswith(table.endings) and word not in table.not_people


def word_gender(word: str) -> Gender | None:
    """The gender that a noun, a title or a pronoun tells by itself: *widow*, *Mr*, *fisherman*;
    None of other words.
    """
    genders = gendered_words().genders
    gender = genders.get(word.removesuffix(".")) or genders.get(word.lower())
    if gender is None and tells_gender(word):
        return Gender.FEMALE if word.endswith(("woman", "women")) else Gender.MALE
    return gender


def pronouns_contradict(text: str, entity: str, gold: Gender | None) -> bool:
    """Whether all gendered pronouns of `text`, one or more, are of the other gender than `gold`,
    that of `entity`.

    The pronouns may be somebody else's. Where the entity tells its gender by itself (*queen*), they
    surely are.
    """
    gender = pronouns_gender(text)
    if gender is None or gold not in {Gender.MALE, Gender.FEMALE} or gender is gold:
        return False
    return gold not in map(word_gender, entity.split())


def _his(tokens: Sequence[str], index: int) -> tuple[str, bool]:
    after = _word(tokens, index + 1)
    if after in _OPENING:
        return "her", True
    if after == "and" and _word(tokens, index + 3) in {"'", "’", "'s", "’s"}:  # his and Ann's house
        return "her", False
    alone = not _is_word(after) or after in gendered_words().alone_before
    return ("hers" if alone else "her"), False


def _before_name(tokens: Sequence[str], index: int) -> bool:
    after = index + 1
    if after < len(tokens) and tokens[after] == ".":
        after += 1
    return after < len(tokens) and tokens[after][:1].isupper()


def her_is_object(tokens: Sequence[str], index: int) -> tuple[bool, bool]:
    """Whether *her* at `index` is an object (him) and not a possessive (his), and whether that is a
    guess.

    The rule looks at one word before and two after; its word lists are in ``gender_swap.toml``,
    section ``her``.
    """
    her = gendered_words().her
    before, after, second = (_word(tokens, index + k) for k in (-1, 1, 2))
    closed = second != "-" and (not _is_word(second) or second in her["object_before"])
    if not _is_word(after):
        if after in _OPENING:
            return before in her["two_objects_after"], True
        return True, False
    if after in her["noun_before"] or after in her["possessive_before"]:
        return False, False
    if after == "back":
        return before not in her["back_after"], True
    if after == "home":
        return before in her["home_after"], True
    if after in her["ambiguous_before"]:
        return closed, True
    if after in her["object_before"]:
        return True, False
    if after.endswith("ly") and len(after) > 3 and after not in her["bare_verbs"]:
        return closed, not closed
    return _after_verb(her, before, after, closed=closed, name=tokens[index + 1][:1].isupper())


def _after_verb(
    her: Mapping[str, frozenset[str]], before: str, after: str, *, closed: bool, name: bool
) -> tuple[bool, bool]:
    """The same where an open-class word follows: the verb in front decides, if it takes more than
    an object.
    """
    if before in her["bare_verb_after"] and after in her["bare_verbs"]:
        return True, after in her["noun_verbs"] and before not in her["sure_after"]
    if before in her["ing_after"] and after.endswith("ing") and after not in her["ing_nouns"]:
        return True, False
    if before in her["adjective_after"] and closed:
        if after in her["adjectives"] or after.endswith(tuple(her["adjective_endings"])):
            return True, False
        if after.endswith("ed"):
            return True, True
    if before in her["two_objects_after"]:
        return name, True
    return False, False


def _word(tokens: Sequence[str], index: int) -> str:
    return tokens[index].lower() if 0 <= index < len(tokens) else ""


def _is_word(token: str) -> bool:
    return token[:1].isalnum()
