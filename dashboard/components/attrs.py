"""HTML attributes whose names Python cannot write."""

from typing import Any


def attrs(**attributes: Any) -> dict[str, Any]:
    """``attrs(aria_label="Close")`` is ``{"aria-label": "Close"}``; None leaves an attribute out."""
    return {name.replace("_", "-"): value for name, value in attributes.items() if value is not None}
