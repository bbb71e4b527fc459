"""The fleet: names, proportions and the scaling to a load."""

import pytest

from engine.simulation import build_fleet, request_cost, scale_to_load


def test_64_nodes_are_16_of_each_accelerator():
    """Unique names by accelerator and number; the faster half also serves the large model."""
    fleet = build_fleet(64)
    assert [spec.name for spec in fleet][:2] == ["gpu-h100-01", "gpu-h100-02"]
    assert fleet[-1].name == "gpu-a10-16"
    assert len({spec.name for spec in fleet}) == 64
    assert sum("llama-3.3-70b" in spec.models for spec in fleet) == 32
    assert {spec.zone for spec in fleet} == {"eu-west-2a", "eu-west-2b", "eu-west-2c"}


@pytest.mark.parametrize("nodes", [1, 2, 3, 5, 63, 1_000])
def test_any_number_of_nodes_is_built(nodes):
    """The same each time, with positive speeds."""
    fleet = build_fleet(nodes)
    assert len(fleet) == nodes
    assert fleet == build_fleet(nodes)
    assert all(spec.speed > 0 and spec.memory > 0 and spec.rtt > 0 for spec in fleet)
    assert len({spec.name for spec in fleet}) == nodes


def test_scaling_makes_the_rate_the_stated_share_of_the_capacity():
    """Summed speed times load equals the work that arrives; proportions stay."""
    plain, cost = build_fleet(10), request_cost(1_155.0, 211.0)
    fleet = scale_to_load(plain, 30.0, cost, 0.6)
    assert sum(spec.speed for spec in fleet) * 0.6 == pytest.approx(30.0 * cost)
    assert fleet[0].speed / fleet[-1].speed == pytest.approx(plain[0].speed / plain[-1].speed)


@pytest.mark.parametrize(("rate", "load"), [(0.0, 0.5), (1.0, 0.0), (1.0, 1.5)])
def test_an_impossible_load_is_refused(rate, load):
    """As is an empty fleet."""
    with pytest.raises(ValueError, match="load"):
        scale_to_load(build_fleet(2), rate, 0.2, load)
    with pytest.raises(ValueError, match="at least one"):
        build_fleet(0)
