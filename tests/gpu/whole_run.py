"""Everything that perfkit claims about a card, in one run.

    python tests/gpu/whole_run.py FOLDER

runs ``perfkit ceilings`` beside PyTorch, ``perfkit measure`` on the whole library with these
ceilings, products beside PyTorch, ``perfkit gemm --measure`` and last ``perfkit validate``, which
has reports of its own; keeps every document, and writes ``report.md`` after each part: each figure
beside what it should be, and how long everything took. Exits 1 if one is not reached. What
``seconds.json`` names is there and is not made again: a run that was ended goes on. Takes some
seven minutes on an H200, half of them for ``validate``; needs PyTorch.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
REPEATED = ("copy", "vector_add", "matmul_tiled")
SIZES = (4096, 8192)
#: PyTorch's products and the library's alike, and the roofs of tensor cores: launch after launch
#: they draw all the power there is, and how fast they are then says how long it has been going on
#: (501 to 560 TFLOP/s)
REST = ("--rest", "0.1")
BURSTS = ("--runs", "2", "--samples", "9", *REST)
#: shorter ones for many: a launch of 2 ms and the one before it are a tenth of the time
TRIED = ("--tries", "12", "--runs", "2", "--rest", "0.05")
REGRETS = {"median regret": "2%", "worst regret": "10%", "worst regret with --measure": "2%"}
PRODUCTS = ("gemm_wgmma_bf16", "gemm_mma_tma_bf16")
#: checks of ``perfkit validate``, in two turns: one that is ended leaves the other
CHECKS = {
    "validate": (
        *("attributes", "driver-occupancy", "block-size", "available-shared", "clusters", "fits"),
        *("access-timing", "overlap", "latency-hiding", "bounds", "recommendation"),
    ),
    "validate-counted": ("residency", "shared-capacity", "access-counters"),
}

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
        self._times = folder / "seconds.json"
        #: what is done, and how long it took
        self.seconds: dict[str, float] = read(self._times) if self._times.exists() else {}

    def made(self, name: str, *command: str) -> Document:
        """``name.json``, which a command of Python writes into the folder; also where its exit
        code says that something is off."""
        path = self.folder / f"{name}.json"
        if name not in self.seconds or not path.exists():
            path.unlink(missing_ok=True)
            began = time.monotonic()
            # in the folder, by names of it: documents keep the command, and no place of the machine
            done = subprocess.run(
                [sys.executable, *command],
                check=False,
                cwd=self.folder,
                env=SEEN,
                stderr=subprocess.PIPE,
                text=True,
            )
            if not path.exists() or done.returncode in {130, 143} or done.returncode < 0:
                print(done.stderr, file=sys.stderr)
                raise NotRun(f"{' '.join(command)}: exit code {done.returncode}")
            self.seconds[name] = round(time.monotonic() - began, 1)
            self._times.write_text(json.dumps(self.seconds, indent=1) + "\n")
            print(f"{name}: {self.seconds[name]:.0f} s", flush=True)
        return read(path)

    def perfkit(self, name: str, *arguments: str) -> Document:
        """What a command of perfkit answers."""
        return self.made(name, "-m", "perfkit", *arguments, "-f", "json", "-o", f"{name}.json")

    def measured(self, name: str, *arguments: str) -> dict[str, Document]:
        """Measurements of the first card by name of the kernel."""
        document = self.perfkit(name, "measure", *arguments)
        return {one["name"]: one for one in document["devices"][0]["measurements"]}

    def document(self, name: str) -> Document:
        """One that an earlier part has made."""
        path = self.folder / f"{name}.json"
        if not path.exists():
            raise NotRun(f"without {path.name} there is nothing to compare with")
        return read(path)


def median_s(found: dict[str, Document]) -> float:
    """Of one that gave a result, and none that is wrong."""
    (one,) = found.values()
    if one["median_s"] is None or not all(check["right"] for check in one["checks"]):
        why = (one["failure"] or {}).get("message", "a wrong result")
        raise NotRun(f"{one['name']}: {why}")
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


def beside_torch(run: Run) -> Iterator[Figure]:
    """The ceilings, and how many of them PyTorch beats."""
    document = run.made("torch", str(ROOT / "tests/gpu/ceilings_against_torch.py"), ".")
    highest = max(document["figures"], key=lambda one: float(one["share"]))
    yield Figure(
        f"PyTorch beside {len(document['figures'])} ceilings: highest share",
        f"{highest['share']:.1%} ({highest['what']})",
        "100%",
        highest["share"] <= 1,
    )


def kernels(run: Run) -> Iterator[Figure]:
    """The whole library, with these ceilings."""
    ceilings = run.document("ceilings")
    measured = run.measured("measure", "all", "--ceilings", "ceilings.json", *REST)
    yield from roofs(ceilings)
    yield from bounds(measured.values())
    yield from repeated(measured)


def products(run: Run) -> Iterator[Figure]:
    """Generated products beside PyTorch's, timed alike."""
    roof = mma_roof(run.document("ceilings"))
    for size in SIZES:
        flops = 2 * size**3
        module = f"torch_products:bf16_{size}"
        sizes = f"m={size},n={size},k={size}"
        options = ("--flops", f"{flops}", *BURSTS)
        torch_s = median_s(run.measured(f"torch-{size}", "--python", module, *options))
        found = run.measured(f"products-{size}", *PRODUCTS, "--size", sizes, *BURSTS)
        wgmma, mma = (flops / median_s({name: found[name]}) for name in PRODUCTS)
        share = wgmma * torch_s / flops
        beside = (
            f"{wgmma / 1e12:.0f} TFLOP/s, {share:.1%} of PyTorch's {flops / torch_s / 1e12:.0f}"
        )
        yield Figure(f"wgmma bf16, {size}³", beside, "75%", share >= 0.75)
        share = mma / roof
        beside = f"{mma / 1e12:.0f} TFLOP/s, {share:.1%} of the roof of {roof / 1e12:.0f}"
        yield Figure(f"mma.sync bf16, {size}³", beside, "85%", share >= 0.85)


