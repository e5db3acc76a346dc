"""Files of measured ceilings: what is read, and every way in which one can be none."""

from __future__ import annotations

import json

import pytest

from perfkit.arch.peaks import PeakKey
from perfkit.errors import InputError, PerfkitError
from perfkit.kernel import DType
from perfkit.readers.ceilings import parse, parse_cards
from tests.report.schemas import validator

BF16 = {"dtype": "bf16", "accumulate": "f32", "sparsity": "dense", "unit": "tensor"}
WHOLE = {
    "schema": "perfkit.ceilings/1",
    "gpu": "h200-sxm",
    "clock_mhz": 1500,
    # medians of PyTorch 2.11 on one H200: copy, add, read, write
    "memory": [
        {"level": "dram", "bytes_per_s": 4.283e12, "how": "copy"},
        {"level": "dram", "bytes_per_s": 4.369e12, "how": "add"},
        {"level": "dram", "bytes_per_s": 4.352e12, "how": "read"},
    ],
    "compute": [BF16 | {"flop_per_s": 6.88e14}, BF16 | {"flop_per_s": 6.5e14}],
    "when": "2026-11-30",
}


def read(**changes):
    return parse(json.dumps(WHOLE | changes), "c.json")


def test_the_best_of_several_is_the_ceiling():
    found = read()
    assert found.memory == {"dram": 4.369e12}
    assert found.compute == {PeakKey(DType.BF16, DType.F32, "dense", "tensor"): 6.88e14}
    assert (found.gpu, found.clock_hz, found.origin) == ("h200-sxm", 1.5e9, "c.json")


def test_an_alias_and_no_clock():
    found = read(gpu="H200", clock_mhz=None)
    assert (found.gpu, found.clock_hz) == ("h200-sxm", None)


def test_what_an_empty_kernel_takes():
    empty = {"group": "launch", "what": "empty kernel", "value": 3.3e-6, "unit": "s"}
    others = [{"group": "launch", "what": "launches in a row", "value": 1e-6, "unit": "s"}, empty]
    assert read(others=others).launch_s == 3.3e-6
    assert read(others=others[:1]).launch_s is read().launch_s is None


def of_cards(*cards):
    """A file about several cards, which are numbered."""
    numbered = [
        {**WHOLE, "environment": {"uuid": f"GPU-{n}"}} | card for n, card in enumerate(cards)
    ]
    return json.dumps({"schema": WHOLE["schema"], "gpu": None, "cards": numbered})


LOADS = {"group": "latency", "what": "dram", "unit": "s"}
EMPTY = {"group": "launch", "what": "empty kernel", "unit": "s"}


def test_of_several_cards_the_best_of_each_figure_is_the_ceiling():
    """Card 0 is better at memory, card 1 at all else: neither may beat a bound."""
    text = of_cards(
        {"others": [LOADS | {"value": 7e-7}, EMPTY | {"value": 4e-6}]},
        {
            "clock_mhz": 1600,
            "memory": [{"level": "dram", "bytes_per_s": 4e12, "what": "dram read"}],
            "compute": [BF16 | {"flop_per_s": 7e14, "what": "bf16/f32 wgmma m64"}],
            "others": [LOADS | {"value": 6e-7}, EMPTY | {"value": 3e-6}],
        },
    )
    found = parse(text, "c.json")
    assert found.memory == {"dram": 4.369e12}
    assert list(found.compute.values()) == [7e14]
    assert (found.clock_hz, found.latencies_s, found.launch_s) == (1.6e9, {"dram": 6e-7}, 3e-6)
    assert found.instructions == {"bf16/f32 wgmma": 7e14}
    assert found.mixes == {"read": 4e12}
    assert (found.gpu, found.origin, found.uuid) == ("h200-sxm", "c.json", None)
    assert (found.cards, parse(of_cards({}), "c.json").cards) == (2, 1)


def test_each_card_has_its_own():
    first, second = parse_cards(of_cards({}, {"gpu": "a100"}), "c.json")
    assert (first.uuid, first.gpu) == ("GPU-0", "h200-sxm")
    assert (second.uuid, second.gpu) == ("GPU-1", "a100-sxm4-80gb")
    (alone,) = parse_cards(of_cards({"environment": {}}), "c.json")
    assert alone.uuid is None


