"""Lines that are drawn one by one: what changed, all of what changed, and nothing else."""

from __future__ import annotations

import asyncio

from textual.app import App
from textual.geometry import Offset
from textual.screen import Screen
from textual.selection import Selection

from perfkit.explore.ui.entry import Entry
from perfkit.explore.ui.lines import Lines
from tests.explore.test_app import run, screen_text, typed

THREE = ((("one", "title"),), (("two", ""), (" 2", "value")), (("three", "dim"),))
MORE = (*THREE, (), (("[b]five[/b]", "wrong"),))


class Shown(App):
    """One widget of lines."""

    CSS = "Lines { width: 20; height: auto; }"

    def compose(self):
        yield Lines(id="lines")


def on(script):
    async def main():
        app = Shown()
        async with app.run_test(size=(30, 10)) as pilot:
            await script(app, app.query_one("#lines", Lines), pilot)

    asyncio.run(asyncio.wait_for(main(), timeout=60))


def rows(app):
    strips = app.screen._compositor.render_strips()
    return ["".join(part.text for part in strip).rstrip() for strip in strips]


def test_every_line_stands_where_it_is_and_no_markup_is_read():
    async def script(app, lines, pilot):
        lines.show(MORE)
        await pilot.pause()
        assert rows(app)[:6] == ["one", "two 2", "three", "", "[b]five[/b]", ""]
        assert lines.size.height == 5

    on(script)


def test_only_lines_that_changed_are_drawn_and_the_height_stays_within_the_slack(monkeypatch):
    drawn = []
    render = Lines.render_line
    monkeypatch.setattr(Lines, "render_line", lambda self, y: drawn.append(y) or render(self, y))

    async def script(app, lines, pilot):
        lines.show(MORE)
        await pilot.pause()
        drawn.clear()
        changed = (MORE[0], (("deux", ""),), *MORE[2:])
        lines.show(changed)
        await pilot.pause()
        assert drawn == [1]
        assert rows(app)[:3] == ["one", "deux", "three"]
        lines.show(THREE, slack=2)
        await pilot.pause()
        assert lines.size.height == 5
        assert rows(app)[:5] == ["one", "two 2", "three", "", ""]
        lines.show(THREE[:2], slack=2)
        await pilot.pause()
        assert lines.size.height == 2
        lines.show(MORE, slack=2)
        await pilot.pause()
        assert lines.size.height == 5
        assert rows(app)[4] == "[b]five[/b]"

    on(script)


def test_what_is_selected_with_the_mouse_is_marked_and_copied():
    async def script(app, lines, pilot):
        lines.show(THREE)
        await pilot.pause()
        app.screen.selections = {lines: Selection(Offset(0, 0), Offset(3, 1))}
        await pilot.pause()
        assert app.screen.get_selected_text() == "one\ntwo"
        before = [part.style for part in lines.render_line(1)]
        assert rows(app)[:3] == ["one", "two 2", "three"]
        app.screen.clear_selection()
        assert [part.style for part in lines.render_line(1)] != before
        lines.show(MORE)
        await pilot.pause()
        assert rows(app)[4] == "[b]five[/b]"

    on(script)


def test_a_key_lays_nothing_out_anew(monkeypatch):
    laid, drawn = [], []
    layout, display = Screen._refresh_layout, App._display

    async def script(app, pilot):
        for name in ("threads", "regs", "smem_dynamic", "barriers", "grid"):
            app.main.query_one(f"#{name}", Entry).cursor_blink = False
            app.main.query_one(f"#{name}", Entry).focus()
            await pilot.press("up", "down")
            await pilot.pause(0.05)
            laid.clear(), drawn.clear()
            app.main.query_one(f"#{name}", Entry).action_move(1)
            await pilot.pause(0.05)
            assert drawn, name
            assert not laid, name
            assert app.main.state.text(name) in screen_text(app)

    monkeypatch.setattr(
        Screen, "_refresh_layout", lambda *a, **k: laid.append(a) or layout(*a, **k)
    )
    monkeypatch.setattr(App, "_display", lambda *a: drawn.append(a) or display(*a))
    run(script, typed(smem_dynamic="20K", carveout="50%", grid="4096"), size=(120, 40))
