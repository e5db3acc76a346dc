"""Everything that perfkit claims about a card, in one run.

    python tests/gpu/whole_run.py FOLDER

runs ``perfkit ceilings`` beside PyTorch, ``perfkit measure`` on the whole library with these
ceilings, products beside PyTorch, ``perfkit validate`` and ``perfkit gemm --measure``; keeps every
document and writes ``report.md``: each figure beside what it should be. Exits 1 if one is not
reached. A document that is there already is not made again, so a run that was ended goes on. Takes
about nine minutes on an H200; needs PyTorch.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
REPEATED = ("copy", "vector_add", "matmul_tiled")
SIZES = (4096, 8192)
#: so that what follows a rest does not run into the power limit
SHORT = ("--runs", "2", "--samples", "10")
REGRETS = {"median regret": "2%", "worst regret": "10%", "worst regret with --measure": "2%"}
PRODUCTS = ("gemm_wgmma_bf16", "gemm_mma_tma_bf16")

#: perfkit, and the module with PyTorch's products
SEEN = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "tests" / "gpu")))}

Document = dict[str, Any]


class Figure(NamedTuple):
    """One line of the report."""

    what: str
    value: str
    asked: str
    reached: bool


class NotRun(Exception):
    """A command that gave no document."""


def read(path: Path) -> Document:
    found: Document = json.loads(path.read_text())
    return found


class Run:
    """Documents of the commands, kept in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def perfkit(self, name: str, *arguments: str) -> Document:
        """What a command answers as JSON; also where its exit code says that something is off."""
        path = self.folder / f"{name}.json"
        if path.exists():
            return read(path)
        # in the folder, by names of it: documents keep the command, and no place of this machine
        command = [sys.executable, "-m", "perfkit", *arguments, "-f", "json", "-o", path.name]
        done = subprocess.run(
            command, check=False, cwd=self.folder, env=SEEN, stderr=subprocess.PIPE, text=True
        )
        if not path.exists():
            print(done.stderr, file=sys.stderr)
            raise NotRun(f"perfkit {' '.join(arguments)}: exit code {done.returncode}")
        return read(path)

    def measured(self, name: str, *arguments: str) -> dict[str, Document]:
        """Measurements of the first card by name of the kernel."""
        document = self.perfkit(name, "measure", *arguments)
        return {one["name"]: one for one in document["devices"][0]["measurements"]}


def median_s(found: dict[str, Document]) -> float:
    (one,) = found.values()
    return float(one["median_s"])


def _ratio(one: Document, key: str) -> str:
    return "-" if one[key] is None else f"{one[key]:.3f}"


def table(measured: Iterable[Document]) -> Iterator[str]:
    """Every kernel: time, its interval, and what it should take."""
    yield "| kernel | us | +- % | bound by | over bound | over expected | result |"
    yield "|---|---:|---:|---|---:|---:|---|"
    for one in measured:
        if one["median_s"] is None:
            yield f"| {one['name']} | failed | | | | | |"
            continue
        low, high = one["interval_s"] or (one["median_s"],) * 2
        half = (high - low) / 2 / one["median_s"]
        bound_by = ", ".join((one["prediction"] or {}).get("bound_by", []))
        right = "right" if all(check["right"] for check in one["checks"]) else "wrong"
        right = right if one["is_checked"] else "unchecked"
        time = f"{one['median_s'] * 1e6:,.1f} | {half:.2%}"
        ratios = f"{_ratio(one, 'ratio')} | {_ratio(one, 'ratio_expected')}"
        yield f"| {one['name']} | {time} | {bound_by} | {ratios} | {right} |"


