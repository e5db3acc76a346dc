"""The scan for what a source may include errs on the safe side."""

from __future__ import annotations

import pytest

from perfkit.compiled.includes import user_files


@pytest.fixture
def tree(tmp_path):
    for name, text in {
        "src/own.h": '#include "deep/more.h"',
        "src/deep/more.h": '#include "../own.h"\n#include <lib.h>',  # round and round
        "a/lib.h": "// first",
        "b/lib.h": "// hidden by the first, unless the compiler thinks otherwise",
        "b/only.h": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def found(tree, source):
    files = user_files(source, tree / "src", [tree / "a", tree / "b"])
    return None if files is None else {str(path.relative_to(tree.resolve())) for path in files}


ALL = {"src/own.h", "src/deep/more.h", "a/lib.h", "b/lib.h"}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"", set()),
        (b'#include "own.h"', ALL),
        (b'  #  include\t"own.h"', ALL),
        (b'#if 0\n#include "own.h"\n#endif', ALL),
        (b'/* why */ #include "own.h"', ALL),
        (b'#/* why */include "own.h"', ALL),
        (b'#inc\\\nlude "own.h"', ALL),
        (b'%:include "own.h"', ALL),
        (b'#import "own.h"', ALL),
        (b'const char* s = "/*";\n#include "own.h"\n/* */', ALL),
        (b'#if __has_include("own.h")\n#endif', ALL),
        (b"#include <lib.h>", {"a/lib.h", "b/lib.h"}),
        (b"#include_next <only.h>", {"b/only.h"}),
        (b"#include <cuda_fp16.h>\n#include <missing.h>", set()),
        (b"#include HEADER", None),
        (b'#define X "own.h"\n#include X', None),
    ],
)
def test_every_spelling(tree, source, expected):
    assert found(tree, source) == expected


def test_content_comes_along(tree):
    files = user_files(b"#include <only.h>", tree / "src", [tree / "b"])
    assert list(files.values()) == [b""]


def test_a_link_to_itself_is_left_to_the_compiler(tree):
    (tree / "src" / "loop.h").symlink_to("loop.h")
    assert found(tree, b'#include "loop.h"\n#include "own.h"') == ALL
