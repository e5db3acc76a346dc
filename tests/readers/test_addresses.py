"""Files with the byte addresses of one warp."""

from __future__ import annotations

import pytest

from perfkit.errors import InputError
from perfkit.readers.addresses import parse


def test_a_file_of_addresses():
    text = "# a warp\n0\n0x20  # hexadecimal\n\n-\n0X40\n007\n"
    assert parse(text, "a.txt") == (0, 32, None, 64, 7)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a.txt: no addresses"),
        ("# nothing\n", "a.txt: no addresses"),
        ("0\n4\nx\n", "a.txt:3: 'x' is not a byte address"),
        ("-4\n", "a.txt:1: '-4' is not"),
        ("0 4\n", "a.txt:1: '0 4' is not"),
        ("1.5\n", "'1.5' is not"),
        ("nan\n", "'nan' is not"),
        ("0x\n", "'0x' is not"),
        ("٣\n", "is not a byte address"),
        ("9" * 30, "is not a byte address"),
        ("0\n" * 33, "a.txt:33: more than 32 lanes"),
    ],
)
def test_what_is_no_file_of_addresses(text, says):
    with pytest.raises(InputError) as error:
        parse(text, "a.txt")
    assert says in str(error.value)
