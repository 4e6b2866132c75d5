"""A language from its two data files, and what can be looked up in it."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtbias.errors import PluginError
from mtbias.language.installed import get_language
from mtbias.plugin import Agreement, Language, NounKind, NounReading, Strategy, parse_agreements

HEADER = "english\tlemma\tgender\tparadigm\tforms\n"
TOML = """
[language]
code = "xh"
name = "Toy"
direction = "rtl"
family = "slavic"
case = true
attributes_follow = true
compounds = true
agent_endings = ["er"]
derivations = ["schaft", "heit"]
inclusive = "[a-z]\\\\*innen$"
weak = "m.nom.sg n.sg"
[tokens]
elisions = ["l'", "dell'"]
proclitics = ["w", "wal", "al"]
prefixes = ["ex"]
delete = "\\u0301"
[tokens.fold]
"ё" = "е"
"''" = '"'
[align]
endings = ["s", "ers", "er"]
min_stem = 3
[paradigms]
er = { strip = "", endings = ["", "s"] }
a = { strip = "a", endings = ["a/f.*.sg", "e/f.*.pl,m.*.pl"] }
[determiners]
"Der" = "m.nom.sg f.dat.sg"
"le" = "f.pl"
"beide" = "-"
[determiners_before_consonant]
"le" = "m.pl"
[adjective_endings]
"o" = "m.sg"
[noun_endings]
"in" = "f"
"trice" = "f"
"ice" = "-"
[noun_endings_except]
"Termin" = "-"
"cousin" = "m"
[first_parts]
"frau-" = "f"
"herr-" = "-"
[silent_determiners]
"ama" = "le Der"
[neutral_endings]
"X" = "O a"
[neutral_nouns]
compound = "Kraft kräfte"
epicene = "irgendkraft"
[names]
"Frau" = "f"
[prepositions]
"mit" = "dat"
"in" = "dat acc"
[verbs]
order = "both"
skip = ["Nicht"]
copulas = ["ist"]
oblique = ["et"]
[verbs.endings]
"la" = "f"
"ila" = "m.pl"
[verbs.words]
"mila" = "m.sg"
[verbs.short]
"gotowa" = "f"
"""
NOUNS = f"""# a comment
{HEADER}teacher|Instructor\tLehrer\tm\ter\tLehrern
teacher\tmaestra\tf\ta\t

teacher\tmaestr\tm\t\tmaestre
worker\tArbeiter\tm\ter\t
guest\tGast\tfixed\t\t
accountant\tро́е_chesb\tm\t\t
accountant\tрое_chesb_on\tf\t\t
lead\talfa\tm\t\t
"""
Package = Callable[..., Language]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Package]:
    """``package(toml, nouns)`` reads a language from a package with these data files; None leaves a
    file out."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(toml: str | bytes | None = TOML, nouns: str | bytes | None = NOUNS) -> Language:
        folder = tmp_path / "toy_language" / "data"
        folder.mkdir(parents=True)
        (folder.parent / "__init__.py").touch()
        importlib.invalidate_caches()
        for name, content in (("xh.toml", toml), ("xh_nouns.tsv", nouns)):
            if content is not None:
                (folder / name).write_bytes(
                    content.encode() if isinstance(content, str) else content
                )
        return Language.from_package("toy_language", "xh")

    yield make
    sys.modules.pop("toy_language", None)


def masculine(lemma: str) -> tuple[NounReading, ...]:
    return (NounReading(lemma, NounKind.MASCULINE, ()),)


# ----- reading


