"""Tuning a multilingual encoder for word alignment, on sentence pairs without any alignment.

Self-training after awesome-align (Dou and Neubig 2021,
https://aclanthology.org/2021.eacl-main.181): the subwords that the encoder itself links are pulled
together, against all others of the two sentences. The layers up to the one whose embeddings are
compared are trained, the table of subwords' embeddings is not.
"""

from __future__ import annotations

import math
import shutil
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from itertools import chain, islice, repeat
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from mtbias.align.neural_aligner import LAYER_KEY, Encoder, Text, check_encoder
from mtbias.corpora.corpus import Corpus
from mtbias.errors import DataError, ModelError, SettingError
from mtbias.files.reading import read_text
from mtbias.files.writing import explained as writing
from mtbias.files.writing import whole_folder, write_json
from mtbias.machine.devices import chosen_device, require_device
from mtbias.settings import DeviceSettings, at_least, number_in
from mtbias.translate.given_translations import parse_pairs, read_translations
from mtbias.translate.seq2seq.checkpoints import (
    Checkpoint,
    explained,
    files_beside_weights,
    files_hash,
)
from mtbias.translate.seq2seq.transformers_engine import load_model
from mtbias.types import Json, frozen
from mtbias.version import __version__

RECORD = "tuning.json"
"""The file in the tuned encoder's folder that records how it was made."""
TEMPERATURE = 0.05
"""The divisor of the cosines."""
SURE = 0.3
"""Two subwords are linked too if the product of their probabilities in both directions is
greater."""
WARM_UP, LAST_RATE = 0.05, 0.05
"""Share of the steps in which the learning rate rises from nothing, and what it falls to, as a
share of itself."""
POOLED = 8
"""Batches among which pairs are sorted by length."""
LARGEST_GRADIENT = 1.0
WEIGHT_DECAY = 0.01
SHOWN_STEPS = 50
"""Steps over which a loss that is shown or recorded is the mean: at most half of them for the
record."""
_ADVICE = "use fewer --batch-pairs, or --device cpu"
_MASKED = -1e4
"""The similarity where a subword is missing."""

LossProgress = Callable[[int, int, float], object]
"""Called as ``progress(steps done, steps, mean loss of the last ones)``."""


@dataclass(frozen=True, kw_only=True)
class TuningSettings(DeviceSettings):
    """How an encoder is tuned."""

    layer: int | None = at_least(1, None, 1000)
    """Layer whose embeddings are tuned and then compared (default: two thirds up, 8 of 12)."""
    steps: int = at_least(1, 900)
    """Steps of training."""
    batch_pairs: int = at_least(1, 16, 10_000)
    """Sentence pairs of a step."""
    learning_rate: float = number_in(0, 1, 3e-5)
    """Greatest learning rate: it rises over the first twentieth of the steps, and falls over the
    rest."""
    most_subwords: int = at_least(1, 64, 512)
    """Pairs with a sentence of more subwords are left out."""
    seed: int = at_least(0, 0, 2**32 - 1)
    """Seed of the order of pairs and of dropout."""


@frozen
class TuningPairs:
    """Sentence pairs to tune on, and the files that they are from."""

    pairs: tuple[Text, ...]
    """Source and translation, each pair once."""
    files: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """SHA-256 of each file by its name."""

    @classmethod
    def distinct(
        cls, pairs: Sequence[Text], files: Mapping[str, str] = MappingProxyType({})
    ) -> TuningPairs:
        """The pairs, each once, in their order."""
        return cls(tuple(dict.fromkeys(pairs)), files)

    @property
    def sha256(self) -> str:
        """SHA-256 over the pairs in their order."""
        digest = sha256()
        for source, target in self.pairs:
            digest.update(f"{source}\t{target}\n".encode(errors="surrogatepass"))
        return digest.hexdigest()


class TunedEncoder(NamedTuple):
    """A tuned encoder and how it was made."""

    checkpoint: Checkpoint
    record: Mapping[str, Json]
    """The content of `RECORD` in its folder."""


