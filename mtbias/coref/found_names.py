"""The names of texts of GAP's kind where nobody has annotated them."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

from mtbias.coref.counterfactual_quadruples import proper_nouns
from mtbias.coref.gap_data import GapFile, NameSpans
from mtbias.english.people import proper_names
from mtbias.errors import MissingResourceError
from mtbias.morphology.stanza_models import BREAKS, StanzaModels, find_package, lenient, load_pipeline
from mtbias.types import Span

NAMED_ENTITIES = ("tokenize", "mwt", "ner")
"""Stanza's processors that find persons."""


def find_names(data: GapFile, folder: Path) -> NameSpans:
    """The names of texts by Stanza: persons where `folder` has its English recogniser, else runs of proper nouns.

    Raises:
        MissingResourceError: `folder` has not even the tagger; Stanza cannot load the models.
    """
    texts = [instance.text for instance in data.instances]
    try:
        package = find_package("en", folder, NAMED_ENTITIES)
    except MissingResourceError:
        package = find_package("en", folder)
        analyses = StanzaModels(package, None).analyse(texts)
        found = [tuple(proper_names(one.text, proper_nouns(one))) for one in analyses]
    else:
        with lenient():
            documents = load_pipeline(package, None).bulk_process([text.translate(BREAKS) for text in texts])
        found = list(map(persons, documents))
    spans = {instance.id: names for instance, names in zip(data.instances, found, strict=True)}
    return NameSpans(spans, sha256(package.analyses_signature.encode()).hexdigest(), 0)


def persons(document: Any) -> tuple[Span, ...]:  # noqa: ANN401 - stanza has no types
    """Where Stanza's `document` names persons."""
    return tuple(Span(one.start_char, one.end_char) for one in document.ents if one.type in {"PERSON", "PER"})
