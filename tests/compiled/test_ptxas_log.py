"""Compiler logs: public questions with their answers, every known form, and what nobody can tell.

The expected numbers of the cases were read by hand or compiled elsewhere.
"""

from __future__ import annotations

import random

import pytest

from perfkit.compiled.inspect import inspect
from perfkit.compiled.ptxas_log import read_log
from perfkit.compiled.reading import NoKernel
from perfkit.errors import UsageError
from tests.compiled import reports
from tests.compiled.logs import (
    DATA,
    NUMBERS,
    compilation,
    frame,
    kernels,
    known,
    lines,
    mixed,
    reading,
    values,
)

CASES = {
    "b02": [
        ("ht_insert", "sm_70", {"registers": 28, "smem_bytes": 0, "stack_frame": 0,
                                "spill_stores": 0, "spill_loads": 0}),
        ("ht_find", "sm_70", {"registers": 28, "smem_bytes": 0, "stack_frame": 0,
                              "spill_stores": 0, "spill_loads": 0}),
    ],
    "b04": [
        ("_ZN3cub11EmptyKernelIvEEvv", "sm_120",
         {"registers": 4, "smem_bytes": 0, "stack_frame": 0, "spill_stores": 0, "spill_loads": 0,
          "barriers": 0}),
        ("Z11gemm_deviceIN4cute5tupleIJiiiEEENS1_IJNS0_1CILi128EEES4_NS3_ILi8EEEEEEfLi129EEvT_T0_PKT1_",
         "sm_120",
         {"registers": 128, "smem_bytes": 8248, "stack_frame": 0, "spill_stores": 0,
          "spill_loads": 0, "barriers": 1}),
        ("Z11gemm_deviceIN4cute5tupleIJiiiEEENS1_IJNS0_1CILi128EEES4_NS3_ILi8EEEEEEfLi128EEvT_T0_PKT1_",
         "sm_120",
         {"registers": 106, "smem_bytes": 8192, "stack_frame": 0, "spill_stores": 0,
          "spill_loads": 0, "barriers": 1}),
    ],
    "b06": [
        ("_Z14blur_kernel_v7iiPhPKh", "sm_30",
         {"registers": 23, "smem_bytes": 5120, "stack_frame": 224, "spill_stores": 0,
          "spill_loads": 0, "cumulative_stack": 240}),
        ("_Z14blur_kernel_v1iiPhPKh", "sm_30",
         {"registers": 13, "smem_bytes": 0, "stack_frame": 200, "spill_stores": 0,
          "spill_loads": 0, "cumulative_stack": 200}),
        ("_Z14blur_kernel_v4iiPhPKh", "sm_30",
         {"registers": 23, "smem_bytes": 5120, "stack_frame": 288, "spill_stores": 0,
          "spill_loads": 0, "cumulative_stack": 304}),
        ("_Z14blur_kernel_v2iiPhPKh", "sm_30",
         {"registers": 13, "smem_bytes": 0, "stack_frame": 200, "spill_stores": 0,
          "spill_loads": 0, "cumulative_stack": 200}),
    ],
    # a spill gate must fail on the first: the function it calls spills, the kernel does not
    "b09": [
        ("_Z9SolverCTAI7complexIdELi32ELi64ELb0EEvPT_i", "sm_89",
         {"registers": 255, "smem_bytes": 0, "stack_frame": 0, "spill_stores": 0, "spill_loads": 0,
          "callee_spill_stores": 4612, "callee_spill_loads": 4596, "cumulative_stack": 4640}),
        ("_Z9SolverCTAI7complexIfELi16ELi32ELb0EEvPT_i", "sm_89",
         {"registers": 96, "smem_bytes": 0, "stack_frame": 16, "spill_stores": 0, "spill_loads": 0,
          "callee_spill_stores": None, "callee_spill_loads": None, "cumulative_stack": 16}),
    ],
    "b10": [
        ("_Z10softmax_v3ILi256ELi4096EEvPfS0_ii", "sm_89",
         {"registers": 38, "smem_bytes": 72, "stack_frame": 64, "spill_stores": 0,
          "spill_loads": 0, "cumulative_stack": 64, "barriers": 1}),
        ("_Z10softmax_v0PfS_ii", "sm_89",
         {"registers": 36, "smem_bytes": 0, "stack_frame": 0, "spill_stores": 0, "spill_loads": 0,
          "barriers": 0}),
    ],
    "b12": [
        ("_Z10field_stepPdS_PKdi", "sm_60",
         {"registers": 255, "smem_bytes": 0, "stack_frame": 5096, "spill_stores": 5816,
          "spill_loads": 5800}),
        ("_Z8attn_fwdILi128EEvPK6__halfS2_S2_PS0_i", "sm_89",
         {"registers": 255, "smem_bytes": 0, "stack_frame": 96, "spill_stores": 284,
          "spill_loads": 196, "barriers": 1}),
    ],
    "b13": [
        (name, arch,
         {"registers": registers, "smem_bytes": shared, "stack_frame": stack, "spill_stores": 0,
          "spill_loads": 0, "cumulative_stack": stack or None, "barriers": barriers})
        for name, arch, registers, shared, stack, barriers in [
            ("_ZN3app6detail6secondEPf", "sm_80", 10, 4100, 0, 1),
            ("_ZN3app6detail5firstEPf", "sm_80", 8, 0, 0, 0),
            ("_ZN38_GLOBAL__N__63925627_6_j07_cu_c40234226anon_kEPdi", "sm_80", 110, 0, 384, 0),
            ("_ZN3app6detail6secondEPf", "sm_120", 10, 4100, 0, 1),
            ("_ZN3app6detail5firstEPf", "sm_120", 8, 0, 0, 0),
            ("_ZN38_GLOBAL__N__63925627_6_j07_cu_c40234226anon_kEPdi", "sm_120", 254, 0, 384, 0),
        ]
    ],
}  # fmt: skip


