"""How 64-bit little-endian ELF lays out its records, those of hosts and of cubins alike.

Source: System V ABI, chapters "Object Files" and "ELF-64 Object File Format".
"""

from __future__ import annotations

import struct
from typing import Final

ELF64: Final = b"\x7fELF\x02\x01"  #: 64 bits, little-endian
HEADER: Final = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION: Final = struct.Struct("<IIQQQQIIQQ")
SYMBOL: Final = struct.Struct("<IBBHQQ")
