"""What this process may use of the machine: GPUs; cores and memory, less where a scheduler gives it
a share.

And how mtbias is installed here, and so which command adds an extra to this installation.
"""

from __future__ import annotations

import gc
import json
import os
import shlex
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from multiprocessing import parent_process
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mtbias.errors import SettingError


def usable_cores() -> int:
    """Cores that the system lets this process use."""
    return len(os.sched_getaffinity(0))


def threads() -> int:
    """Threads to compute with: the first number of ``OMP_NUM_THREADS``, where there is one, else
    `usable_cores`.
    """
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) else usable_cores()


def free_memory(root: Path = Path("/")) -> int:
    """Bytes of memory that this process may still take.

    What Linux calls available (``proc`` and ``sys`` are in `root`), or less where a control group
    (of Slurm, of a container) allows less; elsewhere half of what the machine has.
    """
    return max(0, min([_available(root / "proc/meminfo"), *_left_in_groups(root)]))


def _available(file: Path) -> int:
    with suppress(OSError, ValueError):
        for line in file.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _left_in_groups(root: Path) -> Iterator[int]:
    """What each control group of this process, and each above it, has left; its cache of files can
    be given back.
    """
    with suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "":
                top, names = (
                    root / "sys/fs/cgroup",
                    ("memory.max", "memory.current", "inactive_file"),
                )
            elif "memory" in controllers.split(","):
                top = root / "sys/fs/cgroup/memory"
                names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            else:
                continue
            group = PurePosixPath(path)
            for each in (group, *group.parents):
                with suppress(
                    OSError, ValueError
                ):  # no limit, or none that is to be seen from here
                    yield _left(top / str(each).lstrip("/"), *names)


def _left(group: Path, limit: str, used: str, cache: str) -> int:
    most, now = int((group / limit).read_text()), int((group / used).read_text())
    stat = dict(line.split(" ", 1) for line in (group / "memory.stat").read_text().splitlines())
    return most - now + int(stat.get(cache, 0))


_GPU_FILES = ("nvidia*", "nvhost*", "nvgpu*", "dxg", "kfd")
"""What Linux has in ``/dev`` where there may be a GPU for torch: of NVIDIA's cards and of its small
boards, of Linux in Windows, of AMD's cards."""


def gpu_count(devices: Path = Path("/dev")) -> int:
    """GPUs that torch sees here; it takes a second to load, and is not asked where Linux has
    none.
    """
    if sys.platform == "linux" and not any(any(devices.glob(each)) for each in _GPU_FILES):
        return 0
    import torch

    return int(torch.cuda.device_count()) if torch.cuda.is_available() else 0


def free_unused() -> None:
    """Give back what this process holds of memory, a GPU's too, and no longer uses."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()


def chosen_device(name: str | None) -> str:
    """`name`, or a GPU where there is one."""
    return name or ("cuda" if gpu_count() else "cpu")


def require_device(name: str) -> None:
    """Check that torch can use the device `name`.

    Raises:
        SettingError: it is no device, or there is no such GPU here.
    """
    import torch

    known = "cpu, cuda, or cuda:1 for the second GPU"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise SettingError("device", f"expected {known}, got {name!r}") from None
    if device.type not in {"cpu", "cuda"}:
        raise SettingError("device", f"expected {known}, got {name!r}")
    if device.type == "cuda" and (device.index or 0) >= gpu_count():
        raise SettingError(
            "device",
            f"expected a GPU of this machine, got {name}; torch sees {gpu_count()}: give cpu",
        )


def begin_worker() -> None:
    """Compute with one thread, leave Ctrl-C to the parent, and end where the parent is killed."""
    os.environ["OMP_NUM_THREADS"] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def end_with_parent() -> None:
        """A process whose parent was killed would wait for work for ever."""
        if (parent := parent_process()) is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


_NAME = "mtbias"


def install_command(extra: str = "") -> str:
    """The command that installs mtbias with an extra, as this installation was made.

    ``pip install -e '.[ct2]'`` where it is editable (with the folder's path where that is not the
    current one), ``pip install 'FOLDER[ct2]'`` where it came from a folder, ``pip install
    'mtbias[ct2] @ URL'`` where it came from an archive or a repository, and ``pip install
    'mtbias[ct2]'`` where it came from a package index. Whether that was so stands in
    ``direct_url.json`` beside the installed package (PEP 610), which an index does not leave. Where
    uv installed it, the command is ``uv pip install``.
    """
    try:
        found: Distribution | None = distribution(_NAME)
    except PackageNotFoundError:  # run from its source
        found = None
    options, what = _requirement(found, f"[{extra}]" if extra else "")
    installer = "" if found is None else (found.read_text("INSTALLER") or "").strip()
    return f"{'uv pip' if installer == 'uv' else 'pip'} install {options}{shlex.quote(what)}"


def _requirement(found: Distribution | None, extra: str) -> tuple[str, str]:
    """Options of pip, and what it is to install."""
    if found is None:
        return "-e ", f"{_shown(Path(__file__).parents[2])}{extra}"
    record = json.loads(found.read_text("direct_url.json") or "{}")
    url = str(record.get("url", ""))
    if not url:
        return "", f"{_NAME}{extra}"
    if "dir_info" in record:
        folder = Path(url2pathname(urlsplit(url).path))
        return ("-e " if record["dir_info"].get("editable") else ""), f"{_shown(folder)}{extra}"
    vcs = record.get("vcs_info")
    if vcs:
        return "", f"{_NAME}{extra} @ {vcs['vcs']}+{url}@{vcs['commit_id']}"
    return "", f"{_NAME}{extra} @ {url}"


def _shown(folder: Path) -> str:
    """The current folder as a dot, which is how people write it."""
    return "." if os.path.realpath(folder) == os.path.realpath(Path.cwd()) else str(folder)
