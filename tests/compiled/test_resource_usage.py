"""cuobjdump's resource reports: public questions, live output, and what people make of it."""

from __future__ import annotations

import pytest

from perfkit.compiled.inspect import inspect
from perfkit.compiled.reading import NoKernel
from perfkit.errors import UsageError
from tests.compiled import reports
from tests.compiled.logs import DATA, NUMBERS, kernels, known, reading

FIELDS = {"REG": "registers_per_thread", "STACK": "stack_bytes", "SHARED": "static_shared_bytes"}


def data(name):
    return (DATA / name).read_bytes()


def rows(found):
    return [(k.name, k.arch, k.registers_per_thread, k.static_shared_bytes) for k in found.kernels]


def test_several_images_and_ptx():
    """Case c02: the section of PTX names an architecture too, and has no kernels."""
    found = reading(data("c02.txt"))
    assert [(k.arch, k.registers_per_thread, k.stack_bytes) for k in found.kernels] == [
        ("sm_50", 10, 0), ("sm_75", 24, 32), ("sm_75", 10, 0), ("sm_120", 20, 0),
    ]  # fmt: skip
    assert found.kernels[0].demangled.startswith("lib::cudev::detail::transformSimple<int, int>")
    assert found.kernels[1].constant_bytes == 408
    assert found.notes == ()


def test_one_function_in_several_images():
    """Case c03: three records; of the 4,108 bytes from 9.0 on 1,024 are the system's."""
    found = reading(data("c03.txt"))
    assert rows(found) == [
        ("bounded_step", "sm_120", 255, 4108 - 1024),
        ("bounded_step", "sm_120", 128, 4108 - 1024),
        ("bounded_step", "sm_90", 64, 4108 - 1024),
    ]
    assert {kernel.stack_bytes for kernel in found.kernels} == {84056}
    assert len({kernel.origin for kernel in found.kernels}) == 3


def test_one_line_per_kernel():
    """Case c05: no architecture, until it is named."""
    with pytest.raises(UsageError, match="no architecture for route_b16_w4 and 5 more") as caught:
        reading(data("c05.txt"))
    assert "--gpu" in caught.value.hint
    assert rows(reading(data("c05.txt"), arch="sm_89")) == [
        ("route_b16_w4", "sm_89", 40, 8576),
        ("route_b8_w4", "sm_89", 40, 5440),
        ("route_b16_w0", "sm_89", 49, 0),
        ("route_b8_w0", "sm_89", 49, 0),
        ("route_b16_w8", "sm_89", 48, 11648),
        ("route_b8_w8", "sm_89", 40, 7488),
    ]


REPORTS = sorted(
    path.name.removesuffix(".usage.txt")
    for path in reports.DATA.glob("*.usage.txt")
    if "relocatable" not in path.name
)


def test_there_are_reports():
    assert len(REPORTS) >= 12


@pytest.mark.parametrize("name", REPORTS)
def test_the_cubin_says_the_same(name):
    cubin = {kernel.name: kernel for kernel in inspect(reports.DATA / f"{name}.cubin")}
    (arch,) = {kernel.arch for kernel in cubin.values()}
    text = kernels((reports.DATA / f"{name}.usage.txt").read_bytes(), arch=arch)
    assert set(text) == set(cubin)
    for kernel in text.values():
        other = cubin[kernel.name]
        for field in ("registers_per_thread", "static_shared_bytes", "constant_bytes"):
            assert getattr(kernel, field) == getattr(other, field), (kernel.name, field)
        # of recursion only newer tools know
        if other.stack_bytes is not None:
            assert kernel.stack_bytes == other.stack_bytes == kernel.cumulative_stack_bytes
            assert kernel.local_bytes == other.local_bytes
        assert kernel.unbounded_stack in {None, other.unbounded_stack}
        assert (
            kernel.unbounded_stack or "whether it has a bound" in kernel.unknown["unbounded_stack"]
        )


