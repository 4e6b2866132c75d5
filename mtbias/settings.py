"""What a user may set, declared once: the command line, a sweep's file and the Python API all take
these classes.

A value is checked where the class is made, so that a wrong one is refused in the same words
wherever it came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeVar, dataclass_transform

from mtbias.errors import SettingError
from mtbias.files.strict_json import EXACT

Aligner = Literal["statistical", "neural", "statistical+neural", "eflomal"]
EvidenceReader = Literal["tables", "stanza"]
EngineName = Literal["transformers", "ct2"]
Preset = Literal["paper", "fast"]
Variant = Literal["plain", "repository"]

DTYPES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "transformers": ("float32", "bfloat16", "float16"),
        "ct2": (
            "float32",
            "bfloat16",
            "float16",
            "int8",
            "int8_float32",
            "int8_bfloat16",
            "int8_float16",
        ),
    }
)
"""Types of weights, by engine."""

LANG = "{lang}"
"""Stands for the language in the path of a file of translations."""

MOST_SEED = 2**63 - 1
"""The largest integer of TOML, so that a sweep's file can hold any seed."""

S = TypeVar("S", bound="Settings")

ADVANCED = frozenset(
    {
        *(
            "aligner_layer",
            "aligner_model",
            "answer_tokens",
            "api_key_env",
            "batch_rows",
            "beams",
            "concurrency",
        ),
        *("dtype", "evidence", "length_penalty", "limit", "max_length", "max_requests", "measure"),
        *(
            "processes",
            "repeat",
            "requests_per_minute",
            "revision",
            "scores",
            "shard",
            "source_lang",
            "stanza_dir",
            "target_code",
        ),
        *("temperature", "timeout", "variant"),
    }
)
"""Settings that few need; help shows them last."""


FEWEST_RESAMPLES = 200
"""Of fewer draws, the percentiles 2.5 and 97.5 are the extreme few: of one, both are one value
beside the number."""
MOST_RESAMPLES = 1_000_000
"""Their numbers are held in memory all at once: a million take about 1 GiB."""


# ruff: noqa: ANN401 - a field is of whatever type it gets


def at_least(least: int, default: int | None, most: int = 10**9) -> Any:
    """A field for a whole number from `least` to `most`, with its default."""
    return field(default=default, metadata={"range": (int, least, most)})


def drawn(default: int) -> Any:
    """A field for the draws of intervals and tests: none, or enough for the ends of an interval of
    95 %.
    """
    return field(
        default=default, metadata={"range": (int, 0, MOST_RESAMPLES), "few": FEWEST_RESAMPLES}
    )


def number_in(least: float, most: float, default: float | None) -> Any:
    """A field for a number from `least` to `most`, which may have a fraction, with its default."""
    return field(default=default, metadata={"range": (float, least, most)})


def check_number(
    name: str, value: object, least: float, most: float | None = None, *, whole: bool = False
) -> None:
    """Refuse what is not a finite number from `least` to `most`.

    Raises:
        SettingError: what was expected, and what came.
    """
    kind = "finite number" if most is None else "number"
    kind = "whole number" if whole else kind
    is_number = type(value) is int or (not whole and type(value) is float and isfinite(value))
    if not is_number or value < least:  # type: ignore[operator] # a number, as just checked
        raise SettingError(name, f"expected a {kind} of at least {least}, got {_short(value)}")
    if most is not None and value > most:  # type: ignore[operator]
        raise SettingError(name, f"expected a {kind} of at most {most:,}, got {_short(value)}")


def _short(value: object) -> str:
    """A value in a message; one of thousands of digits is neither written out nor, by Python,
    allowed to be.
    """
    if type(value) is int and abs(value) >= 10**30:
        return "a number of more than 30 digits"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def _settings(cls: type[S]) -> type[S]:
    return dataclass(frozen=True, kw_only=True)(cls)


@_settings
class Settings:
    """Base of all settings: checks numbers by the range that their fields declare; text becomes a
    path.

    Raises:
        SettingError: a value that cannot be; names the setting.
    """

    __pydantic_config__: ClassVar = (
        EXACT  # of a file's tables: a key that is misspelt must not pass unnoticed
    )

    def __post_init__(self) -> None:
        for each in fields(self):
            limits, value = each.metadata.get("range"), getattr(self, each.name)
            if limits is not None and value is not None:
                kind, least, most = limits
                check_number(each.name, value, least, most, whole=kind is int)
            few = each.metadata.get("few")
            if few is not None and 0 < value < few:
                raise SettingError(
                    each.name, f"expected at least {few}, or 0 for no intervals, got {value}"
                )
            if isinstance(value, str) and str(each.type).startswith("Path"):
                object.__setattr__(self, each.name, Path(value))


