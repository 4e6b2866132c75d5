"""Gendered words and names swapped: every sentence here is ours."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mtbias.coref.counterfactual_quadruples import (
    Named,
    make_quadruple,
    name_people,
    originals,
    write_quadruples,
)
from mtbias.coref.gap_data import GapInstance, read_instances, write_instances
from mtbias.english.gender_swap import (
    Edit,
    GenderedWords,
    apply_edits,
    gendered_words,
    match_case,
    read_swaps,
    swap_words,
    tokenize,
)
from mtbias.english.people import (
    EXAMPLE_NAMES,
    Name,
    NameList,
    distances,
    match_names,
    matchings,
    people,
    proper_names,
    read_names,
)
from mtbias.errors import DataError
from mtbias.types import Analysis, Gender, Span, Token, Word
from tests.coref.small_corpora import gap_instance


def swapped(text: str, table: GenderedWords | None = None) -> str:
    tokens = tokenize(text)
    found = swap_words([t.text for t in tokens], table=table)
    return apply_edits(
        text, [Edit(tokens[s.index].start, tokens[s.index].end, s.new) for s in found]
    )[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He told his mother.", "She told her father."),
        ("SHE'S HERE, and he'd know.", "HE'S HERE, and she'd know."),
        ("Mr. Day met Mrs. Day and Miss Lane.", "Ms. Day met Mr. Day and Mr Lane."),
        ("I miss Sir Toby. Yes, sir!", "I miss Lady Toby. Yes, madam!"),
        ("Lord Dunn told the lord and Lady Dunn.", "Lady Dunn told the lady and Lord Dunn."),
        ("God help the lads, good Lord!", "God help the lasses, good Lord!"),
        ("His step-mother and mother-in-law", "Her step-father and father-in-law"),
        ("_His_ brother and the widow", "_Her_ sister and the widower"),
        ("Yes, ma'am, ma’am.", "Yes, sir, sir."),
        ("A fiancée and a Frenchman.", "A fiancé and a Frenchwoman."),
        ("They mentioned the therapist.", "They mentioned the therapist."),
        ("Herself? The dog is hers.", "Himself? The dog is his."),
    ],
)  # fmt: skip
def test_words_and_capitals(text: str, expected: str) -> None:
    assert swapped(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # An object: before punctuation, the end, or a closed-class word.
        ("They saw her.", "They saw him."),
        ("They saw her", "They saw him"),
        ("They gave her the book.", "They gave him the book."),
        ("They ran to her and sang.", "They ran to him and sang."),
        ("They know her too.", "They know him too."),
        ('They said, "We saw her" and left.', 'They said, "We saw him" and left.'),
        # A possessive: before a noun, an adjective, a number.
        ("They saw her house.", "They saw his house."),
        ("Her old car broke down.", "His old car broke down."),
        ("They met her two friends.", "They met his two friends."),
        ("This is her own work.", "This is his own work."),
        ("Her early train was late.", "His early train was late."),
        # After verbs that take more than an object.
        ("They let her go.", "They let him go."),
        ("They heard her singing outside.", "They heard him singing outside."),
        ("They heard her meeting was off.", "They heard his meeting was off."),
        ("It made her happy.", "It made him happy."),
        ("It made her happy mother laugh.", "It made his happy father laugh."),
        ("They left her speechless.", "They left him speechless."),
        ("They asked her mother.", "They asked his father."),
        ("It made her lead the way.", "It made him lead the way."),
        # Adverbs.
        ("They watched her closely.", "They watched him closely."),
        ("They watched her family.", "They watched his family."),
    ],
)
def test_her_without_ambiguity(text: str, expected: str) -> None:
    assert swapped(text) == expected
    assert not any(s.ambiguous for s in swap_words([t.text for t in tokenize(text)]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("They drove her back.", "They drove him back."),
        ("She lay on her back.", "He lay on his back."),
        ("They took her home.", "They took him home."),
        ("They praised her home.", "They praised his home."),
        ("They loved her more than ever.", "They loved him more than ever."),
        ("They liked her more recent books.", "They liked his more recent books."),
        ("They gave her money.", "They gave his money."),
        ("They called her Ann.", "They called him Ann."),
        ("They heard her laugh.", "They heard him laugh."),
        ("It was her incredibly long letter.", "It was his incredibly long letter."),
        ('It was her "friend" again.', 'It was his "friend" again.'),
    ],
)
def test_her_that_may_be_either_is_said_to_be(text: str, expected: str) -> None:
    assert swapped(text) == expected
    (guess,) = (s for s in swap_words([t.text for t in tokenize(text)]) if s.ambiguous)
    assert guess.new in {"him", "his"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is his.", "It is hers."),
        ("A friend of his was there.", "A friend of hers was there."),
        ("It is his will.", "It is her will."),
        ("I know his and Lee's house.", "I know her and Lee's house."),
        ("It is _his_ house.", "It is _her_ house."),
        ("They knew his “friend”.", "They knew her “friend”."),
    ],
)
def test_his(text: str, expected: str) -> None:
    assert swapped(text) == expected


def test_tags_decide_where_there_are_some() -> None:
    tokens = ["gave", "her", "money", "of", "his", "and", "her"]
    tags = ["VBD", "PRP", "NN", "IN", "PRP", "CC", "-"]
    # The second her has no tag: the rule sees the end of the sentence.
    found = [(s.index, s.new, s.ambiguous) for s in swap_words(tokens, tags=tags)]
    assert found == [(1, "him", False), (4, "hers", False), (6, "him", False)]
    assert [s.new for s in swap_words(["her", "him"], tags=["PRP$", "PRP"])] == ["his", "her"]


def test_fixed_tokens_stay_but_are_context() -> None:
    assert swap_words(["Queen", "saw", "her"], fixed=[0])[0].new == "him"
    assert len(swap_words(["Queen", "saw", "her"], fixed=[0])) == 1


def test_match_case() -> None:
    assert [match_case("she", old) for old in ("he", "He", "HE", "hE")] == [
        "she",
        "She",
        "SHE",
        "she",
    ]
    assert match_case("him", "H") == "Him"


def test_swapping_twice_comes_back_for_pairs() -> None:
    words = gendered_words().swaps
    both = [word for word, other in words.items() if words.get(other.lower()) == word]
    assert len(both) > 200
    assert all(match_case(words[words[w].lower()].lower(), w) == w for w in both)


def made(text: str, pronoun: str, a: str, b: str) -> GapInstance:
    found = text.index(f" {pronoun} ") + 1 if f" {pronoun} " in text else text.index(pronoun)
    return gap_instance("7", text, pronoun, found, a, text.index(a), True, b, text.rindex(b), False)


def tagged(text: str) -> Analysis:
    """As a tagger has it that calls every word with a capital a proper noun, but the text's first
    one."""
    words = [(m[0], Span(*m.span())) for m in re.finditer(r"\w+|[^\w\s]", text)]
    tags = [
        "PROPN" if word[0].isupper() and (span.start or word in KNOWN.gender) else "X"
        for word, span in words
    ]
    tokens = (
        Token(span, word, (Word(word, None, tag),))
        for (word, span), tag in zip(words, tags, strict=True)
    )
    return Analysis(text, tuple(tokens))


def proper(text: str) -> list[Span]:
    return list(
        proper_names(text, ((t.span, t.words[0].upos == "PROPN") for t in tagged(text).tokens))
    )


def named(instance: GapInstance, c: str, d: str) -> Named:
    return name_people(replace(instance, others={"C": c, "D": d}), KNOWN, proper(instance.text))


TEXT = "Ann told Bob and Carla Hill that she saw Dan's sister; Ann left her at home."


def test_quadruple_by_hand() -> None:
    instance = made(TEXT, "she", "Ann", "Carla Hill")
    quadruple = make_quadruple(instance, named(instance, "Bob", "Dan")).instances
    assert [i.text for i in quadruple] == [
        TEXT,
        "Carla Hill told Dan and Ann that she saw Bob's sister; Carla Hill left her at home.",
        # Ann and Bob, Carla Hill and Dan exchanged, and all gendered words.
        "Bob told Ann and Dan that he saw Carla Hill's brother; Bob left him at home.",
        # Ann and Dan, Carla Hill and Bob.
        "Dan told Carla Hill and Bob that he saw Ann's brother; Dan left him at home.",
    ]
    assert [i.id for i in quadruple] == ["7", "7-control", "7-swap-1", "7-swap-2"]
    assert [(*i.names, i.pronoun) for i in quadruple] == [
        ("Ann", "Carla Hill", "she"), ("Carla Hill", "Ann", "she"), ("Bob", "Dan", "he"), ("Dan", "Bob", "he"),
    ]  # fmt: skip
    # Counted in the sentences above.
    assert [(i.candidates[0].start, i.candidates[1].start, i.pronoun_at.start) for i in quadruple] == [
        (0, 17, 33), (0, 24, 33), (0, 17, 26), (0, 24, 33),
    ]  # fmt: skip
    assert {i.gold for i in quadruple} == {(True, False)}


def test_a_name_in_its_forms() -> None:
    """A surname behind a name and a title before it go with it; other words before it, and others'
    names, stay."""
    text = "Officer Ann King met Joy; Kingsley saw her. Ms King left Joy's house with Captain Max Day and Mr Dan Li."
    instance = made(text, "her", "Ann King", "Joy")
    control, swap, _ = make_quadruple(instance, named(instance, "Max", "Dan")).instances[1:]
    assert control.text == (
        "Officer Joy met Ann King; Kingsley saw her. Joy left Ann King's house with Captain Dan and Max."
    )
    assert (
        swap.text
        == "Officer Max met Dan; Kingsley saw him. Max left Dan's house with Captain Ann King and Joy."
    )
    assert swap.pronoun_at.start == swap.text.index("him")


def test_a_possessive_that_the_data_count_as_a_part_of_the_name() -> None:
    text = "Ann saw Joy's house; she met Max and Dan."
    instance = made(text, "she", "Ann", "Joy's")
    control, swap, _ = make_quadruple(instance, named(instance, "Max's", "Dan")).instances[1:]
    assert (control.text, *control.names) == (
        "Joy saw Ann's house; she met Dan and Max.",
        "Joy",
        "Ann's",
    )
    assert (swap.text, swap.names[1]) == ("Max saw Dan's house; he met Ann and Joy.", "Dan's")


def test_people_of_a_text() -> None:
    text = "Aunt Day told Ann Day that Mr Li, Max Lee and Max had seen Ann, Paris and God."
    found = [
        (p.name, p.gender, [text[slice(*m)] for m in p.mentions])
        for p in people(text, proper(text), KNOWN.gender)
    ]
    female, male = Gender.FEMALE, Gender.MALE
    assert found == [
        ("Aunt Day", female, ["Aunt Day", "Ann Day", "Ann"]),
        ("Mr Li", male, ["Mr Li"]),
        ("Max Lee", male, ["Max Lee", "Max"]),
        ("Paris", None, ["Paris"]),
    ]
    # Of two people whom it may name, a mention is of none; a title of the other gender is somebody
    # else's.
    text = "Max Day and Dan Day met Day and Mrs Day."
    assert [p.name for p in people(text, proper(text), KNOWN.gender)] == [
        "Max Day",
        "Dan Day",
        "Mrs Day",
    ]


def test_capitals_of_the_pronoun() -> None:
    instance = made("Ann met Joy. HER house is big.", "HER", "Ann", "Joy")
    swap = make_quadruple(instance, named(instance, "Bob", "Dan")).instances[2]
    assert (swap.text, swap.pronoun, swap.pronoun_at.start) == (
        "Bob met Dan. HIS house is big.",
        "HIS",
        13,
    )


def test_what_cannot_be_made() -> None:
    instance = made(TEXT, "she", "Ann", "Carla Hill")
    with pytest.raises(
        DataError, match="expected four different names, got 'Ann', 'Carla Hill', 'Ann', 'Dan'"
    ):
        make_quadruple(instance, named(instance, "Ann", "Dan"))
    with pytest.raises(DataError, match=r"7: expected one of he, .*, got 'that'"):
        named(made(TEXT, "that", "Ann", "Carla Hill"), "Bob", "Dan")
    with pytest.raises(DataError, match="A 'Ann' at 0 is part of a longer word or name"):
        make_quadruple(
            instance := made("Annie saw her and Joy.", "her", "Ann", "Joy"),
            named(instance, "Bob", "Dan"),
        )


def test_apply_edits() -> None:
    text, moved = apply_edits("abcdef", [Edit(4, 6, "X"), Edit(0, 1, "YYY")])
    assert text == "YYYbcdX"
    assert moved == {(0, 1): ("YYY", 0), (4, 6): ("X", 6)}


def name(text: str, gender: Gender, *frequencies: float, group: str = "sure") -> Name:
    return Name(text, group, gender, frequencies)


NAMES = [
    name("Bob", Gender.MALE, 4, 0), name("Dan", Gender.MALE, 0, 3), name("Max", Gender.MALE, 1, 1),
    name("Ann", Gender.FEMALE, 0, 2), name("Joy", Gender.FEMALE, 3, 0),
]  # fmt: skip
KNOWN = NameList("", tuple(NAMES))


def test_names_are_matched_by_least_total_distance() -> None:
    # u = (4, 0): with (3, 0) the distance is 1 · (12/11 - 1) = 1/11; with (0, 2) it is √20 · 12/11.
    bob, women = np.array([[4.0, 0.0]]), np.array([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    # A vector of zeros has cosine 0: 4 · 12/11.
    assert distances(bob, women)[0] == pytest.approx([1 / 11, 20**0.5 * 12 / 11, 48 / 11])
    # Two women, so the two most frequent men (sums 4 and 3) take part; Max has no counterpart.
    assert match_names(NAMES) == {"Bob": "Joy", "Joy": "Bob", "Dan": "Ann", "Ann": "Dan"}
    # One of each: the most frequent, Bob (4) and Joy (3).
    assert match_names(NAMES, max_names=1) == {"Bob": "Joy", "Joy": "Bob"}
    # Names given mostly to one gender are matched among themselves: here there is no other.
    assert match_names([NAMES[0], name("Kim", Gender.FEMALE, 4, 0, group="mostly")]) == {}


def of_other_gender(
    instance: GapInstance, names: NameList | None = None
) -> tuple[tuple[str, str], str]:
    found = name_people(instance, names or KNOWN, proper(instance.text))
    return found.names[2:], found.where


def test_people_of_the_other_gender() -> None:
    instance = made("Ann saw Joy; she left with Max and Dan.", "she", "Ann", "Joy")
    assert of_other_gender(instance) == (("Max", "Dan"), "text")
    # Columns C and D go first; Max and Dan are further people then.
    filled = replace(instance, others={"C": "Ed", "D": "Al"})
    assert of_other_gender(filled) == (("Ed", "Al"), "given")
    assert make_quadruple(filled, name_people(filled, KNOWN)).instances[3].others == {
        "C": "Joy",
        "D": "Ann",
    }
    # One in the text; for B, Joy, her counterpart Bob.
    instance = made("Ann saw Joy; she left with Max.", "she", "Ann", "Joy")
    assert of_other_gender(instance) == (("Max", "Bob"), "list")
    # The counterpart of Joy stands in the text already: the next most frequent.
    instance = made("Ann saw Joy; she left with Bob.", "she", "Ann", "Joy")
    assert of_other_gender(instance) == (("Bob", "Dan"), "list")
    women = NameList("", tuple(NAMES[3:]))
    with pytest.raises(DataError, match="no male name that is not in the text"):
        of_other_gender(made("Ann saw Joy; she met Bob of Dan, Max.", "she", "Ann", "Joy"), women)


def test_example_names() -> None:
    names = read_names(EXAMPLE_NAMES).names
    matched = match_names(names)
    gender = {n.text: n.gender for n in names}
    assert len(names) > 150
    assert all(gender[a] is not gender[b] and matched[b] == a for a, b in matched.items())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name\tgender\nAnn\tfemale\n", "one or more columns of frequencies"),
        ("name\tUS\nAnn\t1\n", "expected the column 'gender'"),
        ("name\tgender\tUS\nAnn\tf\t1\n", ", got 'Ann' and 'f'"),
        ("name\tgender\tUS\nAnn\tfemale\t-1\n", "US: expected a number of 0 or more, got '-1'"),
        ("name\tgender\tUS\nAnn\tfemale\tnan\n", "got 'nan'"),
        (
            "name\tgender\tUS\nAnn\tfemale\t1\nAnn\tmale\t1\n",
            r"n\.tsv:3: the name 'Ann' occurs twice",
        ),
    ],
)
def test_names_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "n.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_names(path)


def test_gender_guessers_format(tmp_path: Path) -> None:
    path, kinds = (
        tmp_path / "nam_dict.txt",
        {"M  Bo": "3", "?F Bo": "21", "1M Lee": " A", "?  Kim": "1", "F  Ann+Li": "D"},
    )
    lines = [f"{name:<30}{digits:<55}$" for name, digits in kinds.items()]
    path.write_text("\n".join(["# a remark", "=x Bo", *lines]), encoding="utf-8")
    names = read_names(path).names
    # Bo: in two countries as a woman's name, in one as a man's. Kim is of either gender.
    assert [(n.text, n.group, n.gender, n.frequencies[:2]) for n in sorted(names, key=lambda n: n.text)] == [
        ("Ann Li", "sure", "female", (13, 0)), ("Ann-Li", "sure", "female", (13, 0)),
        ("AnnLi", "sure", "female", (13, 0)), ("Bo", "mostly", "female", (2, 1)), ("Lee", "mostly", "male", (0, 10)),
    ]  # fmt: skip
    path.write_text("name\tgender\nAnn\tfemale\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"txt:1: expected a line of gender-guesser's nam_dict.txt, .*got 'name"
    ):
        read_names(path)


def test_gender_guessers_list_as_counter_gaps_program_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "nam_dict.txt"
    # Frequencies of Great Britain and three more countries. Bo: the last line of its kind counts,
    # and as a woman's name its sum is greater, in fewer countries. Kim is of either gender.
    lines = {"M  Bo": "9999", "M  Bo ": " 111", "?F Bo": " 4", "F  Ann": "7", "1M Lee": " A",
             "M  Kim": " 1", "?  Kim": " 2"}  # fmt: skip
    text = [f"{name:<30}{digits:<55}$" for name, digits in lines.items()]
    path.write_text("\n".join(text), encoding="utf-8")
    published = read_names(path, as_published=True).names
    assert [(n.text, n.group, n.gender, n.frequencies[:3]) for n in published] == [
        ("Bo", "mostly", "female", (4, 0, 0)),
        ("Ann", "sure", "female", (0, 0, 0)),
        ("Lee", "mostly", "male", (10, 0, 0)),
    ]
    assert [n.text for n in read_names(path).names if n.gender == "male"] == ["Bo", "Lee"]
    (mostly,) = matchings(published)
    # Of one direction: the cosine is 1, the distance (10 - 4) · (12/11 - 1).
    assert (mostly.group, mostly.pairs) == ("mostly", (("Lee", "Bo"),))
    assert mostly.distance == pytest.approx(6 / 11)
    table = tmp_path / "names.tsv"
    table.write_text("name\tgender\tEnglish\nAnn\tfemale\t1\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"expected gender-guesser's nam_dict.txt, to be read as pub"
    ):
        read_names(table, as_published=True)


def test_matched_names_by_a_command(tmp_path: Path, coref: Callable[..., str]) -> None:
    table, out = tmp_path / "names.tsv", tmp_path / "pairs.tsv"
    rows = ["name\tgender\tEnglish", "Ann\tfemale\t3", "Bo\tmale\t3", "Cy\tmale\t1"]
    table.write_text("\n".join(rows), encoding="utf-8")
    said = coref("match-names", "--names", table, "--out", out)
    assert said.splitlines()[:2] == ["names  pairs  distance", "sure       1    0.0000"]
    assert out.read_text(encoding="utf-8") == "Bo\tAnn\n"


def test_pairs_of_words(tmp_path: Path) -> None:
    path = tmp_path / "swaps.tsv"
    path.write_text("mr\tmadam\nboy\tlass\nlad\tlass\n\nLord\tLady\n", encoding="utf-8")
    table = read_swaps(path).words
    text = "The Lord and Mr Day told his boy, her lad, Miss Li, a lass and a man."
    assert (
        swapped(text, table)
        == "The Lady and Madam Day told her lass, his lass, Mr Li, a boy and a man."
    )
    path.write_text("boy\tgirl\nman\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"swaps.tsv:2: expected two words with a tab between, got 'man'"
    ):
        read_swaps(path)


def originals_of_a_file(folder: Path) -> Path:
    plain = made(TEXT, "she", "Ann", "Carla Hill")
    guess = made("Ann and Joy drove her back on Sunday.", "her", "Ann", "Joy")
    broken = made("Annie and Joy saw her.", "her", "Ann", "Joy")
    rows = [replace(r, id=str(n)) for n, r in enumerate((plain, guess, broken))]
    control = replace(plain, id="0-control")
    assert [i.id for i in originals([*rows, control])] == ["0", "1", "2"]
    data = folder / "in.tsv"
    data.write_text(write_instances([*rows, control]), encoding="utf-8", newline="")
    return data


def test_pairs_of_words_that_do_not_occur_are_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data, swaps = originals_of_a_file(tmp_path), tmp_path / "swaps.tsv"
    swaps.write_text("king\tqueen\n", encoding="utf-8")
    write_quadruples(
        data, tmp_path / "out.tsv", lambda texts: list(map(tagged, texts)), swaps=swaps
    )
    (record,) = caplog.records
    assert record.message == f"{data}: no word of {swaps} is in it: pronouns alone are swapped"


def test_a_file(tmp_path: Path) -> None:
    data, out = originals_of_a_file(tmp_path), tmp_path / "out.tsv"
    report = write_quadruples(data, out, lambda texts: list(map(tagged, texts)))
    counts = ("instances", "counterfactuals passed over", "quadruples written")
    assert [report.counts[name] for name in counts] == [4, 1, 2]
    assert report.failed == [
        "2: A 'Ann' at 0 is part of a longer word or name; it cannot be replaced"
    ]
    assert [place.partition(":")[0] for place in report.ambiguous] == ["1"]
    assert len(read_instances(out).instances) == 8


@pytest.mark.slow
def test_command(tmp_path: Path, coref: Callable[..., str], stanza_dir: Path) -> None:
    arguments = ["--data", originals_of_a_file(tmp_path), "--stanza-dir", stanza_dir]
    out, swaps = tmp_path / "out.tsv", tmp_path / "swaps.tsv"
    swaps.write_text("brother\tsis\n", encoding="utf-8")
    shown = coref("counterfactual", *arguments, "--out", out, "--swaps", swaps)
    assert "ambiguous: 1: …" in shown
    assert "swaps:given" in shown
    assert len(read_instances(out).instances) == 8
