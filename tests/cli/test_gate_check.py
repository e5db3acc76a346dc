"""``perfkit gate check``: kernels and results told apart, every format, every exit code."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from perfkit.access import require_nvrtc
from perfkit.errors import Unavailable
from perfkit.gate.baseline import entries_of, update
from perfkit.readers.recognise import read_results
from tests.report.schemas import undescribed, validate

DATA = Path(__file__).resolve().parents[1] / "data"
CUBINS = DATA / "cubin"
LOG = DATA / "ptxas" / "b09.log"  # two kernels for sm_89: 255 registers with spills, 96 without
PLAIN = CUBINS / "j03.sm_86.ptxas.txt"  # tile8: 122 registers
BOUNDED = CUBINS / "j03.mb3.sm_86.ptxas.txt"  # 80 registers, 344 + 292 B of spills, a stack of 104
SPACES = CUBINS / "j07.sm_80.cubin"  # three kernels, 8 to 110 registers
TIMES = DATA / "results" / "hyperfine.json"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """No perfkit.yaml of the checkout, no summary of a real CI."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


def results(path: Path, *factors: float, benchmark: str = "axpy") -> Path:
    """Runs of 50 us, times the factors."""
    lines = [f"{benchmark},{i},{50 * factor},us" for i, factor in enumerate(factors)]
    path.write_text("\n".join(["benchmark,run,value,unit", *lines]) + "\n")
    return path


STEADY = (1.0, 1.001, 0.999, 1.002, 0.998, 1.0005)


@pytest.fixture
def base(tmp_path):
    return results(tmp_path / "base.csv", *STEADY)


@pytest.fixture
def slow(tmp_path):
    return results(tmp_path / "slow.csv", *(1.1 * factor for factor in STEADY))


@pytest.fixture
def check(perfkit):
    """Runs the command with rules; gives its JSON, whose exit code agrees."""

    def run(*words, rules=(), code=None):
        arguments = [str(word) for word in words]
        for rule in rules:
            arguments += ["--rule", rule]
        done = perfkit(["gate", "check", *arguments, "-f", "json"])
        assert done.code in {0, 1, 3}, done.err
        content = json.loads(done.out)
        validate("gate", content)
        assert undescribed("gate", content) == []
        assert content["exit_code"] == done.code
        if code is not None:
            assert done.code == code, content
        return content

    return run


def reasons(content):
    return [(v["benchmark"], v["metric"], v["reason"]) for v in content["verdicts"]]


# --- kernels --------------------------------------------------------------------------------------


def test_budgets_of_a_log(check):
    content = check(LOG, rules=["registers<=128", "spills==0"], code=1)
    first, second = (
        "SolverCTA<complex<double>, 32, 64, false>",
        "SolverCTA<complex<float>, 16, 32, false>",
    )
    assert reasons(content) == [
        (first, "registers", "over_limit"),
        (first, "spills", "over_limit"),  # all of them in a function that it calls
        (second, "registers", "within"),
        (second, "spills", "within"),
    ]
    spills = content["verdicts"][1]
    assert (spills["candidate_value"], spills["unit"]) == (4612 + 4596, "B")
    assert spills["static"] == {
        "rule": "spills==0",
        "rule_at": "--rule",
        "arch": "sm_89",
        "gpu": None,
        "symbol": "_Z9SolverCTAI7complexIdELi32ELi64ELb0EEvPT_i",
        "limit": 0,
        "origin": f"{LOG}:2",
        "file": str(LOG),
        "line": 2,
    }
    assert content["summary"] == {"pass": 2, "fail": 2, "inconclusive": 0}


def test_two_builds(check):
    content = check(
        BOUNDED, "-b", PLAIN, rules=["registers<=baseline", "spills<=baseline+636"], code=0
    )
    assert [v["ratio"] for v in content["verdicts"]] == [80 / 122, None]
    content = check(BOUNDED, "-b", PLAIN, rules=["spills<=baseline+635"], code=1)
    assert reasons(content) == [("tile8", "spills", "increased")]