@_settings
class CacheSettings(Settings):
    """Where mtbias keeps what it downloads and computes."""

    cache_dir: Path | None = None
    """mtbias's cache (default: MTBIAS_CACHE, else the user's cache folder)."""


@_settings
class SourceSettings(Settings):
    """What the sentences are written in."""

    source_lang: str = "en"
    """Language of the source sentences, such as de: of custom, or of WinoMT's form with a file of
    one's own."""


@_settings
class CorpusSettings(SourceSettings):
    """Which sentences."""

    dataset: str | None = None
    """Data set: winomt, bug, bug-balanced, bug-gold, bug-gold-paper, mt-geneval,
    mt-geneval-entities, mt-geneval-context, gest, demo, custom, or one of a plugin (default:
    winomt; demo for the model demo)."""
    data: Path | None = None
    """File or folder to read instead of the cache."""


@_settings
class LimitSettings(Settings):
    """How many sentences."""

    limit: int | None = at_least(1, None)
    """For a first look: so many sentences, evenly spread over the data set; the signature names
    them."""


@_settings
class StanzaSettings(CacheSettings):
    """Where Stanza's models are."""

    stanza_dir: Path | None = None
    """Folder of Stanza's models (default: STANZA_RESOURCES_DIR, else the cache, which
    `mtbias fetch --lang CODE` fills); mtbias:demo for the demo's."""


@_settings
class EvaluatorSettings(StanzaSettings):
    """What reads the genders; the same for all systems that are to be compared."""

    measure: str | None = None
    """What is asked of the translations, where it is not the data set's own question: whole-person,
    whether every word that agrees with the person is in the right gender."""
    aligner: Aligner = "statistical"
    """What finds the entity's words in the translation: mtbias's own model, learnt from the
    sentences at hand; the embeddings of a multilingual encoder; the first, and the second where the
    tables do not know the word that it found; eflomal."""
    evidence: EvidenceReader = "tables"
    """What tells the gender of the person's words: the language's tables of forms, and Stanza where
    they are silent; or Stanza's Gender features alone."""
    aligner_model: str | None = None
    """Encoder of the aligners neural and statistical+neural: hub id (`@COMMIT` may follow) or
    folder (default: google-bert/bert-base-multilingual-cased)."""
    aligner_layer: int | None = at_least(0, None, 1000)
    """Its layer whose embeddings are compared (default: two thirds up, 8 of 12)."""
    processes: int | None = at_least(1, None, 1024)
    """Processes that analyse translations, where 2,048 or more are new, or while a GPU or another
    machine translates; results do not depend on it (default, with 2 GiB for each: a thread
    each, 4 at most, where 4,096 or more are new and no GPU analyses; beside a GPU or another
    machine all cores but two, at least 2 of 3; else 1)."""
    variant: Variant | None = None
    """How words are told apart with mt-geneval and mt-geneval-context: plain, at white space
    (default), or repository, in lower case and without ASCII punctuation, as the authors' program
    does."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if "neural" not in self.aligner:
            for name in ("aligner_model", "aligner_layer"):
                if getattr(self, name) is not None:
                    raise SettingError(
                        name, f"expected the aligner neural with it, got {self.aligner}"
                    )


@_settings
class DeviceSettings(Settings):
    """Where models run."""

    device: str | None = None
    """Where models run: cpu, cuda, cuda:1 (default: a GPU where there is one)."""


@_settings
class BootstrapSettings(Settings):
    """Intervals and tests."""

    seed: int = at_least(0, 0, MOST_SEED)
    """Seed of intervals and tests."""
    resamples: int = drawn(2000)
    """Bootstrap resamples, and rearrangements of tests; 0: no intervals."""


@_settings
class DecodingSettings(Settings):
    """How a checkpoint translates; what is not set is the preset's."""

    engine: EngineName | None = None
    """transformers, or ct2 (CTranslate2) (default: transformers; on a GPU the preset fast of eval
    takes ct2 where it works, and says so)."""
    dtype: str | None = None
    """Type of the weights: float32, bfloat16, float16; with ct2 also int8 and its mixtures."""
    beams: int | None = at_least(1, None, 1000)
    """Beams of the search (presets: 5)."""
    length_penalty: float | None = number_in(
        -10, 10, None
    )  # beyond it 1,000 tokens to its power overflow fp32
    """Exponent of the length (presets: 1.0)."""
    max_length: int | None = at_least(3, None, 100_000)
    """Maximum tokens of a translation (presets: 200)."""
    batch_rows: int | None = at_least(1, None, 1_000_000)
    """Sentences × beams of a batch (default: what fits)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        engine = self.engine or "transformers"  # and with ct2 what transformers has, too
        known = DTYPES.get(engine)  # an unknown engine is refused where it is opened
        if self.dtype is not None and known is not None and self.dtype not in known:
            raise SettingError(
                "dtype", f"expected {', '.join(known)} with the engine {engine}, got {self.dtype!r}"
            )


@_settings
class TranslationSettings(DecodingSettings):
    """How a model translates."""

    preset: Preset = "paper"
    """paper: beam 5, length penalty 1.0, 200 tokens, fp32; fast: fp16 on a GPU (T5 bf16), by
    CTranslate2 where it works there, lengths bounded by the source's."""
    target_code: str | None = None
    """The checkpoint's own name of the target language, where the usual one does not fit."""
    revision: str | None = None
    """Commit, branch or tag of a hub model (default: the pinned one)."""


