"""Stanza as mtbias uses it: offline, raw text, one sentence a document, large batches, each distinct text once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, Protocol

from mtbias.errors import MissingResourceError, UsageError
from mtbias.morphology.cache import AnalysisCache, parse_feats
from mtbias.morphology.resources import StanzaPackage
from mtbias.types import Analysis, Span, Token, Word

BATCH = 1024
"""Texts handed to Stanza at once; its tagger sorts them by length and forms its own batches."""
POS_BATCH_SENTENCES = 1000
POS_BATCH_WORDS = 20_000
"""Words a tagger batch may hold: Stanza's own 5,000 leaves a GPU idle."""


class Analyser(Protocol):
    """What the pipeline asks for: analyses of texts, each distinct text worked on once."""

    @property
    def signature(self) -> str:
        """What the analyses depend on: part of a run's identity."""
        ...

    def prepare(self, texts: Iterable[str], progress: Callable[[int], object] | None = None) -> None:
        """Analyse what is new among `texts`, so that `analysis` finds it."""
        ...

    def analysis(self, text: str) -> Analysis:
        """The analysis of a text that was prepared."""
        ...


def analyses_signature(package: StanzaPackage) -> str:
    """What the analyses made with `package` depend on: Stanza's version and the model files."""
    from importlib.metadata import version

    return f"stanza/{version('stanza')}({package.signature})"


class StanzaAnalyser:
    """Stanza's tokenizer, multiword splitter and tagger over raw text."""

    def __init__(self, package: StanzaPackage, cache: AnalysisCache, *, device: str | None = None) -> None:
        """Nothing is loaded before there is a text that the cache lacks.

        Args:
            package: the models.
            cache: where analyses are kept; it must belong to this package.
            device: ``cpu``, ``cuda``, ``cuda:1``…; None takes a GPU where there is one.
        """
        self._package, self._cache, self._device = package, cache, device
        self._pipeline: Any = None

    @property
    def signature(self) -> str:
        """Stanza's version and the model files."""
        return analyses_signature(self._package)

    def prepare(self, texts: Iterable[str], progress: Callable[[int], object] | None = None) -> None:
        """Analyse every distinct text that the cache lacks; `progress` is called with the number of texts just done.

        Raises:
            MissingResourceError: Stanza cannot load its models; says which and why.
        """
        missing = self._cache.missing(texts)
        while batch := list(islice(missing, BATCH)):
            self._cache.put(self._analyse(batch))
            if progress is not None:
                progress(len(batch))

    def analysis(self, text: str) -> Analysis:
        """The analysis of `text`, worked out now where it is not kept or cannot be read."""
        found = self._cache.get(text)
        if found is None:
            found = self._analyse([text])[0]
            self._cache.put([found])
        return found

    def _analyse(self, texts: Sequence[str]) -> list[Analysis]:
        if self._pipeline is None:
            self._pipeline = self._load()
        with _lenient():
            documents = self._pipeline.bulk_process([_blank_breaks(t) for t in texts])
        return [Analysis(text, tuple(_tokens(text, document))) for text, document in zip(texts, documents, strict=True)]

    def _load(self) -> Any:  # noqa: ANN401 - stanza has no types
        import stanza

        package = self._package
        if self._device:
            check_device(self._device)
        try:
            with _lenient():
                return stanza.Pipeline(
                    package.language,
                    dir=str(package.folder),
                    processors={p: name for p, name, _ in package.models},
                    download_method=None,
                    tokenize_no_ssplit=True,
                    pos_batch_size=POS_BATCH_SENTENCES,
                    pos_batch_maximum_tokens=POS_BATCH_WORDS,
                    verbose=False,
                    **({"device": self._device} if self._device else {}),
                )
        except Exception as error:
            raise MissingResourceError(
                f"Stanza cannot load its models for {package.language!r} from {package.folder}: "
                f"{type(error).__name__}: {error}; `mtbias fetch --lang {package.language}` brings them anew"
            ) from error


def check_device(name: str) -> None:
    """Check that torch can use the device `name`.

    Raises:
        UsageError: it is no device, or there is no such GPU here.
    """
    import torch

    try:
        device = torch.device(name)
    except RuntimeError:
        raise UsageError(f"no device {name!r}: give cpu, cuda, or cuda:1 for the second GPU") from None
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise UsageError(f"--device {name}: torch sees {torch.cuda.device_count()} GPUs here; give --device cpu")


@contextmanager
def _lenient() -> Iterator[None]:
    """Stanza's and torch's own warnings are not the user's."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _blank_breaks(text: str) -> str:
    """Line breaks as blanks, one for one, so that one text stays one sentence and offsets stay true."""
    return "".join(" " if c in "\n\r\t\v\f\x85\u2028\u2029" else c for c in text)


def _tokens(text: str, document: Any) -> Iterator[Token]:  # noqa: ANN401 - stanza has no types
    for sentence in document.sentences:
        for token in sentence.tokens:
            span = Span(token.start_char, token.end_char)
            words = tuple(Word(w.text, w.lemma, w.upos or "X", parse_feats(w.feats)) for w in token.words)
            yield Token(span, text[span.start : span.end], words)