def test_without_rules_nothing_may_get_worse(check, perfkit):
    content = check(BOUNDED, "-b", PLAIN, code=1)
    worse = {v["metric"] for v in content["verdicts"] if v["status"] == "fail"}
    assert worse == {"spill_stores", "spill_loads", "stack"}
    assert check(PLAIN, "-b", PLAIN, code=0)["status"] == "pass"
    assert "nothing may get worse" in perfkit(f"gate check {PLAIN} -b {PLAIN}").err


def test_kernels_of_one_build_alone(check, tmp_path):
    text = LOG.read_text()
    lines = text.splitlines(keepends=True)
    cut = next(i for i, line in enumerate(lines[5:], 5) if "Compiling entry function" in line)
    less = tmp_path / "less.log"
    less.write_text("".join(lines[:cut]))
    rules = ["registers<=baseline"]
    gone = check(less, "-b", LOG, rules=rules, code=3)
    assert [v["reason"] for v in gone["verdicts"]] == ["within", "vanished"]
    came = check(LOG, "-b", less, rules=rules, code=3)
    assert sorted(v["reason"] for v in came["verdicts"]) == ["new", "within"]
    check(less, "-b", LOG, "--allow-vanished", rules=rules, code=0)
    check(LOG, "-b", less, "--allow-new", rules=rules, code=0)
    # not even where what cannot be told is let through
    check(less, "-b", LOG, "--on-inconclusive", "pass", rules=rules, code=3)
    check(less, "-b", LOG, "--on-inconclusive", "fail", rules=rules, code=1)


def test_builds_with_nothing_in_common(check):
    content = check(BOUNDED, "-b", LOG, rules=["registers<=baseline"], code=3)
    assert [v["reason"] for v in content["verdicts"]] == ["nothing_in_common"]


def test_occupancy_and_launches_on_gpus(check):
    content = check(
        SPACES, "-g", "a100,rtx-4090", "--kernel", "anon_k",
        rules=["occupancy>=30%@128 threads", "fits@1024 threads"], code=1,
    )  # fmt: skip
    found = {(v["metric"], v["static"]["gpu"]): v["status"] for v in content["verdicts"]}
    # 110 registers are 112: 4 warps take 14,336 of 65,536; 4 blocks, 16 of 64 warps on 8.0 and of
    # 48 on 8.9; 32 warps would take more registers than there are
    assert found == {
        ("occupancy", "a100-sxm4-80gb"): "fail",
        ("occupancy", "rtx-4090"): "pass",
        ("fits", "a100-sxm4-80gb"): "fail",
        ("fits", "rtx-4090"): "fail",
    }


def test_gpus_that_run_no_code_of_the_file(check, refused):
    content = check(SPACES, rules=["occupancy>=1%@128 threads on h100"], code=3)
    assert {v["reason"] for v in content["verdicts"]} == {"not_known"}
    assert "none that h100-sxm5 runs" in refused(
        ["gate", "check", str(SPACES), "-g", "h100", "--rule", "registers<=255"]
    )


def test_what_a_cubin_does_not_tell(check):
    content = check(SPACES, "--on-inconclusive", "pass", rules=["spills==0"], code=3)
    assert {v["reason"] for v in content["verdicts"]} == {"not_known"}
    assert "a cubin does not record spills" in content["verdicts"][0]["message"]


def test_the_bound_of_work(check):
    rule = "bound<={}us@gemm:4096 f16 on h100"
    check(SPACES, rules=[rule.format(139)], code=0)
    check(SPACES, rules=[rule.format(138)], code=1)