def data(name: str) -> bytes:
    return (DATA / name).read_bytes()


@pytest.mark.parametrize("name", CASES)
def test_public_questions(name):
    found = reading(data(f"{name}.log"))
    assert [(kernel.name, kernel.arch) for kernel in found.kernels] == [
        (kernel, arch) for kernel, arch, _ in CASES[name]
    ]
    for kernel, (_, _, expected) in zip(found.kernels, CASES[name], strict=True):
        assert values(kernel, expected) == expected
    assert found.notes == ()


def test_recursion_is_not_a_stack_of_nothing():
    """Cases j05 and j06."""
    found = kernels((reports.DATA / "j05.sm_80.ptxas.txt").read_bytes())
    assert found["flat"].stack_bytes == 0
    assert (found["rec"].stack_bytes, found["rec"].frame_bytes) == (None, 0)
    assert "needs 40 bytes, and ptxas states none in all" in found["rec"].unknown["stack_bytes"]
    expected = {"registers": 26, "callee_spill_stores": 36, "callee_spill_loads": 36}
    assert values(found["rec"], expected) == expected
    found = kernels((reports.DATA / "j06.sm_80.ptxas.txt").read_bytes())
    expected = {"registers": 24, "stack_frame": 16, "frame": 16, "cumulative_stack": 24,
                "callee_spill_stores": 4}  # fmt: skip
    assert values(found["dispatch"], expected) == expected
    assert found["dispatch"].unbounded_stack is None
    # NVRTC 13.5 says it first, once for the whole module
    found = kernels((reports.DATA / "zoo.sm_90.nvrtc13.ptxas.txt").read_bytes())
    for name in ("recursive", "recursive_with_stack", "mutually_recursive"):
        assert (found[name].stack_bytes, found[name].cumulative_stack_bytes) == (None, None)
        assert "recursion" in found[name].unknown["stack_bytes"]
        assert found[name].unbounded_stack is True


# --- against the cubin reader, the linker and cuobjdump -------------------------------------------

LOGS = sorted(
    path.name.removesuffix(".ptxas.txt")
    for path in reports.DATA.glob("*.ptxas.txt")
    if path.with_name(path.name.replace(".ptxas.txt", ".cubin")).exists()
)


def test_there_are_logs():
    assert len(LOGS) >= 10


@pytest.mark.parametrize("name", LOGS)
def test_the_cubin_says_the_same(name):
    log = kernels((reports.DATA / f"{name}.ptxas.txt").read_bytes())
    cubin = {kernel.name: kernel for kernel in inspect(reports.DATA / f"{name}.cubin")}
    assert set(log) == set(cubin)
    for kernel in log.values():
        agree(kernel, cubin[kernel.name])


def agree(log, cubin):
    for name in ("registers_per_thread", "static_shared_bytes", "barriers"):
        assert getattr(log, name) == getattr(cubin, name), (log.name, name)
    assert log.constant_bytes in {None, cubin.constant_bytes}
    if cubin.frame_bytes is None:
        assert cubin.arch < "sm_70"
        assert cubin.name in {"known_pointers", "recursive_with_stack"}
    else:
        assert log.frame_bytes == cubin.frame_bytes
    if cubin.stack_bytes is None:
        assert log.cumulative_stack_bytes is None or log.name.startswith("unknown_pointer")
    elif log.local_bytes is not None:
        assert log.local_bytes == cubin.local_bytes
        assert (log.cumulative_stack_bytes or log.stack_bytes) == cubin.stack_bytes
    assert log.arch == cubin.arch
    # a log shows some stacks to have no bound, and of none that it has one
    assert log.unbounded_stack in {None, True}
    assert bool(log.unknown.get("unbounded_stack")) == (log.unbounded_stack is None)
    if cubin.unbounded_stack is not None and log.unbounded_stack:
        assert cubin.unbounded_stack


