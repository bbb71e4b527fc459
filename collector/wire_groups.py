"""A parsed OTLP request before its spans are read: resources, scopes, and groups of spans to come."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine import semconv
from storage.records import Resource, Scope

from .attributes import Row, to_json
from .columns import UNKNOWN_SERVICE, SpanColumns, cut


@dataclass(frozen=True, slots=True)
class Group:
    """Spans that share a resource and a scope; ``spans`` are in the encoding's own form."""

    resource: int
    scope: int
    spans: Sequence[Any]


@dataclass(slots=True)
class WireRequest:
    """A parsed request; ``fill`` reads some spans of a group into columns."""

    fill: Callable[[SpanColumns, Group, Sequence[Any]], None]
    resources: list[Resource] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)

    def add_resource(self, resource: Resource) -> int:
        """Index of ``resource``, which is added."""
        self.resources.append(resource)
        return len(self.resources) - 1

    def add_scope(self, scope: Scope) -> int:
        """Index of ``scope``, which is added."""
        self.scopes.append(scope)
        return len(self.scopes) - 1


def resource_of(row: Row) -> Resource:
    """The resource that a resource's attributes describe."""
    service, instance = row.get(semconv.SERVICE_NAME), row.get(semconv.SERVICE_INSTANCE_ID)
    return Resource(
        service=cut(str(service)) if service not in (None, "") else UNKNOWN_SERVICE,
        instance=cut(str(instance)) if instance is not None else "",
        attributes=to_json(row),
    )