def test_every_rule_arrives(package: Package) -> None:
    language = package()
    assert (language.code, language.name, language.direction) == ("xh", "Toy", "rtl")
    assert (language.family, language.case, language.attributes_follow) == ("slavic", True, True)
    assert language.compounds
    assert (language.agent_endings, language.derivations) == (("er",), ("schaft", "heit"))
    assert language.elisions == ("dell'", "l'")  # longest first
    assert language.proclitics == ("wal", "al", "w")
    assert language.align_endings == ("ers", "er", "s")
    assert language.determiners == {
        "der": (Agreement("m", "nom", "sg"), Agreement("f", "dat", "sg")),
        "le": (Agreement("f", "*", "pl"),),
        "beide": (),
    }
    assert language.determiners_before_consonant == {"le": (Agreement("m", "*", "pl"),)}
    assert language.noun_endings == {
        "in": NounKind.FEMININE,
        "trice": NounKind.FEMININE,
        "ice": None,
    }
    assert language.noun_endings_except == {"termin": None, "cousin": NounKind.MASCULINE}
    assert language.first_parts == {"frau-": NounKind.FEMININE, "herr-": None}
    assert language.silent_determiners == {"ama": {"le", "der"}}
    assert language.weak == (Agreement("m", "nom", "sg"), Agreement("n", "*", "sg"))
    assert language.neutral_endings == {"x": {"o", "a"}}
    assert language.neutral_noun("LEHRKRAFT") == ("kraft", Strategy.COMPOUND)
    assert language.neutral_noun("irgendkraft") == ("irgendkraft", Strategy.EPICENE)
    assert language.neutral_noun("Gast") == ("", Strategy.EPICENE)
    assert language.names == {"frau": "f"}
    assert language.prepositions == {"mit": {"dat"}, "in": {"dat", "acc"}}
    assert language.verbs.order == "both"
    assert language.verbs.skip == {"nicht"}
    assert language.verbs.copulas == {"ist"}
    assert language.verbs.oblique == {"et"}
    assert language.verbs.endings == (
        ("ila", Agreement("m", "*", "pl")),
        ("la", Agreement("f", "*", "*")),
    )
    assert language.verbs.words == {"mila": Agreement("m", "*", "sg")}
    assert language.verbs.short == {"gotowa": Agreement("f", "*", "*")}


def test_nouns_with_their_forms(package: Package) -> None:
    language = package()
    assert language.nouns["lehrern"] == language.nouns["lehrers"] == masculine("Lehrer")
    assert language.nouns["maestra"] == (
        NounReading("maestra", NounKind.FEMININE, (Agreement("f", "*", "sg"),)),
    )
    # A form of two nouns has both readings, by lemma.
    assert language.nouns["maestre"] == (
        NounReading("maestr", NounKind.MASCULINE, ()),
        NounReading(
            "maestra", NounKind.FEMININE, (Agreement("f", "*", "pl"), Agreement("m", "*", "pl"))
        ),
    )
    # Both English words, in small letters, lead to all forms.
    assert language.glossary["instructor"] == {"lehrer", "lehrers", "lehrern"}
    assert language.glossary["teacher"] == language.glossary["instructor"] | {
        "maestra",
        "maestre",
        "maestr",
    }
    # A compound is kept by its first word, longest first; the stress mark is deleted, ё is е.
    assert [others for others, _ in language.phrases["рое"]] == [("chesb", "on"), ("chesb",)]
    assert language.glossary["accountant"] == {"рое"}


def test_the_version_is_the_datas_hash(package: Package) -> None:
    expected = hashlib.sha256(TOML.encode() + b"\0" + NOUNS.encode()).hexdigest()[:8]
    assert package().version == expected


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[align]", "[allign]", r"xh\.toml: unknown table \[allign\]; did you mean align\?"),
        ("copulas =", "copula =", r"xh\.toml \[verbs\] copula: unknown key; did you mean copulas"),
        (
            "min_stem =",
            "minstem =",
            r"xh\.toml \[align\] minstem: unknown key; did you mean min_stem\?",
        ),
        ('code = "xh"', "", r"\[language\] needs code and name"),
        ('name = "Toy"', "name = 3", r"\[language\] needs code and name"),
        (
            'direction = "rtl"',
            'direction = "up"',
            r"\[language\] direction: expected ltr or rtl; got 'up'",
        ),
        ("[align]", "[align", r"xh\.toml: .*at line 22"),
        (
            "m.nom.sg f",
            "m.nomi.sg f",
            r"\[determiners\] Der: expected gender\.case\.number .*got 'm\.nomi\.sg'",
        ),
        ('"o" = "m.sg"', '"o" = "x.sg"', r"\[adjective_endings\] o: .*got 'x\.sg'"),
        ('"o" = "m.sg"', '"o" = 3', r"a value is of another type than the format has"),
        ('"ila" = "m.pl"', '"ila" = "m.du"', r"\[verbs\.endings\] ila: .*got 'm\.du'"),
        (
            'weak = "m.nom.sg',
            'weak = "m.weak.sg',
            r"\[language\] weak: expected gender\.case\.number .*got 'm\.weak\.sg'",
        ),
        ('"X" = "O a"', '"X" = 3', r"a value is of another type than the format has"),
        (
            '"trice" = "f"',
            '"trice" = "n"',
            r"\[noun_endings\] trice: expected one of m, f, common.*got 'n'",
        ),
        ('"Frau" = "f"', '"Frau" = "w"', r"\[names\] Frau: expected one of m, f; got 'w'"),
        ('"e/f.*.pl,', '"e/f.pl.x,', r"xh_nouns\.tsv:4 paradigm a: .*got 'f\.pl\.x'"),
    ],
)
def test_a_rule_that_cannot_be_is_named_with_its_place(
    package: Package, old: str, new: str, message: str
) -> None:
    assert old in TOML
    with pytest.raises(PluginError, match=message):
        package(TOML.replace(old, new))


