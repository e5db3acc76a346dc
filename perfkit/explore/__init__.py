"""The explorer: a launch that changes under one's fingers, and everything that follows from it.

``state`` is what was typed, as the options of ``perfkit occupancy`` take it; ``view`` is all that
is known of it, from the same functions as that command; ``paint`` and ``bars`` are the view as
text; ``ui`` shows it and is the only part that knows a terminal.
"""
