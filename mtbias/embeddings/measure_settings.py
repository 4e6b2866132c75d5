"""What a user may set of the measures of word vectors; apart from them, so that a list of options loads no numpy."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from math import inf
from typing import Literal, get_args

from mtbias.errors import SettingError
from mtbias.settings import MOST_SEED, Settings, at_least, check_number

Measure = Literal["direct", "indirect", "weat", "gipe", "clustering", "recoverability"]
MEASURES: tuple[Measure, ...] = get_args(Measure)

Direction = Literal["pca", "mean"]
"""How g is found from pairs of words: the first principal component of the pairs, each centred on its mean; or the mean
of their differences."""

_REST_ON = {
    "direct": ("c",),
    "weat": ("partitions", "seed"),
    "gipe": ("neighbours", "theta", "edgeless_weight"),
    "clustering": ("cluster_words", "balanced", "kmeans_starts", "seed"),
    "recoverability": ("recover_words", "balanced", "train_share", "svm_c", "svm_gamma", "seed"),
}
"""What each measure rests on, beside the direction; indirect bias has nothing else."""


@dataclass(frozen=True, kw_only=True)
class EmbeddingSettings(Settings):
    """What papers leave open; see the functions that take them."""

    direction: Direction = "pca"
    """How g is found from its pairs: their first principal component, or the mean of their differences."""
    c: float = 1.0
    """Exponent of direct bias."""
    partitions: int = at_least(1, 100_000)
    """WEAT: count all partitions up to so many, else draw so many."""
    neighbours: int = at_least(1, 100)
    """GIPE: neighbours of each word."""
    theta: float = 0.03
    """GIPE: an edge counts where its β is above this."""
    edgeless_weight: Literal[1, 0] = 1
    """GIPE: weight of a word that is nobody's neighbour; the authors' program has 0."""
    cluster_words: int = at_least(1, 1500)
    """Clustering: so many of the most biased words."""
    recover_words: int = at_least(1, 5000)
    """Recoverability: so many of the most biased words."""
    balanced: bool = False
    """Take half of the most biased words from each gender."""
    kmeans_starts: int = at_least(1, 10)
    """Clustering: starts of k-means."""
    train_share: float = 0.5
    """Recoverability: share of the words to train on, between 0 and 1."""
    svm_c: float = 1.0
    """Recoverability: C of the support vector machines."""
    svm_gamma: float | Literal["scale", "auto"] = "scale"
    """Recoverability: γ of the radial kernel, scikit-learn's rule for it or a number."""
    seed: int = at_least(0, 0, MOST_SEED)
    """Seed of all that is drawn."""

    def __post_init__(self) -> None:
        super().__post_init__()
        gamma = () if self.svm_gamma in {"scale", "auto"} else ("svm_gamma",)
        for name in ("c", "theta", *gamma):
            check_number(name, getattr(self, name), 0)
        if not 0 < self.svm_c < inf:
            raise SettingError("svm_c", f"expected a number above 0, got {self.svm_c!r}")
        if not 0 < self.train_share < 1:
            raise SettingError("train_share", f"expected a number between 0 and 1, got {self.train_share!r}")

    def described(self, measures: Collection[str]) -> dict[str, object]:
        """The settings that `measures` rest on, by name."""
        names = {"direction", *(name for measure in measures for name in _REST_ON.get(measure, ()))}
        return {name: value for name, value in asdict(self).items() if name in names}
