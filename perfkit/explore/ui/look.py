"""Where everything stands, by the width of the terminal."""

from __future__ import annotations

from typing import Final

CSS: Final = """
Screen { background: $background; }
#body { height: 1fr; layout: horizontal; }
#form { layout: horizontal; width: 29; height: 1fr; padding: 0 1; }
/* lines are broken for the width that is left: a bar that comes and goes must not change it */
#right { width: 1fr; height: 1fr; padding: 0 1; scrollbar-gutter: stable; }
#answer, #curves { width: 1fr; height: auto; }
#curves { margin-top: 1; }
#names { width: 10; height: auto; color: $text-muted; }
#fields { width: 1fr; height: auto; }
Entry { width: 1fr; background: $surface; }
Entry.-wrong { color: $text-error; text-style: bold underline; }
Chooser { width: 1fr; height: 1; text-style: bold; text-wrap: nowrap; text-overflow: ellipsis; }
Chooser:focus, Entry:focus { background: $primary 40%; }
#hint { height: auto; max-height: 2; padding: 0 1; color: $text-muted; }
#brief { display: none; height: 1; padding: 0 1; text-style: bold; text-wrap: nowrap; }
.-narrow #brief { display: block; }
.-narrow #hint { max-height: 1; }
#command {
    height: 1; padding: 0 1; background: $surface; text-wrap: nowrap; text-overflow: ellipsis;
}
.-wide #right { layout: horizontal; }
.-wide #curves { width: 46; margin: 0 0 0 2; }
.-narrow #body { layout: vertical; overflow-y: auto; scrollbar-gutter: stable; }
.-narrow #form { width: 100%; height: auto; }
.-narrow #right { width: 100%; height: auto; scrollbar-gutter: auto; }
ModalScreen { align: center middle; }
.dialog {
    width: 90%; max-width: 84; height: 80%; padding: 0 1; border: round $primary;
    background: $surface;
}
.-narrow .dialog { width: 100%; height: 100%; }
.dialog Label { width: 1fr; }
.dialog OptionList, .dialog VerticalScroll { height: 1fr; background: $surface; }
.-ascii .dialog { border: ascii $primary; }
.-ascii Chooser, .-ascii #command { text-overflow: clip; }
.title { text-style: bold; }
.dim { color: $text-muted; }
#said { color: $text-warning; height: auto; max-height: 4; }
"""
