"""``perfkit gate check``: compiled kernels against rules, timings against a baseline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perfkit.cli import gate_inputs, gate_judge, options
from perfkit.cli.diff import without_compiler
from perfkit.cli.gate_output import Output, write
from perfkit.cli.gate_policy import Settings
from perfkit.cli.groups import grouped
from perfkit.cli.help import examples, new_app
from perfkit.cli.kernel_options import KernelOptions, is_source
from perfkit.errors import UsageError

if TYPE_CHECKING:
    from perfkit.cli.gate_inputs import Side
    from perfkit.gate.verdict import Verdict

app = new_app()


@app.command(
    epilog=examples(
        "perfkit gate check build.log --rule 'registers<=64' --rule 'spills==0'",
        "perfkit gate check new.cubin -b old.cubin --rule 'registers<=baseline+8'",
        "perfkit gate check k.cu -g a100,h100 --rule 'occupancy>=50%@256 threads'",
        "perfkit gate check new.json --baseline base.json --threshold 3%",
        "perfkit gate check lib.so new.json -b old.so -b base.json --github",
    )
)
@grouped
def check(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="What is judged: files with kernels, results, folders of them."),
    ] = None,
    *,
    candidate: Annotated[
        list[Path] | None,
        typer.Option("--candidate", "-c", metavar="FILE", help="The same; may be repeated."),
    ] = None,
    baseline: Annotated[
        list[Path] | None,
        typer.Option(
            "--baseline", "-b", metavar="FILE", help="What it is compared with; may be repeated."
        ),
    ] = None,
    gpu: options.GpuOption = None,
    settings: Settings,
    kernels: KernelOptions,
    out: Output,
) -> None:
    """Judge kernels by rules and timings by a baseline.

    Files are told apart by content: what inspect reads is held against the rules of --rule and
    --policy, exactly; results of benchmarks are compared with the baseline's, run by run. Both may
    be given at once. The exit code is 0 if all pass, 1 if anything fails, 3 if nothing fails and
    something cannot be told. What was not checked is never a pass.
    """
    candidates = [*(paths or ()), *(candidate or ())]
    if not candidates:
        raise UsageError("nothing to judge", hint="name a file with kernels or results")
    policy = settings.read()
    every = [*candidates, *(baseline or ())]
    # options for the compiler are no mistake where one of the files is compiled here
    plain = without_compiler(kernels) if any(map(is_source, every)) else kernels
    new = gate_inputs.side(candidates, plain, gpu, settings.metric)
    old = gate_inputs.side(baseline or (), plain, gpu, settings.metric)
    _refuse_unlike(new, old, settings, kernels)
    gate_inputs.say_the_same(new, old)
    static: list[Verdict] = []
    timing: list[Verdict] = []
    if new.holds_kernels:
        static = gate_judge.static(new, old, kernels, gpu, policy)
    if new.holds_results:
        timing = gate_judge.timing(new, old, policy)
    write(policy.outcome(static, timing), policy.on_inconclusive, out)


def _refuse_unlike(new: Side, old: Side, settings: Settings, kernels: KernelOptions) -> None:
    """Each kind of input needs its own counterpart, and each option its kind of input."""
    held = {"static": ("kernels", new.holds_kernels, old.holds_kernels)}
    held["timing"] = ("results", new.holds_results, old.holds_results)
    if not new.holds_kernels:
        kernels.refuse_without_file()
    for suite, (what, here, there) in held.items():
        if there and not here:
            raise UsageError(f"the baseline holds {what}, and no candidate does")
        if not here and (option := settings.typed_for(suite)):
            raise UsageError(f"{option} is about {what}, and there are none to judge")
    if new.holds_results and not old.holds_results:
        raise UsageError(
            "results need a baseline to be compared with", hint="write --baseline base.json"
        )