def test_a_source_is_compiled_and_its_lines_are_known(check, monkeypatch, tmp_path):
    try:
        require_nvrtc()
    except Unavailable as error:
        pytest.skip(error.message)
    monkeypatch.setenv("PERFKIT_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "k.cu"
    source.write_text(
        "#ifndef N\n#define N 4\n#endif\n"
        'extern "C" __global__ void fill(float* x) { __shared__ float s[N];\n'
        "s[threadIdx.x] = 1; __syncthreads(); x[0] = s[1]; }\n"
    )
    content = check(source, "-g", "8.0,9.0", "-D", "N=256", rules=["static_shared<=1000"], code=1)
    assert [(v["static"]["arch"], v["static"]["line"]) for v in content["verdicts"]] == [
        ("sm_80", 4),
        ("sm_90", 4),
    ]
    content = check(source, "-g", "9.0,sm_90a", rules=["static_shared<=1000"], code=0)
    assert [v["static"]["arch"] for v in content["verdicts"]] == ["sm_90", "sm_90a"]
    source.write_text(
        source.read_text()
        + "#if __CUDA_ARCH__ >= 900\n"
        + 'extern "C" __global__ void late(float* x) { x[0] = 1; }\n#endif\n'
    )
    content = check(source, "-g", "8.0,9.0", rules=["registers<=99"], code=3)
    assert reasons(content)[-1] == ("late", "registers", "not_known")
    assert "no code that 8.0 runs" in content["verdicts"][-1]["message"]
    Path("perfkit.yaml").write_text("static: {rules: [{arch: sm_90, registers: {max: 99}}]}\n")
    check(source, "-g", "8.0,9.0", code=0)  # nobody asks for it on 8.0
    Path("perfkit.yaml").unlink()
    built = tmp_path / "built.json"
    from perfkit.cli.app import main

    assert main(["inspect", str(source), "-g", "8.0", "-f", "json", "-o", str(built)]) == 0
    # no GPU is named: it is compiled for what the baseline is
    content = check(source, "-b", built, rules=["static_shared<=baseline"], code=0)
    assert [v["static"]["arch"] for v in content["verdicts"]] == ["sm_80"]


def test_a_library_that_was_read_in_part(check, tmp_path):
    folder = tmp_path / "build"
    folder.mkdir()
    shutil.copy(SPACES, folder / "whole.cubin")
    (folder / "cut.cubin").write_bytes(SPACES.read_bytes()[:900])
    content = check(folder, rules=["registers<=255"], code=3)
    assert content["verdicts"][-1]["reason"] == "not_read"


def test_sources_of_a_folder_are_no_results(refused, tmp_path):
    (tmp_path / "k.cu").write_text("void host() {\n  int x = 1;\n}\n")
    said = refused(["gate", "check", str(tmp_path), "-g", "a100", "--rule", "registers<=255"])
    assert "sources are not compiled from directories" in said
    assert "JSON" not in said


# --- results --------------------------------------------------------------------------------------


def test_timings(check, base, slow, tmp_path):
    assert reasons(check(base, "-b", results(tmp_path / "b.csv", *STEADY), code=0)) == [
        ("axpy", "time", "within")
    ]
    content = check("--candidate", slow, "--baseline", base, "--threshold", "3%", code=1)
    (verdict,) = content["verdicts"]
    assert verdict["reason"] == "worse"
    assert verdict["interval"][0] < verdict["ratio"] < verdict["interval"][1]
    assert verdict["ratio"] == pytest.approx(1.1, rel=1e-3)
    assert verdict["static"] is None


def test_several_files_are_runs_of_one_side(check, tmp_path):
    sides = {"old": 1.0, "new": 1.1}
    files = {
        side: [results(tmp_path / f"{side}{i}.csv", factor * one) for i, one in enumerate(STEADY)]
        for side, factor in sides.items()
    }
    more = [word for path in files["old"] for word in ("-b", path)]
    (verdict,) = check(*files["new"], *more, code=1)["verdicts"]
    assert (verdict["baseline_runs"], verdict["candidate_runs"]) == (6, 6)
    folders = []
    for side, paths in files.items():
        folder = tmp_path / side
        folder.mkdir()
        for path in paths:
            path.rename(folder / path.name)
        folders.append(folder)
    (verdict,) = check(folders[1], "-b", folders[0], code=1)["verdicts"]
    assert (verdict["baseline_runs"], verdict["candidate_runs"]) == (6, 6)


def test_a_recorded_baseline_brings_its_noise_floor(check, refused, base, slow, tmp_path):
    recorded = tmp_path / "perfkit-baseline.json"
    update(recorded, entries_of(read_results(base), {}))
    check(slow, "-b", recorded, code=1)
    check(base, "-b", recorded, code=0)
    lone = results(tmp_path / "lone.csv", 1.1)  # one run against what is known of their scatter
    assert reasons(check(lone, "-b", recorded, code=1)) == [("axpy", "time", "worse")]
    text = refused(["gate", "check", str(slow), "-b", str(recorded), "--threshold", "0.01%"])
    assert "under the noise floor" in text


def test_what_cannot_be_told(check, tmp_path):
    one = results(tmp_path / "one.csv", 1.0)
    two = results(tmp_path / "two.csv", 1.0)
    assert reasons(check(two, "-b", one, code=3)) == [("axpy", "time", "single_run")]
    check(two, "-b", one, "--on-inconclusive", "pass", code=0)
    check(two, "-b", one, "--on-inconclusive", "fail", code=1)
    gone = results(tmp_path / "gone.csv", *STEADY, benchmark="other")
    content = check(gone, "-b", one, "--on-inconclusive", "pass", code=3)
    assert {v["reason"] for v in content["verdicts"]} == {"new", "vanished"}


# --- both -----------------------------------------------------------------------------------------


def test_kernels_and_results_in_one_run(check, base, slow):
    content = check(SPACES, slow, "-b", base, rules=["registers<=255"], code=1)
    assert content["summary"] == {"pass": 3, "fail": 1, "inconclusive": 0}
    content = check(LOG, base, "-b", LOG, "-b", results(Path("b.csv"), *STEADY), code=0)
    assert {v["static"] is None for v in content["verdicts"]} == {True, False}


POLICY = """\
timing:
  threshold: 20%
static:
  rules:
    - registers: {max: 255}
    - kernel: "complex<float>"
      arch: ada
      registers: {max: 64}
"""


def test_a_policy_file(check, perfkit, base, slow):
    Path("gate.yaml").write_text(POLICY)
    content = check(LOG, slow, "-b", base, "--policy", "gate.yaml", code=1)
    assert [(v["status"], v["static"] and v["static"]["rule_at"]) for v in content["verdicts"]] == [
        ("pass", "gate.yaml:5"),
        ("fail", "gate.yaml:8"),
        ("pass", None),  # 10 % slower, and 20 % are allowed
    ]
    Path("gate.yaml").rename("perfkit.yaml")
    check(LOG, slow, "-b", base, code=1)  # found where it lies
    assert "perfkit.yaml" in perfkit(f"gate check {LOG}").err
    # what is typed comes later, and the last one holds
    check(LOG, rules=["registers<=255"], code=0)
    check(slow, "-b", base, "--threshold", "3%", code=1)


# --- formats --------------------------------------------------------------------------------------


def test_the_table_begins_with_the_answer(perfkit):
    done = perfkit(["gate", "check", str(LOG), "--rule", "registers<=128"])
    assert done.code == 1
    lines = done.out.splitlines()
    assert lines[0] == "FAIL: 1 fail, 1 pass"
    assert lines[4].startswith("FAIL ")
    assert lines[5].startswith("pass ")


def test_csv_and_markdown(perfkit):
    line = ["gate", "check", str(LOG), "--rule", "registers<=128"]
    rows = list(csv.DictReader(io.StringIO(perfkit([*line, "-f", "csv"]).out)))
    assert [(row["status"], row["candidate_value"], row["limit"]) for row in rows] == [
        ("fail", "255", "128"),
        ("pass", "96", "128"),
    ]
    assert perfkit([*line, "-f", "markdown"]).out.startswith("**FAIL: 1 fail, 1 pass**\n")


def test_junit_and_sarif(perfkit, tmp_path):
    line = ["gate", "check", str(LOG), "--rule", "registers<=128"]
    done = perfkit([*line, "-f", "junit", "-o", "gate.xml"])
    assert (done.code, done.out) == (1, "")
    assert "FAIL: 1 fail, 1 pass" in done.err
    assert ET.parse("gate.xml").getroot().get("failures") == "1"
    done = perfkit([*line, "-f", "sarif"])
    (result,) = json.loads(done.out)["runs"][0]["results"]
    assert result["ruleId"] == "static/registers"
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 2}


