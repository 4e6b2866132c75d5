"""The persons of MT-GenEval: which word names each, what is left out, and files that are not what
they should be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import mtbias
from mtbias.corpora import load_corpus
from mtbias.corpora.mt_geneval import GROUPS, HEADS, LABELS, MARKED, REFERENCE
from mtbias.errors import DataError, UsageError
from mtbias.settings import ScoreSettings
from mtbias.translate.given_translations import read_translations
from mtbias.types import Gender

NAME = "mt-geneval-entities"
M, F = Gender.MALE, Gender.FEMALE
COLUMNS = ("id", "source", MARKED, GROUPS, HEADS, LABELS, REFERENCE)

Row = tuple[str, str, str, str, str]
"""The marked source, groups, heads, labels, and the human translation."""

ROWS: dict[str, Row] = {
    "a person, and one whose gender is open": (
        "[[She]] thanked the chief [[engineer]] and his [[friends]].",
        "[0],[1],[2]",
        "0,1,2",
        "Female,Male,Amb",
        "Sie dankte dem Chefingenieur und seinen Freunden.",
    ),
    "a name, and a title with a name": (
        "[[Harburn]] met [[Baron Saken]], who bowed.",
        "[0],[1]",
        "0,1",
        "Male,Male",
        "Harburn traf Baron Saken, der sich verbeugte.",
    ),
    "a head before a preposition, a possessive": (
        "The [[Duchess of Newcastle]] read the [[king's]] letter.",
        "[0],[1]",
        "0,1",
        "Female,Male",
        "Die Herzogin von Newcastle las den Brief des Königs.",
    ),
    "brackets of the source's own": (
        "The [[bishop]] met the [[Pope's]] envoy.",
        "[0],[1]",
        "0,1",
        "Female,Male",
        "Die Bischöfin traf den Gesandten des Papstes.",
    ),
    "one word for two persons": (
        "They were [[brothers]].",
        "[0],[0]",
        "0,0",
        "Male,Male",
        "Sie waren Brüder.",
    ),
    "nobody": ("It rained.", "na", "na", "na", "Es regnete."),
}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes the file of German with these rows, of which one field may be another."""

    def of(*names: str, **changed: str) -> Path:
        lines = ["\t".join(COLUMNS)]
        for number, name in enumerate(names or ROWS, start=1):
            marked, groups, heads, labels, reference = ROWS[name]
            source = marked.replace("[[", "").replace("]]", "")
            if "own" in name:
                source = source.replace("Pope's", "[Pope's]")
            fields = dict(
                zip(
                    COLUMNS,
                    (str(number), source, marked, groups, heads, labels, reference),
                    strict=True,
                ),
                **changed,
            )
            lines.append("\t".join(fields[column] for column in COLUMNS))
        path = tmp_path / "geneval.en-de.tsv"
        path.write_text("".join(f"{line}\r\n" for line in lines), encoding="utf-8", newline="")
        return path

    return of


def test_persons_whose_gender_the_source_tells_are_instances_and_the_others_are_counted(
    write: Callable[..., Path],
) -> None:
    corpus = load_corpus(NAME, write(), lang="de")
    found = [(i.id, i.row, i.entity, i.source[slice(*i.head)], i.gold) for i in corpus.instances]
    assert found == [
        ("geneval-1-2", 0, "engineer", "engineer", M),
        ("geneval-2-2", 1, "baron", "Baron", M),
        ("geneval-3-1", 2, "duchess", "Duchess", F),
        ("geneval-3-2", 2, "king", "king", M),
        ("geneval-4-1", 3, "bishop", "bishop", F),
        ("geneval-4-2", 3, "pope", "Pope", M),
        ("geneval-5-1", 4, "brothers", "brothers", M),
    ]
    assert corpus.notes == {
        "person left out: a name or a pronoun": 2,
        "person left out: the source leaves the gender open": 1,
        "person left out: the word was taken for another person": 1,
        "file with Windows line ends": 1,
        "geneval.en-de.tsv is not the published file": 1,
    }
    assert corpus.measure == "gender"
    # Of the two persons of one sentence, one place each; a bracket of the source moves nothing.
    assert corpus.instances[5].source == "The bishop met the [Pope's] envoy."


