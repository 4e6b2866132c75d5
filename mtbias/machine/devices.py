"""The GPUs, cores and memory that this process may use, and how mtbias is installed here.

Cores and memory are less than the machine has where a scheduler gives the process a share.
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
    """Threads to compute with: the first number of ``OMP_NUM_THREADS``, if any, else
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
    """Bytes left in each control group of this process and in those above it, where the cache of
    files counts as free.
    """
    with suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "":
                top = root / "sys/fs/cgroup"
                names = ("memory.max", "memory.current", "inactive_file")
            elif "memory" in controllers.split(","):
                top = root / "sys/fs/cgroup/memory"
                names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            else:
                continue
            group = PurePosixPath(path)
            for each in (group, *group.parents):
                # There may be no limit, or none that can be seen from here.
                with suppress(OSError, ValueError):
                    yield _left(top / str(each).lstrip("/"), *names)


def _left(group: Path, limit: str, used: str, cache: str) -> int:
    most, now = int((group / limit).read_text()), int((group / used).read_text())
    stat = dict(line.split(" ", 1) for line in (group / "memory.stat").read_text().splitlines())
    return most - now + int(stat.get(cache, 0))


_GPU_FILES = ("nvidia*", "nvhost*", "nvgpu*", "dxg", "kfd")
"""Devices in ``/dev`` where there may be a GPU for torch: NVIDIA's cards and small boards, Linux in
Windows, AMD's cards."""


def gpu_count(devices: Path = Path("/dev")) -> int:
    """GPUs that torch sees here; torch, which takes a second to load, is asked only where Linux
    shows the device of one.
    """
    if sys.platform == "linux" and not any(any(devices.glob(each)) for each in _GPU_FILES):
        return 0
    import torch

    return int(torch.cuda.device_count()) if torch.cuda.is_available() else 0


def free_unused() -> None:
    """Free memory that this process no longer uses, on a GPU too."""
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
        SettingError: it is not a device, or this machine has no such GPU.
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

    ``direct_url.json`` beside the installed package (PEP 610) says where it came from:

    * an editable folder: ``pip install -e '.[ct2]'``, or the folder's path in place of the dot
    * another folder: ``pip install 'FOLDER[ct2]'``
    * an archive or a repository: ``pip install 'mtbias[ct2] @ URL'``
    * a package index, which leaves no such file: ``pip install 'mtbias[ct2]'``

    An installation by uv has ``uv pip install`` instead.
    """
    try:
        installed: Distribution | None = distribution(_NAME)
    except PackageNotFoundError:  # run from its source
        installed = None
    options, what = _requirement(installed, f"[{extra}]" if extra else "")
    installer = "" if installed is None else (installed.read_text("INSTALLER") or "").strip()
    return f"{'uv pip' if installer == 'uv' else 'pip'} install {options}{shlex.quote(what)}"


def _requirement(installed: Distribution | None, extra: str) -> tuple[str, str]:
    """Options of pip, and the requirement to install."""
    if installed is None:
        return "-e ", f"{_shown(Path(__file__).parents[2])}{extra}"
    record = json.loads(installed.read_text("direct_url.json") or "{}")
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