def test_github(perfkit, monkeypatch, tmp_path):
    summary = tmp_path / "summary.md"
    summary.write_text("earlier\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    line = ["gate", "check", str(LOG), "--rule", "registers<=128", "--rule", "fits", "--github"]
    done = perfkit([*line, "-f", "json"])
    json.loads(done.out)  # the data stay alone on stdout
    commands = re.findall(r"^::(\w+) file=([^,]*),line=(\d+),", done.err, re.MULTILINE)
    assert commands == [
        ("error", str(LOG), "2"),
        ("warning", str(LOG), "2"),
        ("warning", str(LOG), "11"),
    ]
    text = summary.read_text()
    assert text.startswith("earlier\n### perfkit gate\n\n**FAIL: 1 fail")
    assert "| FAIL | SolverCTA\\<complex\\<double\\>" in text
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    assert "GITHUB_STEP_SUMMARY is not set" in perfkit(line).err
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    assert perfkit(line).code == 2


# --- refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("gate check", "nothing to judge"),
        ("gate check nowhere.cubin --rule registers<=1", "nowhere.cubin: cannot be read"),
        (f"gate check {LOG}", "no rule: nothing would be checked"),
        (f"gate check {LOG} {LOG} --rule registers<=1", "named twice"),
        (f"gate check {LOG} --rule registers=1", "is not a rule"),
        (f"gate check {LOG} --rule regs<=1 --rule registers<=2", "two --rule set the same limit"),
        (f"gate check {LOG} --rule registers<=1 --threshold 3%", "--threshold is about results"),
        (f"gate check {LOG} --rule registers<=1 --policy nowhere.yaml", "nowhere.yaml"),
        (f"gate check {LOG} --rule registers<=1 --kernel nothing", "no kernel matches"),
        (f"gate check {LOG} --rule registers<=1 -D X", "is compiled already"),
        (f"gate check {TIMES} -b {TIMES} --kernel x", "--kernel is about the kernels of a file"),
        (f"gate check {LOG} --rule registers<=1 -f xml", "'xml'"),
        (f"gate check {LOG} --rule registers<=1 --on-inconclusive maybe", "'maybe'"),
        (f"gate check {CUBINS / 'README.md'} --rule registers<=1", "README.md"),
        (f"gate check {CUBINS / 'j07.cu'} --rule registers<=1", "no GPU given"),
        (f"gate check {SPACES} --rule registers<=1 -b {TIMES}",
         "the baseline holds results, and no candidate does"),
        (f"gate check {TIMES}", "need a baseline"),
        (f"gate check {TIMES} -b {LOG}", "the baseline holds kernels"),
        (f"gate check {TIMES} -b {TIMES} --rule registers<=1", "--rule is about kernels"),
        (f"gate check {TIMES} -b {TIMES} --threshold 300", "--threshold '300' is more than 100%"),
        (f"gate check {DATA}/results/d02.malformed.nvbench.json -b {LOG}", "d02.malformed"),
        ("gate check . --rule registers<=1", ""),
        ("gate", "check"),
    ],
)  # fmt: skip
def test_what_is_refused(refused, line, says):
    assert says in refused(line)


