"""Two sides and a policy in, verdicts out: what the gate's commands and its pytest plugin share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfkit.cli import gate_inputs, options, talk

if TYPE_CHECKING:
    from perfkit.cli.gate_inputs import Kernels, Side
    from perfkit.cli.gate_policy import GatePolicy
    from perfkit.cli.kernel_options import KernelOptions
    from perfkit.gate.verdict import Verdict


def timing(new: Side, old: Side, policy: GatePolicy) -> list[Verdict]:
    """Results against the baseline's; notes go to stderr. Raises as ``gate.against``."""
    from perfkit.gate.against import against

    gate_inputs.say(old)
    found = against(old.recorded, old.results, gate_inputs.candidate(new), policy.timing)
    for note in found.notes:
        talk.note(note)
    return [*found.verdicts]


def static(
    new: Side, old: Side, kernels: KernelOptions, gpu: str | None, policy: GatePolicy
) -> list[Verdict]:
    """Kernels against rules; without rules nothing may get worse than in the baseline.

    Raises:
        PerfkitError: a source does not compile, or there is nothing to hold the kernels against.
    """
    from perfkit.analysis.pairing import match
    from perfkit.analysis.static_facts import StaticFacts
    from perfkit.gate.static import judge
    from perfkit.gate.static_rules import not_worse
    from perfkit.gate.static_verdicts import Builds
    from perfkit.report.views.fits import why

    here, before = _builds(new, old, kernels, gpu)
    pairs, vanished, _ = match(before.kernels if before else (), here.kernels)
    partner = {id(now): then for then, now in pairs}
    targets = options.targets(gpu) if gpu and not isinstance(gpu, options.DefaultGpu) else ()
    facts = StaticFacts(
        here.kernels,
        targets,
        explain=why,
        paths={**(before.paths if before else {}), **here.paths},
        ptx=here.ptx,
    )
    rules = policy.static.rules
    if not rules and before:
        talk.note("no rules: nothing may get worse than in the baseline")
        rules = (not_worse(),)
    return judge(
        rules,
        Builds(
            pairs=tuple((partner.get(id(kernel)), kernel) for kernel in here.kernels),
            vanished=vanished,
            compared=before is not None,
            idle=here.idle,
            unread=here.unread + (before.unread if before else 0),
        ),
        facts,
        allow_new=policy.static.allow_new,
        allow_vanished=policy.static.allow_vanished,
    )


def _builds(
    new: Side, old: Side, kernels: KernelOptions, gpu: str | None
) -> tuple[Kernels, Kernels | None]:
    """Both sides; a source is compiled for what was asked, or for what the other side is."""
    there = [kernel.arch for _, reading in old.readings for kernel in reading.kernels]
    here = gate_inputs.compiled(new, kernels, gpu, there)
    if not old.holds_kernels:
        return here, None
    return here, gate_inputs.compiled(old, kernels, gpu, [kernel.arch for kernel in here.kernels])