@pytest.mark.parametrize("arch", ["sm_52", "sm_75", "sm_80", "sm_90a", "sm_120"])
def test_the_log_of_nvrtc_and_its_cubin(nvrtc, arch):
    """The compiler itself, on the example kernels and on those made to be difficult."""
    from perfkit.compiled.compile_options import CompileOptions
    from perfkit.compiled.cubin import read_cubin
    from perfkit.compiled.nvrtc import compile_source

    sources = [
        reports.EXAMPLES / "saxpy.cu",
        reports.EXAMPLES / "transpose.cu",
        reports.EXAMPLES / "tiled_matmul.cu",
        reports.DATA / "zoo.cu",
    ]
    seen = 0
    for source in sources:
        compiled = compile_source(source, arch=arch, options=CompileOptions())
        log = kernels(compiled.log)
        cubin = {kernel.name: kernel for kernel in read_cubin(compiled.cubin, origin="x")}
        assert set(log) == set(cubin)
        for kernel in log.values():
            agree(kernel, cubin[kernel.name])
        seen += len(log)
    assert seen >= 20


def by_arch(found):
    return {(kernel.name, kernel.arch): kernel for kernel in found}


def test_the_linker_knows_better():
    """With -rdc=true the compiler's 24 registers are not the kernel's: cuobjdump agrees."""
    found = reading(data("rdc.nvcc130.log"))
    linked = by_arch(reading(data("linked.usage.txt")).kernels)
    assert len(found.kernels) == 8
    assert found.notes == ()
    for kernel in found.kernels:
        other = linked.pop((kernel.name, kernel.arch))
        assert kernel.registers_per_thread == other.registers_per_thread
        assert kernel.static_shared_bytes == other.static_shared_bytes
        assert kernel.cumulative_stack_bytes == kernel.local_bytes == other.stack_bytes
        assert kernel.constant_bytes == other.constant_bytes
        assert "linked on line" in kernel.origin
    assert linked == {}


def test_separate_compilation_without_the_linker_is_noted():
    found = reading(data("rdc.nvcc130.log").partition(b"nvlink")[0])
    (note,) = found.notes
    assert note.startswith("x: line 7: functions are compiled on their own, as by -rdc=true")
    a = by_arch(found.kernels)["_Z1aPfi", "sm_80"]
    assert (a.registers_per_thread, a.local_bytes) == (24, None)
    # with -G the same lines come first, and the totals stand in the log
    found = reading(data("debug.nvcc130.log"))
    assert found.notes == ()
    assert {kernel.cumulative_stack_bytes for kernel in found.kernels} == {160}


def test_only_the_linker_speaks():
    with pytest.raises(UsageError, match="line 4: the text names no architecture") as caught:
        reading(data("link_only.nvcc130.log"))
    assert "--gpu" in caught.value.hint
    found = kernels(data("link_only.nvcc130.log"), arch="sm_90")
    assert set(found) == {"_Z1dPf", "_Z1aPfi", "_Z1bPfi", "_Z1cPfi"}
    expected = {"registers": 46, "smem_bytes": 40, "cumulative_stack": 168, "local": 168,
                "barriers": 1, "cmem": 540, "stack_frame": 168, "spill_stores": None}  # fmt: skip
    assert values(found["_Z1bPfi"], expected) == expected


def test_the_linker_names_the_kernel_of_a_record_in_doubt():
    text = RECORD.replace("ptxas info    : Used", "somebody else's line\nptxas warning : Used")
    assert known(kernels(text)["_Z1kPf"]) == {}
    text += (
        "nvlink info    : Function properties for '_Z1kPf':\n"
        "nvlink info    : used 46 registers, used 1 barriers, 168 stack, 40 bytes smem, "
        "364 bytes cmem[0], 0 bytes lmem\n"
    )
    (kernel,) = reading(text).kernels
    expected = {"registers": 46, "stack_frame": 168, "smem_bytes": 40, "spill_stores": None}
    assert values(kernel, expected) == expected
    assert (kernel.arch, kernel.demangled) == ("sm_80", "k")


def test_the_linker_for_many_targets():
    text = "".join(
        f"nvlink info    : 144 bytes gmem, 65536 bytes cmem[3] (target: {arch})\n"
        f"nvlink info    : Function properties for '_Z1kPf': (target: {arch})\n"
        f"nvlink info    : used {registers} registers, 0 stack, 0 bytes smem, 356 bytes cmem[0], "
        f"0 bytes lmem (target: {arch})\n"
        for arch, registers in [("sm_52", 30), ("sm_75", 32), ("sm_90a", 37)]
    )
    found = by_arch(reading(text).kernels)
    assert {kernel.demangled for kernel in found.values()} == {"k"}
    assert {key: kernel.registers_per_thread for key, kernel in found.items()} == {
        ("_Z1kPf", "sm_52"): 30,
        ("_Z1kPf", "sm_75"): 32,
        ("_Z1kPf", "sm_90a"): 37,
    }