def test_a_broken_file_of_results_is_named_as_one(refused):
    Path("broken.json").write_text('{"benchmarks": [\n{"name": "a",}]}')
    assert "broken.json:2" in refused("gate check broken.json -b broken.json --rule registers<=1")


def test_an_empty_policy_and_a_wrong_one(refused):
    Path("perfkit.yaml").write_text("static:\n  rules:\n    - registers: {max: lots}\n")
    assert "perfkit.yaml:3" in refused(f"gate check {LOG}")


def test_one_file_by_two_names_is_no_second_run(perfkit, base, slow, tmp_path):
    (tmp_path / "folder").mkdir()
    inside = results(tmp_path / "folder" / "run.csv", 1.0)
    (tmp_path / "link.csv").symlink_to(inside)
    for names in (
        (inside, inside.parent / ".." / "folder" / "run.csv"),
        (inside, tmp_path / "link.csv"),
        (inside, inside.parent),
        (inside.parent, inside),
        (inside.parent, tmp_path / "link.csv"),
        (inside, inside),
    ):
        done = perfkit(["gate", "check", *map(str, names), "-b", str(base)])
        assert (done.code, "is named twice" in done.err) == (2, True), names
        done = perfkit(["gate", "check", str(base), *(f"-b{name}" for name in names)])
        assert (done.code, "is named twice" in done.err) == (2, True), names


