"""The table of preferences against the rule, percent by percent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perfkit.analysis.carveout import table
from perfkit.analysis.launch import Launch
from perfkit.analysis.shared_capacity import configured_shared_bytes
from perfkit.arch import catalog
from perfkit.errors import InvalidLaunch
from perfkit.models.carveout import carveout_bytes

TARGETS = catalog.targets("all")
EACH = pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.label)


@EACH
def test_ranges_cover_every_percentage_once_and_rows_have_one_capacity_each(target):
    shared = target.capability.shared_memory
    first, *rest = table(target, threads=None, regs=0, smem=0)
    assert (first.first_percent, first.last_percent) == (None, None)
    assert first.capacity_bytes == shared.capacities_bytes[-1]
    if not shared.configurable:
        assert rest == []
        return
    covered = []
    for setting in rest:
        span = range(setting.first_percent, setting.last_percent + 1)
        assert {carveout_bytes(shared, percent) for percent in span} == {setting.capacity_bytes}
        covered += span
    assert covered == list(range(101))
    assert [setting.capacity_bytes for setting in rest] == sorted(
        {setting.capacity_bytes for setting in rest}
    )


@EACH
def test_l1_is_what_is_left(target):
    l1 = target.capability.l1
    for setting in table(target, threads=128, regs=32, smem=1024):
        if l1.dedicated_bytes is not None:
            assert setting.l1_bytes == setting.configured_l1_bytes == l1.dedicated_bytes
        else:
            whole = l1.unified_with_shared_bytes
            assert setting.l1_bytes + setting.capacity_bytes == whole
            assert setting.configured_l1_bytes + setting.configured_bytes == whole


@EACH
def test_the_launch_is_that_of_the_rules(target):
    capability = target.capability
    for setting in table(target, threads=96, regs=40, smem=2048):
        launch = Launch(threads=96, regs=40, smem=2048, carveout=setting.first_percent)
        hardware = replace(launch, rule="hardware")
        assert setting.driver_blocks_per_sm == launch.on(capability).blocks_per_sm
        assert setting.hardware_blocks_per_sm == hardware.on(capability).blocks_per_sm
        percent = -1 if setting.first_percent is None else setting.first_percent
        assert setting.configured_bytes == configured_shared_bytes(
            capability, 96, 40, 2048, percent
        )
        assert setting.evidence == capability.shared_memory.carveout_evidence


def test_without_a_launch_nothing_is_said_of_one():
    for setting in table(TARGETS[-1], threads=None, regs=0, smem=0):
        assert setting.driver_blocks_per_sm is setting.hardware_blocks_per_sm is None
        assert setting.configured_bytes is setting.configured_l1_bytes is None


@pytest.mark.parametrize("launch", [(0, 32, 0), (64, 256, 0), (64, 32, -1)])
def test_an_impossible_launch(launch):
    threads, regs, smem = launch
    with pytest.raises(InvalidLaunch):
        table(TARGETS[0], threads=threads, regs=regs, smem=smem)
