"""Where kernels come from: a source file and how to compile it, or a compiled file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from perfkit.cli import options, talk
from perfkit.cli.progress import progress
from perfkit.errors import UsageError
from perfkit.files import readable, shown
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.compiled.reading import Reading
    from perfkit.kernel import KernelResources

IncludeOption = Annotated[
    list[Path] | None,
    typer.Option("--include", "-I", metavar="DIR", help="Directory with headers."),
]
DefineOption = Annotated[
    list[str] | None,
    typer.Option("--define", "-D", metavar="MACRO", help="Macro: NAME or NAME=VALUE."),
]
StdOption = Annotated[
    str | None, typer.Option("--std", metavar="DIALECT", help="C++ dialect: c++17, c++20.")
]
MaxRegistersOption = Annotated[
    int | None,
    typer.Option("--maxrregcount", metavar="N", help="Most registers per thread to compile for."),
]
FastMathOption = Annotated[bool, typer.Option("--fast-math", help="Compile with fast math.")]
InstantiateOption = Annotated[
    list[str] | None,
    typer.Option(
        "--instantiate",
        metavar="NAME",
        help="Template instance to compile: 'axpy<float, 256>'; may be repeated.",
    ),
]
CompilerOption = Annotated[
    str,
    typer.Option(
        "--compiler",
        metavar="NAME",
        help="nvrtc: device code alone; nvcc: host code too; auto: nvcc where it takes that.",
    ),
]


@record
class KernelOptions:
    """How to compile a source, and which of its kernels are wanted."""

    kernel: options.KernelOption = None
    include: IncludeOption = None
    define: DefineOption = None
    std: StdOption = None
    maxrregcount: MaxRegistersOption = None
    fast_math: FastMathOption = False
    instantiate: InstantiateOption = None
    compiler: CompilerOption = "auto"

    def refuse_without_file(self) -> None:
        """Raise ``UsageError`` where an option asks for a kernel and there is no file."""
        given = [*self._compiler_options(), *(["--kernel"] if self.kernel else [])]
        if given:
            raise UsageError(
                f"{given[0]} is about the kernels of a file, and no file is given",
                hint="name a .cu file or a compiled one",
            )

    def _compiler_options(self) -> list[str]:
        """The options given that only a compiler can follow."""
        options = {
            "--include": self.include,
            "--define": self.define,
            "--std": self.std,
            "--maxrregcount": self.maxrregcount is not None,
            "--fast-math": self.fast_math,
            "--instantiate": self.instantiate,
            "--compiler": self.compiler != "auto",
        }
        return [option for option, value in options.items() if value]

    def read(self, path: Path, arch: str | None) -> tuple[KernelResources, ...]:
        """The kernels of ``path``; what else is to be said of the file goes to stderr.

        Raises:
            PerfkitError: as ``reading``.
        """
        reading = self.reading(path, arch)
        say(reading)
        return reading.kernels

    def reading(self, path: Path, arch: str | None, stream: BinaryIO | None = None) -> Reading:
        """The kernels of ``path``, compiled for ``arch`` (``sm_90a``) if it is a source.

        A file that says for what it was compiled ignores ``arch``. ``stream`` is what came through
        a pipe, where it has been read already.

        Raises:
            InputError: not a kernel in any form that can be read, or it does not compile.
            UsageError: no kernel of that name, a source without an architecture, or options for
                the compiler where there is nothing to compile.
            Unavailable: compiling needs NVRTC or nvcc and it is not here.
        """
        from perfkit.compiled import inspect
        from perfkit.compiled.compile_options import CompileOptions

        given = self._compiler_options()
        if inspect.is_ptx(path):
            given = [option for option in given if option != "--maxrregcount"]
        elif is_source(path):
            given = []
        if given:
            raise UsageError(f"{given[0]} is for sources, and {shown(path)} is compiled already")
        options = CompileOptions(
            include_dirs=tuple(self.include or ()),
            defines=tuple(self.define or ()),
            std=self.std,
            max_registers=self.maxrregcount,
            fast_math=self.fast_math,
            name_expressions=tuple(self.instantiate or ()),
            compiler=self.compiler,
        )
        with progress() as tell:
            return inspect.read(
                path,
                arch=arch,
                kernel=self.kernel,
                options=options,
                progress=tell,
                stream=stream,
            )


def say(reading: Reading) -> None:
    """Write the notes of a reading to stderr."""
    for note in reading.notes:
        talk.note(note)


def named_arch(gpu: str | None) -> str | None:
    """The one architecture that ``--gpu`` names, for texts that do not tell theirs."""
    archs = {arch for arch, _ in options.architectures(gpu)} if gpu else set()
    return archs.pop() if len(archs) == 1 else None


def is_source(path: Path) -> bool:
    """Whether the file has to be compiled before it can be read.

    Raises:
        InputError: it would have to, and is not there: that is told before what compiling needs.
    """
    from perfkit.compiled import inspect

    if not inspect.is_source(path):
        return False
    with readable(path):
        path.stat()
    return True
