"""``perfkit recommend``: which launch configuration to use, why, and as code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from perfkit.analysis.block_sizes import Request, Wish
from perfkit.analysis.recommend import Recommendation
from perfkit.analysis.recommend import recommend as answer
from perfkit.cli import loaded, options, talk
from perfkit.cli.emit import emit, write
from perfkit.cli.failures import Failures
from perfkit.cli.groups import Without, grouped
from perfkit.cli.help import examples, new_app
from perfkit.cli.kernel_options import KernelOptions
from perfkit.cli.launch_options import LaunchOptions, refuse_what_fits_nowhere
from perfkit.cli.tuning_options import TuneOptions, present, refuse_unmeasured, tune
from perfkit.errors import UsageError
from perfkit.report.code.kinds import Kind, render
from perfkit.units import parse_elements

if TYPE_CHECKING:
    from perfkit.analysis.tuning import Tuning
    from perfkit.arch.types import Target
    from perfkit.device.tuning import Try
    from perfkit.kernel import KernelResources

app = new_app()

ElementsOption = Annotated[
    str | None,
    typer.Option(
        "--elements", "-n", metavar="N", help="Size of the problem, in elements: 1e7 or 16M (2^24)."
    ),
]
PerThreadOption = Annotated[
    int, typer.Option("--per-thread", metavar="N", help="Elements that a thread works on.")
]
PerThreadBytesOption = Annotated[
    str | None,
    typer.Option(
        "--smem-per-thread",
        metavar="SIZE",
        help="Dynamic shared memory that grows with the block, besides --smem-dynamic.",
    ),
]
CodeOption = Annotated[
    Kind | None, typer.Option("--code", help="Write code that launches so, instead of tables.")
]
MeasureOption = Annotated[
    str | None,
    typer.Option(
        "--measure",
        metavar="KERNEL|FILE.yaml",
        help="Try block sizes on this machine's card: of a kernel of perfkit's library, or of your "
        "own as 'perfkit measure --spec' takes it.",
    ),
]


@app.command(
    epilog=examples(
        "perfkit recommend kernel.cu -g h100",
        "perfkit recommend kernel.cu -g a100,rtx-4090,h100 --elements 10000000",
        "perfkit recommend -g h100 -r 40 -s 20K --code cuda",
        "perfkit recommend kernel.cubin -g h100 --cluster 4 --code cuda-core",
        "perfkit recommend --measure scale.yaml --tries 8",
    )
)
@grouped
def recommend(
    path: Annotated[
        Path | None, typer.Argument(help="Any file with kernels; without one give --regs.")
    ] = None,
    gpu: options.GpuOption = None,
    *,
    launch: Annotated[LaunchOptions, Without("carveout", "grid")],
    smem_per_thread: PerThreadBytesOption = None,
    elements: ElementsOption = None,
    per_thread: PerThreadOption = 1,
    code: CodeOption = None,
    measure: MeasureOption = None,
    tuning: TuneOptions,
    kernels: KernelOptions,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Recommend a launch: block, grid, carveout, launch bounds.

    One configuration that is good on all GPUs named, with what ties with it, what other choices
    would cost, and when occupancy is not worth chasing. With --threads the block size is fixed.
    Nothing is run, so nothing is promised: measure what is close.

    GPUs on which a kernel does not launch are left out of its recommendation and told on stderr,
    after the others; the exit code is 2 then, or 4 if only something is missing here.
    """
    if measure is not None:
        return _measure(measure, path, gpu, tuning, format, output)
    refuse_unmeasured(tuning, "write --measure KERNEL; perfkit measure --list shows them")
    count = options.size(elements, "--elements", parse_elements)
    wish = Wish(elements=count, per_thread=per_thread, power_of_two=code is Kind.TRITON)
    growing = options.size(smem_per_thread, "--smem-per-thread") or 0
    failures = Failures()
    found = _found(loaded.pairs(path, gpu, kernels, failures), launch, growing, wish, failures)
    if launch.smem is not None and path is None:
        talk.note(_DYNAMIC)
    if code is not None and format is options.Format.TABLE:
        write(_code(found, code), output)
        return failures.report()
    from perfkit.report.views import recommend as view

    emit(
        "recommend",
        document=lambda: view.document(found),
        content=lambda: {**view.content(found), "code": code and _code(found, code)},
        format=format,
        output=output,
    )
    failures.report()


