"""Training a coreference system with Stanza's trainer.

It is ``python -m stanza.models.wl_coref``, run as a process of its own.

Source: D'Oosterlinck et al., *CAW-coref* (CRAC 2023); the keys are those of Stanza 1.15.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from pickle import UnpicklingError
from types import MappingProxyType
from typing import Literal

from mtbias.coref.training_documents import (
    TrainingData,
    in_segments,
    may_be_long,
    with_short_sentences,
)
from mtbias.errors import (
    DataError,
    DependencyError,
    ModelError,
    SettingError,
    choices,
    one_line,
)
from mtbias.files.reading import parse_toml, read_text, refuse_special
from mtbias.files.writing import explained, write_atomic, write_json
from mtbias.machine.devices import require_device
from mtbias.settings import Settings, at_least, number_in
from mtbias.types import JsonDict, JsonObject

_SECTION = "mtbias"
_BEGUN = "begun.pt"
"""The model that is trained further, while it is trained."""


TrainingPreset = Literal["bert-base", "bert-large", "spanbert-base", "spanbert-large"]
"""The tables of training_presets.toml."""


def training_presets() -> Mapping[str, JsonObject]:
    """The trainer's settings by preset; the file names their source."""
    return _shipped("training_presets.toml")


def _shipped(name: str) -> JsonDict:
    """The content of a TOML file of this package."""
    return parse_toml(read_text(Path(str(resources.files("mtbias.coref"))) / name))


@dataclass(frozen=True, kw_only=True)
class TrainingSettings(Settings):
    """What a user of the trainer chooses; what is not set becomes the preset's, else the default;
    all else is as Stanza has it.
    """

    preset: TrainingPreset | None = None
    """Settings of Counter-GAP's table 8 for its four encoders (`mtbias list presets`); other
    options go before them."""
    encoder: str | None = None
    """A folder with a transformer encoder and its tokenizer, or its name on the Hub. The model
    remembers it: it must be there where the model is used."""
    epochs: int | None = at_least(1, None)
    """Epochs; the model is the one that is best on the development documents (default: 32)."""
    learning_rate: float | None = number_in(0, 1, None)
    """Of all but the encoder (default: 0.0003)."""
    encoder_learning_rate: float | None = number_in(0, 1, None)
    """Of the encoder; 0: it stays as it is, which is faster (default: 0.00001)."""
    hidden_size: int | None = at_least(1, None)
    """Of the scorers' layers (default: 1024)."""
    dropout: float | None = number_in(0, 1, None)
    """Share of units that are left out in training (default: 0.3)."""
    window: int | None = at_least(3, None)
    """Word pieces that the encoder sees at once (default: 512)."""
    segments: int | None = at_least(1, None)
    """Windows in a document of training; a longer one is cut between sentences into documents
    (default: none is cut)."""
    candidates: int | None = at_least(1, None)
    """Antecedents of a word that are scored in full (default: 50)."""
    device: str = "cpu"
    """cpu, cuda, or cuda:1 for the second GPU."""
    seed: int = at_least(0, 2020, 2**32 - 1)
    """Of the random numbers."""

    def __post_init__(self) -> None:
        presets = training_presets()
        if self.preset is not None and self.preset not in presets:
            raise SettingError("preset", choices(self.preset, presets))
        chosen = {} if self.preset is None else presets[self.preset]
        for key, value in {**_DEFAULTS, **chosen}.items():
            if getattr(self, key) is None:
                object.__setattr__(self, key, value)
        super().__post_init__()

    def chosen_encoder(self) -> str:
        """The encoder.

        Raises:
            SettingError: there is none.
        """
        if not self.encoder:
            raise SettingError(
                "encoder", "expected a folder or a name on the Hub, or a preset, got none"
            )
        return self.encoder


