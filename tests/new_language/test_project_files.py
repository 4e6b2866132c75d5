"""A draft as a project: installed for real, its contract run, and every table of the format in its
questions."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.errors import SettingError, UsageError
from mtbias.language import data_files
from mtbias.language.definition import Language
from mtbias.new_language.lexica import read_lexicon
from mtbias.new_language.policy_rows import read_policy_rows
from mtbias.new_language.project_files import Draft, check_draft, relatives, write_draft
from mtbias.testing import contract_problems
from scripts.label_sets.policy import read_policy
from scripts.labelled import SHIPPED
from tests.new_language.lexica_files import LIST, UNIMORPH, write


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A draft of Portuguese from lexica in each format."""
    folder = tmp_path_factory.mktemp("draft")
    paths = write(folder, names=LIST, forms=UNIMORPH)
    draft = Draft(
        "pt", "Portuguese", tuple(read_lexicon(path) for path in paths), ("Stanza: has words",)
    )
    write_draft(draft, folder / "mtbias-portuguese")
    return folder / "mtbias-portuguese"


def test_the_files(project: Path) -> None:
    assert sorted(
        str(path.relative_to(project)) for path in project.rglob("*") if path.is_file()
    ) == [
        "README.md",
        "challenge/pt.tsv",
        "mtbias_portuguese/__init__.py",
        "mtbias_portuguese/data/pt.toml",
        "mtbias_portuguese/data/pt_nouns.tsv",
        "pyproject.toml",
        "tests/test_contract.py",
    ]
    entry = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert entry["entry-points"] == {"mtbias.languages": {"pt": "mtbias_portuguese:PORTUGUESE"}}
    readme = (project / "README.md").read_text(encoding="utf-8")
    assert "- Stanza: has words\n" in readme
    assert "6 rows to check" in readme


def test_the_rules_are_toml_and_ask_for_every_table_and_key(project: Path) -> None:
    text = (project / "mtbias_portuguese" / "data" / "pt.toml").read_text(encoding="utf-8")
    rules = tomllib.loads(text)
    assert rules["language"]["direction"] == "ltr"
    assert rules["paradigms"]["whole1"] == {"strip": "", "endings": ["/*.*.sg", "s/*.*.pl"]}
    assert set(rules) == data_files._TABLES - {"extra"}
    for table, keys in data_files._KEYS.items():
        own = text[text.index(f"[{table}]") :]
        # A key is set, shown in a comment, or a table inside this one.
        missing = [
            k
            for k in keys
            if f"\n{k} =" not in own and f"\n# {k} =" not in own and f"[{table}.{k}]" not in own
        ]
        assert missing == [], table