def bounds(measured: Iterable[Document]) -> Iterator[Figure]:
    """Nothing beats its bound; what should be close to its prediction is."""
    known = [one for one in measured if one["ratio"] and one["ratio_expected"]]
    least = min(known, key=lambda one: one["ratio"])
    yield Figure(
        f"lowest measured over bound of {len(known)}",
        f"{least['ratio']:.3f} ({least['name']})",
        "no less than 0.99",
        least["ratio"] >= 0.99,
    )
    dram = [one for one in known if one["prediction"]["bound_by"] == ["dram"]]
    for what, some, limit in (
        ("kernels that DRAM limits", dram, 0.10),
        ("tiled matmul", [one for one in known if one["name"] == "matmul_tiled"], 0.25),
        ("tensor GEMM", [one for one in known if one["name"].startswith("gemm_")], 0.25),
    ):
        if some:
            one = max(some, key=lambda one: abs(one["ratio_expected"] - 1))
            off = one["ratio_expected"] - 1
            value = f"{off:+.1%} ({one['name']}, of {len(some)})"
            reached = abs(off) <= limit
            yield Figure(f"{what}: furthest from expected", value, f"{limit:.0%}", reached)


def repeated(measured: dict[str, Document]) -> Iterator[Figure]:
    """The same kernel in one process after the other."""
    for name in REPEATED:
        found = [run["median_s"] for run in measured[name]["runs"]]
        apart = max(found) / min(found) - 1
        what = f"{name} in {len(found)} processes: apart by"
        yield Figure(what, f"{apart:.2%}", "less than 0.5%", apart < 0.005)


def roofs(document: Document) -> Iterator[Figure]:
    """Arithmetic and shared memory against the data sheet, at the clock that was held."""
    asked = {"f32 FMA": "the data sheet", "shared read": "128 bytes per clock and SM"}
    for one in (*document["compute"], *document["memory"]):
        if (of := asked.get(one["what"])) is not None:
            share = one["share_at_clock"]
            what = f"{one['what']}, of {of} at the clock held"
            yield Figure(what, f"{share:.1%}", "95%", share >= 0.95)


def mma_roof(document: Document) -> float:
    """The best rate of ``mma.sync`` on bf16."""
    return max(
        one["flop_per_s"]
        for one in document["compute"]
        if one["what"].startswith("bf16/f32 mma.sync")
    )


def products(run: Run, roof: float) -> Iterator[Figure]:
    """Generated products beside PyTorch's, timed alike."""
    for size in SIZES:
        flops = 2 * size**3
        module = f"torch_products:bf16_{size}"
        sizes = f"m={size},n={size},k={size}"
        options = ("--flops", f"{flops}", *SHORT)
        torch_s = median_s(run.measured(f"torch-{size}", "--python", module, *options))
        found = run.measured(f"products-{size}", *PRODUCTS, "--size", sizes, *SHORT)
        wgmma, mma = (flops / found[name]["median_s"] for name in PRODUCTS)
        share = wgmma * torch_s / flops
        beside = (
            f"{wgmma / 1e12:.0f} TFLOP/s, {share:.1%} of PyTorch's {flops / torch_s / 1e12:.0f}"
        )
        yield Figure(f"wgmma bf16, {size}³", beside, "75%", share >= 0.75)
        share = mma / roof
        beside = f"{mma / 1e12:.0f} TFLOP/s, {share:.1%} of the roof of {roof / 1e12:.0f}"
        yield Figure(f"mma.sync bf16, {size}³", beside, "85%", share >= 0.85)
    flops = 2 * 4096**3
    module = "torch_products:f32_4096"
    torch_s = median_s(run.measured("torch-f32", "--python", module, "--flops", f"{flops}", *SHORT))
    yield Figure(
        "f32 by PyTorch, 4096³", f"{flops / torch_s / 1e12:.1f} TFLOP/s", "-", reached=True
    )


