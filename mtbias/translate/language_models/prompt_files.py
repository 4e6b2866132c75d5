"""Prompts: files with the text that asks a language model for a translation, and the form of its
answer.

A prompt is a TOML file: ``name``, ``version``, ``about``, ``origin``, ``languages`` (empty: all),
``[[messages]]`` with ``role`` and ``content``, ``[answer]`` (`AnswerForm`), and ``[examples]``:
pairs of a sentence and its translation for each language. Some ship with mtbias; others are
named by their path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Literal

from mtbias.errors import UsageError, choices
from mtbias.files.reading import TextFile, parse_toml, read_text
from mtbias.files.strict_json import EXACT, DecodingError, converted
from mtbias.language.source import ENGLISH_CODE, english_name

FIELDS = ("source", "language", "language_code", "source_language")
"""Fields in braces in a message: the sentence, the English name of the target language, its ISO
639-1 code, and the English name of the sources' language."""

_FIELD = re.compile(r"\{(\w+)\}")  # other braces, such as those of JSON, stay as they are
_WORD = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """The form of answer that the prompt asks for, by which answers are cleaned."""

    __pydantic_config__: ClassVar = EXACT
    lines: Literal["one", "first", "alternatives"] = "one"
    """How several lines are read that might each be the translation. ``one``: the prompt asks for
    one line, so nobody can tell which is meant. ``first``: the first is meant (for models that end
    an answer with the line). ``alternatives``: the prompt asks for a line for each."""
    between: tuple[str, str] | None = None
    """Marks between which the prompt asks for the translation, such as ``["<translation>",
    "</translation>"]``."""

    def __post_init__(self) -> None:
        if self.between is not None and not all(mark.strip() for mark in self.between):
            raise ValueError("between: expected two marks that are not blank")


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the conversation."""

    __pydantic_config__: ClassVar = EXACT
    role: Literal["system", "user", "assistant"]
    content: str

    def __post_init__(self) -> None:
        for name in _FIELD.findall(self.content):
            if name not in FIELDS:
                known = ", ".join(f"{{{each}}}" for each in FIELDS)
                raise ValueError(f"content: expected only {known} in braces, got {{{name}}}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt, with the fields of its file."""

    __pydantic_config__: ClassVar = EXACT
    name: str
    version: str
    messages: tuple[Message, ...]
    """The conversation, with `FIELDS` in braces."""
    answer: AnswerForm = AnswerForm()
    about: str = ""
    origin: str = ""
    """Source of the wording."""
    languages: tuple[str, ...] = ()
    """ISO 639-1 codes of the languages for which it is written; empty for all."""
    examples: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict, hash=False)
    """For each language, English sentences with their translations. They come before the sentence,
    each as a turn like the last message and its answer."""

    def __post_init__(self) -> None:
        # Both are part of a run's signature, between slashes and bars.
        for key, value in (("name", self.name), ("version", self.version)):
            if not _WORD.fullmatch(value):
                raise ValueError(
                    f"{key}: expected letters from a to z, digits and .-_, got {value!r}"
                )
        roles = [message.role for message in self.messages]
        turns = roles[1:] if roles[:1] == ["system"] else roles
        if len(turns) % 2 == 0 or turns != (["user", "assistant"] * len(turns))[: len(turns)]:
            got = ", ".join(roles) or "none"
            raise ValueError(
                "messages: expected user and assistant in turn, user last, system only first; "
                f"got {got}"
            )
        if "{source}" not in self.messages[-1].content:
            raise ValueError(
                "messages: expected {source} in the last one, where the sentence is put"
            )
        if self.examples:
            self._check_examples()

    def _check_examples(self) -> None:
        if set(self.languages) != set(self.examples):
            shown = ", ".join(sorted(self.examples))
            got = ", ".join(self.languages) or "none"
            raise ValueError(f"languages: expected those of the examples, {shown}; got {got}")
        for lang, pairs in self.examples.items():
            blank = [pair for pair in pairs if not (pair[0].strip() and pair[1].strip())]
            if blank or not pairs:
                raise ValueError(
                    f"examples.{lang}: expected pairs of a sentence and its translation, none blank"
                )

    @property
    def sha256(self) -> str:
        """SHA-256 of the JSON of role and content of each turn, of `answer`, and of any `examples`;
        comments of the file do not change it.
        """
        content: dict[str, Any] = {
            "messages": [[turn.role, turn.content] for turn in self.messages],
            "answer": [self.answer.lines, self.answer.between],
        }
        if self.examples:
            content["examples"] = dict(self.examples)
        return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def filled(
        self, source: str, lang: str, source_lang: str = ENGLISH_CODE
    ) -> list[dict[str, str]]:
        """The conversation that asks for the translation of `source` from `source_lang` into
        `lang`, each turn with role and content; examples come before its last turn.

        Raises:
            UsageError: the prompt is not for these languages, or no plugin is registered for one.
        """
        if self.languages and lang not in self.languages:
            raise UsageError(
                f"the prompt {self.name} is for {', '.join(self.languages)}; "
                f"got the language {lang}"
            )
        if self.examples and source_lang != ENGLISH_CODE:
            raise UsageError(
                f"the examples of the prompt {self.name} are in {english_name(ENGLISH_CODE)}, "
                f"the sentences in {english_name(source_lang)}"
            )
        names = {"language": english_name(lang), "source_language": english_name(source_lang)}
        values = {"source": source, "language_code": lang, **names}
        *before, last = self.messages
        turns = [_turn(message, values) for message in before]
        for example, translation in self.examples.get(lang, ()):
            turns.append(_turn(last, {**values, "source": example}))
            turns.append({"role": "assistant", "content": translation})
        return [*turns, _turn(last, values)]

    @property
    def label(self) -> str:
        """``NAME/VERSION#HASH`` with eight digits of the hash, for signatures."""
        return f"{self.name}/{self.version}#{self.sha256[:8]}"

    def as_json(self) -> dict[str, Any]:
        """The prompt as `mtbias list prompts --json` shows it."""
        return {**asdict(self), "sha256": self.sha256}


def _turn(message: Message, values: Mapping[str, str]) -> dict[str, str]:
    """A message with the values of `FIELDS` in their places."""
    content = _FIELD.sub(lambda match: values[match[1]], message.content)
    return {"role": message.role, "content": content}


def is_file(prompt: str) -> bool:
    """Whether `prompt` is a path (with a slash, or ending in ``.toml``) and not a name."""
    return "/" in prompt or prompt.endswith(".toml")


def load_prompt(name: str | Path) -> Prompt:
    """The prompt that ships under this name, or the one in the TOML file of this path (`is_file`).

    Raises:
        UsageError: no prompt of this name ships with mtbias; lists those that do.
        DataError: the file is missing or not TOML, or a key is wrong; says which, what was
            expected, and what came.
    """
    if isinstance(name, Path) or is_file(name):
        return _parsed(read_text(Path(name)))
    for prompt in list_prompts():
        if prompt.name == name:
            return prompt
    names = [prompt.name for prompt in list_prompts()]
    raise UsageError(
        f"expected a prompt of mtbias or the path of a .toml file, got {name!r}; "
        f"{choices(name, names)}"
    )


@cache
def list_prompts() -> Sequence[Prompt]:
    """The prompts that ship with mtbias, by name."""
    return [
        _parsed(read_text(path))
        for path in sorted(Path(__file__).with_name("shipped_prompts").iterdir())
    ]


def _parsed(file: TextFile) -> Prompt:
    try:
        return converted(Prompt, parse_toml(file))
    except DecodingError as error:
        raise file.error(str(error)) from None
