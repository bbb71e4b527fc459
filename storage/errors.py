"""What can go wrong in the store.

StorageError
+-- StoreUnavailableError   transient: try again later (locked, disk full, connection lost)
+-- SchemaOutdatedError     permanent: run ``weighbridge migrate``
+-- StoreUnusableError      permanent: not a database, no permission, unknown address
"""


class StorageError(Exception):
    """Something went wrong in the store."""


class StoreUnavailableError(StorageError):
    """The store cannot take or give data now; the same call may succeed later."""


class SchemaOutdatedError(StorageError):
    """The store's schema does not match this program; run ``weighbridge migrate``."""


class StoreUnusableError(StorageError):
    """The store cannot be used at all: a wrong address, a missing permission, not a database."""