def test_the_driver_and_nvjitlink_link():
    """Their lines lack the word nvlink; nvJitLink 13.5 makes up barriers that nobody uses."""
    found = kernels(data("linked.nvjitlink135.log"))
    assert {name: kernel.registers_per_thread for name, kernel in found.items()} == {
        "_Z1aPfi": 46, "_Z1bPfi": 46, "_Z1cPfi": 38, "_Z1dPf": 8,
    }  # fmt: skip
    assert found["_Z1bPfi"].barriers == 1
    assert found["_Z1dPf"].barriers is None
    assert found["_Z1dPf"].unknown["barriers"] == "the compiler says 0 and the linker 9"
    found = kernels(data("lto.nvjitlink135.log"))
    expected = {"registers": 31, "smem_bytes": 40, "stack_frame": 160, "cumulative_stack": 160,
                "barriers": 1, "callee_spill_stores": 0}  # fmt: skip
    assert values(found["_Z1bPfi"], expected) == expected


# --- forms ----------------------------------------------------------------------------------------

RECORD = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1kPf' for 'sm_80'
ptxas info    : Function properties for _Z1kPf
    16 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 30 registers, used 2 barriers, 16 bytes cumulative stack size, 4100 bytes smem, 360 bytes cmem[0], 8 bytes cmem[2]