def tune(
    encoder: Checkpoint,
    pairs: TuningPairs,
    out: Path,
    settings: TuningSettings = TuningSettings(),
    progress: LossProgress = lambda done, steps, loss: None,  # noqa: ARG005
) -> TunedEncoder:
    """Tune an encoder on sentence pairs and write it, with `RECORD`, to the new folder `out`.

    Each step minimises `alignment_loss` over the next `batch_pairs` pairs of a random order, which
    is drawn again when all have been used, by AdamW. On one machine's CPU, with as many threads,
    the same input gives the same bytes. Layers above the tuned one stay as they are, and so does
    the type in which weights are stored.

    Args:
        encoder: the checkpoint to begin with (`mtbias.align.neural_aligner.locate_encoder`); it is
            not changed.
        pairs: in whatever languages the encoder knows.
        out: must not be there yet, or be empty; it is complete or not there.
        settings: see there.
        progress: is told the loss after each step.

    Returns:
        The new checkpoint: its name and revision are in the signature of the aligner that uses
        it. The record has them too, the encoder that it was made of, the number and SHA-256 of the
        pairs and of their files, the settings, the mean loss of the first and last steps, and the
        releases of mtbias and torch.

    Raises:
        DataError: no pair that the encoder can be tuned on.
        ModelError: it is not an encoder, cannot be loaded, or the loss is not a number.
        RunFolderError: `out` cannot be written.
        SettingError: the encoder has no such layer; there is something in `out`; no such device.
    """
    import torch

    layer = check_encoder(encoder.folder, settings.layer, "layer")
    if layer < 1:
        raise SettingError("layer", f"expected an encoder of 2 layers or more, got {encoder.name}")
    refuse_filled(out)
    if settings.device is not None:
        require_device(settings.device)
    settings = replace(settings, layer=layer, device=chosen_device(settings.device))
    loaded = Encoder(encoder.folder, layer=layer, device=str(settings.device))
    rows = _readable(loaded, pairs, settings)
    with torch.random.fork_rng():
        torch.manual_seed(settings.seed)
        with explained(encoder.folder, "tuning", _ADVICE):
            losses = _trained(loaded, rows, settings, progress)
    record = _record(encoder, pairs, len(rows), settings, losses)
    with whole_folder(out) as folder:
        _save(loaded, encoder.folder, folder, layer)
        revision = f"sha256:{files_hash(folder)[:16]}"
        record = {"name": out.resolve().name, "revision": revision, **record}
        write_json(folder / RECORD, record, own=True)
    return TunedEncoder(Checkpoint(out.resolve().name, revision, out), record)


def read_tuning_pairs(
    pairs: Sequence[Path],
    translations: Sequence[Path] = (),
    corpus: Corpus[Any] | None = None,
) -> TuningPairs:
    """The sentence pairs of all these files, each pair once.

    Args:
        pairs: sources with their translations (`mtbias.translate.given_translations.parse_pairs`).
        translations: translations of `corpus`, in any form that `mtbias score` takes; a file may
            cover a part of it.
        corpus: whose sources they are translations of.

    Raises:
        DataError: a file cannot be read, or is not of its form; it has no pairs.
        SettingError: no files are named, or translations without a corpus.
    """
    if not pairs and not translations:
        raise SettingError("pairs", "expected --pairs or --translations to tune on, got neither")
    if bool(translations) != (corpus is not None):
        raise SettingError("translations", "expected a data set and its translations, got one only")
    texts: list[Text] = []
    files: dict[str, str] = {}
    for path in pairs:
        file = read_text(path)
        texts += parse_pairs(file)
        files[str(path)] = file.sha256
    if corpus is not None:
        for path in translations:
            own = read_translations(path, corpus.instances, rows=corpus.rows, allow_missing=True)
            files[str(path)] = own.sha256
            for instance, translation in zip(corpus.instances, own.translations, strict=True):
                if translation.text is not None:
                    texts.append((instance.source, translation.text))
    if not texts:
        raise DataError(
            "expected sentences with their translations, got none", path=[*pairs, *translations][0]
        )
    return TuningPairs.distinct(texts, _short_names(files))