def test_a_folder_has_a_file_for_each_language(write: Callable[..., Path]) -> None:
    path = write()
    assert (
        load_corpus(NAME, path.parent, lang="de").instances
        == load_corpus(NAME, path, lang="de").instances
    )
    with pytest.raises(
        UsageError, match=r"no persons of mt-geneval-entities for es in .*; there are de$"
    ):
        load_corpus(NAME, path.parent, lang="es")
    with pytest.raises(
        UsageError, match=r"expected the persons of es, got the file of de, .*; give --lang de"
    ):
        load_corpus(NAME, path, lang="es")
    with pytest.raises(UsageError, match="other sentences for each language"):
        load_corpus(NAME, path)
    path.rename(
        path.with_name("persons.tsv")
    )  # whoever has another name for it says which language it is
    assert len(load_corpus(NAME, path.with_name("persons.tsv"), lang="de").instances) == 7
    with pytest.raises(DataError, match="there is no such file"):
        load_corpus(NAME, path, lang="de")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {GROUPS: "[0]"},
            "expected a head and a label for each group of words, got 1 groups, 2 heads and 2 labels",
        ),
        ({HEADS: "0,2"}, "expected the number of one of 2 marked words, got '2'"),
        ({HEADS: "0,x"}, "expected the number of one of 2 marked words, got 'x'"),
        ({LABELS: "Male,Other"}, "expected Male, Female, Amb or na, got 'Other'"),
        (
            {MARKED: "[[Harburn]] met the [[baron]]."},
            "expected the source with marked words, got another sentence",
        ),
        ({"source": ""}, "source: expected a sentence, got nothing"),
    ],
)
def test_a_row_whose_parts_do_not_belong_together_is_one_line_with_its_place(
    write: Callable[..., Path], changed: dict[str, str], said: str
) -> None:
    path = write("a name, and a title with a name", **changed)
    with pytest.raises(DataError) as error:
        load_corpus(NAME, path, lang="de")
    assert str(error.value).startswith(f"{path}:2: ")
    assert said in str(error.value)


def test_a_file_without_a_column_is_refused(write: Callable[..., Path]) -> None:
    path = write()
    path.write_text(path.read_text(encoding="utf-8").replace(HEADS, "heads"), encoding="utf-8")
    with pytest.raises(DataError, match=HEADS):
        load_corpus(NAME, path, lang="de")


@pytest.fixture
def given(write: Callable[..., Path]) -> Path:
    """The human translations of the five sentences with persons, as ``source ||| target`` lines."""
    corpus = load_corpus(NAME, write(), lang="de")
    targets = {i.source: list(ROWS.values())[i.row][4] for i in corpus.instances}
    path = write().with_name("given.txt")
    path.write_text("".join(f"{s} ||| {t}\n" for s, t in targets.items()), encoding="utf-8")
    return path


def test_one_translation_serves_all_persons_of_its_sentence(
    write: Callable[..., Path], given: Path
) -> None:
    joined = read_translations(given, load_corpus(NAME, write(), lang="de").instances)
    texts = {translation.id: translation.text for translation in joined.translations}
    assert (
        texts["geneval-3-1"]
        == texts["geneval-3-2"]
        == "Die Herzogin von Newcastle las den Brief des Königs."
    )
    assert (
        texts["geneval-4-1"]
        == texts["geneval-4-2"]
        == "Die Bischöfin traf den Gesandten des Papstes."
    )
    assert joined.noticed["shared"] == 2  # five sentences for seven persons


@pytest.mark.slow
def test_its_persons_are_measured_by_morphology(
    write: Callable[..., Path], given: Path, stanza_dir: Path, tmp_path: Path
) -> None:
    settings = ScoreSettings(
        dataset=NAME, data=write(), stanza_dir=stanza_dir, resamples=0, cache_dir=tmp_path
    )
    run = mtbias.score(given, "de", settings=settings)
    by_id = {call.id: call.call.gender for call in run.calls}
    assert [by_id[f"geneval-{n}"] for n in ("3-1", "3-2", "4-1", "4-2")] == [F, M, F, M]
    assert run.metrics["overall"]["n"] == 7


def test_the_published_files(shared: Path) -> None:
    # Counted in the files by hand: labels Male and Female are 779 in German and 826 in Spanish.
    folder = shared / "data" / "mtgeneval" / "entities"
    sentences = shared / "data" / "mtgeneval" / "sentences"
    for lang, labelled, open_ in (("de", 779, 451), ("es", 826, 505)):
        corpus = load_corpus(NAME, folder, lang=lang)
        notes = {what: n for what, n in corpus.notes.items() if what.startswith("person left out")}
        assert len(corpus.instances) + sum(notes.values()) == labelled + open_
        assert notes["person left out: the source leaves the gender open"] == open_
        assert all(i.source[slice(*i.head)].strip() for i in corpus.instances)
        known = {i.source for i in load_corpus("mt-geneval", sentences, lang=lang).instances}
        assert {i.source for i in corpus.instances} <= known  # one file of translations serves both
