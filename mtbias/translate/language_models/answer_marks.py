"""Marks around a translation in an answer: thinking, special tokens, Markdown, quotation marks.

Each function takes a text and gives what is left of it. A mark that the source has too stays.
"""

from __future__ import annotations

import re

_THOUGHT = r"think|thinking|thought|thoughts|reasoning|reflection|analysis"
_BEGINS_THOUGHT = re.compile(
    rf"(?:<(?:{_THOUGHT})>|\[THINK\]|◁think▷|<\|channel\|>\s*analysis)", re.IGNORECASE
)
_ENDS_THOUGHT = re.compile(
    rf"</(?:{_THOUGHT})>|\[/THINK\]|◁/think▷|<\|channel\|>\s*final\s*<\|message\|>", re.IGNORECASE
)
# Of templates of chat models (ChatML, Llama, Gemma, Mistral, DeepSeek) and of SentencePiece.
_ROLE = r"(?:\s*(?:system|user|assistant|model)\b)?"
_TOKEN = re.compile(
    rf"<\|(?:im_start|start_header_id|start)\|>{_ROLE}|<start_of_turn>{_ROLE}"
    r"|<[|｜][\w▁]{1,40}[|｜]>"
    r"|<end_of_turn>|</?s>|<(?:eos|bos|pad|unk)>|\[/?INST\]"
)
_ELEMENT = re.compile(r"<([A-Za-z][\w-]{0,30})>(.*)</\1>", re.DOTALL)
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})\s*[\w-]*\s*|\s*(?:[-*_=#]\s*){3,}")
_BULLET = re.compile(r"(?:[-*•–—+]|#{1,6}|>|\d{1,2}[.)]|[a-z]\))\s+")
# Within a word a star or an underscore means all genders (Lehrer*innen, niñ_s) and no emphasis. The
# length of emphasis is bounded, so that time stays linear.
_EMPHASIS = re.compile(
    r"(?<![\w*_`])([*_`]{1,3})(?![\s*_`])"
    r"((?:[^*_`\n]|(?<=\w)[*_`](?=\w)){1,1000}?)"
    r"(?<!\s)\1(?![\w*_`])"
)
_PAIRS = {
    '"': '"',
    "“": "”",
    "”": "”",
    "„": "“”",
    "«": "»",
    "»": "«",
    "‘": "’",
    "'": "'",
    "‚": "‘’",
    "‹": "›",
    "「": "」",
    "״": "״",
    "`": "'",
}
"""Opening quotation marks, each with the marks that may close it."""
_QUOTES = frozenset("".join([*_PAIRS, *_PAIRS.values()]))
_DOUBLE = frozenset('"“”„«»')
"""Marks that are neither apostrophes nor part of a word, so that a single one lost its partner."""


def marks_thought(text: str) -> bool:
    """Whether a text, such as a chat template, has a mark of thinking."""
    return bool(_BEGINS_THOUGHT.search(text) or _ENDS_THOUGHT.search(text))


def after_thought(text: str) -> str | None:
    """The text after the last thought; None where a thought does not end."""
    ends = [mark.end() for mark in _ENDS_THOUGHT.finditer(text)]
    rest = text[ends[-1] :] if ends else text
    return None if _BEGINS_THOUGHT.search(rest) else rest


def without_tokens(text: str) -> str:
    """The first piece between special tokens that is not blank; a text without tokens as it is."""
    if not _TOKEN.search(text):
        return text
    return next((piece for piece in _TOKEN.split(text) if piece.strip()), "")


def within_element(text: str) -> str:
    """The content of a text that is one element: ``<translation>…</translation>``."""
    element = _ELEMENT.fullmatch(text.strip())
    return element[2] if element and f"<{element[1]}>" not in element[2] else text


def without_markdown(line: str, source: str) -> str:
    """A line without a bullet, number or heading at its beginning, and without emphasis; a fence
    becomes empty.
    """
    if _FENCE.fullmatch(line):
        return ""
    bullet = _BULLET.match(line)
    is_dialogue = bullet is not None and bullet[0][0] in "-–—" and source[:1] in _QUOTES
    if bullet is not None and not is_dialogue and not _BULLET.match(source):
        line = line[bullet.end() :]
    if set("*_`") & set(source):
        return line
    # Stars that are left at an end have lost their partner.
    return _EMPHASIS.sub(r"\2", line).removeprefix("**").removesuffix("**")


def without_quotes(line: str, source: str) -> str:
    """A line without the quotation marks around all of it, or a double one without its partner at
    an end.

    A full stop behind the mark goes with it. All stay where the source begins with a mark; a single
    double one stays where the source has one.
    """
    text = line[:-1] if line[-1:] == "." and line[-2:-1] in _QUOTES else line
    if len(text) < 2 or source[:1] in _QUOTES:
        return line
    first, inner, last = text[0], text[1:-1].strip(), text[-1]
    if inner and last in _PAIRS.get(first, "") and not {first, last} & set(inner):
        return inner
    is_single = sum(map(text.count, _DOUBLE)) == 1 and _DOUBLE.isdisjoint(source)
    if is_single and first in _DOUBLE:
        return line[1:]
    is_inches = text[-2].isdigit()
    return text[:-1] if is_single and last in _DOUBLE and not is_inches else line
