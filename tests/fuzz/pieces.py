"""Words that take the place of others, names that tools might write, and what they print."""

from __future__ import annotations

#: values of JSON where others are expected
JSON = (
    b"null",
    b"true",
    b"-1",
    b"0",
    b"1e999",
    b"NaN",
    b"0.5",
    b"99999999999999999999",
    b"[]",
    b"{}",
    b'""',
    b'"\\ud800"',
    b'"x"',
    b"[1,2,3]",
    b"[" * 2000,
    b'{"a":' * 300,
    b"9" * 5000,
    b'"gfx942"',
    b'"sm_90a"',
    b'"__grp__"',
    b"\xff",
    b",",
    b'"\\u0000"',
    b"4294967296",
    b"[null,null,null]",
)
JSON_WORD = rb'"(?:[^"\\]|\\.)*"|-?\d+|true|false|null|[\[\]{}:,]'
PTX = (
    b".entry",
    b".target sm_90",
    b".target sm_90a",
    b".target sm_999",
    b".version 9.9",
    b"{",
    b"}",
    b"(",
    b")",
    b";",
    b".extern .shared .align 4 .b8 s[];",
    b"[]",
    b".minnctapersm 9999999999",
    b".minnctapersm",
    b".minnctapersm " + b"9" * 5000,
    b"a" * 9000,
    b"\n" * 9000,
    b".func a {" * 500,
    b"\0",
    b"\xff",
    b"// a, V1.2.3\n",
    b"/*",
    b".func",
    b"{" * 500,
    b"(" * 500,
    b".entry k(" * 50,
    b"k",
    b" " * 3000,
    b".func (" * 300,
    b".extern .shared " * 200,
    b"%r1",
)
REPORT = (
    b"Extracting ELF file    1: image.1.sm_80.cubin",
    b"member image:a/b.o:",
    b"member :",
    b"\n",
    b"Extracting ELF file",
    b"image.99999999999999999999.sm_80.cubin",
    b"\xff\xfe",
    b"\0",
    b"9" * 5000,
    b"sm_80",
    b"cuobjdump fatal   : Support for 'sm_35' has been removed. Please use CUDA 11.",
    b"cuobjdump fatal   : Invalid ELF in 'image'",
    b" : ",
    b"does not contain device code",
    b"--gpu-architecture Allowed values: 'sm_80','sm_90'.\n",
    b"release 13.0",
    b"error",
    b"\x1b[31m",
)
NAME = (
    b"_ZN",
    b"9" * 5000,
    b"E",
    b"I",
    b"S_",
    b"S1_",
    b"T_",
    b"T0_",
    b"L",
    b"J",
    b"X",
    b"DpT_",
    b"9999999999",
    b"1a",
    b"N" * 300,
    b"I" * 300,
    b"P" * 300,
    b"F" * 200,
    b"St",
    b"Sa",
    b"Lb1E",
    b"Li",
    b"cv",
    b"_",
    b"\xc3\xa4",
    b"99999999999999999999999999x",
    b"K",
    b"M",
    b"A_",
    b"U5",
    b"Dn",
    b"UlvE_",
    b"S_S_S_S_",
    b"T_T_T_T_",
)


PRINTED = b"""
member image:saxpy.o:
Extracting ELF file    1: image.1.sm_80.cubin
Extracting ELF file    2: image.2.sm_90.cubin
Extracting PTX file and ptxas options    1: image.1.sm_90.ptx -arch=sm_90

member image:tiled matmul.o:
Extracting ELF file    3: image.3.sm_90a.cubin
"""
REFUSED = b"""cuobjdump fatal   : Support for 'sm_35' has been removed. Please use CUDA 11.8.
--gpu-architecture <gpu architecture>
        Specify GPU Architecture.
        Allowed values for this option: 'sm_80','sm_90','sm_90a'.
Cuda compilation tools, release 13.0, V13.0.85
"""

NAMES = (
    "image.1.sm_80.cubin", "image.2.sm_90.cubin", "image.3.sm_90a.cubin", "image.1.sm_80.ptx",
    "image.2.compute_90.ptx", "image.999999999999999999999.sm_80.cubin", "image..sm_80.cubin",
    "image.1.sm_.cubin", "other", "image.1.sm_80.cubin.cubin", "image.\u0661.sm_80.cubin",
)  # fmt: skip

#: two kernels, a function that both could call, dynamic shared memory, launch bounds
PTX_TEXT = b"""//
// Cuda compilation tools, release 12.9, V12.9.86
.version 8.8
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 buffer[];
.func (.reg .b32 out) helper(.reg .b32 in)
{
\tmov.u32 out, buffer; { ret; }
}
.visible .entry k(
\t.param .u64 .ptr .align 1 p
)
.maxntid 256, 1, 1
.minnctapersm 2
{
\t.reg .b32 %r<3>; // a comment }
\tcall (%r1), helper, (%r2); ret;
}
.visible .entry k0(.param .u64 p) .reqntid 32 { @%p1 bra $L__BB0_2; $L__BB0_2: ret; }
"""
