"""The names of texts of GAP's kind where nobody has annotated them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from mtbias.coref.counterfactual_quadruples import proper_nouns
from mtbias.coref.gap_data import GapFile, GapInstance, NameSpans
from mtbias.english.first_names import EXAMPLE_NAMES, read_names
from mtbias.english.people import proper_names
from mtbias.errors import MissingResourceError
from mtbias.files.reading import sha256_of
from mtbias.morphology.stanza_models import BREAKS, StanzaModels, find_package, lenient, load_pipeline
from mtbias.types import Span

NAMED_ENTITIES = ("tokenize", "mwt", "ner")
"""Stanza's processors that find persons."""
_BEFORE_OTHERS = re.compile(r"\b(?:the|in|at|near|on|an?)[ ]+$", re.IGNORECASE)
"""What stands before names of places and things."""
_WORD = re.compile(r"[^\W\d_]{2,}")


def find_names(data: GapFile, folder: Path) -> tuple[NameSpans, str]:
    """The names of texts by Stanza, and how: persons where `folder` has its English recogniser, else `likely_persons`.

    Raises:
        MissingResourceError: `folder` has not even the tagger; Stanza cannot load the models.
    """
    texts = [instance.text for instance in data.instances]
    try:
        package = find_package("en", folder, NAMED_ENTITIES)
    except MissingResourceError:
        package, how = find_package("en", folder), "proper nouns that may be of persons; no recogniser is there"
        analyses = StanzaModels(package, None).analyse(texts)
        runs = [proper_names(one.text, proper_nouns(one)) for one in analyses]
        first_names = {name.text for name in read_names(EXAMPLE_NAMES).names}
        found = [likely_persons(i, run, first_names) for i, run in zip(data.instances, runs, strict=True)]
    else:
        how = "persons by Stanza's recogniser"
        with lenient():
            documents = load_pipeline(package, None).bulk_process([text.translate(BREAKS) for text in texts])
        found = list(map(persons, documents))
    spans = {instance.id: names for instance, names in zip(data.instances, found, strict=True)}
    return NameSpans(spans, sha256_of(package.analyses_signature), 0), how


def likely_persons(instance: GapInstance, names: Iterable[Span], first_names: Collection[str] = ()) -> tuple[Span, ...]:
    """Those of the `names` of a text that may be of persons.

    No article, *in*, *at*, *near* or *on* stands before them; and they have several words, or share a word with one
    that has, with a candidate, or with `first_names`.
    """
    text = instance.text
    left = [span for span in names if not _BEFORE_OTHERS.search(text, 0, span.start)]
    words = {span: set(_WORD.findall(text, *span)) for span in left}
    known = {*first_names, *(word for name in (instance.a, instance.b) for word in _WORD.findall(name))}
    known = known.union(*(own for span, own in words.items() if " " in text[slice(*span)]))
    return tuple(span for span in left if words[span] & known)


def persons(document: Any) -> tuple[Span, ...]:  # noqa: ANN401 - stanza has no types
    """Where Stanza's `document` names persons."""
    return tuple(Span(one.start_char, one.end_char) for one in document.ents if one.type in {"PERSON", "PER"})
