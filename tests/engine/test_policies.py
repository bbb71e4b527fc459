"""Profiles from configuration."""

import pytest

from engine import ConfigurationError, build_profile, default_profile
from engine.registry import REGISTRY, make


def test_default_profile():
    """All filters, scorer weights that sum to 1."""
    profile = default_profile()
    assert profile.policy.name == "default"
    assert sum(profile.policy.scorer_weights) == pytest.approx(1.0)
    assert len(profile.filters) == len(REGISTRY["filter"])


def test_everything_can_be_configured():
    """Names alone, or with parameters."""
    profile = build_profile(
        {
            "name": "cost",
            "version": "3",
            "filters": ["health", {"name": "queue_capacity", "limit": 4}],
            "scorers": [{"name": "queue_depth", "weight": 2, "half": 3.0}, {"name": "weight", "weight": 1}],
            "picker": {"name": "weighted_random", "by": "weight"},
            "weights": "inverse_sensitivity",
            "confidence": {"name": "margin", "scale": 0.2},
        }
    )
    assert profile.policy.scorer_weights == (2.0, 1.0)
    assert profile.policy.version == "3"
    assert profile.filters[1].limit == 4
    assert profile.picker.by == "weight"
    assert profile.weights.formula == "inverse_sensitivity"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"nam": "x"}, "unknown keys"),
        ({"picker": "argmx"}, "did you mean 'argmax'"),
        ({"filters": ["zzz"]}, "there are"),
        ({"scorers": {"queue_dept": 1}}, "queue_depth"),
        ({"scorers": [{"name": "weight"}]}, "needs a weight"),
        ({"scorers": {}}, "at least one scorer"),
        ({"picker": {"name": "argmax", "speed": 1}}, "speed"),
        ({"picker": {"by": "weight"}}, "needs a name"),
        ({"picker": {"name": "weighted_random", "by": "luck"}}, "luck"),
        ({"picker": {"name": "weighted_random", "sharpness": 0}}, "sharpness"),
        ({"filters": [{"name": "queue_capacity", "limit": 0}]}, "limit"),
        ({"filters": [{"name": "kv_capacity", "limit": 1.5}]}, "limit"),
        ({"confidence": {"name": "margin", "scale": 0}}, "scale"),
        ({"scorers": [{"name": "queue_depth", "weight": 1, "half": 0}]}, "half"),
        ({"scorers": [{"name": "prefix_affinity", "weight": 1, "half": 0}]}, "half"),
        ({"scorers": [{"name": "latency", "weight": 1, "relax_s": 0}]}, "relax_s"),
        ({"scorers": [{"name": "reliability", "weight": 1, "forget_s": 0}]}, "forget_s"),
    ],
)
def test_what_cannot_be_used_is_said(config, message):
    """The error names the key, the nearest name or the parameter."""
    with pytest.raises(ConfigurationError, match=message):
        build_profile(config)


def test_the_table_names_plugins_as_they_name_themselves():
    """A configured name is the plug-in's own, except for the variants of one weight policy."""
    for kind, table in REGISTRY.items():
        for name in table:
            if name != "inverse_sensitivity":
                assert make(kind, name).name == name
