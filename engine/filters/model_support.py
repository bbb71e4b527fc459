"""Keeps nodes that serve the model the request names."""

from dataclasses import dataclass
from typing import ClassVar

from ..fleet import View
from ..model import Mask, Request
from ..protocols import Filter


@dataclass(frozen=True)
class ModelFilter:
    """Removes nodes that list models and not the request's; a request without a model goes anywhere."""

    name: ClassVar[str] = "model"

    def keep(self, request: Request, view: View) -> Mask | None:
        """True where the model is served."""
        model = request.model
        if model is None:
            return None
        return view.mask((self.name, model), lambda node: not node.models or model in node.models)

    def reason(self, request: Request) -> str:
        """The reason shown for a removed node."""
        return f"does not serve {request.model}"


_: type[Filter] = ModelFilter
