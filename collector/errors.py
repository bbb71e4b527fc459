"""What a sender can be told. Two questions only: would a retry help, and whose fault is it?

IntakeError
+-- InvalidRequestError        the sender's, a retry cannot help (bytes that do not decode)
|   +-- UnsupportedMediaError  content type or encoding not supported
|   +-- TooLargeError          beyond the limit after decompression
+-- BusyError                  ours, a retry helps: carries ``retry_after_s``
+-- InternalError              ours, a retry cannot help (a fault in this program)
+-- UnauthenticatedError       the sender did not say who it is
+-- PermissionDeniedError      the sender may not send here
receivers/status.py is the one table from these to gRPC and HTTP status.

ListenError                    at the start: an address cannot be used
+-- AddressInUseError          another process has it
"""


class IntakeError(Exception):
    """A request that was not accepted."""


class InvalidRequestError(IntakeError):
    """The request cannot be decoded."""


class UnsupportedMediaError(InvalidRequestError):
    """The content type or content encoding is not supported."""


class TooLargeError(InvalidRequestError):
    """The request is larger than the limit after decompression."""


class BusyError(IntakeError):
    """The collector cannot take this now.

    ``retry_after_s``: seconds after which a retry is welcome, above 0.
    """

    def __init__(self, message: str, retry_after_s: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class UnauthenticatedError(IntakeError):
    """The sender did not say who it is."""


class PermissionDeniedError(IntakeError):
    """The sender may not send here."""


class InternalError(IntakeError):
    """A fault in the collector; its log tells which."""


class ListenError(Exception):
    """A listening address cannot be used; the message is one line for the user."""


class AddressInUseError(ListenError):
    """Another process listens on ``address`` (host:port)."""

    def __init__(self, address: str) -> None:
        super().__init__(f"address {address} is already in use")
        self.address = address
