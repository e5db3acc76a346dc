from __future__ import annotations

import pytest

from perfkit.access import require_nvrtc
from perfkit.errors import Unavailable


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """Compiled sources are shared between these tests and with nothing else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERFKIT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def nvrtc() -> tuple[int, int]:
    """The version of the compiler; tests that need it are skipped with the reason elsewhere."""
    try:
        return require_nvrtc()
    except Unavailable as error:
        pytest.skip(error.message)
