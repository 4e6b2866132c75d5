"""Training a coreference system with Stanza's trainer.

It is ``python -m stanza.models.wl_coref``, run as a process of its own. It knows mentions by their
head word: here the mention's last word, which is the head of "the construction worker" and of a
pronoun, and not of "the man who left".

Source: D'Oosterlinck et al., *CAW-coref* (CRAC 2023); the keys are those of Stanza 1.15.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from importlib import resources
from pathlib import Path

from mtbias.coref.documents import ConllDocument, without_repeated
from mtbias.errors import DataError, DependencyError, ModelError
from mtbias.files.reading import parse_toml, read_text, refuse_special
from mtbias.files.writing import explained, write_atomic, write_json
from mtbias.machine.devices import require_device
from mtbias.settings import Settings, at_least, number_in
from mtbias.types import JsonDict, frozen

_SECTION = "mtbias"


@dataclass(frozen=True, kw_only=True)
class TrainingSettings(Settings):
    """What a user of the trainer chooses; all else is as Stanza has it."""

    encoder: str
    """A folder with a transformer encoder and its tokenizer, or its name on the Hub. The model
    remembers it: it must be there where the model is used."""
    epochs: int = at_least(1, 32)
    """Epochs; the model is the one that is best on the development documents."""
    learning_rate: float = number_in(0, 1, 3e-4)
    """Of all but the encoder."""
    encoder_learning_rate: float = number_in(0, 1, 1e-5)
    """Of the encoder."""
    hidden_size: int = at_least(1, 1024)
    """Of the scorers' layers."""
    dropout: float = number_in(0, 1, 0.3)
    """Share of units that are left out in training."""
    window: int = at_least(1, 512)
    """Word pieces that the encoder sees at once."""
    candidates: int = at_least(1, 50)
    """Antecedents of a word that are scored in full."""
    device: str = "cpu"
    """cpu, cuda, or cuda:1 for the second GPU."""
    seed: int = at_least(0, 2020, 2**32 - 1)
    """Of the random numbers."""


@frozen
class TrainingData:
    """Documents as the trainer takes them, and what could not go into them."""

    documents: tuple[JsonDict, ...]
    mentions: int
    across: int
    """Mentions that begin in one sentence and end in another: left out, since the trainer has
    none."""

    @property
    def alone(self) -> bool:
        """Whether entities of one mention are marked; in CoNLL-2012's own data they are not."""
        return any(
            len(cluster) == 1
            for document in self.documents
            for cluster in document["span_clusters"]
        )


def training_data(documents: Iterable[ConllDocument]) -> TrainingData:
    """The `documents` with their clusters.

    A mention that stands in a cluster already, and a cluster that has lost all its mentions, is
    left out.
    """
    found, mentions, across = [], 0, 0
    for document in documents:
        sentence_of = [n for n, sentence in enumerate(document.sentences) for _ in sentence]
        given = without_repeated(document.clusters)
        within = (
            [m for m in cluster if sentence_of[m[0]] == sentence_of[m[1]]] for cluster in given
        )
        clusters = [cluster for cluster in within if cluster]
        kept = [mention for cluster in clusters for mention in cluster]
        mentions += len(kept)
        across += sum(map(len, given)) - len(kept)
        n = len(sentence_of)
        found.append({
            "document_id": document.id, "part_id": 0, "lang": "en", "cased_words": document.words,
            "sent_id": sentence_of, "speaker": ["_"] * n, "pos": ["_"] * n, "deprel": ["_"] * n, "head": [None] * n,
            # The trainer's ends are excluded.
            "span_clusters": [[[start, end + 1] for start, end in cluster] for cluster in clusters],
            "word_clusters": [[end for _, end in cluster] for cluster in clusters],
            "head2span": sorted([end, start, end + 1] for start, end in kept), "is_zero": [0] * len(kept),
        })  # fmt: skip
    return TrainingData(tuple(found), mentions, across)


