"""Experiments: arms, shares, intervals and words, from moments and from a real store."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dash import Dash
from fastapi import FastAPI
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from collector.adapters.registry import adapt
from collector.decode import Encoding, decode_traces
from dashboard.figures.contrast import ordered, read_experiment
from dashboard.figures.forest import axis
from dashboard.page import Page, Visit
from dashboard.pages import experiments
from dashboard.pages._experiment_head import sentence
from storage.database import Database
from storage.queries import Reader
from storage.records import AdaptedBatch, ArmSummary, ExperimentSummary
from storage.writer import Writer

NOW = 1_800_000_000_000_000_000
Text = Callable[[Any], str]


def arm(
    name: str, n: int, mean: float | None, sd: float = 50.0, errors: int = 0, outcomes: int | None = None
) -> ArmSummary:
    known = n if outcomes is None else outcomes
    return ArmSummary(
        name,
        n,
        known,
        errors,
        mean,
        None if mean is None else sd * sd,
        NOW - 10**12,
        NOW,
        known if mean is not None else 0,
    )


def experiment(*arms: ArmSummary) -> ExperimentSummary:
    return ExperimentSummary("exp", arms)


@pytest.mark.parametrize(
    ("names", "asked", "first"),
    [
        (["treatment", "control"], None, "control"),
        (["new", "Baseline-v1"], None, "Baseline-v1"),
        (["B", "A"], None, "A"),
        (["x", "y"], None, "y"),
        (["control", "treatment"], "treatment", "treatment"),
        (["control", "treatment"], "gone", "control"),
    ],
)
def test_the_control_is_asked_for_named_or_largest(names: list[str], asked: str | None, first: str) -> None:
    """The address decides; without it a name that says control does, and else the number of exposures."""
    arms = [arm(name, 10 + k, 1.0) for k, name in enumerate(names)]
    assert ordered(arms, asked)[0].variant == first
    assert ordered([]) == ()


def test_shares_carry_their_interval_and_their_intention() -> None:
    """Each share lies inside its Wilson interval; a stated split replaces the even one."""
    reading = read_experiment(experiment(arm("control", 900, 1.0), arm("b", 100, 1.0)), split=(9, 1))
    assert [share.share for share in reading.arms] == [0.9, 0.1]
    assert [share.intended for share in reading.arms] == [0.9, 0.1]
    assert all(share.low < share.share < share.high for share in reading.arms)
    assert reading.split.fits
    assert not reading.split.assumed


def test_a_broken_split_is_found() -> None:
    """Counts far from the split are doubted; too few of them are not judged."""
    uneven = read_experiment(experiment(arm("control", 900, 1.0), arm("b", 700, 1.0)))
    assert not uneven.split.fits
    assert uneven.split.assumed
    few = read_experiment(experiment(arm("control", 3, 1.0), arm("b", 1, 1.0)))
    assert few.split.p_value is None


@pytest.mark.parametrize("split", [(1.0,), (1.0, -1.0), (0.0, 1.0), (math.inf, 1.0), (1.0, 1.0, 1.0)])
def test_a_split_that_does_not_fit_the_arms_is_not_used(split: tuple[float, ...]) -> None:
    """Another number of shares, or shares that are none, fall back to an even split."""
    assert read_experiment(experiment(arm("control", 50, 1.0), arm("b", 50, 1.0)), split=split).split.assumed


@pytest.mark.parametrize(
    ("arms", "word", "said"),
    [
        (
            (arm("control", 4_000, 300.0), arm("b", 4_000, 270.0)),
            "better",
            "b is better: its outcome latency is 10.0 % lower",
        ),
        (
            (arm("control", 4_000, 300.0), arm("b", 4_000, 330.0)),
            "worse",
            "b is worse: its outcome latency is 10.0 % higher",
        ),
        (
            (arm("control", 9_000, 300.0), arm("b", 9_000, 300.1)),
            "inside",
            "any difference in outcome latency is smaller than 5 %",
        ),
        (
            (arm("control", 300, 300.0, 200.0), arm("b", 300, 290.0, 200.0)),
            "settling",
            "more outcomes would settle it",
        ),
        (
            (arm("control", 300, 300.0), arm("b", 300, None, outcomes=0)),
            "no call",
            "no outcome latency has arrived for b",
        ),
    ],
)
def test_every_verdict_has_its_word_and_sentence(arms: tuple[ArmSummary, ...], word: str, said: str) -> None:
    """Better, worse, inside, settling and no call, and never significant."""
    contrast = read_experiment(experiment(*arms)).contrasts[0]
    assert contrast.metrics[0].verdict == word
    assert said in sentence(contrast)
    assert "signific" not in sentence(contrast)


def test_more_arms_share_the_chance_of_a_false_call() -> None:
    """Every further arm is compared with the control, at a level divided among them."""
    reading = read_experiment(
        experiment(arm("control", 500, 300.0), arm("b", 500, 290.0), arm("c", 500, 310.0))
    )
    assert [contrast.arm.variant for contrast in reading.contrasts] == ["b", "c"]
    assert reading.alpha == pytest.approx(0.025)
    two = read_experiment(experiment(arm("control", 500, 300.0), arm("b", 500, 290.0)))
    wide, narrow = (r.contrasts[0].metrics[0].comparison for r in (reading, two))
    assert wide is not None
    assert narrow is not None
    assert wide.high - wide.low > narrow.high - narrow.low


def test_errors_are_compared_as_rates() -> None:
    """The error rate is over outcomes; an arm without any outcome has none."""
    reading = read_experiment(
        experiment(arm("control", 5_000, 300.0, errors=50), arm("b", 5_000, 300.0, errors=250))
    )
    errors = reading.contrasts[0].metrics[1]
    assert (errors.control, errors.value) == (0.01, 0.05)
    assert errors.verdict == "worse"
    none = read_experiment(experiment(arm("control", 9, None, outcomes=0), arm("b", 9, None, outcomes=0)))
    assert none.arms[0].error_rate is None
    assert none.contrasts[0].metrics[1].refusal == "no outcome has arrived for b"


def test_no_interval_says_that_a_metric_fell_below_zero() -> None:
    """A rate can fall by 100 % at most, and so can its interval."""
    reading = read_experiment(
        experiment(arm("control", 2_000, 300.0, errors=40), arm("b", 2_000, 300.0, errors=2))
    )
    errors = reading.contrasts[0].metrics[1].comparison
    assert errors is not None
    assert errors.relative_low == -1.0
    assert errors.low < -0.02


def test_an_axis_holds_its_intervals_or_says_that_they_go_on() -> None:
    """The axis is symmetric and bounded; what reaches beyond is clipped and marked."""
    small = axis([(-0.02, 0.01)])
    assert small.reach == pytest.approx(0.05)
    assert small.at(0.0) == 50.0
    wide = axis([(-3.0, 2.0), (math.nan, math.inf), (None, None)])
    assert wide.reach == pytest.approx(0.6)
    mark = wide.place(-1.0, -3.0, 0.1)
    assert mark is not None
    assert (mark.left, mark.more_left, mark.more_right, mark.outside) == (0.0, True, False, -1)
    assert wide.place(0.0, -math.inf, math.inf) is None
    assert wide.place(None, None, None) is None
    assert 0.0 in wide.ticks


@pytest.mark.parametrize(
    ("text_in", "shares"),
    [
        ("50:50", (50, 50)),
        ("90 / 10", (90, 10)),
        ("1,2;3", (1, 2, 3)),
        ("60% 40%", (60, 40)),
        ("", ()),
        ("half", ()),
        ("1:-1", ()),
        ("nan:1", ()),
    ],
)
def test_a_split_is_read_as_people_write_it(text_in: str, shares: tuple[float, ...]) -> None:
    """Any common mark separates the shares; what is no share gives none."""
    assert experiments.parse_split(text_in) == shares


@pytest.fixture
def page(reader: Reader) -> Page:
    app = Dash("exp", server=FastAPI(), requests_pathname_prefix="/ui/", routes_pathname_prefix="/ui/")
    return experiments.register(app, reader)


def write_arms(database: Database, key: str, arms: dict[str, tuple[int, float]]) -> None:
    """Decisions that carry their outcome, through the official encoder and the collector's own decoder."""
    rng = np.random.default_rng(3)
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "ab"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    for variant, (n, mean) in arms.items():
        for latency in rng.normal(mean, 20.0, n):
            said = {
                "decision.node": "n",
                "weight": 0.5,
                "feature_flag.key": key,
                "feature_flag.result.variant": variant,
                "decision.outcome": "ok",
                "decision.outcome.latency_ms": float(latency),
            }
            tracer.start_span("schedule ab", start_time=NOW - 10**9, attributes=said).end(NOW - 10**9 + 1_000)
    decoded = decode_traces(
        encode_spans(exporter.get_finished_spans()).SerializeToString(), Encoding.PROTOBUF
    )
    found = adapt(decoded.batch)
    Writer(database, lambda: NOW).write([AdaptedBatch(decoded.batch, found.decisions, found.outcomes)])
    provider.shutdown()


