"""Whole alignments by an encoder: pairs by hand, unseen sentences, batches, and how an encoder is
found."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from mtbias.align import Pair, neural_aligner
from mtbias.align.neural_aligner import (
    DEFAULT_ENCODER,
    Encoder,
    NeuralAligner,
    Subwords,
    locate_encoder,
    mutual_links,
    words_of,
)
from mtbias.errors import MissingResourceError, ModelError, SettingError
from mtbias.language.definition import Language
from mtbias.language.split_texts import SplitTexts
from mtbias.settings import EvalSettings, ScoreSettings
from mtbias.translate.seq2seq.checkpoints import RECORD
from mtbias.types import Alignment, Span, quiet

from .encoders import parallel

BARE = Language(code="xx", name="German without any table")
COMMIT = "0123456789abcdef0123456789abcdef01234567"

# English and German of the demo's grammar, with the entity and its head in the translation. The
# same sentences with two people, in German too in another order than in English.
CHILDREN = (
    "The children saw the famous singer in the morning.",
    "Die Kinder haben am Morgen die berühmte Sängerin gesehen.",
)
TALKED = (
    "The entrepreneur talked with his colleagues yesterday.",
    "Der Unternehmer hat gestern mit seinen Kollegen gesprochen.",
)
SMILED = ("Yesterday the young pilot smiled.", "Gestern hat die junge Pilotin gelächelt.")
TWO = ("The cook saw the singer.", "Die Sängerin hat der Koch gesehen.")
BY_HAND = [
    (CHILDREN, "singer", "Sängerin"),
    (TALKED, "entrepreneur", "Unternehmer"),
    (SMILED, "pilot", "Pilotin"),
    (TWO, "cook", "Koch"),
    (TWO, "singer", "Sängerin"),
]


def pair(n: int, source: str, entity: str, target: str) -> Pair:
    at = source.index(entity)
    return Pair(str(n), source, target, Span(at, at + len(entity)), entity)


def heads(pairs: list[Pair], alignments: tuple[Alignment, ...]) -> list[str]:
    return [
        p.text[slice(*a.target[0])] if a.target else ""
        for p, a in zip(pairs, alignments, strict=True)
    ]


@pytest.fixture
def aligner(bert: Path, tmp_path: Path) -> NeuralAligner:
    return NeuralAligner(locate_encoder(str(bert), "de", cache=tmp_path), device="cpu")


def of(folder: Path, **more: Any) -> NeuralAligner:
    return NeuralAligner(locate_encoder(str(folder), "de", cache=folder), device="cpu", **more)


def test_pairs_by_hand(aligner: NeuralAligner) -> None:
    given = [
        pair(n, source, entity, target) for n, ((source, target), entity, _) in enumerate(BY_HAND)
    ]
    alone = [aligner.align([each], SplitTexts(BARE))[0] for each in given]
    assert heads(given, tuple(alone)) == [row[2] for row in BY_HAND]
    assert {each.basis for each in alone} == {"links+lexicon"}
    together = aligner.align(given, SplitTexts(BARE))
    assert [each.id for each in together] == [each.id for each in given]
    assert heads(given, together) == [row[2] for row in BY_HAND]


def test_sentences_that_the_encoder_has_not_seen(aligner: NeuralAligner) -> None:
    """The demo's references say which German word is the entity's; the encoder has no table and no
    corpus."""
    from scripts.demo.grammar import GENDERS, Grammar, choices, say_english

    learnt = {source for source, _ in parallel()}
    german = Grammar.load("de")
    given: list[Pair] = []
    expected: list[Span] = []
    for choice in list(choices())[::331]:
        for gender in GENDERS:
            (source, (start, end)), target = say_english(choice, gender), german.say(choice, gender)
            if source not in learnt:
                given.append(
                    Pair(str(len(given)), source, target.text, Span(start, end), source[start:end])
                )
                expected.append(Span(target.head.start, target.head.end))
    assert len(given) > 40
    found = aligner.align(given, SplitTexts(BARE))
    right = sum(a.target[:1] == (head,) for a, head in zip(found, expected, strict=True))
    assert right >= 0.95 * len(given), f"{right} of {len(given)}"


def test_batches_do_not_matter(aligner: NeuralAligner, monkeypatch: pytest.MonkeyPatch) -> None:
    given = [
        pair(n, s, s.split()[1], t)
        for n, (s, t) in enumerate(parallel(60, seed=7))
        if s.startswith("The ")
    ]
    assert len(given) > 10
    whole = aligner.align(given, SplitTexts(BARE))
    assert repr(aligner.align(given, SplitTexts(BARE))) == repr(whole)
    shuffled = aligner.align(given[::-1], SplitTexts(BARE))
    assert repr(shuffled[::-1]) == repr(whole)
    monkeypatch.setattr(neural_aligner, "LETTERS", 1)
    assert repr(aligner.align(given, SplitTexts(BARE))) == repr(whole)
    monkeypatch.setattr("mtbias.align.neural_aligner.CPU_TOKENS", 100)
    monkeypatch.setattr(neural_aligner, "LETTERS", 1000)
    assert repr(aligner.align(given, SplitTexts(BARE))) == repr(whole)


def test_progress_is_told(aligner: NeuralAligner, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int, int]] = []
    given = [
        pair(n, source, entity, target) for n, ((source, target), entity, _) in enumerate(BY_HAND)
    ]
    monkeypatch.setattr(neural_aligner, "LETTERS", 1)
    aligner.align(given, SplitTexts(BARE), lambda *each: told.append(each))
    # The last two pairs are one text: four are aligned.
    assert told == [("align", 1, 5), ("align", 2, 5), ("align", 3, 5), ("align", 5, 5)]


@pytest.mark.parametrize(
    ("source", "target"), [("The cook slept.", ""), ("The cook slept.", "…!"), ("The cook.", "   ")]
)
def test_an_empty_translation_is_unaligned(
    aligner: NeuralAligner, source: str, target: str
) -> None:
    (found,) = aligner.align([pair(0, source, "cook", target)], SplitTexts(BARE))
    assert found.target == ()
    assert aligner.align([], SplitTexts(BARE)) == ()
    (found,) = aligner.align([Pair("x", "", "Der Koch schlief.")], SplitTexts(BARE))
    assert found == Alignment("x")


def test_nothing_is_alike_in_a_translation_that_the_tokenizer_drops(aligner: NeuralAligner) -> None:
    ((_, found),) = aligner.compared(
        [pair(0, "The cook slept.", "cook", "\xad")], SplitTexts(BARE), quiet
    )
    assert (found.links(), found.alike(1)) == (set(), {})


def test_a_long_text_is_aligned_to_its_end(aligner: NeuralAligner) -> None:
    """Twenty sentences as one, some 300 subwords for an encoder that reads 64: the entity stands in
    the last."""
    some = [(s, t) for s, t in parallel(30, seed=8) if "singer" not in s][:20]
    source = " ".join([*(s for s, _ in some), CHILDREN[0]])
    target = " ".join([*(t for _, t in some), CHILDREN[1]])
    given = [pair(0, source, "singer", target)]
    assert heads(given, aligner.align(given, SplitTexts(BARE))) == ["Sängerin"]


def test_the_only_known_translation_comes_before_links(aligner: NeuralAligner) -> None:
    """A table that says that Koch translates "singer", against the encoder: it is the table's word
    for the entity."""
    known = Language(code="xx", name="X", glossary={"singer": frozenset({"koch"})})
    given = [pair(0, TWO[0], "singer", TWO[1])]
    assert heads(given, aligner.align(given, SplitTexts(BARE))) == ["Sängerin"]
    assert heads(given, aligner.align(given, SplitTexts(known))) == ["Koch"]


# ----- pieces


def test_mutual_links_by_hand() -> None:
    def at(*degrees: float) -> torch.Tensor:
        angles = torch.deg2rad(torch.tensor(degrees))
        return torch.stack([angles.cos(), angles.sin()], dim=1)

    # 0 and 5 are each other's nearest, 40 and 45 too; 90 is nearest to 45, which is nearer to 40:
    # no link.
    assert mutual_links(at(0, 40, 90), at(45, 5)) == [(0, 1), (1, 0)]
    # Two that are equally near are both linked, whatever rounding says.
    assert mutual_links(at(10), at(0, 20)) == [(0, 0), (0, 1)]
    assert mutual_links(at(), at(1)) == []


def test_words_of_subwords_by_hand() -> None:
    #       0123456789012
    text = "L'avvocato è."
    assert text[0:2] == "L'"
    words = [Span(0, 2), Span(2, 10), Span(11, 12)]
    pieces = [
        (0, 1),
        (1, 2),
        (2, 5),
        (5, 10),
        (10, 12),
        (12, 13),
    ]  # the fifth holds the space in front
    assert words_of(Subwords([], [Span(*each) for each in pieces]), words) == [
        [0],
        [0],
        [1],
        [1],
        [2],
        [],
    ]
    assert words_of(Subwords([], [Span(0, 5)]), words) == [[0, 1]]
    assert words_of(Subwords([], [Span(0, 5)]), []) == [[]]


# ----- finding an encoder


def test_the_signature_names_model_revision_and_layer(bert: Path, tmp_path: Path) -> None:
    found = locate_encoder(str(bert), "de", cache=tmp_path)
    assert found.revision.startswith("sha256:")
    assert of(bert).signature == f"neural(bert@{found.revision},2)"
    assert of(bert, layer=3).signature == f"neural(bert@{found.revision},3)"


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize(
    ("model", "said"),
    [
        (None, f"{DEFAULT_ENCODER} is .* mtbias fetch --model {DEFAULT_ENCODER} --lang de$"),
        ("some/one", "some/one is .* mtbias fetch --model some/one --lang de$"),
        (f"some/one@{COMMIT}", f"some/one at 0123456789ab is .* --lang de --revision {COMMIT}$"),
    ],
)
def test_a_missing_encoder_names_the_command_that_downloads_it(
    model: str | None, said: str, tmp_path: Path
) -> None:
    with pytest.raises(MissingResourceError, match=f"the model {said}"):
        locate_encoder(model, "de", cache=tmp_path, offline=True)


def test_a_fetched_encoder_is_used_at_the_commit_that_was_written_down(
    hub: Path, tmp_path: Path, bert: Path
) -> None:
    at = hub / "models--some--one" / "snapshots" / COMMIT
    shutil.copytree(bert, at)
    (tmp_path / RECORD).write_text(f'{{"some/one": "{COMMIT}"}}', encoding="utf-8")
    found = locate_encoder("some/one", "de", cache=tmp_path, offline=True)
    assert (found.name, found.revision, found.folder) == ("some/one", COMMIT, at)
    assert NeuralAligner(found).signature == f"neural(some/one@{COMMIT},2)"
    assert (
        locate_encoder(f"some/one@{COMMIT}", "de", cache=tmp_path / "other", offline=True) == found
    )


@pytest.mark.parametrize("model", ["nothing", "./nothing", "no thing/x", "a/b/c"])
def test_what_is_no_model(model: str, tmp_path: Path) -> None:
    with pytest.raises(
        SettingError,
        match=r"aligner_model: expected a hub id .OWNER/NAME. or a folder with an encoder",
    ):
        locate_encoder(model, "de", cache=tmp_path, offline=True)


def test_a_translation_model_is_no_encoder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="expected a multilingual encoder"):
        NeuralAligner(locate_encoder("demo", "de", cache=tmp_path))


@pytest.mark.parametrize("settings", [EvalSettings, ScoreSettings])
def test_encoder_and_layer_are_of_the_neural_aligner(settings: Callable[..., Any]) -> None:
    assert settings(aligner="neural", aligner_model="a/b", aligner_layer=0).aligner_layer == 0
    with pytest.raises(
        SettingError, match="aligner_model: expected the aligner neural with it, got statistical"
    ):
        settings(aligner_model="a/b")
    with pytest.raises(
        SettingError, match="aligner_layer: expected the aligner neural with it, got eflomal"
    ):
        settings(aligner="eflomal", aligner_layer=8)


def test_weights_are_given_back(aligner: NeuralAligner, monkeypatch: pytest.MonkeyPatch) -> None:
    import gc
    import weakref

    made: list[weakref.ref[Encoder]] = []
    real = Encoder.__init__

    def noted(self: Encoder, *args: Any, **kwargs: Any) -> None:
        real(self, *args, **kwargs)
        made.append(weakref.ref(self))

    monkeypatch.setattr(Encoder, "__init__", noted)
    aligner.align([pair(0, CHILDREN[0], "singer", CHILDREN[1])], SplitTexts(BARE))
    gc.collect()
    assert [each() for each in made] == [None]
