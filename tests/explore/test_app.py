"""The explorer driven by keys, in terminals of several sizes."""

from __future__ import annotations

import asyncio
import base64

import pytest
from textual.widgets import Input, OptionList, Static

from perfkit.explore.fields import FIELDS
from perfkit.explore.state import State
from perfkit.explore.ui.app import Explorer
from perfkit.explore.ui.choose_gpu import ChooseGpu
from perfkit.explore.ui.choose_kernel import ChooseKernel
from perfkit.explore.ui.entry import Entry
from perfkit.explore.ui.pages import Page, TakeAway
from tests.explore.desk import DESK, ROOT, opened, typed

SIZES = [(80, 24), (40, 24), (130, 40), (20, 10)]
SEVERAL = ROOT / "tests" / "data" / "cubin" / "j07.sm_80.cubin"


def run(script, state=None, *, size=(80, 24), **options):
    """Runs ``script(app, pilot)`` on an explorer with a state, and leaves it."""

    async def main():
        app = Explorer(typed() if state is None else state, DESK, **options)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await script(app, pilot)
        return app

    return asyncio.run(asyncio.wait_for(main(), timeout=60))


async def until(pilot, condition):
    """Waits for what another thread does."""
    for _ in range(200):
        if condition():
            return
        await pilot.pause(0.05)
    pytest.fail("it never happened")


def shown(app, name="answer") -> str:
    """The text of a widget, however it is broken into lines."""
    return " ".join(str(app.main.query_one(f"#{name}").render()).split())


def screen_text(app) -> str:
    return "\n".join("".join(part.text for part in line) for line in _lines(app))


def _lines(app):
    return app.screen._compositor.render_strips()


