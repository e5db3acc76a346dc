"""The other side of ``child``: takes one task from a file, runs it, writes what it gives.

    python -m perfkit.device.child_main request.json

A line of the channel is ``["result", {…}]``, ``["error", {…}]`` or, at the end, ``["done", {}]``.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

from perfkit.errors import PerfkitError

_LOOK_S: Final = 0.5


def main() -> int:
    """Run the task; the exit code is the error's, or 0."""
    request = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    with Path(request["channel"]).open("a", encoding="utf-8") as channel:

        def say(kind: str, content: dict[str, Any]) -> None:
            # whole lines, at once: the parent may end this process at any moment
            channel.write(json.dumps([kind, content], allow_nan=False) + "\n")
            channel.flush()

        from perfkit.device.tasks import task

        try:
            for result in task(request["task"])(request["arguments"]):
                say("result", result)
        except PerfkitError as error:
            say(
                "error",
                {
                    "message": error.message,
                    "hint": error.hint,
                    "where": error.where,
                    "exit_code": error.exit_code,
                },
            )
            return error.exit_code
        say("done", {})
    return 0


def _end_with(parent: int) -> None:
    """End this process and what it started once its parent is gone: nobody would end it then."""
    while os.getppid() == parent:
        time.sleep(_LOOK_S)
    if os.name == "posix":
        os.killpg(0, signal.SIGKILL)  # its own group: ``child`` starts it in a session of its own
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
