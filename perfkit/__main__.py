"""``python -m perfkit`` is ``perfkit``."""

from perfkit.cli.app import main

raise SystemExit(main())
