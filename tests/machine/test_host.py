"""Cores and memory that this process may use: of the machine, or the share that a scheduler gave
it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from mtbias.machine.devices import free_memory, gpu_count, threads, usable_cores

MEMINFO = "MemTotal:       8000 kB\nMemFree:         900 kB\nMemAvailable:    5000 kB\n"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere torch is asked")
def test_torch_is_asked_for_gpus_only_where_linux_may_have_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nvme0").touch()  # a disk
    monkeypatch.setitem(sys.modules, "torch", None)  # as where it cannot be loaded
    assert gpu_count(tmp_path) == 0
    (tmp_path / "nvidia0").touch()
    with pytest.raises(ImportError):
        gpu_count(tmp_path)


def _group(folder: Path, names: tuple[str, str], most: str, now: int, stat: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / names[0]).write_text(f"{most}\n")
    (folder / names[1]).write_text(f"{now}\n")
    (folder / "memory.stat").write_text(f"anon 5\n{stat}\n")


def _machine(root: Path, cgroup: str) -> Path:
    (root / "proc" / "self").mkdir(parents=True)
    (root / "proc" / "meminfo").write_text(MEMINFO)
    (root / "proc" / "self" / "cgroup").write_text(cgroup)
    return root / "sys" / "fs" / "cgroup"


def test_without_groups_it_is_what_linux_calls_available(tmp_path: Path) -> None:
    _machine(tmp_path, "0::/\n")
    assert free_memory(tmp_path) == 5000 * 1024


@pytest.mark.parametrize(
    ("most", "left"), [("max", 5000 * 1024), ("3000000", 1_400_000), ("90000000", 5000 * 1024)]
)
def test_a_group_above_leaves_less(tmp_path: Path, most: str, left: int) -> None:
    # 3,000,000 allowed, 2,000,000 used, of which 400,000 are files that can be read again
    top = _machine(tmp_path, "0::/system.slice/job_7/step_0\n")
    names = ("memory.max", "memory.current")
    _group(top / "system.slice" / "job_7", names, most, 2_000_000, "inactive_file 400000")
    _group(
        top / "system.slice" / "job_7" / "step_0", names, "max", 2_000_000, "inactive_file 400000"
    )
    assert free_memory(tmp_path) == left


def test_groups_of_the_first_version(tmp_path: Path) -> None:
    top = _machine(tmp_path, "5:cpu,cpuacct:/slurm\n4:memory:/slurm/job_7\n1:name=systemd:/\n")
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
    _group(
        top / "memory" / "slurm" / "job_7",
        names,
        "2000000",
        2_500_000,
        "total_inactive_file 100000",
    )
    assert free_memory(tmp_path) == 0  # over its limit


def test_where_there_is_no_proc_it_is_half_of_the_machine(tmp_path: Path) -> None:
    assert free_memory(tmp_path) == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def test_here() -> None:
    assert 0 < free_memory() < 1 << 50
    assert 1 <= usable_cores() <= (os.cpu_count() or 1)


@pytest.mark.parametrize(
    ("variable", "count"), [("3", 3), ("4,2", 4), ("", 0), ("0", 0), ("many", 0)]
)
def test_threads_are_the_variables_or_the_cores(
    variable: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", variable)
    assert threads() == (count or usable_cores())