def test_cards_of_several_products_are_no_question_about_one():
    with pytest.raises(InputError, match="ceilings of h200-sxm and a100-sxm4-80gb") as error:
        parse(of_cards({}, {"gpu": "a100"}), "c.json")
    assert "--device N" in error.value.hint


def test_a_card_that_has_none_to_give_is_passed_over():
    none = {"memory": [], "compute": []}
    found = parse_cards(of_cards({"gpu": None}, none, {}), "c.json")
    assert [one.uuid for one in found] == ["GPU-2"]


@pytest.mark.parametrize("only", ["memory", "compute"])
def test_one_of_the_two_is_enough(only):
    other = {"memory": "compute", "compute": "memory"}[only]
    content = {key: value for key, value in WHOLE.items() if key != other}
    assert getattr(parse(json.dumps(content), "c.json"), only)


def test_what_is_read_fits_the_schema():
    assert validator("ceilings").is_valid(WHOLE)


BROKEN = {
    "no JSON": ("{", "is no JSON"),
    "deep": ("[" * 100_000, "is no JSON"),
    "a list": ("[]", "the schema is 'list'"),
    "no schema": ("{}", "the schema is None"),
    "another schema": (json.dumps(WHOLE | {"schema": "perfkit.ceilings/2"}), "ceilings/2'"),
    "no gpu": (json.dumps(WHOLE | {"gpu": None}), "gpu is None"),
    "an unknown gpu": (json.dumps(WHOLE | {"gpu": "h201"}), "c.json: gpu: unknown product"),
    "a capability": (json.dumps(WHOLE | {"gpu": "9.0"}), "c.json: gpu: "),
    "empty": (json.dumps(WHOLE | {"memory": [], "compute": []}), "holds no ceiling"),
    "no list": (json.dumps(WHOLE | {"memory": {}}), "c.json: memory: is no list"),
    "no object": (json.dumps(WHOLE | {"compute": [1]}), "c.json: compute: is no list"),
    "level": (json.dumps(WHOLE | {"memory": [{"level": "l3"}]}), "memory[0]: level is 'l3'"),
    "dtype": (json.dumps(WHOLE | {"compute": [BF16 | {"dtype": "fp16"}]}), "dtype is 'fp16'"),
    "cards that are none": (of_cards({"gpu": None}), "holds no ceiling of a product"),
    "cards of another product": (
        json.dumps(json.loads(of_cards({}, {})) | {"gpu": "a100"}),
        "gpu is 'a100', its cards are h200-sxm",
    ),
    "no cards": (json.dumps(WHOLE | {"cards": []}), "holds no ceiling of a product"),
    "no list of cards": (json.dumps(WHOLE | {"cards": {}}), "c.json: cards: is no list"),
    "a broken card": (of_cards({}, {"memory": [{"level": "l3"}]}), "cards[1]: memory[0]: level"),
    "unit": (json.dumps(WHOLE | {"compute": [BF16 | {"unit": ["x"]}]}), "unit is ['x']"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_file_of_ceilings(name):
    text, says = BROKEN[name]
    with pytest.raises(InputError) as error:
        parse(text, "c.json")
    assert says in str(error.value)
    assert error.value.hint


def test_a_card_without_its_product_is_told_what_it_needs():
    card = {key: value for key, value in WHOLE.items() if key not in {"schema", "gpu"}}
    with pytest.raises(InputError) as error:
        parse(json.dumps({"schema": WHOLE["schema"], "gpu": WHOLE["gpu"], "cards": [card]}), "c")
    assert error.value.hint.startswith("each of cards has a gpu")


@pytest.mark.parametrize("value", [0, -1, None, "5", True, float("nan"), float("inf"), 10**400, []])
def test_a_rate_that_is_none(value):
    for change in (
        {"memory": [{"level": "dram", "bytes_per_s": value}]},
        {"compute": [BF16 | {"flop_per_s": value}]},
        *([{"clock_mhz": value}] if value is not None else []),
    ):
        with pytest.raises(InputError, match="is not a positive number"):
            read(**change)


def test_bytes_that_are_no_text():
    with pytest.raises(InputError, match="is no JSON"):
        parse(b"\xff\xfe\x00", "c.json")


def test_every_truncation_is_refused():
    text = json.dumps(WHOLE)
    for length in range(len(text)):
        with pytest.raises(PerfkitError):
            parse(text[:length], "c.json")
