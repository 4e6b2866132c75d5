"""A process that has imported what commands need, and forks one for each command: `Machine.run`
waits for no imports.

It reads requests from its standard input, one in a line: the words, the environment, the folder,
and the files for standard output and error. It answers with the exit code of the child, which runs
the command and ends as a process of its own does.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import sys


def main() -> None:
    gc.disable()  # while all is imported
    import sentencepiece  # noqa: F401 - for the children
    import stanza.pipeline.core  # noqa: F401
    import torch
    import transformers.generation.utils
    import transformers.models.m2m_100.modeling_m2m_100
    import transformers.models.marian.modeling_marian  # noqa: F401

    import mtbias.cli
    from mtbias.language.installed import get_language
    from mtbias.report.page import _environment
    from mtbias.translate.text_language import _identifier

    torch.set_num_threads(1)  # a pool of threads would not be there in a child
    mtbias.cli.make_app()  # imports the modules of all commands
    get_language("de")
    _identifier()
    for template in _environment().list_templates(["html", "svg"]):
        _environment().get_template(template)
    gc.freeze()  # collecting would copy all pages
    gc.enable()
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if not child:
            for path, number, mode in (
                (os.devnull, 0, os.O_RDONLY),
                *((p, n, os.O_WRONLY) for p, n in request["files"]),
            ):
                os.dup2(os.open(path, mode), number)
            os.chdir(request["folder"])
            os.environ.clear()
            os.environ.update(request["environment"])
            sites = os.environ.get("PYTHONPATH", "").split(os.pathsep)
            sys.path[1:1] = [site for site in sites if site and site not in sys.path]
            sys.argv[1:] = request["words"]
            code = mtbias.cli.main(request["words"])
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)  # without taking the libraries down, which takes a second
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