def test_device_functions_are_not_kernels():
    """Cubins for separate compilation list them, some with registers."""
    names = {kernel.name for kernel in reading(data("linked.usage.txt")).kernels}
    assert names == {"_Z1aPfi", "_Z1bPfi", "_Z1cPfi", "_Z1dPf"}
    found = kernels((reports.DATA / "zoo.sm_90.relocatable.usage.txt").read_bytes(), arch="sm_90")
    assert "_Z5outerPfi" not in found
    # not linked yet, so that the reservation is not in these numbers
    assert found["both_shared"].static_shared_bytes == 256
    assert found["static_shared"].static_shared_bytes == 1024


def test_a_stack_that_is_not_known():
    text = (reports.DATA / "zoo.sm_120.nvrtc13.usage.txt").read_bytes()
    kernel = kernels(text, arch="sm_120")["mutually_recursive"]
    assert (kernel.stack_bytes, kernel.local_bytes) == (None, None)
    assert "recursion" in kernel.unknown["stack_bytes"]
    assert kernel.unbounded_stack is True


REPORT = """\
Fatbin elf code:
================
arch = sm_90
code version = [1,7]

Resource usage:
 Common:
  GLOBAL:0
 Function _Z1kPf:
  REG:38 STACK:8 SHARED:1064 LOCAL:16 CONSTANT[0]:540 TEXTURE:0 SURFACE:0 SAMPLER:0
"""
EXPECTED = {
    "registers_per_thread": 38,
    "stack_bytes": 8,
    "cumulative_stack_bytes": 8,
    "static_shared_bytes": 40,
    "local_bytes": 24,
    "constant_bytes": 540,
}
VALUES = REPORT.splitlines()[-1].strip()
HEAD = "Fatbin elf code:\narch = sm_90\n"

FORMS = {
    "plain": REPORT,
    "CRLF": REPORT.replace("\n", "\r\n"),
    "stamped": "".join(
        f"2024-03-05T10:11:00.{n}Z {line}\n" for n, line in enumerate(REPORT.splitlines(), 1000)
    ),
    "indented": REPORT.replace("\n", "\n    "),
    "blank lines": REPORT.replace("\n", "\n\n"),
    "other order": REPORT.replace(
        "CONSTANT[0]:540 TEXTURE:0", "CONSTANT[2]:24 CONSTANT[3]:4 CONSTANT[0]:540 TEXTURE:0"
    ),
    "grep -A1": HEAD + f"--\n Function _Z1kPf:\n  {VALUES}\n--\n",
    "paste": HEAD + f"_Z1kPf: {VALUES}\n",
    "paste with tab": HEAD + f" Function _Z1kPf:\t  {VALUES}\n",
    "no colon": HEAD + f"_Z1kPf {VALUES}\n",
    "of an archive": "member libk.a:k.o:\n\n" + REPORT,
    "of PTX before": "Fatbin ptx code:\n====\narch = sm_52\ncode version = [8,7]\n\n" + REPORT,
    "broken line": REPORT.replace(" CONSTANT[0]", "\n  CONSTANT[0]"),
    "unfinished": REPORT.rstrip("\n"),
    "cargo": "".join(f"warning: kernels@0.1.0: {line}\n" for line in REPORT.splitlines()),
    "compose": "".join(f"build_1  | {line}\n" for line in REPORT.splitlines()),
    "seconds": "".join(f"[0.{n}s] {line}\n" for n, line in enumerate(REPORT.splitlines(), 100)),
    "a page": REPORT.replace("\n", "<br>\n"),
    "Markdown": "".join(f"`{line}`\n" for line in REPORT.splitlines()),
    "JSON": '{"out": "' + REPORT.replace("\n", "\\n") + '"}\n',
    "JSON lines": "".join(
        f'{{"t":"2026","msg":"{line}", "n": 1}}\n' for line in REPORT.splitlines()
    ),
    "syslog": "".join(
        f"Nov 30 10:00:{n} host build[123]: {line}\n"
        for n, line in enumerate(REPORT.splitlines(), 10)
    ),
    "grep -n": "".join(
        f"report.txt:{n}:{line}\n" for n, line in enumerate(REPORT.splitlines(), 95)
    ),
    "HTML": "<pre>" + REPORT.replace("\n  ", "\n&nbsp; ").replace("\n", "<br>\n") + "</pre>",
    "table": HEAD + f"| _Z1kPf | {VALUES} |\n",
    "commas": HEAD + "_Z1kPf," + VALUES.replace(" ", ",") + "\n",
    "after a build": "ptxas info    : 0 bytes gmem\n" + REPORT,
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form):
    found = reading(FORMS[form])
    (kernel,) = found.kernels
    assert (kernel.name, kernel.demangled, kernel.arch) == ("_Z1kPf", "k", "sm_90")
    assert known(kernel) == EXPECTED
    assert found.notes == ()


