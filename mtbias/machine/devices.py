"""On which device models run."""

from __future__ import annotations

from mtbias.errors import SettingError


def gpu_count() -> int:
    """GPUs that torch sees here."""
    import torch

    return int(torch.cuda.device_count()) if torch.cuda.is_available() else 0


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
        raise SettingError("device", f"expected a GPU of this machine, got {name}; torch sees {gpu_count()}: give cpu")