def _short_names(files: Mapping[str, str]) -> dict[str, str]:
    """The hashes by names without folders, where these are all different."""
    names = {Path(path).name: digest for path, digest in files.items()}
    return names if len(names) == len(files) else dict(files)


def refuse_filled(out: Path) -> None:
    """Refuse a folder for the result that has something in it.

    Raises:
        SettingError: it has, or is a file.
    """
    with writing(out, "look into it"):
        free = not out.exists() or (out.is_dir() and not any(out.iterdir()))
    if not free:
        raise SettingError("out", f"expected a new or an empty folder, got {str(out)!r}")


def alignment_loss(
    source: Any,  # noqa: ANN401 - tensors
    target: Any,  # noqa: ANN401
    source_mask: Any,  # noqa: ANN401
    target_mask: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """How badly a batch's embeddings agree with the links that they themselves suggest.

    With cosines c(i, j) of source subword i and target subword j, p(j|i) = softmax over j of
    c(i, j) / `TEMPERATURE`, and p(i|j) the same over i, a pair of sentences has the links
    A = {(i, j): each is the other's most similar} ∪ {(i, j): p(j|i) · p(i|j) > `SURE`}, which are
    taken as given, and

        loss = −1/|A| · Σ over (i, j) in A of ½ · (log p(j|i) + log p(i|j))

    Args:
        source: embeddings of length 1, [pairs, subwords, size].
        target: the same of the translations.
        source_mask: [pairs, subwords], true for a subword; each pair has some.
        target_mask: the same of the translations.

    Returns:
        The mean over the pairs, a tensor without dimensions: 0 or more, lower is better.
    """
    import torch

    alike = torch.einsum("bid,bjd->bij", source, target) / TEMPERATURE
    is_source, is_target = source_mask[:, :, None], target_mask[:, None, :]
    forward = alike.masked_fill(~is_target, _MASKED).log_softmax(2)
    backward = alike.masked_fill(~is_source, _MASKED).log_softmax(1)
    with torch.no_grad():
        best_target = forward == forward.amax(2, keepdim=True)
        best_source = backward == backward.amax(1, keepdim=True)
        sure = (forward + backward).exp() > SURE
        linked = ((best_target & best_source) | sure) & is_source & is_target
        weights = linked / linked.sum((1, 2), keepdim=True)
    return -(weights * (forward + backward) / 2).sum((1, 2)).mean()


_Ids = Sequence[int]


def _readable(
    encoder: Encoder, pairs: TuningPairs, settings: TuningSettings
) -> list[tuple[_Ids, _Ids]]:
    """The subwords of both sides of each pair, where both have some and neither has too many."""
    most = min(settings.most_subwords, encoder.room)
    sources = encoder.subwords([source for source, _ in pairs.pairs])
    targets = encoder.subwords([target for _, target in pairs.pairs])
    rows = []
    for source, target in zip(sources, targets, strict=True):
        if source.ids and target.ids and max(len(source.ids), len(target.ids)) <= most:
            rows.append((source.ids, target.ids))
    if not rows:
        raise DataError(
            f"expected sentence pairs of 1 to {most} subwords on either side to tune on, got none "
            f"among {len(pairs.pairs)}; give more --pairs or --translations"
        )
    return rows


def _batches(lengths: Sequence[int], size: int, seed: int) -> Iterator[Sequence[int]]:
    """Batches of pairs without end: all pairs in a random order, then again in another.

    Of `POOLED` batches that follow each other, pairs of like length are put together, since each
    sentence costs as much as the longest of its batch; the batches' own order is random again.
    """
    chance = np.random.default_rng(seed)
    pairs: Iterator[int] = chain.from_iterable(
        map(int, chance.permutation(len(lengths))) for _ in repeat(None)
    )
    while True:
        pool = sorted(islice(pairs, POOLED * size), key=lambda n: lengths[n])
        for k in chance.permutation(POOLED):
            yield pool[k * size : (k + 1) * size]


def _trained(
    encoder: Encoder,
    rows: Sequence[tuple[_Ids, _Ids]],
    settings: TuningSettings,
    progress: LossProgress,
) -> list[float]:
    """The loss of each step; the encoder is tuned in place."""
    import torch

    model = encoder.model
    for parameter in model.get_input_embeddings().parameters():
        parameter.requires_grad = False
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, weight_decay=WEIGHT_DECAY)
    model.train()
    losses: list[float] = []
    recent: deque[float] = deque(maxlen=SHOWN_STEPS)
    lengths = [max(map(len, row)) for row in rows]
    batches = _batches(lengths, settings.batch_pairs, settings.seed)
    for step, batch in enumerate(islice(batches, settings.steps)):
        for group in optimizer.param_groups:
            group["lr"] = _learning_rate(step, settings)
        source, source_mask = _embedded(encoder, [rows[n][0] for n in batch])
        target, target_mask = _embedded(encoder, [rows[n][1] for n in batch])
        loss = alignment_loss(source, target, source_mask, target_mask)
        losses.append(loss.item())
        if not math.isfinite(losses[-1]):
            raise ModelError(
                f"{encoder.folder}: the loss of step {step + 1} is not a number; "
                "use a lower --learning-rate, or download the checkpoint again"
            )
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, LARGEST_GRADIENT)
        optimizer.step()
        recent.append(losses[-1])
        progress(step + 1, settings.steps, _mean(recent))
    model.eval()
    return losses


