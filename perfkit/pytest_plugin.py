"""The pytest plugin of perfkit: options and the fixture ``perfkit_gate``.

pytest loads this module in every environment that has perfkit, so it imports nothing: what the
fixture needs is loaded when a test asks for it.
"""

from __future__ import annotations

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from perfkit.testing.gate import Gate

#: what becomes of a test whose timing cannot be told
ON_INCONCLUSIVE = ("skip", "xfail", "fail")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("perfkit", "performance gates (fixture perfkit_gate)")
    group.addoption(
        "--perfkit-baseline",
        action="append",
        default=None,
        metavar="FILE",
        help="what timings are compared with: a recorded baseline, or results of any kind that "
        "'perfkit gate check' reads; may be repeated",
    )
    group.addoption(
        "--perfkit-record",
        default=None,
        metavar="FILE",
        help="add the timings of this session, as one run, to a baseline",
    )
    group.addoption(
        "--perfkit-policy",
        default=None,
        metavar="FILE",
        help="limits of timings and rules for kernels (default: perfkit.yaml of the root)",
    )
    group.addoption(
        "--perfkit-on-inconclusive",
        choices=ON_INCONCLUSIVE,
        default="skip",
        help="what becomes of a test whose timing cannot be told (default: skip); what was not "
        "checked at all always fails",
    )


@pytest.fixture
def perfkit_gate(request: pytest.FixtureRequest) -> Gate:
    """Gates of a test: ``kernel(path, *rules)``, ``time(name, call)``, ``record(name, value)``."""
    from perfkit.testing.gate import gate_of

    return gate_of(request.config)
