"""Kernels described in YAML: what is read, and every refusal with its line."""

from __future__ import annotations

import pytest

from perfkit.device.kernel_file import read
from perfkit.errors import InputError

TEXT = """\
file: scale.cu
kernel: scale
grid: (n + threads - 1) / threads
threads: 256
smem_dynamic: 1K
args:
  - n:i32=1<<10
  - x:f32[n]
  - out y:f32[n]
flops: 2 * n
tolerance: 1e-6
reference: ref.py:scale
"""


@pytest.fixture
def write(tmp_path):
    (tmp_path / "scale.cu").write_text("")

    def run(text):
        path = tmp_path / "scale.yaml"
        path.write_text(text)
        return path

    return run


def test_a_file(write, tmp_path):
    spec = read(write(TEXT))
    assert spec.path == str(tmp_path / "scale.cu")
    assert (spec.kernel, spec.threads, spec.smem_dynamic) == ("scale", "256", "1K")
    assert spec.arguments == ("n:i32=1<<10", "x:f32[n]", "out y:f32[n]")
    assert spec.tolerance == 1e-6
    assert spec.reference == f"{tmp_path / 'ref.py'}:scale"


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("kernel: scale\n", "", 1, "there is no 'kernel'"),
        ("flops", "flop", 10, "unknown key 'flop'"),
        ("256", "[256]", 4, "threads: expected text"),
        ("tolerance: 1e-6", "tolerance: small", 11, "'small' is no number"),
        ("scale.cu", "other.cu", 1, "there is no file"),
        ("kernel: scale", "kernel: scale\nkernel: scale", 3, "duplicate key"),
        (
            "args:\n  - n:i32=1<<10\n  - x:f32[n]\n  - out y:f32[n]\n",
            "args: none\n",
            6,
            "expected a list",
        ),
        ("grid: (n", "grid: *n", 3, "anchors and aliases"),
    ],
)
def test_what_is_wrong_has_its_line(write, old, new, line, words):
    assert old in TEXT
    with pytest.raises(InputError, match=words) as caught:
        read(write(TEXT.replace(old, new)))
    assert caught.value.where.endswith(f"scale.yaml:{line}")


def test_no_file(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read(tmp_path / "none.yaml")
