"""What a user may set of word vectors; apart from what is done with them, so that a list of options
loads no numpy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Literal, get_args

from mtbias.errors import SettingError
from mtbias.settings import MOST_SEED, Settings, at_least, check_number, drawn, number_in

Measure = Literal[
    "direct", "indirect", "weat", "weat-two-targets", "gipe", "clustering", "recoverability"
]
MEASURES: tuple[Measure, ...] = get_args(Measure)

WITH_SCIKIT_LEARN = frozenset({"clustering", "recoverability"})
"""Those that need it."""

Direction = Literal["pca", "mean"]
"""How g is found from pairs of words: the first principal component of the pairs, each centred on
its mean; or the mean of their differences."""

Selection = Literal["by-gender", "overall"]
"""Which words are the most biased: half of them from each gender, or those that lean most,
whichever way."""

Method = Literal["hard", "double-hard", "inlp", "ran"]


_OF_MEASURE: dict[str, tuple[str, ...]] = {
    "direct": ("c", "resamples", "seed"),
    "weat": ("partitions", "seed"),
    "weat-two-targets": ("partitions", "seed"),
    "gipe": ("neighbours", "theta", "edgeless_weight", "resamples", "seed"),
    "clustering": ("cluster_words", "selection", "kmeans_starts", "repeats", "seed"),
    "recoverability": (
        "recover_words",
        "selection",
        "train_share",
        "svm_c",
        "svm_gamma",
        "repeats",
        "seed",
    ),
}
"""What each measure rests on, beside the direction; indirect bias has nothing else."""


@dataclass(frozen=True, kw_only=True)
class EmbeddingSettings(Settings):
    """What papers leave open; see the functions that take them."""

    direction: Direction = "pca"
    """How g is found from its pairs: their first principal component, or the mean of their
    differences."""
    c: float = number_in(0, 1000, 1.0)
    """Exponent of direct bias."""
    partitions: int = at_least(1, 100_000)
    """WEAT: count all partitions up to so many, else draw so many."""
    neighbours: int = at_least(1, 100)
    """GIPE: neighbours of each word."""
    theta: float = number_in(0, 1, 0.03)
    """GIPE: an edge counts where its β is above this."""
    edgeless_weight: Literal[1, 0] = 1
    """GIPE: weight of a word that is nobody's neighbour; the authors' program has 0."""
    cluster_words: int = at_least(1, 1500)
    """Clustering: so many of the most biased words."""
    recover_words: int = at_least(1, 5000)
    """Recoverability: so many of the most biased words."""
    selection: Selection = "by-gender"
    """Which words are the most biased: half of them from each gender, or those that lean most,
    whichever way."""
    kmeans_starts: int = at_least(1, 10)
    """Clustering: starts of k-means, of which the best is taken."""
    train_share: float = number_in(0.01, 0.99, 0.2)
    """Recoverability: share of the words to train on; of 5000 words, 1000."""
    svm_c: float = number_in(1e-6, 1e6, 1.0)
    """Recoverability: C of the support vector machines."""
    svm_gamma: float | Literal["scale", "auto"] = "scale"
    """Recoverability: γ of the radial kernel, scikit-learn's rule for it or a number."""
    repeats: int = at_least(1, 10, 1000)
    """Clustering, recoverability: so many times, with other starts and splits; the range shows the
    spread."""
    resamples: int = drawn(2000)
    """Direct bias, GIPE: bootstrap resamples of the words; 0: no intervals."""
    seed: int = at_least(0, 0, MOST_SEED)
    """Seed of all that is drawn."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.svm_gamma not in {"scale", "auto"}:
            check_number("svm_gamma", self.svm_gamma, 0)

    def described(self, measures: Iterable[str]) -> dict[str, object]:
        """The settings that `measures` rest on, by the names of their options."""
        names = {"direction"}
        for measure in measures:
            names.update(_OF_MEASURE.get(measure, ()))
        return {
            name.replace("_", "-"): value for name, value in asdict(self).items() if name in names
        }


_OF_METHOD = {
    "hard": ("components",),
    "double-hard": ("components", "direction", "candidates", "cluster_words", "seed"),
    "inlp": (
        "direction",
        "rounds",
        "biased_words",
        "neutral_words",
        "neutral_cosine",
        "svm_c",
        "seed",
    ),
    "ran": (
        "direction",
        "neighbours",
        "theta",
        "repulsion",
        "attraction",
        "neutralisation",
        "steps",
        "learning_rate",
    ),
}
"""What each method of debiasing rests on."""


@dataclass(frozen=True, kw_only=True)
class DebiasSettings(Settings):
    """What a method of debiasing takes; the defaults are those of its paper."""

    components: int = at_least(1, 1)
    """hard, double-hard: dimensions of the gender subspace."""
    candidates: int = at_least(1, 20)
    """double-hard: so many principal components are tried, of which one is taken out."""
    cluster_words: int = at_least(2, 500)
    """double-hard: so many of the words that lean most to each gender are clustered."""
    direction: Direction = "pca"
    """double-hard, inlp, ran: how g is found from its pairs: their first principal component, or
    the mean of their differences."""
    rounds: int = at_least(1, 35)
    """inlp: classifiers that are trained and projected out, one after the other."""
    biased_words: int = at_least(2, 7500)
    """inlp: so many of the words that lean most to each gender are trained on."""
    neutral_words: int = at_least(0, 7500)
    """inlp: so many words that lean nowhere are a third class; 0: none."""
    neutral_cosine: float = number_in(0, 1, 0.03)
    """inlp: these are drawn from the words with a |cos(w, g)| below this."""
    svm_c: float = number_in(1e-6, 1e6, 1.0)
    """inlp: C of the linear support vector machines."""
    seed: int = at_least(0, 0, MOST_SEED)
    """double-hard: seed of the clusters; inlp: of the neutral words and of the words that are held
    out."""
    neighbours: int = at_least(1, 100)
    """ran: so many nearest words may repel a word."""
    theta: float = number_in(-1, 1, 0.05)
    """ran: those of them do that have an indirect bias β above this."""
    repulsion: float = number_in(0, 1, 1 / 3)
    """ran: weight of being far from those words."""
    attraction: float = number_in(0, 1, 1 / 3)
    """ran: weight of staying near the vector before."""
    neutralisation: float = number_in(0, 1, 1 / 3)
    """ran: weight of having no part in the gender direction."""
    steps: int = at_least(1, 300)
    """ran: steps of the optimiser, Adam."""
    learning_rate: float = number_in(0, 1, 0.01)
    """ran: of the optimiser."""

    def described(self, method: Method) -> dict[str, object]:
        """The settings that `method` rests on, by the names of their options.

        Raises:
            SettingError: one of another method is set.
        """
        for each in fields(self):
            if each.name not in _OF_METHOD[method] and getattr(self, each.name) != each.default:
                message = (
                    f"expected a setting of --method {method}, got one of another; leave it out"
                )
                raise SettingError(each.name, message)
        return {name.replace("_", "-"): getattr(self, name) for name in _OF_METHOD[method]}
