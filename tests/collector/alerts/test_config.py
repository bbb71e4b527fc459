"""Destinations: what is refused, and what stays out of sight."""

import base64

import pytest

from collector.alerts.config import AlertsConfig, Destination, key_of
from collector.alerts.rules import DriftRule

SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()


@pytest.mark.parametrize(
    "secret", ["", "whsec_", "k" * 40, "whsec_!!!", "whsec_" + base64.b64encode(b"k" * 23).decode()]
)
def test_a_secret_that_cannot_sign_is_refused_without_being_told(secret: str) -> None:
    """The message says what a secret looks like, never what was given."""
    with pytest.raises(ValueError, match="whsec_") as refused:
        Destination("d", "https://example.test/", secrets=(secret,))
    assert not secret or len(secret) < 8 or secret not in str(refused.value)


def test_a_secret_does_not_show_in_the_repr() -> None:
    """Destinations may be logged."""
    destination = Destination("d", "https://example.test/", secrets=(SECRET,))
    assert SECRET not in repr(destination)
    assert key_of(SECRET) == b"k" * 32


@pytest.mark.parametrize("url", ["ftp://example.test/", "file:///etc/passwd", "https://", "example.test"])
def test_only_web_addresses_are_destinations(url: str) -> None:
    """Nothing but http and https."""
    with pytest.raises(ValueError, match="https"):
        Destination("d", url)


def test_names_are_unique() -> None:
    """Two rules or destinations of one name could not be told apart."""
    with pytest.raises(ValueError, match="rules"):
        AlertsConfig(rules=(DriftRule("a"), DriftRule("a")))
    with pytest.raises(ValueError, match="destinations"):
        AlertsConfig(destinations=(Destination("a", "https://x.test"), Destination("a", "https://y.test")))
