"""Requests to end, within and outside the block."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from perfkit.cli.interrupts import terminable


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_request_to_end_is_an_interrupt_and_afterwards_it_is_what_it_was(name):
    request_to_end = signal.Signals[name]
    before = signal.getsignal(request_to_end)
    with terminable(), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), request_to_end)
    assert signal.getsignal(request_to_end) == before


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_what_is_ignored_stays_so(monkeypatch):
    """As under ``nohup``."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with terminable():
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_in_another_thread_nothing_is_changed():
    seen = []

    def run():
        with terminable():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGTERM)]
