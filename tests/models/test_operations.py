"""FLOP and bytes of named operations: published counts, and counting by hand."""

from __future__ import annotations

import itertools

import pytest

from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.models.operations import OPERATIONS, operation, usage
from perfkit.models.work import product_type, size_bytes

F16, F32 = DType.F16, DType.F32


@pytest.mark.parametrize(
    ("text", "dtype", "intensity"),
    [
        # NVIDIA Matrix Multiplication Background User's Guide, 2
        ("gemm:8192x128x8192", F16, 124.1),
        ("gemm:8192x8192x8192", F16, 2730),
        # NVIDIA GPU Performance Background User's Guide, 4, Table 1
        ("gemm:512x4096x1024", F16, 315),  # linear layer, batch 512
        ("gemm:1x4096x1024", F16, 1),  # batch 1
        ("elementwise:1048576", F16, 0.25),  # ReLU
        # RTX 5080: 5120 x 5120 x 4096 in f32, a case of tests/data/cases
        ("gemm:5120x5120x4096", F32, 787.7),
    ],
)
def test_published_intensities(text, dtype, intensity):
    work = operation(text, dtype)
    assert work.flops / work.bytes == pytest.approx(intensity, rel=2e-3)


def test_layer_normalisation_is_below_ten_flop_per_byte():
    """The same table."""
    work = operation("layernorm:4096x1024", F16)
    assert 1 < work.flops / work.bytes < 10


@pytest.mark.parametrize(
    ("text", "dtype", "moved"),
    [
        # CUTLASS README, "Building one CUDA Core GEMM kernel" and "a subset of Tensor Core GEMM
        # kernels": Bytes of the profiler
        ("gemm:3456x4096x4096", F32, 180_355_072),
        ("gemm:3456x4096x4096,out=f32", F16, 118_489_088),
    ],
)
def test_cutlass_profiler(text, dtype, moved):
    work = operation(text, dtype)
    assert work.bytes == moved
    # it counts 2 m n for alpha and beta, too
    assert work.flops + 2 * 3456 * 4096 == 115_992_428_544


def test_batches_beta_and_types():
    one = operation("gemm:64x32x16", F16)
    assert one.read_bytes == 2 * (64 * 16 + 16 * 32)
    assert one.write_bytes == 2 * 64 * 32
    many = operation("gemm:64x32x16,batch=5", F16)
    assert (many.flops, many.bytes) == (5 * one.flops, 5 * one.bytes)
    beta = operation("gemm:64x32x16,beta=1", F16)
    assert beta.read_bytes == one.read_bytes + one.write_bytes
    assert operation("gemm:64x32x16,out=f32", F16).write_bytes == 4 * 64 * 32
    assert operation("gemm:64x32x16", DType.S8).write_bytes == 4 * 64 * 32
    assert operation("gemm:64x32x16", DType.F8).write_bytes == 2 * 64 * 32
    assert operation("gemm:64x32x16", DType.F4).read_bytes == (64 * 16 + 16 * 32) // 2


@pytest.mark.parametrize(
    ("h", "w", "r", "s", "stride", "pad", "dilation"),
    [
        (7, 9, 3, 3, 1, 1, 1), (8, 8, 3, 5, 2, 0, 1), (10, 6, 2, 1, 3, 2, 2), (5, 5, 5, 5, 1, 0, 1),
        (56, 56, 1, 1, 2, 0, 1), (13, 9, 3, 2, 3, 2, 2), (9, 40, 2, 3, 6, 3, 4),
        (6, 6, 3, 3, 1, 4, 1),
    ],
)  # fmt: skip
def test_convolution_by_walking_the_image(h, w, r, s, stride, pad, dilation):
    def places(size, window):
        starts = range(-pad, size + pad, stride)
        return [start for start in starts if start + dilation * (window - 1) < size + pad]

    def outputs(size, window):
        return len(places(size, window))

    def covered(size, window):
        """What no place of the filter covers is not read: 3 of 4 pixels of a 1x1, stride 2."""
        there = {start + tap * dilation for start in places(size, window) for tap in range(window)}
        return len(there & set(range(size)))

    n, c, k = 2, 8, 4
    work = operation(
        f"conv2d:{n}x{h}x{w}x{c},k={k},r={r},s={s},stride={stride},pad={pad},dilation={dilation}",
        F16,
    )
    pixels = outputs(h, r) * outputs(w, s)
    assert work.flops == 2 * n * pixels * k * c * r * s
    assert work.write_bytes == 2 * n * pixels * k
    assert work.read_bytes == 2 * (n * covered(h, r) * covered(w, s) * c + k * c * r * s)


