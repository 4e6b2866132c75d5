"""The manifest: what a run's results depend on (identity) and under what circumstances they were
made (execution).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import field

from mtbias.errors import escaped
from mtbias.files.reading import sha256_of
from mtbias.types import Json, frozen

SCHEMA = 1
"""Version of the shape of `manifest.json`."""

SIGNATURE_KEYS = (
    "dataset", "source_language", "language", "system", "model", "revision", "direction", "engine",
    "dtype", "decoding", "batch", "server", "prompt", "temperature", "answer_tokens", "repeat",
    "date", "cleaned", "measure", "aligner", "evidence", "stanza", "parser", "plugin",
    "source_plugin", "variant", "context", "quality", "scores", "mtbias", "seed",
)  # fmt: skip
"""Keys of the identity that a signature names, in its order."""
_SIGNED_AS = {
    "language": "lang",
    "source_language": "from",
    "temperature": "temp",
    "answer_tokens": "max",
}
"""Those that have another name in a signature."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_ABSENT = "(absent)"
_VALUE_LENGTH = 60


@frozen
class RunManifest:
    r"""Identity and execution of one run.

    Two runs with equal identities give the same bytes in `calls.jsonl` and `metrics.json`;
    everything else belongs into `execution`. Values are plain JSON, tuples become lists. In the
    identity 1 and 1.0 are different values. What no file can hold (the bytes of a file name that is
    not UTF-8) becomes its escape, `\xe4`.

    Raises:
        TypeError: a value is not JSON.
        ValueError: a number is not finite.
    """

    identity: Mapping[str, Json]
    """What changes results: hashes of data and translations, dataset, language, model or system,
    aligner, Stanza packages with the hashes of their files, versions of plugin and mtbias, seed."""
    execution: Mapping[str, Json] = field(default_factory=dict)
    """What does not: host, device, wall time, versions of libraries."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "identity", _plain(self.identity))
        object.__setattr__(self, "execution", _plain(self.execution))

    @property
    def fingerprint(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of the identity's canonical JSON."""
        return sha256_of(canonical(self.identity))[:16]

    def signature(self) -> str:
        """One line that records how the numbers were made:
        ``dataset:winomt|lang:de|…|mtbias:0.1.0|seed:0|fp:…``.

        It names the keys of `SIGNATURE_KEYS` that the identity has (a list, or the keys of an
        object, joined by "+") and ends with the fingerprint, which stands for the rest. Spaces and
        bars in values become underscores.
        """
        parts = [
            f"{_SIGNED_AS.get(key, key)}:{_short(self.identity[key])}"
            for key in SIGNATURE_KEYS
            if key in self.identity
        ]
        return "|".join([*parts, f"fp:{self.fingerprint}"])

    def differences(self, other: RunManifest) -> list[str]:
        """What differs between this identity and another, one phrase a key: ``seed: 0 here, 1 asked
        for``.

        Objects are compared key by key (``stanza.pos/gsd: …``); a missing key is "(absent)". Long
        values are cut.
        """
        here, there = _flat(self.identity), _flat(other.identity)
        return [
            f"{key}: {here.get(key, _ABSENT)} here, {there.get(key, _ABSENT)} asked for"
            for key in sorted(here.keys() | there.keys())
            if here.get(key) != there.get(key)
        ]

    def to_json(self) -> dict[str, Json]:
        """The content of `manifest.json`."""
        return {
            "schema": SCHEMA,
            "fingerprint": self.fingerprint,
            "signature": self.signature(),
            "identity": dict(sorted(self.identity.items())),
            "execution": dict(sorted(self.execution.items())),
        }

    @classmethod
    def from_json(cls, content: object) -> RunManifest:
        """The manifest that `to_json` wrote.

        Raises:
            ValueError: it is something else, or the fingerprint does not belong to the identity.
        """
        if not isinstance(content, dict) or content.get("schema") != SCHEMA:
            raise ValueError(f"expected the manifest of a run, schema {SCHEMA}")
        try:
            manifest = cls(content["identity"], content["execution"])
        except (KeyError, TypeError):
            raise ValueError("expected the objects 'identity' and 'execution'") from None
        if manifest.fingerprint != content.get("fingerprint"):
            raise ValueError(
                f"expected the fingerprint {manifest.fingerprint} of the identity, "
                f"got {content.get('fingerprint')}"
            )
        return manifest


def canonical(value: Mapping[str, Json]) -> str:
    """The one JSON text of a value: keys sorted, no spaces, no escapes, finite numbers only."""
    return json.dumps(
        dict(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def _plain(value: Mapping[str, Json]) -> dict[str, Json]:
    """A copy of plain JSON, in which a lone surrogate is text that shows it
    (`mtbias.errors.escaped`).
    """
    text = _SURROGATE.sub(lambda match: escaped(match[0]).replace("\\", "\\\\"), canonical(value))
    plain: dict[str, Json] = json.loads(text)
    return plain


def _short(value: Json) -> str:
    """A value in a signature."""
    if isinstance(value, (list, dict)):
        return "+".join(map(_short, value))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return re.sub(r"[\s|]", "_", text)


def _flat(value: Mapping[str, Json], prefix: str = "") -> dict[str, str]:
    """Leaves of nested objects as (dotted key → JSON text cut to a readable length; what is cut
    ends in its hash).
    """
    leaves: dict[str, str] = {}
    for key, part in value.items():
        if isinstance(part, dict) and part:
            leaves |= _flat(part, f"{prefix}{key}.")
        else:
            text = json.dumps(part, ensure_ascii=False, sort_keys=True)
            digest = sha256_of(text)[:8]
            leaves[prefix + key] = (
                text
                if len(text) <= _VALUE_LENGTH
                else f"{text[:_VALUE_LENGTH]}… (sha256 {digest}…)"
            )
    return leaves
