"""Records in, numbers and shapes out: what pages draw, worked out without drawing. Pure."""
