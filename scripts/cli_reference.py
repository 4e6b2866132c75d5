"""Write docs/cli.md, the manual of every command, from the commands themselves (``make
cli-docs``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mtbias.cli import COMMANDS, make_app

PAGE = Path(__file__).resolve().parent.parent / "docs" / "cli.md"

INTRO = """\
# Commands

<!-- Written by scripts/cli_reference.py (make cli-docs); change the commands, not this page. -->

This page lists every command with all its options; `mtbias COMMAND --help` prints the same. Results go to standard
output, progress and messages to standard error: on a terminal a bar, in a log a line every 30 seconds. With `--json`
standard output is JSON alone. `--debug` with any command shows the traceback of an error.

| exit code | is |
| --- | --- |
| 0 | done |
| 1 | an error of data, model, plugin, network or dependency, in one line that says what to do |
| 2 | wrong usage: an option or a name that does not exist, an output over a file that is read or that a run keeps |
| 130, 143 | interrupted, or stopped by SIGTERM; the same command resumes |

| variable | is |
| --- | --- |
| `MTBIAS_CACHE` | where mtbias keeps what it downloads and computes |
| `STANZA_RESOURCES_DIR` | folder of Stanza's models |
| `HF_HOME` | where Hugging Face's libraries keep models |
| `HF_HUB_OFFLINE=1` | download nothing |
| `MTBIAS_NO_NETWORK=1` | refuse every connection to another machine |
| `MTBIAS_LOG_SECONDS` | seconds between two lines of progress in a log (default 30; 0: no lines) |
| `OMP_NUM_THREADS` | threads to compute with |
"""


def page() -> str:
    """The whole page."""
    return "\n".join([INTRO, *_sections()])


def _sections() -> Iterator[str]:
    whole = make_app().generate_docs(recursive=True, heading_level=1)
    written = dict(
        re.findall(
            r"^##+ (mtbias [^-\n][^\n]*)\n(.*?)(?=^##+ |\Z)", whole, re.MULTILINE | re.DOTALL
        )
    )
    for title, commands in COMMANDS.items():
        yield f"## {title}\n"
        for name, example in commands.items():
            for part, shown in ({"": example} if isinstance(example, str) else example).items():
                command = " ".join(filter(None, ["mtbias", name, part]))
                yield f"### {command}\n{_whole_lines(written[command])}\n**Example**:\n\n```sh\n{shown}\n```\n"


def _whole_lines(text: str) -> str:
    """The text with each option in one line, as its description is a list's item."""
    text = re.sub(r"(?m)^(\* .*)((?:\n +\S.*)+)", lambda item: " ".join(item[0].split()), text)
    return text.replace("```console", "```text")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