ptxas info    : Compile time = 1.835 ms
"""  # noqa: E501
EXPECTED = {
    "registers": 30, "smem_bytes": 4100, "stack_frame": 16, "spill_stores": 4, "spill_loads": 12,
    "cumulative_stack": 16, "barriers": 2, "cmem": 360, "local": 16,
}  # fmt: skip
STAMP = "2024-03-05T10:11:00.1234574Z "


def prefixed(prefix):
    return "".join(prefix + line for line in RECORD.splitlines(keepends=True))


def counted(form, start=100):
    return "".join(
        form.format(n=start + number, line=line) for number, line in enumerate(RECORD.splitlines())
    )


def coloured(colour):
    return RECORD.replace("ptxas info    :", colour.format("ptxas info    :"))


def grep_with_context():
    return "".join(
        f"build.log-{n}-{line}\n" if line.startswith(" ") else f"build.log:{n}:{line}\n"
        for n, line in enumerate(RECORD.splitlines(), 120)
    )


FORMS = {
    "plain": RECORD,
    "CRLF": RECORD.replace("\n", "\r\n"),
    "CR CR LF": RECORD.replace("\n", "\r\r\n"),
    "progress bar": RECORD.replace("ptxas info", "\r 10%\r 20%\rptxas info"),
    "MSBuild": prefixed("1>  "),
    "MSBuild with times": counted("12:34:56:{n}     7>{line}\n"),
    "GitHub Actions": prefixed(STAMP),
    "gh run view": prefixed("build (ubuntu)\tCompile\t" + STAMP),
    "GitLab": counted("2024-03-05T10:11:01.{n}Z 01O {line}\n"),
    "Jenkins": counted("[2024-03-05T10:11:01.{n}Z] {line}\n"),
    "buildkit": counted("#12 34.{n} {line}\n"),
    "docker compose": prefixed("gpu-build_1  | "),
    "mpirun": prefixed("[1,0]<stderr>:"),
    "GNU parallel": prefixed("kernel.cu\t"),
    "syslog": counted("Mar 05 10:11:01 builder make[4211]: {line}\n"),
    "grep -n": counted("{n}:{line}\n"),
    "grep -nH -C": grep_with_context(),
    "cat -n": counted("   {n}\t{line}\n"),
    "pip": prefixed("      "),
    "quoted": prefixed("> "),
    "cargo": prefixed("warning: kernels@0.1.0: "),
    "CircleCI": counted("[{n}.5s] {line}\n"),
    "a page": RECORD.replace("'", "&#x27;").replace("\n", "<br/>\n"),
    "a table": counted("| {line} |\n"),
    "a script": counted("{line} \\\n"),
    "comment": prefixed("// "),
    "ninja": "[ 3/17] Building CUDA object a.cu.o\n" + RECORD,
    "colour": coloured("\x1b[36m{}\x1b[0m"),
    "colour and erase": coloured("\x1b[01;36m\x1b[K{}\x1b[m\x1b[K"),
    "colour without escape": coloured("[36m{}[0m"),
    "colour as cat -v": coloured("^[[36m{}^[[0m"),
    "link": coloured("\x1b]8;;file:///k.cu\x1b\\{}\x1b]8;;\x07"),
    "no mark": RECORD.replace("ptxas info    : ", ""),
    "one space": RECORD.replace("    ", " "),
    "tabs": RECORD.replace("    ", "\t"),
    "no indent": RECORD.replace("\n    ", "\n"),
    "no-break spaces": RECORD.replace("    ", "\xa0\xa0\xa0\xa0"),
    "blank lines": RECORD.replace("\n", "\n\n"),
    "curly quotes": RECORD.replace("'_Z1kPf'", "\u2018_Z1kPf\u2019").replace(
        "'sm_80'", "\u2018sm_80\u2019"
    ),
    "driver": RECORD.replace("\n    16", "\nptxas         .     16"),
    "lost underscores": RECORD.replace("for _Z1kPf", "for Z1kPf"),
    "escaped underscores": RECORD.replace("for _Z1kPf", r"for \_Z1kPf"),
    "in a code span": RECORD.replace("for _Z1kPf", "for `_Z1kPf`"),
    "docker JSON": "".join(
        f'{{"log":"{line}\\n","stream":"stderr","time":"{STAMP.strip()}"}}\n'
        for line in RECORD.splitlines()
    ),
    "JSON lines": "".join(
        f'{{"time":"2026","level":"info", "msg": "{line}", "n": 16}}\n'
        for line in RECORD.splitlines()
    ),
    "JSON lines of an array": "".join(
        f'{"[" if i == 0 else ","}{{"t":2026,"text":"{line}"}}\n'
        for i, line in enumerate(RECORD.splitlines())
    ),
    "HTML": "<pre>"
    + RECORD.replace("'", "&#39;")
    .replace("\n    ", "\n&nbsp;&nbsp;&#160; ")
    .replace("\n", "<br>\n")
    + "</pre>",
    "list of JSON strings": "".join(f'  "{line}",\n' for line in RECORD.splitlines()),
    "list of Python": repr(RECORD.splitlines()),
    "quoted CSV": "".join(f'{i},"{line}"\n' for i, line in enumerate(RECORD.splitlines())),
    "double quotes": RECORD.replace("'_Z1kPf' for 'sm_80'", '"_Z1kPf" for "sm_80"'),
    "backquotes": RECORD.replace("'_Z1kPf' for 'sm_80'", "`_Z1kPf' for `sm_80'"),
    "one JSON string": '{"output": "' + RECORD.replace("\n", "\\n") + '"}',
    "byte order mark": "\ufeff" + RECORD,
    "foreign lines": RECORD.replace("\n", "\n[ 41%] Building CXX object io.cpp.o\nk.cu(3): note\n"),
    "notes of ptxas": RECORD.replace(
        "ptxas info    : Used",
        "ptxas info    : (C7510) Potential Performance Loss: wgmma is serialized in '_Z1kPf'\n"
        "ptxas warning : Register count of 40 was ignored\nptxas info    : Used",
    ),
    "one JSON string, unfinished": '{"output": "' + RECORD.replace("\n", "\\n"),
    "unfinished": RECORD.partition("ptxas info    : Compile")[0].rstrip("\n"),
    "unknown clause": RECORD.replace(", 8 bytes cmem[2]", ", 2 clusters, 8 bytes cmem[2]"),
    "unknown clause before": RECORD.replace(", 4100 bytes", ", 3 warpgroups, 4100 bytes"),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form):
    found = reading(FORMS[form])
    (kernel,) = found.kernels
    assert (kernel.name, kernel.arch) == ("_Z1kPf", "sm_80")
    assert values(kernel, EXPECTED) == EXPECTED
    assert found.notes == ()


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (
            ("ptxas info    : Compiling entry function '_Z7initRNGj' for 'sm_13'\n"
            "ptxas info    : Used 18 registers, 6440+0 bytes lmem, 4+16 bytes smem, "
            "64928 bytes cmem[0], 40 bytes cmem[1], 8 bytes cmem[14]\n"),
            {"registers": 18, "smem_bytes": 4, "local": 6440, "cmem": 64928, "stack_frame": None,
             "spill_stores": None, "barriers": None, "arch": "sm_13"},
        ),
        (
            ("ptxas info    : Compiling entry function 'acos_main'\n"
            "ptxas info    : Used 4 registers, 60+56 bytes lmem, 44+40 bytes smem, 20 bytes cmem[1]"
            ", 12 bytes cmem[14]\n"),
            {"registers": 4, "smem_bytes": 44, "cmem": None, "arch": "sm_10"},
        ),
        (
            "ptxas info    : Compiling entry function '_Z1kP5uint4' for 'sm_35'\n"
            "ptxas info    : Function properties for _Z1kP5uint4\n" + frame(0, 0) + "\n"
            "ptxas info    : Used 74 registers, 364 bytes cmem[0], 1 textures, 2 surfaces\n",
            {"registers": 74, "smem_bytes": 0, "cmem": 364, "barriers": None},
        ),
        (
            "ptxas info    : Compiling entry function 'k' for 'sm_121'\n"
            "ptxas info    : Function properties for k\n" + frame(0, 0) + "\n"
            "ptxas info    : Used 8 registers, used 0 barriers\n",
            {"registers": 8, "smem_bytes": 0, "cmem": None, "barriers": 0, "arch": "sm_121"},
        ),
        (
            "ptxas info    : Compiling entry function 'void f<int, 3>(int*, g<float>)' for "
            "'sm_100f'\nptxas info    : Function properties for void f<int, 3>(int*, g<float>)\n"
            + frame(8, 4) + "\nptxas info    : Used 8 registers\n",
            {"name": "void f<int, 3>(int*, g<float>)", "stack_frame": 8, "arch": "sm_100f"},
        ),
        (
            "ptxas info    : Compiling entry function 'f(main::'lambda'(int))' for 'sm_90'\n"
            "ptxas info    : Function properties for f(main::'lambda'(int))\n" + frame(8, 4) + "\n"
            "ptxas info    : Used 8 registers\n",
            {"name": "f(main::'lambda'(int))", "stack_frame": 8},
        ),
        (
            "ptxas info    : Compiling entry function 'nvkernel_main_F1L12_2$x.y' for 'sm_90'\n"
            "ptxas info    : Function properties for nvkernel_main_F1L12_2$x.y\n" + frame(8, 4)
            + "\nptxas info    : Used 8 registers\n",
            {"name": "nvkernel_main_F1L12_2$x.y", "stack_frame": 8},
        ),
    ],
    ids=["CUDA 2", "no architecture", "textures", "Blackwell", "c++filt", "lambda", "Fortran"],
)  # fmt: skip
def test_records_of_other_times_and_languages(record, expected):
    found = reading(record, arch="sm_10")
    (kernel,) = found.kernels
    assert values(kernel, expected) == expected


def test_filters_leave_some_lines_out():
    """``grep``: what is gone is not known, what is there is."""

    def without(*words):
        left = [line for line in RECORD.splitlines() if not any(word in line for word in words)]
        (kernel,) = reading("\n".join(left) + "\n").kernels
        return kernel

    kernel = without("stack frame")  # grep 'ptxas info'
    assert (kernel.registers_per_thread, kernel.static_shared_bytes) == (30, 4100)
    assert kernel.spill_store_bytes is None
    assert "stack frame" in kernel.unknown["spill_store_bytes"]
    kernel = without("stack frame", "Function properties")  # grep -E 'Compiling|Used'
    assert (kernel.registers_per_thread, kernel.stack_bytes) == (30, None)
    kernel = without("Function properties")
    assert values(kernel, EXPECTED) == EXPECTED
    kernel = without("Used")
    assert known(kernel) == {}
    assert "line 2 begins the record" in kernel.unknown["registers_per_thread"]


@pytest.mark.parametrize("width", [20, 30, 40, 50, 60, 70, 80, 100, 120])
@pytest.mark.parametrize("kind", ["terminal", "editor", "editor that indents"])
def test_lines_broken_at_a_column(kind, width):
    """Case b10's kind: every number that is given is right; from 60 columns on all are."""
    if kind == "terminal":
        broken = [
            line[at : at + width]
            for line in RECORD.splitlines()
            for at in range(0, len(line), width)
        ]
    else:
        broken, row = [], ""
        for word in RECORD.split():
            if row and len(row) + 1 + len(word) > width:
                broken.append(row)
                row = ""
            row = f"{row} {word}" if row else word
        broken.append(row)
        if kind.endswith("indents"):
            broken = ["    " + row for row in broken]
    try:
        found = reading("\n".join(broken) + "\n")
    except (NoKernel, UsageError):
        assert width <= 30
        return
    (kernel,) = found.kernels
    expected = known(kernels(RECORD)["_Z1kPf"])
    assert known(kernel).items() <= expected.items()
    if width >= 60:
        assert known(kernel) == expected


