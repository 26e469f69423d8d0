"""The cloud domain of `docs/reference/tools.md`, over dictionaries."""

from collections.abc import Mapping
from typing import Any

from undolab.oracle.fold.store import Handler, Refused, Store, Table

TABLES = {
    "services": Table("service", ("service_name",)),
    "routes": Table("route", ("service_name",)),
    "catalog": Table("catalog entry", ("service_name",)),
}


def _get_service(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("services", args["service_name"])


def _get_route(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("routes", args["service_name"])


def _deploy_green_service(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    replicas = store.need("services", args["service_name"])["replicas"]
    green = f"{args['service_name']}-green"
    row = {"service_name": green, "version": args["version"], "color": "green", "replicas": replicas}
    store.put("services", green, row)
    store.put("catalog", green, {"service_name": green, "instances": replicas})
    return row


def _switch_traffic_routing(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    service, color = args["service_name"], args["target_color"]
    store.need("routes", service)
    if color == "green" and store.get("services", f"{service}-green") is None:
        raise Refused("precondition_failed", f"{service} has no green service")
    return store.change("routes", service, active_color=color)


def _scale_service(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("services", args["service_name"])
    return store.change("services", args["service_name"], replicas=args["new_replicas"])


def _delete_green_service(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    service = args["service_name"]
    green = f"{service}-green"
    store.need("services", green)
    route = store.get("routes", service)
    if route is not None and route["active_color"] == "green":
        raise Refused("conflict", f"{service} routes to green")
    store.remove("services", green)
    store.remove("catalog", green)
    return {"service_name": green, "deleted": True}


HANDLERS: dict[str, Handler] = {
    "get_service": _get_service,
    "get_route": _get_route,
    "deploy_green_service": _deploy_green_service,
    "switch_traffic_routing": _switch_traffic_routing,
    "scale_service": _scale_service,
    "delete_green_service": _delete_green_service,
}