def test_nothing_of_a_lexicon_is_read_before_its_mark_is_removed(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = project / "mtbias_portuguese" / "data" / "pt_nouns.tsv"
    lines = table.read_text(encoding="utf-8").splitlines()
    assert "# check artist\tartista\tcommon\twhole1\t" in lines
    assert {"# fill accountant\t\tm\t\t", "# fill accountant\t\tf\t\t"} <= set(lines)
    first, then = (
        lines.index(next(line for line in lines if line.startswith(head)))
        for head in ("# First", "# Then")
    )
    assert lines.index("# fill worker\t\tm\t\t") in range(first, then)  # of WinoMT
    assert lines.index("# fill astronaut\t\tm\t\t") > then
    # Under names of their own, for other tests have a package mtbias_portuguese; both before Python
    # looks for any.
    for name in ("portuguese_as_drafted", "portuguese_as_checked"):
        shutil.copytree(table.parent.parent, tmp_path / name)
        (tmp_path / name / "__init__.py").write_text(
            "", encoding="utf-8"
        )  # it reads the data under the draft's name
    checked = "\n".join(line.removeprefix("# check ") for line in lines if "\t?\t" not in line)
    (tmp_path / "portuguese_as_checked" / "data" / "pt_nouns.tsv").write_text(
        checked, encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    language = Language.from_package("portuguese_as_drafted", "pt")
    assert language.nouns == {}
    # What is left is said in one line each.
    assert contract_problems(language) == [
        "header: there are no nouns",
        "header: there are no English translations: the aligner goes without a lexicon",
        "header: no noun says a gender: every call would rest on its articles",
    ]
    language = Language.from_package("portuguese_as_checked", "pt")
    assert set(language.nouns) == {
        "professor", "professores", "professora", "professoras", "médico", "médicos", "artista", "artistas", "vítima",
        "vítimas",
    }  # fmt: skip
    assert contract_problems(language) == []


def test_the_sentences_ask_for_every_kind_and_evidence_of_the_policy(project: Path) -> None:
    lines = (project / "challenge" / "pt.tsv").read_text(encoding="utf-8").splitlines()
    header, *rows = (line.split("\t") for line in lines)
    assert header == ["kind", "evidence", "call", "source", "target", "example"]
    assert {tuple(row[:3]) for row in rows} == {
        (r.kind, r.evidence, str(r.call)) for r in read_policy()
    }
    assert read_policy_rows(project / "challenge" / "pt.tsv") == ()  # none is translated yet


@pytest.mark.parametrize(
    ("code", "nearest"),
    [
        ("pl", ["cs", "uk", "ru"]),
        ("nl", ["de"]),
        ("ro", ["it", "fr", "es", "pt"]),
        ("mt", ["ar", "he"]),
        ("tr", ["es"]),
    ],
)
def test_examples_are_of_the_nearest_languages(code: str, nearest: list[str]) -> None:
    assert relatives(code)[: len(nearest)] == nearest
    assert len(relatives(code)) == len(set(SHIPPED) - {code})


def test_a_polish_draft_shows_czech(tmp_path: Path) -> None:
    write_draft(Draft("pl", "Polish"), tmp_path)
    data = tmp_path / "mtbias_polish" / "data"
    lines = (data / "pl_nouns.tsv").read_text(encoding="utf-8").splitlines()
    place = lines.index("# cs: analytik, analytička")
    assert lines[place + 1 : place + 3] == ["# fill analyst\t\tm\t\t", "# fill analyst\t\tf\t\t"]
    rules = (data / "pl.toml").read_text(encoding="utf-8")
    assert '[names]\n# "pan" = "m"\n# "pana" = "m"\n' in rules
    assert '[determiners]\n# "ten" = "m.nom.sg"\n' in rules
    assert "[silent_determiners]\n# none\n" in rules
    examples = [
        line.split("\t")[5]
        for line in (tmp_path / "challenge" / "pl.tsv").read_text("utf-8").splitlines()
    ]
    assert examples[1] == "cs: {[Tanečník]} napsal dopis."
    assert {example[:2] for example in examples[1:]} >= {
        "cs",
        "uk",
    }  # Ukrainian where Czech has no such thing


def test_a_translated_sentence_is_read(project: Path, tmp_path: Path) -> None:
    text = (project / "challenge" / "pt.tsv").read_text(encoding="utf-8")
    path = tmp_path / "pt.tsv"
    path.write_text(
        text.replace(
            "wrote a letter.\t\t", "wrote a letter.\tO [dançarino] escreveu uma carta.\t", 1
        ),
        encoding="utf-8",
    )
    (row,) = read_policy_rows(path)
    assert (row.kind, row.evidence, row.call) == (
        "masculine and feminine pair",
        "masculine form",
        "male",
    )
    assert (row.pair.source, row.pair.head, row.pair.text) == (
        "The dancer wrote a letter.", (4, 10), "O dançarino escreveu uma carta.",
    )  # fmt: skip
    assert (row.head, row.shown) == ((2, 11), ((2, 11),))


@pytest.mark.slow
def test_a_draft_is_installed_and_listed(tmp_path: Path) -> None:
    write_draft(Draft("ro", "Romanian", (), ("Stanza: has words",)), tmp_path / "mtbias-romanian")
    options = [
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--target",
        str(tmp_path),
    ]
    command = [sys.executable, "-m", "pip", "install", *options, str(tmp_path / "mtbias-romanian")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    code = "import sys; sys.path.insert(0, sys.argv[1]); from mtbias.cli import main; main(['languages', 'check', 'ro'])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "contract problems: header: there are no nouns\n" in done.stdout
    assert re.search(r"^without noun +770$", done.stdout, re.MULTILINE)
    assert re.search(
        r"^winomt entities +104$\n^winomt without noun +104$", done.stdout, re.MULTILINE
    )


@pytest.mark.parametrize(
    ("code", "name", "message"),
    [
        ("xx", "Foo", "CODE: expected one of ISO 639-1"),
        ("pol", "Polish", "got 'pol'"),  # its code is pl
        ("PL", "Polish", "got 'PL'"),
        ("pl", "polski język!", "expected the language's English name, such as Polish"),
        ("pl", "", "expected the language's English name"),
    ],
)
def test_what_names_no_language_is_refused(
    tmp_path: Path, code: str, name: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        check_draft(code, name, tmp_path / "out")
    assert check_draft("hsb", "Upper Sorbian", None) == (
        "Upper Sorbian",
        Path("mtbias-upper-sorbian"),
    )


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    check_draft("pl", "Polish", tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    for out in (tmp_path, tmp_path / "file"):
        with pytest.raises(SettingError, match="expected a folder that is empty or not there yet"):
            check_draft("pl", "Polish", out)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = write(tmp_path, names=LIST)
    where = [
        "--out",
        str(tmp_path / "new"),
        "--cache-dir",
        str(tmp_path / "cache"),
        "--stanza-dir",
        str(tmp_path),
    ]
    assert main(["languages", "new", "pt", "--lexicon", str(path), *where]) == 0
    out = capsys.readouterr().out
    assert "a draft of mtbias_portuguese\n  5 nouns to check" in out
    assert "Stanza: not known" in out
    assert main(["languages", "new", "pt", "--name", "Portuguese", *where]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("index", "says"),
    [
        ('{"pt": {"packages": {"default": {"tokenize": "bosque", "pos": "bosque_charlm"}}}}',
         "Stanza: tokenize bosque, pos bosque_charlm; no mwt (contractions are split)"),
        ('{"de": {}}', "Stanza: the index of models (resources.json) has no pt"),
    ],
)  # fmt: skip
def test_what_stanza_has(
    tmp_path: Path, index: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "resources.json").write_text(index, encoding="utf-8")
    command = ["languages", "new", "pt", "--name", "Portuguese", "--out", str(tmp_path / "new")]
    assert main([*command, "--stanza-dir", str(tmp_path)]) == 0
    assert says in capsys.readouterr().out


def test_a_code_that_somebody_registers_already_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["languages", "new", "de", "--name", "German", "--out", str(tmp_path / "new")]
    assert main([*command, "--stanza-dir", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert re.search(
        r"^  mtbias \S+ registers de already: two plugins for one code are refused$",
        out,
        re.MULTILINE,
    )


@pytest.mark.slow
def test_an_installed_language_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["languages", "check", "es"]) == 0
    out = capsys.readouterr().out
    found = dict(re.findall(r"^(.+?)  +([\d,.-]+)$", out, re.MULTILINE))
    assert "wrong calls" not in out  # no sentences were given
    assert "sentences" not in found
    pairs = found["gender pairs: pairs"]
    assert (found["gender pairs: male"], found["gender pairs: female"]) == (pairs, pairs)
    assert int(pairs.replace(",", "")) >= 400
    assert [found[name] for name in ("contract problems", "occupations", "without noun")] == [
        "0",
        "770",
        "0",
    ]


@pytest.mark.slow
def test_sentences_are_checked(
    tmp_path: Path, stanza_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "es.tsv"
    path.write_text(
        "kind\tevidence\tcall\tsource\ttarget\n"
        "thing\tarticle\tno person\tThe [mover] is new.\tEl [motor] es nuevo.\n"
        "pair\tform\tmale\tThe [dancer] slept.\tLa [bailarina] dormía.\n"
        "pair\tother\tmale\tThe [dancer] sang.\t\n",
        encoding="utf-8",
    )
    assert (
        main(
            ["languages", "check", "es", "--challenge", str(path), "--stanza-dir", str(stanza_dir)]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert re.search(r"^sentences +2$", out, re.MULTILINE)
    assert re.search(r"^wrong calls +1$", out, re.MULTILINE)
    assert "wrong calls: pair, form: expected male at bailarina, got female at bailarina" in out
