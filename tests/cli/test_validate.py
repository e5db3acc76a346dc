"""``perfkit validate``, with a card that is made up."""

from __future__ import annotations

import json

import pytest

from perfkit.analysis.validation import Status
from perfkit.device.properties import read_devices
from tests.device.fakes import FakeDriver
from tests.report import measured
from tests.report.schemas import undescribed
from tests.report.schemas import validate as follows

CODES = {Status.PASS: 0, Status.FAIL: 1, Status.SKIPPED: 3, Status.UNFINISHED: 5}


@pytest.fixture
def card(monkeypatch):
    """A report with one check of this outcome; gives what the run was asked for."""
    asked = {}

    def use(*outcomes, interrupted=False):
        def run(devices, **options):
            asked.update(options, devices=devices)
            report = measured.validation(*outcomes, interrupted=interrupted)
            for card in report.cards:
                for check in card.checks:
                    options["on_start"](card.environment.index, check.name)
                    options["on_check"](card.environment.index, check)
            return report

        monkeypatch.setattr("perfkit.device.validate.validate", run)
        driver = FakeDriver(devices=2)
        monkeypatch.setattr("perfkit.device.items.read_devices", lambda: read_devices(driver))
        return asked

    return use


@pytest.mark.parametrize("status", Status)
def test_the_exit_code_says_the_outcome(perfkit, card, status):
    card(status)
    assert perfkit("validate").code == CODES[status]


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ((Status.PASS, Status.SKIPPED), 0),
        ((Status.PASS, Status.UNFINISHED), 5),
        ((Status.UNFINISHED, Status.FAIL, Status.PASS), 1),
        ((), 3),
    ],
)
def test_of_several_outcomes(perfkit, card, outcomes, code):
    card(*outcomes)
    assert perfkit("validate").code == code


def test_interrupted(perfkit, card):
    card(Status.PASS, interrupted=True)
    done = perfkit("validate")
    assert done.code == 130
    assert "interrupted" in done.out


def test_the_table_names_what_differs(perfkit, card):
    card(Status.FAIL, Status.SKIPPED)
    out = perfkit("validate").out
    assert "1 fail, 1 skipped" in out
    assert "64 threads, 24 registers" in out
    assert "may not read the GPU's counters" in out
    assert "--seed 7" in out


def test_each_outcome_is_told_as_it_comes(perfkit, card):
    card(Status.PASS, Status.FAIL)
    err = perfkit("validate").err
    assert "check-1: pass, 21,000 compared\n" in err
    assert "check-2: fail, 21,000 compared, 12 differ\n" in err
    assert perfkit("validate --quiet").err == ""


def test_lines_and_files_of_several_cards_name_them(perfkit, monkeypatch, tmp_path):
    def run(devices, **options):
        for card in measured.TWO_CARDS.cards:
            for check in card.checks:
                options["on_check"](card.environment.index, check)
        return measured.TWO_CARDS

    monkeypatch.setattr("perfkit.device.validate.validate", run)
    monkeypatch.setattr("perfkit.device.items.read_devices", lambda: read_devices(FakeDriver()))
    done = perfkit(f"validate --device all --save {tmp_path} --chart {tmp_path / 'v.svg'}")
    assert done.code == 1
    assert "device 0: check-1: pass, 21,000 compared\n" in done.err
    assert "device 1: check-1: pass, 21,000 compared\n" in done.err
    assert done.out.startswith("2 x NVIDIA Golden (h200-sxm)")
    (file,) = tmp_path.glob("*.json")
    follows("validate", document := json.loads(file.read_text("utf-8")))
    assert undescribed("validate", document) == []
    assert "check-1: device 1: NVIDIA Golden" in "".join(
        path.read_text("utf-8") for path in tmp_path.glob("*.svg")
    )


def test_json_follows_its_schema(perfkit, card):
    card(Status.PASS, Status.FAIL)
    report = json.loads(perfkit("validate -f json").out)
    follows("validate", report)
    assert report["status"] == "fail"
    assert report["cards"][0]["checks"][1]["differences"]


def test_options_reach_the_run(perfkit, card):
    asked = card(Status.PASS)
    done = perfkit("validate --device 0,1 --only residency,fits --quick --seed 7 --time-limit 9")
    assert done.code == 0
    assert [device.index for device in asked["devices"]] == [0, 1]
    assert asked["only"] == ["residency", "fits"]
    assert (asked["quick"], asked["seed"], asked["seconds"]) == (True, 7, 9)


def test_saved_in_every_form(perfkit, card, tmp_path):
    card(Status.PASS)
    folder = tmp_path / "new" / "reports"
    assert perfkit(["validate", "--save", str(folder)]).code == 0
    names = sorted(path.name for path in folder.iterdir())
    stem = "h200-sxm-2026-11-30"
    assert names == [f"{stem}.html", f"{stem}.json", f"{stem}.md"]
    follows("validate", json.loads((folder / f"{stem}.json").read_text("utf-8")))
    assert (folder / f"{stem}.html").read_text("utf-8").startswith("<!doctype html>")


def test_html_to_a_file(perfkit, card, tmp_path):
    card(Status.PASS)
    page = tmp_path / "page.html"
    done = perfkit(["validate", "-f", "html", "-o", str(page)])
    assert (done.code, done.out) == (0, "")
    assert "</html>" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("validate --device x", "--device 'x': no number of a device"),
        ("validate --device 0,", "no number of a device"),
        ("validate --device -1", "no number of a device"),
        ("validate --only nothing", "there is no check 'nothing'"),
        ("validate --seed -1", "--seed"),
        ("validate --time-limit 0", "--time-limit"),
        ("validate --format pdf", "--format"),
    ],
)
def test_what_cannot_be_asked(refused, arguments, says):
    assert says in refused(arguments)


def test_a_folder_that_cannot_be_made(perfkit, card, tmp_path):
    card(Status.PASS)
    (tmp_path / "file").touch()
    done = perfkit(["validate", "--save", str(tmp_path / "file" / "reports")])
    assert done.code == 2
    assert "--save" in done.err


def test_a_chart_of_every_check_with_numbers(perfkit, card, tmp_path):
    card(Status.PASS, Status.FAIL)
    done = perfkit(f"validate --chart {tmp_path / 'v.svg'}")
    assert done.code == 1
    assert "blocks counted" in done.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["v-1.svg", "v-2.svg"]
    done = perfkit("validate --chart")
    assert done.out.startswith("check-1: NVIDIA Golden\n")
    assert "sum: 9 ms predicted, 20 ms measured" in done.out


def test_what_was_measured_is_written_though_it_has_no_chart(perfkit, card):
    card(Status.SKIPPED)
    done = perfkit("validate --chart")
    assert done.code == 2
    assert "1 skipped" in done.out
    assert "nothing in this result can be drawn" in done.err
