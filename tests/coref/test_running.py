"""Running a coreference system: what was found is kept, resumed, and the same however often a run
was stopped."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.coref.documents import Clusters, CorefText
from mtbias.coref.systems import Put, run_system
from mtbias.errors import DataError
from tests.coref.small_corpora import write_winobias

TEXTS = [CorefText(str(n), ("He", "saw", "him", "."), "He saw him.", ()) for n in range(6)]


class FirstAndThird:
    """Links the first and the third word; stops after so many documents."""

    def __init__(self, stops_after: int = 99, name: str = "first-and-third") -> None:
        self.signature, self.notes, self._left, self.asked = name, (), stops_after, [""]

    def resolve(self, texts: Sequence[CorefText], put: Put) -> None:
        """In reverse order: the file's is the data's."""
        self.asked = [text.id for text in texts]
        for text in reversed(texts):
            if not self._left:
                raise KeyboardInterrupt
            self._left -= 1
            put(text.id, _clusters(int(text.id)))


def _clusters(number: int) -> Clusters:
    return (((0, 0), (2, 2)),) if number % 2 else ()


def test_a_stopped_run_resumes_with_the_same_bytes(tmp_path: Path) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    assert run_system(FirstAndThird(), TEXTS, whole) == 0
    lines = [json.loads(line) for line in whole.read_text(encoding="utf-8").splitlines()]
    assert [line["id"] for line in lines] == [text.id for text in TEXTS]
    assert lines[1] == {
        "id": "1",
        "tokens": ["He", "saw", "him", "."],
        "clusters": [[[0, 0], [2, 2]]],
    }

    with pytest.raises(KeyboardInterrupt):
        run_system(FirstAndThird(2), TEXTS, out)
    assert not out.exists()
    part = out.with_name("out.jsonl.part")
    with part.open("a", encoding="utf-8") as file:
        file.write('{"id": "0", "clus')  # a kill within a write
    system = FirstAndThird()
    assert run_system(system, TEXTS, out) == 2
    assert system.asked == ["0", "1", "2", "3"]  # the last two were found before
    assert out.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl", "whole.jsonl"]


def test_another_system_or_other_texts_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run_system(FirstAndThird(2), TEXTS, out)
    for system, texts in ((FirstAndThird(name="another"), TEXTS), (FirstAndThird(), TEXTS[1:])):
        with pytest.raises(DataError, match=r"out\.jsonl\.part.*give the same, or another --out"):
            run_system(system, texts, out)
    run_system(FirstAndThird(), TEXTS, out)
    with pytest.raises(DataError, match=r"out\.jsonl.*this file is there already"):
        run_system(FirstAndThird(), TEXTS, out)
    with pytest.raises(
        DataError, match="expected a file, got a folder"
    ):  # before anything is resolved
        run_system(FirstAndThird(0), TEXTS, tmp_path)


def test_a_system_that_leaves_documents_out_is_told(tmp_path: Path) -> None:
    class Silent(FirstAndThird):
        def resolve(self, texts: Sequence[CorefText], put: Put) -> None:
            put(texts[0].id, ())

    out = tmp_path / "out.jsonl"
    for left in (5, 4):
        with pytest.raises(DataError, match=f"gave nothing for {left} of 6 documents"):
            run_system(Silent(), TEXTS, out)


def test_any_system_as_a_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    # A system of its own, with ends excluded: the pronoun and the first two words.
    program = tmp_path / "system.py"
    program.write_text(
        "import json, sys\n"
        "with open(sys.argv[1]) as given, open(sys.argv[2], 'w') as made:\n"
        "    for line in given:\n"
        "        one = json.loads(line)\n"
        "        at = next(n for n, word in enumerate(one['tokens']) if word in {'he', 'she'})\n"
        "        found = {'id': one['id'], 'clusters': [[[0, 2], [at, at + 1]]]}\n"
        "        print(json.dumps(found), file=made)\n"
        "print('of the command')\n",
        encoding="utf-8",
    )
    data, out = tmp_path / "data", tmp_path / "found.jsonl"
    data.mkdir()
    write_winobias(data)
    words = [
        "coref",
        "run",
        "--system",
        "command",
        "--dataset",
        "winobias",
        "--data",
        str(data),
        "--out",
        str(out),
    ]
    assert (
        main(
            [
                *words,
                "--command",
                f"{sys.executable} {program} {{in}} {{out}}",
                "--spans",
                "excluded",
            ]
        )
        == 0
    )
    found = {
        line["id"]: line["clusters"]
        for line in map(json.loads, out.read_text(encoding="utf-8").splitlines())
    }
    assert len(found) == 6
    assert found["nw/pro//0"] == [[[0, 1], [6, 6]]]  # ends included, as mtbias has them
    assert found["nw/pro//2"] == [[[0, 1], [7, 7]]]
    said = capfd.readouterr()
    assert ",spans:excluded|" in said.out.replace("|spans", ",spans")  # the signature
    # stdout is for the result.
    assert "of the command\n" in said.err
    assert "of the command" not in said.out
    assert (
        main(
            ["coref", "score", "winobias", "--data", str(data), "--predictions", str(out), "--json"]
        )
        == 0
    )
    scored = json.loads(capfd.readouterr().out)
    # "The night" has not the last word of "the night guard": no person.
    assert scored["systems"][0]["counts"]["dev type 1 pro"] == {
        "right": 1,
        "wrong": 1,
        "both": 0,
        "none": 1,
    }


def test_documents_of_a_command_may_stand_in_order(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "system.py"
    program.write_text(
        "import json, sys\n"
        "rows = [{'text': json.loads(line)['text'], 'clusters': []} for line in open(sys.argv[1])]\n"
        "open(sys.argv[2], 'w').writelines(json.dumps(row) + '\\n' for row in rows)\n"
    )
    write_winobias(tmp_path)
    words = [
        "coref",
        "run",
        "--system",
        "command",
        "--dataset",
        "winobias",
        "--data",
        str(tmp_path),
    ]
    words += [
        "--command",
        f"{sys.executable} {program} {{in}} {{out}}",
        "--out",
        str(tmp_path / "found.jsonl"),
    ]
    assert main([*words, "--ids", "order"]) == 0
    assert ",ids:order|" in capfd.readouterr().out


def test_what_a_command_writes_is_read_as_it_is_told_and_about_its_documents_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Of the gold mentions one with its last word and one with the word behind it: nothing tells
    # which is meant.
    program, data = tmp_path / "system.py", tmp_path / "data"
    program.write_text(
        "import json, sys\n"
        "lines = [json.loads(line) for line in open(sys.argv[1])]\n"
        "ids = [one['id'] for one in lines] + sys.argv[3:]\n"
        "rows = [{'id': id_, 'clusters': [[[0, 1], [6, 7]]]} for id_ in ids]\n"
        "open(sys.argv[2], 'w').write('\\n'.join(map(json.dumps, rows)))\n",
        encoding="utf-8",
    )
    data.mkdir()
    write_winobias(data)
    words = ["coref", "run", "--system", "command", "--dataset", "winobias", "--data", str(data)]
    command = f"{sys.executable} -W ignore {program} {{in}} {{out}}"
    out = tmp_path / "out.jsonl"
    assert main([*words, "--out", str(out), "--command", command]) == 1
    assert "cannot tell what mentions count" in capsys.readouterr().err
    other = tmp_path / "other.jsonl"
    assert (
        main([*words, "--out", str(other), "--command", f"{command} other", "--spans", "included"])
        == 1
    )
    assert "id 'other': none of the data's documents" in capsys.readouterr().err
    # The run that was begun without --spans has found nothing that could be mixed with this one.
    assert main([*words, "--out", str(out), "--command", command, "--spans", "included"]) == 0
    assert "|spans:included" in capsys.readouterr().out.replace(",", "|")
    first = json.loads(out.read_text(encoding="utf-8").splitlines()[0])
    assert first["clusters"] == [[[0, 1], [6, 7]]]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (
            ["--system", "stanza", "--model", "x", "--spans", "included"],
            2,
            "expected no --ids, --spans or --in-format",
        ),
        (
            ["--system", "stanza", "--model", "x", "--in-format", "jsonl"],
            2,
            "which go with --system command",
        ),
        (["--system", "stanza"], 2, "--system stanza: expected --model FILE, and no --command"),
        (
            ["--system", "command", "--model", "x"],
            2,
            "--system command: expected --command, and neither",
        ),
        (
            ["--system", "command", "--command", "x {in}"],
            2,
            "expected {out} where the command has the file's name",
        ),
        (["--system", "command", "--command", "x 'y"], 2, "expected words as a shell splits them"),
        (
            ["--system", "command", "--command", "/none {in} {out}"],
            1,
            "--command cannot be started",
        ),
        (["--system", "command", "--command", "false {in} {out}"], 1, "--command ended with 1"),
        (
            ["--system", "command", "--command", "true {in} {out}"],
            1,
            "--command ended well, but wrote no file {out}",
        ),
        (["--system", "stanza", "--model", "/none.pt"], 1, "/none.pt"),
    ],
)
def test_what_cannot_be_run_is_said_in_a_line(
    options: list[str], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_winobias(tmp_path)
    words = [
        "coref",
        "run",
        "--dataset",
        "winobias",
        "--data",
        str(tmp_path),
        "--out",
        str(tmp_path / "out.jsonl"),
    ]
    assert main([*words, *options]) == code
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
