"""Sentences with trees written by hand."""

from __future__ import annotations

import tomllib

from mtbias.english.dependencies import Node, ParsedSentence
from mtbias.mining.patterns import SHIPPED
from mtbias.types import Span


def tree(text: str) -> ParsedSentence:
    """A sentence of words ``form/head/label/XPOS``, with heads from 1 (0 at the root); XPOS, from
    which UPOS follows, may lack."""
    nodes: list[Node] = []
    start = 0
    for word in text.split():
        form, head, label, xpos, *_ = f"{word}/".split("/")
        span = Span(start, start + len(form))
        nodes.append(Node(form, upos(xpos), label, int(head) - 1, span, xpos=xpos or None))
        start = span.end + 1
    return ParsedSentence(" ".join(node.form for node in nodes), tuple(nodes))


def upos(xpos: str) -> str:
    """The universal tag of a Penn tag; X of those that the tests do not need."""
    starts = {
        "NNP": "PROPN",
        "NN": "NOUN",
        "VB": "VERB",
        "JJ": "ADJ",
        "PRP": "PRON",
        ".": "PUNCT",
        ",": "PUNCT",
    }
    return next((tag for start, tag in starts.items() if xpos.startswith(start)), "X")


def examples() -> dict[str, list[dict[str, str]]]:
    """The examples of the patterns that ship, by the patterns' names: tree, profession, pronoun."""
    patterns = tomllib.loads(SHIPPED.read_text(encoding="utf-8"))["pattern"]
    return {pattern["name"]: pattern["example"] for pattern in patterns}