def test_a_convolution_with_1x1_filters_is_a_gemm():
    convolution = operation("conv2d:2x16x16x64,k=32", F16)
    product = operation("gemm:512x32x64", F16)
    assert (convolution.flops, convolution.bytes) == (product.flops, product.bytes)


def test_groups_divide_the_work():
    whole = operation("conv2d:1x8x8x64,k=64,r=3,pad=1", F16)
    assert operation("conv2d:1x8x8x64,k=64,r=3,pad=1,groups=64", F16).flops == whole.flops // 64


@pytest.mark.parametrize(("length", "kv", "causal"), [(5, 5, 1), (3, 7, 1), (4, 6, 0), (1, 9, 1)])
def test_attention_by_counting_pairs(length, kv, causal):
    # the last query sees every key
    pairs = sum(
        not causal or key <= query + kv - length
        for query, key in itertools.product(range(length), range(kv))
    )
    work = operation(f"attention:2x8x{length}x16,kv={kv},causal={causal},kvheads=2", F16)
    assert work.matrix_flops == 2 * (2 * 2 * 8 * pairs * 16)  # two products
    assert work.vector_flops == 2 * 8 * (5 * pairs + length * 16)
    assert work.read_bytes == 2 * 2 * 16 * (8 * length + 2 * 2 * kv)
    assert work.write_bytes == 2 * 2 * 8 * length * 16


def test_rows():
    assert operation("reduction:1000", F32).flops == 999
    assert operation("reduction:3x1000", F32).bytes == 4 * 3 * 1001
    assert operation("transpose:30x40,out=f16", F32).bytes == 30 * 40 * (4 + 2)
    assert operation("transpose:30x40", F32).flops == 0
    assert operation("softmax:7x100", F16).bytes == 2 * 2 * 700
    assert operation("elementwise:10x20,inputs=2,flops=2", F32).bytes == 200 * 3 * 4


def counted(program):
    """How many operations of numbers a Python program does."""

    class Counter(float):
        count = 0

    def counting(name):
        def operate(self, *others):
            Counter.count += 1
            return Counter(getattr(float, name)(self, *others))

        return operate

    for name in ("__add__", "__sub__", "__mul__", "__truediv__", "__pow__"):
        setattr(Counter, name, counting(name))
    program(Counter)
    return Counter.count


def test_softmax_and_layer_normalisation_as_a_program_counts_them():
    def softmax(number):
        row = [number(value) for value in range(1, 9)]
        largest = row[0]
        for value in row[1:]:
            number.count += 1  # comparison
            largest = max(largest, value)
        powers = [number(2.7) ** (value - largest) for value in row]
        total = powers[0]
        for value in powers[1:]:
            total = total + value
        return [value / total for value in powers]

    def layernorm(number):
        row = [number(value) for value in range(1, 9)]
        n, epsilon, weight, bias = map(number, (8, 1e-5, 2, 3))
        total = row[0]
        for value in row[1:]:
            total = total + value
        mean = total / n
        centred = [value - mean for value in row]
        squares = [value * value for value in centred]
        variance = squares[0]
        for value in squares[1:]:
            variance = variance + value
        scale = (variance / n + epsilon) ** number(-0.5)
        return [value * scale * weight + bias for value in centred]

    assert counted(softmax) == operation("softmax:1x8", F32).flops
    assert counted(layernorm) == operation("layernorm:1x8", F32).flops


