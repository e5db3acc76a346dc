"""The command line. ``app`` has the commands and the exit codes."""

import gc

# nothing that is imported dies, and looking for it costs a short run 5 %; app turns it on again
gc.disable()
