"""`mtbias list languages` and `mtbias list datasets`: what there is, what is missing, and what
downloads it."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest
import yaml

from mtbias.cli import main

from .machine import Machine

BUILT_IN = {
    "ar": "Arabic",
    "cs": "Czech",
    "de": "German",
    "es": "Spanish",
    "fr": "French",
    "he": "Hebrew",
    "it": "Italian",
    "ru": "Russian",
    "uk": "Ukrainian",
}


def test_languages_say_what_downloads_their_models(
    bare: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            [
                "list",
                "languages",
                "--stanza-dir",
                str(bare.folder / "none"),
                "--cache-dir",
                str(bare.cache),
            ]
        )
        == 0
    )
    out, err = capsys.readouterr()
    assert err == ""
    lines = {line.split()[0]: line for line in out.splitlines()}
    for code, name in BUILT_IN.items():
        assert lines[code].split()[1] == name
        assert "mtbias 0." in lines[code]
        assert lines[code].endswith(f"Stanza missing: mtbias fetch --lang {code}")


def test_languages_as_json_with_models(
    stanza_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", "languages", "--stanza-dir", str(stanza_dir), "--json"]) == 0
    rows = {row["code"]: row for row in json.loads(capsys.readouterr().out)}
    for code, name in BUILT_IN.items():
        assert rows[code]["name"] == name
        assert re.fullmatch(r"mtbias \S+", rows[code]["distribution"])
        assert rows[code]["nouns"] > 300  # forms; the tables have some 300 nouns or more each
        models = {}
        for model in sorted((stanza_dir / code).glob("*/udsmall.pt")):
            models[model.parent.name] = f"udsmall:{sha256(model.read_bytes()).hexdigest()[:12]}"
        assert dict(part.split("=") for part in rows[code]["stanza"].split(",")) == models


def test_datasets_with_rows_licence_home_and_state(
    bare: Machine, winomt: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = bare.cache / "datasets" / "winomt"
    here.mkdir(parents=True)
    (here / "en.txt").write_bytes((winomt / "en.txt").read_bytes())
    assert main(["list", "datasets", "--cache-dir", str(bare.cache)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    lines = {line.split()[0]: line for line in out.splitlines() if not line.startswith(" ")}
    # Rows as in the papers and the releases' own README.
    rows = {
        "winomt": 3888,
        "bug": 105687,
        "bug-balanced": 25504,
        "bug-gold": 1717,
        "bug-gold-paper": 1720,
    }
    rows |= {
        "mt-geneval": 600,
        "mt-geneval-entities": 600,
        "mt-geneval-context": 1100,
        "gest": 3565,
    }  # a language
    rows |= {
        "winobias": 3168,
        "winogender": 720,
        "gap": 2000,
        "gap-spans": 2000,
        "gap-weights": 4000,
    }
    rows |= dict.fromkeys(("counter-gap", "counter-gap-withdot", "counter-gap-outputs"), 4008)
    rows |= {"sowinobias": 16384}
    assert list(lines) == [*rows, "custom"]
    where = r"(MIT|CC BY-SA 3\.0|Apache-2\.0|CC BY 4\.0) +https://\S+ @ ([0-9a-f]{7,40}(?:, [0-9a-f]{7})?|appendix A)  \("
    for name, number in rows.items():
        assert re.match(rf"{name} +{number} rows  {where}", lines[name])
    assert lines["winomt"].endswith("(in the cache)")
    assert lines["bug"].endswith("(mtbias fetch --dataset bug)")
    assert "--data FILE" in lines["custom"]
    assert "@inproceedings" not in out


def _bibtex(text: str) -> list[tuple[str, str, dict[str, str]]]:
    """The entries of a BibTeX file whose fields stand one a line, with nothing between them."""
    entry = r"@(\w+)\{([\w-]+),\n((?:  \w+ += \"[^\"\n]*\",\n)+)\}\n"
    found = re.findall(entry, text)
    assert re.sub(entry, "", text).strip() == "", "more than BibTeX"
    return [
        (kind, key, dict(re.findall(r'(\w+) += "([^"\n]*)",', body))) for kind, key, body in found
    ]


def test_citations_are_printed_once_each(bare: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "datasets", "--cite", "--cache-dir", str(bare.cache)]) == 0
    out = capsys.readouterr().out
    entries = _bibtex(out)  # nothing else is printed: a LaTeX file can take it as it is
    papers = [*["inproceedings"] * 7, "article", *["inproceedings"] * 3]
    assert [kind for kind, _, _ in entries] == [*papers, "software"]
    assert len({key for _, key, _ in entries}) == 12
    assert all({"title", "author", "year"} <= set(fields) for _, _, fields in entries)
    own = yaml.safe_load((Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8"))
    assert entries[-1][1] == "mtbias"
    assert entries[-1][2]["version"] == own["version"]
    assert entries[-1][2]["year"] == str(own["date-released"].year)
    assert entries[-1][2]["author"] == f"{{{own['authors'][0]['name']}}}"
    # WinoMT (Stanovsky et al. 2019), BUG (Levy et al. 2021), MT-GenEval (Currey et al. 2022), the
    # persons marked in it (Garg et al. 2024), GEST (Pikuliak et al. 2024); of coreference WinoBias
    # (Zhao et al. 2018), Winogender (Rudinger et al. 2018), GAP (Webster et al. 2018), its spans
    # and weights (Kocijan et al. 2021), Counter-GAP (Xie et al. 2023) and SoWinoBias (Dawkins
    # 2021).
    assert out.count("2407.20438") == 1
    assert out.count("10.18653/v1/2024.findings-emnlp.173") == 1
    assert out.count("10.18653/v1/2022.emnlp-main.288") == 1
    assert out.count("10.18653/v1/P19-1164") == 1
    assert out.count("10.18653/v1/2021.findings-emnlp.211") == 1


def test_the_citation_of_one_data_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "datasets", "bug-gold", "winomt", "--cite"]) == 0
    entries = _bibtex(capsys.readouterr().out)
    assert [key for _, key, _ in entries] == [
        "levy-etal-2021-collecting-large",
        "stanovsky-etal-2019-evaluating",
        "mtbias",
    ]
    assert main(["list", "datasets", "winomx", "--cite"]) == 2
    assert "no public data set 'winomx'; did you mean winomt?" in capsys.readouterr().err


def test_prompts_with_their_hashes_and_those_that_are_named_with_their_wording(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", "prompts"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("/")[0] for line in lines] == [
        "alternatives", "eurollm", "feminine", "few-shot", "gender-aware", "masculine", "mittens", "plain", "tower",
    ]  # fmt: skip
    own = tmp_path / "own.toml"
    own.write_text(
        'name = "own"\nversion = "3"\nlanguages = ["de"]\n[[messages]]\nrole = "user"\ncontent = "{source}\\u001b"\n'
        '[examples]\nde = [["Yes.", "Ja."]]\n',
        encoding="utf-8",
    )
    assert main(["list", "prompts", "tower", str(own)]) == 0
    out = capsys.readouterr().out
    assert (
        "  user: Translate the following text from {source_language} into {language}.\n  {source_language}: {source}\n"
        in out
    )
    assert re.search(
        r"^own/3#[0-9a-f]{8} .*\(de\)\n  user: \{source\}\\x1b\n  de: Yes\. → Ja\.$",
        out,
        re.MULTILINE,
    )
    assert main(["list", "prompts", "tower", "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)
    assert (shown["name"], shown["version"], len(shown["sha256"])) == ("tower", "1", 64)
    assert shown["answer"] == {"lines": "one", "between": None}


def test_a_prompt_that_is_none_is_one_line_of_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", "prompts", "towr"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    (tmp_path / "own.toml").write_text('name = "own"\n', encoding="utf-8")
    assert main(["list", "prompts", str(tmp_path / "own.toml")]) == 1
    assert (
        capsys.readouterr().err
        == f"mtbias: {tmp_path}/own.toml: version: expected this key, it is not there\n"
    )


def test_every_model_is_listed_with_its_repository(
    bare: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", "models", "--lang", "es", "--cache-dir", str(bare.cache)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(
        line.split()[:3] == ["opus-mt", "Opus-MT", "Helsinki-NLP/opus-mt-en-es"] for line in lines
    )