def test_demangled_names():
    text = REPORT.replace("_Z1kPf", "void ns::f<int, 3>(ns::g<float>*)")
    (kernel,) = reading(text).kernels
    assert kernel.name == "void ns::f<int, 3>(ns::g<float>*)"
    (kernel,) = reading(HEAD + f"void ns::f<1, 2>(int): {VALUES}\n").kernels
    assert kernel.name == "void ns::f<1, 2>(int)"


def test_code_of_an_unknown_target_is_not_of_the_one_before():
    """The architecture of one section never counts for the next."""
    text = REPORT + "\nFatbin elf code:\n====\ncode version = [1,7]\n" + REPORT.partition("\n\n")[2]
    found = reading(text)
    assert len(found.kernels) == 1
    (note,) = found.notes
    assert note == "x: line 19: the text names no architecture for _Z1kPf; not listed"


def test_values_of_nobody():
    found = reading(HEAD + f"  {VALUES}\n" + REPORT)
    assert len(found.kernels) == 1
    assert found.notes == ("x: line 3: resources of a function whose name is not in the text",)


def test_jobs_that_write_at_the_same_time():
    """What a job's line says is of that job's function, whichever was named last."""
    other = VALUES.replace("REG:", "REG:1")
    text = HEAD + f"1> Function a:\n2> Function b:\n1>  {VALUES}\n2>  {other}\n"
    found = {one.name: one.registers_per_thread for one in reading(text).kernels}
    registers = EXPECTED["registers_per_thread"]
    assert found == {"a": registers, "b": int(f"1{registers}")}


@pytest.mark.parametrize("end", ["head", "tail"])
def test_cut_at_every_byte(end):
    text = data("linked.usage.txt")
    truth = {(kernel.name, kernel.arch): known(kernel) for kernel in reading(text).kernels}
    seen = 0
    for at in range(len(text)):
        left = text[:at] if end == "head" else text[at:]
        try:
            found = reading(left, arch="sm_90").kernels
        except NoKernel:
            continue
        for kernel in found:
            if (kernel.name, "sm_90") not in truth:
                continue  # the name is cut
            # where the line with the architecture is cut, the first image may go by the option
            either = [truth[kernel.name, arch] for arch in ("sm_80", "sm_90")]
            for key, value in known(kernel).items():
                seen += 1
                assert value in {one[key] for one in either}, (at, key)
    assert seen > 2_000


def test_what_is_missing_has_a_reason():
    for text in (REPORT, data("c03.txt")):
        for kernel in reading(text).kernels:
            missing = {name for name in NUMBERS if getattr(kernel, name) is None}
            assert missing <= set(kernel.unknown)


def test_a_log_and_a_report_in_one_text():
    log = (DATA / "whole.nvcc130.log").read_text()
    report = (DATA / "whole.usage.txt").read_text()
    found = reading(log + "+ cuobjdump --dump-resource-usage app.o\n" + report)
    assert len(found.kernels) == 8
    said, shown = found.kernels[:4], found.kernels[4:]
    for one, other in zip(said, shown, strict=True):
        assert (one.name, one.arch) == (other.name, other.arch)
        assert one.registers_per_thread == other.registers_per_thread
        assert one.static_shared_bytes == other.static_shared_bytes
        assert one.cumulative_stack_bytes == other.stack_bytes
