"""Which state of the database an answer rests on: its content, as it has no version number."""

from __future__ import annotations

from hashlib import sha256

from perfkit.arch.database import audited_files
from perfkit.arch.load import directories


def fingerprint() -> str:
    """Twelve hexadecimal digits of the content in use, the user's own directory with it.

    Raises:
        ArchDataError: there is no database; ``OSError`` where a file cannot be read.
    """
    found = sha256()
    for directory in directories():
        for path in sorted(audited_files(directory)):
            name = path.relative_to(directory).as_posix()
            data = path.read_bytes()
            found.update(f"{name}\0{len(data)}\0".encode())
            found.update(data)
    return found.hexdigest()[:12]
