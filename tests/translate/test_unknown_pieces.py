"""Pieces of a source that a checkpoint's vocabulary lacks: counted, placed, said; and ids that lost
pieces moved."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest

from mtbias.cli import main
from mtbias.corpora import load_corpus
from mtbias.corpora.corpus import GENDER
from mtbias.corpora.own_sentences import write_custom
from mtbias.demo import model_folder_of_demo
from mtbias.errors import ModelError
from mtbias.runs.finished_run import read_run
from mtbias.scoring.alarms import DECLARED, checks
from mtbias.translate.outputs import unknown_marks
from mtbias.translate.seq2seq.codec import Codec, special_ids, unknown_places
from mtbias.types import Gender, Instance, Span, Stereotype

from .conftest import Checkpoint
from .reference import SOURCES


def edit_json(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Write what `change` makes of the object in a file."""
    content = change(json.loads(path.read_text(encoding="utf-8")))
    path.write_text(json.dumps(content), encoding="utf-8")


def lose(folder: Path, pieces: Collection[str]) -> Path:
    """Take pieces out of vocab.json; all others keep their ids, as where the two files of a
    tokenizer differ."""
    edit_json(
        folder / "vocab.json",
        lambda ids: {f"lost {p}" if p in pieces else p: number for p, number in ids.items()},
    )
    return folder


def holes(folder: Path, texts: list[str], lang: str = "de") -> list[list[str]]:
    """What stands in each text where the checkpoint reads a hole."""
    encoded = Codec(folder, lang).encode(texts)
    return [
        [text[slice(*place)] for place in one.unknown]
        for text, one in zip(texts, encoded, strict=True)
    ]


@pytest.mark.parametrize("name", ["marian", "m2m100"])
def test_pieces_that_vocab_json_lacks_are_holes_where_they_stand(
    copied: Callable[[str], Path], name: str
) -> None:
    folder = copied(name)
    whole = Codec(folder, "de")
    assert holes(folder, SOURCES) == [[]] * len(SOURCES)
    pieces = [whole._tokenizer.tokenize(text) for text in SOURCES]
    lost = sorted(
        {piece for some in pieces for piece in some if piece.strip("\u2581").isalpha()}, key=len
    )[-3:]
    expected = [[piece.strip("\u2581") for piece in some if piece in lost] for some in pieces]
    assert any(expected)
    assert holes(lose(folder, lost), SOURCES) == expected


@pytest.mark.parametrize("name", ["marian", "marian-multi", "m2m100", "mbart50", "nllb", "madlad"])
def test_characters_that_no_piece_has_are_holes(checkpoint: Checkpoint, name: str) -> None:
    codec = Codec(checkpoint(name), "ar" if name == "marian-multi" else "de")
    texts = [
        "The \u6f22pilot came. The p\u6f22lot left \u6f22",
        *SOURCES,
        " ".join([*SOURCES * 8, "\u6f22"]),
    ]
    encoded = codec.encode(texts)
    assert [texts[0][slice(*place)] for place in encoded[0].unknown] == ["\u6f22"] * 3
    assert not any(one.unknown for one in encoded[1:-1])
    # Of the last the end is lost, with the character, where the checkpoint has places for 256
    # tokens.
    assert (encoded[-1].cut, len(encoded[-1].unknown)) == (
        (False, 1) if name == "madlad" else (True, 0)
    )


def test_where_pieces_are_not_the_characters_the_whole_word_is_the_place(
    checkpoint: Checkpoint,
) -> None:
    # sentencepiece reads the ligature as f and i, and the fraction as 1, a slash that no piece has,
    # and 2.
    tokenizer = Codec(checkpoint("m2m100"), "de")._tokenizer
    text = "The \ufb01rst 10\u00bd pilots"
    assert [
        text[slice(*place)] for place in unknown_places(tokenizer, text, special_ids(tokenizer))
    ] == ["10\u00bd"]


def _instance(source: str, word: str) -> Instance:
    start = source.index(word)
    head = Span(start, start + len(word))
    return Instance(f"{word}", 0, source, head, word, Gender.MALE, Stereotype.NONE, "own", 1)


def test_a_hole_in_the_entitys_word_is_told_from_another() -> None:
    source, other = "The pilot met the baker.", "The cook left."
    instances = [_instance(source, "pilot"), _instance(source, "baker"), _instance(other, "cook")]
    places = {source: [Span(17, 20), Span(0, 4)], other: ()}  # " ba" and "The "
    assert unknown_marks(instances, places) == {
        "source_unknown": ["pilot", "baker"],
        "entity_unknown": ["baker"],
    }


