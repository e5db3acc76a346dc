"""Did the change make it worse? Pure: results in, verdicts out.

>>> from perfkit.readers.results import Run, Unit
>>> def runs(*times_us):
...     return [Run(benchmark="axpy", values=(t * 1e-6,), unit=Unit.SECONDS) for t in times_us]
>>> [verdict] = compare(runs(50.1, 49.9, 50.0, 50.2, 49.8), runs(53.0, 52.8, 53.1, 52.9, 53.2))
>>> verdict.status, verdict.message
(<Status.FAIL: 'fail'>, '6% slower (+5.4% to +6.6%): surely more than 0.5% slower')
"""

from perfkit.gate.change import Noise
from perfkit.gate.policy import PRESETS, Policy, Rule, preset
from perfkit.gate.timing import compare
from perfkit.gate.verdict import Outcome, Reason, Status, Verdict, outcome

__all__ = [
    "PRESETS",
    "Noise",
    "Outcome",
    "Policy",
    "Reason",
    "Rule",
    "Status",
    "Verdict",
    "compare",
    "outcome",
    "preset",
]
