"""Sections and symbols against pyelftools, a reader for ELF files that knows nothing of CUDA."""

from __future__ import annotations

from io import BytesIO

import pytest
from elftools.elf.elffile import ELFFile

from perfkit.compiled.elf import read_elf
from tests.compiled.containers import DATA

CUBINS = sorted(DATA.rglob("*.cubin"))


def test_the_data_is_here():
    assert len(CUBINS) > 20


@pytest.mark.parametrize("path", CUBINS, ids=lambda path: path.stem)
def test_names_places_and_functions(path):
    data = path.read_bytes()
    found, oracle = read_elf(data, origin="x"), ELFFile(BytesIO(data))
    assert found.sections
    for number, section in found.sections.items():
        other = oracle.get_section(number)
        places = (section.name, section.offset, section.size, section.info)
        assert places == (other.name, other["sh_offset"], other["sh_size"], other["sh_info"])
    symbols = oracle.get_section_by_name(".symtab").iter_symbols()
    functions = [
        (number, symbol.name, symbol["st_size"])
        for number, symbol in enumerate(symbols)
        if symbol["st_info"]["type"] == "STT_FUNC"
    ]
    assert functions
    assert [(one.number, one.name, one.size) for one in found.functions] == functions
