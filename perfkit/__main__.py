"""The program from its first to its last line: ``perfkit`` and ``python -m perfkit``.

What Ctrl-C does is decided here. While modules load there is nothing to tidy up, and Python would
show a traceback or lose the signal in the middle of an import: the program ends on the spot. From
then on an interrupt is an exception, so that temporary files go; but the interpreter is not wound
up, since a compiler may still be at work in another thread, which would crash then.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # nothing is loaded before the signal is looked after: not even typing
if TYPE_CHECKING:
    from typing import Any

EXIT_INTERRUPTED = 130


def main() -> int:
    """Run the command line of this process; an interrupt does not return."""
    _occupy_closed_descriptors()
    if handled := signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
        sys.unraisablehook = _unraisable
    try:
        from perfkit.cli.app import main as run

        if handled:
            signal.signal(signal.SIGINT, _interrupt)
        code = run()
        if handled:
            signal.signal(signal.SIGINT, _leave)
    except KeyboardInterrupt:  # between the lines
        _leave()
    if code == EXIT_INTERRUPTED:  # said by the command line
        _leave(said=True)
    _flush_stderr()
    return code


def _interrupt(_: int, frame: Any) -> None:
    """An exception; but the end in the middle of an import, where libraries may lose it."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            _leave()
        frame = frame.f_back
    raise KeyboardInterrupt


def _leave(*_: Any, said: bool = False) -> None:
    if not said:
        os.write(2, b"perfkit: interrupted\n")
    os._exit(EXIT_INTERRUPTED)


def _unraisable(unraisable: Any) -> None:
    """An interrupt that came where no exception can go, such as a weak reference's callback."""
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        _leave()
    sys.__unraisablehook__(unraisable)


def _flush_stderr() -> None:
    """What stderr does not take (a full disk) must not make the exit code 120 at Python's end."""
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def _occupy_closed_descriptors() -> None:
    """What is opened next must not take the place of a closed stdout (``perfkit … >&-``)."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)


if __name__ == "__main__":
    raise SystemExit(main())