def _learning_rate(step: int, settings: TuningSettings) -> float:
    rising = (step + 1) / max(1, WARM_UP * settings.steps)
    falling = max(LAST_RATE, 1 - step / settings.steps)
    return settings.learning_rate * min(1, rising) * falling


def _embedded(encoder: Encoder, rows: Sequence[_Ids]) -> tuple[Any, Any]:
    """The embeddings of length 1 of a batch [rows, subwords, size], and the mask of subwords."""
    import torch

    states = torch.nn.functional.normalize(encoder.states(rows), dim=-1)
    lengths = torch.tensor([len(row) for row in rows], device=states.device)
    places = torch.arange(states.shape[1], device=states.device)
    return states, places[None, :] < lengths[:, None]


def _mean(losses: Sequence[float] | deque[float]) -> float:
    return sum(losses) / len(losses)


def _save(encoder: Encoder, original: Path, folder: Path, layer: int) -> None:
    """Write the whole encoder, its lower layers tuned, with the files of the original's
    tokenizer.
    """
    from transformers import AutoConfig, AutoModel

    with explained(original, "writing the tuned weights", "correct that and tune again"):
        for path in files_beside_weights(original):
            shutil.copyfile(path, folder / path.name)
        config = AutoConfig.from_pretrained(
            str(original), local_files_only=True, trust_remote_code=False
        )
        stored = str(config.dtype or "float32").removeprefix("torch.")
        whole = load_model(original, AutoModel, device="cpu", dtype=stored)
        tuned = {name: tensor.cpu() for name, tensor in encoder.model.state_dict().items()}
        whole.load_state_dict({**whole.state_dict(), **tuned})
        if not all(bool(each.isfinite().all()) for each in whole.parameters()):
            raise ModelError(
                f"{original}: the tuned weights do not fit into {stored}; "
                "use a lower --learning-rate"
            )
        setattr(whole.config, LAYER_KEY, layer)
        # A pooler is not read here; of a checkpoint that has none it would be random numbers.
        weights = whole.state_dict()
        weights = {name: tensor for name, tensor in weights.items() if "pooler" not in name}
        whole.save_pretrained(folder, state_dict=weights)


def _record(
    encoder: Checkpoint,
    pairs: TuningPairs,
    used: int,
    settings: TuningSettings,
    losses: Sequence[float],
) -> dict[str, Any]:
    """The content of `RECORD` but for the result's own name and revision."""
    import torch

    shown = max(1, min(SHOWN_STEPS, len(losses) // 2))
    return {
        "encoder": {"name": encoder.name, "revision": encoder.revision},
        "pairs": {
            "number": len(pairs.pairs),
            "used": used,
            "sha256": pairs.sha256,
            "files": dict(pairs.files),
        },
        **asdict(settings),
        "loss": {"first": _mean(losses[:shown]), "last": _mean(losses[-shown:])},
        "mtbias": __version__,
        "torch": torch.__version__,
    }