def tilings(run: Run) -> Iterator[Figure]:
    """The model's favourites among all that were tried."""
    for size in SIZES:
        options = f"--shape {size} --dtype bf16 --measure --tries 12".split()
        document = run.perfkit(f"tilings-{size}", "gemm", "-g", "device", *options)
        timed = [one for one in document["results"] if one["time_s"]]
        best = min(one["time_s"] for one in timed)
        top = min(one["time_s"] for one in timed if one["place"] <= 5) / best - 1
        what = f"tilings of bf16 {size}³, {len(timed)} tried"
        yield Figure(f"{what}: best of the model's top 5", f"+{top:.1%}", "5%", top <= 0.05)
        chosen = document["regret_chosen"]
        yield Figure(f"{what}: regret of the chosen one", f"{chosen:.1%}", "2%", chosen <= 0.02)


def validated(run: Run) -> Iterator[Figure]:
    """The checks of ``perfkit validate``."""
    document = run.perfkit("validate", "validate", "--save", "validate")
    for check in document["cards"][0]["checks"]:
        value = f"{check['compared']:,} compared, {check['differing']:,} differ"
        yield Figure(f"validate: {check['name']}", value, "0 differ", check["status"] == "pass")
        if check["name"] == "recommendation":
            for what, asked in REGRETS.items():
                found = check["figures"][what]
                reached = float(found.rstrip("%")) <= float(asked.rstrip("%"))
                yield Figure(f"recommend: {what}", found, asked, reached)


def lines(environment: Document, figures: list[Figure], measured: list[Document]) -> Iterator[str]:
    clocks = [one["sm_clock_hz"] for one in measured if one["sm_clock_hz"]]
    packages = ", ".join(f"{name} {version}" for name, version in environment["packages"].items())
    yield f"# All of perfkit on one {environment['device']}, {environment['date'][:10]}"
    yield ""
    yield (
        f"Driver {environment['driver']}, CUDA {environment['cuda']}, NVRTC "
        f"{environment['toolkit']}, Python {environment['python']}, {packages}; clocks as found, "
        f"{min(clocks) / 1e6:,.0f} to {max(clocks) / 1e6:,.0f} MHz while kernels ran, median "
        f"{statistics.median(clocks) / 1e6:,.0f}. Began {environment['date'][11:16]} UTC, ceilings "
        f"of {environment['ceilings'][11:16]}. Written by `tests/gpu/whole_run.py`."
    )
    yield ""
    yield "| figure | found | asked | |"
    yield "|---|---|---|---|"
    for one in figures:
        yield f"| {one.what} | {one.value} | {one.asked} | {'' if one.reached else '**short**'} |"
    yield ""
    yield from table(measured)


def beside_torch(folder: Path) -> Figure:
    """The ceilings, and how many of them PyTorch beats."""
    path = folder / "ceilings.json"
    if not (folder / "ceilings.md").exists():
        program = str(ROOT / "tests/gpu/ceilings_against_torch.py")
        subprocess.run([sys.executable, program, str(folder)], check=False, cwd=ROOT)
    if not path.exists():
        raise SystemExit("no ceilings, see above")
    rows = (folder / "ceilings.md").read_text().splitlines()
    shares = [float(row.split("|")[-2].rstrip(" %")) for row in rows if row.endswith("% |")]
    highest = max(shares)
    what = f"PyTorch beside {len(shares)} ceilings: highest share"
    return Figure(what, f"{highest:.1f}%", "100%", highest <= 100)


def main(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    run = Run(folder)
    figures = [beside_torch(folder)]
    path = folder / "ceilings.json"
    ceilings = read(path)
    measured = run.measured("measure", "all", "--ceilings", path.name)
    figures += [*roofs(ceilings), *bounds(measured.values()), *repeated(measured)]
    for part in (validated(run), products(run, mma_roof(ceilings)), tilings(run)):
        try:
            figures += part
        except NotRun as reason:
            figures.append(Figure(str(reason), "not run", "-", reached=False))
    about = read(folder / "measure.json")["devices"][0]["environment"]
    about["ceilings"] = ceilings["environment"]["date"]
    text = "\n".join(lines(about, figures, [*measured.values()]))
    (folder / "report.md").write_text(text + "\n")
    print(text)
    return 0 if all(one.reached for one in figures) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