# --- what nobody can tell -------------------------------------------------------------------------


def test_two_builds_of_one_kernel_stay_two():
    """Also for one architecture: the line numbers tell them apart."""
    found = reading(RECORD + RECORD.replace("30 registers", "40 registers")).kernels
    assert [(k.registers_per_thread, k.origin) for k in found] == [(30, "x:2"), (40, "x:8")]


def test_records_that_mix_have_no_numbers():
    """As a build with make -j wrote it (here with other names): whose 80 registers are those?"""
    text = (
        "ptxas info    : Compiling entry function '_Z1aPf' for 'sm_60'\n"
        "ptxas info    : Function properties for _Z1aPf\n" + frame(0, 0) + "\n"
        "ptxas info    : Function properties for _Z1bPf\n" + frame(0, 0) + "\n"
        "ptxas info    : Used 80 registers, 576 bytes smem, 360 bytes cmem[0]\n"
        "ptxas info    : Used 51 registers, 296 bytes smem, 360 bytes cmem[0]\n"
    )
    found = reading(text)
    (kernel,) = found.kernels
    assert known(kernel) == {}
    assert (
        "several compilations write at once around line 4"
        in (kernel.unknown["registers_per_thread"])
    )
    begun = "ptxas info    : Compiling entry function '_Z1bPf' for 'sm_60'\n"
    found = kernels(begun + text)
    assert [known(kernel) for kernel in found.values()] == [{}, {}]


