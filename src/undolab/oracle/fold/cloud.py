"""The cloud domain of `docs/reference/tools.md`, over dictionaries."""

from collections.abc import Mapping
from typing import Any

from undolab.oracle.fold.store import Handler, Refused, Store, Table

TABLES = {
    "services": Table("service", ("service_name",)),
    "routes": Table("route", ("service_name",)),
    "catalog": Table("catalog entry", ("service_name",)),
    "tiers": Table("cluster tier", ("tier_name",)),
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
    store.next_part()
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


def _get_catalog_entry(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("catalog", args["service_name"])


def _check_catalog(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    service = args["service_name"]
    replicas, listed = store.need("services", service)["replicas"], _listed(store, service)
    return {"service_name": service, "replicas": replicas, "instances": listed, "in_step": replicas == listed}


def _listed(store: Store, service: str) -> int:
    row = store.get("catalog", service)
    return 0 if row is None else row["instances"]


def _list_as(store: Store, service: str, instances: int) -> dict[str, Any]:
    before = _listed(store, service)
    row = store.put("catalog", service, {"service_name": service, "instances": instances})
    return {**row, "previous_instances": before}


def _sync_discovery_catalog(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    replicas = store.need("services", args["service_name"])["replicas"]
    return _list_as(store, args["service_name"], replicas)


def _set_catalog_entry(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("services", args["service_name"])
    return _list_as(store, args["service_name"], args["instances"])


def _get_cluster_tier(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    return store.need("tiers", args["tier_name"])


def _provision_cluster_tier(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    tier = args["tier_name"]
    row = {"tier_name": tier, "instances": args["instance_count"], "instance_type": args["instance_type"]}
    return store.put("tiers", tier, row)


def _remove_cluster_tier(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    store.need("tiers", args["tier_name"])
    store.remove("tiers", args["tier_name"])
    return {"tier_name": args["tier_name"], "deleted": True}


def _drain_and_terminate(store: Store, args: Mapping[str, Any]) -> dict[str, Any]:
    service, fewer = args["service_name"], args["instances_to_remove"]
    replicas = store.need("services", service)["replicas"]
    if replicas < fewer:
        raise Refused("insufficient", f"service {service} has {replicas}, needs {fewer}")
    return {**store.change("services", service, replicas=replicas - fewer), "previous_replicas": replicas}


HANDLERS: dict[str, Handler] = {
    "get_service": _get_service,
    "get_route": _get_route,
    "deploy_green_service": _deploy_green_service,
    "switch_traffic_routing": _switch_traffic_routing,
    "scale_service": _scale_service,
    "delete_green_service": _delete_green_service,
    "get_catalog_entry": _get_catalog_entry,
    "check_catalog": _check_catalog,
    "get_cluster_tier": _get_cluster_tier,
    "sync_discovery_catalog": _sync_discovery_catalog,
    "set_catalog_entry": _set_catalog_entry,
    "provision_cluster_tier": _provision_cluster_tier,
    "remove_cluster_tier": _remove_cluster_tier,
    "drain_and_terminate": _drain_and_terminate,
}