def configuration(settings: TrainingSettings, folder: Path, *, alone: bool) -> str:
    """The trainer's configuration: data and model in `folder`; `alone`: entities of one mention are
    to be found too.
    """
    values: dict[str, object] = {
        "data_dir": str(folder),
        "save_dir": str(folder),
        "save_name": "model",
        "train_data": str(folder / "train.json"),
        "dev_data": str(folder / "dev.json"),
        "test_data": str(folder / "dev.json"),
        "conll_log_dir": str(folder / "logs"),
        "device": settings.device,
        "bert_model": settings.encoder,
        "bert_window_size": settings.window,
        "hidden_size": settings.hidden_size,
        "rough_k": settings.candidates,
        "singletons": alone,
        "dropout_rate": settings.dropout,
        "learning_rate": settings.learning_rate,
        "bert_learning_rate": settings.encoder_learning_rate,
        "train_epochs": settings.epochs,
    }
    values |= parse_toml(read_text(Path(str(resources.files("mtbias.coref"))) / "training.toml"))
    # JSON's text, numbers, booleans and lists are TOML's too.
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    return "\n".join(["[DEFAULT]", *lines, "[DEFAULT.tokenizer_kwargs]", f"[{_SECTION}]", ""])


def train(
    train_data: TrainingData,
    dev_data: TrainingData,
    settings: TrainingSettings,
    out: Path,
    weights: Path | None = None,
) -> Path:
    """Write data and configuration to the new folder `out`, run Stanza's trainer, and give the best
    model's file.

    Args:
        train_data: to train on.
        dev_data: to choose the best epoch by.
        settings: see there.
        out: gets train.json, dev.json, config.toml, settings.json, training.log and model.pt.
        weights: a model to begin with, of the same encoder and sizes.

    Raises:
        DataError: nothing to train on; `out` is there already; no such folder of an encoder.
        DependencyError: peft is not installed.
        ModelError: the trainer failed; its log says why.
        SettingError: no such device.
    """
    from importlib.util import find_spec

    if find_spec("peft") is None:
        raise DependencyError("Stanza's trainer needs peft: pip install 'mtbias[coref]'")
    for name, data in (("train", train_data), ("dev", dev_data)):
        if not data.mentions:
            raise DataError(f"expected documents with clusters to {name} on, got none")
    if out.exists():
        raise DataError(
            "expected a new folder, this is there already: choose another --out", path=out
        )
    encoder = Path(settings.encoder)
    if encoder.is_dir():
        refuse_special(encoder)
        settings = replace(
            settings, encoder=str(encoder.resolve())
        )  # the model remembers it, from wherever it is used
    elif encoder.is_absolute() or settings.encoder.startswith((".", "~")):  # no name on the Hub
        raise DataError("expected a folder with an encoder, got none", path=encoder)
    require_device(settings.device)
    with explained(out, "make"):
        out.mkdir(parents=True)
    for name, data in (("train", train_data), ("dev", dev_data)):
        write_atomic(out / f"{name}.json", [json.dumps(data.documents, ensure_ascii=False)])
    write_atomic(
        out / "config.toml", configuration(settings, out.resolve(), alone=train_data.alone).encode()
    )
    write_json(out / "settings.json", asdict(settings))
    command = [sys.executable, "-m", "stanza.models.wl_coref", "train", _SECTION]
    command += [
        "--config_file",
        str(out / "config.toml"),
        "--seed",
        str(settings.seed),
        "--save_name",
        "model",
    ]
    command += [] if weights is None else ["--weights", str(weights)]
    log = out / "training.log"
    with log.open("wb") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False)
    model = out / "model.pt"
    if done.returncode or not model.is_file():
        last = log.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2].strip()
        raise ModelError(
            f"Stanza's trainer ended with {done.returncode}; its last words: {last[:200]} ({log})"
        )
    return model
