"""Identity, fingerprint, signature, and what differs between two runs."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest

from mtbias.runs.manifest import RunManifest
from mtbias.types import Json

IDENTITY: dict[str, Json] = {
    "dataset": "winomt",
    "language": "de",
    "system": "google 2019",
    "aligner": "mtbias/1",
    "stanza": {"pos/gsd": "aa11", "tokenize/gsd": "bb22"},
    "plugin": "mtbias-languages 0.1.0",
    "mtbias": "0.1.0",
    "seed": 0,
    "data": "cc33",
}


def test_fingerprint_is_the_head_of_the_hash_of_the_canonical_identity() -> None:
    text = '{"a":"ё","b":[1,null],"c":{"x":true,"y":1.5}}'
    manifest = RunManifest({"c": {"y": 1.5, "x": True}, "b": [1, None], "a": "ё"})
    assert manifest.fingerprint == sha256(text.encode()).hexdigest()[:16]


def test_fingerprint_knows_the_identity_only() -> None:
    plain = RunManifest(IDENTITY)
    assert (
        plain.fingerprint
        == RunManifest(dict(reversed(IDENTITY.items())), {"host": "n1"}).fingerprint
    )
    assert plain.fingerprint != RunManifest({**IDENTITY, "seed": 1}).fingerprint
    assert plain.fingerprint != RunManifest({**IDENTITY, "extra": None}).fingerprint


def test_signature_names_what_matters_in_one_line() -> None:
    manifest = RunManifest(IDENTITY)
    assert manifest.signature() == (
        "dataset:winomt|lang:de|system:google_2019|aligner:mtbias/1|stanza:pos/gsd+tokenize/gsd"
        f"|plugin:mtbias-languages_0.1.0|mtbias:0.1.0|seed:0|fp:{manifest.fingerprint}"
    )


def test_signature_stays_one_line_with_its_bars() -> None:
    signature = RunManifest({"system": "a|b\nc", "seed": None}).signature()
    assert signature.startswith("system:a_b_c|seed:null|fp:")


def test_differences_name_key_and_both_values() -> None:
    here = RunManifest(IDENTITY)
    asked = RunManifest(
        {**IDENTITY, "seed": 1, "stanza": {"pos/gsd": "aa12", "tokenize/gsd": "bb22"}, "beams": 5}
    )
    assert here.differences(asked) == [
        "beams: (absent) here, 5 asked for",
        "seed: 0 here, 1 asked for",
        'stanza.pos/gsd: "aa11" here, "aa12" asked for',
    ]
    assert here.differences(RunManifest(IDENTITY)) == []


def test_long_values_that_differ_late_are_told_apart() -> None:
    here, asked = RunManifest({"note": "x" * 200 + "a"}), RunManifest({"note": "x" * 200 + "b"})
    (difference,) = here.differences(asked)
    left, _, right = difference.removeprefix("note: ").partition(" here, ")
    assert left != right.removesuffix(" asked for")
    assert len(difference) < 250


def test_json_comes_back() -> None:
    manifest = RunManifest({**IDENTITY, "packages": ("a", "b")}, {"host": "n1"})
    content = json.loads(json.dumps(manifest.to_json()))
    again = RunManifest.from_json(content)
    assert again == manifest
    assert again.identity["packages"] == ["a", "b"]
    assert again.execution == {"host": "n1"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "schema 1"),
        ({"identity": 5}, "the objects 'identity' and 'execution'"),
        ({"identity": {"seed": 5}}, "expected the fingerprint"),
        ({"fingerprint": "0" * 16}, "got 0000000000000000"),
    ],
)
def test_a_manifest_that_was_changed_is_noticed(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RunManifest.from_json({**RunManifest(IDENTITY).to_json(), **change})


def test_an_identity_is_finite_json() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        RunManifest({"x": float("nan")})
    with pytest.raises(TypeError, match="not JSON serializable"):
        RunManifest({"x": object()})  # type: ignore[dict-item]
