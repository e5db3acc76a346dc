"""A short run of ``tests.fuzz.texts``, which explains the promises."""

from __future__ import annotations

import random

from tests.fuzz import texts


def test_mutated_texts():
    mutated = 0
    for seed, seconds, broken in texts.run(12_000, seed=1_000_000):
        assert broken is None, f"seed {seed}: {broken}"
        assert seconds < texts.MOST_SECONDS, f"seed {seed}"
        mutated += 1
    assert mutated == 12_000


def test_the_mutations_reach_both_ends():
    """Some still have kernels, some have none, some change nothing that matters."""
    outcomes = []
    for seed in range(300):
        data, _ = texts.mutate(random.Random(seed))
        try:
            outcomes.append(len(texts.kernels(data)))
        except texts.InputError:
            outcomes.append(0)
    assert 10 < outcomes.count(0) < 150


def test_a_broken_promise_is_found(monkeypatch):
    original = next(text for text in texts.originals() if b"Used 28 registers" in text)
    assert texts.check(original, original) is None
    changed = original.replace(b"Used 28", b"Used 29").replace(b"used 28", b"used 29")
    assert "registers_per_thread is 29, which no line says" in texts.check(changed, original).why

    def failing(*_args, **_options):
        raise KeyError("bug")

    monkeypatch.setattr(texts, "read_text", failing)
    assert texts.check(original, original).why == "KeyError: 'bug'"