def test_order_tells_some_of_what_mixes():
    """Only one of two can be the one whose frame is there."""
    text = (
        "ptxas info    : Compiling entry function '_Z1aPf' for 'sm_60'\n"
        "ptxas info    : Compiling entry function '_Z1bPf' for 'sm_60'\n"
        "ptxas info    : Function properties for _Z1bPf\n" + frame(8, 0) + "\n"
        "ptxas info    : Used 80 registers\n"
        "ptxas info    : Function properties for _Z1aPf\n" + frame(0, 4) + "\n"
        "ptxas info    : Used 51 registers\n"
    )
    found = kernels(text)
    expected = {"_Z1aPf": (51, 0, 4), "_Z1bPf": (80, 8, 0)}
    assert {
        name: (k.registers_per_thread, k.stack_bytes, k.spill_store_bytes)
        for name, k in found.items()
    } == expected


CALLEES = {name for name in NUMBERS if name.startswith("callee")}


def test_no_mixture_gives_a_number_to_another_kernel():
    """What functions a kernel calls cannot be told where whole records follow each other."""
    told = 0
    for seed in range(250):
        chance = random.Random(seed)
        logs = [compilation(chance, process) for process in range(chance.randint(2, 4))]
        text = "\n".join(mixed(chance, logs, burst=chance.choice([1, 2, 4, 8, 30]))) + "\n"
        truth = kernels("\n".join(line for log in logs for line in log) + "\n")
        found = kernels(text)
        assert set(found) == set(truth)
        for name, kernel in found.items():
            numbers = {k: v for k, v in known(kernel).items() if k not in CALLEES}
            told += len(numbers)
            assert numbers.items() <= known(truth[name]).items(), f"{seed}: {name}\n{text}"
    assert told > 6_000


@pytest.mark.parametrize(
    "mark",
    [
        lambda process: f"{process + 1}>  ",
        lambda process: f"#{process} {random.random() * 100:.2f} ",
        lambda process: f"[10:11:{random.randrange(60):02}] worker-{process} | ",
        lambda process: f"kernel_{process}.cu\t",
    ],
    ids=["MSBuild", "buildkit", "compose", "parallel"],
)
def test_marks_tell_processes_apart(mark):
    """Every number of every kernel, whatever the order."""
    for seed in range(40):
        chance = random.Random(seed)
        logs = [compilation(chance, process) for process in range(chance.randint(2, 5))]
        text = "\n".join(mixed(chance, logs, mark, burst=chance.choice([1, 2, 4]))) + "\n"
        found = kernels(text)
        for log in logs:
            for name, kernel in kernels("\n".join(log) + "\n").items():
                assert known(found[name]) == known(kernel), f"{seed}: {name}\n{text}"


def test_a_hundred_processes():
    """More marks than are kept apart at a time: those that were silent longest go first."""
    chance = random.Random(5)
    logs = [compilation(chance, process) for process in range(100)]
    text = []
    for first in range(0, 100, 10):
        group = logs[first : first + 10]
        text += mixed(chance, group, lambda process, first=first: f"kernel_{first + process}.cu\t")
    found = kernels("\n".join(text) + "\n")
    truth = kernels("\n".join(line for log in logs for line in log) + "\n")
    assert {name: known(kernel) for name, kernel in found.items()} == {
        name: known(kernel) for name, kernel in truth.items()
    }


def test_a_lost_line_does_not_shift_what_follows():
    """Any one line of a log goes missing: every number that is left is right."""
    chance = random.Random(3)
    log = [line for process in range(6) for line in compilation(chance, process)]
    truth = kernels("\n".join(log) + "\n")
    for gone, line in enumerate(log):
        found = kernels("\n".join(log[:gone] + log[gone + 1 :]) + "\n")
        # of a function that is gone with its line, nobody knows
        doubtful = CALLEES | {"stack_bytes"} if is_of_callee(log, gone) else set()
        complete = 0
        for name, kernel in found.items():
            numbers, expected = known(kernel), known(truth[name])
            assert all(numbers[k] == expected.get(k) for k in set(numbers) - doubtful), (line, name)
            complete += numbers == expected
        # without a "Used", whose are those that follow? nothing else has such consequences
        assert complete >= len(truth) - 6 or "Used" in line


def is_of_callee(log, place):
    return any("callee" in line for line in log[max(0, place - 1) : place + 1])


