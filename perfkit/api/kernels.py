"""Kernels of files, and how to launch them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfkit.api import inputs
from perfkit.api.targets import TargetLike, architecture_of, targets_of
from perfkit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from perfkit.analysis.recommend import Recommendation
    from perfkit.api.inputs import Size, Whole
    from perfkit.arch.types import ComputeCapability
    from perfkit.kernel import KernelResources


def inspect(
    path: str | Path,
    *,
    target: TargetLike | ComputeCapability | None = None,
    arch: TargetLike | ComputeCapability | None = None,
    kernel: str | None = None,
    include_dirs: str | Path | Iterable[str | Path] = (),
    defines: str | Iterable[str] = (),
    std: str | None = None,
    max_registers: Whole | None = None,
    fast_math: bool = False,
    name_expressions: str | Iterable[str] = (),
    extra: str | Iterable[str] = (),
    compiler: str = "auto",
) -> list[KernelResources]:
    """What the kernels of a file need: registers, shared memory, stack, spills, barriers.

    Args:
        path: a cubin, fatbin, object, program, library, wheel, directory, Triton cache, PTX, CUDA
            source, log of ``ptxas -v`` or report of cuobjdump; told by its content.
        target: product or capability to compile a source or PTX for (``"h100"``, ``"sm_90a"``), or
            that of a log which does not say. Machine code says its own: all of it is listed.
        arch: another name of ``target``.
        kernel: a regular expression, looked for in the mangled and in the shown name.
        include_dirs: directories with headers, or one.
        defines: macros, or one: ``NAME`` or ``NAME=VALUE``.
        std: C++ dialect, ``c++17``.
        max_registers: most registers per thread to compile for.
        fast_math: compile with fast math.
        name_expressions: template instances to compile, or one: ``axpy<float, 256>``.
        extra: further options for the compiler, or one.
        compiler: ``auto``, ``nvrtc`` or ``nvcc``.

    Returns:
        One record for each kernel, in file order.

    Raises:
        InputError: unreadable, of a kind that is not read, or (``CompileError``) refused by the
            compiler.
        UsageError: a source without ``target``, options for a compiler where nothing is compiled,
            a bad option, or no kernel of that name.
        Unavailable: a compiler or cuobjdump is needed and is not here.

    >>> [kernel] = inspect("tests/data/cubin/j04.sm_90.cubin")
    >>> kernel.name, kernel.registers_per_thread, kernel.static_shared_bytes
    ('dsm', 12, 512)
    """
    from perfkit.compiled.inspect import inspect as read

    if not isinstance(path, str | Path):
        raise UsageError(f"path = {path!r}: must be text or a Path")
    if path == "":
        raise UsageError("path is empty", hint="'.' is this directory")
    for name, value in {"kernel": kernel, "std": std}.items():
        if value is not None and not isinstance(value, str):
            raise UsageError(f"{name} = {value!r}: must be text")
    if target is not None and arch is not None:
        raise UsageError("target and arch are two names of one thing: give one")
    wanted = arch if target is None else target
    found = read(
        path,
        arch=None if wanted is None else architecture_of(wanted),
        include_dirs=[Path(one) for one in _several("include_dirs", include_dirs)],
        defines=map(str, _several("defines", defines)),
        std=std,
        max_registers=None
        if max_registers is None
        else inputs.whole("max_registers", max_registers),
        fast_math=fast_math,
        name_expressions=map(str, _several("name_expressions", name_expressions)),
        extra=map(str, _several("extra", extra)),
        compiler=compiler,
        kernel=kernel,
    )
    return list(found)


def _several(name: str, value: Any) -> list[str | Path]:
    """One text is one value, not its characters."""
    values = [value] if isinstance(value, str | Path) or not hasattr(value, "__iter__") else value
    found = list(values)
    for one in found:
        if not isinstance(one, str | Path):
            raise UsageError(f"{name} = {value!r}: must be text, or a list of texts")
    return found


def recommend(
    targets: TargetLike | Iterable[TargetLike],
    *,
    regs: Whole | None = None,
    kernel: KernelResources | None = None,
    static_smem: Size | None = None,
    dynamic_smem: Size = 0,
    smem_per_thread: Size = 0,
    barriers: Whole | None = None,
    max_threads: Whole | None = None,
    threads: Whole | None = None,
    elements: Whole | None = None,
    per_thread: Whole = 1,
    cluster: Whole | None = None,
    power_of_two: bool = False,
) -> Recommendation:
    """The launch configuration to use, one for all targets.

    Args:
        targets: one or several products and capabilities.
        regs: registers per thread; not given: those of ``kernel``.
        kernel: what ``perfkit.inspect`` read; what is given besides comes first.
        static_smem: bytes per block that the kernel declares, or ``"4K"``.
        dynamic_smem: bytes per block that the launch adds, whatever its size.
        smem_per_thread: bytes that it adds for each thread.
        barriers: named barriers per block; 1 if not known.
        max_threads: the kernel's launch bound.
        threads: the block size, if it is fixed.
        elements: size of the problem.
        per_thread: elements that a thread works on.
        cluster: blocks per cluster; not given: as many as ``kernel`` is compiled for.
        power_of_two: the number of warps has to be one, as in Triton.

    Raises:
        UsageError: neither ``regs`` nor a kernel with a known number of registers, or a value that
            no launch can have.
        DoesNotFit: no block size launches on all targets.

    >>> recommend("h100", regs=40, dynamic_smem="20K").threads
    256
    """
    from perfkit.analysis import recommend as analysis
    from perfkit.analysis.block_sizes import Request, Wish

    def number(name: str, value: Any) -> int | None:
        return None if value is None else inputs.whole(name, value)

    def known(given: int | None, field: str) -> int | None:
        return getattr(kernel, field) if given is None and kernel is not None else given

    registers = known(number("regs", regs), "registers_per_thread")
    if registers is None:
        raise UsageError("how many registers per thread?", hint="give regs=40")
    static = None if static_smem is None else inputs.size("static_smem", static_smem)
    named = known(number("barriers", barriers), "barriers")
    requests = [
        Request(
            target=target,
            kernel=None if kernel is None else kernel.demangled,
            regs=registers,
            static_bytes=known(static, "static_shared_bytes") or 0,
            dynamic_bytes=inputs.size("dynamic_smem", dynamic_smem),
            bytes_per_thread=inputs.size("smem_per_thread", smem_per_thread),
            barriers=1 if named is None else named,
            max_threads=known(number("max_threads", max_threads), "max_threads"),
            exact_threads=number("threads", threads),
            only_threads=None if kernel is None else kernel.required_threads,
        )
        for target in targets_of(targets)
    ]
    wish = Wish(
        elements=number("elements", elements),
        per_thread=inputs.whole("per_thread", per_thread),
        cluster=known(number("cluster", cluster), "required_cluster_blocks"),
        power_of_two=power_of_two,
    )
    return analysis.recommend(requests, wish)
