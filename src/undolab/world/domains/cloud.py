"""The cloud: services, the routes that send them traffic, the discovery catalog, the tiers of a cluster."""

from collections.abc import Iterator

from undolab.model.workflow import Row
from undolab.world.errors import ToolError
from undolab.world.schema import Table
from undolab.world.tx import Handler, Tx

SERVICES = Table("services", "service", {"service_name": str, "version": str, "color": str, "replicas": int})
ROUTES = Table("routes", "route", {"service_name": str, "active_color": str})
CATALOG = Table("catalog", "catalog entry", {"service_name": str, "instances": int})
TIERS = Table("tiers", "cluster tier", {"tier_name": str, "instances": int, "instance_type": str})
TABLES = (SERVICES, ROUTES, CATALOG, TIERS)


def get_service(tx: Tx, args: Row) -> Row:
    """Answer one service."""
    return tx.get(SERVICES, args["service_name"])


def get_route(tx: Tx, args: Row) -> Row:
    """Answer one route."""
    return tx.get(ROUTES, args["service_name"])


def deploy_green_service(tx: Tx, args: Row) -> Iterator[Row]:
    """Start the green copy, then enter it in the catalog: two commits."""
    replicas = tx.get(SERVICES, args["service_name"])["replicas"]
    green = f"{args['service_name']}-green"
    yield tx.put(
        SERVICES, {"service_name": green, "version": args["version"], "color": "green", "replicas": replicas}
    )
    tx.put(CATALOG, {"service_name": green, "instances": replicas})


def switch_traffic_routing(tx: Tx, args: Row) -> Row:
    """Send the traffic to one color."""
    name, color = args["service_name"], args["target_color"]
    route = tx.get(ROUTES, name)
    if color == "green" and tx.find(SERVICES, f"{name}-green") is None:
        raise ToolError("precondition_failed", f"{name} has no green service")
    return tx.change(ROUTES, route, active_color=color)


def scale_service(tx: Tx, args: Row) -> Row:
    """Set the number of replicas."""
    return tx.change(SERVICES, tx.get(SERVICES, args["service_name"]), replicas=args["new_replicas"])


def delete_green_service(tx: Tx, args: Row) -> Row:
    """Take the green copy and its catalog entry away."""
    name = args["service_name"]
    green = tx.get(SERVICES, f"{name}-green")["service_name"]
    route = tx.find(ROUTES, name)
    if route is not None and route["active_color"] == "green":
        raise ToolError("conflict", f"{name} routes to green")
    tx.remove(SERVICES, green)
    tx.remove(CATALOG, green)
    return {"service_name": green, "deleted": True}


def get_catalog_entry(tx: Tx, args: Row) -> Row:
    """Answer one catalog entry."""
    return tx.get(CATALOG, args["service_name"])


def check_catalog(tx: Tx, args: Row) -> Row:
    """Answer how a service and its catalog entry compare."""
    name = args["service_name"]
    replicas, instances = tx.get(SERVICES, name)["replicas"], _entered(tx, name)
    return {
        "service_name": name,
        "replicas": replicas,
        "instances": instances,
        "in_step": replicas == instances,
    }


def get_cluster_tier(tx: Tx, args: Row) -> Row:
    """Answer one tier of the cluster."""
    return tx.get(TIERS, args["tier_name"])


def sync_discovery_catalog(tx: Tx, args: Row) -> Row:
    """Bring the catalog in step with the service."""
    service = tx.get(SERVICES, args["service_name"])
    return _enter(tx, service["service_name"], service["replicas"])


def set_catalog_entry(tx: Tx, args: Row) -> Row:
    """Set the instances of a catalog entry."""
    return _enter(tx, tx.get(SERVICES, args["service_name"])["service_name"], args["instances"])


def provision_cluster_tier(tx: Tx, args: Row) -> Row:
    """Start a tier, over an old one too."""
    return tx.put(
        TIERS,
        {
            "tier_name": args["tier_name"],
            "instances": args["instance_count"],
            "instance_type": args["instance_type"],
        },
    )


def remove_cluster_tier(tx: Tx, args: Row) -> Row:
    """Take a tier away."""
    name = tx.get(TIERS, args["tier_name"])["tier_name"]
    tx.remove(TIERS, name)
    return {"tier_name": name, "deleted": True}


def drain_and_terminate(tx: Tx, args: Row) -> Row:
    """Take replicas from a service, never below nought, and answer the old number too."""
    service = tx.get(SERVICES, args["service_name"])
    replicas, count = service["replicas"], args["instances_to_remove"]
    if replicas < count:
        raise ToolError("insufficient", f"service {args['service_name']} has {replicas}, needs {count}")
    return {**tx.change(SERVICES, service, replicas=replicas - count), "previous_replicas": replicas}


def _entered(tx: Tx, name: str) -> int:
    entry = tx.find(CATALOG, name)
    return 0 if entry is None else int(entry["instances"])


def _enter(tx: Tx, name: str, instances: int) -> Row:
    previous = _entered(tx, name)
    return {**tx.put(CATALOG, {"service_name": name, "instances": instances}), "previous_instances": previous}


HANDLERS: dict[str, Handler] = {
    "get_service": get_service,
    "get_route": get_route,
    "deploy_green_service": deploy_green_service,
    "switch_traffic_routing": switch_traffic_routing,
    "scale_service": scale_service,
    "delete_green_service": delete_green_service,
    "get_catalog_entry": get_catalog_entry,
    "check_catalog": check_catalog,
    "get_cluster_tier": get_cluster_tier,
    "sync_discovery_catalog": sync_discovery_catalog,
    "set_catalog_entry": set_catalog_entry,
    "provision_cluster_tier": provision_cluster_tier,
    "remove_cluster_tier": remove_cluster_tier,
    "drain_and_terminate": drain_and_terminate,
}
