"""On which device models run."""

from __future__ import annotations

from mtbias.errors import UsageError


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
        UsageError: it is no device, or there is no such GPU here.
    """
    import torch

    try:
        device = torch.device(name)
    except RuntimeError:
        raise UsageError(f"no device {name!r}: give cpu, cuda, or cuda:1 for the second GPU") from None
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise UsageError(f"--device {name}: torch sees {torch.cuda.device_count()} GPUs here; give --device cpu")
