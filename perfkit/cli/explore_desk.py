"""What the command line lends the explorer: how it reads GPUs, numbers and files."""

from __future__ import annotations

import os
import re
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from perfkit.cli import loaded, options
from perfkit.cli.failures import Failures
from perfkit.cli.kernel_options import KernelOptions
from perfkit.cli.launch_options import LaunchOptions
from perfkit.cli.occupancy import estimates
from perfkit.errors import UsageError
from perfkit.explore.state import State
from perfkit.files import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfkit.analysis.occupancy import Estimate
    from perfkit.arch.types import Target
    from perfkit.kernel import KernelResources


class Desk:
    """``explore.state.CommandLine``, by the functions of the other commands."""

    def __init__(self, kernels: KernelOptions) -> None:
        self.options = kernels

    @property
    def compiling(self) -> tuple[str, ...]:
        """The options with which sources are compiled, as typed."""
        given = self.options
        several = {"-I": given.include, "-D": given.define, "--instantiate": given.instantiate}
        single = {
            "--std": given.std,
            "--maxrregcount": given.maxrregcount,
            "--compiler": None if given.compiler == "auto" else given.compiler,
        }
        words: list[object] = [
            word
            for option, values in several.items()
            for one in values or ()
            for word in (option, one)
        ]
        words += [
            word
            for option, value in single.items()
            if value is not None
            for word in (option, value)
        ]
        return (*map(str, words), *(["--fast-math"] if given.fast_math else []))

    def target(self, gpu: str) -> Target:
        """The one target of that name.

        Raises:
            UsageError: several of them, or none.
        """
        found = options.targets(gpu)
        if len(found) > 1:
            raise UsageError(
                f"{gpu} is {len(found)} GPUs, the explorer shows one",
                hint=f"one of: {', '.join(one.label for one in found)}",
            )
        return found[0]

    def kernels(self, path: str, gpu: str | None) -> Sequence[tuple[Target, KernelResources]]:
        """The kernels of a file, each for the GPU, or for what it is compiled for.

        Raises:
            UsageError: stdin, which is the terminal; or as ``loaded.pairs``.
        """
        if path == "-":
            raise UsageError("stdin is where you type: write it to a file first")
        if not path.strip():
            raise UsageError("no file named", hint="write the path of a .cu, cubin, log or library")
        place = Path(os.path.expanduser(path))  # noqa: PTH111 - a user that is nobody stays
        found = loaded.pairs(place, gpu, self.options)
        pairs = [(target, kernel) for target, kernel in found if kernel is not None]
        if not pairs:
            raise UsageError(f"{shown(place)} holds no kernel")
        return pairs

    def estimate(self, state: State, target: Target) -> Estimate:
        """The answer of ``perfkit occupancy``; raises what that ends with."""
        launch = LaunchOptions(
            threads=state.threads or None,
            regs=_whole("--regs", state.regs),
            smem_static=state.smem_static or None,
            smem_dynamic=state.smem_dynamic or None,
            carveout=state.carveout or None,
            barriers=_whole("--barriers", state.barriers),
            cluster=state.cluster or None,
            grid=state.grid or None,
        )
        failures = Failures()
        found = estimates([(target, state.kernel)], launch, failures)
        failures.raise_first()
        return found[0]


def start(desk: Desk, path: Path | None, gpu: str | None, launch: LaunchOptions) -> State:
    """The state that the command line asks for; a kernel only where the file has one.

    Raises:
        PerfkitError: as the other commands for a GPU, a file or options that are none.
    """
    name = gpu.strip() if gpu else None
    texts = {
        field.name: str(value)
        for field in fields(launch)
        if field.name != "smem" and (value := getattr(launch, field.name)) is not None
    }
    if name is not None:
        desk.target(name)
    if path is None:
        desk.options.refuse_without_file()
        if launch.smem is not None:
            texts["smem_dynamic"] = launch.smem
        return State(gpu=name).having(**texts).completed()
    pairs = desk.kernels(str(path), gpu)
    if len(pairs) > 1:
        if launch.smem is not None:
            raise UsageError(
                "--smem is static + dynamic, and the kernel is still to be chosen",
                hint="write --smem-dynamic, or choose with --kernel",
            )
        return State(gpu=name, path=str(path)).having(**texts)
    target, kernel = pairs[0]
    if launch.smem is not None and (launched := launch.launched(kernel)) is not None:
        texts["smem_dynamic"] = str(launched.dynamic_shared_bytes)
    opened = State(gpu=name or target.label, path=str(path), kernel=kernel)
    return opened.having(**texts).completed()


def _whole(option: str, text: str) -> int | None:
    """A number as Typer reads it for the other commands; None: not given."""
    if not text.strip():
        return None
    if not re.fullmatch(r"\s*[0-9]{1,9}\s*", text):
        raise UsageError(f"{option} {text!r}: not a whole number")
    return int(text)