@pytest.mark.parametrize(
    ("nouns", "message"),
    [
        ("", r"xh_nouns\.tsv:1: expected columns english, lemma, gender"),
        ("lemma\tgender\n", r":1: expected columns english.*got \['lemma', 'gender'\]"),
        (f"{HEADER}cook\t\tm\t\t\n", r":2: expected a lemma"),
        (
            f"# c\n\n{HEADER}cook\tKoch\tx\t\t\n",
            r":4: expected a lemma and one of m, f, common.*'Koch', 'x'",
        ),
        (
            f"{HEADER}cook\tKoch\tm\tnone\t\n",
            r":2: no paradigm 'none' in \[paradigms\]; there are a, er",
        ),
        (
            f"{HEADER}cook\tKoch\tm\ta\t\n",
            r":2: 'Koch' does not end in 'a', which paradigm 'a' cuts",
        ),
        (f"{HEADER}cook\tKoch\tm\t\tKöche\tKöchen\n", r":2: expected at most 5 columns, got 6"),
        (HEADER.encode() + b"cook\tK\xf6chin\tf\t\t\n", r"xh_nouns\.tsv: expected UTF-8"),
    ],
)
def test_a_noun_that_cannot_be_is_named_with_its_line(
    package: Package, nouns: str | bytes, message: str
) -> None:
    with pytest.raises(PluginError, match=message):
        package(nouns=nouns)


def test_a_missing_file_is_named(package: Package) -> None:
    with pytest.raises(
        PluginError, match=r"language 'xh': toy_language lacks a data file: .*xh_nouns\.tsv"
    ):
        package(nouns=None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("m.nom.sg", [("m", "nom", "sg")]),
        ("m.nom.sg, f.dat.pl", [("m", "nom", "sg"), ("f", "dat", "pl")]),
        ("*.*.pl n.sg", [("*", "*", "pl"), ("n", "*", "sg")]),
        ("-", []),
        ("", []),
    ],
)
def test_analyses(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert list(parse_agreements(text, where="here")) == expected


@pytest.mark.parametrize("text", ["m", "m.nom.sg.x", "nom.m.sg", "mf.sg", "m.nom.", ".sg"])
def test_what_is_no_analysis(text: str) -> None:
    with pytest.raises(PluginError, match="here: expected gender"):
        parse_agreements(text, where="here")


# ----- looking up


@pytest.mark.parametrize(
    ("form", "lemmas"),
    [
        ("Lehrer", ["Lehrer"]),
        ("LEHRERN", ["Lehrer"]),
        ("alLehrer", ["Lehrer"]),  # behind a written-on article
        ("walLehrer", ["Lehrer"]),
        ("alfa", ["alfa"]),  # the whole word before the cut one
        ("exmaestra", ["maestra"]),
        ("ex-maestra", ["maestra"]),
        ("Bauarbeiter", ["Arbeiter"]),  # an unknown compound by its last part
        ("bauarbeiter", []),  # but only as a noun is written
        ("Bau1arbeiter", []),
        ("Frau-arbeiter", ["frau-arbeiter"]),
        ("Leh\u00adrer", ["Lehrer"]),  # a soft hyphen
        ("Gärtner", []),
        ("", []),
    ],
)
def test_nouns_are_found_by_any_form(package: Package, form: str, lemmas: list[str]) -> None:
    assert [r.lemma for r in package().noun(form)] == lemmas


def test_a_row_of_the_table_is_not_derived_from_itself(package: Package) -> None:
    language = package()
    assert language.noun("maestra")
    assert language.derived("maestra") == ()
    assert [r.lemma for r in language.derived("exmaestra")] == ["maestra"]


def test_prefixes_are_cut_one_after_another(package: Package) -> None:
    language = package(TOML.replace('["ex"]', '["ex", "vi"]'))
    for word in ("exexmaestra", "ex-ex-maestra", "vi-exmaestra", "ExViExMaestra"):
        assert [r.lemma for r in language.noun(word)] == ["maestra"]
    for word in ("exex", "ex-", "exvimaestrina"):
        assert language.noun(word) == ()


@pytest.mark.parametrize(
    ("form", "lemmas"),
    [
        ("Kronzeuge", ["Zeuge"]),
        ("Flugzeuge", []),  # an ending that says nothing
        ("Zeuge", ["Zeuge"]),  # the word itself stands in the table
        ("100-Meter-Zeuge", ["Zeuge"]),  # a number first
    ],
)
def test_an_ending_that_says_nothing_goes_before_the_last_part(
    form: str, lemmas: list[str]
) -> None:
    witness = NounReading("Zeuge", NounKind.MASCULINE, ())
    language = Language(
        "de", "Toy", compounds=True, nouns={"zeuge": (witness,)}, noun_endings={"gzeuge": None}
    )
    assert [r.lemma for r in language.noun(form)] == lemmas


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        ("Cembalist", NounKind.MASCULINE),
        ("Cembalisten", NounKind.MASCULINE),
        ("Zapfenstreichtler", NounKind.MASCULINE),
        ("Numerator", NounKind.MASCULINE),
        ("Xylografen", NounKind.MASCULINE),
        ("Stromgenerator", None),
        ("Seismografen", None),
        ("Wartelisten", None),
        ("Bewerbungsfrist", None),
        ("Zeitgeist", None),
        ("Stein", None),
        ("Captain", None),
        ("Cleaner", None),
        ("Arzttermin", None),
    ],
)
def test_german_endings_of_people_and_of_things(form: str, kind: NounKind | None) -> None:
    ending = get_language("de").ending(form)
    assert (ending[1] if ending else None) is kind


