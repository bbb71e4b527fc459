"""Building blocks every page is made of."""

from dashboard.components.attrs import attrs
from dashboard.components.blocks import (
    Tone,
    badge,
    banner,
    code_block,
    copy_button,
    key_values,
    keys,
    number_cell,
    number_head,
    panel,
    table,
    tile,
    tiles,
)
from dashboard.components.icons import ICONS, brand, icon
from dashboard.components.states import empty_state, error_state, not_found, skeleton
from dashboard.components.svg import Pulse, Svg, When, node

__all__ = [
    "ICONS",
    "Pulse",
    "Svg",
    "Tone",
    "When",
    "attrs",
    "badge",
    "banner",
    "brand",
    "code_block",
    "copy_button",
    "empty_state",
    "error_state",
    "icon",
    "key_values",
    "keys",
    "node",
    "not_found",
    "number_cell",
    "number_head",
    "panel",
    "skeleton",
    "table",
    "tile",
    "tiles",
]
