"""The read API: one noun per file under ``/api/v1``, its reference, and the operations' endpoints."""

from dashboard.api.asking import Store
from dashboard.api.operations import build_operations
from dashboard.api.reference import build_reference
from dashboard.api.routers import build_api, register_not_found

__all__ = ["Store", "build_api", "build_operations", "build_reference", "register_not_found"]