def test_a_record_without_its_beginning():
    """As people quote it: without the line that names the architecture, and broken by an editor."""
    text = (
        "ptxas info  : (C7507) Potential Performance Loss: 'setmaxnreg' ignored\n"
        "              to maintain minimum register requirements.\n"
        "ptxas info  : Function properties for main_kernel\n"
        "              1128 bytes stack frame, 3172 bytes spill stores,\n"
        "              3380 bytes spill loads\n"
        "ptxas info  : Used 168 registers, used 5 barriers,\n"
        "              1128 bytes cumulative stack size, 1024 bytes smem\n"
    )
    with pytest.raises(UsageError, match="line 3: the text names no architecture for main_kernel"):
        reading(text)
    expected = {"registers": 168, "barriers": 5, "stack_frame": 1128, "spill_stores": 3172,
                "spill_loads": 3380, "cumulative_stack": 1128, "smem_bytes": 1024}  # fmt: skip
    assert values(kernels(text, arch="sm_90")["main_kernel"], expected) == expected
    # what is asked about is not what it was compiled for, where the text names another target
    found = reading(text + RECORD, arch="sm_90")
    assert [kernel.name for kernel in found.kernels] == ["_Z1kPf"]
    assert found.notes == ("x: line 3: the text names no architecture for main_kernel; not listed",)


def test_registers_of_nobody_are_said():
    found = reading("ptxas info    : Used 40 registers\n" + RECORD)
    assert found.notes == (
        "x: line 1: registers of a kernel that cannot be told: lines are missing before it",
    )
    assert len(found.kernels) == 1
    # somebody's prose is not the compiler's
    assert reading("The kernel Used 40 registers before\n" + RECORD).notes == ()


def test_a_cut_line_gives_no_zero():
    """No shared memory, or no room for its number: only a finished line says 0."""
    whole = RECORD[: RECORD.index(", 4100")]
    (kernel,) = reading(whole).kernels
    assert (kernel.registers_per_thread, kernel.barriers) == (30, 2)
    assert kernel.static_shared_bytes is None
    assert "breaks off" in kernel.unknown["static_shared_bytes"]
    (kernel,) = reading(whole + "\n").kernels
    assert kernel.static_shared_bytes == 0
    # two processes wrote into one line
    (kernel,) = reading(whole + "ptxas info    : 0 bytes gmem\n").kernels
    assert kernel.static_shared_bytes is None


SAMPLES = ("b13.log", "linked.nvjitlink135.log")


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("end", ["head", "tail"])
def test_cut_at_every_byte(name, end):
    """No wrong number, whatever is left of the log."""
    text = data(name)
    whole = reading(text).kernels
    assert len(whole) >= 4
    # before the linker's lines come, the compiler's own count
    whole += reading(text.partition(b"\ninfo ")[0] + b"\n").kernels
    seen = 0
    for at in range(len(text)):
        left = text[:at] if end == "head" else text[at:]
        try:
            found = reading(left, arch="sm_120").kernels
        except NoKernel:
            continue
        for kernel in found:
            # where only the end is left, the option names the architecture
            same = [one for one in whole if (one.name, one.arch) == (kernel.name, kernel.arch)]
            same = same or [one for one in whole if one.name == kernel.name]
            for key, value in known(kernel).items():
                seen += 1
                allowed = {getattr(one, key) for one in same}
                if key == "stack_bytes":  # the linker alone states only the total
                    allowed |= {one.cumulative_stack_bytes for one in same}
                assert value in allowed or key in CALLEES | {"local_bytes", "barriers"}, (at, key)
    assert seen > len(text)


def test_the_compiler_fails():
    text = RECORD.replace("_Z1k", "_Z1f").partition("ptxas info    : Used")[0]
    text += "ptxas error   : Entry function '_Z1fPf' uses too much shared data\n"
    found = kernels(text + RECORD)
    assert values(found["_Z1kPf"], EXPECTED) == EXPECTED
    assert known(found["_Z1fPf"]) == {}
    assert "failed on line 5" in found["_Z1fPf"].unknown["registers_per_thread"]


def test_names_for_people():
    text = RECORD + RECORD.replace("_Z1kPf", "_Z1kPd") + RECORD.replace("_Z1kPf", "_Z4axpyIfEvPT_")
    shown = [kernel.demangled for kernel in reading(text).kernels]
    assert shown == ["k(float*)", "k(double*)", "axpy<float>"]


def test_what_is_missing_has_a_reason():
    for path in [*DATA.glob("*.log"), *reports.DATA.glob("*.ptxas.txt")]:
        if "j04" in path.name:
            continue
        for kernel in read_log(lines(path.read_bytes()), origin="x", arch="sm_90"):
            missing = [name for name in NUMBERS if getattr(kernel, name) is None]
            assert set(missing) <= set(kernel.unknown), path.name
            assert all(kernel.unknown.values())