def test_only_products_of_matrices_have_matrix_flop():
    texts = {
        "gemm": "gemm:8", "conv2d": "conv2d:1x8x8x8,k=8", "attention": "attention:1x8x8x8",
        "elementwise": "elementwise:8", "reduction": "reduction:8", "transpose": "transpose:8x8",
        "layernorm": "layernorm:8x8", "softmax": "softmax:8x8",
    }  # fmt: skip
    assert set(texts) == set(OPERATIONS)
    with_matrix = {name for name, text in texts.items() if operation(text, F16).matrix_flops}
    assert with_matrix == {"gemm", "conv2d", "attention"}


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_usage_that_is_shown_works(name):
    text = usage(name).replace("[,", ",").rstrip("]")
    words = ("LENGTH", "HEADS", "BATCH", "ROWS", "COLUMNS", "DIM", *"MNKHWCR")
    options = text.partition(":")[2]
    for word in words:
        options = options.replace(word, "8")
    assert operation(f"{name}:{options}", F16).bytes > 0


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        ("100M", 100 * 2**20),
        ("1.5k", 1536),
        ("1e8", 10**8),
        ("2Kx3", 6144),
        ("256G", 2**38),
    ],
)
def test_sizes_with_a_prefix_are_binary(text, elements):
    assert operation(f"elementwise:{text}", F32) == operation(f"elementwise:{elements}", F32)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("gem:4", "write gemm:MxNxK["),
        ("gemm:4,8,4", "write gemm:MxNxK["),
        ("conv:4", "write conv2d:N"),
        ("fft:4", "one of: gemm:"),
    ],
)
def test_the_hint_for_an_unknown_operation(text, hint):
    with pytest.raises(UsageError) as caught:
        operation(text, F16)
    assert caught.value.hint.startswith(hint)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("elementwise:1MB", "size '1MB' is not a whole number"),
        ("elementwise:1.5", "size '1.5' is not a whole number"),
        ("elementwise:1E", "size '1E' is not a whole number"),
        ("gem:4", "unknown operation 'gem'"),
        ("", "unknown operation ''"),
        ("gemm", "size '' is not a whole number"),
        ("gemm:4x4", "2 sizes"),
        ("gemm:4x4x4x4", "4 sizes"),
        ("gemm:4x-4x4", "size '-4' is not a whole number"),
        ("gemm:4x4.5x4", "size '4.5' is not a whole number"),
        ("gemm:nan", "size 'nan' is not a whole number"),
        ("gemm:0", "size 0 is not in 1 to"),
        ("gemm:4x4x2000000000000", "size 2000000000000 is not in 1 to 1099511627776"),
        ("gemm:4,batch=0", "batch 0 is not in 1"),
        ("gemm:4,batch", "what is 'batch'?"),
        ("gemm:4,batch=2,batch=2", "what is 'batch=2'?"),
        ("gemm:4,alpha=1", "what is 'alpha=1'?"),
        ("gemm:4,out=f17", "unknown data type 'f17'"),
        ("conv2d:1x8x8x8", "k is missing"),
        ("conv2d:1x8x8x8,k=8,r=9", "does not fit into 8x8"),
        ("conv2d:1x99999x99999x8,k=8,r=70000", "at most 65536 either way"),
        ("conv2d:1x8x8x8,k=8,groups=3", "3 groups do not divide"),
        ("conv2d:1x8x8x8,k=8,stride=0", "stride 0 is not in 1"),
        ("attention:1x8x8x8,kvheads=3", "3 heads of keys do not divide 8"),
        ("attention:1x8x8x8,kv=4,causal=1", "causal needs kv of at least 8, not 4"),
    ],
)
def test_what_is_refused(text, says):
    with pytest.raises(UsageError) as error:
        operation(text, F16)
    assert says in error.value.message


def test_bytes_are_packed_and_rounded_up():
    assert [size_bytes(n, DType.F4) for n in (1, 2, 3)] == [1, 1, 2]
    assert size_bytes(4, DType.F6) == 3
    assert {product_type(one) for one in (DType.F8, DType.F6, DType.F4)} == {F16}


@pytest.mark.parametrize("text", ["gemm", "gemm:", " GEMM:4096x", "gemm:1GB", "gemm:64,batch=many"])
def test_a_size_that_is_none_shows_how_it_is_written(text):
    with pytest.raises(UsageError, match="is not a whole number") as error:
        operation(text, F16)
    assert error.value.hint == "write gemm:MxNxK[,batch=1,beta=0]"
