"""Kernels found by reading the source."""

from __future__ import annotations

from perfkit.compiled.declared import declared, how_to_instantiate, listing

SOURCE = r"""
// template <int A> __global__ void commented(int *x) {}
#define KERNEL(name) template <int N> __global__ void name(int *x) { \
    *x = N; }
const char *text = "__global__ void quoted(int *x) {";
template <typename T, int BLOCK = (256 > 128)>
__global__ void __launch_bounds__(BLOCK, (2 + 1)) reduce_kernel(const T *in, T *out) {
    if (BLOCK) { *out = *in; }
}
namespace app { namespace detail {
template <class T> static __global__ __attribute__((noinline)) void axpy(T a) {}
extern "C" __global__ void plain(int *x);
} }
__global__ void plain(int *x) { ; }
__global__ void __cluster_dims__(2, 1, 1)
    clustered() {}
__global__ void plain(int *x, int y) { ; }
"""


def test_names_lines_and_templates():
    assert [tuple(kernel) for kernel in declared(SOURCE)] == [
        ("reduce_kernel", 7, True),
        ("app::detail::axpy", 11, True),
        ("app::detail::plain", 12, False),
        ("plain", 14, False),
        ("clustered", 15, False),
    ]


def test_text_that_is_no_source():
    assert declared("") == ()
    assert declared("}}}} __global__ {{{ __global__") == ()
    assert declared("__global__ " + "void " * 200 + "= 3") == ()


def test_sentences():
    found = declared(SOURCE)
    assert how_to_instantiate(found) == (
        "reduce_kernel (line 7) is a template: --instantiate 'reduce_kernel<...>'; "
        "app::detail::axpy (line 11) is a template: --instantiate 'app::detail::axpy<...>'"
    )
    assert how_to_instantiate(found[2:]) is None
    assert listing(found[1:4]) == (
        "the file has the template app::detail::axpy (line 11) and the kernels "
        "app::detail::plain (line 12), plain (line 14)"
    )
    assert listing(()) == "the file has no kernel"
    many = declared("".join(f"template<int N> __global__ void k{i}() {{}}\n" for i in range(20)))
    assert how_to_instantiate(many).endswith("; 12 more are templates")
    assert listing(many).endswith("k7 (line 8), 12 more")