EVAL = "eval --model {} --lang de --dataset custom --data {} --stanza-dir mtbias:demo --resamples 0 --device cpu --out {}"


@pytest.fixture(scope="module")
def frequent() -> list[str]:
    """Twelve pieces that the demo's tokenizer often makes of the demo's sentences, one of them of
    their entities."""
    tokenizer = Codec(model_folder_of_demo(), "de")._tokenizer
    instances = load_corpus("demo", None).instances[:60]
    counts = Counter(piece for each in instances for piece in tokenizer.tokenize(each.source))
    words = [
        piece
        for piece, _ in counts.most_common()
        if len(piece) > 4 and piece.strip("\u2581").isalpha()
    ]
    in_entities = {
        piece for each in instances for piece in tokenizer.tokenize(each.source[slice(*each.head)])
    }
    return sorted(words, key=lambda piece: piece not in in_entities)[:1] + words[:11]


@pytest.fixture
def sentences(tmp_path: Path) -> Path:
    """The first 60 sentences of the demo as a corpus of one's own."""
    path = tmp_path / "own.tsv"
    write_custom(path, load_corpus("demo", None).instances[:60])
    return path


def test_a_run_with_holes_says_so_and_raises_an_alarm(
    tmp_path: Path, sentences: Path, frequent: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = lose(Path(shutil.copytree(model_folder_of_demo(), tmp_path / "model")), frequent)
    tokenizer = Codec(model_folder_of_demo(), "de")._tokenizer
    instances = load_corpus("custom", sentences).instances
    expected = [
        i.id for i in instances if not set(frequent).isdisjoint(tokenizer.tokenize(i.source))
    ]
    in_entity = [
        i.id
        for i in instances
        if not set(frequent).isdisjoint(tokenizer.tokenize(i.source[slice(*i.head)]))
    ]
    assert main([*EVAL.format(folder, sentences, tmp_path / "run").split(), "--full"]) == 0
    shown = capsys.readouterr().out
    metrics = read_run(tmp_path / "run").metrics
    noticed = metrics["translations"]
    assert (noticed["source_unknown"], noticed["examples"]["source_unknown"]) == (
        len(expected),
        expected[:5],
    )
    assert noticed["entity_unknown"] == len(in_entity) > 0
    assert (
        f"sources that the model read with a hole: its vocabulary lacks a piece of them  {len(expected)}"
        in shown
    )
    assert "source_unknown" in metrics["alarms"]["raised"]
    share = metrics["alarms"]["shares"]["source_unknown"]
    assert (share["n"], share["of"]) == (len(expected), 60)
    assert DECLARED["source_unknown"].they in " ".join(shown.split())
    # What follows from the calls follows from these counts too.
    assert read_run(tmp_path / "run").not_following() == []


def test_a_run_without_holes_says_that_it_was_looked_at(tmp_path: Path, sentences: Path) -> None:
    assert main(EVAL.format("demo", sentences, tmp_path / "run").split()) == 0
    metrics = read_run(tmp_path / "run").metrics
    assert (
        metrics["translations"]["source_unknown"],
        metrics["translations"]["entity_unknown"],
    ) == (0, 0)
    assert metrics["alarms"]["shares"]["source_unknown"]["percent"] == 0
    assert "source_unknown" not in metrics["alarms"]["raised"]


def test_of_given_translations_nobody_knows_how_the_sources_were_read() -> None:
    assert (
        "source_unknown" not in checks([], "de", GENDER, n_resamples=0, seed=0)["alarms"]["shares"]
    )


def test_holes_of_another_measure_are_an_alarm_too() -> None:
    class Line:
        id, source, translation = "1", "Who came?", "Wer kam?"

        def to_json(self) -> dict[str, str]:
            return {"id": self.id, "source": self.source, "translation": self.translation}

    lines = [Line() for _ in range(40)]
    found = checks(lines, "de", "gest", noticed={"source_unknown": 8}, n_resamples=0, seed=0)[
        "alarms"
    ]
    assert (found["shares"]["source_unknown"]["percent"], found["raised"]) == (
        20,
        ["source_unknown"],
    )


# Lost pieces that move the ids of others


@pytest.mark.parametrize("added", [True, False])
def test_ids_of_languages_that_lost_pieces_would_move_are_refused(
    copied: Callable[[str], Path], added: bool
) -> None:
    # M2M100 counts its languages from the end of vocab.json: with one piece less each would be read
    # as another.
    folder = copied("m2m100")
    if not added:  # as published files that do not state the ids of added tokens
        (folder / "added_tokens.json").unlink()
        edit_json(
            folder / "tokenizer_config.json",
            lambda of: {key: value for key, value in of.items() if key != "added_tokens_decoder"},
        )
    Codec(folder, "de")
    lost = list(json.loads((folder / "vocab.json").read_text(encoding="utf-8")))[10]
    edit_json(
        folder / "vocab.json",
        lambda ids: {piece: id_ for piece, id_ in ids.items() if piece != lost},
    )
    with pytest.raises(
        ModelError,
        match=r"vocab\.json has 360 pieces, .*: __af__ would have the id 360, which is that",
    ):
        Codec(folder, "de")


def test_the_last_piece_is_missed_where_the_ids_of_languages_are_stated(
    copied: Callable[[str], Path],
) -> None:
    folder = copied("m2m100")
    edit_json(folder / "vocab.json", lambda ids: dict(list(ids.items())[:-1]))
    with pytest.raises(
        ModelError, match=r"__af__ would have the id 360, which is not its own; pieces were lost"
    ):
        Codec(folder, "de")


@pytest.mark.parametrize("name", ["mbart50", "nllb"])
def test_a_tokenizer_json_that_lost_pieces_is_refused(
    copied: Callable[[str], Path], name: str
) -> None:
    folder = copied(name)

    def without_last_piece(content: dict[str, Any]) -> dict[str, Any]:
        model = content["model"]
        if isinstance(model["vocab"], list):
            piece, _ = model["vocab"].pop(300)
        else:
            piece = list(model["vocab"])[-1]
            del model["vocab"][piece]
        model["merges"] = [
            pair for pair in model.get("merges", ()) if "".join(pair) != piece and piece not in pair
        ]
        return content

    edit_json(folder / "tokenizer.json", without_last_piece)
    with pytest.raises(
        ModelError,
        match=r"tokenizer\.json: \w+ is said to be token \d+, and is token \d+ of the voc",
    ):
        Codec(folder, "de")


# The decoder's first token

START = "decoder_start_token_id"


def start_with(folder: Path, file: str, value: object) -> Path:
    """Set the decoder's start token in a file of a checkpoint; None takes it away."""
    edit_json(
        folder / file,
        lambda of: (
            {key: v for key, v in of.items() if key != START}
            | ({START: value} if value is not None else {})
        ),
    )
    return folder


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("marian", r"expected 339 \(<pad>\), with which Opus-MT begins every translation, got 0;"),
        ("m2m100", r"expected 2 \(</s>\), with which M2M100 begins every translation, got 0;"),
        ("mbart50", r"expected 2 \(</s>\), with which mBART50 begins every translation, got 0;"),
        ("nllb", r"expected 2 \(</s>\), with which NLLB-200 begins every translation, got 0;"),
    ],
)
def test_another_start_of_the_decoder_is_refused(
    copied: Callable[[str], Path], name: str, said: str
) -> None:
    folder = start_with(copied(name), "generation_config.json", 0)
    with pytest.raises(
        ModelError, match=rf"generation_config\.json: {START}: {said}.*`mtbias score`"
    ):
        Codec(folder, "de")
    # What generation_config.json does not say is in config.json.
    start_with(start_with(folder, "generation_config.json", None), "config.json", 0)
    with pytest.raises(ModelError, match=rf": config\.json: {START}: {said}"):
        Codec(folder, "de")
    (folder / "generation_config.json").unlink()
    with pytest.raises(ModelError, match=rf": config\.json: {START}: {said}"):
        Codec(folder, "de")


def test_where_no_file_says_it_the_start_is_the_architectures_own(
    copied: Callable[[str], Path],
) -> None:
    for name, value in (
        ("mbart50", "None"),
        ("marian", "58100"),
    ):  # of transformers' config classes
        folder = copied(name)
        for file in ("config.json", "generation_config.json"):
            start_with(folder, file, None)
        with pytest.raises(ModelError, match=f"got {value};"):
            Codec(folder, "de")
    folder = copied("m2m100")
    for file in ("config.json", "generation_config.json"):
        start_with(folder, file, None)
    Codec(folder, "de")  # 2


def test_what_config_json_says_is_passed_over_where_generation_config_json_says_it(
    copied: Callable[[str], Path],
) -> None:
    Codec(start_with(copied("m2m100"), "config.json", 0), "de")
