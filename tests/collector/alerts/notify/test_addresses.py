"""Which addresses a webhook may connect to."""

import ipaddress

import pytest

from collector.alerts.notify.addresses import RefusedAddressError, is_public, resolve


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
        "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fd00::1", "::ffff:10.0.0.1",
        "::ffff:169.254.169.254", "64:ff9b::10.0.0.1", "2002:a00:1::1", "ff02::1",
    ],
)  # fmt: skip
def test_what_is_not_public_is_refused(address: str) -> None:
    """Loopback, private, link-local, shared, multicast, and IPv4 hidden inside IPv6."""
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111"])
def test_public_addresses_are_fine(address: str) -> None:
    """The internet."""
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1", "2130706433", "0x7f.1", "::1"])
async def test_loopback_is_refused_in_every_spelling_unless_allowed(host: str) -> None:
    """What counts is where the name leads, not how it is written."""
    with pytest.raises(RefusedAddressError, match="allow_private"):
        await resolve(host, 80, allow_private=False)
    allowed = ipaddress.ip_address(await resolve(host, 80, allow_private=True))
    assert allowed.is_loopback