@pytest.mark.parametrize(
    "form", ["Werkzeuge", "Oktober", "Europas", "Oberschenkel", "Krankenhäusern", "Urkunde"]
)
def test_no_german_person_is_the_end_of_another_word(form: str) -> None:
    assert get_language("de").noun(form) == ()


def test_first_parts_and_inclusive_forms_decide_for_the_whole_word(package: Package) -> None:
    language = package()
    assert [r.kind for r in language.noun("Frau-arbeiter")] == [NounKind.FEMININE]
    assert [r.kind for r in language.noun("Lehrer*innen")] == [NounKind.INCLUSIVE]
    assert [r.kind for r in language.noun("herr-Lehrer")] == [
        NounKind.MASCULINE
    ]  # cut off, saying nothing


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("Gärtnerin", ("in", NounKind.FEMININE)),
        ("direttrice", ("trice", NounKind.FEMININE)),  # the longest ending
        ("radice", None),  # an ending that says nothing
        ("Termin", None),
        ("alTermin", None),
        ("Cousin", ("cousin", NounKind.MASCULINE)),
        ("in", None),  # something must be left before the ending
        ("xin", None),
        ("Gärtner", None),
    ],
)
def test_endings(package: Package, form: str, expected: tuple[str, NounKind] | None) -> None:
    assert package().ending(form) == expected


def test_compounds_of_several_words(package: Package) -> None:
    language = package()
    assert language.phrase(["рое", "chesb", "on", "x"]) == (
        3,
        NounReading("рое_chesb_on", NounKind.FEMININE, ()),
    )
    assert language.phrase(["рое", "chesb", "x"]) == (
        2,
        NounReading("ро́е_chesb", NounKind.MASCULINE, ()),
    )
    assert language.phrase(["wрое", "alchesb"]) == (
        2,
        NounReading("ро́е_chesb", NounKind.MASCULINE, ()),
    )
    assert language.phrase(["рое"]) is None
    assert language.phrase(["chesb", "on"]) is None


@pytest.mark.parametrize(
    ("form", "stem"),
    [("lehrers", "lehr"), ("lehrer", "lehr"), ("ers", "ers"), ("mers", "mer"), ("käse", "käse")],
)
def test_stems(package: Package, form: str, stem: str) -> None:
    # endings ers, er, s; three letters must be left
    assert package().stem(form) == stem


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("L'arbeiter, dell’ARBEITER!", ["l'", "arbeiter", "dell'", "arbeiter"]),
        ("l' arbeiter", ["l'", "arbeiter"]),
        ("'arbeiter' d'ici", ["arbeiter", "d'ici"]),  # quotation marks; an apostrophe inside
        ("Frau-Arbeiter Lehrer*innen Lehrer:in", ["frau-arbeiter", "lehrer*innen", "lehrer:in"]),
        ("рое́ ёж 3a _", ["рое", "еж", "3a", "_"]),
        ("רו״ח ר''ח", ['רו"ח', 'ר"ח']),
        ("Leh\u00adrer…", ["lehrer"]),
        ("", []),
        ("… — !", []),
    ],
)
def test_tokens(package: Package, text: str, forms: list[str]) -> None:
    tokens = package().tokens(text)
    assert [t.form for t in tokens] == forms
    assert all(text[slice(*t.span)] == t.text for t in tokens)


