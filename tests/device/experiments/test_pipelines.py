"""What pipelines are timed with, on a card whose copies take what their bytes take."""

from __future__ import annotations

import pytest

from perfkit.device.experiments import pipelines
from perfkit.models.engines import Plan
from tests.device.fake_card import COPY_BYTES_PER_S, FakeCard, FakeFunction

SMALL = 1 << 16


class Card(FakeCard):
    """One whose streams wait for each other where the host waits for the card."""

    def stream(self):
        self.streams = [*getattr(self, "streams", []), super().stream()]
        return self.streams[-1]

    def wait(self):
        super().wait()
        now = max(stream.free_at for stream in self.streams)
        for stream in self.streams:
            stream.free_at = now


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.setattr(pipelines, "WHOLE", 4 * SMALL)
    monkeypatch.setattr(pipelines, "_LINK", SMALL)
    monkeypatch.setattr(pipelines, "build", lambda *_: (FakeFunction("hold"),))
    card = Card(kernels={"hold": lambda *_: None}, cost=lambda *_: 0.0)
    return pipelines.Bench(card, streams=4, repeats=3)


def test_the_link_is_as_fast_as_copies_are(bench):
    found = pipelines.link(bench, pipelines.Costs(0.0, 0.0, 0.0))
    assert found.h2d_bytes_per_s == pytest.approx(COPY_BYTES_PER_S)
    assert found.d2h_bytes_per_s == pytest.approx(COPY_BYTES_PER_S)
    assert found.duplex_share == pytest.approx(1.0)


def test_what_copies_take_beside_their_bytes_is_taken_off(bench):
    found = pipelines.link(bench, pipelines.Costs(SMALL / COPY_BYTES_PER_S / 2, 0.0, 0.0))
    assert found.h2d_bytes_per_s == pytest.approx(2 * COPY_BYTES_PER_S)


def test_links_are_alike_within_a_twentieth():
    link = pipelines.Link(50e9, 50e9, 0.9)
    assert link.is_like(link._replace(h2d_bytes_per_s=52e9))
    assert not link.is_like(link._replace(h2d_bytes_per_s=54e9))
    assert not link.is_like(link._replace(duplex_share=0.8))


def test_a_pipeline_is_issued_to_its_streams(bench):
    found = pipelines.pipeline(bench, Plan(chunks=4, streams=2), kernel_s=1e-3)
    # two chunks in each stream, each there, a quarter of the kernel, and back; the second stream
    # begins ten microseconds after the first
    assert found == pytest.approx(2 * (2 * SMALL / COPY_BYTES_PER_S + 1e-3 / 4) + 10e-6)
