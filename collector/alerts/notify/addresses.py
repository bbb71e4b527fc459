"""Where a webhook may connect to: public addresses, unless its destination allows private ones.

The name is resolved once and the connection goes to the very address that was checked. A second look-up
by the HTTP client could give another one (DNS rebinding).
"""

import asyncio
import ipaddress
import socket

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class RefusedAddressError(Exception):
    """The destination's name leads to an address that it may not connect to."""


async def resolve(host: str, port: int, *, allow_private: bool) -> str:
    """The address to connect to, as text.

    Every address of the name must be allowed: a name with one public and one private address is not an
    honest one. Raises RefusedAddressError, and OSError when the name does not resolve.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    if not addresses:
        raise OSError(f"{host} has no address")
    for address in addresses:
        if not allow_private and not is_public(address):
            raise RefusedAddressError(
                f"{host} leads to {address}, which is not public; allow_private of this destination allows it"
            )
    return str(addresses[0])


def is_public(address: Address) -> bool:
    """Whether it is on the public internet: not private, link-local, loopback, shared or reserved."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None and not is_public(inner):
            return False
    return address.is_global and not address.is_multicast
