"""Values as JSON can hold them, whatever senders wrote, and pydantic's names for them."""

import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator


def finite(value: float | None) -> float | None:
    """The number, or None when it is NaN or infinite."""
    return value if value is None or math.isfinite(value) else None


def plain(value: Any, depth: int = 0) -> Any:
    """``value`` as JSON can hold it: no NaN or infinity, no lone surrogate, no bottomless nesting."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, float):
        return finite(value)
    if isinstance(value, Mapping | list | tuple) and depth >= 32:
        return "(nested too deep to show)"
    if isinstance(value, Mapping):
        return {plain(str(k)): plain(v, depth + 1) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v, depth + 1) for v in value]
    return value


Number = Annotated[float | None, BeforeValidator(finite)]
Text = Annotated[str, BeforeValidator(plain)]
OptionalText = Annotated[str | None, BeforeValidator(plain)]
Attributes = Annotated[dict[str, Any], BeforeValidator(plain)]
Counts = Annotated[dict[str, int], BeforeValidator(plain)]
Numbers = Annotated[dict[str, float | None], BeforeValidator(plain)]
Texts = Annotated[dict[str, str], BeforeValidator(plain)]
