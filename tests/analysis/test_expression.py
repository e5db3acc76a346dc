"""Expressions: what C makes of them, and what is no expression."""

from __future__ import annotations

import pytest

from perfkit.analysis.expression import MAX_DEPTH, MAX_LENGTH, Expression
from perfkit.errors import UsageError

X = {"x": 5, "threadIdx.x": 7, "y": -3}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # worked out by C's rules: precedence, truncation, short circuits
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("100 / 10 / 5", 2),
        ("-7 / 2", -3),
        ("-7 % 3", -1),
        ("7 % -3", 1),
        ("1 << 3 + 1", 16),
        ("-8 >> 1", -4),
        ("6 & 3 == 3", 0),  # & binds less than ==
        ("1 | 2 ^ 3 & 2", 1 | (2 ^ (3 & 2))),
        ("5 < 6 == 1", 1),
        ("1 ? 2 : 0 ? 3 : 4", 2),
        ("0 ? 2 : 0 ? 3 : 4", 4),
        ("x > 3 && y < 0", 1),
        ("x == 0 || !y", 0),
        ("x != 5 && 1 / 0", 0),
        ("x == 5 || 1 / 0", 1),
        ("x == 5 ? 1 : 1 / 0", 1),
        ("~x", -6),
        ("- -x", 5),
        ("!x + 1", 1),
        ("min(x, 3) + max(x, 3) - abs(y)", 5),
        ("threadIdx.x * 4", 28),
        ("threadIdx . x", 7),
        ("0x1F + 0XfuLL + 10u", 56),
        ("9223372036854775807", 2**63 - 1),
        ("(int)threadIdx.x - 8", -1),
        ("((int)threadIdx.x - 8) / 2", 0),  # -1 / 2, cut off
        ("(int)threadIdx.x - 8 < 0", 1),
        ("-(long long)x * 2", -10),
        ("(size_t) x * (unsigned int)threadIdx.x", 35),
        ("(x)", 5),
        ("(unsigned long) (x + 1) % 4", 2),
        ("  x\t", 5),
    ],
)
def test_values(text, value):
    assert Expression(text).value(X) == value


@pytest.mark.parametrize(
    "text",
    [
        "threadIdx.x - 8 < 0",
        "0 <= threadIdx.x - 8",
        "threadIdx.x > y",  # -3 is 4294967293 there
        "(threadIdx.x - 8) % 4",
        "(1 - threadIdx.x) / 2",
        "(threadIdx.x - 8) >> 1",
        "min(threadIdx.x - 8, 5)",
        "(unsigned)y / 2",
        "(size_t)(x - 6) > 0",
        "max(-threadIdx.x, 5)",
        "~threadIdx.x / 2",
    ],
)
def test_what_would_wrap_around_in_cuda_and_decide_something(text):
    with pytest.raises(UsageError, match=r"without sign, where -\d+ is 42949672\d\d"):
        Expression(text).value(X)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("int(threadIdx.x) - 8 < 0", 1),
        ("(int(threadIdx.x) - 8) % 4", -1),
        ("threadIdx.x - 8 == -1", 1),  # both wrap around
        ("(threadIdx.x - 8) * 2 + 10", 8),  # and back again
        ("(threadIdx.x - 8) & 31", 31),
        ("~threadIdx.x & 7", 0),
        ("(threadIdx.x < 8) - 2 < 0", 1),  # a comparison is an int
        ("!threadIdx.x - 1 < 0", 1),
        ("16 >> threadIdx.x - 5", 4),
        ("-16 >> threadIdx.x - 5", -4),  # the type of a shift is that of its left side
        ("(1 << threadIdx.x) - 200 < 0", 1),
        ("x - 8 < 0", 1),
    ],
)
def test_what_may_be_below_zero(text, value):
    found = Expression(text).value(X)
    assert (found, type(found)) == (value, int)


def test_names_are_known_before_it_is_computed():
    assert Expression("0 ? threadIdx.x : lane + max(lane, 1)").names == {"threadIdx.x", "lane"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a value is missing, at its end"),
        ("1 +", "a value is missing, at its end"),
        ("1 2", "it should end, at '2', column 3"),
        ("(1", "')' is missing"),
        ("1)", "it should end, at ')', column 2"),
        ("x ? 1", "':' is missing"),
        ("1.5", "whole numbers, at '1.5', column 1"),
        ("1e3", "whole numbers"),
        ("nan(", "it should end"),
        ("x = 3", "whole numbers, at '= 3', column 3"),
        ("x; y", "column 2"),
        ("x[0]", "column 2"),
        ("'a'", "column 1"),
        ("x ** 2", "a value is missing, at '* 2', column 4"),
        ("x // 2", "a value is missing"),
        ("min(1)", "min takes 2 values"),
        ("abs(1, 2)", "abs takes 1 values"),
        ("min 1", "'(' is missing"),
        ("010", "octal"),
        ("0x", "whole numbers"),
        ("9223372036854775808", "beyond 64 bits"),
        ("__import__('os')", "column 12"),
        ("open(1)", "it should end"),
        ("x.y.z", "column 4"),
        ("é", "column 1"),
        ("x\0", "column 2"),
        ("(" * (MAX_DEPTH + 1) + "1" + ")" * (MAX_DEPTH + 1), "nested more than"),
        ("-" * (MAX_DEPTH + 1) + "1", "nested more than"),
        ("1" + "+1" * MAX_LENGTH, "characters"),
        ("min(" * (MAX_DEPTH + 1), "nested more than"),
    ],
)
def test_what_is_no_expression(text, says):
    with pytest.raises(UsageError) as error:
        Expression(text)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1 / (x - 5)", "division by zero"),
        ("1 % 0", "division by zero"),
        ("1 << 64", "shift by 64"),
        ("1 >> y", "shift by -3"),
        ("1 << 63", "beyond 64 bits"),
        ("9223372036854775807 + 1", "beyond 64 bits"),
        ("-9223372036854775807 - 1 - 1", "beyond 64 bits"),
        ("abs(-9223372036854775807 - 1)", "beyond 64 bits"),
        ("4000000000 * 4000000000", "beyond 64 bits"),
    ],
)
def test_what_cannot_be_computed(text, says):
    with pytest.raises(UsageError) as error:
        Expression(text).value(X)
    assert says in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "1" + "+1" * (MAX_LENGTH // 2 - 1),
        "1||" * (MAX_LENGTH // 3 - 1) + "0",
        "1||1&&1|1^1&1==1<1<<1+1*(" * 19 + "1" + ")" * 19,
        "(" * (MAX_DEPTH - 1) + "1" + ")" * (MAX_DEPTH - 1),
        "~" * (MAX_DEPTH - 1) + "1",
        "1?" * (MAX_DEPTH - 1) + "1" + ":1" * (MAX_DEPTH - 1),
    ],
)
def test_the_longest_and_deepest_ones_are_computed(text):
    assert len(text) <= MAX_LENGTH
    assert isinstance(Expression(text).value({}), int)
