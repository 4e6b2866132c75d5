"""Counterfactual corpora: what is swapped, what is left out, controls, and the real BUG and
WinoMT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtbias.corpora import count_pronouns, load_corpus
from mtbias.corpora.counterfactual_pairs import (
    BOTH,
    COUNTERPART,
    ENTITY,
    INDEFINITE,
    JOINED,
    NEUTRAL,
    NO_DETERMINER,
    NO_PRONOUN,
    NOT_GOLD,
    OTHERS,
    SWAP,
    UNKNOWN,
    make_counterfactual,
    write_counterfactual,
)
from mtbias.corpora.own_sentences import write_custom
from mtbias.errors import DataError, OutputError, SettingError
from mtbias.mining.corpus_balance import describe
from mtbias.types import Gender, Instance, Span, Stereotype

M, F, N = Gender.MALE, Gender.FEMALE, Gender.NEUTRAL


def instance(
    source: str, entity: str = "doctor", gold: Gender | None = M, id_: str = "a"
) -> Instance:
    head = entity.rsplit(maxsplit=1)[-1]
    start = source.lower().index(entity.lower()) + len(entity) - len(head)
    span = Span(start, start + len(head))
    return Instance(
        id_,
        0,
        source,
        span,
        entity.lower(),
        gold,
        Stereotype.PRO,
        "x",
        count_pronouns(source),
        distance=3,
    )


def swapped(source: str, entity: str = "doctor", gold: Gender = M) -> str:
    made = make_counterfactual([instance(source, entity, gold)])
    return made[0][1].source


@pytest.mark.parametrize(
    ("he", "she"),
    [
        ("He is the doctor , he said .", "She is the doctor , she said ."),
        ("The doctor lost his keys .", "The doctor lost her keys ."),
        ("We saw the doctor and asked him .", "We saw the doctor and asked her ."),
        ("The doctor hurt himself .", "The doctor hurt herself ."),
        ("To the doctor , the car is his .", "To the doctor , the car is hers ."),
        ("THE DOCTOR LOST HIS KEYS .", "THE DOCTOR LOST HER KEYS ."),
        ("The doctor says he's late; “he” is.", "The doctor says she's late; “she” is."),
        (
            "Mary is a doctor who likes his work .",
            "Mary is a doctor who likes her work .",
        ),  # names stay
    ],
)
def test_pronouns_are_swapped_either_way_and_nothing_else(he: str, she: str) -> None:
    assert swapped(he) == she
    assert swapped(she, gold=F) == he


def test_gender_and_stereotype_turn_and_the_rest_stays() -> None:
    original = instance(
        "His doctor , the construction worker , said he slept .", "construction worker"
    )
    first, second = make_counterfactual([original])[0]
    assert second.source == "Her doctor , the construction worker , said she slept ."
    assert (first, second.id) == (replace(original, pair="a-swap"), "a-swap")
    assert (second.gold, second.stereotype, second.pair, second.control) == (
        F,
        Stereotype.ANTI,
        "a",
        None,
    )
    assert (second.entity, second.domain, second.distance, second.pronouns) == (
        "construction worker",
        "x",
        3,
        2,
    )
    assert second.source[slice(*second.head)] == "worker"
    none = make_counterfactual([replace(original, stereotype=Stereotype.NONE)])[0]
    assert [i.stereotype for i in none] == [Stereotype.NONE, Stereotype.NONE]


def test_the_entity_moves_with_longer_words_before_it() -> None:
    made = make_counterfactual([instance("He thinks himself a doctor , he says .")])
    assert made[0][1].source == "She thinks herself a doctor , she says ."
    assert [i.head for i in made[0]] == [
        Span(20, 26),
        Span(21, 27),
    ]  # She is longer by one, herself is not


@pytest.mark.parametrize(
    ("source", "entity", "gold", "reason"),
    [
        ("The doctor lost their keys .", "doctor", N, NEUTRAL),
        ("The doctor lost her keys .", "doctor", None, UNKNOWN),
        ("The doctor slept .", "doctor", M, NO_PRONOUN),
        ("The doctor told her that he slept .", "doctor", M, BOTH),
        ("A doctor knows his or her limits .", "doctor", M, BOTH),
        ("A doctor knows what s/he can do .", "doctor", M, BOTH),
        ("A doctor knows what (s)he can do .", "doctor", M, BOTH),
        ("The doctor lost his keys .", "doctor", F, NOT_GOLD),
        ("The waitress lost her keys .", "waitress", F, ENTITY),
        ("The fisherman lost his keys .", "fisherman", M, ENTITY),
        ("The doctor and his wife slept .", "doctor", M, OTHERS),
        ("The doctor told Mr. Smith that he slept .", "doctor", M, OTHERS),
        ("The doctor and the milkman lost his keys .", "doctor", M, OTHERS),
        ("The doctor wrote _he_ on a card .", "doctor", M, JOINED),
    ],
)
def test_what_has_no_twin_is_left_out_with_its_reason(
    source: str, entity: str, gold: Gender | None, reason: str
) -> None:
    made = make_counterfactual([instance(source, entity, gold)])
    assert (made[0], made[1].swapped, made[1].left_out) == ((), 0, {reason: 1})
    assert made[1].examples == {reason: ("a",)}


@pytest.mark.parametrize("word", ["human", "specimen", "German", "Coleman", "title", "county"])
def test_words_that_only_look_gendered_stay(word: str) -> None:
    assert make_counterfactual([instance(f"The doctor liked his {word} .")])[1].swapped == 1


def test_guesses_are_named() -> None:
    guess = instance("The doctor took it well when they gave her flowers .", gold=F)
    made = make_counterfactual([guess])
    assert made[1].ambiguous == [("a", "when they gave her flowers .")]
    assert made[1].swapped == 1


def test_of_twins_that_the_corpus_has_the_mans_sentence_is_swapped() -> None:
    woman = replace(instance("The doctor slept as they gave her tea .", gold=F, id_="w"), pair="m")
    man = replace(instance("The doctor slept as they gave him tea .", id_="m"), pair="w")
    made = make_counterfactual([woman, man])
    assert [i.id for i in made[0]] == ["m", "m-swap"]
    assert made[1].left_out == {COUNTERPART: 1}
    assert made[0][1].source == woman.source


@pytest.mark.parametrize(
    ("source", "control"),
    [
        ("The doctor lost his keys .", "This doctor lost his keys ."),
        ("THE DOCTOR LOST HIS KEYS .", "THIS DOCTOR LOST HIS KEYS ."),
        ("He met a doctor .", "He met this doctor ."),
        ("He met “ the doctor ” .", "He met “ this doctor ” ."),
        ("He met (the doctor) .", "He met (this doctor) ."),
        ("This doctor lost his keys .", "The doctor lost his keys ."),
        ("The doctor 's keys are his .", "This doctor 's keys are his ."),
    ],
)
def test_a_control_has_another_determiner(source: str, control: str) -> None:
    made = make_counterfactual([instance(source)], controls=True)
    assert made[0][1].source == control
    assert made[1].with_controls == 1


@pytest.mark.parametrize(
    ("source", "entity", "control"),
    [
        ("He met the doctors .", "doctors", "He met these doctors ."),
        ("He met these doctors .", "doctors", "He met the doctors ."),
        ("He met all the people there .", "people", "He met all these people there ."),
        ("He met the boss .", "boss", "He met this boss ."),
        (
            "He met the construction worker .",
            "construction worker",
            "He met this construction worker .",
        ),
    ],
)
def test_a_control_keeps_the_number(source: str, entity: str, control: str) -> None:
    assert make_counterfactual([instance(source, entity)], controls=True)[0][1].source == control


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("He is a doctor .", INDEFINITE),
        ("He works as a doctor .", INDEFINITE),
        ("He met such a doctor .", INDEFINITE),
        ("His doctor slept .", NO_DETERMINER),
        ("Doctor Smith lost his keys .", NO_DETERMINER),
        ("He met the young doctor .", NO_DETERMINER),
        ("He said that doctor slept .", NO_DETERMINER),
        ("As he said , the , doctor slept .", NO_DETERMINER),
    ],
)
def test_without_a_determiner_to_change_there_is_no_control(source: str, reason: str) -> None:
    made = make_counterfactual([instance(source)], controls=True)
    assert [i.control for i in made[0]] == [None, None]
    assert made[1].without_control == {reason: 1}
    assert make_counterfactual([instance(source)])[1].without_control == {}


def test_a_quadruple_is_linked_all_around() -> None:
    made = make_counterfactual([instance("He asked the doctor .")], controls=True)
    assert [(i.id, i.source, i.gold, i.pair, i.control) for i in made[0]] == [
        ("a", "He asked the doctor .", "male", "a-swap", "a-control"),
        ("a-control", "He asked this doctor .", "male", "a-swap-control", "a"),
        ("a-swap", "She asked the doctor .", "female", "a", "a-swap-control"),
        ("a-swap-control", "She asked this doctor .", "female", "a-control", "a-swap"),
    ]
    assert {i.source[slice(*i.head)] for i in made[0]} == {"doctor"}


def test_an_id_that_would_come_twice_is_refused() -> None:
    rows = [instance("The doctor lost his keys .", id_=id_) for id_ in ("a", "a-swap")]
    with pytest.raises(
        DataError,
        match="expected ids that no new sentence would get, got 'a-swap'; rename this row",
    ):
        make_counterfactual(rows)


def check_written(made: Sequence[Instance], path: Path) -> None:
    """The file says the same as the instances."""
    write_custom(path, made)
    read = load_corpus("custom", path)
    assert read.notes == {}
    assert read.instances == tuple(replace(i, corpus_pronouns=None) for i in made)


WORDS = st.sampled_from(
    [
        "he",
        "his keys",
        "himself",
        "He 's",
        "we",
        "Ann",
        "the car",
        "”",
        ",",
        "'s",
        "й",
        "e\u0301",
        "医者",
        "so",
    ]
)


@given(st.lists(WORDS, max_size=6), st.lists(WORDS, max_size=6), st.booleans())
def test_swapping_twice_gives_the_original(
    before: list[str], after: list[str], controls: bool
) -> None:
    source = " ".join([*before, "he told the doctor", *after, "."])
    original = instance(source)
    made = make_counterfactual([original], controls=controls)
    swapped = next(i for i in made[0] if i.id == "a" + SWAP)
    assert swapped.source != source
    back = make_counterfactual([swapped])
    if not back[1].ambiguous:
        again = back[0][1]
        assert (again.source, again.head, again.gold, again.stereotype) == (
            source,
            original.head,
            M,
            Stereotype.PRO,
        )


@pytest.mark.parametrize("suffix", [".tsv", ".jsonl"])
def test_what_is_written_is_read_again(suffix: str, tmp_path: Path) -> None:
    rows = [
        instance("“ The doctor ” ,\u2028he said", id_="1"),
        instance("The site 's construction worker lost his keys .", "construction worker", id_="2"),
        replace(instance("The doctor 's keys are his .", id_="3"), distance=None),
    ]
    check_written(make_counterfactual(rows, controls=True)[0], tmp_path / f"made{suffix}")


def test_a_tab_in_a_sentence_is_refused_in_tsv(tmp_path: Path) -> None:
    made, _ = make_counterfactual([instance("The doctor\tlost his keys .")])
    with pytest.raises(
        SettingError, match=r"expected a name that ends in \.csv, since 'The doctor.tlost his keys"
    ):
        write_custom(tmp_path / "a.tsv", made)
    write_custom(tmp_path / "a.csv", made)
    assert (
        load_corpus("custom", tmp_path / "a.csv").instances[0].source
        == "The doctor\tlost his keys ."
    )


def test_the_corpus_stays_and_what_was_left_out_of_it_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(
        "source\tgender\tentity\tnote\nThe doctor lost his keys.\tm\tdoctor\tx\n", encoding="utf-8"
    )
    corpus = load_corpus("custom", path)
    with pytest.raises(OutputError, match="expected another file than those that are read"):
        write_counterfactual(corpus, path)
    made = write_counterfactual(corpus, tmp_path / "b.tsv")
    assert made.notes == describe(corpus).notes == {"column not used: note": 1}
    assert f"|data:{corpus.sha256[:12]}" in made.signature


# ----- real corpora


@pytest.fixture(scope="module")
def bug(shared: Path) -> tuple[Instance, ...]:
    return load_corpus("bug-gold", shared / "data" / "bug" / "gold_BUG.csv").instances


@pytest.mark.parametrize("suffix", [".tsv", ".jsonl"])
def test_the_real_gold_bug_is_written_and_read(
    bug: tuple[Instance, ...], suffix: str, tmp_path: Path
) -> None:
    made = make_counterfactual(bug, controls=True)
    assert made[1].swapped + sum(made[1].left_out.values()) == len(bug)
    assert made[1].with_controls + sum(made[1].without_control.values()) == made[1].swapped > 1300
    assert len(made[0]) == 2 * made[1].swapped + 2 * made[1].with_controls
    heads = {i.id: i.source[slice(*i.head)] for i in made[0]}
    for i in bug:
        if i.id in heads:
            assert heads[i.id] == heads[i.id + SWAP] == i.source[slice(*i.head)]
    check_written(made[0], tmp_path / f"made{suffix}")


def test_swapping_the_real_gold_bug_twice(bug: tuple[Instance, ...]) -> None:
    originals = {i.id: i for i in bug}
    there = make_counterfactual(bug)
    guessed = {id_ for id_, _ in there[1].ambiguous}
    swapped = [i for i in there[0] if i.id.endswith(SWAP)]
    back = make_counterfactual([replace(one, pair=None) for one in swapped])
    assert back[1].left_out == {}
    guessed |= {id_.removesuffix(SWAP) for id_, _ in back[1].ambiguous}
    others = [
        i for i in back[0] if i.id.endswith(SWAP + SWAP) and i.id[: -2 * len(SWAP)] not in guessed
    ]
    differ = [i.id for i in others if i.source != originals[i.id[: -2 * len(SWAP)]].source]
    # Six sentences, all of men: the way there is right, but on the way back the rule for "her"
    # reads an object as a possessive or the other way round, and takes it for sure ("depicting her
    # using", "her May 2017 testimony").
    assert (len(differ), {there_.gold for there_ in swapped if there_.id + SWAP in differ}) == (
        6,
        {F},
    )
    assert len(others) > 0.95 * len(swapped)  # few are guesses


def test_the_men_of_the_real_winomt_become_the_women_that_its_authors_wrote(winomt: Path) -> None:
    corpus = load_corpus("winomt", winomt)
    rows = {i.id: i for i in corpus.instances}
    made = make_counterfactual(corpus.instances, controls=True)
    pairs = [
        (i, rows[rows[i.id.removesuffix(SWAP)].pair or ""]) for i in made[0] if _is_twin(i, rows)
    ]
    differ = [
        (ours.source, theirs.source) for ours, theirs in pairs if ours.source != theirs.source
    ]
    # The one difference is a slip of WinoMT, whose woman "tried to hide his behavior".
    assert differ == [
        (
            "The clerk tried to hide her behavior from the manager but failed to trick her.",
            "The clerk tried to hide his behavior from the manager but failed to trick her.",
        )
    ]
    assert len(pairs) == 1792
    assert Counter(ours.gold for ours, _ in pairs) == {F: 1792}
    assert {
        (theirs.gold, theirs.stereotype) == (ours.gold, ours.stereotype) for ours, theirs in pairs
    } == {True}
    assert made[1].with_controls == 1782


def _is_twin(i: Instance, rows: dict[str, Instance]) -> bool:
    """Whether `i` is the swap of a man whom the corpus itself has as a woman too."""
    original = rows.get(i.id.removesuffix(SWAP))
    return (
        i.id.endswith(SWAP)
        and original is not None
        and original.gold is M
        and original.pair is not None
    )
