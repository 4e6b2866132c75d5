"""How mtbias does on labelled sentences, a command for each set of labels.

    python scripts/labels.py SET --stanza-dir DIR [--lang CODE]… [--part PART] [--rows] …

Each command prints a line for each language, with the rows that a share is of, and with ``--rows``
what is wrong: the label, the call and its evidence, the source with the entity marked, and the
translation. The modules of ``scripts/label_sets`` say what the labels are and what is counted.
"""

from __future__ import annotations

import sys
from pathlib import Path

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from scripts.label_sets.agreement import agreement  # noqa: E402 - the paths above come first
from scripts.label_sets.challenge import challenge, independent, unusual  # noqa: E402
from scripts.label_sets.marks import marks  # noqa: E402
from scripts.label_sets.natural import natural  # noqa: E402
from scripts.label_sets.neutral import neutral  # noqa: E402
from scripts.label_sets.policy import policy, policy_tables  # noqa: E402
from scripts.label_sets.whole_person import whole_person  # noqa: E402

app = cyclopts.App(
    help="How mtbias does on labelled sentences, a command for each set of labels.",
    help_format="plaintext",
    version_flags=[],
)
for command in (
    agreement,
    challenge,
    independent,
    unusual,
    natural,
    neutral,
    policy,
    policy_tables,
    marks,
    whole_person,
):
    app.command(command)


if __name__ == "__main__":
    app()