def test_no_experiment_shows_how_to_make_one(page: Page, text: Text) -> None:
    """The first run shows the two attributes as code that can be copied."""
    said = text(page.layout(Visit(NOW)))
    assert "No experiment yet" in said
    assert "feature_flag.key" in said
    assert "feature_flag.result.variant" in said


def test_an_experiment_of_the_store_is_read_out(page: Page, database: Database, text: Text) -> None:
    """From decisions on the wire to the sentence, the arms and the method."""
    write_arms(database, "cache-05", {"control": (150, 200.0), "treatment": (150, 150.0)})
    said = text(page.layout(Visit(NOW, {}, {"key": "cache-05"})))
    assert "treatment is better: its outcome latency is 2" in said
    assert "300 exposures" in said
    assert "valid however often you look" in said
    assert "even split holds, p 1.000" in said
    assert "signific" not in said
    turned = text(page.layout(Visit(NOW, {}, {"key": "cache-05", "control": "treatment"})))
    assert "control is worse: its outcome latency is 3" in turned


def test_one_arm_and_unknown_keys_are_explained(page: Page, database: Database, text: Text) -> None:
    """A comparison of one arm is refused with the reason; a key of nothing says so and keeps the list."""
    write_arms(database, "<b>lonely</b>\u202e", {"only": (3, 100.0)})
    said = text(page.layout(Visit(NOW)))
    assert "Only one arm has been seen" in said
    assert "<b>lonely</b>\N{REPLACEMENT CHARACTER}" in said
    gone = text(page.layout(Visit(NOW, {}, {"key": "gone"})))
    assert "There is no such experiment" in gone
    assert "All experiments" in gone