@_settings
class LanguageModelSettings(Settings):
    """How a language model is asked, and how an endpoint is reached."""

    prompt: str = "plain"
    """Prompt: a name (`mtbias list prompts`) or a file."""
    temperature: float | Literal["server"] = 0.0
    """Temperature from 0 to 2, or server: none is sent, for models that take none."""
    answer_tokens: int | None = at_least(1, None, 1_000_000)
    """Most tokens of an answer, thinking included (default: 1,024; of a checkpoint that does not
    think also six times the source's and 64)."""
    base_url: str = "https://api.openai.com/v1"
    """Address of the endpoint, up to its /v1."""
    api_key_env: str | None = None
    """Environment variable that holds the key (default: OPENAI_API_KEY; for an endpoint on this
    machine none)."""
    concurrency: int = at_least(1, 8, 1024)
    """Requests to an endpoint at the same time."""
    requests_per_minute: int | None = at_least(1, None)
    """Most requests a minute, spread evenly."""
    timeout: float = number_in(0.1, 86_400, 120.0)
    """Seconds after which a request is given up and sent again."""
    max_requests: int | None = at_least(1, None)
    """Most requests of this command, those sent again included; what is answered is kept, the same
    command resumes."""
    repeat: int = at_least(1, 1, 100)
    """Times that an endpoint translates everything: measures how much the numbers change from time
    to time."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.temperature != "server":
            check_number("temperature", self.temperature, 0, 2)


@_settings
class ScoreSettings(CorpusSettings, EvaluatorSettings, DeviceSettings, BootstrapSettings):
    """Settings of ``mtbias score`` and `mtbias.score`."""

    part: bool = False
    """Score a part of the data set: only the sentences that the file has; the signature says which
    they are."""
    scores: Path | None = None
    """File of a score for each sentence, COMET's or any, for means by gender and their gap
    (mt-geneval): a TSV, CSV or JSONL with the columns id or source, and one with the score's
    name."""


@_settings
class EvalSettings(
    TranslationSettings,
    LanguageModelSettings,
    CorpusSettings,
    LimitSettings,
    EvaluatorSettings,
    DeviceSettings,
    BootstrapSettings,
):
    """Settings of ``mtbias eval`` and `mtbias.evaluate`."""

    offline: bool = False
    """Never use the network (HF_HUB_OFFLINE=1 does the same)."""


def combined(kind: type[S], *parts: Settings, **more: object) -> S:
    """The settings of class `kind`, with the values of settings of other classes where it has
    fields of their names.

    What is None in the other, not set, is the default in `kind`.

    Raises:
        SettingError: a value that cannot be.
    """
    names = {each.name for each in fields(kind)}
    values: dict[str, Any] = {}
    for part in parts:
        of_part = {name: value for name, value in vars(part).items() if name in names}
        values |= {name: value for name, value in of_part.items() if value is not None}
    return kind(**{**values, **more})