@pytest.mark.parametrize(
    ("size", "colour"), [*((size, True) for size in SIZES), ((80, 24), False)], ids=str
)
def test_every_size_shows_the_answer(size, colour, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    if not colour:
        monkeypatch.setenv("NO_COLOR", "1")

    async def script(app, pilot):
        assert app.no_color is not colour
        assert "75%" in shown(app)
        assert "registers" in shown(app)
        assert len(_lines(app)) == size[1]
        if size[0] >= 80:
            text = screen_text(app)
            assert "threads   256" in text
            assert "API" in text
            assert "perfkit occupancy -g h100" in text
        if size[0] >= 130:
            assert "▲ 256" in screen_text(app)

    run(script, size=size)


def test_the_terminal_may_change_its_size():
    async def script(app, pilot):
        for size in [*SIZES, (80, 24)]:
            await pilot.resize_terminal(*size)
            await pilot.pause()
            await pilot.press("up", "down")
            assert "75%" in shown(app)

    run(script)


@pytest.mark.parametrize("size", [(80, 24), (124, 38), (40, 24)], ids=str)
def test_tables_that_become_short_and_long_again_look_as_before(size):
    """Between them the scroll bar goes; lines broken for its columns would be cut off."""

    async def script(app, pilot):
        app.main.query_one("#regs", Entry).focus()
        await pilot.pause()
        before = screen_text(app)
        await pilot.press("end", "9", "9")
        await pilot.pause()
        assert screen_text(app) != before
        await pilot.press("backspace", "backspace")
        await pilot.pause()
        assert screen_text(app) == before

    run(script, size=size)


def test_what_is_typed_after_a_tab_replaces_the_number():
    async def script(app, pilot):
        app.main.query_one("#threads", Entry).focus()
        await pilot.press("tab", "3", "2", "shift+tab", "6", "4")
        assert (app.main.state.regs, app.main.state.threads) == ("32", "64")
        await pilot.press("tab", "up", "tab")
        assert app.main.state.regs == "33"

    run(script)


def test_where_the_tables_are_out_of_sight_the_answer_stands_in_a_line():
    async def script(app, pilot):
        assert "75%, limited by registers" in screen_text(app)
        await pilot.press("ctrl+u", "x")
        assert "not one to three whole numbers" in shown(app, "brief")
        await pilot.press("ctrl+u", "6", "4")
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert "limited by" not in screen_text(app).splitlines()[-4]

    run(script, size=(40, 12))


def test_a_terminal_of_ascii_gets_ascii():
    async def script(app, pilot):
        text = screen_text(app)
        assert "h100-sxm5 v" in text
        assert "API      ####" in text
        assert "< binds" in text
        assert "^ 256" in text
        others = {one for one in text if not one.isascii()}
        assert others <= set("▁▂▃▄▅▆▇█▔")  # of textual's scroll bars
        await pilot.press("up")
        assert "API      ####" in screen_text(app)

    run(script, size=(130, 40), is_ascii=True)


def test_keys_move_numbers_and_everything_follows():
    async def script(app, pilot):
        await pilot.press("up")
        assert app.main.state.threads == "288"
        assert app.main.query_one("#threads", Entry).value == "288"
        assert "--threads 288" in shown(app, "command")
        assert app.main.view.estimate.driver.threads == 288
        await pilot.press("tab", "pagedown")
        assert app.main.state.regs == "32"
        await pilot.press("shift+tab", "pageup")
        assert app.main.state.threads == "384"

    run(script)


def test_every_field_is_reached_and_moved_with_the_keyboard():
    async def script(app, pilot):
        for name in FIELDS:
            assert app.focused.id == name
            before = app.main.state.text(name)
            await pilot.press("up")
            assert app.main.state.text(name) != before, name
            assert app.main.view.troubles == (), name
            assert FIELDS[name].help[:20] in shown(app, "hint")
            await pilot.press("tab")
        assert app.main.view.bound is not None

    run(script, typed(dtype="f16"))


def test_typing_is_followed_letter_by_letter_and_wrong_inputs_are_told():
    async def script(app, pilot):
        await pilot.press("ctrl+u", "1", "2", "8")
        assert app.main.view.estimate.driver.threads == 128
        await pilot.press("x", "y")
        assert "not one to three whole numbers" in shown(app)
        assert app.main.query_one("#threads", Entry).has_class("-wrong")
        await pilot.press("up")  # nowhere to go from there
        assert app.main.state.threads == "128xy"
        await pilot.press("ctrl+u")
        assert "how many threads per block" in shown(app)
        await pilot.press("6", "4")
        assert app.main.view.estimate.driver.threads == 64
        assert not app.main.query_one("#threads", Entry).has_class("-wrong")

    run(script)


@pytest.mark.parametrize("text", ["-1", "999999999999999999", "[/b]\\é"])
def test_no_text_in_a_field_crashes(text):
    async def script(app, pilot):
        for name in FIELDS:
            entry = app.main.query_one(f"#{name}", Entry)
            before = entry.value
            for one in (text, before):
                entry.value = one
                await pilot.pause()
                assert app.main.state.text(name) == one
            assert app.main.view.troubles == ()

    run(script, typed(op="gemm:64", dtype="f16"))


def test_a_gpu_is_asked_for_where_none_is_given():
    async def script(app, pilot):
        assert isinstance(app.screen, ChooseGpu)
        await pilot.press(*"4090")
        await pilot.press("enter")
        await pilot.pause()
        assert app.main.state.gpu == "rtx-4090"
        assert app.main.view.target.label == "rtx-4090"
        assert "warps" in shown(app)

    run(script, State())


def test_without_a_gpu_nothing_breaks():
    async def script(app, pilot):
        await pilot.press("escape")
        await pilot.pause()
        assert "Choose a GPU" in shown(app)
        await pilot.press("ctrl+y", "ctrl+l", "ctrl+t")
        await pilot.press("up")
        await pilot.pause()
        assert isinstance(app.screen, ChooseGpu)

    run(script, State())


def test_gpus_are_searched_and_left():
    async def script(app, pilot):
        await pilot.press("ctrl+g")
        await pilot.pause()
        listed = app.screen.query_one(OptionList)
        every = listed.option_count
        await pilot.press(*"blackwell")
        assert 0 < listed.option_count < every
        await pilot.press("down", "down", "up", "pagedown", "pageup")
        await pilot.press(*"zzz")
        assert listed.option_count == 0
        await pilot.press("enter")
        assert isinstance(app.screen, ChooseGpu)
        await pilot.press("escape")
        await pilot.pause()
        assert app.main.state.gpu == "h100"

    run(script)


def test_a_kernel_is_opened_chosen_and_left_again():
    async def script(app, pilot):
        await pilot.press("ctrl+o")
        await pilot.pause()
        app.screen.query_one(Input).value = str(SEVERAL)
        await pilot.press("enter")
        listed = app.screen.query_one(OptionList)
        await until(pilot, lambda: listed.option_count == 3)
        await pilot.press("down", "enter")
        await pilot.pause()
        state = app.main.state
        assert state.kernel.demangled == "app::detail::second"
        assert app.main.view.present()["smem_static"] == 4100
        assert "second" in shown(app, "kernel")
        assert app.main.query_one("#regs", Entry).placeholder == "10 (kernel)"
        await pilot.press("ctrl+o")
        await pilot.pause()
        await pilot.press("escape")
        await pilot.pause()
        assert app.main.state == state
        await pilot.press("ctrl+o")
        await pilot.pause()
        app.screen.query_one(Input).value = ""
        app.screen.query_one(Input).focus()
        await pilot.press("enter")
        await pilot.pause()
        assert app.main.state.kernel is None
        assert (app.main.state.regs, app.main.state.smem_static) == ("10", "4100")

    run(script, typed("a100", threads="128"))


def test_a_file_of_several_kernels_opens_with_the_choice():
    async def script(app, pilot):
        assert isinstance(app.screen, ChooseKernel)
        await until(pilot, lambda: app.screen.query_one(OptionList).option_count == 3)
        await pilot.press("enter")
        await pilot.pause()
        assert app.main.state.gpu == "8.0"
        assert app.main.state.kernel.arch == "sm_80"
        assert app.main.view.troubles == ()

    run(script, opened(SEVERAL))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda place: str(place / "nothing.cubin"), "No such file"),
        (lambda place: str(_written(place / "a.cubin", b"\x7fELF broken")), "a.cubin"),
        (lambda place: str(_written(place / "a.txt", b"no kernel")), "a.txt"),
        (lambda place: "-", "stdin is where you type"),
        (lambda place: "~nobody-of-that-name/x", "nobody-of-that-name"),
        (lambda place: "a\\0b", "a"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(make, said, tmp_path):
    async def script(app, pilot):
        await pilot.press("ctrl+o")
        await pilot.pause()
        app.screen.query_one(Input).value = make(tmp_path)
        await pilot.press("enter")
        message = app.screen.query_one("#said", Static)
        await until(pilot, lambda: not str(message.render()).startswith("reading"))
        assert said in str(message.render())
        assert isinstance(app.screen, ChooseKernel)
        assert app.main.state == typed()

    run(script)


def _written(path, content):
    path.write_bytes(content)
    return path


def test_another_gpu_takes_the_code_that_it_runs():
    async def script(app, pilot):
        for name, runs in (("h100", False), ("rtx-3090", True)):
            app.main._chosen_gpu(name)
            await until(
                pilot,
                lambda: app.main.state.kernel or "does not run" in shown(app),
            )
            assert (app.main.state.kernel is not None) == runs
            assert app.main.state.gpu == name

    pairs = DESK.kernels(str(SEVERAL), "a100")
    state = typed("a100", threads="128", regs="").having(path=str(SEVERAL), kernel=pairs[1][1])
    run(script, state)


def test_the_command_line_is_copied(monkeypatch):
    written = []

    async def script(app, pilot):
        monkeypatch.setattr(app._driver, "write", written.append)
        await pilot.press("ctrl+y")
        assert app.clipboard == app.main.view.commands[0]
        encoded = base64.b64encode(app.clipboard.encode()).decode()
        assert any(encoded in text and text.startswith("\x1b]52;") for text in written)
        assert app.clipboard in shown(app, "command")

    run(script)


def test_launch_code_is_shown_and_copied():
    async def script(app, pilot):
        await pilot.press("ctrl+l")
        await pilot.pause()
        assert isinstance(app.screen, TakeAway)
        assert app.screen.text.startswith("perfkit occupancy")
        await pilot.press("right")
        assert "cudaLaunchKernelEx" in app.screen.text
        assert "threads = 256" in str(app.screen.query_one("#text", Static).render())
        await pilot.press("c")
        assert app.clipboard == app.screen.text
        await pilot.press("left", "left")
        assert "triton.Config" in app.screen.text
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen is app.main

    run(script)


def test_help_and_explanations_come_and_go():
    async def script(app, pilot):
        for key in ("question_mark", "f1"):
            await pilot.press(key)
            await pilot.pause()
            assert isinstance(app.screen, Page)
            assert "next and previous field" in screen_text(app)
            await pilot.press("escape")
            await pilot.pause()
        assert app.main.state.threads == "256"  # the question mark was not typed
        plain = shown(app)
        await pilot.press("ctrl+t")
        assert "warp slots" in shown(app)
        await pilot.press("ctrl+t")
        assert shown(app) == plain
        await pilot.press("ctrl+down")
        await pilot.press("ctrl+up")

    run(script)


@pytest.mark.parametrize("size", [(80, 24), (40, 24)])
def test_the_tables_scroll_while_a_field_has_the_focus(size):
    async def script(app, pilot):
        await pilot.press("ctrl+down", "ctrl+down")
        await pilot.pause()
        assert app.main._scrolled().scroll_offset.y > 0
        assert app.focused.id == "threads"

    run(script, size=size)


@pytest.mark.parametrize(
    ("key", "before"),
    [("ctrl+q", []), ("ctrl+c", []), ("ctrl+c", ["ctrl+g"]), ("ctrl+q", ["ctrl+o"]),
     ("ctrl+q", ["ctrl+l"])],
)  # fmt: skip
def test_quitting_from_anywhere_gives_the_state(key, before):
    async def script(app, pilot):
        await pilot.press("up")
        await pilot.press(*before)
        await pilot.press(key)
        await pilot.pause()

    app = run(script)
    assert app.return_value.threads == "288"
    assert not app.return_code
