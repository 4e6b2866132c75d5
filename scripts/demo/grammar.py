"""The parallel grammar of the demo: English sentences about a person, and their translations with
every word annotated.

``english.toml`` has the occupations, adjectives, times and templates; ``grammar/LANG.toml`` says
each of them in one language, for both genders. A realisation is a sentence with its tokens, their
words, UPOS and features (Universal Dependencies), the span of the entity's noun, and the gender in
which it stands, known by construction. The notation is described in ``grammar/README.md``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LANGUAGES = ("ar", "cs", "de", "es", "he", "it", "ru", "uk")
"""Those that the demo's model speaks."""
TAGGED = (*LANGUAGES, "pt")
"""Those of which there are Stanza pipelines: Portuguese for the translations of Firefox's model."""
GENDERS = ("male", "female")

_ALTERNATION = re.compile(r"\[([^|\[\]]*)\|([^|\[\]]*)\]")
_SLOT = re.compile(r"<(\w+)(?:\.(\w+))?>")
_CLOSING = set(".,?!:;،؟")
_PRONOUNS = {"subj": ("he", "she"), "obj": ("him", "her"), "poss": ("his", "her")}


class GrammarError(ValueError):
    """The grammar of a language is incomplete or contradicts itself."""


@dataclass(frozen=True)
class Choice:
    """What a sentence says, in no language: one template with its slots filled."""

    template: str
    occupation: str
    adjective: str
    """A key of ``[adjectives]``, or "" for none."""
    time: str


@dataclass(frozen=True)
class Word:
    """A syntactic word."""

    text: str
    upos: str
    feats: str
    """UD features, sorted, joined by bars; "_" for none."""


@dataclass(frozen=True)
class Token:
    """A surface token and the syntactic words in it."""

    text: str
    words: tuple[Word, ...]
    start: int = 0
    head: bool = False
    """It holds the noun of the entity."""

    @property
    def end(self) -> int:
        """Where it ends in the sentence."""
        return self.start + len(self.text)


@dataclass(frozen=True)
class Realised:
    """A sentence in one language."""

    text: str
    tokens: tuple[Token, ...]

    @property
    def head(self) -> Token:
        """The token with the entity's noun."""
        return next(token for token in self.tokens if token.head)

    def conllu(self, name: str) -> str:
        """The sentence in CoNLL-U, with a flat tree: only segmentation, UPOS and features are
        meant.
        """
        lines = [f"# sent_id = {name}", f"# text = {self.text}"]
        number = 0
        for here, after in zip(self.tokens, (*self.tokens[1:], None), strict=True):
            glued = after is not None and after.start == here.end
            misc = "SpaceAfter=No" if glued or after is None else "_"
            if len(here.words) > 1:
                columns = [f"{number + 1}-{number + len(here.words)}", here.text, *"_" * 7, misc]
                lines.append("\t".join(columns))
            for word in here.words:
                number += 1
                place = f"{0 if number == 1 else 1}\t{'root' if number == 1 else 'dep'}"
                own = misc if len(here.words) == 1 else "_"
                lines.append(
                    f"{number}\t{word.text}\t_\t{word.upos}\t_\t{word.feats}\t{place}\t_\t{own}"
                )
        return "\n".join(lines) + "\n\n"


@cache
def english() -> Mapping[str, Any]:
    """The content of ``english.toml``."""
    return tomllib.loads((HERE / "english.toml").read_text(encoding="utf-8"))


def choices() -> Iterator[Choice]:
    """Everything that the grammar can say, in a fixed order."""
    content = english()
    for template, occupation, adjective, time in product(
        content["templates"], content["occupations"], ("", *content["adjectives"]), content["times"]
    ):
        yield Choice(template, occupation, adjective, time)