def tilings(run: Run) -> Iterator[Figure]:
    """The model's favourites among all that were tried."""
    for size in SIZES:
        options = ("--shape", f"{size}", "--dtype", "bf16", "--measure", *TRIED)
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
    for name, checks in CHECKS.items():
        document = run.perfkit(name, "validate", "--only", ",".join(checks), "--save", name)
        for check in document["cards"][0]["checks"]:
            value = f"{check['compared']:,} compared, {check['differing']:,} differ"
            passes = check["status"] == "pass"
            yield Figure(f"validate: {check['name']}", value, "0 differ", passes)
            if check["name"] == "recommendation":
                yield from regrets(check["figures"])


def regrets(figures: Document) -> Iterator[Figure]:
    """Of the recommended block sizes."""
    for what, asked in REGRETS.items():
        found = figures[what]
        reached = float(found.rstrip("%")) <= float(asked.rstrip("%"))
        yield Figure(f"recommend: {what}", found, asked, reached)


PARTS: tuple[Callable[[Run], Iterator[Figure]], ...] = (
    *(beside_torch, kernels, products, tilings, validated),
)


def report(run: Run, figures: list[Figure]) -> str:
    """What is known by now, as a page; kept in the folder."""
    try:
        device = run.document("measure")["devices"][0]
        ceilings = run.document("ceilings")["environment"]["date"]
    except NotRun as reason:
        return f"no report: {reason}"
    about = device["environment"] | {"ceilings": ceilings}
    text = "\n".join(lines(about, figures, device["measurements"], run.seconds))
    (run.folder / "report.md").write_text(text + "\n")
    return text


def lines(
    environment: Document,
    figures: list[Figure],
    measured: list[Document],
    seconds: dict[str, float],
) -> Iterator[str]:
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
    yield (
        f"{sum(seconds.values()):.0f} seconds: "
        + ", ".join(f"{name} {taken:.0f}" for name, taken in seconds.items())
        + "."
    )
    yield ""
    yield "| figure | found | asked | |"
    yield "|---|---|---|---|"
    for one in figures:
        yield f"| {one.what} | {one.value} | {one.asked} | {'' if one.reached else '**short**'} |"
    yield ""
    yield from table(measured)


def main(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    run = Run(folder)
    figures: list[Figure] = []
    text = ""
    for part in PARTS:
        try:
            figures += part(run)
        except NotRun as reason:
            figures.append(Figure(str(reason), "not run", "-", reached=False))
        text = report(run, figures)
    print(text)
    return 0 if all(one.reached for one in figures) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