def _measure(
    what: str,
    path: Path | None,
    gpu: str | None,
    tuning: TuneOptions,
    format: options.Format,  # noqa: A002
    output: Path | None,
) -> None:
    if path is not None:
        raise UsageError(
            f"--measure {what} says what is run; {path} is one kernel too many",
            hint="a YAML file names your source, its kernel and arguments: docs/measure.md",
        )
    device, here = present(options.targets(gpu) if gpu is not None else ())

    def work(how: Try) -> Tuning:
        from perfkit.device.kernel_file import read
        from perfkit.device.tuning import tune_block_size
        from perfkit.device.workloads.library import named

        if what.endswith((".yaml", ".yml")):
            return tune_block_size(device, here, read(Path(what)), how)
        if len(kernels := named([what])) > 1:
            raise UsageError(f"--measure {what} means {len(kernels)} kernels", hint="name one")
        return tune_block_size(device, here, kernels[0], how)

    tune(work, tuning, ceilings=(), format=format, output=output)


_DYNAMIC: Final = "--smem counts as dynamic here; --smem-static is what a kernel declares"


def _code(found: list[Recommendation], kind: Kind) -> str:
    if len(found) != 1:
        names = ", ".join(str(one.advices[0].place.request.kernel) for one in found)
        raise UsageError(f"--code is for one kernel, not {names}", hint="choose with --kernel")
    return render(found[0], kind)


def _found(
    pairs: list[tuple[Target, KernelResources | None]],
    launch: LaunchOptions,
    growing: int,
    wish: Wish,
    failures: Failures,
) -> list[Recommendation]:
    """A recommendation for each kernel that has one, over all targets that it is asked about on."""
    by_kernel: dict[str | None, list[Request]] = {}
    sizes: dict[str | None, int | None] = {}
    for target, kernel in pairs:
        name = kernel.demangled if kernel else None
        with failures.collected():
            request = _request(target, kernel, launch, growing)
            sizes[name] = launch.cluster_size(kernel)
            by_kernel.setdefault(name, []).append(request)
    refuse_what_fits_nowhere(
        [
            (request.target.capability, request.static_bytes + request.dynamic_bytes)
            for requests in by_kernel.values()
            for request in requests
        ],
        launch.shared_option(),
    )
    found: list[Recommendation] = []
    for name, requests in by_kernel.items():
        with failures.collected():
            found += _answers(requests, replace(wish, cluster=sizes[name]), failures)
    if not found:
        failures.raise_first()
    return found


def _answers(
    requests: list[Request], wish: Wish, failures: Failures
) -> tuple[()] | tuple[Recommendation]:
    """One launch for all targets, or for those that can launch the kernel at all.

    Raises:
        UsageError: each target has a launch, and no launch is one of all.
    """
    try:
        return (answer(requests, wish),)
    except UsageError:
        able = []
        for request in requests:
            with failures.collected():
                answer([request], wish)
                able.append(request)
        if len(able) == len(requests):
            raise
        return (answer(able, wish),) if able else ()


def _request(
    target: Target, kernel: KernelResources | None, launch: LaunchOptions, growing: int
) -> Request:
    """What was not typed comes from the kernel; the block size is only what has to be."""
    capability = target.capability
    # a stand-in, so that everything else is read in the usual way
    one = replace(launch, threads="1" if launch.threads is None else launch.threads).launch(
        capability, kernel
    )
    static = launch.static_bytes(kernel) or 0
    return Request(
        target=target,
        kernel=kernel.demangled if kernel else None,
        regs=one.regs,
        static_bytes=static,
        dynamic_bytes=one.smem - static,
        bytes_per_thread=growing,
        barriers=one.barriers,
        max_threads=one.max_threads,
        exact_threads=None if launch.threads is None else one.threads,
        only_threads=kernel.required_threads if kernel else None,
    )