def say_english(choice: Choice, gender: str) -> tuple[str, tuple[int, int]]:
    """The English sentence and the span of the entity."""
    content = english()
    female = GENDERS.index(gender)
    text: str = content["templates"][choice.template]["text"]
    fill = {name: forms[female] for name, forms in _PRONOUNS.items()}
    fill["time"] = content["times"][choice.time]
    fill["adj"] = f"{content['adjectives'][choice.adjective]} " if choice.adjective else ""
    before, after = (part.format(**fill) for part in text.split("{occ}"))
    start = len(before)
    sentence = f"{before}{choice.occupation}{after}"
    return sentence[0].upper() + sentence[1:], (start, start + len(choice.occupation))


@dataclass
class Grammar:
    """One language of the parallel grammar."""

    language: str
    content: Mapping[str, Any]
    unknown: set[str] = field(default_factory=set)
    """Words that `say` met and the lexicon lacks."""

    @classmethod
    def load(cls, language: str) -> Grammar:
        """Read ``grammar/LANG.toml``."""
        path = HERE / "grammar" / f"{language}.toml"
        return cls(language, tomllib.loads(path.read_text(encoding="utf-8")))

    def say(self, choice: Choice, gender: str) -> Realised:
        """The translation in which the entity stands in `gender`.

        Raises:
            GrammarError: something is not in the grammar; says what.
        """
        female = GENDERS.index(gender)
        template = self._entry("templates", choice.template)
        local: dict[str, tuple[str, str]] = {}
        heads: set[str] = set()

        def slot(match: re.Match[str]) -> str:
            kind, form = match.group(1), match.group(2)
            if kind == "time":
                return str(self._entry("times", choice.time))
            if kind == "adj":
                if not choice.adjective:
                    return ""
                text = self._form("adjectives", choice.adjective, form, female)
                self._annotate(local, text, "ADJ", self._feats("adjective_forms", form, female))
                return text
            text = self._form("occupations", choice.occupation, form, female)
            feats = self._feats("noun_forms", form, female)
            entry = self.content["occupations"][choice.occupation]
            if "noun_gender" in entry:
                feats = re.sub("Gender=[^|]+", f"Gender={entry['noun_gender'][female]}", feats)
            heads.update(self._annotate(local, text, entry.get("upos", "NOUN"), feats))
            return text

        text = _SLOT.sub(slot, template)
        text = _ALTERNATION.sub(lambda m: m.group(1 + female), text)
        tokens = [self._token(piece, local, heads) for piece in text.split()]
        return self._join(tokens, choice)

    def check(self) -> int:
        """Say everything once in both genders; how many sentences that were.

        Raises:
            GrammarError: as in `say`; or words are missing from the lexicon, all of which are
                named.
        """
        number = 0
        for choice in choices():
            male, female = (self.say(choice, gender) for gender in GENDERS)
            if male.text == female.text:
                raise GrammarError(f"{self.language}: {choice}: both genders read {male.text!r}")
            number += 2
        if self.unknown:
            raise GrammarError(
                f"{self.language}: not in [words]: {', '.join(sorted(self.unknown))}"
            )
        return number

    def forms(self, occupation: str) -> tuple[set[str], set[str]]:
        """All tokens that are the noun of `occupation`, masculine and feminine, in lower case."""
        found: tuple[set[str], set[str]] = (set(), set())
        for template, adjective in product(english()["templates"], ("", *english()["adjectives"])):
            for female, gender in enumerate(GENDERS):
                sentence = self.say(
                    Choice(template, occupation, adjective, next(iter(english()["times"]))), gender
                )
                found[female].add(sentence.head.text.lower())
        return found

    def _entry(self, table: str, key: str) -> Any:  # noqa: ANN401 - the content of a TOML table
        try:
            return self.content[table][key]
        except KeyError:
            raise GrammarError(f"{self.language}: no {key!r} in [{table}]") from None

    def _form(self, table: str, key: str, form: str, female: int) -> str:
        entry = self._entry(table, key)
        try:
            text = entry[form] if isinstance(entry, dict) else entry
        except KeyError:
            raise GrammarError(f"{self.language}: {table}.{key} has no form {form!r}") from None
        parts = text.split("|")
        if len(parts) != 2:
            raise GrammarError(
                f"{self.language}: {table}.{key}.{form}: expected 'masculine|feminine', got {text!r}"
            )
        return str(parts[female]).strip()

    def _feats(self, table: str, form: str, female: int) -> str:
        value = self.content.get(table, {}).get(form, "")
        own = value[female] if isinstance(value, list) else value
        return _sorted_feats(f"Gender={'Fem' if female else 'Masc'}|{own}")

    def _annotate(
        self, local: dict[str, tuple[str, str]], text: str, upos: str, feats: str
    ) -> list[str]:
        """Give the words of a slot that the lexicon does not know their annotation; returns
        them.
        """
        own = [
            part
            for piece in text.split()
            for part in _parts(piece)[1]
            if self._lookup(part) is None
        ]
        for part in own:
            local[part.strip("+")] = (upos, feats)
        return [part.strip("+") for part in own]

    def _lookup(self, part: str) -> Any:  # noqa: ANN401 - a string, a list, or None
        words = self.content["words"]
        for key in (part, part.strip("+"), part.strip("+").lower()):
            if key in words:
                return words[key]
        return None

    def _token(
        self, piece: str, local: Mapping[str, tuple[str, str]], heads: set[str]
    ) -> tuple[str, bool, Token]:
        glue = piece.endswith("~")
        surface, parts = _parts(piece.rstrip("~"))
        words: list[Word] = []
        head = False
        for part in parts:
            bare = part.strip("+").partition("#")[0]
            if bare in local:
                head = head or bare in heads
                words.append(Word(bare, *local[bare]))
                continue
            known = self._lookup(part)
            if known is None and not (known := _punctuation(bare)):
                self.unknown.add(part)
                known = "X"
            for entry in known if isinstance(known, list) else [f"{bare} {known}"]:
                text, upos, *feats = entry.split()
                words.append(Word(text, upos, _sorted_feats(feats[0]) if feats else "_"))
        return surface, glue, Token(surface, tuple(words), head=head)

    def _join(self, tokens: Sequence[tuple[str, bool, Token]], choice: Choice) -> Realised:
        placed: list[Token] = []
        text, glued = "", True
        for surface, glue, token in tokens:
            if not glued and surface not in _CLOSING:
                text += " "
            shown, words = surface, token.words
            if not text:
                shown = surface[0].upper() + surface[1:]
                first = words[0].text
                words = (
                    Word(first[0].upper() + first[1:], words[0].upos, words[0].feats),
                    *words[1:],
                )
            placed.append(Token(shown, words, len(text), token.head))
            text += shown
            glued = glue
        if sum(token.head for token in placed) != 1:
            raise GrammarError(
                f"{self.language}: {choice}: {sum(t.head for t in placed)} nouns of the entity: {text}"
            )
        return Realised(text, tuple(placed))


def _parts(piece: str) -> tuple[str, list[str]]:
    """Surface and parts of ``surface=a+b``, ``a+b`` or ``a``; inner parts keep a plus on the side
    where they join.
    """
    piece = piece.rstrip("~")
    surface, equals, rest = piece.partition("=")
    joined = rest if equals else piece
    parts = [part for part in joined.split("+") if part]
    marked = [
        f"{'+' if n else ''}{part}{'+' if n < len(parts) - 1 else ''}"
        for n, part in enumerate(parts)
    ]
    if not equals:
        surface = "".join(part.partition("#")[0] for part in parts)
    return surface, marked


def _punctuation(text: str) -> str:
    return "PUNCT" if text in _CLOSING or text in {"-", "–"} else ""


def _sorted_feats(feats: str) -> str:
    pairs = dict(pair.split("=") for pair in feats.split("|") if pair and pair != "_")
    return "|".join(f"{k}={v}" for k, v in sorted(pairs.items(), key=lambda p: p[0].lower())) or "_"
