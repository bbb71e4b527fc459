"""What the collector is told at its start; the composition root fills it from the settings."""

from dataclasses import dataclass

MEBIBYTE = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectorConfig:
    """Addresses, bounds and access of one collector. Port 0 takes any free port.

    ``max_request_bytes`` counts after decompression. ``max_inflight_bytes`` and ``max_inflight_requests``
    bound what is read, decoded or waiting to be stored; beyond either a sender is told to retry. Decoding
    multiplies a request's size by about four while it lasts, so plan for that much memory. A request
    is written in parts of at most ``part_max_spans`` spans; one write takes waiting parts up to
    ``batch_max_spans``. ``request_timeout_s`` bounds both reading a request and storing it.
    """

    grpc_host: str = "127.0.0.1"
    grpc_port: int = 4317
    http_host: str = "127.0.0.1"
    http_port: int = 4318
    max_request_bytes: int = 64 * MEBIBYTE
    max_inflight_bytes: int = 256 * MEBIBYTE
    max_inflight_requests: int = 256
    part_max_spans: int = 4096
    batch_max_spans: int = 8192
    request_timeout_s: float = 10.0
    retry_after_s: float = 1.0
    flush_interval_s: float = 1.0
    decode_threads: int = 2
    bearer_token: str | None = None
    cors_origins: tuple[str, ...] = ()

    @property
    def request_limit(self) -> int:
        """Bytes of the largest request that can ever be taken."""
        return min(self.max_request_bytes, self.max_inflight_bytes)

    @property
    def grpc_readers(self) -> int:
        """gRPC messages read at the same time; their size is only known once they are read."""
        return max(8, self.max_inflight_bytes // self.max_request_bytes)
