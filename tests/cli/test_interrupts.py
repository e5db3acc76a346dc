"""SIGTERM within and outside the block."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from perfkit.cli.interrupts import terminable


def test_a_request_to_end_is_an_interrupt_and_afterwards_it_is_what_it_was():
    before = signal.getsignal(signal.SIGTERM)
    with terminable(), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == before


def test_in_another_thread_nothing_is_changed():
    seen = []

    def run():
        with terminable():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGTERM)]