def test_an_abbreviated_title_is_one_word() -> None:
    language = Language(code="it", name="Toy", names={"sig.ra": "f", "sig.": "m", "gav'": "f"})
    assert [t.form for t in language.tokens("La Sig.ra Rossi, il sig. Bianchi e gav' Levi.")] == [
        "la", "sig.ra", "rossi", "il", "sig.", "bianchi", "e", "gav'", "levi",
    ]  # fmt: skip
    assert [t.form for t in language.tokens("Un insig. sigra")] == ["un", "insig", "sigra"]


@pytest.mark.parametrize(
    ("words", "size"),
    [
        (["لعامل", "البناء"], 2),
        (["عامل", "بناء"], 2),
        (["العامل", "ببناء"], None),  # "the worker set about building"
        (["العامل", "والبناء"], None),
    ],
)
def test_later_words_of_a_compound_have_no_preposition(words: list[str], size: int | None) -> None:
    reading = NounReading("عامل بناء", NounKind.MASCULINE, ())
    cut = ("وال", "ال", "ب", "ل")
    language = Language(
        code="ar",
        name="Toy",
        proclitics=cut,
        definite="^و?ال",
        phrases={"عامل": ((("بناء",), reading),)},
    )
    found = language.phrase(words)
    assert (found and found[0]) == size


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ('מנכ "ל החברה', ['מנכ"ל', "החברה"]),
        ('והמנכ" ל פרש', ['והמנכ"ל', "פרש"]),
        ("עו ״ד לוי", ['עו"ד', "לוי"]),
        ('אמר "לא" למנכ"ל', ["אמר", "לא", 'למנכ"ל']),  # a quotation
        ('הוא "עו "ד', ["הוא", 'עו"ד']),
    ],
)
def test_an_abbreviation_cut_in_two_is_one_word(text: str, forms: list[str]) -> None:
    readings = (NounReading("x", NounKind.COMMON, ()),)
    language = Language(
        code="he", name="Toy", proclitics=("וה", "ל"), nouns={'מנכ"ל': readings, 'עו"ד': readings}
    )
    tokens = language.tokens(text)
    assert [t.form for t in tokens] == forms
    assert all(text[slice(*t.span)] == t.text for t in tokens)
    assert language.facts(tokens[0].text).form == forms[0]


def test_the_script_is_that_of_the_nouns() -> None:
    assert get_language("de").latin
    assert get_language("cs").latin
    assert not get_language("ru").latin
    assert not get_language("ar").latin
    assert not get_language("he").latin


@given(text=st.text(max_size=80), code=st.sampled_from(["ar", "de", "fr", "he", "it", "uk"]))
def test_tokens_of_any_text_stand_in_it_in_order(text: str, code: str) -> None:
    language = get_language(code)
    last = 0
    for token in language.tokens(text):
        assert last <= token.span.start < token.span.end
        assert text[slice(*token.span)] == token.text
        assert not any(c.isalnum() for c in text[last : token.span.start])
        last = token.span.end
    assert not any(c.isalnum() for c in text[last:])


@given(text=st.text(max_size=80), code=st.sampled_from(["ar", "de", "fr", "he", "it", "uk"]))
def test_folding_twice_changes_nothing_more(text: str, code: str) -> None:
    language = get_language(code)
    assert language.fold(language.fold(text)) == language.fold(text)


@pytest.mark.parametrize(
    ("code", "form", "kinds"),
    [
        ("ru", "лордах-покровителях", {NounKind.MASCULINE}),
        ("ru", "мать-одиночка", {NounKind.FEMININE}),
        ("ru", "врач-пенсионерка", {NounKind.FEMININE}),  # the second shows the woman
        ("es", "actriz-cantante", {NounKind.FEMININE}),
        ("ru", "врач-камень", set()),  # a stone is nobody
        ("ru", "актриса-жертва", set()),  # of fixed gender
        ("ru", "детей-бродяг", {NounKind.FIXED}),  # the first is
        (
            "ru",
            "мальчика-пастушка",
            {NounKind.MASCULINE},
        ),  # as a nominative the second would be a woman
        ("ru", "рэп-исполнителя", {NounKind.MASCULINE}),
        ("ru", "рэп-исполнительницы", {NounKind.FEMININE}),
        ("es", "superatleta", {NounKind.COMMON}),
    ],
)
def test_two_nouns_with_a_hyphen_are_one_person(code: str, form: str, kinds: set[NounKind]) -> None:
    assert {r.kind for r in get_language(code).noun(form)} == kinds