_DEFAULTS: Mapping[str, float] = MappingProxyType(
    {
        "epochs": 32,
        "learning_rate": 3e-4,
        "encoder_learning_rate": 1e-5,
        "hidden_size": 1024,
        "dropout": 0.3,
        "window": 512,
        "candidates": 50,
    }
)
"""Stanza's own values, for settings that neither the user nor a preset sets."""


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
        "bert_model": settings.chosen_encoder(),
        "bert_finetune": bool(settings.encoder_learning_rate),
        "bert_window_size": settings.window,
        "hidden_size": settings.hidden_size,
        "rough_k": settings.candidates,
        "singletons": alone,
        "dropout_rate": settings.dropout,
        "learning_rate": settings.learning_rate,
        "bert_learning_rate": settings.encoder_learning_rate,
        "train_epochs": settings.epochs,
    }
    values |= _shipped("training.toml")
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
        SettingError: no encoder, or no such device.
    """
    for name, data in (("train", train_data), ("dev", dev_data)):
        if not data.mentions:
            raise DataError(f"expected documents with clusters to {name} on, got none")
    settings = _checked(settings, out)
    train_data, dev_data = _as_trained(settings, train_data, dev_data)
    begun = None if weights is None else _without_past(weights)
    with explained(out, "make"):
        out.mkdir(parents=True)
    if begun is not None:
        import torch

        torch.save(begun, out / _BEGUN)
        del begun  # a large encoder would stay in memory as long as the trainer runs
    for name, data in (("train", train_data), ("dev", dev_data)):
        write_atomic(out / f"{name}.json", [json.dumps(data.documents, ensure_ascii=False)])
    write_atomic(
        out / "config.toml", configuration(settings, out.resolve(), alone=train_data.alone).encode()
    )
    write_json(out / "settings.json", asdict(settings))
    return _run_trainer(settings, out)


def _checked(settings: TrainingSettings, out: Path) -> TrainingSettings:
    """The settings, with the encoder where it is found from any folder, after what `train` needs
    was looked at.
    """
    if find_spec("peft") is None:
        raise DependencyError("Stanza's trainer needs peft: pip install 'mtbias[coref]'")
    if out.exists():
        raise DataError(
            "expected a new folder, this is there already: choose another --out", path=out
        )
    name = settings.chosen_encoder()
    encoder = Path(name)
    if encoder.is_dir():
        refuse_special(encoder)
        settings = replace(settings, encoder=str(encoder.resolve()))
    elif encoder.is_absolute() or name.startswith((".", "~")):  # no name on the Hub
        raise DataError("expected a folder with an encoder, got none", path=encoder)
    require_device(settings.device)
    return settings


def _as_trained(
    settings: TrainingSettings, train_data: TrainingData, dev_data: TrainingData
) -> tuple[TrainingData, TrainingData]:
    """The documents with sentences that the trainer can take, those to train on in segments."""
    window = settings.window
    if window is None:
        raise ValueError("expected settings with a window")
    both = (train_data, dev_data)
    if settings.segments is None and not any(may_be_long(data, window) for data in both):
        return both
    pieces_of = _word_pieces(settings.chosen_encoder())
    train_data, dev_data = (with_short_sentences(data, pieces_of, window) for data in both)
    if settings.segments is not None:
        train_data = in_segments(train_data, pieces_of, settings.segments, window)
    return train_data, dev_data


def _word_pieces(encoder: str) -> Callable[[str], int]:
    """How many pieces the encoder's tokenizer makes of a word."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(encoder)
    except (OSError, ValueError) as error:
        raise ModelError(
            f"the tokenizer of {encoder} cannot be loaded: {one_line(str(error))}; fetch it where "
            "there is a network, or give its folder as --encoder"
        ) from error
    return cache(lambda word: len(tokenizer.tokenize(word)))


def _run_trainer(settings: TrainingSettings, out: Path) -> Path:
    """Run Stanza's trainer on what is in `out`, and give the model's file."""
    command = [sys.executable, "-m", "stanza.models.wl_coref", "train", _SECTION]
    command += ["--config_file", str(out / "config.toml"), "--seed", str(settings.seed)]
    command += ["--save_name", "model"]
    begun = out / _BEGUN
    if begun.exists():
        command += ["--weights", str(begun)]
    log = out / "training.log"
    with log.open("wb") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False)
    for unused in (begun, out / "model.checkpoint.pt"):
        unused.unlink(missing_ok=True)
    model = out / "model.pt"
    if done.returncode or not model.is_file():
        last = log.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2].strip()
        raise ModelError(
            f"Stanza's trainer ended with {done.returncode}; its last words: {last[:200]} ({log})"
        )
    return model


def _without_past(weights: Path) -> JsonDict:
    """The model at `weights` as one without a past: Stanza's trainer counts the epochs that a model
    has had among those that it is to have.

    Raises:
        DataError: no model of Stanza's.
    """
    import torch

    try:
        state = torch.load(weights, map_location="cpu", weights_only=True)
    except (OSError, EOFError, RuntimeError, UnpicklingError) as error:
        got = one_line(str(error)) or "a file that ends too early"
        message = f"expected a model of `mtbias coref train`, got: {got}"
        raise DataError(message, path=weights) from error
    if not isinstance(state, dict):
        message = f"expected a model of `mtbias coref train`, got: {type(state).__name__}"
        raise DataError(message, path=weights)
    return {**state, "epochs_trained": 0}
