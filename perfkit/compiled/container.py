"""Device code in fatbins, object files, programs and libraries: every image, every kernel.

NVIDIA's ``cuobjdump`` takes the images out (formats and compression are its business) and perfkit
reads each as it reads a lone cubin, so that the numbers come from one place. What cuobjdump or
perfkit cannot read ends up in a note, or in an error where nothing else is left.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perfkit.compiled import tools
from perfkit.compiled.cubin import read_image
from perfkit.compiled.names import told_apart
from perfkit.compiled.origins import of_image
from perfkit.compiled.plain_images import plain_images
from perfkit.compiled.reading import NoKernel, Reading
from perfkit.compiled.source_names import named_images, unname
from perfkit.errors import CubinError, InputError
from perfkit.files import printable, shown
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from perfkit.compiled.tools import Finished
    from perfkit.kernel import KernelResources

#: how cuobjdump's output files are named: ours, so that no name of a user's reaches the tool
_INPUT: Final = "image"
_ELF: Final = re.compile(_INPUT + r"\.(\d+)\.(sm_\d+[af]?)\.cubin")
_PTX: Final = re.compile(_INPUT + r"\.\d+\.(?:sm|compute)_(\d+[af]?)\.ptx")
_EXTRACTED: Final = re.compile(r"Extracting ELF file\s+\d+: (\S+)\s*")
_EXTRACTING: Final = re.compile(r"^Extracting ELF file\b", re.MULTILINE)
_MEMBER: Final = re.compile(r"member (.*):\s*")
_REMOVED: Final = re.compile(r"Support for '(sm_\w+)' has been removed\.(?: Please use (.*?)\.?$)?")
_ALLOWED: Final = re.compile(
    r"--gpu-architecture.*?Allowed values[^:]*:(.*?)\.\s*$", re.DOTALL | re.MULTILINE
)
_VERSION: Final = re.compile(r"\brelease (\d+\.\d+)")

_MOST_SHOWN: Final = 3


@record
class _Image:
    number: int  #: as in ``cuobjdump -lelf``
    arch: str  #: empty: not known before it is read
    member: str  #: of a static library, else empty
    read: Callable[[], bytes]

    def origin(self, file: str) -> str:
        return of_image(file, member=self.member, number=self.number, arch=self.arch)


@record
class _Extract:
    """``trouble``: why there may be more images than these."""

    images: list[_Image]
    trouble: str | None = None


def read_container(path: Path, *, name: str | None = None, fatbins: bytes | None = None) -> Reading:
    """Every kernel of every image, in file order; PTX and what is unreadable as notes.

    Args:
        path: a file that cuobjdump reads.
        name: the file's name for people, where ``path`` is a copy.
        fatbins: what to read instead of the file, where cuobjdump does not take the file itself.

    Raises:
        InputError: no kernel, or cuobjdump does not read the file.
        CubinError: no image can be read.
        Unavailable: there is no cuobjdump here.
    """
    name = name or shown(path)
    tool = tools.find(tools.CUOBJDUMP)
    kernels: list[KernelResources] = []
    broken: list[CubinError] = []
    with _temporary(name) as folder:
        extract = _extract(tool, _prepare(path, fatbins, folder), folder)
        if extract.trouble is not None:
            extract = _more(extract, path, fatbins)
        for image in extract.images:
            try:
                kernels += read_image(_content(image, name), origin=image.origin(name))
            except CubinError as error:
                broken.append(error)
        ptx = sorted({match[1] for file in folder.iterdir() if (match := _PTX.match(file.name))})
    if not kernels:
        raise _empty(name, extract, ptx, broken)
    return Reading(
        kernels=told_apart(kernels),
        notes=tuple(f"{name}: {note}" for note in _notes(extract, ptx, broken)),
        ptx=tuple(f"sm_{number}" for number in ptx),
        unread=len(broken) + (extract.trouble is not None),
    )


@contextmanager
def _temporary(name: str) -> Iterator[Path]:
    """A directory that is gone afterwards; a disk without room is said to be one."""
    try:
        with tempfile.TemporaryDirectory(prefix="perfkit-", ignore_cleanup_errors=True) as place:
            yield Path(place)
    except OSError as error:
        raise InputError(
            f"its device code cannot be unpacked: {error.strerror or error}",
            where=name,
            hint="TMPDIR names another directory for temporary files",
        ) from error


def _content(image: _Image, name: str) -> bytes:
    try:
        return image.read()
    except OSError as error:
        why = error.strerror or str(error)
        raise CubinError(f"cannot be read: {why}", where=image.origin(name)) from error


def _prepare(path: Path, fatbins: bytes | None, folder: Path) -> Path:
    """The file under a name of ours, with images that cuobjdump will number.

    A link to it if possible, else a copy: cuobjdump's output is told apart by its name.
    """
    link = folder / _INPUT
    names = []
    if fatbins is not None:
        link.write_bytes(fatbins)
        names = named_images(link)
    elif names := named_images(path):
        shutil.copyfile(path, link)
    else:
        try:
            link.symlink_to(path.resolve())
        except OSError:  # Windows, without the privilege
            shutil.copyfile(path, link)
    if names:
        unname(link, names)
    return link


def _extract(tool: Path, file: Path, folder: Path) -> _Extract:
    """The images that cuobjdump writes into ``folder``."""
    done = tools.run([tool, "-xelf", "all", "-xptx", "all", file], folder=folder)
    if removed := _REMOVED.search(done.stderr):
        return _extract_by_target(tool, file, folder, removed)
    images = _images(folder, done, str(file))
    if done.code in {0, 255} or "does not contain device code" in done.stderr:
        lost = len(_EXTRACTING.findall(done.stdout)) - len(images)
        why = f"{lost} more have names that cuobjdump gave them" if lost > 0 else None
        return _Extract(images=images, trouble=why)
    why = tools.reason(done, tool.stem).replace(f"'{file}'", "it").replace(str(file), "it")
    return _Extract(images=images, trouble=why)


def _extract_by_target(tool: Path, file: Path, folder: Path, removed: re.Match[str]) -> _Extract:
    """A file with code for old GPUs, at which cuobjdump stops: it is asked for one target a time.

    Its numbers then count the images of that target.
    """
    about = tools.run([tool, "--help"], folder=folder).stdout
    listed = _ALLOWED.search(about)
    targets = sorted(set(re.findall(r"sm_\d+[af]?", listed[1] if listed else "")))
    images: list[_Image] = []
    for target in targets:
        part = folder / target
        part.mkdir()
        done = tools.run([tool, "-xelf", "all", "-arch", target, file], folder=part)
        known = {image.arch for image in images}
        # who asks for sm_90a gets the images for sm_90 again
        images += [image for image in _images(part, done, str(file)) if image.arch not in known]
    version = _VERSION.search(tools.run([tool, "--version"], folder=folder).stdout)
    which = f"cuobjdump {version[1]}" if version else "cuobjdump"
    other = f", that of {removed[2]} does (CUOBJDUMP)" if removed[2] else ""
    return _Extract(images=images, trouble=f"{which} does not read {removed[1]}{other}")


def _more(extract: _Extract, path: Path, fatbins: bytes | None) -> _Extract:
    """What lies uncompressed in the file, where that is more than cuobjdump could take out."""
    plain = plain_images(path, fatbins)
    if len(plain) <= len(extract.images):
        return extract
    images = [
        _Image(number=number, arch="", member="", read=partial(bytes, image))
        for number, image in enumerate(plain, 1)
    ]
    return _Extract(images=images, trouble=extract.trouble)


def _images(folder: Path, done: Finished, file: str) -> list[_Image]:
    members: dict[str, str] = {}
    member = ""
    for line in done.stdout.splitlines():
        if match := _MEMBER.fullmatch(line):
            member = printable(match[1].removeprefix(f"{file}:"))
        elif match := _EXTRACTED.fullmatch(line):
            members[match[1]] = member
    found = [
        _Image(
            number=int(match[1]),
            arch=match[2],
            member=members.get(path.name, ""),
            read=path.read_bytes,
        )
        for path in folder.iterdir()
        if (match := _ELF.fullmatch(path.name))
    ]
    return sorted(found, key=lambda image: image.number)


def _empty(name: str, extract: _Extract, ptx: list[str], broken: list[CubinError]) -> InputError:
    """Why there is no kernel."""
    if broken:
        return broken[0]
    if extract.trouble is not None and not extract.images:
        return InputError(f"its device code cannot be taken out: {extract.trouble}", where=name)
    if ptx:
        return InputError(
            f"no machine code: it has PTX for {_targets(ptx)}, compiled when the program runs",
            where=name,
            hint="cuobjdump -xptx all FILE takes the PTX out, and perfkit compiles it: "
            "perfkit inspect FILE.ptx --gpu sm_90",
        )
    if extract.images:
        return NoKernel(f"no kernel in its {len(extract.images)} images of device code", where=name)
    return InputError(
        "no device code: neither machine code nor PTX, perhaps code that is yet to be linked (LTO)",
        where=name,
    )


def _notes(extract: _Extract, ptx: list[str], broken: list[CubinError]) -> Iterator[str]:
    count = len(extract.images)
    if extract.trouble is not None:
        yield f"may have more images of device code than the {count} read: {extract.trouble}"
    if broken:
        said = "; ".join(str(error) for error in broken[:_MOST_SHOWN])
        more = f"; and {len(broken) - _MOST_SHOWN} more" if len(broken) > _MOST_SHOWN else ""
        yield f"{len(broken)} of {count} images could not be read: {said}{more}"
    if ptx:
        yield (
            f"also has PTX for {_targets(ptx)}, compiled when the program runs: what that code "
            "needs is not known"
        )


def _targets(ptx: list[str]) -> str:
    return ", ".join(f"compute_{number}" for number in ptx)
