"""Keeps nodes with the accelerator the request requires."""

from dataclasses import dataclass
from typing import ClassVar

from ..fleet import View
from ..model import Mask, Request
from ..protocols import Filter


@dataclass(frozen=True)
class AcceleratorFilter:
    """Removes nodes whose accelerator is another one than the request's, when it names one."""

    name: ClassVar[str] = "accelerator"

    def keep(self, request: Request, view: View) -> Mask | None:
        """True where the accelerator is the wanted one."""
        wanted = request.accelerator
        if wanted is None:
            return None
        return view.mask((self.name, wanted), lambda node: node.accelerator == wanted)

    def reason(self, request: Request) -> str:
        """The reason shown for a removed node."""
        return f"accelerator is not {request.accelerator}"


_: type[Filter] = AcceleratorFilter
