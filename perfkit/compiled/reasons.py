"""Why a field is absent, in words that several readers share."""

from __future__ import annotations

from typing import Final

_NO_LAUNCH: Final = "the file does not say how the kernel is launched"

#: only a launch has these, and of all that perfkit reads only Triton's metadata describe one
NO_LAUNCH: Final = {
    "threads": _NO_LAUNCH,
    "dynamic_shared_bytes": _NO_LAUNCH,
    "num_stages": "only Triton's metadata have it",
}