def test_timings_of_another_gpu_are_compared_only_if_that_is_asked_for(perfkit, tmp_path):
    for gpu in ("H100", "H200"):
        runs = [{"samples_s": [1e-3 + i * 1e-7]} for i in range(8)]
        one = {"name": "axpy", "sizes": {}, "runs": runs}
        device = {"environment": {"device": gpu}, "measurements": [one]}
        document = {"schema": "perfkit.measure/1", "devices": [device]}
        (tmp_path / f"{gpu}.json").write_text(json.dumps(document))
    words = ["gate", "check", str(tmp_path / "H200.json"), "-b", str(tmp_path / "H100.json")]
    done = perfkit(words)
    assert done.code == 3
    assert "H100" in done.out
    assert perfkit([*words, "--allow-mismatch"]).code == 0


def test_a_file_on_both_sides_is_said(perfkit, base, slow):
    said = "is on both sides: it is compared with itself"
    assert said in perfkit(["gate", "check", str(base), "-b", str(base)]).err
    assert said in perfkit(["gate", "check", str(base), "-b", str(base.parent)]).err
    assert said in perfkit(["gate", "check", str(LOG), "-b", str(LOG)]).err
    assert said not in perfkit(["gate", "check", str(slow), "-b", str(base)]).err


def test_a_rule_for_timings_that_is_about_nothing_is_said(perfkit, base, slow, tmp_path):
    policy = tmp_path / "p.yaml"
    policy.write_text("timing:\n  rules:\n    - {benchmark: axpi, threshold: 1%}\n")
    words = ["gate", "check", str(slow), "-b", str(base), "--policy", str(policy)]
    assert "no benchmark matches 'axpi'" in perfkit(words).err
    policy.write_text("timing:\n  rules:\n    - {benchmark: axp, threshold: 1%}\n")
    assert "no benchmark matches" not in perfkit(words).err


def test_that_neither_side_says_where_it_was_measured_is_said_once(perfkit, base, slow):
    said = "neither side says on which GPU it was measured"
    assert perfkit(["gate", "check", str(slow), "-b", str(base)]).err.count(said) == 1
    nvbench = str(next((DATA / "results").glob("nvbench*.json")))
    assert said not in perfkit(["gate", "check", nvbench, "-b", nvbench]).err


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("new.csv", "name,time\naxpy,50\n", "new.csv: no known kind of results"),
        ("new.json", "{}", "no results that are known"),
        ("new.xml", "<a/>", "new.xml: "),
        ("new.csv", "", "new.csv: is empty"),
        ("new.log", "\n", "new.log: is empty"),
        ("new.log", "nothing of interest\n", "new.log: no kernel in 1 line"),
    ],
)
def test_what_is_neither_is_refused_as_what_it_is_named(
    refused, base, tmp_path, name, text, message
):
    (tmp_path / name).write_text(text)
    assert message in refused(["gate", "check", name, "-b", str(base)])


def test_what_is_said_of_single_runs_can_be_followed(perfkit, tmp_path):
    sides = []
    for name, value in (("old", 100), ("new", 120)):
        path = tmp_path / f"{name}.csv"
        path.write_text(f"benchmark,value,unit\nk,{value},us\n", "utf-8")
        sides.append(str(path))
    line = ["gate", "check", sides[1], "-b", sides[0], "-f", "json"]
    done = perfkit(line)
    (found,) = json.loads(done.out)["verdicts"]
    assert done.code == 3
    step = found["next_step"]
    policy = tmp_path / "perfkit.yaml"
    policy.write_text(step[step.index("'") + 1 : step.rindex("'")], "utf-8")
    done = perfkit([*line, "--policy", str(policy)])
    assert done.code == 1
    assert json.loads(done.out)["verdicts"][0]["status"] == "fail"
