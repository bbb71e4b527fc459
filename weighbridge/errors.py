"""What ends a command with one clear line and code 2."""


class UsageError(Exception):
    """The surroundings do not allow this: a taken port, an unwritable folder, a stale schema."""
